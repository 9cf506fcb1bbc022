#include "cli/launch_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/changes_rules.h"
#include "cli/changes_tell.h"
#include "plan/plan_source.h"
#include "supervise/changes.h"
#include "supervise/changes_apply.h"
#include "supervise/changes_judge.h"
#include "supervise/copy.h"
#include "supervise/state.h"
#include "sys/lookup.h"
#include "sys/mounts.h"
#include "sys/tree.h"

/* The copy of `host`, as the sandbox's user may see it. */
static int fill_copy(struct staged *v, struct plan *plan, const struct plan_op *op, int host, int state, uint32_t owner,
		     struct error *err)
{
	AUTO_FD copy = -1;

	if (copy_given(host, state, v->name, owner, &v->copied, err) < 0)
		return -1;
	copy = openat(state, v->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (copy < 0)
		return error_sys(err, errno, "%s", v->name);
	if (hide_masked(&v->hidden, plan, op, host, copy, err) < 0)
		return -1;
	return hide_late(&v->hidden, plan, op, host, copy, err);
}

static void drop_missing(const struct stage *s, struct plan *plan, int state)
{
	const struct staged *v;

	for (v = s->v; v < s->v + s->n; v++) {
		AUTO_FD copy = openat(state, v->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (copy >= 0)
			hide_drop(plan, v->target, copy);
	}
}

/* What applies that were killed left in the folder is put right before it is copied, and again before anything comes
 * back. */
static void end_others(struct staged *v, int host)
{
	AUTO_FREE char *root = NULL;
	struct error ignored = {0};
	struct changes_others o;

	if (state_root(&root, &ignored) < 0 || changes_recover_others(host, root, &o, &ignored) < 0)
		return;
	o.back += v->others.back;
	o.kept += v->others.kept;
	o.forward += v->others.forward;
	v->others = o;
}

static int make_copy(struct stage *s, struct plan *plan, struct plan_op *op, int state, const char *state_path,
		     uint32_t owner, struct error *err)
{
	AUTO_FD host = plan_source_open(op, O_RDONLY);
	bool kept = op->kind == PLAN_OVERLAY;
	struct staged *v = &s->v[s->n];
	const char *path;
	struct stat st;

	if (host < 0 || fstat(host, &st) < 0)
		return plan_source_error(op, host < 0 ? host : -errno, err);
	*v = (struct staged){.host = op->source,
			     .target = op->target,
			     .kept = kept,
			     .dev = st.st_dev,
			     .ino = st.st_ino,
			     .hidden.owner = owner};
	(void)snprintf(v->name, sizeof(v->name), kept ? STATE_COPY : STATE_STAGED "%zu", s->n);
	s->n++;
	path = arena_printf(plan->arena, "%s/%s", state_path, v->name);
	if (!path)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	end_others(v, host);
	if (fill_copy(v, plan, op, host, state, owner, err) < 0)
		return -1;
	copied_stands(&v->copied);
	op->kind = PLAN_BIND;
	op->folder = true;
	op->judged = false;
	op->source = path;
	return 0;
}

int stage_make(struct stage *s, struct plan *plan, const char *runtime, int state, const char *state_path,
	       uint32_t owner, struct error *err)
{
	struct text_shown t;
	struct plan_op *op;

	*s = (struct stage){0};
	(void)clock_gettime(CLOCK_REALTIME, &s->started);
	for (op = plan->ops; op < plan->ops + plan->n_ops; op++) {
		if (op->kind != PLAN_OVERLAY && !(op->kind == PLAN_BIND && op->host && op->writable))
			continue;
		if (op->kind == PLAN_BIND && !op->folder)
			return error_set(err, ERROR_DENIED,
					 "filesystem.write %s: a single file cannot be written from %s, only folders; "
					 "name its folder, or use process.runtime: native",
					 text_show(&t, sv_of(op->source)), runtime);
		if (s->n == STAGE_MAX)
			return error_set(err, ERROR_INPUT, "filesystem.write: at most %d folders on %s", STAGE_MAX,
					 runtime);
		if (make_copy(s, plan, op, state, state_path, owner, err) < 0)
			return -1;
	}
	drop_missing(s, plan, state);
	return 0;
}

int stage_note(const struct stage *s, int state, const char *state_path, struct error *err)
{
	const struct staged *v;
	int r = 0;

	for (v = s->v; r == 0 && v < s->v + s->n; v++)
		r = v->kept ? copied_store(&v->copied, state) : 0;
	return r < 0 ? error_sys(err, r, "%s", state_path) : 0;
}

void stage_settle(const struct stage *s)
{
	if (s->n)
		copied_settle(&s->v[s->n - 1].copied);
}

/* The folder that was copied. Whoever may change a folder on the way to it could have put another one there. */
static int open_host(const struct staged *v, struct error *err)
{
	AUTO_FD fd = sys_open_no_links(v->host, O_RDONLY | O_DIRECTORY);
	struct text_shown t;
	struct stat st;

	if (fd == -ELOOP || fd == -ENOTDIR)
		return error_set(err, ERROR_DENIED, "%s: a link was put in its way; its copy cannot be brought back",
				 text_show(&t, sv_of(v->host)));
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, fd < 0 ? fd : errno, "%s: its copy cannot be brought back",
				 text_show(&t, sv_of(v->host)));
	if (st.st_dev != v->dev || st.st_ino != v->ino)
		return error_set(err, ERROR_DENIED,
				 "%s: another folder stands there now; its copy cannot be brought back",
				 text_show(&t, sv_of(v->host)));
	return fd_take(&fd);
}

/* Whoever started a sandbox that is kept is long gone when it ends: the log must say it too. */
static void log_left(const struct stage_end *end, const char *path, const char *why, const char *kept)
{
	struct event_field fields[] = {{.key = "target", .value = sv_of(path)}, {.key = "kept", .value = sv_of(kept)}};
	struct event e = {.kind = EVENT_NOTE,
			  .domain = DOMAIN_FILESYSTEM,
			  .verdict = "deny",
			  .rule = "filesystem",
			  .message = why,
			  .fields = fields,
			  .n_fields = 2};
	struct error ignored = {0};

	if (end->audit)
		(void)audit_write(end->audit, &e, &ignored);
}

/* One that must stay in the copy, by name and cause. */
static void tell_left(const struct stage_end *end, const struct staged *v, const struct change *c, size_t nth)
{
	AUTO_FREE char *path = NULL;
	char why[256];
	struct text_shown t;

	if (nth >= STAGE_LOGGED)
		return;
	if (asprintf(&path, "%s/%s", v->host, c->path) < 0) {
		path = NULL;
		return;
	}
	(void)snprintf(why, sizeof(why), "not brought back: it %.200s", c->refused);
	log_left(end, path, why, v->name);
	if (nth < STAGE_SAID)
		call_note(end->call, "%s: %s", text_show(&t, sv_of(path)), why);
}

/* Those that were refused for their own sake; what shares their fate is counted. */
static void tell_all_left(struct stage_end *end, const struct staged *v, const struct changes *list)
{
	size_t i, n = 0;

	for (i = 0; i < list->n; i++) {
		if (!list->v[i].refused || !list->v[i].own)
			continue;
		end->conflicts += list->v[i].refused == changes_meanwhile;
		tell_left(end, v, &list->v[i], n++);
	}
	if (n > STAGE_SAID)
		call_note(end->call, "... and %zu more; the log has %s", n - STAGE_SAID,
			  n > STAGE_LOGGED ? "the first of them" : "them");
}

struct returning {
	struct staged *v;
	struct stage_end *end;
	struct changes_rules rules;
	int lower, upper;
	struct changes *list;
	size_t applied;
};

static int scan_and_apply(struct returning *r, struct error *err)
{
	struct changes_apply_options options = {.skip_refused = true, .name = r->rules.root};

	changes_free(r->list);
	r->list = NULL;
	if (changes_scan(r->lower, r->upper, CHANGES_COPY, &r->rules, &r->list, err) < 0)
		return -1;
	return r->list->n ? changes_apply(r->lower, r->upper, r->end->state, r->list, &options, &r->applied, err) : 0;
}

/* Where the host changed something between the look and the rename: looks again, and sees it. Where another run is just
 * coming back: waits for its end. */
static int try_apply(struct returning *r, struct error *err)
{
	static const struct timespec pause = {.tv_nsec = 20000000};
	int64_t until = now_ms() + STAGE_BUSY_MS;
	int tries = STAGE_TRIES;

	for (;;) {
		if (scan_and_apply(r, err) == 0)
			return 0;
		if (err->kind != ERROR_DENIED || (err->code != ESTALE && err->code != EAGAIN))
			return -1;
		if (err->code == ESTALE ? --tries == 0 : now_ms() >= until)
			return -1;
		(void)nanosleep(&pause, NULL);
	}
}

static int bring_back(struct staged *v, const struct timespec *started, const struct changes_patterns *patterns,
		      struct stage_end *end, size_t *ret_left, struct error *err)
{
	struct returning b = {.v = v,
			      .end = end,
			      .rules = {.root = v->host,
					.started = *started,
					.copied = &v->copied,
					.hidden = v->hidden.paths,
					.n_hidden = v->hidden.n}};
	AUTO_FD lower = open_host(v, err);
	AUTO_FD upper = openat(end->state, v->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	*ret_left = 1;
	if (lower < 0)
		return -1;
	if (upper < 0)
		return error_sys(err, errno, "%s", v->name);
	hide_end(&v->hidden, &v->copied, upper);
	if (v->kept) {
		hide_fill(&v->hidden, lower, upper);
		*ret_left = 0;
		return 0;
	}
	end_others(v, lower);
	changes_others_tell(end->call, v->host, &v->others);
	changes_rules_take(&b.rules, patterns);
	b.lower = lower;
	b.upper = upper;
	r = try_apply(&b, err);
	*ret_left = r == 0 ? b.list->n - b.applied : 1;
	if (r == 0 && *ret_left) {
		(void)copied_follow(&v->copied, lower, b.list);
		tell_all_left(end, v, b.list);
	}
	changes_free(b.list);
	return r;
}

/* The copy of a work folder becomes what that of mode `copy` is, for `cordon diff` and `cordon apply`. */
static void keep_for_diff(struct staged *v, const struct stage_end *end)
{
	struct error ignored = {0};
	AUTO_FD host = -1;
	AUTO_FD copy = -1;

	if (!end->plan->workdir || strcmp(v->host, end->plan->workdir) != 0 ||
	    renameat(end->state, v->name, end->state, STATE_COPY) < 0)
		return;
	(void)snprintf(v->name, sizeof(v->name), STATE_COPY);
	/* without it more is taken for the run's than need be */
	(void)copied_store(&v->copied, end->state);
	host = open_host(v, &ignored);
	copy = openat(end->state, v->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (host >= 0 && copy >= 0)
		hide_fill(&v->hidden, host, copy);
}

static void tell_kept(struct staged *v, const struct stage_end *end, const char *what)
{
	struct text_shown t;

	keep_for_diff(v, end);
	log_left(end, v->host, what, v->name);
	if (strcmp(v->name, STATE_COPY) == 0)
		call_note(end->call,
			  "%s: %s; `cordon diff --all %s` shows what the sandbox has, `cordon apply %s` tries again",
			  text_show(&t, sv_of(v->host)), what, end->id, end->id);
	else
		call_note(end->call, "%s: %s; the sandbox's version is kept in %s/%s", text_show(&t, sv_of(v->host)),
			  what, end->state_path, v->name);
}

int stage_return(struct stage *s, struct stage_end *end, struct error *err)
{
	struct changes_patterns patterns = {0};
	struct staged *v;
	const char *what;
	size_t left, n = 0;
	int r = 0;

	end->conflicts = 0;
	for (v = s->v; v < s->v + s->n; v++)
		n += !v->kept;
	if (n) /* what stays where it is needs no judging */
		r = changes_patterns_init(&patterns, end->policy, end->plan, err);
	for (v = s->v; v < s->v + s->n; v++) {
		left = !v->kept; /* behind a failure nothing is tried, and that is said of each */
		if (r == 0)
			r = bring_back(v, &s->started, &patterns, end, &left, err);
		what = r < 0 ? "nothing was brought back" : "not all was brought back";
		if (left)
			tell_kept(v, end, what);
		else if (r == 0 && !v->kept)
			sys_remove_tree(end->state, v->name);
		copied_done(&v->copied);
	}
	changes_patterns_done(&patterns);
	if (r == 0 && end->conflicts)
		return error_set(err, ERROR_DENIED,
				 "%zu change%s of the run could not be brought back: the host changed the same files "
				 "meanwhile; compare the sandbox's version, which is kept, with yours",
				 end->conflicts, end->conflicts == 1 ? "" : "s");
	return r;
}
