#include "sandbox/docker/docker.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sandbox/docker/create.h"
#include "sandbox/docker/engine.h"
#include "sandbox/docker/image.h"
#include "sandbox/docker/lay.h"
#include "sandbox/docker/submounts.h"
#include "sandbox/docker/where.h"
#include "sys/beneath.h"
#include "sys/cgroup.h"
#include "sys/mountinfo.h"
#include "sys/process.h"

enum {
	PING_MS = 5000,
	CREATE_MS = 30000,
	START_MS = 60000,
	ASK_MS = 10000,
	KILL_MS = 5000,
	REMOVE_MS = 20000,
	DOCUMENT_MAX = 2 << 20,
	ID_HEX = 64, /* of a container */
	ROOT_UID_BASE = 1900000000, /* as native's: nobody's */
};

/* In the box's folder: the engine's socket, from before it is asked for anything; and, that the container was started.
 */
#define WHERE_FILE "docker"
#define STARTED_FILE "docker.started"

extern char **environ;

struct docker {
	struct engine engine;
	bool asked;    /* a container of that name may be there, and is ours */
	bool started;
	char container[ID_HEX + 1];
	pid_t pid; /* of cordon-init, where b->runtime_pidfd is */
	struct cgroup *cgroup; /* the engine's, to ask it; NULL: not found */
};

static void docker_ids(const struct plan *plan, struct box_ids *ret)
{
	uint32_t uid = geteuid() == 0 ? ROOT_UID_BASE + (uint32_t)getpid() : geteuid();

	if (plan->image)
		*ret = (struct box_ids){.user = BOX_USER_IS,
					.inside = plan->uid,
					.host = plan->uid ? plan->image->ids.first_uid + plan->uid - 1
							  : plan->image->ids.zero_uid,
					.host_init = uid,
					.mapped = true};
	else
		*ret = (struct box_ids){.user = BOX_USER_IS, .inside = uid, .host = uid, .host_init = uid};
}

/* A call about the container of a run: method, "/containers/cordon-ID" and what follows it. */
static int ask(const struct engine *e, const char *method, const char *id, const char *rest, int timeout_ms,
	       struct answer *a, struct error *err)
{
	char path[160];
	const struct engine_request req = {.method = method, .path = path, .timeout_ms = timeout_ms};

	(void)snprintf(path, sizeof(path), "/containers/cordon-%s%s", id, rest);
	return engine_call(e, &req, a, err);
}

/* What `docker inspect` says of it, or NULL. json_decref() it. */
static json_t *inspect(const struct engine *e, const char *id)
{
	AUTO_ANSWER a = {0};
	struct error ignored;

	if (ask(e, "GET", id, "/json", ASK_MS, &a, &ignored) < 0 || a.status != 200)
		return NULL;
	return json_loadb(a.body.p ? a.body.p : "", a.body.n, 0, NULL);
}

