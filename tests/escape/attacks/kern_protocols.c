/* Protocols over IP other than TCP and UDP, raw sockets, and pairs of odd families. */
#include <linux/in.h>
#include <sys/socket.h>

#include "attack.h"

static int make(const struct scene *s, const struct attack *a)
{
	int type = (int)(a->num2 >> 16), protocol = (int)(a->num2 & 0xffff);
	int fd = socket((int)a->num, type | SOCK_CLOEXEC, protocol);

	if (fd < 0 && s->control && errno == EACCES && protocol == IPPROTO_ICMP)
		return untried("ping sockets are off on this machine");
	return judge(s, fd, a->name);
}

static int pair(const struct scene *s, const struct attack *a)
{
	int fds[2];

	return judge(s, socketpair((int)a->num, SOCK_STREAM, 0, fds), a->name);
}

#define KIND(type, protocol) .num2 = (long)(type) << 16 | (protocol)

static const struct attack rows[] = {
	{"raw-ipv4", "cannot make a raw IPv4 socket", make, CONTROL_ROOT, .num = AF_INET, KIND(SOCK_RAW, IPPROTO_RAW)},
	{"raw-icmp", "cannot make a raw ICMP socket", make, CONTROL_ROOT, .num = AF_INET, KIND(SOCK_RAW, IPPROTO_ICMP)},
	{"raw-ipv6", "cannot make a raw IPv6 socket", make, CONTROL_ROOT, .num = AF_INET6, KIND(SOCK_RAW, IPPROTO_RAW)},
	{"ping-ipv4", "cannot make a ping socket", make, .num = AF_INET, KIND(SOCK_DGRAM, IPPROTO_ICMP)},
	{"ping-ipv6", "cannot make an IPv6 ping socket", make, .num = AF_INET6, KIND(SOCK_DGRAM, 58)},
	{"mptcp", "cannot make a Multipath TCP socket", make, .num = AF_INET, KIND(SOCK_STREAM, IPPROTO_MPTCP)},
	{"sctp", "cannot make an SCTP socket", make, .num = AF_INET, KIND(SOCK_STREAM, IPPROTO_SCTP)},
	{"sctp-many", "cannot make a one-to-many SCTP socket", make, .num = AF_INET,
	 KIND(SOCK_SEQPACKET, IPPROTO_SCTP)},
	{"dccp", "cannot make a DCCP socket", make, .num = AF_INET, KIND(SOCK_DCCP, IPPROTO_DCCP)},
	{"udplite", "cannot make a UDP-Lite socket", make, .num = AF_INET, KIND(SOCK_DGRAM, IPPROTO_UDPLITE)},
	{"l2tp", "cannot make an L2TP socket", make, .num = AF_INET, KIND(SOCK_DGRAM, 115)},
	{"smc-inet", "cannot make an SMC socket over IP", make, .num = AF_INET, KIND(SOCK_STREAM, 256)},
	{"pair-tipc", "cannot make a pair of TIPC sockets", pair, .num = AF_TIPC},
};
ATTACKS("kernel", rows);
