#include "cli/verb_runs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/real_path.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/kept.h"
#include "cli/runs_info.h"
#include "model/inside.h"
#include "policy/policy_cache.h"
#include "supervise/client.h"
#include "supervise/control.h"
#include "supervise/state.h"

enum { STOP_MAX = 64 /* at a time */, STOP_ENDED = -2, REACH_MS = 60000 };

const struct option verb_stop_options[] = {
	{"all", 'a', NULL, NULL, "All of your runs that are going on, kept and prepared sandboxes too.", 0},
	{"time", 't', "SECONDS", NULL, "How long the command may take to end by itself; else 10.", 0},
	{0},
};

const struct option verb_logs_options[] = {
	{"json", 0, NULL, NULL, "Print the log as it is: one JSON object a line.", 0},
	{0},
};

/* Opens a run by its id, and says whether it is running. */
static int open_run(const char *id, struct state *ret, bool *running, struct error *err)
{
	AUTO_FREE char *root = NULL;

	if (state_root(&root, err) < 0)
		return -1;
	return state_open(root, id, ret, running, err);
}

/* By its own word: a log that somebody else let go of says nothing. */
static bool has_ended(const struct state *s)
{
	struct run_info info = {0};
	struct error ignored = {0};
	bool ended = run_info_read(s, false, &info, &ignored) == 0 && info.ended;

	run_info_done(&info);
	return ended;
}

/* One that only begins can be reached in a moment. One that is ending cannot any more, and has ended when its log is
 * let go of: `cordon stop` waits for that. */
static int wait_for_supervisor(const char *id, bool *ret_ended, struct error *err)
{
	static const struct timespec pause = {.tv_nsec = 20000000};
	const int64_t until = now_ms() + REACH_MS;
	int fd = control_connect(id);
	bool running = true;
	struct state s;

	for (; fd == -ECONNREFUSED && running && now_ms() < until; fd = control_connect(id)) {
		(void)nanosleep(&pause, NULL);
		if (open_run(id, &s, &running, err) < 0) {
			*ret_ended = true; /* and was removed */
			return -1;
		}
		*ret_ended = !running && has_ended(&s);
		state_done(&s);
	}
	return fd;
}

static int connect_run(const char *id, bool *ret_collects, struct error *err)
{
	struct state s;
	bool running;
	int fd;

	if (open_run(id, &s, &running, err) < 0)
		return -1;
	if (ret_collects)
		*ret_collects = state_is_collect(&s);
	state_done(&s);
	if (!running)
		return error_set(err, ERROR_USAGE, "%s: the run has ended", id);
	fd = control_connect(id);
	return fd < 0 ? error_sys(err, fd, "%s: its supervisor does not answer", id) : fd;
}

int verb_exec(struct call *call, struct error *err)
{
	bool collect = false;
	AUTO_FD fd = connect_run(call->args[0], &collect, err);
	struct client_limit limit = {0};
	int r = fd < 0 ? -1 : client_exec(fd, call->command, collect, &limit, err);
	struct text_shown shown;

	if (limit.key[0])
		call_note(call, "%s was reached and ended the command; `cordon logs %s` has the details", limit.key,
			  call->args[0]);

	/* What the sandbox shows was settled when it started. */
	if (r < 0 && err->kind == ERROR_NOT_FOUND)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s: not found in the sandbox, whose files and PATH are those it was started with",
				 text_show(&shown, sv_of(call->command[0])));
	return r;
}

/* The supervisor has a last line to write, and changes to keep, when the sandbox has ended; it lets go of the log after
 * that. */
static void wait_for_log(const char *id)
{
	struct error ignored = {0};
	struct state s;
	bool running;

	if (open_run(id, &s, &running, &ignored) < 0)
		return;
	while (running && flock(s.lock, LOCK_SH) < 0 && errno == EINTR)
		;
	state_done(&s);
}

/* Asks a run to end. A connection that ends with it; STOP_ENDED: it was ending, and has ended; or -1. */
static int ask_to_stop(const char *id, long seconds, struct error *err)
{
	bool ended = false;
	AUTO_FD fd = -1;
	int r;

	fd = connect_run(id, NULL, err);
	if (fd < 0 && err->code != ECONNREFUSED)
		return -1;
	if (fd < 0)
		fd = wait_for_supervisor(id, &ended, err);
	if (ended)
		return STOP_ENDED;
	if (fd < 0)
		return error_sys(err, fd, "%s: its supervisor does not answer", id);
	r = client_stop(fd, (uint32_t)seconds * 1000);
	return r < 0 ? error_sys(err, r, "%s", id) : fd_take(&fd);
}

struct stopping {
	long seconds;
	int n, failed;
	const struct call *call;
	bool left; /* one of them did not bring all back */
	struct {
		char id[STATE_ID];
		int fd;
	} v[STOP_MAX];
	struct error first;
};

/* Whoever ends a kept sandbox is the only one who can be told. */
static void tell_left(struct stopping *s, const char *id)
{
	AUTO_FREE char *root = NULL;
	struct error ignored = {0};

	if (state_root(&root, &ignored) < 0 || !run_info_failed(root, id))
		return;
	call_note(s->call,
		  "sandbox %s failed at its end, and what it changed may not all have come back: `cordon logs %s` says "
		  "what, `cordon diff %s` shows what is kept of its work folder",
		  id, id, id);
	s->left = true;
}

