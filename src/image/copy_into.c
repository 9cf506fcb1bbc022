#include "image/copy_into.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/mode.h"
#include "sys/beneath.h"
#include "sys/lookup.h"

static int fail(int code, const char *path, struct error *err)
{
	struct text_shown t;

	(void)text_show(&t, sv_of(path));
	code = code < 0 ? -code : code;
	if (code == ENOTDIR || code == ELOOP || code == EEXIST)
		return error_set(err, ERROR_INPUT, "%s: a file or a link stands where a folder is needed", t.s);
	if (code == EISDIR)
		return error_set(err, ERROR_INPUT, "%s: a folder stands where a file is to go", t.s);
	if (code == EINVAL || code == EOVERFLOW)
		return error_set(err, ERROR_INPUT, "%s: its owner is beyond the ids that there are", t.s);
	return error_sys(err, code, "%s", t.s);
}

/* Gives it its owner and mode. name "": fd itself. */
static int give(struct copy_into *c, int fd, const char *name, uint32_t uid, uint32_t gid, enum copy_kind kind,
		mode_t mode)
{
	int flags = *name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;

	if (c->owner.set) {
		uid = c->owner.uid;
		gid = c->owner.gid;
	}
	if (c->one_id) {
		c->unowned = c->unowned || uid || gid;
		mode &= 01777;
	} else if (fchownat(fd, name, uid, gid, flags) < 0) {
		return -errno;
	}
	if (kind == COPY_LINK)
		return 0;
	if (*c->chmod)
		mode = mode_change(c->chmod, mode, kind == COPY_FOLDER) & (c->one_id ? 01777 : 07777);
	return (*name ? fchmodat(fd, name, mode, 0) : fchmod(fd, mode)) < 0 ? -errno : 0;
}

/* A folder made in parent: with the owner that everything gets, else root's. */
static int make_folder(struct copy_into *c, int parent, const char *name)
{
	const struct copy_into plain = {.owner = c->owner, .chmod = "", .one_id = c->one_id};
	struct copy_into as = plain;
	int r = mkdirat(parent, name, 0755) < 0 ? -errno : give(&as, parent, name, 0, 0, COPY_FOLDER, 0755);

	c->unowned = c->unowned || as.unowned;
	return r;
}

/* Link by link inside the root, folder by folder: what is missing is made where the links lead. */
int copy_into_folder(struct copy_into *c, const char *path, bool *ret_made, struct error *err)
{
	char upto[PATH_MAX];
	AUTO_FD at = sys_open_in_root(c->root, "/", O_PATH | O_DIRECTORY);
	size_t n = 0, part;
	int fd, r;

	if (at < 0)
		return fail(at, "/", err);
	while (path[n += strspn(path + n, "/")]) {
		part = n;
		n += strcspn(path + n, "/");
		if (n >= sizeof(upto))
			return fail(ENAMETOOLONG, path, err);
		(void)snprintf(upto, sizeof(upto), "%.*s", (int)n, path);
		fd = sys_open_in_root(c->root, upto, O_PATH | O_DIRECTORY);
		if (fd == -ENOENT) {
			*ret_made = true;
			r = make_folder(c, at, upto + part);
			if (r < 0)
				return fail(r, upto, err);
			fd = sys_open_in_root(c->root, upto, O_PATH | O_DIRECTORY);
		}
		if (fd < 0)
			return fail(fd, upto, err);
		(void)close(at);
		at = fd;
	}
	return fd_take(&at);
}

/* The folder below dest in which path's last name stands. */
static int open_parent(struct copy_into *c, int dest, const char *path, const char **ret_name, struct error *err)
{
	const char *slash = strrchr(path, '/'), *p = path;
	AUTO_FD at = fcntl(dest, F_DUPFD_CLOEXEC, 3);
	char name[NAME_MAX + 1];
	int fd, r;

	*ret_name = slash ? slash + 1 : path;
	if (strcmp(*ret_name, "..") == 0 || strcmp(*ret_name, ".") == 0 || !**ret_name)
		return fail(ELOOP, path, err);
	while (at >= 0 && slash && p < slash) {
		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, "/"), p);
		p += strcspn(p, "/") + 1;
		fd = sys_open_beneath(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (fd == -ENOENT) {
			r = make_folder(c, at, name);
			fd = r < 0 ? r : sys_open_beneath(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		}
		if (fd < 0)
			return fail(fd, path, err);
		(void)close(at);
		at = fd;
	}
	return at < 0 ? fail(errno, path, err) : fd_take(&at);
}

