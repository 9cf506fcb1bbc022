#include "sandbox/common/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sandbox/common/filter.h"
#include "sys/beside.h"
#include "sys/bpf.h"
#include "sys/exec_search.h"
#include "sys/landlock.h"
#include "sys/process.h"
#include "sys/seccomp.h"
#include "wire/wire.h"

struct confine {
	const struct plan *plan;
	enum box_user user;
	uid_t own_uid; /* PID 1's */
	gid_t own_gid;
	struct confine_features features;
	int ruleset; /* or -1 */
	int userns;  /* of the commands; -1: PID 1's */
	char record[16]; /* the name under which denials are recorded; empty: they are not */
	bool listener;
	bool pin_cpus;
	size_t n_filter;
	struct sock_filter filter[FILTER_MAX];
};

/* A part of what the host gives a user, and at most a number: an ordinary user's are the host user's, who needs the
 * rest, for other sandboxes too. */
static void limit_part(const char *all_of, const char *limit, long part, long most)
{
	long all = sys_file_number(all_of), v = all >= 0 && all / part < most ? all / part : most;
	char text[24] = "", *digit = text + sizeof(text) - 1;

	if (v < 1)
		return;
	for (; v; v /= 10)
		*--digit = (char)('0' + v % 10);
	(void)sys_file_put(limit, digit);
}

void confine_limit_objects(enum box_user user)
{
	/* else each command needs one */
	if (user != BOX_USER_NESTED && sys_file_put("/proc/sys/user/max_user_namespaces", "0") == -ENOENT)
		return; /* a kernel without them */
	limit_part("/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances", 8, 64);
	limit_part("/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches", 2, LONG_MAX);
}

static int allow_path(struct confine *c, const char *path, unsigned rights, struct error *err)
{
	AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, errno, "Landlock: %s", path);
	r = landlock_allow(c->ruleset, c->features.landlock_abi, fd, rights, S_ISDIR(st.st_mode));
	return r < 0 ? error_sys(err, r, "Landlock: %s", path) : 0;
}

/* Best effort: without it /dev/stdin cannot be opened, that is all. */
static void allow_fd_again(struct confine *c, int fd)
{
	static const unsigned rights[] = {
		[O_RDONLY] = LL_READ, [O_WRONLY] = LL_DEVICES, [O_RDWR] = LL_READ | LL_DEVICES};
	int mode = fcntl(fd, F_GETFL);
	struct stat st;

	if (mode >= 0 && (mode & O_ACCMODE) <= O_RDWR && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		(void)landlock_allow(c->ruleset, c->features.landlock_abi, fd, rights[mode & O_ACCMODE], false);
}

void confine_allow_again(struct confine *c, const int stdio[3])
{
	int i;

	for (i = 0; c->ruleset >= 0 && i < 3; i++)
		allow_fd_again(c, stdio[i]);
}

int confine_rules(struct confine *c, struct error *err)
{
	const struct plan *p = c->plan;
	unsigned exec = p->restrict_exec ? 0 : LL_EXEC;
	size_t i;

	if (c->ruleset < 0)
		return 0;
	/* what an image's workload may not write is read-only */
	if (allow_path(c, "/", LL_READ | exec | (p->image ? LL_WRITE : 0), err) < 0 ||
	    allow_path(c, "/dev", LL_DEVICES, err) < 0 || allow_path(c, "/proc", LL_DEVICES, err) < 0)
		return -1;
	for (i = 0; i < p->n_ops && !p->image; i++)
		if (p->ops[i].writable && allow_path(c, p->ops[i].target, LL_READ | LL_WRITE | exec, err) < 0)
			return -1;
	for (i = 0; p->restrict_exec && p->executables && p->executables[i]; i++)
		if (allow_path(c, p->executables[i], LL_EXEC | LL_READ, err) < 0)
			return -1;
	return 0;
}

void confine_enter_user(struct confine *c, int userns)
{
	c->userns = userns;
}

static bool has_host_writes(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].writable && p->ops[i].host)
			return true;
	return false;
}

