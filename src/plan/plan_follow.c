#include "plan/plan_follow.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan_links.h"

/* A repository with more of them is no ordinary one, and each is looked at again and again while a run goes on; those
 * with wildcards in their names one by one. */
enum { STEPS_MAX = 40, LED_TO_MAX = 5000, LED_TO_WILD_MAX = 400 };

/* Below a name where only a folder may stand: nothing is called so. */
#define ANY_NAME ".cordon-way"

/* What shows something, one after the other: the plan's own steps, and what bind mounts show in those. NULL: that was
 * the last. */
static const struct plan_op *showing(const struct draft *d, size_t i)
{
	if (i < d->n_shown)
		return &d->plan->ops[i];
	return i < d->n_shown + d->n_binds ? &d->binds[i - d->n_shown] : NULL;
}

static bool shows(const struct plan_op *op, const char *host)
{
	return op->host && op->source && path_is_in(host, op->source);
}

/* What the host's path is called inside, one name after the other; *at is 0 at first. NULL: it is not shown, or not
 * from the host's folders, under any more names. */
static const char *shown_as(struct draft *d, const char *host, size_t *at)
{
	const struct plan_op *op;
	const char *rest;

	while ((op = showing(d, *at))) {
		++*at;
		if (!shows(op, host))
			continue;
		rest = path_rest(host, op->source);
		return rest[0] && rest[1] ? arena_printf(d->plan->arena, "%s%s", op->target, rest) : op->target;
	}
	return NULL;
}

/* A folder that is shown as a whole: what a link to it would deny or protect is all of it. */
static bool is_top(const struct draft *d, const char *inside)
{
	size_t i;

	for (i = 0; i < d->n_shown; i++)
		if (d->plan->ops[i].host && d->plan->ops[i].folder && strcmp(d->plan->ops[i].target, inside) == 0)
			return true;
	return false;
}

static int know_guards(struct draft *d)
{
	/* as many names again for the folders on the way to some */
	if (!d->n_named && guard_names_expect(&d->names, 2 * d->plan->n_guards) < 0)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	for (; d->n_named < d->plan->n_guards; d->n_named++)
		if (guard_names_add(&d->names, &d->plan->guards[d->n_named], (uint32_t)d->n_named) < 0)
			return error_set(d->err, ERROR_SYSTEM, "out of memory");
	return 0;
}

/* Some guard says as much of the pattern. A last "**" says nothing. */
static bool have(const struct draft *d, struct sv pattern, const struct plan_guard *of)
{
	const struct guard_name *e;

	while (sv_ends(pattern, "/**"))
		pattern.n -= 3;
	e = guard_names_find(&d->names, pattern);

	return e && (e->hides != GUARD_NONE || (!of->hidden && e->protects != GUARD_NONE) ||
		     (of->yields && e->yields != GUARD_NONE));
}

static int too_many(struct draft *d, int most, const char *by)
{
	struct text_shown t;

	return error_set(d->err, ERROR_INPUT,
			 "more than %d names are denied or protected because links lead there (the last: %.300s); "
			 "remove such links, or use a work folder with fewer of them",
			 most, text_show(&t, sv_of(by)));
}

