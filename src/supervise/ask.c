#include "supervise/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "supervise/calm.h"
#include "sys/pen.h"

enum { SAY_MS = 1000 }; /* for a terminal that nobody reads: all else waits meanwhile */

void ask_init(struct ask *a, int carried, bool alone,
	      void (*answer)(void *arg, uint64_t id, const char *what, bool yes), void *arg)
{
	*a = (struct ask){.tty = -1, .carried = carried, .alone = alone, .answer = answer, .arg = arg};
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
		a->tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	a->nobody = a->tty < 0;
	/* in the background the terminal is somebody else's: reading it would stop us */
	return a->nobody || tcgetpgrp(a->tty) != getpgrp() ? -1 : a->tty;
}

bool ask_somebody(struct ask *a)
{
	(void)where_to(a);
	return !a->nobody;
}

/* Not "y", which any question may have asked for. False: there is no such number, and nobody can say yes. */
static bool draw_yes(struct ask *a)
{
	uint32_t number;

	a->yes[0] = '\0';
	if (!a->alone) {
		memcpy(a->yes, a->waiting[0].what, sizeof(a->yes));
		return true;
	}
	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return false;
	(void)snprintf(a->yes, sizeof(a->yes), "%u", 1000 + number % 9000);
	return true;
}

static void show(struct ask *a, uint64_t now)
{
	struct text_shown shown;
	char line[1600];
	int n, fd = where_to(a);

	a->n_typed = 0;
	a->until = draw_yes(a) ? now + ASK_SECONDS * 1000 : now;
	/* the name last: what is before it has always the same length, and the end of a long one is where the cursor is
	 */
	n = snprintf(line, sizeof(line),
		     "cordon: the sandbox asks for a host that no rule allows. Type %s and Enter to allow it for this "
		     "run; Enter alone, or %d seconds, refuse it: %s > ",
		     a->alone ? a->yes : "its name and port as they stand here", ASK_SECONDS,
		     text_show(&shown, sv_of(a->waiting[0].what)));
	/* what was typed before the question is no answer to it */
	if (a->carried < 0)
		(void)tcflush(a->tty, TCIFLUSH);
	calm_line(fd, SAY_MS);
	(void)sys_pen_write_all(fd, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1, SAY_MS);
}

static void settle(struct ask *a, bool yes, uint64_t now)
{
	uint64_t id = a->waiting[0].id;
	char what[sizeof(a->waiting[0].what)];
	const char *said = yes          ? "\r\ncordon: allowed\r\n"
			   : a->n_typed ? "\r\ncordon: that is not what was to be typed: refused\r\n"
					: "\r\ncordon: refused\r\n";

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

static bool is_typed_by_a_person(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (((unsigned char)p[i] < ' ' && !memchr("\r\n\b\3\4", p[i], 5)) || (unsigned char)p[i] > 0x7f)
			return false;
	return true;
}

static bool is_yes(const struct ask *a)
{
	return a->n_typed && a->n_typed == strlen(a->yes) && memcmp(a->typed, a->yes, a->n_typed) == 0;
}

/* One key of the line; true: it ends it. */
static bool edit(struct ask *a, char c)
{
	bool rubs = c == '\b' || c == 0x7f;

	if (c == '\3' || c == '\4')
		a->n_typed = 0;
	if (c == '\r' || c == '\n' || c == '\3' || c == '\4')
		return true;
	if (rubs && a->n_typed == 0)
		return false;
	if (rubs)
		a->n_typed--;
	else if (a->n_typed < sizeof(a->typed))
		a->typed[a->n_typed++] = c;
	(void)sys_pen_write_all(where_to(a), rubs ? "\b \b" : &c, rubs ? 3 : 1, SAY_MS);
	return false;
}

bool ask_keys(struct ask *a, const char *p, size_t n, uint64_t now)
{
	size_t i;

	if (a->n == 0 || now < a->until - ASK_SECONDS * 1000 + ASK_QUIET_MS || !is_typed_by_a_person(p, n))
		return false;
	for (i = 0; i < n; i++) {
		if (edit(a, p[i])) {
			settle(a, is_yes(a), now);
			break;
		}
	}
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

/* The terminal edits the line and shows it. */
static void read_line(struct ask *a, uint64_t now)
{
	ssize_t n = read(a->tty, a->typed, sizeof(a->typed));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return; /* another took it */
	a->n_typed = n > 0 ? (size_t)n : 0;
	while (a->n_typed && (a->typed[a->n_typed - 1] == '\n' || a->typed[a->n_typed - 1] == '\r'))
		a->n_typed--;
	settle(a, is_yes(a), now);
}

void ask_serve(struct ask *a, const struct pollfd *p, uint64_t now)
{
	if (a->n && p->fd >= 0 && p->revents)
		read_line(a, now);
	if (a->n && a->until && now >= a->until)
		settle(a, false, now);
}
