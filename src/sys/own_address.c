#include "sys/own_address.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"

/* Any port but 0, to which nothing can be connected. */
enum { DISCARD = 9 };

union any {
	struct sockaddr a;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static socklen_t size_of(const union any *a)
{
	return a->a.sa_family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

static bool same(const union any *a, const union any *b)
{
	if (a->a.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr)) == 0;
}

static int new_socket(const union any *a)
{
	int fd = socket(a->a.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* Of those for documentation: no machine has it. */
static void set_nobodys(union any *a)
{
	static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};

	if (a->a.sa_family == AF_INET)
		a->in.sin_addr.s_addr = htonl(0xc0000201);
	else
		memcpy(&a->in6.sin6_addr, v6, sizeof(v6));
}

/* Whether it can be bound to: 1, 0 or -errno. */
static int binds(const union any *a)
{
	AUTO_FD fd = new_socket(a);

	if (fd < 0)
		return fd;
	return bind(fd, &a->a, size_of(a)) == 0;
}

static int has_it_as_its_own(const union any *to)
{
	AUTO_FD fd = new_socket(to);
	union any self = {.in6 = {0}};
	socklen_t n = sizeof(self);

	if (fd < 0)
		return fd;
	/* what cannot be reached is found out by whoever tries */
	if (connect(fd, &to->a, size_of(to)) < 0)
		return 0;
	return getsockname(fd, &self.a, &n) < 0 ? -errno : same(&self, to);
}

int own_address(const struct sockaddr *a)
{
	union any to = {.in6 = {0}};
	int r;

	if (a->sa_family != AF_INET && a->sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	memcpy(&to, a, a->sa_family == AF_INET ? sizeof(to.in) : sizeof(to.in6));
	if (a->sa_family == AF_INET)
		to.in.sin_port = htons(DISCARD);
	else
		to.in6.sin6_port = htons(DISCARD);
	r = has_it_as_its_own(&to);
	if (r != 0)
		return r;
	if (a->sa_family == AF_INET)
		to.in.sin_port = 0;
	else
		to.in6.sin6_port = 0;
	r = binds(&to);
	if (r <= 0)
		return r;
	set_nobodys(&to);
	r = binds(&to);
	return r < 0 ? r : !r;
}
