/* task/stage: a task folder is copied as it was checked, or refused with the path of everything that is wrong. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "sys/tree.h"
#include "task/stage.h"
#include "task/stage_names.h"

struct world {
	char base[64];
	int top, from, to;
	struct problems problems;
	struct stage_stats stats;
	struct modes modes;
	struct stage_limits limits;
	struct error err;
};

static void world_open(struct world *w)
{
	*w = (struct world){.limits = stage_default_limits};
	snprintf(w->base, sizeof(w->base), "/tmp/cordon-stage.XXXXXX");
	CHECK(mkdtemp(w->base) != NULL);
	w->top = open(w->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mkdirat(w->top, "task", 0755) == 0 && mkdirat(w->top, "stage", 0700) == 0);
	w->from = openat(w->top, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->to = openat(w->top, "stage", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(w->from >= 0 && w->to >= 0);
}

static void world_close(struct world *w)
{
	problems_done(&w->problems);
	modes_done(&w->modes);
	sys_empty_tree(w->top);
	close(w->from);
	close(w->to);
	close(w->top);
	CHECK(rmdir(w->base) == 0);
}

static void put(int dir, const char *name, const char *text, mode_t mode)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0);
}

static int copy(struct world *w)
{
	problems_done(&w->problems);
	return stage_copy(w->from, w->to, &w->limits, &w->stats, &w->modes, &w->problems, &w->err);
}

static bool empty(int dir)
{
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fdopendir(again);
	size_t n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n == 2;
}

/* The task is refused, some line has both texts, and nothing is left of the copy. */
static bool refused(struct world *w, const char *path, const char *what)
{
	bool found = false;
	size_t i;

	if (copy(w) == 0 || w->err.kind != ERROR_INPUT || !empty(w->to)) {
		printf("# not refused, or something was left: %s\n", w->err.text);
		return false;
	}
	for (i = 0; i < w->problems.n; i++)
		found |= strncmp(w->problems.v[i], path, strlen(path)) == 0 && strstr(w->problems.v[i], what);
	if (!found)
		printf("# got: %s\n", w->err.text);
	return found;
}

static void check_text(int dir, const char *name, const char *want)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char got[256] = "";

	CHECK(fd >= 0 && read(fd, got, sizeof(got) - 1) >= 0);
	CHECK_STR(got, want);
}

static mode_t mode_of(int dir, const char *name)
{
	struct stat st = {0};

	CHECK(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	return st.st_mode & 07777;
}

static void an_ordinary_task_is_copied_with_modes_made_plain_and_times_kept(void)
{
	struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1234567890, .tv_nsec = 5000}};
	struct world w;
	struct stat st;

	world_open(&w);
	put(w.from, "task.toml", "version = \"1.0\"\n", 0664);
	CHECK(mkdirat(w.from, "tests", 02775) == 0 && mkdirat(w.from, "tests/deep", 0700) == 0);
	put(w.from, "tests/test.sh", "#!/bin/sh\n", 0775);
	put(w.from, "tests/deep/secret", "x", 0400);
	put(w.from, "na\xc3\xafve \xe6\x96\x87.txt", "", 0644);
	CHECK(symlinkat("../task.toml", w.from, "tests/link") == 0 && symlinkat("missing", w.from, "dangling") == 0 &&
	      symlinkat(".", w.from, "self") == 0);
	CHECK(utimensat(w.from, "tests/test.sh", times, 0) == 0 && utimensat(w.from, "tests", times, 0) == 0);
	CHECK(copy(&w) == 0);
	CHECK(w.problems.n == 0 && w.stats.files == 4 && w.stats.folders == 2 && w.stats.links == 3 &&
	      w.stats.bytes == 16 + 10 + 1);
	check_text(w.to, "task.toml", "version = \"1.0\"\n");
	CHECK(mode_of(w.to, "task.toml") == 0644 && mode_of(w.to, "tests/test.sh") == 0755 &&
	      mode_of(w.to, "tests") == 0755 && mode_of(w.to, "tests/deep") == 0755);
	CHECK(mode_of(w.to, "tests/deep/secret") == 0644);
	CHECK(fstatat(w.to, "tests/test.sh", &st, 0) == 0 && st.st_mtim.tv_sec == 1234567890 &&
	      st.st_mtim.tv_nsec == 5000);
	CHECK(fstatat(w.to, "tests", &st, 0) == 0 && st.st_mtim.tv_sec == 1234567890);
	CHECK(fstatat(w.to, "tests/link", &st, 0) == 0 && S_ISREG(st.st_mode));
	world_close(&w);
}

