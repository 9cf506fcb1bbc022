#include "sys/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { LOOPBACK_INDEX = 1, ROOM = 4096 };

/* Messages while they are being written, one behind the other. What does not fit is left out and remembered. */
struct batch {
	_Alignas(NLMSG_ALIGNTO) char bytes[ROOM];
	size_t n;
	size_t message; /* where the last one starts */
	uint32_t seq;
	uint32_t wanted; /* messages that will be answered */
	bool full;
};

static void *take(struct batch *b, size_t n)
{
	size_t room = NLMSG_ALIGN(n);
	void *p = b->bytes + b->n;

	if (sizeof(b->bytes) - b->n < room) {
		b->full = true;
		return NULL;
	}
	memset(p, 0, room);
	b->n += room;
	return p;
}

static void grow(struct batch *b)
{
	struct nlmsghdr *h = (struct nlmsghdr *)(void *)(b->bytes + b->message);

	h->nlmsg_len = (uint32_t)(b->n - b->message);
}

static void message(struct batch *b, uint16_t type, uint16_t flags, const void *head, size_t n)
{
	struct nlmsghdr *h;
	void *p;

	b->message = b->n;
	h = take(b, sizeof(*h));
	p = take(b, n);
	if (!h || !p)
		return;
	*h = (struct nlmsghdr){.nlmsg_type = type, .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags), .nlmsg_seq = ++b->seq};
	b->wanted += (flags & NLM_F_ACK) != 0;
	memcpy(p, head, n);
	grow(b);
}

static void attribute(struct batch *b, uint16_t type, const void *data, size_t n)
{
	struct nlattr *a = take(b, sizeof(*a) + n);

	if (!a)
		return;
	a->nla_len = (uint16_t)(sizeof(*a) + n);
	a->nla_type = type;
	memcpy((char *)a + sizeof(*a), data, n);
	grow(b);
}

static void text(struct batch *b, uint16_t type, const char *s)
{
	attribute(b, type, s, strlen(s) + 1);
}

/* Numbers of nf_tables are big-endian. */
static void number(struct batch *b, uint16_t type, uint32_t v)
{
	v = htonl(v);
	attribute(b, type, &v, sizeof(v));
}

/* What is added until close_nest() is inside it. */
static size_t open_nest(struct batch *b, uint16_t type)
{
	size_t at = b->n;

	attribute(b, type | NLA_F_NESTED, "", 0);
	return at;
}

static void close_nest(struct batch *b, size_t at)
{
	struct nlattr *a = (struct nlattr *)(void *)(b->bytes + at);

	if (!b->full)
		a->nla_len = (uint16_t)(b->n - at);
}

/* The kernel answers each message that asked for it; the first error is ours. */
static int answers(int fd, uint32_t wanted)
{
	_Alignas(NLMSG_ALIGNTO) char in[ROOM];
	const struct nlmsghdr *h;
	const struct nlmsgerr *e;
	size_t at, n;
	ssize_t got;

	while (wanted) {
		got = recv(fd, in, sizeof(in), 0);
		if (got < 0)
			return -errno;
		n = (size_t)got;
		for (at = 0; n - at >= NLMSG_HDRLEN + sizeof(*e); at += NLMSG_ALIGN(h->nlmsg_len)) {
			h = (const struct nlmsghdr *)(const void *)(in + at);
			e = (const struct nlmsgerr *)(const void *)(in + at + NLMSG_HDRLEN);
			if (h->nlmsg_len < NLMSG_HDRLEN || NLMSG_ALIGN(h->nlmsg_len) > n - at || h->nlmsg_type != NLMSG_ERROR)
				break;
			if (e->error)
				return e->error;
			wanted -= wanted > 0;
		}
	}
	return 0;
}

