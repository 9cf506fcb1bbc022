#include "sandbox/oci/oci.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/inside.h"
#include "sandbox/oci/oci_config.h"
#include "sandbox/oci/oci_heir.h"
#include "sandbox/oci/oci_kill.h"
#include "sandbox/oci/oci_runtime.h"
#include "sandbox/oci/oci_said.h"
#include "sandbox/oci/oci_start.h"
#include "sys/cgroup.h"
#include "sys/process.h"
#include "wire/wire.h"

/* For a runtime to notice that its container is dead; for a container in another's kernel to end with its connection,
 * and for that kernel to end. */
enum { NOTICE_MS = 1000, STEP_MS = 1, GUEST_MS = 5000, LEADER_MS = 10000 };

/* Ids of the host that belong to nobody: one for each process that can be a supervisor, and as many again. */
enum { INIT_IDS = 1900000000, WORKLOAD_IDS = 1904194304 };

const char *oci_program(const struct box_backend *backend)
{
	return oci_runtime_program(oci_runtime_find(backend->name));
}

/* An image's ids follow cordon-init's, who is none of them; an ordinary user has one id, which is both. */
static void ids_of_image(const struct plan *plan, struct box_ids *ret)
{
	const struct image_root *r = plan->image;
	bool root = geteuid() == 0;

	*ret = (struct box_ids){.user = root ? BOX_USER_BECOME : BOX_USER_NESTED,
				.inside = plan->uid,
				.host = plan->uid ? r->ids.first_uid + plan->uid - 1 : r->ids.zero_uid,
				.host_init = root ? INIT_IDS + (uint32_t)getpid() : geteuid(),
				.mapped = true,
				.image_shift = root};
}

static void ids_mapped(const struct plan *plan, struct box_ids *ret)
{
	uint32_t pid = (uint32_t)getpid();

	if (plan->image)
		ids_of_image(plan, ret);
	else if (geteuid() == 0)
		*ret = (struct box_ids){.user = BOX_USER_BECOME,
					.inside = plan->uid,
					.host = WORKLOAD_IDS + pid,
					.host_init = INIT_IDS + pid,
					.mapped = true};
	else
		*ret = (struct box_ids){.user = BOX_USER_NESTED,
					.inside = plan->uid,
					.host = geteuid(),
					.host_init = geteuid(),
					.mapped = true};
}

/* gVisor's kernel has ids of its own; what its file server does on the host, it does as who we are. */
static void ids_gvisor(const struct plan *plan, struct box_ids *ret)
{
	if (geteuid() == 0)
		*ret = (struct box_ids){
			.user = BOX_USER_BECOME, .inside = plan->uid, .host = plan->uid, .host_init = 0};
	else
		*ret = (struct box_ids){.user = BOX_USER_IS, .inside = 0, .host = geteuid(), .host_init = geteuid()};
}

