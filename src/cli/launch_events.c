#include "cli/launch_events.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit_command.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/sha256.h"
#include "model/policy.h"
#include "plan/plan_build.h"

static const char *const namespaces[RUNTIMES] = {
	[RUNTIME_NATIVE] = "user mount pid net ipc uts cgroup",
	[RUNTIME_GVISOR] = "a kernel of its own, mount pid net ipc uts",
	[RUNTIME_RUNC] = "user mount pid net ipc uts cgroup",
	[RUNTIME_CRUN] = "user mount pid net ipc uts cgroup",
	[RUNTIME_DOCKER] = "mount pid net ipc uts",
};

static bool has_landlock(const struct launch_facts *f)
{
	return f->features.landlock_abi > 0 && (!f->pick->backend || f->pick->backend->landlock);
}

/* Who a command is on the host, where a runtime starts it, is the runtime's to say. */
void launch_landlock(struct launch_facts *f)
{
	const struct landlock_log_ids ids =
		f->pick->backend ? (struct landlock_log_ids){0, UINT32_MAX} : (struct landlock_log_ids){f->host_uid, 1};

	if (has_landlock(f))
		f->landlock = landlock_log_new(f->features.landlock_abi, ids);
}

void launch_note_no_landlock(const struct call *call, const char *root)
{
	AUTO_FREE char *mark = NULL;
	AUTO_FD fd = -1;

	if (asprintf(&mark, "%s/.no-landlock", root) < 0)
		mark = NULL;
	fd = mark ? open(mark, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
	if (fd >= 0)
		call_note(call, "note: this kernel has no Landlock: namespaces, mounts and seccomp enforce the policy "
				"alone (said once; every log has it)");
}

void launch_isolation(const struct launch_facts *f, char *out, size_t size)
{
	char landlock[24] = "";

	if (has_landlock(f))
		(void)snprintf(landlock, sizeof(landlock), ", landlock %d", f->features.landlock_abi);
	(void)snprintf(out, size, "%s%s, seccomp", namespaces[f->pick->runtime], landlock);
}

static void put_isolation(struct json *j, const struct launch_facts *f)
{
	static const struct {
		unsigned bit;
		const char *name;
	} limits[] = {{CGROUP_MEMORY, "memory"}, {CGROUP_PIDS, "processes"}, {CGROUP_CPU, "cpus"}};
	size_t i;

	json_open(j);
	json_kstr(j, "runtime", runtime_names[f->pick->runtime]);
	json_kstr(j, "namespaces", namespaces[f->pick->runtime]);
	json_key(j, "landlock");
	if (has_landlock(f))
		json_int(j, f->features.landlock_abi);
	else
		json_none(j);
	json_kbool(j, "landlock_logged", f->landlock);
	json_kstr(j, "seccomp", f->features.notify && !f->pick->backend ? "allowlist, notifications" : "allowlist");
	json_kint(j, "host_uid", f->host_uid);
	json_key(j, "cgroup");
	json_list(j);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (f->cgroup_mask & limits[i].bit)
			json_str(j, limits[i].name);
	json_end(j);
	json_close(j);
}

/* Weaker isolation than was asked for is an event of its own, for those who look for such. */
static int log_fallback(struct audit *audit, const struct runtime_pick *pick, struct error *err)
{
	struct event_field fields[] = {
		{.key = "runtime", .value = sv_of(runtime_names[pick->runtime])},
		{.key = "fallback_from", .value = sv_of(runtime_names[pick->fallback_from])},
	};
	struct event e = {.kind = EVENT_NOTE,
			  .domain = DOMAIN_PROCESS,
			  .verdict = "escalate",
			  .rule = "process.fallback",
			  .message = pick->fallback,
			  .fields = fields,
			  .n_fields = sizeof(fields) / sizeof(fields[0])};

	return pick->fallback_from == RUNTIME_AUTO ? 0 : audit_write(audit, &e, err);
}

int launch_log_start(struct audit *audit, const struct launch_facts *f, struct error *err)
{
	AUTO_BUF isolation = {0};
	AUTO_BUF command = {0};
	char digest[SHA256_HEX];
	struct json j;
	struct event_field fields[16] = {
		{.key = "policy_digest", .value = sv_of(f->policy_digest)},
		{.key = "plan_digest"},
		{.key = "isolation", .is_json = 1},
		{.key = "workdir", .value = sv_of(f->plan->workdir ? f->plan->workdir : "")},
		{.key = "command", .is_json = 1},
		{.key = "policy", .value = sv_of(f->profile)},
		{.key = "workdir_mode",
		 .value = sv_of(f->plan->workdir ? workdir_mode_names[f->plan->workdir_mode] : "none")},
		{.key = "pid", .is_json = 1},
		{.key = "runtime", .value = sv_of(runtime_names[f->pick->runtime])},
		{.key = "runtime_reason", .value = sv_of(f->pick->reason)},
	};
	char pid[16];
	struct event e = {
		.kind = EVENT_START, .domain = DOMAIN_PROCESS, .verdict = "allow", .fields = fields, .n_fields = 10};

	buf_init(&isolation, 4096);
	buf_init(&command, AUDIT_COMMAND_MAX);
	json_init(&j, &isolation);
	put_isolation(&j, f);
	audit_put_command(&command, f->plan->argv);
	plan_digest(f->plan, digest);
	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	fields[7].value = sv_of(pid);
	fields[1].value = sv_of(digest);
	fields[2].value = buf_view(&isolation);
	fields[4].value = buf_view(&command);
	if (f->pick->category)
		fields[e.n_fields++] = (struct event_field){.key = "category", .value = sv_of(f->pick->category)};
	if (f->pick->fallback_from != RUNTIME_AUTO)
		fields[e.n_fields++] = (struct event_field){.key = "fallback_from",
							    .value = sv_of(runtime_names[f->pick->fallback_from])};
	if (f->keep)
		fields[e.n_fields++] = (struct event_field){.key = "kind",
							    .value = sv_of(f->keep->prepared ? "warm"
									   : f->keep->owner  ? "owned"
											     : "kept")};
	if (f->keep && f->keep->owner)
		fields[e.n_fields++] = (struct event_field){.key = "owner", .value = sv_of(f->keep->owner)};
	if (f->plan->image)
		fields[e.n_fields++] = (struct event_field){
			.key = "image", .value = sv_of(strrchr(f->plan->image->layers[0], '/') + 1)};
	return audit_write(audit, &e, err) < 0 ? -1 : log_fallback(audit, f->pick, err);
}

int launch_log_limits(struct audit *audit, const struct cgroup_stats *stats, struct error *err)
{
	const struct {
		uint64_t count;
		const char *key, *message;
	} hits[] = {
		{stats->oom_kills, "process.memory", "the kernel ended processes at the memory limit"},
		{stats->pids_refused, "process.max_processes", "the kernel refused new processes at the limit"},
	};
	size_t i;

	for (i = 0; i < sizeof(hits) / sizeof(hits[0]); i++) {
		struct event e = {.kind = EVENT_LIMIT, .domain = DOMAIN_PROCESS, .verdict = "deny", .rule = hits[i].key,
				  .message = hits[i].message};

		if (hits[i].count && audit_write(audit, &e, err) < 0)
			return -1;
	}
	return 0;
}

int launch_log_exit(struct audit *audit, const struct supervise_result *r, const struct cgroup_stats *stats,
		    int exit_status, struct error *err)
{
	AUTO_BUF usage = {0};
	char status[16];
	struct json j;
	struct event_field fields[4] = {{.key = "exit", .is_json = 1}, {.key = "usage", .is_json = 1}};
	struct event e = {.kind = EVENT_EXIT, .domain = DOMAIN_PROCESS, .fields = fields, .n_fields = 2};

	buf_init(&usage, 1024);
	(void)snprintf(status, sizeof(status), "%d", exit_status);
	fields[0].value = sv_of(status);
	json_init(&j, &usage);
	json_open(&j);
	json_kint(&j, "user_us", (int64_t)r->user_us);
	json_kint(&j, "system_us", (int64_t)r->system_us);
	json_kint(&j, "max_rss_kib", (int64_t)r->max_rss_kib);
	json_kint(&j, "denials", (int64_t)r->denials);
	if (stats->known & CGROUP_MEMORY)
		json_kint(&j, "memory_peak", (int64_t)stats->memory_peak);
	json_close(&j);
	fields[1].value = buf_view(&usage);
	if (r->limit)
		fields[e.n_fields++] = (struct event_field){.key = "limit", .value = sv_of(r->limit)};
	if (r->gateway.n && !buf_failed(&r->gateway))
		fields[e.n_fields++] =
			(struct event_field){.key = "gateway", .value = buf_view(&r->gateway), .is_json = 1};
	return audit_write(audit, &e, err);
}
