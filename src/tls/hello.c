#include "tls/hello.h"

#include "tls/name.h"

_Static_assert((int)HELLO_NAME_MAX == (int)NAME_MAX_BYTES, "a name that is valid fits");

enum {
	RECORD_HANDSHAKE = 22,
	RECORD_HEADER = 5,
	RECORD_MAX = 16384,
	CLIENT_HELLO = 1,
	HANDSHAKE_HEADER = 4,
	TLS_1_2 = 0x0303,
	EXTENSIONS_MAX = 128
};

enum { EXT_SERVER_NAME = 0, EXT_ALPN = 16, EXT_VERSIONS = 43, EXT_ECH = 0xfe0d };

/* What is left to read; once a read asks for more than there is, bad is set and everything reads as empty. */
struct in {
	const unsigned char *p;
	size_t n;
	bool bad;
};

static struct in in_take(struct in *in, size_t n)
{
	struct in part = {in->p, n, false};

	if (in->bad || n > in->n) {
		*in = (struct in){.bad = true};
		return *in;
	}
	in->p += n;
	in->n -= n;
	return part;
}

static uint32_t in_number(struct in *in, size_t bytes)
{
	struct in part = in_take(in, bytes);
	uint32_t v = 0;

	while (part.n) {
		v = v << 8 | *part.p++;
		part.n--;
	}
	return v;
}

/* A run that has its length, in so many bytes, before it. */
static struct in in_vector(struct in *in, size_t length_bytes)
{
	return in_take(in, in_number(in, length_bytes));
}

static bool in_done(const struct in *in)
{
	return !in->bad && in->n == 0;
}

/* One entry, of type host_name, that is a host name. A trailing dot is not part of one (RFC 6066). */
static bool read_name(struct in ext, struct hello *h)
{
	struct in list = in_vector(&ext, 2), name;
	uint32_t type = in_number(&list, 1);
	size_t i;

	name = in_vector(&list, 2);
	if (!in_done(&ext) || !in_done(&list) || name.bad || type != 0 || name.n == 0 || name.n > HELLO_NAME_MAX)
		return false;
	for (i = 0; i < name.n; i++)
		h->name[i] = (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] | 0x20 : name.p[i]);
	h->name[name.n] = 0;
	return name_is_host(sv_n(h->name, name.n));
}

static bool read_alpn(struct in ext, struct hello *h)
{
	struct in list = in_vector(&ext, 2), name;
	size_t used = 0;

	if (!in_done(&ext) || list.n == 0)
		return false;
	while (list.n) {
		name = in_vector(&list, 1);
		if (name.bad || name.n == 0)
			return false;
		if (h->n_alpn == HELLO_ALPN_MAX || name.n > HELLO_ALPN_BYTES - used)
			continue;
		memcpy(h->alpn_bytes + used, name.p, name.n);
		h->alpn[h->n_alpn++] = sv_n(h->alpn_bytes + used, name.n);
		used += name.n;
	}
	return !list.bad;
}

/* Values that are not TLS versions (grease, drafts) are passed over. */
static bool read_versions(struct in ext, struct hello *h)
{
	struct in list = in_vector(&ext, 1);
	uint32_t version, highest = 0;

	if (!in_done(&ext) || list.n == 0 || list.n % 2)
		return false;
	while (list.n) {
		version = in_number(&list, 2);
		if (version >> 8 == 3 && version > highest)
			highest = version;
	}
	h->version = (uint16_t)highest;
	return true;
}

static bool read_extension(uint32_t type, struct in ext, struct hello *h)
{
	switch (type) {
	case EXT_SERVER_NAME:
		return read_name(ext, h);
	case EXT_ALPN:
		return read_alpn(ext, h);
	case EXT_VERSIONS:
		return read_versions(ext, h);
	case EXT_ECH:
		h->ech = true;
		return true;
	default:
		return true;
	}
}

static bool read_extensions(struct in exts, struct hello *h)
{
	uint16_t seen[EXTENSIONS_MAX];
	size_t n = 0, i;
	uint32_t type;
	struct in ext;

	while (exts.n) {
		type = in_number(&exts, 2);
		ext = in_vector(&exts, 2);
		if (ext.bad || n == EXTENSIONS_MAX)
			return false;
		for (i = 0; i < n; i++)
			if (seen[i] == type)
				return false;
		seen[n++] = (uint16_t)type;
		if (!read_extension(type, ext, h))
			return false;
	}
	return !exts.bad;
}