static mode_t was(const struct world *w, const char *name)
{
	struct stat st = {0};

	CHECK(fstatat(w->to, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
	return modes_of(&w->modes, &st) & 07777;
}

static void the_modes_that_files_had_are_known_to_builds(void)
{
	struct world w;

	world_open(&w);
	put(w.from, "flag", "x", 0600);
	put(w.from, "run", "x", 0710);
	put(w.from, "all", "x", 0666);
	put(w.from, "plain", "x", 0644);
	CHECK(mkdirat(w.from, "priv", 0700) == 0 && mkdirat(w.from, "shared", 0755) == 0 &&
	      fchmodat(w.from, "shared", 01777, 0) == 0);
	put(w.from, "priv/x", "x", 0400);
	CHECK(copy(&w) == 0 && mode_of(w.to, "flag") == 0644 && mode_of(w.to, "run") == 0755 &&
	      mode_of(w.to, "priv") == 0755);
	CHECK(was(&w, "flag") == 0600 && was(&w, "run") == 0710 && was(&w, "all") == 0666 && was(&w, "plain") == 0644);
	CHECK(was(&w, "priv") == 0700 && was(&w, "priv/x") == 0400 && was(&w, "shared") == 01777);
	world_close(&w);
}

static void links_that_leave_are_refused_however_they_are_written(void)
{
	static const char *const leave[] = {"/etc/passwd",
					    "..",
					    "../",
					    "../task",
					    "./../x",
					    "sub/../../x",
					    "sub//..//..//x",
					    "sub/../sub/../../task/file",
					    "missing/../../x",
					    "up/../..",
					    "deep/..",
					    "up2/x",
					    "sub/in/../../../x"};
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(leave); i++) {
		world_open(&w);
		put(w.from, "file", "x", 0644);
		CHECK(mkdirat(w.from, "sub", 0755) == 0 && mkdirat(w.from, "sub/in", 0755) == 0);
		CHECK(symlinkat("sub/in", w.from, "deep") == 0 && symlinkat("sub/..", w.from, "up") == 0 &&
		      symlinkat("up/..", w.from, "up2") == 0);
		CHECK(symlinkat(leave[i], w.from, "bad") == 0);
		if (strcmp(leave[i], "deep/..") == 0)
			CHECK(unlinkat(w.from, "up2", 0) == 0 && copy(&w) == 0);
		else
			CHECK(refused(&w, "bad: ", "leaves the task folder"));
		world_close(&w);
	}
}

/* As text "d/.." is the top; the kernel would climb out of where d leads to. */
static void links_are_followed_through_other_links(void)
{
	struct world w;

	world_open(&w);
	CHECK(mkdirat(w.from, "a", 0755) == 0 && mkdirat(w.from, "a/b", 0755) == 0 &&
	      symlinkat("..", w.from, "a/b/up") == 0);
	CHECK(symlinkat("b/up/up", w.from, "a/odd") == 0 && symlinkat("../a", w.from, "a/d") == 0);
	CHECK(copy(&w) == 0);
	sys_empty_tree(w.to);
	CHECK(symlinkat(".", w.from, "here") == 0 && symlinkat("../here/..", w.from, "a/out") == 0);
	CHECK(refused(&w, "a/out: ", "leaves"));
	CHECK(unlinkat(w.from, "a/out", 0) == 0 && symlinkat("q", w.from, "p") == 0 &&
	      symlinkat("p/x", w.from, "q") == 0);
	CHECK(refused(&w, "p: ", "in a circle"));
	world_close(&w);
}

static void where_a_link_leads_is_judged_as_the_stricter_reading_has_it(void)
{
	uint64_t work = 10000;
	struct world w;

	world_open(&w);
	CHECK(mkdirat(w.to, "x", 0755) == 0 && mkdirat(w.to, "x/y", 0755) == 0 && symlinkat("x/y", w.to, "deep") == 0);
	CHECK(stage_link_follow(w.to, sv_of("l"), sv_of("deep/../.."), &work) == LINK_STAYS);
	CHECK(stage_link_text(sv_of("l"), sv_of("deep/../.."), &work) == LINK_LEAVES);
	CHECK(symlinkat(".", w.to, "x/flat") == 0);
	CHECK(stage_link_text(sv_of("l"), sv_of("x/flat/../.."), &work) == LINK_STAYS);
	CHECK(stage_link_follow(w.to, sv_of("l"), sv_of("x/flat/../.."), &work) == LINK_LEAVES);
	CHECK(stage_link_text(sv_of("l"), sv_of(""), &work) == LINK_LEAVES);
	world_close(&w);
}

/* 40 links that lead through each other by a thousand names each, and many others that lead to the first of them. */
static void links_that_take_long_to_follow_are_refused_soon(void)
{
	uint64_t work = STAGE_LINK_WORK;
	char target[PATH_MAX] = "", name[32];
	struct world w;
	size_t i, n;

	world_open(&w);
	CHECK(mkdirat(w.from, "l", 0755) == 0 && mkdirat(w.from, "l/d", 0755) == 0);
	for (n = 0; n < 3900; n += 5)
		memcpy(target + n, "d/../", 6);
	for (i = 0; i < 38; i++) {
		(void)snprintf(target + n, sizeof(target) - n, "c%zu", i + 1);
		(void)snprintf(name, sizeof(name), "l/c%zu", i);
		CHECK(symlinkat(target, w.from, name) == 0);
	}
	CHECK(copy(&w) == 0);
	CHECK(stage_link_follow(w.to, sv_of("x"), sv_of("l/c0"), &work) == LINK_STAYS && work < STAGE_LINK_WORK);
	work = 1000;
	CHECK(stage_link_follow(w.to, sv_of("x"), sv_of("l/c0"), &work) == LINK_TOO_LONG);
	work = 1000;
	CHECK(stage_link_text(sv_of("x"), sv_of(target), &work) == LINK_TOO_LONG);
	sys_empty_tree(w.to);
	for (i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "l/x%zu", i);
		CHECK(symlinkat("c0", w.from, name) == 0);
	}
	CHECK(refused(&w, "the task folder: ", "symbolic links are too many"));
	world_close(&w);
}

