#include "base/json_scan.h"

#include <errno.h>

#include "check.h"

static int scan(struct json_scan *s, struct buf *b, struct sv text)
{
	struct scan_error e;

	buf_clear(b);
	(void)buf_sv(b, text);
	return json_scan_read(s, b, &e);
}

static void canonical_text_is_what_json_means(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{" { \"a\" : [ 1 , 2.50 , -0 , 1E+2 ] } ", "{\"a\":[1,2.50,-0,1E+2]}"},
		{"{\"\\u006dodel\":\"\\u0061\"}", "{\"model\":\"a\"}"},
		{"\"\\ud83d\\ude00 \\u00e9 \\/ \\\" \\\\ \\n \\u000A \\u0001 \\u007f\"",
		 "\"\xf0\x9f\x98\x80 \xc3\xa9 / \\\" \\\\ \\n \\n \\u0001 \x7f\""},
		{"\t\r\n[]\n", "[]"},
		{"{}", "{}"},
		{"[[],{},[{}]]", "[[],{},[{}]]"},
		{"null", "null"},
		{"[true,false,null,\"\"]", "[true,false,null,\"\"]"},
		{"\"\\u0000\"", "\"\\u0000\""},
		{"-9223372036854775808", "-9223372036854775808"},
		{"0.1234567890123456789012345678901234567890", "0.1234567890123456789012345678901234567890"},
		{"{\"a\":1,\"A\":2}", "{\"a\":1,\"A\":2}"},
	};
	AUTO_BUF b = {0};
	size_t i;

	buf_init(&b, 4096);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO_SCAN s = {0};

		CHECK(scan(&s, &b, sv_of(cases[i].in)) == 0);
		CHECK_STR(b.p, cases[i].out);
	}
}

static void what_parsers_differ_about_is_refused(void)
{
	static const char *const cases[] = {
		"",
		" ",
		"{",
		"[1",
		"[1,]",
		"{\"a\":1,}",
		"{,}",
		"[,]",
		"{\"a\"}",
		"{\"a\":}",
		"{a:1}",
		"{'a':1}",
		"[1 2]",
		"{\"a\":1 \"b\":2}",
		"]",
		"}",
		"[}",
		"{]",
		/* duplicates, in any spelling and at any depth */
		"{\"a\":1,\"a\":2}",
		"{\"a\":1,\"\\u0061\":2}",
		"[{\"x\":{\"\\u00e9\":1,\"\xc3\xa9\":2}}]",
		"{\"\":1,\"\":2}",
		"{\"/\":1,\"\\/\":2}",
		"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10,\"c\":11}",
		/* numbers */
		"NaN",
		"Infinity",
		"-Infinity",
		"+1",
		"01",
		"-",
		"1.",
		".5",
		"1e",
		"1e+",
		"0x10",
		"1e999",
		"-1e999",
		"9223372036854775808",
		"-9223372036854775809",
		"12345678901234567890123456789012345678901234567890123456789012345",
		"1_000",
		"--1",
		/* strings */
		"\"\xff\"",
		"\"\xc0\xaf\"",
		"\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"",
		"\"\xe2\x82\"",
		"\"\\ud800\"",
		"\"\\udc00\"",
		"\"\\ud800\\ud800\"",
		"\"\\ud800x\"",
		"\"\\ud83d\\n\"",
		"\"\n\"",
		"\"\t\"",
		"\"\\x41\"",
		"\"\\u00g0\"",
		"\"\\u12\"",
		"\"\\'\"",
		"\"a",
		"\"\\",
		"\"\\u",
		"{\"a\\u0000b\":1}",
		/* around it */
		"\xef\xbb\xbf{}",
		"{} {}",
		"{}x",
		"[]]",
		"// c\n{}",
		"/**/{}",
		"{}\v",
		"\f{}",
		"\xc2\xa0{}",
		"truefalse",
		"True",
		"nul",
		"undefined",
	};
	AUTO_BUF b = {0};
	size_t i;

	buf_init(&b, 4096);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_scan s;
		int r = scan(&s, &b, sv_of(cases[i]));

		if (r != -EINVAL)
			printf("# accepted: %s\n", cases[i]);
		CHECK(r == -EINVAL && s.v == NULL);
	}
	{
		struct json_scan s;

		CHECK(scan(&s, &b, sv_n("{}\0", 3)) == -EINVAL);
		CHECK(scan(&s, &b, sv_n("\"a\0b\"", 5)) == -EINVAL);
	}
}

