#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/launch_advice.h"
#include "cli/launch_box.h"
#include "cli/launch_copy.h"
#include "cli/launch_environ.h"
#include "cli/launch_events.h"
#include "cli/launch_files.h"
#include "cli/launch_git.h"
#include "cli/launch_image.h"
#include "cli/launch_learn.h"
#include "cli/launch_live.h"
#include "cli/launch_own.h"
#include "cli/launch_plan.h"
#include "cli/launch_reload.h"
#include "cli/launch_report.h"
#include "cli/launch_stdio.h"
#include "plan/plan_build.h"
#include "policy/policy_image.h"
#include "policy/policy_load.h"
#include "sandbox/native/native.h"
#include "sandbox/native/skeleton.h"
#include "supervise/gate.h"
#include "supervise/group.h"
#include "supervise/state.h"
#include "supervise/stdio.h"
#include "supervise/supervise.h"
#include "sys/cgroup.h"
#include "sys/rank.h"
#include "sys/stamp.h"
#include "sys/tree.h"

extern char **environ;

enum { START_TRIES = 5 }; /* where others start at the same moment */

/* Who the workload is here. */
static uint32_t host_uid(const struct run *r)
{
	return r->req->image ? launch_image_uid(r->req->image) : native_host_uid();
}

/* What programs need for a gateway, ours or that of the sandbox whose network we share. False: there is none. */
static bool find_gateway(const struct run *r, struct gate_inside *ret)
{
	if (r->gate)
		gate_inside(r->gate, ret);
	else if (r->group.gateway)
		*ret = r->group.inside;
	return r->gate || r->group.gateway;
}

/* The rule is for wherever such a name is, and a file that has it in a folder that is not shown may have another in one
 * that is: each folder of the machine is looked into. */
static void say_search(const struct run *r)
{
	const struct pol_list *deny = &r->req->policy->policy->fs.deny;
	struct text_shown t;
	uint32_t i;

	for (i = 0; i < deny->n && isatty(STDERR_FILENO); i++)
		if (strncmp(deny->v[i].s, "/**/", 4) == 0 && deny->v[i].at.file)
			call_note(r->req->call,
				  "note: for filesystem.deny %s all of this machine is searched, which takes a while; "
				  "%s is for the folders that are shown alone",
				  text_show(&t, sv_of(deny->v[i].s)), t.s + 1);
}

static int make_plan(struct run *r, const char *state_dir)
{
	const struct launch_request *q = r->req;
	struct plan_request p = {.argv = q->argv,
				 .workdir = q->workdir,
				 .state_dir = state_dir,
				 .runtime = runtime_names[q->pick->runtime],
				 .runtime_why = q->pick->reason,
				 .image = q->image};
	struct gate_inside inside = {0};
	bool gateway = find_gateway(r, &inside);
	struct image_root image;
	struct plan_gate gate;
	char **env = NULL;

	if (q->image) {
		if (policy_image_refused(q->policy->policy, r->err) < 0)
			return -1;
		image = *q->image;
		image.storage = policy_image_storage(q->policy->policy, image.storage);
		p.image = &image;
	}
	if (launch_environ(r->arena, q, &inside, r->native.tty[0] || r->native.tty[1], &env, r->err) < 0)
		return -1;
	p.env = env;
	if (launch_plan_fill(&r->inputs, r->arena, q->policy, r->root, r->outputs.paths, &p, r->err) < 0)
		return -1;
	if (gateway) {
		gate = (struct plan_gate){.bundle = inside.bundle, .java = inside.java, .shared = !r->gate};
		p.gate = &gate;
	}
	if (!p.image)
		say_search(r);
	return plan_build(&p, &r->plan, r->err);
}

