#include "plan/plan_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan_base.h"
#include "plan/plan_draft.h"
#include "plan/plan_exec.h"
#include "plan/plan_gate.h"
#include "plan/plan_image.h"
#include "plan/plan_linked.h"
#include "plan/plan_links.h"
#include "plan/plan_masks.h"
#include "sys/mounts.h"

/* Places that are the sandbox's own; a policy cannot lay the host's over them. */
static bool is_reserved(const char *path)
{
	static const char *const own[] = {"/proc", "/dev", "/sys", NULL};
	size_t i;

	for (i = 0; own[i]; i++)
		if (path_is_in(path, own[i]))
			return true;
	return strcmp(path, "/") == 0;
}

/* Shows one path of the host. Its real location may be behind links; the name inside is the one that policy says. */
static int show_path(struct draft *d, const char *path, const char *why, bool writable)
{
	struct text_shown t;
	struct plan_way way;
	struct stat st;
	struct plan_op op = {.kind = PLAN_BIND, .why = why, .writable = writable, .host = true};
	int r = plan_links_find(d->plan->arena, path, &way);

	if (r == -ENOMEM)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (r < 0 || lstat(way.real, &st) < 0)
		return 0; /* absent: nothing to show */
	op.folder = S_ISDIR(st.st_mode);
	if (is_reserved(path) || is_reserved(way.real))
		return error_set(d->err, ERROR_DENIED,
				 "%s: %s cannot be shown to a sandbox; name the folders that it needs", why,
				 text_show(&t, sv_of(path)));
	op.target = arena_str(d->plan->arena, sv_of(path));
	op.source = way.real;
	op.flags = MOUNT_NO_DEV | (writable ? 0 : MOUNT_READ_ONLY);
	return plan_links_note(d, &op, &way) < 0 ? -1 : draft_add(d, &op);
}

struct expansion {
	struct draft *d;
	const char *why;
	bool writable;
};

static int expand_found(void *arg, const char *path)
{
	struct expansion *x = arg;

	return show_path(x->d, path, x->why, x->writable);
}

static int add_listed(struct draft *d, const char *key, const struct pol_list *list, bool writable)
{
	struct expansion x = {.d = d, .writable = writable};
	struct glob g;
	uint32_t i;
	int r;

	for (i = 0; i < list->n; i++) {
		x.why = draft_rule(d, key, &list->v[i]);
		r = x.why ? glob_init(&g, sv_of(list->v[i].s)) : -ENOMEM;
		if (r < 0)
			return draft_no_pattern(d, r, x.why);
		/* One that floats says how folders are treated that are shown anyway: see add_guards(). */
		r = g.text[0] == '/' ? draft_expand(&g, expand_found, &x) : 0;
		glob_done(&g);
		if (r < 0)
			return -1;
	}
	return 0;
}

static int add_workdir(struct draft *d, const char *workdir)
{
	struct plan *p = d->plan;
	struct plan_op op = {.why = "filesystem.workdir", .host = true, .flags = MOUNT_NO_DEV};
	struct text_shown t;
	struct stat st;

	if (p->workdir_mode == WORKDIR_NONE || !workdir)
		return 0;
	if (stat(workdir, &st) < 0)
		return error_sys(d->err, errno, "work folder %s", text_show(&t, sv_of(workdir)));
	if (!S_ISDIR(st.st_mode))
		return error_set(d->err, ERROR_INPUT, "work folder %s: not a folder", text_show(&t, sv_of(workdir)));
	p->workdir = op.target = op.source = arena_str(p->arena, sv_of(workdir));
	op.kind = p->workdir_mode == WORKDIR_COPY ? PLAN_OVERLAY : PLAN_BIND;
	op.folder = true;
	op.writable = p->workdir_mode != WORKDIR_READ_ONLY;
	if (!op.writable)
		op.flags |= MOUNT_READ_ONLY;
	return draft_add(d, &op);
}

static int add_guards(struct draft *d, const char *key, const struct pol_list *list, bool hidden, bool mandatory)
{
	struct plan_guard *g;
	uint32_t i;
	int r;

	for (i = 0; i < list->n; i++) {
		g = draft_guard(d);
		if (!g)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
		g->rule = draft_rule(d, key, &list->v[i]);
		g->hidden = hidden;
		g->host_only = mandatory || list->v[i].at.file == 0;
		g->yields = list == &d->policy->fs.read;
		r = g->rule ? glob_init_in(&g->glob, sv_of(list->v[i].s), d->plan->arena) : -ENOMEM;
		if (r < 0)
			return draft_no_pattern(d, r, g->rule);
		d->plan->n_guards++;
	}
	return 0;
}

/* A policy file that is saved is loaded anew while the run goes on (and by the next run): whoever may write it writes
 * the rules. And who may move a record away writes another in its place. */
static int add_paths(struct draft *d, const char *const *paths, const char *what, bool hidden)
{
	struct plan_guard *g;
	AUTO_BUF b = {0};

	buf_init(&b, 2 * 4096);
	for (; paths && *paths; paths++) {
		buf_clear(&b);
		g = draft_guard(d);
		if (!g || draft_literal(&b, *paths) < 0)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
		g->rule = arena_printf(d->plan->arena, "%s (%s)", *paths, what);
		g->hidden = hidden;
		g->host_only = true;
		g->of_run = true;
		if (glob_init_in(&g->glob, buf_view(&b), d->plan->arena) < 0)
			return error_set(d->err, ERROR_INPUT,
					 "%s (%s) cannot be protected under this name; move it out of the folders that "
					 "the run is shown",
					 *paths, what);
		if (plan_linked_name(d, *paths, g) < 0)
			return -1;
		d->plan->n_guards++;
	}
	return 0;
}

