#include "supervise/watch_members.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supervise/watch_proc.h"

enum {
	PROC_MAGIC = 0x9fa0,
	LISTED_AT_ONCE = 512, /* bytes: of those that came meanwhile few wait for their visit */
	PLACES_FIRST = 256,
};

void watch_members_init(struct watch_members *m, pid_t init, bool tree)
{
	*m = (struct watch_members){.init = init, .tree = tree, .proc_fd = -1};
}

void watch_members_done(struct watch_members *m)
{
	cleanup_fd(&m->proc_fd);
	m->proc_fd = -1;
	free(m->listed);
	m->listed = NULL;
	m->n_listed = m->listed_cap = 0;
}

/* One that knows us is not the sandbox's, but that of the host or of a container around it. */
static bool is_sandbox_s(int fd)
{
	struct statfs fs;
	char ourselves[16];

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_MAGIC &&
	       readlinkat(fd, "self", ourselves, sizeof(ourselves)) < 0 && errno == ENOENT;
}

bool watch_members_take_proc(struct watch_members *m, int fd)
{
	AUTO_FD proc = fd;

	if (m->tree || m->proc_fd >= 0 || !is_sandbox_s(proc))
		return false;
	m->proc_fd = fd_take(&proc);
	return true;
}

void watch_members_find_proc(struct watch_members *m)
{
	char path[64];
	int fd;

	if (m->tree || m->proc_fd >= 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/root/proc", (int)m->init);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		(void)watch_members_take_proc(m, fd);
}

struct walk {
	struct watch_members *m;
	int proc;
	watch_visit_fn *visit;
	void *arg;
	pid_t *seen; /* by a hash; cap is a power of two */
	size_t n, cap;
	size_t came; /* in this round */
};

static pid_t *place_of(pid_t *places, size_t cap, pid_t pid)
{
	size_t i = (size_t)pid * 0x9e3779b1u & (cap - 1);

	while (places[i] && places[i] != pid)
		i = (i + 1) & (cap - 1);
	return &places[i];
}

/* Half of the places stay free. */
static bool make_room(struct walk *k)
{
	size_t cap = k->cap ? 2 * k->cap : PLACES_FIRST, i;
	pid_t *wider;

	if (2 * k->n < k->cap)
		return true;
	wider = k->n < WATCH_MAX_PROCESSES ? calloc(cap, sizeof(*wider)) : NULL;
	if (!wider)
		return false;
	for (i = 0; i < k->cap; i++)
		if (k->seen[i])
			*place_of(wider, cap, k->seen[i]) = k->seen[i];
	free(k->seen);
	k->seen = wider;
	k->cap = cap;
	return true;
}

static void visit_new(struct walk *k, pid_t pid)
{
	char name[16];
	pid_t *place;

	if (!make_room(k) || *(place = place_of(k->seen, k->cap, pid)) == pid)
		return;
	*place = pid;
	k->n++;
	k->came++;
	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	k->visit(k->proc, name, k->arg);
}

/* In the first round all are listed before one is visited, so that who comes later is known to. */
static void found(struct walk *k, pid_t pid)
{
	struct watch_members *m = k->m;
	size_t cap = m->listed_cap ? 2 * m->listed_cap : PLACES_FIRST;
	pid_t *v;

	if (m->n_listed == m->listed_cap) {
		v = realloc(m->listed, cap * sizeof(*v));
		if (!v)
			return;
		m->listed = v;
		m->listed_cap = cap;
	}
	m->listed[m->n_listed++] = pid;
	if (m->late)
		visit_new(k, pid);
}

static void list_inside(struct walk *k)
{
	AUTO_FD fd = openat(k->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	alignas(struct dirent) char room[LISTED_AT_ONCE];
	const struct dirent *e;
	long got, at;

	while (fd >= 0 && (got = syscall(SYS_getdents64, fd, room, sizeof(room))) > 0) {
		for (at = 0; at < got; at += e->d_reclen) {
			e = (const struct dirent *)(const void *)(room + at);
			if (watch_proc_is_number(e->d_name))
				found(k, (pid_t)atoi(e->d_name));
		}
	}
}

/* However many there are: nobody hides behind a number of others. */
static void list_children_of(struct walk *k, const char *pid, const char *tid)
{
	char path[64], text[4096];
	AUTO_FD fd = -1;
	ssize_t n, i;
	pid_t v = 0;

	(void)snprintf(path, sizeof(path), "%.11s/task/%.11s/children", pid, tid);
	fd = openat(k->proc, path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, text, sizeof(text))) > 0) {
		for (i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				v = v * 10 + (text[i] - '0');
				continue;
			}
			if (v > 0)
				found(k, v);
			v = 0;
		}
	}
}

/* Children belong to the thread that made them. */
static void list_children(struct walk *k, pid_t pid)
{
	struct dirent *e;
	char name[16], path[64];
	DIR *d;

	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	(void)snprintf(path, sizeof(path), "%s/task", name);
	d = watch_proc_folder(k->proc, path);
	while (d && (e = readdir(d)))
		if (watch_proc_is_number(e->d_name))
			list_children_of(k, name, e->d_name);
	if (d)
		(void)closedir(d);
}

/* It is there, and its children cannot be asked for: the kernel has no CONFIG_PROC_CHILDREN, or /proc hides processes
 * from us (hidepid). */
static bool is_blind(const struct walk *k)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%d/task/%d/children", (int)k->m->init, (int)k->m->init);
	return faccessat(k->proc, path, F_OK, 0) < 0 && (kill(k->m->init, 0) == 0 || errno == EPERM);
}

static void list_tree(struct walk *k)
{
	char name[16];
	size_t i;

	(void)snprintf(name, sizeof(name), "%d", (int)k->m->init);
	k->m->blind = is_blind(k);
	if (faccessat(k->proc, name, F_OK, 0) == 0)
		found(k, k->m->init);
	for (i = 0; i < k->m->n_listed && i < WATCH_MAX_PROCESSES; i++)
		list_children(k, k->m->listed[i]);
}

static void walk_round(struct walk *k)
{
	size_t i;

	k->m->n_listed = k->came = 0;
	(k->m->proc_fd >= 0 ? list_inside : list_tree)(k);
	for (i = 0; !k->m->late && i < k->m->n_listed; i++)
		visit_new(k, k->m->listed[i]);
}

static int by_number(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

uint64_t watch_members_each(struct watch_members *m, watch_visit_fn *visit, void *arg)
{
	AUTO_FD host = m->proc_fd < 0 ? open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	struct walk k = {.m = m, .proc = m->proc_fd < 0 ? host : m->proc_fd, .visit = visit, .arg = arg};
	unsigned round;

	m->blind = false;
	for (round = 0; round < WATCH_ROUNDS && (round == 0 || k.came); round++) {
		m->late = round > 0;
		walk_round(&k);
	}
	m->late = false;
	free(k.seen);
	if (m->n_listed)
		qsort(m->listed, m->n_listed, sizeof(*m->listed), by_number);
	return m->n_listed;
}
