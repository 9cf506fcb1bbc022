#include "cli/verb_task.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli_policy.h"
#include "cli/task_look.h"

const struct option verb_task_check_options[] = {
	{"lenient", 0, NULL, NULL, "Take keys that are not known, with a warning, in place of refusing the task.", 0},
	CLI_OPTION_JSON,
	{0},
};

static int look(const struct call *call, const char *path, struct task **ret, struct task_problems *problems,
		struct error *err)
{
	AUTO_SCRATCH scratch = SCRATCH_NONE;

	return task_look_scratch(&scratch, err) < 0
		       ? -1
		       : task_look(path, scratch.fd, NULL, call_has(call, "lenient"), false, ret, problems, err);
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
	json_kstr(&j, "format", t ? task_format_names[t->format] : NULL);
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
			task_look_print(&out, path, t, &problems);
		r = cli_print(call, &out, err) < 0 ? -1 : t ? 0 : 1;
	}
	task_free(t);
	arena_free(problems.arena);
	return r;
}
