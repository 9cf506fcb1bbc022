#include "supervise/changes_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/beneath.h"
#include "sys/copy_bytes.h"
#include "sys/stamp.h"

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_judged(int fd, const struct change_side *judged)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == judged->dev && st.st_ino == judged->ino &&
	       (uint64_t)st.st_size == judged->size && (st.st_mode & 07777) == judged->mode &&
	       same_time(st.st_mtim, judged->mtime) && same_time(st.st_ctim, judged->ctime);
}

static int copy_bytes(int from, int to, off_t size)
{
	struct stat st;
	bool cloned;
	int r = sys_copy_bytes(from, to, (uint64_t)size, &cloned);

	if (r < 0)
		return r;
	return fstat(to, &st) < 0 ? -errno : st.st_size == size ? 0 : -ESTALE; /* it changes while it is copied */
}

/* What takes another's place has owner and group of that, as if it had been written to. */
gid_t stage_group(const struct stage *st, const struct change *c)
{
	if (c->before.type != CHANGE_NONE)
		return c->before.gid;
	return geteuid() == 0 || (st->parent->st_mode & S_ISGID) ? st->parent->st_gid : (gid_t)-1;
}

static uid_t wanted_owner(const struct stage *st, const struct change *c)
{
	if (geteuid() != 0)
		return (uid_t)-1;
	return c->before.type != CHANGE_NONE ? c->before.uid : st->parent->st_uid;
}

static int give_away(const struct stage *st, const struct change *c, int dirfd, const char *name)
{
	uid_t uid = wanted_owner(st, c);
	gid_t gid = stage_group(st, c);

	if (uid == (uid_t)-1 && gid == (gid_t)-1)
		return 0;
	if (fchownat(dirfd, name, uid, gid, AT_SYMLINK_NOFOLLOW) == 0 || uid == (uid_t)-1)
		return 0; /* a group that we are not in is no reason to fail */
	return -errno;
}

void stage_times(const struct change *c, int dirfd, const char *name)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, c->after.mtime}, now;

	sys_stamp(&now);
	if (sys_stamp_later(times[1], now))
		times[1] = now;
	(void)utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW);
}

static int stage_file(const struct stage *st, const struct change *c, int dirfd, const char *name)
{
	AUTO_FD from = sys_open_beneath(st->upper_fd, c->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	AUTO_FD to = -1;
	int r;

	if (from < 0)
		return from == -ENOENT || from == -ELOOP || from == -ENOTDIR ? -ESTALE : from;
	if (!is_judged(from, &c->after))
		return -ESTALE;
	to = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	r = copy_bytes(from, to, (off_t)c->after.size);
	if (r < 0)
		return r;
	if (!is_judged(from, &c->after))
		return -ESTALE;
	r = give_away(st, c, dirfd, name);
	if (r < 0)
		return r;
	if (fchmod(to, c->after.mode & 0777) < 0)
		return -errno;
	stage_times(c, dirfd, name);
	return 0;
}

mode_t stage_folder_mode(const struct stage *st, const struct change *c)
{
	return (c->after.mode & 01777) | (st->parent->st_mode & S_ISGID);
}

static int stage_link(const struct stage *st, const struct change *c, int dirfd, const char *name)
{
	int r = symlinkat(c->after.target, dirfd, name) < 0 ? -errno : give_away(st, c, dirfd, name);

	if (r == 0)
		stage_times(c, dirfd, name);
	return r;
}

int stage_object(const struct stage *st, const struct change *c, int dirfd, const char *name)
{
	switch (c->after.type) {
	case CHANGE_FILE:
		return stage_file(st, c, dirfd, name);
	case CHANGE_FOLDER:
		return mkdirat(dirfd, name, 0700) < 0 ? -errno : give_away(st, c, dirfd, name);
	case CHANGE_LINK:
		return stage_link(st, c, dirfd, name);
	default:
		return -EINVAL;
	}
}
