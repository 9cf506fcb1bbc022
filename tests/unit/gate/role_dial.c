/* What egress may do with its sockets once it is confined, and how it knows the machine's own addresses without more.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "sys/own_address.h"
#include "sys/role.h"
#include "sys/role_confine.h"

static const struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr = {.s_addr = 0x0100007f}};

static int bind_stream(void)
{
	return bind(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&loopback, sizeof(loopback));
}

static int bind_datagram(void)
{
	return bind(socket(AF_INET, SOCK_DGRAM, 0), (const struct sockaddr *)&loopback, sizeof(loopback));
}

static int bind_datagram6(void)
{
	const struct sockaddr_in6 any = {.sin6_family = AF_INET6};

	return bind(socket(AF_INET6, SOCK_DGRAM, 0), (const struct sockaddr *)&any, sizeof(any));
}

static int listen_unbound(void)
{
	return listen(socket(AF_INET, SOCK_STREAM, 0), 1);
}

static int raw_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, 0);
}

static int set_address(void)
{
	struct ifreq r = {.ifr_name = "lo"};

	return ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFADDR, &r);
}

/* Signals to whatever process: our parent here. */
static int own_by_fcntl(void)
{
	return fcntl(socket(AF_INET, SOCK_STREAM, 0), F_SETOWN, getppid());
}

static int choose_signal(void)
{
	return fcntl(socket(AF_INET, SOCK_STREAM, 0), F_SETSIG, SIGKILL);
}

static int own_by_ioctl(void)
{
	pid_t pid = getppid();

	return ioctl(socket(AF_INET, SOCK_STREAM, 0), FIOSETOWN, &pid);
}

/* Where others run is not its business. */
static int place_parent(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	return sched_setaffinity(getppid(), sizeof(all), &all);
}

static int look_at_parent(void)
{
	cpu_set_t all;

	return sched_getaffinity(getppid(), sizeof(all), &all);
}

static int place_itself(void)
{
	cpu_set_t all;

	return sched_getaffinity(0, sizeof(all), &all) < 0 || sched_getcpu() < 0
		       ? -1
		       : sched_setaffinity(0, sizeof(all), &all);
}

static int set_flags(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : 0;
}

static int own_of(const char *text)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return own_address((const struct sockaddr *)&v4);
	return inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 ? own_address((const struct sockaddr *)&v6) : -EINVAL;
}

static int know_own(void)
{
	return own_of("127.0.0.1") == 1 ? 0 : -1;
}

static int know_others(void)
{
	return own_of("192.0.2.1") == 0 ? 0 : -1;
}

static int dial(void)
{
	const struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_port = htons(1), .sin_addr = loopback.sin_addr};

	return connect(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&nobody, sizeof(nobody)) < 0 &&
			       errno == ECONNREFUSED
		       ? 0
		       : -1;
}

/* What wait() says of a confined child that does it. */
static int confined(int (*act)(void))
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		if (role_confine(&(struct role_needs){
			    .may = ROLE_DIAL, .first_closed = 64, .descriptors = 64, .memory = 512 << 20}) < 0)
			_exit(99);
		_exit(act() == 0 ? 0 : 1);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

static void what_dials_cannot_bind_or_listen(void)
{
	int (*const acts[])(void) = {bind_stream,    bind_datagram, bind_datagram6,
				     listen_unbound, raw_netlink,   set_address};
	size_t i;
	int status;

	for (i = 0; role_is_filtered() && i < ARRAY_LEN(acts); i++) {
		status = confined(acts[i]);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
}

static void it_sends_no_signals_by_a_descriptor(void)
{
	int (*const acts[])(void) = {own_by_fcntl, choose_signal, own_by_ioctl};
	size_t i;
	int status;

	for (i = 0; role_is_filtered() && i < ARRAY_LEN(acts); i++) {
		status = confined(acts[i]);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
	CHECK(confined(set_flags) == 0);
}

static void it_chooses_a_cpu_for_itself_only(void)
{
	int (*const acts[])(void) = {place_parent, look_at_parent};
	size_t i;
	int status;

	for (i = 0; role_is_filtered() && i < ARRAY_LEN(acts); i++) {
		status = confined(acts[i]);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	}
	CHECK(confined(place_itself) == 0);
}

static void it_dials_and_knows_the_machines_own_addresses_all_the_same(void)
{
	CHECK(confined(dial) == 0);
	CHECK(confined(know_own) == 0);
	CHECK(confined(know_others) == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_dials_cannot_bind_or_listen),
		CASE(it_sends_no_signals_by_a_descriptor),
		CASE(it_chooses_a_cpu_for_itself_only),
		CASE(it_dials_and_knows_the_machines_own_addresses_all_the_same),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
