/*
 * The path is judged once and read again by the kernel: a second thread flips the bytes in between. Beats any judge
 * that copies the string from the caller's memory and then lets the call go on.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "attack.h"

struct race {
	_Atomic char path[16];
	atomic_bool done;
};

static void put(struct race *race, const char *path)
{
	for (size_t i = 0; i < 4; i++)
		atomic_store_explicit(&race->path[4 + i], path[i], memory_order_relaxed);
}

static void *flip(void *arg)
{
	struct race *race = arg;

	while (!atomic_load_explicit(&race->done, memory_order_relaxed)) {
		put(race, "good");
		put(race, ".env");
	}
	return NULL;
}

static int race_string(const struct scene *s, const struct attack *a)
{
	struct race race = {.path = {'s', 'u', 'b', '/', 'g', 'o', 'o', 'd'}};
	time_t end = time(NULL) + 2;
	pthread_t thread;
	bool hit = false, ran = false;

	(void)s;
	(void)a;
	if (pthread_create(&thread, NULL, flip, &race) != 0)
		return broken("thread");
	while (!hit && time(NULL) < end) {
		(void)unlink("sub/good");
		for (int i = 0; i < 200; i++) {
			long fd = syscall(SYS_openat, AT_FDCWD, (uintptr_t)race.path, O_CREAT | O_WRONLY, 0644);
			if (fd >= 0)
				close((int)fd);
			ran |= fd >= 0;
		}
		hit = access("sub/.env", F_OK) == 0;
	}
	atomic_store(&race.done, true);
	pthread_join(thread, NULL);
	if (!ran)
		return broken("creating the harmless file");
	return hit ? won("the race created .env") : refused("the race never won");
}

static const struct attack rows[] = {
	{"deny-race-string", "cannot create .env by flipping the path in memory while it is judged", race_string,
	 .stage = STAGE_DENY},
};
ATTACKS("filesystem", rows);
