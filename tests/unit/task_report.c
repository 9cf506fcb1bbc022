/* task/report: a page for people, whatever stands in it. */
#include <string.h>

#include "check.h"
#include "task/report.h"

static bool has(const struct buf *b, const char *text)
{
	return memmem(b->p, b->n, text, strlen(text)) != NULL;
}

static void files_are_linked_by_relative_paths(void)
{
	static const char *const files[] = {"output/agent.txt", "audit/verify.jsonl", NULL};
	struct task_result r = {.task = "t", .status = TASK_SCORED};
	struct buf out;

	buf_init(&out, 1 << 20);
	task_report_page(&r, files, &out);
	CHECK(has(&out, "<a href=\"./output/agent.txt\">output/agent.txt</a>") &&
	      has(&out, "<a href=\"./audit/verify.jsonl\">"));
	buf_clear(&out);
	task_report_page(&r, NULL, &out);
	CHECK(!buf_failed(&out) && !has(&out, "<a "));
	buf_done(&out);
}

static void a_link_is_no_script_host_or_tag(void)
{
	static const char *const files[] = {"javascript:alert(1)",
					    "//host.example/x",
					    "\"><script>alert(1)</script>",
					    "a?b#c%41",
					    "\x1b[2J\xff",
					    NULL};
	struct task_result r = {.task = "<script>", .status = TASK_REFUSED, .reason = "\"><img src=x>"};
	struct buf out;

	buf_init(&out, 1 << 20);
	task_report_page(&r, files, &out);
	CHECK(has(&out, "href=\"./javascript%3Aalert%281%29\""));
	CHECK(has(&out, "href=\".///host.example/x\""));
	CHECK(has(&out, "href=\"./%22%3E%3Cscript%3Ealert%281%29%3C/script%3E\""));
	CHECK(has(&out, "href=\"./a%3Fb%23c%2541\""));
	CHECK(has(&out, "href=\"./%1B%5B2J%FF\""));
	CHECK(!has(&out, "<script") && !has(&out, "<img") && !has(&out, "\x1b"));
	buf_done(&out);
}

int main(void)
{
	static const struct check_case cases[] = {CASE(files_are_linked_by_relative_paths),
						  CASE(a_link_is_no_script_host_or_tag)};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
