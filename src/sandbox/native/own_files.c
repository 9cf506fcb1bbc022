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
enum { ROOM = 4096, LOOK_AGAIN = 256, WAITS_MAX = 20000, PINS = 1024 };

struct own_file {
	_Atomic uint64_t dev;
	_Atomic uint64_t inode; /* 0: the place is free. Written last, and taken away first */
};

struct own_pin {
	int fd;
	uint64_t turn; /* the lowest is the oldest */
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

static bool is_used(const struct own_files *o, size_t i)
{
	return atomic_load(&o->shared->files[i].inode) != 0;
}

static void forget(struct own_files *o, size_t i)
{
	atomic_store(&o->shared->files[i].inode, 0);
	(void)close(o->pins[i].fd);
	o->n--;
}

static size_t oldest(const struct own_files *o)
{
	size_t i, found = 0;

	for (i = 1; i < ROOM; i++)
		if (is_used(o, i) && (!is_used(o, found) || o->pins[i].turn < o->pins[found].turn))
			found = i;
	return found;
}

static bool is_gone(const struct own_files *o, size_t i)
{
	struct stat st;

	return is_used(o, i) && (fstat(o->pins[i].fd, &st) < 0 || st.st_nlink == 0);
}

/* The newest are the likeliest to be gone. Where all were there just now, they are not looked at again so soon. */
static bool forget_one_gone(struct own_files *o)
{
	size_t i, at;

	if (o->turn < o->look_at)
		return false;
	for (i = 0; i < ROOM; i++) {
		at = (o->at + ROOM - i) % ROOM;
		if (is_gone(o, at)) {
			forget(o, at);
			o->at = at;
			return true;
		}
	}
	o->look_at = o->turn + LOOK_AGAIN;
	return false;
}

/* None that has a name gives way to another before all places are taken by such. */
static size_t find_place(struct own_files *o)
{
	if (o->n >= o->room && !forget_one_gone(o))
		forget(o, oldest(o));
	while (is_used(o, o->at))
		o->at = (o->at + 1) % ROOM;
	return o->at;
}

static rlim_t least(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

/* Beyond the usual limit where that can be: none of the descriptors is taken that calls are answered with. What is open
 * stays so under the old limit, which is that of the commands, too. */
static int pin_file(int fd)
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
	struct own_pin pin = {.turn = ++o->turn};
	struct stat st;
	size_t at;

	if (!o->shared || fstat(fd, &st) < 0)
		return;
	at = find_place(o);
	pin.fd = pin_file(fd);
	/* as many as may be open: from now on the oldest of so few give way */
	if (pin.fd < 0 && o->n > 0) {
		o->room = o->n;
		at = find_place(o);
		pin.fd = pin_file(fd);
	}
	if (pin.fd < 0)
		return;
	o->pins[at] = pin;
	o->n++;
	atomic_store(&o->shared->files[at].dev, st.st_dev);
	atomic_store(&o->shared->files[at].inode, st.st_ino);
}

void own_files_sweep(struct own_files *o)
{
	size_t i;

	for (i = 0; o->shared && i < ROOM; i++)
		if (is_gone(o, i))
			forget(o, i);
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
