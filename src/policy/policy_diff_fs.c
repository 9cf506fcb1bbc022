#include "base/glob.h"
#include "model/base_system.h"
#include "policy/ceiling_fs.h"
#include "policy/policy_cover.h"
#include "policy/policy_diff_parts.h"
#include "policy/policy_query.h"
#include "policy/policy_resolve.h"
#include "policy/policy_show.h"

static bool list_has(const struct pol_list *l, const char *s)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i].s, s) == 0)
			return true;
	return false;
}

static bool floats(const char *pattern)
{
	return pattern[0] != '/';
}

static void report_narrow(struct diff *d, const struct pol_list *narrow, struct pol_list *reported)
{
	uint32_t i;

	for (i = 0; i < narrow->n; i++) {
		if (list_has(reported, narrow->v[i].s))
			continue;
		reported->v[reported->n++] = narrow->v[i];
		diff_item(d, "filesystem.read", d->a, narrow->v[i].at, "%s %s read-only",
			  diff_word(d, "no longer keeps", "now keeps"), narrow->v[i].s);
	}
}

/*
 * Each pattern of b is held against a as a request's would be against its ceiling (ceiling_fs.h). One of `read` that
 * floats shows nothing.
 */
static void grants(struct diff *d)
{
	const struct pol_list *read = &d->b->fs.read, *write = &d->b->fs.write;
	struct pol_list narrow = {0},
			reported = {.v = arena_array(d->b->arena, d->a->fs.read.n + 1, sizeof(*reported.v))};
	uint32_t i;

	if (!reported.v) {
		d->out->failed = -1;
		return;
	}
	for (i = 0; i < write->n; i++) {
		if (!ceiling_fs_opens(d->a, d->b, d->workdir, write->v[i], true, &narrow))
			diff_item(d, "filesystem.write", d->b, write->v[i].at, "writes %s", write->v[i].s);
		else
			report_narrow(d, &narrow, &reported);
	}
	for (i = 0; i < read->n; i++)
		if (!floats(read->v[i].s) && !list_has(write, read->v[i].s) &&
		    !ceiling_fs_opens(d->a, d->b, d->workdir, read->v[i], false, &narrow))
			diff_item(d, "filesystem.read", d->b, read->v[i].at, "reads %s", read->v[i].s);
	if (d->b->fs.workdir.v < WORKDIR_READ_WRITE)
		return;
	if (ceiling_fs_narrow(d->a, d->b, d->workdir, &narrow) < 0)
		d->out->failed = -1;
	else
		report_narrow(d, &narrow, &reported);
}

/* A file of such a name in a folder that is not shown keeps its other names, too, from what is shown. */
static bool is_machine_wide(const char *pattern)
{
	return strncmp(pattern, "/**/", 4) == 0;
}

/* Denials that are built in say less there than those of a file. A home below /tmp is no part of it. */
static bool touches_base(const struct policy *p, const char *pattern)
{
	size_t n = p->home ? strlen(p->home) : 0;
	bool at_home = n && strncmp(pattern, p->home, n) == 0 && pattern[n] == '/';
	const struct base_path *row;

	for (row = base_paths; row->pattern; row++) {
		if (row->kind == BASE_HIDDEN || row->kind == BASE_CLOSED || (row->kind == BASE_PRIVATE && at_home))
			continue;
		if (!cover_path.apart(row->pattern, pattern))
			return true;
	}
	return false;
}

static bool is_denied(const struct policy *p, const struct pol_str *deny)
{
	const struct pol_str *other;
	uint32_t i;

	for (i = 0; i < p->fs.deny.n; i++) {
		other = &p->fs.deny.v[i];
		if (!cover_path.covers(other->s, deny->s) || (is_machine_wide(deny->s) && !is_machine_wide(other->s)))
			continue;
		if (other->at.file || !deny->at.file || !touches_base(p, deny->s))
			return true;
	}
	return false;
}

static bool list_touches(const struct pol_list *l, const char *pattern)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (!floats(l->v[i].s) && !cover_path.apart(l->v[i].s, pattern))
			return true;
	return false;
}

/* As relative ones are, wherever the work folder is. */
static bool is_below(const struct pol_str *pattern, const char *workdir)
{
	return cover_path.covers(workdir, pattern->s);
}

/* Something that it is about may be there. workdir: as a pattern. */
static bool is_shown(const struct diff *d, const char *workdir, const char *pattern)
{
	const struct pol_fs *fs = &d->b->fs;

	if (floats(pattern) || is_machine_wide(pattern) || touches_base(d->b, pattern) ||
	    list_touches(&fs->read, pattern) || list_touches(&fs->write, pattern))
		return true;
	return fs->workdir.v != WORKDIR_NONE && (d->anywhere || !cover_path.apart(workdir, pattern));
}

