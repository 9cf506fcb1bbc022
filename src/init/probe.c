#include "init/probe.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* "  eth0: 1 2 3": the two lines above have no colon but in the head's columns, which are no names. */
static int tell_interfaces(void)
{
	FILE *f = fopen("/proc/net/dev", "re");
	char line[512], *name, *end;
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		name = line + strspn(line, " ");
		end = strchr(name, ':');
		if (n++ < 2 || !end)
			continue;
		*end = '\0';
		if (strcmp(name, "lo") != 0)
			printf("interface %s\n", name);
	}
	(void)fclose(f);
	return 0;
}

static void tell_door(const char *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
				.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = {.tv_sec = 3};
	char word[64];
	ssize_t n;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0) {
		printf("no door\n");
	} else {
		n = recv(fd, word, sizeof(word), 0);
		printf("door %.*s\n", n > 0 ? (int)n : 0, word);
	}
	if (fd >= 0)
		(void)close(fd);
}

int probe(const char *port)
{
	printf("probe\n");
	if (tell_interfaces() < 0)
		return 1;
	printf("looked\n");
	tell_door(port);
	return fflush(stdout) == 0 ? 0 : 1;
}
