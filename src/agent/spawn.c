#include "agent/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Says why through the pipe that exec would have closed. */
static _Noreturn void become(const struct spawn *s, int out, int failed)
{
	int null = s->in >= 0 ? s->in : open("/dev/null", O_RDONLY | O_CLOEXEC), code;

	(void)setsid();
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(s->err >= 0 ? s->err : out, STDERR_FILENO) >= 0 && (!s->cwd || chdir(s->cwd) == 0)) {
		(void)signal(SIGPIPE, SIG_DFL);
		(void)sigprocmask(SIG_SETMASK, s->mask, NULL);
		if (s->env)
			(void)execvpe(s->argv[0], s->argv, s->env);
		else
			(void)execvp(s->argv[0], s->argv);
	}
	code = errno;
	(void)!write(failed, &code, sizeof(code));
	_exit(127);
}

static int how_it_went(int fd, pid_t pid)
{
	int code = 0;
	ssize_t n;

	do
		n = read(fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(code))
		return 0;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return -code;
}

pid_t spawn(const struct spawn *s, int *ret_fd)
{
	int out[2], failed[2], r;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	AUTO_FD out_read = out[0], out_write = out[1];
	if (pipe2(failed, O_CLOEXEC) < 0)
		return -errno;
	AUTO_FD failed_read = failed[0], failed_write = failed[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become(s, out_write, failed_write);
	(void)close(fd_take(&failed_write));
	r = how_it_went(failed_read, pid);
	if (r < 0)
		return r;
	if (fcntl(out_read, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	*ret_fd = fd_take(&out_read);
	return pid;
}
