#include "supervise/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "sys/names.h"
#include "sys/process.h"

enum { REST_US = 500000, REST_SHARE = 50, HURRY_SHARE = 5, HURRY_PART = 16, INODE_BYTES = 1024 };

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Where several are on one file system it counts as often: it is about how much it shrinks, and to look too early does
 * no harm. */
static uint64_t free_bytes(const struct usage *u)
{
	const char *const *f;
	struct statvfs fs;
	uint64_t sum = 0;

	for (f = u->folders; *f; f++)
		if (statvfs(*f, &fs) == 0)
			sum = add(sum, (uint64_t)fs.f_bfree * fs.f_frsize);
	return sum;
}

static bool is_on_one_before(const struct usage *u, const char *const *folder)
{
	const char *const *f;
	struct stat a, b;

	if (stat(*folder, &a) < 0)
		return true;
	for (f = u->folders; f < folder; f++)
		if (stat(*f, &b) == 0 && a.st_dev == b.st_dev)
			return true;
	return false;
}

static uint64_t free_once(const struct usage *u)
{
	const char *const *f;
	struct statvfs fs;
	uint64_t sum = 0;

	for (f = u->folders; f && *f; f++)
		if (!is_on_one_before(u, f) && statvfs(*f, &fs) == 0)
			sum = add(sum, (uint64_t)fs.f_bfree * fs.f_frsize);
	return sum;
}

uint64_t usage_unaccounted(const struct usage *u)
{
	uint64_t left = free_once(u), grown = u->bytes > u->bytes_first ? u->bytes - u->bytes_first : 0;

	return u->free_first > left && u->free_first - left > grown ? u->free_first - left - grown : 0;
}

static uint64_t walk(int folder, bool sizes, unsigned depth);

/* sizes: a file counts with its length where that is more: some file systems say only seconds later what a new one
 * takes. */
static uint64_t walk_entry(int dir, const char *name, bool sizes, unsigned depth)
{
	AUTO_FD next = -1;
	struct stat st;
	uint64_t own, room;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	/* an empty file takes one of the file system's inodes, of which there are no more than room for small files */
	room = (uint64_t)st.st_blocks * 512;
	if (sizes && S_ISREG(st.st_mode) && (uint64_t)st.st_size > room)
		room = (uint64_t)st.st_size;
	own = (room + INODE_BYTES) / (S_ISDIR(st.st_mode) || !st.st_nlink ? 1 : st.st_nlink);
	if (!S_ISDIR(st.st_mode))
		return own;
	next = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0)
		return errno == EMFILE || errno == ENFILE || (errno == EACCES && st.st_uid == geteuid()) ? UINT64_MAX
													 : own;
	return add(own, walk(fd_take(&next), sizes, depth + 1));
}

/* Takes the folder. */
static uint64_t walk(int folder, bool sizes, unsigned depth)
{
	DIR *d = depth > USAGE_MAX_DEPTH ? NULL : fdopendir(folder);
	uint64_t sum = 0;
	struct dirent *e;
	int more = 0;

	if (!d) {
		(void)close(folder);
		return UINT64_MAX;
	}
	while (sum < UINT64_MAX && (more = sys_next_name(d, &e)) > 0)
		sum = add(sum, walk_entry(dirfd(d), e->d_name, sizes, depth));
	(void)closedir(d);
	return more < 0 ? UINT64_MAX : sum;
}

uint64_t usage_walk(int folder)
{
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return again < 0 ? UINT64_MAX : walk(again, false, 0);
}

void usage_init(struct usage *u, const char *const *folders, uint64_t limit)
{
	*u = (struct usage){.folders = folders, .limit = limit, .userns = -1, .answer = -1};
	u->free_first = limit ? free_once(u) : 0;
}

void usage_done(struct usage *u)
{
	if (u->child > 0) {
		(void)kill(u->child, SIGKILL);
		while (waitpid(u->child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	u->child = 0;
	cleanup_fd(&u->answer);
	u->answer = -1;
}

/* All of them are opened before we become another: who may go to them is who we are now. */
static uint64_t measure_all(const struct usage *u)
{
	uint64_t bytes = 0;
	size_t n = 0, i;
	int *fds;

	while (u->folders[n])
		n++;
	fds = calloc(n + 1, sizeof(*fds));
	if (!fds)
		return UINT64_MAX;
	for (i = 0; i < n; i++)
		fds[i] = open(u->folders[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (u->userns < 0 || sys_enter_user(u->userns) == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* entering took it away */
		for (i = 0; i < n; i++)
			bytes = fds[i] < 0 ? UINT64_MAX : add(bytes, walk(fds[i], u->sizes, 0));
	} else {
		bytes = UINT64_MAX;
	}
	free(fds);
	return bytes;
}

static _Noreturn void measure(const struct usage *u, int answer)
{
	struct rlimit files;
	uint64_t bytes;

	(void)!nice(5);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	bytes = measure_all(u);
	(void)!write(answer, &bytes, sizeof(bytes));
	_exit(0);
}

static bool is_time(const struct usage *u, uint64_t now)
{
	uint64_t rest = u->cost_us * REST_SHARE > REST_US ? u->cost_us * REST_SHARE : REST_US, left = free_bytes(u);

	if (now - u->ended_us >= rest)
		return true;
	return now - u->ended_us >= u->cost_us * HURRY_SHARE && u->free_seen > left &&
	       u->free_seen - left > u->limit / HURRY_PART;
}

static void start(struct usage *u, uint64_t now)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	u->free_seen = free_bytes(u);
	u->began_us = now;
	u->child = fork();
	if (u->child == 0)
		measure(u, ends[1]);
	(void)close(ends[1]);
	u->answer = ends[0];
	if (u->child < 0)
		usage_done(u);
}

bool usage_poll(struct usage *u)
{
	uint64_t now = now_us(), bytes;
	ssize_t n;

	if (!u->child) {
		if (is_time(u, now))
			start(u, now);
		return false;
	}
	n = read(u->answer, &bytes, sizeof(bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	/* one that was killed said nothing: the next one will */
	if (n == sizeof(bytes))
		u->bytes = bytes;
	if (n == sizeof(bytes) && !u->began)
		u->bytes_first = bytes;
	u->began |= n == sizeof(bytes);
	usage_done(u);
	u->cost_us = now - u->began_us;
	u->ended_us = now;
	return n == sizeof(bytes);
}

uint64_t usage_now(const char *const *folders, int userns)
{
	struct usage u;
	struct pollfd p = {.events = POLLIN};
	uint64_t bytes = UINT64_MAX;

	usage_init(&u, folders, 0);
	u.userns = userns;
	u.sizes = true;
	start(&u, now_us());
	p.fd = u.answer;
	while (u.child > 0 && poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	if (u.child > 0 && read(u.answer, &bytes, sizeof(bytes)) != sizeof(bytes))
		bytes = UINT64_MAX;
	usage_done(&u);
	return bytes;
}
