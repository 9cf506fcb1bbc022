#include <errno.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/coding.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "check.h"

static bool hit(const char *pattern, const char *path)
{
	struct glob g;
	bool r;

	if (glob_init(&g, sv_of(pattern)) < 0)
		return false;
	r = glob_hit(&g, sv_of(path));
	glob_done(&g);
	return r;
}

static bool on_way(const char *pattern, const char *path)
{
	struct glob g;
	bool r;

	if (glob_init(&g, sv_of(pattern)) < 0)
		return false;
	r = glob_on_way(&g, sv_of(path));
	glob_done(&g);
	return r;
}

static void a_floating_pattern_matches_at_any_depth(void)
{
	CHECK(hit("**/.env", "/.env"));
	CHECK(hit("**/.env", "/a/b/.env"));
	CHECK(hit("**/.env", "/a/.env/below"));
	CHECK(!hit("**/.env", "/a/.envrc"));
	CHECK(!hit("**/.env", "/a/x.env"));
	CHECK(hit("**/.git/hooks/**", "/w/.git/hooks"));
	CHECK(hit("**/.git/hooks/**", "/w/.git/hooks/pre-commit"));
	CHECK(!hit("**/.git/hooks/**", "/w/.git"));
	CHECK(!hit("**/.git/hooks/**", "/w/hooks"));
	CHECK(hit("**", "/anything/at/all"));
}

static void wildcards_stay_within_a_component(void)
{
	CHECK(hit("/usr/bin/g*", "/usr/bin/gcc"));
	CHECK(!hit("/usr/*/gcc", "/usr/local/bin/gcc"));
	CHECK(hit("/usr/**/gcc", "/usr/local/bin/gcc"));
	CHECK(hit("/usr/**/gcc", "/usr/gcc"));
	CHECK(hit("/a/[a-c]x", "/a/bx"));
	CHECK(!hit("/a/[!a-c]x", "/a/bx"));
	CHECK(hit("/a/*.pem", "/a/.pem"));
	CHECK(hit("/a/\\*", "/a/*"));
	CHECK(!hit("/a/\\*", "/a/b"));
	CHECK(hit("/a/*b*c", "/a/xxbyybzc"));
	CHECK(!hit("/a/*b*c", "/a/xxbyybz"));
}

static void a_prefix_of_a_denied_path_is_on_its_way(void)
{
	CHECK(on_way("**/.git/config", "/w/.git"));
	CHECK(!on_way("**/.git/config", "/w/src"));
	CHECK(!on_way("**/.env", "/w"));
	CHECK(on_way("/home/u/.ssh", "/home/u"));
	CHECK(!on_way("/home/u/.ssh", "/home/u/.ssh"));
	CHECK(!on_way("/home/u/.ssh", "/home/v"));
}

static void a_star_in_the_middle_reaches_all_below(void)
{
	struct glob g;

	CHECK(glob_init(&g, sv_of("**/.git/modules/**/config")) == 0);
	CHECK(glob_below_star(&g, sv_of("/w/.git/modules")));
	CHECK(glob_below_star(&g, sv_of("/w/.git/modules/a/b")));
	CHECK(!glob_below_star(&g, sv_of("/w/.git")));
	CHECK(!glob_below_star(&g, sv_of("/w/src/modules")));
	glob_done(&g);
	CHECK(glob_init(&g, sv_of("**/.env")) == 0);
	CHECK(!glob_below_star(&g, sv_of("/w/src")));
	glob_done(&g);
}

/* What the pattern says below the path, with blanks between. */
static const char *left(const char *pattern, const char *path, char out[256])
{
	struct sv rests[GLOB_MAX];
	unsigned i, n;
	struct glob g;
	int at = 0;

	out[0] = '\0';
	CHECK(glob_init(&g, sv_of(pattern)) == 0);
	n = glob_leaves(&g, sv_of(path), rests);
	for (i = 0; i < n; i++)
		at += snprintf(out + at, (size_t)(256 - at), "%s%.*s", i ? " " : "", (int)rests[i].n, rests[i].p);
	glob_done(&g);
	return out;
}