static bool is_plain(const char *pattern)
{
	struct glob g;
	bool r;

	if (glob_init(&g, sv_of(pattern)) < 0)
		return false;
	r = glob_is_plain(&g);
	glob_done(&g);
	return r;
}

/* Without what a trailing "/" + "**" adds, which is nothing. */
static const char *as_path(struct diff *d, const char *pattern)
{
	struct sv s = sv_of(pattern);

	while (sv_ends(s, "/**") && s.n > 3)
		s.n -= 3;
	return arena_str(d->b->arena, s);
}

/* What b makes of a path that a denies. False: no more than a. */
static bool ask(struct diff *d, const char *path)
{
	struct reason ra, rb, wa, wb;
	bool reads, writes;

	policy_query_path(d->a, d->workdir, path, FS_READ, &ra);
	policy_query_path(d->b, d->workdir, path, FS_READ, &rb);
	policy_query_path(d->a, d->workdir, path, FS_WRITE, &wa);
	policy_query_path(d->b, d->workdir, path, FS_WRITE, &wb);
	reads = rb.answer == ANSWER_ALLOW && ra.answer == ANSWER_DENY;
	writes = wb.answer == ANSWER_ALLOW && wa.answer == ANSWER_DENY;
	if (writes)
		diff_item(d, "filesystem", d->b, wb.at, "%s %s", reads ? "reads and writes" : "writes", path);
	else if (reads)
		diff_item(d, "filesystem", d->b, rb.at, "reads %s", path);
	return reads || writes;
}

static void refusals(struct diff *d)
{
	const struct pol_list *deny = &d->a->fs.deny;
	struct resolve here = {d->workdir, d->workdir};
	const char *workdir = resolve_path(d->b->arena, &here, ".", false), *path;
	uint32_t i;

	for (i = 0; i < deny->n && workdir; i++) {
		if (is_denied(d->b, &deny->v[i]))
			continue;
		path = is_plain(deny->v[i].s) ? as_path(d, deny->v[i].s) : NULL;
		if ((!path || !ask(d, path)) && is_shown(d, workdir, deny->v[i].s))
			diff_item(d, "filesystem.deny", d->a, deny->v[i].at, "%s %s",
				  diff_word(d, "no longer denies", "now denies"), deny->v[i].s);
	}
	if (!workdir)
		d->out->failed = -1;
}

/*
 * A work folder has a row of its own, which is deeper than the rules that are for a folder above it: where a keeps it
 * from being written by that and b has no such row, any rule that writes may be for a work folder.
 */
static void work_folders(struct diff *d)
{
	const struct pol_fs *a = &d->a->fs, *b = &d->b->fs;
	struct resolve here = {d->workdir, d->workdir};
	const char *workdir = resolve_path(d->b->arena, &here, ".", false);
	bool shows = false;
	uint32_t i;

	if (!workdir)
		d->out->failed = -1;
	if (!workdir || !d->anywhere || b->workdir.v != WORKDIR_NONE ||
	    (a->workdir.v != WORKDIR_READ_ONLY && a->workdir.v != WORKDIR_COPY))
		return;
	for (i = 0; i < b->read.n; i++)
		shows = shows || !floats(b->read.v[i].s);
	for (i = 0; i < b->write.n; i++)
		shows = shows || !floats(b->write.v[i].s);
	for (i = 0; i < b->write.n; i++) {
		if (floats(b->write.v[i].s) ? !shows : is_below(&b->write.v[i], workdir))
			continue;
		diff_item(d, "filesystem.workdir", d->b, b->write.v[i].at, "%s a work folder in %s %s",
			  diff_word(d, "no longer keeps", "now keeps"), b->write.v[i].s,
			  a->workdir.v == WORKDIR_COPY ? "as a copy" : "read-only");
	}
}

void diff_filesystem(struct diff *d)
{
	/* By how much reaches the host: a copy is written, but changes nothing. */
	static const int levels[] = {
		[WORKDIR_NONE] = 0, [WORKDIR_READ_ONLY] = 1, [WORKDIR_COPY] = 2, [WORKDIR_READ_WRITE] = 3};
	const struct pol_fs *a = &d->a->fs, *b = &d->b->fs;

	if (levels[b->workdir.v] > levels[a->workdir.v])
		diff_item(d, "filesystem.workdir", d->b, b->workdir.at, "%s instead of %s",
			  workdir_mode_names[b->workdir.v], workdir_mode_names[a->workdir.v]);
	work_folders(d);
	grants(d);
	refusals(d);
	diff_limit(d, "filesystem.tmp_size", UNIT_SIZE, &a->tmp_size, &b->tmp_size);
}