static int remember_where(struct box *b, const char *path, struct error *err)
{
	AUTO_FD fd = openat(b->dir_fd, WHERE_FILE, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : write_all(fd, path, strlen(path));

	return r < 0 ? error_sys(err, r, "%s/" WHERE_FILE, b->dir) : 0;
}

static bool is_container_id(const char *s)
{
	return s && strlen(s) == ID_HEX && strspn(s, "0123456789abcdef") == ID_HEX;
}

/* An engine that cannot keep a limit only mentions it; without the limit there is no sandbox. */
static int check_warnings(const json_t *answer, struct error *err)
{
	const json_t *warnings = json_object_get(answer, "Warnings");
	size_t i;

	for (i = 0; i < json_array_size(warnings); i++) {
		const char *w = json_string_value(json_array_get(warnings, i));

		if (w && create_check_warning(w, cgroup_host_swaps(NULL), err) < 0)
			return -1;
	}
	return 0;
}

static int created(struct docker *d, const struct answer *a, struct error *err)
{
	json_t *root = json_loadb(a->body.p ? a->body.p : "", a->body.n, 0, NULL);
	const char *id = json_string_value(json_object_get(root, "Id"));
	int r;

	if (is_container_id(id)) {
		memcpy(d->container, id, ID_HEX + 1);
		r = check_warnings(root, err);
	} else {
		r = error_set(err, ERROR_SYSTEM, "Docker Engine made a container and does not say which");
	}
	json_decref(root);
	return r;
}

/* 1: the image is not there. */
static int create_once(struct box *b, struct docker *d, struct sv document, struct error *err)
{
	AUTO_ANSWER a = {0};
	char path[128], message[400];
	const struct engine_request req = {
		.method = "POST", .path = path, .type = "application/json", .body = document, .timeout_ms = CREATE_MS};

	(void)snprintf(path, sizeof(path), "/containers/create?name=cordon-%s", b->id);
	d->asked = true;
	if (engine_call(&d->engine, &req, &a, err) < 0)
		return -1;
	if (a.status == 201)
		return created(d, &a, err);
	d->asked = false;
	engine_message(&a, message, sizeof(message));
	if (a.status == 404 && strcasestr(message, "no such image"))
		return 1;
	return engine_refused(&a, "the container could not be made", err);
}

/* One at a time, so that many first runs at once make one image: the others find it there. */
static int make_image_and_create(struct box *b, struct docker *d, const struct docker_image *image, struct sv document,
				 struct error *err)
{
	AUTO_FD lock = openat(b->dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (lock >= 0)
		(void)flock(lock, LOCK_EX);
	r = create_once(b, d, document, err);
	if (r <= 0)
		return r;
	if (docker_image_make(image, &d->engine, err) < 0)
		return -1;
	r = create_once(b, d, document, err);
	return r <= 0 ? r
		      : error_set(err, ERROR_SYSTEM,
				  "the image of the sandbox's root is removed as soon as it is made");
}

static int show_submounts(const struct box *b, struct box *view, struct error *err)
{
	AUTO_BUF mountinfo = {0};
	int r;

	r = sys_mountinfo_read(&mountinfo);
	return r < 0 ? error_sys(err, r, "/proc/self/mountinfo") : submounts_show(b, buf_view(&mountinfo), view, err);
}

static int create(struct box *b, struct docker *d, struct error *err)
{
	AUTO_FD root = open(b->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct box view = *b;
	struct create c = {.box = &view, .api = d->engine.api, .rootless = d->engine.rootless};
	AUTO_BUF document = {0};
	struct docker_image image;
	int r;

	if (root < 0)
		return error_sys(err, errno, "%s", b->root);
	if (d->engine.api < ENGINE_API_RECURSIVE_READ_ONLY && show_submounts(b, &view, err) < 0)
		return -1;
	b->mounts = view.mounts;
	b->n_mounts = view.n_mounts;
	buf_init(&document, DOCUMENT_MAX);
	r = docker_image_init(&image, root, err);
	c.image = image.name;
	if (r == 0)
		r = create_document(&c, &document, err);
	if (r == 0)
		r = create_once(b, d, buf_view(&document), err);
	if (r == 1)
		r = make_image_and_create(b, d, &image, buf_view(&document), err);
	docker_image_done(&image);
	return r;
}

/* The number is one of this kernel and of our namespace only if the process is in the container's cgroup. */
static bool is_in_container(pid_t pid, const char *container)
{
	AUTO_BUF b = {0};
	char path[64];

	buf_init(&b, 64 * 1024);
	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	return buf_read_file(&b, path) == 0 && memmem(b.p ? b.p : "", b.n, container, ID_HEX);
}

/* The engine names a container's cgroup in one of two ways. */
static void open_cgroup(struct docker *d, pid_t pid)
{
	char self[64], scope[ID_HEX + 32];
	const struct cgroup_env env = {.self = self};

	(void)snprintf(self, sizeof(self), "/proc/%d/cgroup", (int)pid);
	(void)snprintf(scope, sizeof(scope), "docker-%s.scope", d->container);
	if (cgroup_open_folder(&env, d->container, &d->cgroup) < 0)
		(void)cgroup_open_folder(&env, scope, &d->cgroup);
}

static void find_process(struct box *b, struct docker *d)
{
	json_t *root = inspect(&d->engine, b->id);
	json_int_t pid = json_integer_value(json_object_get(json_object_get(root, "State"), "Pid"));
	AUTO_FD fd = pid > 1 && pid <= INT32_MAX ? sys_pidfd_open((pid_t)pid) : -1;
	struct pollfd ended = {.fd = fd, .events = POLLIN};

	json_decref(root);
	/* asked after the descriptor was opened, of a process that still runs: it is about that process */
	if (fd < 0 || !is_in_container((pid_t)pid, d->container) || poll(&ended, 1, 0) != 0)
		return;
	open_cgroup(d, (pid_t)pid);
	b->runtime_pidfd = fd_take(&fd);
	d->pid = (pid_t)pid;
}

static int start(struct box *b, struct docker *d, struct error *err)
{
	AUTO_ANSWER a = {0};

	if (ask(&d->engine, "POST", b->id, "/start", START_MS, &a, err) < 0)
		return -1;
	if (a.status != 204)
		return engine_refused(&a, "the container could not be started", err);
	d->started = true;
	(void)close(openat(b->dir_fd, STARTED_FILE, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	find_process(b, d);
	return 0;
}

/* The engine was given a name; what it made of it is looked at before anything runs there. */
static int check_network(const struct box *b, const struct docker *d, struct error *err)
{
	struct stat wanted, found;
	char path[64];

	if (!b->join.id)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)d->pid);
	if (b->runtime_pidfd < 0 || b->join.net < 0 || fstat(b->join.net, &wanted) < 0 || stat(path, &found) < 0 ||
	    sys_pidfd_signal(b->runtime_pidfd, 0) < 0)
		return error_set(err, ERROR_MISSING,
				 "docker: the container does not run on this machine, or ended at once; the network "
				 "that it is to share cannot be looked at");
	if (wanted.st_dev != found.st_dev || wanted.st_ino != found.st_ino)
		return error_set(err, ERROR_DENIED,
				 "docker: the engine gave the container another network than that of the sandbox %s",
				 b->join.id);
	return 0;
}

static int docker_start(struct box *b, struct error *err)
{
	AUTO_FREE char *path = NULL;
	struct docker *d = calloc(1, sizeof(*d));

	if (b->plan->image && (lay_check(b, err) < 0 || lay_places(b, err) < 0)) {
		free(d);
		return -1;
	}
	if (!d)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	b->own = d;
	if (where_is_docker(environ, &path, err) < 0 || engine_init(&d->engine, path, PING_MS, err) < 0 ||
	    remember_where(b, path, err) < 0)
		return -1;
	if (create(b, d, err) < 0 || start(b, d, err) < 0 || check_network(b, d, err) < 0)
		return -1;
	return b->plan->image ? lay_image(b, err) : 0;
}

static void docker_stop(struct box *b)
{
	struct docker *d = b->own;
	AUTO_ANSWER a = {0};
	struct error ignored;

	int r = b->runtime_pidfd < 0 ? -EBADF : sys_pidfd_signal(b->runtime_pidfd, SIGKILL);

	if (r < 0 && r != -ESRCH && d->started)
		(void)ask(&d->engine, "POST", b->id, "/kill?signal=KILL", KILL_MS, &a, &ignored);
}

/* Waits until the engine has removed it, which it begins to do by itself when one that was started ends. False: it has
 * not, or cannot be asked. */
static bool wait_removed(const struct engine *e, const char *id)
{
	AUTO_ANSWER a = {0};
	struct error ignored;

	return ask(e, "POST", id, "/wait?condition=removed", REMOVE_MS, &a, &ignored) == 0 &&
	       (a.status == 200 || a.status == 404);
}

/* True: there was one. A removal that is under way already is a conflict: then it is waited for. */
static bool remove_container(const struct engine *e, const char *id)
{
	AUTO_ANSWER a = {0};
	struct error ignored;

	if (ask(e, "DELETE", id, "?force=1&v=1", REMOVE_MS, &a, &ignored) < 0 || a.status == 404)
		return false;
	return a.status == 204 || wait_removed(e, id);
}

static void docker_done(struct box *b)
{
	struct docker *d = b->own;

	if (d->asked && !(d->started && wait_removed(&d->engine, b->id)))
		(void)remove_container(&d->engine, b->id);
	cgroup_free(d->cgroup);
	engine_done(&d->engine);
	free(d);
	b->own = NULL;
}

static bool docker_said(struct box *b, char *out, size_t size)
{
	struct docker *d = b->own;
	json_t *root = inspect(&d->engine, b->id), *state = json_object_get(root, "State");
	const char *text = json_string_value(json_object_get(state, "Error"));
	struct text_shown shown;
	bool known = true;

	if (text && *text)
		(void)snprintf(out, size, "%s", text_show(&shown, sv_of(text)));
	else if (json_is_true(json_object_get(state, "OOMKilled")))
		(void)snprintf(out, size, "process.memory is too little to start in");
	else if (state && !json_is_true(json_object_get(state, "Running")))
		(void)snprintf(out, size, "cordon-init ended with status %" JSON_INTEGER_FORMAT,
			       json_integer_value(json_object_get(state, "ExitCode")));
	else
		known = false;
	json_decref(root);
	return known;
}

static void docker_stats(struct box *b, bool failed, struct cgroup_stats *ret)
{
	struct docker *d = b->own;

	json_t *root;

	if (d->cgroup)
		cgroup_stats(d->cgroup, ret);
	if (!failed || (ret->known & CGROUP_MEMORY))
		return;
	/* not found, or gone by now: the engine may know the most important of it; asking takes as long as it takes to
	 * stop */
	root = inspect(&d->engine, b->id);
	ret->oom_kills = json_is_true(json_object_get(json_object_get(root, "State"), "OOMKilled"));
	json_decref(root);
}

/* The engine finishes what it was asked for, also where nobody waits for it: a container may come up a while after
 * whoever asked for it was killed. */
static bool may_still_come(const char *dir)
{
	AUTO_FD fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fstatat(fd, STARTED_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	    fstatat(fd, WHERE_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	return time(NULL) - st.st_mtime < (CREATE_MS + START_MS) / 1000;
}

static bool docker_sweep(const char *dir, const char *id)
{
	AUTO_FREE char *file = NULL;
	AUTO_BUF path = {0};
	struct engine e = {0};
	struct error ignored;
	bool found = false;

	buf_init(&path, 4096);
	if (asprintf(&file, "%s/" WHERE_FILE, dir) < 0) {
		file = NULL;
		return false;
	}
	if (buf_read_file(&path, file) < 0)
		return true; /* it had not come to that */
	/* an engine that is down removes such containers itself when it comes up */
	if (path.n && engine_init(&e, path.p, PING_MS, &ignored) == 0)
		found = remove_container(&e, id);
	engine_done(&e);
	return found || !may_still_come(dir);
}

int docker_ping(const char *path, struct error *err)
{
	struct engine e;
	int r = engine_init(&e, path, PING_MS, err);

	engine_done(&e);
	return r;
}

const struct box_backend docker_backend = {
	.name = "docker",
	.ids = docker_ids,
	.start = docker_start,
	.stop = docker_stop,
	.done = docker_done,
	.said = docker_said,
	.stats = docker_stats,
	.sweep = docker_sweep,
	.landlock = true,
	.sends_fds = true,
	.own_cgroup = true,
};
