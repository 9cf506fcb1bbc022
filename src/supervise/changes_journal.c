#include "supervise/changes_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "supervise/changes.h"
#include "supervise/changes_names.h"
#include "supervise/state.h"
#include "sys/beneath.h"
#include "sys/names.h"
#include "sys/stamp.h"
#include "wire/wire.h"

#define JOURNAL_NAME STATE_JOURNAL
#define JOURNAL_NEW  STATE_JOURNAL ".new"

enum { JOURNAL_VERSION = 2, JOURNAL_MAX = 1 << 30 };

static void encode(struct buf *b, const struct journal *j)
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 sum;
	size_t i;

	wire_put_u32(b, JOURNAL_VERSION);
	wire_put_u32(b, j->state);
	wire_put_u64(b, j->dev);
	wire_put_u64(b, j->ino);
	wire_put_sv(b, sv_of(j->root));
	wire_put_sv(b, sv_of(j->staging));
	wire_put_u64(b, (uint64_t)j->staged.tv_sec);
	wire_put_u64(b, (uint64_t)j->staged.tv_nsec);
	wire_put_u64(b, j->n);
	for (i = 0; i < j->n; i++) {
		wire_put_u32(b, j->steps[i].kind);
		wire_put_u32(b, j->steps[i].slot);
		wire_put_u32(b, j->steps[i].mode[0]);
		wire_put_u32(b, j->steps[i].mode[1]);
		wire_put_u64(b, j->steps[i].ino);
		wire_put_sv(b, sv_of(j->steps[i].path));
	}
	sha256_init(&sum);
	sha256_add(&sum, b->p, b->n);
	sha256_done(&sum, digest);
	(void)buf_add(b, digest, sizeof(digest));
}

static int write_synced(int dirfd, const char *name, struct sv bytes)
{
	AUTO_FD fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes.p, bytes.n);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

int journal_store(int state_fd, const struct journal *j)
{
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, JOURNAL_MAX);
	encode(&b, j);
	r = buf_failed(&b);
	if (r == 0)
		r = write_synced(state_fd, JOURNAL_NEW, buf_view(&b));
	if (r == 0 && renameat(state_fd, JOURNAL_NEW, state_fd, JOURNAL_NAME) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(state_fd, JOURNAL_NEW, 0);
	else if (fsync(state_fd) < 0)
		r = -errno;
	return r;
}

