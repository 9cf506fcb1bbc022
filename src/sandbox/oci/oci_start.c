#include "sandbox/oci/oci_start.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/common/root_image.h"
#include "sandbox/oci/oci_config.h"
#include "sandbox/oci/oci_kill.h"
#include "sandbox/oci/oci_show.h"
#include "sys/beside.h"
#include "sys/cgroup.h"
#include "sys/copy_bytes.h"
#include "sys/grace.h"
#include "sys/idmap.h"
#include "sys/mounts.h"
#include "sys/process.h"
#include "sys/userns.h"

#define CGROUPS "/sys/fs/cgroup"
#define CGROUPS_V2 CGROUPS "/unified"

enum { ARGS_MAX = 2 * OCI_FLAGS_MAX + 16, EXIT_NOT_STARTED = 125, PLACES_MAX = 128 * 1024, COPIED_MAX = 16 << 20 };

struct start {
	const struct box *b;
	const struct oci_runtime *r;
	const char *program;
	const char *argv[ARGS_MAX];
	size_t n;
	bool in_v2_cgroup;
	bool ranges; /* box_has_ranges(): as who we are before */
	bool own; /* we have a mount namespace of our own */
	int ready[2], mapped[2]; /* pipes, where ids of ranges are ours: the child's user namespace is there; it has its
				    ids */
	uid_t uid;
	gid_t gid;
};

static void add_flags(struct start *s, const char *const *flags)
{
	size_t i;

	for (i = 0; i < OCI_FLAGS_MAX && flags[i]; i++)
		s->argv[s->n++] = flags[i];
}

bool oci_is_guest(const struct box *b, const struct oci_runtime *r)
{
	return r->own_kernel && b->join.id;
}

static int make_arguments(struct start *s)
{
	struct arena *a = s->b->arena;
	const char *dir = oci_is_guest(s->b, s->r) ? s->b->leader_dir : s->b->dir;

	s->argv[s->n++] = s->program;
	s->argv[s->n++] = arena_printf(a, "--root=%s/" OCI_STATE, dir);
	s->argv[s->n++] = arena_printf(a, "--log=%s/" OCI_LOG, s->b->dir);
	s->argv[s->n++] = "--log-format=json";
	add_flags(s, s->r->flags);
	if (s->uid != 0)
		add_flags(s, s->r->rootless_flags);
	s->argv[s->n++] = "run";
	s->argv[s->n++] = arena_printf(a, "--bundle=%s", s->b->dir);
	s->argv[s->n++] = arena_printf(a, "cordon-%s", s->b->id);
	return arena_failed(a) ? -ENOMEM : 0;
}