/* The path, and of the pattern what is behind it. 1: it is new. */
static int add(struct draft *d, const char *path, struct sv rest, size_t from, const char *by)
{
	struct plan_guard of = d->plan->guards[from], *g;
	struct text_shown t, u;
	AUTO_BUF b = {0};

	buf_init(&b, 4 * PATH_MAX);
	if (know_guards(d) < 0)
		return -1;
	if (draft_literal(&b, rest.n && strcmp(path, "/") == 0 ? "" : path) < 0 ||
	    (rest.n && (buf_char(&b, '/') < 0 || buf_sv(&b, rest) < 0)))
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (have(d, buf_view(&b), &of))
		return 0;
	if (d->plan->n_guards - d->n_given >= LED_TO_MAX)
		return too_many(d, LED_TO_MAX, by);
	if (d->names.n_wild - d->n_given_wild >= LED_TO_WILD_MAX)
		return too_many(d, LED_TO_WILD_MAX, by);
	g = draft_guard(d);
	if (!g)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	*g = (struct plan_guard){.rule = arena_printf(d->plan->arena, "%s, by %s", of.rule, by),
				 .hidden = of.hidden,
				 .yields = of.yields,
				 .host_only = of.host_only,
				 .of_run = true};
	if (!g->rule || glob_init_in(&g->glob, buf_view(&b), d->plan->arena) < 0)
		return error_set(d->err, ERROR_INPUT,
				 "%.300s cannot be denied or protected under this name (%.200s, by %.200s); remove "
				 "what leads there, or use another work folder",
				 text_show(&t, sv_of(path)), of.rule, text_show(&u, sv_of(by)));
	d->plan->n_guards++;
	return 1;
}

/* The same under each name that a path of the host has inside. */
static int add_shown(struct draft *d, const char *host, struct sv rest, size_t from, const char *by)
{
	const char *inside;
	int r, added = 0;
	size_t at = 0;

	while ((inside = shown_as(d, host, &at))) {
		r = add(d, inside, rest, from, by);
		if (r < 0)
			return -1;
		added |= r;
	}
	return added;
}

/* Some component of the path is called so. */
static bool has_part(const char *path, struct sv part)
{
	size_t n;

	for (; *path; path += n) {
		path += *path == '/';
		n = strcspn(path, "/");
		if (n == part.n && memcmp(path, part.p, n) == 0)
			return true;
	}
	return false;
}

/* What one pattern says below a name it says at a path. */
static int add_rests_of(struct draft *d, const char *path, size_t guard, const char *name)
{
	struct sv rests[GLOB_MAX], first = glob_first_name(&d->plan->guards[guard].glob);
	unsigned k, m;
	int r, added = 0;

	if (first.n && !has_part(name, first))
		return 0;
	m = glob_rests(&d->plan->guards[guard].glob, sv_of(name), rests);
	for (k = 0; k < m; k++) {
		r = add(d, path, rests[k], guard, name);
		if (r < 0)
			return -1;
		added |= r;
	}
	return added;
}

/* The link stands where patterns need a folder: what they say of that folder they say of where it leads. */
static int add_rests(struct draft *d, const char *path, const char *name)
{
	const struct guard_name *e;
	size_t i, n = d->plan->n_guards;
	int r, added = 0;

	if (know_guards(d) < 0)
		return -1;
	e = guard_names_find(&d->names, sv_of(name));
	if (!e || e->way == GUARD_NONE)
		n = d->names.n_wild;
	for (i = 0; i < n; i++) {
		r = add_rests_of(d, path, e && e->way != GUARD_NONE ? i : d->names.wild[i], name);
		if (r < 0)
			return -1;
		added |= r;
	}
	return added;
}

/* One name of where a link leads. */
static int add_led_to(struct draft *d, const char *inside, const struct follow_link *link);

struct instead {
	struct draft *d;
	const struct follow_link *link;
	struct sv rest; /* of the pattern, behind the path */
	int added;
};

/* What is meant is also what would be, if a link on the way were a folder: whoever removes the link can make one there.
 */
static int add_instead(void *arg, const char *host)
{
	struct instead *in = arg;
	const char *inside;
	size_t at = 0;
	int r;

	while ((inside = shown_as(in->d, host, &at))) {
		r = in->link->host ? add_led_to(in->d, inside, in->link)
				   : add(in->d, inside, in->rest, in->link->guard, in->link->inside);
		if (r < 0)
			return -EPERM; /* it is said */
		in->added |= r;
	}
	return 0;
}

/* link has no host where what is meant is not the link itself, but rest behind where the text leads. */
static int trace_instead(struct draft *d, const char *folder, const char *text, const struct follow_link *link,
			 struct sv rest)
{
	struct instead in = {d, link, rest, 0};
	struct text_shown t;
	int r = plan_links_instead(d->plan->arena, folder, text, add_instead, &in);

