#include "sandbox/common/box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/real_path.h"
#include "base/text.h"
#include "model/inside.h"
#include "sandbox/common/box_root.h"
#include "sys/cgroup.h"
#include "sys/process.h"
#include "sys/tree.h"
#include "wire/wire.h"

enum { CONNECT_STEP_MS = 50 };

int box_root(const char *fallback, bool make, char **ret, struct error *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	AUTO_FREE char *path = NULL;
	bool root = geteuid() == 0;
	struct stat st;
	int n;

	if (root)
		n = asprintf(&path, "/run/cordon");
	else if (runtime && runtime[0] == '/' && stat(runtime, &st) == 0 && st.st_uid == geteuid())
		n = asprintf(&path, "%s/cordon", runtime);
	else
		n = asprintf(&path, "%s", fallback);
	if (n < 0) {
		path = NULL;
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	if (make && mkdir(path, root ? 0711 : 0700) < 0 && errno != EEXIST)
		return error_sys(err, errno, "%s", path);
	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (root ? 0022 : 0077)))
		return error_set(err, ERROR_DENIED, "%s: must be a folder of yours that nobody else can write to%s",
				 path, root ? "" : " or enter");
	/* the kernel tells where things are by names without links and dots */
	*ret = real_path(path, NULL);
	return *ret ? 0 : error_sys(err, errno, "%s", path);
}

/* A name that is too long for a socket's address is reached through the folder's descriptor. */
static int listen_at(int dir, const char *name, int type)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", dir, name);
	/* who may enter the folder may connect */
	if (bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 || fchmodat(dir, name, 0666, 0) < 0 ||
	    listen(fd, SOMAXCONN) < 0) {
		int code = errno;

		(void)close(fd);
		return -code;
	}
	return fd;
}

