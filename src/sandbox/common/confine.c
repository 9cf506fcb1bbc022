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
#include "sys/bpf.h"
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
	bool listener;
	bool pin_cpus;
	size_t n_filter;
	struct sock_filter filter[FILTER_MAX];
};

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
	static const unsigned rights[] = {[O_RDONLY] = LL_READ, [O_WRONLY] = LL_DEVICES, [O_RDWR] = LL_READ | LL_DEVICES};
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

static int make_ruleset(struct confine *c, struct error *err)
{
	const struct plan *p = c->plan;
	unsigned exec = p->restrict_exec ? 0 : LL_EXEC;
	size_t i;

	c->ruleset = landlock_new(c->features.landlock_abi);
	if (c->ruleset < 0)
		return error_sys(err, c->ruleset, "Landlock: make a ruleset");
	if (allow_path(c, "/", LL_READ | exec, err) < 0 || allow_path(c, "/dev", LL_DEVICES, err) < 0 ||
	    allow_path(c, "/proc", LL_DEVICES, err) < 0)
		return -1;
	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].writable && allow_path(c, p->ops[i].target, LL_READ | LL_WRITE | exec, err) < 0)
			return -1;
	for (i = 0; p->restrict_exec && p->executables && p->executables[i]; i++)
		if (allow_path(c, p->executables[i], LL_EXEC | LL_READ, err) < 0)
			return -1;
	return 0;
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
		.exec_limited = c->plan->restrict_exec,
	};
	int n;

	c->pin_cpus = !c->features.cpu_cgroup && c->plan->limits.cpu_thousandths &&
		      c->plan->limits.cpu_thousandths < usable_cpus() * 1000;
	o.pin_cpus = c->pin_cpus;
	if (o.guard && !c->features.notify)
		return error_set(err, ERROR_MISSING,
				 "filesystem.deny in writable folders needs seccomp user notifications, which this kernel lacks; see `cordon doctor`");
	if (c->pin_cpus && c->plan->limits.cpu_thousandths % 1000)
		return error_set(err, ERROR_MISSING,
				 "process.cpus: a fraction of a CPU needs a delegated cpu cgroup; use a whole number, or see `cordon doctor`");
	n = filter_build(&o, c->filter);
	if (n < 0)
		return error_sys(err, n, "seccomp filter");
	c->n_filter = (size_t)n;
	c->listener = o.guard || o.notify_denials;
	return 0;
}

int confine_new(const struct plan *plan, enum box_user user, const struct confine_features *features, struct confine **ret, struct error *err)
{
	struct confine *c = malloc(sizeof(*c));

	if (!c)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	c->plan = plan;
	c->user = user;
	c->own_uid = geteuid();
	c->own_gid = getegid();
	c->features = *features;
	c->ruleset = -1;
	if (features->landlock_abi < 1 && plan->restrict_exec) {
		free(c);
		return error_set(err, ERROR_MISSING, "process.allow_exec needs Landlock, which this kernel lacks; see `cordon doctor`");
	}
	if (make_filter(c, err) < 0 || (features->landlock_abi >= 1 && make_ruleset(c, err) < 0)) {
		free(c);
		return -1;
	}
	*ret = c;
	return 0;
}

/* Shared with the child while we wait for it. */
struct starting {
	const struct confine *c;
	const struct confine_start *s;
	int channel; /* the listener goes up here */
	const char *step;
	int code;
};

static int set_limit(int what, rlim_t v)
{
	struct rlimit now, want = {v, v};

	if (setrlimit((__rlimit_resource_t)what, &want) == 0)
		return 0;
	/* The hard limit that we inherited may be lower: it stays. */
	if (errno == EPERM && getrlimit((__rlimit_resource_t)what, &now) == 0 && now.rlim_max < v)
		return 0;
	return -errno;
}