static int write_text(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* Who maps ranges is outside, and we wait for it; then we are root there. */
static int own_ranges(struct start *s)
{
	int r = sys_unshare(CLONE_NEWNS | CLONE_NEWUSER);
	char c = 0;

	/* the other ends are the supervisor's alone, whose end must show */
	(void)close(s->ready[0]);
	(void)close(s->mapped[1]);
	if (r == 0 && (write(s->ready[1], &c, 1) != 1 || read(s->mapped[0], &c, 1) != 1))
		r = -EPERM;
	if (r == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		r = -errno;
	return r;
}

/* An ordinary user may enter a leader's network from the user namespace that its runtime runs in, and nowhere else;
 * that one has the same ids. */
static int leaders_mounts(struct start *s)
{
	AUTO_FD user = sys_userns_parent(s->b->join.user);
	int r = user < 0 ? user : sys_enter_user(user);

	if (r == 0)
		r = sys_unshare(CLONE_NEWNS);
	if (r == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		r = -errno;
	return r;
}

/* A mount namespace of its own; for ordinary users in a user namespace in which nothing has another number. */
static int own_mounts(struct start *s)
{
	char line[64];
	int r;

	if (s->own)
		return 0;
	s->own = true;
	if (s->uid && s->b->join.user >= 0)
		return leaders_mounts(s);
	if (s->ranges)
		return own_ranges(s);
	r = sys_unshare(CLONE_NEWNS | (s->uid ? CLONE_NEWUSER : 0));

	if (r == 0 && s->uid) {
		(void)snprintf(line, sizeof(line), "%u %u 1", s->uid, s->uid);
		r = write_text("/proc/self/uid_map", line);
		if (r == 0)
			r = write_text("/proc/self/setgroups", "deny");
		(void)snprintf(line, sizeof(line), "%u %u 1", s->gid, s->gid);
		if (r == 0)
			r = write_text("/proc/self/gid_map", line);
	}
	if (r == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		r = -errno;
	return r;
}

/* So that the runtime leaves cgroups alone. Its container is in ours already, and sees it as the root of all. */
static int shut_off_cgroups(struct start *s)
{
	int r;

	if (s->r->cgroups == OCI_CGROUPS_READ_ONLY && s->uid == 0) {
		r = own_mounts(s);
		return r < 0 || access(CGROUPS, F_OK) < 0
			       ? r
			       : sys_mount_flags(CGROUPS, MOUNT_READ_ONLY | MOUNT_NO_DEV | MOUNT_NO_EXEC, true);
	}
	if (s->r->cgroups != OCI_CGROUPS_V1_ONLY || access(CGROUPS_V2 "/cgroup.procs", F_OK) < 0)
		return 0;
	r = own_mounts(s);
	if (r == 0 && mount("none", CGROUPS_V2, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4096") < 0)
		r = -errno;
	return r;
}

static int show_judged(struct start *s, struct error *err)
{
	int r = oci_show_needed(s->b, s->r) ? own_mounts(s) : 0;

	if (r < 0)
		return error_sys(err, r, "a mount namespace");
	return s->own ? oci_show(s->b, s->r, err) : 0;
}

static int write_places(int dir, const struct buf *made)
{
	AUTO_FD fd = openat(dir, BOX_PLACES, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : write_all(fd, made->p, made->n);
}

/* The root of an image is mounted here, where the runtime finds it and nobody else. gVisor as root has no user
 * namespace: the ids are the inside's. */
static int lay_image(struct start *s, struct error *err)
{
	/* a kernel of its own brings its /sys, and would bring a /tmp (oci_config.c) */
	const char *const places[] = {BOX_DIR, s->r->own_kernel ? "/sys" : NULL, "/tmp", NULL};
	const struct plan *p = s->b->plan;
	enum root_image_ids ids = s->uid ? ROOT_IMAGE_OURS : s->b->ids.mapped ? ROOT_IMAGE_HOST : ROOT_IMAGE_INSIDE;
	struct root_image_trees t = {0};
	size_t n = p->image ? root_image_trees(p) : 0;
	AUTO_FREE char *at = NULL;
	AUTO_BUF made = {0};
	int r;

	if (!p->image)
		return 0;
	t.fds = calloc(n, sizeof(*t.fds));
	if (!t.fds || asprintf(&at, "%s/" BOX_IMAGE, s->b->dir) < 0)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	buf_init(&made, PLACES_MAX);
	if (root_image_check(p->image, err) < 0)
		return -1;
	r = own_mounts(s);
	if (r < 0)
		return error_sys(err, r, "a mount namespace");
	if (s->uid && root_image_open(p, &t, err) < 0)
		return -1;
	for (; t.n < n; t.n++)
		if ((t.fds[t.n] = root_image_clone(p, t.n, ids, err)) < 0)
			return -1;
	r = root_image_lay(p, &t, ids, at, places, &made, err);
	free(t.fds);
	if (write_places(s->b->dir_fd, &made) < 0 && r == 0)
		return error_set(err, ERROR_SYSTEM, "the mount points of the image cannot be noted");
	return r;
}

/* By a name that only the runtime sees, and that no other namespace can ever have. */
static int show_network(struct start *s)
{
	AUTO_FD place = openat(s->b->dir_fd, OCI_NETWORK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	AUTO_FREE char *target = NULL;
	char source[64];
	int r = place < 0 ? -errno : own_mounts(s);

	if (r < 0)
		return r;
	if (asprintf(&target, "%s/" OCI_NETWORK, s->b->dir) < 0) {
		target = NULL;
		return -ENOMEM;
	}
	(void)snprintf(source, sizeof(source), "/proc/self/fd/%d", s->b->join.net);
	return sys_bind(source, target, false);
}

static int write_process(int dir)
{
	AUTO_FD fd = openat(dir, OCI_PROCESS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	char text[64];
	int n = snprintf(text, sizeof(text), "%d %" PRIu64 "\n", (int)getpid(), oci_started(getpid()));

	if (fd < 0)
		return -errno;
	return write(fd, text, (size_t)n) < 0 ? -errno : 0;
}

/* Of a failure only words come out of here, but for this one: it is the fault of whoever filled the root. */
static void write_in_the_way(int dir, const struct error *err)
{
	AUTO_FD fd = err->kind == ERROR_DENIED && err->code
			     ? openat(dir, BOX_IN_THE_WAY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
			     : -1;

	if (fd >= 0)
		(void)dprintf(fd, "%d\n", err->code);
}

static void reset_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Nothing to read is an empty pipe, never /dev/null: runsc gives what it has as standard input, output and error to
 * another user, on the host (chown). */
static int set_stdio(int dir)
{
	int output = openat(dir, OCI_OUTPUT, O_WRONLY | O_CREAT | O_APPEND, 0600), nothing[2];

	if (output < 0 || pipe2(nothing, O_CLOEXEC) < 0)
		return -errno;
	return dup2(nothing[0], 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 ? -errno : 0;
}

/* Without a cpu cgroup: a kernel of its own spreads the workload over what it has itself, whatever the workload is told
 * there. 0: over as many as it likes. */
static uint64_t cpus_bound(const struct start *s)
{
	return s->r->own_kernel && !s->b->cpu_cgroup ? (s->b->plan->limits.cpu_thousandths + 999) / 1000 : 0;
}

static int limit_cpus(const struct start *s)
{
	uint64_t n = cpus_bound(s);

	return n ? sys_pin_cpus(n) : 0;
}

/* A copy of the program in memory, that nobody can ever write to: for ordinary users, who make no mounts. The seals are
 * those that crun asks for, no more and no less. */
static int copy_sealed(const char *program)
{
	AUTO_FD from = open(program, O_RDONLY | O_CLOEXEC);
	AUTO_FD copy = from < 0 ? -1 : memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stat st;
	bool cloned;

	if (copy < 0 || fstat(from, &st) < 0 || st.st_size > COPIED_MAX ||
	    sys_copy_bytes(from, copy, (uint64_t)st.st_size, &cloned) < 0)
		return -1;
	return fcntl(copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0 ? -1
												      : fd_take(&copy);
}

/*
 * A runtime whose container could write to its program gets it on a mount of its own, read-only and in nobody's
 * namespace, or as such a copy: either it would make itself, and then load all of its program a second time. It
 * believes us only where it sees that it is so; where neither can be had, it does as ever. Returns -errno.
 */
static int execute(const struct start *s)
{
	static const char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	const char *const env[] = {path, s->r->sealed, NULL}, *const plain[] = {path, NULL};
	union {
		const char *const *in;
		char *const *out;
	} argv = {.in = s->argv}, sealed = {.in = env}, environment = {.in = plain};
	int program = s->r->sealed ? sys_tree_clone(AT_FDCWD, s->program, MOUNT_READ_ONLY) : -1;

	if (program < 0 && s->r->sealed)
		program = copy_sealed(s->program);
	if (program >= 0)
		(void)fexecve(program, argv.out, sealed.out);
	(void)execve(s->program, argv.out, environment.out);
	return -errno;
}

static _Noreturn void become(struct start *s)
{
	const char *step = "cannot be prepared";
	struct error err = {0};
	int r;

	reset_signals();
	(void)setsid(); /* what a terminal sends is for the command */
	(void)umask(022);
	r = s->b->cgroup ? cgroup_join_self(s->b->cgroup, s->in_v2_cgroup) : 0;
	if (r == 0)
		r = limit_cpus(s);
	if (r == 0)
		r = write_process(s->b->dir_fd);
	if (r == 0)
		r = set_stdio(s->b->dir_fd);
	if (r == 0 && (show_judged(s, &err) < 0 || lay_image(s, &err) < 0)) {
		(void)dprintf(STDERR_FILENO, "%s\n", err.text);
		write_in_the_way(s->b->dir_fd, &err);
		_exit(EXIT_NOT_STARTED);
	}
	if (r == 0 && s->b->join.net >= 0 && (r = show_network(s)) < 0)
		step = "cannot be shown the network of the sandbox that leads";
	if (r == 0)
		r = shut_off_cgroups(s);
	/* An ordinary user who has capabilities has them in a user namespace, where runsc would take them for root's.
	 */
	if (r == 0 && s->uid && !s->ranges)
		r = s->b->join.net >= 0 ? sys_pass_caps(UINT64_C(1) << SYS_CAP_SYS_ADMIN) : sys_drop_caps(0);
	if (r == 0)
		r = sys_close_from(3);
	if (r == 0) {
		if (s->r->graces)
			sys_grace_spare();
		step = "cannot be executed";
		r = execute(s);
	}
	(void)dprintf(STDERR_FILENO, "%s %s: %s\n", s->program, step, strerror(-r));
	_exit(EXIT_NOT_STARTED);
}

/* The child waits for its ids, or ends by itself before it asks for them. */
static int give_ranges(struct start *s, pid_t pid, struct error *err)
{
	const struct image_ids *i = &s->b->plan->image->ids;
	const struct sys_idmap uids = {.count = i->count, .zero = i->zero_uid, .first = i->first_uid},
			       gids = {.count = i->count, .zero = i->zero_gid, .first = i->first_gid};
	char c;
	int r;

	(void)close(s->ready[1]);
	(void)close(s->mapped[0]);
	r = read(s->ready[0], &c, 1) == 1 ? sys_idmap_write(pid, &uids, &gids) : 0;
	if (r == 0)
		(void)!write(s->mapped[1], &c, 1);
	(void)close(s->ready[0]);
	(void)close(s->mapped[1]);
	return r < 0 ? error_set(err, ERROR_MISSING,
				 "newuidmap and newgidmap do not give %s the ids that /etc/subuid and /etc/subgid "
				 "name; are both installed (package uidmap), and the ranges yours?",
				 s->r->name)
		     : 0;
}

static void close_pipes(const struct start *s)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (s->ready[i] >= 0)
			(void)close(s->ready[i]);
		if (s->mapped[i] >= 0)
			(void)close(s->mapped[i]);
	}
}

int oci_start_process(struct box *b, const struct oci_runtime *r, const char *program, struct error *err)
{
	struct start s = {.b = b,
			  .r = r,
			  .program = program,
			  .uid = geteuid(),
			  .gid = getegid(),
			  .ranges = box_has_ranges(b),
			  .ready = {-1, -1},
			  .mapped = {-1, -1}};
	bool maps = s.ranges && b->join.user < 0; /* else the leader's are there */
	int pidfd = -1;
	pid_t pid = make_arguments(&s);

	if (pid == 0 && maps && (pipe2(s.ready, O_CLOEXEC) < 0 || pipe2(s.mapped, O_CLOEXEC) < 0))
		pid = -errno;
	if (pid == 0)
		pid = sys_fork_into(0, b->cgroup ? cgroup_fd_v2(b->cgroup) : -1, &s.in_v2_cgroup, &pidfd);
	if (pid == 0)
		become(&s);
	if (pid < 0) {
		close_pipes(&s);
		return error_sys(err, pid, "%s: start", r->name);
	}
	/* we go on for a while, and it has much to load */
	if (!cpus_bound(&s))
		sys_begin_elsewhere(pid);
	b->runtime = pid;
	b->runtime_pidfd = pidfd;
	return maps ? give_ranges(&s, pid, err) : 0;
}

bool oci_start_read(const char *dir, pid_t *ret_pid, uint64_t *ret_started)
{
	AUTO_FREE char *path = NULL;
	AUTO_FD fd = -1;
	char text[64];
	ssize_t n;

	if (asprintf(&path, "%s/" OCI_PROCESS, dir) < 0) {
		path = NULL;
		return false;
	}
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "%d %" SCNu64, ret_pid, ret_started) == 2 && *ret_pid > 1 && *ret_started;
}
