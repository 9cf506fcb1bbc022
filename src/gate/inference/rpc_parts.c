#include "gate/inference/rpc_parts.h"

#include <strings.h>

#include "base/glob.h"

bool rpc_listed(const struct pol_list *l, struct sv name)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (glob_component(sv_of(l->v[i].s), name))
			return true;
	return !l->set && l->n == 0;
}

/* Case as Go's decoder folds it: ſ and K (U+017F, U+212A) are s and k to it. */
static bool same_but_case(struct sv a, const char *b)
{
	size_t i, step;
	char c;

	for (i = 0; i < a.n && *b; i += step, b++) {
		struct sv rest = sv_n(a.p + i, a.n - i);

		step = sv_starts(rest, "\xc5\xbf") ? 2 : sv_starts(rest, "\xe2\x84\xaa") ? 3 : 1;
		c = step == 2 ? 's' : step == 3 ? 'k' : a.p[i];
		if (strncasecmp(&c, b, 1) != 0)
			return false;
	}
	return i == a.n && !*b;
}

uint32_t rpc_misspelled(const struct json_scan *s, uint32_t object, const char *const *names)
{
	const char *const *n;
	uint32_t i;

	for (i = json_scan_first(s, object); i; i = json_scan_after(s, object, i))
		for (n = names; *n; n++)
			if (!sv_is(json_scan_text(s, i), *n) && same_but_case(json_scan_text(s, i), *n))
				return i;
	return 0;
}
