#include "cli/launch_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/kept.h"
#include "cli/launch_advice.h"
#include "cli/launch_live.h"
#include "cli/runs_info.h"
#include "conf/value.h"
#include "model/inside.h"
#include "supervise/client.h"
#include "supervise/control.h"
#include "supervise/gate_likeness.h"
#include "sys/process.h"
#include "wire/wire.h"

extern char **environ;

/* How long a sandbox of each kind waits for its next command. */
static const struct {
	const char *name;
	uint64_t idle_ms;
} lifecycles[] = {{"call", 0}, {"task", 5 * 60 * 1000}, {"agent", 30 * 60 * 1000}};

enum { IDLE_MS = 15 * 60 * 1000, GRACE_MS = 2000, MOMENT_MS = 100, OWNED_TRIES = 4 };

static int take_time(const struct call *call, const char *option, uint64_t *v, struct error *err)
{
	const char *text = call_value(call, option);
	const char *wrong = text ? value_duration(sv_of(text), v) : NULL;

	return wrong ? error_set(err, ERROR_USAGE, "--%s: %s", option, wrong) : 0;
}

static int take_lifecycle(const struct call *call, struct launch_keep *k, struct error *err)
{
	const char *name = call_value(call, "lifecycle");
	size_t i;

	if (!name)
		return 0;
	for (i = 0; i < ARRAY_LEN(lifecycles) && strcmp(lifecycles[i].name, name) != 0; i++)
		;
	if (i == ARRAY_LEN(lifecycles))
		return error_set(err, ERROR_USAGE, "--lifecycle takes call, task or agent");
	if (i > 0 && !k->owner)
		return error_set(err, ERROR_USAGE,
				 "--lifecycle %s: whose? --owner NAME says which commands share a sandbox", name);
	if (i == 0)
		k->owner = NULL; /* each call has its own */
	else
		k->idle_ms = lifecycles[i].idle_ms;
	return 0;
}

int launch_keep_options(const struct call *call, struct launch_keep *ret, bool *ret_asked, struct error *err)
{
	static const char *const not_with[] = {"report", "learn", "dry-run"};
	const char *warm = call_value(call, "warm");
	size_t i;

	*ret = (struct launch_keep){.keep = call_has(call, "keep"),
				    .owner = call_value(call, "owner"),
				    .idle_ms = IDLE_MS,
				    .grace_ms = GRACE_MS};
	if (take_lifecycle(call, ret, err) < 0 || take_time(call, "idle", &ret->idle_ms, err) < 0 ||
	    take_time(call, "grace", &ret->grace_ms, err) < 0)
		return -1;
	if (warm && (value_count(sv_of(warm), &ret->warm) || ret->warm == 0 || ret->warm > KEEP_WARM_MAX))
		return error_set(err, ERROR_USAGE, "--warm takes a number from 1 to %d", KEEP_WARM_MAX);
	if (ret->warm && (ret->keep || ret->owner))
		return error_set(
			err, ERROR_USAGE,
			"--warm is for commands that have a sandbox each; with --keep or --owner leave it out");
	*ret_asked = ret->keep || ret->owner || ret->warm;
	for (i = 0; *ret_asked && i < ARRAY_LEN(not_with); i++)
		if (call_has(call, not_with[i]))
			return error_set(err, ERROR_USAGE,
					 "--%s goes with a sandbox that ends with its command, not with --keep, "
					 "--owner or --warm",
					 not_with[i]);
	if ((call_has(call, "idle") || call_has(call, "grace")) && !*ret_asked)
		return error_set(err, ERROR_USAGE, "--idle and --grace go with --keep, --owner or --warm");
	return 0;
}

static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	(void)setsid();
	for (i = 0; i < 3; i++)
		(void)dup2(null, i);
	if (null > 2)
		(void)close(null);
}

/* The supervisor: says the run's id when it is ready, or why it is not. */
static _Noreturn void supervise_kept(const struct launch_request *req, const struct launch_keep *k, int ready)
{
	struct keep_request keep = {
		.owner = k->owner, .idle_ms = k->idle_ms, .grace_ms = k->grace_ms, .prepared = k->prepared};
	/* for the log and `cordon ps`: its commands will be logged one by one */
	char kept[] = "(kept for further commands)", *argv[] = {kept, NULL};
	struct launch_request mine = *req;
	struct error err = {0};
	bool not_started = false;

	mine.argv = argv;
	leave_terminal();
	/* what else we have open is our parent's: locks, pipes of whoever waits for it */
	if (ready != 3)
		(void)dup3(ready, 3, O_CLOEXEC);
	ready = 3;
	(void)sys_close_from(4);
	keep.ready = fcntl(ready, F_DUPFD_CLOEXEC, 4);
	mine.keep = &keep;
	mine.ret_not_started = &not_started;
	if (launch(&mine, &err) < 0)
		(void)dprintf(ready, "%c%d %s", not_started ? '?' : '!', (int)err.kind, err.text);
	_exit(0);
}

