#include "image/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sys/beneath.h"

static bool is_opaque(int dir)
{
	char v[2];

	return fgetxattr(dir, "user.overlay.opaque", v, sizeof(v)) == 1 && v[0] == 'y';
}

/* The file in this layer: 1 and its fd; 0: look further down; -errno: -ENOTDIR: its /etc is no folder, -ELOOP: it is no
 * file. *ret_last: the layers below are hidden. */
static int look_in(const char *layer, const char *name, int *ret_fd, bool *ret_last)
{
	AUTO_FD root = open(layer, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD etc = root < 0 ? -1 : sys_open_beneath(root, "etc", O_PATH | O_NOFOLLOW, 0);
	AUTO_FD fd = -1;
	struct stat st;

	if (root < 0)
		return -errno;
	if (etc < 0)
		return etc == -ENOENT ? 0 : etc == -ELOOP ? -ENOTDIR : etc;
	if (fstat(etc, &st) < 0)
		return -errno;
	*ret_last = !S_ISDIR(st.st_mode);
	if (!S_ISDIR(st.st_mode))
		return S_ISCHR(st.st_mode) ? 0 : -ENOTDIR;
	fd = sys_open_beneath(etc, ".", O_RDONLY | O_DIRECTORY, 0);
	*ret_last = fd >= 0 && is_opaque(fd);
	if (fd >= 0)
		(void)close(fd_take(&fd));
	fd = sys_open_beneath(etc, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0 && fstatat(etc, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fd >= 0 && fstat(fd, &st) < 0)
		return -errno;
	/* a whiteout: it was taken away */
	if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0)) {
		*ret_last = true;
		return 0;
	}
	if (fd < 0 || !S_ISREG(st.st_mode))
		return S_ISREG(st.st_mode) ? fd : -ELOOP;
	*ret_fd = fd_take(&fd);
	return 1;
}

/* Empty where the image has none. */
static int read_table(const char *const *layers, const char *name, struct buf *ret, struct error *err)
{
	AUTO_FD fd = -1;
	bool last = false;
	int r = 0;

	for (; *layers && !last && r == 0; layers++)
		r = look_in(*layers, name, &fd, &last);
	if (r > 0)
		r = buf_read_fd(ret, fd);
	if (r == -ENOTDIR)
		return error_set(err, ERROR_INPUT,
				 "the image's /etc is no folder: its users cannot be looked up there, for no link is "
				 "followed; make it one");
	if (r == -ELOOP)
		return error_set(err, ERROR_INPUT,
				 "the image's /etc/%s is no plain file: its users cannot be looked up there, for no "
				 "link is followed; make it one, or leave it out",
				 name);
	if (r < 0)
		return error_sys(err, r, "/etc/%s of the image", name);
	return 0;
}

