/* Two policies: a request and its ceiling, or the sides of a diff. What is made of them is held against the judge, over
 * every question of a small world. */
#include "base/glob.h"
#include "policy_world.h"

static const char *const hosts[] = {"a.ex.test", "b.ex.test",      "*.ex.test",   "*.test",
				    "9.9.9.9",   "api.openai.com", "*.openai.com"};
static const char *const ranges[] = {"10.0.0.0/8", "10.1.0.0/16", "9.9.9.8/30", "9.9.9.9/32"};
static const char *const ports[] = {"443", "80", "22", "443, 22"};
static const char *const methods[] = {DRAWN_METHODS};
static const char *const url_globs[] = {DRAWN_PATHS};
static const char *const calls[] = {"mcp: {tools: [t]}", "mcp: {tools: [\"t*\"]}", "graphql: {types: [query]}"};
static const char *const rates[] = {"1/h", "5/h", "9/h"};
static const char *const modes[] = {"none", "allowlist", "allowlist", "allowlist", "public", "public"};
static const char *const folders[] = {"/srv", "/srv/a", "/srv/*", "/srv/a/b", "/opt",  "/opt/x",
				      ".",    "sub",    "~",      "**/k",     "**/sub"};
static const char *const denials[] = {"/srv/a",     "**/k", "/**/k",     "/srv/*/b", "**/.env",
				      "/usr/share", "sub",  "/opt/x/**", "/nowhere"};
static const char *const programs[] = {"/usr/bin/git", "/usr/bin/*", "**/git", "/srv", "**", "/opt/**/git"};
static const char *const models[] = {"gpt-4", "gpt-*", "gpt-4*", "*", "o1"};
static const char *const names[] = {"v", "openai", "other"};

enum { NET, FS, PROCESS, MODELS, DOMAINS };

static void random_rule(char *out, bool denies)
{
	if (pick(4))
		put(out, TEXT, "    - {host: \"%s\"", ANY_OF(hosts));
	else
		put(out, TEXT, "    - {cidr: %s", ANY_OF(ranges));
	if (pick(2))
		put(out, TEXT, ", ports: [%s]", ANY_OF(ports));
	if (pick(2))
		put(out, TEXT, ", methods: [%s]", ANY_OF(methods));
	if (pick(3) == 0)
		put(out, TEXT, ", paths: [\"%s\"]", ANY_OF(url_globs));
	if (!denies && pick(4) == 0)
		put(out, TEXT, ", rate: %s", ANY_OF(rates));
	if (!denies && pick(8) == 0)
		put(out, TEXT, ", %s", ANY_OF(calls));
	put(out, TEXT, "}\n");
}

static void random_net(char *out)
{
	uint32_t n = pick(4), i;

	put(out, TEXT, "network:\n  mode: %s\n  ask: %s\n  dns: %s\n", ANY_OF(modes), pick(3) ? "false" : "true",
	    pick(4) ? "policy" : "none");
	put(out, TEXT, "  allow:%s\n", n ? "" : " []");
	for (i = 0; i < n; i++)
		random_rule(out, false);
	n = pick(3) == 0;
	put(out, TEXT, "  deny:%s\n", n ? "" : " []");
	if (n)
		random_rule(out, true);
}

static void random_fs(char *out)
{
	put(out, TEXT, "filesystem:\n  workdir: %s\n", workdir_mode_names[pick(4)]);
	RANDOM_LIST(out, "read", folders, 2);
	RANDOM_LIST(out, "write", folders, 2);
	RANDOM_LIST(out, "deny", denials, 2);
}

static void random_process(char *out)
{
	put(out, TEXT, "process:\n");
	if (pick(2))
		put(out, TEXT, "  allow_exec: [\"%s\", \"%s\"]\n", ANY_OF(programs), ANY_OF(programs));
	RANDOM_LIST(out, "deny_exec", programs, 1);
}

