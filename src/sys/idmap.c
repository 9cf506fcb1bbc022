#include "sys/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/process.h"

/* One line of /etc/subuid: who:first:count. */
static bool read_line(char *line, const char *name, uid_t uid, struct sys_subids *ret)
{
	char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL, *end;
	char number[16];
	unsigned long long from, n;

	if (!count)
		return false;
	*first++ = '\0';
	*count++ = '\0';
	(void)snprintf(number, sizeof(number), "%u", (unsigned)uid);
	if (strcmp(line, number) != 0 && (!name || strcmp(line, name) != 0))
		return false;
	errno = 0;
	from = strtoull(first, &end, 10);
	if (errno || end == first || *end)
		return false;
	n = strtoull(count, &end, 10);
	if (errno || end == count || (*end && *end != '\n'))
		return false;
	/* the last id is -1 for many calls, and nobody's */
	if (from == 0 || n == 0 || from >= UINT32_MAX || n > UINT32_MAX - from)
		return false;
	*ret = (struct sys_subids){(uint32_t)from, (uint32_t)n};
	return true;
}

int sys_subids_read(const char *path, const char *name, uid_t uid, struct sys_subids *ret)
{
	FILE *f = fopen(path, "re");
	struct sys_subids best = {0, 0}, one;
	char line[256];

	if (!f)
		return -ENOENT;
	while (fgets(line, sizeof(line), f))
		if (read_line(line, name, uid, &one) && one.count > best.count)
			best = one;
	(void)fclose(f);
	if (!best.count)
		return -ENOENT;
	*ret = best;
	return 0;
}

bool sys_ids_exist(const char *map_path, uint32_t first, uint32_t count)
{
	FILE *f = fopen(map_path, "re");
	unsigned inside, outside, n;
	char line[128];
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%u %u %u", &inside, &outside, &n) == 3 && inside <= first && first - inside < n &&
			n - (first - inside) >= count;
	(void)fclose(f);
	return found;
}

static const char *const tools[2][3] = {
	{"/usr/bin/newuidmap", "/bin/newuidmap", "/usr/local/bin/newuidmap"},
	{"/usr/bin/newgidmap", "/bin/newgidmap", "/usr/local/bin/newgidmap"},
};

static const char *find_tool(int which)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(tools[which]); i++)
		if (access(tools[which][i], X_OK) == 0)
			return tools[which][i];
	return NULL;
}

bool sys_idmap_tools(void)
{
	return find_tool(0) && find_tool(1);
}

static int write_map(pid_t pid, const char *name, const struct sys_idmap *m)
{
	char text[128];

	if (m->count == 1 || m->first == m->zero + 1)
		(void)snprintf(text, sizeof(text), "%u %u %u\n", m->shift, m->zero, m->count);
	else
		(void)snprintf(text, sizeof(text), "%u %u 1\n%u %u %u\n", m->shift, m->zero, m->shift + 1, m->first,
			       m->count - 1);
	return sys_proc_write(pid, name, text);
}

static int run_tool(int which, pid_t target, const struct sys_idmap *m)
{
	char pid[16], zero[16], first[16], count[16], in0[16], one0[] = "1", in1[16], name[] = "newidmap";
	char *argv[] = {name, pid, in0, zero, one0, in1, first, count, NULL}, *env[] = {NULL};
	const char *tool = find_tool(which);
	pid_t child;
	int status, null;

	if (!tool)
		return -ENOENT;
	(void)snprintf(pid, sizeof(pid), "%d", (int)target);
	(void)snprintf(in0, sizeof(in0), "%u", m->shift);
	(void)snprintf(in1, sizeof(in1), "%u", m->shift + 1);
	(void)snprintf(zero, sizeof(zero), "%u", m->zero);
	(void)snprintf(first, sizeof(first), "%u", m->first);
	(void)snprintf(count, sizeof(count), "%u", m->count - 1);
	child = fork();
	if (child == 0) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		(void)signal(SIGPIPE, SIG_DFL);
		if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
			_exit(126);
		(void)execve(tool, argv, env);
		_exit(127);
	}
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

int sys_idmap_write(pid_t pid, const struct sys_idmap *uids, const struct sys_idmap *gids)
{
	int r;

	if (uids->count > 1 && geteuid() != 0) {
		r = run_tool(0, pid, uids);
		return r < 0 ? r : run_tool(1, pid, gids);
	}
	if (uids->count == 1) {
		/* without a privilege that we may have or not, the kernel wants it so */
		r = sys_proc_write(pid, "setgroups", "deny");
		if (r < 0 && r != -ENOENT)
			return r;
	}
	r = write_map(pid, "uid_map", uids);
	if (r == 0)
		r = write_map(pid, "gid_map", gids);
	/* the root of a namespace that gave us ids by its files only */
	if (r == -EPERM && uids->count > 1)
		r = run_tool(0, pid, uids) < 0 ? -EPERM : run_tool(1, pid, gids);
	return r;
}