static int ask(int family, const struct batch *b)
{
	AUTO_FD fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, family);
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	if (b->full)
		return -EMSGSIZE;
	if (fd < 0 || sendto(fd, b->bytes, b->n, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	return answers(fd, b->wanted);
}

static int route_everything(uint8_t family)
{
	struct rtmsg route = {.rtm_family = family, .rtm_table = RT_TABLE_LOCAL, .rtm_protocol = RTPROT_STATIC, .rtm_scope = RT_SCOPE_HOST, .rtm_type = RTN_LOCAL};
	uint32_t lo = LOOPBACK_INDEX;
	struct batch b = {0};

	if (family == AF_INET6)
		route.rtm_scope = RT_SCOPE_UNIVERSE;
	message(&b, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE, &route, sizeof(route));
	attribute(&b, RTA_OIF, &lo, sizeof(lo));
	return ask(NETLINK_ROUTE, &b);
}

int sys_route_everything_here(void)
{
	int r = route_everything(AF_INET), r6;

	if (r < 0)
		return r;
	r6 = route_everything(AF_INET6);
	/* a kernel without IPv6 has nothing to route */
	return r6 == -EAFNOSUPPORT || r6 == -EOPNOTSUPP || r6 == -ENODEV || r6 == -EACCES || r6 == -EINVAL ? 0 : r6;
}

#define TABLE "cordon"

/* Both see what is sent here; the one with the lower priority first. */
struct chain {
	const char *name, *type;
	int32_t priority;
};

static const struct chain redirecting = {"output", "nat", -100}, sparing = {"raw", "filter", -300};

static void nft(struct batch *b, uint16_t type, uint16_t flags, uint8_t family)
{
	struct nfgenmsg head = {.nfgen_family = family, .version = NFNETLINK_V0};

	message(b, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), (uint16_t)(NLM_F_ACK | flags), &head, sizeof(head));
}

static void nft_frame(struct batch *b, uint16_t type)
{
	struct nfgenmsg head = {.version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};

	message(b, type, 0, &head, sizeof(head));
}

struct expression {
	size_t element, data;
};

static struct expression open_expression(struct batch *b, const char *name)
{
	struct expression e = {.element = open_nest(b, NFTA_LIST_ELEM)};

	text(b, NFTA_EXPR_NAME, name);
	e.data = open_nest(b, NFTA_EXPR_DATA);
	return e;
}

static void close_expression(struct batch *b, struct expression e)
{
	close_nest(b, e.data);
	close_nest(b, e.element);
}

static void value(struct batch *b, uint16_t type, const void *data, size_t n)
{
	size_t at = open_nest(b, type);

	attribute(b, NFTA_DATA_VALUE, data, n);
	close_nest(b, at);
}

static void compare(struct batch *b, uint32_t op, const void *data, size_t n)
{
	struct expression e = open_expression(b, "cmp");

	number(b, NFTA_CMP_SREG, NFT_REG_1);
	number(b, NFTA_CMP_OP, op);
	value(b, NFTA_CMP_DATA, data, n);
	close_expression(b, e);
}

/* meta l4proto tcp */
static void only_tcp(struct batch *b)
{
	struct expression e = open_expression(b, "meta");
	uint8_t tcp = IPPROTO_TCP;

	number(b, NFTA_META_DREG, NFT_REG_1);
	number(b, NFTA_META_KEY, NFT_META_L4PROTO);
	close_expression(b, e);
	compare(b, NFT_CMP_EQ, &tcp, sizeof(tcp));
}

