#include "sys/own_address.h"

#include <errno.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/cleanup.h"

/* Any port but 0, to which nothing can be connected. */
enum { DISCARD = 9 };

/* Bytes of a list of addresses: some fifty, which one allocation holds, to a hundred thousand. */
enum { LIST_FIRST = 2048, LIST_MAX = 4 << 20 };

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

/* All of IPv4, in *ret, which grows until they fit; `room` is its size. The number of bytes, or -errno. */
static int list_addresses(int fd, char **ret, int *room)
{
	struct ifconf list;

	for (*room = LIST_FIRST; *room <= LIST_MAX; *room *= 2) {
		free(*ret);
		*ret = malloc((size_t)*room);
		if (!*ret)
			return -ENOMEM;
		list = (struct ifconf){.ifc_len = *room, .ifc_buf = *ret};
		if (ioctl(fd, SIOCGIFCONF, &list) < 0)
			return -errno;
		/* a list that does not fit is cut between two entries */
		if (list.ifc_len <= *room - (int)sizeof(struct ifreq))
			return list.ifc_len;
	}
	return -EFBIG;
}

static int is_listed(const union any *a)
{
	AUTO_FD fd = new_socket(a);
	AUTO_FREE char *list = NULL;
	struct ifreq one;
	union any each;
	int room, n, i;

	if (fd < 0)
		return fd;
	n = list_addresses(fd, &list, &room);
	for (i = 0; i + (int)sizeof(one) <= n; i += (int)sizeof(one)) {
		memcpy(&one, list + i, sizeof(one));
		memcpy(&each.a, &one.ifr_addr, sizeof(each.a));
		if (each.a.sa_family == AF_INET && same(a, &each))
			return 1;
	}
	return n < 0 ? n : 0;
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
	return r != 0 || a->sa_family == AF_INET6 ? r : is_listed(&to);
}
