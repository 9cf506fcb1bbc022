#include "sys/sockets.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "sys/netlink_batch.h"

enum { ROOM = 32768 };

/* A table of the kernel's. */
struct table {
	uint8_t family, protocol;
};

/* What the kernel has only of connections that come or go is no socket, and has no such attribute. */
static uint16_t memory_attribute(const struct table *t)
{
	return t->family == AF_UNIX ? UNIX_DIAG_MEMINFO : INET_DIAG_SKMEMINFO;
}

int sys_sockets_open(void)
{
	return batch_socket(NETLINK_SOCK_DIAG);
}

bool sys_sockets_is(int fd)
{
	int domain = 0, protocol = 0;
	socklen_t a = sizeof(domain), b = sizeof(protocol);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &a) == 0 && domain == AF_NETLINK &&
	       getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &b) == 0 && protocol == NETLINK_SOCK_DIAG;
}

static int ask(int fd, const struct table *t)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct {
		struct nlmsghdr head;
		union {
			struct inet_diag_req_v2 inet;
			struct unix_diag_req un;
		} of;
	} m = {.head = {.nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
	size_t n;

	if (t->family == AF_UNIX) {
		m.of.un.sdiag_family = AF_UNIX;
		m.of.un.udiag_states = UINT32_MAX;
		m.of.un.udiag_show = UDIAG_SHOW_MEMINFO;
		n = sizeof(m.of.un);
	} else {
		m.of.inet.sdiag_family = t->family;
		m.of.inet.sdiag_protocol = t->protocol;
		m.of.inet.idiag_states = UINT32_MAX;
		m.of.inet.idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1);
		n = sizeof(m.of.inet);
	}
	m.head.nlmsg_len = (uint32_t)(offsetof(__typeof__(m), of) + n);
	if (sendto(fd, &m, m.head.nlmsg_len, MSG_DONTWAIT, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	return 0;
}

/* Memory that is queued to be sent or read counts where it is the larger of two ways to say the same. */
static uint64_t held(const uint32_t *memory, size_t n)
{
	uint32_t v[SK_MEMINFO_VARS] = {0}, sent;

	memcpy(v, memory, n < sizeof(v) ? n : sizeof(v));
	sent = v[SK_MEMINFO_WMEM_ALLOC] > v[SK_MEMINFO_WMEM_QUEUED] ? v[SK_MEMINFO_WMEM_ALLOC]
								    : v[SK_MEMINFO_WMEM_QUEUED];
	return (uint64_t)v[SK_MEMINFO_RMEM_ALLOC] + sent + v[SK_MEMINFO_OPTMEM] + v[SK_MEMINFO_BACKLOG] +
	       SYS_SOCKET_BYTES;
}

static void add_socket(const struct table *t, const struct nlmsghdr *h, struct sys_sockets *sum)
{
	size_t at = NLMSG_LENGTH(t->family == AF_UNIX ? sizeof(struct unix_diag_msg) : sizeof(struct inet_diag_msg));
	const struct nlattr *a;

	for (; at + NLA_HDRLEN <= h->nlmsg_len; at += NLA_ALIGN(a->nla_len)) {
		a = (const struct nlattr *)(const void *)((const char *)h + at);
		if (a->nla_len < NLA_HDRLEN || a->nla_len > h->nlmsg_len - at)
			return;
		if (a->nla_type != memory_attribute(t))
			continue;
		sum->n++;
		sum->bytes +=
			held((const uint32_t *)(const void *)((const char *)a + NLA_HDRLEN), a->nla_len - NLA_HDRLEN);
		return;
	}
}

/* 1: that was all; 0: there is more to be read. */
static int take(const struct table *t, const char *in, size_t n, struct sys_sockets *sum)
{
	const struct nlmsghdr *h;
	size_t at;

	for (at = 0; n - at >= NLMSG_HDRLEN; at += NLMSG_ALIGN(h->nlmsg_len)) {
		h = (const struct nlmsghdr *)(const void *)(in + at);
		if (h->nlmsg_len < NLMSG_HDRLEN || h->nlmsg_len > n - at)
			return -EPROTO;
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
			return 1;
		add_socket(t, h, sum);
		if (NLMSG_ALIGN(h->nlmsg_len) > n - at)
			break;
	}
	return 0;
}

bool sys_sockets_are_refused(const void *answer, size_t n)
{
	const struct nlmsghdr *h = answer;
	int code;

	if (n < NLMSG_LENGTH(sizeof(code)) || h->nlmsg_len < NLMSG_LENGTH(sizeof(code)) ||
	    (h->nlmsg_type != NLMSG_DONE && h->nlmsg_type != NLMSG_ERROR))
		return false;
	memcpy(&code, (const char *)answer + NLMSG_HDRLEN, sizeof(code));
	return code == -ENOENT || code == -EOPNOTSUPP;
}

/* Of what was asked for before, and not read to its end. */
static void forget_rest(int fd, char *room)
{
	while (recv(fd, room, ROOM, MSG_DONTWAIT) > 0)
		;
}

static int sum_table(int fd, const struct table *t, uint64_t most, struct sys_sockets *sum, bool *ret_refused)
{
	_Alignas(NLMSG_ALIGNTO) char in[ROOM];
	ssize_t got;
	int r;

	forget_rest(fd, in);
	r = ask(fd, t);
	while (r == 0 && sum->bytes <= most) {
		got = recv(fd, in, sizeof(in), MSG_DONTWAIT);
		r = got < 0 ? -errno : take(t, in, (size_t)got, sum);
		*ret_refused = got >= 0 && sys_sockets_are_refused(in, (size_t)got);
	}
	return r < 0 ? r : 0;
}

int sys_sockets_sum(int fd, uint64_t most, uint32_t *refused, struct sys_sockets *ret)
{
	static const struct table tables[] = {
		{AF_UNIX, 0},           {AF_INET, IPPROTO_UDP},  {AF_INET6, IPPROTO_UDP},
		{AF_INET, IPPROTO_TCP}, {AF_INET6, IPPROTO_TCP},
	};
	struct sys_sockets sum = {0};
	bool lacks;
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_LEN(tables) && r == 0 && sum.bytes <= most; i++) {
		lacks = false;
		if (!(*refused & 1U << i))
			r = sum_table(fd, &tables[i], most, &sum, &lacks);
		*refused |= (uint32_t)lacks << i;
	}
	*ret = sum;
	return r;
}
