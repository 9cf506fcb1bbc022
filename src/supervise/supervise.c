#include "supervise/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/audit_command.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "model/inside.h"
#include "supervise/control.h"
#include "supervise/denial_log.h"
#include "supervise/front.h"
#include "supervise/group.h"
#include "supervise/landlock_log.h"
#include "supervise/reload.h"
#include "supervise/supervise_gate.h"
#include "supervise/supervise_own.h"
#include "supervise/terminal.h"
#include "sys/process.h"
#include "wire/wire.h"

/* HEARD: for PID 1 to answer that it passed a signal on. */
enum { TERM_GRACE_MS = 2000, HEARD_MS = 5000 };

void supervisor_log(struct supervisor *s, const struct event *e)
{
	if (!s->failed && audit_write(s->req->audit, e, s->err) < 0)
		s->failed = true; /* fail closed: the loop ends the run */
	/* what a person allowed would have been denied */
	if ((e->kind == EVENT_DENIAL || (e->rule && strcmp(e->rule, "network.ask") == 0)) && s->req->denied)
		s->req->denied(s->req->denied_arg, e);
}

/* Until a gateway is ready PID 1 waits for the word to go on, and takes no other; there is nobody inside then. */
void supervisor_signal(struct supervisor *s, uint64_t id, int sig)
{
	AUTO_BUF b = {0};

	if (s->req->gate && !s->ret->started)
		return;
	buf_init(&b, 64);
	wire_put_u64(&b, id);
	wire_put_u32(&b, (uint32_t)sig);
	if (outbox_send(&s->out, INSIDE_SIGNAL, &b, NULL, 0) == 0 && id == 0)
		s->unheard++;
}

static void send_signal(struct supervisor *s, int sig)
{
	supervisor_signal(s, 0, sig);
}

void supervisor_kill_all(struct supervisor *s)
{
	s->req->kill(s->req->sandbox);
}

/* Whoever gives the least time is heard. */
static void end_gently(struct supervisor *s, uint64_t grace)
{
	uint64_t at = now_ms() + grace, who = s->req->keep ? INSIDE_ALL : 0; /* one that is kept has no first command */

	s->control.ending = true;
	if (!s->kill_at) {
		supervisor_signal(s, who, SIGTERM);
		supervisor_signal(s, who, SIGCONT);
	}
	if (!s->kill_at || (s->kill_at != UINT64_MAX && at < s->kill_at))
		s->kill_at = at;
}

static void hit_limit(struct supervisor *s, const char *key, const char *message)
{
	struct event e = {
		.kind = EVENT_LIMIT, .domain = DOMAIN_PROCESS, .verdict = "deny", .rule = key, .message = message};

	s->ret->limit = key;
	control_tell_limit(&s->control, INSIDE_ALL, key);
	supervisor_log(s, &e);
}

/* Of one command in a sandbox that is kept, which goes on without it. */
static void log_command_timeout(struct supervisor *s)
{
	struct event e = {.kind = EVENT_LIMIT,
			  .domain = DOMAIN_PROCESS,
			  .verdict = "deny",
			  .rule = "process.timeout",
			  .message = "a command in the kept sandbox reached the wall-clock limit"};

	supervisor_log(s, &e);
}

static void pass_size(void *arg, unsigned rows, unsigned columns)
{
	struct supervisor *s = arg;
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, 0);
	wire_put_u32(&b, rows);
	wire_put_u32(&b, columns);
	(void)outbox_send(&s->out, INSIDE_RESIZE, &b, NULL, 0);
}

/* All inside stands still, and the shell takes over. We do not stand still: what runs on in there, whoever continued
 * it, is watched and logged, and the wall clock holds. */
void supervisor_stop_all(struct supervisor *s)
{
	s->stopped = true;
	supervisor_signal(s, INSIDE_ALL, SIGSTOP);
	terminal_restore(&s->terminal);
}

/* PID 1 leaves our job with its first step. Who stops the job at that moment stops it too, and does not reach it any
 * more when the job is continued. */
static void continue_all(struct supervisor *s)
{
	if (s->req->from_job)
		(void)sys_pidfd_signal(s->req->pidfd, SIGCONT);
	terminal_raw(&s->terminal);
	terminal_resize(&s->terminal);
	supervisor_signal(s, s->stopped ? INSIDE_ALL : 0, SIGCONT);
	s->stopped = false;
}

