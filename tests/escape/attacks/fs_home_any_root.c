/* /proc/PID/root and /proc/PID/cwd lead into the mount namespace of whatever process is visible. */
#include "attack.h"

struct search {
	const struct scene *scene;
	const char *link;
	char found[2048];
};

static bool try_pid(long pid, void *arg)
{
	struct search *search = arg;
	struct fact key;
	char text[256];

	(void)snprintf(search->found, sizeof(search->found), "/proc/%ld/%s/../../../../../../../../../..%s", pid,
		       search->link, fact_key(search->scene, &key));
	int fd = open(search->found, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 && has_marker(text, (size_t)n);
}

static int read_through_any(const struct scene *s, const struct attack *a)
{
	struct search search = {.scene = s, .link = a->text};

	if (each_pid(try_pid, &search))
		return won("%s gives the secret", search.found);
	return refused("no process in /proc leads there");
}

static const struct attack rows[] = {
	{"home-any-root", "cannot read ~/.ssh through /proc/PID/root of any process it sees", read_through_any,
	 .text = "root"},
	{"home-any-cwd", "cannot read ~/.ssh through /proc/PID/cwd of any process it sees", read_through_any,
	 .text = "cwd"},
};
ATTACKS("filesystem", rows);
