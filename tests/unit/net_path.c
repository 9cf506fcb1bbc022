#include "base/buf.h"
#include "base/cleanup.h"
#include "net_world.h"

static bool ask(const struct world *w, const char *host, uint16_t port, const char *method, const char *target)
{
	struct net_request request = get(host, port, method, target);
	struct net_verdict v;

	net_rules_request(w->rules, &request, &v);
	return v.allow;
}

static void odd_paths_fit_no_list_of_paths(void)
{
	static const char *const odd[] = {
		"/a/..%2fb", "/a/%2Fb",     "/a/%2e%2e/b", "/a/../b",    "/a/./b",  "/a//b",
		"/a/..;/b",  "/a/..;x=1/b", "/a/\\b",      "/a/%5Cb",    "/a/%00",  "/a/%252e",
		"/a/%252F",  "/a/%255c",    "/a/%61",      "/a/%c3%a9",  "/a/%",    "/a/%4",
		"/a/%zz",    "a/b",         "*",           "",           "/a/b#c",  "/a/\x01",
		"/a/\xff",   "/a/.",        "/a/..",       "/a/b;c=d",   "/a;/b",   "/a/b;",
		"/a/b%3B.c", "/a/b%3b.c",   "/a/%253B",    "/a/..%20/b", "/a/.%20", "/a/..%20.%20/b"};
	static const char *const plain[] = {"/a/",    "/a/b",     "/a/b?x=/../%2f", "/a/%C3%A9", "/a/%20", "/a/.b",
					    "/a/...", "/a/b,c=d", "/a/%25",         "/a/%2520",  "/a/b/"};
	struct world w = make("network: {mode: allowlist, allow: [{host: p.test, paths: [\"/a/**\"]}, {host: d.test}, "
			      "{host: o.test}],\n"
			      "  deny: [{host: d.test, paths: [\"/secret/**\"]}]}");
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (ask(&w, "p.test", 443, "GET", odd[i]) || ask(&w, "d.test", 443, "GET", odd[i]) ||
		    !ask(&w, "o.test", 443, "GET", odd[i])) {
			printf("# %s\n", odd[i]);
			CHECK(false);
		}
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!ask(&w, "p.test", 443, "GET", plain[i]) || !ask(&w, "d.test", 443, "GET", plain[i])) {
			printf("# %s\n", plain[i]);
			CHECK(false);
		}
	CHECK(!ask(&w, "p.test", 443, "GET", "/a") && !ask(&w, "p.test", 443, "GET", "/ab/c") &&
	      !ask(&w, "d.test", 443, "GET", "/secret/x"));
	unmake(&w);
}

static void check_each(struct world *w, const char *host, const char *const *paths, size_t n, bool allowed)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ask(w, host, 443, "GET", paths[i]) != allowed) {
			printf("# %s %s\n", host, paths[i]);
			CHECK(false);
		}
}

static void a_denial_holds_however_its_path_is_encoded(void)
{
	static const char *const denied[] = {
		"/@evil/x",
		"/%40evil/x",
		"/%2540evil/x",
		"/%40EVIL/",
		"/%40evil",
		"/v1/p:setIamPolicy",
		"/v1/p%3AsetIamPolicy",
		"/v1/p%253AsetIamPolicy",
		"/v1/p%3Asetiampolicy%20",
		"/a+b",
		"/a%2Bb",
		"/A%2BB/",
		"/a%252Bb",
		"/a%20b",
		"/a%2520b",
		"/x(1)",
		"/x%281%29",
		"/x%28%31%29",
		"/x(1%29",
		"/y,z",
		"/y%2Cz",
		"/k=v",
		"/k%3Dv",
		"/q!$&'",
		"/q%21%24%26%27",
		/* who has it encoded in the policy means the same */
		"/enc@x",
		"/enc%40x",
		"/ENC%2540x",
		"/b%20c",
		"/b+c",
		"/st*r",
		"/st%2Ar",
		"/pre%5Bx",
		"/pre[x",
		"/ad*n/x",
		"/ad%2An/x",
		"/ad%20n/x",
		/* decoded first, a path may end before what looks like its end */
		"/admin%3Fx",
		"/admin%23x",
		"/ADMIN.%3Fx",
		"/admin/%3Fx",
		"/x/@evil%3F/@good",
		"/admin%20%23",
		/* what is folded in the path is folded in the pattern */
		"/v1./x",
		"/V1./x",
		"/v1/x",
		"/v1%2E./x",
		"/t*./",
		"/tail.",
		"/Tail..",
		"/x%253A%2524data",
	};
	static const char *const fine[] = {
		"/evil/x",
		"/%40good/x",
		"/@evilx",
		"/v1/p%3AgetIamPolicy",
		"/v1/p%3AsetIamPolicyX",
		"/a%2B%2Bb",
		"/x%282%29",
		"/key%2Bone%40two%3D3",
		"/100%25",
		"/c%23/x",
		"/what%3F",
		"/st%2Axr",
		"/star",
		"/adm%23in",
		"/v2./x",
		"/ta",
		"/tai",
		"/r%C3%A9sum%C3%A9%20(1)%2B%2B.pdf",
		"/libstdc++",
		"/libstdc%2B%2B",
	};
	struct world w =
		make("network: {mode: allowlist, allow: [{host: d.test}],\n"
		     "  deny: [{host: d.test, paths: [\"/@evil/**\", \"/x/@evil\", \"/**/*:setIamPolicy\", \"/a+b\", "
		     "\"/x(1)\", \"/y,z\", \"/k=v\", \"/q!$&'\", \"/enc%40x\", \"/b%20c\",\n"
		     "    \"/st%2Ar\", \"/pre%5Bx\", \"/ad*n/x\", \"/admin\", \"/v1./x\", \"/t*.\", \"/libstdc\"]}]}");

	check_each(&w, "d.test", denied, ARRAY_LEN(denied), false);
	check_each(&w, "d.test", fine, ARRAY_LEN(fine), true);
	unmake(&w);
}

