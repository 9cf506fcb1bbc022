/* task/fetch and task/layer: files of strangers come out as plain files, and files of the task go in on top of
 * everything. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "task/fetch.h"
#include "task/layer.h"

static char base[] = "/tmp/cordon-fetch-XXXXXX";

static int folder(const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", base, name);
	(void)mkdir(path, 0755);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	(void)close(fd);
}

static bool is_there(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void only_plain_files_come_out(void)
{
	int from = folder("from"), to = folder("to");
	struct fetch_limits l = FETCH_LIMITS;
	struct error err;
	struct stat st;

	put(from, "plain", "text");
	CHECK(fchmodat(from, "plain", 04755, 0) == 0);
	CHECK(symlinkat("/etc/passwd", from, "link") == 0);
	CHECK(mkfifoat(from, "pipe", 0644) == 0);
	put(from, "new\nline", "x");
	put(from, "esc\x1b[31m", "x");
	put(from, "bad\xff", "x");
	CHECK(mkdirat(from, "sub", 0755) == 0);
	CHECK(symlinkat("..", from, "sub/up") == 0);
	put(from, "sub/deep", "deep");
	CHECK(fetch_folder(from, to, &l, &err) == 0);
	CHECK(is_there(to, "plain") && is_there(to, "sub/deep"));
	CHECK(!is_there(to, "link") && !is_there(to, "pipe") && !is_there(to, "sub/up"));
	CHECK(!is_there(to, "new\nline") && !is_there(to, "esc\x1b[31m") && !is_there(to, "bad\xff"));
	CHECK(l.left_out == 6);
	CHECK(fstatat(to, "plain", &st, 0) == 0 && (st.st_mode & 07777) == 0644);
	(void)close(from);
	(void)close(to);
}

static void one_file_is_not_fetched_through_a_link(void)
{
	int from = folder("from2"), to = folder("to2");
	struct fetch_limits l = FETCH_LIMITS;
	struct error err;

	CHECK(symlinkat("/etc", from, "etc") == 0 && symlinkat("/etc/passwd", from, "p") == 0);
	CHECK(fetch_file(from, "etc/passwd", to, "a", &l, &err) == 1);
	CHECK(fetch_file(from, "p", to, "b", &l, &err) == 1);
	CHECK(fetch_file(from, "../from/plain", to, "c", &l, &err) == 1);
	CHECK(fetch_file(from, "none", to, "d", &l, &err) == 1);
	CHECK(!is_there(to, "a") && !is_there(to, "b") && !is_there(to, "c"));
	(void)close(from);
	(void)close(to);
}

static void what_comes_out_is_bounded(void)
{
	int from = folder("from3"), to = folder("to3");
	struct fetch_limits l = {.bytes = 6, .entries = 2, .depth = 1};
	struct error err;

	put(from, "a", "1234");
	put(from, "b", "1234");
	put(from, "c", "1234");
	CHECK(fetch_folder(from, to, &l, &err) == 0);
	CHECK(l.left_out == 2 && l.entries == 0);
	(void)close(from);
	(void)close(to);
}

static void holes_stay_holes_and_cost_nothing(void)
{
	int from = folder("holes"), to = folder("copied"), fd;
	struct fetch_limits l = {.bytes = 1 << 20, .entries = 2, .depth = 1};
	struct error err;
	struct stat st;
	char c = 0;

	put(from, "f", "1234");
	fd = openat(from, "f", O_RDWR | O_CLOEXEC);
	CHECK(pwrite(fd, "x", 1, 64 << 20) == 1 && ftruncate(fd, 128 << 20) == 0);
	(void)close(fd);
	CHECK(fetch_folder(from, to, &l, &err) == 0 && l.left_out == 0 && l.bytes > 0);
	CHECK(fstatat(to, "f", &st, 0) == 0 && st.st_size == 128 << 20 && st.st_blocks < 2048);
	fd = openat(to, "f", O_RDONLY | O_CLOEXEC);
	CHECK(pread(fd, &c, 1, 64 << 20) == 1 && c == 'x' && pread(fd, &c, 1, 3) == 1 && c == '4');
	(void)close(fd);
	(void)close(from);
	(void)close(to);
}

/* On a file system that takes no larger files, or below the caller's own limit: holes make any size for nothing. */
static void what_is_larger_than_a_file_can_be_is_left_out(void)
{
	int from = folder("large"), to = folder("limited"), fd;
	struct fetch_limits l = FETCH_LIMITS;
	struct rlimit before, limit;
	struct error err;
	struct stat st;

	CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0 && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	put(from, "hole", "1234");
	put(from, "end", "1234");
	fd = openat(from, "hole", O_RDWR | O_CLOEXEC);
	CHECK(ftruncate(fd, 64 << 20) == 0);
	(void)close(fd);
	fd = openat(from, "end", O_RDWR | O_CLOEXEC);
	CHECK(pwrite(fd, "x", 1, 64 << 20) == 1);
	(void)close(fd);
	put(from, "small", "1234");
	limit = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK(fetch_folder(from, to, &l, &err) == 0 && l.left_out == 2);
	CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0 && signal(SIGXFSZ, SIG_DFL) != SIG_ERR);
	CHECK(fstatat(to, "small", &st, 0) == 0 && st.st_size == 4);
	(void)close(from);
	(void)close(to);
}

