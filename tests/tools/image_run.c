/*
 * image-run: `cordon run` with an image for its root, given as folders; for tests of what the store, the task runner
 * and their kin ask launch() for.
 *
 *	image-run [--policy F] --layer DIR... --folder DIR [--mount SOURCE:TARGET[:rw]]... [--user UID:GID] [--ids
 * COUNT:ZERO:FIRST] [--var K=V]... [--cwd DIR] [--host LINE]... [--storage BYTES] [--join ID] -- CMD...
 *
 * --layer: topmost first. --folder: holds upper and work. --ids: both of users and groups; without it there is one:
 * ourselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cli_policy.h"
#include "cli/launch.h"
#include "cli/runtime_pick.h"

enum { MAX = 300 };

static const struct option options[] = {
	CLI_OPTION_POLICY,
	CLI_OPTION_PROFILE,
	CLI_OPTION_RUNTIME,
	CLI_OPTION_CATEGORY,
	{"layer", 0, "DIR", NULL, "", OPTION_MANY},
	{"folder", 0, "DIR", NULL, "", 0},
	{"mount", 0, "SOURCE:TARGET[:rw]", NULL, "", OPTION_MANY},
	{"user", 0, "UID:GID", NULL, "", 0},
	{"ids", 0, "COUNT:ZERO:FIRST", NULL, "", 0},
	{"var", 0, "K=V", NULL, "", OPTION_MANY},
	{"cwd", 0, "DIR", NULL, "", 0},
	{"host", 0, "LINE", NULL, "", OPTION_MANY},
	{"storage", 0, "BYTES", NULL, "", 0},
	{"join", 0, "ID", NULL, "", 0},
	{"json-events", 0, "FILE", NULL, "", 0},
	{"dry-run", 0, NULL, NULL, "", 0},
	{"json", 0, NULL, NULL, "", 0},
	{0},
};

struct image_arguments {
	const char *layers[MAX], *env[MAX], *hosts[MAX];
	struct image_mount mounts[MAX];
	char upper[4096], work[4096];
	struct image_root root;
};

static void list(const struct call *call, const char *name, const char **to)
{
	const struct option_value *v;
	size_t at = 0, n = 0;

	while ((v = call_next(call, name, &at)) && n < MAX - 1)
		to[n++] = v->value;
}

static void read_mounts(const struct call *call, struct image_arguments *a)
{
	const struct option_value *v;
	struct image_mount *m;
	size_t at = 0;
	char *copy;

	while ((v = call_next(call, "mount", &at)) && a->root.n_mounts < MAX) {
		m = &a->mounts[a->root.n_mounts++];
		copy = strdup(v->value);
		m->source = strsep(&copy, ":");
		m->target = strsep(&copy, ":");
		m->writable = copy && strcmp(copy, "rw") == 0;
	}
}

static void read_arguments(const struct call *call, struct image_arguments *a)
{
	const char *folder = call_value(call, "folder"), *ids = call_value(call, "ids"),
		   *user = call_value(call, "user"), *storage = call_value(call, "storage");
	struct image_ids *i = &a->root.ids;

	list(call, "layer", a->layers);
	list(call, "var", a->env);
	list(call, "host", a->hosts);
	read_mounts(call, a);
	(void)snprintf(a->upper, sizeof(a->upper), "%s/upper", folder ? folder : "");
	(void)snprintf(a->work, sizeof(a->work), "%s/work", folder ? folder : "");
	*i = (struct image_ids){1, geteuid(), 0, getegid(), 0};
	if (ids && sscanf(ids, "%u:%u:%u", &i->count, &i->zero_uid, &i->first_uid) == 3) {
		/* of an ordinary user: the ranges of subuid and subgid are the same in tests */
		i->zero_gid = i->zero_uid == geteuid() ? getegid() : i->zero_uid;
		i->first_gid = i->first_uid;
	}
	if (user)
		(void)sscanf(user, "%u:%u", &a->root.uid, &a->root.gid);
	a->root.storage = storage ? strtoull(storage, NULL, 10) : 0;
	a->root.cwd = call_value(call, "cwd") ? call_value(call, "cwd") : "/";
	a->root.layers = a->layers;
	a->root.upper = a->upper;
	a->root.work = a->work;
	a->root.mounts = a->mounts;
	a->root.env = a->env;
	a->root.hosts = a->hosts;
}

static int run(struct call *call, struct error *err)
{
	static struct image_arguments a;
	struct cli_policy p = {0};
	struct runtime_pick pick;
	struct launch_request req = {.call = call,
				     .policy = &p,
				     .argv = call->command,
				     .pick = &pick,
				     .image = &a.root,
				     .join = call_value(call, "join"),
				     .events_path = call_value(call, "json-events"),
				     .dry_run = call_has(call, "dry-run")};
	int r = cli_policy_load(call, NULL, 0, &p, err);

	read_arguments(call, &a);
	if (r == 0)
		r = runtime_pick(call, &p, req.dry_run, &pick, err);
	if (r == 0)
		r = launch(&req, err);
	cli_policy_done(&p);
	return r;
}

static const struct verb table[] = {
	{.name = "run",
	 .args = "-- CMD",
	 .summary = "",
	 .options = options,
	 .dashdash = true,
	 .run = run,
	 .needs_command = true},
	{0},
};

int main(int argc, char **argv)
{
	struct error err = {0};
	int r = cli_main(table, argc, argv, &err);

	if (r >= 0)
		return r;
	(void)fprintf(stderr, "cordon: %s\n", err.text);
	return cli_exit_status(&err);
}
