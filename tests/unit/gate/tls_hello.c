#include "check.h"

#include "base/buf.h"
#include "tls/hello.h"

/* Builds hellos, good and bad. Lengths are filled in afterwards. */

static void put(struct buf *b, uint32_t v, int bytes)
{
	while (bytes--)
		buf_char(b, (char)(v >> 8 * bytes));
}

static void put_vector(struct buf *b, struct sv s, int bytes)
{
	put(b, (uint32_t)s.n, bytes);
	buf_sv(b, s);
}

static void put_ext(struct buf *b, uint32_t type, struct sv s)
{
	put(b, type, 2);
	put_vector(b, s, 2);
}

static void put_name_ext(struct buf *b, struct sv name)
{
	AUTO_BUF entry = {0}, list = {0};

	buf_init(&entry, 1024);
	buf_init(&list, 1024);
	put(&entry, 0, 1);
	put_vector(&entry, name, 2);
	put_vector(&list, buf_view(&entry), 2);
	put_ext(b, 0, buf_view(&list));
}

static void put_message(struct buf *out, struct sv exts)
{
	AUTO_BUF body = {0};

	buf_init(&body, 70000);
	put(&body, 0x0303, 2);
	buf_add(&body, "0123456789abcdef0123456789abcdef", 32);
	put_vector(&body, sv_of("session"), 1);
	put_vector(&body, sv_n("\x13\x01\x13\x02", 4), 2);
	put_vector(&body, sv_n("", 1), 1);
	put_vector(&body, exts, 2);
	put(out, 1, 1);
	put_vector(out, buf_view(&body), 3);
}

static void put_records(struct buf *out, struct sv message, size_t size)
{
	size_t n;

	for (; message.n; message.p += n, message.n -= n) {
		n = message.n < size ? message.n : size;
		put(out, 22, 1);
		put(out, 0x0301, 2);
		put_vector(out, sv_n(message.p, n), 2);
	}
}

static enum hello_status parse_split(struct sv exts, size_t record, struct hello *h)
{
	AUTO_BUF message = {0}, all = {0};

	buf_init(&message, 80000);
	buf_init(&all, 500000);
	put_message(&message, exts);
	put_records(&all, buf_view(&message), record);
	return hello_parse(buf_view(&all), h);
}

static enum hello_status parse_name(struct sv name, struct hello *h)
{
	AUTO_BUF exts = {0};

	buf_init(&exts, 70000);
	put_name_ext(&exts, name);
	return parse_split(buf_view(&exts), 16384, h);
}

static enum hello_status parse_ext(uint32_t type, struct sv bytes, struct hello *h)
{
	AUTO_BUF exts = {0};

	buf_init(&exts, 70000);
	put_ext(&exts, type, bytes);
	return parse_split(buf_view(&exts), 16384, h);
}

static void the_name_comes_out_in_lower_case(void)
{
	struct hello h;

	CHECK(parse_name(sv_of("API.Example.Test"), &h) == HELLO_OK);
	CHECK_STR(h.name, "api.example.test");
	CHECK(!h.ech && h.n_alpn == 0 && h.version == 0x0303);
	CHECK(parse_name(sv_of("under_score.xn--bcher-kva.example"), &h) == HELLO_OK);
}

static void what_is_not_a_host_name_is_bad(void)
{
	static const struct sv bad[] = {
		{"", 0},
		{"127.0.0.1", 9},
		{"127.1", 5},
		{"2130706433", 10},
		{"0x7f000001", 10},
		{"host.0x7f", 9},
		{"::1", 3},
		{"[::1]", 5},
		{"a.test.", 7},
		{".a.test", 7},
		{"a..test", 7},
		{".", 1},
		{"a\0b.test", 8},
		{"a.test\0", 7},
		{"a test", 6},
		{"a.test:443", 10},
		{"*.a.test", 8},
		{"-a.test", 7},
		{"b\xc3\xbc.test", 8},
		{"a/b", 3},
	};
	char label[64], full[255];
	struct hello h;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parse_name(bad[i], &h) != HELLO_BAD)
			printf("# %zu\n", i);
		CHECK(parse_name(bad[i], &h) == HELLO_BAD);
	}
	memset(label, 'a', sizeof(label));
	CHECK(parse_name(sv_n(label, 63), &h) == HELLO_OK);
	CHECK(parse_name(sv_n(label, 64), &h) == HELLO_BAD);
	for (i = 0; i < sizeof(full); i++)
		full[i] = i % 50 == 49 ? '.' : 'a';
	CHECK(parse_name(sv_n(full, 253), &h) == HELLO_OK);
	CHECK(parse_name(sv_n(full, 254), &h) == HELLO_BAD);
}

