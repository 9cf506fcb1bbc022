#include "sys/redirect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "sys/netlink_batch.h"

#define TABLE "cordon"

/* All see what is sent here; the one with the lowest priority first. */
struct chain {
	const char *name, *type;
	int32_t priority;
};

static const struct chain sparing = {"raw", "filter", -300}, redirecting = {"output", "nat", -100},
			  refusing = {"refuse", "filter", 0};

static void nft(struct batch *b, uint16_t type, uint16_t flags, uint8_t family)
{
	struct nfgenmsg head = {.nfgen_family = family, .version = NFNETLINK_V0};

	batch_message(b, (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type), (uint16_t)(NLM_F_ACK | flags), &head,
		      sizeof(head));
}

static void nft_frame(struct batch *b, uint16_t type)
{
	struct nfgenmsg head = {.version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)};

	batch_message(b, type, 0, &head, sizeof(head));
}

struct expression {
	size_t element, data;
};

static struct expression open_expression(struct batch *b, const char *name)
{
	struct expression e = {.element = batch_open(b, NFTA_LIST_ELEM)};

	batch_text(b, NFTA_EXPR_NAME, name);
	e.data = batch_open(b, NFTA_EXPR_DATA);
	return e;
}

static void close_expression(struct batch *b, struct expression e)
{
	batch_close(b, e.data);
	batch_close(b, e.element);
}

static void value(struct batch *b, uint16_t type, const void *data, size_t n)
{
	size_t at = batch_open(b, type);

	batch_attribute(b, NFTA_DATA_VALUE, data, n);
	batch_close(b, at);
}

static void compare(struct batch *b, uint32_t op, const void *data, size_t n)
{
	struct expression e = open_expression(b, "cmp");

	batch_number(b, NFTA_CMP_SREG, NFT_REG_1);
	batch_number(b, NFTA_CMP_OP, op);
	value(b, NFTA_CMP_DATA, data, n);
	close_expression(b, e);
}

/* meta l4proto tcp, or all but that */
static void protocol(struct batch *b, uint32_t op)
{
	struct expression e = open_expression(b, "meta");
	uint8_t tcp = IPPROTO_TCP;

	batch_number(b, NFTA_META_DREG, NFT_REG_1);
	batch_number(b, NFTA_META_KEY, NFT_META_L4PROTO);
	close_expression(b, e);
	compare(b, op, &tcp, sizeof(tcp));
}

static void only_tcp(struct batch *b)
{
	protocol(b, NFT_CMP_EQ);
}