static int dry_run(struct run *r)
{
	struct box_ids ids = {0};
	AUTO_BUF b = {0};

	runtime_pick_note(r->req->call, r->req->policy, r->req->pick, true);
	if (make_plan(r, "(state)") < 0)
		return -1;
	if (r->box.backend) {
		r->box.backend->ids(r->plan, &ids);
		r->plan->uid = ids.inside;
	}
	buf_init(&b, 64 << 20);
	(call_has(r->req->call, "json") ? plan_print_json : plan_print)(r->plan, &b);
	return cli_print(r->req->call, &b, r->err) < 0 ? -1 : 0;
}

static int make_cgroup(struct run *r)
{
	const struct plan_limits *l = &r->plan->limits;
	struct cgroup_limits limits = {.memory = l->memory, .processes = l->processes, .cpu = l->cpu_thousandths};
	int mask;

	if (r->box.backend && r->box.backend->own_cgroup) {
		r->facts.features.memory_cgroup = r->facts.features.cpu_cgroup = true;
		r->facts.cgroup_mask = CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU | CGROUP_SWAP;
		return 0;
	}
	/* gVisor: some for itself, and several of the host's for each of the workload's, which its own limit counts */
	if (r->box.backend && limits.processes)
		limits.processes =
			limits.processes * (r->box.backend->own_kernel ? 4 : 1) + r->box.backend->own_threads;
	mask = cgroup_new(NULL, r->state.id, &limits, &r->cgroup);
	if (mask < 0)
		return error_sys(r->err, mask, "cgroup cordon-%s", r->state.id);
	r->facts.cgroup_mask = (unsigned)mask;
	r->facts.features.memory_cgroup = mask & CGROUP_MEMORY;
	r->facts.features.cpu_cgroup = mask & CGROUP_CPU;
	r->native.cgroup = mask ? r->cgroup : NULL;
	return 0;
}

static int open_audit(struct run *r)
{
	AUTO_FREE char *path = NULL;

	if (launch_outputs_hold(&r->outputs, r->err) < 0)
		return -1;
	if (asprintf(&path, "%s/audit.jsonl", r->state.path) < 0) {
		path = NULL;
		return error_set(r->err, ERROR_SYSTEM, "out of memory");
	}
	if (audit_new(path, r->state.id, r->outputs.events, &r->audit, r->err) < 0 || state_lock(&r->state, r->err) < 0)
		return -1;
	return launch_log_start(r->audit, &r->facts, r->err) < 0 ? error_prefix(r->err, "%s", path) : 0;
}

static void set_watch(const struct run *r, struct watch_limits *w)
{
	const struct plan_limits *l = &r->plan->limits;

	/* a limit that leaves swap out is held by those who count it */
	if ((r->facts.cgroup_mask & (CGROUP_MEMORY | CGROUP_SWAP)) != (CGROUP_MEMORY | CGROUP_SWAP))
		w->memory = l->memory;
	/* a kernel of its own keeps in its memory what it is made to keep */
	w->kernel = r->box.backend && r->box.backend->own_kernel ? 0 : l->memory;
	w->sockets = w->kernel ? r->cgroup : NULL;
	if (r->on_disk || r->box.stage.n)
		w->disk = r->state.path;
	launch_copy_watch(&r->copy, w);
	if (r->plan->image) {
		w->disk = r->plan->image->upper;
		w->storage = l->storage;
		w->storage_folders = r->plan->storage_folders;
		w->storage_inside = !r->box.backend;
	}
}

static int go(void *arg, struct error *err)
{
	struct run *r = arg;

	return native_go(&r->sandbox, r->req->keep, err);
}

static void kill_native(void *arg)
{
	struct run *r = arg;

	(void)kill(r->sandbox.pid, SIGKILL); /* not reaped yet, so the number is still its own */
}

static int find_sandbox(struct run *r, struct supervise_request *s)
{
	if (r->box.backend)
		return launch_box_connect(&r->box, s, r->err);
	s->init = r->sandbox.pid;
	s->pidfd = r->sandbox.pidfd;
	s->from_job = true;
	s->socket = r->sandbox.socket;
	s->go = go;
	s->kill = kill_native;
	s->sandbox = r;
	return 0;
}

