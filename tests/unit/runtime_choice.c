/* Which runtime a run gets, and that nothing but the policy can make it a weaker one. */
#include "check.h"
#include "policy/runtime_choice.h"
#include "policy_memory.h"

struct row {
	const char *policy, *ceiling, *asked, *category;
	const char *want;	 /* runtimes in order, or what the refusal says, behind "!" */
	const char *want_reason; /* of the first; NULL: any */
};

static struct policy *compile(const struct row *r, struct error *err)
{
	static char texts[2][4096];
	const struct memory_text v[2] = {{"p.yaml", texts[0]}, {"ceiling", texts[1]}};
	struct memory m = {v, r->ceiling ? 2 : 1};
	struct policy_fetch fetch = {memory_get, &m};
	struct policy_source source = {.name = "p.yaml", .is_profile = false};
	struct policy_request req = {.sources = &source,
				     .n_sources = 1,
				     .home = "/home/u",
				     .workdir = "/home/u/w",
				     .runtime = r->asked,
				     .category = r->category};
	struct policy *p = NULL;

	(void)snprintf(texts[0], sizeof(texts[0]), "version: 1\n%s\n", r->policy ? r->policy : "");
	(void)snprintf(texts[1], sizeof(texts[1]), "version: 1\n%s\n", r->ceiling ? r->ceiling : "");
	return policy_compile(&req, &fetch, &p, err) < 0 ? NULL : p;
}

static void check_row(const struct row *r)
{
	struct error err = {0};
	struct policy *p = compile(r, &err);
	struct runtime_choice c;
	char got[200] = "";
	unsigned i;

	if (!p) {
		CHECK(r->want[0] == '!');
		CHECK_HAS(err.text, r->want + (r->want[0] == '!'));
		return;
	}
	runtime_choose(p, r->asked, r->category, &c);
	for (i = 0; i < c.n; i++)
		(void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i ? " " : "",
			       runtime_names[c.v[i].runtime]);
	CHECK_STR(got, r->want);
	if (r->want_reason)
		CHECK_STR(c.v[0].reason, r->want_reason);
	policy_free(p);
}

static void check_rows(const struct row *rows, size_t n)
{
	size_t i;
	int before;

	for (i = 0; i < n; i++) {
		before = check_failures;
		check_row(&rows[i]);
		if (check_failures != before)
			printf("# in row %zu: policy \"%s\" ceiling \"%s\" --runtime %s --category %s\n", i,
			       rows[i].policy ? rows[i].policy : "", rows[i].ceiling ? rows[i].ceiling : "",
			       rows[i].asked ? rows[i].asked : "-", rows[i].category ? rows[i].category : "-");
	}
}

#define ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void auto_is_the_categorys_runtime_and_native_without_one(void)
{
	static const struct row rows[] = {
		{.want = "native", .want_reason = "no category was given"},
		{.category = "code_execution",
		 .want = "gvisor",
		 .want_reason = "the default of the category code_execution"},
		{.category = "terminal", .want = "gvisor"},
		{.category = "file_system", .want = "native", .want_reason = "the default of the category file_system"},
		{.category = "version_control", .want = "native"},
		{.category = "web", .want = "native"},
		{.category = "database", .want = "native"},
		{.category = "design", .want = "native"},
		{.category = "communication", .want = "native"},
		{.category = "analytics", .want = "native"},
		{.category = "deployment", .want = "native"},
		{.category = "mcp", .want = "native"},
		{.category = "other", .want = "native"},
		{.policy = "process: {categories: {code_execution: native, web: runc}}",
		 .category = "code_execution",
		 .want = "native",
		 .want_reason = "process.categories.code_execution, p.yaml:2"},
		{.policy = "process: {categories: {code_execution: native, web: runc}}",
		 .category = "web",
		 .want = "runc"},
		{.policy = "process: {categories: {code_execution: native, web: runc}}",
		 .category = "terminal",
		 .want = "gvisor"},
		/* auto leaves a category what it is */
		{.policy = "process: {categories: {code_execution: auto, web: auto}}",
		 .category = "code_execution",
		 .want = "gvisor"},
		{.policy = "process: {categories: {code_execution: auto, web: auto}}",
		 .category = "web",
		 .want = "native"},
		{.policy = "process: {runtime: crun}",
		 .category = "terminal",
		 .want = "crun",
		 .want_reason = "process.runtime, p.yaml:2"},
		{.policy = "process: {runtime: auto}", .category = "terminal", .want = "gvisor"},
		{.policy = "process: {runtime: crun}", .asked = "docker", .want = "docker", .want_reason = "--runtime"},
		{.policy = "process: {runtime: crun}", .asked = "auto", .want = "native"},
		{.policy = "process: {runtime: crun}", .asked = "auto", .category = "terminal", .want = "gvisor"},
		{.asked = "native", .category = "terminal", .want = "native", .want_reason = "--runtime"},
	};

	ROWS(rows);
}

static void only_what_the_policy_lists_may_take_its_place(void)
{
	static const struct row rows[] = {
		{.asked = "gvisor", .want = "gvisor"},
		{.policy = "process: {fallback: []}", .asked = "gvisor", .want = "gvisor"},
		{.policy = "process: {fallback: [runc, native]}", .asked = "gvisor", .want = "gvisor runc native"},
		{.policy = "process: {fallback: [native, runc]}", .category = "terminal", .want = "gvisor native runc"},
		/* each once, and never the one that failed */
		{.policy = "process: {runtime: gvisor, fallback: [gvisor, native]}", .want = "gvisor native"},
		{.policy = "process: {fallback: [native, crun]}", .want = "native crun"},
	};

	ROWS(rows);
}

