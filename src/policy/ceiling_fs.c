#include "policy/ceiling_fs.h"

#include "base/glob.h"
#include "base/text.h"
#include "model/base_system.h"
#include "policy/policy_cover.h"
#include "policy/policy_load.h"
#include "policy/policy_merge.h"
#include "policy/policy_resolve.h"
#include "policy/policy_where.h"

/* One of the request's patterns, on its way below the ceiling. */
struct ask {
	struct policy *request;
	const struct policy *ceiling;
	struct error *err;
	const char *workdir; /* as a pattern */
	const char *key;
	struct pol_str pattern;
	bool write;
	bool plain;              /* without wildcards */
	bool workdir_open;       /* the ceiling lets the work folder be used this way */
	struct pol_list *narrow; /* read-only folders of the ceiling to take over; room for all */
};

static bool covers(const char *outer, const char *inner)
{
	return cover_path.covers(outer, inner);
}

static bool floats(const char *pattern)
{
	return pattern[0] != '/';
}

/* The ceiling's rule c opens the pattern, and no narrower rule k of the ceiling is deeper than c. One that floats shows
 * no folder, neither there nor here. */
static bool opens(const struct ask *q, const char *c, const char *k)
{
	if (floats(c) && !floats(q->pattern.s))
		return false;
	return strcmp(c, q->pattern.s) == 0 || (covers(c, q->pattern.s) && (!k || covers(k, c)));
}

/* Some rule of the ceiling opens the pattern in spite of k (NULL: at all). */
static bool opened(const struct ask *q, const char *k)
{
	const struct pol_fs *theirs = &q->ceiling->fs;
	uint32_t i;

	for (i = 0; i < theirs->write.n; i++)
		if (opens(q, theirs->write.v[i].s, k))
			return true;
	for (i = 0; !q->write && i < theirs->read.n; i++)
		if (opens(q, theirs->read.v[i].s, k))
			return true;
	return q->workdir_open && opens(q, q->workdir, k);
}

static bool list_has(const struct pol_list *list, const char *s)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (strcmp(list->v[i].s, s) == 0)
			return true;
	return false;
}

/* The ceiling has the very same rule: against anything narrower it then fares as it does there. */
static bool is_theirs(const struct ask *q)
{
	return list_has(&q->ceiling->fs.write, q->pattern.s);
}

/* Who was given a profile with Cordon cannot take a line out of it. */
static const char *way_out(const struct ask *q)
{
	if (policy_shipped(q->request->files[q->pattern.at.file]))
		return "add it to the ceiling, which may extend this profile, or use another profile";
	return "remove it or ask the operator";
}

static int fail_outside(const struct ask *q, const struct pol_list *theirs)
{
	struct text_shown a, b;

	(void)text_show(&a, sv_of(q->pattern.s));
	if (theirs->n == 0)
		return policy_fail(
			q->request, q->pattern.at, q->key, q->err,
			"\"%.120s\" is outside the ceiling's list, which is empty; %s", a.s, way_out(q));
	return policy_fail(
		q->request, q->pattern.at, q->key, q->err,
		"\"%.100s\" is outside what the ceiling opens (\"%.60s\"%s, %.120s); %s",
		a.s, text_show(&b, sv_of(theirs->v[0].s)), theirs->n > 1 ? " and others" : "",
		policy_where(q->ceiling, theirs->v[0].at), way_out(q));
}

static int fail_narrower(const struct ask *q, const char *k, const char *where)
{
	struct text_shown a, b;

	return policy_fail(q->request, q->pattern.at, q->key, q->err,
			   "\"%.100s\" reaches into \"%.80s\", which the ceiling keeps narrower (%.120s); remove it or "
			   "ask the operator",
			   text_show(&a, sv_of(q->pattern.s)), text_show(&b, sv_of(k)), where);
}

/* A row that holds in every sandbox, whatever the policy. A plain pattern above it does no harm: the row is deeper. */
static int check_row(const struct ask *q, const char *k, const char *where)
{
	if (cover_path.apart(k, q->pattern.s) || (q->plain && !covers(k, q->pattern.s)) || opened(q, k))
		return 0;
	return fail_narrower(q, k, where);
}

static int check_base(const struct ask *q)
{
	const struct base_path *row;

	for (row = base_paths; row->pattern; row++)
		if ((q->write || row->kind != BASE_READ) && check_row(q, row->pattern, "the base system") < 0)
			return -1;
	return 0;
}

