#include "cli/run_check.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/runtime_pick.h"
#include "model/gate.h"
#include "plan/plan_build.h"
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

/* These return true where a run would be refused. Nothing is started for it: a runtime that is there may still turn out not to work. */
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
	struct plan_request req = {.policy = c->policy, .argv = argv, .env = env, .home = c->folders.home, .state_dir = "(state)"};
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

static bool check_credentials(const struct cli_policy *c, const struct run_check_to *to)
{
	const struct pol_str *names[GATE_MAX_PLACEHOLDERS];
	size_t n = credentials_wanted(c->policy, names, ARRAY_LEN(names)), i;
	struct credentials *known = NULL;
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
		if (credentials_find(known, sv_of(names[i]->s)))
			continue;
		refused = true;
		say(to, "cordon run would refuse this: %s: credential %s is not in %s/credentials.yaml; add it there", policy_where(c->policy, names[i]->at),
		    text_show(&t, sv_of(names[i]->s)), c->folders.config);
	}
	credentials_free(known);
	return refused;
}

void run_check_network(const struct policy *p, const struct run_check_to *to)
{
	const struct origin mode = p->net.mode.at;
	uint32_t i;

	if (p->net.mode.v != NET_NONE || mode.file == 0)
		return;
	for (i = 0; i < p->net.allow.n && p->net.allow.v[i].at.file != mode.file; i++)
		;
	if (i < p->net.allow.n)
		say(to, "%s: network.allow has no effect, since network.mode is none (line %u); write mode: allowlist, or remove the rules", policy_where(p, p->net.allow.v[i].at), mode.line);
	else if (p->net.ask.v && p->net.ask.at.file == mode.file)
		say(to, "%s: network.ask has no effect, since network.mode is none (line %u); write mode: allowlist, or remove it", policy_where(p, p->net.ask.at), mode.line);
}

bool run_check_all(const struct cli_policy *p, const struct run_check_to *to)
{
	bool refused = check_runtimes(p, to);

	refused |= check_plan(p, to);
	refused |= check_credentials(p, to);
	run_check_network(p->policy, to);
	return refused;
}
