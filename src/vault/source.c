#include "vault/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/secret.h"
#include "base/text.h"
#include "vault/credentials_read.h"

const struct source_variable source_variables[SOURCE_VARIABLES] = {
	{"HOME", true},
	{"PATH", true},
	{"USER", true},
	{"LOGNAME", true},
	{"LANG", false},
	{"XDG_RUNTIME_DIR", true},
	{"DBUS_SESSION_BUS_ADDRESS", true},
	{"GNUPGHOME", true},
	{"PASSWORD_STORE_DIR", true},
	{"SSH_AUTH_SOCK", false},
	{"GPG_TTY", false},
};

static int make_room(struct buf *out, struct error *err)
{
	buf_done(out);
	buf_init(out, SOURCE_MAX);
	out->p = malloc(SOURCE_MAX + 1);
	if (!out->p)
		return error_sys(err, ENOMEM, "credential");
	out->cap = SOURCE_MAX + 1;
	out->p[0] = '\0';
	return 0;
}

void source_wipe(struct buf *out)
{
	secret_wipe(out->p, out->cap);
	buf_done(out);
}

/* Straight into the buffer; not by buf_read_fd(), whose own room would keep a copy. */
static int read_some(struct buf *out, int fd)
{
	char more;
	ssize_t n;

	if (out->n == SOURCE_MAX) {
		n = read(fd, &more, 1);
		return n > 0 ? -EFBIG : n == 0 ? 0 : -errno;
	}
	n = read(fd, out->p + out->n, SOURCE_MAX - out->n);
	if (n < 0)
		return -errno;
	out->n += (size_t)n;
	out->p[out->n] = '\0';
	return (int)n;
}

static int fetch_env(const struct credential_source *from, struct buf *out, struct error *err)
{
	const char *v;
	uint32_t i;

	for (i = 0; i < from->n; i++) {
		v = getenv(from->words[i]);
		if ((!v || !v[0]) && i == 2)
			break;
		if (!v || !v[0])
			return error_set(err, ERROR_MISSING,
					 "the variable %s is not set; set it, or change from: in credentials.yaml",
					 from->words[i]);
		if ((i && buf_char(out, '\n') < 0) || buf_str(out, v) < 0)
			return error_set(err, ERROR_INPUT, "the variable %s is longer than %d bytes", from->words[i],
					 SOURCE_MAX);
	}
	return 0;
}

static int fetch_file(const struct credential_source *from, struct buf *out, struct error *err)
{
	struct text_shown shown;
	char path[4096];
	struct stat st;
	AUTO_FD fd = -1;
	int r;

	if (credentials_file_path(from->words[0], path, sizeof(path), err) < 0)
		return -1;
	(void)text_show(&shown, sv_of(path));
	/* Not blocking: a FIFO in its place must not hold us before it is looked at. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ELOOP ? error_set(err, ERROR_INPUT, "%s: is a link; name the file itself", shown.s)
				      : error_sys(err, errno, "%s", shown.s);
	if (fstat(fd, &st) < 0)
		return error_sys(err, errno, "%s", shown.s);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_INPUT, "%s: is not a regular file", shown.s);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return error_set(err, ERROR_INPUT, "%s: belongs to another user (%u); it must be yours or root's",
				 shown.s, st.st_uid);
	if (st.st_mode & 077)
		return error_set(err, ERROR_INPUT, "%s: others may read or change it (mode %04o); run chmod 600",
				 shown.s, st.st_mode & 07777);
	while ((r = read_some(out, fd)) > 0 || r == -EINTR)
		;
	if (r == -EFBIG)
		return error_set(err, ERROR_INPUT, "%s: is larger than %d bytes", shown.s, SOURCE_MAX);
	return r < 0 ? error_sys(err, r, "%s", shown.s) : 0;
}

/* "NAME=value" of one that a command gets. */
static bool is_passed(struct sv s)
{
	size_t i, n;

	for (i = 0; i < SOURCE_VARIABLES; i++) {
		n = strlen(source_variables[i].name);
		if (sv_starts(s, source_variables[i].name) && s.n > n && s.p[n] == '=')
			return true;
	}
	return false;
}

static _Noreturn void run(const struct credential_source *from, int out)
{
	char *keep[SOURCE_VARIABLES + 1] = {0};
	size_t n = 0;
	sigset_t none;
	char **v;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)setpgid(0, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL); /* ours are blocked (sys/spawn.h) */
	for (v = environ; v && *v; v++)
		if (n < SOURCE_VARIABLES && is_passed(sv_of(*v)))
			keep[n++] = *v;
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0)
		_exit(127);
	execvpe(from->words[0], (char *const *)(uintptr_t)from->words, keep);
	_exit(errno == ENOENT ? 127 : 126);
}

