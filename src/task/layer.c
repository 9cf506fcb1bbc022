#include "task/layer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "image/ids.h"
#include "supervise/copy.h"
#include "sys/tree.h"

enum { DEPTH_MAX = 300 };

static int fail(int code, const char *what, const char *target, struct error *err)
{
	struct text_shown shown;

	return error_sys(err, code, "%s for %s", what, text_show(&shown, sv_of(target)));
}

static int own(int dir, const char *name, const struct image_ids *ids)
{
	/* an ordinary user is inside 0 already */
	if (geteuid() != 0)
		return 0;
	return fchownat(dir, name, ids->zero_uid, ids->zero_gid, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0 ? -errno : 0;
}

static int own_all(int dir, const struct image_ids *ids, unsigned depth)
{
	int r = own(dir, "", ids), child;
	struct dirent *e;
	DIR *d;

	if (r < 0 || geteuid() != 0)
		return r;
	if (depth == 0)
		return -ELOOP;
	d = sys_list(dir);
	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (e->d_type != DT_DIR) {
			r = own(dirfd(d), e->d_name, ids);
			continue;
		}
		child = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = child < 0 ? -errno : own_all(child, ids, depth - 1);
		if (child >= 0)
			(void)close(child);
	}
	(void)closedir(d);
	return r;
}

/* Makes the folders above the last part of target; *ret_name is that part. The folder's fd, or -errno. */
static int make_parents(int layer, const struct image_ids *ids, const char *target, char name[NAME_MAX + 1])
{
	AUTO_FD at = openat(layer, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *p = target + 1;
	size_t n;
	int next;

	for (;; p += n + 1) {
		n = strcspn(p, "/");
		if (at < 0)
			return -errno;
		if (n == 0 || n > NAME_MAX)
			return -EINVAL;
		memcpy(name, p, n);
		name[n] = '\0';
		if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
			return -EINVAL;
		if (!p[n])
			return fd_take(&at);
		if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
			return -errno;
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 || own(next, "", ids) < 0 || fchmod(next, 0755) < 0) {
			n = (size_t)errno;
			if (next >= 0)
				(void)close(next);
			return -(int)n;
		}
		(void)close(at);
		at = next;
	}
}

/* Nothing of the layers below shows through. */
static int seal(int dir)
{
	return fsetxattr(dir, "user.overlay.opaque", "y", 1, 0) < 0 ? -errno : 0;
}

/* An empty folder in the place of whatever has that name and is none. An fd, or -errno. */
static int replace(int parent, const char *name, const struct image_ids *ids)
{
	AUTO_FD dir = -1;
	int r;

	if (unlinkat(parent, name, 0) < 0 || mkdirat(parent, name, 0755) < 0)
		return -errno;
	dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	r = own(dir, "", ids);
	if (r == 0)
		r = fchmod(dir, 0755) < 0 ? -errno : seal(dir);
	return r < 0 ? r : fd_take(&dir);
}

static int give_back(void *arg)
{
	AUTO_FD dir = openat(*(const int *)arg, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	return dir < 0 || fstat(dir, &st) < 0 || fchown(dir, 0, 0) < 0 || fchmod(dir, (st.st_mode & 01777) | 0700) < 0;
}

int layer_open(const char *path, const struct image_ids *ids)
{
	AUTO_FD at = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored;
	struct stat st;
	int dir;

	if (at < 0 || fstat(at, &st) < 0)
		return -errno;
	/* an ordinary user has no way into what belongs to another id of the image, or is shut */
	if ((st.st_uid != ids->zero_uid || (st.st_mode & 0700) != 0700) &&
	    image_in_ids(ids, give_back, &at, &ignored) < 0)
		return -EACCES;
	dir = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : dir;
}

int layer_clear_way(int layer, const struct image_ids *ids, const char *target)
{
	AUTO_FD at = openat(layer, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];
	const char *p = target;
	size_t n;
	int next;

	for (; at >= 0 && *p == '/' && p[1]; p += n) {
		n = strcspn(++p, "/");
		if (n == 0 || n > NAME_MAX)
			return -EINVAL;
		memcpy(name, p, n);
		name[n] = '\0';
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 && errno == ENOENT)
			return 0;
		if (next < 0)
			next = errno == ENOTDIR || errno == ELOOP ? replace(at, name, ids) : -errno;
		if (next < 0)
			return next;
		(void)close(at);
		at = next;
	}
	return at < 0 ? -errno : 0;
}