static int write_config(struct box *b, const struct oci_runtime *r, struct error *err)
{
	AUTO_FD fd = openat(b->dir_fd, OCI_CONFIG, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	AUTO_BUF text = {0};
	int code;

	buf_init(&text, OCI_CONFIG_MAX);
	if (oci_config_write(b, r, &text, err) < 0)
		return -1;
	code = fd < 0 ? -errno : write_all(fd, text.p, text.n);
	return code < 0 ? error_sys(err, code, "%s/" OCI_CONFIG, b->dir) : 0;
}

/* The host's kernel runs all of it, and cordon-init is there: the runtime has started all that it ever starts. */
static bool is_settled(const struct box *b)
{
	return b->init_pid > 0;
}

/* While the runtime lives all that it started can be found; without it the cgroup holds what is left, and otherwise the
 * end of cordon-init's connection is its own end. */
static void stop(struct box *b)
{
	/* its processes are the leader's kernel's: they end when cordon-init does, which ends with its connection */
	if (oci_is_guest(b, oci_runtime_find(b->backend->name))) {
		if (b->socket >= 0)
			(void)shutdown(b->socket, SHUT_RDWR);
		return;
	}
	if (b->runtime > 0 && !oci_wait(b->runtime_pidfd, 0))
		oci_kill_descendants(b->runtime, is_settled(b));
	else if (b->runtime > 0)
		(void)cgroup_kill(b->cgroup);
}

/*
 * No runtime is left to clean up: there is nothing that does not go with the box, and runc tries for a fifth of a
 * second to remove cgroups that it never made. One that is nobody's child of ours is left to wait for its dead
 * children, for not every host's PID 1 would.
 */
static void end_runtime(pid_t pid, int pidfd)
{
	int waited;

	for (waited = 0; waited < NOTICE_MS && oci_has_children(pid); waited += STEP_MS)
		if (oci_wait(pidfd, STEP_MS))
			return;
	oci_kill_descendants(pid, false);
	(void)sys_pidfd_signal(pidfd, SIGKILL);
}

/* Ends the leader, and with it the kernel that they all live in. Its supervisor's end is the connection's. */
static void end_leader(const struct box *b)
{
	struct pollfd p = {.fd = b->join.leader, .events = POLLIN};
	AUTO_BUF body = {0};

	buf_init(&body, 16);
	wire_put_u32(&body, 0);
	if (wire_send(b->join.leader, INSIDE_STOP, buf_view(&body), NULL, 0) == 0)
		(void)poll(&p, 1, LEADER_MS);
}

/* The runtime ends when it was told that all of the container has ended. One that does not, or that somebody killed,
 * leaves in doubt whether something still runs there: then nothing may. */
static void done_guest(struct box *b)
{
	int status = 0;
	bool ended = oci_wait(b->runtime_pidfd, GUEST_MS);

	if (!ended)
		end_leader(b);
	oci_kill_descendants(b->runtime, false);
	(void)sys_pidfd_signal(b->runtime_pidfd, SIGKILL);
	while (waitpid(b->runtime, &status, 0) < 0 && errno == EINTR)
		;
	if (ended && WIFSIGNALED(status))
		end_leader(b);
}

/* As done(), where the supervisor was killed: cordon-init ends with its connection then, unless somebody inside keeps
 * it from that. */
static void inherit(struct box *b)
{
	if (oci_is_guest(b, oci_runtime_find(b->backend->name))) {
		done_guest(b);
	} else if (!oci_wait(b->runtime_pidfd, NOTICE_MS)) {
		oci_kill_descendants(b->runtime, false);
		end_runtime(b->runtime, b->runtime_pidfd);
	}
}

static int start(struct box *b, struct error *err)
{
	const struct oci_runtime *r = oci_runtime_find(b->backend->name);
	const char *program = oci_runtime_program(r);
	int log;

	if (!program)
		return error_set(err, ERROR_MISSING,
				 "%s is not installed: there is no %s, nor in the system's other folders of programs",
				 r->name, r->paths[3]);
	b->own = b; /* from here on there is something to stop */
	if (write_config(b, r, err) < 0)
		return -1;
	log = openat(b->dir_fd, OCI_LOG, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (log < 0 || mkdirat(b->dir_fd, OCI_STATE, 0700) < 0) {
		cleanup_fd(&log);
		return error_sys(err, errno, "%s", b->dir);
	}
	cleanup_fd(&log);
	if (oci_start_process(b, r, program, err) < 0)
		return -1;
	return r->own_kernel ? oci_heir_start(b, inherit, err) : 0;
}

static void done(struct box *b)
{
	if (b->runtime <= 0)
		return;
	if (oci_is_guest(b, oci_runtime_find(b->backend->name))) {
		done_guest(b);
		oci_heir_dismiss(b);
		b->runtime = -1;
		return;
	}
	oci_heir_end(b); /* nothing is left for it to do: the two end side by side */
	oci_end_child(b->runtime, b->runtime_pidfd, is_settled(b), NOTICE_MS);
	oci_heir_dismiss(b);
	b->runtime = -1;
	(void)cgroup_kill(b->cgroup);
}

static bool said(struct box *b, char *out, size_t size)
{
	return oci_said(b->dir_fd, out, size);
}

/* Files are served by a process of their own, whose root is the sandbox's; gVisor's kernel looks names up from folders
 * that it was given there. */
static pid_t gvisor_shows(const struct box *b)
{
	return b->runtime > 0 ? oci_find_descendant(b->runtime, "runsc-gofer") : 0;
}

/* cordon-init ended with its supervisor, and the runtime with it, unless that hangs. */
static bool sweep(const char *dir, const char *id)
{
	AUTO_FD held = -1;
	uint64_t started;
	pid_t pid;

	(void)id;
	if (!oci_start_read(dir, &pid, &started))
		return true;
	held = sys_pidfd_open(pid);
	if (held < 0 || oci_started(pid) != started)
		return true;
	oci_kill_descendants(pid, false);
	end_runtime(pid, held);
	(void)oci_wait(held, NOTICE_MS);
	return true;
}

const struct box_backend oci_gvisor = {
	.name = "gvisor",
	.ids = ids_gvisor,
	.start = start,
	.stop = stop,
	.done = done,
	.said = said,
	.shows = gvisor_shows,
	.sweep = sweep,
	.own_kernel = true,
	.own_threads = 256,
};

/* A program in Go has some ten threads while its container runs, and more while it starts. */
const struct box_backend oci_runc = {
	.own_threads = 32,
	.name = "runc",
	.ids = ids_mapped,
	.start = start,
	.stop = stop,
	.done = done,
	.said = said,
	.sweep = sweep,
	.landlock = true,
	.transparent = true,
	.sends_fds = true,
	.lingers = true,
};

const struct box_backend oci_crun = {
	.name = "crun",
	.ids = ids_mapped,
	.start = start,
	.stop = stop,
	.done = done,
	.said = said,
	.sweep = sweep,
	.landlock = true,
	.transparent = true,
	.sends_fds = true,
	.lingers = true,
};
