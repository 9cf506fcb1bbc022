#include "supervise/control.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/inside.h"

enum { CONNECT_S = 10 };

/* An abstract name needs no file to clean up, and cannot be reached from another network namespace. */
static socklen_t address(const char *run_id, struct sockaddr_un *a)
{
	int n;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "cordon/%u/%s", (unsigned)geteuid(), run_id);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Both sides ask: a stranger could have taken the name first, or could call us. */
static bool is_ours(int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && who.uid == geteuid();
}

void control_init(struct control *c, const char *run_id, const struct plan *plan, struct outbox *out,
		  int64_t (*now)(void))
{
	struct sockaddr_un a;
	socklen_t n = address(run_id, &a);
	size_t i;

	*c = (struct control){.plan = plan, .out = out, .next_id = 1, .now = now, .last_used = now()};
	for (i = 0; i < CONTROL_CLIENTS; i++)
		c->clients[i].fd = c->clients[i].terminal = -1;
	c->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listener >= 0 && (bind(c->listener, (struct sockaddr *)&a, n) < 0 || listen(c->listener, 8) < 0)) {
		(void)close(c->listener);
		c->listener = -1;
	}
}

/* Where too many wait, PID 1 is nearly given up, and this one is lost. */
static int send_signal(const struct control *c, uint64_t id, uint32_t sig)
{
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, 64);
	wire_put_u64(&b, id);
	wire_put_u32(&b, sig);
	r = outbox_send(c->out, INSIDE_SIGNAL, &b, NULL, 0);
	return r == -ENOBUFS ? 0 : r;
}

static void forget_terminal(struct control *c, size_t i)
{
	if (c->clients[i].terminal >= 0)
		(void)close(c->clients[i].terminal);
	c->clients[i].terminal = -1;
}

void control_signal(const struct control *c, uint64_t id, int sig)
{
	(void)send_signal(c, id, (uint32_t)sig);
}

void control_expire(const struct control *c, uint64_t id)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, id);
	(void)outbox_send(c->out, INSIDE_EXPIRED, &b, NULL, 0);
}

void control_tell_limit(const struct control *c, uint64_t id, const char *key)
{
	AUTO_BUF b = {0};
	size_t i;

	buf_init(&b, 256);
	wire_put_sv(&b, sv_of(key));
	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (c->clients[i].fd >= 0 && c->clients[i].id && (id == INSIDE_ALL || c->clients[i].id == id))
			(void)wire_send(c->clients[i].fd, INSIDE_LIMIT, buf_view(&b), NULL, 0);
}

static void drop(struct control *c, size_t i)
{
	struct control_client *gone = &c->clients[i];

	/* The command it started loses whoever waited for it: as with a terminal that hangs up. Its clock goes on. */
	if (gone->id) {
		(void)send_signal(c, gone->id, SIGHUP);
		c->last_used = c->now();
	}
	forget_terminal(c, i);
	(void)close(fd_take(&gone->fd));
	c->left = c->left || gone->took;
	gone->took = gone->looks = gone->stopped = false;
	gone->question = 0;
	if (!c->timed)
		gone->id = 0;
}

void control_done(struct control *c)
{
	size_t i;

	for (i = 0; i < CONTROL_CLIENTS; i++) {
		forget_terminal(c, i);
		if (c->clients[i].fd >= 0)
			(void)close(c->clients[i].fd);
	}
	if (c->listener >= 0)
		(void)close(c->listener);
}

size_t control_poll(const struct control *c, struct pollfd *p)
{
	size_t i;

	p[0] = (struct pollfd){.fd = c->open ? c->listener : -1, .events = POLLIN};
	for (i = 0; i < CONTROL_CLIENTS; i++)
		p[i + 1] = (struct pollfd){.fd = c->clients[i].fd, .events = POLLIN};
	return CONTROL_CLIENTS + 1;
}

/* Passes a request on, with a stream for the terminal where that has to be carried. */
static int send_spawn(struct control *c, size_t i, const struct buf *b, bool terminal, const int stdio[3])
{
	int fds[4] = {stdio[0], stdio[1], stdio[2], -1}, pair[2];
	AUTO_FD far = -1;

	if (!c->carries || !terminal)
		return outbox_send(c->out, INSIDE_SPAWN, b, fds, 3);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	forget_terminal(c, i);
	c->clients[i].terminal = pair[0];
	far = fds[3] = pair[1];
	return outbox_send(c->out, INSIDE_SPAWN, b, fds, 4);
}

