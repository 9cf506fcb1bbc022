#include "image/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "image/ids.h"
#include "image/store_parts.h"
#include "sys/tree.h"
#include "sys/xdg.h"

static int root_path(char **ret, struct error *err)
{
	int r = sys_xdg_path("XDG_DATA_HOME", ".local/share", "cordon/images", ret);

	if (r == -ENOENT)
		return error_set(err, ERROR_USAGE,
				 "neither XDG_DATA_HOME nor HOME names a folder for Cordon's images; set one of them");
	return r < 0 ? error_sys(err, r, "the image store") : 0;
}

/* The folder, made where it is missing; ours alone. */
static int open_root(struct image_store *s, struct error *err)
{
	AUTO_FREE char *path = NULL;
	struct stat st;
	int r;

	if (root_path(&path, err) < 0)
		return -1;
	r = sys_make_folders(path);
	if (r < 0)
		return error_sys(err, r, "image store %s", path);
	s->path = real_path(path, NULL);
	s->dir = s->path ? open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (s->dir < 0 || fstat(s->dir, &st) < 0)
		return error_sys(err, errno, "image store %s", path);
	if (st.st_uid != geteuid() || (st.st_mode & 077))
		return error_set(err, ERROR_DENIED,
				 "image store %s is not ours alone; it must be a folder of yours with mode 0700", path);
	return 0;
}

static int open_parts(struct image_store *s, struct error *err)
{
	const struct {
		const char *name;
		int *fd;
	} parts[] = {{"layers", &s->layers},
		     {"sizes", &s->sizes},
		     {"names", &s->names},
		     {"cache", &s->cache},
		     {"tmp", &s->tmp}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(parts); i++) {
		if (mkdirat(s->dir, parts[i].name, 0700) < 0 && errno != EEXIST)
			return error_sys(err, errno, "image store %s/%s", s->path, parts[i].name);
		*parts[i].fd = openat(s->dir, parts[i].name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (*parts[i].fd < 0)
			return error_sys(err, errno, "image store %s/%s", s->path, parts[i].name);
	}
	return 0;
}

static bool ids_equal(const struct image_ids *a, const struct image_ids *b)
{
	return a->count == b->count && a->zero_uid == b->zero_uid && a->zero_gid == b->zero_gid &&
	       (a->count == 1 || (a->first_uid == b->first_uid && a->first_gid == b->first_gid));
}

static int any(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 1;
}

static int ids_say(struct image_store *s, const struct image_ids *now, struct error *err)
{
	char text[96];
	int r;

	(void)snprintf(text, sizeof(text), "%u %u %u %u %u", now->count, now->zero_uid, now->first_uid, now->zero_gid,
		       now->first_gid);
	r = store_link_put(s->dir, "ids", text);
	s->ids = *now;
	return r < 0 ? error_sys(err, r, "image store %s", s->path) : 0;
}

/* Layers belong to the ids of the day on which they were made. One id can always be used; others must be the same. A
 * store without layers takes on today's. */
static int ids_settle(struct image_store *s, struct error *err)
{
	AUTO_FD lock = store_lock(s, LOCK_EX, err);
	struct image_ids now, then;
	char text[96];

	if (lock < 0 || image_ids_of_user(&now, err) < 0)
		return -1;
	if (store_link_get(s->dir, "ids", text, sizeof(text)) < 0 ||
	    sscanf(text, "%u %u %u %u %u", &then.count, &then.zero_uid, &then.first_uid, &then.zero_gid,
		   &then.first_gid) != 5)
		return ids_say(s, &now, err);
	if (!ids_equal(&then, &now) && store_each_name(s->layers, any, NULL) == 0)
		return ids_say(s, &now, err);
	s->ids = then;
	if (ids_equal(&then, &now) || (then.count == 1 && then.zero_uid == now.zero_uid))
		return 0;
	if (access("/proc/self/uid_map", F_OK) < 0)
		return error_set(err, ERROR_MISSING,
				 "/proc is not mounted here: which user ids you have cannot be told without it");
	return error_set(err, ERROR_MISSING,
			 "the images in %s belong to other user ids than you have now (/etc/subuid, /etc/subgid); give "
			 "those back, or remove that folder and import the images again",
			 s->path);
}

int image_store_open(struct image_store **ret, struct error *err)
{
	struct image_store *s = calloc(1, sizeof(*s));

	if (!s)
		return error_sys(err, ENOMEM, "the image store");
	s->dir = s->layers = s->sizes = s->names = s->cache = s->tmp = -1;
	if (open_root(s, err) < 0 || open_parts(s, err) < 0 || ids_settle(s, err) < 0) {
		image_store_close(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void image_store_close(struct image_store *s)
{
	size_t i;

	if (!s)
		return;
	{
		const int fds[] = {s->dir, s->layers, s->sizes, s->names, s->cache, s->tmp};

		for (i = 0; i < ARRAY_LEN(fds); i++)
			if (fds[i] >= 0)
				(void)close(fds[i]);
	}
	free(s->path);
	free(s);
}

const char *image_store_path(const struct image_store *s)
{
	return s->path;
}

const struct image_ids *image_store_ids(const struct image_store *s)
{
	return &s->ids;
}

int store_lock(const struct image_store *s, int how, struct error *err)
{
	AUTO_FD fd = openat(s->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = 0;

	if (fd >= 0)
		while ((r = flock(fd, how)) < 0 && errno == EINTR)
			;
	if (fd < 0 || r < 0)
		return error_sys(err, errno, "the lock of image store %s", s->path);
	return fd_take(&fd);
}

void store_name_of(const char *digest, char ret[STORE_NAME])
{
	(void)snprintf(ret, STORE_NAME, "sha256-%s", digest + 7);
}

bool store_digest_of(const char *name, char ret[IMAGE_DIGEST])
{
	char digest[IMAGE_DIGEST];

	if (strlen(name) != IMAGE_DIGEST - 1 || strncmp(name, "sha256-", 7) != 0)
		return false;
	(void)snprintf(digest, sizeof(digest), "sha256:%s", name + 7);
	if (!image_is_digest(sv_of(digest)))
		return false;
	memcpy(ret, digest, sizeof(digest));
	return true;
}

int store_link_get(int dir, const char *name, char *to, size_t size)
{
	ssize_t n = readlinkat(dir, name, to, size);

	if (n < 0)
		return -errno;
	if ((size_t)n >= size)
		return -ENAMETOOLONG;
	to[n] = '\0';
	return 0;
}

int store_link_put(int dir, const char *name, const char *text)
{
	char temp[32];

	(void)snprintf(temp, sizeof(temp), ".%d", (int)getpid());
	(void)unlinkat(dir, temp, 0);
	if (symlinkat(text, dir, temp) < 0)
		return -errno;
	if (renameat(dir, temp, dir, name) == 0)
		return 0;
	(void)unlinkat(dir, temp, 0);
	return -errno;
}

int store_each_name(int dir, int (*fn)(void *arg, const char *name), void *arg)
{
	DIR *d = sys_list(dir);
	struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = fn(arg, e->d_name);
	(void)closedir(d);
	return r;
}

void store_sync(const struct image_store *s)
{
	(void)syncfs(s->dir);
}