static int set_time(int dir, const char *name, int64_t time)
{
	const struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time}};

	return utimensat(dir, name, t, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* Nothing that exists is written to: another name of it would change, too. */
static int make_way(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return unlinkat(dir, name, 0) < 0 ? -errno : 0;
}

static int put_file(struct copy_into *c, struct copy_in *in, const struct copy_entry *e, int dir, const char *name,
		    struct error *err)
{
	int r = make_way(dir, name);
	AUTO_FD fd = r < 0 ? -1 : openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail(r < 0 ? r : errno, e->path, err);
	if (copy_get_data(in, e, fd, err) < 0)
		return -1;
	r = give(c, fd, "", e->uid, e->gid, COPY_FILE, e->mode);
	if (r == 0)
		r = set_time(dir, name, e->time);
	return r < 0 ? fail(r, e->path, err) : 0;
}

static int put_link(struct copy_into *c, const struct copy_entry *e, int dir, const char *name, struct error *err)
{
	int r = make_way(dir, name);

	if (r == 0 && symlinkat(e->link, dir, name) < 0)
		r = -errno;
	if (r == 0)
		r = give(c, dir, name, e->uid, e->gid, COPY_LINK, 0);
	if (r == 0)
		r = set_time(dir, name, e->time);
	return r < 0 ? fail(r, e->path, err) : 0;
}

/* One that exists stays as it is. */
static int put_folder(struct copy_into *c, const struct copy_entry *e, int dir, const char *name, struct error *err)
{
	struct stat st;
	int r = 0;

	if (mkdirat(dir, name, 0700) == 0)
		r = give(c, dir, name, e->uid, e->gid, COPY_FOLDER, e->mode);
	else if (errno != EEXIST || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	else if (!S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	return r < 0 ? fail(r, e->path, err) : 0;
}

static int put(struct copy_into *c, struct copy_in *in, const struct copy_entry *e, int dir, const char *name,
	       struct error *err)
{
	if (e->kind == COPY_FOLDER)
		return put_folder(c, e, dir, name, err);
	return e->kind == COPY_LINK ? put_link(c, e, dir, name, err) : put_file(c, in, e, dir, name, err);
}

static bool is_folder(const struct copy_into *c)
{
	AUTO_FD fd = sys_open_in_root(c->root, c->dest, O_PATH | O_DIRECTORY);

	return fd >= 0 || c->dest[strlen(c->dest) - 1] == '/';
}

/* A file that is to be the destination itself. */
static int put_as_dest(struct copy_into *c, struct copy_in *in, const struct copy_entry *e, struct error *err)
{
	const char *name = strrchr(c->dest, '/') + 1;
	char folder[PATH_MAX];
	AUTO_FD dir = -1;
	bool made;

	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(name - c->dest), c->dest);
	dir = copy_into_folder(c, folder, &made, err);
	return dir < 0 ? -1 : put(c, in, e, dir, name, err);
}

static int put_below(struct copy_into *c, struct copy_in *in, const struct copy_entry *e, int dest, struct error *err)
{
	const char *name;
	AUTO_FD dir = open_parent(c, dest, e->path, &name, err);

	return dir < 0 ? -1 : put(c, in, e, dir, name, err);
}

int copy_into(struct copy_into *c, struct copy_in *in, struct error *err)
{
	bool folder = is_folder(c), made, used = false;
	struct copy_entry e;
	AUTO_FD dest = -1;
	int r;

	while ((r = copy_get(in, &e, err)) > 0) {
		if (e.alone && !folder) {
			if (used)
				return error_set(
					err, ERROR_INPUT,
					"with more than one source the destination must be a folder and end with a /");
			used = true;
			r = put_as_dest(c, in, &e, err);
		} else {
			folder = true;
			if (dest < 0)
				dest = copy_into_folder(c, c->dest, &made, err);
			r = dest < 0 ? -1 : put_below(c, in, &e, dest, err);
		}
		if (r < 0)
			return -1;
	}
	/* folders with nothing in them are sources, too */
	if (r == 0 && dest < 0 && !used)
		dest = copy_into_folder(c, c->dest, &made, err);
	return r < 0 || (dest < 0 && !used) ? -1 : 0;
}
