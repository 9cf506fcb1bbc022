#include "policy/policy_diff.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "policy/policy_cover.h"
#include "policy/policy_diff_parts.h"
#include "policy/policy_parse.h"
#include "policy/policy_show.h"
#include "policy/policy_where.h"

void diff_item(struct diff *d, const char *key, const struct policy *of, struct origin at, const char *format, ...)
{
	struct text_shown shown;
	char text[512];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	d->n++;
	if (d->json) {
		json_open(d->json);
		json_kstr(d->json, "key", key);
		json_kstr(d->json, "what", text);
		json_kstr(d->json, "from", policy_where(of, at));
		json_close(d->json);
		return;
	}
	(void)buf_printf(d->out, "  %c %s: ", d->sign, key);
	text_escape(d->out, sv_of(text), sizeof(text));
	(void)buf_printf(d->out, "  (%s)\n", text_show(&shown, sv_of(policy_where(of, at))));
}

const char *diff_word(const struct diff *d, const char *more, const char *less)
{
	return d->sign == '+' ? more : less;
}

void diff_limit(struct diff *d, const char *key, int unit, const struct pol_num *a, const struct pol_num *b)
{
	uint64_t av = a->set ? a->v : UINT64_MAX, bv = b->set ? b->v : UINT64_MAX;
	struct policy_number x, y;

	if (unit == UNIT_DURATION || unit == UNIT_CPUS) { /* of these 0 means all there is */
		av = av ? av : UINT64_MAX;
		bv = bv ? bv : UINT64_MAX;
	}
	if (bv <= av)
		return;
	(void)policy_show_number(&x, (enum policy_unit)unit, av);
	(void)policy_show_number(&y, (enum policy_unit)unit, bv);
	diff_item(d, key, d->b, b->at, "%s instead of %s", bv == UINT64_MAX ? "no limit" : y.s, x.s);
}

static bool list_has(const struct pol_list *l, const char *s)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i].s, s) == 0)
			return true;
	return false;
}

static const struct pol_pair *pair_get(const struct pol_pairs *l, const char *key)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i].key, key) == 0)
			return &l->v[i];
	return NULL;
}

static bool any_program(const struct pol_list *l)
{
	return (!l->set && l->n == 0) || list_has(l, "**") || list_has(l, "/**");
}

static void programs(struct diff *d)
{
	const struct pol_list *a = &d->a->process.allow_exec, *b = &d->b->process.allow_exec;
	const struct pol_list *a_deny = &d->a->process.deny_exec;
	uint32_t i;

	if (any_program(b) && !any_program(a))
		diff_item(d, "process.allow_exec", d->b, b->n ? b->v[0].at : (struct origin){0},
			  "executes whatever is visible");
	for (i = 0; i < b->n && !any_program(a) && !any_program(b); i++)
		if (!cover_by_list(&cover_path, a, b->v[i].s))
			diff_item(d, "process.allow_exec", d->b, b->v[i].at, "executes %s", b->v[i].s);
	for (i = 0; i < a_deny->n; i++)
		if (!cover_by_list(&cover_path, &d->b->process.deny_exec, a_deny->v[i].s))
			diff_item(d, "process.deny_exec", d->a, a_deny->v[i].at, "%s %s",
				  diff_word(d, "no longer refuses", "now refuses"), a_deny->v[i].s);
}

static void environment(struct diff *d)
{
	const struct pol_process *a = &d->a->process, *b = &d->b->process;
	const struct pol_pair *have;
	uint32_t i;

	for (i = 0; i < b->env_pass.n; i++)
		if (!list_has(&a->env_pass, b->env_pass.v[i].s))
			diff_item(d, "process.env.pass", d->b, b->env_pass.v[i].at, "gets the host's %s",
				  b->env_pass.v[i].s);
	for (i = 0; i < b->env_set.n; i++) {
		have = pair_get(&a->env_set, b->env_set.v[i].key);
		if (!have || strcmp(have->value, b->env_set.v[i].value) != 0)
			diff_item(d, "process.env.set", d->b, b->env_set.v[i].at, "%s %s", have ? "has another" : "has",
				  b->env_set.v[i].key);
	}
}

/* Which runtime isolates better is not for a comparison to say: another one is reported in both directions. */
static void runtimes(struct diff *d)
{
	const struct pol_process *a = &d->a->process, *b = &d->b->process;
	const struct pol_pair *have;
	uint32_t i;

	if (a->runtime.v != b->runtime.v)
		diff_item(d, "process.runtime", d->b, b->runtime.at, "runs under %s instead of %s",
			  runtime_names[b->runtime.v], runtime_names[a->runtime.v]);
	for (i = 0; i < b->fallback.n; i++)
		if (!list_has(&a->fallback, b->fallback.v[i].s))
			diff_item(d, "process.fallback", d->b, b->fallback.v[i].at, "may fall back to %s",
				  b->fallback.v[i].s);
	for (i = 0; i < b->categories.n; i++) {
		have = pair_get(&a->categories, b->categories.v[i].key);
		if (!have || strcmp(have->value, b->categories.v[i].value) != 0)
			diff_item(d, "process.categories", d->b, b->categories.v[i].at, "%s runs under %s",
				  b->categories.v[i].key, b->categories.v[i].value);
	}
	for (i = 0; i < a->categories.n; i++)
		if (!pair_get(&b->categories, a->categories.v[i].key))
			diff_item(d, "process.categories", d->a, a->categories.v[i].at, "%s %s %s",
				  a->categories.v[i].key, diff_word(d, "no longer asks for", "now asks for"),
				  a->categories.v[i].value);
}

