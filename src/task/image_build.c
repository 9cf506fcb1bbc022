#include "task/image_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "task/bounds.h"
#include "task/build_host.h"
#include "task/scratch.h"
#include "task/stage.h"

enum { TAIL_BYTES = 4096, TAIL_LINES = 20 };

struct building {
	const struct image_build *req;
	struct attend attend;
	struct scratch scratch;
	struct arena *arena;
	int stage, log;
	struct modes modes; /* of the stage */
	int signal; /* that came */
	off_t begun; /* where the output of the RUN that goes on begins */
	struct task_environment limits; /* nothing is said, so what holds where a task says nothing */
};

static bool is_interrupted(struct building *b, struct error *err)
{
	if (!b->signal && b->attend.signals >= 0)
		b->signal = attend_signal(&b->attend);
	return b->signal && error_set(err, ERROR_SYSTEM, "interrupted") < 0;
}

/* All that is wrong; the first is the error. */
static int tell_problems(const struct building *b, const struct problems *p, struct error *err)
{
	size_t i;

	for (i = 1; i < p->n; i++)
		b->req->note(b->req->arg, p->v[i]);
	return p->n ? error_set(err, ERROR_INPUT, "%s", p->v[0]) : 0;
}

static int copy_folder(struct building *b, struct error *err)
{
	AUTO_FD from = open(b->req->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_PROBLEMS problems = {.n = 0};
	struct stage_stats stats;
	struct text_shown shown;

	if (from < 0)
		return error_sys(err, errno, "%s", text_show(&shown, sv_of(b->req->dir)));
	if (mkdirat(b->scratch.fd, "stage", 0700) < 0 ||
	    (b->stage = openat(b->scratch.fd, "stage", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return error_sys(err, errno, "%s/stage", b->scratch.path);
	if (stage_copy(from, b->stage, &stage_default_limits, &stats, &b->modes, &problems, err) == 0)
		return 0;
	return problems.n ? tell_problems(b, &problems, err) : -1;
}

/* What it said last, so that a person need not look for it. Lines of strangers: escaped. */
static void tell_output(const struct building *b)
{
	char bytes[TAIL_BYTES];
	off_t end = lseek(b->log, 0, SEEK_END), from = end - TAIL_BYTES > b->begun ? end - TAIL_BYTES : b->begun;
	ssize_t n = pread(b->log, bytes, sizeof(bytes), from);
	struct sv rest = sv_n(bytes, n > 0 ? (size_t)n : 0);
	size_t lines = 0, i;
	AUTO_BUF line = {0};

	for (i = rest.n; i > 0 && lines <= TAIL_LINES; i--)
		lines += rest.p[i - 1] == '\n';
	rest = sv_n(rest.p + (lines > TAIL_LINES ? i + 1 : 0), rest.n - (lines > TAIL_LINES ? i + 1 : 0));
	buf_init(&line, 1 << 16);
	while (rest.n) {
		const char *nl = memchr(rest.p, '\n', rest.n);
		size_t len = nl ? (size_t)(nl - rest.p) : rest.n;

		buf_clear(&line);
		(void)buf_str(&line, "| ");
		text_escape(&line, sv_n(rest.p, len), TAIL_BYTES);
		b->req->note(b->req->arg, line.p);
		rest = sv_n(rest.p + len + (nl != NULL), rest.n - len - (nl != NULL));
	}
}

static int write_bounds(struct building *b, const struct bounds *bounds, const char **ret, struct error *err)
{
	AUTO_FD fd = openat(b->scratch.fd, "bounds.yaml", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	AUTO_BUF text = {0};
	int r;

	buf_init(&text, 1 << 20);
	if (bounds_write(bounds, &text, err) < 0)
		return -1;
	r = fd < 0 ? -errno : write_all(fd, text.p, text.n);
	*ret = arena_printf(b->arena, "%s/bounds.yaml", b->scratch.path);
	if (r == 0 && !*ret)
		r = -ENOMEM;
	return r < 0 ? error_sys(err, r, "%s/bounds.yaml", b->scratch.path) : 0;
}

static int run_step(void *arg, const struct build_run *r, struct error *err)
{
	struct building *b = arg;
	AUTO_FD nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct task_sandbox s = {
		.name = "build", .phase = "build", .argv = r->argv, .root = *r->root, .in = nothing, .out = -1};
	const struct bounds bounds = {.offline = r->no_network, .environment = &b->limits};
	struct task_ended e = {0};

	s.root.storage = build_storage(&b->limits);
	b->begun = lseek(b->log, 0, SEEK_END);
	if (write_bounds(b, &bounds, &s.bounds, err) < 0 || attend(&b->attend, &s, b->log, &e, &b->signal, err) < 0)
		return -1;
	if (is_interrupted(b, err))
		return -1;
	if (e.error.kind != ERROR_NONE) {
		*err = e.error;
		return -1;
	}
	if (e.status == 0)
		return 0;
	tell_output(b);
	return error_set(err, ERROR_INPUT, "the command ended with exit status %d", e.status);
}

static void show_step(void *arg, size_t at, size_t all, const char *text, bool cached)
{
	const struct building *b = arg;
	const struct task_progress *to = b->req->progress;
	struct text_shown shown;
	char line[ATTEND_LINE];

	(void)snprintf(line, sizeof(line), "%zu/%zu %s%.100s", at, all, cached ? "(made before) " : "",
		       text_show(&shown, sv_of(text)));
	if (to)
		to->phase(to->arg, arena_printf(b->arena, "%s", line));
}

static void note(void *arg, const char *text)
{
	const struct building *b = arg;

	b->req->note(b->req->arg, text);
}

static int build(struct building *b, struct image_store *store, struct build_result *ret, struct error *err)
{
	AUTO_FREE char *engine = build_engine_path();
	struct build_request req = {.store = store,
				    .context = b->stage,
				    .modes = &b->modes,
				    .dockerfile = "Dockerfile",
				    .args = b->req->args,
				    .name = b->req->name,
				    .engine = engine,
				    .run = run_step,
				    .step = show_step,
				    .note = note,
				    .arg = b,
				    .bounds = build_limits(&b->limits, b->arena),
				    .limit = {.room = build_storage(&b->limits)}};
	AUTO_PROBLEMS problems = {.n = 0};

	if (!req.bounds)
		return error_sys(err, ENOMEM, "a build");
	if (is_interrupted(b, err) || build_check(&req, &problems, err) < 0 || tell_problems(b, &problems, err) < 0)
		return -1;
	return build_native(&req, ret, err);
}

static int prepare(struct building *b, struct error *err)
{
	if (!b->arena)
		return error_sys(err, ENOMEM, "a build");
	if (scratch_make(b->req->scratch, &b->scratch, err) < 0 || attend_signals(&b->attend, err) < 0)
		return -1;
	b->log = openat(b->scratch.fd, "output.txt", O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	return b->log < 0 ? error_sys(err, errno, "%s/output.txt", b->scratch.path) : copy_folder(b, err);
}

int image_build(const struct image_build *req, struct build_result *ret, int *ret_signal, struct error *err)
{
	struct building b = {.req = req,
			     .attend = {.launcher = req->launcher, .progress = req->progress, .signals = -1},
			     .scratch = SCRATCH_NONE,
			     .arena = arena_new(),
			     .stage = -1,
			     .log = -1};
	char canonical[IMAGE_NAME_MAX + 1];
	struct image_store *store = NULL;
	int r = image_name_canonical(sv_of(req->name), canonical, err);

	/* as at an import: it is a promise of what is in it */
	if (r == 0 && strchr(canonical, '@'))
		r = error_set(err, ERROR_INPUT,
			      "%s: nobody knows the digest before it is built; give it a name with a tag", canonical);
	if (r == 0)
		r = prepare(&b, err);
	if (r == 0)
		r = image_store_open(&store, err);
	if (r == 0)
		r = build(&b, store, ret, err);
	/* one that comes when all is made comes too late */
	if (r < 0)
		(void)is_interrupted(&b, err);
	*ret_signal = r < 0 ? b.signal : 0;
	image_store_close(store);
	modes_done(&b.modes);
	if (b.stage >= 0)
		(void)close(b.stage);
	if (b.log >= 0)
		(void)close(b.log);
	if (b.attend.signals >= 0)
		(void)close(b.attend.signals);
	scratch_done(&b.scratch);
	arena_free(b.arena);
	return r;
}