/* Nothing but what the ceiling itself lists shows the work folder, be it from above. */
static int check_no_workdir(const struct ask *q)
{
	if (floats(q->pattern.s) || cover_path.apart(q->workdir, q->pattern.s) || opened(q, NULL))
		return 0;
	return fail_narrower(q, q->workdir, policy_where(q->ceiling, q->ceiling->fs.workdir.at));
}

/* However little else the ceiling says of folders: a request could name its work folder as one among others. */
static int check_workdir(struct ask *q)
{
	const struct pol_num *mode = &q->ceiling->fs.workdir;

	if (mode->set && mode->v == WORKDIR_NONE)
		return check_no_workdir(q);
	if (!q->write || !mode->set || mode->v == WORKDIR_READ_WRITE)
		return 0;
	/* A request without a work folder would still reach it from above, as a folder among others. */
	if (q->request->fs.workdir.v == WORKDIR_NONE && covers(q->pattern.s, q->workdir))
		q->narrow->v[q->narrow->n++] = (struct pol_str){.s = q->workdir, .at = mode->at};
	return check_row(q, q->workdir, policy_where(q->ceiling, mode->at));
}

/* The ceiling's read-only folders hold only where they are in the result too: those inside the pattern are taken over.
 */
static int check_narrow(struct ask *q)
{
	const struct pol_list *theirs = &q->ceiling->fs.read;
	uint32_t i;

	for (i = 0; i < theirs->n; i++) {
		const char *k = theirs->v[i].s;
		bool above = covers(k, q->pattern.s);

		if (cover_path.apart(k, q->pattern.s) || (above && opened(q, k)))
			continue;
		if (!above && list_has(&q->request->fs.read, k) && (q->plain || is_theirs(q)))
			continue;
		if (above || (!q->plain && !is_theirs(q)))
			return fail_narrower(q, k, policy_where(q->ceiling, theirs->v[i].at));
		/* A floating pattern shows nothing by itself; any other must not show more than was asked for. */
		if (k[0] == '/' && !covers(q->pattern.s, k))
			return fail_narrower(q, k, policy_where(q->ceiling, theirs->v[i].at));
		q->narrow->v[q->narrow->n++] = theirs->v[i];
	}
	return 0;
}

/* Readable in every sandbox without a rule. */
static bool is_base(const struct ask *q)
{
	const struct base_path *row;
	int depth;

	row = q->plain && !q->write ? base_system_find(sv_of(q->pattern.s), &depth) : NULL;
	return row && row->kind == BASE_READ;
}

static int check_pattern(struct ask *q)
{
	const struct pol_fs *theirs = &q->ceiling->fs;
	const struct pol_list *bound = q->write ? &theirs->write : &theirs->read;

	if (is_base(q))
		return 0;
	if (bound->set && !opened(q, NULL))
		return fail_outside(q, bound);
	if ((bound->set && check_base(q) < 0) || check_workdir(q) < 0)
		return -1;
	/* Writing implies reading. */
	if (q->write && theirs->read.set) {
		q->write = false;
		if (!opened(q, NULL))
			return fail_outside(q, &theirs->read);
		q->write = true;
	}
	return q->write && theirs->write.set ? check_narrow(q) : 0;
}

static bool is_plain(const char *pattern)
{
	struct glob g = {0};
	bool r = glob_init(&g, sv_of(pattern)) == 0 && glob_is_plain(&g);

	glob_done(&g);
	return r;
}

static void ask_for(struct ask *q, struct pol_str pattern, bool write)
{
	const struct pol_num *mode = &q->ceiling->fs.workdir;

	q->write = write;
	q->key = write ? "filesystem.write" : "filesystem.read";
	q->workdir_open = !mode->set || mode->v == WORKDIR_READ_WRITE || (!write && mode->v != WORKDIR_NONE);
	q->pattern = pattern;
	q->plain = is_plain(pattern.s);
}

/* Room for what may have to be kept read-only; that of the pattern before, where there was one. */
static int make_narrow(const struct ask *q, struct pol_list *narrow)
{
	if (narrow->v) {
		narrow->n = 0;
		return 0;
	}
	*narrow = (struct pol_list){.v = arena_array(q->request->arena, q->ceiling->fs.read.n + 1, sizeof(*narrow->v)),
				    .set = true};
	return narrow->v ? 0 : policy_no_memory(q->err);
}