	if (r == -ENOMEM)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (r < 0 && r != -EPERM)
		return error_set(
			d->err, ERROR_INPUT,
			"%.300s goes through too many links to be denied or protected (%.200s); remove some of them",
			text_show(&t, sv_of(text)), d->plan->guards[link->guard].rule);
	return r < 0 ? -1 : in.added;
}

/* Where a text leads from a folder, in *ret; NULL: nowhere. Where it goes through a link, or back, only what stands
 * there now may stand, or a folder: else it would lead elsewhere. 1: guards are new; 0; -1. */
static int trace(struct draft *d, const char *folder, const char *text, const struct follow_link *link,
		 const char **ret)
{
	const struct plan_link *l;
	struct text_shown t;
	struct plan_way way;
	int r = plan_links_trace(d->plan->arena, folder, text, &way), n, added = 0;

	*ret = r < 0 ? NULL : way.real;
	if (r == -ENOMEM)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (r == -ENAMETOOLONG)
		return error_set(d->err, ERROR_INPUT,
				 "%.300s leads to a path that is too long to be denied or protected (%.200s)",
				 text_show(&t, sv_of(link->inside)), d->plan->guards[link->guard].rule);
	for (l = way.links; l; l = l->next) {
		n = add_shown(d, l->path, sv_of(ANY_NAME), link->guard, link->inside);
		if (n < 0)
			return -1;
		added |= n;
	}
	n = way.links ? trace_instead(d, folder, text, link, sv_n("", 0)) : 0;
	return n < 0 ? -1 : added | n;
}

/* What the link at a path says, and the folder that it stands in. */
static bool read_link(const char *at, char text[PATH_MAX], char folder[PATH_MAX])
{
	ssize_t n = readlink(at, text, PATH_MAX - 1);
	const char *slash = strrchr(at, '/');

	if (n < 0 || (size_t)(slash - at) >= PATH_MAX)
		return false;
	text[n] = '\0';
	memcpy(folder, at, (size_t)(slash - at));
	folder[slash - at] = '\0';
	return true;
}

/* Where the link at a path leads, one step. NULL: it is none, or leads nowhere. */
static int next_step(struct draft *d, const char *at, const struct follow_link *link, const char **ret)
{
	char text[PATH_MAX], folder[PATH_MAX];

	*ret = NULL;
	return read_link(at, text, folder) ? trace(d, folder, text, link, ret) : 0;
}

/* Such a path is shown. */
static bool is_shown(const struct draft *d, const char *host)
{
	const struct plan_op *op;
	size_t i;

	for (i = 0; (op = showing(d, i)); i++)
		if (shows(op, host))
			return true;
	return false;
}

bool plan_follow_leads(const struct draft *d, const char *host)
{
	char text[PATH_MAX], folder[PATH_MAX];
	struct plan_way way = {.real = host};
	struct arena *a = NULL;
	bool r = false;
	int steps;

	for (steps = 0; !r && steps < STEPS_MAX && read_link(way.real, text, folder); steps++) {
		a = a ? a : arena_new();
		if (!a)
			return true; /* who follows it says so */
		if (plan_links_trace(a, folder, text, &way) < 0)
			break;
		r = is_shown(d, way.real);
	}
	arena_free(a);
	return r;
}

static int add_led_to(struct draft *d, const char *inside, const struct follow_link *link)
{
	struct text_shown t, u;
	int r, n;

	/* what is to be read only yields to a folder that is shown as a whole to be written */
	if (!link->on_way && !d->plan->guards[link->guard].yields && is_top(d, inside))
		return error_set(d->err, ERROR_DENIED,
				 "%.300s is a link to all of %.300s, and is not to be read or written (%.200s); remove "
				 "the link, or work in a copy of the folder that nothing links to",
				 text_show(&t, sv_of(link->inside)), text_show(&u, sv_of(inside)),
				 d->plan->guards[link->guard].rule);
	r = add_rests(d, inside, link->inside);
	if (r < 0 || link->on_way)
		return r;
	n = add(d, inside, sv_n("", 0), link->guard, link->inside);
	return n < 0 ? -1 : r | n;
}