static void landlock_denied(void *arg, const struct landlock_access *a)
{
	struct supervisor *s = arg;
	struct event_field fields[] = {{.key = "target", .value = sv_n(a->target, a->n_target)},
				       {.key = "access", .value = a->blockers},
				       {.key = "by", .value = sv_of("landlock")}};
	struct event e = {.kind = EVENT_DENIAL,
			  .domain = a->of,
			  .verdict = "deny",
			  .rule = a->rule,
			  .fields = fields,
			  .n_fields = ARRAY_LEN(fields)};

	denial_log_add(&s->denials, &e, now_ms());
}

static void landlock_untold(void *arg, uint64_t n)
{
	struct supervisor *s = arg;

	denial_log_untold(&s->denials, n);
}

static void landlock_lost(void *arg)
{
	struct event e = {
		.kind = EVENT_NOTE,
		.rule = "landlock",
		.message = "records of the kernel's audit were lost: denials by Landlock may be missing from here on"};

	supervisor_log(arg, &e);
}

static struct landlock_log_sink landlock_sink(struct supervisor *s)
{
	return (struct landlock_log_sink){
		.denied = landlock_denied, .untold = landlock_untold, .lost = landlock_lost, .arg = s};
}

/* Before the word to start anything, with which it comes. */
static int ask_for_records(const struct supervise_request *req, struct error *err)
{
	AUTO_BUF b = {0};
	int r;

	if (!req->landlock)
		return 0;
	buf_init(&b, 64);
	wire_put_sv(&b, sv_of(landlock_log_name(req->landlock)));
	r = wire_send(req->socket, INSIDE_RECORD, buf_view(&b), NULL, 0);
	/* PID 1 may have failed already: what it said is in the socket, and worth more than this */
	return r < 0 && r != -EPIPE && r != -ECONNRESET ? error_sys(err, r, "sandbox: what to record") : 0;
}

/* A policy that is wrong changes nothing; both are logged. */
static int reload(void *arg, const char *path, struct error *err)
{
	struct supervisor *s = arg;
	char digest[65] = "", text[700];
	struct event_field field = {.key = "policy_digest", .value = sv_of(digest)};
	struct event e = {.kind = EVENT_NOTE, .rule = "policy", .message = text};
	int r;

	if (s->req->policies && !gate_is_ready(s->req->gate))
		return error_set(err, ERROR_SYSTEM, "the run is only starting; try again in a moment");
	r = s->req->policies ? s->req->policies->load(s->req->policies->arg, path, digest, err)
			     : error_set(err, ERROR_DENIED,
					 "this run was started without network and models, and cannot be given them: "
					 "start it anew with the other policy (it has no gateway, and nothing else can "
					 "change while it runs)");

	if (r >= 0) {
		(void)snprintf(text, sizeof(text), "a new policy is in force for network and inference%s%s",
			       r ? "; " : "", r ? err->text : "");
		e.verdict = "allow";
		(void)snprintf(s->control.policy, sizeof(s->control.policy), "%s", digest);
		field.value = sv_of(digest);
		e.fields = &field;
		e.n_fields = 1;
	} else {
		(void)snprintf(text, sizeof(text), "a new policy was refused, the last one stays: %s", err->text);
		e.verdict = "deny";
	}
	supervisor_log(s, &e);
	return r;
}

static void reload_files(struct supervisor *s)
{
	struct error err = {0};

	s->reload_later = !gate_is_ready(s->req->gate);
	if (!s->reload_later)
		(void)reload(s, NULL, &err);
}

/* With a gateway it takes a while until there is a command to pass a signal to; one that would end it ends the run
 * then. And where a command was started, somebody inside may hold PID 1 up: then such a signal ends the run, too. */
static void pass_on(struct supervisor *s, int sig)
{
	bool ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;

	if (s->ret->started || !s->req->gate) {
		send_signal(s, sig);
		if (ends && s->ret->started && s->unheard && !s->heard_by)
			s->heard_by = now_ms() + HEARD_MS;
	} else if (ends) {
		s->ret->status = sig;
		s->ended = true;
		supervisor_kill_all(s);
	}
}

/* Signals sent to us mean the workload, but for those about our terminal, and SIGHUP that somebody sent where there is
 * a policy to load again. */
