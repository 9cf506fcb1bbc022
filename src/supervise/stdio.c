#include "supervise/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"

bool stdio_socket_is_harmless(int fd)
{
	int domain = 0, type = 0;
	socklen_t n = sizeof(int), m = sizeof(int), none = 0;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &m) == 0 &&
	       domain == AF_UNIX && (type == SOCK_STREAM || type == SOCK_SEQPACKET) && getpeername(fd, &(struct sockaddr){0}, &none) == 0;
}

int stdio_feed(int file)
{
	char chunk[65536];
	int ends[2];
	ssize_t n;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		(void)signal(SIGPIPE, SIG_DFL);
		(void)close(ends[0]);
		while ((n = read(file, chunk, sizeof(chunk))) > 0 && write_all(ends[1], chunk, (size_t)n) == 0)
			;
		_exit(0);
	}
	(void)close(ends[1]);
	if (child < 0) {
		(void)close(ends[0]);
		return -EAGAIN;
	}
	return ends[0];
}
