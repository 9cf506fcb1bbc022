/* Reading and writing the memory of a host process of the same user. */
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "attack.h"

static int attach(const struct scene *s, const struct attack *a)
{
	pid_t pid = (pid_t)fact_num(s, "victim");
	long rc = ptrace(a->num ? PTRACE_SEIZE : PTRACE_ATTACH, pid, NULL, NULL);
	int err = errno;

	if (rc == 0 && !a->num)
		waitpid(pid, NULL, 0);
	if (rc == 0)
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
	errno = err;
	return judge(s, rc, a->name);
}

static int copy_memory(const struct scene *s, const struct attack *a)
{
	char text[64] = MARKER;
	const struct iovec mine = {text, strlen(MARKER)};
	const struct iovec theirs = {(void *)fact_num(s, "address_in_memory"), strlen(MARKER)}; /* NOLINT */
	pid_t pid = (pid_t)fact_num(s, "victim");
	ssize_t n = a->num ? process_vm_writev(pid, &mine, 1, &theirs, 1, 0)
			   : process_vm_readv(pid, &mine, 1, &theirs, 1, 0);

	return judge(s, n, a->name);
}

static int read_mem(const struct scene *s, const struct attack *a)
{
	char path[64], text[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/mem", fact_num(s, "victim"));
	int fd = open(path, (int)a->num | O_CLOEXEC);
	if (fd < 0)
		return lost(s, errno, path);
	ssize_t n = pread(fd, text, sizeof(text), fact_num(s, "address_in_memory"));
	close(fd);
	return n > 0 && has_marker(text, (size_t)n) ? won("%s gives the secret", path) : lost(s, errno, path);
}

static const struct attack rows[] = {
	{"ptrace-attach", "cannot attach to a host process with ptrace", attach, .num = 0},
	{"ptrace-seize", "cannot seize a host process with ptrace", attach, .num = 1},
	{"vm-readv", "cannot read a host process with process_vm_readv", copy_memory, .num = 0},
	{"vm-writev", "cannot write a host process with process_vm_writev", copy_memory, .num = 1},
	{"proc-mem-read", "cannot read /proc/PID/mem of a host process", read_mem, .num = O_RDONLY},
	{"proc-mem-write", "cannot open /proc/PID/mem of a host process for writing", read_mem, .num = O_RDWR},
};
ATTACKS("process", rows);