static void a_request_never_gets_past_the_ceilings_runtime(void)
{
#define GV "process: {runtime: gvisor}"
#define CAT "process: {categories: {code_execution: gvisor, web: runc}}"
	static const struct row rows[] = {
		{.ceiling = GV, .want = "gvisor", .want_reason = "process.runtime, ceiling:2"},
		{.ceiling = GV, .asked = "auto", .want = "gvisor"},
		{.ceiling = GV, .asked = "gvisor", .want = "gvisor"},
		{.ceiling = GV,
		 .asked = "native",
		 .want = "!--runtime: native is not the ceiling's gvisor (ceiling:2); leave it out"},
		{.ceiling = GV, .asked = "docker", .want = "!--runtime: docker is not"},
		{.ceiling = GV,
		 .policy = "process: {runtime: native}",
		 .want = "!process.runtime: native is not the ceiling's gvisor"},
		/* the command line takes the file's place, below the same ceiling */
		{.ceiling = GV, .policy = "process: {runtime: native}", .asked = "gvisor", .want = "gvisor"},
		{.ceiling = GV, .policy = "process: {runtime: native}", .asked = "auto", .want = "gvisor"},
		{.ceiling = GV, .policy = "process: {categories: {web: native}}", .category = "web", .want = "gvisor"},
		{.ceiling = CAT,
		 .category = "code_execution",
		 .want = "gvisor",
		 .want_reason = "process.categories.code_execution, ceiling:2"},
		{.ceiling = CAT,
		 .policy = "process: {categories: {code_execution: native}}",
		 .category = "code_execution",
		 .want = "gvisor"},
		{.ceiling = CAT,
		 .category = "code_execution",
		 .asked = "native",
		 .want = "!--runtime: native is not the ceiling's gvisor for code_execution (ceiling:2)"},
		{.ceiling = CAT, .category = "code_execution", .asked = "gvisor", .want = "gvisor"},
		{.ceiling = CAT, .category = "web", .asked = "gvisor", .want = "!is not the ceiling's runc for web"},
		{.ceiling = CAT,
		 .category = "web",
		 .policy = "process: {runtime: native}",
		 .want = "!process.runtime: native is not the ceiling's runc for web"},
		/* categories of which the ceiling says nothing, and no category */
		{.ceiling = CAT, .category = "mcp", .asked = "docker", .want = "docker"},
		{.ceiling = CAT, .asked = "native", .want = "native"},
		{.ceiling = CAT,
		 .policy = "process: {runtime: native}",
		 .want = "!process.runtime: native is not the ceiling's gvisor for code_execution"},
		{.ceiling = "process: {categories: {terminal: auto}}",
		 .category = "terminal",
		 .asked = "native",
		 .want = "!is not the ceiling's gvisor for terminal"},
		{.ceiling = "process: {categories: {terminal: auto}}",
		 .policy = "process: {categories: {terminal: native}}",
		 .category = "terminal",
		 .want = "gvisor"},
	};

	ROWS(rows);
}

static void a_request_has_no_fallback_that_the_ceiling_has_not(void)
{
	static const struct row rows[] = {
		{.ceiling = GV, .policy = "process: {fallback: [native]}", .want = "gvisor"},
		{.ceiling = CAT,
		 .policy = "process: {fallback: [native]}",
		 .category = "code_execution",
		 .want = "gvisor"},
		{.ceiling = "process: {runtime: gvisor, fallback: [runc]}",
		 .policy = "process: {fallback: [native, runc]}",
		 .want = "gvisor runc"},
		{.ceiling = "process: {runtime: gvisor, fallback: []}",
		 .policy = "process: {fallback: [native]}",
		 .want = "gvisor"},
		{.ceiling = "process: {fallback: []}",
		 .policy = "process: {fallback: [native]}",
		 .asked = "gvisor",
		 .want = "gvisor"},
		/* a ceiling that says nothing of runtimes puts no bound on them */
		{.ceiling = "process: {memory: 1G}",
		 .policy = "process: {fallback: [native]}",
		 .asked = "gvisor",
		 .want = "gvisor native"},
		{.ceiling = "process: {runtime: auto}",
		 .policy = "process: {fallback: [native]}",
		 .asked = "gvisor",
		 .want = "gvisor native"},
		/* the ceiling allows, it does not add */
		{.ceiling = "process: {runtime: gvisor, fallback: [native]}", .want = "gvisor"},
	};

	ROWS(rows);
}

static void a_refusal_says_which_line_would_help(void)
{
	struct error err = {0};
	struct policy *p = memory_policy("process: {runtime: gvisor}", NULL, &err);
	struct runtime_choice c;
	AUTO_BUF b = {0};

	buf_init(&b, 1024);
	runtime_choose(p, NULL, NULL, &c);
	runtime_advise(p, &c, &b);
	CHECK_HAS(b.p, "process: {fallback: [native]}");
	policy_free(p);
	p = memory_policy("process: {runtime: gvisor, fallback: [runc]}", NULL, &err);
	b.n = 0;
	runtime_choose(p, NULL, NULL, &c);
	runtime_advise(p, &c, &b);
	CHECK_HAS(b.p, "process.fallback (p.yaml:2) names nothing further");
	policy_free(p);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(auto_is_the_categorys_runtime_and_native_without_one),
		CASE(only_what_the_policy_lists_may_take_its_place),
		CASE(a_request_never_gets_past_the_ceilings_runtime),
		CASE(a_request_has_no_fallback_that_the_ceiling_has_not),
		CASE(a_refusal_says_which_line_would_help),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
