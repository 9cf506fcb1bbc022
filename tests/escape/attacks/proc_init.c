/* PID 1 of the sandbox: it holds what the workload must not get, and the workload runs as the same user. Nothing is
 * sent or written. */
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "attack.h"

static int ask(const struct scene *s, const struct attack *a)
{
	return judge(s, kill(1, 0), a->name);
}

static int seize(const struct scene *s, const struct attack *a)
{
	long rc = ptrace(PTRACE_SEIZE, 1, NULL, NULL);

	if (rc == 0)
		ptrace(PTRACE_DETACH, 1, NULL, NULL);
	return judge(s, rc, a->name);
}

static int open_file(const struct scene *s, const struct attack *a)
{
	return judge_open(s, a->text, (int)a->num);
}

static int follow(const struct scene *s, const struct attack *a)
{
	char target[256];

	return judge(s, readlink(a->text, target, sizeof(target)), a->text);
}

static int limit(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_prlimit64, 1, 7, NULL, NULL), a->name);
}

static int take_fd(const struct scene *s, const struct attack *a)
{
	int pidfd = (int)syscall(SYS_pidfd_open, 1, 0);

	if (pidfd < 0)
		return lost(s, errno, "pidfd_open of PID 1");
	return judge(s, syscall(SYS_pidfd_getfd, pidfd, 0, 0), a->name);
}

/* In a child, which has its folder under the number n, and a socket to be bound there. In the control it is PID 1
 * itself, and as careless as one can be: what it takes for /proc is the folder of whoever asks. */
static void ask_for_name(const struct scene *s, int folder, int n)
{
	int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char status[64];

	sock = fcntl(sock, F_DUPFD_CLOEXEC, 200);
	folder = fcntl(folder, F_DUPFD_CLOEXEC, 200);
	(void)dup2(folder, n);
	(void)snprintf(status, sizeof(status), "%d/status", (int)getpid());
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/socket", n);
	if (s->control)
		(void)openat(n, status, O_RDONLY | O_CLOEXEC);
	else
		(void)bind(sock, (struct sockaddr *)&address, sizeof(address));
	(void)unlinkat(folder, "socket", 0);
	_exit(0);
}

/* A FIFO, where PID 1 would look for what the child's process is. Whoever waits for us is let go at once. */
static bool is_fifo_opened(const struct scene *s, int folder, int n)
{
	int start[2], end[2], watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), fifo;
	struct pollfd p[2] = {{.fd = watch, .events = POLLIN}};
	char name[32], path[64], c = 0;
	pid_t pid;

	if (watch < 0 || pipe(start) < 0 || pipe(end) < 0 || (pid = fork()) < 0)
		_exit(broken("a child"));
	if (pid == 0) {
		(void)close(end[0]);
		if (read(start[0], &c, 1) == 1)
			ask_for_name(s, folder, n);
		_exit(1);
	}
	(void)close(end[1]);
	(void)snprintf(name, sizeof(name), "%d", (int)pid);
	(void)snprintf(path, sizeof(path), "asked/%s/status", name);
	if (mkdirat(folder, name, 0755) < 0 || mkfifo(path, 0644) < 0 || (fifo = open(path, O_RDWR | O_CLOEXEC)) < 0 ||
	    inotify_add_watch(watch, path, IN_OPEN | IN_ACCESS) < 0 || write(start[1], &c, 1) != 1)
		_exit(broken("a FIFO"));
	p[1].fd = end[0];
	(void)poll(p, 2, -1);
	(void)!write(fifo, "Umask:\t0\n", 9);
	(void)waitpid(pid, NULL, 0);
	(void)unlink(path);
	(void)unlinkat(folder, name, AT_REMOVEDIR);
	(void)close(fifo);
	(void)close(watch);
	(void)close(start[0]);
	(void)close(start[1]);
	(void)close(end[0]);
	return p[0].revents & POLLIN;
}

/* Which numbers PID 1 has nobody tells; there are not many. */
static int hold_up(const struct scene *s, const struct attack *a)
{
	int folder, n, which = -1;

	if (mkdir("asked", 0755) < 0 || (folder = open("asked", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return broken("a folder");
	for (n = 3; n < 100 && which < 0; n++)
		if (n != folder && is_fifo_opened(s, folder, n))
			which = n;
	(void)close(folder);
	(void)rmdir("asked");
	return which < 0 ? refused("%s: at no number", a->name) : won("%s: at number %d", a->name, which);
}

static const struct attack rows[] = {
	{"init-hold-up", "cannot have PID 1 open a FIFO by a descriptor's number", hold_up},
	{"init-signal", "cannot signal PID 1", ask, CONTROL_ROOT},
	{"init-ptrace", "cannot trace PID 1", seize, CONTROL_ROOT},
	{"init-environ", "cannot read the environment of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/environ"},
	{"init-mem", "cannot open the memory of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/mem", .num = O_RDWR},
	{"init-maps", "cannot read the memory map of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/maps"},
	{"init-auxv", "cannot read the auxiliary vector of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/auxv"},
	{"init-fds", "cannot list the open files of PID 1", open_file, CONTROL_ROOT, .text = "/proc/1/fd"},
	{"init-fd", "cannot open stdin of PID 1", follow, CONTROL_ROOT, .text = "/proc/1/fd/0"},
	{"init-limits", "cannot read limits of PID 1 with prlimit", limit, CONTROL_ROOT},
	{"init-pidfd-getfd", "cannot take an open file of PID 1", take_fd, CONTROL_ROOT},
};
ATTACKS("process", rows);
