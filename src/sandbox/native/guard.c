#include "sandbox/native/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "sandbox/native/guard_bind.h"
#include "sandbox/native/guard_job.h"
#include "sandbox/native/guard_judge.h"
#include "sandbox/native/guard_make.h"
#include "sandbox/native/guard_mode.h"
#include "sys/close_socket.h"
#include "sys/names.h"

/* Path argument i, relative to dirfd argument d (or the current folder, where d is negative). */
static int arg_place(const struct job *j, int d, unsigned i, struct place *ret)
{
	char path[PATH_MAX];
	AUTO_FD base = -1;
	int r = arg_path(j, i, path);

	ret->dir = -1;
	if (r < 0)
		return r;
	if (path[0] == '/')
		return guard_place(&j->g->eyes, j->call->pid, AT_FDCWD, path, ret);
	base = guard_base(&j->g->eyes, j->call->pid, d < 0 ? AT_FDCWD : arg_fd(j, (unsigned)d));
	return base < 0 ? base : guard_place(&j->g->eyes, j->call->pid, base, path, ret);
}

static mode_t safe_mode(uint64_t mode)
{
	return (mode_t)mode & 01777; /* setuid and setgid files outlive the sandbox */
}

static int do_mkdir(const struct job *j, int d, unsigned path, unsigned mode)
{
	struct place p;
	int r = arg_place(j, d, path, &p);

	if (r == 0)
		r = guard_may_make(j, &p, GUARD_FOLDER);
	if (r == 0) {
		guard_wear_umask(j);
		r = mkdirat(p.dir, p.name, safe_mode(j->call->args[mode])) < 0 ? -errno
									       : guard_keep_made(j, &p, GUARD_FOLDER);
	}
	guard_place_done(&p);
	return r;
}

static int do_mknod(const struct job *j, int d, unsigned path, unsigned mode)
{
	mode_t type = (mode_t)j->call->args[mode] & S_IFMT;
	struct place p;
	int r;

	if (type != 0 && type != S_IFREG && type != S_IFIFO && type != S_IFSOCK)
		return -EPERM;
	r = arg_place(j, d, path, &p);
	if (r == 0)
		r = p.slash ? -ENOENT : guard_may_make(j, &p, GUARD_FILE);
	if (r == 0)
		r = guard_make_node(j, &p, type | safe_mode(j->call->args[mode]));
	guard_place_done(&p);
	return r;
}

static int do_symlink(const struct job *j, unsigned text, int d, unsigned path)
{
	char target[PATH_MAX];
	struct place p;
	int r = arg_path(j, text, target);

	if (r < 0)
		return r;
	r = arg_place(j, d, path, &p);
	if (r == 0)
		r = p.slash ? -ENOENT : guard_may_make(j, &p, GUARD_LINK);
	if (r == 0)
		r = symlinkat(target, p.dir, p.name) < 0 ? -errno : guard_keep_made(j, &p, GUARD_LINK);
	guard_place_done(&p);
	return r;
}

/* What the caller has open: a file that has no name yet (O_TMPFILE) is its own. Of any other the name must be known. */
static int may_name_opened(const struct job *j, int fd)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_nlink == 0)
		return 0;
	r = guard_may_change(j, fd, GUARD_FILE);
	return r == -ENOENT ? -EXDEV : r;
}

/* A second name of a symbolic link is a symbolic link. (Of a file, `to` was judged already.) What has a name on another
 * mount gets none here, so the new name says whether it is in a folder of the host's. */
static int may_link_to(const struct job *j, int dir, const char *name, struct place *to)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return guard_may_make(j, to, GUARD_LINK);
	return verdict(j, guard_judge_foreign(j->g, to->path, &st), to->path);
}

