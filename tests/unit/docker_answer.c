/*
 * Answers of a container engine: what is taken, what is refused, and that it does not matter how the bytes are cut.
 */
#include "sandbox/docker/answer.h"

#include <errno.h>

#include "base/cleanup.h"
#include "check.h"

enum { MAX = 64 };

#define OK "HTTP/1.1 200 OK\r\n"

static int whole(const char *text, struct answer *a)
{
	answer_init(a, MAX);
	return answer_add(a, sv_of(text));
}

static void an_answer_with_a_length_is_read(void)
{
	AUTO_ANSWER a = {0};

	CHECK(whole(OK "Api-Version: 1.41\r\ncontent-LENGTH:  5 \r\n\r\nhello", &a) == 1);
	CHECK(a.status == 200);
	CHECK_STR(a.api_version, "1.41");
	CHECK_STR(a.body.p, "hello");
}

static void chunks_are_put_together(void)
{
	AUTO_ANSWER a = {0};

	CHECK(whole(OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n00000001\r\n,\r\nA\r\n world "
		       "123\r\n0\r\nTrailer: x\r\n\r\n",
		    &a) == 1);
	CHECK_STR(a.body.p, "hello, world 123");
}

static void no_body_where_there_can_be_none(void)
{
	AUTO_ANSWER a = {0}, b = {0}, c = {0};

	CHECK(whole("HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n", &a) == 1);
	CHECK(whole("HTTP/1.1 204\r\n\r\n", &b) == 1);
	CHECK(whole("HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n", &c) == 1 && c.status == 304);
}

static void it_does_not_matter_how_the_bytes_are_cut(void)
{
	static const char *const texts[] = {OK "Content-Length: 5\r\n\r\nhello",
					    OK "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"};
	size_t i, cut, n;

	for (i = 0; i < ARRAY_LEN(texts); i++) {
		n = strlen(texts[i]);
		for (cut = 1; cut < n; cut++) {
			AUTO_ANSWER a = {0};

			answer_init(&a, MAX);
			CHECK(answer_add(&a, sv_n(texts[i], cut)) == 0);
			CHECK(answer_add(&a, sv_n(texts[i] + cut, n - cut)) == 1);
			CHECK_STR(a.body.p, "hello");
		}
	}
}

static void byte_by_byte(void)
{
	const char *text = OK "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n";
	AUTO_ANSWER a = {0};
	size_t i, n = strlen(text);

	answer_init(&a, MAX);
	for (i = 0; i + 1 < n; i++)
		CHECK(answer_add(&a, sv_n(text + i, 1)) == 0);
	CHECK(answer_add(&a, sv_n(text + i, 1)) == 1);
	CHECK_STR(a.body.p, "hello");
}

static void what_is_not_an_answer_is_refused(void)
{
	static const char *const bad[] = {
		"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/2 200\r\nContent-Length: 0\r\n\r\n",
		"http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 600 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 2000 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 20 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 +20 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1  200 x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 \x1b[31m\r\nContent-Length: 0\r\n\r\n",
		"\r\n\r\n",
		"SSH-2.0-OpenSSH_9.2\r\n\r\n",
		/* where the body ends must be certain */
		OK "\r\n",
		OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
		OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		OK "Transfer-Encoding: identity\r\n\r\n",
		OK "Content-Length: +5\r\n\r\nhello",
		OK "Content-Length: 0x5\r\n\r\nhello",
		OK "Content-Length: 5, 5\r\n\r\nhello",
		OK "Content-Length:\r\n\r\n",
		OK "Content-Length: -1\r\n\r\n",
		OK "Content-Length: 18446744073709551616\r\n\r\n",
		"HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 204 x\r\nContent-Length: 3\r\n\r\nabc",
		/* fields */
		OK "Content-Length : 5\r\n\r\nhello",
		OK " Content-Length: 5\r\n\r\nhello",
		OK "A: b\r\n folded\r\nContent-Length: 0\r\n\r\n",
		OK "no colon\r\nContent-Length: 0\r\n\r\n",
		OK ": empty\r\nContent-Length: 0\r\n\r\n",
		OK "A: b\rContent-Length: 0\r\n\r\n",
		OK "A: b\nContent-Length: 0\r\n\r\n",
		/* chunks */
		OK "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\n\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n",
		/* bytes behind it */
		OK "Content-Length: 5\r\n\r\nhello!",
		OK "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" OK "Content-Length: 0\r\n\r\n",
		"HTTP/1.1 204 x\r\n\r\nx",
	};
	size_t i;
	int r;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO_ANSWER a = {0};

		r = whole(bad[i], &a);
		if (r != -EBADMSG)
			printf("# taken, or refused as too long: %s\n", bad[i]);
		CHECK(r == -EBADMSG);
		CHECK(answer_add(&a, sv_of("x")) == -EBADMSG);
	}
}

static void a_nul_is_refused(void)
{
	static const char text[] = OK "A: b\0c\r\nContent-Length: 0\r\n\r\n";
	AUTO_ANSWER a = {0};

	answer_init(&a, MAX);
	CHECK(answer_add(&a, sv_n(text, sizeof(text) - 1)) == -EBADMSG);
}

static void what_is_too_long_is_refused_before_it_is_kept(void)
{
	static const char *const bad[] = {
		OK "Content-Length: 65\r\n\r\n",
		OK "Content-Length: 999999999999\r\n\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n41\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\n20\r\n0123456789abcdef0123456789abcdef\r\n21\r\n",
		OK "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO_ANSWER a = {0};

		CHECK(whole(bad[i], &a) == -EFBIG);
		CHECK(a.body.n <= MAX / 2);
	}
}

static int endless(const char *begin, const char *more)
{
	AUTO_ANSWER a = {0};
	int r = whole(begin, &a), i;

	for (i = 0; r == 0 && i < 100000; i++)
		r = answer_add(&a, sv_of(more));
	return r;
}

static void nothing_grows_without_end(void)
{
	CHECK(endless("HTTP/1.1 200 ", "x") == -EFBIG);
	CHECK(endless(OK, "A: b\r\n") == -EFBIG);
	CHECK(endless(OK "Transfer-Encoding: chunked\r\n\r\n", "0") == -EFBIG);
	CHECK(endless(OK "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n") == -EFBIG);
	CHECK(endless(OK "Transfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n") == -EFBIG);
	CHECK(endless(OK "Transfer-Encoding: chunked\r\n\r\n1\r\nx", "x") == -EFBIG);
}

static void an_answer_that_ends_early_is_not_complete(void)
{
	const char *text = OK "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
	size_t n;

	for (n = 0; n < strlen(text); n++) {
		AUTO_ANSWER a = {0};

		answer_init(&a, MAX);
		CHECK(answer_add(&a, sv_n(text, n)) == 0);
	}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_answer_with_a_length_is_read),
		CASE(chunks_are_put_together),
		CASE(no_body_where_there_can_be_none),
		CASE(it_does_not_matter_how_the_bytes_are_cut),
		CASE(byte_by_byte),
		CASE(what_is_not_an_answer_is_refused),
		CASE(a_nul_is_refused),
		CASE(what_is_too_long_is_refused_before_it_is_kept),
		CASE(nothing_grows_without_end),
		CASE(an_answer_that_ends_early_is_not_complete),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