static void random_models(char *out)
{
	static const char *const providers[] = {"v: {kind: openai, url: \"https://a.ex.test/v1\"",
						"openai: {base_url_env: X"};
	uint32_t i, n, shown = 0;

	put(out, TEXT, "inference:\n  providers:\n");
	for (i = 0; i < 2; i++) {
		if (pick(3) == 0)
			continue;
		shown++;
		put(out, TEXT, "    %s", providers[i]);
		if (pick(2))
			put(out, TEXT, ", models: [\"%s\", \"%s\"]", ANY_OF(models), ANY_OF(models));
		put(out, TEXT, "}\n");
	}
	if (!shown)
		put(out, TEXT, "    gemini: {}\n");
	n = pick(3);
	put(out, TEXT, "  routes:%s\n", n ? "" : " []");
	for (i = 0; i < n; i++)
		put(out, TEXT, "    - {model: \"%s\", provider: %s}\n", ANY_OF(models), ANY_OF(names));
}

static void random_domain(char *out, int domain)
{
	static void (*const makers[])(char *out) = {
		[NET] = random_net, [FS] = random_fs, [PROCESS] = random_process, [MODELS] = random_models};

	out[0] = '\0';
	makers[domain](out);
}

/* All that a policy says in one text for each domain. */
struct texts {
	char of[DOMAINS][TEXT];
};

static void random_texts(struct texts *t)
{
	int domain;

	for (domain = NET; domain < DOMAINS; domain++)
		random_domain(t->of[domain], domain);
}

/* The same, but for one domain, of which a few lines stay. */
static void vary(const struct texts *from, struct texts *to)
{
	int domain = NET + (int)pick(DOMAINS - NET);

	*to = *from;
	random_domain(to->of[domain], domain);
}

static const char *whole(const struct texts *t)
{
	static char text[2][4 * TEXT];
	static int turn;

	turn = !turn;
	(void)snprintf(text[turn], sizeof(text[turn]), "%s%s%s%s", t->of[NET], t->of[FS], t->of[PROCESS],
		       t->of[MODELS]);
	return text[turn];
}

/* No more than outer: it is allowed there, and as often. Whoever is asked in a diff's b is asked in a, or need not be;
 * below a ceiling that is a person's yes to what the ceiling leaves to them. */
static bool is_no_more(const struct net_verdict *in, const struct net_verdict *out, bool asking)
{
	if (in->allow)
		return out->allow && (out->body || !out->rate ||
				      (in->rate && in->rate <= out->rate)); /* of a body nothing is known here */
	return !in->ask || !asking || out->allow || out->ask;
}

/* What inner allows outer allows, too. Where not, says what. */
static bool hosts_within(const struct side *inner, const struct side *outer, bool asking)
{
	static const char *const asked[] = {"a.ex.test", "b.ex.test", "x.test",   "api.openai.com", "other.org",
					    "9.9.9.9",   "9.9.9.10",  "10.1.2.3", "10.9.9.9"};
	static const char *const with[] = {"GET", "POST", "LIST"};
	static const char *const paths[] = {"/x", "/x/y", "/q/y", "/"};
	static const uint16_t at[] = {443, 80, 22, 8080};
	struct net_verdict in, out;
	unsigned i;

	for (i = 0; i < 9 * 3 * 4 * 4; i++) {
		struct net_request r = {.host = sv_of(asked[i % 9]),
					.port = at[i / 9 % 4],
					.method = sv_of(with[i / 36 % 3]),
					.target = sv_of(paths[i / 108])};

		net_rules_request(inner->rules, &r, &in);
		net_rules_request(outer->rules, &r, &out);
		/* a yes is to the usual methods */
		if (is_no_more(&in, &out, asking && i / 36 % 3 < 2))
			continue;
		printf("# %s %s:%u%s, %s%s\n", with[i / 36 % 3], asked[i % 9], r.port, paths[i / 108],
		       in.allow ? "allowed" : "asked", out.allow ? ", but not so often" : "");
		return false;
	}
	return true;
}

static bool names_within(const struct side *inner, const struct side *outer)
{
	static const char *const asked[] = {"a.ex.test", "b.ex.test", "x.test", "api.openai.com", "other.org"};
	unsigned i;

	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		if (net_rules_dns(inner->rules, sv_of(asked[i])) && !net_rules_dns(outer->rules, sv_of(asked[i]))) {
			printf("# %s is looked up\n", asked[i]);
			return false;
		}
	return true;
}

