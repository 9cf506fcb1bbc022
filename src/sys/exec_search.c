#include "sys/exec_search.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHELL "/bin/sh"

/* A program of another machine is no text: no shell makes sense of it. */
static bool is_text(const char *path)
{
	char begin[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, begin, sizeof(begin));

	if (fd >= 0)
		(void)close(fd);
	return n >= 0 && !memchr(begin, '\0', (size_t)n);
}

/* -errno, and errno of the file itself where there is no shell. */
static int exec_file(const char *path, char *const *argv, char *const *env)
{
	const char *words[EXEC_SEARCH_WORDS + 2] = {SHELL, path};
	int i;

	(void)execve(path, argv, env);
	if (errno != ENOEXEC)
		return -errno;
	if (!is_text(path))
		return -ENOEXEC;
	for (i = 1; argv[0] && argv[i] && i < EXEC_SEARCH_WORDS; i++)
		words[i + 1] = argv[i];
	if (!argv[0] || !argv[i]) {
		words[i + 1] = NULL;
		/* execve() does not write to them */
		(void)execve(SHELL, (char *const *)(uintptr_t)words, env);
	}
	return -ENOEXEC;
}

static const char *path_of(char *const *env)
{
	const char *path = "/usr/local/bin:/usr/bin:/bin";

	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			path = *env + 5;
	return path;
}

int sys_exec_search(char *const *argv, char *const *env)
{
	const char *at, *end, *name = argv[0];
	char full[PATH_MAX];
	int r, code = -ENOENT;

	if (!name || !*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return exec_file(name, argv, env);
	for (at = path_of(env);; at = end + 1) {
		end = strchrnul(at, ':');
		if ((size_t)snprintf(full, sizeof(full), "%.*s/%s", end == at ? 1 : (int)(end - at),
				     end == at ? "." : at, name) < sizeof(full)) {
			r = exec_file(full, argv, env);
			if (r != -ENOENT && r != -ENOTDIR)
				code = r;
		}
		if (!*end)
			return code;
	}
}
