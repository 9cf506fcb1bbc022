#include "vault/needle_runs.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/coding.h"
#include "base/secret_memory.h"
#include "vault/needle_decode.h"
#include "vault/needle_set.h"

enum {
	GROUPS = 4,
	LANES = GROUPS + 2, /* base64 by where a group begins, hexadecimal by where a byte does */
	EARLY = NEEDLE_LINE, /* no more than stands in one line: others may have blanks before them */
};

/* One search. */
struct track {
	uint32_t at;
	uint64_t count;
	uint64_t *starts; /* where the last bytes started, by count & mask */
};

struct lane {
	struct needle_runs *runs;
	struct track plain, undone;
	struct needle_decoder decoder; /* before undone */
	bool undoing;                  /* the two differ */
	bool busy;		       /* one of them has begun something */
};

struct needle_runs {
	const struct needle_set *set;
	uint64_t told; /* offset behind the byte that is looked at */
	unsigned n;    /* of early */
	bool active;
	bool stored;   /* bytes of the stream are, or were, in what is behind `failed` */
	unsigned line; /* characters of it, as far as they count */
	unsigned gap;  /* bytes between it and the next line, so far */
	bool cr, lf;   /* among them */
	uint64_t chars, digits; /* of the run, and of the row of hexadecimal digits at its end */
	uint32_t bits, nibbles; /* the last of them */
	uint64_t last; /* where the last character started */
	uint64_t mask;
	unsigned busy; /* lanes */
	struct needle_found *found;
	size_t n_found, next, room;
	bool failed;
	struct needle_decoder decoder;
	struct lane lanes[LANES];
	struct needle_unit early[EARLY]; /* of a run that is not long enough yet */
};

