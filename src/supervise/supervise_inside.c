#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "model/inside.h"
#include "supervise/supervise_own.h"
#include "wire/wire.h"

static void on_started(struct supervisor *s, struct wire_message *m)
{
	int master = m->n_fds == 1                              ? fd_take(&m->fds[0])
		     : s->req->carries && s->req->terminal >= 0 ? fcntl(s->req->terminal, F_DUPFD_CLOEXEC, 3)
								: -1;

	s->ret->started = true;
	keep_is_ready(&s->keep, s->req->id, now_ms());
	if (master >= 0)
		terminal_start(&s->terminal, s->req->tty_in, s->req->tty_out, master);
	if (s->stopped)
		supervisor_signal(s, INSIDE_ALL, SIGSTOP);
}

/* The command stopped (^Z). Where there is no terminal nobody would continue it: it is left to the wall clock. */
static void on_stopped(struct supervisor *s)
{
	if (s->terminal.in < 0 || !s->req->front || s->stopped)
		return;
	supervisor_stop_all(s);
	if (!terminal_stop_job(&s->terminal))
		(void)kill(s->req->front, SIGSTOP);
}

/* What must not be seen can be, or nobody would notice any more. */
static void uncovered(struct supervisor *s)
{
	struct event e = {.kind = EVENT_SIGNAL,
			  .domain = DOMAIN_FILESYSTEM,
			  .verdict = "deny",
			  .rule = "filesystem.deny",
			  .message = s->ret->failed.text};

	if (!s->ret->failed.kind)
		(void)error_set(&s->ret->failed, ERROR_SYSTEM,
				"what watches over denied names ended; the sandbox was ended");
	control_tell_limit(&s->control, INSIDE_ALL, e.rule);
	supervisor_log(s, &e);
	supervisor_kill_all(s);
	s->ended = true;
}

static void note_failure(struct supervisor *s, struct wire_in *w)
{
	struct error *e = &s->ret->failed;
	struct sv text;

	e->kind = (enum error_kind)wire_get_u32(w);
	e->code = (int)wire_get_u32(w);
	text = wire_get_sv(w);
	(void)snprintf(e->text, sizeof(e->text), "%.*s", (int)text.n, text.p);
	if (e->kind == ERROR_NONE)
		e->kind = ERROR_SYSTEM;
}

/* Of a sandbox that was not made, or could not go on; with ERROR_DENIED since what is denied cannot be covered. */
static void on_failed(struct supervisor *s, struct wire_in *w)
{
	note_failure(s, w);
	if (s->ret->started && s->ret->failed.kind == ERROR_DENIED)
		uncovered(s);
}

static void on_exited(struct supervisor *s, struct wire_in *w)
{
	s->ret->status = (int)wire_get_u32(w);
	s->ret->user_us = wire_get_u64(w);
	s->ret->system_us = wire_get_u64(w);
	s->ret->max_rss_kib = wire_get_u64(w);
	s->ended = true;
}

static void on_denied(struct supervisor *s, struct wire_in *w)
{
	enum event_domain domain = (enum event_domain)wire_get_u32(w);
	struct sv rule = wire_get_sv(w), what = wire_get_sv(w);
	AUTO_FREE char *name = strndup(rule.p, rule.n);
	struct event_field field = {.key = "target", .value = what};
	struct event e = {.kind = EVENT_DENIAL,
			  .domain = domain,
			  .verdict = "deny",
			  .rule = name,
			  .fields = &field,
			  .n_fields = 1};

	if (domain > DOMAIN_INFERENCE)
		e.domain = DOMAIN_NONE;
	if (wire_ok(w))
		denial_log_add(&s->denials, &e, now_ms());
}

static void on_untold(struct supervisor *s, struct wire_in *w)
{
	uint64_t n = wire_get_u64(w);

	if (wire_ok(w))
		denial_log_untold(&s->denials, n);
}

static void on_heard(struct supervisor *s)
{
	if (s->unheard && --s->unheard == 0)
		s->heard_by = 0;
}

static void on_places(struct supervisor *s, struct wire_in *w)
{
	struct sv made = wire_get_sv(w);

	buf_done(&s->ret->places);
	buf_init(&s->ret->places, made.n + 1);
	(void)buf_sv(&s->ret->places, made);
}

static void on_spaces(struct supervisor *s, struct wire_message *m)
{
	int i;

	for (i = 0; m->n_fds == 2 && i < 2; i++)
		if (s->ret->spaces[i] < 0)
			s->ret->spaces[i] = fd_take(&m->fds[i]);
	s->ret->network = true;
	if (s->req->watch.storage_inside)
		s->watch.usage.userns = s->ret->spaces[0];
}