static bool programs_within(const struct policy *inner, const struct policy *outer)
{
	static const char *const paths[] = {"/usr/bin/git", "/usr/bin/ls", "/usr/lib/git", "/srv/a/git",
					    "/srv/z",       "/opt/x/git",  "/home/u/w/git"};
	struct reason in, out;
	unsigned i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		policy_query_exec(inner, WORK, paths[i], &in);
		policy_query_exec(outer, WORK, paths[i], &out);
		if (in.answer == ANSWER_ALLOW && out.answer == ANSWER_DENY) {
			printf("# %s: %s\n", paths[i], out.text);
			return false;
		}
	}
	return true;
}

static const struct route *route_of(const struct policy *p, const char *model)
{
	uint32_t i;

	for (i = 0; i < p->inference.n_routes; i++)
		if (glob_component(sv_of(p->inference.routes[i].model), sv_of(model)))
			return &p->inference.routes[i];
	return NULL;
}

/* Does the provider serve the model, whichever was asked for it? As gate/inference/models.h has it. */
static bool serves(const struct policy *p, const char *provider, const char *model)
{
	const struct route *route = route_of(p, model);
	const struct provider *v;
	uint32_t i, k;

	for (i = 0; i < p->inference.n_providers && strcmp(p->inference.providers[i].name, provider) != 0; i++)
		;
	if (i == p->inference.n_providers || (route && strcmp(route->provider, provider) != 0))
		return false;
	v = &p->inference.providers[i];
	for (k = 0; k < v->models.n && !glob_component(sv_of(v->models.v[k].s), sv_of(model)); k++)
		;
	return !v->models.set || k < v->models.n;
}

static bool models_within(const struct policy *inner, const struct policy *outer)
{
	static const char *const asked[] = {"gpt-4", "gpt-4o", "gpt-5", "o1", "o2"};
	unsigned i;

	for (i = 0; i < 3 * 5; i++)
		if (serves(inner, names[i % 3], asked[i / 3]) && !serves(outer, names[i % 3], asked[i / 3])) {
			printf("# %s of %s\n", asked[i / 3], names[i % 3]);
			return false;
		}
	return true;
}

static bool is_within(const struct side *inner, const struct side *outer, bool asking)
{
	return hosts_within(inner, outer, asking) && names_within(inner, outer) &&
	       files_within(inner->p, outer->p, WORK) && programs_within(inner->p, outer->p) &&
	       models_within(inner->p, outer->p);
}

/* In every domain of both, so that there is nothing that the ceiling leaves unbounded. */
static void what_is_left_below_a_ceiling_both_sides_allow(void)
{
	static struct texts request, ceiling;
	unsigned i, loaded = 0;
	struct error err;

	for (i = 0; i < 1200 && check_failures < 5; i++) {
		struct side r, c, both;

		seed = i * 2654435761U;
		random_texts(&request);
		random_texts(&ceiling);
		if (i % 4)
			memcpy(ceiling.of[FS], request.of[FS], TEXT);
		r = side_of(memory_policy(whole(&request), NULL, &err));
		c = side_of(memory_policy(whole(&ceiling), NULL, &err));
		both = side_of(memory_policy(whole(&request), whole(&ceiling), &err));
		CHECK(r.rules && c.rules);
		if (both.rules && r.rules && c.rules) {
			loaded++;
			CHECK(is_within(&both, &c, false));
			CHECK(is_within(&both, &r, false));
			if (check_failures)
				printf("# request %u:\n%s# ceiling:\n%s", i, whole(&request), whole(&ceiling));
		}
		side_done(&r);
		side_done(&c);
		side_done(&both);
	}
	printf("# %u of %u pairs load\n", loaded, i);
	CHECK(loaded > 800);
}

static uint32_t more_of(const struct policy *a, const struct policy *b)
{
	return more_at(a, b, false);
}