static void wildcards_behind_a_backslash_are_names(void)
{
	struct glob g;

	CHECK(glob_init(&g, sv_of("/w/t\\[1/\\*\\*/\\?")) == 0);
	CHECK(glob_hit(&g, sv_of("/w/t[1/**/?")) && !glob_hit(&g, sv_of("/w/t1/**/?")) &&
	      !glob_hit(&g, sv_of("/w/t[1/a/?")) && !glob_hit(&g, sv_of("/w/t[1/**/x")));
	glob_done(&g);
	CHECK(glob_init(&g, sv_of("/w/a\\\\b/[\\]c")) == 0 && glob_hit(&g, sv_of("/w/a\\b/\\c")));
	glob_done(&g);
}

static void a_pattern_leaves_what_holds_below_another_name(void)
{
	char out[256];

	CHECK_STR(left("/w/a/b", "/w", out), "a/b");
	CHECK_STR(left("/w/*/b/**", "/w/x", out), "b");
	CHECK_STR(left("/w/**/b", "/w/x/y", out), "**/b b");
	CHECK_STR(left("**/.git/config", "/w/.git", out), "config");
	CHECK_STR(left("**/.git/**/config", "/w/.git/x", out), "**/config config");
	CHECK_STR(left("**/.env", "/w/x", out), "");
	CHECK_STR(left("/w/a", "/v", out), "");
	CHECK_STR(left("/w/a", "/w/a/b", out), "");
}

static void bad_patterns_are_refused(void)
{
	static const char *const bad[] = {"", "a/b", "/a/../b", "/a//b", "/a/./b", "/a/**b", "/a/[x"};
	static const char *const stray[] = {"/a/b\\", "/a/back\\slash", "/a\\/b", "**/\\x", "/a/[x]\\]"};
	struct glob g;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(glob_init(&g, sv_of(bad[i])) == -EINVAL);
	for (i = 0; i < sizeof(stray) / sizeof(stray[0]); i++)
		CHECK(glob_init(&g, sv_of(stray[i])) == -EILSEQ);
}

