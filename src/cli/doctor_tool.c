/* The programs that `cordon doctor` looks for. Each is asked for its version, with a time limit and next to no
 * environment. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/doctor_check.h"
#include "sys/process.h"

enum { TOOL_MS = 2000, TOOL_OUTPUT_MAX = 4096 };

static const char *search_path(void)
{
	const char *path = getenv("PATH");

	return path && path[0] ? path : "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
}

/* Absolute folders of PATH only: "." is where the untrusted things are. */
static bool find_tool(const char *name, char out[4096])
{
	const char *at = search_path(), *end;
	struct stat st;

	for (;; at = end + 1) {
		end = at + strcspn(at, ":");
		if (at[0] == '/' && end - at < 3800) {
			(void)snprintf(out, 4096, "%.*s/%s", (int)(end - at), at, name);
			if (stat(out, &st) == 0 && S_ISREG(st.st_mode) && access(out, X_OK) == 0)
				return true;
		}
		if (!*end)
			return false;
	}
}

static _Noreturn void become_tool(const char *file, int out)
{
	char path[4096];
	char *env[] = {path, (char[]){"LC_ALL=C"}, (char[]){"HOME=/nonexistent"}, NULL};
	char *argv[] = {strdup(file), (char[]){"--version"}, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)snprintf(path, sizeof(path), "PATH=%.4000s", search_path());
	if (null < 0 || !argv[0] || setpgid(0, 0) < 0 || chdir("/") < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(null, 2) < 0 || sys_close_from(3) < 0)
		_exit(126);
	(void)execve(argv[0], argv, env);
	_exit(126);
}

/* Reads until the other side closes, the buffer is full or the time is up (-ETIMEDOUT). */
static int read_some(int fd, struct buf *b)
{
	int64_t end = now_ms() + TOOL_MS, left;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char chunk[512];
	ssize_t n;
	int r;

	while ((left = end - now_ms()) > 0) {
		r = poll(&p, 1, (int)left);
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r <= 0)
			continue;
		n = read(fd, chunk, sizeof(chunk));
		if (n <= 0 || buf_add(b, chunk, (size_t)n) < 0)
			return n < 0 ? -errno : 0;
	}
	return -ETIMEDOUT;
}

/* What `FILE --version` says. The tool and all it started in its group are ended. */
static int ask_version(const char *file, struct buf *out)
{
	int ends[2], r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		become_tool(file, ends[1]);
	r = pid < 0 ? -errno : 0;
	(void)close(ends[1]);
	if (r == 0) {
		(void)setpgid(pid, pid); /* both sides do it: whoever comes first */
		r = read_some(ends[0], out);
		(void)kill(-pid, SIGKILL);
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	(void)close(ends[0]);
	return r;
}

void doctor_program_version(const char *file, struct doctor_result *ret)
{
	AUTO_BUF b = {0};

	buf_init(&b, TOOL_OUTPUT_MAX);
	if (ask_version(file, &b) == 0 && b.n)
		doctor_value_shown(ret, sv_n(b.p, strcspn(b.p, "\r\n")));
}

static void check_tool(const struct doctor_check *check, struct doctor_result *ret)
{
	struct text_shown shown;
	char file[4096];
	AUTO_BUF b = {0};
	int r;

	if (!find_tool(check->arg, file)) {
		doctor_value(ret, "not found");
		doctor_fail(check, -ENOENT, ret);
		return;
	}
	buf_init(&b, TOOL_OUTPUT_MAX);
	r = ask_version(file, &b);
	if (r < 0 || b.n == 0) {
		doctor_value(ret, r == -ETIMEDOUT ? "found, but `--version` does not end within 2 s"
						  : "found, but `--version` says nothing");
		doctor_fix(ret, "see why it does not run: %.400s --version", text_show(&shown, sv_of(file)));
		doctor_fail(check, r, ret);
		ret->status = DOCTOR_WARN;
		return;
	}
	doctor_value_shown(ret, sv_n(b.p, strcspn(b.p, "\r\n")));
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

static void check_docker_socket(const struct doctor_check *check, struct doctor_result *ret)
{
	const char *host = getenv("DOCKER_HOST"), *path = "/var/run/docker.sock";
	int r;

	if (host && strncmp(host, "unix://", 7) == 0) {
		path = host + 7;
	} else if (host && host[0]) {
		doctor_value(ret, "DOCKER_HOST is not a UNIX socket; not tried");
		doctor_fail(check, -EINVAL, ret);
		return;
	}
	r = connect_to(path);
	if (r < 0)
		doctor_fail(check, r, ret);
	else
		doctor_value_shown(ret, sv_of(path));
}

const struct doctor_check doctor_tool_checks[] = {
	{
		.id = "runsc",
		.name = "runsc (gVisor)",
		.otherwise = DOCTOR_MISSING,
		.run = check_tool,
		.arg = "runsc",
		.with = "for runs of `--runtime gvisor` and of the categories code_execution and terminal; `cordon "
			"doctor --runtime gvisor` tries it",
		.without = "`runtime: gvisor` cannot be had, nor the categories code_execution and terminal without a "
			   "policy's word",
		.fix = "install runsc (Debian: apt install runsc)",
	},
	{
		.id = "runc",
		.name = "runc",
		.otherwise = DOCTOR_MISSING,
		.run = check_tool,
		.arg = "runc",
		.with = "for runs of `--runtime runc`; `cordon doctor --runtime runc` tries it",
		.without = "`runtime: runc` cannot be had",
		.fix = "install runc (Debian: apt install runc)",
	},
	{
		.id = "crun",
		.name = "crun",
		.otherwise = DOCTOR_MISSING,
		.run = check_tool,
		.arg = "crun",
		.with = "for runs of `--runtime crun`; `cordon doctor --runtime crun` tries it",
		.without = "`runtime: crun` cannot be had",
		.fix = "install crun (Debian: apt install crun)",
	},
	{
		.id = "docker",
		.name = "docker client",
		.otherwise = DOCTOR_MISSING,
		.run = check_tool,
		.arg = "docker",
		.with = "not needed by Cordon, which speaks to the engine itself",
		.without = "not needed by Cordon, which speaks to the engine itself",
		.fix = "install docker (Debian: apt install docker.io)",
	},
	{
		.id = "docker.socket",
		.name = "docker engine",
		.otherwise = DOCTOR_MISSING,
		.run = check_docker_socket,
		.with = "for runs of `--runtime docker`; `cordon doctor --runtime docker` tries it",
		.without = "no engine can be reached: `runtime: docker` cannot be had",
		.fix = "start dockerd; as an ordinary user, a rootless engine and DOCKER_HOST",
	},
	{
		.id = "git",
		.name = "git",
		.otherwise = DOCTOR_MISSING,
		.run = check_tool,
		.arg = "git",
		.with = "work folders under git are protected as such",
		.without = "no git here",
		.fix = "install git (Debian: apt install git)",
	},
	{0},
};
