/* What is refused before it connects is never something that the judge would allow; and what it is worth: that the rest
 * is. */
#include "model/reach.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "draw.h"
#include "policy/net_rules.h"
#include "policy_memory.h"

enum { DRAWN = 20000 };

static bool in_row(const struct redirect_row *r, const struct address *a, uint16_t port)
{
	const uint8_t *b = a->b + (a->is4 ? 12 : 0);
	unsigned i;

	if (r->v6 == a->is4 || (r->port && r->port != port))
		return false;
	for (i = 0; i < r->bits; i++)
		if ((b[i / 8] ^ r->address[i / 8]) & (0x80 >> i % 8))
			return false;
	return true;
}

/* As the kernel reads it. */
static bool is_refused(const struct redirect *what, const struct address *a, uint16_t port)
{
	uint32_t i;

	for (i = 0; i < what->n; i++)
		if (in_row(&what->rows[i], a, port))
			return what->rows[i].refuse;
	return what->refuse_rest;
}

static struct policy *read_policy(const char *text)
{
	struct error err;
	struct policy *p = memory_policy(text, NULL, &err);

	if (p)
		return p;
	printf("# %s\n", err.text);
	CHECK(false);
	return policy_new();
}

static bool refuses(const char *text, const char *address, uint16_t port)
{
	struct policy *p = read_policy(text);
	struct redirect reach;
	struct address a;

	CHECK(address_parse(sv_of(address), &a));
	reach_of(p, &reach);
	policy_free(p);
	return is_refused(&reach, &a, port);
}

static const char *const policies[] = {
	"network: {mode: allowlist}",
	"network: {mode: public}",
	"network: {mode: allowlist, allow: [{host: a.test}]}",
	"network: {mode: allowlist, ask: true, allow: [{host: a.test}], deny: [{cidr: 8.0.0.0/8}]}",
	"network: {mode: allowlist, allow: [{cidr: 10.0.0.0/13, ports: [1, 2]}, {cidr: 8.0.0.0/5}, {host: 9.9.9.9, "
	"ports: [53]}, {cidr: \"2a00::/11\"}, {cidr: \"fd00::/8\", ports: [7]}]}",
	"network: {mode: allowlist, allow: [{cidr: 0.0.0.0/0}, {cidr: \"::/0\"}], deny: [{cidr: 10.0.0.0/8}, {cidr: "
	"8.0.0.0/6, ports: [443]}, {cidr: 9.0.0.0/8, methods: [GET]}, {cidr: 11.0.0.0/8, paths: [\"/x\"]}]}",
	"network: {mode: public, allow: [{cidr: 192.168.0.0/16}, {cidr: 169.254.169.254/32}], deny: [{cidr: "
	"8.8.0.0/16}, {host: 9.9.9.9}, {cidr: 198.18.0.0/15}]}",
	"network: {mode: allowlist, allow: [{cidr: 10.0.0.0/9, ports: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, "
	"15, 16, 17, 18]}]}",
};

/* Near the borders of ranges, and anywhere. */
static struct address draw_address(void)
{
	static const char *const near[] = {
		"10.0.0.0",   "10.1.0.0",   "10.8.0.0",       "8.0.0.0",     "8.8.0.0",         "9.9.9.9",
		"11.0.0.0",   "12.0.0.0",   "15.255.255.255", "192.168.0.0", "169.254.169.254", "127.0.0.0",
		"198.18.0.0", "198.20.0.0", "168.63.129.16",  "224.0.0.0",   "2a00::",          "2a1f::",
		"2a20::",     "fd00::",     "fe00::",         "2001::",      "2001:200::",      "64:ff9b::808:808",
		"100::",      "::1"};
	struct address a;
	unsigned i;

	CHECK(address_parse(sv_of(near[draw(ARRAY_LEN(near))]), &a));
	for (i = draw(6); i; i--)
		a.b[15 - draw(a.is4 ? 4 : 16)] ^= (uint8_t)(1U << draw(8));
	if (!a.is4)
		a = address_of6(a.b);
	return a;
}

