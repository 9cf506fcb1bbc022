#include "cli/launch_shown.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cli/launch_git.h"
#include "plan/plan_build.h"
#include "supervise/state.h"

/* Names may come to mean other folders. */
static void add_identity(struct sha256 *h, const char *path)
{
	uint64_t id[2] = {0};
	struct stat st;

	if (stat(path, &st) == 0) {
		id[0] = st.st_dev;
		id[1] = st.st_ino;
	}
	sha256_add(h, id, sizeof(id));
}

int launch_shown(const struct launch_request *req, char ret[SHA256_HEX], struct error *err)
{
	char any[] = "-", *argv[] = {any, NULL}, *env[] = {NULL};
	unsigned char digest[SHA256_SIZE];
	AUTO_FREE char *state = NULL;
	struct plan_request q = {.policy = req->policy->policy,
				 .argv = argv,
				 .env = env,
				 .workdir = req->workdir,
				 .here = req->policy->workdir,
				 .home = req->policy->folders.home,
				 .cache_dir = req->policy->folders.cache,
				 .runtime = runtime_names[req->pick->runtime],
				 .runtime_why = "",
				 .image = req->image};
	struct launch_git_configs configs;
	struct cli_own own;
	struct plan *plan = NULL;
	struct sha256 h;
	size_t i;

	if (state_root(&state, err) < 0)
		return -1;
	q.state_dir = state;
	q.own = cli_own(&own, &req->policy->folders);
	q.git_configs = launch_git_configs(&configs, &req->policy->folders);
	if (plan_build(&q, &plan, err) < 0)
		return -1;
	plan_digest(plan, ret);
	sha256_init(&h);
	sha256_add(&h, ret, SHA256_HEX);
	for (i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].host && plan->ops[i].source)
			add_identity(&h, plan->ops[i].source);
	sha256_done(&h, digest);
	sha256_hex(digest, ret);
	plan_free(plan);
	return 0;
}