static int run_sandbox(struct run *r)
{
	struct supervise_request s = {.plan = r->plan,
				      .id = r->state.id,
				      .audit = r->audit,
				      .gate = r->gate,
				      .policy = r->req->policy->policy,
				      .policy_digest = r->req->policy->digest,
				      .keep = r->req->keep,
				      .landlock = r->facts.landlock,
				      .leader = r->group.leader,
				      .covers = -1,
				      .tty_in = -1,
				      .tty_out = -1};

	AUTO_FD reader = r->box.backend ? launch_image_reader(r->plan->image) : -1;

	s.front = r->req->front;
	s.tty_in = r->native.tty[0] ? 0 : -1;
	s.tty_out = r->native.tty[1] ? 1 : r->native.tty[2] ? 2 : -1;
	set_watch(r, &s.watch);
	if (reader > 0)
		s.watch.storage_user = reader;
	if (find_sandbox(r, &s) < 0)
		return -1;
	if (r->learn) {
		s.denied = learn_denied;
		s.denied_arg = r->learn;
	}
	if (r->gate) {
		launch_reload_init(&r->reload, r->req->call, r->req->policy->policy, r->gate, &r->live);
		s.policies = r->reload.policies.load ? &r->reload.policies : NULL;
	}
	return supervise(&s, &r->result, r->err);
}

static int start_sandbox(struct run *r)
{
	r->native.plan = r->plan;
	r->native.argv = r->req->call->argv;
	memcpy(r->native.join, r->group.spaces, sizeof(r->native.join));
	r->native.features = r->facts.features;
	return native_start(&r->native, &r->sandbox, r->err);
}

/* The runtime must have something to start from: the state folder holds what it shows. */
static int start_box(struct run *r)
{
	struct launch_box_request q = {.plan = r->plan,
				       .policy = r->req->policy->policy,
				       .state = &r->state,
				       .runs = r->root,
				       .cache = r->req->policy->folders.cache,
				       .cgroup = r->native.cgroup,
				       .memory_cgroup = r->facts.features.memory_cgroup,
				       .cpu_cgroup = r->facts.features.cpu_cgroup,
				       .gate = r->gate,
				       .join = r->req->join,
				       .first = r->req->first,
				       .group = &r->group,
				       .feed = &r->feed};

	memcpy(r->box.stdio.fds, r->native.stdio, sizeof(r->box.stdio.fds));
	memcpy(r->box.stdio.tty, r->native.tty, sizeof(r->box.stdio.tty));
	r->box.stdio.rows = r->native.rows;
	r->box.stdio.columns = r->native.columns;
	r->box.hold = r->req->keep;
	if (r->plan->image && launch_image_prepare(r->plan->image, r->err) < 0)
		return -1;
	return launch_box_start(&r->box, &q, r->err);
}

static void end_sandbox(struct run *r)
{
	native_done(&r->sandbox);
	launch_box_end(&r->box);
	stdio_collect_end(&r->collect);
}

static bool overlay_failed(const struct run *r)
{
	return r->result.failed.kind == ERROR_MISSING && r->result.failed.code == ENODEV;
}

/* What changes could not be kept in memory (old kernels): on disk. */
static int run_on_disk(struct run *r)
{
	launch_find_overlay(r)->upper = arena_printf(r->plan->arena, "%s/layers", r->state.path);
	r->on_disk = true;
	native_done(&r->sandbox);
	if (launch_make_layers(r) < 0 || start_sandbox(r) < 0)
		return -1;
	return run_sandbox(r);
}

/* No overlayfs, or none that serves: a plain copy of the work folder takes its place. */
static int run_on_copy(struct run *r)
{
	native_done(&r->sandbox);
	sys_remove_tree(r->state.dir, "layers");
	if (launch_copy_make(&r->copy, r->req->call, r->plan, launch_find_overlay(r), &r->state, r->there.other_group,
			     r->err) < 0)
		return -1;
	return start_sandbox(r) < 0 ? -1 : run_sandbox(r);
}

