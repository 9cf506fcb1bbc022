/* Putting input into a terminal that somebody reads after the run. */
#include <linux/tiocl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "attack.h"

/* On stdin, stdout, stderr and the first few of these. */
static const char *const paths[] = {"/dev/tty", "/dev/tty0", "/dev/tty1", "/dev/console"};

static int tries(const struct scene *s, unsigned long request, void *argument, size_t n_paths, const char *what)
{
	int err = 0;

	for (int fd = 0; fd < 3; fd++) {
		if (ioctl(fd, request, argument) == 0)
			return won("%s works on fd %d", what, fd);
		err = errno;
	}
	for (size_t i = 0; i < n_paths; i++) {
		int fd = open(paths[i], O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
		int rc = fd < 0 ? -1 : ioctl(fd, request, argument);
		if (fd >= 0)
			close(fd);
		if (rc == 0)
			return won("%s works on %s", what, paths[i]);
	}
	return lost(s, err, what);
}

static int sti(const struct scene *s, const struct attack *a)
{
	char c = ' ';

	return tries(s, TIOCSTI, &c, 1, a->name);
}

/* The upper half of the request is ignored by the kernel: a filter that compares all 64 bits is blind to it. */
static int sti_high(const struct scene *s, const struct attack *a)
{
	char c = ' ';
	long rc = syscall(SYS_ioctl, 0, 0x100000000UL | TIOCSTI, &c);

	return judge(s, rc, a->name);
}

static int tioclinux(const struct scene *s, const struct attack *a)
{
	char command = TIOCL_GETSHIFTSTATE;

	return tries(s, TIOCLINUX, &command, 4, a->name);
}

static const struct attack rows[] = {
	{"tiocsti", "cannot type into the terminal with TIOCSTI", sti, .stage = STAGE_TTY},
	{"tiocsti-high", "cannot do so with high bits in the request", sti_high, .stage = STAGE_TTY},
	{"tiocsti-notty", "cannot type into a controlling terminal that is not its stdin", sti, .stage = STAGE_NOTTY},
	{"tioclinux", "cannot use TIOCLINUX", tioclinux, CONTROL_ROOT, STAGE_TTY},
};
ATTACKS("terminal", rows);
