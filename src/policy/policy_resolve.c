#include "policy/policy_resolve.h"

#include <errno.h>

#include "base/glob.h"
#include "policy/policy_fields.h"
#include "policy/policy_where.h"

/* base + "/" + rest, with the wildcards of base escaped, and without a trailing slash. With base "" it is rest alone.
 */
static const char *join(struct arena *a, const char *base, struct sv rest, bool literal)
{
	char *out = arena_alloc(a, 2 * strlen(base) + rest.n + 3), *p = out;

	if (!out)
		return NULL;
	for (; *base; base++) {
		if (!literal && strchr("*?[\\", *base))
			*p++ = '\\';
		*p++ = *base;
	}
	if (rest.n && p > out && p[-1] != '/')
		*p++ = '/';
	if (rest.n)
		memcpy(p, rest.p, rest.n);
	p += rest.n;
	while (p - out > 1 && p[-1] == '/')
		*--p = '\0';
	return out;
}

const char *resolve_path(struct arena *a, const struct resolve *r, const char *text, bool literal)
{
	struct sv s = sv_of(text);

	if (text[0] == '/' || (!literal && (sv_is(s, "**") || sv_starts(s, "**/"))))
		return join(a, "", s, true);
	if (text[0] == '~' && (s.n == 1 || text[1] == '/'))
		return join(a, r->home, s.n > 2 ? sv_n(text + 2, s.n - 2) : sv_n("", 0), literal);
	if (sv_is(s, "."))
		s.n = 0;
	else if (sv_starts(s, "./"))
		s = sv_n(text + 2, s.n - 2);
	return join(a, r->workdir, s, literal);
}

static int resolve_list(struct policy *p, const struct policy_field *f, const struct resolve *r, struct error *err)
{
	struct pol_list *list = policy_field_of(p, f);
	struct pol_str *v;
	struct glob g;
	uint32_t i;
	int result;

	v = arena_array(p->arena, list->n, sizeof(*v));
	if (!v)
		return policy_no_memory(err);
	for (i = 0; i < list->n; i++) {
		v[i].at = list->v[i].at;
		v[i].s = resolve_path(p->arena, r, list->v[i].s, false);
		if (!v[i].s)
			return policy_no_memory(err);
		result = glob_init(&g, sv_of(v[i].s));
		if (result == -ENOMEM)
			return policy_no_memory(err);
		if (result < 0)
			return policy_fail(p, v[i].at, f->name, err, "is too long or too deep below %s; shorten it",
					   v[i].s[0] == '/' ? "its folder" : "the root");
		glob_done(&g);
	}
	list->v = v;
	return 0;
}

static int resolve_tests(struct policy *p, const struct resolve *r, struct error *err)
{
	uint32_t i;

	for (i = 0; i < p->n_tests; i++) {
		struct pol_test *t = &p->tests[i];

		if (t->subject != TEST_READ && t->subject != TEST_WRITE && t->subject != TEST_EXEC)
			continue;
		t->target = resolve_path(p->arena, r, t->target, true);
		if (!t->target)
			return policy_no_memory(err);
	}
	return 0;
}

int policy_resolve(struct policy *p, const struct resolve *r, struct error *err)
{
	const struct policy_field *f;
	uint32_t i;

	for (f = policy_fields; f->name; f++)
		if (f->paths && resolve_list(p, f, r, err) < 0)
			return -1;
	for (i = 0; i < p->n_phases; i++)
		if (policy_resolve(p->phases[i].policy, r, err) < 0)
			return -1;
	return resolve_tests(p, r, err);
}
