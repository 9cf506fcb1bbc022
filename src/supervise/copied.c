#include "supervise/copied.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "supervise/changes.h"
#include "sys/beneath.h"
#include "sys/names.h"
#include "sys/stamp.h"
#include "wire/wire.h"

#define COPIED_NAME "copied"

enum { COPIED_VERSION = 2, COPIED_MAX = 1 << 30 };

int copied_look(int dir, const char *name, struct sys_facts *ret)
{
	int r = sys_facts_at(dir, name, ret);
	struct stat st;

	if (r != -ENOSYS && r != -EPERM)
		return r;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH)) < 0)
		return -errno;
	*ret = (struct sys_facts){.dev = st.st_dev, .inode = st.st_ino};
	return 0;
}

static int append(struct copied *c, const char *path, const struct copied_folder *folder)
{
	size_t cap = c->cap ? c->cap * 2 : 64;
	struct copied_folder *v;
	char *own;

	if (c->n == c->cap) {
		v = reallocarray(c->v, cap, sizeof(*v));
		if (!v)
			return -ENOMEM;
		c->v = v;
		c->cap = cap;
	}
	own = strdup(path);
	if (!own)
		return -ENOMEM;
	c->v[c->n] = *folder;
	c->v[c->n++].path = own;
	c->sorted = false;
	return 0;
}

int copied_add(struct copied *c, const char *path, const struct sys_facts *host, dev_t top, ino_t copy)
{
	struct copied_folder f = {.dev = host->dev,
				  .with_top = host->dev == top,
				  .ino = host->inode,
				  .born = host->born,
				  .copy_ino = copy};

	return append(c, path, &f);
}

int copied_name(struct copied *c, const char *path)
{
	return append(c, path, &(struct copied_folder){0});
}

void copied_stands(struct copied *c)
{
	sys_stamp(&c->stands);
}

void copied_settle(const struct copied *c)
{
	sys_stamp_pass(&c->stands);
}

bool copied_before(const struct copied *c, struct timespec changed)
{
	return !sys_stamp_later(changed, c->stands);
}

