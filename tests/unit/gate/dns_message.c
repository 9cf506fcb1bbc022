#include "gate/relay/dns_message.h"

#include <errno.h>

#include "check.h"

/* A query of one question; name in its dotted form, case kept. */
static size_t query(char *out, const char *name, unsigned type)
{
	static const char head[12] = {0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0};
	size_t at = sizeof(head), n;

	memcpy(out, head, sizeof(head));
	for (; *name; name += n + (name[n] == '.')) {
		n = strcspn(name, ".");
		out[at++] = (char)n;
		memcpy(out + at, name, n);
		at += n;
	}
	out[at++] = 0;
	out[at++] = (char)(type >> 8);
	out[at++] = (char)type;
	out[at++] = 0;
	out[at++] = 1;
	return at;
}

static size_t add_edns(char *p, size_t n, unsigned size)
{
	static const char opt[11] = {0, 0, 41};

	memcpy(p + n, opt, sizeof(opt));
	p[n + 3] = (char)(size >> 8);
	p[n + 4] = (char)size;
	p[11] = 1;
	return n + sizeof(opt);
}

static void a_plain_question_is_read(void)
{
	char p[300];
	struct dns_question q;
	size_t n = query(p, "WwW.ExAmple.com", DNS_A);

	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK);
	CHECK_STR(q.name, "www.example.com");
	CHECK(q.n == 15 && q.type == DNS_A && q.id == 0x1234 && q.recursion && !q.edns && q.udp_max == 512);
	n = add_edns(p, n, 4096);
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK && q.edns && q.udp_max == DNS_UDP_MAX);
	n = add_edns(p, n - 11, 100);
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK && q.udp_max == 512);
	n = query(p, "_sip.a-b.c1", DNS_HTTPS);
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK && q.type == DNS_HTTPS);
	n = query(p, "", DNS_A);
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK && q.n == 0);
}

static void every_cut_is_refused_and_nothing_behind_the_end_is_read(void)
{
	char p[300];
	struct dns_question q;
	size_t n = query(p, "www.example.com", DNS_A), i;
	char *exact;

	n = add_edns(p, n, 1232);
	for (i = 0; i < n; i++) {
		exact = malloc(i ? i : 1);
		if (!exact)
			abort();
		memcpy(exact, p, i);
		CHECK(dns_parse(sv_n(exact, i), &q) == (i < 12 ? -1 : DNS_FORMERR));
		free(exact);
	}
	p[n] = 0;
	CHECK(dns_parse(sv_n(p, n + 1), &q) == DNS_FORMERR);
}

static void answers_are_never_taken_for_queries(void)
{
	char p[300];
	struct dns_question q;
	size_t n = query(p, "a.b", DNS_A);

	p[2] = (char)0x81;
	CHECK(dns_parse(sv_n(p, n), &q) == -1);
}

/* Each changes one byte of the head of a good query. */
static void other_operations_and_counts_are_refused(void)
{
	static const struct {
		int at;
		char value;
		int code;
	} v[] = {{2, 0x08, DNS_NOTIMP}, {2, 0x20, DNS_NOTIMP}, {2, 0x28, DNS_NOTIMP}, {2, 0x03, DNS_FORMERR},
		 {5, 0, DNS_FORMERR},   {5, 2, DNS_FORMERR},   {4, 1, DNS_FORMERR},   {7, 1, DNS_FORMERR},
		 {9, 1, DNS_FORMERR},   {11, 1, DNS_FORMERR},  {11, 2, DNS_FORMERR},  {10, 1, DNS_FORMERR}};
	struct dns_question q;
	char p[300];
	size_t n, i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		n = query(p, "a.b", DNS_A);
		p[v[i].at] = v[i].value;
		CHECK(dns_parse(sv_n(p, n), &q) == v[i].code);
	}
}

static void pointers_and_long_names_are_refused(void)
{
	struct dns_question q;
	char p[600], name[600];
	size_t n = query(p, "abc.def", DNS_A), i;

	p[12] = (char)0xc0; /* to itself */
	p[13] = 12;
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_FORMERR);
	n = query(p, "abc.def", DNS_A);
	p[16] = (char)0xc0; /* behind a label */
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_FORMERR);
	for (i = 64; i < 256; i += 64) {
		n = query(p, "abc.def", DNS_A);
		p[12] = (char)i;
		CHECK(dns_parse(sv_n(p, n), &q) == DNS_FORMERR);
	}
	/* 253 bytes of text are the most. */
	memset(name, 'a', sizeof(name));
	for (i = 63; i < 253; i += 64)
		name[i] = '.';
	name[253] = '\0';
	n = query(p, name, DNS_A);
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK && q.n == 253);
	name[253] = 'a';
	name[254] = '\0';
	n = query(p, name, DNS_A);
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_FORMERR && q.n == 0);
}