/* ip daddr 127.0.0.0/8, ip6 daddr ::1; or all but these */
static void loopback(struct batch *b, uint8_t family, uint32_t op)
{
	static const unsigned char v4[] = {127}, v6[16] = {[15] = 1};
	struct expression e = open_expression(b, "payload");

	number(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
	number(b, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
	number(b, NFTA_PAYLOAD_OFFSET, family == NFPROTO_IPV4 ? 16 : 24);
	number(b, NFTA_PAYLOAD_LEN, family == NFPROTO_IPV4 ? sizeof(v4) : sizeof(v6));
	close_expression(b, e);
	if (family == NFPROTO_IPV4)
		compare(b, op, v4, sizeof(v4));
	else
		compare(b, op, v6, sizeof(v6));
}

/* tcp sport != port */
static void not_from(struct batch *b, uint16_t port)
{
	struct expression e = open_expression(b, "payload");

	port = htons(port);
	number(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
	number(b, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_TRANSPORT_HEADER);
	number(b, NFTA_PAYLOAD_OFFSET, 0);
	number(b, NFTA_PAYLOAD_LEN, sizeof(port));
	close_expression(b, e);
	compare(b, NFT_CMP_NEQ, &port, sizeof(port));
}

/* redirect to :port */
static void redirect(struct batch *b, uint16_t port)
{
	struct expression e = open_expression(b, "immediate");

	port = htons(port);
	number(b, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	value(b, NFTA_IMMEDIATE_DATA, &port, sizeof(port));
	close_expression(b, e);
	e = open_expression(b, "redir");
	number(b, NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
	close_expression(b, e);
}

static void add_chain(struct batch *b, uint8_t family, const struct chain *c)
{
	size_t hook;

	nft(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE, family);
	text(b, NFTA_CHAIN_TABLE, TABLE);
	text(b, NFTA_CHAIN_NAME, c->name);
	text(b, NFTA_CHAIN_TYPE, c->type);
	hook = open_nest(b, NFTA_CHAIN_HOOK);
	number(b, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
	number(b, NFTA_HOOK_PRIORITY, (uint32_t)c->priority);
	close_nest(b, hook);
}

static size_t open_rule(struct batch *b, uint8_t family, const struct chain *c)
{
	nft(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, family);
	text(b, NFTA_RULE_TABLE, TABLE);
	text(b, NFTA_RULE_CHAIN, c->name);
	return open_nest(b, NFTA_RULE_EXPRESSIONS);
}

static void add_redirect(struct batch *b, uint8_t family, uint16_t port)
{
	size_t list;

	add_chain(b, family, &redirecting);
	list = open_rule(b, family, &redirecting);
	only_tcp(b);
	loopback(b, family, NFT_CMP_NEQ);
	redirect(b, port);
	close_nest(b, list);
}

/*
 * What goes from loopback to loopback is never redirected, so that nothing about it need be remembered: each packet to the proxy, and of the workload's own servers,
 * is spared the look-up. But for the answers of who was redirected: a client may have bound itself to loopback before it dialled out.
 */
static void add_sparing(struct batch *b, uint8_t family, uint16_t port)
{
	size_t list;

	add_chain(b, family, &sparing);
	list = open_rule(b, family, &sparing);
	only_tcp(b);
	loopback(b, family, NFT_CMP_EQ);
	not_from(b, port);
	close_expression(b, open_expression(b, "notrack"));
	close_nest(b, list);
}

static int redirect_family(uint8_t family, uint16_t port, bool spare)
{
	struct batch b = {0};

	nft_frame(&b, NFNL_MSG_BATCH_BEGIN);
	nft(&b, NFT_MSG_NEWTABLE, NLM_F_CREATE, family);
	text(&b, NFTA_TABLE_NAME, TABLE);
	add_redirect(&b, family, port);
	if (spare)
		add_sparing(&b, family, port);
	nft_frame(&b, NFNL_MSG_BATCH_END);
	return ask(NETLINK_NETFILTER, &b);
}

/* A kernel may have the one and not the other. */
static int redirect_or_less(uint8_t family, uint16_t port)
{
	int r = redirect_family(family, port, true);

	return r < 0 ? redirect_family(family, port, false) : r;
}

int sys_redirect_tcp(uint16_t port)
{
	int r = redirect_or_less(NFPROTO_IPV4, port), r6;

	if (r < 0)
		return r;
	r6 = redirect_or_less(NFPROTO_IPV6, port);
	return r6 == -EAFNOSUPPORT || r6 == -EOPNOTSUPP || r6 == -ENOENT ? 0 : r6;
}
