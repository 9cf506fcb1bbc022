#include "task/compose.h"
#include "task/compose_up.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "sys/tree.h"
#include "task/build.h"
#include "task/compose_bind.h"
#include "task/compose_docker.h"
#include "task/compose_write.h"

#define ENGINE_FILE "engine"

enum { UP_MS = 600000, DOWN_MS = 60000, SOCKET_MAX = 4096 };

static int fail(const struct compose_project *p, const char *what, struct error *err)
{
	struct text_shown shown;

	return error_sys(err, errno, "%.200s/%s", text_show(&shown, sv_of(p->folder)), what);
}

static int make_folder(int dir, const char *name, mode_t mode)
{
	AUTO_FD fd =
		mkdirat(dir, name, 0700) < 0 ? -1 : openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* whatever the umask is */
	return fd < 0 || fchmod(fd, mode) < 0 ? -1 : fd_take(&fd);
}

static int open_root(const struct compose_project *p, struct error *err)
{
	AUTO_FD root = -1;
	struct text_shown shown;
	char path[PATH_MAX];
	struct stat st;
	int r;

	(void)snprintf(path, sizeof(path), "%s", p->root);
	r = sys_make_folders(path);
	root = r < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r < 0 || root < 0 || fstat(root, &st) < 0)
		return error_sys(err, r < 0 ? r : errno, "%.300s", text_show(&shown, sv_of(path)));
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return error_set(err, ERROR_SYSTEM, "%.300s can be written to by others; it must be yours alone",
				 text_show(&shown, sv_of(path)));
	return fd_take(&root);
}

/* False: somebody else has it, or has removed it. */
static bool lock(int folder)
{
	struct stat st;

	return flock(folder, LOCK_EX | LOCK_NB) == 0 && fstat(folder, &st) == 0 && st.st_nlink > 0;
}

int compose_hold(const struct compose_project *p, struct compose_held *ret, struct error *err)
{
	AUTO_FD root = open_root(p, err);
	AUTO_FD folder = -1;
	AUTO_FD stage = -1;

	if (root < 0)
		return -1;
	folder = make_folder(root, p->name, 0700);
	if (folder < 0 && errno == EEXIST)
		return error_set(err, ERROR_INPUT,
				 "there is a %s already; `cordon task down %s` ends it, --name gives another name",
				 p->name, p->name);
	if (folder < 0)
		return fail(p, "", err);
	if (!lock(folder))
		return error_set(err, ERROR_USAGE, "%s was removed meanwhile; try again", p->name);
	stage = make_folder(folder, "stage", 0755);
	if (stage < 0) {
		(void)fail(p, "stage", err);
		sys_remove_tree(root, p->name);
		return -1;
	}
	*ret = (struct compose_held){.folder = fd_take(&folder), .stage = fd_take(&stage)};
	return 0;
}

void compose_release(struct compose_held *h)
{
	cleanup_fd(&h->folder);
	cleanup_fd(&h->stage);
	*h = (struct compose_held)COMPOSE_HELD_NONE;
}

/* ---- up ---- */

struct raising {
	const struct compose_up *up;
	struct compose_docker *docker;
	struct image_store *store; /* NULL: not needed yet */
	struct arena *arena;
};

static void begin(const struct raising *r, const char *phase)
{
	const struct task_progress *to = r->up->progress;

	if (to && to->phase)
		to->phase(to->arg, phase);
}

/* The folder has to say where it runs before anything does. */
static int note_engine(const struct raising *r, struct error *err)
{
	const char *socket = compose_docker_socket(r->docker);
	AUTO_FD fd =
		openat(r->up->held->folder, ENGINE_FILE, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || write_all(fd, socket, strlen(socket)) < 0)
		return fail(r->up->project, ENGINE_FILE, err);
	return 0;
}

static int open_tool(struct raising *r, struct error *err)
{
	AUTO_FD tool = make_folder(r->up->held->folder, "tool", 0700);
	const char *path = arena_printf(r->arena, "%s/tool", r->up->project->folder);

	if (tool < 0 || !path)
		return fail(r->up->project, "tool", err);
	if (compose_docker_new(path, r->up->project->project, buf_view(&r->up->file->text), r->up->environment,
			       &r->docker, err) < 0 ||
	    compose_docker_unused(r->docker, err) < 0)
		return -1;
	return note_engine(r, err);
}

static void tell_note(void *arg, const char *text)
{
	const struct raising *r = arg;
	const struct task_progress *to = r->up->progress;

	if (to && to->line)
		to->line(to->arg, text);
}

