#include "sandbox/native/guard_mode.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sandbox/native/guard_judge.h"
#include "sandbox/native/guard_make.h"
#include "sys/close_socket.h"

/* How a call names the file, and where its other arguments begin. */
enum subject { BY_PATH, BY_LINK /* a link at its end is not followed */, BY_DIR, BY_FD };
enum action { SET_MODE, SET_ATTRIBUTE, REMOVE_ATTRIBUTE };
enum { VALUE_MAX = 65536 }; /* of an attribute, as the kernel has it */

static const struct call_form {
	int nr;
	enum subject subject;
	enum action action;
} forms[] = {
	{SYS_fchmod, BY_FD, SET_MODE},
	{SYS_fchmodat, BY_DIR, SET_MODE},
	{SYS_setxattr, BY_PATH, SET_ATTRIBUTE},
	{SYS_lsetxattr, BY_LINK, SET_ATTRIBUTE},
	{SYS_fsetxattr, BY_FD, SET_ATTRIBUTE},
	{SYS_removexattr, BY_PATH, REMOVE_ATTRIBUTE},
	{SYS_lremovexattr, BY_LINK, REMOVE_ATTRIBUTE},
	{SYS_fremovexattr, BY_FD, REMOVE_ATTRIBUTE},
#ifdef __x86_64__
	{SYS_chmod, BY_PATH, SET_MODE},
#endif
};

/* Whatever it is, opened as a mere path or as the caller has it. */
static int open_subject(const struct job *j, enum subject subject)
{
	const struct eyes *e = &j->g->eyes;
	char path[PATH_MAX];
	AUTO_FD base = -1;
	int r;

	if (subject == BY_FD) {
		r = guard_fd_of(e, j->call->pid, arg_fd(j, 0));
		if (r >= 0 && (fcntl(r, F_GETFL) & O_PATH)) {
			sys_close_at_once(r);
			r = -EBADF;
		}
		return r;
	}
	r = arg_path(j, subject == BY_DIR, path);
	if (r == 0 && path[0] != '/') {
		base = guard_base(e, j->call->pid, subject == BY_DIR ? arg_fd(j, 0) : AT_FDCWD);
		r = base < 0 ? base : 0;
	}
	return r < 0 ? r : guard_find(e, j->call->pid, path[0] == '/' ? AT_FDCWD : base, path, subject != BY_LINK);
}

/* False: its path is not its own any more, or was never one in here. */
static bool has_path(const struct job *j, int fd, const struct stat *st, char path[PATH_MAX])
{
	struct stat there;

	return guard_path_of(&j->g->eyes, fd, path) == 0 && lstat(path, &there) == 0 && there.st_dev == st->st_dev &&
	       there.st_ino == st->st_ino;
}

/* It came in open and has no path in here, as a file of the host's does that is standard input or output. What was
 * removed is its owner's alone. */
static bool is_from_outside(const struct job *j, int fd, const struct stat *st)
{
	char path[PATH_MAX];

	return S_ISREG(st->st_mode) && st->st_nlink != 0 && !has_path(j, fd, st, path);
}

/*
 * May other users do more there than they could? In a folder, one that we know. With a file: not one of the host's that
 * only came in open.
 */
static int may_let_in(const struct job *j, int fd, const struct stat *st)
{
	char path[PATH_MAX];

	if (!S_ISDIR(st->st_mode))
		return is_from_outside(j, fd, st) ? -EPERM : 0;
	if (!has_path(j, fd, st, path))
		return -EPERM;
	return verdict(j, guard_judge_letting_in(j->g, path), path) < 0 ? -EPERM : 0;
}

/* By its name, as if it were opened to be written: the host may have made it just now, and what is denied or protected
 * would be open to others, or to programs that trust attributes, for good. */
static int may_change(const struct job *j, int fd, const struct stat *st)
{
	const char *rule = NULL;
	char path[PATH_MAX];
	int r = st->st_nlink ? guard_may_change(j, fd, guard_what(st->st_mode)) : -ENOENT;

	if (r == -ENOENT)
		return 0; /* what came in open, or was removed */
	if (r == 0 && guard_path_of(&j->g->eyes, fd, path) == 0)
		rule = guard_judge_foreign(j->g, path, st);
	return r < 0 || verdict(j, rule, path) < 0 ? -EPERM : 0;
}

static int set_mode(const struct job *j, int fd, mode_t mode)
{
	char path[32];
	struct stat st;
	int r = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	/* setuid and setgid files outlive the sandbox */
	if (mode & (S_ISDIR(st.st_mode) ? S_ISUID : S_ISUID | S_ISGID))
		return -EPERM;
	if (mode & 077 & ~st.st_mode)
		r = may_let_in(j, fd, &st);
	if (r == 0)
		r = may_change(j, fd, &st);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "self/fd/%d", fd);
	return fchmodat(j->g->eyes.proc, path, mode & 07777, 0) < 0 ? -errno : 0;
}

/* Only a program's own: the kernel would ask for the rights of ours to make others (access lists, capabilities). Nor
 * overlayfs' own, by which a file could not be read any more in a later run's copy of the folder. */
static int attribute_name(const struct job *j, char name[PATH_MAX])
{
	int r = arg_path(j, 1, name);

	if (r < 0)
		return r == -ENAMETOOLONG ? -ERANGE : r;
	if (strncmp(name, "system.", 7) == 0)
		return -EOPNOTSUPP;
	return strncmp(name, "user.", 5) == 0 && strncmp(name, "user.overlay.", 13) != 0 ? 0 : -EPERM;
}

static int set_attribute(const struct job *j, int fd, bool set)
{
	size_t n = set ? (size_t)j->call->args[3] : 0;
	AUTO_FREE char *value = NULL;
	char name[PATH_MAX], path[32];
	struct stat st;
	int r = attribute_name(j, name);

	if (r == 0)
		r = fstat(fd, &st) < 0 ? -errno : may_change(j, fd, &st);
	if (r == 0 && is_from_outside(j, fd, &st))
		r = -EPERM;
	if (r == 0 && n > VALUE_MAX)
		r = -E2BIG;
	value = r == 0 ? malloc(n + 1) : NULL;
	if (r == 0 && n)
		r = value ? guard_read_bytes(j->call->pid, j->call->args[2], value, n) : -ENOMEM;
	if (r == 0 && !seccomp_alive(j->listener, j->call->id))
		r = -ESRCH;
	if (r < 0)
		return r;
	/* there is no such call for an fd that is a mere path: we go to where it has a name, for a moment */
	(void)snprintf(path, sizeof(path), "self/fd/%d", fd);
	if (fchdir(j->g->eyes.proc) < 0)
		return -errno;
	if ((set ? setxattr(path, name, value, n, (int)j->call->args[4]) : removexattr(path, name)) < 0)
		r = -errno;
	if (chdir("/") < 0)
		_exit(1);
	return r;
}

int guard_mode(const struct job *j, bool *ret_known)
{
	const struct call_form *f = forms;
	AUTO_SHARED_FD fd = -1;

	while (f < forms + ARRAY_LEN(forms) && f->nr != j->call->nr)
		f++;
	*ret_known = f < forms + ARRAY_LEN(forms);
	fd = *ret_known ? open_subject(j, f->subject) : -EPERM;
	if (fd < 0)
		return fd;
	return f->action == SET_MODE ? set_mode(j, fd, (mode_t)j->call->args[f->subject == BY_DIR ? 2 : 1])
				     : set_attribute(j, fd, f->action == SET_ATTRIBUTE);
}
