#include "cli/launch_live.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/real_path.h"
#include "base/text.h"
#include "plan/plan_links.h"
#include "policy/policy_load.h"
#include "supervise/client.h"
#include "supervise/control.h"
#include "supervise/state.h"
#include "sys/tree.h"

#define FOLDER ".live"

/* In a record each name follows its letter and ends with a NUL. The last one is END, with no name. */
enum { STEPS_MAX = 40 }; /* from link to link */
enum { WRITES = 'w', PROTECTS = 'p', FOLLOWS = 'f', OUTPUTS = 'o', RETURNS = 'r', END = '-', RECORD_MAX = 8 << 20 };

/* One that is alive; its bytes, and where we are in them. */
struct record {
	struct buf bytes;
	size_t at;
	const char *id;
};

/* Names that are gathered. */
struct names {
	struct arena *arena;
	const char **v;
	size_t *n;
};

static int add_name(void *arg, const char *path)
{
	struct names *to = arg;

	if (*to->n == LIVE_FILES || !(to->v[*to->n] = arena_str(to->arena, sv_of(path))))
		return -E2BIG;
	++*to->n;
	return 0;
}

/* A link on the way, and on those of the links that the last name is, can be removed, and a folder be made there: then
 * the file has other names. */
static int add_names_instead(struct names *to, const char *file)
{
	char folder[PATH_MAX] = "", text[PATH_MAX], *slash;
	struct plan_way way;
	ssize_t k;
	int steps, r;

	if ((file[0] != '/' && !getcwd(folder, sizeof(folder))) ||
	    (size_t)snprintf(text, sizeof(text), "%s", file) >= sizeof(text))
		return 0;
	for (steps = 0; steps < STEPS_MAX; steps++) {
		r = plan_links_instead(to->arena, folder, text, add_name, to);
		if (r < 0)
			return r;
		if (plan_links_trace(to->arena, folder, text, &way) < 0)
			return 0;
		k = readlink(way.real, text, sizeof(text) - 1);
		if (k < 0 || (size_t)snprintf(folder, sizeof(folder), "%s", way.real) >= sizeof(folder))
			return 0;
		text[k] = '\0';
		slash = strrchr(folder, '/');
		*slash = '\0';
	}
	return 0;
}

int live_names(struct arena *arena, const char *file, const char **ret, size_t *n)
{
	char folder[PATH_MAX + 2], real[PATH_MAX], *slash;

	if (real_path(file, real) && *n < LIVE_FILES && (ret[*n] = arena_str(arena, sv_of(real))))
		++*n;
	(void)snprintf(folder, sizeof(folder), "%s%s", file[0] == '/' ? "" : "./", file);
	slash = strrchr(folder, '/');
	*slash = '\0';
	if (real_path(folder[0] ? folder : "/", real) && *n < LIVE_FILES &&
	    (ret[*n] = arena_printf(arena, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash + 1)))
		*n += *n == 0 || strcmp(ret[*n - 1], ret[*n]) != 0; /* no link: it is the same */
	return add_names_instead(&(struct names){arena, ret, n}, file) < 0 ? -1 : 0;
}

/* Records. */

/* The next name of that sort; NULL: there are no more. */
static const char *next(struct record *r, char sort)
{
	const char *name;

	while (r->at < r->bytes.n) {
		name = r->bytes.p + r->at;
		r->at += strlen(name) + 1;
		if (*name == sort)
			return name + 1;
	}
	return NULL;
}

static bool may_write(struct record *r, const char *path)
{
	const char *name;

	for (r->at = 0; (name = next(r, PROTECTS));)
		if (strcmp(name, path) == 0)
			return false;
	for (r->at = 0; (name = next(r, WRITES));)
		if (path_is_in(path, name))
			return true;
	return false;
}

/* One that is being written can end with any of its names. */
static bool is_complete(const struct buf *b)
{
	return b->n >= 2 && b->p[b->n - 1] == '\0' && b->p[b->n - 2] == END && (b->n == 2 || b->p[b->n - 3] == '\0');
}