static void a_label_cannot_pass_for_two_or_end_a_name_early(void)
{
	static const char bytes[] = {'.',  '\0', '\n', ' ',        '/',        '@', ':',
				     '\\', '*',  '%',  (char)0x80, (char)0xff, '[', 0x7f};
	struct dns_question q;
	char p[300];
	size_t n, i;

	for (i = 0; i < sizeof(bytes); i++) {
		n = query(p, "evilxgood.example", DNS_A);
		p[12 + 5] = bytes[i];
		CHECK(dns_parse(sv_n(p, n), &q) == DNS_NXDOMAIN && q.n == 0 && q.name[0] == '\0' && q.wire.n);
	}
}

static void other_classes_and_transfers_are_refused(void)
{
	static const unsigned types[] = {0, 41, 249, 250, 251, 252, 253, 254};
	struct dns_question q;
	char p[300];
	size_t n, i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		n = query(p, "a.b", types[i]);
		CHECK(dns_parse(sv_n(p, n), &q) == DNS_REFUSED);
	}
	n = query(p, "version.bind", DNS_TXT);
	p[n - 1] = 3;
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_REFUSED);
}

static void edns_is_read_strictly(void)
{
	struct dns_question q;
	char p[300];
	size_t n = add_edns(p, query(p, "a.b", DNS_A), 1232), base = n - 11;

	p[base + 6] = 1; /* a version that is not known */
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_BADVERS && q.edns);
	p[base + 6] = 0;
	p[base] = 1; /* not the root */
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_FORMERR);
	p[base] = 0;
	p[base + 2] = 1; /* another record */
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_FORMERR);
	p[base + 2] = 41;
	/* One option of four bytes; then one that says more than there is. */
	p[base + 10] = 8;
	memcpy(p + n, "\0\x0a\0\x04wxyz", 8);
	CHECK(dns_parse(sv_n(p, n + 8), &q) == DNS_OK);
	p[n + 3] = 5;
	CHECK(dns_parse(sv_n(p, n + 8), &q) == DNS_FORMERR);
	p[n + 3] = 3;
	CHECK(dns_parse(sv_n(p, n + 8), &q) == DNS_FORMERR);
}

static unsigned at16(const struct buf *b, size_t at)
{
	return (unsigned)(unsigned char)b->p[at] << 8 | (unsigned char)b->p[at + 1];
}

static void an_answer_repeats_the_question_and_its_case(void)
{
	static const uint8_t four[4] = {198, 18, 1, 2};
	static const uint8_t six[16] = {1, [15] = 9};
	struct address v[2] = {address_of4(four), address_of6(six)};
	AUTO_BUF out = {0};
	struct dns_question q;
	char p[300];
	size_t n = query(p, "Www.eXample.COM", DNS_A), i;

	buf_init(&out, 65535);
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK);
	dns_answer(&q, DNS_OK, v, 2, 60, q.udp_max, &out);
	CHECK(out.n == n + 16 && memcmp(out.p + 12, p + 12, n - 12) == 0);
	CHECK(at16(&out, 0) == 0x1234 && at16(&out, 2) == 0x8180 && at16(&out, 4) == 1 && at16(&out, 6) == 1 &&
	      at16(&out, 10) == 0);
	CHECK(at16(&out, n) == 0xc00c && at16(&out, n + 2) == DNS_A && at16(&out, n + 8) == 60 &&
	      at16(&out, n + 10) == 4);
	CHECK(memcmp(out.p + n + 12, four, 4) == 0);
	buf_clear(&out);
	q.type = DNS_AAAA;
	dns_answer(&q, DNS_OK, v, 2, 60, q.udp_max, &out);
	CHECK(out.n == n + 28 && memcmp(out.p + n + 12, six, 16) == 0);
	/* Other types of a name that exists: no data. */
	for (i = 0; i < 4; i++) {
		static const uint16_t types[] = {DNS_HTTPS, DNS_SVCB, DNS_TXT, DNS_ANY};

		buf_clear(&out);
		q.type = types[i];
		dns_answer(&q, DNS_OK, v, 2, 60, q.udp_max, &out);
		CHECK(out.n == n && at16(&out, 2) == 0x8180 && at16(&out, 6) == 0);
	}
}

