#include "cli/run_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/runtime_pick.h"
#include "conf/value_net.h"
#include "model/gate.h"
#include "plan/environ.h"
#include "plan/environ_gate.h"
#include "plan/plan_build.h"
#include "policy/net_match.h"
#include "policy/policy_query.h"
#include "policy/policy_where.h"
#include "supervise/gate.h"
#include "vault/credential.h"

static void say(const struct run_check_to *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct run_check_to *to, const char *format, ...)
{
	char text[700];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	to->say(to->arg, text);
}

/* These return true where a run would be refused. Nothing is started for it: a runtime that is there may still turn out
 * not to work. */
static bool check_runtime(const struct cli_policy *p, const char *category, const struct run_check_to *to)
{
	const char *option = category ? " --category " : "", *name = category ? category : "";
	struct runtime_pick pick;
	struct error err = {0};

	if (runtime_pick_quietly(p, NULL, category, true, &pick, &err) < 0) {
		say(to, "cordon run%s%s would refuse this: %s", option, name, err.text);
		return true;
	}
	if (pick.fallback[0])
		say(to, "cordon run%s%s would say: %s", option, name, pick.fallback);
	return false;
}

/* Of the categories those that a file names: what Cordon chooses for others is no mistake of the policy's. */
static bool check_runtimes(const struct cli_policy *p, const struct run_check_to *to)
{
	const struct pol_pairs *c = &p->policy->process.categories;
	bool refused = check_runtime(p, NULL, to);
	uint32_t i;

	for (i = 0; p->policy->process.runtime.v == RUNTIME_AUTO && i < c->n; i++)
		if (c->v[i].at.file)
			refused |= check_runtime(p, c->v[i].key, to);
	return refused;
}

/* Without a work folder: which one it will be, a policy does not say. */
static bool check_plan(const struct cli_policy *c, const struct run_check_to *to)
{
	char *argv[] = {(char[]){"true"}, NULL}, *env[] = {NULL};
	const struct plan_gate gate = {0};
	struct plan_request req = {
		.policy = c->policy, .argv = argv, .env = env, .home = c->folders.home, .state_dir = "(state)"};
	struct error err = {0};
	struct plan *plan = NULL;
	struct cli_own own;

	req.own = cli_own(&own, &c->folders);
	if (gate_needed(c->policy))
		req.gate = &gate;
	if (plan_build(&req, &plan, &err) < 0) {
		say(to, "cordon run would refuse this: %s", err.text);
		return true;
	}
	plan_free(plan);
	return false;
}

/* Is there a host that both stand for? */
static bool overlap(const char *a, const char *b)
{
	return credential_host_covers(a, sv_of(b)) || credential_host_covers(b, sv_of(a)) || strcmp(a, b) == 0;
}

static struct sv url_host(const char *url)
{
	const char *at = strstr(url, "://");
	struct sv host, port, authority;

	at = at ? at + 3 : url;
	authority = sv_n(at, strcspn(at, "/"));
	if (!value_split_port(authority, &host, &port))
		host = authority;
	return host.n > 2 && host.p[0] == '[' ? sv_n(host.p + 1, host.n - 2) : host;
}

/* A cidr rule may lead anywhere. */
static bool reaches(const struct policy *p, const struct credential *c, const char *bound)
{
	const struct net_rule *r = p->net.allow.v;
	const struct provider *v = p->inference.providers;
	uint32_t i;

	for (i = 0; p->net.mode.v != NET_NONE && i < p->net.allow.n; i++)
		if (r[i].credential.s && strcmp(r[i].credential.s, c->name) == 0 &&
		    (!r[i].host || overlap(bound, r[i].host)))
			return true;
	for (i = 0; i < p->inference.n_providers; i++)
		if (v[i].credential.s && strcmp(v[i].credential.s, c->name) == 0 && v[i].url.s &&
		    credential_host_covers(bound, url_host(v[i].url.s)))
			return true;
	return false;
}

/* Bound to hosts that nothing of what names it leads to: the rule and credentials.yaml do not know each other. */
static void check_reach(const struct cli_policy *c, const struct credential *of, const struct pol_str *named,
			const struct run_check_to *to)
{
	struct text_shown name, host;
	char more[32] = "";
	uint32_t i;

	for (i = 0; i < of->n_hosts && !reaches(c->policy, of, of->hosts[i]); i++)
		;
	if (i < of->n_hosts || of->n_hosts == 0)
		return;
	if (of->n_hosts > 1)
		(void)snprintf(more, sizeof(more), " and %u more", of->n_hosts - 1);
	say(to,
	    "%s: credential %s would never be sent: credentials.yaml binds it to %s%s, where no rule or provider leads "
	    "that names it; change its hosts, or the rule",
	    policy_where(c->policy, named->at), text_show(&name, sv_of(named->s)),
	    text_show(&host, sv_of(of->hosts[0])), more);
}