static void where_a_diff_says_nothing_there_is_nothing(void)
{
	static struct texts first, second;
	unsigned i, silent = 0, differ = 0;
	struct error err;

	for (i = 0; i < 2000 && check_failures < 5; i++) {
		struct side a, b;

		seed = i * 2246822519U;
		random_texts(&first);
		vary(&first, &second);
		a = side_of(memory_policy(whole(&first), NULL, &err));
		b = side_of(memory_policy(whole(&second), NULL, &err));
		CHECK(a.rules && b.rules);
		if (a.rules && b.rules) {
			CHECK(more_of(a.p, a.p) == 0);
			if (more_of(a.p, b.p) == 0) {
				silent++;
				CHECK(is_within(&b, &a, true));
			} else {
				differ++;
			}
			if (check_failures)
				printf("# a %u:\n%s# b:\n%s", i, whole(&first), whole(&second));
		}
		side_done(&a);
		side_done(&b);
	}
	printf("# %u pairs of %u differ in nothing\n", silent, i);
	CHECK(silent > 200 && differ > 200);
}

/* A ceiling by itself and the request by itself say what is left of the request. */
static const struct {
	const char *request, *ceiling, *host, *method;
	bool left;
} asked_below[] = {
#define ALLOW(rules) "network: {mode: allowlist, allow: [" rules "]}\n"
#define PUBLIC       "network: {mode: public}\n"
#define V            "inference: {providers: {v: {kind: openai, url: \"https://a.ex.test/v1\"}}}\n"
#define W            "inference: {providers: {w: {kind: openai, url: \"https://w.ex.test/v1\"}}}\n"
	/* methods that are not named are the usual ones */
	{ALLOW("{host: a.ex.test, ports: [80], methods: [LIST]}"), PUBLIC, "a.ex.test", "LIST", false},
	{ALLOW("{host: a.ex.test, ports: [80], methods: [LIST, GET]}"), PUBLIC, "a.ex.test", "GET", true},
	{ALLOW("{host: a.ex.test, ports: [80], methods: [LIST, GET]}"), PUBLIC, "a.ex.test", "LIST", false},
	{ALLOW("{host: a.ex.test, ports: [80], methods: [LIST]}"), ALLOW("{host: a.ex.test, ports: [80]}"), "a.ex.test",
	 "LIST", false},
	{ALLOW("{host: a.ex.test, ports: [80], methods: [LIST]}"),
	 ALLOW("{host: \"*.ex.test\", ports: [80], paths: [\"/**\"]}"), "a.ex.test", "LIST", false},
	{ALLOW("{host: a.ex.test, ports: [80]}"), ALLOW("{host: a.ex.test, methods: [LIST, GET]}"), "a.ex.test", "LIST",
	 false},
	{ALLOW("{host: a.ex.test, ports: [80]}"), ALLOW("{host: a.ex.test, methods: [LIST, GET]}"), "a.ex.test", "GET",
	 true},
	{ALLOW("{host: a.ex.test, methods: [LIST]}"), ALLOW("{host: a.ex.test, methods: [LIST, GET]}"), "a.ex.test",
	 "LIST", true},
	{ALLOW("{cidr: 10.0.0.0/8, methods: [LIST]}"), ALLOW("{cidr: 10.0.0.0/8}"), "10.1.2.3", "LIST", false},
	{ALLOW("{cidr: 10.0.0.0/8}"), ALLOW("{cidr: 10.1.0.0/16, methods: [LIST]}"), "10.1.2.3", "LIST", false},
	{PUBLIC, ALLOW("{host: a.ex.test, methods: [LIST]}"), "a.ex.test", "LIST", false},
	{PUBLIC, "network: {mode: public, allow: [{host: a.ex.test, methods: [LIST, GET], rate: 1/h}]}\n", "a.ex.test",
	 "LIST", false},
	{PUBLIC, "network: {mode: public, allow: [{cidr: 9.9.9.9/32, methods: [LIST, GET], rate: 1/h}]}\n", "9.9.9.9",
	 "LIST", false},
	/* the host of a provider is none that mode public opens, be the provider in the result or not */
	{PUBLIC, PUBLIC V, "a.ex.test", "GET", false},
	{PUBLIC, PUBLIC V, "b.ex.test", "GET", true},
	{PUBLIC V, PUBLIC W, "a.ex.test", "GET", false},
	{PUBLIC V, PUBLIC W, "w.ex.test", "GET", false},
	{"network: {mode: public}\ninference: {providers: {openai: {models: [a]}}}\n",
	 "network: {mode: public}\ninference: {providers: {openai: {models: [b]}}}\n", "api.openai.com", "GET", false},
	{ALLOW("{host: a.ex.test}"), PUBLIC V, "a.ex.test", "GET", false},
	{ALLOW("{host: \"*.ex.test\"}"), PUBLIC V, "a.ex.test", "GET", false},
	{ALLOW("{host: \"*.ex.test\"}"), PUBLIC V, "b.ex.test", "GET", true},
	{ALLOW("{host: \"*.ex.test\"}"), "network: {mode: public, allow: [{host: a.ex.test}]}\n" V, "b.ex.test", "GET",
	 true},
	{ALLOW("{host: a.ex.test}"), "network: {mode: public, allow: [{host: \"*.ex.test\"}]}\n" V, "a.ex.test", "GET",
	 true},
	{PUBLIC V, ALLOW("{host: \"*.ex.test\"}"), "a.ex.test", "GET", false},
	{ALLOW("{host: 9.9.9.9}"), PUBLIC "inference: {providers: {v: {kind: openai, url: \"https://9.9.9.9/v1\"}}}\n",
	 "9.9.9.9", "GET", false},
	{"network: {mode: allowlist, ask: true}\n", PUBLIC V, "a.ex.test", "GET", false},
};

