#include "cli/verb_task.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "task/review.h"
#include "task/scratch.h"
#include "task/stage.h"

const struct option verb_task_check_options[] = {
	{"lenient", 0, NULL, NULL, "Take keys that are not known, with a warning, in place of refusing the task.", 0},
	CLI_OPTION_JSON,
	{0},
};

static const char *const format_names[] = {[TASK_HARBOR] = "harbor", [TASK_DOCUMENT] = "benchflow", [TASK_TERMINAL] = "terminal-bench"};

/* The paths that cannot be copied, as problems of the task. */
static void take_lines(struct task_problems *to, const struct problems *lines)
{
	size_t i;

	for (i = 0; i < lines->n; i++)
		task_problem_add(to, &(struct task_problem){.what = lines->v[i]});
	to->left_out += (uint32_t)lines->more;
}

/* For the copy that is looked at. */
static int make_scratch(const struct cli_folders *folders, struct scratch *ret, struct error *err)
{
	char where[PATH_MAX];

	if (snprintf(where, sizeof(where), "%s/tasks", folders->cache) >= (int)sizeof(where))
		return error_set(err, ERROR_SYSTEM, "the cache folder's path is too long");
	return scratch_make(where, ret, err);
}

static int look(const struct call *call, const char *path, struct task **ret, struct task_problems *problems, struct error *err)
{
	AUTO_FD folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_SCRATCH scratch = SCRATCH_NONE;
	AUTO_PROBLEMS lines = {0};
	struct credentials *credentials = NULL;
	struct cli_policy where = {0};
	struct stage_stats stats;
	struct text_shown shown;
	int r;

	if (folder < 0)
		return error_sys(err, errno, "%s", text_show(&shown, sv_of(path)));
	if (cli_folders(&where.folders, err) < 0 || make_scratch(&where.folders, &scratch, err) < 0 || cli_credentials(&where, &credentials, err) < 0)
		return -1;
	r = stage_copy(folder, scratch.fd, &stage_default_limits, &stats, &lines, err);
	take_lines(problems, &lines);
	if (r == 0)
		r = review_task(scratch.fd, &(struct review){.lenient = call_has(call, "lenient"), .credentials = credentials}, ret, problems, err);
	credentials_free(credentials);
	return r;
}

static void put_shown(struct buf *out, const char *s)
{
	text_escape(out, sv_of(s), 2000);
}

static void print_problem(struct buf *out, const struct task_problem *p)
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

static void print_text(struct buf *out, const char *path, const struct task *t, const struct task_problems *problems)
{
	uint32_t i;

	for (i = 0; i < problems->n; i++)
		print_problem(out, &problems->v[i]);
	if (problems->left_out)
		(void)buf_printf(out, "and %u more\n", problems->left_out);
	put_shown(out, path);
	if (t)
		(void)buf_printf(out, ": ok (%s)\n", format_names[t->format]);
	else
		(void)buf_printf(out, ": refused (%u problem%s)\n", problems->refused, problems->refused == 1 ? "" : "s");
}

static void print_json(struct buf *out, const char *path, const struct task *t, const struct task_problems *problems)
{
	struct json j;
	uint32_t i;

	json_init(&j, out);
	json_open(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "folder", path);
	json_kbool(&j, "accepted", t != NULL);
	json_kstr(&j, "format", t ? format_names[t->format] : NULL);
	json_kstr(&j, "name", t ? t->name.s : NULL);
	json_key(&j, "problems");
	json_list(&j);
	for (i = 0; i < problems->n; i++) {
		const struct task_problem *p = &problems->v[i];

		json_open(&j);
		json_kstr(&j, "severity", p->warning ? "warning" : "refused");
		json_kstr(&j, "file", *p->file ? p->file : NULL);
		json_kint(&j, "line", p->line);
		json_kint(&j, "column", p->column);
		json_kstr(&j, "key", p->key);
		json_kstr(&j, "message", p->what);
		json_close(&j);
	}
	json_end(&j);
	json_kint(&j, "left_out", problems->left_out);
	json_close(&j);
	(void)buf_char(out, '\n');
}

int verb_task_check(struct call *call, struct error *err)
{
	struct task_problems problems = {.arena = arena_new()};
	const char *path = call->args[0];
	struct task *t = NULL;
	AUTO_BUF out = {0};
	int r;

	if (!problems.arena)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	buf_init(&out, 16 << 20);
	r = look(call, path, &t, &problems, err);
	if (r == 0 || (problems.refused && err->kind == ERROR_INPUT)) {
		if (call_has(call, "json"))
			print_json(&out, path, t, &problems);
		else
			print_text(&out, path, t, &problems);
		r = cli_print(call, &out, err) < 0 ? -1 : t ? 0 : 1;
	}
	task_free(t);
	arena_free(problems.arena);
	return r;
}