static void a_bad_byte_is_seen_at_every_place(void)
{
	static const char bad[] = "\x01\x1f\x80\xff\"\\", fine[] = " !#[]^~\x7f";
	AUTO_BUF b = {0};
	char text[27];
	size_t at, i;

	buf_init(&b, 64);
	for (at = 1; at < 25; at++)
		for (i = 0; i < sizeof(bad) + sizeof(fine) - 1; i++) {
			bool is_bad = i < sizeof(bad);
			AUTO_SCAN s = {0};

			memset(text, 'a', sizeof(text));
			text[0] = text[26] = '"';
			text[at] = is_bad ? bad[i] : fine[i - sizeof(bad)];
			CHECK(scan(&s, &b, sv_n(text, sizeof(text))) == (is_bad ? -EINVAL : 0));
		}
}

static void repeat(struct buf *b, const char *text, size_t n)
{
	while (n--)
		(void)buf_str(b, text);
}

static void size_depth_and_number_of_values_are_bounded(void)
{
	AUTO_BUF b = {0};
	struct scan_error e;
	struct json_scan s;

	buf_init(&b, 64 << 20);
	repeat(&b, "[", SCAN_MAX_DEPTH);
	repeat(&b, "]", SCAN_MAX_DEPTH);
	CHECK(json_scan_read(&s, &b, &e) == 0 && s.n == SCAN_MAX_DEPTH);
	json_scan_done(&s);
	buf_clear(&b);
	repeat(&b, "[", SCAN_MAX_DEPTH + 1);
	repeat(&b, "]", SCAN_MAX_DEPTH + 1);
	CHECK(json_scan_read(&s, &b, &e) == -EFBIG);
	buf_clear(&b);
	repeat(&b, "[1", 1);
	repeat(&b, ",1", SCAN_MAX_NODES);
	repeat(&b, "]", 1);
	CHECK(json_scan_read(&s, &b, &e) == -EFBIG);
	buf_clear(&b);
	repeat(&b, " ", SCAN_MAX_BYTES);
	repeat(&b, "1", 1);
	CHECK(json_scan_read(&s, &b, &e) == -EFBIG);
}

static void many_keys_are_compared_in_time(void)
{
	AUTO_BUF b = {0};
	AUTO_SCAN s = {0};
	struct scan_error e;
	int i;

	buf_init(&b, 32 << 20);
	(void)buf_str(&b, "{\"k\":0");
	for (i = 0; i < 300000; i++)
		(void)buf_printf(&b, ",\"k%d\":0", i);
	(void)buf_str(&b, ",\"k299999\":1}");
	CHECK(json_scan_read(&s, &b, &e) == -EINVAL);
	CHECK_STR(e.why, "has a key twice in one object");
}

static void members_and_elements_are_found(void)
{
	AUTO_BUF b = {0}, text = {0};
	AUTO_SCAN s = {0};
	uint32_t list, i, n = 0;

	buf_init(&b, 4096);
	buf_init(&text, 4096);
	CHECK(scan(&s, &b, sv_of("{\"a\":{\"b\":[1,[2],{\"c\":3}]},\"d\":\"x\\u0000\\n\\\"\\\\\\u001f\xc3\xa9\"}")) ==
	      0);
	list = json_scan_get(&s, json_scan_get(&s, 0, "a"), "b");
	CHECK(list && json_scan_kind(&s, list) == SCAN_ARRAY && sv_is(json_scan_text(&s, list), "[1,[2],{\"c\":3}]"));
	for (i = json_scan_first(&s, list); i; i = json_scan_after(&s, list, i))
		n++;
	CHECK(n == 3);
	CHECK(json_scan_get(&s, 0, "b") == 0 && json_scan_get(&s, list, "c") == 0);
	json_scan_decode(&s, json_scan_get(&s, 0, "d"), &text);
	CHECK(sv_eq(buf_view(&text), sv_n("x\0\n\"\\\x1f\xc3\xa9", 8)));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(canonical_text_is_what_json_means),
		CASE(what_parsers_differ_about_is_refused),
		CASE(a_bad_byte_is_seen_at_every_place),
		CASE(size_depth_and_number_of_values_are_bounded),
		CASE(many_keys_are_compared_in_time),
		CASE(members_and_elements_are_found),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
