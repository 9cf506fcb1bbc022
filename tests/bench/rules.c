/*
 * rules: how long one decision of the gateway takes.
 *
 *	rules [-r ROUNDS] RULES
 *
 * Compiles as many rules as are asked for (exact hosts, wildcards, rules with methods and paths, networks), then asks
 * about hosts that are allowed and hosts that are not, each round in another order. Prints lines, tab-separated: what
 * was asked, questions, the median round's time of one question in nanoseconds, that of the slowest round. The first
 * line is about compiling: its time in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policy/net_rules.h"

enum { QUESTIONS = 20000, ROUNDS_MAX = 10000 };

static double now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "rules: %s\n", what);
	exit(2);
}

static void list_add(struct arena *a, struct pol_list *l, const char *first, const char *second)
{
	l->v = arena_array(a, 2, sizeof(*l->v));
	if (!l->v)
		die("no memory");
	l->v[0].s = first;
	l->v[1].s = second;
	l->n = 2;
	l->set = true;
}

static struct policy *make(uint32_t n)
{
	struct policy *p = policy_new();
	struct net_rule *v = p ? arena_array(p->arena, n, sizeof(*v)) : NULL;
	uint32_t i;

	if (!v)
		die("no memory");
	for (i = 0; i < n; i++) {
		v[i].at = (struct origin){0, i + 1, 1};
		if (i % 4 == 3)
			v[i].cidr = arena_printf(p->arena, "10.%u.%u.0/24", i / 256 % 256, i % 256);
		else
			v[i].host = arena_printf(p->arena, i % 4 == 1 ? "*.h%u.example.org" : "h%u.example.com", i);
		if (i % 4 == 2) {
			list_add(p->arena, &v[i].methods, "GET", "HEAD");
			list_add(p->arena, &v[i].paths, "/other/*", "/simple/**");
		}
	}
	p->net.allow = (struct net_rules){v, n, true};
	p->net.mode = (struct pol_num){NET_ALLOWLIST, true, {0}};
	return p;
}

/* A host that rule i allows, or one that nothing does. */
static void host_for(uint32_t i, bool allowed, char *out, size_t size)
{
	if (!allowed)
		(void)snprintf(out, size, i % 2 ? "a.b.c.h%u.example.net" : "172.16.%u.9", i % 2 ? i : i % 256);
	else if (i % 4 == 3)
		(void)snprintf(out, size, "10.%u.%u.9", i / 256 % 256, i % 256);
	else
		(void)snprintf(out, size, i % 4 == 1 ? "a.b.h%u.example.org" : "h%u.example.com", i);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct ruleset *rules, uint32_t n, bool allowed, int rounds)
{
	static char hosts[QUESTIONS][64];
	static double times[ROUNDS_MAX];
	struct net_request request = {.port = 443, .method = sv_of("GET"), .target = sv_of("/simple/a/b?c=d")};
	struct net_verdict v;
	uint32_t i, seen = 0;
	double start;
	int r;

	for (i = 0; i < QUESTIONS; i++)
		host_for((uint32_t)(i * UINT64_C(7919) % n), allowed, hosts[i], sizeof(hosts[i]));
	for (r = 0; r < rounds; r++) {
		start = now_ns();
		for (i = 0; i < QUESTIONS; i++) {
			request.host = sv_of(hosts[(i + (uint32_t)r * 37) % QUESTIONS]);
			net_rules_request(rules, &request, &v);
			seen += v.allow;
		}
		times[r] = (now_ns() - start) / QUESTIONS;
	}
	if (seen != (allowed ? (uint32_t)rounds * QUESTIONS : 0))
		die("a wrong answer");
	qsort(times, (size_t)rounds, sizeof(times[0]), by_value);
	printf("%s\t%d\t%.0f\t%.0f\n", allowed ? "allowed" : "denied", QUESTIONS * rounds, times[rounds / 2],
	       times[rounds - 1]);
}

int main(int argc, char **argv)
{
	struct ruleset *rules;
	int rounds = 20, c;
	struct policy *p;
	uint32_t n;
	double start;

	while ((c = getopt(argc, argv, "r:")) != -1)
		rounds = c == 'r' ? atoi(optarg) : 0;
	n = optind < argc ? (uint32_t)strtoul(argv[optind], NULL, 10) : 0;
	if (n == 0 || n > 1000000 || rounds < 1 || rounds > ROUNDS_MAX)
		die("usage: rules [-r ROUNDS] RULES");
	p = make(n);
	start = now_ns();
	rules = net_rules_new(p);
	if (!rules)
		die("no memory");
	printf("compile\t%u\t%.0f\n", n, (now_ns() - start) / 1000);
	measure(rules, n, true, rounds);
	measure(rules, n, false, rounds);
	net_rules_free(rules);
	policy_free(p);
	return 0;
}
