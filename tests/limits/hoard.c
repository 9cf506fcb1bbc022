/*
 * hoard: has the kernel keep names, in memory that belongs to no page, no file and no mapping of anybody's.
 *
 *	hoard folders FOLDER PROCESSES EACH  folders that are open and were read from, as many in each process. Of a
 *	                                     file system that sorts names (ext4) each has a block's names; of an overlay
 *	                                     that changes meanwhile, all names of its own
 *	hoard attributes FOLDER MB           extended attributes of files there
 *	hoard names FOLDER MB                empty files there, of a KiB each
 *
 * Prints "held ..." and keeps it for a second, like burden.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { MB = 1 << 20, NAMES = 4000, ATTRIBUTE = 60000 };

static int fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

static int held(int n)
{
	const struct timespec second = {1, 0};

	printf("held %d\n", n);
	(void)fflush(stdout);
	(void)nanosleep(&second, NULL);
	return 0;
}

/* Short names, so that there are many to a block. */
static int fill(const char *folder)
{
	char path[4096];
	int i, fd;

	if (mkdir(folder, 0755) < 0)
		return errno == EEXIST ? 0 : -1;
	for (i = 0; i < NAMES; i++) {
		(void)snprintf(path, sizeof(path), "%s/%x", folder, i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || close(fd) < 0)
			return -1;
	}
	return 0;
}

static int open_and_read(const char *folder, int n)
{
	char path[4096], entry[64];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/new", folder);
	while (n-- > 0) {
		/* it changes, so that an earlier list does not serve */
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd >= 0)
			(void)close(fd);
		(void)unlink(path);
		fd = open(folder, O_RDONLY | O_DIRECTORY);
		if (fd < 0 || syscall(SYS_getdents64, fd, entry, sizeof(entry)) <= 0)
			return -1;
	}
	return 0;
}

static int do_folders(char **arg)
{
	int i, n = atoi(arg[1]), each = atoi(arg[2]), ready[2];
	struct rlimit files;
	char c;

	(void)getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	if (fill(arg[0]) < 0 || pipe(ready) < 0 || setrlimit(RLIMIT_NOFILE, &files) < 0)
		return fail("a folder with many names");
	for (i = 0; i < n; i++) {
		if (fork() == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (open_and_read(arg[0], each) < 0 || write(ready[1], "", 1) != 1)
				_exit(fail("folders"));
			pause();
		}
	}
	(void)close(ready[1]);
	for (i = 0; i < n; i++)
		if (read(ready[0], &c, 1) != 1)
			return fail("folders");
	return held(n * each);
}

static int do_attributes(char **arg)
{
	static char value[ATTRIBUTE];
	int i, fd, mb = atoi(arg[1]), n = (int)((long)mb * MB / ATTRIBUTE);
	char path[4096];

	for (i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%d", arg[0], i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || fsetxattr(fd, "user.a", value, sizeof(value), 0) < 0 || close(fd) < 0)
			return fail("attributes");
	}
	return held(mb);
}

static int do_names(char **arg)
{
	int i, fd, mb = atoi(arg[1]);
	char path[4096];

	for (i = 0; i < mb * 1024; i++) {
		(void)snprintf(path, sizeof(path), "%s/%0200d", arg[0], i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || close(fd) < 0)
			return fail("names");
	}
	return held(mb);
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "folders") == 0)
		return do_folders(argv + 2);
	if (argc == 4 && strcmp(argv[1], "attributes") == 0)
		return do_attributes(argv + 2);
	if (argc == 4 && strcmp(argv[1], "names") == 0)
		return do_names(argv + 2);
	fprintf(stderr, "hoard: see the top of hoard.c\n");
	return 2;
}
