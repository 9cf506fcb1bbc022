/* sys/grace: what a program that is executed after sys_grace_spare() does not wait for, and what it has as before. */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sys/grace.h"

enum { PLAIN_USER = 12345 };

static long barrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) < 0 ? -errno : 0;
}

/* Of this process; -1: it does not say. */
static int table_size(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	int n = -1;

	while (f && n < 0 && fgets(line, sizeof(line), f))
		(void)sscanf(line, "FDSize: %d", &n);
	if (f)
		(void)fclose(f);
	return n;
}

/* Do the checks hold in a child of ours? */
static bool holds(bool (*check)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(!check());
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool grown(void)
{
	return table_size() >= 1024;
}

static bool grows(void)
{
	const struct rlimit usual = {1024, 1024};

	if (setrlimit(RLIMIT_NOFILE, &usual) < 0)
		return false;
	sys_grace_spare();
	return grown() && holds(grown);
}

static bool few_descriptors(void)
{
	const struct rlimit few = {16, 16};

	if (setrlimit(RLIMIT_NOFILE, &few) < 0)
		return false;
	sys_grace_spare();
	return dup(0) >= 0;
}

static bool registers_nowhere(void)
{
	long others = barrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED), query = barrier(MEMBARRIER_CMD_QUERY);

	sys_grace_spare();
	return barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == -EINVAL &&
	       barrier(MEMBARRIER_CMD_QUERY) == query && barrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == others;
}

static bool registers_nowhere_as_user(void)
{
	return (getuid() != 0 || setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER) == 0) && registers_nowhere();
}

static void the_table_of_descriptors_is_large_from_the_beginning(void)
{
	CHECK(holds(grows));
}

static void a_table_that_may_not_be_large_is_left_alone(void)
{
	CHECK(holds(few_descriptors));
}

static void one_kind_of_barriers_cannot_be_registered_for(void)
{
	CHECK(holds(registers_nowhere));
	CHECK(holds(registers_nowhere_as_user));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(the_table_of_descriptors_is_large_from_the_beginning),
		CASE(a_table_that_may_not_be_large_is_left_alone),
		CASE(one_kind_of_barriers_cannot_be_registered_for),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