static void begin_stop(struct stopping *s, const char *id)
{
	struct error err = {0};
	int fd = ask_to_stop(id, s->seconds, &err);

	if (fd >= 0) {
		(void)snprintf(s->v[s->n].id, STATE_ID, "%s", id);
		s->v[s->n++].fd = fd;
		return;
	}
	if (fd == STOP_ENDED)
		tell_left(s, id);
	else if (s->failed++ == 0)
		s->first = err;
}

/* Their ends are those of the connections. */
static void await_stops(struct stopping *s)
{
	char c;

	while (s->n > 0) {
		s->n--;
		while (read(s->v[s->n].fd, &c, 1) > 0)
			;
		(void)close(s->v[s->n].fd);
		wait_for_log(s->v[s->n].id);
		tell_left(s, s->v[s->n].id);
	}
}

struct all_runs {
	const char *root;
	struct stopping *stopping;
};

static int stop_running(void *arg, const char *id)
{
	struct all_runs *all = arg;
	struct error ignored = {0};
	struct state s;
	bool running;

	if (state_open(all->root, id, &s, &running, &ignored) < 0)
		return 0;
	state_done(&s);
	if (all->stopping->n == STOP_MAX)
		await_stops(all->stopping);
	if (running)
		begin_stop(all->stopping, id);
	return 0;
}

static int stop_all(struct stopping *s, struct error *err)
{
	AUTO_FREE char *root = NULL;
	struct all_runs all = {.stopping = s};

	if (state_root(&root, err) < 0)
		return -1;
	all.root = root;
	kept_halt(root);
	return state_each(root, stop_running, &all, err);
}

int verb_stop(struct call *call, struct error *err)
{
	const char *text = call_value(call, "time");
	struct stopping s = {.seconds = 10, .call = call};
	char *end = NULL;
	int i, r = 0;

	if (text)
		s.seconds = strtol(text, &end, 10);
	if (text && (end == text || *end || s.seconds < 0 || s.seconds > 86400))
		return error_set(err, ERROR_USAGE, "stop: --time takes a number of seconds, at most a day (86400)");
	if (call_has(call, "all") ? call->n_args > 0 : call->n_args == 0)
		return error_set(err, ERROR_USAGE, "stop: name the runs, or give --all alone; `cordon ps` lists them");
	if (call_has(call, "all"))
		r = stop_all(&s, err);
	/* one that cannot be stopped does not keep the others */
	for (i = 0; i < call->n_args; i++) {
		if (s.n == STOP_MAX)
			await_stops(&s);
		begin_stop(&s, call->args[i]);
	}
	await_stops(&s);
	if (r < 0 || !s.failed)
		return r < 0 || !s.left ? r : error_set(err, ERROR_SYSTEM, "stopped, but not all came back");
	*err = s.first;
	if (s.failed > 1)
		call_note(call, "%d runs could not be stopped; the first:", s.failed);
	return -1;
}

/* The supervisor is another process, which knows our pipes by no name, and waits for nobody: it gets what came through
 * this one. */
static int read_handed(const char *name, int from, struct error *err)
{
	AUTO_FD copy = memfd_create("policy", MFD_CLOEXEC);
	struct text_shown shown;
	AUTO_BUF text = {0};
	int r;

	buf_init(&text, POLICY_MAX_BYTES);
	r = copy < 0 ? -errno : buf_read_fd(&text, from);
	if (r == 0)
		r = write_all(copy, text.p, text.n);
	return r < 0 ? error_sys(err, r, "%s", text_show(&shown, sv_of(name))) : fd_take(&copy);
}

int verb_policy_push(struct call *call, struct error *err)
{
	AUTO_FD from = policy_cache_open_pipe(call->args[1]);
	AUTO_FREE char *path = from < 0 ? real_path(call->args[1], NULL) : strdup(call->args[1]);
	struct text_shown shown;
	AUTO_FD text = -1;
	AUTO_FD fd = -1;
	int r;

	if (!path)
		return error_sys(err, errno, "%s", text_show(&shown, sv_of(call->args[1])));
	if (from >= 0 && (text = read_handed(path, from, err)) < 0)
		return -1;
	fd = connect_run(call->args[0], NULL, err);
	/* first of all: whoever asks for its owner's sandbox under the old policy must not get this one */
	r = fd < 0 || kept_disown(call->args[0], err) < 0 ? -1 : client_push(fd, path, text, err);
	if (r > 0)
		call_note(call, "note: %s", text_show(&shown, sv_of(err->text)));
	return r < 0 ? -1 : 0;
}

int verb_logs(struct call *call, struct error *err)
{
	AUTO_FREE char *path = NULL;
	struct state s;
	bool running;
	int r;

	if (open_run(call->args[0], &s, &running, err) < 0)
		return -1;
	if (asprintf(&path, "%s/audit.jsonl", s.path) < 0)
		path = NULL;
	state_done(&s);
	if (!path)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (!call_has(call, "json"))
		return audit_show(path, false, call->out, call->color, err);
	{
		AUTO_BUF b = {0};

		buf_init(&b, 1 << 30);
		r = buf_read_file(&b, path);
		return r < 0 ? error_sys(err, r, "%s", path) : cli_print(call, &b, err);
	}
}