static void two_names_in_one_list_or_in_two_extensions_are_bad(void)
{
	AUTO_BUF twice = {0};
	struct hello h;

	/* list of two entries; an entry of another type; a list longer than its extension; bytes behind the list; no
	 * list at all */
	CHECK(parse_ext(0, sv_n("\0\x0c\0\0\3a.a\0\0\3b.b", 14), &h) == HELLO_BAD);
	CHECK(parse_ext(0, sv_n("\0\6\1\0\3a.a", 8), &h) == HELLO_BAD);
	CHECK(parse_ext(0, sv_n("\0\7\0\0\3a.a", 8), &h) == HELLO_BAD);
	CHECK(parse_ext(0, sv_n("\0\6\0\0\3a.a\0", 9), &h) == HELLO_BAD);
	CHECK(parse_ext(0, sv_n("\0\0", 2), &h) == HELLO_BAD);
	CHECK(parse_ext(0, sv_n("", 0), &h) == HELLO_BAD);
	CHECK(parse_ext(0, sv_n("\0\6\0\0\3a.a", 8), &h) == HELLO_OK);
	buf_init(&twice, 1000);
	put_name_ext(&twice, sv_of("a.test"));
	put_ext(&twice, 23, sv_of(""));
	put_name_ext(&twice, sv_of("a.test"));
	CHECK(parse_split(buf_view(&twice), 16384, &h) == HELLO_BAD);
}

static void any_extension_that_is_there_twice_is_bad(void)
{
	AUTO_BUF exts = {0};
	struct hello h;
	uint32_t i;

	buf_init(&exts, 1000);
	for (i = 1000; i < 1100; i++)
		put_ext(&exts, i, sv_of("x"));
	CHECK(parse_split(buf_view(&exts), 16384, &h) == HELLO_OK);
	put_ext(&exts, 1042, sv_of(""));
	CHECK(parse_split(buf_view(&exts), 16384, &h) == HELLO_BAD);
}

static void alpn_versions_and_ech_are_reported(void)
{
	AUTO_BUF exts = {0};
	struct hello h;

	buf_init(&exts, 1000);
	put_ext(&exts, 16, sv_n("\0\x0c\2h2\10http/1.1", 14));
	put_ext(&exts, 43, sv_n("\6\x7a\x7a\3\4\3\3", 7));
	put_ext(&exts, 0xfe0d, sv_of("grease"));
	CHECK(parse_split(buf_view(&exts), 16384, &h) == HELLO_OK);
	CHECK(h.n_alpn == 2 && hello_offers(&h, "h2") && hello_offers(&h, "http/1.1") && !hello_offers(&h, "h"));
	CHECK(h.version == 0x0304 && h.ech);
	CHECK_STR(h.name, "");
	CHECK(parse_ext(16, sv_n("\0\0", 2), &h) == HELLO_BAD);
	CHECK(parse_ext(16, sv_n("\0\1\0", 3), &h) == HELLO_BAD);
	CHECK(parse_ext(16, sv_n("\0\3\3h2", 5), &h) == HELLO_BAD);
	CHECK(parse_ext(43, sv_n("\3\3\4\3", 4), &h) == HELLO_BAD);
}

static void a_hello_cut_into_records_of_any_size_reads_the_same(void)
{
	AUTO_BUF exts = {0};
	struct hello h;
	size_t size;

	buf_init(&exts, 1000);
	put_name_ext(&exts, sv_of("cut.example.test"));
	put_ext(&exts, 16, sv_n("\0\3\2h2", 5));
	for (size = 1; size < 150; size++) {
		memset(&h, 0, sizeof(h));
		CHECK(parse_split(buf_view(&exts), size, &h) == HELLO_OK);
		CHECK_STR(h.name, "cut.example.test");
		CHECK(hello_offers(&h, "h2"));
	}
}

static void every_prefix_asks_for_more(void)
{
	AUTO_BUF exts = {0}, message = {0}, all = {0};
	struct hello h;
	size_t i;

	buf_init(&exts, 1000);
	buf_init(&message, 1000);
	buf_init(&all, 2000);
	put_name_ext(&exts, sv_of("prefix.example.test"));
	put_message(&message, buf_view(&exts));
	put_records(&all, buf_view(&message), 40);
	for (i = 0; i < all.n; i++)
		CHECK(hello_parse(sv_n(all.p, i), &h) == HELLO_MORE);
	CHECK(hello_parse(buf_view(&all), &h) == HELLO_OK);
}