static int set_limits(const struct confine *c)
{
	const struct plan_limits *l = &c->plan->limits;
	const struct {
		int what;
		rlim_t v;
		bool or_none; /* gVisor has no such limit, and so lets nobody set it */
	} limits[] = {
		{RLIMIT_CORE, 0, false},
		{RLIMIT_MEMLOCK, 64 * 1024, false},
		{RLIMIT_MSGQUEUE, 256 * 1024, true},
		{RLIMIT_NICE, 0, true},
		{RLIMIT_RTPRIO, 0, true},
		{RLIMIT_SIGPENDING, 4096, true},
		{RLIMIT_NOFILE, 4096, false},
		{RLIMIT_FSIZE, l->file_size ? l->file_size : RLIM_INFINITY, false},
		{RLIMIT_NPROC, l->processes ? l->processes : RLIM_INFINITY, false},
		/* One process alone cannot pass the run's limit; the supervisor watches the sum where no cgroup does. */
		{RLIMIT_DATA, l->memory && !c->features.memory_cgroup ? l->memory : RLIM_INFINITY, false},
	};
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_LEN(limits); i++) {
		r = set_limit(limits[i].what, limits[i].v);
		if (r == -EPERM && limits[i].or_none)
			r = 0;
	}
	return r;
}

/* Without a cpu cgroup: as many CPUs as policy says, the first of those we may use. */
static int pin_cpus(const struct confine *c)
{
	uint64_t want = c->plan->limits.cpu_thousandths / 1000;
	cpu_set_t may, use;
	int i;

	if (!c->pin_cpus)
		return 0;
	CPU_ZERO(&use);
	if (sched_getaffinity(0, sizeof(may), &may) < 0)
		return -errno;
	for (i = 0; i < CPU_SETSIZE && want; i++) {
		if (CPU_ISSET(i, &may)) {
			CPU_SET(i, &use);
			want--;
		}
	}
	return sched_setaffinity(0, sizeof(use), &use) < 0 ? -errno : 0;
}

static void reset_signals(void)
{
	sigset_t none;

	/* What the user ignores stays ignored, as across any exec; SIGPIPE is what we ourselves changed. */
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static int place_fds(const struct confine_start *s)
{
	int from[3], i;

	/* first out of the way of 0 to 2, then into place */
	for (i = 0; i < 3; i++) {
		from[i] = fcntl(s->stdio[i], F_DUPFD_CLOEXEC, 10);
		if (from[i] < 0)
			return -errno;
	}
	for (i = 0; i < 3; i++)
		if (dup2(from[i], i) < 0)
			return -errno;
	return 0;
}

static int send_listener(int channel, int fd)
{
	return wire_send(channel, 1, sv_n("", 0), &fd, 1);
}

/* Tries each folder of PATH, as execvpe() does, but never a shell for a file without an interpreter line. */
static int exec_search(const struct confine_start *s)
{
	const char *path = "/usr/local/bin:/usr/bin:/bin", *at, *end, *name = s->argv[0];
	char full[PATH_MAX];
	int i, code = ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		(void)execve(name, s->argv, s->env);
		return -errno;
	}
	for (i = 0; s->env[i]; i++)
		if (strncmp(s->env[i], "PATH=", 5) == 0)
			path = s->env[i] + 5;
	for (at = path;; at = end + 1) {
		end = strchrnul(at, ':');
		if ((size_t)snprintf(full, sizeof(full), "%.*s/%s", end == at ? 1 : (int)(end - at), end == at ? "." : at, name) <
		    sizeof(full)) {
			(void)execve(full, s->argv, s->env);
			if (errno != ENOENT && errno != ENOTDIR)
				code = errno;
		}
		if (!*end)
			return -code;
	}
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, text, strlen(text));
	(void)close(fd);
	return r;
}

/* We are in a new user namespace: the one id that there is gets the plan's number there. */
static int map_own_ids(const struct confine *c)
{
	char line[64];
	int r = write_text("/proc/self/setgroups", "deny");

	(void)snprintf(line, sizeof(line), "%u %u 1", c->plan->gid, c->own_gid);
	if (r == 0)
		r = write_text("/proc/self/gid_map", line);
	(void)snprintf(line, sizeof(line), "%u %u 1", c->plan->uid, c->own_uid);
	return r == 0 ? write_text("/proc/self/uid_map", line) : r;
}