/* The bytes behind offset of a header go into the register. */
static void load(struct batch *b, uint32_t base, uint32_t offset, size_t n)
{
	struct expression e = open_expression(b, "payload");

	batch_number(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
	batch_number(b, NFTA_PAYLOAD_BASE, base);
	batch_number(b, NFTA_PAYLOAD_OFFSET, offset);
	batch_number(b, NFTA_PAYLOAD_LEN, (uint32_t)n);
	close_expression(b, e);
}

/* Of what was loaded, only these bits. */
static void mask(struct batch *b, const void *bits, size_t n)
{
	static const uint8_t none[16];
	struct expression e = open_expression(b, "bitwise");

	batch_number(b, NFTA_BITWISE_SREG, NFT_REG_1);
	batch_number(b, NFTA_BITWISE_DREG, NFT_REG_1);
	batch_number(b, NFTA_BITWISE_LEN, (uint32_t)n);
	value(b, NFTA_BITWISE_MASK, bits, n);
	value(b, NFTA_BITWISE_XOR, none, n);
	close_expression(b, e);
}

/* ip daddr address/bits; or all but these */
static void destination(struct batch *b, uint8_t family, uint32_t op, const uint8_t *address, unsigned bits)
{
	uint8_t wanted[16] = {0};
	size_t n = (bits + 7) / 8;

	if (n == 0)
		return; /* every address is one */
	memset(wanted, 0xff, n);
	if (bits % 8)
		wanted[n - 1] = (uint8_t)(0xff << (8 - bits % 8));
	load(b, NFT_PAYLOAD_NETWORK_HEADER, family == NFPROTO_IPV4 ? 16 : 24, n);
	if (bits % 8)
		mask(b, wanted, n);
	compare(b, op, address, n);
}

/* ip daddr 127.0.0.0/8, ip6 daddr ::1; or all but these */
static void loopback(struct batch *b, uint8_t family, uint32_t op)
{
	static const uint8_t v4[1] = {127}, v6[16] = {[15] = 1};

	if (family == NFPROTO_IPV4)
		destination(b, family, op, v4, 8);
	else
		destination(b, family, op, v6, 128);
}

/* tcp sport or dport; PORT_FROM, PORT_TO: where it stands in the header */
enum { PORT_FROM = 0, PORT_TO = 2 };

static void ports(struct batch *b, uint32_t which, uint32_t op, uint16_t port)
{
	port = htons(port);
	load(b, NFT_PAYLOAD_TRANSPORT_HEADER, which, sizeof(port));
	compare(b, op, &port, sizeof(port));
}

/* The first packet of a connection that is dialled from here: of the flags SYN and ACK only the first. */
static void only_first(struct batch *b)
{
	static const uint8_t syn = 0x02, both = 0x12;

	load(b, NFT_PAYLOAD_TRANSPORT_HEADER, 13, sizeof(both));
	mask(b, &both, sizeof(both));
	compare(b, NFT_CMP_EQ, &syn, sizeof(syn));
}

/* accept: the chain has no more to say */
static void accept_it(struct batch *b)
{
	struct expression e = open_expression(b, "immediate");
	size_t data, verdict;

	batch_number(b, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = batch_open(b, NFTA_IMMEDIATE_DATA);
	verdict = batch_open(b, NFTA_DATA_VERDICT);
	batch_number(b, NFTA_VERDICT_CODE, NF_ACCEPT);
	batch_close(b, verdict);
	batch_close(b, data);
	close_expression(b, e);
}

/* log group 1 */
static void log_it(struct batch *b)
{
	struct expression e = open_expression(b, "log");
	uint16_t group = htons(REDIRECT_REFUSED_GROUP);

	batch_attribute(b, NFTA_LOG_GROUP, &group, sizeof(group));
	close_expression(b, e);
}

/* reject with tcp reset */
static void reset(struct batch *b)
{
	struct expression e = open_expression(b, "reject");

	batch_number(b, NFTA_REJECT_TYPE, NFT_REJECT_TCP_RST);
	close_expression(b, e);
}

/* redirect to :port */
static void redirect(struct batch *b, uint16_t port)
{
	struct expression e = open_expression(b, "immediate");

	port = htons(port);
	batch_number(b, NFTA_IMMEDIATE_DREG, NFT_REG_1);
	value(b, NFTA_IMMEDIATE_DATA, &port, sizeof(port));
	close_expression(b, e);
	e = open_expression(b, "redir");
	batch_number(b, NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
	close_expression(b, e);
}

static void add_chain(struct batch *b, uint8_t family, const struct chain *c)
{
	size_t hook;

	nft(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE, family);
	batch_text(b, NFTA_CHAIN_TABLE, TABLE);
	batch_text(b, NFTA_CHAIN_NAME, c->name);
	batch_text(b, NFTA_CHAIN_TYPE, c->type);
	hook = batch_open(b, NFTA_CHAIN_HOOK);
	batch_number(b, NFTA_HOOK_HOOKNUM, NF_INET_LOCAL_OUT);
	batch_number(b, NFTA_HOOK_PRIORITY, (uint32_t)c->priority);
	batch_close(b, hook);
}

static size_t open_rule(struct batch *b, uint8_t family, const struct chain *c)
{
	nft(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, family);
	batch_text(b, NFTA_RULE_TABLE, TABLE);
	batch_text(b, NFTA_RULE_CHAIN, c->name);
	return batch_open(b, NFTA_RULE_EXPRESSIONS);
}

static bool is_of(const struct redirect_row *r, uint8_t family)
{
	return r->v6 == (family == NFPROTO_IPV6);
}

static void add_row(struct batch *b, uint8_t family, uint16_t port, const struct redirect_row *r)
{
	size_t list = open_rule(b, family, &redirecting);

	only_tcp(b);
	destination(b, family, NFT_CMP_EQ, r->address, r->bits);
	if (r->port)
		ports(b, PORT_TO, NFT_CMP_EQ, r->port);
	if (r->refuse)
		accept_it(b); /* as it is, for the chain that refuses */
	else
		redirect(b, port);
	batch_close(b, list);
}

static void add_redirect(struct batch *b, uint8_t family, uint16_t port, const struct redirect *what)
{
	size_t list;
	uint32_t i;

	add_chain(b, family, &redirecting);
	list = open_rule(b, family, &redirecting);
	loopback(b, family, NFT_CMP_EQ);
	accept_it(b);
	batch_close(b, list);
	for (i = 0; i < what->n; i++)
		if (is_of(&what->rows[i], family))
			add_row(b, family, port, &what->rows[i]);
	if (what->refuse_rest)
		return;
	list = open_rule(b, family, &redirecting);
	only_tcp(b);
	redirect(b, port);
	batch_close(b, list);
}

/* What is redirected goes to loopback by now: all else was not. */
static void add_refusing(struct batch *b, uint8_t family)
{
	size_t list;

	add_chain(b, family, &refusing);
	list = open_rule(b, family, &refusing);
	only_tcp(b);
	loopback(b, family, NFT_CMP_NEQ);
	only_first(b);
	log_it(b);
	reset(b);
	batch_close(b, list);
}

static bool refuses(const struct redirect *what, uint8_t family)
{
	uint32_t i;

	for (i = 0; i < what->n; i++)
		if (is_of(&what->rows[i], family) && what->rows[i].refuse)
			return true;
	return what->refuse_rest;
}

/*
 * What goes from loopback to loopback is never redirected, so that nothing about it need be remembered: each packet to
 * the proxy, and of the workload's own servers, is spared the look-up. But for the answers of who was redirected: a
 * client may have bound itself to loopback before it dialled out. Nor are datagrams, of which each, to another address,
 * would be memory of the kernel's that no limit counts.
 */
static void add_sparing(struct batch *b, uint8_t family, uint16_t port)
{
	size_t list;

	add_chain(b, family, &sparing);
	list = open_rule(b, family, &sparing);
	only_tcp(b);
	loopback(b, family, NFT_CMP_EQ);
	ports(b, PORT_FROM, NFT_CMP_NEQ, port);
	close_expression(b, open_expression(b, "notrack"));
	batch_close(b, list);
	list = open_rule(b, family, &sparing);
	protocol(b, NFT_CMP_NEQ);
	close_expression(b, open_expression(b, "notrack"));
	batch_close(b, list);
}

static void about_table(struct batch *b, uint16_t type, uint16_t flags, uint8_t family)
{
	nft(b, type, flags, family);
	batch_text(b, NFTA_TABLE_NAME, TABLE);
}

static int redirect_family(int fd, uint8_t family, uint16_t port, const struct redirect *what, bool spare)
{
	struct batch b;

	batch_init(&b);
	nft_frame(&b, NFNL_MSG_BATCH_BEGIN);
	/* made first, so that there is one to take away; all of it happens at once */
	about_table(&b, NFT_MSG_NEWTABLE, NLM_F_CREATE, family);
	about_table(&b, NFT_MSG_DELTABLE, 0, family);
	about_table(&b, NFT_MSG_NEWTABLE, NLM_F_CREATE, family);
	add_redirect(&b, family, port, what);
	if (refuses(what, family))
		add_refusing(&b, family);
	if (spare)
		add_sparing(&b, family, port);
	nft_frame(&b, NFNL_MSG_BATCH_END);
	return batch_send(fd, &b);
}

/* A kernel may have the one and not the other. */
static int redirect_or_less(int fd, uint8_t family, uint16_t port, const struct redirect *what)
{
	int r = redirect_family(fd, family, port, what, true);

	return r < 0 ? redirect_family(fd, family, port, what, false) : r;
}

int redirect_open(void)
{
	return batch_socket(NETLINK_NETFILTER);
}

int redirect_tcp(int fd, uint16_t port, const struct redirect *what)
{
	int r = redirect_or_less(fd, NFPROTO_IPV4, port, what), r6;

	if (r < 0)
		return r;
	r6 = redirect_or_less(fd, NFPROTO_IPV6, port, what);
	return r6 == -EAFNOSUPPORT || r6 == -EOPNOTSUPP || r6 == -ENOENT ? 0 : r6;
}
