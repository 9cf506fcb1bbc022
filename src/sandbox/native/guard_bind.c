#include "sandbox/native/guard_bind.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/native/guard_make.h"
#include "sandbox/native/own_files.h"
#include "sys/close_socket.h"
#include "sys/lookup.h"
#include "sys/process.h"
#include "sys/unix_file.h"

enum { TAKE_BACK_TRIES = 3, CHILD_MS = 2000 };

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		char bytes[sizeof(struct sockaddr_storage)];
	};
	size_t n;
};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Wherever that is; somebody may be moving it about. */
static void take_back(const struct eyes *e, int made, const struct stat *st)
{
	char path[PATH_MAX], *name;
	struct stat there;
	int i, dir;

	for (i = 0; i < TAKE_BACK_TRIES && guard_path_of(e, made, path) == 0 && (name = strrchr(path, '/')); i++) {
		*name++ = '\0';
		dir = sys_open_no_links(path[0] ? path : "/", O_PATH | O_DIRECTORY);
		if (dir < 0)
			continue;
		if (fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&there, st) &&
		    unlinkat(dir, name, 0) == 0)
			i = TAKE_BACK_TRIES;
		(void)close(dir);
	}
}

/* Is what was made the name that was judged? A second name of it would be somewhere else. */
static int prove(const struct job *j, int sock, struct place *p)
{
	AUTO_FD made = sys_unix_file(sock);
	struct stat st, there;

	if (made < 0 || fstat(made, &st) < 0)
		return -EACCES;
	if (fstatat(p->dir, p->name, &there, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&there, &st) && there.st_nlink == 1) {
		if (guard_is_shared(j->g, p->path))
			own_files_add(j->g->own, made);
		return guard_keep_made(j, p, GUARD_FILE);
	}
	take_back(&j->g->eyes, made, &st);
	return -EACCES;
}

/* bind() takes no folder: we stand where the caller does for a moment. */
static int bind_here(int sock, const struct address *a, int cwd)
{
	int r;

	if (fchdir(cwd) < 0)
		return -errno;
	r = bind(sock, &a->any, (socklen_t)a->n) < 0 ? -errno : 0;
	if (chdir("/") < 0)
		_exit(1);
	return r;
}

/* In a child, whose fds are its own: N is the caller's, and may be the number of any of ours. So what we have under a
 * number of our own is used no more from there on: not the eyes, which would look into the caller's folder. */
static int bind_as_caller(const struct job *j, int sock, const struct address *a, int cwd, int n)
{
	int theirs = guard_base(&j->g->eyes, j->call->pid, n), mine, here;

	if (theirs < 0)
		return theirs;
	mine = fcntl(sock, F_DUPFD_CLOEXEC, n + 1);
	here = fcntl(cwd, F_DUPFD_CLOEXEC, n + 1);
	if (mine < 0 || here < 0 || (theirs != n && dup3(theirs, n, O_CLOEXEC) < 0))
		return -EMFILE;
	return bind_here(mine, a, here);
}

/* The address goes through the caller's /proc/self/fd/N, and ours are not only ours (sys/beside.h). The child may be
 * stopped or killed by others of its user, or wait for a file system: we wait for neither, and what it did is looked
 * at. */
static int bind_by_fd(const struct job *j, int sock, const struct address *a, int cwd, int n)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return -EAGAIN;
	if (child == 0)
		_exit(-bind_as_caller(j, sock, a, cwd, n));
	return sys_wait_for(child, CHILD_MS, &status) && WIFEXITED(status) ? -WEXITSTATUS(status) : 0;
}

/* One of another sandbox's network, which came by another socket, is not bound: nobody could say afterwards where. */
static int asks_for_its_file(int sock)
{
	AUTO_FD made = sys_unix_file(sock);

	return made >= 0 ? -EINVAL /* it has a name already */ : made == -EPERM ? -EACCES : 0;
}

static int bind_path(const struct job *j, int sock, const struct address *a)
{
	const struct eyes *e = &j->g->eyes;
	AUTO_FD cwd = guard_base(e, j->call->pid, AT_FDCWD);
	size_t n = a->n - offsetof(struct sockaddr_un, sun_path);
	char path[sizeof(a->un.sun_path) + 1];
	struct place p;
	int r, through;

	if (cwd < 0)
		return cwd;
	r = asks_for_its_file(sock);
	if (r < 0)
		return r;
	memcpy(path, a->un.sun_path, n);
	path[n] = '\0';
	r = guard_place(e, j->call->pid, path[0] == '/' ? AT_FDCWD : cwd, path, &p);
	if (r == 0)
		r = guard_may_make(j, &p, GUARD_FILE);
	if (r == 0) {
		through = guard_through_fd(j->call->pid, path);
		guard_wear_umask(j);
		own_files_begin(j->g->own);
		r = through < 0 ? bind_here(sock, a, cwd) : bind_by_fd(j, sock, a, cwd, through);
		if (r == 0)
			r = prove(j, sock, &p);
		own_files_end(j->g->own);
	}
	guard_place_done(&p);
	return r == -EEXIST ? -EADDRINUSE : r;
}

static int read_address(const struct job *j, struct address *a)
{
	int r;

	memset(a, 0, sizeof(*a));
	a->n = (size_t)(uint32_t)j->call->args[2];
	if (a->n > sizeof(a->bytes) || a->n < sizeof(a->any.sa_family))
		return -EINVAL;
	r = guard_read_bytes(j->call->pid, j->call->args[1], a->bytes, a->n);
	if (r == 0 && !seccomp_alive(j->listener, j->call->id))
		r = -ESRCH;
	return r;
}

int guard_bind(const struct job *j)
{
	struct address a;
	int r = read_address(j, &a);
	AUTO_SHARED_FD sock = r < 0 ? r : guard_fd_of(&j->g->eyes, j->call->pid, arg_fd(j, 0));

	if (sock < 0)
		return sock;
	if (a.any.sa_family != AF_UNIX || a.n <= offsetof(struct sockaddr_un, sun_path) || a.un.sun_path[0] == '\0')
		return bind(sock, &a.any, (socklen_t)a.n) < 0 ? -errno : 0;
	return a.n > sizeof(a.un) ? -EINVAL : bind_path(j, sock, &a);
}
