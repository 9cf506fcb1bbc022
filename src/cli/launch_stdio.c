#include "cli/launch_stdio.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "supervise/stdio.h"

/* A pipe that root made belongs to root, and /dev/stdin could not be opened by the sandbox's user. It has no name, so
 * its owner means nothing to others. */
static void lend_pipe(uint32_t uid, int fd, const struct stat *st)
{
	struct statfs fs;

	if (uid != geteuid() && st->st_uid == geteuid() && fstatfs(fd, &fs) == 0 &&
	    fs.f_type == 0x50495045 /* pipefs */)
		(void)!fchown(fd, uid, (gid_t)-1);
}

int launch_stdio(uint32_t uid, struct native_request *ret, struct error *err)
{
	static const char *const names[] = {"stdin", "stdout", "stderr"};
	struct winsize size = {0};
	struct stat st;
	int i;

	for (i = 0; i < 3; i++) {
		ret->stdio[i] = i;
		if (fstat(i, &st) < 0)
			return error_sys(err, errno, "%s", names[i]);
		if (S_ISDIR(st.st_mode))
			return error_set(
				err, ERROR_USAGE,
				"%s is a folder: a sandbox could leave through it; give a file, a pipe or a terminal",
				names[i]);
		if (S_ISSOCK(st.st_mode) && !stdio_socket_is_harmless(i))
			return error_set(err, ERROR_USAGE,
					 "%s is a socket that could be connected elsewhere: a sandbox could reach the "
					 "network through it; put a pipe (such as `| cat`) in between",
					 names[i]);
		if (S_ISFIFO(st.st_mode))
			lend_pipe(uid, i, &st);
		ret->tty[i] = S_ISCHR(st.st_mode) && isatty(i);
		if (ret->tty[i] && size.ws_row == 0)
			(void)ioctl(i, TIOCGWINSZ, &size);
	}
	ret->rows = size.ws_row;
	ret->columns = size.ws_col;
	return 0;
}