static void an_allowed_path_is_one_however_it_is_decoded(void)
{
	static const char *const allowed[] = {"/k/a%2Bb",   "/k/a+b",       "/k/%40x%3Ay%2Cz", "/k/c%23",
					      "/k/what%3F", "/k/100%25",    "/k/a%2540b",      "/plus%2Bone",
					      "/q%3Fx",     "/t/a%20b.txt", "/t/%C3%A9.txt",   "/t/a%25.txt"};
	static const char *const not [] = {"/plus+one",        "/plus%252Bone", "/%6B/x", "/t/secret%3F.txt",
					   "/t/secret%23.txt", "/q%3Fy",        "/q",     "/z/a%20",
					   "/z/a%2520"};
	struct world w = make("network: {mode: allowlist, allow: [{host: p.test, paths: [\"/k/**\", \"/plus%2Bone\", "
			      "\"/q%3Fx\", \"/t/*.txt\", \"/z/*0\"]}]}");

	check_each(&w, "p.test", allowed, ARRAY_LEN(allowed), true);
	check_each(&w, "p.test", not, ARRAY_LEN(not), false);
	CHECK(ask(&w, "p.test", 443, "GET", "/z/a0"));
	unmake(&w);
}

static void a_denial_holds_for_what_a_server_may_take_for_its_path(void)
{
	static const char *const denied[] = {"/secret",
					     "/SECRET",
					     "/Secret/",
					     "/secret.",
					     "/secret%20",
					     "/secret.%20.",
					     "/secret/?x",
					     "/admin/x",
					     "/ADMIN/x/",
					     "/admin./x",
					     "/admin%20/x",
					     "/Admin/",
					     "/Mixed/case",
					     "/mixed/Case",
					     "/mixed/case/",
					     "/mixed%20/case",
					     "/x/deep/y.KEY",
					     "/x/deep/y.key/",
					     "/x/deep/y.key./",
					     "/a;/b",
					     "/admin",
					     "/ADMIN.",
					     "/admin%20",
					     "/(S(abc))/admin/x",
					     "/x/(f(abc))/y",
					     "/%28A(x))/admin",
					     "/admin::$INDEX_ALLOCATION/x",
					     "/x:$I30:$INDEX_ALLOCATION/y",
					     "/x%3A%24data",
					     "/ADMINI~1/x",
					     "/secre~12.txt",
					     "/a/b~1"};
	static const char *const fine[] = {"/",
					   "/secrets",
					   "/secret/x",
					   "/.secret",
					   "/%20secret",
					   "/administrator",
					   "/administrator/x",
					   "/mixed/case/x",
					   "/x/deep/y.keys",
					   "/v1/x:get",
					   "/a::b",
					   "/(x)",
					   "/x(S(y))",
					   "/pool/libfoo_1.0~1-2_amd64.deb",
					   "/~user/x",
					   "/~1",
					   "/a~b",
					   "/a~"};
	struct world w =
		make("network: {mode: allowlist, allow: [{host: d.test}],\n"
		     "  deny: [{host: d.test, paths: [\"/secret\", \"/admin/**\", \"/Mixed/Case\", \"/**/*.key\"]}]}");
	AUTO_BUF path = {0};
	size_t i;

	for (i = 0; i < sizeof(denied) / sizeof(denied[0]); i++)
		if (ask(&w, "d.test", 443, "GET", denied[i])) {
			printf("# %s\n", denied[i]);
			CHECK(false);
		}
	for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		if (!ask(&w, "d.test", 443, "GET", fine[i])) {
			printf("# %s\n", fine[i]);
			CHECK(false);
		}
	buf_init(&path, 1 << 20);
	for (i = 0; i < NET_PATH_FOLDED / 2; i++)
		(void)buf_str(&path, "/x");
	CHECK(ask(&w, "d.test", 443, "GET", path.p));
	(void)buf_str(&path, "/");
	CHECK(!ask(&w, "d.test", 443, "GET", path.p));
	unmake(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(odd_paths_fit_no_list_of_paths),
		CASE(a_denial_holds_for_what_a_server_may_take_for_its_path),
		CASE(a_denial_holds_however_its_path_is_encoded),
		CASE(an_allowed_path_is_one_however_it_is_decoded),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