static void check_all_reach(const struct cli_policy *c, const struct run_check_to *to)
{
	const struct pol_str *names[GATE_MAX_PLACEHOLDERS];
	size_t n = gate_needed(c->policy) ? credentials_wanted(c->policy, names, ARRAY_LEN(names)) : 0, i;
	struct credentials *known = NULL;
	const struct credential *of;

	if (n == 0 || n > ARRAY_LEN(names) || cli_credentials(c, &known, &(struct error){0}) < 0)
		return;
	for (i = 0; i < n; i++) {
		of = credentials_find(known, sv_of(names[i]->s));
		if (of)
			check_reach(c, of, names[i], to);
	}
	credentials_free(known);
}

static bool check_credentials(const struct cli_policy *c, const struct run_check_to *to)
{
	const struct pol_str *names[GATE_MAX_PLACEHOLDERS];
	size_t n = credentials_wanted(c->policy, names, ARRAY_LEN(names)), i;
	struct credentials *known = NULL;
	const struct credential *of;
	struct error err = {0};
	struct text_shown t;
	bool refused = false;

	if (n > ARRAY_LEN(names)) {
		refused = true;
		say(to, "cordon run would refuse this: the policy names more than %zu credentials", ARRAY_LEN(names));
		n = ARRAY_LEN(names);
	}
	if (cli_credentials(c, &known, &err) < 0) {
		say(to, "cordon run would refuse this: %s", err.text);
		return true;
	}
	for (i = 0; gate_needed(c->policy) && i < n; i++) {
		of = credentials_find(known, sv_of(names[i]->s));
		if (of) {
			check_reach(c, of, names[i], to);
			continue;
		}
		refused = true;
		say(to, "cordon run would refuse this: %s: credential %s is not in %s/credentials.yaml; add it there",
		    policy_where(c->policy, names[i]->at), text_show(&t, sv_of(names[i]->s)), c->folders.config);
	}
	credentials_free(known);
	return refused;
}

static bool is_routed_to(const struct policy *p, const char *provider)
{
	uint32_t i;

	for (i = 0; i < p->inference.n_routes && strcmp(p->inference.routes[i].provider, provider) != 0; i++)
		;
	return i < p->inference.n_routes;
}

/* Two of a kind, and one variable: programs inside would not find the second. One that models are routed to is found by
 * the first. */
static void check_providers(const struct policy *p, const struct run_check_to *to)
{
	const struct provider *v = p->inference.providers;
	struct text_shown a, b;
	uint32_t i, k;

	for (i = 1; i < p->inference.n_providers; i++) {
		for (k = 0; k < i && strcmp(environ_gate_variable(&v[k]), environ_gate_variable(&v[i])) != 0; k++)
			;
		if (k < i && !is_routed_to(p, v[i].name))
			say(to,
			    "%s: provider %s has no variable inside: %s is that of %s; give it a base_url_env of its "
			    "own, or route its models to it",
			    policy_where(p, v[i].at), text_show(&a, sv_of(v[i].name)), environ_gate_variable(&v[i]),
			    text_show(&b, sv_of(v[k].name)));
	}
}

/* all: also those that are not set here. */
static void check_env(const struct policy *p, bool all, const struct run_check_to *to)
{
	const struct pol_list *pass = &p->process.env_pass;
	struct text_shown name;
	uint32_t i;

	for (i = 0; i < pass->n; i++)
		if (environ_is_forbidden(pass->v[i].s) && (all || getenv(pass->v[i].s)))
			say(to,
			    "%s: process.env.pass: %s %s; name a value in process.env.set, or by --env NAME=VALUE, if "
			    "the sandbox needs one",
			    policy_where(p, pass->v[i].at), text_show(&name, sv_of(pass->v[i].s)),
			    environ_why_text(ENVIRON_FORBIDDEN));
}

static void check_network(const struct policy *p, const struct run_check_to *to)
{
	const struct origin mode = p->net.mode.at;
	uint32_t i;

	if (p->net.mode.v != NET_NONE || mode.file == 0)
		return;
	for (i = 0; i < p->net.allow.n && p->net.allow.v[i].at.file != mode.file; i++)
		;
	if (i < p->net.allow.n)
		say(to,
		    "%s: network.allow has no effect, since network.mode is none (line %u); write mode: allowlist, or "
		    "remove the rules",
		    policy_where(p, p->net.allow.v[i].at), mode.line);
	else if (p->net.ask.v && p->net.ask.at.file == mode.file)
		say(to,
		    "%s: network.ask has no effect, since network.mode is none (line %u); write mode: allowlist, or "
		    "remove it",
		    policy_where(p, p->net.ask.at), mode.line);
}

