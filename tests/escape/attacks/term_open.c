/* The user's terminal, opened by another name, or simply handed in. */
#include "attack.h"

/* The runner knows the terminal by its file system and number; a pty of the sandbox's own may well have the same
 * number. */
static bool is_hosts(const struct scene *s, const struct stat *st)
{
	return S_ISCHR(st->st_mode) && (long)st->st_rdev == fact_num(s, "tty_rdev") &&
	       (long)st->st_dev == fact_num(s, "tty_dev");
}

static int open_tty(const struct scene *s, const struct attack *a)
{
	return judge(s, open(a->text, O_RDWR | O_NOCTTY | O_CLOEXEC), a->text);
}

static int open_pts(const struct scene *s, const struct attack *a)
{
	struct fact path;
	struct stat st;
	int fd = open(fact(s, "tty", &path), O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return lost(s, errno, a->name);
	return fstat(fd, &st) == 0 && is_hosts(s, &st) ? won("%s is open", path.s)
						       : refused("%s is another one", path.s);
}

static int is_stdin(const struct scene *s, const struct attack *a)
{
	struct stat st;

	(void)a;
	for (int fd = 0; fd < 3; fd++) {
		if (fstat(fd, &st) == 0 && is_hosts(s, &st))
			return won("fd %d is the host's terminal", fd);
	}
	return refused("the terminal is the sandbox's own");
}

static const struct attack rows[] = {
	{"dev-tty", "cannot open /dev/tty when no terminal was given", open_tty, .stage = STAGE_NOTTY,
	 .text = "/dev/tty"},
	{"dev-pts", "cannot open the user's /dev/pts/N", open_pts, .stage = STAGE_NOTTY},
	{"dev-pts-tty", "cannot open the user's /dev/pts/N when a terminal was given", open_pts, .stage = STAGE_TTY},
	{"tty-shared", "does not get the user's own terminal as stdin", is_stdin, .stage = STAGE_TTY},
};
ATTACKS("terminal", rows);
