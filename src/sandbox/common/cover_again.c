#include "sandbox/common/cover_again.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/common/places.h"
#include "sys/lookup.h"
#include "sys/mounts.h"
#include "sys/process.h"

static const char *const masks_inside[] = {"/" PLACES_MASKS "/file", "/" PLACES_MASKS "/folder"};

void cover_place_close(struct cover_place *p)
{
	cleanup_fd(&p->pidfd);
	cleanup_fd(&p->user);
	cleanup_fd(&p->root);
	p->pidfd = p->user = p->root = -1;
}

static int open_of(pid_t pid, const char *name, int flags)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whoever connected for cordon-init could be a process of the host's that only passes things on: nothing may ever be
 * covered in the host's own view. */
static bool is_apart(pid_t pid)
{
	struct stat theirs, ours;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return stat(path, &theirs) == 0 && stat("/proc/self/ns/mnt", &ours) == 0 && !is_same(&theirs, &ours);
}

static int open_all(pid_t pid, const char *masks, struct cover_place *p)
{
	AUTO_FD folder = open(masks, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0 || fstatat(folder, "file", &p->masks[0], AT_SYMLINK_NOFOLLOW) < 0 ||
	    fstatat(folder, "folder", &p->masks[1], AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	p->pidfd = pid > 0 ? sys_pidfd_open(pid) : -ESRCH;
	if (p->pidfd < 0)
		return p->pidfd;
	if (!is_apart(pid))
		return -EINVAL;
	p->root = open_of(pid, "root", O_PATH | O_DIRECTORY);
	if (p->root < 0)
		return p->root;
	if (geteuid() != 0)
		p->user = open_of(pid, "ns/user", O_RDONLY);
	return geteuid() != 0 && p->user < 0 ? p->user : 0;
}

int cover_place_open(pid_t pid, const char *masks, struct cover_place *ret)
{
	int r;

	*ret = (struct cover_place){.pidfd = -1, .user = -1, .root = -1};
	r = open_all(pid, masks, ret);
	if (r < 0)
		cover_place_close(ret);
	return r;
}

static int enter(const struct cover_place *p)
{
	int r = p->user >= 0 ? sys_enter_user(p->user) : 0;

	if (r == 0)
		r = sys_enter_mounts(p->pidfd);
	if (r == 0 && (fchdir(p->root) < 0 || chroot(".") < 0))
		r = -errno;
	return r;
}

/* The runtime's, or one that we laid. */
static bool is_mask(const struct cover_place *p, const struct stat *st, const struct stat *inside)
{
	return is_same(st, inside) || is_same(st, &p->masks[S_ISDIR(st->st_mode) ? 1 : 0]);
}

/* In the child. */
static enum cover_result cover_there(const struct cover_place *p, const char *target, const struct sys_facts *is)
{
	AUTO_FD place = -1;
	AUTO_FD tree = -1;
	struct stat st, mask;
	const char *source;
	int r;

	if (enter(p) < 0)
		return COVER_FAILED;
	place = sys_open_no_links(target, O_PATH | O_NOFOLLOW);
	if (place < 0 || fstat(place, &st) < 0)
		return COVER_CHANGED;
	source = masks_inside[S_ISDIR(st.st_mode) ? 1 : 0];
	if (lstat(source, &mask) < 0)
		return COVER_FAILED;
	if (is_mask(p, &st, &mask))
		return COVER_STANDS;
	if (st.st_dev != is->dev || st.st_ino != is->inode)
		return COVER_CHANGED;
	tree = sys_tree_clone_plain(AT_FDCWD, source);
	r = tree < 0 ? -EPERM : sys_tree_attach(tree, place, "");
	return r == 0         ? COVER_DONE
	       : r == -ENOENT ? COVER_CHANGED
			      : COVER_FAILED; /* -ENOENT: removed since it was opened */
}

enum cover_result cover_again(const struct cover_place *p, const char *target, const struct sys_facts *is)
{
	int status = 0;
	pid_t child;

	if (p->pidfd < 0)
		return COVER_FAILED;
	child = fork();
	if (child == 0)
		_exit(cover_there(p, target, is));
	if (child < 0)
		return COVER_FAILED;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return COVER_FAILED;
	return WIFEXITED(status) && WEXITSTATUS(status) <= COVER_FAILED ? (enum cover_result)WEXITSTATUS(status)
									: COVER_FAILED;
}