static void on_members(struct supervisor *s, struct wire_message *m, struct wire_in *w)
{
	pid_t ahead = m->type == INSIDE_AHEAD ? (pid_t)wire_get_u32(w) : 0;

	/* one that was told of before the last command that we asked for may be that command by now */
	if (m->type == INSIDE_AHEAD)
		s->watch.ahead = wire_get_u64(w) + 1 == s->control.next_id ? ahead : 0;
	else if (s->watching && m->n_fds)
		(void)watch_members_take_proc(&s->watch.members, fd_take(&m->fds[0]));
	/* in a network that is another's, so are the sockets */
	if (m->type == INSIDE_PROC && s->watching && s->req->leader < 0 && m->n_fds > 1)
		(void)watch_sockets_take(&s->watch.sockets, fd_take(&m->fds[1]));
}

static void on_pretended(struct supervisor *s, struct wire_in *w)
{
	static const char *const messages[] = {
		"the sandbox has one id, and a program asked to be another: give the user a range in /etc/subuid and "
		"/etc/subgid, with newuidmap installed, or run it as root",
		"the sandbox has one id: files that were given to others stayed with it, and the workload was told "
		"that they were given",
	};
	struct sv call = wire_get_sv(w);
	struct event_field field = {.key = "target", .value = call};
	struct event e = {.kind = EVENT_NOTE,
			  .domain = DOMAIN_PROCESS,
			  .rule = "image.ids",
			  .message = messages[wire_get_u32(w) == 1],
			  .fields = &field,
			  .n_fields = 1};

	if (wire_ok(w))
		supervisor_log(s, &e);
}

static void on_unwatched(struct supervisor *s)
{
	struct event e = {.kind = EVENT_NOTE,
			  .domain = DOMAIN_FILESYSTEM,
			  .rule = "filesystem.deny",
			  .message = "no inotify watches are left: a denied file that the host replaces is covered by "
				     "the search alone, seconds later"};

	s->ret->unwatched = true;
	supervisor_log(s, &e);
}

void supervisor_hear(struct supervisor *s)
{
	struct wire_message m;
	struct wire_in w;
	uint64_t id = 0;
	int r = wire_receive(s->req->socket, &m);

	if (r <= 0) {
		s->ended = true;
		return;
	}
	wire_in_init(&w, buf_view(&m.body));
	if (m.type == INSIDE_DENIED)
		on_denied(s, &w);
	else if (m.type == INSIDE_UNTOLD)
		on_untold(s, &w);
	else if (m.type == INSIDE_LISTENERS)
		s->failed |= supervise_gate_listeners(&s->gate, &m, s->err) < 0;
	else if (m.type == INSIDE_UPPER && m.n_fds == 1 && s->ret->upper < 0)
		s->ret->upper = fd_take(&m.fds[0]);
	else if (m.type == INSIDE_PLACES)
		on_places(s, &w);
	else if (m.type == INSIDE_SPACES)
		on_spaces(s, &m);
	else if (m.type == INSIDE_PROC || m.type == INSIDE_AHEAD)
		on_members(s, &m, &w);
	else if (m.type == INSIDE_PRETENDED)
		on_pretended(s, &w);
	else if (m.type == INSIDE_UNWATCHED)
		on_unwatched(s);
	else if (m.type == INSIDE_HEARD)
		on_heard(s);
	else
		id = wire_get_u64(&w);
	if (id)
		control_pass(&s->control, id, &m);
	else if (m.type == INSIDE_STARTED)
		on_started(s, &m);
	else if (m.type == INSIDE_STOPPED)
		on_stopped(s);
	else if (m.type == INSIDE_FAILED)
		on_failed(s, &w);
	else if (m.type == INSIDE_EXITED)
		on_exited(s, &w);
	wire_message_done(&m);
}

void supervisor_hear_cover(struct supervisor *s)
{
	struct wire_message m;
	struct wire_in w;
	int r = wire_receive(s->req->covers, &m);

	if (r <= 0) {
		uncovered(s);
		return;
	}
	wire_in_init(&w, buf_view(&m.body));
	if (m.type == INSIDE_DENIED) {
		on_denied(s, &w);
	} else {
		(void)wire_get_u64(&w);
		note_failure(s, &w);
		uncovered(s);
	}
	wire_message_done(&m);
}
