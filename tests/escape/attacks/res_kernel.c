/* Kernel objects that cost memory outside any address space, or that the host's user has only so many of. */
#include <signal.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "attack.h"

static void raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int open_files(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int open_inotify(void)
{
	return inotify_init1(IN_CLOEXEC);
}

static int open_pty(void)
{
	return posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static int open_timer(void)
{
	timer_t timer;
	struct sigevent none = {.sigev_notify = SIGEV_NONE};

	return timer_create(CLOCK_MONOTONIC, &none, &timer);
}

static int (*const makers[])(void) = {open_files, open_inotify, open_pty, open_timer};

static int make_many(const struct scene *s, const struct attack *a)
{
	long n = 0;

	raise_files();
	while (n < a->num2 && makers[a->num]() >= 0)
		n++;
	return n == a->num2 ? won("%s: %ld at once", a->name, n) : lost(s, errno, a->name);
}

static int lock_memory(const struct scene *s, const struct attack *a)
{
	void *p = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return judge(s, mlock(p, 64 << 20), a->name);
}

static const struct attack rows[] = {
	{"many-files", "cannot open 16,384 files", make_many, .stage = STAGE_LIMITS, .num = 0, .num2 = 16384},
	{"many-inotify", "cannot use up the user's inotify instances", make_many, .stage = STAGE_LIMITS, .num = 1,
	 .num2 = 100},
	{"many-ptys", "cannot open 1,200 terminals", make_many, .stage = STAGE_LIMITS, .num = 2, .num2 = 1200},
	{"many-timers", "cannot make 20,000 timers", make_many, .stage = STAGE_LIMITS, .num = 3, .num2 = 20000},
	{"mlock", "cannot lock 64 MiB of memory", lock_memory, CONTROL_ROOT, STAGE_LIMITS},
};
ATTACKS("resource", rows);