/* A folder that we just put there; -1: the error is set. */
static int open_made(int parent, const char *name, const char *target, struct error *err)
{
	int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return dir < 0 ? fail(errno, "a folder", target, err) : dir;
}

static int add_made(int layer, const struct image_ids *ids, const char *target, unsigned mode, bool sealed,
		    struct error *err)
{
	char name[NAME_MAX + 1];
	AUTO_FD parent = make_parents(layer, ids, target, name);
	AUTO_FD dir = -1;
	int r;

	if (parent < 0)
		return fail(parent, "a folder", target, err);
	if (mkdirat(parent, name, 0755) < 0)
		return fail(errno, "a folder", target, err);
	dir = open_made(parent, name, target, err);
	if (dir < 0)
		return -1;
	r = own(dir, "", ids);
	if (r == 0)
		r = fchmod(dir, mode) < 0 ? -errno : 0;
	if (r == 0 && sealed)
		r = seal(dir);
	return r < 0 ? fail(r, "a folder", target, err) : 0;
}

int layer_add_empty(int layer, const struct image_ids *ids, const char *target, struct error *err)
{
	return add_made(layer, ids, target, 0777, true, err);
}

int layer_add_open(int layer, const struct image_ids *ids, const char *target, struct error *err)
{
	return add_made(layer, ids, target, 0755, false, err);
}

int layer_add_folder(int layer, const struct image_ids *ids, const char *target, int from, struct error *err)
{
	char name[NAME_MAX + 1];
	AUTO_FD parent = make_parents(layer, ids, target, name);
	AUTO_FD dir = -1;
	int r;

	if (parent < 0)
		return fail(parent, "a folder", target, err);
	if (copy_tree(from, parent, name, NULL, err) < 0)
		return -1;
	dir = open_made(parent, name, target, err);
	if (dir < 0)
		return -1;
	r = own_all(dir, ids, DEPTH_MAX);
	if (r == 0)
		r = fchmod(dir, 0755) < 0 ? -errno : seal(dir);
	return r < 0 ? fail(r, "a folder", target, err) : 0;
}

static int new_file(int layer, const struct image_ids *ids, const char *target, unsigned mode)
{
	char name[NAME_MAX + 1];
	AUTO_FD parent = make_parents(layer, ids, target, name);
	AUTO_FD fd = parent < 0 ? -1 : openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (parent < 0)
		return parent;
	if (fd < 0)
		return -errno;
	r = own(fd, "", ids);
	if (r == 0 && fchmod(fd, mode) < 0)
		r = -errno;
	return r < 0 ? r : fd_take(&fd);
}

int layer_add_text(int layer, const struct image_ids *ids, const char *target, const void *bytes, size_t n,
		   struct error *err)
{
	AUTO_FD fd = new_file(layer, ids, target, 0644);
	int r = fd < 0 ? fd : write_all(fd, bytes, n);

	return r < 0 ? fail(r, "a file", target, err) : 0;
}

int layer_add_file(int layer, const struct image_ids *ids, const char *target, int from, unsigned mode,
		   struct error *err)
{
	AUTO_FD fd = new_file(layer, ids, target, mode);
	char bytes[65536];
	ssize_t n;

	if (fd < 0)
		return fail(fd, "a file", target, err);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write_all(fd, bytes, (size_t)n) < 0)
			return fail(errno, "a file", target, err);
	return n < 0 ? fail(errno, "a file", target, err) : 0;
}

int layer_own_name(int dir, const char *name, const struct image_ids *ids, struct error *err)
{
	AUTO_FD folder = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = folder < 0 ? own(dir, name, ids) : own_all(folder, ids, DEPTH_MAX);

	return r < 0 ? error_sys(err, r, "owners of a layer") : 0;
}

int layer_own(int layer, const struct image_ids *ids, struct error *err)
{
	int r = own_all(layer, ids, DEPTH_MAX);

	return r < 0 ? error_sys(err, r, "owners of a layer") : 0;
}
