#include "base/cleanup.h"
#include "net_world.h"
#include "policy/net_recent.h"

static bool same_verdict(const struct net_verdict *a, const struct net_verdict *b)
{
	return a->allow == b->allow && a->why == b->why && a->found.denies == b->found.denies &&
	       a->found.fits == b->found.fits && a->found.fit == b->found.fit &&
	       a->found.provider == b->found.provider && a->body == b->body && a->ask == b->ask &&
	       a->found.keyed == b->found.keyed && a->rate == b->rate && a->budget == b->budget && a->next == b->next;
}

/* Many of them differ in one thing only, and many share a place. */
static struct net_request question_of(unsigned i)
{
	static const char *const hosts[] = {"a.test", "b.test"}, *const methods[] = {"GET", "PUT"};
	static const char *const targets[] = {"/a/x", "/b/x", "/a/x?_method=PUT", "/a/%2e"};
	struct net_request q = get(hosts[i % 2], i / 2 % 2 ? 443 : 80, methods[i / 4 % 2], targets[i / 8 % 4]);

	q.asks.override = i / 32 % 2;
	q.asks.rewrite = i / 64 % 2;
	q.from = i / 128 % 3;
	q.asks.rehost = i / 384 % 2;
	return q;
}

static void what_is_remembered_is_what_would_be_judged(void)
{
	struct world w = make("network:\n"
			      "  mode: allowlist\n"
			      "  allow:\n"
			      "    - {host: a.test, ports: [443], methods: [GET], paths: [\"/a/**\"], credential: k}\n"
			      "    - {host: a.test, paths: [\"/b/**\"]}\n"
			      "    - {host: \"*.test\", methods: [PUT], rate: 1/m}\n"
			      "  deny: [{host: b.test, ports: [80], methods: [GET]}, {cidr: 9.0.0.0/8}]\n");
	static const char *const addresses[] = {"9.9.9.9", "8.8.8.8", "127.0.0.1"};
	struct net_recent *recent = net_recent_new(w.rules);
	struct net_verdict judged, remembered;
	struct address a;
	unsigned i, again, k, seed = 1;

	for (i = 0; recent && i < 20000; i++) {
		struct net_request q = question_of(seed / 65536);

		for (again = 0; again < 2; again++) {
			net_rules_request(w.rules, &q, &judged);
			net_recent_request(recent, &q, &remembered);
			CHECK(same_verdict(&judged, &remembered));
			for (k = 0; k < 2 * ARRAY_LEN(addresses); k++) {
				CHECK(address_parse(sv_of(addresses[k / 2]), &a));
				net_rules_address(w.rules, &a, &q, k % 2, &judged);
				net_recent_address(recent, &a, &q, k % 2, &remembered);
				CHECK(same_verdict(&judged, &remembered));
			}
		}
		seed = seed * 1103515245 + 12345;
	}
	CHECK(recent != NULL);
	net_recent_free(recent);
	unmake(&w);
}

static void what_is_too_long_to_be_remembered_is_judged(void)
{
	struct world w = make("network:\n  mode: allowlist\n  allow: [{host: a.test, paths: [\"/*/ok\"]}]\n");
	struct net_recent *recent = net_recent_new(w.rules);
	struct net_verdict v;
	char path[2 * NET_RECENT_TEXT];
	size_t n;

	for (n = 5; recent && n < sizeof(path); n++) {
		struct net_request q = get("a.test", 443, "GET", "");

		memset(path, 'x', n);
		path[0] = '/';
		memcpy(path + n - 3, "/ok", 3);
		q.target = sv_n(path, n);
		net_recent_request(recent, &q, &v);
		CHECK(v.allow);
		path[n - 1] = 'K';
		net_recent_request(recent, &q, &v);
		CHECK(!v.allow);
	}
	net_recent_free(recent);
	unmake(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_is_remembered_is_what_would_be_judged),
		CASE(what_is_too_long_to_be_remembered_is_judged),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
