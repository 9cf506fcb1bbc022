#include "sandbox/native/native_image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/inside.h"
#include "sandbox/native/root_image.h"
#include "sys/mounts.h"
#include "wire/wire.h"

bool native_image_of_others(const struct plan *p)
{
	return p->image->ids.zero_uid != geteuid();
}

static int write_file(pid_t pid, const char *file, const char *text)
{
	char path[64];
	AUTO_FD fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : write_all(fd, text, strlen(text));
}

static int write_map(pid_t pid, const char *file, uint32_t count, uint32_t zero, uint32_t first)
{
	char text[96];
	int n = snprintf(text, sizeof(text), "%u %u 1\n", NATIVE_IMAGE_SHIFT, zero);

	if (count > 1)
		(void)snprintf(text + n, sizeof(text) - (size_t)n, "%u %u %u\n", NATIVE_IMAGE_SHIFT + 1, first, count - 1);
	return write_file(pid, file, text);
}

static int map_ids(const struct image_ids *i, pid_t pid, struct error *err)
{
	int r = i->count == 1 ? write_file(pid, "setgroups", "deny") : 0;

	if (r == 0)
		r = write_map(pid, "uid_map", i->count, i->zero_uid, i->first_uid);
	if (r == 0)
		r = write_map(pid, "gid_map", i->count, i->zero_gid, i->first_gid);
	return r < 0 ? error_sys(err, r, "user namespace: map the image's ids") : 0;
}

/* What the workload leaves there may be anything, setuid programs of its ids among it: nobody else must reach it. */
static int check_upper(const struct image_root *r, struct error *err)
{
	const char *const paths[] = {r->upper, r->work};
	char folder[PATH_MAX];
	struct text_shown t;
	struct stat st;
	size_t i;

	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(r->upper, '/') - r->upper), r->upper);
	if (lstat(folder, &st) < 0)
		return error_sys(err, errno, "image: %s", text_show(&t, sv_of(folder)));
	if (!S_ISDIR(st.st_mode) || st.st_uid != r->ids.zero_uid || st.st_mode & 077)
		return error_set(err, ERROR_DENIED, "image: %s, which holds the upper folder, must be closed to others (0700) and belong to the image's root", text_show(&t, sv_of(folder)));
	for (i = 0; i < ARRAY_LEN(paths); i++)
		if (lstat(paths[i], &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != r->ids.zero_uid)
			return error_set(err, ERROR_DENIED, "image: %s is no folder of the image's root", text_show(&t, sv_of(paths[i])));
	return 0;
}

static bool is_of(uint32_t id, uint32_t count, uint32_t zero, uint32_t first)
{
	return id == zero || (id >= first && id - first < count - 1);
}

/* What is shown read-only seems to be inside 0's, whoever owns it here; what is writable must be one's own. */
static int clone_mount(const struct plan *p, const char *path, unsigned flags, struct error *err)
{
	const struct image_ids *i = &p->image->ids;
	struct text_shown t;
	AUTO_FD userns = -1;
	struct stat st;

	if (lstat(path, &st) < 0)
		return error_sys(err, errno, "image: %s", text_show(&t, sv_of(path)));
	if (is_of(st.st_uid, i->count, i->zero_uid, i->first_uid) && is_of(st.st_gid, i->count, i->zero_gid, i->first_gid))
		return sys_tree_clone(AT_FDCWD, path, flags);
	if (!(flags & MOUNT_READ_ONLY))
		return error_set(err, ERROR_DENIED, "image: %s is to be writable inside, and belongs to none of the image's ids", text_show(&t, sv_of(path)));
	userns = sys_idmap_userns(st.st_uid, i->zero_uid, st.st_gid, i->zero_gid);
	return userns < 0 ? userns : sys_tree_clone_idmapped(path, flags, userns);
}

static int send_trees(const struct plan *p, int socket, struct error *err)
{
	size_t n = root_image_trees(p), plain = n, i, k;
	int fds[WIRE_MAX_FDS], r = 0;
	struct text_shown t;
	char folder[PATH_MAX];
	const char *path;
	unsigned flags;

	for (i = 0; i < p->n_ops; i++)
		plain -= p->ops[i].host;
	for (i = k = 0; r == 0 && i < n; i++) {
		path = root_image_tree(p, i, folder, sizeof(folder), &flags);
		fds[k] = i < plain ? sys_tree_clone(AT_FDCWD, path, flags) : clone_mount(p, path, flags, err);
		if (fds[k] < 0) {
			r = err->kind ? -1 : error_sys(err, fds[k], "image: %s cannot be shown to another user id", text_show(&t, sv_of(path)));
			break;
		}
		if (++k == WIRE_MAX_FDS || i + 1 == n) {
			r = wire_send(socket, INSIDE_TREES, sv_n("", 0), fds, k);
			r = r < 0 ? error_sys(err, r, "sandbox: what its root is made of") : 0;
			while (k > 0)
				(void)close(fds[--k]);
		}
	}
	while (k > 0)
		(void)close(fds[--k]);
	return r;
}

int native_image_prepare(const struct plan *p, struct native *n, struct error *err)
{
	int r;

	if (check_upper(p->image, err) < 0 || map_ids(&p->image->ids, n->pid, err) < 0)
		return -1;
	if (native_image_of_others(p) && send_trees(p, n->socket, err) < 0)
		return -1;
	r = wire_send(n->socket, INSIDE_GO, sv_n("", 0), NULL, 0);
	return r < 0 ? error_sys(err, r, "sandbox: the word to go on") : 0;
}
