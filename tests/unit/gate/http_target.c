#include "check.h"
#include "draw.h"
#include "base/cleanup.h"
#include "http/target.h"

static const char *authority(const char *text, char out[300])
{
	struct http_authority a;
	const char *wrong = http_authority(sv_of(text), &a);

	if (wrong)
		return "refused";
	(void)snprintf(out, 300, a.v6 ? "[%s]:%u" : "%s:%u", a.host, (unsigned)a.port);
	return out;
}

static void an_authority_has_one_form(void)
{
	static const char *const cases[][2] = {
		{"pypi.org", "pypi.org:0"},
		{"PyPI.ORG:443", "pypi.org:443"},
		{"pypi.org.", "pypi.org:0"},
		{"pypi.org.:8080", "pypi.org:8080"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example:0"},
		{"my_host", "my_host:0"},
		{"127.0.0.1:65535", "127.0.0.1:65535"},
		{"[::1]", "[::1]:0"},
		{"[2001:DB8:0:0::1]:443", "[2001:db8::1]:443"},
		{"[::ffff:7f00:1]:1", "127.0.0.1:1"},
		{"[::FFFF:93.184.216.34]", "93.184.216.34:0"},
		{"[0:0:0:0:0:ffff:5db8:d822]", "93.184.216.34:0"},
		{"[64:ff9b::5db8:d822]", "[64:ff9b::5db8:d822]:0"},
	};
	char out[300];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_STR(authority(cases[i][0], out), cases[i][1]);
}

static void odd_authorities_are_refused(void)
{
	static const char *const cases[] = {
		"",
		".",
		"..",
		"a..b",
		".a",
		"a..",
		"a.b..",
		":80",
		"a:",
		"a:0",
		"a:00080",
		"a:080",
		"a:+80",
		"a: 80",
		"a:80 ",
		"a:65536",
		"a:99999999999",
		"a:80:80",
		"a:8x",
		"user@a",
		"user:pw@a",
		"a@b:80",
		"a b",
		" a",
		"a ",
		"a\tb",
		"a%2eb",
		"a%00",
		"b\xc3\xbc.example",
		"a/b",
		"a?b",
		"a#b",
		"a\\b",
		"*.a",
		"*",
		"-a",
		"a-",
		"a.-b",
		"a,b",
		"a;b",
		"[::1",
		"::1",
		"::1]",
		"[::1]x",
		"[::1]:",
		"[]",
		"[::1%25eth0]",
		"[::1%eth0]",
		"[v1.x]",
		"[127.0.0.1]",
		"[[::1]]",
		"[::1]80",
		"0x7f.1",
		"2130706433",
		"127.1",
		"0177.0.0.1",
		"127.0.0.01",
		"1.2.3.4.5",
		"a.0x10",
		"256.1.1.1",
		"127.0.0.0x1",
		"a.1",
		"0x",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b",
	};
	char out[300], longest[300];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		if (strcmp(authority(cases[i], out), "refused") != 0)
			printf("# accepted: %s\n", cases[i]);
		CHECK_STR(authority(cases[i], out), "refused");
	}
	for (i = 0; i < 254; i++)
		longest[i] = i % 2 ? '.' : 'a';
	longest[253] = '\0';
	CHECK(strcmp(authority(longest, out), "refused") != 0);
	memcpy(longest + 253, "bb", 3);
	CHECK_STR(authority(longest, out), "refused");
}

static void a_nul_ends_no_host(void)
{
	struct http_authority a;

	CHECK(http_authority(sv_n("pypi.org\0.evil", 14), &a) != NULL);
	CHECK(http_authority(sv_n("[::1\0]", 6), &a) != NULL);
	CHECK(http_authority(sv_n("a:8\0", 4), &a) != NULL);
}

static const char *path(const char *text, char out[300], bool *ambiguous)
{
	struct http_path p;

	if (http_path(sv_of(text), out, &p))
		return "refused";
	*ambiguous = p.ambiguous;
	out[p.text.n] = '\0';
	return out;
}

