#include "supervise/client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "model/inside.h"
#include "supervise/control.h"
#include "supervise/gate_likeness.h"
#include "supervise/stdio.h"
#include "supervise/supervise.h"
#include "supervise/terminal.h"
#include "wire/wire.h"

struct client {
	int sock;
	int signals;
	struct terminal terminal;
	bool ended;
	int status;
	struct error *err;
	bool failed;
	bool stop_asked; /* we were sent SIGTSTP */
	bool unheard; /* all that we have sent is the command: where that was lost, as the kernel says, nobody has read
			 it */
	bool collects;
	struct stdio_collect collect;
	struct client_limit limit;
};

/* The sandbox ended before it heard of the command: ESHUTDOWN, as where it says so itself. */
static int not_begun(struct error *err)
{
	(void)error_set(err, ERROR_SYSTEM, "the sandbox has ended");
	err->code = ESHUTDOWN;
	return -1;
}

static int ask(struct client *c, char *const *argv, struct error *err)
{
	struct winsize size = {0};
	struct inside_spawn s = {.argv = argv, .cwd = ""};
	int fds[3] = {0, 1, 2}, i, r = 0;
	struct stat st;
	AUTO_FD feed = -1;
	AUTO_BUF b = {0};

	for (i = 0; i < 3; i++) {
		if (fstat(i, &st) < 0 || S_ISDIR(st.st_mode))
			return error_set(err, ERROR_USAGE,
					 "standard input, output and error must be files, pipes or terminals");
		if (S_ISSOCK(st.st_mode) && !stdio_socket_is_harmless(i))
			return error_set(err, ERROR_USAGE,
					 "standard input, output and error must not be sockets that could be connected "
					 "elsewhere; put a pipe in between");
		if (isatty(i)) {
			s.tty_bits |= 1U << i;
			(void)ioctl(i, TIOCGWINSZ, &size);
		}
	}
	if (fstat(0, &st) == 0 && S_ISREG(st.st_mode)) {
		feed = stdio_feed(0);
		if (feed < 0)
			return error_sys(err, feed, "standard input");
		fds[0] = feed;
	}
	if (c->collects && (r = stdio_collect_start(&c->collect, fds)) < 0)
		return error_sys(err, r, "standard output");
	buf_init(&b, WIRE_MAX_BODY);
	s.rows = size.ws_row;
	s.columns = size.ws_col;
	inside_spawn_encode(&s, &b);
	r = buf_failed(&b) ? -E2BIG : wire_send(c->sock, INSIDE_SPAWN, buf_view(&b), fds, 3);
	stdio_collect_given(&c->collect);
	if (r == -EPIPE || r == -ECONNRESET)
		return not_begun(err);
	return r < 0 ? error_sys(err, r, "ask the sandbox's supervisor") : 0;
}

static void pass_signal(const struct client *c, int sig)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, 0);
	wire_put_u32(&b, (uint32_t)sig);
	(void)wire_send_now(c->sock, INSIDE_SIGNAL, buf_view(&b), NULL, 0);
}

static void pass_size(void *arg, unsigned rows, unsigned columns)
{
	const struct client *c = arg;
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	wire_put_u64(&b, 0);
	wire_put_u32(&b, rows);
	wire_put_u32(&b, columns);
	(void)wire_send_now(c->sock, INSIDE_RESIZE, buf_view(&b), NULL, 0);
}

static void on_failed(struct client *c, struct wire_in *w)
{
	struct sv text;

	c->err->kind = (enum error_kind)wire_get_u32(w);
	c->err->code = (int)wire_get_u32(w);
	text = wire_get_sv(w);
	(void)snprintf(c->err->text, sizeof(c->err->text), "%.*s", (int)text.n, text.p);
	c->failed = c->ended = true;
}

static void on_limit(struct client *c, struct wire_in *w)
{
	struct sv key = wire_get_sv(w);

	(void)snprintf(c->limit.key, sizeof(c->limit.key), "%.*s", (int)key.n, key.p);
}