static void on_signal(struct supervisor *s)
{
	struct signalfd_siginfo info;
	bool again;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		again = front_heard(&s->ear, s->req->front, &info, now_ms());
		/* whoever is stopped is continued, in doubt once more */
		if (again && !(s->stopped && info.ssi_signo == SIGCONT))
			continue;
		switch (info.ssi_signo) {
		case SIGWINCH:
			terminal_resize(&s->terminal);
			/* to some programs it means more than a window's new size, which the kernel tells the workload
			 */
			if (info.ssi_code != SI_KERNEL)
				pass_on(s, SIGWINCH);
			break;
		case SIGCONT:
			continue_all(s);
			break;
		case SIGTSTP:
			/* by SIGSTOP: a command that leads its own session cannot be stopped by SIGTSTP */
			supervisor_stop_all(s);
			if (s->req->front)
				(void)kill(s->req->front, FRONT_MAY_STOP);
			break;
		case SIGHUP:
			if (s->req->policies && front_is_sent(&s->shells, &info, now_ms()))
				reload_files(s);
			else
				pass_on(s, SIGHUP);
			break;
		default:
			pass_on(s, (int)info.ssi_signo);
		}
	}
}

static void on_watch(struct supervisor *s)
{
	struct event note = {.kind = EVENT_NOTE,
			     .domain = DOMAIN_PROCESS,
			     .rule = "process.memory",
			     .message = "the kernel does not show us what runs in the sandbox: no cgroup bounds its "
					"memory, and it cannot be watched"};
	const char *key, *message;

	key = watch_limit_of(watch_poll(&s->watch), &message);
	s->watch_at = now_ms() + s->watch.next_ms;
	/* before that PID 1 has not sent its /proc */
	if (s->req->watch.memory && s->ret->started && s->watch.members.blind && !s->ret->blind) {
		s->ret->blind = true;
		supervisor_log(s, &note);
	}
	if (key) {
		hit_limit(s, key, message);
		supervisor_kill_all(s);
	}
}

/* PID 1 could be held up inside, stopped there where the kernel is gVisor's and the workload an image's root, or
 * stopped from outside: it is not waited for. */
static void give_up(struct supervisor *s)
{
	struct event e = {.kind = EVENT_SIGNAL,
			  .message = "the first process of the sandbox did not answer: all in it was killed"};

	supervisor_log(s, &e);
	(void)error_set(&s->ret->failed, ERROR_SYSTEM, "%s", e.message);
	supervisor_kill_all(s);
	s->ended = true;
}

static void check_clock(struct supervisor *s)
{
	uint64_t now = now_ms();
	bool timed_out = false;

	if (front_shell_ended(&s->shells, now))
		pass_on(s, SIGHUP);
	if (s->watching && now >= s->watch_at)
		on_watch(s);
	if (s->deadline && now >= s->deadline) {
		s->deadline = 0;
		s->ret->timed_out = true;
		hit_limit(s, "process.timeout", "the wall-clock limit was reached");
		end_gently(s, TERM_GRACE_MS);
	}
	if (keep_check(&s->keep, now, &timed_out))
		end_gently(s, s->control.left ? 0 : s->req->keep->grace_ms);
	if (timed_out)
		log_command_timeout(s);
	if (s->keep.lost || outbox_is_stuck(&s->out, now) || (s->heard_by && now >= s->heard_by))
		give_up(s);
	if (s->control.stop_again) {
		struct event e = {.kind = EVENT_SIGNAL, .message = "stopped by its owner"};

		s->control.stop_again = false;
		supervisor_log(s, &e);
		end_gently(s, s->control.stop_grace);
	}
	if (s->kill_at && (now >= s->kill_at || keep_is_empty(&s->keep))) {
		supervisor_kill_all(s);
		s->kill_at = UINT64_MAX;
	}
	if (s->failed) {
		if (s->req->gate)
			gate_quiet(s->req->gate);
		supervisor_kill_all(s);
	}
}

static int next_wait(const struct supervisor *s)
{
	uint64_t now = now_ms(), at = UINT64_MAX;
	int terminal = terminal_wait(&s->terminal);

	if (s->watching && s->watch_at < at)
		at = s->watch_at;
	if (s->deadline && s->deadline < at)
		at = s->deadline;
	if (s->kill_at && s->kill_at < at)
		at = s->kill_at;
	if (s->heard_by && s->heard_by < at)
		at = s->heard_by;
	if (s->shells.until && now + FRONT_LOOK_MS < at)
		at = now + FRONT_LOOK_MS;
	if (keep_until(&s->keep) < at)
		at = keep_until(&s->keep);
	if (landlock_log_until(s->req->landlock) < at)
		at = landlock_log_until(s->req->landlock);
	if (ask_until(&s->gate.ask) && ask_until(&s->gate.ask) < at)
		at = ask_until(&s->gate.ask);
	if (outbox_until(&s->out) < at)
		at = outbox_until(&s->out);
	if (terminal >= 0 && now + (uint64_t)terminal < at)
		at = now + (uint64_t)terminal;
	if (at == UINT64_MAX)
		return -1;
	return at <= now ? 0 : at - now > 3600000 ? 3600000 : (int)(at - now);
}

