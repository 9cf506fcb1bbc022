#include "cli/run_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli.h"
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

static const struct pol_pair *find_category(const struct policy *p, const char *category)
{
	uint32_t i;

	for (i = 0; category && i < p->process.categories.n; i++)
		if (strcmp(p->process.categories.v[i].key, category) == 0)
			return &p->process.categories.v[i];
	return NULL;
}

static bool may_fall_back(const struct policy *p)
{
	uint32_t i;

	for (i = 0; i < p->process.fallback.n; i++)
		if (strcmp(p->process.fallback.v[i].s, "native") == 0)
			return true;
	return false;
}

int run_check_runtime(const struct policy *p, const char *asked, const char *category, const struct run_check_to *to, struct error *err)
{
	const struct pol_pair *pair = NULL;
	int runtime = (int)p->process.runtime.v;
	const char *where = policy_where(p, p->process.runtime.at), *key = "process.runtime";

	if (category && call_choice("--category", category, category_names, err) < 0)
		return -1;
	if (asked) {
		runtime = call_choice("--runtime", asked, runtime_names, err);
		if (runtime < 0)
			return -1;
	}
	if (runtime == RUNTIME_AUTO) {
		pair = find_category(p, category);
		runtime = pair ? name_index(runtime_names, sv_of(pair->value)) : RUNTIME_NATIVE;
	}
	if (pair) {
		where = policy_where(p, pair->at);
		key = "process.categories";
	}
	if (runtime == RUNTIME_NATIVE || runtime == RUNTIME_AUTO)
		return 0;
	if (asked && !pair)
		return error_set(err, ERROR_MISSING, "--runtime: the runtime %s is not available in this version; use native", runtime_names[runtime]);
	if (!may_fall_back(p))
		return error_set(err, ERROR_MISSING,
				 "%s: %s: the runtime %s is not available in this version; use native, or let process.fallback name it", where, key,
				 runtime_names[runtime]);
	say(to, "FALLBACK: the runtime %s is not available in this version; process.fallback allows native, which is used instead",
	    runtime_names[runtime]);
	return 0;
}

static void check_runtimes(const struct policy *p, const struct run_check_to *to)
{
	struct error err = {0};
	uint32_t i;

	if (run_check_runtime(p, NULL, NULL, to, &err) < 0)
		say(to, "cordon run would refuse this: %s", err.text);
	for (i = 0; p->process.runtime.v == RUNTIME_AUTO && i < p->process.categories.n; i++)
		if (run_check_runtime(p, NULL, p->process.categories.v[i].key, to, &err) < 0)
			say(to, "cordon run --category %s would refuse this: %s", p->process.categories.v[i].key, err.text);
}

/* Without a work folder: which one it will be, a policy does not say. */
static void check_plan(const struct cli_policy *c, const struct run_check_to *to)
{
	char *argv[] = {(char[]){"true"}, NULL}, *env[] = {NULL};
	const struct plan_gate gate = {0};
	struct plan_request req = {.policy = c->policy, .argv = argv, .env = env, .home = c->folders.home, .state_dir = "(state)"};
	struct error err = {0};
	struct plan *plan = NULL;

	if (gate_needed(c->policy))
		req.gate = &gate;
	if (plan_build(&req, &plan, &err) < 0)
		say(to, "cordon run would refuse this: %s", err.text);
	else
		plan_free(plan);
}

static void check_credentials(const struct cli_policy *c, const struct run_check_to *to)
{
	const struct pol_str *names[GATE_MAX_PLACEHOLDERS];
	size_t n = credentials_wanted(c->policy, names, ARRAY_LEN(names)), i;
	struct credentials *known = NULL;
	struct error err = {0};
	struct text_shown t;

	if (n > ARRAY_LEN(names)) {
		say(to, "cordon run would refuse this: the policy names more than %zu credentials", ARRAY_LEN(names));
		n = ARRAY_LEN(names);
	}
	if (cli_credentials(c, &known, &err) < 0) {
		say(to, "cordon run would refuse this: %s", err.text);
		return;
	}
	for (i = 0; gate_needed(c->policy) && i < n; i++)
		if (!credentials_find(known, sv_of(names[i]->s)))
			say(to, "cordon run would refuse this: %s: credential %s is not in %s/credentials.yaml; add it there", policy_where(c->policy, names[i]->at),
			    text_show(&t, sv_of(names[i]->s)), c->folders.config);
	credentials_free(known);
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

void run_check_all(const struct cli_policy *p, const struct run_check_to *to)
{
	check_runtimes(p->policy, to);
	check_plan(p, to);
	check_credentials(p, to);
	run_check_network(p->policy, to);
}
