#include "cli/task_look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "task/review.h"
#include "task/stage.h"

const char *const task_format_names[] = {
	[TASK_HARBOR] = "harbor", [TASK_DOCUMENT] = "benchflow", [TASK_TERMINAL] = "terminal-bench"};

int task_look_scratch(struct scratch *ret, struct error *err)
{
	struct cli_folders folders;
	char where[PATH_MAX];

	if (cli_folders(&folders, err) < 0)
		return -1;
	if (snprintf(where, sizeof(where), "%s/tasks", folders.cache) >= (int)sizeof(where))
		return error_set(err, ERROR_SYSTEM, "the cache folder's path is too long");
	return scratch_make(where, ret, err);
}

/* The paths that cannot be copied, as problems of the task. */
static void take_lines(struct task_problems *to, const struct problems *lines)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		task_problem_add(to, &(struct task_problem){.what = lines->v[i]});
	to->left_out += (uint32_t)lines->more;
}

int task_look(const char *path, int to, struct modes *modes, bool lenient, bool by_docker, struct task **ret,
	      struct task_problems *problems, struct error *err)
{
	AUTO_FD folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_PROBLEMS lines = {0};
	struct credentials *credentials = NULL;
	struct cli_policy where = {0};
	struct stage_stats stats;
	struct text_shown shown;
	int r;

	if (folder < 0 && errno == ENOTDIR)
		return error_set(err, ERROR_INPUT, "%s: is not a folder; name the task's folder",
				 text_show(&shown, sv_of(path)));
	if (folder < 0)
		return error_sys(err, errno, "%s", text_show(&shown, sv_of(path)));
	if (cli_folders(&where.folders, err) < 0 || cli_credentials(&where, &credentials, err) < 0)
		return -1;
	r = stage_copy(folder, to, &stage_default_limits, &stats, modes, &lines, err);
	take_lines(problems, &lines);
	if (r == 0)
		r = review_task(
			to, &(struct review){.lenient = lenient, .by_docker = by_docker, .credentials = credentials},
			ret, problems, err);
	credentials_free(credentials);
	return r;
}

static void put_shown(struct buf *out, const char *s)
{
	text_escape(out, sv_of(s), 2000);
}

void task_look_problem(struct buf *out, const struct task_problem *p)
{
	if (*p->file) {
		put_shown(out, p->file);
		if (p->line)
			(void)buf_printf(out, ":%u:%u", p->line, p->column);
		(void)buf_str(out, ": ");
	}
	if (p->warning)
		(void)buf_str(out, "warning: ");
	if (*p->key) {
		put_shown(out, p->key);
		(void)buf_str(out, ": ");
	}
	put_shown(out, p->what);
	(void)buf_char(out, '\n');
}

void task_look_print(struct buf *out, const char *path, const struct task *t, const struct task_problems *problems)
{
	uint32_t i;

	for (i = 0; i < problems->n; i++)
		task_look_problem(out, &problems->v[i]);
	if (problems->left_out)
		(void)buf_printf(out, "and %u more\n", problems->left_out);
	put_shown(out, path);
	if (t)
		(void)buf_printf(out, ": ok (%s)\n", task_format_names[t->format]);
	else
		(void)buf_printf(out, ": refused (%u problem%s)\n", problems->refused,
				 problems->refused == 1 ? "" : "s");
}
