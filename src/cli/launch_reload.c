#include "cli/launch_reload.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "policy/policy_diff.h"
#include "policy/policy_load.h"
#include "policy/policy_query.h"

/* Does it mean something else where nothing can change? Both sides get one network and inference, so that only the rest
 * is compared. */
static bool waits_for_restart(const struct launch_reload *l, const struct cli_policy *now)
{
	struct policy changed = *now->policy;
	struct policy_diff_result r;
	AUTO_BUF ignored = {0};

	changed.net = l->first->net;
	changed.inference = l->first->inference;
	buf_init(&ignored, 1 << 20);
	r = policy_diff_text((struct policy_diff_side){l->first, "a"}, (struct policy_diff_side){&changed, "b"},
			     (struct policy_diff_place){now->workdir, false}, &ignored);
	return r.more || r.less;
}

/* Each has a base URL inside, a listener and the variable that names it: these are made at the start only. */
static bool has_new_base_url(const struct policy *first, const struct policy *now)
{
	uint32_t i, k;

	for (i = 0; i < now->inference.n_providers; i++) {
		for (k = 0; k < first->inference.n_providers &&
			    strcmp(first->inference.providers[k].name, now->inference.providers[i].name) != 0;
		     k++)
			;
		if (k == first->inference.n_providers)
			return true;
	}
	return false;
}

/* Puts a policy in force, with what a person has allowed meanwhile: that outlives a reload, as long as a person may. */
static int put_in_force(struct launch_reload *l, const struct policy *p, struct error *err)
{
	uint32_t n = p->net.allow.n, i;
	AUTO_FREE struct net_rule *rules = calloc((size_t)n + l->n_approved + 1, sizeof(*rules));
	struct policy with = *p;

	if (!rules)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (p->net.allow.n)
		memcpy(rules, p->net.allow.v, p->net.allow.n * sizeof(*rules));
	for (i = 0; i < l->n_approved; i++)
		if (policy_query_may_approve(p, l->approved[i].host))
			rules[n++] = l->approved[i];
	with.net.allow = (struct net_rules){.v = rules, .n = n, .set = p->net.allow.set || n > p->net.allow.n};
	return gate_reload(l->gate, &with, err);
}

static int allow(void *arg, const char *host, uint16_t port, struct error *err)
{
	struct launch_reload *l = arg;
	const struct policy *now = l->last.policy ? l->last.policy : l->first;
	struct net_rule *r = &l->approved[l->n_approved];

	if (!policy_query_may_approve(now, host))
		return error_set(err, ERROR_DENIED, "the policy that is in force now does not ask");
	if (l->n_approved == ARRAY_LEN(l->approved))
		return error_set(err, ERROR_DENIED, "at most %zu hosts can be allowed by hand", ARRAY_LEN(l->approved));
	*r = (struct net_rule){
		.host = arena_str(l->arena, sv_of(host)), .ports = arena_alloc(l->arena, sizeof(port)), .n_ports = 1};
	if (arena_failed(l->arena))
		return error_set(err, ERROR_SYSTEM, "out of memory");
	r->ports[0] = port;
	l->n_approved++;
	if (put_in_force(l, now, err) == 0)
		return 0;
	l->n_approved--;
	return -1;
}

/* A workload that may move the folder that we stand in would choose what names mean that are looked for from there. */
static int check_here(const struct launch_reload *l, struct error *err)
{
	char now[PATH_MAX];
	struct text_shown shown;

	if (!l->here || (getcwd(now, sizeof(now)) && strcmp(now, l->here) == 0))
		return 0;
	return error_set(err, ERROR_DENIED,
			 "%s, where the run was started, was moved or removed since; start it anew, or name policies "
			 "by absolute paths",
			 text_show(&shown, sv_of(l->here)));
}

static int load_again(const struct launch_reload *l, const char *path, struct cli_policy *ret, struct error *err)
{
	if (path)
		return cli_policy_load_file(l->call, path, CLI_POLICY_AGAIN, ret, err);
	return check_here(l, err) < 0 ? -1 : cli_policy_load(l->call, NULL, CLI_POLICY_AGAIN, ret, err);
}

static int load(void *arg, const char *path, char digest[65], struct error *err)
{
	struct launch_reload *l = arg;
	struct cli_policy loaded;
	struct text_shown shown;
	bool elsewhere, providers;
	int r = load_again(l, path, &loaded, err);

	if (r == 0) {
		r = put_in_force(l, loaded.policy, err);
		if (r < 0)
			cli_policy_done(&loaded);
	}
	if (r < 0) {
		call_note(l->call, "the new policy is refused, the last one stays: %s",
			  text_show(&shown, sv_of(err->text)));
		return -1;
	}
	elsewhere = waits_for_restart(l, &loaded);
	providers = has_new_base_url(l->first, loaded.policy);
	if (elsewhere || providers) {
		(void)error_set(err, ERROR_NONE, "%s%s%s wait%s for a restart of the run",
				elsewhere ? "what the new policy changes in filesystem and process" : "",
				elsewhere && providers ? ", and " : "",
				providers ? "the base URLs of providers that it was not started with" : "",
				providers ? "" : "s");
		call_note(l->call, "note: %s", err->text);
	}
	memcpy(digest, loaded.digest, sizeof(loaded.digest));
	cli_policy_done(&l->last);
	l->last = loaded;
	return elsewhere || providers;
}

/* Another sandbox could open this one by it. */
static bool is_followed(const struct launch_reload *l, const char *file, const struct live *live)
{
	struct text_shown shown;
	size_t i;

	for (i = 0; i < live->n_avoid && live->avoid[i] != file; i++)
		;
	if (i == live->n_avoid)
		return true;
	call_note(l->call, "note: another sandbox may write %s: changes of it take effect by `cordon policy push` only",
		  text_show(&shown, sv_of(file)));
	return false;
}

static const char *find_here(struct arena *arena, const struct policy *p)
{
	char here[PATH_MAX];
	uint32_t i;

	for (i = 1; i < p->n_files; i++)
		if (p->files[i][0] != '/' && !policy_shipped(p->files[i]))
			return arena_str(arena, sv_of(getcwd(here, sizeof(here)) ? here : ""));
	return NULL;
}

void launch_reload_init(struct launch_reload *l, const struct call *call, const struct policy *first, struct gate *gate,
			const struct live *live)
{
	uint32_t i;

	*l = (struct launch_reload){.call = call, .first = first, .gate = gate, .arena = arena_new()};
	if (!l->arena)
		return; /* then nothing can change, which is safe */
	l->here = find_here(l->arena, first);
	l->policies = (struct supervise_policies){.files = l->files, .load = load, .allow = allow, .arg = l};
	for (i = 1; i < first->n_files && l->policies.n_files < ARRAY_LEN(l->files); i++)
		if (access(first->files[i], F_OK) == 0 && is_followed(l, first->files[i], live))
			l->files[l->policies.n_files++] = first->files[i];
}

void launch_reload_done(struct launch_reload *l)
{
	cli_policy_done(&l->last);
	arena_free(l->arena);
}