static void remember(struct control *c, char *const *argv)
{
	AUTO_BUF b = {0};

	buf_init(&b, 4096);
	for (; *argv && b.n < sizeof(c->last); argv++) {
		(void)buf_str(&b, b.n ? " " : "");
		text_escape(&b, sv_of(*argv), sizeof(c->last));
	}
	(void)snprintf(c->last, sizeof(c->last), "%s", b.p ? b.p : "");
}

/* PID 1 has not heard of it, and it is no command. The client is told why; with PID 1 gone it will see so itself. */
static int refuse(struct control *c, size_t i, int why)
{
	struct error err = {0};
	AUTO_BUF b = {0};

	forget_terminal(c, i);
	if (why == -EPIPE || why == -ECONNRESET)
		return why;
	if (why == -EAGAIN)
		(void)error_set(&err, ERROR_SYSTEM,
				"the sandbox takes no command just now: its first process does not answer");
	else if (why == -EMSGSIZE)
		(void)error_set(
			&err, ERROR_SYSTEM,
			"the command is too long: its words and the sandbox's environment may have %d bytes together",
			WIRE_MAX_BODY);
	else if (why == -ESHUTDOWN)
		err = (struct error){.kind = ERROR_SYSTEM,
				     .code = ESHUTDOWN,
				     .text = "the sandbox is ending, and takes no command any more"};
	else
		(void)error_sys(&err, why, "the command cannot be passed on to the sandbox");
	buf_init(&b, 1024);
	wire_put_u64(&b, 0);
	wire_put_error(&b, &err);
	return wire_send(c->clients[i].fd, INSIDE_FAILED, buf_view(&b), NULL, 0);
}

static void note_started(struct control *c, size_t i, char *const *argv)
{
	struct control_client *to = &c->clients[i];

	to->id = c->next_id++;
	to->started = c->last_used = c->now();
	to->timed_out = to->killed = to->looks = to->stopped = false;
	remember(c, argv);
	if (c->started)
		c->started(c->arg, argv);
}

/* The client's request with our id and our environment: what the policy gave the run is what a further command gets. */
static int pass_spawn(struct control *c, size_t i, struct wire_message *m)
{
	struct inside_spawn told, ours;
	AUTO_BUF b = {0};
	int r = inside_spawn_decode(buf_view(&m->body), &told);

	if (r < 0)
		return r;
	if (told.env[0] || m->n_fds != 3 || c->clients[i].id || ((c->prepared || c->taken) && !c->clients[i].took)) {
		inside_spawn_done(&told);
		return -EPROTO;
	}
	if (c->ending) {
		inside_spawn_done(&told);
		return refuse(c, i, -ESHUTDOWN);
	}
	buf_init(&b, WIRE_MAX_BODY);
	ours = told;
	ours.id = c->next_id;
	ours.env = c->plan->env;
	ours.cwd = told.cwd[0] ? told.cwd : c->plan->cwd;
	inside_spawn_encode(&ours, &b);
	r = buf_failed(&b) ? -EMSGSIZE : send_spawn(c, i, &b, told.tty_bits, m->fds);
	/* not before: its clock would run for what never starts, and the log would tell of it */
	if (r == 0)
		note_started(c, i, told.argv);
	inside_spawn_done(&told);
	return r < 0 ? refuse(c, i, r) : 0;
}

static int pass_size(const struct control *c, size_t i, struct wire_in *w)
{
	AUTO_BUF b = {0};
	uint32_t rows, columns;
	int r;

	(void)wire_get_u64(w);
	rows = wire_get_u32(w);
	columns = wire_get_u32(w);
	if (!wire_ok(w))
		return -EPROTO;
	buf_init(&b, 64);
	wire_put_u64(&b, c->clients[i].id);
	wire_put_u32(&b, rows);
	wire_put_u32(&b, columns);
	r = outbox_send(c->out, INSIDE_RESIZE, &b, NULL, 0);
	return r == -ENOBUFS ? 0 : r;
}

static int answer_take(struct control *c, size_t i, uint32_t answer)
{
	AUTO_BUF b = {0};

	c->clients[i].question = 0;
	if (c->taken || c->ending)
		return -EBUSY;
	if (answer == CONTROL_TAKEN && c->clients[i].alone)
		c->taken = c->clients[i].took = true;
	buf_init(&b, 16);
	wire_put_u32(&b, answer);
	return wire_send(c->clients[i].fd, INSIDE_TAKEN, buf_view(&b), NULL, 0);
}

