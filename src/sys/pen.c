#include "sys/pen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void sys_pen_open(struct sys_pen *p, int fd)
{
	char path[32];
	struct stat st;
	int own = -1;

	*p = (struct sys_pen){.fd = fd, .most = SIZE_MAX};
	if (isatty(fd)) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		p->most = own < 0 ? 1 : SIZE_MAX;
	} else if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))) {
		p->most = PIPE_BUF;
	}
	if (own >= 0) {
		p->fd = own;
		p->own = true;
	}
}

void sys_pen_close(struct sys_pen *p)
{
	if (p->own)
		(void)close(p->fd);
	*p = (struct sys_pen){.fd = -1};
}

ssize_t sys_pen_write(const struct sys_pen *p, const void *bytes, size_t n)
{
	ssize_t w = write(p->fd, bytes, n < p->most ? n : p->most);

	return w < 0 ? -errno : w;
}

int sys_pen_finish(const struct sys_pen *p, const void *bytes, size_t n, int ms)
{
	struct pollfd room = {.fd = p->fd, .events = POLLOUT};
	const char *at = bytes;
	ssize_t w;
	int ready;

	if (p->fd < 0)
		return -EBADF;
	while (n) {
		ready = poll(&room, 1, ms);
		if (ready == 0)
			return -EAGAIN;
		w = ready < 0 ? -errno : sys_pen_write(p, at, n);
		if (w < 0 && w != -EINTR && w != -EAGAIN)
			return (int)w;
		at += w > 0 ? w : 0;
		n -= w > 0 ? (size_t)w : 0;
	}
	return 0;
}

int sys_pen_write_all(int fd, const void *bytes, size_t n, int ms)
{
	struct sys_pen p;
	int r;

	sys_pen_open(&p, fd);
	r = sys_pen_finish(&p, bytes, n, ms);
	sys_pen_close(&p);
	return r;
}
