#include "cli/verb_runs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli_policy.h"
#include "cli/launch_box.h"
#include "cli/runs_info.h"
#include "supervise/client.h"
#include "supervise/control.h"
#include "supervise/state.h"
#include "sys/cgroup.h"

const struct option verb_ps_options[] = {
	{"all", 'a', NULL, NULL, "Also runs that have ended.", 0},
	{"quiet", 'q', NULL, NULL, "Only the ids.", 0},
	CLI_OPTION_JSON,
	{0},
};

struct listing {
	const struct call *call;
	const char *root;
	struct buf out;
	struct json json;
	size_t n;
	int64_t now;
};

/* One run: what its log says, and what its supervisor says of a sandbox that is kept. */
struct listed {
	const char *id;
	struct run_info info;
	bool changes; /* it has ended, and left some that were not applied */
	bool asked; /* and it answered */
	struct client_seen seen;
};

static void put_when(struct json *j, const char *key, bool known, int64_t ms)
{
	json_key(j, key);
	if (known)
		json_int(j, ms);
	else
		json_none(j);
}

static void put_json(struct listing *l, const struct listed *r)
{
	const struct run_info *info = &r->info;
	struct json *j = &l->json;

	json_open(j);
	json_kstr(j, "id", r->id);
	json_kstr(j, "status", info->running ? "running" : info->ended ? "exited" : "killed");
	put_when(j, "exit", info->ended, info->exit);
	json_kint(j, "started", info->started_ms);
	json_kint(j, "pid", info->pid);
	json_kstr(j, "runtime", info->runtime[0] ? info->runtime : "native");
	json_kstr(j, "policy", info->policy);
	json_kstr(j, "workdir", info->workdir);
	json_kstr(j, "workdir_mode", info->workdir_mode);
	json_kstr(j, "command", info->command.p ? info->command.p : "");
	json_kstr(j, "kind", info->kind[0] ? info->kind : "run");
	json_kstr(j, "owner", info->owner[0] ? info->owner : NULL);
	put_when(j, "commands_running", r->asked, r->seen.running);
	put_when(j, "idle_since", r->asked && !r->seen.running, l->now - (int64_t)r->seen.idle_ms);
	json_kbool(j, "changes", r->changes);
	json_kstr(j, "last_command", r->asked && r->seen.last[0] ? r->seen.last : NULL);
	json_close(j);
}

static const char *status(const struct listed *r, char room[32])
{
	char idle[32];

	if (!r->asked || r->seen.running)
		return run_info_status(&r->info, room);
	if (strcmp(r->info.kind, "warm") == 0)
		return "ready";
	(void)snprintf(room, 32, "idle %.20s", run_age(idle, (int64_t)r->seen.idle_ms));
	return room;
}

static void put_kind(struct buf *out, const struct run_info *info)
{
	AUTO_BUF b = {0};

	buf_init(&b, 256);
	if (info->owner[0]) {
		(void)buf_str(&b, "for ");
		text_escape(&b, sv_of(info->owner), 24);
	} else {
		(void)buf_str(&b, info->kind[0] ? info->kind : "run");
	}
	(void)buf_printf(out, "%-12s ", b.p);
}

static void put_line(struct listing *l, const struct listed *r)
{
	const struct run_info *info = &r->info;
	const char *slash = strrchr(info->policy, '/');
	char room[32], started[32];
	struct text_shown policy;

	/* of a path what tells it from others */
	(void)buf_printf(&l->out, "%-9s %-11s %-6s %-7s %-12.12s ", r->id, status(r, room),
			 run_age(started, l->now - info->started_ms), info->runtime[0] ? info->runtime : "native",
			 text_show(&policy, sv_of(slash ? slash + 1 : info->policy)));
	put_kind(&l->out, info);
	(void)buf_printf(&l->out, "%-8s ", r->changes ? "kept" : "-");
	if (r->asked && r->seen.last[0])
		(void)buf_str(&l->out, r->seen.last);
	else
		text_escape(&l->out, buf_view(&info->command), 60);
	(void)buf_char(&l->out, '\n');
}

/* Nobody waits long for a supervisor that stands still. */
static void ask(struct listed *r)
{
	AUTO_FD fd = r->info.running && r->info.kind[0] ? control_connect(r->id) : -1;

	r->asked = fd >= 0 && client_look(fd, &r->seen) == 0;
}

static int list_one(void *arg, const char *id)
{
	struct listing *l = arg;
	struct error ignored = {0};
	struct listed one = {.id = id};
	struct state s;
	bool running;

	if (state_open(l->root, id, &s, &running, &ignored) < 0)
		return 0;
	if ((running || call_has(l->call, "all")) && run_info_read(&s, running, &one.info, &ignored) == 0) {
		if (call_has(l->call, "quiet") && !call_has(l->call, "json")) {
			(void)buf_printf(&l->out, "%s\n", id);
		} else {
			ask(&one);
			one.changes = !running && state_holds_work(&s);
			(call_has(l->call, "json") ? put_json : put_line)(l, &one);
		}
		run_info_done(&one.info);
	}
	state_done(&s);
	return 0;
}

int verb_ps(struct call *call, struct error *err)
{
	AUTO_FREE char *root = NULL;
	struct listing l = {.call = call};
	struct timespec now;
	int r;

	if (state_root(&root, err) < 0)
		return -1;
	/* What supervisors that were killed could not clean up. */
	state_sweep(root);
	launch_box_sweep(root);
	cgroup_tidy(NULL);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	l.now = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	l.root = root;
	buf_init(&l.out, 16 << 20);
	json_init(&l.json, &l.out);
	if (call_has(call, "json"))
		json_list(&l.json);
	else if (!call_has(call, "quiet"))
		(void)buf_str(&l.out,
			      "ID        STATUS      AGE    RUNTIME POLICY       KIND         CHANGES  COMMAND\n");
	(void)state_each(root, list_one, &l, err);
	if (call_has(call, "json")) {
		json_end(&l.json);
		(void)buf_char(&l.out, '\n');
	}
	r = cli_print(call, &l.out, err);
	buf_done(&l.out);
	return r;
}
