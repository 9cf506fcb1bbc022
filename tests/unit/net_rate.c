#include "base/buf.h"
#include "check.h"
#include "net_world.h"
#include "policy/net_carry.h"

static void rates_written_in_one_place_share_a_budget(void)
{
	struct error err;
	struct world w = {memory_policy("network:\n  mode: allowlist\n  allow:\n"
					"    - {host: a.test, paths: [/1], rate: 5/s}\n"
					"    - {host: a.test, paths: [/2], rate: 50/s}\n"
					"    - {host: a.test, paths: [/3]}\n"
					"    - {host: b.test, rate: 1/m}\n"
					"    - {host: c.test}\n",
					"network:\n  mode: allowlist\n  allow:\n    - {host: a.test, rate: 10/s}\n    "
					"- {host: b.test}\n    - {host: c.test}\n",
					&err),
			  NULL};
	struct net_request request = get("a.test", 443, "GET", "/1");
	struct net_verdict one, two, three, b, c;

	CHECK(w.p != NULL);
	if (!w.p)
		return;
	w.rules = net_rules_new(w.p);
	net_rules_request(w.rules, &request, &one);
	request.target = sv_of("/2");
	net_rules_request(w.rules, &request, &two);
	request.target = sv_of("/3");
	net_rules_request(w.rules, &request, &three);
	request.host = sv_of("b.test");
	net_rules_request(w.rules, &request, &b);
	request.host = sv_of("c.test");
	net_rules_request(w.rules, &request, &c);
	CHECK(one.rate == 5 * 3600 && two.rate == 10 * 3600 && three.rate == 10 * 3600 && b.rate == 60 && c.rate == 0);
	CHECK(one.budget == two.budget && two.budget == three.budget && b.budget != one.budget);
	CHECK(net_rules_budgets(w.rules) == 2);
	unmake(&w);
}

static void what_is_used_of_a_rate_stays_used_over_a_reload(void)
{
	const uint64_t second = UINT64_C(1000000000), now = 100 * second, hour = 3600 * second;
	struct world old = make("network:\n  mode: allowlist\n  allow:\n    - {host: a.test, rate: 1/h}\n    - {host: "
				"b.test, paths: [/x], rate: 1/h}\n    - {host: b.test, paths: [/y], rate: 1/h}\n"
				"    - {host: c.test, rate: 1/h}\n"),
		     new = make("network:\n  mode: allowlist\n  allow:\n    - {host: new.test, rate: 1/h}\n    - "
				"{host: b.test, paths: [/y], rate: 1/h}\n    - {host: b.test, paths: [/x], rate: 1/h}\n"
				"    - {host: c.test, rate: 10/s}\n    - {host: a.test, rate: 1/h}\n");
	struct net_budget was[8] = {0}, is[8] = {0};

	CHECK(net_rules_budgets(old.rules) == 4 && net_rules_budgets(new.rules) == 5);
	CHECK(net_rate_take(&was[net_rules_budget(old.rules, 0)], 1, now) &&
	      net_rate_take(&was[net_rules_budget(old.rules, 1)], 1, now));
	CHECK(net_rate_take(&was[net_rules_budget(old.rules, 3)], 1, now));
	CHECK(net_carry(old.rules, was, new.rules, is, now));
	CHECK(!net_rate_take(&is[net_rules_budget(new.rules, 4)], 1, now + 1) &&
	      net_rate_take(&is[net_rules_budget(new.rules, 4)], 1, now + hour));
	CHECK(net_rate_take(&is[net_rules_budget(new.rules, 0)], 1, now) &&
	      net_rate_take(&is[net_rules_budget(new.rules, 1)], 1, now));
	CHECK(!net_rate_take(&is[net_rules_budget(new.rules, 2)], 1, now));
	/* who raises a rate need not wait for the old one */
	CHECK(net_rate_take(&is[net_rules_budget(new.rules, 3)], 10 * UINT64_C(3600), now + second + 1));
	unmake(&old);
	unmake(&new);
}

static void of_rules_that_say_the_same_the_one_that_is_used_most_is_carried(void)
{
	static const char text[] = "network:\n  mode: allowlist\n  allow:\n    - {host: a.test, rate: 1/h}\n    - "
				   "{host: a.test, rate: 2/h}\n    - {host: a.test, rate: 3/h}\n    - {host: b.test, "
				   "rate: 1/h}\n    - {host: a.test, rate: 4/h}\n";
	const uint64_t now = 100 * UINT64_C(1000000000);
	struct world old = make(text), new = make(text);
	uint32_t used, i;

	/* whichever of them it was */
	for (used = 0; used < 5; used++) {
		struct net_budget was[5] = {0}, is[5] = {0};

		CHECK(net_rate_take(&was[net_rules_budget(old.rules, used)], 1, now));
		CHECK(net_carry(old.rules, was, new.rules, is, now));
		for (i = 0; i < 5; i++)
			CHECK((is[net_rules_budget(new.rules, i)].ahead_to > now) == ((i == 3) == (used == 3)));
	}
	unmake(&old);
	unmake(&new);
}

static void a_budget_lets_its_rate_pass_and_no_more(void)
{
	static const uint64_t ms = 1000000;
	struct net_budget b = {0};
	uint64_t now;
	int n = 0;

	for (now = 5000 * ms; now < 15000 * ms; now += ms)
		n += net_rate_take(&b, 10 * 3600, now);
	/* Ten a second, and the burst at the start. */
	CHECK(n >= 100 && n <= 110);
	b = (struct net_budget){0};
	CHECK(net_rate_take(&b, 60, 1) && !net_rate_take(&b, 60, 2) && !net_rate_take(&b, 60, 59000 * ms) &&
	      net_rate_take(&b, 60, 60001 * ms));
	/* Two rates in one budget get no more than the higher one. */
	b = (struct net_budget){0};
	for (n = 0, now = 5000 * ms; now < 15000 * ms; now += ms)
		n += net_rate_take(&b, now % (2 * ms) ? 3600 : 10 * 3600, now);
	CHECK(n <= 110);
	/* An idle hour saves nothing up. */
	b = (struct net_budget){0};
	CHECK(net_rate_take(&b, 2 * 3600, 1));
	for (n = 0; net_rate_take(&b, 2 * 3600, 3600 * 1000 * ms); n++)
		;
	CHECK(n == 2);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(rates_written_in_one_place_share_a_budget),
		CASE(a_budget_lets_its_rate_pass_and_no_more),
		CASE(what_is_used_of_a_rate_stays_used_over_a_reload),
		CASE(of_rules_that_say_the_same_the_one_that_is_used_most_is_carried),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
