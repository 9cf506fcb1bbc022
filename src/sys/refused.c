#include "sys/refused.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/netlink_batch.h"
#include "sys/redirect.h"

/* HEADERS: with options and a few headers in between. RECORD: they, and what the kernel says besides; the smaller, the
 * more of them can wait. */
enum { HEADERS = 256, RECORD = 768, IPV4_HEADER = 20, IPV6_HEADER = 40 };

static void configure(struct batch *b, uint16_t type, const void *data, size_t n)
{
	struct nfgenmsg head = {
		.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(REDIRECT_REFUSED_GROUP)};

	batch_message(b, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_CONFIG, NLM_F_ACK, &head, sizeof(head));
	batch_attribute(b, type, data, n);
}

/* Each one by itself, as soon as it is refused, with a number, and of it the headers alone. */
static int listen_for(int fd)
{
	static const struct nfulnl_msg_config_cmd bind = {.command = NFULNL_CFG_CMD_BIND};
	const struct nfulnl_msg_config_mode mode = {.copy_range = htonl(HEADERS), .copy_mode = NFULNL_COPY_PACKET};
	const uint32_t one = htonl(1), room = htonl(RECORD);
	const uint16_t flags = htons(NFULNL_CFG_F_SEQ);
	struct batch b;

	batch_init(&b);
	configure(&b, NFULA_CFG_CMD, &bind, sizeof(bind));
	configure(&b, NFULA_CFG_MODE, &mode, sizeof(mode));
	configure(&b, NFULA_CFG_NLBUFSIZ, &room, sizeof(room));
	configure(&b, NFULA_CFG_QTHRESH, &one, sizeof(one));
	configure(&b, NFULA_CFG_FLAGS, &flags, sizeof(flags));
	return batch_send(fd, &b);
}

int refused_open(void)
{
	AUTO_FD fd = batch_socket(NETLINK_NETFILTER);
	int r = fd < 0 ? fd : listen_for(fd);

	if (r < 0)
		return r;
	if (fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
		return -errno;
	return fd_take(&fd);
}

/* The first attribute of this type behind the fixed part of a message; NULL: there is none, or the message is
 * malformed. */
static const uint8_t *find(const uint8_t *message, size_t n, uint16_t type, size_t *ret_n)
{
	size_t at = NLMSG_SPACE(sizeof(struct nfgenmsg));
	struct nlattr a;

	while (n >= at + sizeof(a)) {
		memcpy(&a, message + at, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > n - at)
			return NULL;
		if ((a.nla_type & NLA_TYPE_MASK) == type) {
			*ret_n = a.nla_len - sizeof(a);
			return message + at + sizeof(a);
		}
		at += NLMSG_ALIGN(a.nla_len);
	}
	return NULL;
}

/* Where TCP's header begins in a packet of IPv6: behind those that a client may put in between. */
static size_t behind_headers(const uint8_t *p, size_t n)
{
	uint8_t next = p[6];
	size_t at = IPV6_HEADER;

	while ((next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_DSTOPTS) && at + 2 <= n) {
		next = p[at];
		at += (size_t)(p[at + 1] + 1) * 8;
	}
	return at;
}

static uint16_t port_at(const uint8_t *p, size_t n, size_t tcp)
{
	uint16_t port = 0;

	if (tcp + 4 <= n)
		memcpy(&port, p + tcp + 2, sizeof(port));
	return port;
}

/* Of a packet's headers. The port is 0 where it lies behind what we were given. */
static bool destination(const uint8_t *p, size_t n, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	struct sockaddr_in in = {.sin_family = AF_INET};

	memset(ret, 0, sizeof(*ret));
	if (n >= IPV4_HEADER && p[0] >> 4 == 4) {
		memcpy(&in.sin_addr, p + 16, sizeof(in.sin_addr));
		in.sin_port = port_at(p, n, (size_t)(p[0] & 0x0f) * 4);
		memcpy(ret, &in, sizeof(in));
		return true;
	}
	if (n >= IPV6_HEADER && p[0] >> 4 == 6) {
		memcpy(&in6.sin6_addr, p + 24, sizeof(in6.sin6_addr));
		in6.sin6_port = port_at(p, n, behind_headers(p, n));
		memcpy(ret, &in6, sizeof(in6));
		return true;
	}
	return false;
}

static bool read_record(const uint8_t *message, size_t n, struct refused *ret)
{
	const uint8_t *packet, *number;
	size_t size = 0, n_number = 0;

	packet = find(message, n, NFULA_PAYLOAD, &size);
	number = find(message, n, NFULA_SEQ, &n_number);
	if (!packet || !number || n_number != sizeof(ret->number))
		return false;
	memcpy(&ret->number, number, sizeof(ret->number));
	ret->number = ntohl(ret->number);
	return destination(packet, size, &ret->to);
}

int refused_read(int fd, struct refused *ret)
{
	_Alignas(NLMSG_ALIGNTO) uint8_t in[2 * RECORD];
	struct nlmsghdr h;
	ssize_t n;

	for (;;) {
		n = recv(fd, in, sizeof(in), MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if ((size_t)n < sizeof(h))
			continue;
		memcpy(&h, in, sizeof(h));
		if (h.nlmsg_type == (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET) &&
		    read_record(in, h.nlmsg_len < (size_t)n ? h.nlmsg_len : (size_t)n, ret))
			return 1;
	}
}
