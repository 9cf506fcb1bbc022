#include "cli/launch_plan.h"

#include <limits.h>
#include <unistd.h>

#include "policy/policy_load.h"
#include "vault/credentials_read.h"

/* The files that hold values of credentials: no run has a use for them, with a gateway or without. */
static int credential_files(struct arena *arena, const struct cli_policy *policy, const char *ret[LIVE_FILES + 1],
			    struct error *err)
{
	struct credentials *c = NULL;
	const char *const *file;
	size_t n = 0;
	int r = 0;

	if (cli_credentials(policy, &c, err) < 0)
		return -1;
	for (file = credentials_files(c); r == 0 && file && *file; file++)
		if (live_names(arena, *file, ret, &n) < 0)
			r = error_set(err, ERROR_INPUT,
				      "%s is reached through more links than can be hidden; name the file itself in "
				      "credentials.yaml",
				      *file);
	ret[n] = NULL;
	credentials_free(c);
	return file ? r : error_set(err, ERROR_SYSTEM, "out of memory");
}

/* As they are looked for again while the run goes on. */
static int name_ways(struct arena *arena, const struct policy *p, const char ***ret, struct error *err)
{
	const char **ways = arena_array(arena, p->n_files + 1, sizeof(*ways));
	char here[PATH_MAX] = "";
	size_t i, n = 0;

	if (!getcwd(here, sizeof(here)))
		here[0] = '\0';
	for (i = 1; ways && i < p->n_files; i++)
		if (!policy_shipped(p->files[i]))
			ways[n++] =
				p->files[i][0] == '/' ? p->files[i] : arena_printf(arena, "%s/%s", here, p->files[i]);
	*ret = ways;
	return arena_failed(arena) ? error_set(err, ERROR_SYSTEM, "out of memory") : 0;
}

int launch_plan_fill(struct launch_plan *s, struct arena *arena, const struct cli_policy *policy, const char *root,
		     const char *const *written, struct plan_request *p, struct error *err)
{
	p->policy = policy->policy;
	p->here = policy->workdir;
	p->home = policy->folders.home;
	p->cache_dir = policy->folders.cache;
	if (name_ways(arena, policy->policy, &s->ways, err) < 0)
		return -1;
	p->protect = s->protect;
	p->ways = s->ways;
	p->outputs = s->outputs;
	p->hide = s->secret;
	p->own = cli_own(&s->own, &policy->folders);
	p->git_configs = launch_git_configs(&s->configs, &policy->folders);
	if (live_look(arena, &(struct live_reach){policy->policy, p->workdir}, root, written, s->protect, s->outputs,
		      err) < 0)
		return -1;
	return credential_files(arena, policy, s->secret, err);
}
