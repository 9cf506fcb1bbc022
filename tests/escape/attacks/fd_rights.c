/* A host process that hands out open files to whoever connects (SCM_RIGHTS). */
#include <poll.h>
#include <sys/socket.h>

#include "attack.h"

static int receive(int fd)
{
	char text[256], control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {text, sizeof(text)};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct pollfd ready = {fd, POLLIN, 0};
	int got = -1;

	(void)poll(&ready, 1, 1000);
	if (recvmsg(fd, &message, 0) < 0)
		return -1;
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&got, CMSG_DATA(header), sizeof(got));
	errno = EBADF;
	return got;
}

static int take(const struct scene *s, const struct attack *a)
{
	int fd = connect_unix(s, a->text, SOCK_STREAM, a->num != 0);

	if (fd < 0)
		return lost(s, errno, a->name);
	int file = receive(fd);
	if (file >= 0)
		(void)lseek(file, 0, SEEK_SET);
	return judge_secret(s, file, a->name);
}

static const struct attack rows[] = {
	{"rights-path", "cannot receive an open file from a host socket", take, .text = "socket"},
	{"rights-abstract", "cannot receive an open file from an abstract host socket", take, .text = "abstract",
	 .num = 1},
};
ATTACKS("fd", rows);
