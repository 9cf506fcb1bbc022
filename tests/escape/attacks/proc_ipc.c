/* System V and POSIX objects of a host process, found by their ids as any process of that user could. */
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "attack.h"

static int read_shm(const struct scene *s, const struct attack *a)
{
	const void *p = shmat((int)fact_num(s, "shm"), NULL, SHM_RDONLY);

	if (p == (void *)-1) /* NOLINT */
		return lost(s, errno, a->name);
	return has_marker(p, 64) ? won("shared memory gives the secret") : refused("shared memory is not the victim's");
}

static int read_sem(const struct scene *s, const struct attack *a)
{
	int value = semctl((int)fact_num(s, "sem"), 0, GETVAL);

	return value == 42 ? won("the semaphore's value is the victim's") : lost(s, errno, a->name);
}

static int read_msg(const struct scene *s, const struct attack *a)
{
	struct {
		long type;
		char text[256];
	} message = {0};
	ssize_t n = msgrcv((int)fact_num(s, "msg"), &message, sizeof(message.text), 0, IPC_NOWAIT | MSG_COPY);

	if (n < 0)
		return lost(s, errno, a->name);
	return has_marker(message.text, (size_t)n) ? won("the message is the secret")
						   : refused("not the victim's message");
}

static int open_mq(const struct scene *s, const struct attack *a)
{
	struct fact name;
	mqd_t queue = mq_open(fact(s, "mq", &name), O_RDONLY);

	return judge(s, queue, a->name);
}

static const struct attack rows[] = {
	{"sysv-shm", "cannot attach the host's System V shared memory", read_shm},
	{"sysv-sem", "cannot read the host's System V semaphores", read_sem},
	{"sysv-msg", "cannot read the host's System V messages", read_msg},
	{"posix-mq", "cannot open the host's POSIX message queues", open_mq},
};
ATTACKS("process", rows);
