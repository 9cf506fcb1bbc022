#include "image/import.h"

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
#include "image/import_parts.h"
#include "image/store_parts.h"
#include "image/walk.h"
#include "sys/tree.h"

enum { DEPTH_MAX = 16 };

static void add_counts(struct importing *i, const struct unpack_counts *c)
{
	i->left_out.devices += c->devices;
	i->left_out.xattrs += c->xattrs;
	i->left_out.ids += c->ids;
	i->left_out.setuid += c->setuid;
}

static int unpack_into(struct importing *i, struct image_work *w, int fd, const char *what, const char *blob,
		       const char *tar, uint64_t size, struct unpack_result *ret, struct error *err)
{
	const struct unpack_job job = {.in = fd,
				       .what = what,
				       .blob = blob,
				       .tar = tar,
				       .size = size,
				       .budget = &i->budget,
				       .inner = i->inner,
				       .progress = i->im->progress,
				       .arg = i->im->arg};
	AUTO_FD upper = openat(w->lock, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (upper < 0)
		return error_sys(err, errno, "%s", w->upper);
	return image_unpack(image_store_ids(i->s), upper, &job, ret, err);
}

int import_layer(struct importing *i, int fd, const char *what, const char *blob, const char *tar, uint64_t size,
		 struct image_layer *ret, struct error *err)
{
	struct unpack_result result = {0};
	struct image_work w;
	int r;

	if (image_work_new(i->s, &w, err) < 0)
		return -1;
	r = unpack_into(i, &w, fd, what, blob, tar, size, &result, err);
	if (r == 0) {
		add_counts(i, &result.counts);
		r = store_put_layer(i->s, &w, result.tar, result.counts.bytes, ret, err);
	}
	image_work_done(i->s, &w);
	return r;
}

static int add_single(struct importing *i, struct image_layer *l, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	static const char *none[] = {NULL};
	const struct image_config config = {.env = none, .workdir = "/", .user = ""};
	const char *const layers[] = {l->digest};
	int r;

	/* a promise that nobody could keep: there is no manifest that the digest could be of */
	if (strchr(i->name, '@'))
		r = error_set(err, ERROR_INPUT,
			      "a name with a digest is for images with a manifest, and this is a plain tree of files; "
			      "give it a name with a tag");
	else
		r = image_add(i->s, i->name, &config, layers, 1, ret_digest, err);
	image_layer_done(l);
	return r;
}

static bool has(int folder, const char *name, mode_t type)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (type == 0 || (st.st_mode & S_IFMT) == type);
}

bool import_is_layout(int folder)
{
	static const char *const of_roots[] = {"bin", "usr", "etc", "sbin", "lib"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(of_roots); i++)
		if (has(folder, of_roots[i], 0))
			return false;
	return has(folder, "manifest.json", S_IFREG) ||
	       (has(folder, "oci-layout", S_IFREG) && has(folder, "index.json", S_IFREG));
}

/* ---- a folder ---- */

static int import_root(struct importing *i, int folder, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	struct walk_result walked = {0};
	struct image_layer l = {.lock = -1};
	struct image_walk w;
	struct error of_walk = {0};
	char text[128];
	int r;

	if (image_walk_start(image_store_ids(i->s), folder, &w, err) < 0)
		return -1;
	r = import_layer(i, w.out, "the folder", NULL, NULL, 0, &l, err);
	/* where both failed, the walk's reason is the first */
	if (image_walk_end(&w, false, &walked, &of_walk) < 0 &&
	    (r == 0 || of_walk.kind == ERROR_INPUT || of_walk.code != EPIPE)) {
		*err = of_walk;
		r = -1;
	}
	if (r < 0) {
		image_layer_done(&l);
		return -1;
	}
	if (walked.left_out && i->im->note) {
		(void)snprintf(text, sizeof(text),
			       "%llu sockets, device nodes and mounted file systems in the folder were left out",
			       (unsigned long long)walked.left_out);
		i->im->note(i->im->arg, text);
	}
	return add_single(i, &l, ret_digest, err);
}

static int import_folder(struct importing *i, int folder, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	return import_is_layout(folder) ? import_layout(i, folder, ret_digest, err)
					: import_root(i, folder, ret_digest, err);
}

/* ---- an archive ---- */

/* As id 0 of the namespace: all of it is ours, and we can read it. */
static int take_over(int dir, unsigned depth)
{
	DIR *d = sys_list(dir);
	struct dirent *e;
	struct stat st;
	int r = d ? 0 : -1;

	while (r == 0 && (e = readdir(d))) {
		AUTO_FD fd = -1;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    fchownat(dir, e->d_name, 0, 0, AT_SYMLINK_NOFOLLOW) < 0)
			r = -1;
		else if (S_ISLNK(st.st_mode))
			continue;
		if (r == 0 && fchmodat(dir, e->d_name, 0700, 0) < 0)
			r = -1;
		if (r < 0 || !S_ISDIR(st.st_mode))
			continue;
		fd = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = fd < 0 || depth == DEPTH_MAX ? -1 : take_over(fd, depth + 1);
	}
	if (d)
		(void)closedir(d);
	return r;
}