static void process(struct diff *d)
{
	static const struct {
		const char *key;
		enum policy_unit unit;
		size_t at;
	} limits[] = {
		{"process.max_processes", UNIT_COUNT, offsetof(struct pol_process, max_processes)},
		{"process.memory", UNIT_SIZE, offsetof(struct pol_process, memory)},
		{"process.cpus", UNIT_CPUS, offsetof(struct pol_process, cpus)},
		{"process.timeout", UNIT_DURATION, offsetof(struct pol_process, timeout)},
		{"process.max_file_size", UNIT_SIZE, offsetof(struct pol_process, max_file_size)},
	};
	const char *a = (const char *)&d->a->process, *b = (const char *)&d->b->process;
	size_t i;

	programs(d);
	for (i = 0; i < ARRAY_LEN(limits); i++)
		diff_limit(d, limits[i].key, limits[i].unit, (const struct pol_num *)(const void *)(a + limits[i].at),
			   (const struct pol_num *)(const void *)(b + limits[i].at));
	if (d->a->process.user.v != d->b->process.user.v)
		diff_item(d, "process.user", d->b, d->b->process.user.at, "runs as user %" PRIu64,
			  d->b->process.user.v);
	runtimes(d);
	environment(d);
}

/* Verdicts are ordered from lax to strict; a category that is not named keeps Cordon's own verdict. */
static void checks(struct diff *d)
{
	const struct pol_pair *pa, *pb;
	uint32_t i;

	for (i = 0; i < d->a->check.n; i++) {
		pa = &d->a->check.v[i];
		pb = pair_get(&d->b->check, pa->key);
		if (!pb)
			diff_item(d, "check", d->a, pa->at, "%s is %s to %s", pa->key,
				  diff_word(d, "no longer fixed", "now fixed"), pa->value);
		else if (name_index(check_verdict_names, sv_of(pb->value)) <
			 name_index(check_verdict_names, sv_of(pa->value)))
			diff_item(d, "check", d->b, pb->at, "%s is only %s instead of %s", pb->key, pb->value,
				  pa->value);
	}
	for (i = 0; i < d->b->check.n; i++)
		if (!pair_get(&d->a->check, d->b->check.v[i].key))
			diff_item(d, "check", d->b, d->b->check.v[i].at, "%s is %s to %s", d->b->check.v[i].key,
				  diff_word(d, "fixed", "no longer fixed"), d->b->check.v[i].value);
}

static const struct phase *phase_get(const struct policy *p, const char *name)
{
	uint32_t i;

	for (i = 0; i < p->n_phases; i++)
		if (strcmp(p->phases[i].name, name) == 0)
			return &p->phases[i];
	return NULL;
}

/* Phases are laid over the rest only when a task runs: a difference in text is reported as it is. */
static void phases(struct diff *d)
{
	const struct phase *a, *b;
	const char *const *name;

	for (name = phase_names; *name; name++) {
		AUTO_BUF x = {0};
		AUTO_BUF y = {0};

		buf_init(&x, 1 << 24);
		buf_init(&y, 1 << 24);
		a = phase_get(d->a, *name);
		b = phase_get(d->b, *name);
		if (a)
			policy_show_yaml(a->policy, 0, &x);
		if (b)
			policy_show_yaml(b->policy, 0, &y);
		if (!sv_eq(buf_view(&x), buf_view(&y)) || buf_failed(&x) || buf_failed(&y))
			diff_item(d, "phases", b ? d->b : d->a, b ? b->at : a->at, "%s %s", *name,
				  a && b                   ? "is different"
				  : !b == (d->sign == '+') ? "is gone"
							   : "is added");
	}
}

static uint32_t grants(struct diff *d)
{
	diff_filesystem(d);
	diff_network(d);
	process(d);
	diff_inference(d);
	checks(d);
	phases(d);
	return d->n;
}

static uint32_t text_part(struct policy_diff_side from, struct policy_diff_side to, struct policy_diff_place place,
			  char sign, struct buf *out)
{
	struct diff d = {from.policy, to.policy, place.workdir, place.any, out, NULL, sign, 0};
	struct text_shown x, y;

	(void)buf_printf(out, "%s allows, %s does not:\n", text_show(&x, sv_of(to.name)),
			 text_show(&y, sv_of(from.name)));
	if (grants(&d) == 0)
		(void)buf_str(out, "  nothing\n");
	return d.n;
}

struct policy_diff_result policy_diff_text(struct policy_diff_side a, struct policy_diff_side b,
					   struct policy_diff_place place, struct buf *out)
{
	struct policy_diff_result r;

	r.more = text_part(a, b, place, '+', out);
	r.less = text_part(b, a, place, '-', out);
	return r;
}

struct policy_diff_result policy_diff_json(struct policy_diff_side a, struct policy_diff_side b,
					   struct policy_diff_place place, struct buf *out)
{
	struct json j;
	struct diff more = {a.policy, b.policy, place.workdir, place.any, out, &j, '+', 0};
	struct diff less = {b.policy, a.policy, place.workdir, place.any, out, &j, '-', 0};
	struct policy_diff_result r;

	json_init(&j, out);
	json_open(&j);
	json_kstr(&j, "a", a.name);
	json_kstr(&j, "b", b.name);
	json_key(&j, "more");
	json_list(&j);
	r.more = grants(&more);
	json_end(&j);
	json_key(&j, "less");
	json_list(&j);
	r.less = grants(&less);
	json_end(&j);
	json_close(&j);
	(void)buf_char(out, '\n');
	return r;
}
