/* Outliving the run: a daemon that has left session, parent and signals behind. The runner looks for it by its argv. */
#include <signal.h>
#include <sys/prctl.h>

#include "attack.h"

enum { LIFETIME = 6 };

static void linger(void)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)prctl(PR_SET_PDEATHSIG, 0);
	/* The runner's pipe would wait for us. */
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	(void)alarm(0);
	sleep(LIFETIME);
	_exit(0);
}

static int daemonize(const struct scene *s, const struct attack *a)
{
	if (fork() == 0) {
		(void)setsid();
		if (fork() == 0)
			linger();
		_exit(0);
	}
	usleep(50000);
	(void)s;
	return won("%s: a daemon was started", a->name);
}

/* Stays in front, so that the supervisor is there to be killed. */
static int stay(const struct scene *s, const struct attack *a)
{
	(void)s;
	(void)a;
	if (fork() == 0) {
		(void)setsid();
		linger();
	}
	linger();
	return WON;
}

static const struct attack rows[] = {
	{"outlive-run", "cannot leave a daemon behind when its command ends", daemonize, .stage = STAGE_DAEMON},
	{"outlive-supervisor", "cannot live on when the supervisor is killed with SIGKILL", stay,
	 .stage = STAGE_ORPHAN},
};
ATTACKS("process", rows);
