/*
 * task/carry_text.h: what is kept of a git configuration is kept again as it is, has no further line than the source,
 * and says nothing that git would run. What a program imports has a name. The other judges of text come to an end.
 */
#include "task/carry_text.h"

#include <stdlib.h>

#include "fuzz.h"
#include "task/carry_asked.h"
#include "task/carry_project.h"

static const char *const never[] = {"fsmonitor", "sshcommand", "hookspath", "pager",    "editor", "helper",
				    "alias",     "include",    "textconv",  "external", "smudge", "worktree"};

/* No line of the result begins with a key that runs something. */
static void check_lines(struct sv text)
{
	const char *end;
	size_t i;

	while (text.n) {
		end = memchr(text.p, '\n', text.n);
		if (!end)
			abort();
		for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
			if (text.p[0] == '\t' && text.n > 1 + strlen(never[i]) &&
			    strncasecmp(text.p + 1, never[i], strlen(never[i])) == 0)
				abort();
		text = sv_n(end + 1, text.n - (size_t)(end + 1 - text.p));
	}
}

static void check_name(void *arg, struct sv name)
{
	(void)arg;
	if (name.n == 0 || memchr(name.p, '\n', name.n))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv text = sv_n((const char *)bytes, n), half = sv_n(text.p, n / 2),
		  rest = sv_n(text.p + n / 2, n - n / 2);
	AUTO_BUF once = {0};
	AUTO_BUF twice = {0};
	bool cut;

	buf_init(&once, 2 * n + 16);
	buf_init(&twice, 2 * n + 16);
	carry_git_config(text, &once, &cut);
	check_lines(buf_view(&once));
	carry_git_config(buf_view(&once), &twice, &cut);
	if (cut || !sv_eq(buf_view(&once), buf_view(&twice)))
		abort();
	if (!carry_same_project(text, text, NULL))
		abort();
	(void)carry_same_project(half, rest, NULL);
	(void)carry_same_sections(half, rest);
	(void)carry_accounts(text, half, true);
	(void)carry_entry_points(text);
	(void)carry_python_blank(text);
	(void)carry_orders_code(text);
	carry_asks_python(text, check_name, NULL);
	carry_asks_node(text, check_name, NULL);
	return 0;
}
