#include "supervise/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys/process_stat.h"

/* Until we look again whether somebody inside has opened it, and whether we are in the foreground. */
enum { HUNG_MS = 50, CALM_MS = 1000, BEHIND_MS = 200, DRAIN_MS = 10000 /* for somebody to take a byte */, CTRL_Z = 26 };

void terminal_init(struct terminal *t)
{
	memset(t, 0, offsetof(struct terminal, up));
	t->in = t->out = t->master = t->pen.fd = -1;
}

void terminal_raw(struct terminal *t)
{
	struct termios raw;

	/* In the background (timeout(1) puts its command there) the terminal is not ours to set or to read. */
	if (t->in < 0 || t->raw || tcgetpgrp(t->in) != getpgrp() || tcgetattr(t->in, &t->saved) < 0)
		return;
	raw = t->saved;
	cfmakeraw(&raw);
	/* TCSADRAIN: what was typed ahead belongs to the sandbox, not to the bin */
	t->raw = tcsetattr(t->in, TCSADRAIN, &raw) == 0;
}

void terminal_restore(struct terminal *t)
{
	if (t->raw)
		(void)tcsetattr(t->in, TCSADRAIN, &t->saved);
	t->raw = false;
}

void terminal_resize(struct terminal *t)
{
	struct winsize size;
	int ours = t->in >= 0 ? t->in : t->out;

	if (t->master < 0 || ours < 0 || ioctl(ours, TIOCGWINSZ, &size) < 0)
		return;
	if (ioctl(t->master, TIOCSWINSZ, &size) < 0 && t->resized)
		t->resized(t->resized_arg, size.ws_row, size.ws_col);
}

/* The kernel tells nobody of a size that is what it was. */
void terminal_redraw(struct terminal *t)
{
	struct winsize other;
	int ours = t->in >= 0 ? t->in : t->out;

	if (t->master < 0 || ours < 0 || ioctl(ours, TIOCGWINSZ, &other) < 0)
		return;
	other.ws_row = (unsigned short)(other.ws_row > 1 ? other.ws_row - 1 : 2);
	if (ioctl(t->master, TIOCSWINSZ, &other) < 0 && t->resized)
		t->resized(t->resized_arg, other.ws_row, other.ws_col);
	terminal_resize(t);
}

void terminal_start(struct terminal *t, int in, int out, int master)
{
	int flags = fcntl(master, F_GETFL);

	t->in = in;
	t->out = out;
	if (out >= 0)
		sys_pen_open(&t->pen, out);
	t->master = master;
	if (flags >= 0)
		(void)fcntl(master, F_SETFL, flags | O_NONBLOCK);
	terminal_raw(t);
	terminal_resize(t);
}

void terminal_done(struct terminal *t)
{
	terminal_restore(t);
	calm_terminal(&t->calm, t->out, CALM_MS);
	sys_pen_close(&t->pen);
	if (t->master >= 0)
		(void)close(t->master);
	t->master = -1;
}

/* In the background, from where `fg` takes it without a word where it never stopped. */
static bool is_behind(const struct terminal *t)
{
	return t->in >= 0 && t->master >= 0 && !t->raw && !t->quiet && !t->in_ended;
}

int terminal_wait(const struct terminal *t)
{
	return t->hung ? HUNG_MS : is_behind(t) ? BEHIND_MS : -1;
}

bool terminal_stop_job(struct terminal *t)
{
	bool typed = t->suspend_typed;

	t->suspend_typed = false;
	return typed && kill(0, SIGTSTP) == 0;
}

size_t terminal_poll(struct terminal *t, struct pollfd *p)
{
	short want = 0;

	if (t->master < 0)
		return 0;
	if (is_behind(t)) {
		terminal_raw(t);
		if (t->raw)
			terminal_resize(t);
	}
	if (t->n_down == 0 && !t->quiet)
		want |= POLLIN;
	if (t->n_up)
		want |= POLLOUT;
	p[0] = (struct pollfd){.fd = t->hung ? -1 : t->master, .events = want};
	p[1] = (struct pollfd){.fd = t->raw && !t->in_ended && t->n_up == 0 ? t->in : -1, .events = POLLIN};
	p[2] = (struct pollfd){.fd = t->n_down && !t->quiet ? t->pen.fd : -1, .events = POLLOUT};
	return 3;
}