static void bytes_left_over_are_bad_and_later_records_are_not_read(void)
{
	AUTO_BUF message = {0}, more = {0};
	struct hello h;

	buf_init(&message, 1000);
	buf_init(&more, 2000);
	put_message(&message, sv_of(""));
	put_records(&more, buf_view(&message), 16384);
	buf_add(&more, "\x17\3\3\0\1x", 6);
	CHECK(hello_parse(buf_view(&more), &h) == HELLO_OK);
	/* a second message in the same record */
	put_message(&message, sv_of(""));
	buf_clear(&more);
	put_records(&more, buf_view(&message), 16384);
	CHECK(hello_parse(buf_view(&more), &h) == HELLO_BAD);
	CHECK(hello_parse(sv_n(more.p, 20), &h) == HELLO_BAD);
	/* extensions that end in the middle of one */
	CHECK(parse_split(sv_n("\0\x17\0", 3), 16384, &h) == HELLO_BAD);
	CHECK(parse_split(sv_n("\0\x17\0\5abc", 7), 16384, &h) == HELLO_BAD);
}

static void other_protocols_and_records_are_told_apart(void)
{
	struct hello h;

	CHECK(hello_parse(sv_of("GET / HTTP/1.1\r\n"), &h) == HELLO_NOT_TLS);
	CHECK(hello_parse(sv_of("SSH-2.0-x\r\n"), &h) == HELLO_NOT_TLS);
	CHECK(hello_parse(sv_n("\x16\2\0", 3), &h) == HELLO_NOT_TLS);
	CHECK(hello_parse(sv_n("\x15\3\1\0\2", 5), &h) == HELLO_NOT_TLS);
	CHECK(hello_parse(sv_n("\x80\x2e\1\3\1", 5), &h) == HELLO_BAD);
	CHECK(hello_parse(sv_n("\x80\x2e\1\0\2", 5), &h) == HELLO_BAD);
	CHECK(hello_parse(sv_n("\x80\x2e", 2), &h) == HELLO_MORE);
	CHECK(hello_parse(sv_n("\x16\3\1\0\0", 5), &h) == HELLO_BAD);
	CHECK(hello_parse(sv_n("\x16\3\1\xff\xff", 5), &h) == HELLO_BAD);
	/* ServerHello; another record between the pieces; a message of no length */
	CHECK(hello_parse(sv_n("\x16\3\1\0\1\2", 6), &h) == HELLO_BAD);
	CHECK(hello_parse(sv_n("\x16\3\1\0\1\1\x17\3\1\0\1\0", 12), &h) == HELLO_BAD);
	CHECK(hello_parse(sv_n("\x16\3\1\0\4\1\0\0\0", 9), &h) == HELLO_BAD);
}

static void past_its_maximum_a_hello_is_bad_and_not_waited_for(void)
{
	static char big[17000];
	AUTO_BUF exts = {0};
	struct hello h;

	CHECK(hello_parse(sv_n("\x16\3\1\0\4\1\0\x40\1", 9), &h) == HELLO_BAD);
	CHECK(hello_parse(sv_n("\x16\3\1\0\4\1\xff\xff\xff", 9), &h) == HELLO_BAD);
	buf_init(&exts, 70000);
	put_ext(&exts, 21, sv_n(big, 16200));
	CHECK(parse_split(buf_view(&exts), 16384, &h) == HELLO_OK);
	put_ext(&exts, 22, sv_n(big, 200));
	CHECK(parse_split(buf_view(&exts), 16384, &h) == HELLO_BAD);
	/* small in itself, but most of it headers */
	buf_clear(&exts);
	put_ext(&exts, 21, sv_n(big, 4000));
	CHECK(parse_split(buf_view(&exts), 100, &h) == HELLO_OK);
	CHECK(parse_split(buf_view(&exts), 1, &h) == HELLO_BAD);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(the_name_comes_out_in_lower_case),
		CASE(what_is_not_a_host_name_is_bad),
		CASE(two_names_in_one_list_or_in_two_extensions_are_bad),
		CASE(any_extension_that_is_there_twice_is_bad),
		CASE(alpn_versions_and_ech_are_reported),
		CASE(a_hello_cut_into_records_of_any_size_reads_the_same),
		CASE(every_prefix_asks_for_more),
		CASE(bytes_left_over_are_bad_and_later_records_are_not_read),
		CASE(other_protocols_and_records_are_told_apart),
		CASE(past_its_maximum_a_hello_is_bad_and_not_waited_for),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
