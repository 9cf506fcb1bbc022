#include "cli/changes_rules.h"

#include "check.h"

static int take(const char *deny, const char *protect, const char *read, struct changes_patterns *p)
{
	struct pol_str v[3] = {{.s = deny}, {.s = protect}, {.s = read}};
	struct policy policy = {0};
	struct error err;

	policy.fs.deny = (struct pol_list){.v = &v[0], .n = 1, .set = true};
	policy.fs.protect = (struct pol_list){.v = &v[1], .n = 1, .set = true};
	policy.fs.read = (struct pol_list){.v = &v[2], .n = 1, .set = true};
	return changes_patterns_init(p, &policy, NULL, &err);
}

static void no_pattern_is_left_out(void)
{
	struct changes_patterns p;

	CHECK(take("**/.env", "**/.git/config", "/opt", &p) == 0);
	CHECK(p.n_deny == 1 && p.n_protect == 1 && p.n_read == 1);
	changes_patterns_done(&p);
	CHECK(take("no pattern", "**/.git/config", "/opt", &p) < 0);
	changes_patterns_done(&p);
	CHECK(take("**/.env", "a/../b", "/opt", &p) < 0);
	changes_patterns_done(&p);
	CHECK(take("**/.env", "**/.git/config", "/[", &p) < 0);
	changes_patterns_done(&p);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(no_pattern_is_left_out),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
