/* Taking over a terminal: its discipline, the console's output, its session. */
#include <sys/ioctl.h>
#include <termios.h>

#include "attack.h"

static int own_pty(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0)
		return -1;
	return open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* Line disciplines are loaded on demand and are among the oldest code there is. */
static int discipline(const struct scene *s, const struct attack *a)
{
	int number = (int)a->num, fd = own_pty();

	if (fd < 0)
		return lost(s, errno, "a pty");
	return judge(s, ioctl(fd, TIOCSETD, &number), a->name);
}

static int console(const struct scene *s, const struct attack *a)
{
	int fd = own_pty();

	/* The kernel takes the redirection back when the pty is closed. */
	return fd < 0 ? lost(s, errno, "a pty") : judge(s, ioctl(fd, TIOCCONS, NULL), a->name);
}

static int steal(const struct scene *s, const struct attack *a)
{
	(void)setsid();
	return judge(s, ioctl(0, TIOCSCTTY, 1), a->name);
}

static int hang_up(const struct scene *s, const struct attack *a)
{
	(void)setsid(); /* without a terminal there is nothing to hang up, but the right is asked for */
	return judge(s, vhangup(), a->name);
}

static const struct attack rows[] = {
	{"tiocsetd", "cannot set a line discipline", discipline, .num = 0},
	{"tioccons", "cannot take the console's output", console, CONTROL_ROOT},
	{"tty-steal", "cannot steal the terminal from its session", steal, CONTROL_ROOT, STAGE_TTY},
	{"vhangup", "cannot hang up a terminal", hang_up, CONTROL_ROOT},
};
ATTACKS("terminal", rows);
