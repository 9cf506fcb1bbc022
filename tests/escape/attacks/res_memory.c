/* Too much memory by every road that leads to it. The bound is a little above the policy's 256 MiB, held for half a
 * second. */
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "attack.h"

enum { WANTED = 320 << 20, PAGE = 4096 };

static int touch(const struct scene *s, char *p, const char *what)
{
	if (p == MAP_FAILED)
		return lost(s, errno, what);
	for (size_t i = 0; i < WANTED; i += PAGE)
		p[i] = 1;
	usleep(500000);
	return won("%s: %d MiB are held", what, WANTED >> 20);
}

static int map(const struct scene *s, const struct attack *a)
{
	return touch(s, mmap(NULL, WANTED, PROT_READ | PROT_WRITE, (int)a->num | MAP_ANONYMOUS, -1, 0), a->name);
}

static int map_memfd(const struct scene *s, const struct attack *a)
{
	int fd = memfd_create("x", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, WANTED) < 0)
		return lost(s, errno, a->name);
	return touch(s, mmap(NULL, WANTED, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), a->name);
}

static int map_sysv(const struct scene *s, const struct attack *a)
{
	int id = shmget(IPC_PRIVATE, WANTED, IPC_CREAT | 0600);

	if (id < 0)
		return lost(s, errno, a->name);
	char *p = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	return touch(s, p, a->name);
}

static int by_break(const struct scene *s, const struct attack *a)
{
	char *p = sbrk(WANTED);

	return touch(s, p, a->name);
}

static const struct attack rows[] = {
	{"memory-private", "cannot hold more private memory than the policy allows", map, .stage = STAGE_LIMITS,
	 .num = MAP_PRIVATE},
	{"memory-shared", "cannot hold more shared memory than the policy allows", map, .stage = STAGE_LIMITS,
	 .num = MAP_SHARED},
	{"memory-break", "cannot hold more heap than the policy allows", by_break, .stage = STAGE_LIMITS},
	{"memory-memfd", "cannot hold more memory in a memfd", map_memfd, .stage = STAGE_LIMITS},
	{"memory-sysv", "cannot hold more memory in System V segments", map_sysv, .stage = STAGE_LIMITS},
};
ATTACKS("resource", rows);