static void on_message(struct client *c)
{
	struct wire_message m;
	struct wire_in w;
	int r = wire_receive(c->sock, &m);

	if (r <= 0) {
		c->ended = true;
		c->status = CONTROL_TIMED_OUT << 8; /* with its command, whose time was over */
		c->failed = strcmp(c->limit.key, "process.timeout") != 0;
		if (c->failed)
			(void)(r == -ECONNRESET && c->unheard
				       ? not_begun(c->err)
				       : error_set(c->err, ERROR_SYSTEM, "the sandbox has ended"));
		return;
	}
	c->unheard = false;
	wire_in_init(&w, buf_view(&m.body));
	if (m.type == INSIDE_LIMIT)
		on_limit(c, &w);
	else
		(void)wire_get_u64(&w);
	if (m.type == INSIDE_STARTED && m.n_fds == 1) {
		terminal_start(&c->terminal, isatty(0) ? 0 : -1, isatty(1) ? 1 : 2, m.fds[0]);
		m.fds[0] = -1;
	} else if (m.type == INSIDE_FAILED) {
		on_failed(c, &w);
	} else if (m.type == INSIDE_EXITED) {
		c->status = (int)wire_get_u32(&w);
		c->ended = true;
	} else if (m.type == INSIDE_STOPPED && (c->terminal.in >= 0 || c->stop_asked)) {
		c->stop_asked = false;
		terminal_restore(&c->terminal);
		(void)terminal_stop_job(&c->terminal);
		(void)kill(getpid(), SIGSTOP); /* whoever continues us takes a SIGTSTP back that is pending */
		terminal_raw(&c->terminal);
		pass_signal(c, SIGCONT);
	}
	wire_message_done(&m);
}

static void on_signal(struct client *c)
{
	struct signalfd_siginfo info;

	while (read(c->signals, &info, sizeof(info)) == sizeof(info)) {
		c->stop_asked = c->stop_asked || info.ssi_signo == SIGTSTP;
		if (info.ssi_signo == SIGWINCH)
			terminal_resize(&c->terminal);
		c->unheard = false;
		if (info.ssi_signo != SIGWINCH || info.ssi_code != SI_KERNEL)
			pass_signal(c, info.ssi_signo == SIGTSTP ? SIGSTOP : (int)info.ssi_signo);
	}
}

static int attend(struct client *c)
{
	struct pollfd p[5];
	size_t n;

	while (!c->ended) {
		p[0] = (struct pollfd){.fd = c->sock, .events = POLLIN};
		p[1] = (struct pollfd){.fd = c->signals, .events = POLLIN};
		n = terminal_poll(&c->terminal, p + 2);
		if (poll(p, 2 + n, terminal_wait(&c->terminal)) < 0 && errno != EINTR)
			return error_sys(c->err, errno, "poll");
		terminal_carry(&c->terminal, p + 2, n);
		if (p[1].revents)
			on_signal(c);
		if (p[0].revents)
			on_message(c);
	}
	return c->failed ? -1 : 0;
}

int client_exec(int sock, char *const *argv, bool collect, struct client_limit *ret_limit, struct error *err)
{
	struct client c = {
		.sock = sock, .err = err, .unheard = true, .collects = collect, .collect = {.pipes = {-1, -1}}};
	int r;

	*ret_limit = (struct client_limit){0};
	if (ask(&c, argv, err) < 0) {
		stdio_collect_end(&c.collect);
		return -1;
	}
	c.signals = supervise_signals();
	if (c.signals < 0)
		return error_sys(err, c.signals, "signalfd");
	terminal_init(&c.terminal);
	c.terminal.resized = pass_size;
	c.terminal.resized_arg = &c;
	r = attend(&c);
	terminal_drain(&c.terminal);
	terminal_done(&c.terminal);
	(void)close(c.signals);
	stdio_collect_end(&c.collect);
	if (strcmp(c.limit.key, CONTROL_GATEWAY) == 0) /* whatever its status: nothing of this is the command's doing */
		return error_set(err, ERROR_SYSTEM,
				 "the sandbox's gateway ended, and the sandbox was ended with it; `cordon logs` says "
				 "which part");
	*ret_limit = c.limit;
	if (r < 0)
		return -1;
	return WIFSIGNALED(c.status) ? 128 + WTERMSIG(c.status) : WEXITSTATUS(c.status);
}

