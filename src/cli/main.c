#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "sys/process.h"

enum { EXIT_OWN_FAILURE = 125 };

/*
 * A closed standard fd would be given to the next file that is opened, and a message would end up in it. The stand-in cannot be used in the direction
 * the fd is for, so reads and writes still fail, as they would on a closed one.
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

static void on_sigpipe(int sig)
{
	(void)sig;
}

/* A handler, not SIG_IGN: the kernel resets it when CMD is executed, so CMD gets the disposition that we were started with. */
static void catch_sigpipe(void)
{
	struct sigaction old, sa = {.sa_handler = on_sigpipe, .sa_flags = SA_RESTART};

	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		(void)sigaction(SIGPIPE, &sa, NULL);
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
	catch_sigpipe();
	status = cli_main(verbs, argc, argv, &err);
	if (status < 0) {
		print_error(&err);
		status = cli_exit_status(&err);
	}
	return status;
}