/* 1: it is alive; 0: it is not, or has said nothing yet, and will look at us when it has. */
static int read_record(int folder, const char *id, struct record *ret, struct error *err)
{
	AUTO_FD fd = openat(folder, id, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int r;

	*ret = (struct record){.id = id};
	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(err, errno, "%s/%s", FOLDER, id);
	buf_init(&ret->bytes, RECORD_MAX);
	r = buf_read_fd(&ret->bytes, fd);
	if (r < 0)
		return error_sys(err, r, "%s/%s", FOLDER, id);
	if (!is_complete(&ret->bytes))
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return 1;
	(void)unlinkat(folder, id, 0); /* it was killed */
	return 0;
}

/* Calls back for each that is alive, but `except`. */
static int each(int folder, const char *except, int (*fn)(void *arg, struct record *r, struct error *err), void *arg,
		struct error *err)
{
	struct sys_names names;
	const char *id;
	int r = sys_names_open(&names, folder);

	if (r < 0)
		return error_sys(err, r, "%s", FOLDER);
	while (r >= 0 && (id = sys_names_next(&names))) {
		struct record record;

		if (id[0] == '.' || (except && strcmp(id, except) == 0))
			continue;
		r = read_record(folder, id, &record, err);
		if (r > 0)
			r = fn(arg, &record, err);
		buf_done(&record.bytes);
	}
	sys_names_close(&names);
	return r < 0 ? -1 : 0;
}

/* What others follow. */

struct gather {
	struct arena *arena;
	const char **ret;
	size_t n;
};

static int gather_followed(struct gather *g, struct record *r, struct error *err)
{
	const char *name;
	size_t i;

	for (r->at = 0; (name = next(r, FOLLOWS));) {
		for (i = 0; i < g->n && strcmp(g->ret[i], name) != 0; i++)
			;
		if (i < g->n)
			continue;
		if (g->n == LIVE_FILES)
			return error_set(err, ERROR_SYSTEM,
					 "the runs that are alive follow more policy files than can be protected");
		g->ret[g->n] = arena_str(g->arena, sv_of(name));
		if (!g->ret[g->n++])
			return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	return 0;
}

static int open_records(const char *root)
{
	AUTO_FD all = root ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	return all < 0 ? -1 : openat(all, FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* What is written about runs. */

/* Of a pattern, the part before its first wildcard: where what it matches begins. A floating one shows nothing by
 * itself. */
static bool begins_with_fixed(const char *path, const char *pattern)
{
	size_t n = strcspn(pattern, "*?[{\\");

	if (pattern[0] != '/')
		return false;
	return pattern[n] ? strncmp(path, pattern, n) == 0 : path_is_in(path, pattern);
}

static bool is_in_reach(const struct live_reach *reach, const char *path)
{
	const struct pol_list *write = &reach->policy->fs.write;
	uint32_t i;

	if (reach->workdir && path_is_in(path, reach->workdir))
		return true;
	for (i = 0; i < write->n && !begins_with_fixed(path, write->v[i].s); i++)
		;
	return i < write->n;
}

/* Nobody gets into it any more, or it is to end. One that only begins can be reached in a moment; one that stands still
 * is not waited for. */
static bool is_ending(const char *id)
{
	struct client_seen seen = {0};
	int tries, r = -ECONNRESET;

	/* it closed just now, and refuses us next; or it has no room for one more, and lives */
	for (tries = 0; tries < 3 && (r == -ECONNRESET || r == -EPIPE); tries++) {
		AUTO_FD fd = control_connect(id);

		r = fd < 0 ? fd : client_look(fd, &seen);
	}
	return r == 0 ? seen.ending : r == -ECONNREFUSED;
}

struct returning {
	const struct live_reach *reach;
	char id[STATE_ID]; /* "": there is none */
};

static int find_returning(void *arg, struct record *r, struct error *err)
{
	struct returning *f = arg;
	const char *name;

	(void)err;
	for (r->at = 0; !f->id[0] && (name = next(r, RETURNS));) {
		bool ours = is_in_reach(f->reach, name) || (f->reach->workdir && path_is_in(f->reach->workdir, name));

		if (ours && is_ending(r->id))
			(void)snprintf(f->id, sizeof(f->id), "%s", r->id);
	}
	return 0;
}

int live_wait(const char *root, const struct live_reach *reach, const struct call *call, struct error *err)
{
	static const struct timespec pause = {.tv_nsec = 20000000};
	const int64_t began = now_ms();
	AUTO_FD folder = open_records(root);
	bool said = false;

	while (folder >= 0) {
		struct returning f = {.reach = reach};

		if (each(folder, NULL, find_returning, &f, err) < 0)
			return -1;
		if (!f.id[0])
			break;
		if (now_ms() >= began + LIVE_WAIT_MS)
			return error_set(err, ERROR_SYSTEM,
					 "sandbox %s has not brought its changes of this run's folders back yet; try "
					 "again when `cordon ps` does not show it any more",
					 f.id);
		if (!said && now_ms() >= began + LIVE_SAY_MS)
			call_note(call, "waiting for sandbox %s, which brings its changes of this run's folders back",
				  f.id);
		said = said || now_ms() >= began + LIVE_SAY_MS;
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

struct outputs {
	struct gather g;
	const struct live_reach *reach;
};

static int add_output(struct outputs *o, const char *name, struct error *err)
{
	struct gather *g = &o->g;
	size_t i;

	for (i = 0; i < g->n && strcmp(g->ret[i], name) != 0; i++)
		;
	if (i < g->n || !is_in_reach(o->reach, name))
		return 0;
	if (g->n == LIVE_FILES)
		return error_set(err, ERROR_SYSTEM,
				 "the runs that are alive write more files in this run's folders than can be "
				 "protected; let them write their events elsewhere");
	g->ret[g->n] = arena_str(g->arena, sv_of(name));
	return g->ret[g->n++] ? 0 : error_set(err, ERROR_SYSTEM, "out of memory");
}

/* Of one that is alive: what it follows, and what is written about it. */
struct others {
	struct gather followed;
	struct outputs outputs;
};

static int gather_of(void *arg, struct record *r, struct error *err)
{
	struct others *o = arg;
	const char *name;

	if (gather_followed(&o->followed, r, err) < 0)
		return -1;
	for (r->at = 0; (name = next(r, OUTPUTS));)
		if (add_output(&o->outputs, name, err) < 0)
			return -1;
	return 0;
}

static void name_outputs(struct arena *arena, const char *const *written, const char *names[LIVE_FILES + 1], size_t *n)
{
	for (*n = 0; written && *written; written++)
		(void)live_names(arena, *written, names, n);
}

int live_look(struct arena *arena, const struct live_reach *reach, const char *root, const char *const *written,
	      const char *protect[LIVE_FILES + 1], const char *outputs[LIVE_FILES + 1], struct error *err)
{
	struct others o = {{arena, protect, 0}, {{arena, outputs, 0}, reach}};
	const struct policy *p = reach->policy;
	const char *names[LIVE_FILES + 1];
	AUTO_FD folder = open_records(root);
	size_t i, n;

	for (i = 1; i < p->n_files; i++)
		if (!policy_shipped(p->files[i]) && live_names(arena, p->files[i], protect, &o.followed.n) < 0)
			return error_set(err, ERROR_INPUT,
					 "%s is reached through more links than can be protected; name the file itself",
					 p->files[i]);
	name_outputs(arena, written, names, &n);
	for (i = 0; i < n; i++)
		if (add_output(&o.outputs, names[i], err) < 0)
			return -1;
	if (folder >= 0 && each(folder, NULL, gather_of, &o, err) < 0)
		return -1;
	protect[o.followed.n] = NULL;
	outputs[o.outputs.g.n] = NULL;
	return 0;
}

/* What we are. */

static void put(struct buf *out, char sort, const char *name)
{
	(void)buf_char(out, sort);
	(void)buf_str(out, name);
	(void)buf_char(out, '\0');
}

static void put_record(struct buf *out, const struct live_request *q)
{
	const char *names[LIVE_FILES + 1];
	const struct plan_op *op;
	size_t i, n = 0;

	for (op = q->plan->ops; op < q->plan->ops + q->plan->n_ops; op++)
		if (op->kind == PLAN_BIND && op->writable && op->host)
			put(out, WRITES, op->source);
	for (i = 0; q->protected[i]; i++)
		put(out, PROTECTS, q->protected[i]);
	for (i = 1; q->follows && i < q->policy->n_files; i++)
		if (!policy_shipped(q->policy->files[i]))
			(void)live_names(q->arena, q->policy->files[i], names, &n);
	for (i = 0; i < n; i++)
		put(out, FOLLOWS, names[i]);
	name_outputs(q->arena, q->written, names, &n);
	for (i = 0; i < n; i++)
		put(out, OUTPUTS, names[i]);
	for (i = 0; q->stage && i < q->stage->n; i++)
		if (!q->stage->v[i].kept)
			put(out, RETURNS, q->stage->v[i].host);
	put(out, END, "");
}

/* Held before there is anything to read in it: what can be read and is not held is of a dead one. */
static int say(struct live *l, const struct live_request *q, struct error *err)
{
	AUTO_FD all = open(q->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_BUF out = {0};
	int r;

	if (all < 0 || (mkdirat(all, FOLDER, 0700) < 0 && errno != EEXIST))
		return error_sys(err, errno, "%s/%s", q->root, FOLDER);
	buf_init(&out, RECORD_MAX);
	put_record(&out, q);
	l->folder = openat(all, FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	l->fd = l->folder < 0 ? -1 : openat(l->folder, q->id, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	l->id = q->id;
	if (l->fd < 0 || flock(l->fd, LOCK_EX | LOCK_NB) < 0)
		return error_sys(err, errno, "%s/%s/%s", q->root, FOLDER, q->id);
	r = buf_failed(&out);
	if (r == 0)
		r = write_all(l->fd, out.p, out.n);
	return r < 0 ? error_sys(err, r, "%s/%s/%s", q->root, FOLDER, q->id) : 0;
}

struct compare {
	struct live *l;
	const struct live_request *q;
	struct record ours;
};

static void avoid_written(const struct compare *c, struct record *theirs)
{
	const struct policy *p = c->q->policy;
	const char *names[LIVE_FILES + 1];
	size_t n, k;
	uint32_t i;

	for (i = 1; c->q->follows && i < p->n_files; i++) {
		n = 0;
		if (!policy_shipped(p->files[i]))
			live_names(c->q->arena, p->files[i], names, &n);
		for (k = 0; k < n && !may_write(theirs, names[k]); k++)
			;
		if (k < n && c->l->n_avoid < LIVE_FILES)
			c->l->avoid[c->l->n_avoid++] = p->files[i];
	}
}

static int compare_with(void *arg, struct record *theirs, struct error *err)
{
	struct compare *c = arg;
	struct text_shown shown;
	const char *name;

	while ((name = next(theirs, FOLLOWS)))
		if (may_write(&c->ours, name)) {
			(void)error_set(
				err, ERROR_DENIED,
				"a run that started a moment ago follows %s, which this one could change: try again",
				text_show(&shown, sv_of(name)));
			err->code = EAGAIN;
			return -1;
		}
	avoid_written(c, theirs);
	return 0;
}

int live_begin(struct live *l, const struct live_request *q, struct error *err)
{
	struct compare c = {.l = l, .q = q};
	int r;

	if (say(l, q, err) < 0)
		return -1;
	buf_init(&c.ours.bytes, RECORD_MAX);
	put_record(&c.ours.bytes, q);
	r = buf_failed(&c.ours.bytes) ? error_set(err, ERROR_SYSTEM, "out of memory")
				      : each(l->folder, q->id, compare_with, &c, err);
	buf_done(&c.ours.bytes);
	return r;
}

void live_end(struct live *l)
{
	if (l->fd >= 0)
		(void)unlinkat(l->folder, l->id, 0);
	if (l->fd >= 0)
		(void)close(l->fd);
	if (l->folder >= 0)
		(void)close(l->folder);
	l->folder = l->fd = -1;
}