/* Capabilities are there as long as they are needed: of a new namespace to map its ids, of PID 1's to change them and to empty the bounding set, which no later moment could. */
static int become_user(struct starting *t)
{
	const struct confine *c = t->c;
	uint64_t set_ids = c->user == BOX_USER_BECOME ? UINT64_C(1) << SYS_CAP_SETUID | UINT64_C(1) << SYS_CAP_SETGID : 0;
	int r = 0;

	t->step = "user id";
	if (c->user == BOX_USER_NESTED && (r = map_own_ids(c)) < 0)
		return r;
	t->step = "capabilities";
	if ((r = sys_drop_caps(set_ids, true)) < 0 || !set_ids)
		return r;
	t->step = "user id";
	r = sys_set_ids(c->plan->uid, c->plan->gid);
	return r < 0 ? r : sys_drop_caps(0, false);
}

static int child_steps(struct starting *t)
{
	const struct confine *c = t->c;
	int fd, r;

	t->step = "session";
	(void)setsid();
	reset_signals();
	if (t->s->terminal >= 0 && ioctl(t->s->terminal, TIOCSCTTY, 0) < 0)
		return -errno;
	t->step = "file descriptors";
	if ((r = place_fds(t->s)) < 0)
		return r;
	t->step = "limits";
	if ((r = set_limits(c)) < 0 || (r = pin_cpus(c)) < 0)
		return r;
	if ((r = become_user(t)) < 0)
		return r;
	t->step = "work folder"; /* as whoever it is shown to */
	if (chdir(t->s->cwd) < 0)
		return -errno;
	t->step = "no_new_privs";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	t->step = "Landlock";
	if (c->ruleset >= 0 && (r = landlock_enforce(c->ruleset)) < 0)
		return r;
	t->step = "seccomp";
	fd = seccomp_install(c->filter, c->n_filter, c->listener);
	if (fd < 0)
		return fd;
	if (c->listener && (r = send_listener(t->channel, fd)) < 0)
		return r;
	t->step = NULL;
	return exec_search(t->s);
}

static int child(void *arg)
{
	struct starting *t = arg;

	t->code = child_steps(t);
	return 127; /* clone()'s child exits with it */
}

static int explain(const struct starting *t, const struct confine_start *s, struct error *err)
{
	struct text_shown name;
	int code = -t->code;

	(void)text_show(&name, sv_of(s->argv[0]));
	if (t->step)
		return error_sys(err, code, "start of the workload: %s", t->step);
	if (code == ENOENT || code == ENOTDIR)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s: not found in the sandbox; if it is on this machine, show its folder with filesystem.read", name.s);
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

int confine_start(const struct confine *c, const struct confine_start *start, pid_t *ret_pid, int *ret_listener, struct error *err)
{
	struct starting t = {.c = c, .s = start};
	AUTO_FD near = -1;
	AUTO_FD far = -1;
	int pair[2], listener = -1;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, errno, "socketpair");
	near = pair[0];
	far = pair[1];
	t.channel = far;
	pid = sys_spawn_shared(child, &t, c->user == BOX_USER_NESTED ? CLONE_NEWUSER : 0, NULL);
	if (pid < 0)
		return error_sys(err, pid, "start of the workload: clone");
	(void)close(fd_take(&far));
	if (c->listener)
		listener = take_listener(near);
	if (t.code) {
		if (listener >= 0)
			(void)close(listener);
		return explain(&t, start, err);
	}
	if (c->listener && listener < 0)
		return error_set(err, ERROR_SYSTEM, "start of the workload: the filter's listener did not arrive");
	*ret_pid = pid;
	*ret_listener = listener;
	return 0;
}
