#include "sandbox/oci/oci_kill.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/process.h"
#include "sys/process_stat.h"

/* Depth: runtime, its second self in a user namespace, sandbox, tracees. */
enum { CHILDREN_MAX = 256, DEPTH_MAX = 8, ROUNDS = 20, END_MS = 1 };

uint64_t oci_started(pid_t pid)
{
	struct sys_process_stat o;

	return sys_process_stat(pid, &o) ? o.start : 0;
}

/* Children of one thread; more than fit are found in the next round. */
static size_t read_children(int tasks, const char *thread, pid_t *out, size_t max)
{
	char name[64], text[4096], *at = text, *end;
	AUTO_FD fd = -1;
	size_t n = 0;
	ssize_t got;
	long v;

	(void)snprintf(name, sizeof(name), "%.32s/children", thread);
	fd = openat(tasks, name, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	while (n < max && (v = strtol(at, &end, 10)) > 0 && *end == ' ') {
		out[n++] = (pid_t)v;
		at = end;
	}
	return n;
}

static size_t children_of(pid_t pid, pid_t *out, size_t max)
{
	struct dirent *e;
	size_t n = 0;
	char path[64];
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			n += read_children(dirfd(d), e->d_name, out + n, max - n);
	if (d)
		(void)closedir(d);
	return n;
}

/* PID 1 of a namespace of its own, with which the kernel ends all that is in there at once: a shell that sees its child
 * killed would say so. */
static bool is_first_inside(pid_t pid)
{
	char path[64], text[4096];
	AUTO_FD fd = -1;
	const char *at;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strstr(text, "\nNSpid:");
	n = at ? (ssize_t)strcspn(at + 1, "\n") : 0;
	return n > 2 && at[n] == '1' && at[n - 1] == '\t' && strchr("0123456789", at[n - 2]);
}

/* Deepest first: a parent that lives keeps its children findable. wait_ms: for each child of the root. */
static size_t kill_below(pid_t root, unsigned depth, int wait_ms)
{
	pid_t pids[CHILDREN_MAX];
	size_t n = children_of(root, pids, CHILDREN_MAX), killed = 0, i;
	struct sys_process_stat o;

	for (i = 0; i < n; i++) {
		AUTO_FD held = sys_pidfd_open(pids[i]);

		if (held < 0 || !sys_process_stat(pids[i], &o) || o.parent != root)
			continue;
		if (depth < DEPTH_MAX && !is_first_inside(pids[i]))
			killed += kill_below(pids[i], depth + 1, 0);
		if (oci_wait(held, 0))
			continue; /* dead, and not yet waited for */
		(void)sys_pidfd_signal(held, SIGKILL);
		killed++;
		if (wait_ms)
			(void)oci_wait(
				held,
				wait_ms); /* so that the next round finds what was born meanwhile, and this one dead */
	}
	return killed;
}

void oci_kill_descendants(pid_t root, bool settled)
{
	int round;

	if (settled)
		(void)kill_below(root, 0, 0);
	for (round = 0; !settled && round < ROUNDS && kill_below(root, 0, END_MS); round++)
		;
}

static bool is_among(pid_t pid, const pid_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n && v[i] != pid; i++)
		;
	return i < n;
}

/* All who became our children since those were the ones that we had, and were killed before. */
static void wait_for_orphans(const pid_t *ours, size_t n_ours, int timeout_ms)
{
	pid_t now[CHILDREN_MAX];
	size_t n = children_of(getpid(), now, CHILDREN_MAX), i;

	for (i = 0; i < n; i++) {
		AUTO_FD held = is_among(now[i], ours, n_ours) ? -1 : sys_pidfd_open(now[i]);

		if (held >= 0 && oci_wait(held, timeout_ms))
			(void)waitpid(now[i], NULL, 0);
	}
}

void oci_end_child(pid_t root, int pidfd, bool settled, int timeout_ms)
{
	pid_t ours[CHILDREN_MAX];
	size_t n = children_of(getpid(), ours, CHILDREN_MAX);
	int reaper = 0;

	(void)prctl(PR_GET_CHILD_SUBREAPER, &reaper, 0, 0, 0);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	/* who cannot wait for orphans has to find them dead here */
	oci_kill_descendants(root, settled && n < CHILDREN_MAX);
	(void)sys_pidfd_signal(pidfd, SIGKILL);
	while (waitpid(root, NULL, 0) < 0 && errno == EINTR)
		;
	/* whoever had more children than can be listed here runs a whole suite, and orphans of one sandbox are not told
	 * from its own */
	if (n < CHILDREN_MAX)
		wait_for_orphans(ours, n, timeout_ms);
	(void)prctl(PR_SET_CHILD_SUBREAPER, reaper, 0, 0, 0);
}

static bool is_called(pid_t pid, const char *name)
{
	char path[64], text[64] = "";
	AUTO_FD fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && strcmp(text, name) == 0;
}

static pid_t find_below(pid_t root, const char *name, unsigned depth)
{
	pid_t pids[CHILDREN_MAX], found = 0;
	size_t n = children_of(root, pids, CHILDREN_MAX), i;

	for (i = 0; !found && i < n; i++)
		found = is_called(pids[i], name) ? pids[i]
			: depth < DEPTH_MAX      ? find_below(pids[i], name, depth + 1)
						 : 0;
	return found;
}

pid_t oci_find_descendant(pid_t root, const char *name)
{
	return find_below(root, name, 0);
}

bool oci_has_children(pid_t pid)
{
	pid_t one;

	return children_of(pid, &one, 1) != 0;
}

bool oci_wait(int pidfd, int timeout_ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	struct timespec start, now;
	int left = timeout_ms, r;

	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	while ((r = poll(&p, 1, left)) < 0 && errno == EINTR) {
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		left = timeout_ms - (int)((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000);
		if (left < 0)
			left = 0;
	}
	return r > 0;
}