static int exit_status(const struct run *r)
{
	const struct supervise_result *s = &r->result;

	if (s->timed_out)
		return 124;
	if (s->status < 0)
		return 137; /* PID 1 was killed, and it all with it */
	return WIFSIGNALED(s->status) ? 128 + WTERMSIG(s->status) : WEXITSTATUS(s->status);
}

static int log_end(struct run *r, const struct cgroup_stats *stats, int status)
{
	struct error logged = {0};

	if (!r->audit)
		return 0;
	if (launch_log_limits(r->audit, stats, &logged) == 0 &&
	    launch_log_exit(r->audit, &r->result, stats, status, &logged) == 0)
		return 0;
	*r->err = logged;
	return -1;
}

/* A limit that ended the run is not left to be guessed from its exit status. */
static void say_how_it_ended(const struct run *r, const struct cgroup_stats *stats)
{
	const char *limit = r->result.limit;
	struct stat st;

	if (!limit && stats->oom_kills)
		limit = "process.memory";
	if (limit)
		call_note(r->req->call, "%s was reached%s; `cordon logs %s` has the details", limit,
			  r->result.limit ? " and ended the run" : "", r->state.id);
	if (r->result.unwatched)
		call_note(r->req->call, "note: no inotify watches were left (sysctl fs.inotify): denied files that "
					"were replaced meanwhile could be read for seconds");
	launch_git_tell(r->req->call, r->plan, r->began);
	if (isatty(STDERR_FILENO) && fstatat(r->state.dir, "policy", &st, AT_SYMLINK_NOFOLLOW) == 0)
		call_note(r->req->call,
			  "changes were kept: `cordon diff %s` shows them, `cordon apply %s` brings them back",
			  r->state.id, r->state.id);
}

/* What is left to do when the command has ended. The sandbox is taken down meanwhile; we wait for that last. */
static int finish(struct run *r, int result)
{
	struct cgroup_stats stats = {0};
	int status = exit_status(r);

	if (r->cgroup)
		cgroup_stats(r->cgroup, &stats);
	else if (r->box.box && r->box.backend->stats)
		r->box.backend->stats(r->box.box, r->result.status != 0, &stats);
	/* memory that belongs to no process (messages in queues) ends only with PID 1 */
	if (stats.oom_kills && r->result.status < 0)
		r->result.limit = "process.memory";
	/* a kernel of its own cannot go on without threads */
	else if (stats.pids_refused && r->result.status < 0 && r->box.backend && r->box.backend->own_kernel)
		r->result.limit = "process.max_processes";
	if (result == 0 && r->result.failed.kind) {
		*r->err = r->result.failed;
		launch_advice(&(struct advice_about){r->plan->argv[0], r->plan->workdir, r->plan->cwd,
						     r->plan->image != NULL},
			      r->req->policy->policy, r->err);
		result = -1;
		r->lost = r->result.alone;
		status = r->err->kind == ERROR_NOT_FOUND ? 127 : r->err->kind == ERROR_NOT_EXEC ? 126 : 125;
	}
	if (result == 0 && r->result.status < 0 && !r->result.limit && !r->result.timed_out) {
		result = error_set(r->err, ERROR_SYSTEM,
				   "the sandbox ended without a word; was it killed from outside?");
		/* where the workload's root can end PID 1, it may do so before that has said that it started it */
		r->lost = r->result.started || (r->box.box && r->box.box->told);
	}
	if (launch_keep_changes(r) < 0) {
		result = -1;
		r->lost = false; /* that is another failure, and ours */
	}
	/* what could not be kept ends the run as well: a log without an end says that it was killed */
	if (log_end(r, &stats, result < 0 && status < 125 ? 125 : status) < 0) {
		result = -1;
		r->lost = false;
	}
	end_sandbox(r);
	if (r->plan->image)
		launch_image_done(r->plan->image, r->box.backend ? &r->box.places : &r->result.places);
	if (r->cgroup)
		(void)cgroup_remove(r->cgroup);
	say_how_it_ended(r, &stats);
	return result < 0 ? -1 : status;
}