static int make_sockets(struct box *b, struct error *err)
{
	AUTO_FD run = openat(b->dir_fd, "run", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD init = run < 0 ? -1 : openat(run, "init", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);

	if (init < 0)
		return error_sys(err, errno, "%s/run", b->dir);
	b->control = listen_at(run, "control", SOCK_SEQPACKET);
	if (b->control < 0)
		return error_sys(err, b->control, "%s/run/control", b->dir);
	if (!b->plan->n_listeners)
		return 0;
	b->door = listen_at(run, "door", SOCK_STREAM);
	return b->door < 0 ? error_sys(err, b->door, "%s/run/door", b->dir) : 0;
}

/* While the folder of all boxes is held, nobody takes one that is not locked yet for a dead one: see hold_dead(). */
static int make_locked(struct box *b, const char *root, struct error *err)
{
	AUTO_FD all = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (all < 0 || flock(all, LOCK_SH) < 0)
		return error_sys(err, errno, "%s", root);
	if (mkdir(b->dir, 0700) < 0) {
		(void)error_sys(err, errno, "%s", b->dir);
		b->dir = NULL; /* not ours to remove */
		return -1;
	}
	b->dir_fd = open(b->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (b->dir_fd < 0)
		return error_sys(err, errno, "%s", b->dir);
	b->lock = openat(b->dir_fd, "lock", O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (b->lock < 0 || flock(b->lock, LOCK_EX | LOCK_NB) < 0 ||
	    write(b->lock, b->backend->name, strlen(b->backend->name)) < 0)
		return error_sys(err, errno, "%s/lock", b->dir);
	return 0;
}

/* The folder itself, locked; entered by us and by whoever is root inside. */
static int make_folder(struct box *b, const char *root, struct error *err)
{
	b->dir = arena_printf(b->arena, "%s/%s", root, b->id);
	b->leader_dir = b->join.id ? arena_printf(b->arena, "%s/%s", root, b->join.id) : NULL;
	if (arena_failed(b->arena))
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (make_locked(b, root, err) < 0)
		return -1;
	if (b->ids.host_init != geteuid() &&
	    (fchown(b->dir_fd, (uid_t)-1, b->ids.host_init) < 0 || fchmod(b->dir_fd, 0710) < 0))
		return error_sys(err, errno, "%s", b->dir);
	if (mkdirat(b->dir_fd, "run", 0755) < 0 || fchmodat(b->dir_fd, "run", 0755, 0) < 0)
		return error_sys(err, errno, "%s", b->dir);
	return 0;
}

int box_new(const struct box_request *req, struct box **ret, struct error *err)
{
	struct arena *arena = arena_new();
	struct box *b = arena ? arena_alloc(arena, sizeof(*b)) : NULL;

	if (!b) {
		arena_free(arena);
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	*b = (struct box){.backend = req->backend,
			  .plan = req->plan,
			  .id = arena_str(arena, sv_of(req->id)),
			  .ids = *req->ids,
			  .cgroup = req->cgroup,
			  .memory_cgroup = req->memory_cgroup,
			  .cpu_cgroup = req->cpu_cgroup,
			  .join = req->join,
			  .dir_fd = -1,
			  .lock = -1,
			  .root_fd = -1,
			  .userns = -1,
			  .control = -1,
			  .door = -1,
			  .socket = -1,
			  .runtime = -1,
			  .runtime_pidfd = -1,
			  .arena = arena};
	if (!b->join.id)
		b->join = (struct box_join){NULL, -1, -1, -1, false};
	if (!b->id)
		(void)error_set(err, ERROR_SYSTEM, "out of memory");
	if (!b->id || make_folder(b, req->root, err) < 0 || box_make_root(b, req->root, err) < 0 ||
	    make_sockets(b, err) < 0 || box_add_mounts(b, req->init, err) < 0) {
		box_free(b);
		return -1;
	}
	*ret = b;
	return 0;
}

/* Blocked signals that mean the end: nobody should have to wait for a runtime that hangs. */
static int pending_end(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t set;
	size_t i;

	(void)sigpending(&set);
	for (i = 0; i < ARRAY_LEN(ends); i++)
		if (sigismember(&set, ends[i]))
			return ends[i];
	return 0;
}

/* 0: nothing is. */
static int in_the_way(const struct box *b)
{
	AUTO_FD fd = openat(b->dir_fd, BOX_IN_THE_WAY, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char text[16] = "";

	return fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 ? atoi(text) : 0;
}

static int explain(struct box *b, const char *what, struct error *err)
{
	int code = in_the_way(b);
	char said[400];

	if (b->backend->said && b->backend->said(b, said, sizeof(said))) {
		(void)error_set(err, code ? ERROR_DENIED : ERROR_SYSTEM, "%s %s: %s", b->backend->name, what, said);
		err->code = code;
		return -1;
	}
	return error_set(err, ERROR_SYSTEM, "%s %s; `cordon doctor --runtime %s` looks closer", b->backend->name, what,
			 b->backend->name);
}

/* Whoever connects before the workload runs is cordon-init, or, where others could enter the folder, somebody who must
 * not get a word. */
static bool is_expected(const struct box *b, int fd, struct ucred *peer)
{
	socklen_t n = sizeof(*peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &n) == 0 &&
	       (peer->uid == b->ids.host_init || peer->uid == geteuid());
}

static int wait_for_init(struct box *b, int timeout_ms, struct error *err)
{
	int64_t until = now_ms() + timeout_ms;
	struct pollfd p[2] = {{.fd = b->control, .events = POLLIN}, {.fd = b->runtime_pidfd, .events = POLLIN}};
	struct ucred peer;
	int fd, r;

	while (now_ms() < until) {
		if (pending_end())
			return error_set(err, ERROR_SYSTEM, "interrupted while %s was starting the sandbox",
					 b->backend->name);
		r = poll(p, 2, CONNECT_STEP_MS);
		if (r < 0 && errno != EINTR)
			return error_sys(err, errno, "poll");
		if (r == 0 && b->runtime > 0)
			sys_continue_stopped(b->runtime);
		fd = accept4(b->control, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0 && is_expected(b, fd, &peer)) {
			b->socket = fd;
			b->peer = peer.pid;
			b->init_pid = b->backend->landlock ? peer.pid : 0;
			return 0;
		}
		if (fd >= 0)
			(void)close(fd);
		else if (p[1].revents)
			return explain(b, "did not start the sandbox", err);
	}
	return explain(b, "did not start the sandbox in time", err);
}

static int give_orders(struct box *b, struct error *err)
{
	struct box_orders o = {.user = b->ids.user,
			       .memory_cgroup = b->memory_cgroup,
			       .cpu_cgroup = b->cpu_cgroup,
			       .transparent = b->backend->transparent,
			       .sends_fds = b->backend->sends_fds};
	struct plan copy = *b->plan;
	AUTO_BUF body = {0};
	int r;

	/* in the leader's kernel: the IPC namespace is one, and memory is not counted by our cgroup */
	if (b->join.id && !b->join.first && b->backend->own_kernel) {
		o.shared_ipc = true;
		o.memory_cgroup = false;
	}
	if (!copy.image)
		copy.uid = copy.gid = b->ids.inside;
	o.image_nested = copy.image && b->ids.mapped;
	o.lingers = !copy.image && b->backend->lingers; /* an image's layer is put in order afterwards, and nobody must
							   have it mounted then */
	o.image_shift = b->ids.image_shift;
	o.plan = &copy;
	buf_init(&body, WIRE_MAX_BODY);
	box_put_orders(&body, &o);
	if (buf_failed(&body))
		return error_set(err, ERROR_INPUT, "the policy shows too many paths for %s", b->backend->name);
	r = wire_send(b->socket, INSIDE_ORDERS, buf_view(&body), &b->userns, b->userns >= 0);
	return r < 0 ? error_sys(err, r, "orders to cordon-init") : 0;
}

int box_connect(struct box *b, int timeout_ms, struct error *err)
{
	if (wait_for_init(b, timeout_ms, err) < 0)
		return -1;
	/* from here on nobody answers there */
	(void)close(fd_take(&b->control));
	(void)unlinkat(b->dir_fd, "run/control", 0);
	if (!b->backend->own_kernel && box_check_mounts(b, err) < 0)
		return -1;
	return give_orders(b, err);
}

int box_go(struct box *b, const struct box_stdio *stdio, struct error *err)
{
	struct inside_spawn s = {.rows = stdio->rows,
				 .columns = stdio->columns,
				 .argv = b->plan->argv,
				 .env = b->plan->env,
				 .cwd = b->plan->cwd};
	int fds[4] = {stdio->fds[0], stdio->fds[1], stdio->fds[2], stdio->stream};
	AUTO_BUF body = {0};
	int i, r;

	for (i = 0; i < 3; i++)
		s.tty_bits |= (uint32_t)stdio->tty[i] << i;
	buf_init(&body, WIRE_MAX_BODY);
	inside_spawn_encode(&s, &body);
	if (buf_failed(&body))
		return error_set(err, ERROR_INPUT, "the command and its environment are too long: %d KiB at most",
				 WIRE_MAX_BODY / 1024);
	r = wire_send(b->socket, INSIDE_SPAWN, buf_view(&body), fds, s.tty_bits && !b->backend->sends_fds ? 4 : 3);
	b->told = r == 0;
	/* it may have failed already: what it said is in the socket, and worth more than this */
	return r < 0 && r != -EPIPE && r != -ECONNRESET ? error_sys(err, r, "the command to cordon-init") : 0;
}

int box_hold(struct box *b, struct error *err)
{
	AUTO_BUF body = {0};
	int r;

	buf_init(&body, 16);
	wire_put_u32(&body, 1);
	r = wire_send(b->socket, INSIDE_GO, buf_view(&body), NULL, 0);
	return r < 0 ? error_sys(err, r, "cordon-init") : 0;
}

bool box_has_ranges(const struct box *b)
{
	return b->plan->image && b->plan->image->ids.count > 1 && geteuid() != 0;
}

void box_places(const struct box *b, struct buf *out)
{
	AUTO_FD fd = openat(b->dir_fd, BOX_PLACES, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		(void)buf_read_fd(out, fd);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(fd_take(fd));
}

void box_free(struct box *b)
{
	if (!b)
		return;
	if (b->own)
		b->backend->stop(b);
	close_fd(&b->socket); /* the end of everything inside, even where the runtime does not listen to us */
	if (b->own)
		b->backend->done(b);
	close_fd(&b->runtime_pidfd);
	close_fd(&b->userns);
	close_fd(&b->control);
	close_fd(&b->door);
	if (b->dir_fd >= 0)
		sys_empty_tree(b->dir_fd);
	close_fd(&b->lock);
	close_fd(&b->root_fd);
	close_fd(&b->dir_fd);
	if (b->dir)
		(void)rmdir(b->dir);
	arena_free(b->arena);
}

/*
 * A box whose supervisor is gone: the lock can be had. One without a lock was killed at its first step, or at its last,
 * when the runtime had nothing of it any more; it is told from one that is just being made by holding the folder of all
 * boxes. Where that cannot be had at once, the next sweep will do.
 */
static bool hold_dead(int root, const char *id, int *ret_dir, int *ret_lock)
{
	AUTO_FD dir = -1;
	AUTO_FD lock = -1;
	bool dead = false;

	if (flock(root, LOCK_EX | LOCK_NB) < 0)
		return false;
	dir = openat(root, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	lock = dir < 0 ? -1 : openat(dir, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		dead = lock < 0 ? errno == ENOENT : flock(lock, LOCK_EX | LOCK_NB) == 0;
	(void)flock(root, LOCK_UN);
	*ret_dir = dead ? fd_take(&dir) : -1;
	*ret_lock = dead ? fd_take(&lock) : -1;
	return dead;
}

static void sweep_one(int root, const char *path, const char *id, const struct box_backend *const *backends)
{
	AUTO_FD dir = -1;
	AUTO_FD lock = -1;
	char name[32] = "", full[4096];

	if (!hold_dead(root, id, &dir, &lock))
		return;
	if (lock >= 0)
		(void)!read(lock, name, sizeof(name) - 1);
	(void)snprintf(full, sizeof(full), "%s/%s", path, id);
	for (; *backends; backends++)
		if (strcmp((*backends)->name, name) == 0 && (*backends)->sweep && !(*backends)->sweep(full, id))
			return;
	cgroup_remove_left(NULL, id);
	sys_empty_tree(dir);
	(void)unlinkat(root, id, AT_REMOVEDIR);
}

void box_sweep(const char *root, const struct box_backend *const *backends)
{
	AUTO_FD fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			sweep_one(fd, root, e->d_name, backends);
	if (d)
		(void)closedir(d);
	box_sweep_roots(root);
}
