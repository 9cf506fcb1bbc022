#include "supervise/reload.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static void watch(struct reload *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	char folder[PATH_MAX], *name;
	int wd;

	if (len >= sizeof(folder) || r->n == RELOAD_FILES)
		return;
	memcpy(folder, path, len);
	folder[len] = '\0';
	wd = inotify_add_watch(r->fd, len ? folder : slash ? "/" : ".", IN_CLOSE_WRITE | IN_MOVED_TO);
	name = wd < 0 ? NULL : strdup(slash ? slash + 1 : path);
	if (!name)
		return;
	r->files[r->n].folder = wd;
	r->files[r->n++].name = name;
}

void reload_init(struct reload *r, const char *const *paths, size_t n)
{
	char real[PATH_MAX];
	size_t i;

	*r = (struct reload){.fd = n ? inotify_init1(IN_NONBLOCK | IN_CLOEXEC) : -1};
	for (i = 0; r->fd >= 0 && i < n; i++) {
		watch(r, paths[i]);
		if (realpath(paths[i], real) && strcmp(real, paths[i]) != 0)
			watch(r, real);
	}
}

void reload_done(struct reload *r)
{
	while (r->n)
		free(r->files[--r->n].name);
	if (r->fd >= 0)
		(void)close(r->fd);
	r->fd = -1;
}

static bool is_watched(const struct reload *r, const struct inotify_event *e)
{
	size_t i;

	for (i = 0; e->len && i < r->n; i++)
		if (r->files[i].folder == e->wd && strcmp(r->files[i].name, e->name) == 0)
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
	return changed;
}
