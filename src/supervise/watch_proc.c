#include "supervise/watch_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/process.h"

uint64_t watch_proc_spent_us(void)
{
	struct timespec t = {0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

bool watch_proc_is_number(const char *s)
{
	return *s >= '1' && *s <= '9' && s[strspn(s, "0123456789")] == '\0' && strlen(s) < 12;
}

DIR *watch_proc_folder(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (!d)
		cleanup_fd(&fd);
	return d;
}

int watch_proc_read(int dir, const char *task, const char *name, char *out, size_t cap)
{
	char path[NAME_MAX + 64];
	AUTO_FD fd = -1;
	size_t n = 0;
	ssize_t r;

	(void)snprintf(path, sizeof(path), "%.31s/%s", task, name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (n < cap - 1 && (r = read(fd, out + n, cap - 1 - n)) > 0)
		n += (size_t)r;
	out[n] = '\0';
	return (int)n;
}

uint64_t watch_proc_number(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	uint64_t v;

	return at && sscanf(at + strlen(key), "%" SCNu64, &v) == 1 ? v : 0;
}

/* The last of the numbers. */
static uint64_t last_number(const char *line)
{
	size_t n = strcspn(line, "\n");

	while (n && line[n - 1] >= '0' && line[n - 1] <= '9')
		n--;
	return strtoull(line + n, NULL, 10);
}

static void take_line(struct watch_status *s, const char *line)
{
	const struct {
		const char *key;
		uint64_t *to;
	} numbers[] = {{"VmSize:", &s->mapped},
		       {"VmPTE:", &s->tables},
		       {"VmSwap:", &s->swap},
		       {"RssAnon:", &s->anon},
		       {"RssShmem:", &s->shared}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(numbers); i++)
		if (strncmp(line, numbers[i].key, strlen(numbers[i].key)) == 0)
			*numbers[i].to = strtoull(line + strlen(numbers[i].key), NULL, 10);
	if (strncmp(line, "PPid:", 5) == 0)
		s->parent = (pid_t)last_number(line);
	else if (strncmp(line, "NSpid:", 6) == 0)
		s->inside = (pid_t)last_number(line);
	else if (strncmp(line, "Seccomp:", 8) == 0)
		s->filtered = last_number(line) == 2;
}

/* Line by line: a list of groups in it may be longer than all the rest. */
bool watch_proc_status(int dir, const char *task, struct watch_status *ret)
{
	char path[WATCH_TASK_SIZE + 8], line[256];
	bool whole = true;
	FILE *f;
	int fd;

	*ret = (struct watch_status){0};
	(void)snprintf(path, sizeof(path), "%.31s/status", task);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		cleanup_fd(&fd);
		return false;
	}
	while (fgets(line, sizeof(line), f)) {
		if (whole)
			take_line(ret, line);
		whole = strchr(line, '\n') != NULL;
	}
	(void)fclose(f);
	return true;
}

bool watch_proc_pages(int dir, const char *task, uint64_t *ret_mapped, uint64_t *ret_resident)
{
	char text[256];

	return watch_proc_read(dir, task, "statm", text, sizeof(text)) > 0 &&
	       sscanf(text, "%" SCNu64 " %" SCNu64, ret_mapped, ret_resident) == 2 && *ret_mapped;
}

static void name_task(char ret[static WATCH_TASK_SIZE], const char *pid, const char *tid)
{
	(void)snprintf(ret, WATCH_TASK_SIZE, "%.11s/task/%.11s", pid, tid);
}

static DIR *open_tasks(int dir, const char *pid)
{
	char path[WATCH_TASK_SIZE];

	(void)snprintf(path, sizeof(path), "%.11s/task", pid);
	return watch_proc_folder(dir, path);
}

bool watch_proc_alive(int dir, const char *pid, char ret[static WATCH_TASK_SIZE])
{
	uint64_t mapped, resident;
	bool found = false;
	struct dirent *e;
	DIR *d;

	(void)snprintf(ret, WATCH_TASK_SIZE, "%.11s", pid);
	if (watch_proc_pages(dir, ret, &mapped, &resident))
		return true;
	d = open_tasks(dir, pid);
	while (d && !found && (e = readdir(d))) {
		if (!watch_proc_is_number(e->d_name) || strcmp(e->d_name, pid) == 0)
			continue;
		name_task(ret, pid, e->d_name);
		found = watch_proc_pages(dir, ret, &mapped, &resident);
	}
	if (d)
		(void)closedir(d);
	return found;
}

bool watch_proc_is_hidden(int dir, const char *task, pid_t ahead)
{
	struct watch_status s;

	return watch_proc_status(dir, task, &s) && s.mapped && s.filtered && s.inside != 1 &&
	       (!ahead || s.inside != ahead);
}

/* Where it cannot be told they are taken for two: what is looked at twice counts once. */
static bool is_same_table(const char *a, const char *b)
{
	return *a && sys_shares_files(atoi(a), atoi(b));
}

bool watch_proc_each_table(int dir, const char *pid, bool numbers_are_ours, unsigned most, watch_proc_fn *fn, void *arg)
{
	char task[WATCH_TASK_SIZE], first[12] = "", last[12] = "";
	DIR *d = open_tasks(dir, pid);
	unsigned looked = 0;
	struct dirent *e;

	while (d && looked <= most && (e = readdir(d))) {
		if (!watch_proc_is_number(e->d_name))
			continue;
		if (numbers_are_ours && (is_same_table(first, e->d_name) || is_same_table(last, e->d_name)))
			continue;
		(void)snprintf(*first ? last : first, sizeof(first), "%.11s", e->d_name);
		name_task(task, pid, e->d_name);
		if (looked++ < most)
			fn(dir, task, arg);
	}
	if (d)
		(void)closedir(d);
	return looked <= most;
}
