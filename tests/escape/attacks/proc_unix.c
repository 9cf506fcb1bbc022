/* UNIX sockets of the host: by path, by abstract name, by a name inside the work folder. The victim answers with the
 * secret. */
#include <poll.h>
#include <sys/socket.h>

#include "attack.h"

static int talk(const struct scene *s, const struct attack *a)
{
	int fd = connect_unix(s, a->text, (int)a->num, a->num2 != 0);

	if (fd < 0)
		return lost(s, errno, a->name);
	if (a->num == SOCK_DGRAM)
		return judge(s, send(fd, "x", 1, 0), a->name);
	struct pollfd ready = {fd, POLLIN, 0};
	(void)poll(&ready, 1, 1000);
	return judge_secret(s, fd, a->name);
}

static const struct attack rows[] = {
	{"unix-path", "cannot connect to a host socket by its path", talk, .text = "socket", .num = SOCK_STREAM},
	{"unix-workdir", "cannot connect to a host socket that lies in the work folder", talk, .text = "work_socket",
	 .num = SOCK_STREAM},
	{"unix-abstract", "cannot connect to an abstract socket of the host", talk, .text = "abstract",
	 .num = SOCK_STREAM, .num2 = 1},
	{"unix-datagram", "cannot send to a datagram socket of the host", talk, .text = "datagram", .num = SOCK_DGRAM},
	{"unix-abstract-datagram", "cannot send to an abstract datagram socket of the host", talk,
	 .text = "abstract_datagram", .num = SOCK_DGRAM, .num2 = 1},
};
ATTACKS("process", rows);
