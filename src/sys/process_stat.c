#include "sys/process_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

bool sys_process_stat(pid_t pid, struct sys_process_stat *ret)
{
	enum { STATE, PARENT, SESSION = 3, THREADS = 17, START = 19, IGNORED = 30, FIELDS };
	char path[32], text[1024], *at;
	unsigned long long v[FIELDS] = {0};
	AUTO_FD fd = -1;
	ssize_t n;
	int i;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strrchr(text, ')'); /* its name, before, is its own choice */
	if (!at || at[1] != ' ' || !at[2])
		return false;
	v[STATE] = (unsigned char)at[2];
	at += 3;
	for (i = PARENT; i < FIELDS; i++)
		v[i] = strtoull(at, &at, 10);
	/* a leader that ended before its threads looks dead */
	*ret = (struct sys_process_stat){.parent = (pid_t)v[PARENT],
					 .session = (pid_t)v[SESSION],
					 .ignored = v[IGNORED],
					 .start = v[START],
					 .dead = (v[STATE] == 'Z' || v[STATE] == 'X') && v[THREADS] <= 1};
	return true;
}
