/* Which mount a file is on, and what the kernel says of that, in both of the ways that there are. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "sys/mount_of.h"
#include "sys/mountinfo.h"

static void a_mount_is_told_as_mountinfo_has_it(void)
{
	struct sys_mount_told read, told;
	int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), fd = open("/proc", O_PATH | O_CLOEXEC);
	uint64_t id, by_path, unique;
	bool top = false;
	int r;

	CHECK(proc >= 0 && fd >= 0);
	CHECK(sys_mount_of(fd, false, &id, &top) == 0 && top);
	CHECK(sys_mount_of_path("/proc", &by_path) == 0 && by_path == id);
	CHECK(sys_mount_read(proc, id, &read) == 0);
	CHECK_STR(read.point, "/proc");
	CHECK_STR(read.root, "/");
	CHECK(sys_mount_read(proc, ~UINT64_C(0), &read) == -ENOENT);
	r = sys_mount_of(fd, true, &unique, NULL);
	if (r == 0)
		r = sys_mount_tell(unique, &told);
	if (r == 0) {
		CHECK_STR(told.point, "/proc");
		CHECK_STR(told.root, "/");
		CHECK(sys_mount_tell(~UINT64_C(0) >> 1, &told) == -ENOENT);
	} else {
		printf("# skipped: the kernel does not tell of one mount: %s\n", strerror(-r));
	}
	(void)close(fd);
	(void)close(proc);
}

static void what_lies_in_a_mount_is_no_top_of_one(void)
{
	char name[] = "/tmp/cordon-mount of.XXXXXX";
	uint64_t above, below;
	bool top = true;
	int fd;

	CHECK(mkdtemp(name) != NULL);
	fd = open(name, O_PATH | O_CLOEXEC);
	CHECK(sys_mount_of(fd, false, &below, &top) == 0 && !top);
	CHECK(sys_mount_of_path("/tmp", &above) == 0 && above == below);
	CHECK(rmdir(name) == 0);
	CHECK(sys_mount_of_path(name, &above) == -ENOENT);
	(void)close(fd);
}

enum { LINES = 300, FIRST_ID = 1000 };

/* A folder in place of /proc, with lines that are longer than what is read at a time. */
static int make_proc(char name[], char path[64])
{
	char word[200];
	FILE *f;
	int i;

	CHECK(mkdtemp(name) != NULL);
	(void)snprintf(path, 64, "%s/self", name);
	CHECK(mkdir(path, 0700) == 0);
	(void)snprintf(path, 64, "%s/self/mountinfo", name);
	f = fopen(path, "we");
	CHECK(f != NULL);
	(void)memset(word, 'w', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	for (i = 0; i < LINES; i++)
		(void)fprintf(f, "%d 1 8:1 /root\\040%d/%s /where\\134%d/%s rw shared:1 - ext4 /dev/sda1 rw\n",
			      FIRST_ID + i, i, word, i, i % 40 ? "short" : word);
	CHECK(fclose(f) == 0);
	return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void drop_proc(int proc, const char *name)
{
	CHECK(unlinkat(proc, "self/mountinfo", 0) == 0 && unlinkat(proc, "self", AT_REMOVEDIR) == 0);
	CHECK(rmdir(name) == 0);
	(void)close(proc);
}

static void each_of_many_mounts_is_found(void)
{
	char name[] = "/tmp/cordon-mount-of.XXXXXX", path[64], want[300];
	struct sys_mount_told told;
	int proc = make_proc(name, path), i;

	for (i = 0; i < LINES; i++) {
		CHECK(sys_mount_read(proc, (uint64_t)FIRST_ID + i, &told) == 0);
		(void)snprintf(want, sizeof(want), "/root %d/", i);
		CHECK(strncmp(told.root, want, strlen(want)) == 0 && strlen(told.root) == strlen(want) + 199);
		(void)snprintf(want, sizeof(want), "/where\\%d/%s", i, i % 40 ? "short" : "wwww");
		CHECK(strncmp(told.point, want, strlen(want)) == 0);
	}
	CHECK(sys_mount_read(proc, FIRST_ID + LINES, &told) == -ENOENT);
	CHECK(sys_mount_read(proc, 1, &told) == -ENOENT);
	drop_proc(proc, name);
}

/* So much stands behind them that it could not be read. */
static void mounts_behind_the_one_that_is_asked_for_are_not_read(void)
{
	char name[] = "/tmp/cordon-mount-of.XXXXXX", path[64];
	struct sys_mount_told told;
	int proc = make_proc(name, path);

	CHECK(truncate(path, (off_t)2 * SYS_MOUNTINFO_MAX) == 0);
	CHECK(sys_mount_read(proc, FIRST_ID, &told) == 0);
	CHECK(sys_mount_read(proc, FIRST_ID + LINES - 1, &told) == 0);
	CHECK(sys_mount_read(proc, FIRST_ID + LINES, &told) == -EFBIG);
	drop_proc(proc, name);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_mount_is_told_as_mountinfo_has_it),
		CASE(what_lies_in_a_mount_is_no_top_of_one),
		CASE(each_of_many_mounts_is_found),
		CASE(mounts_behind_the_one_that_is_asked_for_are_not_read),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
