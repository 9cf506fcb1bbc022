/* What a diff does not say of two policies is not there: in whatever work folder, and whichever credential is sent. */
#include "policy_world.h"

static const char *const methods[] = {DRAWN_METHODS};
static const char *const url_globs[] = {DRAWN_PATHS};

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

/* Rules of few hosts with credentials, in some order. */
static void random_keyed(char *out)
{
	static const char *const at[] = {"a.ex.test", "*.ex.test"}, *const keys[] = {"x", "y", "z"};
	uint32_t n = 1 + pick(3), i;

	out[0] = '\0';
	put(out, TEXT, "network:\n  mode: allowlist\n  allow:\n");
	for (i = 0; i < n; i++) {
		put(out, TEXT, "    - {host: \"%s\", ports: [443]", ANY_OF(at));
		if (pick(2))
			put(out, TEXT, ", methods: [%s]", ANY_OF(methods));
		if (pick(3) == 0)
			put(out, TEXT, ", paths: [\"%s\"]", ANY_OF(url_globs));
		if (pick(4))
			put(out, TEXT, ", credential: %s", ANY_OF(keys));
		put(out, TEXT, "}\n");
	}
}

static const char *key_of(const struct side *s, const char *host, const char *method, const char *path)
{
	const struct net_request r = {.host = sv_of(host), .port = 443, .method = sv_of(method), .target = sv_of(path)};
	struct net_verdict v;

	net_rules_request(s->rules, &r, &v);
	return v.allow && v.found.keyed ? v.found.keyed->credential.s : "";
}

/* Inner sends no credential but what outer sends. */
static bool keys_within(const struct side *inner, const struct side *outer)
{
	static const char *const asked[] = {"a.ex.test", "b.ex.test"}, *const paths[] = {"/x", "/x/y", "/q/y", "/"};
	static const char *const with[] = {"GET", "POST", "LIST"};
	const char *in, *out;
	unsigned i;

	for (i = 0; i < 2 * 3 * 4; i++) {
		in = key_of(inner, asked[i % 2], with[i / 2 % 3], paths[i / 6]);
		out = key_of(outer, asked[i % 2], with[i / 2 % 3], paths[i / 6]);
		if (in[0] && strcmp(in, out) != 0) {
			printf("# %s %s%s: %s, not %s\n", with[i / 2 % 3], asked[i % 2], paths[i / 6], in, out);
			return false;
		}
	}
	return true;
}

static void where_it_says_nothing_no_other_credential_is_sent(void)
{
	static char first[TEXT], second[TEXT];
	unsigned i, silent = 0;
	struct error err;

	for (i = 0; i < 6000 && check_failures < 5; i++) {
		struct side a, b;

		seed = i * 2246822519U;
		random_keyed(first);
		random_keyed(second);
		a = side_of(memory_policy(first, NULL, &err));
		b = side_of(memory_policy(second, NULL, &err));
		CHECK(a.rules && b.rules);
		CHECK(!a.p || more_at(a.p, a.p, false) == 0);
		if (a.rules && b.rules && more_at(a.p, b.p, false) == 0) {
			silent++;
			CHECK(keys_within(&b, &a));
			if (check_failures)
				printf("# a %u:\n%s# b:\n%s", i, first, second);
		}
		side_done(&a);
		side_done(&b);
	}
	printf("# %u pairs of %u differ in nothing\n", silent, i);
	CHECK(silent > 100);
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
		CASE(where_it_says_nothing_no_other_credential_is_sent),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
