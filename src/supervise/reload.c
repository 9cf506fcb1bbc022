#include "supervise/reload.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* A name in a folder; once, however often it is asked for. */
static void watch(struct reload *r, const char *path, bool link)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = slash ? (size_t)(slash - path) : 0, i;
	char folder[PATH_MAX];
	int wd;

	if (len >= sizeof(folder))
		return;
	memcpy(folder, path, len);
	folder[len] = '\0';
	wd = inotify_add_watch(r->fd, len ? folder : slash ? "/" : ".", IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE);
	for (i = 0; i < r->n && !(r->files[i].folder == wd && strcmp(r->files[i].name, name) == 0); i++)
		;
	if (wd < 0 || i == RELOAD_FILES)
		return;
	if (i == r->n) {
		r->files[i].name = strdup(name);
		if (!r->files[i].name)
			return;
		r->n++;
	}
	r->files[i].folder = wd;
	r->files[i].link = link;
}

/* Where the link leads, with what follows it in the path. False: it is none, or that is too long. */
static bool follow(const char *path, size_t len, char ret[PATH_MAX])
{
	char link[PATH_MAX], target[PATH_MAX];
	const char *slash;
	ssize_t n;
	int up;

	(void)snprintf(link, sizeof(link), "%.*s", (int)len, path);
	n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	slash = strrchr(link, '/');
	up = target[0] == '/' || !slash ? 0 : (int)(slash - link) + 1;
	return snprintf(ret, PATH_MAX, "%.*s%s%s", up, link, target, path + len) < PATH_MAX;
}

/* A path, and every link on its way: who makes one lead elsewhere changes what the path names, and often means to. */
static void watch_way(struct reload *r, const char *path, unsigned links)
{
	char link[PATH_MAX], next[PATH_MAX];
	size_t len;

	for (len = 1; path[0]; len++) {
		if (path[len] && path[len] != '/')
			continue;
		if (len < sizeof(link) && links && follow(path, len, next)) {
			(void)snprintf(link, sizeof(link), "%.*s", (int)len, path);
			watch(r, link, true);
			watch_way(r, next, links - 1);
			return;
		}
		if (!path[len])
			break;
	}
	watch(r, path, false);
}

static void watch_all(struct reload *r)
{
	size_t i;

	for (i = 0; r->fd >= 0 && i < r->n_paths; i++)
		watch_way(r, r->paths[i], RELOAD_LINKS);
}

void reload_init(struct reload *r, const char *const *paths, size_t n)
{
	*r = (struct reload){.fd = n ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1, .paths = paths, .n_paths = n};
	watch_all(r);
}

void reload_done(struct reload *r)
{
	while (r->n)
		free(r->files[--r->n].name);
	if (r->fd >= 0)
		(void)close(r->fd);
	r->fd = -1;
}

/* A file that was made is told of when it was written, too; a link that was made is all there is. */
static bool is_watched(const struct reload *r, const struct inotify_event *e)
{
	size_t i;

	for (i = 0; e->len && i < r->n; i++)
		if (r->files[i].folder == e->wd && strcmp(r->files[i].name, e->name) == 0 &&
		    (!(e->mask & IN_CREATE) || r->files[i].link))
			return true;
	return false;
}

bool reload_changed(struct reload *r)
{
	_Alignas(struct inotify_event) char bytes[16384];
	const struct inotify_event *e;
	bool changed = false;
	ssize_t n, at;

	while ((n = read(r->fd, bytes, sizeof(bytes))) > 0) {
		for (at = 0; at < n; at += (ssize_t)(sizeof(*e) + e->len)) {
			e = (const struct inotify_event *)(const void *)(bytes + at);
			/* too many to be told: it may have been one of ours */
			changed |= is_watched(r, e) || (e->mask & IN_Q_OVERFLOW);
		}
	}
	/* links may lead elsewhere now */
	if (changed)
		watch_all(r);
	return changed;
}
