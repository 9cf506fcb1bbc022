/* Processes of the host in /proc, and what their argv and environment tell. */
#include "attack.h"

struct search {
	const char *file;
	long pid;
};

static bool has_secret(long pid, void *arg)
{
	struct search *search = arg;
	char path[64], text[16384];

	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, search->file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	search->pid = pid;
	return n > 0 && (has_marker(text, (size_t)n) || memmem(text, (size_t)n, "escape-victim", 13));
}

static int look(const struct scene *s, const struct attack *a)
{
	struct search search = {.file = a->text};

	(void)s;
	if (each_pid(has_secret, &search))
		return won("/proc/%ld/%s tells", search.pid, a->text);
	return refused("no /proc/PID/%s tells", a->text);
}

static int probe_pid(const struct scene *s, const struct attack *a)
{
	long pid = fact_num(s, "victim");

	(void)a;
	return judge(s, getpgid((pid_t)pid), "getpgid of a host process");
}

static const struct attack rows[] = {
	{"pid-visible", "cannot see host processes in /proc", look, .text = "comm"},
	{"pid-argv", "cannot read secrets in argv of any process it sees", look, .text = "cmdline"},
	{"pid-environ", "cannot read secrets in the environment of any process it sees", look, .text = "environ"},
	{"pid-probe", "cannot find out that a host process exists", probe_pid},
};
ATTACKS("process", rows);