static void tell_step(void *arg, size_t at, size_t all, const char *text, bool cached)
{
	(void)at; /* the engine's own text has these */
	(void)all;
	(void)cached;
	tell_note(arg, text);
}

static const char *join(struct arena *a, const char *folder, const char *path)
{
	if (strcmp(folder, ".") == 0)
		return path;
	return strcmp(path, ".") == 0 ? folder : arena_printf(a, "%s/%s", folder, path);
}

static int build(struct raising *r, const struct compose_build *b, const char *tag, struct error *err)
{
	const char *context = join(r->arena, r->up->file->context, b->context),
		   *shown = context ? join(r->arena, context, b->dockerfile) : NULL;
	AUTO_FD folder = context ? sys_open_beneath(r->up->held->stage, context, O_RDONLY | O_DIRECTORY, 0) : -ENOMEM;
	struct build_request req = {.context = folder,
				    .modes = r->up->modes,
				    .dockerfile = b->dockerfile,
				    .shown = shown,
				    .target = b->target[0] ? b->target : NULL,
				    .args = compose_arguments(r->arena, &b->args),
				    .engine = compose_docker_socket(r->docker),
				    .network = r->up->build_network,
				    .step = tell_step,
				    .note = tell_note,
				    .arg = r};

	if (folder < 0 || arena_failed(r->arena))
		return error_sys(err, folder < 0 ? folder : -ENOMEM, "the staged %.200s", context ? context : "task");
	if (!r->store && image_store_open(&r->store, err) < 0)
		return -1;
	req.store = r->store;
	req.limit = (struct image_limit){.room = r->up->storage,
					 .until_ms = r->up->build_ms ? now_ms() + (int64_t)r->up->build_ms : 0};
	return build_docker_leave(&req, tag, err);
}

static int make_images(struct raising *r, struct error *err)
{
	const struct compose *c = r->up->file->compose;
	struct text_shown shown;
	uint32_t i;
	int there;

	/* what is missing is told before anything is built */
	for (i = 0; i < c->n_services; i++) {
		there = c->services[i].build.set ? 1 : compose_docker_has_image(r->docker, r->up->file->images[i], err);
		if (there < 0)
			return -1;
		/* one that is built may serve others, too */
		if (!there && strcmp(r->up->file->images[i], r->up->file->images[c->main]) == 0 &&
		    c->services[c->main].build.set)
			continue;
		if (!there)
			return error_set(err, ERROR_MISSING,
					 "Docker Engine has no image %.200s, which the service %s wants; `docker pull` "
					 "brings it",
					 text_show(&shown, sv_of(r->up->file->images[i])), c->services[i].name);
	}
	begin(r, r->up->build_network ? "build" : "build, without a network (--build-network gives one)");
	for (i = 0; i < c->n_services; i++)
		if (c->services[i].build.set && build(r, &c->services[i].build, r->up->file->images[i], err) < 0)
			return -1;
	return 0;
}

static int copy_binds(const struct raising *r, int folder, int copies, struct error *err)
{
	const struct compose *c = r->up->file->compose;
	uint32_t i, k;
	char name[32];

	for (i = 0; i < c->n_services; i++)
		for (k = 0; k < c->services[i].mounts.n; k++) {
			const struct compose_mount *m = &c->services[i].mounts.v[k];

			if (m->kind != COMPOSE_MOUNT_TASK || compose_bind(m, r->up->file->hidden) != COMPOSE_BIND_COPY)
				continue;
			(void)snprintf(name, sizeof(name), "%u.%u", i, k);
			if (compose_bind_copy(folder, m, r->up->file->hidden, copies, name, err) < 0)
				return -1;
		}
	return 0;
}

/* Services write to them as whoever they are; nobody else of this machine gets through the folder above. */
static int make_logs(const struct raising *r, struct error *err)
{
	AUTO_FD logs = make_folder(r->up->held->folder, "logs", 0755);
	size_t i;

	for (i = 0; logs >= 0 && r->up->file->folders[i]; i++) {
		AUTO_FD one = make_folder(logs, r->up->file->folders[i], 01777);

		if (one < 0)
			return fail(r->up->project, "logs", err);
	}
	return logs < 0 ? fail(r->up->project, "logs", err) : 0;
}