static void sha256_gives_the_published_digests(void)
{
	char hex[SHA256_HEX], million[1000];
	unsigned char digest[SHA256_SIZE];
	struct sha256 s;
	int i;

	sha256_hex_of(sv_of(""), hex);
	CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_hex_of(sv_of("abc"), hex);
	CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_hex_of(sv_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), hex);
	CHECK_STR(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', sizeof(million));
	sha256_init(&s);
	for (i = 0; i < 1000; i++)
		sha256_add(&s, million, sizeof(million));
	sha256_done(&s, digest);
	sha256_hex(digest, hex);
	CHECK_STR(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void sha256_is_the_same_however_the_bytes_arrive(void)
{
	unsigned char text[1000], one[SHA256_SIZE], many[SHA256_SIZE];
	struct sha256 s;
	size_t n, at, step;

	for (at = 0; at < sizeof(text); at++)
		text[at] = (unsigned char)(at * 7 + at / 3);
	for (n = 0; n < sizeof(text); n += 13) {
		sha256_init(&s);
		sha256_add(&s, text, n);
		sha256_done(&s, one);
		sha256_init(&s);
		for (at = 0, step = 1; at < n; at += step, step = step % 97 + 1) {
			if (step > n - at)
				step = n - at;
			sha256_add(&s, text + at, step);
		}
		sha256_done(&s, many);
		CHECK(memcmp(one, many, sizeof(one)) == 0);
	}
}

static void untrusted_text_cannot_move_the_cursor(void)
{
	struct text_shown t;

	CHECK_STR(text_show(&t, sv_of("a\x1b[2Jb\n")), "a\\x1b[2Jb\\x0a");
	CHECK_STR(text_show(&t, sv_of("\xe2\x80\xae" "x")), "\\xe2\\x80\\xaex");
	CHECK_STR(text_show(&t, sv_of("\xff\xc0\x80")), "\\xff\\xc0\\x80");
	CHECK_STR(text_show(&t, sv_of("gr\xc3\xbc\xc3\x9f")), "gr\xc3\xbc\xc3\x9f");
}

static void invisible_characters_are_shown(void)
{
	static const char *const invisible[] = {
		"\xc2\x9b",     "\xc2\xad",         "\xd8\x9c",         "\xe1\x85\x9f",     "\xe1\x85\xa0",
		"\xe1\xa0\x8e", "\xe2\x80\x8b",     "\xe2\x80\xa8",     "\xe2\x81\xa0",     "\xe2\x81\xa4",
		"\xe2\x81\xaf", "\xe3\x85\xa4",     "\xef\xb8\x80",     "\xef\xb8\x8f",     "\xef\xbb\xbf",
		"\xef\xbe\xa0", "\xf3\xa0\x80\x80", "\xf3\xa0\x81\xbf", "\xf3\xa0\x84\x80",
	};
	static const char *const visible[] = {"\xc2\xa1",     "\xc2\xae",         "\xe3\x85\xa3",
					      "\xe2\x80\xa7", "\xe2\x81\xb0",     "\xef\xb8\x90",
					      "\xef\xbe\xa1", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbd"};
	struct text_shown t;
	size_t i;

	for (i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++) {
		(void)text_show(&t, sv_of(invisible[i]));
		CHECK(strlen(t.s) == 4 * strlen(invisible[i]) && t.s[0] == '\\');
	}
	for (i = 0; i < sizeof(visible) / sizeof(visible[0]); i++)
		CHECK_STR(text_show(&t, sv_of(visible[i])), visible[i]);
}

static void emoji_are_shown_as_they_are(void)
{
	static const char *const whole[] =
		{
			"\xe2\x9d\xa4\xef\xb8\x8f",                                     /* 2764 FE0F */
			"\xe2\x9a\xa0\xef\xb8\x8f\x2e\x6d\x64",                         /* 26A0 FE0F 002E 006D 0064 */
			"\x31\xef\xb8\x8f\xe2\x83\xa3",                                 /* 0031 FE0F 20E3 */
			"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",                 /* 1F469 200D 1F4BB */
			"\xf0\x9f\x91\xa8\xf0\x9f\x8f\xbd\xe2\x80\x8d\xf0\x9f\x9a\x80", /* 1F468 1F3FD 200D 1F680 */
			"\xf0\x9f\xa7\x91\xe2\x80\x8d\xe2\x9a\x95\xef\xb8\x8f",         /* 1F9D1 200D 2695 FE0F */
			"\xf0\x9f\x8f\xb3\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x8c\x88",     /* 1F3F3 FE0F 200D 1F308 */
			"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7\xe2\x80\x8d\xf0\x9f"
			"\x91\xa6", /* 1F468 200D 1F469 200D 1F467 200D 1F466 */
			"\xf0\x9f\xa4\xb7\xf0\x9f\x8f\xbf\xe2\x80\x8d\xe2\x99\x80\xef\xb8\x8f", /* 1F937 1F3FF 200D 2640
												   FE0F */
			"\xf0\x9f\x90\xbb\xe2\x80\x8d\xe2\x9d\x84\xef\xb8\x8f", /* 1F43B 200D 2744 FE0F */
			"\xf0\x9f\x91\xa9\xe2\x80\x8d\xe2\x9d\xa4\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x92\x8b\xe2\x80\x8d"
			"\xf0\x9f\x91\xa8",             /* 1F469 200D 2764 FE0F 200D 1F48B 200D 1F468 */
			"\xf0\x9f\x97\x91\xef\xb8\x8f", /* 1F5D1 FE0F */
		};
	struct text_shown t;
	size_t i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		CHECK_STR(text_show(&t, sv_of(whole[i])), whole[i]);
}

static void what_changes_no_emoji_is_shown(void)
{
	static const char *const hidden[][2] = {
		/* what is put in, and what of it is seen before the first that is escaped */
		{"\x61\xef\xb8\x8f", "\x61"},                                         /* 0061 FE0F */
		{"\xf0\x9f\x98\x80\xef\xb8\x8f", "\xf0\x9f\x98\x80"},                 /* 1F600 FE0F */
		{"\xe2\x9d\xa4\xef\xb8\x8f\xef\xb8\x8f", "\xe2\x9d\xa4\xef\xb8\x8f"}, /* 2764 FE0F FE0F */
		{"\xef\xb8\x8f", ""},                                                 /* FE0F */
		{"\x31\xef\xb8\x8f", "\x31"},                                         /* 0031 FE0F */
		{"\x61\xe2\x80\x8d\x62", "\x61"},                                     /* 0061 200D 0062 */
		{"\xf0\x9f\x98\x80\xe2\x80\x8d\xf0\x9f\x92\xbb", "\xf0\x9f\x98\x80"}, /* 1F600 200D 1F4BB */
		{"\xf0\x9f\x91\xa9\xe2\x80\x8d", "\xf0\x9f\x91\xa9"},                 /* 1F469 200D */
		{"\xf0\x9f\x91\xa9\xe2\x80\x8d\x61", "\xf0\x9f\x91\xa9"},             /* 1F469 200D 0061 */
		{"\xf0\x9f\x91\xa9\xe2\x80\x8d\xe2\x80\x8d\xf0\x9f\x92\xbb",
		 "\xf0\x9f\x91\xa9"},                         /* 1F469 200D 200D 1F4BB */
		{"\xe2\x80\x8d\xf0\x9f\x92\xbb", ""},         /* 200D 1F4BB */
		{"\xe2\x9d\xa4\xef\xb8\x8e", "\xe2\x9d\xa4"}, /* 2764 FE0E */
	};
	struct text_shown t;
	size_t i, n;

	for (i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		n = strlen(hidden[i][1]);
		(void)text_show(&t, sv_of(hidden[i][0]));
		CHECK(strncmp(t.s, hidden[i][1], n) == 0 && strncmp(t.s + n, "\\xe", 3) == 0);
	}
}

static void a_slip_is_guessed_and_nonsense_is_not(void)
{
	static const char *const keys[] = {"filesystem", "network", "process", "inference", NULL};
	static const char *const shells[] = {"bash", "zsh", NULL};

	CHECK_STR(text_nearest(sv_of("netwrok"), keys), "network");
	CHECK_STR(text_nearest(sv_of("file_system"), keys), "filesystem");
	CHECK(text_nearest(sv_of("banana"), keys) == NULL);
	CHECK(text_nearest(sv_of("tcsh"), shells) == NULL);
	CHECK_STR(text_nearest(sv_of("bsah"), shells), "bash");
}

static void json_is_escaped_and_has_its_commas(void)
{
	AUTO_BUF b;
	struct json j;

	buf_init(&b, 1000);
	json_init(&j, &b);
	json_open(&j);
	json_kstr(&j, "a", "x\"\\\n\x01\xff");
	json_key(&j, "b");
	json_list(&j);
	json_int(&j, -1);
	json_bool(&j, true);
	json_none(&j);
	json_end(&j);
	json_close(&j);
	CHECK_STR(b.p, "{\"a\":\"x\\\"\\\\\\n\\u0001\\ufffd\",\"b\":[-1,true,null]}");
	buf_clear(&b);
	json_init(&j, &b);
	json_str(&j, "\xc2\x9b" "2J\u202e\u2028\u061c\u2066 \u00e9 \u200b \U0001f469\u200d\U0001f4bb");
	CHECK_STR(b.p, "\"\\u009b2J\\u202e\\u2028\\u061c\\u2066 \u00e9 \u200b \U0001f469\u200d\U0001f4bb\"");
	buf_clear(&b);
	json_tame(&b, sv_of("[\"\xc2\x9bx\u202e\\n\u00e9\xff\"]\n"));
	CHECK_STR(b.p, "[\"\\u009bx\\u202e\\n\u00e9\xff\"]\n");
}

static void a_buffer_never_passes_its_maximum(void)
{
	AUTO_BUF b;

	buf_init(&b, 4);
	CHECK(buf_str(&b, "abcd") == 0);
	CHECK(buf_char(&b, 'e') == -EFBIG);
	CHECK(buf_failed(&b) == -EFBIG);
	CHECK_STR(b.p, "abcd");
}

static void errors_carry_their_context_in_front(void)
{
	struct error err = {0};

	CHECK(error_sys(&err, -ENOENT, "open %s", "x") == -1);
	CHECK(error_prefix(&err, "policy") == -1);
	CHECK_STR(err.text, "policy: open x: No such file or directory");
	CHECK(err.code == ENOENT);
}

static void an_error_cannot_move_a_cursor_or_fake_a_line(void)
{
	struct error err = {0};

	CHECK(error_set(&err, ERROR_INPUT, "%s: no", "a\033[2K\r\ncordon: all is well") == -1);
	CHECK_STR(err.text, "a\\x1b[2K\\x0d\\x0acordon: all is well: no");
	CHECK(error_prefix(&err, "%s", "\xe2\x80\xae") == -1);
	CHECK_STR(err.text, "\\xe2\\x80\\xae: a\\x1b[2K\\x0d\\x0acordon: all is well: no");
	CHECK(error_sys(&err, ENOENT, "%s", "\a\xc3\xa9") == -1);
	CHECK_STR(err.text, "\\x07\xc3\xa9: No such file or directory");
}

static void base64_gives_the_published_texts(void)
{
	static const char *const rows[][2] = {{"", ""},
					      {"f", "Zg=="},
					      {"fo", "Zm8="},
					      {"foo", "Zm9v"},
					      {"foob", "Zm9vYg=="},
					      {"fooba", "Zm9vYmE="},
					      {"foobar", "Zm9vYmFy"}}; /* RFC 4648, 10 */
	char to[16];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(to, 0, sizeof(to));
		base64_put(sv_of(rows[i][0]), base64_standard, to);
		CHECK_STR(to, rows[i][1]);
		CHECK(strlen(to) == BASE64_SIZE(strlen(rows[i][0])));
	}
	memset(to, 0, sizeof(to));
	base64_put(sv_n("\xfb\xff\xfe", 3), base64_standard, to);
	CHECK_STR(to, "+//+");
	base64_put(sv_n("\xfb\xff\xfe", 3), base64_url, to);
	CHECK_STR(to, "-__-");
}

static void hexadecimal_digits_are_those_and_no_others(void)
{
	char to[5] = "";
	int c, n = 0;

	for (c = -128; c < 128; c++)
		n += hex_value((char)c) >= 0;
	CHECK(n == 22);
	CHECK(hex_value('0') == 0 && hex_value('9') == 9 && hex_value('a') == 10 && hex_value('F') == 15);
	CHECK(hex_byte('f', 'E') == 0xfe && hex_byte('0', 'g') == -1 && hex_byte('@', '0') == -1 &&
	      hex_byte('\0', '0') == -1);
	hex_put(sv_n("\x0a\xff", 2), hex_upper, to);
	CHECK_STR(to, "0AFF");
}

static void an_arena_that_was_reset_is_as_new(void)
{
	static const size_t sizes[] = {1, 500, 1500, 100000};
	struct arena *a = arena_new();
	size_t i, k;
	char *p;

	CHECK(a != NULL);
	for (i = 0; a && i < 4 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i % 4];

		p = arena_alloc(a, n);
		CHECK(p != NULL);
		for (k = 0; p && k < n && p[k] == 0; k++)
			p[k] = 'x';
		CHECK(k == n);
		if (i % 3 == 2)
			arena_reset(a);
	}
	CHECK(!arena_alloc(a, SIZE_MAX) && arena_failed(a));
	arena_reset(a);
	CHECK(!arena_failed(a));
	arena_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_arena_that_was_reset_is_as_new),
		CASE(a_floating_pattern_matches_at_any_depth),
		CASE(wildcards_stay_within_a_component),
		CASE(a_prefix_of_a_denied_path_is_on_its_way),
		CASE(a_star_in_the_middle_reaches_all_below),
		CASE(wildcards_behind_a_backslash_are_names),
		CASE(a_pattern_leaves_what_holds_below_another_name),
		CASE(bad_patterns_are_refused),
		CASE(base64_gives_the_published_texts),
		CASE(hexadecimal_digits_are_those_and_no_others),
		CASE(sha256_gives_the_published_digests),
		CASE(sha256_is_the_same_however_the_bytes_arrive),
		CASE(untrusted_text_cannot_move_the_cursor),
		CASE(invisible_characters_are_shown),
		CASE(emoji_are_shown_as_they_are),
		CASE(what_changes_no_emoji_is_shown),
		CASE(a_slip_is_guessed_and_nonsense_is_not),
		CASE(json_is_escaped_and_has_its_commas),
		CASE(a_buffer_never_passes_its_maximum),
		CASE(errors_carry_their_context_in_front),
		CASE(an_error_cannot_move_a_cursor_or_fake_a_line),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
