#include "image/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sv.h"
#include "sys/idmap.h"
#include "sys/process.h"
#include "sys/tree.h"

/* The name that /etc/passwd has for the user; "" where it has none. /etc/subuid may say either. */
static void user_name(uid_t uid, char *to, size_t size)
{
	FILE *f = fopen("/etc/passwd", "re");
	char line[1024], *name, *field, *rest;

	to[0] = '\0';
	if (!f)
		return;
	while (!to[0] && fgets(line, sizeof(line), f)) {
		rest = line;
		name = strsep(&rest, ":");
		(void)strsep(&rest, ":");
		field = strsep(&rest, ":");
		if (name[0] && field && field[0] && strtoul(field, &field, 10) == uid && !*field)
			(void)snprintf(to, size, "%s", name);
	}
	(void)fclose(f);
}

static bool root_range_exists(void)
{
	return geteuid() == 0 && sys_ids_exist("/proc/self/uid_map", IMAGE_IDS_ROOT, IMAGE_IDS_COUNT) &&
	       sys_ids_exist("/proc/self/gid_map", IMAGE_IDS_ROOT, IMAGE_IDS_COUNT);
}

int image_ids_of_user(struct image_ids *ret, struct error *err)
{
	struct sys_subids uids, gids;
	char name[256];

	(void)err;
	if (root_range_exists()) {
		*ret = (struct image_ids){IMAGE_IDS_COUNT, IMAGE_IDS_ROOT, IMAGE_IDS_ROOT + 1, IMAGE_IDS_ROOT,
					  IMAGE_IDS_ROOT + 1};
		return 0;
	}
	*ret = (struct image_ids){.count = 1,
				  .zero_uid = geteuid(),
				  .first_uid = geteuid() + 1,
				  .zero_gid = getegid(),
				  .first_gid = getegid() + 1};
	user_name(geteuid(), name, sizeof(name));
	if (!sys_idmap_tools() || sys_subids_read("/etc/subuid", name[0] ? name : NULL, geteuid(), &uids) < 0 ||
	    sys_subids_read("/etc/subgid", name[0] ? name : NULL, geteuid(), &gids) < 0)
		return 0;
	if (uids.count < IMAGE_IDS_COUNT - 1 || gids.count < IMAGE_IDS_COUNT - 1)
		return 0;
	/* what the files promise may lie outside of the namespace that we live in */
	if (!sys_ids_exist("/proc/self/uid_map", uids.first, IMAGE_IDS_COUNT - 1) ||
	    !sys_ids_exist("/proc/self/gid_map", gids.first, IMAGE_IDS_COUNT - 1))
		return 0;
	ret->count = IMAGE_IDS_COUNT;
	ret->first_uid = uids.first;
	ret->first_gid = gids.first;
	return 0;
}

static int64_t host_id(uint32_t count, uint32_t zero, uint32_t first, uint32_t inside)
{
	if (inside == 0 || count == 1)
		return zero;
	return inside < count ? (int64_t)first + inside - 1 : -1;
}

int64_t image_host_uid(const struct image_ids *ids, uint32_t inside)
{
	return host_id(ids->count, ids->zero_uid, ids->first_uid, inside);
}

int64_t image_host_gid(const struct image_ids *ids, uint32_t inside)
{
	return host_id(ids->count, ids->zero_gid, ids->first_gid, inside);
}

/* We are nobody until the maps are written, and id 0 from then on. */
static int become_zero(const struct image_ids *ids, int go)
{
	char byte;
	ssize_t n;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	(void)close(go);
	if (n != 1)
		return -1; /* our parent said why */
	if (ids->count > 1 && syscall(SYS_setgroups, 0, NULL) < 0)
		return -1;
	if (syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0)
		return -1;
	/* a change of ids takes it away: now, and not earlier */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return 0;
}

static void reap(pid_t pid, int *ret_status)
{
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
}

static int explain_map(int code, struct error *err)
{
	if (code == -EPERM || code == -ENOENT)
		return error_set(err, ERROR_MISSING,
				 "newuidmap and newgidmap do not give us the ids that /etc/subuid and /etc/subgid "
				 "name; `newuidmap $$ 0 $(id -u) 1` says why");
	return error_sys(err, code, "the ids of a user namespace");
}

pid_t image_ids_fork(const struct image_ids *ids, int namespaces, int (*fn)(void *arg), void *arg, struct error *err)
{
	const struct sys_idmap uids = {.count = ids->count, .zero = ids->zero_uid, .first = ids->first_uid},
			       gids = {.count = ids->count, .zero = ids->zero_gid, .first = ids->first_gid};
	int go[2], r, status;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return error_sys(err, errno, "pipe");
	pid = sys_fork_into(CLONE_NEWUSER | (unsigned)namespaces, -1, NULL, NULL);
	if (pid == 0) {
		(void)close(go[1]);
		if (become_zero(ids, go[0]) < 0)
			_exit(125);
		_exit(fn(arg));
	}
	(void)close(go[0]);
	if (pid < 0) {
		(void)close(go[1]);
		(void)error_sys(err, (int)pid,
				"user namespaces cannot be made here; `cordon doctor` says what blocks them");
		err->kind = ERROR_MISSING;
		return -1;
	}
	r = sys_idmap_write(pid, &uids, &gids);
	if (r == 0 && write(go[1], "g", 1) != 1)
		r = -errno;
	(void)close(go[1]);
	if (r == 0)
		return pid;
	(void)kill(pid, SIGKILL);
	reap(pid, &status);
	return explain_map(r, err);
}

int image_in_ids(const struct image_ids *ids, int (*fn)(void *arg), void *arg, struct error *err)
{
	pid_t pid = image_ids_fork(ids, 0, fn, arg, err);
	int status = 0;

	if (pid < 0)
		return -1;
	reap(pid, &status);
	if (WIFSIGNALED(status))
		return error_set(err, ERROR_SYSTEM, "a helper ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return error_set(err, ERROR_SYSTEM, "a helper failed with %d", WEXITSTATUS(status));
	return 0;
}

static int stay(void *none)
{
	(void)none;
	for (;;)
		(void)pause();
	return 0;
}

int image_ids_open(const struct image_ids *ids, struct error *err)
{
	pid_t pid = image_ids_fork(ids, 0, stay, NULL, err);
	char path[64];
	int status, fd, code;

	if (pid < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	code = errno;
	(void)kill(pid, SIGKILL);
	reap(pid, &status);
	return fd < 0 ? error_sys(err, code, "%s", path) : fd;
}

struct removal {
	int dir;
	const char *name;
};

static int empty_in_ids(void *arg)
{
	const struct removal *r = arg;
	AUTO_FD fd = openat(r->dir, r->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		sys_empty_tree(fd);
	return 0;
}

static bool is_gone(int dir, const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

int image_ids_remove(const struct image_ids *ids, int dir, const char *name, struct error *err)
{
	struct removal r = {dir, name};

	sys_remove_tree(dir, name);
	if (is_gone(dir, name))
		return 0;
	/* what is not ours is theirs; the folder that it is in is ours */
	if (image_in_ids(ids, empty_in_ids, &r, err) < 0)
		return -1;
	sys_remove_tree(dir, name);
	return is_gone(dir, name) ? 0 : error_set(err, ERROR_SYSTEM, "%s: not all of it could be removed", name);
}
