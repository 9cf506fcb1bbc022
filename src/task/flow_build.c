/* Build: RUN instructions in sandboxes of their own, under the operator's words for this phase. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/compose.h"
#include "sys/beneath.h"
#include "task/build_host.h"
#include "task/compose.h"
#include "task/flow.h"

struct builder {
	struct flow *flow;
	uint64_t limit_ms, until_ms; /* for all of it, not for each RUN */
};

/* A build may go where the operator's policy lets it: the task's own words about networks speak of its agent and its
 * verifier. Never to private addresses, which no policy opens by `public`. */
static int run_step(void *arg, const struct build_run *r, struct error *err)
{
	struct builder *b = arg;
	struct flow *f = b->flow;
	uint64_t now = (uint64_t)now_ms();
	struct task_sandbox s = {
		.name = "build", .phase = "build", .argv = r->argv, .root = *r->root, .in = -1, .out = -1};
	struct bounds bounds = {.offline = r->no_network,
				.timeout_ms = now < b->until_ms ? b->until_ms - now : 1,
				.environment = &f->task->environment};
	struct task_ended e = {0};

	s.root.storage = flow_storage(f);
	if (flow_sandbox(f, &s, &bounds, &e) < 0) {
		if (err != f->err)
			*err = *f->err;
		return -1;
	}
	if (e.timed_out) {
		(void)flow_fail(f, TASK_TIMEOUT);
		return error_set(err, ERROR_DENIED, "the build did not end within %llu s",
				 (unsigned long long)b->limit_ms / 1000);
	}
	/* that it failed is not the task's crime: a mirror may be down */
	if (e.status > 0)
		return error_set(err, ERROR_SYSTEM,
				 "the command ended with exit status %d; output/build.txt has what it said", e.status);
	return e.status;
}

static void show_step(void *arg, size_t at, size_t all, const char *text, bool cached)
{
	struct builder *b = arg;
	const struct task_progress *to = b->flow->req->progress;
	char line[ATTEND_LINE];

	(void)snprintf(line, sizeof(line), "%zu/%zu %s%s", at, all, cached ? "(made before) " : "", text);
	if (to && to->line)
		to->line(to->arg, line);
}

static void keep_note(void *arg, const char *text)
{
	struct builder *b = arg;

	(void)task_result_find(b->flow->result, "build-note", "", text);
}

/* A copy that took too long is told as a RUN is. */
static int why_not(const struct builder *b)
{
	struct flow *f = b->flow;

	if (f->err->kind != ERROR_DENIED || f->err->code != ETIMEDOUT)
		return -1;
	(void)flow_fail(f, TASK_TIMEOUT);
	return error_prefix(f->err, "the build did not end within %llu s", (unsigned long long)b->limit_ms / 1000);
}

int flow_build(struct flow *f, const char *context, const char *dockerfile, const struct compose_build *how,
	       struct image *ret)
{
	const struct pol_num *limit = &f->task->environment.build_timeout;
	struct builder b = {.flow = f, .limit_ms = limit->set ? limit->v : TASK_DEFAULT_BUILD_MS};
	AUTO_FD dir = sys_open_beneath(f->stage, context, O_RDONLY | O_DIRECTORY, 0);
	size_t n = strlen(context);
	struct build_request req = {.store = f->store,
				    .context = dir,
				    .modes = &f->modes,
				    .shown = dockerfile,
				    .run = run_step,
				    .step = show_step,
				    .note = keep_note,
				    .arg = &b,
				    .bounds = build_limits(&f->task->environment, f->arena),
				    .limit = {.room = flow_storage(f)}};
	AUTO_FREE char *engine = build_engine_path();
	struct build_result made;

	b.until_ms = (uint64_t)now_ms() + b.limit_ms;
	req.limit.until_ms = (int64_t)b.until_ms;
	if (how) {
		req.target = how->target[0] ? how->target : NULL;
		req.args = (const char *const *)compose_arguments(f->arena, &how->args);
	}
	if (dir < 0 || arena_failed(f->arena))
		return error_sys(f->err, dir < 0 ? dir : ENOMEM, "the staged %s", context);
	req.engine = engine;
	/* "environment/Dockerfile" in "environment" */
	req.dockerfile = strncmp(dockerfile, context, n) == 0 && dockerfile[n] == '/' ? dockerfile + n + 1 : dockerfile;
	if (build_native(&req, &made, f->err) < 0)
		return why_not(&b);
	return image_find(f->store, made.digest, ret, f->err);
}
