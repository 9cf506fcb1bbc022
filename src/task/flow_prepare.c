/* Stage and build: from a stranger's folder to a checked task and an image. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "task/digest.h"
#include "task/flow.h"
#include "task/review.h"
#include "task/services.h"
#include "task/stage.h"

static int copy_task(struct flow *f)
{
	AUTO_FD from = open(f->req->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_PROBLEMS problems = {.n = 0};
	struct stage_stats stats;
	struct text_shown shown;

	if (from < 0) {
		(void)error_sys(f->err, errno, "%s", text_show(&shown, sv_of(f->req->dir)));
		return flow_fail(f, TASK_REFUSED);
	}
	if (mkdirat(f->scratch.fd, "stage", 0700) < 0 ||
	    (f->stage = openat(f->scratch.fd, "stage", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		(void)error_sys(f->err, errno, "%s/stage", f->scratch.path);
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	}
	if (stage_copy(from, f->stage, &stage_default_limits, &stats, &f->modes, &problems, f->err) < 0)
		return flow_fail(f, f->err->kind == ERROR_INPUT ? TASK_REFUSED : TASK_INFRASTRUCTURE_ERROR);
	return 0;
}

/* What is wrong with the task, all of it, is worth more to a person than the first of it. */
static void note_problems(struct flow *f, const struct task_problems *p)
{
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		const struct task_problem *one = &p->v[i];
		const char *where = arena_printf(f->arena, one->line ? "%s:%u" : "%s", one->file, one->line);
		const char *what = arena_printf(f->arena, "%s%s%s", one->key, one->key[0] ? ": " : "", one->what);

		if (where && what)
			(void)task_result_find(f->result, one->warning ? "task-warning" : "task-refused", where, what);
	}
}

static int load_task(struct flow *f)
{
	struct review with = {.lenient = f->req->lenient, .credentials = f->req->credentials};
	struct task_problems problems = {.arena = f->arena};
	int r = review_task(f->stage, &with, &f->task, &problems, f->err);

	note_problems(f, &problems);
	if (r < 0)
		return flow_fail(f, f->err->kind == ERROR_INPUT || f->err->kind == ERROR_DENIED
					    ? TASK_REFUSED
					    : TASK_INFRASTRUCTURE_ERROR);
	if (f->task->name.s)
		f->result->task = arena_str(f->arena, sv_of(f->task->name.s));
	return 0;
}

static int note_digests(struct flow *f)
{
	AUTO_FD tests =
		f->task->files.tests ? sys_open_beneath(f->stage, f->task->files.tests, O_RDONLY | O_DIRECTORY, 0) : -1;
	char hex[SHA256_HEX];

	if (digest_folder(f->stage, hex, f->err) < 0)
		return -1;
	f->result->digest_task = arena_str(f->arena, sv_of(hex));
	if (tests < 0)
		return 0;
	if (digest_folder(tests, hex, f->err) < 0)
		return -1;
	f->result->digest_tests = arena_str(f->arena, sv_of(hex));
	return 0;
}

/* The last part of the folder's name, where the task has no name. */
static const char *name_of_folder(const struct flow *f)
{
	AUTO_FREE char *path = real_path(f->req->dir, NULL);
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? arena_str(f->arena, sv_of(slash + 1)) : f->req->dir;
}

static int make_image(struct flow *f)
{
	if (image_store_open(&f->store, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	if (services_read(f) < 0)
		return -1;
	if (services_image(f, &f->image) < 0)
		return f->result->status == TASK_TIMEOUT
			       ? -1
			       : flow_fail(f, f->err->kind == ERROR_INPUT || f->err->kind == ERROR_DENIED ||
							      f->err->kind == ERROR_NOT_FOUND
						      ? TASK_REFUSED
						      : TASK_INFRASTRUCTURE_ERROR);
	f->has_image = true;
	f->result->digest_image = arena_str(f->arena, sv_of(f->image.digest + strlen("sha256:")));
	return 0;
}

int flow_prepare(struct flow *f)
{
	f->result->task = name_of_folder(f);
	flow_begin(f, PHASE_STAGE);
	if (copy_task(f) < 0 || flow_go_on(f) < 0 || load_task(f) < 0 || flow_go_on(f) < 0)
		return -1;
	if (note_digests(f) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	/* before an agent works for nothing */
	if (flow_allowed(f, "verify") < 0)
		return -1;
	flow_end(f, PHASE_STAGE, 0);
	flow_begin(f, PHASE_BUILD);
	if (flow_go_on(f) < 0 || make_image(f) < 0)
		return -1;
	flow_end(f, PHASE_BUILD, 0);
	if (image_work_new(f->store, &f->agent, f->err) < 0)
		return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
	return 0;
}