static void what_is_not_named_means_the_same_below_a_ceiling(void)
{
	struct reason why;
	struct error err;
	unsigned i;

	for (i = 0; i < sizeof(asked_below) / sizeof(asked_below[0]); i++) {
		struct side s = side_of(memory_policy(asked_below[i].request, asked_below[i].ceiling, &err));
		struct net_request q = {.host = sv_of(asked_below[i].host),
					.port = 80,
					.method = sv_of(asked_below[i].method),
					.target = sv_of("/")};
		struct net_verdict v = {0};

		CHECK(s.rules);
		if (s.rules) {
			policy_query_host(s.p, asked_below[i].host, 80, asked_below[i].method, "/", &why);
			net_rules_request(s.rules, &q, &v);
		}
		if (!s.rules || v.allow != asked_below[i].left || (why.answer == ANSWER_ALLOW) != v.allow || v.ask) {
			printf("# %s %s of %s# below %s# %s\n", asked_below[i].method, asked_below[i].host,
			       asked_below[i].request, asked_below[i].ceiling, s.rules ? why.text : err.text);
			CHECK(false);
		}
		side_done(&s);
	}
}

struct question {
	const char *host, *method, *path;
	uint16_t port;
};

static struct net_verdict judged(const struct side *s, struct question q)
{
	const struct net_request r = {.host = sv_of(q.host),
				      .port = q.port ? q.port : 443,
				      .method = sv_of(q.method ? q.method : "GET"),
				      .target = sv_of(q.path ? q.path : "/")};
	struct net_verdict v = {0};
	struct reason why;

	CHECK(s->rules);
	if (!s->rules)
		return v;
	net_rules_request(s->rules, &r, &v);
	policy_query_host(s->p, q.host, q.port ? q.port : 443, q.method ? q.method : "GET", q.path ? q.path : "/",
			  &why);
	CHECK((why.answer == ANSWER_ALLOW) == v.allow);
	return v;
}

static struct side side_below(const char *request, const char *ceiling)
{
	struct error err;
	struct side s = side_of(memory_policy(request, ceiling, &err));

	if (!s.rules)
		printf("# %s\n", err.text);
	return s;
}