static int by_path(const void *a, const void *b)
{
	const struct copied_folder *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int compare(const void *key, const void *member)
{
	const struct copied_folder *f = member;

	return strcmp(key, f->path);
}

static struct copied_folder *find(struct copied *c, const char *path)
{
	if (!c->n)
		return NULL;
	if (!c->sorted)
		qsort(c->v, c->n, sizeof(*c->v), by_path);
	c->sorted = true;
	return bsearch(path, c->v, c->n, sizeof(*c->v), compare);
}

static bool is_on_device(const struct copied_folder *f, dev_t dev, dev_t top)
{
	return f->dev == dev || (f->with_top && f->born.tv_sec && dev == top);
}

bool copied_knows(struct copied *c, const char *path)
{
	return find(c, path) != NULL;
}

bool copied_has(struct copied *c, const char *path, const struct sys_facts *host, dev_t top)
{
	const struct copied_folder *f = find(c, path);

	return f && is_on_device(f, host->dev, top) && f->ino == host->inode && f->born.tv_sec == host->born.tv_sec &&
	       f->born.tv_nsec == host->born.tv_nsec;
}

bool copied_made(struct copied *c, const char *path, ino_t ino)
{
	const struct copied_folder *f = find(c, path);

	return f && f->copy_ino && f->copy_ino == ino;
}

/* A tree that is walked for its names. */
struct naming {
	struct copied *c;
	dev_t dev;
	size_t budget;
	char path[PATH_MAX];
	size_t len;
};

static int name_below(struct naming *n, int fd, unsigned depth);

static bool may_be_folder(const struct dirent *e)
{
	return e->d_type == DT_DIR || e->d_type == DT_UNKNOWN;
}

/* One that overlayfs cannot copy on write, in a user namespace that knows one group. */
static void note_group(struct naming *n, int dir, const char *name)
{
	struct stat st;

	if (n->c->other_group || geteuid() == 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return;
	if (st.st_uid == geteuid() && st.st_gid != getegid())
		n->c->other_group = strdup(*n->path ? n->path : ".");
}

static int name_one(struct naming *n, int dir, const struct dirent *e, unsigned depth)
{
	size_t len = n->len, more = strlen(e->d_name);
	int fd, r;

	if (len + more + 2 > sizeof(n->path))
		return 0;
	if (n->budget-- == 0)
		return -E2BIG;
	if (len)
		n->path[n->len++] = '/';
	memcpy(n->path + n->len, e->d_name, more + 1);
	n->len += more;
	note_group(n, dir, e->d_name);
	r = copied_name(n->c, n->path);
	fd = r == 0 && may_be_folder(e) && depth < CHANGES_DEPTH
		     ? openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		     : -1;
	if (fd >= 0)
		r = name_below(n, fd, depth + 1);
	n->len = len;
	n->path[len] = '\0';
	return r;
}

/* Takes fd over. */
static int name_below(struct naming *n, int fd, unsigned depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	struct stat st;
	int r = 0;

	if (!d) {
		(void)close(fd);
		return -ENOMEM;
	}
	if (fstat(fd, &st) < 0 || st.st_dev != n->dev) {
		(void)closedir(d);
		return 0;
	}
	while (r == 0 && (r = sys_next_name(d, &e)) > 0)
		r = name_one(n, fd, e, depth);
	(void)closedir(d);
	return r;
}

int copied_note(struct copied *c, int top)
{
	struct naming n = {.c = c, .budget = CHANGES_ENTRIES};
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;

	if (r < 0) {
		cleanup_fd(&fd);
		return r;
	}
	n.dev = st.st_dev;
	note_group(&n, fd, "");
	r = name_below(&n, fd, 0);
	if (r < 0)
		copied_done(c);
	return r;
}

/* The layer's names are the few that are sorted. */
int copied_narrow(struct copied *c, int upper)
{
	struct copied changed = {0};
	int r = copied_note(&changed, upper);
	size_t i, n = 0;

	if (r < 0)
		return r;
	for (i = 0; i < c->n; i++)
		if (copied_knows(&changed, c->v[i].path))
			c->v[n++] = c->v[i];
		else
			free(c->v[i].path);
	c->n = n;
	copied_done(&changed);
	return 0;
}

int copied_follow(struct copied *c, int lower, const struct changes *list)
{
	size_t i, known = c->n;
	struct stat top;
	int r = fstat(lower, &top) < 0 ? -errno : 0;

	(void)find(c, ""); /* sorts; new ones come behind */
	for (i = 0; r == 0 && i < list->n; i++) {
		const struct change *change = &list->v[i];
		struct copied_folder *f;
		struct sys_facts is;
		AUTO_FD fd = -1;

		if (change->refused || change->after.type != CHANGE_FOLDER || change->before.type == CHANGE_FOLDER)
			continue;
		fd = sys_open_beneath(lower, change->path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (fd < 0 || copied_look(fd, "", &is) < 0)
			continue; /* gone again, or another thing: a stranger */
		f = known ? bsearch(change->path, c->v, known, sizeof(*c->v), compare) : NULL;
		if (f) {
			f->dev = is.dev;
			f->with_top = is.dev == top.st_dev;
			f->ino = is.inode;
			f->born = is.born;
		} else {
			r = copied_add(c, change->path, &is, top.st_dev, 0);
		}
	}
	return r;
}

static void encode(struct buf *b, const struct copied *c)
{
	size_t i;

	wire_put_u32(b, COPIED_VERSION);
	wire_put_u64(b, (uint64_t)c->stands.tv_sec);
	wire_put_u64(b, (uint64_t)c->stands.tv_nsec);
	wire_put_u64(b, c->n);
	for (i = 0; i < c->n; i++) {
		wire_put_sv(b, sv_of(c->v[i].path));
		wire_put_u64(b, c->v[i].dev);
		wire_put_u32(b, c->v[i].with_top);
		wire_put_u64(b, c->v[i].ino);
		wire_put_u64(b, (uint64_t)c->v[i].born.tv_sec);
		wire_put_u64(b, (uint64_t)c->v[i].born.tv_nsec);
		wire_put_u64(b, c->v[i].copy_ino);
	}
}

int copied_store(const struct copied *c, int state_fd)
{
	AUTO_FD fd = -1;
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, COPIED_MAX);
	encode(&b, c);
	r = buf_failed(&b);
	if (r == 0) {
		fd = openat(state_fd, COPIED_NAME ".new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
		r = fd < 0 ? -errno : write_all(fd, b.p, b.n);
	}
	if (r == 0 && renameat(state_fd, COPIED_NAME ".new", state_fd, COPIED_NAME) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(state_fd, COPIED_NAME ".new", 0);
	return r;
}

static int decode_folder(struct copied *c, struct wire_in *in)
{
	struct sv path = wire_get_sv(in);
	struct copied_folder f = {0};
	char name[PATH_MAX];

	f.dev = wire_get_u64(in);
	f.with_top = wire_get_u32(in) == 1;
	f.ino = wire_get_u64(in);
	f.born.tv_sec = (time_t)wire_get_u64(in);
	f.born.tv_nsec = (long)wire_get_u64(in);
	f.copy_ino = wire_get_u64(in);
	if (in->failed || path.n >= sizeof(name) || memchr(path.p, '\0', path.n))
		return -EBADMSG;
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	return append(c, name, &f);
}

static int decode(struct copied *c, struct sv bytes)
{
	struct wire_in in;
	uint64_t n;
	int r = 0;

	wire_in_init(&in, bytes);
	if (wire_get_u32(&in) != COPIED_VERSION)
		return -EBADMSG;
	c->stands.tv_sec = (time_t)wire_get_u64(&in);
	c->stands.tv_nsec = (long)wire_get_u64(&in);
	for (n = wire_get_u64(&in); r == 0 && n && !in.failed; n--)
		r = decode_folder(c, &in);
	return r < 0 ? r : wire_ok(&in) ? 0 : -EBADMSG;
}

int copied_load(struct copied *c, int state_fd)
{
	AUTO_FD fd = openat(state_fd, COPIED_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, COPIED_MAX);
	if (fd < 0)
		return -errno;
	r = buf_read_fd(&b, fd);
	if (r == 0)
		r = decode(c, buf_view(&b));
	if (r < 0)
		copied_done(c);
	return r;
}

void copied_done(struct copied *c)
{
	while (c->n)
		free(c->v[--c->n].path);
	free(c->v);
	free(c->other_group);
	*c = (struct copied){0};
}