int plan_follow_link(struct draft *d, const struct follow_link *link)
{
	const char *at = link->host, *to, *inside;
	int steps, r, added = 0;
	size_t i;

	for (steps = 0; steps < STEPS_MAX; steps++, at = to) {
		r = next_step(d, at, link, &to);
		if (r < 0)
			return -1;
		added |= r;
		if (!to)
			break;
		for (i = 0; (inside = shown_as(d, to, &i));) {
			r = add_led_to(d, inside, link);
			if (r < 0)
				return -1;
			added |= r;
		}
	}
	return added;
}

int plan_follow_named(struct draft *d, const char *host, const char *like, const char *why)
{
	struct follow_link link = {.inside = why}; /* no host: there is no name of a link yet */
	const char *inside;
	int r, n;
	size_t i = 0;

	for (link.guard = 0; link.guard < d->plan->n_guards && strcmp(d->plan->guards[link.guard].glob.text, like) != 0;
	     link.guard++)
		;
	if (link.guard == d->plan->n_guards)
		return 0;
	r = trace(d, "/", host, &link, &link.host);
	if (r < 0 || !link.host)
		return r;
	n = add_shown(d, link.host, sv_n("", 0), link.guard, why);
	r = n < 0 ? -1 : r | n;
	inside = shown_as(d, link.host, &i);
	link.inside = inside ? inside : link.host;
	n = r < 0 ? -1 : plan_follow_link(d, &link);
	return n < 0 ? -1 : r | n;
}

int plan_follow_ways(struct draft *d)
{
	const struct follow_link link = {.inside = "the way to the run's own policy", .guard = d->ways_guard};
	const char *const *way;
	const char *to;

	for (way = d->ways; way && *way; way++)
		if (trace(d, "/", *way, &link, &to) < 0)
			return -1;
	return 0;
}

/* The pattern means what is called so, or lies below; the same has another name. */
static int add_renamed(struct draft *d, size_t guard, const char *name, const char *other)
{
	const struct glob *g = &d->plan->guards[guard].glob;
	struct sv rests[GLOB_MAX];
	unsigned k, m;

	if (strcmp(name, other) == 0)
		return 0;
	if (glob_hit(g, sv_of(name)))
		return add(d, other, sv_n("", 0), guard, name);
	/* all of it is left behind "/", where glob_leaves() knows only of a beginning that was met */
	if (name[1] == '\0' && g->text[0] == '/' && !(g->stars & 1))
		return add(d, other, sv_of(g->text + 1), guard, name);
	m = glob_leaves(g, sv_of(name), rests);
	for (k = 0; k < m; k++)
		if (add(d, other, rests[k], guard, name) < 0)
			return -1;
	return 0;
}

/* Something is shown from below a folder of the host. */
static bool is_above(const struct plan_op *op, const char *host)
{
	return op->host && op->source && path_is_below(op->source, host);
}

static bool is_above_some(const struct draft *d, const char *host)
{
	const struct plan_op *op;
	size_t i;

	for (i = 0; (op = showing(d, i)) && !is_above(op, host); i++)
		;
	return op != NULL;
}

static bool begins_deep(struct sv rest)
{
	return rest.n >= 2 && rest.p[0] == '*' && rest.p[1] == '*';
}

/* A "**" goes on at the folder, above what is shown: said of the folder it would go through all of the host, and its
 * links. So it is said of what is shown. */