/* Who takes the sandbox was told of it under the policy that it was started with; since then it may have been given
 * another one. And it was told nothing of the credentials: whether they are the taker's too is the gateway's to say. */
static int take_whole(struct control *c, size_t i, struct wire_in *w)
{
	uint32_t alone = wire_get_u32(w);
	struct sv policy = wire_get_sv(w), nonce = wire_get_sv(w), mac = wire_get_sv(w);
	struct control_client *who = &c->clients[i];
	struct gate_likeness theirs;

	if (!wire_ok(w) || who->question)
		return -EPROTO;
	who->alone = alone;
	if (c->taken || !sv_is(policy, c->policy))
		return answer_take(c, i, CONTROL_OTHER_POLICY);
	if (!c->compare)
		return answer_take(c, i, CONTROL_TAKEN);
	if (nonce.n != sizeof(theirs.nonce) || mac.n != sizeof(theirs.mac))
		return answer_take(c, i, CONTROL_OTHER_CREDENTIALS);
	memcpy(theirs.nonce, nonce.p, nonce.n);
	memcpy(theirs.mac, mac.p, mac.n);
	(void)snprintf(who->policy, sizeof(who->policy), "%s", c->policy);
	who->question = ++c->questions;
	c->compare(c->compare_arg, who->question, &theirs);
	return 0;
}

void control_compared(struct control *c, uint64_t question, bool same)
{
	uint32_t answer;
	size_t i;

	for (i = 0; question && i < CONTROL_CLIENTS; i++) {
		if (c->clients[i].question != question)
			continue;
		/* it may have been pushed meanwhile */
		answer = strcmp(c->clients[i].policy, c->policy) != 0 ? CONTROL_OTHER_POLICY
			 : same                                       ? CONTROL_TAKEN
								      : CONTROL_OTHER_CREDENTIALS;
		if (answer_take(c, i, answer) < 0)
			drop(c, i);
	}
}

static int take_push(struct control *c, size_t i, const struct wire_message *m, struct wire_in *w)
{
	struct sv path = wire_get_sv(w);
	AUTO_FREE char *copy = NULL;
	char text[64];
	struct error err = {0};
	AUTO_BUF b = {0};
	int r;

	if (!wire_ok(w) || memchr(path.p, '\0', path.n))
		return -EPROTO;
	if (m->n_fds) { /* what came through a pipe of the asker's, which has no name here */
		(void)snprintf(text, sizeof(text), "/proc/self/fd/%d", m->fds[0]);
		path = sv_of(text);
	}
	copy = strndup(path.p, path.n);
	if (!copy)
		return -ENOMEM;
	if (c->prepared && !c->taken)
		r = error_set(&err, ERROR_DENIED,
			      "the sandbox is prepared for runs under the policy that it has, and nobody's yet; start "
			      "a run under the other policy");
	else
		r = c->push(c->arg, copy, &err);
	buf_init(&b, 1024);
	wire_put_u32(&b, r >= 0 ? CONTROL_PUSHED : c->fixed ? CONTROL_NO_GATEWAY : CONTROL_NOT_PUSHED);
	wire_put_sv(&b, sv_of(r == 0 ? "" : err.text) /* 1: what waits for a restart */);
	return wire_send(c->clients[i].fd, INSIDE_PUSHED, buf_view(&b), NULL, 0);
}

static int answer_look(struct control *c, size_t i)
{
	uint32_t running = 0;
	AUTO_BUF b = {0};
	size_t k;

	c->clients[i].looks = true;
	for (k = 0; k < CONTROL_CLIENTS; k++)
		running += c->clients[k].id != 0;
	buf_init(&b, 1024);
	wire_put_u32(&b, running);
	wire_put_u64(&b, c->now() - c->last_used);
	wire_put_sv(&b, sv_of(c->last));
	wire_put_u32(&b, c->ending);
	return wire_send(c->clients[i].fd, INSIDE_SEEN, buf_view(&b), NULL, 0);
}

