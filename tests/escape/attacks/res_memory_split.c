/* The same amount of memory, split so that no single process or object is large. */
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "attack.h"

enum { PIECE = 20 << 20, PIECES = 16, QUEUES = 20000, MESSAGE = 8000 };

static void hold(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	char *p = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		_exit(1);
	for (size_t i = 0; i < PIECE; i += 4096)
		p[i] = 1;
	usleep(700000);
	_exit(0);
}

static int many_small(const struct scene *s, const struct attack *a)
{
	int good = 0, status;

	(void)s;
	for (int i = 0; i < PIECES; i++) {
		if (fork() == 0)
			hold();
	}
	while (wait(&status) > 0)
		good += status == 0;
	return good == PIECES ? won("%s: %d times %d MiB", a->name, PIECES, PIECE >> 20)
			      : refused("%d of %d lived", good, PIECES);
}

static int messages(const struct scene *s, const struct attack *a)
{
	static struct {
		long type;
		char text[MESSAGE];
	} message = {.type = 1};
	int *ids = calloc(QUEUES, sizeof(*ids)), n = 0, err = 0;

	for (; ids && n < QUEUES; n++) {
		ids[n] = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
		if (ids[n] < 0 || msgsnd(ids[n], &message, MESSAGE, IPC_NOWAIT) < 0 ||
		    msgsnd(ids[n], &message, MESSAGE, IPC_NOWAIT) < 0) {
			err = errno;
			break;
		}
	}
	for (int i = 0; ids && i <= n && i < QUEUES; i++)
		msgctl(ids[i], IPC_RMID, NULL);
	free(ids);
	return n == QUEUES ? won("%s: %d MiB in messages", a->name, QUEUES / 1000 * 2 * MESSAGE / 1000)
			   : lost(s, err, a->name);
}

static const struct attack rows[] = {
	{"memory-processes", "cannot hold more memory in many small processes", many_small, .stage = STAGE_LIMITS},
	{"memory-messages", "cannot hold more memory in System V messages", messages, .stage = STAGE_LIMITS},
};
ATTACKS("resource", rows);
