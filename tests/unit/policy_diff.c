/* What a diff does not say of two policies is not there: in whatever work folder. */
#include "policy_world.h"

/* What a keeps read-only inside of a work folder is not said, where b lets it be written. */
static bool narrows(const struct policy *a, const struct policy *b)
{
	uint32_t i, k;

	for (i = 0; i < a->fs.read.n && b->fs.workdir.v >= WORKDIR_READ_WRITE; i++) {
		for (k = 0; k < b->fs.read.n && strcmp(a->fs.read.v[i].s, b->fs.read.v[k].s) != 0; k++)
			;
		if (k == b->fs.read.n)
			return true;
	}
	return false;
}

static void random_places(char *out)
{
	static const char *const places[] = {"/srv", "/srv/a", "/srv/*", "/srv/a/b", "/opt",  "/opt/x",
					     "/opt", "/srv",   "~",      "**/k",     "**/sub"};
	static const char *const denied[] = {"/srv/a", "/srv/k", "**/k", "/srv/*/b", "/opt/x/**", "/data"};

	out[0] = '\0';
	put(out, TEXT, "filesystem:\n  workdir: %s\n", workdir_mode_names[pick(4)]);
	RANDOM_LIST(out, "read", places, 2);
	RANDOM_LIST(out, "write", places, 2);
	RANDOM_LIST(out, "deny", denied, 2);
}

static void where_it_says_nothing_there_is_nothing_in_whatever_work_folder(void)
{
	static const char *const at[] = {"/srv",   "/srv/a",   "/srv/a/b",  "/srv/k",    "/opt",
					 "/opt/x", "/opt/sub", "/home/u/z", "/home/u/k", "/data"};
	static char first[TEXT], second[TEXT];
	unsigned i, k, silent = 0;
	struct policy *a, *b;
	struct error err;

	for (i = 0; i < 6000 && check_failures < 5; i++) {
		seed = i * 2246822519U;
		random_places(first);
		random_places(second);
		a = memory_policy(first, NULL, &err);
		b = memory_policy(second, NULL, &err);
		CHECK(a && b);
		CHECK(!a || more_at(a, a, true) == 0);
		if (a && b && !narrows(a, b) && more_at(a, b, true) == 0) {
			silent++;
			for (k = 0; k < sizeof(at) / sizeof(at[0]); k++)
				CHECK(files_within(b, a, at[k]));
			if (check_failures)
				printf("# a %u:\n%s# b:\n%s", i, first, second);
		}
		policy_free(a);
		policy_free(b);
	}
	printf("# %u pairs of %u differ in nothing\n", silent, i);
	CHECK(silent > 100);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(where_it_says_nothing_there_is_nothing_in_whatever_work_folder),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
