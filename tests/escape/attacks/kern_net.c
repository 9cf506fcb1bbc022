/* Reaching the host's network: its loopback, its other addresses, by TCP, by Fast Open, by UDP. The victim answers with
 * the secret. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "attack.h"

static socklen_t resolve(const struct scene *s, const struct attack *a, struct sockaddr_storage *out)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
	struct fact address;
	uint16_t port = htons((uint16_t)fact_num(s, a->num2 ? "udp_port" : "tcp_port"));

	(void)fact(s, a->text, &address);
	if (inet_pton(AF_INET, address.s, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = port;
		return sizeof(*v4);
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = port;
	return inet_pton(AF_INET6, address.s, &v6->sin6_addr) == 1 ? sizeof(*v6) : 0;
}

static int reach(const struct scene *s, const struct attack *a)
{
	struct sockaddr_storage to = {0};
	socklen_t n = resolve(s, a, &to);
	char text[256];

	if (n == 0)
		return untried("this machine has no such address");
	int fd = socket(to.ss_family, (a->num2 ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return lost(s, errno, a->name);
	long rc = a->num || a->num2 ? sendto(fd, "x", 1, (int)a->num, (struct sockaddr *)&to, n)
				    : connect(fd, (struct sockaddr *)&to, n);
	if (rc < 0)
		return lost(s, errno, a->name);
	struct pollfd ready = {fd, POLLIN, 0};
	ssize_t got = poll(&ready, 1, 500) == 1 ? read(fd, text, sizeof(text)) : 0;
	return got > 0 && has_marker(text, (size_t)got) ? won("the host answered") : refused("nobody answered");
}

static const struct attack rows[] = {
	{"net-tcp-v4", "cannot connect to the host's 127.0.0.1", reach, .text = "loopback4"},
	{"net-tcp-v6", "cannot connect to the host's ::1", reach, .text = "loopback6"},
	{"net-tcp-mapped", "cannot connect to ::ffff:127.0.0.1", reach, .text = "mapped"},
	{"net-tcp-address", "cannot connect to another address of the host", reach, .text = "address"},
	{"net-fastopen", "cannot reach the host by TCP Fast Open", reach, .text = "loopback4", .num = MSG_FASTOPEN},
	{"net-udp-v4", "cannot send UDP to the host's 127.0.0.1", reach, .text = "loopback4", .num2 = 1},
	{"net-udp-v6", "cannot send UDP to the host's ::1", reach, .text = "loopback6", .num2 = 1},
	{"net-udp-address", "cannot send UDP to another address of the host", reach, .text = "address", .num2 = 1},
};
ATTACKS("kernel", rows);