/* Rules of a host that no connection will ever fit: this machine, private and metadata addresses take a range. */
static void check_hosts(const struct policy *p, const struct run_check_to *to)
{
	const struct net_rule *r;
	struct text_shown host;
	struct net_host h;
	uint32_t i;

	for (i = 0; p->net.mode.v != NET_NONE && i < p->net.allow.n; i++) {
		r = &p->net.allow.v[i];
		if (!r->host)
			continue;
		net_host_read(sv_of(r->host), &h);
		if (h.class != HOST_PRIVATE)
			continue;
		(void)text_show(&host, sv_of(r->host));
		if (h.is_address)
			say(to,
			    "%s: network.allow: host %s opens nothing: it is %s, which only a cidr rule opens; write "
			    "cidr: \"%.*s/%d\"",
			    policy_where(p, r->at), host.s, address_floor_text(address_floor(&h.address)), (int)h.n,
			    h.text, memchr(h.text, ':', h.n) ? 128 : 32);
		else
			say(to,
			    "%s: network.allow: host %s opens nothing: it is this machine or a cloud's metadata, which "
			    "only a cidr rule opens; write the cidr of its address",
			    policy_where(p, r->at), host.s);
	}
}

static void check_home(const struct cli_policy *c, const struct run_check_to *to)
{
	const struct {
		const char *key;
		const struct pol_list *list;
	} lists[] = {{"read", &c->policy->fs.read}, {"write", &c->policy->fs.write}};
	struct text_shown t;
	size_t i;
	uint32_t k;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		for (k = 0; k < lists[i].list->n; k++)
			/* "/" is refused for itself */
			if (strcmp(lists[i].list->v[k].s, "/") != 0 &&
			    policy_query_shows_all(lists[i].list->v[k].s, c->folders.home))
				say(to,
				    "%s: filesystem.%s: %s shows your whole home, with the keys and logins in it "
				    "(.ssh, .aws, ...), but for what is denied; name the folders in it that are needed",
				    policy_where(c->policy, lists[i].list->v[k].at), lists[i].key,
				    text_show(&t, sv_of(lists[i].list->v[k].s)));
}

static void check_loosened(const struct call *call, const struct cli_policy *p, const struct run_check_to *to)
{
	static const char *const modes[] = {
		[WORKDIR_NONE] = "none", [WORKDIR_READ_ONLY] = "read-only", [WORKDIR_COPY] = "copy"};
	const struct pol_num *workdir = &p->policy->fs.workdir;
	struct cli_policy alone = {0};
	const struct option_value *v;
	const char *profile = NULL;
	struct text_shown t;
	size_t at = 0;

	if (workdir->v != WORKDIR_READ_WRITE || !workdir->at.file)
		return;
	while ((v = call_next(call, NULL, &at)) &&
	       (!alone.policy || alone.policy->fs.workdir.v == WORKDIR_READ_WRITE)) {
		if (strcmp(v->option->name, "profile") != 0 && strcmp(v->option->name, "policy") != 0)
			continue;
		/* of the one before, now that something lies on top of it */
		cli_policy_done(&alone);
		if (profile &&
		    cli_policy_load_profile(call, profile, CLI_POLICY_ALONE, &alone, &(struct error){0}) == 0 &&
		    alone.policy->fs.workdir.v != WORKDIR_READ_WRITE)
			say(to,
			    "%s: filesystem.workdir: read-write takes the place of profile %s's, which is %s: what "
			    "comes later wins; name that profile last to keep it",
			    policy_where(p->policy, workdir->at), text_show(&t, sv_of(profile)),
			    modes[alone.policy->fs.workdir.v]);
		profile = strcmp(v->option->name, "profile") == 0 ? v->value : NULL;
	}
	cli_policy_done(&alone);
}

void run_check_start(const struct call *call, const struct cli_policy *p, const struct run_check_to *to)
{
	check_network(p->policy, to);
	check_env(p->policy, false, to);
	check_home(p, to);
	check_loosened(call, p, to);
	check_all_reach(p, to);
}

bool run_check_all(const struct cli_policy *p, const struct run_check_to *to)
{
	bool refused = check_runtimes(p, to);

	refused |= check_plan(p, to);
	refused |= check_credentials(p, to);
	check_providers(p->policy, to);
	check_hosts(p->policy, to);
	check_network(p->policy, to);
	check_env(p->policy, true, to);
	check_home(p, to);
	return refused;
}
