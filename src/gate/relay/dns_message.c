#include "gate/relay/dns_message.h"

#include <errno.h>

enum {
	HEAD = 12,
	NAME_MAX_WIRE = 255,
	CLASS_IN = 1,
	TYPE_OPT = 41,
	OPT_SIZE = 11, /* without options */
	UDP_LEAST = 512,
	/* Bits of the third and fourth byte. */
	FLAG_QR = 0x80,
	FLAG_TC = 0x02,
	FLAG_RD = 0x01,
	FLAG_RA = 0x80,
	FLAG_CD = 0x10,
};

/* A place in the packet. Once something was not there, nothing is. */
struct reader {
	const unsigned char *p;
	size_t n, at;
	bool failed;
};

static unsigned get8(struct reader *r)
{
	if (r->at >= r->n) {
		r->failed = true;
		return 0;
	}
	return r->p[r->at++];
}

static unsigned get16(struct reader *r)
{
	unsigned high = get8(r);

	return high << 8 | get8(r);
}

static void skip(struct reader *r, size_t n)
{
	if (r->failed || r->n - r->at < n)
		r->failed = true;
	else
		r->at += n;
}

/* 0, or 1 where a label has a byte that no host's name has. A pointer is a failure: in a question there is nothing to
 * point to. */
static int read_name(struct reader *r, struct dns_question *q)
{
	size_t start = r->at;
	unsigned label, c;
	int odd = 0;

	for (label = get8(r); label; label = get8(r)) {
		if (label > 63 || r->at - start + label + 1 > NAME_MAX_WIRE)
			r->failed = true;
		if (q->n)
			q->name[q->n++] = '.';
		while (label-- && !r->failed) {
			c = get8(r);
			c = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
			odd = odd || !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_');
			q->name[q->n++] = (char)c;
		}
		if (r->failed)
			return 0;
	}
	return odd;
}

/* The one further record that a query may have. */
static int read_opt(struct reader *r, struct dns_question *q)
{
	unsigned name = get8(r), type = get16(r), size = get16(r), version, length;
	size_t end;

	(void)get8(r); /* the upper half of a code */
	version = get8(r);
	skip(r, 2);
	length = get16(r);
	if (r->failed || name != 0 || type != TYPE_OPT || r->n - r->at != length)
		return DNS_FORMERR;
	for (end = r->at + length; r->at < end && !r->failed;) {
		skip(r, 2);
		skip(r, get16(r));
	}
	if (r->failed)
		return DNS_FORMERR;
	q->edns = true;
	q->udp_max = (uint16_t)(size < UDP_LEAST ? UDP_LEAST : size > DNS_UDP_MAX ? DNS_UDP_MAX : size);
	return version == 0 ? DNS_OK : DNS_BADVERS;
}

static int read_question(struct reader *r, struct dns_question *q)
{
	size_t start = r->at;
	int odd = read_name(r, q);
	unsigned class;

	q->type = (uint16_t)get16(r);
	class = get16(r);
	if (r->failed || odd) {
		q->n = 0;
		q->name[0] = '\0';
	}
	if (r->failed)
		return DNS_FORMERR;
	q->name[q->n] = '\0';
	q->wire = sv_n((const char *)r->p + start, r->at - start);
	/* Transfers, signatures and OPT are no types of data; other classes are none of ours. */
	if (class != CLASS_IN || (q->type >= 249 && q->type <= 254) || q->type == TYPE_OPT || q->type == 0)
		return DNS_REFUSED;
	return odd ? DNS_NXDOMAIN : DNS_OK;
}

