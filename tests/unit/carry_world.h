/*
 * carry_world: an image of two layers, the upper folder of an agent, and what task/carry makes of them. For its tests.
 */
#ifndef CORDON_TESTS_CARRY_WORLD_H
#define CORDON_TESTS_CARRY_WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "image/ids.h"
#include "sys/tree.h"
#include "task/carry.h"
#include "task/carry_project.h"
#include "task/carry_text.h"

struct world {
	char base[64], lower[2][96];
	const char *layers[3];
	int top, image, second, upper, to;
	struct carry_request req;
	struct error err;
	char said[65536]; /* "rule path\n" */
	size_t n_said;
};

static inline void note(void *arg, const char *rule, const char *path, const char *message)
{
	struct world *w = arg;
	int n = snprintf(w->said + w->n_said, sizeof(w->said) - w->n_said, "%s %s\n", rule, path);

	CHECK(message[0] && n > 0 && w->n_said + (size_t)n < sizeof(w->said));
	w->n_said += (size_t)n;
}

static inline int folder(struct world *w, const char *name)
{
	CHECK(mkdirat(w->top, name, 0755) == 0);
	return openat(w->top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static inline void make_folders(int dir, const char *path)
{
	char part[512];
	const char *s = path;

	while ((s = strchr(s, '/'))) {
		snprintf(part, sizeof(part), "%.*s", (int)(s - path), path);
		CHECK(mkdirat(dir, part, 0755) == 0 || errno == EEXIST);
		s++;
	}
}

static inline void put(int dir, const char *path, const char *text, mode_t mode)
{
	AUTO_FD fd = -1;

	make_folders(dir, path);
	fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0);
}

static inline void link_to(int dir, const char *path, const char *target)
{
	make_folders(dir, path);
	CHECK(symlinkat(target, dir, path) == 0);
}

static inline void delete(int dir, const char *path)
{
	make_folders(dir, path);
	CHECK(mknodat(dir, path, S_IFCHR, 0) == 0);
}

static inline void opaque(int dir, const char *path)
{
	AUTO_FD fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(fd >= 0 && fsetxattr(fd, "user.overlay.opaque", "y", 1, 0) == 0);
}

/* An image with a Python, a node and what else there is to attack. */
static inline void world_open(struct world *w)
{
	*w = (struct world){0};
	snprintf(w->base, sizeof(w->base), "/var/tmp/cordon-carry.XXXXXX");
	CHECK(mkdtemp(w->base) != NULL);
	w->top = open(w->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w->image = folder(w, "base");
	w->second = folder(w, "second");
	w->upper = folder(w, "upper");
	w->to = folder(w, "to");
	snprintf(w->lower[0], sizeof(w->lower[0]), "%s/second", w->base);
	snprintf(w->lower[1], sizeof(w->lower[1]), "%s/base", w->base);
	w->layers[0] = w->lower[0];
	w->layers[1] = w->lower[1];
	w->req = (struct carry_request){
		.upper = w->upper, .layers = w->layers, .workdir = "/app", .report = note, .arg = w};
	put(w->image, "usr/bin/sh", "#!sh", 0755);
	put(w->image, "usr/bin/python3", "\177ELF", 0755);
	put(w->image, "usr/bin/grep", "\177ELF", 0755);
	put(w->image, "usr/bin/sqlite3", "\177ELF", 0755);
	link_to(w->image, "bin", "usr/bin");
	link_to(w->image, "lib", "usr/lib");
	put(w->image, "usr/lib/x86_64-linux-gnu/libc.so.6", "\177ELF", 0644);
	put(w->image, "usr/lib/python3.11/json/__init__.py", "", 0644);
	put(w->image, "usr/lib/python3/dist-packages/yaml/__init__.py", "", 0644);
	put(w->second, "usr/local/lib/python3.11/dist-packages/requests/__init__.py", "", 0644);
	put(w->image, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n", 0644);
	put(w->image, "etc/nginx/nginx.conf", "worker 1;\n", 0644);
	put(w->image, "opt/tool/bin/tool", "\177ELF", 0755);
	put(w->image, "opt/data/input.csv", "1", 0644);
	put(w->image, "srv/check.sh", "#!/bin/sh\n", 0755);
	put(w->second, "app/main.py", "print(1)\n", 0644);
	put(w->second, "app/conftest.py", "# the image's\n", 0644);
	put(w->second, "app/run.sh", "#!/bin/sh\n", 0755);
	put(w->second, "app/node_modules/left/index.js", "1", 0644);
	CHECK(mkdirat(w->image, "tmp", 01777) == 0 && mkdirat(w->image, "root", 0700) == 0 &&
	      mkdirat(w->image, "var", 0755) == 0);
}

static inline void world_close(struct world *w)
{
	sys_empty_tree(w->top);
	close(w->image);
	close(w->second);
	close(w->upper);
	close(w->to);
	close(w->top);
	CHECK(rmdir(w->base) == 0);
}

static inline void carry(struct world *w)
{
	int r = carry_changes(&w->req, w->to, &w->err);

	if (r < 0)
		printf("# %s\n", w->err.text);
	CHECK(r == 0);
}

static inline bool there(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline bool said(const struct world *w, const char *rule, const char *path)
{
	char line[512];

	snprintf(line, sizeof(line), "carry.%s /%s\n", rule, path);
	return strstr(w->said, line) != NULL;
}

/* In the upper folder, and not in what is carried; reported under that rule. */
static inline void dropped(const struct world *w, const char *rule, const char *path)
{
	if (!there(w->upper, path) || there(w->to, path) || !said(w, rule, path)) {
		printf("# %s: %s%s\n# said: %s\n", path, there(w->upper, path) ? "" : "not in upper ",
		       there(w->to, path) ? "carried" : "dropped otherwise", w->said);
		check_failures++;
	}
}

static inline void carried(const struct world *w, const char *path)
{
	if (!there(w->to, path)) {
		printf("# %s: not carried\n# said: %s\n", path, w->said);
		check_failures++;
	}
}

static inline void check_text(int dir, const char *name, const char *want)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char got[1024] = "";

	CHECK(fd >= 0 && read(fd, got, sizeof(got) - 1) >= 0);
	CHECK_STR(got, want);
}

static inline int succeed(void *arg)
{
	(void)arg;
	return 0;
}

static inline int give_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)type;
	(void)at;
	if (st->st_uid == 0)
		CHECK(lchown(path, 1700000000, 1700000000) == 0);
	return 0;
}

/* What is root's becomes the image's root's. */
static inline void give(const char *path)
{
	CHECK(nftw(path, give_one, 16, FTW_PHYS) == 0);
}

#endif
