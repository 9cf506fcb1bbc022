#include "cli/verb_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/launch.h"

const struct option verb_run_options[] = {
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	{"runtime", 'r', "RUNTIME", "runtime", "Use this runtime, whatever the policy says: auto or native.", 0},
	{"category", 0, "CATEGORY", "category", "The tool category of CMD; policy may give each its own runtime.", 0},
	CLI_OPTION_WORKDIR("Take this as the work folder; else the current one."),
	{"env", 'e', "NAME[=VALUE]", NULL, "Set a variable inside, or pass the host's; may be repeated.", OPTION_MANY},
	{"dry-run", 'n', NULL, NULL, "Print what would be done, step by step, and start nothing.", 0},
	{"json-events", 0, "FILE", "file", "Also append the run's events to FILE, one JSON object a line.", 0},
	{"report", 0, "FILE", "file", "Write a page about the run to FILE (HTML) when it has ended.", 0},
	{0},
};

static enum runtime category_runtime(const struct policy *p, const char *category)
{
	uint32_t i;

	for (i = 0; category && i < p->process.categories.n; i++)
		if (strcmp(p->process.categories.v[i].key, category) == 0)
			return (enum runtime)name_index(runtime_names, sv_of(p->process.categories.v[i].value));
	return RUNTIME_NATIVE;
}

/* Isolation that was asked for and is missing is an error, unless policy names the fallback. */
static int choose_runtime(const struct call *call, const struct policy *p, struct error *err)
{
	const char *asked = call_value(call, "runtime"), *category = call_value(call, "category");
	int runtime = (int)p->process.runtime.v;
	struct text_shown t;
	uint32_t i;

	if (category && name_index(category_names, sv_of(category)) < 0)
		return error_set(err, ERROR_USAGE, "--category %s: no such category; see cordon help run", text_show(&t, sv_of(category)));
	if (asked)
		runtime = name_index(runtime_names, sv_of(asked));
	if (runtime < 0)
		return error_set(err, ERROR_USAGE, "--runtime %s: no such runtime; use auto or native", text_show(&t, sv_of(asked)));
	if (runtime == RUNTIME_AUTO)
		runtime = category_runtime(p, category);
	if (runtime == RUNTIME_NATIVE)
		return 0;
	for (i = 0; !asked && i < p->process.fallback.n; i++) {
		if (strcmp(p->process.fallback.v[i].s, "native") == 0) {
			call_note(call, "FALLBACK: the runtime %s is not available in this version; process.fallback allows native, which is used instead",
				  runtime_names[runtime]);
			return 0;
		}
	}
	return error_set(err, ERROR_MISSING, "%s: the runtime %s is not available in this version; use native, or let process.fallback name it",
			 asked ? "--runtime" : policy_where(p, p->process.runtime.at), runtime_names[runtime]);
}

static bool is_at_or_above(const char *folder, const char *path)
{
	size_t n = strlen(folder);

	return strcmp(folder, "/") == 0 || (strncmp(folder, path, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

static bool is_system_folder(const char *path)
{
	static const char *const folders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/boot", "/run", "/var",
					      "/tmp", "/home", NULL};
	size_t i;

	for (i = 0; folders[i]; i++)
		if (strcmp(path, folders[i]) == 0)
			return true;
	return false;
}

/*
 * A home folder holds what a sandbox must not see. Named on purpose it is refused; where it is only where the user happens to stand, the run has no work
 * folder and says so.
 */
static int choose_workdir(const struct call *call, const struct cli_policy *p, const char **ret, struct error *err)
{
	struct text_shown t;
	const char *what = NULL;

	*ret = p->workdir;
	if (p->policy->fs.workdir.v == WORKDIR_NONE) {
		*ret = NULL;
		return 0;
	}
	if (access(p->workdir, X_OK) < 0 && errno == EACCES)
		return error_sys(err, EACCES, "work folder %s", text_show(&t, sv_of(p->workdir)));
	if (is_at_or_above(p->workdir, p->folders.home))
		what = "holds your home folder, and with it your secrets";
	else if (is_system_folder(p->workdir))
		what = "belongs to the system";
	else if (is_at_or_above(p->workdir, p->folders.state) || is_at_or_above(p->folders.state, p->workdir))
		what = "holds Cordon's own state";
	if (!what)
		return 0;
	if (call_has(call, "workdir"))
		return error_set(err, ERROR_DENIED, "--workdir %s %s; use a project folder", text_show(&t, sv_of(p->workdir)), what);
	call_note(call, "note: the current folder %s: running without a work folder; change to a project folder or use --workdir", what);
	*ret = NULL;
	return 0;
}

/* What this version cannot serve is said before it is missed. The sandbox has no way out, so nothing is weaker than asked. */
static void note_doors(const struct call *call, const struct policy *p)
{
	if (p->net.mode.v != NET_NONE)
		call_note(call, "note: network.mode %s: this version has no gateway yet: no host is reachable from this run",
			  net_mode_names[p->net.mode.v]);
	if (p->inference.n_providers)
		call_note(call, "note: inference.providers: this version has no gateway yet: no model is reachable from this run");
}

int verb_run(struct call *call, struct error *err)
{
	struct cli_policy p = {0};
	struct launch_request req = {.call = call, .policy = &p, .argv = call->command, .events_path = call_value(call, "json-events"),
				     .report_path = call_value(call, "report"),
				     .dry_run = call_has(call, "dry-run")};
	const struct option_value *v;
	const char **env = NULL;
	size_t at = 0;
	int r = cli_policy_load(call, NULL, 0, &p, err);

	if (r == 0)
		r = choose_runtime(call, p.policy, err);
	if (r == 0)
		r = choose_workdir(call, &p, &req.workdir, err);
	if (r == 0) {
		note_doors(call, p.policy);
		env = calloc(call->n_values + 1, sizeof(*env));
		while (env && (v = call_next(call, "env", &at)))
			env[req.n_env_arguments++] = v->value;
		req.env_arguments = env;
		r = env ? launch(&req, err) : error_set(err, ERROR_SYSTEM, "out of memory");
	}
	free(env);
	cli_policy_done(&p);
	return r;
}