/* Of either side, where what is left of it stands there already. */
static void a_rule_that_loses_a_method_takes_none_of_those_behind_it_along(void)
{
	static const char with[] = "allow: [{host: a.ex.test, methods: [GET, LIST]}, {host: b.ex.test%s}, {host: "
				   "c.ex.test, methods: [LIST]}, {host: d.ex.test%s}]}\n",
			  few[] = "allow: [{host: a.ex.test, methods: [GET]}]}\n";
	char rules[512], request[600], ceiling[600];
	struct side s;
	int i, rated;

	for (i = 0; i < 4; i++) {
		rated = i / 2; /* both are of mode public, and only the rates matter */
		(void)snprintf(rules, sizeof(rules), with, rated ? ", rate: 10/h" : "", rated ? ", rate: 20/h" : "");
		(void)snprintf(request, sizeof(request), "network: {mode: %s, %s",
			       i % 2 || rated ? "public" : "allowlist", i % 2 ? few : rules);
		(void)snprintf(ceiling, sizeof(ceiling), "network: {mode: %s, %s",
			       i % 2 == 0 || rated ? "public" : "allowlist", i % 2 ? rules : few);
		s = side_below(request, ceiling);
		CHECK(judged(&s, (struct question){.host = "a.ex.test"}).allow);
		CHECK(!judged(&s, (struct question){.host = "a.ex.test", .method = "LIST"}).allow);
		CHECK(!judged(&s, (struct question){.host = "c.ex.test", .method = "LIST"}).allow);
		CHECK(judged(&s, (struct question){.host = "b.ex.test"}).allow);
		CHECK(judged(&s, (struct question){.host = "d.ex.test"}).allow);
		CHECK(judged(&s, (struct question){.host = "b.ex.test"}).rate == (rated ? 10 : 0));
		CHECK(judged(&s, (struct question){.host = "d.ex.test"}).rate == (rated ? 20 : 0));
		side_done(&s);
	}
}

/* ... and nothing else does: not the rest of mode public, and nobody's yes. */
static void rules_of_both_sides_open_the_host_of_a_provider(void)
{
#define AT_X "allow: [{host: a.ex.test, paths: [/x]}]}\n"
	static const struct {
		const char *request, *ceiling;
		bool asks; /* for other hosts */
	} cases[] = {
		{"network: {mode: allowlist, ask: true, " AT_X, "network: {mode: public, " AT_X V, true},
		{"network: {mode: allowlist, ask: true, " AT_X, "network: {mode: public, ask: true, " AT_X V, true},
		{"network: {mode: allowlist, ask: true, " AT_X V, "network: {mode: public, " AT_X V, true},
		{"network: {mode: public, " AT_X, "network: {mode: public, " AT_X V, false},
		{"network: {mode: public, " AT_X V, "network: {mode: public, " AT_X W, false},
		{"network: {mode: public, " AT_X V, "network: {mode: public, " AT_X V, false},
	};
	struct side s, open;
	struct net_verdict v;
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = side_below(cases[i].request, cases[i].ceiling);
		CHECK(judged(&s, (struct question){.host = "a.ex.test", .path = "/x"}).allow);
		v = judged(&s, (struct question){.host = "a.ex.test", .path = "/y"});
		CHECK(!v.allow && !v.ask);
		v = judged(&s, (struct question){.host = "a.ex.test", .path = "/x", .port = 8080});
		CHECK(!v.allow && !v.ask);
		v = judged(&s, (struct question){.host = "b.ex.test"});
		CHECK(v.allow == !cases[i].asks && v.ask == cases[i].asks);
		CHECK(s.rules && net_rules_dns(s.rules, sv_of("a.ex.test")));
		CHECK(s.p && !policy_query_may_approve(s.p, "A.ex.test."));
		CHECK(s.p && policy_query_may_approve(s.p, "b.ex.test") == cases[i].asks);
		/* a diff knows it, too */
		open = side_below(cases[i].request, NULL);
		CHECK(s.p && open.p && more_of(open.p, s.p) == 0);
		CHECK(s.p && open.p && (more_of(s.p, open.p) > 0) == (strcmp(cases[i].request, cases[i].ceiling) != 0));
		side_done(&open);
		side_done(&s);
	}
#undef AT_X
}