static void command_started(void *arg, char *const *argv)
{
	struct supervisor *s = arg;
	AUTO_BUF b = {0};
	struct event_field field = {.key = "command", .is_json = 1};
	struct event e = {
		.kind = EVENT_EXEC, .domain = DOMAIN_PROCESS, .verdict = "allow", .fields = &field, .n_fields = 1};

	buf_init(&b, AUDIT_COMMAND_MAX);
	audit_put_command(&b, argv);
	field.value = buf_view(&b);
	supervisor_log(s, &e);
	s->watch.ahead = 0; /* who waited to become a command is this one */
}

static void logged(void *arg, const struct event *e)
{
	supervisor_log(arg, e);
}

/* Where nothing was started yet, nothing would tell PID 1 to go on. */
static void check_gate(struct supervisor *s)
{
	if (!s->gate.lost || s->gate.left || s->ended || s->failed)
		return;
	s->gate.left = true;
	s->deadline = 0;
	control_tell_limit(&s->control, INSIDE_ALL, CONTROL_GATEWAY);
	if (s->ret->started)
		end_gently(s, TERM_GRACE_MS);
	else
		supervisor_kill_all(s);
}

static bool keys_typed(void *arg, const char *p, size_t n)
{
	struct supervisor *s = arg;

	return ask_keys(&s->gate.ask, p, n, now_ms());
}

/* While a question stands nothing of the workload's is shown. What fills the screen does not know that we wrote on it.
 */
static void hold_terminal(struct supervisor *s)
{
	bool asks = ask_stands(&s->gate.ask);

	if (s->asked && !asks)
		terminal_redraw(&s->terminal);
	s->asked = asks;
	s->terminal.quiet = s->stopped || asks;
}

static int joined(void *arg, int client)
{
	struct supervisor *s = arg;

	const struct group_leader l = {.network = s->ret->network,
				       .spaces = s->ret->spaces,
				       .runtime = s->req->plan->runtime,
				       .gate = s->req->gate};

	return s->req->plan->image ? group_answer(client, &l) : -ENOTSUP;
}

static void leader_ended(struct supervisor *s)
{
	struct event e = {.kind = EVENT_SIGNAL, .message = "the sandbox whose network it shared has ended"};

	supervisor_log(s, &e);
	(void)error_set(&s->ret->failed, ERROR_SYSTEM, "%s", e.message);
	s->ret->alone = s->ret->started;
	supervisor_kill_all(s);
	s->ended = true;
}

enum { OWN_POLL = 8 };

static int loop(struct supervisor *s)
{
	const struct landlock_log_sink sink = landlock_sink(s);
	struct pollfd p[OWN_POLL + CONTROL_CLIENTS + 1 + 3 + GATE_POLL];
	size_t n_control, n_terminal, n_gate;

	while (!s->ended) {
		p[0] = (struct pollfd){.fd = s->req->socket,
				       .events = outbox_waits(&s->out) ? POLLIN | POLLOUT : POLLIN};
		p[1] = (struct pollfd){.fd = s->signals, .events = POLLIN};
		p[2] = (struct pollfd){.fd = s->req->pidfd, .events = POLLIN};
		p[3] = (struct pollfd){.fd = s->reload.fd, .events = POLLIN};
		p[4] = ask_poll(&s->gate.ask);
		p[5] = (struct pollfd){.fd = s->req->leader, .events = POLLIN};
		p[6] = landlock_log_poll(s->req->landlock, now_ms());
		p[7] = (struct pollfd){.fd = s->req->covers, .events = POLLIN};
		hold_terminal(s);
		s->control.open = s->ret->started && !s->gate.lost;
		n_control = control_poll(&s->control, p + OWN_POLL);
		n_terminal = terminal_poll(&s->terminal, p + OWN_POLL + n_control);
		n_gate = gate_poll(s->req->gate, p + OWN_POLL + n_control + n_terminal);
		if (poll(p, OWN_POLL + n_control + n_terminal + n_gate, next_wait(s)) < 0 && errno != EINTR)
			return error_sys(s->err, errno, "poll");
		if (p[0].revents & POLLOUT)
			outbox_flush(&s->out);
		if (p[0].revents & ~POLLOUT)
			supervisor_hear(s);
		else if (p[2].revents) /* PID 1 has ended, and said all it had to say */
			s->ended = true;
		if (p[5].revents)
			leader_ended(s);
		if (p[7].revents && !s->ended)
			supervisor_hear_cover(s);
		if (p[1].revents)
			on_signal(s);
		if (p[3].revents && reload_changed(&s->reload))
			reload_files(s);
		ask_serve(&s->gate.ask, &p[4], now_ms());
		landlock_log_serve(s->req->landlock, now_ms(), &sink);
		control_serve(&s->control, p + OWN_POLL, n_control);
		terminal_carry(&s->terminal, p + OWN_POLL + n_control, n_terminal);
		gate_serve(s->req->gate, p + OWN_POLL + n_control + n_terminal, n_gate);
		if (s->reload_later && gate_is_ready(s->req->gate))
			reload_files(s);
		check_gate(s);
		check_clock(s);
	}
	return 0;
}

