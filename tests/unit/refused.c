/* What the kernel says of connections that it refused, as records that a test writes: good ones, odd ones, and any
 * bytes. */
#include "sys/refused.h"

#include <arpa/inet.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "draw.h"

enum { ROOM = 1024, DRAWN = 20000 };

struct record {
	uint8_t bytes[ROOM];
	size_t n;
};

static void open_pair(int fds[2])
{
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds) < 0)
		abort();
}

static void add(struct record *r, uint16_t type, const void *data, size_t n)
{
	const struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + n), .nla_type = type};

	memcpy(r->bytes + r->n, &a, sizeof(a));
	memcpy(r->bytes + r->n + sizeof(a), data, n);
	r->n += NLMSG_ALIGN(sizeof(a) + n);
}

static struct record record_of(uint32_t number, const uint8_t *packet, size_t n)
{
	struct nlmsghdr h = {.nlmsg_type = NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET};
	struct record r = {.n = NLMSG_SPACE(sizeof(struct nfgenmsg))};
	const uint32_t seq = htonl(number);

	add(&r, NFULA_PREFIX, "", 1);
	add(&r, NFULA_PAYLOAD, packet, n);
	add(&r, NFULA_SEQ, &seq, sizeof(seq));
	h.nlmsg_len = (uint32_t)r.n;
	memcpy(r.bytes, &h, sizeof(h));
	return r;
}

static int read_one(const struct record *r, struct refused *ret)
{
	int fds[2], got;

	open_pair(fds);
	CHECK(send(fds[0], r->bytes, r->n, 0) == (ssize_t)r->n);
	got = refused_read(fds[1], ret);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return got;
}

static bool leads_to(const struct refused *r, const char *address, uint16_t port)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&r->to;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&r->to;
	char text[INET6_ADDRSTRLEN] = "";

	if (r->to.ss_family == AF_INET)
		return inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text)) && strcmp(text, address) == 0 &&
		       ntohs(in->sin_port) == port;
	return inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text)) && strcmp(text, address) == 0 &&
	       ntohs(in6->sin6_port) == port;
}

static void the_destination_of_a_packet_is_read(void)
{
	/* options in the header of the first; a header of routing before TCP's in the last */
	static const uint8_t v4[] = {0x46, [9] = 6, [16] = 192, 0, 2, 1, [26] = 0x01, 0xbb},
			     v6[] = {0x60, [6] = 6, [24] = 0x20, 0x01, 0x0d, 0xb8, [39] = 1, [42] = 0, 22};
	static const uint8_t routed[] = {
		0x60, [6] = 43, [24] = 0x20, 0x01, 0x0d, 0xb8, [39] = 1, [40] = 6, 2, [66] = 0, 25};
	struct record r = record_of(7, v4, sizeof(v4));
	struct refused got;

	CHECK(read_one(&r, &got) == 1 && got.number == 7 && leads_to(&got, "192.0.2.1", 443));
	r = record_of(8, v6, sizeof(v6));
	CHECK(read_one(&r, &got) == 1 && got.number == 8 && leads_to(&got, "2001:db8::1", 22));
	r = record_of(9, routed, sizeof(routed));
	CHECK(read_one(&r, &got) == 1 && leads_to(&got, "2001:db8::1", 25));
}

static void a_port_that_is_not_there_is_none(void)
{
	static const uint8_t v4[20] = {0x4f, [16] = 192, 0, 2, 1},
			     routed[44] = {0x60, [6] = 43, [24] = 0x20, 0x01, 0x0d, 0xb8, [39] = 1, [40] = 43, 255};
	struct record r = record_of(1, v4, sizeof(v4));
	struct refused got;

	CHECK(read_one(&r, &got) == 1 && leads_to(&got, "192.0.2.1", 0));
	r = record_of(1, routed, sizeof(routed));
	CHECK(read_one(&r, &got) == 1 && leads_to(&got, "2001:db8::1", 0));
}

static void what_is_no_record_is_passed_over(void)
{
	static const uint8_t short4[19] = {0x45}, other[40] = {0x70};
	struct record r = record_of(1, short4, sizeof(short4));
	struct refused got;

	CHECK(read_one(&r, &got) == 0);
	r = record_of(1, other, sizeof(other));
	CHECK(read_one(&r, &got) == 0);
	r = record_of(1, other, 0);
	CHECK(read_one(&r, &got) == 0);
	r.bytes[4] = 0; /* another type */
	CHECK(read_one(&r, &got) == 0);
	r.n = 3;
	CHECK(read_one(&r, &got) == 0);
}

/* For the sanitizers: nothing is read that is not there. */
static void any_bytes_are_read_within_their_bounds(void)
{
	static const uint8_t v6[60] = {0x60, [6] = 60, [40] = 43, 1};
	struct refused got;
	struct record r;
	unsigned i, k;
	int fds[2];

	open_pair(fds);
	for (i = 0; i < DRAWN; i++) {
		r = record_of(i, v6, draw(sizeof(v6) + 1));
		for (k = draw(12); k; k--)
			r.bytes[NLMSG_HDRLEN + draw((unsigned)r.n - NLMSG_HDRLEN)] = (uint8_t)draw(256);
		if (draw(4) == 0)
			r.n = draw((unsigned)r.n);
		CHECK(send(fds[0], r.bytes, r.n, 0) == (ssize_t)r.n);
		CHECK(refused_read(fds[1], &got) >= 0);
	}
	(void)close(fds[0]);
	(void)close(fds[1]);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(the_destination_of_a_packet_is_read),
		CASE(a_port_that_is_not_there_is_none),
		CASE(what_is_no_record_is_passed_over),
		CASE(any_bytes_are_read_within_their_bounds),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
