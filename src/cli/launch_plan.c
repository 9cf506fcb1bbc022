#include "cli/launch_plan.h"

#include "vault/credentials_read.h"

/* The files that hold values of credentials: no run has a use for them, with a gateway or without. */
static int credential_files(struct arena *arena, const struct cli_policy *policy, const char *ret[LIVE_FILES + 1], struct error *err)
{
	struct credentials *c = NULL;
	const char *const *file;
	size_t n = 0;
	int r = 0;

	if (cli_credentials(policy, &c, err) < 0)
		return -1;
	for (file = credentials_files(c); r == 0 && file && *file; file++)
		if (live_names(arena, *file, ret, &n) < 0)
			r = error_set(err, ERROR_INPUT, "%s is reached through more links than can be hidden; name the file itself in credentials.yaml", *file);
	ret[n] = NULL;
	credentials_free(c);
	return file ? r : error_set(err, ERROR_SYSTEM, "out of memory");
}

int launch_plan_fill(struct launch_plan *s, struct arena *arena, const struct cli_policy *policy, const char *root, const char *const *written, struct plan_request *p, struct error *err)
{
	p->policy = policy->policy;
	p->here = policy->workdir;
	p->home = policy->folders.home;
	p->cache_dir = policy->folders.cache;
	p->protect = s->protect;
	p->outputs = s->outputs;
	p->hide = s->secret;
	p->own = cli_own(&s->own, &policy->folders);
	p->git_configs = launch_git_configs(&s->configs, &policy->folders);
	if (live_look(arena, &(struct live_reach){policy->policy, p->workdir}, root, written, s->protect, s->outputs, err) < 0)
		return -1;
	return credential_files(arena, policy, s->secret, err);
}
