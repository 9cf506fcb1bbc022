#include "supervise/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "sys/process.h"

bool stdio_socket_is_harmless(int fd)
{
	int domain = 0, type = 0;
	socklen_t n = sizeof(int), m = sizeof(int), none = 0;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &m) == 0 && domain == AF_UNIX &&
	       (type == SOCK_STREAM || type == SOCK_SEQPACKET) && getpeername(fd, &(struct sockaddr){0}, &none) == 0;
}

/* In a child: these, and no other descriptor that somebody could wait for. */
static void keep(int *const *fds, int n)
{
	int i;

	for (i = 0; i < n; i++)
		*fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, 10);
	for (i = 0; i < n; i++) {
		(void)dup2(*fds[i], 3 + i);
		*fds[i] = 3 + i;
	}
	(void)sys_close_from((unsigned)(3 + n));
	for (i = 0; i < 3; i++)
		(void)close(i);
}

static _Noreturn void feed(int file, int to, int begin)
{
	char chunk[65536], c;
	ssize_t n;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_DFL);
	keep((int *const[]){&file, &to, &begin}, 3);
	if (read(begin, &c, 1) != 1)
		_exit(0);
	while ((n = read(file, chunk, sizeof(chunk))) > 0 && write_all(to, chunk, (size_t)n) == 0)
		;
	_exit(0);
}

int stdio_feed_later(int file, int *ret_begin)
{
	int ends[2], begin[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(begin, O_CLOEXEC) < 0) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		return -EMFILE;
	}
	child = fork();
	if (child == 0)
		feed(file, ends[1], begin[0]);
	(void)close(ends[1]);
	(void)close(begin[0]);
	if (child < 0) {
		(void)close(ends[0]);
		(void)close(begin[1]);
		return -EAGAIN;
	}
	*ret_begin = begin[1];
	return ends[0];
}

void stdio_feed_begin(int *begin)
{
	if (*begin < 0)
		return;
	(void)!write(*begin, "", 1);
	(void)close(fd_take(begin));
}

int stdio_feed(int file)
{
	int begin = -1, fd = stdio_feed_later(file, &begin);

	stdio_feed_begin(&begin);
	return fd;
}

/* Empties the pipe into the file until all who could write are gone, or until SIGTERM: then what is in it by now. */
static _Noreturn void collect(int file, int from)
{
	char chunk[65536];
	sigset_t term;
	struct pollfd p[2] = {{.fd = from, .events = POLLIN}, {.events = POLLIN}};
	bool last = false;
	ssize_t n;

	keep((int *const[]){&file, &from}, 2);
	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &term, NULL);
	p[0].fd = from;
	p[1].fd = signalfd(-1, &term, SFD_CLOEXEC);
	(void)fcntl(from, F_SETFL, O_NONBLOCK);
	for (;;) {
		n = read(from, chunk, sizeof(chunk));
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || (n < 0 && last))
			_exit(0);
		if (n > 0 && write_all(file, chunk, (size_t)n) < 0)
			_exit(1); /* the disk is full: writers get SIGPIPE */
		if (n < 0 && poll(p, 2, -1) > 0 && p[1].revents)
			last = true;
	}
}

static int collect_one(struct stdio_collect *c, int i, int fds[3])
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	c->children[i] = fork();
	if (c->children[i] == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
		collect(fds[i + 1], ends[0]);
	}
	(void)close(ends[0]);
	c->pipes[i] = ends[1];
	if (c->children[i] < 0) {
		c->children[i] = 0;
		return -EAGAIN;
	}
	fds[i + 1] = ends[1];
	return 0;
}

int stdio_collect_start(struct stdio_collect *c, int fds[3])
{
	struct stat st[2];
	bool file[2], same;
	int r = 0;

	*c = (struct stdio_collect){.pipes = {-1, -1}};
	file[0] = fstat(fds[1], &st[0]) == 0 && S_ISREG(st[0].st_mode);
	file[1] = fstat(fds[2], &st[1]) == 0 && S_ISREG(st[1].st_mode);
	same = file[0] && file[1] && st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino;
	if (file[0])
		r = collect_one(c, 0, fds);
	if (same)
		fds[2] = fds[1];
	else if (r == 0 && file[1])
		r = collect_one(c, 1, fds);
	return r;
}

void stdio_collect_given(struct stdio_collect *c)
{
	int i;

	for (i = 0; i < 2; i++)
		if (c->pipes[i] >= 0)
			(void)close(fd_take(&c->pipes[i]));
}

void stdio_collect_end(struct stdio_collect *c)
{
	int i;

	stdio_collect_given(c);
	for (i = 0; i < 2; i++) {
		if (c->children[i] <= 0)
			continue;
		(void)kill(c->children[i], SIGTERM);
		while (waitpid(c->children[i], NULL, 0) < 0 && errno == EINTR)
			;
		c->children[i] = 0;
	}
}