static int make_mounts(const struct raising *r, struct error *err)
{
	AUTO_FD folder = sys_open_beneath(r->up->held->stage, r->up->file->context, O_RDONLY | O_DIRECTORY, 0);
	AUTO_FD copies = make_folder(r->up->held->folder, "copies", 0755);

	if (folder < 0 || copies < 0)
		return error_sys(err, folder < 0 ? folder : errno, "the folders of the services");
	return copy_binds(r, folder, copies, err) < 0 ? -1 : make_logs(r, err);
}

int compose_up(const struct compose_up *up, struct arena *a, char container[COMPOSE_CONTAINER_MAX], struct error *err)
{
	const struct compose *c = up->file->compose;
	struct raising r = {.up = up, .arena = a};
	int ret;

	begin(&r, "images");
	ret = open_tool(&r, err) < 0 || make_images(&r, err) < 0 || make_mounts(&r, err) < 0 ? -1 : 0;
	if (ret == 0) {
		begin(&r, "start");
		ret = compose_docker_up(r.docker, UP_MS, err);
	}
	if (ret == 0)
		ret = compose_docker_container(r.docker, c->services[c->main].name, container, COMPOSE_CONTAINER_MAX,
					       err);
	image_store_close(r.store);
	compose_docker_free(r.docker);
	return ret;
}

/* ---- down ---- */

/* 0: *ret is the engine's socket; 1: nothing of it was ever started. */
static int read_engine(const struct compose_project *p, int folder, struct buf *ret, struct error *err)
{
	AUTO_FD fd = openat(folder, ENGINE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r;

	if (fd < 0 && errno == ENOENT)
		return 1;
	r = fd < 0 ? -errno : buf_read_fd(ret, fd);
	if (r == 0 && ret->n == 0)
		return 1; /* killed while it was written */
	if (r == 0 && (ret->p[0] != '/' || strlen(ret->p) != ret->n))
		r = -EINVAL;
	if (r < 0)
		errno = -r;
	return r < 0 ? fail(p, ENGINE_FILE, err) : 0;
}

static int end_at_engine(const struct compose_project *p, const char *socket, char *const *environment,
			 struct error *err)
{
	struct compose_docker *d = NULL;
	char tool[PATH_MAX];
	struct text_shown shown;
	int r;

	if (snprintf(tool, sizeof(tool), "%s/tool", p->folder) >= (int)sizeof(tool))
		return error_set(err, ERROR_INPUT, "XDG_STATE_HOME: the path is too long");
	r = compose_docker_again(tool, p->project, socket, environment, &d, err);
	if (r == 0)
		r = compose_docker_down(d, DOWN_MS, err);
	if (r == 0)
		r = compose_docker_forget_images(d, err);
	compose_docker_free(d);
	if (r == 0)
		return 0;
	return error_prefix(err,
			    "%s: containers, volumes and images of the project %s may be left at Docker Engine, and "
			    "the folder %.150s; try again when the engine answers",
			    p->name, p->project, text_show(&shown, sv_of(p->folder)));
}

static int end_project(const struct compose_project *p, int root, int folder, char *const *environment,
		       struct error *err)
{
	struct text_shown shown;
	AUTO_BUF socket = {0};
	int r;

	buf_init(&socket, SOCKET_MAX);
	r = read_engine(p, folder, &socket, err);
	if (r < 0 || (r == 0 && end_at_engine(p, socket.p, environment, err) < 0))
		return -1;
	/* killed from here on, or with files left that are not ours, the next `down` has nothing to ask the engine */
	if (r == 0 && unlinkat(folder, ENGINE_FILE, 0) < 0)
		return fail(p, ENGINE_FILE, err);
	sys_remove_tree(root, p->name);
	if (faccessat(root, p->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERROR_SYSTEM,
				 "%s has ended; in %.300s are files that its containers made, as another user, and "
				 "which only root can remove",
				 p->name, text_show(&shown, sv_of(p->folder)));
	return 0;
}

int compose_abandon(const struct compose_project *p, const struct compose_held *h, char *const *environment,
		    struct error *err)
{
	AUTO_FD root = open(p->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return root < 0 ? fail(p, "", err) : end_project(p, root, h->folder, environment, err);
}

int compose_down(const struct compose_project *p, char *const *environment, struct error *err)
{
	AUTO_FD root = open(p->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD folder = root < 0 ? -1 : openat(root, p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (folder < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return error_set(err, ERROR_INPUT, "there is no %s; `cordon task down` lists what is up", p->name);
	if (folder < 0)
		return fail(p, "", err);
	if (!lock(folder))
		return error_set(err, ERROR_USAGE,
				 "%s is in use by another `cordon task up` or `down`; wait for it, or end it", p->name);
	return end_project(p, root, folder, environment, err);
}
