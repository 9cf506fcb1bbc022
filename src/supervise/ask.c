#include "supervise/ask.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "sys/pen.h"

enum { SAY_MS = 1000 }; /* for a terminal that nobody reads: all else waits meanwhile */

void ask_init(struct ask *a, int carried, void (*answer)(void *arg, uint64_t id, const char *what, bool yes), void *arg)
{
	*a = (struct ask){.tty = -1, .carried = carried, .answer = answer, .arg = arg};
}

void ask_done(struct ask *a)
{
	if (a->tty >= 0)
		(void)close(a->tty);
	a->tty = -1;
}

static int where_to(struct ask *a)
{
	if (a->carried >= 0)
		return tcgetpgrp(a->carried) == getpgrp() ? a->carried : -1;
	if (a->tty < 0 && !a->nobody)
		a->tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
	a->nobody = a->tty < 0;
	/* in the background the terminal is somebody else's: reading it would stop us */
	return a->nobody || tcgetpgrp(a->tty) != getpgrp() ? -1 : a->tty;
}

bool ask_somebody(struct ask *a)
{
	(void)where_to(a);
	return !a->nobody;
}

static void show(struct ask *a, uint64_t now)
{
	struct text_shown shown;
	char line[1600];
	int n = snprintf(line, sizeof(line), "\r\ncordon: the sandbox asks for %s, which no rule allows. Allow it for this run? [y/N, %d seconds] ",
			 text_show(&shown, sv_of(a->waiting[0].what)), ASK_SECONDS);

	/* what was typed before the question is no answer to it */
	if (a->carried < 0)
		(void)tcflush(a->tty, TCIFLUSH);
	(void)sys_pen_write_all(where_to(a), line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1, SAY_MS);
	a->until = now + ASK_SECONDS * 1000;
}

static void settle(struct ask *a, bool yes, uint64_t now)
{
	uint64_t id = a->waiting[0].id;
	char what[sizeof(a->waiting[0].what)];
	const char *said = yes ? "yes\r\n" : "no\r\n";

	memcpy(what, a->waiting[0].what, sizeof(what));
	memmove(a->waiting, a->waiting + 1, --a->n * sizeof(a->waiting[0]));
	(void)sys_pen_write_all(where_to(a), said, strlen(said), SAY_MS);
	a->until = 0;
	a->answer(a->arg, id, what, yes);
	if (a->n)
		show(a, now);
}

void ask_add(struct ask *a, uint64_t id, struct sv what, uint64_t now)
{
	char text[sizeof(a->waiting[0].what)];

	(void)snprintf(text, sizeof(text), "%.*s", (int)what.n, what.p);
	if (a->n == ASK_MAX || where_to(a) < 0) {
		a->answer(a->arg, id, text, false);
		return;
	}
	a->waiting[a->n].id = id;
	memcpy(a->waiting[a->n++].what, text, sizeof(text));
	if (a->n == 1)
		show(a, now);
}

bool ask_stands(const struct ask *a)
{
	return a->n != 0;
}

bool ask_key(void *ask, char c, uint64_t now)
{
	struct ask *a = ask;

	if (a->n == 0 || now < a->until - ASK_SECONDS * 1000 + ASK_QUIET_MS)
		return false;
	settle(a, c == 'y' || c == 'Y', now);
	return true;
}

struct pollfd ask_poll(const struct ask *a)
{
	bool ours = a->n && a->carried < 0 && a->tty >= 0 && tcgetpgrp(a->tty) == getpgrp();

	return (struct pollfd){.fd = ours ? a->tty : -1, .events = POLLIN};
}

uint64_t ask_until(const struct ask *a)
{
	return a->n ? a->until : 0;
}

void ask_serve(struct ask *a, const struct pollfd *p, uint64_t now)
{
	char line[64];
	ssize_t n;

	if (a->n && p->fd >= 0 && p->revents) {
		n = read(p->fd, line, sizeof(line));
		settle(a, n > 0 && (line[0] == 'y' || line[0] == 'Y'), now);
	}
	if (a->n && a->until && now >= a->until)
		settle(a, false, now);
}