int journal_remove(int state_fd)
{
	(void)unlinkat(state_fd, JOURNAL_NEW, 0);
	if (unlinkat(state_fd, JOURNAL_NAME, 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

/* A path that stays where it belongs. openat2() would refuse the rest as well; a damaged journal should not get that
 * far. */
static bool name_ok(const char *s)
{
	return s && strncmp(s, CHANGES_STAGING, strlen(CHANGES_STAGING)) == 0 && !strchr(s, '/');
}

static char *get_string(struct wire_in *in, struct arena *a)
{
	struct sv s = wire_get_sv(in);

	if (in->failed || s.n == 0 || s.n >= PATH_MAX || memchr(s.p, '\0', s.n))
		return NULL;
	return arena_str(a, s);
}

static int decode_steps(struct wire_in *in, struct arena *a, struct journal *j)
{
	size_t i;

	/* No step is shorter than its fixed fields: a count that does not fit is not believed. */
	if (j->n > in->rest.n / 28)
		return -EBADMSG;
	j->steps = arena_array(a, j->n + 1, sizeof(*j->steps));
	if (!j->steps)
		return -ENOMEM;
	for (i = 0; i < j->n; i++) {
		struct step *s = &j->steps[i];

		s->kind = wire_get_u32(in);
		s->slot = wire_get_u32(in);
		s->mode[0] = wire_get_u32(in);
		s->mode[1] = wire_get_u32(in);
		s->ino = wire_get_u64(in);
		s->path = get_string(in, a);
		if (!s->path || s->kind >= STEP_KINDS || (s->mode[0] | s->mode[1]) > 07777)
			return -EBADMSG;
	}
	return 0;
}

static int decode(struct sv bytes, struct arena *a, struct journal *j)
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 sum;
	struct wire_in in;
	int r;

	if (bytes.n < SHA256_SIZE)
		return -EBADMSG;
	bytes.n -= SHA256_SIZE;
	sha256_init(&sum);
	sha256_add(&sum, bytes.p, bytes.n);
	sha256_done(&sum, digest);
	if (memcmp(digest, bytes.p + bytes.n, SHA256_SIZE) != 0)
		return -EBADMSG;
	wire_in_init(&in, bytes);
	if (wire_get_u32(&in) != JOURNAL_VERSION)
		return -EBADMSG;
	j->state = wire_get_u32(&in);
	j->dev = wire_get_u64(&in);
	j->ino = wire_get_u64(&in);
	j->root = get_string(&in, a);
	j->staging = get_string(&in, a);
	j->staged.tv_sec = (time_t)wire_get_u64(&in);
	j->staged.tv_nsec = (long)wire_get_u64(&in);
	j->n = wire_get_u64(&in);
	r = decode_steps(&in, a, j);
	if (r < 0)
		return r;
	return wire_ok(&in) && j->state < JOURNAL_STATES && j->root && name_ok(j->staging) ? 0 : -EBADMSG;
}

int journal_load(int state_fd, struct arena *a, struct journal *ret)
{
	AUTO_FD fd = openat(state_fd, JOURNAL_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct journal j = {0};
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, JOURNAL_MAX);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	r = buf_read_fd(&b, fd);
	if (r == 0)
		r = decode(buf_view(&b), a, &j);
	if (r < 0)
		return r;
	*ret = j;
	return 1;
}

bool journal_is_of(const struct journal *j, int fd)
{
	struct stat st, staging;

	if (fstat(fd, &st) < 0 || st.st_ino != j->ino)
		return false;
	return st.st_dev == j->dev || (fstatat(fd, j->staging, &staging, AT_SYMLINK_NOFOLLOW) == 0 &&
				       S_ISDIR(staging.st_mode) && staging.st_dev == st.st_dev);
}

const char *slot_name(char out[SLOT_NAME], uint32_t slot)
{
	(void)snprintf(out, SLOT_NAME, "%u", slot);
	return out;
}

int open_parent(int root, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	if (strlen(path) >= sizeof(folder))
		return -ENAMETOOLONG;
	*ret_name = slash ? slash + 1 : path;
	if (!slash)
		return sys_open_beneath(root, ".", O_PATH | O_DIRECTORY, 0);
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	return sys_open_beneath(root, folder, O_PATH | O_DIRECTORY, 0);
}

/* Moves to a place where nothing is. */
static int move_to_free(int from, const char *name, int to, const char *new_name)
{
	int r = sys_rename(from, name, to, new_name, SYS_RENAME_NOREPLACE);
	struct stat st;

	if (r != -EINVAL && r != -ENOSYS)
		return r;
	/* A file system without the flag (NFS): the best there is. */
	if (fstatat(to, new_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	if (errno != ENOENT)
		return -errno;
	return renameat(from, name, to, new_name) < 0 ? -errno : 0;
}

static int swap(int a, const char *name, int b, const char *other)
{
	return sys_rename(a, name, b, other, SYS_RENAME_EXCHANGE);
}

/* 1: the object with this inode number is at name; 0: it is not (nor, with ino 0, anything). -errno. */
static int holds(int dirfd, const char *name, uint64_t ino)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return ino == 0 || st.st_ino == ino;
}

static int set_mode(int dirfd, const char *name, uint64_t ino, mode_t mode)
{
	int r = holds(dirfd, name, ino);

	if (r <= 0)
		return r < 0 ? r : -ESTALE;
	return fchmodat(dirfd, name, mode, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* The folder has not been moved since it was opened: what was put there has the path that was judged. */
static int check_place(const struct site *site, const struct step *s, int dir)
{
	const char *name = NULL;
	AUTO_FD now = open_parent(site->lower, s->path, &name);
	struct stat there, here;

	if (now < 0)
		return -ESTALE;
	if (fstat(now, &there) < 0 || fstat(dir, &here) < 0)
		return -errno;
	return there.st_dev == here.st_dev && there.st_ino == here.st_ino ? 0 : -ESTALE;
}

/* To where nothing is. From the next instant on others, who may have moved the folder, see it there and judge for
 * themselves; so who looks now sees what they did before. */
static int put(const struct site *site, const struct step *s, const char *slot, int dir, const char *name)
{
	int r = move_to_free(site->staging, slot, dir, name);

	if (r == 0 && (r = check_place(site, s, dir)) < 0)
		(void)move_to_free(dir, name, site->staging, slot);
	return r;
}

static int put_instead(const struct site *site, const struct step *s, const char *slot, int dir, const char *name)
{
	int r = swap(site->staging, slot, dir, name);

	if (r == 0 && (r = check_place(site, s, dir)) < 0)
		(void)swap(dir, name, site->staging, slot);
	return r;
}

int step_do(const struct site *site, const struct step *s)
{
	char slot[SLOT_NAME];
	const char *name = NULL;
	AUTO_FD dir = open_parent(site->lower, s->path, &name);

	if (dir < 0)
		return dir;
	(void)slot_name(slot, s->slot);
	switch (s->kind) {
	case STEP_MODE:
		return set_mode(dir, name, s->ino, s->mode[1]);
	case STEP_TAKE:
		return move_to_free(dir, name, site->staging, slot);
	case STEP_PUT:
		return put(site, s, slot, dir, name);
	default:
		return put_instead(site, s, slot, dir, name);
	}
}

/* What is not there, or not yet, has no mode to put back. */
static int undo_mode(int dir, const char *name, const struct step *s)
{
	int r = dir < 0 ? dir : set_mode(dir, name, s->ino, s->mode[0]);

	return r == -ESTALE || r == -ENOENT || r == -ENOTDIR || r == -ELOOP ? 0 : r;
}

/* Something below the folder came or changed since it was staged. What cannot be told counts. */
static bool is_touched_below(const struct site *site, int fd, unsigned depth)
{
	AUTO_NAMES names = {0};
	size_t budget = CHANGES_ENTRIES, i;
	struct stat st;

	if (fd < 0 || depth > CHANGES_DEPTH || names_read(&names, fd, &budget) < 0)
		return true;
	for (i = 0; i < names.n; i++) {
		AUTO_FD below = -1;

		if (fstatat(fd, names.v[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (sys_stamp_later(st.st_ctim, site->journal->staged))
			return true;
		if (!S_ISDIR(st.st_mode))
			continue;
		below = openat(fd, names.v[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (is_touched_below(site, below, depth + 1))
			return true;
	}
	return false;
}

/* What came back to the slot is not as the step had brought it: the host worked on it, or put another thing there.
 * Moving changes its own ctime, but not its mtime. */
static bool is_touched(const struct site *site, const struct step *s, const char *slot)
{
	AUTO_FD fd = -1;
	struct stat st;

	if (fstatat(site->staging, slot, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (st.st_ino != s->ino)
		return true;
	if (!S_ISDIR(st.st_mode))
		return sys_stamp_later(st.st_mtim, site->journal->staged);
	fd = openat(site->staging, slot, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return is_touched_below(site, fd, 0);
}

/* What cannot go to its place stays at hand. */
static int keep(const struct site *site, const char *slot, char kept[KEPT_LEN])
{
	int r;

	(void)snprintf(kept, KEPT_LEN, KEPT_NAME "%.16s-%s", site->journal->staging + strlen(CHANGES_STAGING), slot);
	r = move_to_free(site->staging, slot, site->lower, kept);
	return r < 0 ? r : 1;
}

/* From its slot to where it was; beside, where that is taken or gone. */
static int put_back(const struct site *site, const char *slot, int dir, const char *name, char kept[KEPT_LEN])
{
	int r = dir < 0 ? dir : move_to_free(site->staging, slot, dir, name);

	return r == 0 ? 0 : keep(site, slot, kept);
}

/* What the host took away or moved since is the host's. */
static int undo_put(const struct site *site, const struct step *s, const char *slot, int dir, const char *name,
		    char kept[KEPT_LEN])
{
	int r = move_to_free(dir, name, site->staging, slot);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return is_touched(site, s, slot) ? put_back(site, slot, dir, name, kept) : 0;
}

static int undo_swap(const struct site *site, const struct step *s, const char *slot, int dir, const char *name,
		     char kept[KEPT_LEN])
{
	int r = swap(dir, name, site->staging, slot);

	if (r == -ENOENT)
		return put_back(site, slot, dir, name, kept);
	if (r < 0)
		return r;
	return is_touched(site, s, slot) ? keep(site, slot, kept) : 0;
}

int step_undo(const struct site *site, const struct step *s, char kept[KEPT_LEN])
{
	char slot[SLOT_NAME];
	const char *name = NULL;
	AUTO_FD dir = open_parent(site->lower, s->path, &name);
	int in_slot, in_place;

	if (s->kind == STEP_MODE)
		return undo_mode(dir, name, s);
	in_slot = holds(site->staging, slot_name(slot, s->slot), 0);
	if (in_slot < 0)
		return in_slot;
	if (s->kind == STEP_TAKE)
		return in_slot ? put_back(site, slot, dir, name, kept) : 0;
	if (in_slot && holds(site->staging, slot, s->ino) == 1)
		return 0; /* never left */
	in_place = dir < 0 ? 0 : holds(dir, name, s->ino);
	if (in_place < 0)
		return in_place;
	if (s->kind == STEP_PUT)
		return in_place ? undo_put(site, s, slot, dir, name, kept) : 0;
	if (in_place && in_slot)
		return undo_swap(site, s, slot, dir, name, kept);
	return in_slot ? put_back(site, slot, dir, name, kept) : 0;
}