/* To the end of its output, or of its time. */
static int read_command(int fd, int64_t deadline, struct buf *out)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t left;
	int r = 1;

	while (r > 0 || r == -EINTR) {
		left = deadline - now_ms();
		if (left <= 0)
			return -ETIMEDOUT;
		r = poll(&p, 1, (int)left);
		if (r < 0)
			r = -errno;
		else
			r = r == 0 ? -ETIMEDOUT : read_some(out, fd);
	}
	return r;
}

/* The status of a child that closed its output, or should have; waits no longer than the deadline. */
static int wait_command(pid_t pid, int64_t deadline, int *status)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	pid_t r;

	while ((r = waitpid(pid, status, WNOHANG)) == 0 && now_ms() < deadline)
		(void)nanosleep(&pause, NULL);
	if (r == pid)
		return 0;
	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return -ETIMEDOUT;
}

static int command_failed(const char *name, int r, int status, unsigned ms, struct error *err)
{
	struct text_shown shown;

	(void)text_show(&shown, sv_of(name));
	if (r == -EFBIG)
		return error_set(err, ERROR_INPUT, "%s: printed more than %d bytes", shown.s, SOURCE_MAX);
	if (r == -ETIMEDOUT)
		return error_set(err, ERROR_INPUT, "%s: was not done after %u ms", shown.s, ms);
	if (r < 0)
		return error_sys(err, r, "%s", shown.s);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(err, ERROR_MISSING, "%s: was not found, or ended with status 127", shown.s);
	if (WIFEXITED(status))
		return error_set(err, ERROR_INPUT, "%s: ended with status %d", shown.s, WEXITSTATUS(status));
	return error_set(err, ERROR_INPUT, "%s: was killed by signal %d", shown.s, WTERMSIG(status));
}

static int fetch_command(const struct credential_source *from, unsigned ms, struct buf *out, struct error *err)
{
	int64_t deadline = now_ms() + ms;
	int ends[2], status = 0, r, waited;
	AUTO_FD in = -1;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, errno, "command");
	pid = fork();
	if (pid == 0)
		run(from, ends[1]);
	in = ends[0];
	(void)close(ends[1]);
	if (pid < 0)
		return error_sys(err, errno, "command");
	r = read_command(in, deadline, out);
	/* One that went wrong gets no more time. */
	waited = wait_command(pid, r < 0 ? 0 : deadline, &status);
	(void)kill(-pid, SIGKILL);
	if (r == 0)
		r = waited;
	return r < 0 || status ? command_failed(from->words[0], r, status, ms, err) : 0;
}

int source_fetch_within(const struct credential_source *from, unsigned ms, struct buf *out, struct error *err)
{
	int r = make_room(out, err);

	if (r == 0)
		r = from->kind == SOURCE_ENV    ? fetch_env(from, out, err)
		    : from->kind == SOURCE_FILE ? fetch_file(from, out, err)
						: fetch_command(from, ms, out, err);
	if (r < 0) {
		source_wipe(out);
		return -1;
	}
	if (out->n && out->p[out->n - 1] == '\n')
		out->p[--out->n] = '\0';
	return 0;
}

int source_fetch(const struct credential_source *from, struct buf *out, struct error *err)
{
	return source_fetch_within(from, SOURCE_COMMAND_MS, out, err);
}
