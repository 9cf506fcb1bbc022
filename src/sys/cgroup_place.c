#include "sys/cgroup_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sv.h"

enum { SELF_MAX = 16384, SMALL_MAX = 512 };

static const struct {
	const char *name;
	unsigned bit;
} controllers[] = {
	{"memory", CGROUP_MEMORY},
	{"pids", CGROUP_PIDS},
	{"cpu", CGROUP_CPU},
};

int cgroup_read(int dir, const char *file, char *out, unsigned cap)
{
	AUTO_FD fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	unsigned n = 0;
	ssize_t r;

	if (fd < 0)
		return -errno;
	while (n < cap) {
		r = read(fd, out + n, cap - n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		n += (unsigned)r;
	}
	if (n == cap)
		return -EFBIG;
	out[n] = '\0';
	return (int)n;
}

int cgroup_write(int dir, const char *file, const char *text)
{
	AUTO_FD fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* The limits whose controllers are words of the text; anything but letters, digits and "_" ends a word. */
static unsigned bits_in(struct sv text)
{
	unsigned bits = 0;
	size_t i = 0, k, start;

	while (i < text.n) {
		start = i;
		while (i < text.n && (text.p[i] == '_' || (text.p[i] >= 'a' && text.p[i] <= 'z')))
			i++;
		for (k = 0; k < ARRAY_LEN(controllers); k++)
			if (sv_is(sv_n(text.p + start, i - start), controllers[k].name))
				bits |= controllers[k].bit;
		i++;
	}
	return bits;
}

static unsigned file_bits(int dir, const char *file)
{
	char text[SMALL_MAX];
	int n = cgroup_read(dir, file, text, sizeof(text));

	return n < 0 ? 0 : bits_in(sv_n(text, (size_t)n));
}

/* One line of /proc/PID/cgroup: "ID:CONTROLLERS:PATH". */
struct membership {
	struct sv controllers; /* empty: v2, or a named v1 hierarchy */
	struct sv path;
	bool v2;
};

static bool next_membership(struct sv *text, struct membership *ret)
{
	const char *end, *one, *two;
	struct sv line;

	while (text->n > 0) {
		end = memchr(text->p, '\n', text->n);
		line = sv_n(text->p, end ? (size_t)(end - text->p) : text->n);
		text->p += end ? line.n + 1 : line.n;
		text->n -= end ? line.n + 1 : line.n;
		one = memchr(line.p, ':', line.n);
		two = one ? memchr(one + 1, ':', line.n - (size_t)(one + 1 - line.p)) : NULL;
		if (!two || two[1] != '/')
			continue;
		ret->controllers = sv_n(one + 1, (size_t)(two - one - 1));
		ret->path = sv_n(two + 1, line.n - (size_t)(two + 1 - line.p));
		ret->v2 = ret->controllers.n == 0 && sv_starts(line, "0:");
		/* A path that leads out of the visible tree (another cgroup namespace's) is not below the mount. */
		if (!sv_starts(ret->path, "/.."))
			return true;
	}
	return false;
}

static int open_dir(const char *root, struct sv folder, struct sv path)
{
	char full[PATH_MAX];
	int n = snprintf(full, sizeof(full), "%s/%.*s%.*s", root, (int)folder.n, folder.p, (int)path.n, path.p);
	int fd;

	if (n < 0 || (size_t)n >= sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A v1 hierarchy is mounted by one of its controllers' names (often a link), or by all of them. */
static int open_v1(const char *root, const struct membership *m, unsigned bits)
{
	size_t k;
	int fd;

	for (k = 0; k < ARRAY_LEN(controllers); k++) {
		if (!(bits & controllers[k].bit))
			continue;
		fd = open_dir(root, sv_of(controllers[k].name), m->path);
		if (fd >= 0)
			return fd;
	}
	return open_dir(root, m->controllers, m->path);
}

/* The v2 tree is the root itself, or "unified" in it. */
static const char *v2_folder(const char *root)
{
	AUTO_FD fd = open_dir(root, sv_of(""), sv_of(""));

	return fd >= 0 && faccessat(fd, "cgroup.controllers", F_OK, 0) == 0 ? "" : "unified";
}

/*
 * What can be limited in children of a v2 folder: what is on, and what can be turned on. The latter needs a folder
 * without processes of its own, or the true root, which alone has no cgroup.type.
 */
static unsigned v2_offers(int dir, unsigned want)
{
	unsigned on = file_bits(dir, "cgroup.subtree_control") & want;
	char one[2];
	bool busy;

	if (on == want)
		return on;
	busy = cgroup_read(dir, "cgroup.procs", one, sizeof(one)) != 0;
	if (busy && faccessat(dir, "cgroup.type", F_OK, 0) == 0)
		return on;
	return on | (file_bits(dir, "cgroup.controllers") & want);
}

/* Turns on what is off; returns what is on then. */
static unsigned v2_enable(int dir, unsigned bits)
{
	unsigned on = file_bits(dir, "cgroup.subtree_control") & bits;
	char text[32];
	size_t k;

	/* One by one: a write of several fails as a whole. */
	for (k = 0; k < ARRAY_LEN(controllers); k++) {
		if (!(controllers[k].bit & bits & ~on))
			continue;
		(void)snprintf(text, sizeof(text), "+%s", controllers[k].name);
		if (cgroup_write(dir, "cgroup.subtree_control", text) == 0)
			on |= controllers[k].bit;
	}
	return on;
}

/* Cuts the last component. False at the root. */
static bool parent_path(struct sv *path)
{
	if (path->n <= 1)
		return false;
	while (path->p[path->n - 1] != '/')
		path->n--;
	path->n -= path->n > 1; /* keeps the slash of the root only */
	return true;
}

static unsigned count_bits(unsigned bits)
{
	return (unsigned)__builtin_popcount(bits);
}

/* Moving a process needs write access to cgroup.procs of the common ancestor, which is this very folder. */
static bool may_use_v2(int dir)
{
	return faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0 &&
	       faccessat(dir, "cgroup.procs", W_OK, AT_EACCESS) == 0;
}

static bool place_v2(const char *root, struct sv path, unsigned want, bool track, struct cgroup_place *ret)
{
	struct cgroup_place best = {-1, true, 0};
	const char *folder = v2_folder(root);
	unsigned offers;

	(void)parent_path(&path);
	do {
		AUTO_FD fd = open_dir(root, sv_of(folder), path);

		if (fd < 0 || !may_use_v2(fd))
			break;
		offers = v2_offers(fd, want);
		if (count_bits(offers) > count_bits(best.bits) || (track && best.fd < 0)) {
			cleanup_fd(&best.fd);
			best.fd = fd_take(&fd);
			best.bits = offers;
		}
	} while (best.bits != want && parent_path(&path));
	if (best.fd < 0)
		return false;
	best.bits = v2_enable(best.fd, best.bits);
	if (best.bits || track) {
		*ret = best;
		return true;
	}
	cleanup_fd(&best.fd);
	return false;
}

static const char *env_root(const struct cgroup_env *env)
{
	return env && env->root ? env->root : "/sys/fs/cgroup";
}

static struct sv read_self(const struct cgroup_env *env, char text[SELF_MAX])
{
	int n = cgroup_read(AT_FDCWD, env && env->self ? env->self : "/proc/self/cgroup", text, SELF_MAX);

	return sv_n(text, n < 0 ? 0 : (size_t)n);
}

unsigned cgroup_places(const struct cgroup_env *env, unsigned want, bool track, struct cgroup_place out[CGROUP_PLACES])
{
	char text[SELF_MAX];
	struct sv rest = read_self(env, text);
	struct membership m, v2 = {.v2 = false};
	unsigned n = 0, bits;

	while (n < CGROUP_PLACES && next_membership(&rest, &m)) {
		bits = bits_in(m.controllers) & want;
		if (m.v2)
			v2 = m;
		if (!bits)
			continue;
		out[n] = (struct cgroup_place){open_v1(env_root(env), &m, bits), false, bits};
		if (out[n].fd < 0)
			continue;
		want &= ~bits; /* a controller is in one hierarchy only */
		n++;
	}
	if (v2.v2 && n < CGROUP_PLACES && (want || track))
		n += place_v2(env_root(env), v2.path, want, track, &out[n]);
	return n;
}

unsigned cgroup_places_named(const struct cgroup_env *env, const char *name, struct cgroup_place out[CGROUP_PLACES])
{
	const char *root = env_root(env);
	char text[SELF_MAX], last[CGROUP_ID_MAX + 16];
	struct sv rest = read_self(env, text);
	struct membership m;
	unsigned n = 0, bits;
	int fd;

	(void)snprintf(last, sizeof(last), "/%s", name);
	while (n < CGROUP_PLACES && next_membership(&rest, &m)) {
		bits = bits_in(m.controllers);
		if (!sv_ends(m.path, last) || !(m.v2 || bits))
			continue;
		fd = m.v2 ? open_dir(root, sv_of(v2_folder(root)), m.path) : open_v1(root, &m, bits);
		if (fd < 0)
			continue;
		out[n++] = (struct cgroup_place){fd, m.v2, m.v2 ? file_bits(fd, "cgroup.controllers") : bits};
	}
	return n;
}
