#include "model/policy.h"

const char *const workdir_mode_names[] = {"none", "read-only", "read-write", "copy", NULL};
const char *const net_mode_names[] = {"none", "allowlist", "public", NULL};
const char *const dns_mode_names[] = {"none", "policy", NULL};
const char *const runtime_names[] = {"auto", "native", "gvisor", "runc", "crun", "docker", NULL};
const char *const provider_kind_names[] = {"anthropic", "openai", "gemini", NULL};
const char *const server_tools_names[] = {"deny", "allow", NULL};
const char *const graphql_type_names[] = {"query", "mutation", "subscription", NULL};
const char *const category_names[] = {"file_system", "code_execution", "version_control", "web",
				      "database",    "terminal",       "design",	  "communication",
				      "analytics",   "deployment",     "mcp",		  "other",
				      NULL};
const char *const phase_names[] = {"build", "setup", "agent", "verify", NULL};

struct policy *policy_new(void)
{
	struct arena *a = arena_new();
	struct policy *p = a ? arena_alloc(a, sizeof(*p)) : NULL;

	if (p) {
		p->arena = a;
		p->files = arena_array(a, 1, sizeof(*p->files));
	}
	if (!p || !p->files) {
		arena_free(a);
		return NULL;
	}
	p->files[0] = "built in";
	p->n_files = 1;
	return p;
}

void policy_free(struct policy *p)
{
	if (p)
		arena_free(p->arena);
}

int name_index(const char *const *names, struct sv s)
{
	int i;

	for (i = 0; names[i]; i++)
		if (sv_is(s, names[i]))
			return i;
	return -1;
}