int dns_parse(struct sv packet, struct dns_question *ret)
{
	struct reader r = {(const unsigned char *)packet.p, packet.n, 0, false};
	unsigned flags, more, questions, records, extra;
	int code, opt = DNS_OK;

	*ret = (struct dns_question){.udp_max = UDP_LEAST};
	if (packet.n < HEAD || r.p[2] & FLAG_QR)
		return -1;
	ret->id = (uint16_t)get16(&r);
	flags = get8(&r);
	more = get8(&r);
	questions = get16(&r);
	records = get16(&r);
	records += get16(&r);
	extra = get16(&r);
	ret->recursion = flags & FLAG_RD;
	ret->checking_disabled = more & FLAG_CD;
	if (flags >> 3 & 15)
		return DNS_NOTIMP;
	if (flags & FLAG_TC || questions != 1 || records != 0 || extra > 1)
		return DNS_FORMERR;
	code = read_question(&r, ret);
	if (code == DNS_FORMERR)
		return code;
	if (extra)
		opt = read_opt(&r, ret);
	if (opt == DNS_OK && r.at != r.n)
		opt = DNS_FORMERR;
	return opt == DNS_OK ? code : opt;
}

static void put16(struct buf *out, unsigned v)
{
	const unsigned char b[2] = {(unsigned char)(v >> 8), (unsigned char)v};

	(void)buf_add(out, b, sizeof(b));
}

static void put32(struct buf *out, uint32_t v)
{
	put16(out, v >> 16);
	put16(out, v & 0xffff);
}

static bool answers(const struct dns_question *q, const struct address *a)
{
	return a->is4 ? q->type == DNS_A : q->type == DNS_AAAA;
}

static void put_head(const struct dns_question *q, enum dns_code code, bool cut, unsigned count, struct buf *out)
{
	put16(out, q->id);
	(void)buf_char(out, (char)(FLAG_QR | (cut ? FLAG_TC : 0) | (q->recursion ? FLAG_RD : 0)));
	(void)buf_char(out, (char)(FLAG_RA | (q->checking_disabled ? FLAG_CD : 0) | (code & 15)));
	put16(out, q->wire.n ? 1 : 0);
	put16(out, count);
	put16(out, 0);
	put16(out, q->edns);
	(void)buf_sv(out, q->wire);
}

static void put_record(const struct dns_question *q, const struct address *a, uint32_t ttl, struct buf *out)
{
	put16(out, 0xc000 | HEAD); /* the name: that of the question */
	put16(out, q->type);
	put16(out, CLASS_IN);
	put32(out, ttl);
	put16(out, a->is4 ? 4 : 16);
	(void)buf_add(out, a->is4 ? a->b + 12 : a->b, a->is4 ? 4 : 16);
}

static void put_opt(enum dns_code code, struct buf *out)
{
	(void)buf_char(out, '\0');
	put16(out, TYPE_OPT);
	put16(out, DNS_UDP_MAX);
	(void)buf_char(out, (char)(code >> 4));
	(void)buf_char(out, '\0');
	put16(out, 0);
	put16(out, 0);
}

void dns_answer(const struct dns_question *q, enum dns_code code, const struct address *v, size_t n, uint32_t ttl,
		size_t max, struct buf *out)
{
	size_t size = HEAD + q->wire.n + (q->edns ? OPT_SIZE : 0), i, count = 0, each = q->type == DNS_A ? 16 : 28;
	unsigned fits;

	for (i = 0; i < n && code == DNS_OK; i++)
		count += answers(q, &v[i]);
	fits = size > max ? 0 : (unsigned)((max - size) / each < count ? (max - size) / each : count);
	put_head(q, code, fits < count, fits, out);
	for (i = 0, count = 0; count < fits; i++) {
		if (!answers(q, &v[i]))
			continue;
		put_record(q, &v[i], ttl, out);
		count++;
	}
	if (q->edns)
		put_opt(code, out);
}

ssize_t dns_frame(struct sv stream, struct sv *ret)
{
	const unsigned char *p = (const unsigned char *)stream.p;
	size_t n;

	if (stream.n < 2)
		return 0;
	n = (size_t)p[0] << 8 | p[1];
	if (n < HEAD || n > DNS_QUERY_MAX)
		return -EMSGSIZE;
	if (stream.n - 2 < n)
		return 0;
	*ret = sv_n(stream.p + 2, n);
	return (ssize_t)n + 2;
}

void dns_frame_add(struct buf *out, struct sv message)
{
	put16(out, (unsigned)message.n);
	(void)buf_sv(out, message);
}