/* w: what a write made of it. */
static void moved(ssize_t w, size_t *at, size_t *n)
{
	if (w < 0 && w != -EAGAIN && w != -EINTR) {
		*n = *at = 0; /* nobody takes it any more */
		return;
	}
	if (w > 0) {
		*at += (size_t)w;
		*n -= (size_t)w;
		if (*n == 0)
			*at = 0;
	}
}

/* A shell that waits for a command leads its session too, and ignores the key. */
static bool stops_by_key(pid_t group)
{
	struct sys_process_stat is;

	return sys_process_stat(group, &is) && is.session == group && !(is.ignored & UINT64_C(1) << (SIGTSTP - 1));
}

static void suspend_if_asked(struct terminal *t, size_t n)
{
	struct termios theirs;
	pid_t group;

	/* editors take the key themselves, and stop by a signal of their own */
	t->suspend_typed = memchr(t->up, CTRL_Z, n) != NULL;
	if (tcgetattr(t->master, &theirs) < 0 || !(theirs.c_lflag & ISIG) ||
	    !memchr(t->up, theirs.c_cc[VSUSP], n))
		return;
	if (ioctl(t->master, TIOCGPGRP, &group) == 0 && group > 1 && stops_by_key(group))
		(void)kill(-group, SIGSTOP);
}

/* End of input on our terminal (a hang-up) is an end-of-file character for theirs. */
static void read_ours(struct terminal *t)
{
	ssize_t n = read(t->in, t->up, sizeof(t->up));

	if (n > 0 && t->keys && t->keys(t->keys_arg, t->up, (size_t)n))
		return;
	if (n > 0) {
		t->n_up = (size_t)n;
		suspend_if_asked(t, t->n_up);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		t->in_ended = true;
		t->up[0] = 4;
		t->n_up = 1;
	}
}

/*
 * An error means that all inside have closed it. Closing our end now would hang up on a program that closes its files
 * before it ends (cat does), and another may open it again by its name: we look again later.
 */
static void read_theirs(struct terminal *t)
{
	ssize_t n = read(t->master, t->down, sizeof(t->down));

	if (n > 0)
		calm_watch(&t->calm, t->down, (size_t)n);
	if (n > 0 && t->out >= 0)
		t->n_down = (size_t)n;
	else if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		t->hung = true;
}

static ssize_t written(const struct terminal *t)
{
	ssize_t w = write(t->master, t->up + t->at_up, t->n_up);

	return w < 0 ? -errno : w;
}

void terminal_carry(struct terminal *t, const struct pollfd *p, size_t n)
{
	if (n < 3)
		return;
	t->hung = false;
	if (p[1].fd >= 0 && p[1].revents)
		read_ours(t);
	if (p[2].fd >= 0 && p[2].revents)
		moved(sys_pen_write(&t->pen, t->down + t->at_down, t->n_down), &t->at_down, &t->n_down);
	if (p[0].fd >= 0 && p[0].revents & POLLOUT)
		moved(written(t), &t->at_up, &t->n_up);
	if (p[0].fd >= 0 && p[0].revents & (POLLIN | POLLHUP | POLLERR) && t->n_down == 0)
		read_theirs(t);
	else if (p[0].fd >= 0 && p[0].revents & (POLLHUP | POLLERR))
		t->hung = true; /* poll() says so at once each time, and nothing can be read while nobody takes what was
				 */
}

void terminal_drain(struct terminal *t)
{
	size_t left = 1 << 20;
	ssize_t n;

	if (t->out < 0 || sys_pen_finish(&t->pen, t->down + t->at_down, t->n_down, DRAIN_MS) < 0)
		return;
	while (t->master >= 0 && left && (n = read(t->master, t->down, sizeof(t->down))) > 0) {
		calm_watch(&t->calm, t->down, (size_t)n);
		if (sys_pen_finish(&t->pen, t->down, (size_t)n, DRAIN_MS) < 0)
			return;
		left -= (size_t)n < left ? (size_t)n : left;
	}
}