/* Its roles start while the sandbox is made; what is to be known inside (placeholders, certificates) must be there
 * before. */
static int start_gate(struct run *r)
{
	struct gate_request g = {.policy = r->req->policy->policy,
				 .config = r->req->policy->folders.config,
				 .home = r->req->policy->folders.home,
				 .environment = environ};

	struct gate_inside inside;

	if (r->req->join) /* its gateway is the leader's */
		return group_join(r->req->join, runtime_names[r->req->pick->runtime], &r->group, r->err);
	if (!gate_needed(g.policy))
		return 0;
	if (gate_start(&g, &r->gate, r->err) < 0)
		return -1;
	gate_inside(r->gate, &inside);
	if (inside.missing)
		call_note(r->req->call, "note: %s; requests that need it will fail", inside.missing);
	return 0;
}

static int start_image(struct run *r)
{
	int result;

	if (launch_image_prepare(r->plan->image, r->err) < 0 ||
	    launch_image_stdio(r->plan->image, &r->collect, r->native.stdio, &r->feed, r->err) < 0)
		return -1;
	result = start_sandbox(r);
	stdio_collect_given(&r->collect);
	return result;
}

/* The skeleton is looked at while PID 1 builds on it: the command waits for us. One that is not whole goes, and the
 * sandbox with it. */
static int start_on_skeleton(struct run *r)
{
	int result;

	r->skeleton = skeleton_find(r->req->policy->folders.cache, r->plan);
	result = start_sandbox(r);
	if (r->skeleton < 0 || skeleton_is_whole(r->skeleton, r->plan))
		return result;
	native_done(&r->sandbox);
	skeleton_release(r->skeleton, r->plan, true);
	r->skeleton = -1;
	r->plan->skeleton = NULL;
	return start_sandbox(r);
}

/* Root cannot show every file system to another user id; a copy of the folder it can. */
static int start_native(struct run *r)
{
	if (r->plan->image)
		return start_image(r);
	if (start_on_skeleton(r) == 0)
		return 0;
	if (r->err->kind != ERROR_MISSING || r->err->code == ENOSYS || !launch_find_overlay(r))
		return -1;
	r->result.failed = *r->err;
	r->result.failed.code = ENODEV;
	r->must_copy = true;
	return 0;
}

/* Files must not be passed into it to be written: it could not send them out again, or root of an image could change
 * what of the host's it has. */
static bool collects(const struct run *r)
{
	return (r->box.backend && !r->box.backend->sends_fds) || r->req->image;
}

/* What would else be left to do when the container has ended, and somebody waits for us. The dead are none of ours: we
 * hold our own. */
static int prepare_box_end(struct run *r)
{
	if (!r->box.backend)
		return 0;
	launch_box_sweep(r->root);
	r->swept = true;
	return launch_save_policy(r);
}

