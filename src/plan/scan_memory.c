#include "plan/scan_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/cachefile.h"
#include "base/cleanup.h"
#include "sys/names.h"

/*
 * MEMORY_PLACES files at most. SETTLED_S: longer than the coarsest clock of the file systems below. WORTH: a search
 * that learned less is as fast as reading the file. LOOK_AHEAD: folders come in the same order as last time, with a few
 * gone or new.
 */
enum { MEMORY_PLACES = 256, MEMORY_MAX = 32 << 20, SETTLED_S = 3, WORTH = 1000, LOOK_AHEAD = 64, NAME_MAX_ = 255 };

static const char magic[8] = {'C', 'S', 'C', 'A', 'N', 0, 0, 1};

/* Of a folder; those of its subfolders follow within `size`. The name ends in 1 to 8 NULs. */
struct record {
	uint64_t inode;
	int64_t seconds;
	uint32_t nanoseconds;
	uint32_t entries;
	uint32_t size;
	uint16_t name_length;
	uint16_t clean;
};

/* ext2 to ext4, xfs, btrfs, tmpfs */
static bool keeps_time(const char *root)
{
	struct statfs fs;

	if (statfs(root, &fs) < 0)
		return false;
	switch ((unsigned long)fs.f_type) {
	case 0xef53:
	case 0x58465342:
	case 0x9123683e:
	case 0x01021994:
		return true;
	default:
		return false;
	}
}

static size_t head_size(uint16_t name_length)
{
	return sizeof(struct record) + (name_length / 8U + 1) * 8U;
}

/* The old record at `at`, which must lie before `end`; anything odd is no record. */
static bool get(const struct scan_memory *m, size_t at, size_t end, struct record *ret, const char **name)
{
	if (end > m->old.n || at >= end || end - at < sizeof(*ret))
		return false;
	memcpy(ret, m->old.p + at, sizeof(*ret));
	if (ret->size > end - at || ret->name_length > NAME_MAX_ || ret->size < head_size(ret->name_length))
		return false;
	*name = m->old.p + at + sizeof(*ret);
	return strnlen(*name, ret->name_length + 1U) == ret->name_length;
}

void scan_memory_init(struct scan_memory *m, const char *dir, struct sha256 *key, const char *root)
{
	unsigned char digest[SHA256_SIZE];
	struct timespec now;
	struct stat st;

	*m = (struct scan_memory){0};
	buf_init(&m->old, MEMORY_MAX);
	buf_init(&m->now, MEMORY_MAX);
	if (!dir || !keeps_time(root) || cachefile_add_self(key) < 0 || stat(root, &st) < 0 ||
	    clock_gettime(CLOCK_REALTIME, &now) < 0)
		return;
	sha256_done(key, digest);
	m->dir = dir;
	m->dev = st.st_dev;
	m->settled = now.tv_sec - SETTLED_S;
	(void)snprintf(m->name, sizeof(m->name), "scan-%02x", digest[0] % MEMORY_PLACES);
	(void)buf_add(&m->now, magic, sizeof(magic));
	(void)buf_add(&m->now, digest, sizeof(digest));
	(void)buf_add(&m->now, &m->dev, sizeof(m->dev));
	/* The same first bytes: the same search. Another's can be long, and would be read in vain. */
	if (buf_failed(&m->now) || cachefile_read_of(dir, m->name, buf_view(&m->now), &m->old) < 0 ||
	    m->old.n < m->now.n || memcmp(m->old.p, m->now.p, m->now.n) != 0)
		m->old.n = 0;
}

void scan_memory_done(struct scan_memory *m, bool complete)
{
	if (m->dir && complete && m->learned >= WORTH && !buf_failed(&m->now))
		(void)cachefile_replace(m->dir, m->name, &m->now);
	buf_done(&m->old);
	buf_done(&m->now);
}

/* Looks for a subfolder's record, from where the last one was found. */
static void find_old(const struct scan_memory *m, struct scan_seen *above, const char *name, struct scan_seen *ret)
{
	size_t at = above->next;
	const char *old_name;
	struct record r;
	unsigned i;

	for (i = 0; i < LOOK_AHEAD && get(m, at, above->old_end, &r, &old_name); i++, at += r.size) {
		if (strcmp(name, old_name) != 0)
			continue;
		ret->old = at;
		ret->old_end = above->next = at + r.size;
		ret->next = at + head_size(r.name_length);
		return;
	}
}

void scan_memory_enter(struct scan_memory *m, struct scan_seen *above, const char *name, struct scan_seen *ret)
{
	static const char zeros[8];
	struct scan_seen top = {.next = sizeof(magic) + SHA256_SIZE + sizeof(m->dev), .old_end = m->old.n};
	size_t n = strlen(name);
	struct record r = {.name_length = (uint16_t)n};

	*ret = (struct scan_seen){.now = m->now.n};
	if (!m->dir)
		return;
	find_old(m, above ? above : &top, name, ret);
	if (n > NAME_MAX_) {
		m->now.failed = -ENAMETOOLONG;
		return;
	}
	(void)buf_add(&m->now, &r, sizeof(r));
	(void)buf_add(&m->now, name, n);
	(void)buf_add(&m->now, zeros, 8 - n % 8);
}

bool scan_memory_was_leaf(const struct scan_memory *m, const struct scan_seen *f)
{
	return m->dir && f->old_end && f->next == f->old_end;
}

/* Notes the folder's identity as of now: before its entries are read, so that a later change shows. */
static bool note(struct scan_memory *m, const struct scan_seen *f, int fd, const char *name, struct record *now)
{
	struct sys_facts is;

	if (buf_failed(&m->now) || sys_facts_at(fd, name, &is) < 0)
		return false;
	memcpy(now, m->now.p + f->now, sizeof(*now));
	now->inode = is.inode;
	now->seconds = is.changed.tv_sec;
	now->nanoseconds = (uint32_t)is.changed.tv_nsec;
	/* clean until scan_memory_leave() says otherwise */
	now->clean = is.folder && !is.encrypted && now->seconds < m->settled && is.dev == m->dev;
	memcpy(m->now.p + f->now, now, sizeof(*now));
	return true;
}

bool scan_memory_knows(struct scan_memory *m, struct scan_seen *f, int fd, const char *name, uint32_t *ret_entries)
{
	struct record old, now;
	const char *old_name;

	if (!m->dir || !note(m, f, fd, name, &now) || !now.clean || !get(m, f->old, f->old_end, &old, &old_name))
		return false;
	if (!old.clean || old.inode != now.inode || old.seconds != now.seconds || old.nanoseconds != now.nanoseconds)
		return false;
	*ret_entries = old.entries;
	return true;
}

const char *scan_memory_next(const struct scan_memory *m, const struct scan_seen *f)
{
	struct record r;
	const char *name;

	return get(m, f->next, f->old_end, &r, &name) ? name : NULL;
}

void scan_memory_leave(struct scan_memory *m, const struct scan_seen *f, bool clean, bool known, uint32_t entries)
{
	struct record r;

	if (!m->dir || buf_failed(&m->now))
		return;
	memcpy(&r, m->now.p + f->now, sizeof(r));
	r.clean = r.clean && clean;
	r.entries = entries;
	r.size = (uint32_t)(m->now.n - f->now);
	memcpy(m->now.p + f->now, &r, sizeof(r));
	if (r.clean && !known)
		m->learned += entries;
}
