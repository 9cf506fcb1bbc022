#include "sandbox/native/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

/* WAITS_MAX: two seconds, in which PID 1 makes a file on any disk. PINS: from there on are their descriptors. */
enum { ROOM = 4096, FREE_TRIES = 64, WAITS_MAX = 20000, PINS = 1024 };

struct own_file {
	_Atomic uint64_t dev;
	_Atomic uint64_t inode; /* 0: the place is free. Written last, and taken away first */
};

struct own_shared {
	_Atomic uint32_t turn; /* odd: a file is being made */
	struct own_file files[ROOM];
};

int own_files_share(struct own_files *o)
{
	void *p;

	if (o->shared)
		return 0;
	if (!o->pins)
		o->pins = calloc(ROOM, sizeof(*o->pins));
	if (!o->pins)
		return -ENOMEM;
	p = mmap(NULL, sizeof(*o->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	o->shared = p;
	o->room = ROOM;
	return 0;
}

void own_files_begin(struct own_files *o)
{
	if (own_files_share(o) == 0)
		atomic_fetch_add(&o->shared->turn, 1);
}

void own_files_end(struct own_files *o)
{
	if (o->shared)
		atomic_fetch_add(&o->shared->turn, 1);
}

static void forget(struct own_files *o, size_t i)
{
	atomic_store(&o->shared->files[i].inode, 0);
	(void)close(o->pins[i]);
}

static bool is_free(struct own_files *o, size_t i)
{
	struct stat st;

	if (atomic_load(&o->shared->files[i].inode) == 0)
		return true;
	if (fstat(o->pins[i], &st) == 0 && st.st_nlink > 0)
		return false;
	forget(o, i);
	return true;
}

/* Where nothing is free near by, what was noted there is the oldest, but for those that stayed where others went. */
static size_t find_place(struct own_files *o)
{
	size_t i, at = o->next % o->room;

	for (i = 0; i < FREE_TRIES && !is_free(o, (at + i) % o->room); i++)
		;
	if (i < FREE_TRIES)
		at = (at + i) % o->room;
	else
		forget(o, at);
	o->next = at + 1;
	return at;
}

static rlim_t least(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

/* Beyond the usual limit where that can be: none of the descriptors is taken that calls are answered with. What is open
 * stays so under the old limit, which is that of the commands, too. */
static int pin(int fd)
{
	struct rlimit before, more;
	int r;

	if (getrlimit(RLIMIT_NOFILE, &before) < 0)
		return -errno;
	more = before;
	more.rlim_cur = least(before.rlim_max, PINS + ROOM);
	if (more.rlim_cur <= before.rlim_cur)
		return fcntl(fd, F_DUPFD_CLOEXEC, (int)least(before.rlim_cur / 2, PINS));
	if (setrlimit(RLIMIT_NOFILE, &more) < 0)
		return -errno;
	r = fcntl(fd, F_DUPFD_CLOEXEC, (int)least(more.rlim_cur / 2, PINS));
	(void)setrlimit(RLIMIT_NOFILE, &before);
	return r;
}

void own_files_add(struct own_files *o, int fd)
{
	struct stat st;
	size_t at;

	if (!o->shared || fstat(fd, &st) < 0)
		return;
	at = find_place(o);
	o->pins[at] = pin(fd);
	/* as many as may be open: from now on the oldest of so few give way */
	if (o->pins[at] < 0 && at > 0) {
		o->room = at;
		at = find_place(o);
		o->pins[at] = pin(fd);
	}
	if (o->pins[at] < 0)
		return;
	atomic_store(&o->shared->files[at].dev, st.st_dev);
	atomic_store(&o->shared->files[at].inode, st.st_ino);
}

void own_files_sweep(struct own_files *o)
{
	size_t i;

	for (i = 0; o->shared && i < ROOM; i++)
		(void)is_free(o, i);
}

/* PID 1 itself never waits here: it makes one thing at a time. */
static bool is_settled(const struct own_shared *s)
{
	static const struct timespec moment = {.tv_nsec = 100000};
	uint32_t turn = atomic_load(&s->turn);
	int i;

	if (turn % 2 == 0)
		return true;
	for (i = 0; i < WAITS_MAX && atomic_load(&s->turn) == turn; i++)
		(void)nanosleep(&moment, NULL);
	return i < WAITS_MAX;
}

static bool is_it(const struct own_file *f, const struct stat *st)
{
	return atomic_load(&f->inode) == st->st_ino && atomic_load(&f->dev) == st->st_dev &&
	       atomic_load(&f->inode) == st->st_ino;
}

bool own_files_has(const struct own_files *o, const struct stat *st)
{
	const struct own_file *f;

	if (!o->shared)
		return false;
	/* PID 1 stands still, and so do all who would reach what this is; the next search sees */
	if (!is_settled(o->shared))
		return true;
	for (f = o->shared->files; f < o->shared->files + ROOM; f++)
		if (is_it(f, st))
			return true;
	return false;
}
