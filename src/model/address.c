#include "model/address.h"

#include <arpa/inet.h>

#include "base/cleanup.h"

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct address address_of4(const uint8_t b[4])
{
	struct address a = {.is4 = true};

	memcpy(a.b, mapped, sizeof(mapped));
	memcpy(a.b + 12, b, 4);
	return a;
}

struct address address_of6(const uint8_t b[16])
{
	struct address a = {0};

	memcpy(a.b, b, sizeof(a.b));
	a.is4 = memcmp(b, mapped, sizeof(mapped)) == 0;
	return a;
}

bool address_same(const struct address *a, const struct address *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

bool address_parse(struct sv s, struct address *ret)
{
	bool brackets = s.n >= 2 && s.p[0] == '[' && s.p[s.n - 1] == ']';
	char text[INET6_ADDRSTRLEN];
	uint8_t b[16];

	if (brackets)
		s = sv_n(s.p + 1, s.n - 2);
	if (s.n == 0 || s.n >= sizeof(text) || memchr(s.p, '\0', s.n))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	if (!brackets && inet_pton(AF_INET, text, b) == 1)
		*ret = address_of4(b);
	else if (inet_pton(AF_INET6, text, b) == 1)
		*ret = address_of6(b);
	else
		return false;
	return true;
}

static char *put_number(uint8_t v, char *to)
{
	if (v >= 100)
		*to++ = (char)('0' + v / 100);
	if (v >= 10)
		*to++ = (char)('0' + v / 10 % 10);
	*to++ = (char)('0' + v % 10);
	return to;
}

/* By hand, since it is asked for with each request: inet_ntop() would print by format. */
static const char *text_of4(const uint8_t b[4], char out[ADDRESS_TEXT])
{
	char *to = out;
	unsigned i;

	for (i = 0; i < 4; i++) {
		to = put_number(b[i], to);
		*to++ = i < 3 ? '.' : '\0';
	}
	return out;
}

const char *address_text(const struct address *a, char out[ADDRESS_TEXT])
{
	/* Cannot fail: the room is enough. */
	return a->is4 ? text_of4(a->b + 12, out) : inet_ntop(AF_INET6, a->b, out, ADDRESS_TEXT);
}

bool address_looks_numeric(struct sv host)
{
	size_t i = host.n;

	while (i > 0 && host.p[i - 1] != '.')
		i--;
	return i < host.n && host.p[i] >= '0' && host.p[i] <= '9';
}

/* True where the first bits are the same. */
static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

/* RFC 6890 and its successors. The first row that fits speaks, so single addresses stand before their networks. */
static const struct {
	uint8_t net[4];
	uint8_t bits;
	uint8_t floor; /* enum address_floor */
} floor4[] = {
	{{169, 254, 169, 254}, 32, FLOOR_METADATA}, /* nearly every cloud */
	{{169, 254, 170, 2}, 32, FLOOR_METADATA},   /* credentials of AWS ECS tasks */
	{{169, 254, 170, 23}, 32, FLOOR_METADATA},  /* credentials of AWS EKS pods */
	{{100, 100, 100, 200}, 32, FLOOR_METADATA}, /* Alibaba */
	{{168, 63, 129, 16}, 32, FLOOR_METADATA},   /* Azure's host agent; a public address otherwise */
	{{192, 0, 0, 192}, 32, FLOOR_METADATA},     /* Oracle */
	{{0, 0, 0, 0}, 8, FLOOR_THIS_NETWORK},      {{10, 0, 0, 0}, 8, FLOOR_PRIVATE},
	{{100, 64, 0, 0}, 10, FLOOR_SHARED},        {{127, 0, 0, 0}, 8, FLOOR_LOOPBACK},
	{{169, 254, 0, 0}, 16, FLOOR_LINK_LOCAL},   {{172, 16, 0, 0}, 12, FLOOR_PRIVATE},
	{{192, 0, 0, 0}, 24, FLOOR_RESERVED},       {{192, 0, 2, 0}, 24, FLOOR_RESERVED},
	{{192, 88, 99, 0}, 24, FLOOR_RESERVED}, /* 6to4 relays */
	{{192, 168, 0, 0}, 16, FLOOR_PRIVATE},      {{198, 18, 0, 0}, 15, FLOOR_RESERVED},
	{{198, 51, 100, 0}, 24, FLOOR_RESERVED},    {{203, 0, 113, 0}, 24, FLOOR_RESERVED},
	{{224, 0, 0, 0}, 4, FLOOR_MULTICAST},       {{240, 0, 0, 0}, 4, FLOOR_RESERVED},
};

static const struct {
	uint8_t net[16];
	uint8_t bits;
	uint8_t floor;
} floor6[] = {
	{{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, FLOOR_METADATA}, /* AWS */
	{{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x23}, 128, FLOOR_METADATA},    /* AWS EKS pods */
	{{0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, FLOOR_METADATA}, /* Google */
	{{0xfd, 0, 0xc1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xa9}, 128, FLOOR_METADATA},    /* Oracle */
	{{0}, 128, FLOOR_THIS_NETWORK},
	{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, FLOOR_LOOPBACK},
	{{0xfc}, 7, FLOOR_PRIVATE},
	{{0xfe, 0x80}, 10, FLOOR_LINK_LOCAL},
	{{0xfe, 0xc0}, 10, FLOOR_PRIVATE}, /* site-local, as it was */
	{{0xff}, 8, FLOOR_MULTICAST},
	{{0x20, 0x01}, 23, FLOOR_RESERVED}, /* protocols, Teredo among them */
	{{0x20, 0x01, 0x0d, 0xb8}, 32, FLOOR_RESERVED},
	{{0x3f, 0xff}, 20, FLOOR_RESERVED}, /* documentation, RFC 9637 */
};

static enum address_floor floor_of4(const uint8_t b[4])
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(floor4); i++)
		if (same_bits(b, floor4[i].net, floor4[i].bits))
			return floor4[i].floor;
	return FLOOR_NONE;
}

static enum address_floor floor_of6(const uint8_t b[16])
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(floor6); i++)
		if (same_bits(b, floor6[i].net, floor6[i].bits))
			return floor6[i].floor;
	return FLOOR_NONE;
}

