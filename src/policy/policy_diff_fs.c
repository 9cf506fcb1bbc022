#include "base/glob.h"
#include "policy/policy_cover.h"
#include "policy/policy_diff_parts.h"
#include "policy/policy_query.h"
#include "policy/policy_show.h"

/* Paths that both policies are asked about: what either of them names without a wildcard. */
struct probes {
	struct pol_str *v;
	uint32_t n, cap;
};

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

static void probe_list(struct probes *p, const struct pol_list *l)
{
	uint32_t i, k;

	for (i = 0; i < l->n && p->n < p->cap; i++) {
		for (k = 0; k < p->n && strcmp(p->v[k].s, l->v[i].s) != 0; k++)
			;
		if (k == p->n && is_plain(l->v[i].s))
			p->v[p->n++] = l->v[i];
	}
}

/* Without what a trailing "/" + "**" adds, which is nothing. */
static const char *as_path(struct diff *d, const char *pattern)
{
	struct sv s = sv_of(pattern);

	while (sv_ends(s, "/**") && s.n > 3)
		s.n -= 3;
	return arena_str(d->b->arena, s);
}

static void ask(struct diff *d, const char *pattern)
{
	const char *path = as_path(d, pattern);
	struct reason ra, rb, wa, wb;
	bool reads, writes;

	if (!path)
		return;
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
}

/* Patterns with wildcards cannot be asked about; they are compared with those of the other side. */
static void wild_grants(struct diff *d)
{
	const struct pol_list *read = &d->b->fs.read, *write = &d->b->fs.write;
	uint32_t i;

	for (i = 0; i < write->n; i++)
		if (!is_plain(write->v[i].s) && !cover_by_list(&cover_path, &d->a->fs.write, write->v[i].s))
			diff_item(d, "filesystem.write", d->b, write->v[i].at, "writes %s", write->v[i].s);
	for (i = 0; i < read->n; i++)
		if (!is_plain(read->v[i].s) && read->v[i].s[0] == '/' &&
		    !cover_by_list(&cover_path, &d->a->fs.read, read->v[i].s) &&
		    !cover_by_list(&cover_path, &d->a->fs.write, read->v[i].s))
			diff_item(d, "filesystem.read", d->b, read->v[i].at, "reads %s", read->v[i].s);
}

static void wild_refusals(struct diff *d)
{
	const struct pol_list *deny = &d->a->fs.deny, *read = &d->a->fs.read;
	uint32_t i;

	for (i = 0; i < deny->n; i++)
		if (!is_plain(deny->v[i].s) && !cover_by_list(&cover_path, &d->b->fs.deny, deny->v[i].s))
			diff_item(d, "filesystem.deny", d->a, deny->v[i].at, "no longer denies %s", deny->v[i].s);
	/* In a writable folder such a pattern of `read` takes writing away. */
	for (i = 0; i < read->n; i++)
		if ((read->v[i].s[0] != '/' || !is_plain(read->v[i].s)) && !cover_by_list(&cover_path, &d->b->fs.read, read->v[i].s) &&
		    (d->b->fs.write.n || d->b->fs.workdir.v >= WORKDIR_READ_WRITE))
			diff_item(d, "filesystem.read", d->a, read->v[i].at, "no longer keeps %s read-only",
				  read->v[i].s);
}

void diff_filesystem(struct diff *d)
{
	/* By how much reaches the host: a copy is written, but changes nothing. */
	static const int levels[] = {
		[WORKDIR_NONE] = 0, [WORKDIR_READ_ONLY] = 1, [WORKDIR_COPY] = 2, [WORKDIR_READ_WRITE] = 3};
	const struct pol_fs *a = &d->a->fs, *b = &d->b->fs;
	const struct pol_list *lists[] = {&a->read, &a->write, &a->deny, &b->read, &b->write, &b->deny};
	struct probes p = {0};
	uint32_t i;

	if (levels[b->workdir.v] > levels[a->workdir.v])
		diff_item(d, "filesystem.workdir", d->b, b->workdir.at, "%s instead of %s",
			  workdir_mode_names[b->workdir.v], workdir_mode_names[a->workdir.v]);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		p.cap += lists[i]->n;
	p.v = arena_array(d->b->arena, p.cap ? p.cap : 1, sizeof(*p.v));
	if (!p.v) {
		d->out->failed = -1;
		return;
	}
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		probe_list(&p, lists[i]);
	for (i = 0; i < p.n; i++)
		ask(d, p.v[i].s);
	wild_grants(d);
	wild_refusals(d);
	diff_limit(d, "filesystem.tmp_size", UNIT_SIZE, &a->tmp_size, &b->tmp_size);
}