static void a_path_has_one_form(void)
{
	static const char *const cases[][2] = {
		{"/", "/"},
		{"/simple/requests/", "/simple/requests/"},
		{"/%41%7e%2D%5f", "/A~-_"},
		{"/a%20b%c3%bc", "/a%20b%C3%BC"},
		{"/a%3ab", "/a%3Ab"},
		{"/a.b/..c/...", "/a.b/..c/..."},
		{"/foo%2ebar", "/foo.bar"},
		{"/.well-known/x", "/.well-known/x"},
		{"/%2ewell-known", "/.well-known"},
		{"/a;b=1/c", "/a;b=1/c"},
		{"/100%25", "/100%25"},
		{"/%2541", "/%2541"},
		{"/a?b=/../%2e%2e/%2f\\..;x", "/a?b=/../../%2F\\..;x"},
		{"/a?", "/a?"},
		{"/a?b?c=[1]|{}", "/a?b?c=[1]|{}"},
		{"/a?%0a%61", "/a?%0Aa"},
		{"/v1/models/gemini:generate@x", "/v1/models/gemini:generate@x"},
		/* as fetch() sends them */
		{"/a[1].txt", "/a%5B1%5D.txt"},
		{"/a|b^c`d", "/a%7Cb%5Ec%60d"},
		{"/a<b>\"{c}", "/a%3Cb%3E%22%7Bc%7D"},
		{"/[a]?[b]=|^", "/%5Ba%5D?[b]=|^"},
		{"/a?%", "/a?%25"},
		{"/a?x=%zz&y=%4", "/a?x=%25zz&y=%254"},
		{"/a?%%41", "/a?%25A"},
		{"/a?%u002e", "/a?%25u002e"},
	};
	char out[300];
	bool odd = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK_STR(path(cases[i][0], out, &odd), cases[i][1]);
		CHECK(!odd);
		/* The canonical form of a canonical form is itself. */
		CHECK_STR(path(cases[i][1], out, &odd), cases[i][1]);
	}
}

static void how_much_a_path_grows_is_known_before(void)
{
	static const char alphabet[] = "a/%25[]|^?z.&4;";
	struct http_path p;
	char text[40], out[3 * sizeof(text)];
	unsigned round, n, i;

	for (round = 0; round < 20000; round++) {
		n = 1 + draw(sizeof(text) - 1);
		for (i = 0; i < n; i++)
			text[i] = alphabet[draw(sizeof(alphabet) - 1)];
		text[0] = '/';
		memset(out, '#', sizeof(out));
		if (http_path(sv_n(text, n), out, &p) == NULL) {
			CHECK(p.text.n <= n + http_target_growth(sv_n(text, n)) && http_target_growth(p.text) == 0);
		}
		CHECK(out[n + http_target_growth(sv_n(text, n))] == '#');
	}
}

static void paths_that_servers_read_differently_are_refused(void)
{
	static const char *const cases[] = {
		"",
		"a",
		"*",
		"/.",
		"/..",
		"/./",
		"/../",
		"/a/..",
		"/a/.",
		"/a/../b",
		"/a/./b",
		"/%2e",
		"/%2E%2e/",
		"/.%2e/b",
		"/%2e./b",
		"/a/%2e%2E?x",
		"/%252e%252e/",
		"/%252E",
		"/%252f",
		"/%25252e",
		"/%25%32e",
		"/%252%65",
		"/%25%32%65%25%32%65/",
		"/%25%35c",
		"/%255c",
		"/%2500",
		"/%250a",
		"/..;/a",
		"/a/..;x=1/b",
		"/.;/a",
		"/;/../x",
		"/..%3b/a",
		"/..%3Bx/a",
		"/a/%2e%2e;/",
		"/%2e%3b",
		"/a\\b",
		"/..\\b",
		"/a%5cb",
		"/a%5C..%5Cb",
		"/a%00",
		"/a%00.html",
		"/a?b=%00",
		"/a%0d%0aHost:x",
		"/a%1f",
		"/a%7f",
		"/a%09",
		"/a%2f..%2fb",
		"/a%2F.",
		"/..%2f",
		"/%2e%2e%2fb",
		"/a%2f..;x%2fb",
		"/a#b",
		"/a?b#c",
		"/#",
		"/%",
		"/%4",
		"/%zz",
		"/%4g",
		"/%u002e",
		"/a b",
		"/a\tb",
		"/a\rb",
		"/a\nb",
		"/\x7f",
		"/\xc3\xbc",
		"/a?\xff",
		"/a?b c",
		"/%c0%ae%c0%ae/",
		"/%c1%1c",
		"/%e0%80%ae",
		"/%f0%80%80%ae",
	};
	char out[300];
	bool odd;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		if (strcmp(path(cases[i], out, &odd), "refused") != 0)
			printf("# accepted: %s\n", cases[i]);
		CHECK_STR(path(cases[i], out, &odd), "refused");
	}
}