static int check_list(struct ask *q, const struct pol_list *mine, bool write)
{
	uint32_t i;

	for (i = 0; i < mine->n; i++) {
		struct pol_list narrow = {0};

		ask_for(q, mine->v[i], write);
		if (make_narrow(q, &narrow) < 0)
			return -1;
		q->narrow = &narrow;
		if (check_pattern(q) < 0)
			return -1;
		if (narrow.n && merge_list(q->request->arena, &q->request->fs.read, &narrow) < 0)
			return policy_no_memory(q->err);
	}
	return 0;
}

/* The work folder is a pattern that is not in any list. What shows it from above is less deep than itself. */
static void narrow_workdir(const struct ask *q, struct pol_list *narrow)
{
	const struct pol_list *theirs = &q->ceiling->fs.read;
	uint32_t i;

	for (i = 0; i < theirs->n; i++) {
		const char *k = theirs->v[i].s;

		if (cover_path.apart(k, q->workdir) || covers(k, q->workdir) || list_has(&q->request->fs.read, k))
			continue;
		/* Partly inside by a wildcard: it shows only what the ceiling lets be read. */
		narrow->v[narrow->n++] = theirs->v[i];
	}
}

static int keep_narrow_workdir(struct ask *q)
{
	struct pol_list narrow = {0};

	if (make_narrow(q, &narrow) < 0)
		return -1;
	narrow_workdir(q, &narrow);
	return narrow.n && merge_list(q->request->arena, &q->request->fs.read, &narrow) < 0 ? policy_no_memory(q->err)
											    : 0;
}

int ceiling_fs(struct policy *request, const struct policy *ceiling, const char *workdir, struct error *err)
{
	struct resolve here = {workdir, workdir};
	struct ask q = {.request = request, .ceiling = ceiling, .err = err};
	const struct pol_num *bound = &ceiling->fs.workdir;
	uint64_t mode = request->fs.workdir.v;
	struct pol_list write = request->fs.write;

	q.workdir = resolve_path(request->arena, &here, ".", false);
	if (!q.workdir)
		return policy_no_memory(err);
	request->fs.read_bounded = ceiling->fs.read.set;
	request->fs.write_bounded = ceiling->fs.read.set || ceiling->fs.write.set;
	request->fs.workdir_read_bounded = bound->set && bound->v == WORKDIR_NONE;
	request->fs.workdir_write_bounded = bound->set && bound->v != WORKDIR_READ_WRITE;
	if (check_list(&q, &request->fs.read, false) < 0 || check_list(&q, &write, true) < 0)
		return -1;
	return mode == WORKDIR_READ_WRITE || mode == WORKDIR_COPY ? keep_narrow_workdir(&q) : 0;
}

/* An effective policy has all that it opens in its lists. */
static struct policy as_ceiling(const struct policy *p)
{
	struct policy r = *p;

	r.fs.read.set = r.fs.write.set = r.fs.workdir.set = true;
	return r;
}

bool ceiling_fs_opens(const struct policy *by, const struct policy *of, const char *workdir, struct pol_str pattern,
		      bool write, struct pol_list *narrow)
{
	struct policy request = *of, ceiling = as_ceiling(by);
	struct resolve here = {workdir, workdir};
	struct error ignored;
	struct ask q = {.request = &request, .ceiling = &ceiling, .err = &ignored, .narrow = narrow};

	q.workdir = resolve_path(of->arena, &here, ".", false);
	if (!q.workdir || make_narrow(&q, narrow) < 0)
		return false;
	ask_for(&q, pattern, write);
	return check_pattern(&q) == 0;
}

int ceiling_fs_narrow(const struct policy *by, const struct policy *of, const char *workdir, struct pol_list *narrow)
{
	struct policy request = *of, ceiling = as_ceiling(by);
	struct resolve here = {workdir, workdir};
	struct error ignored;
	struct ask q = {.request = &request, .ceiling = &ceiling, .err = &ignored};

	q.workdir = resolve_path(of->arena, &here, ".", false);
	if (!q.workdir || make_narrow(&q, narrow) < 0)
		return -1;
	narrow_workdir(&q, narrow);
	return 0;
}
