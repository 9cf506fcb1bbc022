#include "init/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/cleanup.h"

enum { BACKLOG = 1024 };

static const struct {
	const char *name;
	enum door_kind kind;
} kinds[] = {
	{"proxy", DOOR_PROXY}, {"transparent", DOOR_TRANSPARENT}, {"dns", DOOR_DNS}, {"inference", DOOR_INFERENCE}};

/* Decimal digits up to `end`, at most max. */
static bool read_number(const char *p, const char *end, unsigned long max, unsigned long *ret)
{
	unsigned long v = 0;

	if (p == end || end - p > 10)
		return false;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		v = v * 10 + (unsigned long)(*p - '0');
	}
	*ret = v;
	return v <= max;
}

bool listen_parse(const char *text, struct listen_port *ret)
{
	const char *colon = strchr(text, ':'), *end;
	unsigned long port, provider = 0;
	size_t i;

	if (!colon)
		return false;
	end = strchrnul(colon + 1, ':');
	if (!read_number(colon + 1, end, UINT16_MAX, &port) || port == 0 ||
	    (*end && !read_number(end + 1, strchr(end, '\0'), UINT32_MAX, &provider)))
		return false;
	for (i = 0; i < ARRAY_LEN(kinds); i++)
		if (strlen(kinds[i].name) == (size_t)(colon - text) &&
		    memcmp(kinds[i].name, text, (size_t)(colon - text)) == 0)
			break;
	if (i == ARRAY_LEN(kinds) || (*end && kinds[i].kind != DOOR_INFERENCE))
		return false;
	*ret = (struct listen_port){.kind = kinds[i].kind, .port = (uint16_t)port, .provider = (uint32_t)provider};
	return true;
}

int listen_on(uint16_t port, int type, bool v6)
{
	struct sockaddr_in6 at6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in at4 = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	AUTO_FD fd = socket(v6 ? AF_INET6 : AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    (v6 ? bind(fd, (struct sockaddr *)&at6, sizeof(at6)) : bind(fd, (struct sockaddr *)&at4, sizeof(at4))) <
		    0 ||
	    (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return -errno;
	return fd_take(&fd);
}

int listen_dial(const char *door)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	AUTO_FD fd = -1;

	if (strlen(door) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, door, strlen(door) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return -errno;
	return fd_take(&fd);
}