static void serve_client(struct control *c, size_t i)
{
	struct wire_message m;
	struct wire_in w;
	uint32_t sig;
	int r = wire_receive(c->clients[i].fd, &m);

	if (r == -EAGAIN)
		return;
	if (r <= 0) {
		drop(c, i);
		return;
	}
	wire_in_init(&w, buf_view(&m.body));
	if (m.type == INSIDE_SPAWN) {
		r = pass_spawn(c, i, &m);
	} else if (m.type == INSIDE_SIGNAL && c->clients[i].id) {
		(void)wire_get_u64(&w);
		sig = wire_get_u32(&w);
		c->clients[i].stopped = false;
		r = wire_ok(&w) ? send_signal(c, c->clients[i].id, sig) : -EPROTO;
	} else if (m.type == INSIDE_RESIZE && c->clients[i].id && c->carries) {
		r = pass_size(c, i, &w);
	} else if (m.type == INSIDE_STOP) {
		c->stop_grace = wire_get_u32(&w);
		c->stop |= wire_ok(&w);
		c->stop_again |= wire_ok(&w);
	} else if (m.type == INSIDE_TAKE) {
		r = take_whole(c, i, &w);
	} else if (m.type == INSIDE_LOOK && !c->clients[i].id) {
		r = answer_look(c, i);
	} else if (m.type == INSIDE_JOIN && c->join && !c->prepared && !c->taken) {
		r = c->join(c->arg, c->clients[i].fd);
		c->clients[i].looks = true;
	} else if (m.type == INSIDE_PUSH) {
		r = take_push(c, i, &m, &w);
	} else {
		r = -EPROTO;
	}
	wire_message_done(&m);
	if (r < 0)
		drop(c, i);
}

static void take_client(struct control *c)
{
	AUTO_FD fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	size_t i;

	if (fd < 0 || !is_ours(fd))
		return;
	for (i = 0; i < CONTROL_CLIENTS; i++) {
		if (c->clients[i].fd < 0 && !c->clients[i].id) {
			c->clients[i] = (struct control_client){.fd = fd_take(&fd), .terminal = -1};
			serve_client(c, i); /* it may have asked by now, and need not wake us again */
			return;
		}
	}
}

void control_serve(struct control *c, const struct pollfd *p, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (p[i].fd >= 0 && p[i].revents && c->clients[i - 1].fd == p[i].fd)
			serve_client(c, i - 1);
	if (n && p[0].revents & POLLIN)
		take_client(c);
}

/* To the one who waits for a command that was ended by process.timeout, it ended so, whatever it made of the signal. */
static int pass_exit(const struct control_client *to, const struct wire_message *m)
{
	struct wire_in in;
	AUTO_BUF b = {0};
	int i;

	wire_in_init(&in, buf_view(&m->body));
	buf_init(&b, 64);
	wire_put_u64(&b, wire_get_u64(&in));
	(void)wire_get_u32(&in);
	wire_put_u32(&b, CONTROL_TIMED_OUT << 8);
	for (i = 0; i < 3; i++)
		wire_put_u64(&b, wire_get_u64(&in));
	return wire_send(to->fd, INSIDE_EXITED, buf_view(&b), NULL, 0);
}

static int pass_message(struct control_client *to, const struct wire_message *m)
{
	if (m->type == INSIDE_STARTED && to->terminal >= 0)
		return wire_send(to->fd, m->type, buf_view(&m->body), &to->terminal, 1);
	if (m->type == INSIDE_EXITED && to->timed_out)
		return pass_exit(to, m);
	/* once: a command can stop and continue itself faster than anybody reads */
	if (m->type == INSIDE_STOPPED && to->stopped)
		return 0;
	to->stopped = m->type == INSIDE_STOPPED;
	return wire_send(to->fd, m->type, buf_view(&m->body), m->fds, m->n_fds);
}

void control_pass(struct control *c, uint64_t id, const struct wire_message *m)
{
	size_t i;
	bool over;

	for (i = 0; id && i < CONTROL_CLIENTS; i++) {
		if (c->clients[i].id != id)
			continue;
		/* it has all that it waits for then, and need not wake us by hanging up itself */
		over = m->type == INSIDE_EXITED && !c->clients[i].took;
		if (m->type == INSIDE_EXITED || m->type == INSIDE_FAILED) {
			c->clients[i].id = 0; /* nothing to hang up on any more */
			c->last_used = c->now();
		}
		if (c->clients[i].fd >= 0 && (pass_message(&c->clients[i], m) < 0 || over))
			drop(c, i);
		forget_terminal(c, i);
	}
}

int control_connect(const char *run_id)
{
	struct sockaddr_un a;
	socklen_t n = address(run_id, &a);
	AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	/* one that stands still takes nobody out of its queue, and who finds that full would wait for ever */
	const struct timeval most = {.tv_sec = CONNECT_S}, ever = {0};

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) < 0 ||
	    connect(fd, (struct sockaddr *)&a, n) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &ever, sizeof(ever)) < 0)
		return -errno;
	return is_ours(fd) ? fd_take(&fd) : -EPERM;
}