/* The sandbox is made while we write down what will run in it; it runs when the log says so. */
static int prepare(struct run *r)
{
	if (!r->box.backend && !r->req->image)
		native_begin(&r->sandbox, r->req->policy->policy->net.loopback.v);
	native_probe(&r->facts.features);
	r->facts.host_uid = host_uid(r);
	r->facts.policy_digest = r->req->policy->digest;
	r->facts.pick = r->req->pick;
	r->facts.keep = r->req->keep;
	if (state_root(&r->root, r->err) < 0 ||
	    live_wait(r->root, &(struct live_reach){r->req->policy->policy, r->req->image ? NULL : r->req->workdir},
		      r->req->call, r->err) < 0 ||
	    start_gate(r) < 0 || make_plan(r, r->root) < 0)
		return -1;
	launch_box_bound(&r->box, r->req->group_memory, r->req->group_cpus, &r->plan->limits);
	r->facts.plan = r->plan;
	state_id(r->state.id);
	if (make_cgroup(r) < 0)
		return -1;
	supervise_block_signals();
	if (!r->box.backend && start_native(r) < 0) {
		launch_lack(r->err);
		return -1;
	}
	if (state_new(r->root, &r->state, r->err) < 0 || (collects(r) && state_set_collect(&r->state, r->err) < 0))
		return -1;
	if (r->box.backend && start_box(r) < 0)
		return -1;
	/* by now the sandbox is being made, and nobody waits for this */
	launch_landlock(&r->facts);
	launch_note_names(r);
	if (prepare_box_end(r) < 0 ||
	    live_begin(&r->live,
		       &(struct live_request){r->arena, r->root, r->state.id, r->plan, r->req->policy->policy,
					      r->inputs.protect, r->gate != NULL, r->outputs.paths, &r->box.stage},
		       r->err) < 0 ||
	    open_audit(r) < 0)
		return -1;
	if (!r->box.backend && r->facts.features.landlock_abi < 1)
		launch_note_no_landlock(r->req->call, r->root);
	runtime_pick_note(r->req->call, r->req->policy, r->req->pick, false);
	stdio_feed_begin(&r->feed); /* from here on no other try is made */
	sys_stamp_first(&r->began);
	return 0;
}

/* Before what it comes from is freed. */
static void tell_outcome(struct run *r)
{
	struct launch_outcome *o = r->req->outcome;

	if (!o)
		return;
	memcpy(o->id, r->state.id, sizeof(o->id));
	o->denials = r->result.denials;
	o->signal = r->result.status > 0 && WIFSIGNALED(r->result.status) ? WTERMSIG(r->result.status) : 0;
	o->timed_out = r->result.timed_out;
	o->lost = r->lost;
	launch_isolation(&r->facts, o->isolation, sizeof(o->isolation));
	o->gateway = r->result.gateway;
	r->result.gateway = (struct buf){0};
}

static int run_all(struct run *r)
{
	int result = r->must_copy ? 0 : run_sandbox(r);

	if (result == 0 && overlay_failed(r) && !r->must_copy)
		result = run_on_disk(r);
	if (result == 0 && overlay_failed(r))
		result = run_on_copy(r);
	return finish(r, result);
}

static void clean_up(struct run *r, bool failed_early)
{
	end_sandbox(r);
	gate_free(r->gate);
	group_done(&r->group);
	live_end(&r->live);
	launch_reload_done(&r->reload);
	buf_done(&r->result.gateway);
	buf_done(&r->result.places);
	cleanup_fd(&r->result.spaces[0]);
	cleanup_fd(&r->result.spaces[1]);
	buf_done(&r->box.places);
	learn_free(r->learn);
	landlock_log_free(r->facts.landlock);
	cleanup_fd(&r->feed);
	if (r->skeleton >= 0)
		skeleton_release(r->skeleton, r->plan, r->result.failed.kind == ERROR_SYSTEM);
	else if (!failed_early && !r->box.backend && !r->req->image)
		(void)skeleton_make(r->req->policy->folders.cache, r->plan);
	if (failed_early && r->cgroup)
		(void)cgroup_remove(r->cgroup);
	cgroup_free(r->cgroup);
	audit_free(r->audit);
	launch_outputs_done(&r->outputs);
	if (failed_early && r->state.dir >= 0)
		state_remove(&r->state); /* it never started: nothing to look back at */
	state_done(&r->state);
	/* once in a while */
	if (r->root && getpid() % 64 == 0)
		state_sweep(r->root);
	if (r->root && r->box.backend && !r->swept)
		launch_box_sweep(r->root);
}

