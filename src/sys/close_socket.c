#include "sys/close_socket.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static void wake(int sig)
{
	(void)sig;
}

/* UNIX sockets wait for nobody. */
static bool may_linger(int fd)
{
	int domain;
	socklen_t n = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 && domain != AF_UNIX;
}

/* A signal ends the wait; one that came before it began would not, so there is another a moment later. */
void sys_close_at_once(int fd)
{
	static const struct itimerval beat = {{0, 1000}, {0, 1000}};
	const struct sigaction on_alarm = {.sa_handler = wake};
	struct sigaction action;
	struct itimerval timer;
	sigset_t mask, set;

	if (!may_linger(fd)) {
		(void)close(fd);
		return;
	}
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGALRM);
	(void)sigaction(SIGALRM, &on_alarm, &action);
	(void)sigprocmask(SIG_UNBLOCK, &set, &mask);
	(void)setitimer(ITIMER_REAL, &beat, &timer);
	(void)close(fd);
	(void)setitimer(ITIMER_REAL, &timer, NULL);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)sigaction(SIGALRM, &action, NULL);
}