/* What an apply that was interrupted left at the top of the work folder: the only copies of files that it had replaced.
 */
static int add_staging(struct draft *d)
{
	struct plan_guard *g;
	AUTO_BUF b = {0};

	if (!d->plan->workdir)
		return 0;
	buf_init(&b, 2 * 4096);
	g = draft_guard(d);
	if (!g || draft_literal(&b, strcmp(d->plan->workdir, "/") == 0 ? "" : d->plan->workdir) < 0 ||
	    buf_str(&b, "/" PLAN_STAGING "*") < 0)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	*g = (struct plan_guard){
		.rule = "what an interrupted apply left (built in)", .hidden = true, .host_only = true};
	if (glob_init_in(&g->glob, buf_view(&b), d->plan->arena) < 0)
		return 0; /* a name that no pattern can have, as no policy could deny it: what an apply left there is
			     not out of reach */
	d->plan->n_guards++;
	return 0;
}

static void fill_limits(struct draft *d)
{
	const struct pol_process *pp = &d->policy->process;
	struct plan_limits *l = &d->plan->limits;

	l->memory = pp->memory.v;
	l->processes = pp->max_processes.v;
	l->cpu_thousandths = pp->cpus.v;
	l->timeout_ms = pp->timeout.v;
	l->file_size = pp->max_file_size.v;
	d->plan->tmp_size = d->policy->fs.tmp_size.v;
	d->plan->loopback = d->policy->net.loopback.v;
	d->plan->network = (int)d->policy->net.mode.v;
	d->plan->providers = d->policy->inference.n_providers;
}

static int fill_user(struct draft *d)
{
	const struct pol_process *pp = &d->policy->process;

	d->plan->uid = d->plan->gid = (uint32_t)pp->user.v;
	/* Nobody asked for an id: the user's own, so that what tools note down about files (git's index) holds inside
	 * and outside. */
	if (pp->user.at.file == 0 && geteuid() != 0) {
		d->plan->uid = geteuid();
		d->plan->gid = getegid();
	}
	if (pp->user.v == 0)
		return error_set(d->err, ERROR_DENIED,
				 "process.user: 0 is not given to a workload (it would own what the namespace owns); "
				 "use another id, such as 1000");
	if (pp->user.v > 0x7ffffffe)
		return error_set(d->err, ERROR_INPUT, "process.user: %llu is out of range",
				 (unsigned long long)pp->user.v);
	return 0;
}

static int draft_all(struct draft *d, const struct plan_request *req)
{
	const struct pol_fs *fs = &req->policy->fs;

	fill_limits(d);
	if (req->image)
		return plan_image_add(d, req->image);
	if (fill_user(d) < 0 || plan_base_add(d) < 0 || plan_gate_add(d) < 0)
		return -1;
	if (add_listed(d, "filesystem.read", &fs->read, false) < 0 ||
	    add_listed(d, "filesystem.write", &fs->write, true) < 0)
		return -1;
	if (add_workdir(d, req->workdir) < 0)
		return -1;
	draft_show_behind_links(d);
	draft_sort(d);
	draft_links_give_way(d);
	if (add_guards(d, "filesystem.deny", &fs->deny, true, false) < 0 ||
	    add_guards(d, "filesystem.protect", &fs->protect, false, true) < 0)
		return -1;
	d->ways_guard = d->plan->n_guards;
	if (add_paths(d, req->protect, "the run's own policy", false) < 0 ||
	    add_paths(d, req->outputs, "what Cordon writes about a run", false) < 0 ||
	    add_paths(d, req->hide, "holds a credential", true) < 0 || add_staging(d) < 0 ||
	    add_guards(d, "filesystem.read", &fs->read, false, false) < 0 || plan_exec_guards(d) < 0)
		return -1;
	if (plan_links_judge(d) < 0 || plan_masks_add(d) < 0 || plan_exec_add(d) < 0)
		return -1;
	draft_covers_last(d);
	return 0;
}

int plan_build(const struct plan_request *req, struct plan **ret, struct error *err)
{
	struct arena *a = arena_new();
	struct plan *p = a ? arena_alloc(a, sizeof(*p)) : NULL;
	struct draft d = {.plan = p,
			  .policy = req->policy,
			  .gate = req->gate,
			  .cache_dir = req->cache_dir,
			  .git_configs = req->git_configs,
			  .workdir = req->workdir,
			  .here = req->here,
			  .own = req->own,
			  .ways = req->protect && req->protect[0] ? req->ways : NULL,
			  .names = {.arena = a},
			  .err = err};
	const char *const *own;
	int r;

	if (!p) {
		arena_free(a);
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	err->kind = ERROR_NONE;
	p->arena = a;
	p->argv = arena_strings(a, (const char *const *)req->argv);
	p->env = arena_strings(a, (const char *const *)req->env);
	p->home = arena_str(a, sv_of(req->home));
	p->state_dir = arena_str(a, sv_of(req->state_dir));
	p->workdir_mode = req->image ? WORKDIR_NONE : (int)req->policy->fs.workdir.v;
	p->runtime = req->runtime ? arena_str(a, sv_of(req->runtime)) : NULL;
	p->runtime_why = req->runtime_why ? arena_str(a, sv_of(req->runtime_why)) : NULL;
	for (own = req->own; own && *own; own++)
		scan_own_add(&d.own_folders, *own);
	plan_linked_init(&d);
	r = draft_all(&d, req);
	guard_names_done(&d.names);
	plan_linked_done(&d);
	if (r < 0) {
		plan_free(p);
		return -1;
	}
	if (!p->image)
		p->cwd = p->workdir ? p->workdir : p->home;
	if (arena_failed(a)) {
		plan_free(p);
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	*ret = p;
	return 0;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	free(p->guards);
	free(p->ops);
	arena_free(p->arena);
}
