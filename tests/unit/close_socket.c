/* Closing a socket that others have open, too: whoever holds it last waits for nobody. */
#include "sys/close_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

enum { FOR_EVER_S = 100000 };

/* A connection whose peer reads nothing, and full. */
struct link {
	int server, here, there;
};

static void link_init(struct link *l)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct linger lingers = {.l_onoff = 1, .l_linger = FOR_EVER_S};
	static const char bytes[65536];
	socklen_t n = sizeof(a);

	l->server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	l->here = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(l->server, (struct sockaddr *)&a, n) == 0 && listen(l->server, 1) == 0);
	CHECK(getsockname(l->server, (struct sockaddr *)&a, &n) == 0 &&
	      connect(l->here, (struct sockaddr *)&a, n) == 0);
	l->there = accept(l->server, NULL, NULL);
	CHECK(l->there >= 0);
	while (send(l->here, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	CHECK(setsockopt(l->here, SOL_SOCKET, SO_LINGER, &lingers, sizeof(lingers)) == 0);
}

static void link_done(struct link *l)
{
	(void)close(l->there);
	(void)close(l->server);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void the_last_that_lingers_is_closed_at_once_and_timers_stay(void)
{
	const struct itimerval later = {{0, 0}, {FOR_EVER_S, 0}};
	const struct sigaction action = {.sa_handler = on_alarm};
	struct sigaction now;
	struct itimerval left;
	struct link l;
	sigset_t set, before;

	link_init(&l);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGALRM);
	CHECK(sigaction(SIGALRM, &action, NULL) == 0 && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	CHECK(setitimer(ITIMER_REAL, &later, NULL) == 0);
	sys_close_at_once(l.here);
	CHECK(fcntl(l.here, F_GETFD) < 0);
	CHECK(getitimer(ITIMER_REAL, &left) == 0 && left.it_value.tv_sec > 1);
	CHECK(sigaction(SIGALRM, NULL, &now) == 0 && now.sa_handler == on_alarm);
	CHECK(sigprocmask(SIG_UNBLOCK, &set, &before) == 0 && sigismember(&before, SIGALRM));
	link_done(&l);
}

static void what_is_no_such_socket_is_closed_as_well(void)
{
	int pair[2], file = open("/dev/null", O_RDONLY | O_CLOEXEC), i;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && file >= 0);
	for (i = 0; i < 2; i++)
		sys_close_at_once(pair[i]);
	sys_close_at_once(file);
	CHECK(fcntl(pair[0], F_GETFD) < 0 && fcntl(pair[1], F_GETFD) < 0 && fcntl(file, F_GETFD) < 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(the_last_that_lingers_is_closed_at_once_and_timers_stay),
		CASE(what_is_no_such_socket_is_closed_as_well),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
