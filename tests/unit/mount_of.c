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

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_mount_is_told_as_mountinfo_has_it),
		CASE(what_lies_in_a_mount_is_no_top_of_one),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