static int add_deep(struct draft *d, const char *real, struct sv rest, size_t guard, const char *by)
{
	const struct plan_op *op;
	struct sv rests[GLOB_MAX];
	struct glob g = {0};
	AUTO_BUF b = {0};
	int r = 0, added = 0;
	unsigned k, m;
	size_t i;
	bool hit;

	buf_init(&b, 4 * PATH_MAX);
	if (draft_literal(&b, strcmp(real, "/") == 0 ? "" : real) < 0 || buf_char(&b, '/') < 0 ||
	    buf_sv(&b, rest) < 0 || glob_init(&g, buf_view(&b)) < 0)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	for (i = 0; r >= 0 && (op = showing(d, i)); i++) {
		if (!is_above(op, real))
			continue;
		/* all of it, or what is left of the pattern there; behind a link to "/" it floats, and glob_leaves()
		 * leaves out what it says anywhere */
		hit = glob_hit(&g, sv_of(op->source));
		m = hit ? 0 : glob_leaves(&g, sv_of(op->source), rests);
		if (hit || g.stars & 1)
			rests[m++] = hit ? sv_n("", 0) : rest;
		for (k = 0; r >= 0 && k < m; k++) {
			r = add(d, op->target, rests[k], guard, by);
			added |= r;
		}
	}
	glob_done(&g);
	return r < 0 ? -1 : added;
}

/* What is shown lies below the folder: the pattern there, and under the names that this has inside. */
static int add_above(struct draft *d, const char *real, struct sv rest, size_t guard, const char *by)
{
	const struct plan_op *op;
	size_t i, new;
	int r;

	if (!is_above_some(d, real))
		return 0;
	if (begins_deep(rest))
		return add_deep(d, real, rest, guard, by);
	r = add(d, real, rest, guard, by);
	if (r <= 0)
		return r;
	new = d->plan->n_guards - 1;
	for (i = 0; (op = showing(d, i)); i++) {
		if (is_above(op, real) && add_renamed(d, new, op->source, op->target) < 0)
			return -1;
	}
	return 1;
}

/* What one pattern of the policy's says of a folder that is reached through links. */
static int follow_base(struct draft *d, size_t guard)
{
	const struct glob *g = &d->plan->guards[guard].glob;
	struct sv s = glob_base(g), rest = sv_n("", 0);
	struct follow_link link = {.guard = guard};
	struct plan_way way;

	if (s.n <= 1)
		return 0;
	/* behind the base there may be more, which begins with a wildcard */
	if (g->text[s.n] == '/')
		rest = sv_n(g->text + s.n + 1, strlen(g->text) - s.n - 1);
	link.inside = arena_str(d->plan->arena, s);
	if (!link.inside || plan_links_trace(d->plan->arena, "/", link.inside, &way) < 0)
		return 0;
	if (way.links && trace_instead(d, "/", link.inside, &link, rest) < 0)
		return -1;
	link.host = way.real;
	link.on_way = rest.n > 0;
	if (strcmp(way.real, link.inside) != 0 && (add_shown(d, way.real, rest, guard, link.inside) < 0 ||
						   add_above(d, way.real, rest, guard, link.inside) < 0))
		return -1;
	return plan_follow_link(d, &link) < 0 ? -1 : 0;
}

/* It says just this of what is behind the real folder, or hides that. */
static bool says(const struct glob *g, const char *real, struct sv rest)
{
	struct sv rests[GLOB_MAX];
	unsigned k, m = glob_leaves(g, sv_of(real), rests);

	if (glob_hit(g, sv_of(real)))
		return true;
	for (k = 0; k < m; k++)
		if (rests[k].n == rest.n && memcmp(rests[k].p, rest.p, rest.n) == 0)
			return true;
	return false;
}

static bool is_said(const struct draft *d, const struct plan_guard *of, const char *path, struct sv rest)
{
	const struct plan_guard *g;
	size_t i;

	for (i = d->n_given; i < d->plan->n_guards; i++) {
		g = &d->plan->guards[i];
		if (g->hidden && (!g->host_only || of->host_only) && says(&g->glob, path, rest))
			return true;
	}
	return false;
}