static bool number(struct sv s, uint32_t *ret)
{
	uint64_t v = 0;
	size_t i;

	if (s.n == 0 || s.n > 10)
		return false;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	if (v >= UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static bool is_plain(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || (unsigned char)s.p[i] >= 0x7f)
			return false;
	return true;
}

enum { FIELDS = 7 };

/* Cuts the next line into fields; how many there are. 0 at the end. */
static size_t next_line(struct sv *text, struct sv fields[FIELDS])
{
	const char *end;
	struct sv line;
	size_t n = 0;

	while (text->n && n < 3) {
		end = memchr(text->p, '\n', text->n);
		line = sv_n(text->p, end ? (size_t)(end - text->p) : text->n);
		*text = sv_n(text->p + line.n + (end != NULL), text->n - line.n - (end != NULL));
		for (n = 0; n < FIELDS; n++) {
			const char *colon = memchr(line.p, ':', line.n);

			fields[n] = sv_n(line.p, colon ? (size_t)(colon - line.p) : line.n);
			if (!colon) {
				n++;
				break;
			}
			line = sv_n(colon + 1, line.n - fields[n].n - 1);
		}
	}
	return n >= 3 ? n : 0;
}

/* *ret_name: what the table calls it; empty: it does not know that number. */
static bool find_user(struct sv table, struct sv name, struct image_user *ret, struct sv *ret_name)
{
	struct sv f[FIELDS];
	uint32_t wanted = 0, uid, gid;
	bool by_number = number(name, &wanted);
	size_t n;

	while ((n = next_line(&table, f))) {
		if (n < 6 || !number(f[2], &uid) || !number(f[3], &gid))
			continue;
		if (by_number ? uid != wanted : !sv_eq(f[0], name))
			continue;
		ret->uid = uid;
		ret->gid = gid;
		*ret_name = f[0];
		if (f[5].n && f[5].n < sizeof(ret->home) && f[5].p[0] == '/' && is_plain(f[5]))
			(void)snprintf(ret->home, sizeof(ret->home), "%.*s", (int)f[5].n, f[5].p);
		return true;
	}
	if (!by_number)
		return false;
	ret->uid = wanted; /* a number needs no entry */
	return true;
}

int image_group_find(const char *const *layers, const char *group, uint32_t *ret, struct error *err)
{
	struct text_shown shown;
	struct sv f[FIELDS], rest;
	AUTO_BUF table = {0};

	if (number(sv_of(group), ret))
		return 0;
	buf_init(&table, IMAGE_USERS_BYTES);
	if (read_table(layers, "group", &table, err) < 0)
		return -1;
	rest = buf_view(&table);
	while (next_line(&rest, f))
		if (sv_eq(f[0], sv_of(group)) && number(f[2], ret))
			return 0;
	return error_set(err, ERROR_INPUT, "the image has no group %s", text_show(&shown, sv_of(group)));
}

static bool has_member(struct sv members, struct sv name)
{
	const char *comma;

	for (; members.n; members = sv_n(comma + 1, members.n - (size_t)(comma - members.p) - 1)) {
		comma = memchr(members.p, ',', members.n);
		if (!comma)
			return sv_eq(members, name);
		if (sv_eq(sv_n(members.p, (size_t)(comma - members.p)), name))
			return true;
	}
	return false;
}

/* Nobody asked for one by name: a table that cannot be read has none. */
static void find_groups(const char *const *layers, struct sv name, struct image_user *ret)
{
	struct error ignored;
	struct sv f[FIELDS], rest;
	AUTO_BUF table = {0};
	uint32_t gid;
	size_t n;

	buf_init(&table, IMAGE_USERS_BYTES);
	if (name.n == 0 || read_table(layers, "group", &table, &ignored) < 0)
		return;
	rest = buf_view(&table);
	while (ret->n_groups < IMAGE_GROUPS_MAX && (n = next_line(&rest, f)))
		if (n > 3 && number(f[2], &gid) && has_member(f[3], name))
			ret->groups[ret->n_groups++] = gid;
}

void image_user_become(const struct image_user *u, struct image_root *root)
{
	uint32_t i;

	root->uid = u->uid;
	root->gid = u->gid;
	root->n_groups = 0;
	for (i = 0; root->ids.count > 1 && i < u->n_groups; i++)
		if (u->groups[i] < root->ids.count)
			root->groups[root->n_groups++] = u->groups[i];
}

int image_user_find(const char *const *layers, const char *user, struct image_user *ret, struct error *err)
{
	const char *colon = strchr(user, ':');
	struct sv name = colon ? sv_n(user, (size_t)(colon - user)) : sv_of(user), known = {0};
	struct image_user found = {.home = "/"};
	struct text_shown shown;
	AUTO_BUF table = {0};

	if (name.n == 0)
		name = sv_of("0");
	buf_init(&table, IMAGE_USERS_BYTES);
	if (read_table(layers, "passwd", &table, err) < 0)
		return -1;
	if (!find_user(buf_view(&table), name, &found, &known))
		return error_set(err, ERROR_INPUT, "the image has no user %s", text_show(&shown, name));
	if (found.uid == 0 && strcmp(found.home, "/") == 0)
		(void)snprintf(found.home, sizeof(found.home), "/root");
	if (colon && image_group_find(layers, colon + 1, &found.gid, err) < 0)
		return -1;
	if (!colon)
		find_groups(layers, known, &found);
	*ret = found;
	return 0;
}
