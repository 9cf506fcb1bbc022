#include "cli/run_image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/ids.h"
#include "supervise/state.h"

/* Of a run that was killed: nobody holds its lock. */
static void sweep_one(const struct image_ids *ids, int uppers, const char *name)
{
	AUTO_FD fd = openat(uppers, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored = {0};

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)image_ids_remove(ids, uppers, name, &ignored);
}

static void sweep(const struct image_ids *ids, int uppers)
{
	int again = openat(uppers, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			sweep_one(ids, uppers, e->d_name);
	if (d)
		(void)closedir(d);
}

/* The folder of all is held meanwhile, so that one without a lock yet is never taken for a dead one. */
static int make_folder(struct run_image *r, const char *state)
{
	static const char *const names[] = {"upper", "work", "."};
	const struct image_ids *ids = &r->image.ids;
	char path[PATH_MAX];
	size_t i;

	if ((size_t)snprintf(path, sizeof(path), "%s/uppers", state) >= sizeof(path) - 32)
		return -ENAMETOOLONG;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	r->uppers = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r->uppers < 0 || flock(r->uppers, LOCK_EX) < 0)
		return -errno;
	sweep(ids, r->uppers);
	(void)snprintf(r->name, sizeof(r->name), "%d", (int)getpid());
	if (mkdirat(r->uppers, r->name, 0700) < 0)
		return -errno;
	r->folder = openat(r->uppers, r->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r->folder < 0 || flock(r->folder, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	(void)flock(r->uppers, LOCK_UN);
	for (i = 0; i < ARRAY_LEN(names); i++) {
		if (i < 2 && mkdirat(r->folder, names[i], 0755) < 0)
			return -errno;
		if (ids->zero_uid != geteuid() &&
		    fchownat(r->folder, names[i], ids->zero_uid, ids->zero_gid, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
	}
	(void)snprintf(r->upper, sizeof(r->upper), "%.*s/%s/upper", PATH_MAX - 32, path, r->name);
	(void)snprintf(r->work, sizeof(r->work), "%.*s/%s/work", PATH_MAX - 32, path, r->name);
	return 0;
}

/* The image's variables; HOME is its user's, where they do not say. */
static int fill_env(struct run_image *r)
{
	const char **from = r->image.config.env;
	size_t n = 0, k;
	bool has_home = false;

	while (from && from[n])
		n++;
	r->env = calloc(n + 2, sizeof(*r->env));
	for (k = 0; r->env && k < n; k++) {
		r->env[k] = from[k];
		has_home |= strncmp(from[k], "HOME=", 5) == 0;
	}
	(void)snprintf(r->home, sizeof(r->home), "HOME=%s", r->user.home);
	if (r->env && !has_home)
		r->env[n] = r->home;
	return r->env ? 0 : -ENOMEM;
}

int run_image_open(struct run_image *r, const char *name, const char *state, struct error *err)
{
	AUTO_FREE char *runs = NULL;
	int code;

	*r = (struct run_image){.uppers = -1, .folder = -1};
	if (state_root(&runs, err) < 0) /* which makes what it is in, too */
		return -1;
	if (image_store_open(&r->store, err) < 0)
		return -1;
	if (image_find(r->store, name, &r->image, err) < 0) {
		image_store_close(r->store);
		return -1;
	}
	if (image_user_find((const char *const *)r->image.layers, r->image.config.user, &r->user, err) < 0) {
		run_image_close(r);
		return -1;
	}
	code = fill_env(r);
	if (code == 0)
		code = make_folder(r, state);
	if (code < 0) {
		run_image_close(r);
		return error_sys(err, code, "a folder for what the image's sandbox changes");
	}
	r->root = (struct image_root){.layers = (const char *const *)r->image.layers,
				      .upper = r->upper,
				      .work = r->work,
				      .ids = r->image.ids,
				      .env = r->env,
				      .cwd = r->image.config.workdir};
	image_user_become(&r->user, &r->root);
	return 0;
}

void run_image_close(struct run_image *r)
{
	struct error ignored = {0};

	if (r->folder >= 0) {
		(void)image_ids_remove(&r->image.ids, r->uppers, r->name, &ignored);
		(void)close(r->folder);
	}
	if (r->uppers >= 0)
		(void)close(r->uppers);
	free(r->env);
	image_done(&r->image);
	image_store_close(r->store);
}