static void many_ordinary_links_are_not(void)
{
	char name[64];
	struct world w;
	size_t i;

	world_open(&w);
	CHECK(mkdirat(w.from, "a", 0755) == 0 && mkdirat(w.from, "a/b", 0755) == 0 &&
	      mkdirat(w.from, "a/b/c", 0755) == 0 && symlinkat("a/b", w.from, "short") == 0);
	for (i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "a/b/c/l%zu", i);
		CHECK(symlinkat("../../../short/c/../../b/c/some/file", w.from, name) == 0);
	}
	CHECK(copy(&w) == 0);
	world_close(&w);
}

static void hard_links_to_files_outside_are_refused_and_those_inside_kept_as_copies(void)
{
	struct world w;
	struct stat st;

	world_open(&w);
	put(w.top, "secret", "outside", 0644);
	put(w.from, "one", "inside", 0644);
	CHECK(mkdirat(w.from, "sub", 0755) == 0 && linkat(w.from, "one", w.from, "sub/two", 0) == 0);
	CHECK(copy(&w) == 0 && fstatat(w.to, "sub/two", &st, 0) == 0 && st.st_nlink == 1);
	sys_empty_tree(w.to);
	CHECK(linkat(w.top, "secret", w.from, "sub/leak", 0) == 0);
	CHECK(refused(&w, "sub/leak: ", "hard link"));
	/* two names inside do not make up for one outside */
	CHECK(linkat(w.top, "secret", w.from, "leak2", 0) == 0);
	CHECK(refused(&w, "leak2: ", "hard link") && w.problems.n == 2);
	world_close(&w);
}

