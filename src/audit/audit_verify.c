/*
 * Finding the first bad line.
 *
 * Lines are taken as long as each follows the one before. At the first that does not, the question is which line is to
 * blame, and for what: a line that was changed and given a new hash is sound in itself, and it is its successor that
 * does not fit. So we look at the hashes of the good lines before, at the next line, and, where an event is missing,
 * through the rest of the file.
 *
 * In a file of several runs each has a chain of its own. Numbers in `chain` and in what looks at it are those within
 * the run; line_of() makes them the file's, for what is said.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "audit/audit.h"
#include "audit/audit_chain.h"
#include "audit/audit_file.h"
#include "base/cleanup.h"
#include "base/text.h"

struct verify {
	struct audit_file *file;
	struct audit_chain chain;
	char (*hashes)[AUDIT_HEX]; /* of the good lines */
	size_t cap;
	bool all;	       /* other runs may follow the first */
	bool cut;	       /* one of those before has no exit event */
	uint64_t before;       /* lines of those */
	char (*runs)[SHA256_HEX]; /* digests of their ids: a hash table, open addressing, empty places are "" */
	size_t n_runs, runs_cap;
	char last_before[SHA256_HEX];
	struct audit_report *report;
};

/* The line behind the bad one. */
struct peek {
	bool any;     /* there is one */
	bool follows; /* it would fit in the bad one's place */
	bool sound;
	char prev[SHA256_HEX];
};

static uint64_t line_of(const struct verify *v, uint64_t n)
{
	return v->before + n;
}

