#include "image/merged.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "image/ids.h"
#include "image/limit.h"
#include "sys/lookup.h"
#include "sys/mounts.h"
#include "sys/process.h"

enum { LAYERS_MAX = 512 };

struct child {
	const struct merged_tree *tree;
	int fds[LAYERS_MAX + 1]; /* detached mounts: the layers, then the folder */
	size_t n;
	bool opened; /* by our parent, who may */
	int keep, report;
	int (*fn)(void *arg, int root, int kept, struct error *err);
	void *arg;
};

static int detached(const char *path, unsigned flags, struct error *err)
{
	AUTO_FD source = sys_open_no_links(path, O_PATH | O_DIRECTORY);
	int fd = source < 0 ? source : sys_tree_clone(source, "", flags);
	struct text_shown t;

	return fd < 0 ? error_sys(err, fd, "layer %s", text_show(&t, sv_of(path))) : fd;
}

static int open_trees(struct child *c, struct error *err)
{
	size_t k;
	int fd;

	for (k = 0; c->tree->layers[k]; k++) {
		if (k == LAYERS_MAX)
			return error_set(err, ERROR_INPUT, "too many layers");
		fd = detached(c->tree->layers[k], MOUNT_READ_ONLY | MOUNT_NO_DEV, err);
		if (fd < 0)
			return -1;
		c->fds[c->n++] = fd;
	}
	if (!c->tree->folder)
		return 0;
	fd = detached(c->tree->folder, MOUNT_NO_DEV, err);
	if (fd < 0)
		return -1;
	c->fds[c->n++] = fd;
	return 0;
}

static void close_trees(struct child *c)
{
	while (c->n)
		(void)close(c->fds[--c->n]);
}

/* Something to mount on. What it hides is open already. */
static int mount_base(struct error *err)
{
	static const char *const spots[] = {"/mnt", "/srv", "/media", "/opt", "/tmp", "/var", "/home", "/usr"};
	size_t k;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_sys(err, errno, "a mount namespace");
	for (k = 0; k < ARRAY_LEN(spots); k++)
		if (mount("cordon", spots[k], "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=0700") == 0)
			return chdir(spots[k]) < 0 ? error_sys(err, errno, "%s", spots[k]) : 0;
	return error_sys(err, errno, "a tmpfs");
}

static int attach(int tree, const char *path, struct error *err)
{
	int r = mkdir(path, 0755) < 0 ? -errno : sys_tree_attach(tree, AT_FDCWD, path);

	return r < 0 ? error_sys(err, r, "layers: %s", path) : 0;
}

/* As sandboxes have it (sandbox/common/root_image.c): nothing of a layer may name files of others. */
static int mount_overlay(struct child *c, struct error *err)
{
	AUTO_BUF data = {0};
	char path[32];
	size_t k, layers = c->n - (c->tree->folder != NULL);

	buf_init(&data, 4000); /* the kernel takes a page */
	(void)buf_str(&data, "lowerdir=");
	for (k = 0; k < layers; k++) {
		(void)snprintf(path, sizeof(path), "%zu", k);
		if (attach(c->fds[k], path, err) < 0)
			return -1;
		(void)buf_printf(&data, "%s:", path);
	}
	/* an overlay wants one lower folder, and two where nothing can be written */
	if (mkdir("e", 0755) < 0 || mkdir("f", 0755) < 0 || mkdir("root", 0755) < 0)
		return error_sys(err, errno, "layers");
	(void)buf_str(&data, layers ? "e" : "e:f");
	if (c->tree->folder) {
		if (attach(c->fds[layers], "u", err) < 0)
			return -1;
		if (sys_takes_attributes("u/work") == -EOPNOTSUPP)
			return error_set(err, ERROR_MISSING,
					 "layers must be made where files have user attributes (ext4, xfs, btrfs; "
					 "tmpfs from Linux 6.6 on)");
		(void)buf_str(&data, ",upperdir=u/upper,workdir=u/work");
	}
	(void)buf_str(&data, ",userxattr,redirect_dir=nofollow,metacopy=off,index=off");
	if (buf_failed(&data))
		return error_set(err, ERROR_INPUT, "too many layers for one overlay");
	if (mount("overlay", "root", "overlay", MS_NOSUID | MS_NODEV, data.p) == 0)
		return 0;
	(void)error_sys(err, errno, "overlayfs of the image's layers");
	err->kind = ERROR_MISSING;
	return -1;
}

