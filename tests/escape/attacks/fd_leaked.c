/* Files that the caller left open: whatever is above 2 must not come in. */
#include <sys/socket.h>

#include "attack.h"

enum { LAST = 1024 };

static int read_one(const struct scene *s, const struct attack *a)
{
	char text[256];

	(void)s;
	for (int fd = 3; fd < LAST; fd++) {
		ssize_t n = pread(fd, text, sizeof(text), 0);
		if (n > 0 && has_marker(text, (size_t)n))
			return won("%s: fd %d gives the secret", a->name, fd);
	}
	return refused("no open file has the secret");
}

static int write_one(const struct scene *s, const struct attack *a)
{
	(void)s;
	for (int fd = 3; fd < LAST; fd++) {
		if (pwrite(fd, "x", 1, 4096) == 1)
			return won("%s: fd %d was written", a->name, fd);
	}
	return refused("no open file can be written");
}

static int deleted(const struct scene *s, const struct attack *a)
{
	struct stat st;

	(void)s;
	for (int fd = 3; fd < LAST; fd++) {
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
			return won("%s: fd %d is a deleted file", a->name, fd);
	}
	return refused("no deleted file is open");
}

static int socket_one(const struct scene *s, const struct attack *a)
{
	char text[256];

	(void)s;
	for (int fd = 3; fd < LAST; fd++) {
		ssize_t n = recv(fd, text, sizeof(text), MSG_PEEK | MSG_DONTWAIT);
		if (n > 0 && has_marker(text, (size_t)n))
			return won("%s: fd %d is a socket of the host", a->name, fd);
	}
	return refused("no socket is open");
}

static const struct attack rows[] = {
	{"fd-read", "does not inherit an open file", read_one, .stage = STAGE_FDS},
	{"fd-write", "does not inherit a writable file", write_one, .stage = STAGE_FDS},
	{"fd-deleted", "does not inherit a deleted file", deleted, .stage = STAGE_FDS},
	{"fd-socket", "does not inherit a socket", socket_one, .stage = STAGE_FDS},
};
ATTACKS("fd", rows);
