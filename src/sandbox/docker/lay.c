#include "sandbox/docker/lay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/common/image_user.h"
#include "sandbox/common/places.h"
#include "sandbox/common/root_image.h"
#include "sys/lookup.h"
#include "sys/mounts.h"
#include "sys/process.h"

enum { NOTES_MAX = 128 * 1024, INIT_MS = 30000 };

/* Where the root is built, in the one that the container begins with. */
#define LAY_AT "/mnt"

/* What goes on into the new root, with all that is mounted there. */
static const char *const kept[] = {"/proc", "/dev", BOX_DIR};

int lay_check(const struct box *b, struct error *err)
{
	if (geteuid() != 0)
		return error_set(err, ERROR_DENIED,
				 "docker can run an image of Cordon's own store for root only, who may mount it in the "
				 "engine's container; use native, runc, crun or gvisor");
	return root_image_check(b->plan->image, err);
}

/* As it is, whatever the umask. */
static int make_folder(const char *root, const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s", root, name) >= sizeof(path))
		return -ENAMETOOLONG;
	return mkdir(path, 0755) < 0 || chmod(path, 0755) < 0 ? -errno : 0;
}

int lay_places(const struct box *b, struct error *err)
{
	static const char *const folders[] = {"",      "/proc",           "/dev", "/sys", "/etc", LAY_AT, "/run",
					      BOX_DIR, ("/" PLACES_MASKS)};
	char mask[PATH_MAX];
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < ARRAY_LEN(folders); i++)
		r = make_folder(b->root, folders[i]);
	(void)snprintf(mask, sizeof(mask), "%s/" PLACES_MASKS "/file", b->root);
	if (r == 0 && mknod(mask, S_IFREG, 0) < 0)
		r = -errno;
	return r < 0 ? error_sys(err, r, "%s", b->root) : 0;
}

/* It connects, and then waits for its orders: from here on it does not look anything up. */
static int wait_for_init(const struct box *b, struct error *err)
{
	struct pollfd p[2] = {{.fd = b->control, .events = POLLIN}, {.fd = b->runtime_pidfd, .events = POLLIN}};
	int r;

	while ((r = poll(p, 2, INIT_MS)) < 0 && errno == EINTR)
		;
	if (r > 0 && p[0].revents & POLLIN)
		return 0;
	return error_set(err, ERROR_SYSTEM,
			 r > 0 ? "docker did not start the sandbox: cordon-init ended"
			       : "docker did not start the sandbox in time");
}

static int clone_trees(const struct plan *p, struct root_image_trees *t, size_t n, struct error *err)
{
	for (; t->n < n; t->n++)
		if ((t->fds[t->n] = root_image_clone(p, t->n, ROOT_IMAGE_HOST, err)) < 0)
			return -1;
	return 0;
}

/* Then our own /proc lies over the container's, in which we are not: it is needed to look things up, and goes with the
 * root that the container began with. */
static int keep_trees(int proc, int fds[ARRAY_LEN(kept)], struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < ARRAY_LEN(kept); i++)
		if ((fds[i] = sys_tree_clone(AT_FDCWD, kept[i], 0)) < 0)
			return error_sys(err, fds[i], "sandbox root: the engine's %s", kept[i]);
	r = sys_tree_attach(proc, AT_FDCWD, "/proc");
	return r < 0 ? error_sys(err, r, "sandbox root: /proc") : 0;
}

/* Looked up inside the new root: its links are the image's. */
static int enter(const int fds[ARRAY_LEN(kept)], struct error *err)
{
	AUTO_FD root = open(LAY_AT "/" ROOT_IMAGE_AT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t i;
	int r = root < 0 ? -errno : 0;

	for (i = 0; r == 0 && i < ARRAY_LEN(kept); i++) {
		AUTO_FD place = sys_open_in_root(root, kept[i], O_PATH | O_DIRECTORY);

		r = place < 0 ? place : sys_tree_attach(fds[i], place, "");
	}
	if (r < 0)
		return error_sys(err, r, "sandbox root");
	r = fchdir(root) < 0 ? -errno : sys_pivot_root(".", ".");
	if (r < 0)
		return error_sys(err, r, "sandbox root: pivot_root");
	return umount2(".", MNT_DETACH) < 0 ? error_sys(err, errno, "sandbox root: leave the engine's") : 0;
}

static int note_places(int dir, const struct buf *made, struct error *err)
{
	AUTO_FD fd = openat(dir, BOX_PLACES, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : write_all(fd, made->p, made->n);

	return r < 0 ? error_sys(err, r, "the mount points of the image cannot be noted") : 0;
}

/* In the child. */
static int lay(const struct box *b, struct error *err)
{
	static const char *const places[] = {BOX_DIR, NULL};
	const struct plan *p = b->plan;
	size_t n = root_image_trees(p);
	AUTO_FREE int *fds = calloc(n, sizeof(*fds));
	struct root_image_trees t = {.fds = fds};
	AUTO_FD proc = sys_tree_clone(AT_FDCWD, "/proc", MOUNT_READ_ONLY);
	int own[ARRAY_LEN(kept)], r;
	AUTO_BUF made = {0};

	if (!fds)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (proc < 0)
		return error_sys(err, proc, "/proc");
	if (clone_trees(p, &t, n, err) < 0)
		return -1;
	r = sys_enter_mounts(b->runtime_pidfd);
	if (r < 0)
		return error_sys(err, r, "the mount namespace of the engine's container");
	if (keep_trees(proc, own, err) < 0)
		return -1;
	buf_init(&made, NOTES_MAX);
	r = root_image_lay(p, &t, ROOT_IMAGE_HOST, LAY_AT, places, &made, err);
	/* also what a failure left */
	if (note_places(b->dir_fd, &made, r < 0 ? &(struct error){0} : err) < 0)
		return -1;
	return r < 0 ? -1 : enter(own, err);
}

/* All of a child's error, or nothing: it is one write, and less than a pipe takes at once. */
static _Noreturn void lay_and_tell(const struct box *b, int said)
{
	struct error err = {0};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)umask(022);
	if (lay(b, &err) == 0)
		_exit(0);
	(void)!write(said, &err, sizeof(err));
	_exit(1);
}

static int lay_in_child(const struct box *b, struct error *err)
{
	int said[2], status = -1;
	pid_t pid;
	ssize_t n;

	if (pipe2(said, O_CLOEXEC) < 0)
		return error_sys(err, errno, "sandbox root");
	pid = sys_fork_into(0, -1, NULL, NULL);
	if (pid == 0)
		lay_and_tell(b, said[1]);
	(void)close(said[1]);
	n = pid < 0 ? 0 : read(said[0], err, sizeof(*err));
	(void)close(said[0]);
	if (pid < 0)
		return error_sys(err, pid, "sandbox root: fork");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n == 0 && status == 0)
		return 0;
	return n == (ssize_t)sizeof(*err)
		       ? -1
		       : error_set(err, ERROR_SYSTEM,
				   "sandbox root: it could not be mounted in the engine's container");
}

int lay_image(struct box *b, struct error *err)
{
	if (b->runtime_pidfd < 0)
		return error_set(err, ERROR_MISSING,
				 "docker: the container does not run on this machine, or ended at once; an image's "
				 "sandbox must be where the image is");
	if (wait_for_init(b, err) < 0)
		return -1;
	b->userns = image_user_make_for(b->plan, b->ids.host_init, err);
	return b->userns < 0 ? -1 : lay_in_child(b, err);
}
