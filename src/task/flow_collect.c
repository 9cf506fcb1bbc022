/* Collect: what is kept of a run, whatever came of it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "task/fetch.h"
#include "task/flow.h"
#include "task/orders.h"
#include "task/report.h"
#include "task/workspace.h"

enum { LINKED_MAX = 500 };

/* A folder of a sandbox as a folder of the results; nothing where it is not there. */
static int fetch(struct flow *f, const struct image_work *from, const char *path, const char *as,
		 struct fetch_limits *room)
{
	uint64_t before = room->left_out;
	AUTO_FD upper = from->upper ? flow_changes(f, from) : -1;
	AUTO_FD in = upper < 0 ? -1 : sys_open_beneath(upper, path, O_RDONLY | O_DIRECTORY, 0);
	AUTO_FD out = -1;
	unsigned depth;
	int r;

	if (in < 0)
		return 0;
	if (mkdirat(f->out, as, 0755) < 0 && errno != EEXIST)
		return error_sys(f->err, errno, "%s/%s", f->out_path, as);
	out = openat(f->out, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return error_sys(f->err, errno, "%s/%s", f->out_path, as);
	depth = orders_enter(room->orders, as);
	r = fetch_folder(in, out, room, f->err);
	orders_leave(room->orders, depth);
	if (r < 0)
		return -1;
	if (room->left_out > before)
		(void)task_result_find(f->result, "not-collected", path,
				       "links, special files, odd names, too much of it, or what was in the place of "
				       "something else were left out");
	return 0;
}

static int write_file(struct flow *f, const char *name, const struct buf *b)
{
	AUTO_FD fd = openat(f->out, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int r = fd < 0 ? -errno : buf_failed(b) ? buf_failed(b) : write_all(fd, b->p, b->n);

	/* half a result would be taken for one */
	if (fd >= 0 && r < 0)
		(void)unlinkat(f->out, name, 0);
	return r < 0 ? error_sys(f->err, r, "%s/%s", f->out_path, name) : 0;
}

/* What the agent did, in its own words: a file, or a folder of them. */
static int fetch_trajectory(struct flow *f)
{
	const char *path = f->req->agent ? agent_trajectory(f->req->agent) : NULL;
	uint64_t before = f->room->left_out;
	AUTO_FD upper = path && f->agent.upper ? flow_changes(f, &f->agent) : -1;
	AUTO_FD folder = -1;
	int r;

	if (upper < 0)
		return 0;
	r = fetch_file(upper, path + 1, f->out, "trajectory.jsonl", f->room, f->err);
	if (r < 0 || f->room->left_out == before)
		return r < 0 ? -1 : 0;
	folder = r ? sys_open_beneath(upper, path + 1, O_PATH | O_DIRECTORY, 0) : -1;
	if (folder >= 0)
		return fetch(f, &f->agent, path + 1, "trajectory", f->room);
	(void)task_result_find(f->result, "not-collected", path,
			       r ? "the agent's trajectory is no file, or one that must not be read"
				 : "the agent's trajectory was too long, or could not be read to its end: it is cut");
	return 0;
}

static int write_diff(struct flow *f)
{
	const char *workdir = f->task->environment.workdir.s ? f->task->environment.workdir.s : f->image.config.workdir;
	AUTO_FD upper = flow_changes(f, &f->agent);
	int fd = openat(f->out, "workspace.diff", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644), r;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (upper < 0 || !out) {
		(void)error_sys(f->err, upper < 0 ? upper : errno, "%s/workspace.diff", f->out_path);
		if (fd >= 0 && !out)
			(void)close(fd);
		return -1;
	}
	r = workspace_diff(upper, (const char *const *)f->image.layers, workdir, out, f->attend.signals, f->err);
	if (fclose(out) != 0 && r == 0)
		r = error_sys(f->err, errno, "%s/workspace.diff", f->out_path);
	return r;
}

/* What is not in the results because of what it could do there, by name. */
static int tell_refused(struct flow *f, const struct orders *o)
{
	const char *more, *why;
	size_t i;

	for (i = 0; i < o->n_refused && i < ORDERS_NAMED; i++) {
		why = arena_printf(f->arena, "was left out of the results: %s", o->refused[i].reason);
		if (!o->refused[i].path || !why)
			return error_set(f->err, ERROR_SYSTEM, "out of memory");
		(void)task_result_find(f->result, "not-collected", o->refused[i].path, why);
	}
	if (i == o->n_refused)
		return 0;
	more = arena_printf(f->arena, "%zu more names were left out of the results for such reasons", o->n_refused - i);
	if (!more)
		return error_set(f->err, ERROR_SYSTEM, "out of memory");
	(void)task_result_find(f->result, "not-collected", "", more);
	return 0;
}

/* What each run of the tests left, with room of its own. */
static int fetch_verified(struct flow *f, struct orders *orders)
{
	static const char *const as[VERIFIED_MAX] = {"verifier", "verifier-again", "verifier-without"};
	size_t i;

	for (i = 0; i < VERIFIED_MAX; i++) {
		struct fetch_limits room = FETCH_LIMITS;

		room.orders = orders;
		if (fetch(f, &f->verifiers[i], "logs/verifier", as[i], &room) < 0)
			return -1;
	}
	return 0;
}

static int fetch_parts(struct flow *f, struct orders *orders)
{
	struct fetch_limits room = FETCH_LIMITS;

	if (orders_init(orders, f->arena) < 0)
		return error_set(f->err, ERROR_SYSTEM, "out of memory");
	/* one for all of the agent's, so that it costs no more to name a file twice */
	if (f->task)
		flow_room(f, &room);
	room.orders = orders;
	f->room = &room;
	if ((f->agent.upper && (write_diff(f) < 0 || flow_keep_artifacts(f) < 0)) || fetch_trajectory(f) < 0 ||
	    fetch(f, &f->agent, "logs/agent", "agent", &room) < 0 ||
	    fetch(f, &f->agent, "logs/artifacts", "artifacts", &room) < 0 || fetch_verified(f, orders) < 0)
		return -1;
	return tell_refused(f, orders);
}

/* What cannot be collected takes the score with it: a result that cannot be looked at later is none. */
static int fetch_all(struct flow *f)
{
	struct orders orders;
	int r = fetch_parts(f, &orders);

	orders_done(&orders);
	f->room = NULL;
	if (r == 0)
		return 0;
	f->result->reason = arena_str(f->arena, sv_of(f->err->text));
	return flow_fail(f, TASK_INFRASTRUCTURE_ERROR);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* Files of a folder of the results that only we write to. */
static size_t list_folder(struct flow *f, const char *folder, const char **v, size_t n)
{
	int fd = openat(f->out, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t first = n;
	struct dirent *e;

	if (fd >= 0 && !d)
		(void)close(fd);
	while (d && n < LINKED_MAX && (e = readdir(d)))
		if (e->d_name[0] != '.')
			v[n++] = arena_printf(f->arena, "%s/%s", folder, e->d_name);
	if (d)
		(void)closedir(d);
	if (arena_failed(f->arena))
		return first;
	qsort(v + first, n - first, sizeof(*v), by_name);
	return n;
}

/* What the page links: our own files, all of them text. What agents and verifiers left may be pages with scripts, and
 * is not. */
static const char *const *list_files(struct flow *f)
{
	static const char *const single[] = {"result.json", "trajectory.jsonl", "workspace.diff"};
	const char **v = arena_array(f->arena, LINKED_MAX + ARRAY_LEN(single) + 1, sizeof(*v));
	size_t n = 0, i;

	if (!v)
		return NULL;
	n = list_folder(f, "output", v, n);
	n = list_folder(f, "audit", v, n);
	for (i = 0; i < ARRAY_LEN(single); i++)
		if (faccessat(f->out, single[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			v[n++] = single[i];
	v[n] = NULL;
	return (const char *const *)v;
}

int flow_collect(struct flow *f)
{
	AUTO_BUF json = {0};
	AUTO_BUF page = {0};

	flow_begin(f, PHASE_COLLECT);
	flow_end(f, PHASE_COLLECT, fetch_all(f) < 0 ? 125 : 0);
	buf_init(&json, 64 << 20);
	task_result_json(f->result, &json);
	/* what programs read goes first: the page can be done without */
	if (write_file(f, "result.json", &json) < 0)
		return -1;
	buf_init(&page, 64 << 20);
	task_report_page(f->result, list_files(f), &page);
	return write_file(f, "report.html", &page);
}