enum client_taken client_take(int sock, bool alone, const char *policy_digest, const struct gate_likeness *likeness)
{
	static const enum client_taken answers[] = {[CONTROL_OTHER_POLICY] = CLIENT_OTHER_POLICY,
						    [CONTROL_TAKEN] = CLIENT_TAKEN,
						    [CONTROL_OTHER_CREDENTIALS] = CLIENT_OTHER_CREDENTIALS};
	struct pollfd p = {.fd = sock, .events = POLLIN};
	enum client_taken taken = CLIENT_GONE;
	uint32_t answer = UINT32_MAX;
	struct wire_message m;
	struct wire_in in;
	AUTO_BUF b = {0};

	buf_init(&b, 256);
	wire_put_u32(&b, alone);
	wire_put_sv(&b, sv_of(policy_digest));
	wire_put_sv(&b, likeness ? sv_n((const char *)likeness->nonce, sizeof(likeness->nonce)) : sv_of(""));
	wire_put_sv(&b, likeness ? sv_n((const char *)likeness->mac, sizeof(likeness->mac)) : sv_of(""));
	if (wire_send(sock, INSIDE_TAKE, buf_view(&b), NULL, 0) < 0 || poll(&p, 1, CLIENT_TAKE_MS) <= 0 ||
	    wire_receive(sock, &m) <= 0)
		return CLIENT_GONE;
	wire_in_init(&in, buf_view(&m.body));
	if (m.type == INSIDE_TAKEN)
		answer = wire_get_u32(&in);
	if (wire_ok(&in) && answer < ARRAY_LEN(answers))
		taken = answers[answer];
	wire_message_done(&m);
	return taken;
}

int client_push(int sock, const char *path, int text_fd, struct error *err)
{
	struct wire_message m;
	AUTO_BUF b = {0};
	struct wire_in in;
	struct sv text;
	uint32_t done;
	int r;

	buf_init(&b, 8192);
	wire_put_sv(&b, sv_of(path));
	r = wire_send(sock, INSIDE_PUSH, buf_view(&b), &text_fd, text_fd >= 0);
	if (r == 0)
		r = wire_receive(sock, &m);
	if (r <= 0)
		return error_sys(err, r < 0 ? r : ECONNRESET, "the run's supervisor does not answer");
	wire_in_init(&in, buf_view(&m.body));
	done = wire_get_u32(&in);
	text = wire_get_sv(&in);
	if (m.type != INSIDE_PUSHED || !wire_ok(&in))
		r = error_set(err, ERROR_SYSTEM, "the run's supervisor gave a malformed answer");
	else if (done == CONTROL_PUSHED && text.n == 0)
		r = 0;
	else if (done == CONTROL_PUSHED)
		r = -error_set(err, ERROR_NONE, "%.*s", (int)text.n, text.p);
	else
		r = error_set(err, done == CONTROL_NO_GATEWAY ? ERROR_DENIED : ERROR_INPUT, "%.*s", (int)text.n,
			      text.p);
	wire_message_done(&m);
	return r;
}

int client_look(int sock, struct client_seen *ret)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	struct wire_message m;
	struct wire_in in;
	struct sv last;
	int r = wire_send(sock, INSIDE_LOOK, sv_n("", 0), NULL, 0);

	if (r < 0)
		return r;
	r = poll(&p, 1, CLIENT_LOOK_MS);
	if (r <= 0)
		return r < 0 ? -errno : -ETIMEDOUT;
	r = wire_receive(sock, &m);
	if (r <= 0)
		return r < 0 ? r : -ECONNRESET;
	wire_in_init(&in, buf_view(&m.body));
	ret->running = wire_get_u32(&in);
	ret->idle_ms = wire_get_u64(&in);
	last = wire_get_sv(&in);
	ret->ending = wire_get_u32(&in);
	(void)snprintf(ret->last, sizeof(ret->last), "%.*s", (int)last.n, last.p);
	r = m.type == INSIDE_SEEN && wire_ok(&in) ? 0 : -EPROTO;
	wire_message_done(&m);
	return r;
}

int client_stop(int sock, uint32_t grace_ms)
{
	AUTO_BUF b = {0};

	buf_init(&b, 16);
	wire_put_u32(&b, grace_ms);
	return wire_send(sock, INSIDE_STOP, buf_view(&b), NULL, 0);
}
