#include "gate/relay/socks.h"

#include "check.h"

struct outcome {
	enum socks_step step;
	struct socks s;
	size_t used;
	char out[64];
	size_t n;
};

/* Feeds bytes in pieces of that size. */
static struct outcome feed(const char *bytes, size_t n, size_t piece)
{
	struct outcome r = {.step = SOCKS_MORE};
	AUTO_BUF out = {0};
	size_t used;

	buf_init(&out, sizeof(r.out));
	socks_init(&r.s);
	while (r.step == SOCKS_MORE && r.used < n) {
		size_t k = n - r.used < piece ? n - r.used : piece;
		/* A copy of that size, so that a sanitizer sees one byte too far. */
		char *copy = malloc(k);

		if (!copy)
			abort();
		memcpy(copy, bytes + r.used, k);
		r.step = socks_feed(&r.s, sv_n(copy, k), &used, &out);
		free(copy);
		r.used += used;
	}
	CHECK(buf_failed(&out) == 0);
	r.n = out.n;
	if (out.n)
		memcpy(r.out, out.p, out.n);
	return r;
}

#define FEED(bytes, piece) feed(bytes, sizeof(bytes) - 1, piece)
#define OUT_IS(r, bytes)   ((r).n == sizeof(bytes) - 1 && memcmp((r).out, bytes, (r).n) == 0)

static bool host_is(const struct outcome *r, const char *host, uint16_t port)
{
	return r->step == SOCKS_CONNECT && sv_is(socks_host(&r->s), host) && r->s.port == port;
}

static void names_and_addresses_come_out_as_hosts(void)
{
	size_t piece;

	for (piece = 1; piece < 40; piece++) {
		struct outcome r = FEED("\x05\x01\x00\x05\x01\x00\x03\x0b"
					"Example.com\x01\xbb"
					"GET /",
					piece);

		CHECK(host_is(&r, "Example.com", 443) && OUT_IS(r, "\x05\x00") && r.used == 21);
		r = FEED("\x05\x02\x00\x02\x05\x01\x00\x01\x0a\x01\x02\x03\x00\x16", piece);
		CHECK(host_is(&r, "10.1.2.3", 22) && OUT_IS(r, "\x05\x00"));
		r = FEED("\x05\x01\x00\x05\x01\x00\x04\x26\x06\x47\0\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x50"
			 "rest",
			 piece);
		CHECK(host_is(&r, "2606:4700::1", 80) && r.used == 25);
		r = FEED("\x05\x01\x00\x05\x01\x00\x04\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\x01\x00\x50", piece);
		CHECK(host_is(&r, "127.0.0.1", 80));
	}
}

static void a_password_is_taken_where_nothing_else_is_offered(void)
{
	char longest[3 + 3 + 510 + 10] = "\x05\x01\x02\x01\xff";
	size_t n;
	struct outcome r = FEED("\x05\x01\x02\x01\x01u\x01p\x05\x01\x00\x03\x01h\x00\x50", 1);

	CHECK(host_is(&r, "h", 80) && OUT_IS(r, "\x05\x02\x01\x00"));
	r = FEED("\x05\x01\x02\x01\x00\x00\x05\x01\x00\x03\x01h\x00\x50", 100);
	CHECK(host_is(&r, "h", 80));
	memset(longest + 5, 'u', 255);
	longest[260] = (char)0xff;
	memset(longest + 261, 'p', 255);
	memcpy(longest + 516, "\x05\x01\x00\x03\x01h\x00\x50", 8);
	for (n = 1; n < 530; n += 37) {
		r = feed(longest, 524, n);
		CHECK(host_is(&r, "h", 80));
	}
	r = FEED("\x05\x01\x02\x05", 1);
	CHECK(r.step == SOCKS_REFUSE && OUT_IS(r, "\x05\x02\x01\x01"));
}

static void no_common_method_is_refused(void)
{
	struct outcome r = FEED("\x05\x01\x01", 1);

	CHECK(r.step == SOCKS_REFUSE && OUT_IS(r, "\x05\xff"));
	r = FEED("\x05\x00", 1);
	CHECK(r.step == SOCKS_REFUSE && OUT_IS(r, "\x05\xff"));
	r = FEED("\x05\x03\x80\x03\xff", 2);
	CHECK(r.step == SOCKS_REFUSE && OUT_IS(r, "\x05\xff"));
}

static void the_older_version_gets_its_own_refusal(void)
{
	struct outcome r = FEED("\x04\x01\x00\x50\x7f\x00\x00\x01user\x00", 1);

	CHECK(r.step == SOCKS_REFUSE && OUT_IS(r, "\x00\x5b\0\0\0\0\0\0"));
	r = FEED("\x04\x01\x00\x50\x00\x00\x00\x01user\x00host.example\x00", 100);
	CHECK(r.step == SOCKS_REFUSE && OUT_IS(r, "\x00\x5b\0\0\0\0\0\0"));
	r = FEED("\x06", 1);
	CHECK(r.step == SOCKS_REFUSE && r.n == 0);
}

static void other_requests_are_refused_with_their_code(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		char code;
	} v[] = {
		{"\x05\x02\x00\x01", 4, SOCKS_NO_COMMAND},
		{"\x05\x03\x00\x01", 4, SOCKS_NO_COMMAND},
		{"\x05\x00", 2, SOCKS_NO_COMMAND},
		{"\x05\x01\x00\x02", 4, SOCKS_NO_ADDRESS_TYPE},
		{"\x05\x01\x00\x00", 4, SOCKS_NO_ADDRESS_TYPE},
		{"\x05\x01\x01\x01", 4, SOCKS_FAILED},
		{"\x04\x01\x00\x01", 4, SOCKS_FAILED},
		{"\x05\x01\x00\x03\x00\x00\x50", 7, SOCKS_FAILED},
		{"\x05\x01\x00\x03\x01h\x00\x00", 8, SOCKS_FAILED},
		{"\x05\x01\x00\x03\x03"
		 "a\0b\x00\x50",
		 10, SOCKS_FAILED},
	};
	struct outcome r;
	char bytes[64];
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		memcpy(bytes, "\x05\x01\x00", 3);
		memcpy(bytes + 3, v[i].bytes, v[i].n);
		r = feed(bytes, v[i].n + 3, 1);
		CHECK(r.step == SOCKS_REFUSE && r.n == 12 && r.out[2] == 5 && r.out[3] == v[i].code && r.out[5] == 1);
	}
}

static void nothing_is_taken_after_the_end(void)
{
	struct outcome r = FEED("\x05\x01\x00\x05\x01\x00\x03\x01h\x00\x50", 100);
	AUTO_BUF out = {0};
	size_t used = 9;

	buf_init(&out, 64);
	CHECK(socks_feed(&r.s, sv_of("xyz"), &used, &out) == SOCKS_REFUSE && used == 0 && out.n == 0);
	socks_reply(SOCKS_DENIED, &out);
	CHECK(out.n == 10 && memcmp(out.p, "\x05\x02\x00\x01\0\0\0\0\0\0", 10) == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(names_and_addresses_come_out_as_hosts),
		CASE(a_password_is_taken_where_nothing_else_is_offered),
		CASE(no_common_method_is_refused),
		CASE(the_older_version_gets_its_own_refusal),
		CASE(other_requests_are_refused_with_their_code),
		CASE(nothing_is_taken_after_the_end),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