/* The kernel's records may be on their way still. */
static void finish_landlock(struct supervisor *s)
{
	const struct landlock_log_sink sink = landlock_sink(s);

	if (s->req->landlock)
		landlock_log_finish(s->req->landlock, now_ms, &sink);
}

int supervise(const struct supervise_request *req, struct supervise_result *ret, struct error *err)
{
	struct supervisor s = {.req = req, .ret = ret, .err = err};
	int r;

	*ret = (struct supervise_result){.status = -1, .upper = -1, .spaces = {-1, -1}};
	s.signals = supervise_signals();
	if (s.signals < 0)
		return error_sys(err, s.signals, "signalfd");
	if (req->policies)
		front_shells_note(&s.shells, req->front);
	terminal_init(&s.terminal);
	outbox_init(&s.out, req->socket);
	control_init(&s.control, req->id, req->plan, &s.out, now_ms);
	s.control.carries = req->carries;
	(void)snprintf(s.control.policy, sizeof(s.control.policy), "%s", req->policy_digest);
	keep_init(&s.keep, req->keep, &s.control, req->plan->limits.timeout_ms, now_ms());
	s.denials = (struct denial_log){.log = logged, .arg = &s};
	s.control.started = command_started;
	s.control.arg = &s;
	s.gate = (struct supervise_gate){
		.req = req, .ret = ret, .log = logged, .arg = &s, .control = &s.control, .now = now_ms};
	supervise_gate_init(&s.gate);
	s.terminal.keys = keys_typed;
	s.terminal.keys_arg = &s;
	s.terminal.resized = pass_size;
	s.terminal.resized_arg = &s;
	reload_init(&s.reload, req->policies ? req->policies->files : NULL, req->policies ? req->policies->n_files : 0);
	s.control.join = joined;
	s.control.push = reload;
	s.control.fixed = !req->policies;
	s.watching =
		req->watch.memory || req->watch.processes || req->watch.disk || req->watch.storage || req->watch.kernel;
	if (s.watching) {
		watch_init(&s.watch, req->init, &req->watch);
		s.watch_at = now_ms() + 10;
	}
	if (req->plan->limits.timeout_ms && !req->keep)
		s.deadline = now_ms() + req->plan->limits.timeout_ms;
	/* with a gateway the word comes when that is ready */
	r = ask_for_records(req, err);
	if (r == 0 && !req->gate)
		r = req->go(req->sandbox, err);
	if (r == 0)
		r = loop(&s);
	gate_serve_last(req->gate);
	finish_landlock(&s);
	denial_log_end(&s.denials);
	ret->denials += s.denials.total;
	/* Its owner asked for its end, and it took SIGKILL: no failure of the sandbox. One that is kept has no other
	 * end. */
	if (ret->status < 0 && s.kill_at && !ret->failed.kind && (s.control.stop || req->keep))
		ret->status = req->keep ? 0 : SIGKILL;
	if (s.stopped && req->front)
		(void)kill(req->front, SIGCONT);
	terminal_drain(&s.terminal);
	terminal_done(&s.terminal);
	control_done(&s.control);
	reload_done(&s.reload);
	gate_finish(req->gate);
	supervise_gate_done(&s.gate);
	if (s.watching)
		watch_done(&s.watch);
	(void)close(s.signals);
	return s.failed ? -1 : r;
}