/* What it says until its end, or the end of the line: how much. */
static size_t hear(int from, pid_t child, char *said, size_t room)
{
	struct pollfd p = {.fd = from, .events = POLLIN};
	ssize_t got = 1;
	size_t n = 0;

	while (got > 0 && n < room && !memchr(said, '\n', n)) {
		int r = poll(&p, 1, MOMENT_MS);

		if (r == 0)
			sys_continue_stopped(child);
		got = r > 0 ? read(from, said + n, room - n) : r;
		n += got > 0 ? (size_t)got : 0;
		if (r == 0 || (got < 0 && errno == EINTR))
			got = 1;
	}
	return n;
}

/* 0 and the id of a new kept sandbox. */
static int start(const struct launch_request *req, const struct launch_keep *k, char id[STATE_ID], struct error *err)
{
	char said[sizeof(err->text) + 32] = "";
	AUTO_FREE char *runs = NULL;
	size_t n = 0;
	int ends[2];
	pid_t child;

	/* here, where somebody reads what is said of it */
	if (state_root(&runs, err) < 0 ||
	    live_wait(runs, &(struct live_reach){req->policy->policy, req->workdir}, req->call, err) < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, errno, "pipe");
	child = fork();
	if (child == 0) {
		(void)close(ends[0]);
		(void)setsid(); /* here, where our parent sees it if a stop of the job comes just then */
		/* not ours to wait for: it outlives us */
		if (fork() == 0)
			supervise_kept(req, k, ends[1]);
		_exit(0);
	}
	(void)close(ends[1]);
	if (child > 0)
		n = hear(ends[0], child, said, sizeof(said) - 1);
	(void)close(ends[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (n == STATE_ID && said[STATE_ID - 1] == '\n') {
		memcpy(id, said, STATE_ID - 1);
		id[STATE_ID - 1] = '\0';
		return 0;
	}
	if (req->ret_not_started)
		*req->ret_not_started = said[0] == '?';
	if ((said[0] == '!' || said[0] == '?') && strchr(said, ' '))
		return error_set(err, (enum error_kind)strtol(said + 1, NULL, 10), "%s", strchr(said, ' ') + 1);
	return error_set(err, ERROR_SYSTEM, "the sandbox could not be started");
}

/* Nothing ever ran in it: nobody has a use for it. */
static void end_unused(int fd)
{
	char c;

	if (client_stop(fd, 0) < 0)
		return;
	while (read(fd, &c, 1) > 0)
		;
}

/* Prepares what is missing, while nobody waits. */
static void fill(const struct launch_request *req, const struct launch_keep *k, const struct kept *warm)
{
	struct launch_keep prepared = *k;
	struct error ignored = {0};
	AUTO_FD lock = kept_fill(warm); /* before we are gone: who ends all of them then finds it */
	size_t n = lock < 0 ? 0 : kept_count(warm, k->warm);
	char id[STATE_ID];

	prepared.prepared = true;
	if (lock < 0 || n >= k->warm || fork() != 0)
		return;
	leave_terminal(); /* our priority stays as it is: what is run in them later would have another for good */
	for (; n < k->warm && kept_is_wanted(lock); n++) {
		if (start(req, &prepared, id, &ignored) < 0)
			break;
		/* somebody ended all of them meanwhile, and could not see this one */
		if (!kept_is_wanted(lock) || kept_offer(warm, id, &ignored) < 0) {
			end_unused(control_connect(id));
			break;
		}
	}
	_exit(0);
}

/* What shows a kept sandbox that we have its credentials; made once, and only where there is one to ask. */
struct shown {
	bool made, failed;
	struct gate_likeness likeness;
};

/* False: what we have cannot be told now. Nothing is made where no sandbox of this policy has any. */
static bool can_show(const struct launch_request *req, struct shown *s)
{
	const struct gate_request g = {.policy = req->policy->policy,
				       .config = req->policy->folders.config,
				       .home = req->policy->folders.home,
				       .environment = environ};
	struct error ignored = {0};

	if (gate_needed(g.policy) && !s->made && !s->failed) {
		s->failed = gate_likeness(&g, &s->likeness, &ignored) < 0;
		s->made = !s->failed;
	}
	return !s->failed;
}

/* May we use the sandbox behind a connection? */
static enum client_taken take(const struct launch_request *req, int fd, bool alone, struct shown *s)
{
	/* a run of our own will say what is wrong */
	return can_show(req, s) ? client_take(fd, alone, req->policy->digest, s->made ? &s->likeness : NULL)
				: CLIENT_OTHER_CREDENTIALS;
}

/* An owner's sandbox: ours, or the place for a new one. */
struct owned {
	struct kept kept;
	char id[STATE_ID];
	size_t slot;
	char other[STATE_ID]; /* one that is there, and has other credentials; "": there is none */
	bool started;
};

/* Which sandbox it is. That it is a new one although there is one already is said to everybody: what was left in that
 * one is not in this. */
static void note_owned(const struct launch_request *req, const struct launch_keep *k, struct owned *o)
{
	const char *differs = !o->started   ? NULL
			      : o->other[0] ? "set of credentials or gateway.yaml"
					    : kept_other(&o->kept, o->other);
	struct text_shown t;

	(void)text_show(&t, sv_of(k->owner));
	if (differs)
		call_note(req->call, "note: sandbox %s was started for %s beside %s, which has another %s", o->id, t.s,
			  o->other, differs);
	else if (isatty(STDERR_FILENO))
		call_note(req->call, o->started ? "sandbox %s was started for %s" : "sandbox %s of %s is used", o->id,
			  t.s);
}

/* A connection to the one that we may use; -1: there is none, and o->slot is where a new one goes. */
static int look_for_owned(const struct launch_request *req, int lock, const char *runs, struct owned *o)
{
	size_t empty = KEPT_SLOTS, i;
	struct shown shown = {0};
	enum client_taken taken;
	int fd;

	for (i = 0; i < KEPT_SLOTS; i++) {
		kept_id(lock, i, o->id);
		fd = o->id[0] ? control_connect(o->id) : -1;
		taken = fd < 0 ? CLIENT_GONE : take(req, fd, false, &shown);
		if (taken == CLIENT_TAKEN)
			return fd;
		if (fd >= 0)
			(void)close(fd);
		if (fd < 0 && o->id[0] && run_info_failed(runs, o->id))
			call_note(req->call,
				  "note: sandbox %s, which was used before, failed at its end, and what it changed may "
				  "not all have come back: `cordon logs %s` says what, `cordon diff %s` shows what is "
				  "kept of its work folder",
				  o->id, o->id, o->id);
		if (taken == CLIENT_OTHER_CREDENTIALS)
			memcpy(o->other, o->id, STATE_ID);
		else if (empty == KEPT_SLOTS)
			empty = i;
	}
	/* where all of them are other credentials', the last is forgotten, and ends when it has been idle */
	o->slot = empty < KEPT_SLOTS ? empty : KEPT_SLOTS - 1;
	return -1;
}

/* A connection to the owner's sandbox, which is started where there is none. */
static int find_owned(const struct launch_request *req, const struct launch_keep *k, char id[STATE_ID],
		      struct error *err)
{
	AUTO_FREE char *runs = NULL;
	struct owned o = {0};
	AUTO_FD lock = -1;
	int fd = -1;

	/* what is just coming back from the one before is waited for here, and then its end can be told */
	if (state_root(&runs, err) < 0 ||
	    live_wait(runs, &(struct live_reach){req->policy->policy, req->workdir}, req->call, err) < 0)
		return -1;
	if (kept_init(&o.kept, req, k->owner, err) == 0 && (lock = kept_lock(&o.kept, err)) >= 0) {
		fd = look_for_owned(req, lock, runs, &o);
		o.started = fd < 0;
		if (o.started && start(req, k, o.id, err) == 0 && kept_save(&o.kept, lock, o.slot, o.id, err) == 0)
			fd = control_connect(o.id);
	}
	if (fd >= 0)
		note_owned(req, k, &o);
	kept_done(&o.kept);
	memcpy(id, o.id, STATE_ID);
	return fd < 0 ? -1 : fd;
}

static int run_in(int fd, const char *id, const struct launch_request *req, struct error *err)
{
	const struct policy *p = req->policy->policy;
	struct client_limit limit;
	int r = client_exec(fd, req->argv, req->pick->backend && !req->pick->backend->sends_fds, &limit, err);

	if (limit.key[0])
		call_note(req->call, "%s was reached and ended the command; `cordon logs %s` has the details",
			  limit.key, id);
	if (r < 0)
		launch_advice(&(struct advice_about){.name = req->argv[0],
						     .workdir = req->workdir,
						     .cwd = req->workdir ? req->workdir : req->policy->folders.home},
			      p, err);
	return r;
}

/* A container's copies of what it may write to are made when it is prepared: they would be old by the time it is used.
 */
static bool would_be_stale(const struct launch_request *req)
{
	const struct policy *p = req->policy->policy;

	return req->pick->backend &&
	       ((req->workdir && (p->fs.workdir.v == WORKDIR_READ_WRITE || p->fs.workdir.v == WORKDIR_COPY)) ||
		p->fs.write.n);
}

/* A connection to a prepared sandbox that is ours alone, or -1. One that has another policy by now, as when a file of
 * it was saved, or other credentials than we have, is nobody's any more. */
static int take_prepared(const struct launch_request *req, const struct kept *warm, char id[STATE_ID])
{
	struct shown shown = {0};
	int fd;

	/* who cannot show what they have would end those that stand ready for others */
	if (kept_count(warm, 1) && !can_show(req, &shown))
		return -1;
	while ((fd = kept_take(warm, id)) >= 0 && take(req, fd, true, &shown) != CLIENT_TAKEN) {
		(void)client_stop(fd, 0); /* it is not waited for: one that does not answer would hold us up */
		(void)close(fd);
	}
	return fd;
}

/* One command in a prepared sandbox that is then gone; a new sandbox where none is prepared. */
static int run_warm(const struct launch_request *req, const struct launch_keep *k, struct error *err)
{
	struct kept warm = {0};
	char id[STATE_ID];
	AUTO_FD fd = -1;
	int r;

	if (would_be_stale(req))
		return error_set(err, ERROR_USAGE,
				 "--warm: on %s folders that may be written are copies, and those of a prepared "
				 "sandbox would be old; use filesystem.workdir: read-only or none, or --keep",
				 req->pick->backend->name);
	if (kept_init(&warm, req, "", err) < 0)
		return -1;
	fd = take_prepared(req, &warm, id);
	if (fd >= 0)
		r = run_in(fd, id, req, err);
	else
		r = launch(req, err);
	fill(req, k, &warm);
	kept_done(&warm);
	return r;
}

/* Another one is started in its place. What a file has for standard input may have been read into the pipe already. */
static bool may_begin_again(int result, const struct error *err)
{
	struct stat st;

	return result < 0 && err->code == ESHUTDOWN && (fstat(0, &st) < 0 || !S_ISREG(st.st_mode));
}

/* In the owner's sandbox. One that is being ended, by whoever, takes no command any more: the next one does. */
static int run_owned(const struct launch_request *req, const struct launch_keep *k, struct error *err)
{
	char id[STATE_ID] = "";
	int tries, r = -1;

	for (tries = 0; tries < OWNED_TRIES && (tries == 0 || may_begin_again(r, err)); tries++) {
		AUTO_FD fd = -1;

		*err = (struct error){0};
		fd = find_owned(req, k, id, err);
		if (fd < 0)
			return err->kind ? -1
					 : error_set(err, ERROR_SYSTEM, "the sandbox ended while it was being started");
		r = run_in(fd, id, req, err);
	}
	return r;
}

int launch_keep(const struct launch_request *req, const struct launch_keep *k, struct error *err)
{
	char id[STATE_ID] = "";
	AUTO_FD fd = -1;
	int r;

	if (k->warm)
		return run_warm(req, k, err);
	if (k->owner)
		return run_owned(req, k, err);
	if (start(req, k, id, err) == 0) {
		r = control_connect(id);
		fd = r < 0 ? error_sys(err, r, "%s: its supervisor does not answer", id) : r;
	}
	if (fd < 0)
		return err->kind ? -1 : error_set(err, ERROR_SYSTEM, "the sandbox ended while it was being started");
	r = run_in(fd, id, req, err);
	if (r < 0 && (err->kind == ERROR_NOT_FOUND || err->kind == ERROR_NOT_EXEC))
		end_unused(fd);
	else
		call_note(req->call, "kept as %s: `cordon exec %s -- CMD` runs more in it, `cordon stop %s` ends it",
			  id, id, id);
	return r;
}