static void blame(struct verify *v, uint64_t line, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void blame(struct verify *v, uint64_t line, const char *format, ...)
{
	struct audit_report *r = v->report;
	va_list ap;

	r->state = AUDIT_BROKEN;
	r->bad_line = line_of(v, line);
	r->lines = r->bad_line - 1;
	if (line > 1 && line - 1 < v->chain.n)
		memcpy(r->last_hash, v->hashes[line - 2], AUDIT_HEX);
	else
		memcpy(r->last_hash, line > 1 ? v->chain.last : v->last_before, SHA256_HEX);
	va_start(ap, format);
	(void)vsnprintf(r->what, sizeof(r->what), format, ap);
	va_end(ap);
}

static int remember(struct verify *v, const struct audit_line *l)
{
	size_t cap = v->cap ? 2 * v->cap : 256;
	void *p;

	if (v->chain.n == v->cap) {
		p = reallocarray(v->hashes, cap, AUDIT_HEX);
		if (!p)
			return -ENOMEM;
		v->hashes = p;
		v->cap = cap;
	}
	memcpy(v->hashes[v->chain.n], l->hash.p, AUDIT_HEX);
	audit_chain_add(&v->chain, l);
	return 0;
}

/* Number of the good line with this hash, 0 for the hash before the first; -1: none. */
static int64_t line_with_hash(const struct verify *v, struct sv hash)
{
	uint64_t i;

	for (i = v->chain.n; i > 0; i--)
		if (memcmp(v->hashes[i - 1], hash.p, AUDIT_HEX) == 0)
			return (int64_t)i;
	return sv_is(hash, AUDIT_NO_HASH) ? 0 : -1;
}

static void look_at_next(struct verify *v, struct peek *ret)
{
	struct audit_file *ahead = NULL;
	struct audit_line l;
	struct sv text;
	int r = audit_file_peek(v->file, &text);

	*ret = (struct peek){0};
	if (r == 0) {
		ahead = audit_file_ahead(v->file);
		r = ahead ? audit_file_next(ahead, &text) : -ENOMEM;
	}
	ret->any = r > 0;
	if (r == AUDIT_FILE_LINE && !audit_line_parse(text, &l)) {
		ret->sound = true;
		ret->follows = audit_chain_follows(&v->chain, &l);
		memcpy(ret->prev, l.prev.p, AUDIT_HEX);
	}
	audit_file_free(ahead);
}

/* Line number of the sound line with this seq (and, unless NULL, this prev) behind the one being judged; 0: none. */
static uint64_t find_later(struct verify *v, uint64_t seq, const char *prev)
{
	struct audit_file *ahead = audit_file_ahead(v->file);
	uint64_t at = v->chain.n + 1, found = 0;
	struct audit_line l;
	struct sv text;
	int r;

	while (ahead && !found && (r = audit_file_next(ahead, &text)) > 0) {
		at++;
		if (r == AUDIT_FILE_LINE && !audit_line_parse(text, &l) && l.seq == seq &&
		    audit_chain_same_run(&v->chain, &l) && (!prev || sv_is(l.prev, prev)))
			found = at;
	}
	audit_file_free(ahead);
	return found;
}

/* The line's number is ahead of its place. */
static void judge_early(struct verify *v, const struct audit_line *l)
{
	uint64_t due = v->chain.n + 1, again = find_later(v, l->seq, NULL);
	uint64_t missing = find_later(v, due, v->chain.last);

	if (missing && again)
		blame(v, due, "added: event %" PRIu64 " stands here and at line %" PRIu64, l->seq, line_of(v, again));
	else if (missing)
		blame(v, due, "reordered: event %" PRIu64 " stands here, event %" PRIu64 " at line %" PRIu64, l->seq,
		      due, line_of(v, missing));
	else if (l->seq == due + 1)
		blame(v, due, "dropped: event %" PRIu64 " is missing, event %" PRIu64 " stands here", due, l->seq);
	else
		blame(v, due, "dropped: events %" PRIu64 " to %" PRIu64 " are missing", due, l->seq - 1);
}

/* A sound line with the right number whose prev is not the hash of the line before: one of the two was written anew. */
static void judge_predecessor(struct verify *v, const struct audit_line *l, const struct peek *next)
{
	uint64_t due = v->chain.n + 1;
	bool vouched = !next->any || (next->sound && sv_is(l->hash, next->prev));

	if (due > 1 && vouched)
		blame(v, due - 1, "changed: the next line names another hash for it");
	else
		blame(v, due, "changed: it does not name the hash of the line before");
}

/* Is it the true successor of the earlier line `after`, so that the lines between them do not belong here? */
static bool is_fork(const struct verify *v, const struct audit_line *l, int64_t after, const struct peek *next)
{
	if (after < 0 || (uint64_t)after >= v->chain.n || l->seq != (uint64_t)after + 1)
		return false;
	return audit_chain_same_run(&v->chain, l) || (next->sound && sv_is(l->hash, next->prev));
}

/* A line that is sound in itself, but does not follow. */
static void judge_link(struct verify *v, const struct audit_line *l)
{
	uint64_t due = v->chain.n + 1;
	int64_t copy = line_with_hash(v, l->hash), after = line_with_hash(v, l->prev);
	struct peek next;

	look_at_next(v, &next);
	if (copy > 0)
		blame(v, due, "duplicated: it is a copy of line %" PRIu64, line_of(v, (uint64_t)copy));
	else if (l->seq <= due && next.follows)
		blame(v, due, "added: the next line follows line %" PRIu64, line_of(v, due - 1));
	else if (is_fork(v, l, after, &next))
		blame(v, (uint64_t)after + 1, "added: line %" PRIu64 " follows line %" PRIu64, line_of(v, due),
		      line_of(v, (uint64_t)after));
	else if (!audit_chain_same_run(&v->chain, l))
		blame(v, due, "added: it belongs to another run");
	else if (l->seq > due)
		judge_early(v, l);
	else if (after == (int64_t)v->chain.n)
		blame(v, due, "changed: it says it is event %" PRIu64, l->seq);
	else if (l->seq == due)
		judge_predecessor(v, l, &next);
	else
		blame(v, due, "added: it does not follow the line before");
}

/* A line that is bad by itself. */
static void judge_text(struct verify *v, const char *fault)
{
	struct peek next;

	look_at_next(v, &next);
	blame(v, v->chain.n + 1, "%s: %s", next.follows ? "added" : "changed", fault);
}

/* Where this one stands, or would. cap: a power of two, and not all of them are taken. */
static size_t run_place(char (*runs)[SHA256_HEX], size_t cap, const char run[SHA256_HEX])
{
	size_t i = 0, k;

	for (k = 0; k < 2 * sizeof(uint32_t); k++)
		i = i << 4 | (unsigned)(run[k] <= '9' ? run[k] - '0' : run[k] - 'a' + 10);
	for (i &= cap - 1; runs[i][0] && memcmp(runs[i], run, SHA256_HEX) != 0; i = (i + 1) & (cap - 1))
		;
	return i;
}

static bool has_run(const struct verify *v, const struct audit_line *l)
{
	char run[SHA256_HEX];

	sha256_hex_of(l->run, run);
	return v->runs_cap && v->runs[run_place(v->runs, v->runs_cap, run)][0];
}

/* Those that a file holds may be a year's: each is asked for in about one step. */
static int add_run(struct verify *v, const char run[SHA256_HEX])
{
	size_t cap = v->runs_cap ? 2 * v->runs_cap : 64, i;
	char (*grown)[SHA256_HEX];

	if (2 * (v->n_runs + 1) > v->runs_cap) {
		grown = calloc(cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		for (i = 0; i < v->runs_cap; i++)
			if (v->runs[i][0])
				memcpy(grown[run_place(grown, cap, v->runs[i])], v->runs[i], SHA256_HEX);
		free(v->runs);
		v->runs = grown;
		v->runs_cap = cap;
	}
	memcpy(v->runs[run_place(v->runs, v->runs_cap, run)], run, SHA256_HEX);
	v->n_runs++;
	return 0;
}

/* Does another run begin here? Not with a line that was put between two of one run. */
static bool begins(struct verify *v, const struct audit_line *l)
{
	struct peek next;

	if (!v->all || !audit_chain_begins(&v->chain, l))
		return false;
	look_at_next(v, &next);
	return !next.follows;
}

static int begin(struct verify *v, const struct audit_line *l)
{
	if (add_run(v, v->chain.run) < 0)
		return -ENOMEM;
	if (has_run(v, l)) {
		blame(v, v->chain.n + 1, "duplicated: the events of this run stand above");
		return 0;
	}
	v->cut |= !v->chain.ended;
	v->before += v->chain.n;
	memcpy(v->last_before, v->chain.last, sizeof(v->last_before));
	audit_chain_init(&v->chain);
	return remember(v, l) < 0 ? -ENOMEM : 1;
}

/* 1: the line is good; 0: it is not, and the report says so; -errno. */
static int take_line(struct verify *v, int kind, struct sv text)
{
	struct audit_line l;
	const char *fault;

	if (kind == AUDIT_FILE_CUT)
		blame(v, v->chain.n + 1, "cut off: the last line has no end");
	else if (kind == AUDIT_FILE_LONG)
		judge_text(v, "it is longer than any line that is written");
	else if ((fault = audit_line_parse(text, &l)))
		judge_text(v, fault);
	else if (begins(v, &l))
		return begin(v, &l);
	else if (!audit_chain_follows(&v->chain, &l))
		judge_link(v, &l);
	else if (v->chain.ended)
		blame(v, v->chain.n + 1, "added: it stands behind the exit event");
	else
		return remember(v, &l) < 0 ? -ENOMEM : 1;
	return 0;
}

static void judge_end(struct verify *v, const char *expect_last)
{
	struct audit_report *r = v->report;
	bool whole = v->chain.ended && !v->cut;
	int64_t at;

	r->state = whole ? AUDIT_GOOD : AUDIT_UNFINISHED;
	r->lines = line_of(v, v->chain.n);
	r->runs = v->n_runs + (v->chain.n > 0);
	memcpy(r->last_hash, v->chain.last, SHA256_HEX);
	(void)snprintf(
		r->what, sizeof(r->what), "%s",
		whole && v->n_runs ? "of each run every line follows the one before, up to its exit event"
		: whole            ? "every line follows the one before, up to the exit event"
		: v->chain.ended   ? "unfinished: the lines are good, but no exit event ends those of an earlier run, "
				     "which was killed, or lines were dropped"
		: v->chain.n ? "unfinished: the lines are good, but no exit event ends them; the run is still on, was "
			       "killed, or lines were dropped at the end"
			     : "unfinished: the log is empty");
	if (!expect_last || strcmp(expect_last, v->chain.last) == 0)
		return;
	at = line_with_hash(v, sv_of(expect_last));
	if (at >= 0)
		blame(v, (uint64_t)at + 1, "added: the run ended with line %" PRIu64, line_of(v, (uint64_t)at));
	else if (v->chain.ended)
		blame(v, v->chain.n, "changed: the run ended with another hash");
	else
		blame(v, v->chain.n + 1, "dropped: the run ended with another hash");
}

static int verify_lines(struct verify *v, const char *expect_last)
{
	struct sv text;
	int r, kind;

	while ((kind = audit_file_next(v->file, &text)) > 0) {
		r = take_line(v, kind, text);
		if (r <= 0)
			return r;
	}
	if (kind == 0)
		judge_end(v, expect_last);
	return kind;
}

static bool is_digest(const char *s)
{
	return strlen(s) == AUDIT_HEX && strspn(s, "0123456789abcdef") == AUDIT_HEX;
}

static int verify(const char *path, bool all, const char *expect_last, struct audit_report *ret, struct error *err)
{
	struct audit_report report = {0};
	struct verify v = {.report = &report, .all = all, .last_before = AUDIT_NO_HASH};
	struct text_shown shown;
	int r;

	if (expect_last && !is_digest(expect_last))
		return error_set(err, ERROR_USAGE, "the expected hash must have 64 lower-case hex digits");
	if (audit_file_open(path, &v.file, err) < 0)
		return -1;
	audit_chain_init(&v.chain);
	r = verify_lines(&v, expect_last);
	audit_file_free(v.file);
	free(v.hashes);
	free(v.runs);
	if (r < 0)
		return error_sys(err, r, "%s", text_show(&shown, sv_of(path)));
	*ret = report;
	return 0;
}

int audit_verify(const char *path, const char *expect_last, struct audit_report *ret, struct error *err)
{
	return verify(path, false, expect_last, ret, err);
}

int audit_verify_all(const char *path, const char *expect_last, struct audit_report *ret, struct error *err)
{
	return verify(path, true, expect_last, ret, err);
}