static bool guard_needed(const struct plan *p)
{
	size_t i;

	if (p->n_guards && has_host_writes(p))
		return true;
	for (i = 0; i < p->n_guards; i++)
		if (!p->guards[i].host_only)
			return true;
	return false;
}

/* sysconf() would read /proc/stat, which takes as long as the filter. */
static uint64_t usable_cpus(void)
{
	cpu_set_t may;

	return sched_getaffinity(0, sizeof(may), &may) < 0 ? 1 : (uint64_t)CPU_COUNT(&may);
}

static int make_filter(struct confine *c, struct error *err)
{
	struct filter_options o = {
		.guard = guard_needed(c->plan),
		.notify_denials = c->features.notify,
		.no_memfd = !c->features.memory_cgroup && c->plan->limits.memory,
		.no_ipc = c->features.shared_ipc,
		.exec_limited = c->plan->restrict_exec,
		.root = c->plan->image,
		.one_id = c->plan->image && c->plan->image->ids.count == 1,
	};
	int n;

	c->pin_cpus = !c->features.cpu_cgroup && c->plan->limits.cpu_thousandths &&
		      c->plan->limits.cpu_thousandths < usable_cpus() * 1000;
	o.pin_cpus = c->pin_cpus;
	if (o.guard && !c->features.notify)
		return error_set(err, ERROR_MISSING,
				 "filesystem.deny in writable folders needs seccomp user notifications, which this "
				 "kernel lacks; see `cordon doctor`");
	if (c->pin_cpus && c->plan->limits.cpu_thousandths % 1000)
		return error_set(err, ERROR_MISSING,
				 "process.cpus: a fraction of a CPU needs a delegated cpu cgroup; use a whole number, "
				 "or see `cordon doctor`");
	n = filter_build(&o, c->filter);
	if (n < 0)
		return error_sys(err, n, "seccomp filter");
	c->n_filter = (size_t)n;
	c->listener = o.guard || o.notify_denials;
	return 0;
}

int confine_new(const struct plan *plan, enum box_user user, const struct confine_features *features,
		struct confine **ret, struct error *err)
{
	struct confine *c = calloc(1, sizeof(*c));

	if (!c)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	c->plan = plan;
	c->user = user;
	c->own_uid = geteuid();
	c->own_gid = getegid();
	c->features = *features;
	c->ruleset = -1;
	c->userns = -1;
	if (features->landlock_abi < 1 && plan->restrict_exec) {
		free(c);
		return error_set(err, ERROR_MISSING,
				 "process.allow_exec needs Landlock, which this kernel lacks; see `cordon doctor`");
	}
	if (features->landlock_abi >= 1)
		c->ruleset = landlock_new(features->landlock_abi);
	if (features->landlock_abi >= 1 && c->ruleset < 0) {
		(void)error_sys(err, c->ruleset, "Landlock: make a ruleset");
		free(c);
		return -1;
	}
	if (make_filter(c, err) < 0) {
		free(c);
		return -1;
	}
	*ret = c;
	return 0;
}

void confine_record(struct confine *c, struct sv name)
{
	if (c->ruleset >= 0 && c->features.landlock_abi >= LANDLOCK_ABI_RECORDS && name.n < sizeof(c->record)) {
		memcpy(c->record, name.p, name.n);
		c->record[name.n] = '\0';
	}
}

/* Shared with the child. */
struct starting {
	const struct confine *c;
	const struct confine_start *s;
	int channel; /* the listener goes up here; -1: the fds are shared, too */
	int listener;
	const char *step;
	int code;
};

