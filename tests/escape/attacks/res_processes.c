/* Too many processes, or threads, at once. The bound is a little above the policy's 64. */
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "attack.h"

enum { WANTED = 80 };

static int fork_many(const struct scene *s, const struct attack *a)
{
	pid_t pids[WANTED];
	int n = 0, err = 0;

	while (n < WANTED) {
		pids[n] = fork();
		if (pids[n] < 0) {
			err = errno;
			break;
		}
		if (pids[n] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
		n++;
	}
	for (int i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return n == WANTED ? won("%d children at once", n) : lost(s, err, a->name);
}

static void *wait_forever(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

static int thread_many(const struct scene *s, const struct attack *a)
{
	pthread_attr_t small;
	pthread_t thread;
	int n = 0, err = 0;

	(void)pthread_attr_init(&small);
	(void)pthread_attr_setstacksize(&small, 65536);
	while (n < WANTED && (err = pthread_create(&thread, &small, wait_forever, NULL)) == 0)
		n++;
	return n == WANTED ? won("%d threads at once", n) : lost(s, err, a->name);
}

static const struct attack rows[] = {
	{"fork-bomb", "cannot have more processes than the policy's max_processes", fork_many, .stage = STAGE_LIMITS},
	{"thread-bomb", "cannot have more threads than the policy's max_processes", thread_many, .stage = STAGE_LIMITS},
};
ATTACKS("resource", rows);
