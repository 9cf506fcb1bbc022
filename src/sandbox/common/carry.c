#include "sandbox/common/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { DRAIN_MS = 1000, DRAIN_TURNS = 64 };

struct carry {
	int master, stream;
	bool hung;
	size_t at_up, n_up, at_down, n_down;
	char up[4096], down[16384]; /* in and out, as the sandbox sees it */
};

struct carry *carry_new(int master, int stream)
{
	struct carry *c = calloc(1, sizeof(*c));

	if (!c || fcntl(master, F_SETFL, O_RDWR | O_NONBLOCK) < 0) {
		free(c);
		(void)close(master);
		(void)close(stream);
		return NULL;
	}
	c->master = master;
	c->stream = stream;
	return c;
}

void carry_free(struct carry *c)
{
	if (!c)
		return;
	(void)close(c->master);
	(void)close(c->stream);
	free(c);
}

bool carry_is_hung(const struct carry *c)
{
	return c->hung;
}

void carry_resize(struct carry *c, uint32_t rows, uint32_t columns)
{
	const struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

	(void)ioctl(c->master, TIOCSWINSZ, &size);
}

void carry_poll(const struct carry *c, struct pollfd p[CARRY_POLL])
{
	p[0] = (struct pollfd){.fd = c->hung ? -1 : c->master,
			       .events = (short)((c->n_down ? 0 : POLLIN) | (c->n_up ? POLLOUT : 0))};
	p[1] = (struct pollfd){.fd = c->stream, .events = (short)((c->n_up ? 0 : POLLIN) | (c->n_down ? POLLOUT : 0))};
}

static void moved(ssize_t n, size_t *at, size_t *left)
{
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		*left = 0; /* nobody takes it any more */
	if (n > 0) {
		*at += (size_t)n;
		*left -= (size_t)n;
	}
	if (*left == 0)
		*at = 0;
}

static void write_in(struct carry *c)
{
	moved(write(c->master, c->up + c->at_up, c->n_up), &c->at_up, &c->n_up);
}

static void write_out(struct carry *c)
{
	moved(send(c->stream, c->down + c->at_down, c->n_down, MSG_DONTWAIT | MSG_NOSIGNAL), &c->at_down, &c->n_down);
}

/* What keys mean to a line discipline that makes no signals of them, as gVisor's of 2022: who has the terminal cannot
 * be told there, so the command that was started with it gets them. They do not go in. */
static void make_signals(struct carry *c, const struct termios *t, pid_t leader)
{
	static const struct {
		int key, sig;
	} keys[] = {{VINTR, SIGINT}, {VQUIT, SIGQUIT}, {VSUSP, SIGSTOP}};
	size_t from, to, i;

	for (from = to = 0; from < c->n_up; from++) {
		for (i = 0; i < ARRAY_LEN(keys) && (unsigned char)c->up[from] != t->c_cc[keys[i].key]; i++)
			;
		if (i < ARRAY_LEN(keys))
			(void)kill(-leader, keys[i].sig);
		else
			c->up[to++] = c->up[from];
	}
	c->n_up = to;
}

/* A command that leads its own session cannot be stopped by the terminal's ^Z: the kernel sees nobody who could
 * continue it. The supervisor can. */
static void signal_if_asked(struct carry *c, pid_t leader)
{
	struct termios t;
	pid_t group;

	if (!leader || tcgetattr(c->master, &t) < 0 || !(t.c_lflag & ISIG))
		return;
	if (ioctl(c->master, TIOCGPGRP, &group) < 0)
		make_signals(c, &t, leader);
	else if (group == leader && memchr(c->up, t.c_cc[VSUSP], c->n_up))
		(void)kill(-group, SIGSTOP);
}

static bool read_stream(struct carry *c, pid_t leader)
{
	ssize_t n = recv(c->stream, c->up, sizeof(c->up), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	c->n_up = (size_t)n;
	signal_if_asked(c, leader);
	return n > 0;
}

/* An error means that all inside have closed it; another may open it again by its name. True: something came. */
static bool read_master(struct carry *c)
{
	ssize_t n = read(c->master, c->down, sizeof(c->down));

	if (n > 0)
		c->n_down = (size_t)n;
	else
		c->hung = n == 0 || (errno != EINTR && errno != EAGAIN);
	return n > 0;
}

bool carry_serve(struct carry *c, const struct pollfd p[CARRY_POLL], pid_t leader)
{
	c->hung = false;
	if (p[1].revents & POLLOUT)
		write_out(c);
	if (p[0].revents & POLLOUT)
		write_in(c);
	if (p[0].revents & (POLLIN | POLLHUP | POLLERR) && c->n_down == 0)
		(void)read_master(c);
	else if (p[0].revents & (POLLHUP | POLLERR))
		c->hung = true; /* poll() says so at once each time, and nothing can be read while nobody takes what was
				 */
	if (!(p[1].revents & (POLLIN | POLLHUP | POLLERR)))
		return true;
	/* what was typed and nobody read goes with whoever typed it */
	return c->n_up == 0 ? read_stream(c, leader) : !(p[1].revents & (POLLHUP | POLLERR));
}

void carry_drain(struct carry *c)
{
	struct pollfd p = {.fd = c->stream, .events = POLLOUT};
	int turns = DRAIN_TURNS;

	while (turns-- && (c->n_down || read_master(c))) {
		if (poll(&p, 1, DRAIN_MS) != 1 || p.revents & (POLLHUP | POLLERR))
			return;
		write_out(c);
	}
}
