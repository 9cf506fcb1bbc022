#include "vault/placeholder.h"

#include "base/cleanup.h"
#include "check.h"
#include "vault/placeholder_set.h"

static struct credential credential_of(const char *name, const char *env, const char **host)
{
	return (struct credential){.name = name, .env = env, .hosts = host, .n_hosts = 1};
}

static void they_look_valid_to_those_who_check(void)
{
	static const struct {
		const char *name, *env, *host, *prefix;
		size_t length;
	} cases[] = {
		{"mine", "ANTHROPIC_API_KEY", "h.test", "sk-ant-api03-", 108},
		{"mine", NULL, "api.anthropic.com", "sk-ant-api03-", 108},
		{"claude", NULL, "h.test", "sk-ant-api03-", 108},
		{"x", "OPENAI_API_KEY", "h.test", "sk-proj-", 164},
		{"x", "GEMINI_API_KEY", "h.test", "AIza", 39},
		{"x", NULL, "generativelanguage.googleapis.com", "AIza", 39},
		{"x", "GITHUB_TOKEN", "api.github.com", "ghp_", 40},
		{"x", "GH_TOKEN", "h.test", "ghp_", 40},
		{"x", NULL, "registry.npmjs.org", "npm_", 40},
		{"x", "GITLAB_TOKEN", "h.test", "glpat-", 26},
		{"x", "SLACK_BOT_TOKEN", "h.test", "xoxb-", 56},
		{"x", "HF_TOKEN", "h.test", "hf_", 37},
		{"own", "TOKEN", "h.test", "", 40},
		/* parts of words choose nothing */
		{"ghost", "XHFX", "nope.test", "", 40},
	};
	struct placeholder p;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *host = cases[i].host;
		struct credential c = credential_of(cases[i].name, cases[i].env, &host);

		CHECK(placeholder_make(&c, &p) == 0);
		if (strlen(p.s) != cases[i].length || !sv_starts(sv_of(p.s), cases[i].prefix))
			printf("# %s %s\n", host, p.s);
		CHECK(strlen(p.s) == cases[i].length && sv_starts(sv_of(p.s), cases[i].prefix));
	}
	CHECK(placeholder_make_key_id(&p) == 0 && strlen(p.s) == 20 && sv_starts(sv_of(p.s), "AKIA"));
}

static void no_two_are_the_same(void)
{
	const char *host = "h.test";
	struct credential c = credential_of("x", NULL, &host);
	struct placeholder p[50];
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(p); i++) {
		CHECK(placeholder_make(&c, &p[i]) == 0);
		for (k = 0; k < i; k++)
			CHECK(strcmp(p[i].s, p[k].s) != 0);
	}
}

static const struct sv both[] = {{"ghp_abcdefghij0123456789", 24}, {"sk-proj-ABCDEFGHIJ", 18}};

static void they_are_found_in_any_form_at_any_cut(void)
{
	static const struct {
		const char *text;
		int found;
	} cases[] = {
		{"token=ghp_abcdefghij0123456789&x", 0},
		{"{\"k\":\"sk-proj-ABCDEFGHIJ\"}", 1},
		{"sk%2Dproj%2dABC%44EFGHIJ", 1},
		{"sk%252Dproj-ABCDEFGHIJ", 1},
		{"sk\\u002dproj-ABCDEFGHIJ", 1},
		{"c2stcHJvai1BQkNERUZHSElK", 1},     /* base64 */
		{"eHNrLXByb2otQUJDREVGR0hJSg==", 1}, /* of "x" and it */
		{"eHhzay1wcm9qLUFCQ0RFRkdISUo", 1},  /* of "xx" and it */
		{"Basic dXNlcjpnaHBfYWJjZGVmZ2hpajAxMjM0NTY3ODk=", 0},
		{"736b2d70726f6a2d4142434445464748494a", 1},
		{"sk-proj-ABCDEFGHI", PLACEHOLDER_NONE},
		{"sk-proj-abcdefghij", 1}, /* all letters small, or large */
		{"SK-PROJ-ABCDEFGHIJ", 1},
		{"sk-proj-abcdeFGHIJ", PLACEHOLDER_NONE},
		{"", PLACEHOLDER_NONE},
	};
	struct placeholder_set *set = NULL;
	size_t i, cut;

	CHECK(placeholder_set_new(both, both, 2, &set) == 0);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct sv text = sv_of(cases[i].text);

		if (placeholder_find(set, text) != cases[i].found)
			printf("# %s\n", cases[i].text);
		CHECK(placeholder_find(set, text) == cases[i].found);
		for (cut = 0; cut <= text.n; cut++) {
			struct placeholder_scan *s = placeholder_scan_new(set);

			(void)placeholder_scan_feed(s, sv_n(text.p, cut));
			(void)placeholder_scan_feed(s, sv_n(text.p + cut, text.n - cut));
			CHECK(placeholder_scan_end(s) == cases[i].found);
			placeholder_scan_free(s);
		}
	}
	placeholder_set_free(set);
}

static void a_beginning_is_held_until_it_is_decided(void)
{
	struct placeholder_set *set = NULL;
	struct placeholder_scan *s;

	CHECK(placeholder_set_new(both, both, 2, &set) == 0);
	s = placeholder_scan_new(set);
	CHECK(placeholder_scan_feed(s, sv_of("text sk-pro")) == PLACEHOLDER_NONE && placeholder_scan_held(s) == 6);
	CHECK(placeholder_scan_feed(s, sv_of("x")) == PLACEHOLDER_NONE && placeholder_scan_held(s) == 0);
	placeholder_scan_free(s);
	placeholder_set_free(set);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(they_look_valid_to_those_who_check),
		CASE(no_two_are_the_same),
		CASE(they_are_found_in_any_form_at_any_cut),
		CASE(a_beginning_is_held_until_it_is_decided),
	};
	return check_main(cases, ARRAY_LEN(cases));
}