static int build(struct child *c, struct error *err)
{
	int fd;

	if ((!c->opened && open_trees(c, err) < 0) || mount_base(err) < 0 || mount_overlay(c, err) < 0)
		return -1;
	close_trees(c);
	fd = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? error_sys(err, errno, "layers") : fd;
}

/* The root, what is kept and the report get the first numbers; nothing else stays. */
static int close_others(struct child *c, int root)
{
	int from[3] = {root, c->keep < 0 ? c->report : c->keep, c->report}, k;

	for (k = 0; k < 3; k++) {
		from[k] = fcntl(from[k], F_DUPFD_CLOEXEC, 64);
		if (from[k] < 0)
			return -errno;
	}
	for (k = 0; k < 3; k++)
		if (dup3(from[k], 3 + k, O_CLOEXEC) < 0)
			return -errno;
	c->report = 5;
	return sys_close_from(6);
}

static int in_child(void *arg)
{
	struct child *c = arg;
	struct error err = {0};
	int root, r = -1;

	(void)umask(0);
	root = build(c, &err);
	if (root >= 0) {
		r = close_others(c, root);
		r = r < 0 ? error_sys(&err, r, "descriptors") : c->fn(c->arg, 3, 4, &err);
	}
	if (r < 0)
		(void)!write(c->report, &err, sizeof(err));
	return r < 0 ? 1 : r == 0 ? 0 : 2;
}

int merged_start(const struct image_ids *ids, const struct merged_tree *tree, int keep,
		 int (*fn)(void *arg, int root, int kept, struct error *err), void *arg, struct merged *ret,
		 struct error *err)
{
	struct child c = {.tree = tree, .opened = ids->zero_uid != geteuid(), .keep = keep, .fn = fn, .arg = arg};
	int report[2];

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_sys(err, errno, "pipe");
	c.report = report[1];
	if (c.opened && open_trees(&c, err) < 0)
		ret->pid = -1;
	else
		ret->pid = image_ids_fork(ids, CLONE_NEWNS, in_child, &c, err);
	close_trees(&c);
	(void)close(report[1]);
	ret->report = report[0];
	if (ret->pid < 0)
		(void)close(report[0]);
	return ret->pid < 0 ? -1 : 0;
}

int merged_end(struct merged *m, int *ret_value, struct error *err)
{
	return merged_end_by(m, 0, ret_value, err);
}

/* False: it had to be killed. What it has to say, or its end, makes the pipe readable. */
static bool ends_by(const struct merged *m, int64_t until_ms)
{
	struct pollfd fd = {.fd = m->report, .events = POLLIN};
	int r;

	do
		r = until_ms ? poll(&fd, 1, left_ms(until_ms)) : 1;
	while (r < 0 && errno == EINTR);
	if (r == 0)
		(void)kill(m->pid, SIGKILL);
	return r != 0;
}

int merged_end_by(struct merged *m, int64_t until_ms, int *ret_value, struct error *err)
{
	struct error said = {0};
	bool in_time = ends_by(m, until_ms);
	ssize_t n;
	int status = 0;

	do
		n = read(m->report, &said, sizeof(said));
	while (n < 0 && errno == EINTR);
	(void)close(m->report);
	while (waitpid(m->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!in_time)
		return limit_fail_time(err);
	if (n == (ssize_t)sizeof(said)) {
		said.text[sizeof(said.text) - 1] = '\0';
		*err = said;
		return -1;
	}
	if (WIFSIGNALED(status))
		return error_set(err, ERROR_SYSTEM, "a helper ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2)
		return error_set(err, ERROR_SYSTEM, "a helper failed with %d", WEXITSTATUS(status));
	if (ret_value)
		*ret_value = WEXITSTATUS(status) == 2;
	return 0;
}