/* GET and DELETE open the stream back and end a session: only a rule that names paths lets them through. */
static void paths_of_one_side_open_nothing_under_mcp_of_the_other(void)
{
	static const char *const sides[] = {ALLOW("{host: a.ex.test, mcp: {tools: [t]}}"),
					    ALLOW("{host: a.ex.test, paths: [/m]}"),
					    ALLOW("{host: a.ex.test, methods: [GET, DELETE], paths: [/m]}")};
	struct error err;
	struct policy *p;
	unsigned i;

	for (i = 0; i < 2; i++) {
		p = memory_policy(sides[i], sides[!i], &err);
		CHECK(p && p->net.allow.n == 1 && p->net.allow.v[0].methods.n == 1 &&
		      strcmp(p->net.allow.v[0].methods.v[0].s, "POST") == 0);
		policy_free(p);
		p = memory_policy(sides[i ? 2 : 0], sides[i ? 0 : 2], &err);
		CHECK(p && p->net.allow.n == 0);
		policy_free(p);
	}
}

static void a_route_holds_whichever_side_has_it(void)
{
	static const char both[] = "inference: {providers: {v: {kind: openai, url: \"https://a.ex.test/v1\"}, openai: "
				   "{models: [\"gpt-*\"]}}, routes: [%s]}\n";
	static const struct {
		const char *request, *ceiling, *model;
		const char *by; /* which provider serves it; NULL: none */
	} cases[] = {
		{"{model: big, provider: nosuch}", "", "big", NULL},
		{"", "{model: big, provider: nosuch}", "big", NULL},
		{"", "{model: big, provider: openai}", "big", NULL},
		{"", "{model: \"gpt-*\", provider: openai}", "gpt-5", "openai"},
		{"{model: \"gpt-*\", provider: v}", "{model: \"gpt-*\", provider: openai}", "gpt-5", NULL},
		{"{model: gpt-5, provider: v}, {model: \"gpt-*\", provider: openai}",
		 "{model: \"gpt-*\", provider: openai}", "gpt-5", NULL},
		{"{model: gpt-5, provider: v}, {model: \"gpt-*\", provider: openai}",
		 "{model: \"gpt-*\", provider: openai}", "gpt-4", "openai"},
		{"{model: gpt-5, provider: openai}, {model: \"*\", provider: v}",
		 "{model: gpt-5, provider: openai}, {model: \"*\", provider: v}", "gpt-5", "openai"},
		{"{model: gpt-5, provider: openai}, {model: \"*\", provider: v}",
		 "{model: gpt-5, provider: openai}, {model: \"*\", provider: v}", "gpt-4", "v"},
		{"{model: \"*\", provider: v}", "{model: gpt-5, provider: openai}", "gpt-4", "v"},
	};
	char request[512], ceiling[512];
	struct policy *p;
	struct error err;
	unsigned i, k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)snprintf(request, sizeof(request), both, cases[i].request);
		(void)snprintf(ceiling, sizeof(ceiling), both, cases[i].ceiling);
		p = memory_policy(request, ceiling, &err);
		for (k = 0; p && k < sizeof(names) / sizeof(names[0]); k++) {
			bool right = serves(p, names[k], cases[i].model) ==
				     (cases[i].by && strcmp(cases[i].by, names[k]) == 0);

			if (!right)
				printf("# case %u: %s\n", i, names[k]);
			CHECK(right);
		}
		CHECK(p);
		policy_free(p);
	}
	CHECK_HAS(memory_error("inference: {providers: {openai: {}}, routes: [{model: \"gpt-*\", provider: openai}]}",
			       "inference: {providers: {openai: {}}, routes: [{model: \"*-5\", provider: openai}]}"),
		  "inference.routes: \"gpt-*\" and the ceiling's \"*-5\" (ceiling:2) overlap");
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_is_not_named_means_the_same_below_a_ceiling),
		CASE(a_rule_that_loses_a_method_takes_none_of_those_behind_it_along),
		CASE(rules_of_both_sides_open_the_host_of_a_provider),
		CASE(paths_of_one_side_open_nothing_under_mcp_of_the_other),
		CASE(a_route_holds_whichever_side_has_it),
		CASE(what_is_left_below_a_ceiling_both_sides_allow),
		CASE(where_a_diff_says_nothing_there_is_nothing),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
