#include "cli/launch_box.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/backends.h"
#include "cli/launch_image.h"
#include "sandbox/common/places.h"
#include "supervise/gate_roles.h"
#include "supervise/stdio.h"

int launch_box_init(char path[PATH_MAX], struct error *err)
{
	AUTO_FD fd = gate_find_program("init", err);
	char link[64];
	ssize_t n;

	if (fd < 0)
		return -1;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n < 0)
		return error_set(err, ERROR_MISSING,
				 "/proc is not mounted here: cordon-init cannot be found without it");
	path[n] = '\0';
	return 0;
}

int launch_box_folder(const char *runs, bool make, char **ret, struct error *err)
{
	AUTO_FREE char *fallback = NULL;

	if (asprintf(&fallback, "%s/../boxes", runs) < 0) {
		fallback = NULL;
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	return box_root(fallback, make, ret, err);
}

static uint64_t smaller(uint64_t limit, uint64_t other)
{
	return other && (!limit || other < limit) ? other : limit;
}

void launch_box_bound(const struct launch_box *l, uint64_t memory, uint64_t cpus, struct plan_limits *limits)
{
	if (!l->backend || !l->backend->own_kernel)
		return;
	limits->memory = smaller(limits->memory, memory);
	limits->cpu_thousandths = smaller(limits->cpu_thousandths, cpus);
}

/* A file that is given to be read could be changed through its descriptor by whoever has its owner's id: only its bytes
 * go in. */
static int feed_input(struct box_stdio *s, int *ret_feed, struct error *err)
{
	struct stat st;
	int fd;

	if (s->tty[0] || fstat(s->fds[0], &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = stdio_feed_later(s->fds[0], ret_feed);
	if (fd < 0)
		return error_sys(err, fd, "standard input");
	s->fds[0] = fd;
	return 0;
}

int launch_box_start(struct launch_box *l, const struct launch_box_request *req, struct error *err)
{
	struct gate_listener door = {.kind = GATE_LISTEN_DOOR};
	AUTO_FREE char *root = NULL;
	char init[PATH_MAX];
	struct box_ids ids;
	struct box_request b = {.backend = l->backend,
				.plan = req->plan,
				.id = req->state->id,
				.ids = &ids,
				.init = init,
				.cgroup = req->cgroup,
				.memory_cgroup = req->memory_cgroup,
				.cpu_cgroup = req->cpu_cgroup,
				.join = {.id = req->join,
					 .user = req->group->spaces[0],
					 .net = req->group->spaces[1],
					 .leader = req->group->leader,
					 .first = req->first}};

	l->backend->ids(req->plan, &ids);
	if (launch_box_init(init, err) < 0 || launch_box_folder(req->runs, true, &root, err) < 0)
		return -1;
	b.root = root;
	/* what an image's sandbox may write to is its own, or was made for it */
	if ((!req->plan->image && stage_make(&l->stage, req->plan, l->backend->name, req->state->dir, req->state->path,
					     ids.host, err) < 0) ||
	    box_new(&b, &l->box, err) < 0)
		return -1;
	if (req->gate && gate_listen(req->gate, req->policy, &door, &l->box->door, 1, err) < 0)
		return -1;
	/* the relay's alone: when it is gone, nobody waits there for an answer */
	if (l->box->door >= 0)
		(void)close(fd_take(&l->box->door));
	if (cover_watch_new(req->plan, req->cache, &l->covers, err) < 0)
		return -1;
	l->not_started = l->backend->start(l->box, err) < 0;
	/* the runtime has much to load: from here on nobody waits for us */
	if (l->not_started || stage_note(&l->stage, req->state->dir, req->state->path, err) < 0 ||
	    feed_input(&l->stdio, req->feed, err) < 0)
		return -1;
	if (req->plan->image)
		return launch_image_stdio(req->plan->image, &l->collect, l->stdio.fds, req->feed, err);
	return l->backend->sends_fds || stdio_collect_start(&l->collect, l->stdio.fds) == 0
		       ? 0
		       : error_set(err, ERROR_SYSTEM, "standard output cannot be collected");
}

static int go(void *arg, struct error *err)
{
	struct launch_box *l = arg;

	int r = l->hold ? box_hold(l->box, err) : box_go(l->box, &l->stdio, err);

	stdio_collect_given(&l->collect);
	if (l->stdio.stream > 0) {
		(void)close(l->stdio.stream); /* PID 1's alone: its end is the terminal's */
		l->stdio.stream = 0;
	}
	return r;
}

static void kill_box(void *arg)
{
	struct launch_box *l = arg;

	l->backend->stop(l->box);
}

/* A terminal whose master cannot be sent out comes through a stream. */
static int open_stream(struct launch_box *l, struct supervise_request *s, struct error *err)
{
	const bool *tty = l->stdio.tty;
	int pair[2];

	s->carries = !l->backend->sends_fds;
	s->terminal = -1;
	if (!s->carries || !(tty[0] || tty[1] || tty[2]))
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_sys(err, errno, "socketpair");
	s->terminal = l->terminal = pair[0];
	l->stdio.stream = pair[1];
	return 0;
}

/* Where it cannot be entered, the watch says so when it would have to be, and the sandbox ends. */
static int watch_covers(struct launch_box *l, struct supervise_request *s, struct error *err)
{
	const struct box *b = l->box;
	struct cover_place place;
	AUTO_FREE char *masks = NULL;
	int r;

	if (!l->covers)
		return 0;
	if (asprintf(&masks, "%s/" PLACES_MASKS, b->root) < 0) {
		masks = NULL;
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	(void)cover_place_open(l->backend->shows ? l->backend->shows(b) : b->peer, masks, &place);
	r = cover_watch_start(l->covers, &place, err);
	cover_place_close(&place);
	s->covers = cover_watch_socket(l->covers);
	return r;
}

int launch_box_connect(struct launch_box *l, struct supervise_request *s, struct error *err)
{
	l->not_started = box_connect(l->box, LAUNCH_BOX_MS, err) < 0;
	if (l->not_started)
		return -1;
	stage_settle(&l->stage);
	if (open_stream(l, s, err) < 0 || watch_covers(l, s, err) < 0)
		return -1;
	s->init = l->box->init_pid ? l->box->init_pid : l->box->runtime > 0 ? l->box->runtime : 0;
	s->watch.tree = !l->box->init_pid;
	s->watch.foreign = s->watch.tree || !l->box->ids.mapped;
	s->pidfd = l->box->runtime_pidfd;
	s->socket = l->box->socket;
	s->go = go;
	s->kill = kill_box;
	s->sandbox = l;
	return 0;
}

void launch_box_end(struct launch_box *l)
{
	if (l->terminal > 0)
		(void)close(l->terminal);
	l->terminal = 0; /* we are called more than once, and the number may be another's by then */
	if (l->box && l->box->plan->image && !l->places.n) {
		buf_init(&l->places, 128 * 1024);
		box_places(l->box, &l->places);
	}
	cover_watch_end(l->covers);
	box_free(l->box);
	l->box = NULL;
	cover_watch_free(l->covers);
	l->covers = NULL;
	stdio_collect_end(&l->collect);
}

void launch_box_sweep(const char *runs)
{
	struct error ignored = {0};
	AUTO_FREE char *root = NULL;

	if (launch_box_folder(runs, false, &root, &ignored) == 0)
		box_sweep(root, backends_all);
}
