#include "sandbox/native/native.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/inside.h"
#include "plan/plan_source.h"
#include "sandbox/native/native_image.h"
#include "sandbox/native/pid1.h"
#include "sandbox/native/spaces.h"
#include "sys/cgroup.h"
#include "sys/landlock.h"
#include "sys/mounts.h"
#include "sys/process.h"
#include "sys/seccomp.h"
#include "sys/userns.h"
#include "wire/wire.h"

/* Where root starts sandboxes, each is somebody else on the host: 1,900,000,000 and our process number, a range nobody
 * hands out. */
enum { ROOT_UID_BASE = 1900000000 };

void native_probe(struct confine_features *ret)
{
	*ret = (struct confine_features){.landlock_abi = landlock_abi(), .notify = seccomp_notify_works()};
}

static int explain_clone(int code, const char *what, struct error *err)
{
	(void)error_sys(err, code, "%s cannot be made here", what);
	(void)snprintf(err->text + strlen(err->text), sizeof(err->text) - strlen(err->text),
		       "; `cordon doctor` says what blocks them and how to allow them");
	err->kind = ERROR_MISSING;
	return -1;
}

/* Are we the host's root, not a container's? Only the host's can own what an unprivileged id must not. */
static bool is_host_root(void)
{
	char line[64] = "";
	AUTO_FD fd = -1;
	unsigned inside, outside, count;
	ssize_t n;

	if (geteuid() != 0)
		return false;
	fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);
	if (n <= 0)
		return true;
	return sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 && outside == 0 &&
	       count == 4294967295U;
}

uint32_t native_host_uid(void)
{
	return is_host_root() ? ROOT_UID_BASE + (uint32_t)getpid() : geteuid();
}

static int write_map(pid_t pid, const char *file, uint32_t inside, uint32_t outside)
{
	char path[64], line[64];
	AUTO_FD fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	(void)snprintf(line, sizeof(line), "%u %u 1\n", inside, outside);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : write_all(fd, line, strlen(line));
}

struct trees {
	int fds[WIRE_MAX_FDS];
	size_t n;
	int userns; /* of the last owner, or -1 */
	struct sys_userns_rest rest;
	uid_t owner;
	gid_t group;
};

static int add_tree(struct trees *t, int fd, const char *path, struct error *err)
{
	struct text_shown shown;

	if (fd < 0) {
		(void)error_set(err, ERROR_MISSING,
				"%s: its file system cannot show files to another user id (%s), which a sandbox of "
				"root needs; run as an ordinary user, or use filesystem.workdir: copy",
				text_show(&shown, sv_of(path)), strerror(-fd));
		err->code = -fd;
		return -1;
	}
	if (t->n == WIRE_MAX_FDS) {
		(void)close(fd);
		return error_set(err, ERROR_INPUT, "as root a policy can show at most %d paths besides the base system",
				 WIRE_MAX_FDS);
	}
	t->fds[t->n++] = fd;
	return 0;
}

/*
 * The host's folders as the sandbox's user sees them: whoever owns the folder there is the user here, and what the user
 * makes belongs to that owner.
 */
static int map_tree(struct trees *t, const struct plan_op *op, uint32_t uid, struct error *err)
{
	AUTO_FD source = plan_source_open(op, O_PATH);
	struct text_shown shown;
	struct stat st;

	if (source < 0 || fstat(source, &st) < 0)
		return plan_source_error(op, source < 0 ? source : -errno, err);
	if (t->userns < 0 || t->owner != st.st_uid || t->group != st.st_gid) {
		if (t->userns >= 0)
			(void)close(t->userns);
		sys_userns_end(&t->rest);
		t->userns = sys_idmap_userns(st.st_uid, uid, st.st_gid, uid, &t->rest);
		t->owner = st.st_uid;
		t->group = st.st_gid;
		if (t->userns < 0)
			return error_sys(err, t->userns, "map ids of %s", text_show(&shown, sv_of(op->source)));
	}
	if (add_tree(t, sys_tree_clone_idmapped(source, "", op->flags, t->userns), op->source, err) < 0)
		return -1;
	if (op->kind != PLAN_OVERLAY || !op->upper)
		return 0;
	return add_tree(t, sys_tree_clone(AT_FDCWD, op->upper, MOUNT_NO_DEV), op->upper, err);
}

static int map_trees(struct trees *t, const struct plan *p, uint32_t uid, struct error *err)
{
	size_t i;

	/* in our cache, where the sandbox's user cannot go */
	if (p->skeleton && add_tree(t, sys_tree_clone(AT_FDCWD, p->skeleton, MOUNT_NO_DEV), p->skeleton, err) < 0)
		return -1;
	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].host && map_tree(t, &p->ops[i], uid, err) < 0)
			return -1;
	return 0;
}