static int set_limits(const struct confine *c)
{
	const struct plan_limits *l = &c->plan->limits;
	const struct {
		int what;
		rlim_t v;
		bool or_none; /* gVisor has no such limit, and so lets nobody set it */
	} limits[] = {
		{RLIMIT_MEMLOCK, 64 * 1024, false},
		{RLIMIT_MSGQUEUE, 256 * 1024, true},
		{RLIMIT_NICE, 0, true},
		{RLIMIT_RTPRIO, 0, true},
		{RLIMIT_SIGPENDING, 4096, true},
		{RLIMIT_NOFILE, 4096, false},
		{RLIMIT_FSIZE, l->file_size ? l->file_size : RLIM_INFINITY, false},
		{RLIMIT_NPROC, l->processes ? l->processes : RLIM_INFINITY, false},
		/* One process alone cannot pass the run's limit; the supervisor watches the sum where no cgroup does.
		 */
		{RLIMIT_DATA, l->memory && !c->features.memory_cgroup ? l->memory : RLIM_INFINITY, false},
	};
	/* One byte: where the kernel pipes cores to a program, 0 would not keep it from starting that, as root and
	 * outside of all limits. Where it is 0 already it stays so. */
	int r = sys_lower_limit(RLIMIT_CORE, 1);
	size_t i;

	for (i = 0; r == 0 && i < ARRAY_LEN(limits); i++) {
		r = sys_set_limit(limits[i].what, limits[i].v);
		if (r == -EPERM && limits[i].or_none)
			r = 0;
	}
	return r;
}

/* They are never among 0 to 2 themselves: PID 1 always has something there. */
static int place_fds(const struct confine_start *s)
{
	int i;

	for (i = 0; i < 3; i++)
		if (dup2(s->stdio[i], i) < 0)
			return -errno;
	return 0;
}

static int send_listener(int channel, int fd)
{
	return wire_send(channel, 1, sv_n("", 0), &fd, 1);
}

/* We are in a new user namespace: the one id that there is gets the plan's number there. */
static int map_own_ids(const struct confine *c)
{
	char line[64];
	int r = sys_file_put("/proc/self/setgroups", "deny");

	(void)snprintf(line, sizeof(line), "%u %u 1", c->plan->gid, c->own_gid);
	if (r == 0)
		r = sys_file_put("/proc/self/gid_map", line);
	(void)snprintf(line, sizeof(line), "%u %u 1", c->plan->uid, c->own_uid);
	return r == 0 ? sys_file_put("/proc/self/uid_map", line) : r;
}

uint64_t confine_image_caps(void)
{
	return UINT64_C(1) << SYS_CAP_CHOWN | UINT64_C(1) << SYS_CAP_DAC_OVERRIDE | UINT64_C(1) << SYS_CAP_FOWNER |
	       UINT64_C(1) << SYS_CAP_FSETID | UINT64_C(1) << SYS_CAP_KILL | UINT64_C(1) << SYS_CAP_SETGID |
	       UINT64_C(1) << SYS_CAP_SETUID | UINT64_C(1) << SYS_CAP_SYS_CHROOT | UINT64_C(1) << SYS_CAP_SETFCAP;
}

static int become_image_user(struct starting *t)
{
	const struct plan *p = t->c->plan;
	uint64_t keep = confine_image_caps();
	int r;

	t->step = "user namespace";
	if (t->c->userns >= 0 && (r = sys_enter_user(t->c->userns)) < 0)
		return r;
	if (p->uid)
		keep = 0;
	t->step = "capabilities";
	if ((r = sys_bound_caps(keep)) < 0)
		return r;
	t->step = "user id";
	r = p->image->ids.count > 1 ? sys_set_ids(p->uid, p->gid, p->image->groups, p->image->n_groups)
				    : sys_set_ids_only(p->uid, p->gid);
	if (r < 0)
		return r;
	t->step = "capabilities";
	return sys_drop_caps(keep);
}

/* Capabilities are there as long as they are needed: of a new namespace to map its ids, of PID 1's to change them and
 * to empty the bounding set, which no later moment could. */