/* What the caller has open, or what links lead to. */
static int link_fd(const struct job *j, int mine, struct place *to)
{
	char path[64];
	int r = mine < 0 ? mine : may_name_opened(j, mine);

	if (r == 0)
		r = may_link_to(j, mine, "", to);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "self/fd/%d", mine);
	return linkat(j->g->eyes.proc, path, to->dir, to->name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int link_path(const struct job *j, int d, unsigned old, struct place *to)
{
	struct place from;
	int r = arg_place(j, d, old, &from);

	if (r == 0 && from.own_proc)
		r = -EXDEV;
	if (r == 0)
		r = guard_may_change_at(j, &from, GUARD_FILE);
	if (r == 0)
		r = may_link_to(j, from.dir, from.name, to);
	if (r == 0)
		r = linkat(from.dir, from.name, to->dir, to->name, 0) < 0 ? -errno : 0;
	guard_place_done(&from);
	return r;
}

/* Where links at the end of a path lead. */
static int link_followed(const struct job *j, int d, const char *path, struct place *to)
{
	AUTO_FD base =
		path[0] == '/' ? -1 : guard_base(&j->g->eyes, j->call->pid, d < 0 ? AT_FDCWD : arg_fd(j, (unsigned)d));
	AUTO_SHARED_FD mine = -1;

	if (path[0] != '/' && base < 0)
		return base;
	mine = guard_find(&j->g->eyes, j->call->pid, path[0] == '/' ? AT_FDCWD : base, path, true);
	return link_fd(j, mine, to);
}

static int link_opened(const struct job *j, int d, struct place *to)
{
	AUTO_SHARED_FD mine = guard_fd_of(&j->g->eyes, j->call->pid, arg_fd(j, (unsigned)d));

	return link_fd(j, mine, to);
}

static int do_link(const struct job *j, int old_d, unsigned old, int new_d, unsigned new, int flags)
{
	uint64_t how = flags < 0 ? 0 : j->call->args[flags];
	char path[PATH_MAX];
	struct place to;
	int r;

	if (how & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	r = arg_path(j, old, path);
	if (r < 0)
		return r;
	r = arg_place(j, new_d, new, &to);
	if (r == 0)
		r = to.slash ? -ENOENT : guard_may_make(j, &to, GUARD_FILE);
	if (r == 0 && !path[0] && (how & AT_EMPTY_PATH))
		r = link_opened(j, old_d, &to);
	else if (r == 0 && ((how & AT_SYMLINK_FOLLOW) || sv_ends(sv_of(path), "/")))
		r = link_followed(j, old_d, path, &to);
	else if (r == 0)
		r = link_path(j, old_d, old, &to);
	if (r == 0)
		r = guard_keep_made(j, &to, GUARD_FILE);
	guard_place_done(&to);
	return r;
}

/* One half of a rename: may what stands at from be called to? slash: a path that names it ends in one, as only a
 * folder's may. */
static int may_move(const struct job *j, const struct place *from, struct place *to, bool slash)
{
	struct stat st;
	int r;

	if (fstatat(from->dir, from->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (slash && !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	r = guard_may_change_at(j, from, S_ISDIR(st.st_mode) ? GUARD_FOLDER : GUARD_FILE);
	if (r == 0)
		r = verdict(j, guard_judge_foreign(j->g, from->path, &st), from->path);
	if (r == 0)
		r = guard_may_make(j, to, guard_what(st.st_mode));
	if (r < 0 || !S_ISDIR(st.st_mode))
		return r;
	return verdict(j, guard_judge_move(j->g, from, from, to), to->path);
}

/* It was moved: is it to stay, with what is in it now? */
static int may_stay(const struct job *j, const struct place *from, struct place *to)
{
	struct stat st;
	int r;

	if (fstatat(to->dir, to->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* somebody moved it on, and answers for that */
	r = guard_judge_again(j, to, guard_what(st.st_mode));
	if (r < 0 || !S_ISDIR(st.st_mode))
		return r;
	return verdict(j, guard_judge_move(j->g, to, from, to), to->path);
}

/* Its old name may be taken again by now: then it gets another. */
static void move_back(const struct place *from, const struct place *to)
{
	char name[32];
	unsigned i;
	int r = sys_rename(to->dir, to->name, from->dir, from->name, SYS_RENAME_NOREPLACE);

	for (i = 0; r == -EEXIST && i < 10000; i++) {
		(void)snprintf(name, sizeof(name), "refused.%u", i);
		r = sys_rename(to->dir, to->name, from->dir, name, SYS_RENAME_NOREPLACE);
	}
	if (r == -EINVAL) /* a file system that cannot promise not to replace */
		(void)sys_rename(to->dir, to->name, from->dir, from->name, 0);
}

static int move(const struct job *j, struct place *from, struct place *to, unsigned how)
{
	int r = sys_rename(from->dir, from->name, to->dir, to->name, how);

	if (r < 0)
		return r;
	r = may_stay(j, from, to);
	if (r == 0 && how == SYS_RENAME_EXCHANGE)
		r = may_stay(j, to, from);
	if (r < 0 && how == SYS_RENAME_EXCHANGE)
		(void)sys_rename(from->dir, from->name, to->dir, to->name, how);
	else if (r < 0)
		move_back(from, to);
	return r;
}

static int do_rename(const struct job *j, int old_d, unsigned old, int new_d, unsigned new, int flags)
{
	unsigned how = flags < 0 ? 0 : (unsigned)j->call->args[flags];
	struct place from, to = {.dir = -1};
	int r = arg_place(j, old_d, old, &from);

	if (r == 0)
		r = arg_place(j, new_d, new, &to);
	if (r == -EEXIST)
		r = -EBUSY; /* ".", ".." and "/" */
	if (r == 0)
		r = may_move(j, &from, &to, from.slash || (to.slash && how != SYS_RENAME_EXCHANGE));
	if (r == 0 && how == SYS_RENAME_EXCHANGE)
		r = may_move(j, &to, &from, to.slash);
	if (r == 0 && how != 0 && how != SYS_RENAME_EXCHANGE && how != SYS_RENAME_NOREPLACE)
		r = -EINVAL;
	if (r == 0)
		r = move(j, &from, &to, how);
	guard_place_done(&from);
	guard_place_done(&to);
	return r;
}

/*
 * /dev/stdout and its kin: what the caller has open itself, where that serves. It is never opened anew: we could open
 * more than the caller can, and what its fd leads to is its own choice (/proc/1/maps). An fd that was opened as a mere
 * path serves nobody.
 */
static int reopen_own(const struct job *j, const struct place *p, int flags)
{
	AUTO_SHARED_FD fd = guard_fd_of(&j->g->eyes, j->call->pid, (int)strtol(p->name, NULL, 10));
	int have, want = flags & O_ACCMODE;

	if (fd < 0)
		return fd;
	have = fcntl(fd, F_GETFL);
	if (have < 0 || (have & O_PATH) || ((have & O_ACCMODE) != O_RDWR && (have & O_ACCMODE) != want))
		return -EACCES;
	return fd_take(&fd);
}

static bool is_to_write(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC);
}

static int may_open(const struct job *j, const struct place *p, const struct stat *st, int flags)
{
	bool write = is_to_write(flags);
	const char *rule = guard_judge_place(j->g, p, guard_what(st->st_mode), write);

	if (!rule && write)
		rule = guard_judge_repository(j->g, p->path);
	if (!rule && write && guard_is_setid(st))
		rule = guard_gives_rights;
	if (!rule)
		rule = guard_judge_foreign(j->g, p->path, st);
	return verdict(j, rule, p->path);
}

/*
 * What is open for writing now gives nobody rights who executes it. write() takes them away from a file, a shared
 * mapping does not: the workload's code would run with them. Asked of the file that was opened, since another sandbox
 * in the same folder may have put it there just now. Capabilities are looked for whatever the mode is, to which the
 * workload may add x later; what another user namespace has given is there, though it cannot be told. A setgid bit
 * without x gives nothing (a chmod -R g+s leaves such files), but an access list can add x beside it: so the bit goes.
 * Of another user's file nobody inside can change the mode.
 */
static int keeps_no_rights(const struct job *j, const struct place *p, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return verdict(j, guard_judge_foreign(j->g, p->path, &st), p->path);
	if (!guard_is_setid(&st) && (st.st_mode & S_ISGID) && fchmod(fd, st.st_mode & 01777) < 0 && errno != EPERM)
		return -errno;
	if (!guard_is_setid(&st) && fgetxattr(fd, "security.capability", NULL, 0) < 0 &&
	    (errno == ENODATA || errno == ENOTSUP || errno == ENOSYS))
		return 0;
	return verdict(j, guard_gives_rights, p->path);
}

/* open() of something that is there, and may be opened. */
static int open_found(const struct job *j, const struct place *p, const struct stat *st, int flags)
{
	int fd, number, r;
	char path[32];

	flags = (flags & ~(O_CREAT | O_EXCL)) | O_NOCTTY | O_CLOEXEC;
	if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 0)) {
		number = guard_terminal(&j->g->eyes, j->call->pid); /* /dev/tty is whose terminal? the caller's */
		if (number < 0)
			return -ENXIO;
		(void)snprintf(path, sizeof(path), "/dev/pts/%d", number);
		fd = open(path, flags & ~O_NOFOLLOW);
	} else if (p->own_proc) {
		return reopen_own(j, p, flags);
	} else {
		/* Another sandbox in the same folder may put a FIFO there just now: it must not hold us. */
		fd = openat(p->dir, p->name, flags | O_NOFOLLOW | O_NONBLOCK);
		if (fd >= 0 && !(flags & O_NONBLOCK))
			(void)fcntl(fd, F_SETFL, flags);
		r = fd >= 0 && is_to_write(flags) ? keeps_no_rights(j, p, fd) : 0;
		if (r < 0) {
			(void)close(fd);
			return r;
		}
	}
	return fd < 0 ? -errno : fd;
}

static int open_new(const struct job *j, struct place *p, int flags, uint64_t mode)
{
	int r = guard_may_make(j, p, GUARD_FILE), fd;

	if (r < 0)
		return r;
	guard_wear_umask(j);
	fd = openat(p->dir, p->name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, safe_mode(mode));
	if (fd < 0)
		return -errno;
	r = guard_keep_made(j, p, GUARD_FILE);
	if (r < 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

enum {
	FOLLOW = INT_MIN,
	WAIT = INT_MIN + 1,
	NO_NAME = O_TMPFILE & ~O_DIRECTORY,
	LINKS_MAX = 40 /* as the kernel has it */
};

/* Is it still the FIFO that may be opened? Others than the workload may replace it. */
static int may_wait(const struct job *j, const struct place *p, int fifo)
{
	struct stat st;

	if (fstat(fifo, &st) < 0)
		return -errno;
	if (!S_ISFIFO(st.st_mode))
		return -ENXIO;
	return verdict(j, guard_judge_foreign(j->g, p->path, &st), p->path) < 0 ? -EACCES : WAIT;
}

/* One round: the last component is looked at. FOLLOW: it is a link, whose text is now in path and whose folder is base.
 * WAIT: it is a FIFO, which is now base. */
static int open_round(const struct job *j, int *base, char path[PATH_MAX], int flags, uint64_t mode)
{
	struct place p;
	struct stat st;
	ssize_t n;
	int r = guard_place(&j->g->eyes, j->call->pid, *base, path, &p);

	if (r < 0)
		return r == -EEXIST ? -EISDIR : r;
	if (p.slash)
		r = -EISDIR;
	else if (fstatat(p.dir, p.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = errno == ENOENT && (flags & O_CREAT) ? open_new(j, &p, flags, mode) : -errno;
	else if ((flags & O_CREAT) && (flags & O_EXCL))
		r = -EEXIST;
	else if (S_ISLNK(st.st_mode) && !p.own_proc && (flags & O_NOFOLLOW))
		r = -ELOOP;
	else if (S_ISLNK(st.st_mode) && !p.own_proc)
		r = FOLLOW;
	else if (may_open(j, &p, &st, flags) < 0)
		r = -EACCES;
	else if (S_ISFIFO(st.st_mode) && !(flags & O_NONBLOCK) && !p.own_proc)
		r = WAIT; /* it may make the opener wait: that is left to a process of its own */
	else
		r = open_found(j, &p, &st, flags);
	if (r == WAIT) {
		if (*base >= 0)
			(void)close(*base);
		*base = openat(p.dir, p.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		r = *base < 0 ? -errno : may_wait(j, &p, *base);
	}
	if (r == FOLLOW) {
		n = readlinkat(p.dir, p.name, path, PATH_MAX - 1);
		if (n <= 0) {
			r = -ENOENT;
		} else {
			path[n] = '\0';
			if (*base >= 0)
				(void)close(*base);
			*base = fd_take(&p.dir);
		}
	}
	guard_place_done(&p);
	return r;
}

/*
 * Ends the call with an opened file, from wherever it was opened. Ours is closed before the caller goes on: a program
 * that it writes and then executes must not be open for writing any more.
 */
static void answer_opened(const struct job *j, int fd, int flags)
{
	int theirs = fd < 0 ? fd : seccomp_give_fd(j->listener, j->call->id, fd, flags & O_CLOEXEC);

	if (fd >= 0)
		sys_close_at_once(fd); /* it may be what the caller had open (reopen_own) */
	(void)seccomp_answer(j->listener, j->call->id, theirs, theirs < 0 ? theirs : 0);
}

static void wake(int sig)
{
	(void)sig;
}

/*
 * Opens a FIFO in a child, which may wait for the other end as long as it takes; but no longer than the caller does, or
 * a workload could leave any number of them behind by ending processes that wait. Of a signal that does not end it the
 * caller hears only when its call has ended.
 */
static void open_waiting(const struct job *j, int fifo, int flags)
{
	struct sigaction on_alarm = {.sa_handler = wake};
	const struct itimerval beat = {{0, 50000}, {0, 50000}}, still = {{0, 0}, {0, 0}};
	pid_t child = fork();
	sigset_t set;
	char path[32];
	int fd, interrupted = 0;

	if (child < 0)
		(void)seccomp_answer(j->listener, j->call->id, 0, -EAGAIN);
	if (child != 0)
		return;
	(void)sigaction(SIGALRM, &on_alarm, NULL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGALRM);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)setitimer(ITIMER_REAL, &beat, NULL);
	(void)snprintf(path, sizeof(path), "self/fd/%d", fifo);
	do
		fd = openat(j->g->eyes.proc, path, (flags & ~(O_CREAT | O_NOFOLLOW)) | O_NOCTTY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR && seccomp_alive(j->listener, j->call->id) &&
	       !(interrupted = guard_signalled(&j->g->eyes, j->call->pid)));
	fd = interrupted ? interrupted : fd < 0 ? -errno : fd;
	(void)setitimer(ITIMER_REAL, &still, NULL);
	answer_opened(j, fd, flags);
	_exit(0);
}

/* What the path argument leads to, opened. WAIT: a FIFO, which is now *base. */
static int open_path(const struct job *j, int d, unsigned at, int flags, uint64_t mode, int *base)
{
	char path[PATH_MAX];
	int r = arg_path(j, at, path), rounds = 0;

	if (flags & NO_NAME)
		r = -EINVAL; /* both: to make a name, and none */
	if (r == 0 && path[0] != '/') {
		*base = guard_base(&j->g->eyes, j->call->pid, d < 0 ? AT_FDCWD : arg_fd(j, (unsigned)d));
		r = *base < 0 ? *base : 0;
	}
	if (r == 0)
		do
			r = open_round(j, base, path, flags, mode);
		while ((r == FOLLOW || (r == -EEXIST && !(flags & O_EXCL))) &&
		       ++rounds <= LINKS_MAX); /* -EEXIST: somebody made it since we looked */
	return r == FOLLOW ? -ELOOP : r;
}

static void do_open(const struct job *j, int d, unsigned at, int flags, uint64_t mode)
{
	AUTO_FD base = -1;
	int r = open_path(j, d, at, flags, mode, &base);

	if (r == WAIT)
		open_waiting(j, base, flags);
	else
		answer_opened(j, r, flags);
}

static int do_truncate(const struct job *j)
{
	AUTO_FD base = -1;
	AUTO_SHARED_FD fd = open_path(j, -1, 0, O_WRONLY | O_NONBLOCK, 0, &base);
	uint64_t size = j->call->args[1];
	struct rlimit most;

	if (fd < 0)
		return fd == -ENXIO ? -EINVAL : fd; /* a FIFO that nobody reads, or a socket */
	/* the caller's limit: ours is another */
	if (prlimit(j->call->pid, RLIMIT_FSIZE, NULL, &most) < 0)
		return -errno;
	if (size <= INT64_MAX && size > most.rlim_cur)
		return -EFBIG;
	return ftruncate(fd, (off_t)size) < 0 ? -errno : 0;
}

static int named(const struct job *j)
{
	switch (j->call->nr) {
	case SYS_mkdirat:
		return do_mkdir(j, 0, 1, 2);
	case SYS_mknodat:
		return do_mknod(j, 0, 1, 2);
	case SYS_symlinkat:
		return do_symlink(j, 0, 1, 2);
	case SYS_linkat:
		return do_link(j, 0, 1, 2, 3, 4);
	case SYS_renameat:
		return do_rename(j, 0, 1, 2, 3, -1);
	case SYS_renameat2:
		return do_rename(j, 0, 1, 2, 3, 4);
	case SYS_bind:
		return guard_bind(j);
	case SYS_truncate:
		return do_truncate(j);
#ifdef __x86_64__
	case SYS_mkdir:
		return do_mkdir(j, -1, 0, 1);
	case SYS_mknod:
		return do_mknod(j, -1, 0, 1);
	case SYS_symlink:
		return do_symlink(j, 0, -1, 1);
	case SYS_link:
		return do_link(j, -1, 0, -1, 1, -1);
	case SYS_rename:
		return do_rename(j, -1, 0, -1, 1, -1);
#endif
	default:
		return -EPERM;
	}
}

void guard_answer(const struct guard *g, int listener, const struct seccomp_call *call)
{
	struct job j = {.g = g, .listener = listener, .call = call};
	bool known;
	int r;

	switch (call->nr) {
	case SYS_openat:
		do_open(&j, 0, 1, (int)call->args[2], call->args[3]);
		return;
#ifdef __x86_64__
	case SYS_open:
		do_open(&j, -1, 0, (int)call->args[1], call->args[2]);
		return;
	case SYS_creat:
		do_open(&j, -1, 0, O_CREAT | O_WRONLY | O_TRUNC, call->args[1]);
		return;
#endif
	default:
		r = guard_mode(&j, &known);
		if (!known)
			r = named(&j);
		(void)seccomp_answer(listener, call->id, 0, r);
	}
}
