/*
 * landlock-try NAME N: a program that confines itself with Landlock, as any may, under that name, and is refused a file
 * N times: the kernel has records of it that are not a sandbox's. Exits with 0 where all was refused.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FS_ALL = (1 << 13) - 1, LOG_NEW_EXEC_ON = 2 };

int main(int argc, char **argv)
{
	uint64_t handled = FS_ALL;
	long rules = syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	int n = argc == 3 ? atoi(argv[2]) : 0;

	if (argc != 3 || rules < 0 || prctl(PR_SET_NAME, argv[1], 0, 0, 0) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, (int)rules, LOG_NEW_EXEC_ON) < 0) {
		perror("landlock-try");
		return 2;
	}
	while (n-- > 0)
		if (open("/etc/landlock-try", O_RDONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 ||
		    open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0)
			return 1;
	_exit(0); /* a sanitizer would want to look around */
}