static void refusals_carry_their_code(void)
{
	static const enum dns_code codes[] = {DNS_FORMERR, DNS_SERVFAIL, DNS_NXDOMAIN, DNS_NOTIMP, DNS_REFUSED};
	AUTO_BUF out = {0};
	struct dns_question q;
	char p[300];
	size_t n = query(p, "a.b", DNS_A), i;

	buf_init(&out, 65535);
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK);
	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		buf_clear(&out);
		dns_answer(&q, codes[i], NULL, 0, 0, 512, &out);
		CHECK(out.n == n && at16(&out, 2) == (0x8180 | codes[i]));
	}
	/* Without a question that could be read, none is repeated. */
	p[12] = (char)0xc0;
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_FORMERR);
	buf_clear(&out);
	dns_answer(&q, DNS_FORMERR, NULL, 0, 0, 512, &out);
	CHECK(out.n == 12 && at16(&out, 0) == 0x1234 && at16(&out, 4) == 0);
	/* The upper half of a code goes into EDNS. */
	n = add_edns(p, query(p, "a.b", DNS_A), 1232);
	p[n - 5] = 7;
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_BADVERS);
	buf_clear(&out);
	dns_answer(&q, DNS_BADVERS, NULL, 0, 0, 512, &out);
	CHECK(out.n == n && at16(&out, 2) == 0x8180 && at16(&out, 10) == 1 && out.p[n - 6] == 1 && out.p[n - 5] == 0);
}

static void what_does_not_fit_is_cut_and_says_so(void)
{
	struct address v[100];
	AUTO_BUF out = {0};
	struct dns_question q;
	char p[300];
	size_t n = add_edns(p, query(p, "a.example", DNS_A), 1232), i;

	buf_init(&out, 65535);
	for (i = 0; i < 100; i++)
		v[i] = address_of4((const uint8_t[4]){9, 9, 9, (uint8_t)i});
	CHECK(dns_parse(sv_n(p, n), &q) == DNS_OK);
	dns_answer(&q, DNS_OK, v, 100, 1, q.udp_max, &out);
	CHECK(out.n <= DNS_UDP_MAX && at16(&out, 2) == 0x8380 && at16(&out, 6) == (DNS_UDP_MAX - n) / 16);
	buf_clear(&out);
	dns_answer(&q, DNS_OK, v, 100, 1, DNS_TCP_MAX, &out);
	CHECK(out.n == n + 1600 && at16(&out, 2) == 0x8180 && at16(&out, 6) == 100);
}

static void frames_of_tcp_come_in_any_pieces(void)
{
	AUTO_BUF out = {0};
	struct sv m = {0};
	char p[300];
	size_t n = query(p, "a.b", DNS_A), i;

	buf_init(&out, 1000);
	dns_frame_add(&out, sv_n(p, n));
	dns_frame_add(&out, sv_n(p, n));
	for (i = 0; i < n + 2; i++)
		CHECK(dns_frame(sv_n(out.p, i), &m) == 0 && !m.p);
	CHECK(dns_frame(buf_view(&out), &m) == (ssize_t)n + 2 && sv_eq(m, sv_n(p, n)));
	CHECK(dns_frame(sv_n("\0\0", 2), &m) == -EMSGSIZE && dns_frame(sv_n("\0\x0b", 2), &m) == -EMSGSIZE);
	CHECK(dns_frame(sv_n("\xff\xff", 2), &m) == -EMSGSIZE);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_plain_question_is_read),
		CASE(every_cut_is_refused_and_nothing_behind_the_end_is_read),
		CASE(answers_are_never_taken_for_queries),
		CASE(other_operations_and_counts_are_refused),
		CASE(pointers_and_long_names_are_refused),
		CASE(a_label_cannot_pass_for_two_or_end_a_name_early),
		CASE(other_classes_and_transfers_are_refused),
		CASE(edns_is_read_strictly),
		CASE(an_answer_repeats_the_question_and_its_case),
		CASE(refusals_carry_their_code),
		CASE(what_does_not_fit_is_cut_and_says_so),
		CASE(frames_of_tcp_come_in_any_pieces),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