/* Links led to the same before, under all names that the folder has inside. */
static bool is_led_to(struct draft *d, const struct plan_guard *of, const char *real, struct sv rest)
{
	const char *inside;
	bool shown = false;
	size_t at = 0;

	while ((inside = shown_as(d, real, &at))) {
		if (!is_said(d, of, inside, rest))
			return false;
		shown = true;
	}
	return shown;
}

bool plan_follow_minds(struct draft *d, size_t guard, const char *real, struct sv rest, bool stray)
{
	const struct plan_guard *of = &d->plan->guards[guard];
	bool above;

	if (says(&of->glob, real, rest))
		return false;
	/* what a "**" came to by chance (a link to "/" in some folder) is not meant to hold all that is below */
	above = !stray && is_above_some(d, real);
	return above || (is_shown(d, real) && !is_led_to(d, of, real, rest));
}

int plan_follow_through(struct draft *d, const char *link, const char *real, struct sv rest, size_t guard, bool stray)
{
	const struct follow_link way = {link, link, guard, true};
	int r = add_shown(d, real, rest, guard, link), n;

	n = r < 0 ? -1 : stray ? 0 : add_above(d, real, rest, guard, link);
	r = n < 0 ? -1 : r | n;
	n = r < 0 ? -1 : plan_follow_link(d, &way);
	return n < 0 ? -1 : r | n;
}

/* Something of the host is called otherwise inside; else nothing has two names. */
static bool has_other_names(const struct draft *d)
{
	const struct plan_op *op;
	size_t i;

	for (i = 0; (op = showing(d, i)); i++)
		if (op->host && op->source && strcmp(op->source, op->target) != 0)
			return true;
	return false;
}

/* All names of one folder that is shown: a pattern that means one of them means all. */
static int rename_all(struct draft *d, const char *host, size_t n)
{
	const char *name, *other;
	size_t i, j, guard;
	bool first;

	for (j = 0; (other = shown_as(d, host, &j));) {
		for (i = 0, first = true; (name = first ? host : shown_as(d, host, &i)); first = false)
			for (guard = 0; strcmp(name, other) != 0 && guard < n; guard++)
				if (add_renamed(d, guard, name, other) < 0)
					return -1;
	}
	return 0;
}

/* The entry of filesystem.read by which the step shows something. */
static bool is_shown_by(const struct plan_op *op, const struct plan_guard *g)
{
	return g->yields && op->host && !op->writable && op->source && strcmp(op->why, g->rule) == 0;
}

/* What filesystem.read names, also by a wildcard, and what stands behind links stays read-only under its other names
 * too. */
static int follow_read(struct draft *d, size_t guard)
{
	const struct plan_op *op;
	size_t i;

	if (follow_base(d, guard) < 0)
		return -1;
	for (i = 0; i < d->n_shown; i++) {
		op = &d->plan->ops[i];
		if (is_shown_by(op, &d->plan->guards[guard]) && strcmp(op->source, op->target) != 0 &&
		    add_shown(d, op->source, sv_n("", 0), guard, op->target) < 0)
			return -1;
	}
	return 0;
}

/* A pattern says where; Cordon's own folders among them. */
static int follow_given(struct draft *d, size_t guard)
{
	if (d->plan->guards[guard].glob.text[0] != '/')
		return 0;
	if (d->plan->guards[guard].yields)
		return follow_read(d, guard);
	/* the first guards are those of filesystem.deny */
	return guard < d->policy->fs.deny.n ? follow_base(d, guard) : 0;
}

int plan_follow_names(struct draft *d)
{
	const struct plan_op *op;
	size_t i, n = d->plan->n_guards;

	if (know_guards(d) < 0)
		return -1;
	d->n_given = n;
	d->n_given_wild = d->names.n_wild;
	for (i = 0; i < n; i++)
		if (follow_given(d, i) < 0)
			return -1;
	for (i = has_other_names(d) ? 0 : d->n_shown + d->n_binds; (op = showing(d, i)); i++)
		if (op->host && op->source && rename_all(d, op->source, n) < 0)
			return -1;
	return 0;
}