/* Where below a prefix RFC 6052 puts an IPv4 address: byte 8 is always left out. */
static struct address translated(const uint8_t b[16], unsigned at)
{
	uint8_t four[4];
	unsigned i;

	for (i = 0; i < 4; i++, at++) {
		at += at == 8;
		four[i] = b[at];
	}
	return address_of4(four);
}

bool address_translates(const struct address *a, struct address *ret)
{
	static const uint8_t known[12] = {0, 0x64, 0xff, 0x9b};

	if (a->is4 || memcmp(a->b, known, sizeof(known)) != 0)
		return false;
	*ret = address_of4(a->b + 12);
	return true;
}

static unsigned carried_by_nat64(const struct address *a, struct address *ret)
{
	static const uint8_t local[6] = {0, 0x64, 0xff, 0x9b, 0, 1};
	static const uint8_t places[] = {6, 7, 9, 12}; /* behind 48, 56, 64 and 96 bits */
	unsigned i;

	if (address_translates(a, ret))
		return 1;
	if (memcmp(a->b, local, sizeof(local)) != 0)
		return 0;
	for (i = 0; i < ARRAY_LEN(places); i++)
		ret[i] = translated(a->b, places[i]);
	return i;
}

/* ::a.b.c.d, but for :: and ::1, which are none; and ::ffff:0:a.b.c.d. */
static bool is_old_form(const uint8_t b[16])
{
	static const uint8_t none[12] = {0}, siit[12] = {[8] = 0xff, [9] = 0xff};

	if (memcmp(b, siit, sizeof(siit)) == 0)
		return true;
	return memcmp(b, none, sizeof(none)) == 0 && (b[12] || b[13] || b[14] || b[15] > 1);
}

unsigned address_carried(const struct address *a, struct address ret[ADDRESS_CARRIED])
{
	const uint8_t *b = a->b;
	unsigned n, i;

	if (a->is4)
		return 0;
	n = carried_by_nat64(a, ret);
	if (b[0] == 0x20 && b[1] == 0x02)
		ret[n++] = address_of4(b + 2);
	/* Teredo has its server, and its client with all bits turned. */
	if (b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0) {
		uint8_t client[4];

		for (i = 0; i < 4; i++)
			client[i] = (uint8_t)~b[12 + i];
		ret[n++] = address_of4(b + 4);
		ret[n++] = address_of4(client);
	}
	/* ISATAP, below any prefix. Two bits of an interface's name say whether it is a global and a group one. */
	if ((b[8] & 0xfc) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe)
		ret[n++] = address_of4(b + 12);
	if (is_old_form(b))
		ret[n++] = address_of4(b + 12);
	return n;
}

/* By what it looks like. */
static enum address_floor floor_of(const struct address *a)
{
	struct address carried[ADDRESS_CARRIED];
	enum address_floor floor;
	unsigned i, n;