static void special_files_are_refused_without_being_opened(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	AUTO_FD s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct world w;

	world_open(&w);
	CHECK(mkfifoat(w.from, "pipe", 0644) == 0);
	CHECK(refused(&w, "pipe: ", "FIFO")); /* and did not wait for a writer */
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/task/sock", w.base);
	CHECK(bind(s, (struct sockaddr *)&a, sizeof(a)) == 0);
	CHECK(refused(&w, "sock: ", "socket"));
	CHECK(mknodat(w.from, "white", S_IFCHR | 0600, 0) == 0 || errno == EPERM);
	if (faccessat(w.from, "white", F_OK, 0) == 0)
		CHECK(refused(&w, "white: ", "device"));
	if (mknodat(w.from, "null", S_IFCHR | 0666, makedev(1, 3)) == 0)
		CHECK(refused(&w, "null: ", "device"));
	world_close(&w);
}

static void setuid_and_setgid_files_are_refused(void)
{
	struct world w;

	world_open(&w);
	put(w.from, "suid", "x", 04755);
	put(w.from, "sgid", "x", 02755);
	CHECK(refused(&w, "suid: ", "setuid") && refused(&w, "sgid: ", "setuid"));
	world_close(&w);
}

static void names_that_could_fake_a_line_are_refused_and_shown_escaped(void)
{
	static const struct {
		const char *name, *shown;
	} bad[] = {{"a\nb", "a\\x0ab: name"},
		   {"a\x1b[2J", "a\\x1b[2J: name"},
		   {"\x7f", "\\x7f: name"},
		   {"caf\xe9", "caf\\xe9: name"},
		   {"\xc0\xaf", "\\xc0\\xaf: name"},
		   {"a\xe2\x80\xae"
		    "b",
		    "a\\xe2\\x80\\xaeb: name"},
		   {"tab\t", "tab\\x09: name"},
		   {"\xed\xa0\x80", "\\xed\\xa0\\x80: name"}};
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		world_open(&w);
		put(w.from, bad[i].name, "x", 0644);
		CHECK(refused(&w, bad[i].shown, "not allowed"));
		world_close(&w);
	}
	world_open(&w);
	CHECK(symlinkat("in\nside", w.from, "link") == 0 && mkdirat(w.from, "d\r", 0755) == 0);
	CHECK(refused(&w, "link: ", "characters") && refused(&w, "d\\x0d: ", "name"));
	world_close(&w);
}

static void limits_hold_and_holes_count(void)
{
	struct world w;
	AUTO_FD fd = -1;

	world_open(&w);
	put(w.from, "a", "12345", 0644);
	put(w.from, "b", "12345", 0644);
	CHECK(mkdirat(w.from, "d", 0755) == 0 && mkdirat(w.from, "d/d", 0755) == 0);
	w.limits = (struct stage_limits){.bytes = 10, .file_bytes = 5, .entries = 4, .depth = 2};
	CHECK(copy(&w) == 0);
	sys_empty_tree(w.to);
	w.limits.bytes = 9;
	CHECK(refused(&w, "", "too many bytes"));
	w.limits.bytes = 10;
	w.limits.file_bytes = 4;
	CHECK(refused(&w, "a: ", "too large") && w.problems.n == 2);
	w.limits.file_bytes = 5;
	w.limits.entries = 3;
	CHECK(refused(&w, "", "too many files"));
	w.limits.entries = 4;
	w.limits.depth = 1;
	CHECK(refused(&w, "d/d: ", "too deep"));
	w.limits = stage_default_limits;
	fd = openat(w.from, "hole", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK(ftruncate(fd, (off_t)3 << 30) == 0);
	CHECK(refused(&w, "hole: ", "too large"));
	world_close(&w);
}

static void all_problems_are_listed_up_to_a_number(void)
{
	struct world w;
	char name[32];
	int i;

	world_open(&w);
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "fifo%d", i);
		CHECK(mkfifoat(w.from, name, 0644) == 0);
	}
	CHECK(copy(&w) == -1 && w.problems.n == PROBLEMS_MAX && w.problems.more == 100 - PROBLEMS_MAX);
	CHECK(strstr(w.err.text, "and 99 more") != NULL);
	world_close(&w);
}

