#include "sandbox/oci/oci_heir.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/process.h"
#include "sys/signals.h"

/* Nothing else of the supervisor's: a lock or a connection that we held would outlive it. */
static void keep_own(struct box *b, int *supervisor)
{
	int *const own[] = {supervisor, &b->runtime_pidfd, &b->join.leader};

	sys_keep_only(own, ARRAY_LEN(own));
}

static _Noreturn void wait_for_end(struct box *b, int supervisor, void (*end)(struct box *b))
{
	struct pollfd p;

	/* what ends the supervisor's job or session is not meant for us */
	(void)sys_signals_block(NULL);
	(void)setsid();
	(void)!chdir("/");
	keep_own(b, &supervisor);
	p = (struct pollfd){.fd = supervisor, .events = POLLIN};
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	end(b);
	_exit(0);
}

int oci_heir_start(struct box *b, void (*end)(struct box *b), struct error *err)
{
	AUTO_FD supervisor = sys_pidfd_open(getpid());

	b->heir = supervisor < 0 ? supervisor : sys_fork_into(0, -1, NULL, NULL);
	if (b->heir == 0)
		wait_for_end(b, supervisor, end);
	return b->heir < 0 ? error_sys(err, b->heir, "a process that ends the sandbox when its supervisor is killed")
			   : 0;
}

void oci_heir_end(const struct box *b)
{
	if (b->heir > 0)
		(void)kill(b->heir, SIGKILL); /* not waited for yet, so the number is still its own */
}

void oci_heir_dismiss(struct box *b)
{
	if (b->heir <= 0)
		return;
	oci_heir_end(b);
	while (waitpid(b->heir, NULL, 0) < 0 && errno == EINTR)
		;
	b->heir = 0;
}