/* Of the namespace that will be the sandbox's. */
static int map_ids(pid_t pid, uint32_t inside, uint32_t outside, struct error *err)
{
	int r = write_map(pid, "uid_map", inside, outside);

	if (r == 0)
		r = write_map(pid, "gid_map", inside, outside);
	if (r == -ENOENT)
		return error_set(err, ERROR_MISSING,
				 "/proc is not mounted here: a user namespace cannot be set up without it");
	return r < 0 ? error_sys(err, r, "user namespace: map the user id") : 0;
}

static int send_trees(const struct pid1_start *start, struct native *n, struct error *err)
{
	struct trees t = {.userns = -1};
	size_t i;
	int r = map_trees(&t, start->req->plan, start->host_uid, err);

	if (r == 0) {
		r = wire_send(n->socket, INSIDE_GO, sv_n("", 0), t.fds, t.n);
		r = r < 0 ? error_sys(err, r, "sandbox: the word to go on") : 0;
	}
	for (i = 0; i < t.n; i++)
		(void)close(t.fds[i]);
	if (t.userns >= 0)
		(void)close(t.userns);
	sys_userns_end(&t.rest);
	return r;
}

static void run_pid1(void *arg, bool in_cgroup)
{
	struct pid1_start *start = arg;

	start->in_v2_cgroup = in_cgroup;
	pid1_main(start);
}

static int start_image(struct pid1_start *start, int cgroup, struct native *n, struct error *err)
{
	const struct native_request *req = start->req;
	uint64_t spaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
	bool joined = req->join[0] >= 0, in_cgroup = false;

	n->pid = joined ? native_image_join(req->join, spaces, &n->pidfd)
			: sys_fork_into(spaces | CLONE_NEWUSER, cgroup, &in_cgroup, &n->pidfd);
	if (n->pid == 0)
		run_pid1(start, in_cgroup);
	return n->pid < 0 ? explain_clone(n->pid, "user namespaces", err)
			  : native_image_prepare(req->plan, n, joined, err);
}

static int start_host(struct pid1_start *start, int cgroup, struct native *n, struct error *err)
{
	const struct plan *plan = start->req->plan;
	struct spaces_fork fork = {.run = run_pid1, .arg = start, .cgroup = cgroup};
	int r = n->spaces ? 0 : spaces_start(plan->loopback, &n->spaces);

	if (r < 0)
		return explain_clone(r, "user namespaces", err);
	if (start->mapped_by_parent && map_ids(spaces_pid(n->spaces), plan->uid, start->host_uid, err) < 0)
		return -1;
	n->pid = spaces_fork(n->spaces, &fork, &n->pidfd);
	if (n->pid == -ECHILD) /* it answered nothing */
		return error_set(
			err, ERROR_SYSTEM,
			"the process that makes the sandbox ended without a word; was it killed from outside?");
	if (n->pid < 0)
		return explain_clone(n->pid, "namespaces of the network, mounts and processes", err);
	return start->mapped_by_parent ? send_trees(start, n, err) : 0;
}

void native_begin(struct native *n, bool loopback)
{
	(void)spaces_start(loopback, &n->spaces);
}

int native_start(const struct native_request *req, struct native *ret, struct error *err)
{
	struct pid1_start start = {
		.req = req, .map_uid = geteuid(), .map_gid = getegid(), .host_uid = native_host_uid()};
	int pair[2], r, cgroup = req->cgroup ? cgroup_fd_v2(req->cgroup) : -1;

	start.mapped_by_parent = req->plan->image || start.host_uid != geteuid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, errno, "socketpair");
	ret->socket = pair[0];
	start.socket = pair[1];
	r = (req->plan->image ? start_image : start_host)(&start, cgroup, ret, err);
	(void)close(pair[1]);
	if (r < 0)
		native_done(ret);
	return r;
}

int native_go(struct native *n, bool hold, struct error *err)
{
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, 16);
	wire_put_u32(&b, hold);
	r = wire_send(n->socket, INSIDE_GO, buf_view(&b), NULL, 0);
	/* it ended long ago, and PID 1 is at work */
	spaces_free(n->spaces);
	n->spaces = NULL;

	/* PID 1 may have failed already: what it said is in the socket, and worth more than this. */
	return r < 0 && r != -EPIPE && r != -ECONNRESET ? error_sys(err, r, "sandbox: the word to go on") : 0;
}

void native_done(struct native *n)
{
	if (n->pid > 0) {
		(void)kill(n->pid, SIGKILL);
		while (waitpid(n->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (n->pidfd >= 0)
		(void)close(n->pidfd);
	if (n->socket >= 0)
		(void)close(n->socket);
	spaces_free(n->spaces);
	*n = (struct native){.pid = -1, .pidfd = -1, .socket = -1};
}
