/*
 * changes_tree: trees for the tests of the changes modules. A world is a temporary folder with lower, upper, work,
 * merged and state in it.
 */
#ifndef CORDON_TESTS_CHANGES_TREE_H
#define CORDON_TESTS_CHANGES_TREE_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "check.h"
#include "supervise/changes.h"
#include "supervise/changes_apply.h"
#include "supervise/changes_names.h"
#include "supervise/changes_show.h"
#include "supervise/copy.h"

#define MAYBE __attribute__((unused)) static

struct world {
	char dir[64];
	int fd;
	int lower, upper, merged, state;
};

enum { SKIP = 77 };

MAYBE int open_folder(int at, const char *name)
{
	(void)mkdirat(at, name, 0755);
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

MAYBE void world_open(struct world *w)
{
	(void)umask(022);
	w->fd = open(w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->lower = open_folder(w->fd, "lower");
	w->upper = open_folder(w->fd, "upper");
	w->merged = open_folder(w->fd, "merged");
	w->state = open_folder(w->fd, "state");
	(void)mkdirat(w->fd, "work", 0755);
}

MAYBE struct world world_new(void)
{
	const char *tmp = getenv("TMPDIR");
	struct world w = {0};

	(void)snprintf(w.dir, sizeof(w.dir), "%s/cordon-chg.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	if (!mkdtemp(w.dir)) {
		perror(w.dir);
		exit(99);
	}
	world_open(&w);
	CHECK(w.state >= 0);
	return w;
}

MAYBE void world_close(struct world *w)
{
	int *fds[] = {&w->fd, &w->lower, &w->upper, &w->merged, &w->state};
	size_t i;

	for (i = 0; i < ARRAY_LEN(fds); i++)
		(void)close(*fds[i]);
}

MAYBE void world_done(struct world *w)
{
	world_close(w);
	CHECK(names_remove_tree(AT_FDCWD, w->dir) == 0);
}

#define WORLD(name) __attribute__((cleanup(world_done))) struct world name = world_new()

/* Makes the folders on the way to path. */
MAYBE void make_way(int at, const char *path)
{
	char part[PATH_MAX];
	const char *p;

	for (p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		(void)mkdirat(at, part, 0755);
	}
}

MAYBE void put_bytes(int at, const char *path, struct sv bytes, mode_t mode)
{
	AUTO_FD fd = -1;

	make_way(at, path);
	fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write_all(fd, bytes.p, bytes.n) == 0 && fchmod(fd, mode) == 0);
}

MAYBE void put(int at, const char *path, const char *text)
{
	put_bytes(at, path, sv_of(text), 0644);
}

MAYBE void put_mode(int at, const char *path, const char *text, mode_t mode)
{
	put_bytes(at, path, sv_of(text), mode);
}

MAYBE void put_folder(int at, const char *path, mode_t mode)
{
	make_way(at, path);
	CHECK(mkdirat(at, path, 0755) == 0 && fchmodat(at, path, mode, 0) == 0);
}

MAYBE void put_link(int at, const char *path, const char *target)
{
	make_way(at, path);
	CHECK(symlinkat(target, at, path) == 0);
}

MAYBE void put_whiteout(int at, const char *path)
{
	make_way(at, path);
	CHECK(mknodat(at, path, S_IFCHR | 0600, makedev(0, 0)) == 0);
}

/* False where the file system has no such attributes. */
MAYBE bool put_attribute(int at, const char *path, const char *name, const char *value)
{
	AUTO_FD fd = openat(at, path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && fsetxattr(fd, name, value, strlen(value), 0) == 0;
}

MAYBE void read_text(int at, const char *path, struct buf *b)
{
	AUTO_FD fd = openat(at, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	buf_clear(b);
	if (fd < 0 || buf_read_fd(b, fd) < 0)
		(void)buf_str(b, "(unreadable)");
}

MAYBE bool has(int at, const char *path)
{
	struct stat st;

	return fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

enum { SNAP_GIT = 1 /* only what a diff carries: no folders, no permission but x */ };

MAYBE void snap_entry(struct buf *out, int at, const char *path, const char *name, const struct stat *st, int flags)
{
	char target[PATH_MAX] = "", hex[SHA256_HEX] = "";
	unsigned mode = flags & SNAP_GIT ? st->st_mode & (S_IFMT | 0100) : st->st_mode;

	if (S_ISLNK(st->st_mode)) {
		(void)!readlinkat(at, name, target, sizeof(target) - 1);
		mode = S_IFLNK;
	} else if (S_ISDIR(st->st_mode)) {
		mode &= ~0077U; /* other users never get more of what the host had already: a test of its own */
	} else if (S_ISREG(st->st_mode)) {
		AUTO_BUF b;

		buf_init(&b, 1 << 26);
		read_text(at, name, &b);
		sha256_hex_of(buf_view(&b), hex);
	}
	if (!S_ISDIR(st->st_mode) || !(flags & SNAP_GIT))
		(void)buf_printf(out, "%s %o %s%s\n", path, mode, target, hex);
}

MAYBE void snap_folder(struct buf *out, int fd, const char *prefix, int flags)
{
	AUTO_NAMES names = {0};
	size_t budget = SIZE_MAX, i;
	struct stat st;
	char path[PATH_MAX];

	CHECK(names_read(&names, fd, &budget) == 0);
	names_sort(&names);
	for (i = 0; i < names.n; i++) {
		(void)snprintf(path, sizeof(path), "%s%s", prefix, names.v[i]);
		if (fstatat(fd, names.v[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		snap_entry(out, fd, path, names.v[i], &st, flags);
		if (S_ISDIR(st.st_mode)) {
			AUTO_FD below = openat(fd, names.v[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			(void)strcat(path, "/");
			if (below >= 0)
				snap_folder(out, below, path, flags);
		}
	}
}

/* Everything in a tree as text: paths, types, modes, content. free() it. */
MAYBE char *snap(int fd, int flags)
{
	struct buf b;

	buf_init(&b, 1 << 26);
	(void)buf_str(&b, "");
	snap_folder(&b, fd, "", flags);
	return buf_take(&b);
}

MAYBE struct changes *scan_with(const struct world *w, enum changes_kind kind, const struct changes_rules *rules)
{
	struct changes *c = NULL;
	struct error err = {0};

	if (changes_scan(w->lower, w->upper, kind, rules, &c, &err) < 0)
		printf("# scan: %s\n", err.text);
	return c;
}

static const struct changes_rules no_rules = {.root = "/w"};

MAYBE struct changes *scan(const struct world *w, enum changes_kind kind)
{
	return scan_with(w, kind, &no_rules);
}

/* The list as changes_print_list() prints it; frees c. */
MAYBE char *listed(struct changes *c)
{
	struct error err;
	char *p = NULL;
	size_t n;
	FILE *f = open_memstream(&p, &n);

	CHECK(c && f && changes_print_list(c, f, &err) == 0);
	if (f)
		(void)fclose(f);
	changes_free(c);
	return p;
}

#define CHECK_LIST(changes, want)                                                                                      \
	do {                                                                                                           \
		AUTO_FREE char *list_ = listed(changes);                                                               \
		CHECK_STR(list_, want);                                                                                \
	} while (0)

#define CHECK_SNAP(fd, want)                                                                                           \
	do {                                                                                                           \
		AUTO_FREE char *snap_ = snap(fd, 0);                                                                   \
		CHECK_STR(snap_, want);                                                                                \
	} while (0)

/* Applies c and frees it. */
MAYBE int apply_with(const struct world *w, struct changes *c, const struct changes_apply_options *o, struct error *err)
{
	size_t applied = 0;
	int r = c ? changes_apply(w->lower, w->upper, w->state, c, o, &applied, err) : -1;

	changes_free(c);
	return r;
}

MAYBE int apply(const struct world *w, struct changes *c)
{
	struct error err = {0};
	int r = apply_with(w, c, NULL, &err);

	if (r < 0)
		printf("# apply: %s\n", err.text);
	return r;
}

/* Nothing of ours is left in the work folder or the state folder. */
MAYBE bool is_tidy(const struct world *w)
{
	AUTO_NAMES lower = {0};
	AUTO_NAMES state = {0};
	size_t budget = SIZE_MAX, i;

	if (names_read(&lower, w->lower, &budget) < 0 || names_read(&state, w->state, &budget) < 0 || state.n)
		return false;
	for (i = 0; i < lower.n; i++)
		if (strncmp(lower.v[i], CHANGES_STAGING, strlen(CHANGES_STAGING)) == 0)
			return false;
	return true;
}

/* Runs f in a child; its failures count here. Returns its exit status, or 128 + signal. */
MAYBE int in_child(int (*f)(void *ctx), void *ctx)
{
	int status = 0;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		check_failures = 0;
		status = f(ctx);
		(void)fflush(stdout);
		_exit(check_failures ? 1 : status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 99;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

MAYBE int write_text(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : write_all(fd, text, strlen(text));
}

/* From here on a system call fails with this code; with an argument given, only where that is not 0. */
MAYBE bool break_call(unsigned nr, int argument, unsigned code)
{
	unsigned offset = argument < 0 ? (unsigned)offsetof(struct seccomp_data, nr)
				       : (unsigned)(offsetof(struct seccomp_data, args) + 8 * (unsigned)argument);
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {ARRAY_LEN(program), program};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) == 0;
}

/* Namespaces in which we may mount. Not in the main process: it cannot come back. */
MAYBE bool enter_namespaces(void)
{
	char uids[32], gids[32];

	(void)snprintf(uids, sizeof(uids), "0 %u 1", geteuid());
	(void)snprintf(gids, sizeof(gids), "0 %u 1", getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	(void)write_text("/proc/self/setgroups", "deny");
	return write_text("/proc/self/uid_map", uids) == 0 && write_text("/proc/self/gid_map", gids) == 0;
}

MAYBE bool mount_overlay(const struct world *w)
{
	char options[PATH_MAX];

	(void)snprintf(options, sizeof(options), "userxattr,lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
		       w->dir, w->dir, w->dir);
	if (chdir(w->dir) < 0 || mount("overlay", "merged", "overlay", 0, options) < 0)
		return false;
	return true;
}

/* An apply that is killed, or fails, at a step. */
struct at_step {
	int at;      /* step to act at; -1: only count */
	int code;    /* what to answer there; 0: be killed */
	int kill_at; /* be killed there instead */
	int seen;
};

MAYBE int act(void *ctx)
{
	struct at_step *s = ctx;
	int now = s->seen++;

	if (now == s->kill_at || (now == s->at && s->code == 0))
		(void)kill(getpid(), SIGKILL);
	return now == s->at ? s->code : 0;
}

struct attempt {
	struct world *w;
	struct at_step *step;
};

MAYBE int attempt(void *ctx)
{
	struct attempt *t = ctx;
	struct changes_apply_options o = {.step = act, .ctx = t->step};
	struct error err = {0};

	return apply_with(t->w, scan(t->w, CHANGES_OVERLAY), &o, &err) < 0 ? 10 : 0;
}

#endif