static void what_could_be_allowed_is_never_refused_before_it_is_judged(void)
{
	static const uint16_t ports[] = {80, 443, 1, 2, 7, 18, 53, 5432};
	char text[ADDRESS_TEXT];
	struct redirect reach;
	struct net_verdict v;
	struct ruleset *rules;
	struct address a;
	struct policy *p;
	uint16_t port;
	size_t i, j;

	for (i = 0; i < ARRAY_LEN(policies); i++) {
		p = read_policy(policies[i]);
		rules = net_rules_new(p);
		CHECK(rules);
		reach_of(p, &reach);
		for (j = 0; j < DRAWN; j++) {
			a = draw_address();
			port = ports[draw(ARRAY_LEN(ports))];
			net_rules_name(rules, sv_of(address_text(&a, text)), port, &v);
			if (!(v.allow || v.ask) || !is_refused(&reach, &a, port))
				continue;
			printf("# policy %zu refuses %s port %u, which may be allowed\n", i, text, port);
			CHECK(false);
			break;
		}
		net_rules_free(rules);
		policy_free(p);
	}
}

static void what_no_rule_is_for_is_refused(void)
{
	static const char names[] = "network: {mode: allowlist, allow: [{host: a.test}, {host: b.test, ports: [22]}]}";
	static const char range[] = "network: {mode: allowlist, allow: [{cidr: 10.1.0.0/16, ports: [5432]}]}";
	static const char wide[] = "network: {mode: public, deny: [{cidr: 8.8.8.0/24}]}";
	static const char asks[] = "network: {mode: allowlist, ask: true}";

	CHECK(refuses(names, "8.8.8.8", 443) && refuses(names, "2606:4700::1", 443) &&
	      refuses(names, "169.254.169.254", 80) && refuses(names, "100:0:0:1::1", 443));
	CHECK(refuses(names, "198.18.1.0", 25) && refuses(names, "100::100", 25));
	CHECK(!refuses(names, "198.18.1.0", 443) && !refuses(names, "198.19.255.255", 22) &&
	      !refuses(names, "100::100", 80));
	CHECK(!refuses(range, "10.1.255.255", 5432) && refuses(range, "10.1.0.1", 5433) &&
	      refuses(range, "10.2.0.0", 5432));
	CHECK(refuses(wide, "10.0.0.1", 443) && refuses(wide, "169.254.169.254", 80) &&
	      refuses(wide, "168.63.129.16", 80) && refuses(wide, "fd00::1", 443) && refuses(wide, "8.8.8.1", 25));
	CHECK(!refuses(wide, "8.8.9.1", 25) && !refuses(wide, "198.18.1.0", 25) && !refuses(wide, "2606:4700::1", 1));
	CHECK(refuses(asks, "10.0.0.1", 443) && !refuses(asks, "8.8.8.8", 443) && !refuses(asks, "100::100", 9));
}

/* The address stands for a name: what the name leads to is judged when it is dialled. */
static void a_denied_range_does_not_hold_for_addresses_that_stand_for_names(void)
{
	static const char policy[] =
		"network: {mode: allowlist, allow: [{host: a.test}], deny: [{cidr: 0.0.0.0/0}, {cidr: \"::/0\"}]}";

	CHECK(!refuses(policy, "198.18.1.0", 443) && !refuses(policy, "100::100", 443) &&
	      refuses(policy, "8.8.8.8", 443));
}

static void a_policy_with_more_ranges_than_rows_leaves_all_to_the_judge(void)
{
	AUTO_BUF b = {0};
	unsigned i;

	buf_init(&b, 1 << 16);
	(void)buf_str(&b, "network: {mode: allowlist, allow: [");
	for (i = 0; i < 100; i++)
		(void)buf_printf(&b, "{cidr: 10.%u.0.0/16, ports: [1]}, ", i);
	(void)buf_str(&b, "]}");
	(void)buf_add(&b, "", 1);
	CHECK(!buf_failed(&b) && !refuses(b.p, "10.1.0.0", 1) && !refuses(b.p, "8.8.8.8", 443));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_could_be_allowed_is_never_refused_before_it_is_judged),
		CASE(what_no_rule_is_for_is_refused),
		CASE(a_denied_range_does_not_hold_for_addresses_that_stand_for_names),
		CASE(a_policy_with_more_ranges_than_rows_leaves_all_to_the_judge),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