static int become_user(struct starting *t)
{
	const struct confine *c = t->c;
	uint64_t set_ids =
		c->user == BOX_USER_BECOME ? UINT64_C(1) << SYS_CAP_SETUID | UINT64_C(1) << SYS_CAP_SETGID : 0;
	uint64_t gone = c->user == BOX_USER_NESTED ? 0 : c->features.caps_gone; /* a new namespace has all of them */
	int r = 0;

	if (c->plan->image)
		return become_image_user(t);
	t->step = "user id";
	if (c->user == BOX_USER_NESTED && (r = map_own_ids(c)) < 0)
		return r;
	t->step = "capabilities";
	if ((r = sys_lock_caps(gone)) < 0 || (r = sys_drop_caps(set_ids)) < 0 || !set_ids)
		return r;
	t->step = "user id";
	r = sys_set_ids(c->plan->uid, c->plan->gid, NULL, 0);
	return r < 0 ? r : sys_drop_caps(0);
}

/* What needs nothing of the new root. The child of the first command runs it beside us, so nothing here may touch
 * errno. */
static int early_steps(struct starting *t)
{
	const struct confine *c = t->c;
	int r;

	t->step = "session";
	if ((r = sys_new_session()) < 0 || (r = sys_reset_signals()) < 0)
		return r;
	t->step = "limits";
	/* without a cpu cgroup: as many CPUs as policy says */
	if ((r = set_limits(c)) < 0 || (c->pin_cpus && (r = sys_pin_cpus(c->plan->limits.cpu_thousandths / 1000)) < 0))
		return r;
	if ((r = become_user(t)) < 0)
		return r;
	t->step = "no_new_privs";
	if ((r = sys_no_new_privileges()) < 0)
		return r;
	t->step = "seccomp";
	r = seccomp_install(c->filter, c->n_filter, c->listener);
	if (r >= 0)
		t->listener = c->listener ? r : -1;
	return r < 0 ? r : 0;
}

/* All of it is within what the filter allows, and asks nobody. */
static int late_steps(struct starting *t)
{
	int r;

	t->step = "terminal";
	if (t->s->terminal >= 0 && ioctl(t->s->terminal, TIOCSCTTY, 0) < 0)
		return -errno;
	t->step = "file descriptors";
	if ((r = place_fds(t->s)) < 0)
		return r;
	t->step = "work folder"; /* as whoever it is shown to */
	if (chdir(t->s->cwd) < 0)
		return -errno;
	t->step = "Landlock";
	if (t->c->record[0])
		(void)prctl(PR_SET_NAME, t->c->record, 0, 0, 0);
	if (t->c->ruleset >= 0 && (r = landlock_enforce(t->c->ruleset, t->c->record[0])) < 0)
		return r;
	t->step = NULL;
	return sys_exec_search(t->s->argv, t->s->env);
}

static int child_steps(struct starting *t)
{
	int r = early_steps(t);

	if (r == 0 && t->listener >= 0)
		r = send_listener(t->channel, t->listener);
	return r < 0 ? r : late_steps(t);
}

static int child(void *arg)
{
	struct starting *t = arg;

	t->code = child_steps(t);
	return 127; /* clone()'s child exits with it */
}

static int explain(const struct starting *t, struct error *err)
{
	struct text_shown name;
	int code = -t->code;

	(void)text_show(&name, sv_of(t->s->argv[0]));
	if (t->step)
		return error_sys(err, code, "start of the workload: %s", t->step);
	if (code == ENOENT || code == ENOTDIR)
		return error_set(
			err, ERROR_NOT_FOUND,
			"%s: not found in the sandbox; if it is on this machine, show its folder with filesystem.read",
			name.s);
	(void)error_sys(err, code, "%s: cannot be executed in the sandbox", name.s);
	err->kind = ERROR_NOT_EXEC;
	return -1;
}

static int take_listener(int channel)
{
	struct wire_message m;
	int fd = -1, r = wire_receive(channel, &m);

	if (r == 1 && m.n_fds == 1) {
		fd = m.fds[0];
		m.fds[0] = -1;
	}
	wire_message_done(&m);
	return fd;
}