	if (a->is4)
		return floor_of4(a->b + 12);
	floor = floor_of6(a->b);
	if (floor != FLOOR_NONE)
		return floor;
	/* The rest of the internet. IPv4-compatible addresses and private forms of NAT64 lie outside. */
	if (!address_translates(a, carried) && (a->b[0] & 0xe0) != 0x20)
		return FLOOR_RESERVED;
	n = address_carried(a, carried);
	for (i = 0; i < n && floor == FLOOR_NONE; i++)
		floor = floor_of4(carried[i].b + 12);
	return floor;
}

static bool floor_row(size_t i, struct cidr *ret)
{
	if (i < ARRAY_LEN(floor4)) {
		*ret = (struct cidr){.net = address_of4(floor4[i].net), .bits = (uint8_t)(96 + floor4[i].bits)};
		return true;
	}
	i -= ARRAY_LEN(floor4);
	if (i >= ARRAY_LEN(floor6))
		return false;
	*ret = (struct cidr){.net = address_of6(floor6[i].net), .bits = floor6[i].bits};
	return true;
}

static bool lies_in_another(size_t i, const struct cidr *c)
{
	struct cidr other;
	size_t j;

	for (j = 0; floor_row(j, &other); j++)
		if (j != i && cidr_covers(&other, c))
			return true;
	return false;
}

bool address_floor_range(unsigned i, struct cidr *ret)
{
	struct cidr c;
	size_t row;

	for (row = 0; floor_row(row, &c); row++)
		if (!lies_in_another(row, &c) && i-- == 0) {
			*ret = c;
			return true;
		}
	return false;
}

enum address_floor address_floor(const struct address *a)
{
	enum address_floor floor = floor_of(a);

	return floor == FLOOR_NONE && a->own ? FLOOR_OWN : floor;
}

bool address_is_loopback(const struct address *a)
{
	static const uint8_t loopback6[16] = {[15] = 1};

	return a->is4 ? a->b[12] == 127 : memcmp(a->b, loopback6, sizeof(loopback6)) == 0;
}

const char *address_floor_text(enum address_floor floor)
{
	static const char *const texts[] = {
		[FLOOR_NONE] = NULL,
		[FLOOR_THIS_NETWORK] = "an address of this host or network",
		[FLOOR_LOOPBACK] = "a loopback address",
		[FLOOR_OWN] = "an address of this machine",
		[FLOOR_PRIVATE] = "a private address",
		[FLOOR_SHARED] = "a shared (carrier-grade NAT) address",
		[FLOOR_LINK_LOCAL] = "a link-local address",
		[FLOOR_METADATA] = "a metadata address of a cloud",
		[FLOOR_MULTICAST] = "a multicast address",
		[FLOOR_RESERVED] = "a reserved address",
	};

	return texts[floor];
}

struct address address_prefix(const struct address *a, unsigned bits)
{
	struct address r = *a;
	unsigned i;

	for (i = bits / 8; i < sizeof(r.b); i++) {
		unsigned kept = i == bits / 8 ? r.b[i] & ~(0xffU >> bits % 8) : 0;

		r.b[i] = (uint8_t)kept;
	}
	return r;
}

/* One to three digits without a leading zero. */
static bool parse_length(struct sv s, unsigned max, unsigned *ret)
{
	unsigned v = 0;
	size_t i;

	if (s.n == 0 || s.n > 3 || (s.p[0] == '0' && s.n > 1))
		return false;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (unsigned)(s.p[i] - '0');
	}
	*ret = v;
	return v <= max;
}

bool cidr_parse(struct sv text, struct cidr *ret)
{
	const char *slash = memchr(text.p, '/', text.n);
	struct sv name = slash ? sv_n(text.p, (size_t)(slash - text.p)) : text;
	bool dotted = !memchr(name.p, ':', name.n);
	unsigned bits = dotted ? 32 : 128;
	struct address a;

	if (!address_parse(name, &a))
		return false;
	if (slash && !parse_length(sv_n(slash + 1, text.n - name.n - 1), bits, &bits))
		return false;
	bits += dotted ? 96 : 0;
	/* ::ffff:0:0/90 would be neither IPv4 nor IPv6. */
	if (a.is4 && bits < 96)
		return false;
	*ret = (struct cidr){.net = address_prefix(&a, bits), .bits = (uint8_t)bits};
	return true;
}

bool cidr_has(const struct cidr *c, const struct address *a)
{
	return c->net.is4 == a->is4 && same_bits(c->net.b, a->b, c->bits);
}

bool cidr_covers(const struct cidr *outer, const struct cidr *inner)
{
	return outer->bits <= inner->bits && cidr_has(outer, &inner->net);
}