static void files_of_others_are_refused(void)
{
	struct world w;

	if (geteuid() != 0)
		return; /* only root can make one */
	world_open(&w);
	put(w.from, "foreign", "x", 0644);
	CHECK(fchownat(w.from, "foreign", 1234, 1234, 0) == 0);
	CHECK(refused(&w, "foreign: ", "another user"));
	CHECK(fchown(w.from, 1234, 1234) == 0); /* all of it is that user's */
	CHECK(copy(&w) == 0);
	world_close(&w);
}

static int as_nobody(struct world *w)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(fchown(w->to, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0 ||
		      !refused(w, "closed: ", "Permission denied") || w->problems.n != 2);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void what_cannot_be_read_is_refused(void)
{
	struct world w;

	world_open(&w);
	CHECK(chmod(w.base, 0711) == 0);
	put(w.from, "closed", "x", 0000);
	CHECK(mkdirat(w.from, "locked", 0000) == 0);
	if (geteuid() == 0)
		CHECK(as_nobody(&w) == 0);
	else
		CHECK(refused(&w, "closed: ", "Permission denied") && refused(&w, "locked: ", "Permission denied"));
	world_close(&w);
}

/* A child that swaps names as fast as it can, until it is killed. */
static pid_t swapper(const struct world *w, const char *a, const char *b)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (;;)
		(void)renameat2(w->from, a, w->from, b, RENAME_EXCHANGE);
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

/* Looks for the text that only stands outside. */
static bool leaked(int dir, const char *const *names)
{
	char got[64];

	for (; *names; names++) {
		AUTO_FD fd = openat(dir, *names, O_RDONLY | O_CLOEXEC);

		memset(got, 0, sizeof(got));
		if (fd >= 0 && read(fd, got, sizeof(got) - 1) > 0 && strstr(got, "SECRET"))
			return true;
	}
	return false;
}

static void a_folder_swapped_for_a_link_leads_nowhere(void)
{
	static const char *const names[] = {"dir/file", "link/file", NULL};
	struct world w;
	pid_t pid;
	int i;

	world_open(&w);
	CHECK(mkdirat(w.top, "outside", 0755) == 0 && mkdirat(w.from, "dir", 0755) == 0);
	put(w.top, "outside/file", "SECRET", 0644);
	put(w.from, "dir/file", "plain", 0644);
	CHECK(symlinkat("../outside", w.from, "link") == 0);
	pid = swapper(&w, "dir", "link");
	for (i = 0; i < 200; i++) {
		(void)copy(&w);
		CHECK(!leaked(w.to, names));
		sys_empty_tree(w.to);
	}
	stop(pid);
	world_close(&w);
}

static void a_file_swapped_for_another_file_or_a_link_is_never_copied_unchecked(void)
{
	static const char *const names[] = {"good", "bad", NULL};
	struct world w;
	struct stat st;
	pid_t pid;
	int i;

	world_open(&w);
	put(w.top, "secret", "SECRET", 0644);
	put(w.from, "good", "plain", 0644);
	CHECK(symlinkat("../secret", w.from, "bad") == 0);
	pid = swapper(&w, "good", "bad");
	for (i = 0; i < 200; i++) {
		(void)copy(&w);
		CHECK(!leaked(w.to, names));
		sys_empty_tree(w.to);
	}
	stop(pid);
	CHECK(unlinkat(w.from, "bad", 0) == 0 || unlinkat(w.from, "good", AT_REMOVEDIR) == 0);
	sys_empty_tree(w.from);
	put(w.from, "good", "plain", 0644);
	put(w.from, "bad", "setuid", 04755);
	pid = swapper(&w, "good", "bad");
	for (i = 0; i < 200; i++) {
		if (copy(&w) == 0)
			CHECK(fstatat(w.to, "good", &st, 0) == 0 && st.st_size == 5 &&
			      fstatat(w.to, "bad", &st, 0) == 0 && st.st_size == 5);
		sys_empty_tree(w.to);
	}
	stop(pid);
	world_close(&w);
}

static void a_file_that_grows_while_it_is_copied_is_bounded(void)
{
	struct world w;
	struct stat st;
	pid_t pid;
	int i;

	world_open(&w);
	put(w.from, "log", "x", 0644);
	w.limits.file_bytes = 1 << 20;
	pid = fork();
	if (pid == 0) {
		AUTO_FD fd = openat(w.from, "log", O_WRONLY | O_CLOEXEC);
		static char block[65536];

		for (;;) {
			for (i = 0; i < 64; i++)
				(void)!write(fd, block, sizeof(block));
			(void)!ftruncate(fd, 0);
			(void)lseek(fd, 0, SEEK_SET);
		}
	}
	for (i = 0; i < 1000; i++) {
		if (copy(&w) == 0)
			CHECK(fstatat(w.to, "log", &st, 0) == 0 && st.st_size <= 1 << 20 &&
			      (uint64_t)st.st_size == w.stats.bytes);
		sys_empty_tree(w.to);
	}
	stop(pid);
	world_close(&w);
}

static void large_files_come_whole(void)
{
	static char block[1 << 20], got[1 << 20];
	struct world w;
	AUTO_FD fd = -1;
	AUTO_FD copied = -1;
	size_t i;
	int k;

	world_open(&w);
	fd = openat(w.from, "large", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	for (k = 0; k < 20; k++) {
		for (i = 0; i < sizeof(block); i++)
			block[i] = (char)(i * 31 + i / 257 + (size_t)k);
		CHECK(write(fd, block, sizeof(block)) == sizeof(block));
	}
	CHECK(copy(&w) == 0 && w.stats.bytes == 20 << 20);
	copied = openat(w.to, "large", O_RDONLY | O_CLOEXEC);
	for (k = 0; k < 20; k++)
		CHECK(read(copied, got, sizeof(got)) == sizeof(got));
	CHECK(memcmp(got, block, sizeof(block)) == 0 && read(copied, got, 1) == 0);
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_ordinary_task_is_copied_with_modes_made_plain_and_times_kept),
		CASE(the_modes_that_files_had_are_known_to_builds),
		CASE(links_that_leave_are_refused_however_they_are_written),
		CASE(links_are_followed_through_other_links),
		CASE(where_a_link_leads_is_judged_as_the_stricter_reading_has_it),
		CASE(links_that_take_long_to_follow_are_refused_soon),
		CASE(many_ordinary_links_are_not),
		CASE(hard_links_to_files_outside_are_refused_and_those_inside_kept_as_copies),
		CASE(special_files_are_refused_without_being_opened),
		CASE(setuid_and_setgid_files_are_refused),
		CASE(names_that_could_fake_a_line_are_refused_and_shown_escaped),
		CASE(limits_hold_and_holes_count),
		CASE(all_problems_are_listed_up_to_a_number),
		CASE(files_of_others_are_refused),
		CASE(what_cannot_be_read_is_refused),
		CASE(a_folder_swapped_for_a_link_leads_nowhere),
		CASE(a_file_swapped_for_another_file_or_a_link_is_never_copied_unchecked),
		CASE(a_file_that_grows_while_it_is_copied_is_bounded),
		CASE(large_files_come_whole),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
