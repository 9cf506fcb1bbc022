#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "sys/process.h"

enum { EXIT_OWN_FAILURE = 125 };

/*
 * A closed standard fd would be given to the next file that is opened, and a message would end up in it. The stand-in
 * cannot be used in the direction the fd is for, so reads and writes still fail, as they would on a closed one.
 */
static int keep_std_fds(void)
{
	static const int mode[] = {O_WRONLY, O_RDONLY, O_RDONLY};
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode[fd]) != fd)
			return -1;
	return 0;
}

static void on_failed_write(int sig)
{
	(void)sig;
}

/* Who writes is told by write() itself. A handler, not SIG_IGN: the kernel resets it when CMD is executed, so CMD gets
 * the disposition that we were started with. */
static void catch_failed_writes(void)
{
	static const int signals[] = {SIGPIPE, SIGXFSZ};
	struct sigaction old, sa = {.sa_handler = on_failed_write, .sa_flags = SA_RESTART};
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			(void)sigaction(signals[i], &sa, NULL);
}

/* With less than this we would crash, or fail half-way at a place that says nothing about the cause. */
static int check_limits(struct error *err)
{
	static const struct {
		int what;
		rlim_t least;
		const char *name, *shell;
	} need[] = {
		{RLIMIT_NOFILE, 64, "the limit of open files", "ulimit -n 64"},
		{RLIMIT_STACK, 512 << 10, "the stack's size limit", "ulimit -s 512"},
	};
	struct rlimit now;
	size_t i;

	for (i = 0; i < sizeof(need) / sizeof(need[0]); i++)
		if (getrlimit(need[i].what, &now) == 0 && now.rlim_cur < need[i].least)
			return error_set(err, ERROR_MISSING,
					 "%s is %llu, and Cordon needs %llu: raise it, in a shell by `%s`",
					 need[i].name, (unsigned long long)now.rlim_cur,
					 (unsigned long long)need[i].least, need[i].shell);
	return 0;
}

static void print_error(const struct error *err)
{
	char line[sizeof(err->text) + 16];
	int n = snprintf(line, sizeof(line), "cordon: %s\n", err->text);

	if (n > 0)
		(void)write_all(STDERR_FILENO, line, (size_t)n);
}

int main(int argc, char **argv)
{
	struct error err = {0};
	int status;

	sys_protect_relocations();
	if (keep_std_fds() < 0)
		return EXIT_OWN_FAILURE;
	catch_failed_writes();
	status = check_limits(&err);
	if (status == 0)
		status = cli_main(verbs, argc, argv, &err);
	if (status < 0) {
		print_error(&err);
		status = cli_exit_status(&err);
	}
	return status;
}
