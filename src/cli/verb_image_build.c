#include "cli/verb_image_build.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/launch_task.h"
#include "cli/task_progress.h"
#include "task/image_build.h"

const struct option verb_image_build_options[] = {
	{"build-arg", 0, "NAME=VALUE", NULL, "The value of an ARG of the Dockerfile.", OPTION_MANY},
	CLI_OPTION_RUNTIME,
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	{"quiet", 'q', NULL, NULL, "Say nothing of how far it is.", 0},
	{0},
};

struct display {
	const struct call *call;
	struct progress shown;
};

static void note(void *arg, const char *text)
{
	struct display *d = arg;

	/* what it says stands on a line of its own; the next step draws again */
	task_progress_done(&d->shown);
	call_note(d->call, "%s", text);
}

/* No value comes from the environment, as docker's would: what a build gets is what stands here. */
static int take_args(const struct call *call, const char ***ret, struct error *err)
{
	const char **v = calloc(call->n_values + 1, sizeof(*v));
	const struct option_value *given;
	struct text_shown shown;
	size_t at = 0, n = 0;

	if (!v)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	*ret = v;
	while ((given = call_next(call, "build-arg", &at))) {
		if (!strchr(given->value, '=') || given->value[0] == '=')
			return error_set(
				err, ERROR_USAGE,
				"--build-arg %s: write NAME=VALUE; no variable of yours is passed on by its name",
				text_show(&shown, sv_of(given->value)));
		v[n++] = given->value;
	}
	return 0;
}

/* What is wrong with the operator's own files is told before anything is copied. */
static int check_policy(const struct call *call, char scratch[PATH_MAX], struct error *err)
{
	struct cli_policy policy = {0};
	int r = cli_policy_load(call, NULL, 0, &policy, err);

	if (r == 0 && snprintf(scratch, PATH_MAX, "%s/tasks", policy.folders.cache) >= PATH_MAX)
		r = error_set(err, ERROR_SYSTEM, "the cache folder's path is too long");
	cli_policy_done(&policy);
	return r;
}

int verb_image_build(struct call *call, struct error *err)
{
	struct display d = {.call = call};
	struct task_launcher launcher;
	struct task_progress progress;
	char scratch[PATH_MAX];
	struct image_build req = {.name = call->args[0],
				  .dir = call->args[1],
				  .scratch = scratch,
				  .launcher = &launcher,
				  .note = note,
				  .arg = &d};
	AUTO_FREE const char **args = NULL;
	struct build_result made;
	int r, signal = 0;

	if (take_args(call, &args, err) < 0 || check_policy(call, scratch, err) < 0)
		return -1;
	req.args = args;
	launch_task_init(call, &launcher);
	task_progress_init(&d.shown, call, &progress);
	if (!call_has(call, "quiet"))
		req.progress = &progress;
	r = image_build(&req, &made, &signal, err);
	task_progress_done(&d.shown);
	if (signal) {
		call_note(call, "%s", err->text);
		cli_die_of(signal);
	}
	if (r < 0)
		return -1;
	(void)fprintf(call->out, "%s\n", made.digest);
	return 0;
}