static int take_over_in_ids(void *arg)
{
	return take_over(*(int *)arg, 0) < 0;
}

/* What was unpacked is no root, but an image in parts. */
static int import_parts(struct importing *i, struct image_work *w, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	AUTO_FD upper = openat(w->lock, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (upper < 0)
		return error_sys(err, errno, "%s", w->upper);
	if (geteuid() != 0 && image_in_ids(image_store_ids(i->s), take_over_in_ids, &upper, err) < 0)
		return error_prefix(err, "the archive's parts");
	/* what was unpacked so far goes again; layers are counted anew, but for what they came in */
	i->inner = true;
	i->budget.bytes = UNPACK_MAX_BYTES;
	i->budget.entries = UNPACK_MAX_ENTRIES;
	return import_layout(i, upper, ret_digest, err);
}

static int import_unpacked(struct importing *i, struct image_work *w, const struct unpack_result *result,
			   char ret_digest[IMAGE_DIGEST], struct error *err)
{
	AUTO_FD upper = openat(w->lock, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct image_layer l;

	if (upper < 0)
		return error_sys(err, errno, "%s", w->upper);
	if (import_is_layout(upper))
		return import_parts(i, w, ret_digest, err);
	if (result->counts.entries == 0)
		return error_set(err, ERROR_INPUT, "the archive has nothing in it");
	add_counts(i, &result->counts);
	if (store_put_layer(i->s, w, result->tar, result->counts.bytes, &l, err) < 0)
		return -1;
	return add_single(i, &l, ret_digest, err);
}

static int import_archive(struct importing *i, int fd, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	struct unpack_result result = {0};
	struct image_work w;
	struct stat st;
	uint64_t size = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	int r;

	if (image_work_new(i->s, &w, err) < 0)
		return -1;
	r = unpack_into(i, &w, fd, "the archive", NULL, NULL, size, &result, err);
	if (r == 0)
		r = import_unpacked(i, &w, &result, ret_digest, err);
	image_work_done(i->s, &w);
	return r;
}

/* ---- both ---- */

static void say_left_out(const struct importing *i)
{
	const struct {
		uint64_t n;
		const char *what;
	} notes[] = {
		{i->left_out.devices, "device nodes were left out: sandboxes have a /dev of their own"},
		{i->left_out.xattrs, "extended attributes were left out: only user attributes are kept"},
		{i->left_out.ids, image_store_ids(i->s)->count == 1
					  ? "files belong to other users in the image, and to root here: you have no "
					    "ids in /etc/subuid and /etc/subgid"
					  : "files with user ids beyond 65535 belong to nobody"},
		{i->left_out.setuid, "setuid and setgid bits were dropped: there is only one user id here"},
	};
	char text[256];
	size_t k;

	for (k = 0; i->im->note && k < ARRAY_LEN(notes); k++) {
		if (!notes[k].n)
			continue;
		(void)snprintf(text, sizeof(text), "%llu %s", (unsigned long long)notes[k].n, notes[k].what);
		i->im->note(i->im->arg, text);
	}
}

static int open_source(const struct image_import *im, struct stat *ret, struct error *err)
{
	struct text_shown shown;
	AUTO_FD fd = strcmp(im->path, "-") == 0 ? fcntl(im->input, F_DUPFD_CLOEXEC, 3)
						: open(im->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0 || fstat(fd, ret) < 0)
		return error_sys(err, errno, "%s", text_show(&shown, sv_of(im->path)));
	if (S_ISBLK(ret->st_mode) || isatty(fd))
		return error_set(err, ERROR_USAGE, "%s is neither an archive nor a folder",
				 strcmp(im->path, "-") == 0 ? "a terminal" : text_show(&shown, sv_of(im->path)));
	return fd_take(&fd);
}

int image_import(struct image_store *s, const struct image_import *im, char ret_digest[IMAGE_DIGEST], struct error *err)
{
	struct importing i = {.s = s, .im = im};
	AUTO_FD fd = -1;
	struct stat st;
	int r;

	unpack_budget_init(&i.budget);
	if (image_name_canonical(sv_of(im->name), i.name, err) < 0)
		return -1;
	fd = open_source(im, &st, err);
	if (fd < 0)
		return -1;
	r = S_ISDIR(st.st_mode) ? import_folder(&i, fd, ret_digest, err) : import_archive(&i, fd, ret_digest, err);
	if (r == 0)
		say_left_out(&i);
	return r;
}
