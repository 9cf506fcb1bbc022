#include "cli/verb_runs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/backends.h"
#include "cli/cli_policy.h"
#include "cli/launch_box.h"
#include "cli/runs_info.h"
#include "model/inside.h"
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

const struct option verb_stop_options[] = {
	{"time", 't', "SECONDS", NULL, "How long the command may take to end by itself; else 10.", 0},
	{0},
};

const struct option verb_logs_options[] = {
	{"json", 0, NULL, NULL, "Print the log as it is: one JSON object a line.", 0},
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

static void put_json(struct listing *l, const char *id, const struct run_info *info)
{
	struct json *j = &l->json;

	json_open(j);
	json_kstr(j, "id", id);
	json_kstr(j, "status", info->running ? "running" : info->ended ? "exited" : "killed");
	json_key(j, "exit");
	if (info->ended)
		json_int(j, info->exit);
	else
		json_none(j);
	json_kint(j, "started", info->started_ms);
	json_kint(j, "pid", info->pid);
	json_kstr(j, "runtime", info->runtime[0] ? info->runtime : "native");
	json_kstr(j, "policy", info->policy);
	json_kstr(j, "workdir", info->workdir);
	json_kstr(j, "workdir_mode", info->workdir_mode);
	json_kstr(j, "command", info->command.p ? info->command.p : "");
	json_close(j);
}

static void put_age(struct buf *out, int64_t ms)
{
	int64_t s = ms / 1000;
	char text[32];

	if (s < 120)
		(void)snprintf(text, sizeof(text), "%llds", (long long)s);
	else if (s < 7200)
		(void)snprintf(text, sizeof(text), "%lldm", (long long)(s / 60));
	else if (s < 172800)
		(void)snprintf(text, sizeof(text), "%lldh", (long long)(s / 3600));
	else
		(void)snprintf(text, sizeof(text), "%lldd", (long long)(s / 86400));
	(void)buf_printf(out, "%-6s ", text);
}

static int list_one(void *arg, const char *id)
{
	struct listing *l = arg;
	struct error ignored = {0};
	struct run_info info;
	struct state s;
	char room[32];
	bool running;

	if (state_open(l->root, id, &s, &running, &ignored) < 0)
		return 0;
	if (running || call_has(l->call, "all")) {
		if (run_info_read(&s, running, &info, &ignored) == 0) {
			if (call_has(l->call, "json")) {
				put_json(l, id, &info);
			} else if (call_has(l->call, "quiet")) {
				(void)buf_printf(&l->out, "%s\n", id);
			} else {
				(void)buf_printf(&l->out, "%-9s %-11s ", id, run_info_status(&info, room));
				put_age(&l->out, l->now - info.started_ms);
				(void)buf_printf(&l->out, "%-7s %-12.12s ", info.runtime[0] ? info.runtime : "native", info.policy);
				text_escape(&l->out, buf_view(&info.command), 60);
				(void)buf_char(&l->out, '\n');
			}
			run_info_done(&info);
		}
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
		(void)buf_str(&l.out, "ID        STATUS      AGE    RUNTIME POLICY       COMMAND\n");
	(void)state_each(root, list_one, &l, err);
	if (call_has(call, "json")) {
		json_end(&l.json);
		(void)buf_char(&l.out, '\n');
	}
	r = cli_print(call, &l.out, err);
	buf_done(&l.out);
	return r;
}

/* Opens a run by its id, and says whether it is running. */
static int open_run(const char *id, struct state *ret, bool *running, struct error *err)
{
	AUTO_FREE char *root = NULL;

	if (state_root(&root, err) < 0)
		return -1;
	return state_open(root, id, ret, running, err);
}

/* Files must not be passed into it to be written. */
static bool collects(const struct state *s)
{
	struct error ignored = {0};
	const struct box_backend *b;
	struct run_info info;
	int runtime;

	if (run_info_read(s, true, &info, &ignored) < 0)
		return false;
	runtime = name_index(runtime_names, sv_of(info.runtime));
	b = runtime < 0 ? NULL : backend_of((enum runtime)runtime);
	run_info_done(&info);
	return b && !b->sends_fds;
}

static int connect_run(const char *id, bool *ret_collects, struct error *err)
{
	struct state s;
	bool running;
	int fd;

	if (open_run(id, &s, &running, err) < 0)
		return -1;
	if (ret_collects)
		*ret_collects = collects(&s);
	state_done(&s);
	if (!running)
		return error_set(err, ERROR_USAGE, "%s: the run has ended", id);
	fd = control_connect(id);
	return fd < 0 ? error_sys(err, fd, "%s: its supervisor does not answer", id) : fd;
}

int verb_exec(struct call *call, struct error *err)
{
	bool collect = false;
	AUTO_FD fd = connect_run(call->args[0], &collect, err);
	int r = fd < 0 ? -1 : client_exec(fd, call->command, collect, err);
	struct text_shown shown;

	/* What the sandbox shows was settled when it started. */
	if (r < 0 && err->kind == ERROR_NOT_FOUND)
		return error_set(err, ERROR_NOT_FOUND, "%s: not found in the sandbox, whose files and PATH are those it was started with",
				 text_show(&shown, sv_of(call->command[0])));
	return r;
}

/* The supervisor has a last line to write, and changes to keep, when the sandbox has ended; it lets go of the log after that. */
static void wait_for_log(const char *id)
{
	struct error ignored = {0};
	struct state s;
	bool running;

	if (open_run(id, &s, &running, &ignored) < 0)
		return;
	while (running && flock(s.lock, LOCK_SH) < 0 && errno == EINTR)
		;
	state_done(&s);
}

int verb_stop(struct call *call, struct error *err)
{
	const char *text = call_value(call, "time");
	AUTO_BUF b = {0};
	AUTO_FD fd = -1;
	char *end = NULL;
	long seconds = text ? strtol(text, &end, 10) : 10;
	char c;
	int r;

	if (text && (end == text || *end || seconds < 0 || seconds > 86400))
		return error_set(err, ERROR_USAGE, "stop: --time takes a number of seconds, at most a day (86400)");
	fd = connect_run(call->args[0], NULL, err);
	if (fd < 0)
		return -1;
	buf_init(&b, 64);
	wire_put_u32(&b, (uint32_t)seconds * 1000);
	r = wire_send(fd, INSIDE_STOP, buf_view(&b), NULL, 0);
	if (r < 0)
		return error_sys(err, r, "%s", call->args[0]);
	/* its end is the connection's */
	while (read(fd, &c, 1) > 0)
		;
	wait_for_log(call->args[0]);
	return 0;
}

int verb_policy_push(struct call *call, struct error *err)
{
	AUTO_FREE char *path = realpath(call->args[1], NULL);
	struct text_shown shown;
	AUTO_FD fd = -1;

	if (!path)
		return error_sys(err, errno, "%s", text_show(&shown, sv_of(call->args[1])));
	fd = connect_run(call->args[0], NULL, err);
	return fd < 0 ? -1 : client_push(fd, path, err);
}

int verb_logs(struct call *call, struct error *err)
{
	AUTO_FREE char *path = NULL;
	struct state s;
	bool running;
	int r;

	if (open_run(call->args[0], &s, &running, err) < 0)
		return -1;
	if (asprintf(&path, "%s/audit.jsonl", s.path) < 0)
		path = NULL;
	state_done(&s);
	if (!path)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (!call_has(call, "json"))
		return audit_show(path, call->out, call->color, err);
	{
		AUTO_BUF b = {0};

		buf_init(&b, 1 << 30);
		r = buf_read_file(&b, path);
		return r < 0 ? error_sys(err, r, "%s", path) : cli_print(call, &b, err);
	}
}