static void what_is_excluded_is_not_fetched(void)
{
	int from = folder("all"), to = folder("some");
	struct pol_str pattern = {.s = "*.tmp"};
	struct pol_list exclude = {.v = &pattern, .n = 1};
	struct fetch_limits l = FETCH_LIMITS;
	struct error err;

	put(from, "a.tmp", "1");
	put(from, "b", "1");
	CHECK(mkdirat(from, "d", 0755) == 0);
	put(from, "d/c.tmp", "1");
	l.exclude = &exclude;
	CHECK(fetch_folder(from, to, &l, &err) == 0 && l.left_out == 0);
	CHECK(is_there(to, "b") && is_there(to, "d") && !is_there(to, "a.tmp") && !is_there(to, "d/c.tmp"));
	(void)close(from);
	(void)close(to);
}

static void patterns_take_no_time_without_end(void)
{
	int from = folder("many"), to = folder("few");
	struct pol_str pattern[] = {{.s = "*.x"}, {.s = "*.y"}};
	struct pol_list exclude = {.v = pattern, .n = 2};
	struct fetch_limits l = FETCH_LIMITS;
	struct error err;
	char name[16];
	int i;

	for (i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		put(from, name, "1");
	}
	l.exclude = &exclude;
	l.tries = 20;
	CHECK(fetch_folder(from, to, &l, &err) == 0 && l.tries == 0 && l.left_out == 1);
	for (i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "f%d", i);
		l.left_out += is_there(to, name);
	}
	CHECK(l.left_out == 11);
	(void)close(from);
	(void)close(to);
}

static void what_cannot_be_read_is_counted(void)
{
	int from = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC), to = folder("unread");
	struct fetch_limits l = FETCH_LIMITS;
	struct error err = {0};

	/* nothing is mapped at its beginning */
	CHECK(fetch_file(from, "mem", to, "mem", &l, &err) == 0 && l.left_out == 1);
	(void)close(from);
	(void)close(to);
}

static void what_is_there_already_stays(void)
{
	int from = folder("late"), to = folder("early");
	struct fetch_limits l = FETCH_LIMITS;
	struct error err;
	char text[8] = "";
	int fd;

	put(from, "file", "late");
	put(from, "folder", "late");
	CHECK(mkdirat(from, "other", 0755) == 0);
	put(from, "other/x", "late");
	put(from, "new", "late");
	put(to, "file", "early");
	CHECK(mkdirat(to, "folder", 0755) == 0);
	put(to, "other", "early");
	CHECK(fetch_folder(from, to, &l, &err) == 0 && l.left_out == 3 && is_there(to, "new"));
	CHECK(fetch_file(from, "file", to, "file", &l, &err) == 1 && l.left_out == 4);
	fd = openat(to, "file", O_RDONLY | O_CLOEXEC);
	CHECK(read(fd, text, sizeof(text)) == 5 && strcmp(text, "early") == 0);
	(void)close(fd);
	(void)close(from);
	(void)close(to);
}

static void a_layer_hides_what_is_below_it(void)
{
	int from = folder("from4"), layer = folder("layer");
	struct image_ids ids = {.count = 1, .zero_uid = geteuid(), .zero_gid = getegid()};
	struct error err;
	char v[2] = "";
	struct stat st;

	put(from, "test.sh", "#!/bin/sh\n");
	CHECK(layer_add_folder(layer, &ids, "/a/tests", from, &err) == 0);
	CHECK(is_there(layer, "a/tests/test.sh"));
	{
		char path[256];

		(void)snprintf(path, sizeof(path), "%s/layer/a/tests", base);
		CHECK(getxattr(path, "user.overlay.opaque", v, 2) == 1 && v[0] == 'y');
		(void)snprintf(path, sizeof(path), "%s/layer/a", base);
		CHECK(getxattr(path, "user.overlay.opaque", v, 2) < 0);
	}
	CHECK(layer_add_empty(layer, &ids, "/logs/verifier", &err) == 0 && is_there(layer, "logs/verifier"));
	CHECK(layer_add_text(layer, &ids, "/cordon/instruction.md", "do", 2, &err) == 0);
	CHECK(fstatat(layer, "cordon/instruction.md", &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & 07777) == 0644 &&
	      st.st_size == 2);
	(void)close(from);
	(void)close(layer);
}

static void a_target_stays_in_the_layer(void)
{
	int from = folder("from5"), layer = folder("layer5"), outside = folder("outside");
	struct image_ids ids = {.count = 1, .zero_uid = geteuid(), .zero_gid = getegid()};
	struct error err;

	CHECK(symlinkat("../outside", layer, "link") == 0);
	CHECK(layer_add_empty(layer, &ids, "/../outside/x", &err) < 0);
	CHECK(layer_add_empty(layer, &ids, "/link/x", &err) < 0);
	CHECK(layer_add_folder(layer, &ids, "/link/x", from, &err) < 0);
	CHECK(layer_add_text(layer, &ids, "/link/x", "a", 1, &err) < 0);
	CHECK(layer_add_empty(layer, &ids, "/", &err) < 0 && layer_add_empty(layer, &ids, "/a//b", &err) < 0);
	CHECK(!is_there(outside, "x"));
	(void)close(from);
	(void)close(layer);
	(void)close(outside);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(only_plain_files_come_out),
		CASE(one_file_is_not_fetched_through_a_link),
		CASE(what_comes_out_is_bounded),
		CASE(holes_stay_holes_and_cost_nothing),
		CASE(what_is_larger_than_a_file_can_be_is_left_out),
		CASE(what_is_excluded_is_not_fetched),
		CASE(patterns_take_no_time_without_end),
		CASE(what_cannot_be_read_is_counted),
		CASE(what_is_there_already_stays),
		CASE(a_layer_hides_what_is_below_it),
		CASE(a_target_stays_in_the_layer),
	};
	char command[64];
	int r;

	if (!mkdtemp(base))
		return 1;
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	(void)snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command) == 0 ? r : 1;
}