/* What it came to, once its process has left our memory: 0; 1: others had ended it before its execve(), the last step,
 * which has no name; -1. */
static int outcome(const struct starting *t, struct error *err)
{
	if (t->code < 0)
		return explain(t, err);
	return t->step ? 1 : 0;
}

int confine_start(const struct confine *c, const struct confine_start *start, pid_t *ret_pid, int *ret_listener,
		  struct error *err)
{
	struct starting t = {.c = c, .s = start, .channel = -1, .listener = -1, .step = "clone"};
	AUTO_FD near = -1;
	AUTO_FD far = -1;
	AUTO_FD listener = -1;
	int pair[2], r;
	pid_t pid;

	if (c->listener && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, errno, "socketpair");
	if (c->listener) {
		near = pair[0];
		t.channel = far = pair[1];
	}
	pid = sys_spawn_shared(child, &t, c->user == BOX_USER_NESTED ? CLONE_NEWUSER : 0);
	if (pid < 0)
		return error_sys(err, pid, "start of the workload: clone");
	if (c->listener) {
		(void)close(fd_take(&far));
		listener = take_listener(near);
	}
	r = outcome(&t, err);
	if (r != 0)
		return r;
	if (c->listener && listener < 0)
		return error_set(err, ERROR_SYSTEM, "start of the workload: the filter's listener did not arrive");
	if (listener >= 0)
		seccomp_prefer_same_cpu(listener);
	*ret_pid = pid;
	*ret_listener = fd_take(&listener);
	return 0;
}

enum { TURN_READY = 1, TURN_GO };

struct confine_ahead {
	struct sys_beside beside;
	struct starting t;
	int turn;
};

static int ahead_child(void *arg)
{
	struct confine_ahead *a = arg;

	a->t.code = early_steps(&a->t);
	sys_turn_reach(&a->turn, TURN_READY);
	if (a->t.code < 0)
		return 127;
	sys_turn_wait(&a->turn, TURN_GO);
	/* now the parent only waits for us, and errno is ours */
	a->t.code = late_steps(&a->t);
	return 127;
}

int confine_ahead_start(const struct confine *c, struct confine_ahead **ret, struct error *err)
{
	struct confine_ahead *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	a->t = (struct starting){.c = c, .channel = -1, .listener = -1, .step = "clone"};
	r = sys_beside_start(&a->beside, ahead_child, a);
	if (r < 0) {
		free(a);
		return error_sys(err, r, "start of the workload: clone");
	}
	*ret = a;
	return 0;
}

pid_t confine_ahead_pid(const struct confine_ahead *a)
{
	return a->beside.pid;
}

bool confine_ahead_is_there(const struct confine_ahead *a)
{
	return sys_beside_is_there(&a->beside);
}

void confine_ahead_forget(struct confine_ahead *a)
{
	sys_beside_wait(&a->beside);
	if (a->t.listener >= 0)
		(void)close(a->t.listener);
	free(a);
}

int confine_ahead_go(struct confine_ahead *a, const struct confine_start *start, pid_t *ret_pid, int *ret_listener,
		     struct error *err)
{
	int r;

	a->t.s = start;
	if (sys_beside_reaches(&a->beside, &a->turn, TURN_READY) && a->t.code == 0) {
		if (sys_beside_is_scheduled_alike(&a->beside, a->t.c->pin_cpus))
			sys_turn_reach(&a->turn, TURN_GO);
		else
			(void)kill(a->beside.pid, SIGKILL);
	}
	sys_beside_wait(&a->beside);
	r = outcome(&a->t, err);
	if (r == 0 && a->t.listener >= 0)
		seccomp_prefer_same_cpu(a->t.listener);
	else if (a->t.listener >= 0)
		(void)close(a->t.listener);
	*ret_pid = r == 0 ? a->beside.pid : 0;
	*ret_listener = r == 0 ? a->t.listener : -1;
	free(a);
	return r;
}