static void encoded_slashes_and_empty_segments_are_kept_and_told(void)
{
	static const char *const cases[][2] = {
		{"/@scope%2fname", "/@scope%2Fname"},
		{"/a//b", "/a//b"},
		{"//host/x", "//host/x"},
		{"/a//", "/a//"},
		{"/%2F", "/%2F"},
		{"/;x/b", "/;x/b"},
		{"/a/;/b", "/a/;/b"},
		{"/%3bx/b", "/%3Bx/b"},
	};
	char out[300];
	bool odd;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		odd = false;
		CHECK_STR(path(cases[i][0], out, &odd), cases[i][1]);
		CHECK(odd);
	}
}

static const char *target(const char *method, const char *text, char out[300])
{
	struct http_target t;
	char space[300];

	if (http_target(sv_of(method), sv_of(text), space, &t))
		return "refused";
	(void)snprintf(out, 300, "%d %s %s:%u %.*s", (int)t.form, t.tls ? "https" : "http", t.authority.host,
		       (unsigned)t.authority.port, (int)t.path.text.n, t.path.text.p);
	return out;
}

static void a_target_has_one_of_four_forms(void)
{
	static const char *const cases[][3] = {
		{"GET", "/a?b", "0 http :0 /a?b"},
		{"GET", "http://A.example/x%7ey?q", "1 http a.example:80 /x~y?q"},
		{"GET", "HTTPS://a.example", "1 https a.example:443 /"},
		{"OPTIONS", "http://a.example:81", "1 http a.example:81 *"},
		{"OPTIONS", "http://a.example/", "1 http a.example:80 /"},
		{"GET", "http://[::1]:8/", "1 http ::1:8 /"},
		{"CONNECT", "a.example:443", "2 http a.example:443 "},
		{"CONNECT", "[::1]:443", "2 http ::1:443 "},
		{"OPTIONS", "*", "3 http :0 *"},
		{"CONNECT", "a.example", "refused"},
		{"CONNECT", "a.example:0", "refused"},
		{"CONNECT", "http://a.example:443", "refused"},
		{"CONNECT", "a.example:443/", "refused"},
		{"CONNECT", "/a", "refused"},
		{"CONNECT", "user@a.example:443", "refused"},
		{"GET", "a.example:443", "refused"},
		{"GET", "*", "refused"},
		{"GET", "**", "refused"},
		{"GET", "", "refused"},
		{"GET", "ftp://a.example/", "refused"},
		{"GET", "http:/a.example/", "refused"},
		{"GET", "http:///x", "refused"},
		{"GET", "http://", "refused"},
		{"GET", "http://a.example#x", "refused"},
		{"GET", "http://a.example\\@b.example/", "refused"},
		{"GET", "http://b.example@a.example/", "refused"},
		{"GET", "http://a.example:80@b.example/", "refused"},
		{"GET", "http://a.example?x", "refused"},
		{"GET", "http://a.example/../x", "refused"},
	};
	char out[300];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_STR(target(cases[i][0], cases[i][1], out), cases[i][2]);
}

static void a_path_can_be_made_canonical_in_place(void)
{
	char text[] = "/%41%2fb%2ec?%7e";
	struct http_path p;

	CHECK(!http_path(sv_of(text), text, &p));
	CHECK(sv_is(p.text, "/A%2Fb.c?~"));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_authority_has_one_form),
		CASE(odd_authorities_are_refused),
		CASE(a_nul_ends_no_host),
		CASE(a_path_has_one_form),
		CASE(how_much_a_path_grows_is_known_before),
		CASE(paths_that_servers_read_differently_are_refused),
		CASE(encoded_slashes_and_empty_segments_are_kept_and_told),
		CASE(a_target_has_one_of_four_forms),
		CASE(a_path_can_be_made_canonical_in_place),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