bool needle_runs_may_have(unsigned char c)
{
	static const bool may[256] = {
		['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['0' ... '9'] = true, ['+'] = true,  ['/'] = true,
		['-'] = true,         ['_'] = true,         ['\r'] = true,        ['\n'] = true, ['%'] = true,
		['\\'] = true,        ['&'] = true,         ['#'] = true,         [';'] = true,
	};

	return may[c];
}

/* The value of a character of base64 and one more; 0: it is none. */
static const uint8_t values[256] = {
	['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,  ['I'] = 9,
	['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18,
	['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27,
	['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36,
	['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45,
	['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54,
	['2'] = 55, ['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
	['-'] = 63, ['/'] = 64, ['_'] = 64,
};

/* Characters of base64 that hold a whole needle. */
static unsigned least_of(const struct needle_set *set)
{
	return set->shortest < EARLY * 3 / 4 ? set->shortest * 4 / 3 : EARLY;
}

size_t needle_runs_begin(const struct needle_set *set, const char *p, size_t i, size_t n)
{
	size_t least = least_of(set), k;

	while (n - i >= least) {
		for (k = least; k && needle_runs_may_have((unsigned char)p[i + k - 1]); k--)
			;
		if (k == 0)
			return i;
		i += k;
	}
	for (k = n; k > i && needle_runs_may_have((unsigned char)p[k - 1]); k--)
		;
	while (k < n && (p[k] == '\n' || p[k] == '\r'))
		k++;
	return k;
}

/* The hexadecimal digit that a value of base64 is; negative: none. */
static int digit_of(unsigned value)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	return hex_value(letters[value]);
}

void needle_runs_prepare(const bool skip[256], uint64_t dull[NEEDLE_VALUES])
{
	unsigned pair;
	int high, low;

	for (pair = 0; pair < 4096; pair++) {
		high = digit_of(pair >> 6);
		low = digit_of(pair & 63);
		if (skip[pair >> 4] && skip[pair >> 2 & 0xff] && skip[pair & 0xff] &&
		    (high < 0 || low < 0 || skip[high << 4 | low]))
			dull[pair / 64 + 1] |= (uint64_t)1 << (pair + 1) % 64;
	}
}

/* Most of it is used by few streams, and not cleared for all of them: a small answer would take longer to begin and to
 * end than to be looked at. */
struct needle_runs *needle_runs_new(const struct needle_set *set)
{
	struct needle_runs *r = malloc(sizeof(*r));
	struct lane *l;

	if (!r)
		return NULL;
	memset(r, 0, offsetof(struct needle_runs, decoder));
	needle_decoder_init(&r->decoder, false);
	r->set = set;
	for (r->mask = 1; r->mask <= set->longest;)
		r->mask = r->mask << 1 | 1;
	for (l = r->lanes; l < r->lanes + LANES; l++) {
		l->runs = r;
		l->plain = l->undone = (struct track){0};
		needle_decoder_init(&l->decoder, set->backslash);
		l->undoing = l->busy = false;
	}
	return r;
}

void needle_runs_free(struct needle_runs *r)
{
	if (!r)
		return;
	free(r->lanes[0].plain.starts);
	free(r->found);
	secret_wipe(r, r->stored ? sizeof(*r) : offsetof(struct needle_runs, decoder));
	free(r);
}

static void note(struct needle_runs *r, uint32_t needle, uint64_t start, uint64_t end)
{
	size_t room = r->room ? 2 * r->room : 16;
	struct needle_found *more;

	if (end - start > needle_set_reach(r->set))
		return;
	if (r->n_found == r->room) {
		more = realloc(r->found, room * sizeof(*more));
		if (!more) {
			r->failed = true;
			return;
		}
		r->found = more;
		r->room = room;
	}
	r->found[r->n_found++] = (struct needle_found){needle, start, end, r->told};
}

static uint64_t track_start(const struct needle_runs *r, const struct track *t, uint32_t depth)
{
	return t->starts[(t->count - depth) & r->mask];
}

/* Line breaks are passed over: what was undone may have been base64 or hexadecimal in lines. No needle has one. */
static void track_unit(struct needle_runs *r, struct track *t, const struct needle_unit *u)
{
	const struct needle_node *nodes = r->set->nodes;
	uint32_t at, hit;

	if (u->c == '\n' || u->c == '\r')
		return;
	at = needle_step(r->set, t->at, u->c);
	hit = nodes[at].hit;
	t->starts[t->count++ & r->mask] = u->start;
	if (hit)
		note(r, nodes[hit].needle, track_start(r, t, nodes[hit].depth), u->end);
	t->at = nodes[at].live;
}

static void undone_unit(void *arg, const struct needle_unit *u)
{
	struct lane *l = arg;

	track_unit(l->runs, &l->undone, u);
}

static void start_undoing(struct lane *l)
{
	const struct needle_runs *r = l->runs;
	uint32_t depth = r->set->nodes[l->plain.at].depth, i;

	l->undone.at = l->plain.at;
	l->undone.count = depth;
	for (i = 0; i < depth; i++)
		l->undone.starts[i] = track_start(r, &l->plain, depth - i);
	l->undoing = true;
	l->runs->stored = true;
}

static bool agree(const struct lane *l)
{
	const struct needle_runs *r = l->runs;
	uint32_t depth = r->set->nodes[l->plain.at].depth;

	return l->decoder.n == 0 && l->undone.at == l->plain.at &&
	       (depth == 0 || track_start(r, &l->plain, depth) == track_start(r, &l->undone, depth));
}

static bool make_starts(struct needle_runs *r)
{
	uint64_t *starts = r->lanes[0].plain.starts;
	unsigned i;

	if (starts)
		return true;
	starts = calloc(2 * LANES * (r->mask + 1), sizeof(*starts));
	r->failed = !starts;
	for (i = 0; starts && i < LANES; i++) {
		r->lanes[i].plain.starts = starts + 2 * i * (r->mask + 1);
		r->lanes[i].undone.starts = starts + (2 * i + 1) * (r->mask + 1);
	}
	return starts != NULL;
}

static void give(struct needle_runs *r, struct lane *l, const struct needle_unit *u)
{
	if (!make_starts(r))
		return;
	r->busy -= l->busy;
	if (!l->undoing && needle_starts_escape(u->c))
		start_undoing(l);
	track_unit(r, &l->plain, u);
	if (l->undoing) {
		needle_decode(&l->decoder, u, undone_unit, l);
		l->undoing = !agree(l);
	}
	l->busy = l->plain.at || l->undoing;
	r->busy += l->busy;
}

static void end_lanes(struct needle_runs *r, unsigned from)
{
	for (; from < LANES; from++) {
		struct lane *l = &r->lanes[from];

		if (l->undoing)
			needle_decode_end(&l->decoder, undone_unit, l);
		l->plain.at = 0;
		r->busy -= l->busy;
		l->undoing = l->busy = false;
	}
}

/*
 * One more character of the run. It is the second, third or fourth of a group, by where that began, and a byte is
 * complete with each. A character that two bytes share belongs to neither's unit: where a hit begins or ends with it,
 * it has bits of what is beside the needle.
 */
static inline void undo_char(struct needle_runs *r, const struct needle_unit *u)
{
	const bool *dull = r->set->skip;
	unsigned char byte;
	struct lane *l;
	unsigned back;

	r->bits = r->bits << 6 | (values[u->c] - 1U);
	r->chars++;
	for (back = 2; back <= GROUPS && back <= r->chars; back++) {
		l = &r->lanes[(r->chars - back) % GROUPS];
		byte = (unsigned char)(r->bits >> (8 - 2 * back));
		if (l->busy || !dull[byte])
			give(r, l,
			     &(struct needle_unit){byte, back == 2 ? r->last : u->start,
						   back == GROUPS ? u->end : u->start});
	}
	if (hex_value((char)u->c) < 0) {
		if (r->digits)
			end_lanes(r, GROUPS);
		r->digits = 0;
	} else {
		r->nibbles = r->nibbles << 4 | (unsigned)hex_value((char)u->c);
		r->digits++;
		l = &r->lanes[GROUPS + r->digits % 2];
		byte = (unsigned char)r->nibbles;
		if (r->digits >= 2 && (l->busy || !dull[byte]))
			give(r, l, &(struct needle_unit){byte, r->last, u->end});
	}
	r->last = u->start;
}

static void end_run(struct needle_runs *r)
{
	if (r->active)
		end_lanes(r, 0);
	r->active = r->cr = r->lf = false;
	r->n = r->line = r->gap = 0;
	r->chars = r->digits = 0;
}

/* Blanks, one CR LF or LF, and blanks: as in YAML, and in what was indented. */
static bool breaks_line(struct needle_runs *r, unsigned char c)
{
	if (r->line < NEEDLE_LINE || ++r->gap > NEEDLE_GAP)
		return false;
	if (c == ' ' || c == '\t')
		return r->lf || !r->cr;
	if (r->lf || (c != '\n' && (c != '\r' || r->cr)))
		return false;
	r->cr = c == '\r' || r->cr;
	r->lf = c == '\n';
	return true;
}

static void take(void *arg, const struct needle_unit *u)
{
	struct needle_runs *r = arg;
	unsigned i;

	if (!values[u->c]) {
		if (!breaks_line(r, u->c))
			end_run(r);
		return;
	}
	if (r->gap && !r->lf)
		end_run(r);
	if (r->gap) {
		r->line = r->gap = 0;
		r->cr = r->lf = false;
	}
	r->line += r->line < NEEDLE_LINE;
	if (r->active) {
		undo_char(r, u);
		return;
	}
	r->stored = true;
	r->early[r->n++] = *u;
	if (r->n < least_of(r->set))
		return;
	r->active = true;
	for (i = 0; i < r->n; i++)
		undo_char(r, &r->early[i]);
}

static bool is_idle(const struct needle_runs *r)
{
	return r->n == 0 && r->decoder.n == 0;
}

/* Of n characters of the run, and of those before them: the row of hexadecimal digits that they end with. */
static void note_digits(struct needle_runs *r, const char *p, size_t n)
{
	size_t i;

	for (i = n; i && hex_value(p[i - 1]) >= 0; i--)
		;
	r->digits = i ? n - i : r->digits + n;
	if (r->digits)
		r->nibbles = (unsigned)hex_value(p[n - 1]);
}

static bool is_dull(const uint64_t dull[NEEDLE_VALUES], uint32_t before, uint32_t value)
{
	return dull[before] >> value % 64 & 1;
}

/* Eight at a time, with one question in place of sixteen: behind what is no character nothing is dull, so only the last
 * one is to be looked at. The rest is for one after the other. */
static size_t pass_eights(const uint64_t dull[NEEDLE_VALUES], uint32_t *before, const char *p, size_t n)
{
	enum { EIGHT = 8 };
	uint32_t last = *before, value;
	uint64_t all;
	size_t i, k;

	for (i = 0; n - i >= EIGHT; i += EIGHT) {
		all = 1;
		for (k = 0; k < EIGHT; k++) {
			value = values[(unsigned char)p[i + k]];
			all &= dull[last] >> value % 64;
			last = value;
		}
		if (!all || !last)
			break;
		*before = last;
	}
	return i;
}

/* While no lane has begun anything: how many characters make bytes that no form starts with. */
static size_t pass_dull(struct needle_runs *r, uint64_t offset, const char *p, size_t n)
{
	const uint64_t *dull = r->set->dull;
	uint32_t before = r->bits % 64 + 1, value;
	size_t i;

	if (r->busy || r->chars < GROUPS)
		return 0;
	for (i = pass_eights(dull, &before, p, n);
	     i < n && (value = values[(unsigned char)p[i]]) && is_dull(dull, before, value); i++)
		before = value;
	if (i == 0)
		return 0;
	note_digits(r, p, i);
	r->bits = before - 1;
	r->chars += i;
	r->last = offset + i - 1;
	r->told = offset + i;
	return i;
}

/* The usual case, without escapes and breaks: how many of the characters are of the run. */
static size_t feed_plain(struct needle_runs *r, uint64_t offset, const char *p, size_t n)
{
	unsigned char c;
	size_t i;

	if (!r->active || r->gap || r->decoder.n)
		return 0;
	for (i = pass_dull(r, offset, p, n); i < n && values[c = (unsigned char)p[i]];
	     i += 1 + pass_dull(r, offset + i + 1, p + i + 1, n - i - 1)) {
		r->told = offset + i + 1;
		undo_char(r, &(struct needle_unit){c, offset + i, offset + i + 1});
	}
	r->line = i < NEEDLE_LINE - r->line ? r->line + (unsigned)i : NEEDLE_LINE;
	return i;
}

/* Begins a run here, if what makes it one stands side by side. Nothing is found sooner than where it comes byte by
 * byte: no form fits into fewer characters. */
static void begin_plain(struct needle_runs *r, const char *p, size_t n)
{
	unsigned least = least_of(r->set), i;

	if (n < least)
		return;
	for (i = 0; i < least; i++)
		if (!values[(unsigned char)p[i]])
			return;
	r->n = least;
	r->active = true;
}

int needle_runs_feed(struct needle_runs *r, uint64_t offset, const char *p, size_t n)
{
	struct needle_unit u;
	size_t i = 0;

	while (i < n && !r->failed) {
		if (is_idle(r)) {
			i = needle_runs_begin(r->set, p, i, n);
			begin_plain(r, p + i, n - i);
		}
		i += feed_plain(r, offset + i, p + i, n - i);
		if (i == n)
			break;
		r->stored = r->stored || needle_starts_escape((unsigned char)p[i]);
		u = (struct needle_unit){(unsigned char)p[i], offset + i, offset + i + 1};
		r->told = u.end;
		needle_decode(&r->decoder, &u, take, r);
		i++;
	}
	return r->failed ? -ENOMEM : 0;
}

int needle_runs_end(struct needle_runs *r)
{
	needle_decode_end(&r->decoder, take, r);
	end_run(r);
	return r->failed ? -ENOMEM : 0;
}

bool needle_runs_next(struct needle_runs *r, uint64_t at, struct needle_found *ret)
{
	if (r->next == r->n_found || r->found[r->next].at > at)
		return false;
	*ret = r->found[r->next++];
	if (r->next == r->n_found)
		r->next = r->n_found = 0;
	return true;
}