static void run_free(struct run *r)
{
	free(r->root);
	copied_done(&r->there);
	launch_copy_done(&r->copy);
	plan_free(r->plan);
	arena_free(r->arena);
	free(r);
}

static void name_policy(struct run *r)
{
	const struct option_value *v;
	AUTO_BUF b = {0};
	size_t at = 0;

	buf_init(&b, 512);
	while ((v = call_next(r->req->call, NULL, &at)))
		if (strcmp(v->option->name, "profile") == 0 || strcmp(v->option->name, "policy") == 0)
			(void)buf_printf(&b, "%s%s", b.n ? "," : "", v->value);
	r->facts.profile = b.n ? arena_str(r->arena, buf_view(&b)) : "default";
}

static void tell_not_started(const struct run *r)
{
	if (r->req->ret_not_started)
		*r->req->ret_not_started = r->box.not_started;
}

/* On the heap, whose pages come as they are used: most of it is for what few runs have. */
static struct run *run_new(const struct launch_request *req, struct error *err)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->req = req;
	r->err = err;
	r->arena = arena_new();
	r->box.backend = req->pick->backend;
	r->state.dir = r->state.lock = r->outputs.events = r->skeleton = r->outputs.report.dir =
		r->outputs.learned.dir = -1;
	r->sandbox.pid = r->sandbox.pidfd = r->sandbox.socket = -1;
	r->result.upper = r->result.spaces[0] = r->result.spaces[1] = -1;
	r->collect.pipes[0] = r->collect.pipes[1] = r->box.collect.pipes[0] = r->box.collect.pipes[1] = -1;
	r->group.leader = r->group.spaces[0] = r->group.spaces[1] = r->live.folder = r->live.fd = r->feed = -1;
	if (!r->arena) {
		free(r);
		return NULL;
	}
	return r;
}

static int run_to_end(struct run *r)
{
	const struct launch_request *req = r->req;
	int result;

	if (req->outcome && req->outcome->ready)
		req->outcome->ready(req->outcome->arg, r->state.id);
	result = run_all(r);
	tell_outcome(r);
	if (r->learn && learn_write(r->learn, req->call, req->policy->policy, &r->outputs.learned, r->err) < 0)
		result = -1;
	return launch_report(req->call, &r->outputs.report, r->state.path, r->audit, req->policy, req->workdir, result,
			     r->err);
}

/* All that we start from here on is as urgent as we are, on whatever runtime: as an ordinary program, however urgent
 * whoever started us is. */
static int leave_rank(struct error *err)
{
	int r = sys_rank_give_up();

	return r < 0 ? error_sys(err, r, "become as urgent as an ordinary program") : 0;
}

/* *ret_again: nothing was started, and a plan that is made now will know what this one did not. */
static int launch_once(const struct launch_request *req, bool *ret_again, struct error *err)
{
	struct run *r = run_new(req, err);
	bool began = false;
	int result;

	if (!r)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	name_policy(r);
	result = leave_rank(err) < 0 ? -1 : launch_stdio(host_uid(r), &r->native, err);
	if (result == 0 && req->dry_run) {
		result = dry_run(r);
	} else if (result == 0) {
		if (launch_outputs_open(&r->outputs, req->report_path, req->learn_path, req->events_path, err) < 0 ||
		    prepare(r) < 0)
			result = -1;
		began = result == 0;
		r->learn = began && req->learn_path ? learn_new() : NULL;
		if (began)
			result = run_to_end(r);
		tell_not_started(r);
	}
	*ret_again = !began && result < 0 && err->kind == ERROR_DENIED && err->code == EAGAIN;
	clean_up(r, !began);
	if (!req->last || *ret_again)
		run_free(r);
	return result;
}

int launch(const struct launch_request *req, struct error *err)
{
	bool again = true;
	int tries, result = -1;

	for (tries = 0; again && tries < START_TRIES; tries++) {
		*err = (struct error){0};
		result = launch_once(req, &again, err);
	}
	return result;
}