/* The body of the handshake message, whole. */
static bool read_body(struct in body, struct hello *h)
{
	struct in session, suites, compressions, exts;

	h->version = (uint16_t)in_number(&body, 2);
	(void)in_take(&body, 32); /* random */
	session = in_vector(&body, 1);
	suites = in_vector(&body, 2);
	compressions = in_vector(&body, 1);
	if (body.bad || h->version >> 8 != 3 || session.n > 32 || suites.n == 0 || suites.n % 2 || compressions.n == 0)
		return false;
	/* A later version is said in an extension, never here (RFC 8446). */
	if (h->version > TLS_1_2)
		h->version = TLS_1_2;
	if (body.n == 0)
		return true;
	exts = in_vector(&body, 2);
	return in_done(&body) && read_extensions(exts, h);
}

/*
 * Puts the pieces of the records together until the message is whole: in out, which has room for HELLO_MAX. HELLO_OK:
 * ret is its body. It ends where a record ends; records of another kind may follow (early data).
 */
static enum hello_status reassemble(struct sv bytes, unsigned char *out, struct in *ret)
{
	struct in in = {(const unsigned char *)bytes.p, bytes.n, false};
	size_t have = 0, length, part, want;

	while (in.n >= RECORD_HEADER) {
		length = (size_t)in.p[3] << 8 | in.p[4];
		if (in.p[0] != RECORD_HANDSHAKE || in.p[1] != 3 || length == 0 || length > RECORD_MAX)
			return HELLO_BAD;
		(void)in_take(&in, RECORD_HEADER);
		part = length < in.n ? length : in.n;
		if (part > HELLO_MAX - have)
			return HELLO_BAD;
		memcpy(out + have, in_take(&in, part).p, part);
		have += part;
		if (have && out[0] != CLIENT_HELLO)
			return HELLO_BAD;
		if (have < HANDSHAKE_HEADER)
			continue;
		want = HANDSHAKE_HEADER + ((size_t)out[1] << 16 | (size_t)out[2] << 8 | out[3]);
		if (want > HELLO_MAX || have + (length - part) > want || bytes.n - in.n > HELLO_MAX)
			return HELLO_BAD;
		if (have == want) {
			*ret = (struct in){out + HANDSHAKE_HEADER, want - HANDSHAKE_HEADER, false};
			return HELLO_OK;
		}
	}
	return bytes.n > HELLO_MAX ? HELLO_BAD : HELLO_MORE;
}

/* HELLO_OK: a record of TLS. The hello of SSLv2, which old servers still read, has a length with its highest bit set, a
 * 1, and a version. */
static enum hello_status sniff(const unsigned char *p, size_t n)
{
	if (n == 0)
		return HELLO_MORE;
	if (p[0] & 0x80 && (n < 3 || p[2] == CLIENT_HELLO) && (n < 4 || p[3] == 3 || p[3] == 0))
		return n < 4 ? HELLO_MORE : HELLO_BAD;
	return p[0] == RECORD_HANDSHAKE && (n < 2 || p[1] == 3) ? HELLO_OK : HELLO_NOT_TLS;
}

enum hello_status hello_parse(struct sv bytes, struct hello *ret)
{
	unsigned char message[HELLO_MAX];
	enum hello_status status;
	struct hello h = {0};
	struct in body;
	size_t i;

	status = sniff((const unsigned char *)bytes.p, bytes.n);
	if (status == HELLO_OK)
		status = reassemble(bytes, message, &body);
	if (status != HELLO_OK)
		return status;
	if (!read_body(body, &h))
		return HELLO_BAD;
	*ret = h;
	for (i = 0; i < h.n_alpn; i++)
		ret->alpn[i].p = ret->alpn_bytes + (h.alpn[i].p - h.alpn_bytes);
	return HELLO_OK;
}

bool hello_offers(const struct hello *hello, const char *protocol)
{
	size_t i;

	for (i = 0; i < hello->n_alpn; i++)
		if (sv_is(hello->alpn[i], protocol))
			return true;
	return false;
}
