#include "sandbox/native/native_image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/inside.h"
#include "sandbox/common/root_image.h"
#include "sys/idmap.h"
#include "sys/mounts.h"
#include "sys/process.h"
#include "wire/wire.h"

bool native_image_of_others(const struct plan *p)
{
	return p->image->ids.zero_uid != geteuid();
}

static int map_ids(const struct image_ids *i, pid_t pid, struct error *err)
{
	const struct sys_idmap uids = {
		.count = i->count, .zero = i->zero_uid, .first = i->first_uid, .shift = NATIVE_IMAGE_SHIFT};
	const struct sys_idmap gids = {
		.count = i->count, .zero = i->zero_gid, .first = i->first_gid, .shift = NATIVE_IMAGE_SHIFT};
	int r = sys_idmap_write(pid, &uids, &gids);

	if (i->count > 1 && (r == -EPERM || r == -ENOENT))
		return error_set(err, ERROR_MISSING,
				 "newuidmap and newgidmap do not give this sandbox the ids that /etc/subuid and "
				 "/etc/subgid name; are both installed (package uidmap), and the ranges yours?");
	return r < 0 ? error_sys(err, r, "user namespace: map the image's ids") : 0;
}

static int send_trees(const struct plan *p, int socket, struct error *err)
{
	size_t n = root_image_trees(p), i, k;
	int fds[WIRE_MAX_FDS], r = 0;

	for (i = k = 0; r == 0 && i < n; i++) {
		fds[k] = root_image_clone(p, i, ROOT_IMAGE_HOST, err);
		if (fds[k] < 0) {
			r = -1;
			break;
		}
		if (++k == WIRE_MAX_FDS || i + 1 == n) {
			r = wire_send(socket, INSIDE_TREES, sv_n("", 0), fds, k);
			r = r < 0 ? error_sys(err, r, "sandbox: what its root is made of") : 0;
			while (k > 0)
				(void)close(fds[--k]);
		}
	}
	while (k > 0)
		(void)close(fds[--k]);
	return r;
}

/* In the helper, and in the one that it makes. */
static pid_t enter_and_fork(const int spaces[2], uint64_t namespaces, int answer)
{
	pid_t pid = sys_enter_user(spaces[0]);

	if (pid == 0)
		pid = sys_enter_net(spaces[1]);
	if (pid == 0)
		pid = sys_fork_sibling(namespaces, -1, NULL, NULL);
	if (pid == 0)
		return 0;
	(void)!write(answer, &pid, sizeof(pid));
	_exit(0);
}

pid_t native_image_join(const int spaces[2], uint64_t namespaces, int *ret_pidfd)
{
	pid_t helper, pid = -EIO;
	ssize_t n;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	helper = fork();
	if (helper == 0)
		return enter_and_fork(spaces, namespaces, ends[1]);
	(void)close(ends[1]);
	do
		n = helper < 0 ? 0 : read(ends[0], &pid, sizeof(pid));
	while (n < 0 && errno == EINTR);
	(void)close(ends[0]);
	while (helper > 0 && waitpid(helper, NULL, 0) < 0 && errno == EINTR)
		;
	if (helper < 0 || n != sizeof(pid))
		return -EAGAIN;
	if (pid > 0)
		*ret_pidfd = sys_pidfd_open(pid);
	return pid;
}

int native_image_prepare(const struct plan *p, struct native *n, bool joined, struct error *err)
{
	int r;

	if (root_image_check(p->image, err) < 0 || (!joined && map_ids(&p->image->ids, n->pid, err) < 0))
		return -1;
	if (native_image_of_others(p) && send_trees(p, n->socket, err) < 0)
		return -1;
	r = wire_send(n->socket, INSIDE_GO, sv_n("", 0), NULL, 0);
	return r < 0 ? error_sys(err, r, "sandbox: the word to go on") : 0;
}
