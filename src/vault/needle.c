#include "vault/needle.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret_memory.h"
#include "vault/needle_decode.h"
#include "vault/needle_runs.h"
#include "vault/needle_set.h"

enum {
	READINGS = 2 /* decoded once, decoded twice */,
	ALL = 2 * READINGS /* and both once more, late (needle_decode.h) */,
	SHORT = 24 /* bytes: looking for escapes first would take longer */
};

struct reading {
	struct needle_scan *scan;
	struct needle_decoder decoder;
	struct reading *next; /* takes what this one decoded, too */
	uint32_t at;
	uint64_t count;   /* of decoded bytes */
	uint64_t *starts; /* where the last of them started, by count & mask */
};

struct needle_scan {
	struct needle_set *set;
	needle_hit_fn *hit;
	void *arg;
	uint64_t offset; /* of the next byte */
	uint32_t at;
	bool decoding; /* the readings below are in use */
	bool parted;   /* ... the late ones too: before, they are the same */
	uint64_t doubled; /* the offset behind two backslashes, the first of which escapes the other */
	uint64_t mask;
	struct needle_runs *runs; /* of a deep set; NULL: none was there yet */
	bool stored;              /* bytes of the stream are, or were, in the readings */
	struct reading readings[ALL];
};

/* What their decoders keep is not cleared: few streams use it, and a small answer would take longer to begin and to end
 * than to be looked at. */
struct needle_scan *needle_scan_new(struct needle_set *set, needle_hit_fn *hit, void *arg)
{
	struct needle_scan *s = malloc(sizeof(*s));
	struct reading *r;
	unsigned i;

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct needle_scan, readings));
	s->set = needle_set_ref(set);
	s->hit = hit;
	s->arg = arg;
	for (s->mask = 1; s->mask <= set->longest;)
		s->mask = s->mask << 1 | 1;
	for (i = 0; i < ALL; i++) {
		r = &s->readings[i];
		r->scan = s;
		needle_decoder_init(&r->decoder, set->backslash);
		r->decoder.late = i == READINGS;
		r->next = (i + 1) % READINGS ? &s->readings[i + 1] : NULL;
		r->at = 0;
		r->count = 0;
		r->starts = NULL;
	}
	return s;
}

void needle_scan_free(struct needle_scan *s)
{
	if (!s)
		return;
	needle_runs_free(s->runs);
	free(s->readings[0].starts);
	free(s->readings[READINGS].starts);
	if (s->stored)
		secret_wipe(s->readings, sizeof(s->readings));
	needle_set_unref(s->set);
	free(s);
}

static uint64_t reading_start(const struct reading *r, uint32_t depth)
{
	return r->starts[(r->count - depth) & r->scan->mask];
}

/* What was found in runs with the bytes before this one, or with this one, comes first. */
static void tell_runs(struct needle_scan *s, uint64_t at)
{
	struct needle_found f;

	while (s->runs && needle_runs_next(s->runs, at, &f))
		s->hit(s->arg, f.needle, f.start, f.end);
}

static void tell(struct needle_scan *s, uint32_t hit, uint64_t start, uint64_t end)
{
	tell_runs(s, s->offset);
	s->hit(s->arg, s->set->nodes[hit].needle, start, end);
}

static void read_unit(void *arg, const struct needle_unit *u)
{
	struct reading *r = arg;
	const struct needle_set *set = r->scan->set;
	uint32_t at = needle_step(set, r->at, needle_fold(set, u->c)), hit = set->nodes[at].hit;

	r->starts[r->count++ & r->scan->mask] = u->start;
	if (hit)
		tell(r->scan, hit, reading_start(r, set->nodes[hit].depth), u->end);
	r->at = set->nodes[at].live;
	if (r->next)
		needle_decode(&r->next->decoder, u, read_unit, r->next);
}

static int make_starts(struct needle_scan *s, unsigned first)
{
	struct reading *r = &s->readings[first];
	unsigned k;

	if (r->starts)
		return 0;
	r->starts = calloc(READINGS * (s->mask + 1), sizeof(uint64_t));
	if (!r->starts)
		return -ENOMEM;
	for (k = 1; k < READINGS; k++)
		r[k].starts = r->starts + k * (s->mask + 1);
	return 0;
}

/* From here on the readings may differ from the stream as it is; up to here they are the same. */
static int start_decoding(struct needle_scan *s)
{
	uint64_t depth = s->set->nodes[s->at].depth, i;
	unsigned k;

	if (make_starts(s, 0) < 0)
		return -ENOMEM;
	for (k = 0; k < READINGS; k++) {
		s->readings[k].at = s->at;
		s->readings[k].count = depth;
		for (i = 0; i < depth; i++)
			s->readings[k].starts[i] = s->offset - depth + i;
	}
	s->decoding = s->stored = true;
	return 0;
}

/* u: the byte behind the two. */
static bool begins_late(const struct needle_scan *s, const struct needle_unit *u)
{
	return s->doubled == u->start && s->doubled && (u->c == 'u' || u->c == 'x');
}

/* From here on the late readings may differ from the others. */
static int part(struct needle_scan *s, const struct needle_unit *u)
{
	const struct reading *from;
	struct reading *r;
	uint64_t depth, i;

	if (make_starts(s, READINGS) < 0)
		return -ENOMEM;
	for (from = s->readings; from < s->readings + READINGS; from++) {
		r = &s->readings[READINGS + (from - s->readings)];
		needle_decoder_copy(&r->decoder, &from->decoder);
		r->at = from->at;
		r->count = depth = s->set->nodes[r->at].depth;
		for (i = 0; i < depth; i++)
			r->starts[i] = reading_start(from, (uint32_t)(depth - i));
	}
	if (begins_late(s, u)) {
		r = &s->readings[READINGS];
		r->decoder.pending[0] = (struct needle_unit){'\\', u->start - 1, u->start};
		r->decoder.n = 1;
		r->decoder.slashed = 0;
	}
	s->parted = true;
	return 0;
}

static unsigned in_use(const struct needle_scan *s)
{
	return !s->decoding ? 0 : s->parted ? ALL : READINGS;
}

static bool readings_agree(const struct needle_scan *s)
{
	uint32_t depth = s->set->nodes[s->at].depth;
	unsigned k;

	for (k = 0; k < in_use(s); k++)
		if (s->readings[k].decoder.n || s->readings[k].at != s->at ||
		    (depth && reading_start(&s->readings[k], depth) != s->offset - depth))
			return false;
	return true;
}

/* Two backslashes are the same to both until a letter says that the other one begins a number: texts are full of them.
 */
static bool parts(const struct needle_scan *s, const struct needle_unit *u)
{
	return begins_late(s, u) || needle_decode_cuts_number(&s->readings[0].decoder, u->c);
}

static int decode_byte(struct needle_scan *s, const struct needle_unit *u)
{
	unsigned k;

	if (!s->parted && parts(s, u) && part(s, u) < 0)
		return -ENOMEM;
	if (needle_decode_doubles(&s->readings[0].decoder, u->c))
		s->doubled = u->end;
	/* the late ones first: what the others find as well they find to its first byte, and are heard last */
	for (k = in_use(s); k; k -= READINGS)
		needle_decode(&s->readings[k - READINGS].decoder, u, read_unit, &s->readings[k - READINGS]);
	s->decoding = !readings_agree(s);
	s->parted = s->parted && s->decoding;
	return 0;
}

static int feed_byte(struct needle_scan *s, unsigned char c)
{
	const struct needle_unit u = {c, s->offset, s->offset + 1};
	uint32_t at, hit;

	if (!s->decoding && needle_starts_escape(c) && start_decoding(s) < 0)
		return -ENOMEM;
	at = needle_step(s->set, s->at, c);
	hit = s->set->nodes[at].hit;
	s->at = s->set->nodes[at].live;
	s->offset++;
	if (hit)
		tell(s, hit, s->offset - s->set->nodes[hit].depth, s->offset);
	return s->decoding ? decode_byte(s, &u) : 0;
}

/* Where the next escape is, at or behind `from`; n: there is none. */
struct escapes {
	size_t percent, backslash, ampersand;
};

static size_t find_byte(const char *p, size_t from, size_t n, char c)
{
	const char *at = memchr(p + from, c, n - from);

	return at ? (size_t)(at - p) : n;
}

static size_t next_escape(struct escapes *e, const char *p, size_t from, size_t n)
{
	if (e->percent < from)
		e->percent = find_byte(p, from, n, '%');
	if (e->backslash < from)
		e->backslash = find_byte(p, from, n, '\\');
	if (e->ampersand < from)
		e->ampersand = find_byte(p, from, n, '&');
	from = e->percent < e->backslash ? e->percent : e->backslash;
	return from < e->ampersand ? from : e->ampersand;
}

static inline unsigned stride_at(const struct needle_set *set, const unsigned char *p, size_t i)
{
	return set->stride[needle_hash(p[i + NEEDLE_STRIDE - 1], p[i + NEEDLE_STRIDE])];
}

/* How many bytes from i on, up to n, in full strides, no form starts in. Where the next step leads is known before this
 * one was looked up, so the processor takes several at once. */
static inline size_t pass_strides(const struct needle_set *set, const unsigned char *p, size_t i, size_t n)
{
	enum { STEPS = 4, FAR = STEPS * NEEDLE_STRIDE };

	for (; n - i >= FAR - NEEDLE_STRIDE + NEEDLE_MIN; i += FAR)
		if (stride_at(set, p, i) + stride_at(set, p, i + NEEDLE_STRIDE) +
			    stride_at(set, p, i + 2 * NEEDLE_STRIDE) + stride_at(set, p, i + 3 * NEEDLE_STRIDE) <
		    FAR)
			break;
	return i;
}

/*
 * From the root: up to where a form may start, or an escape is, or the bytes end. There are no escapes before `plain`.
 * Close to it, what is shorter than NEEDLE_MIN counts as a start too, so that the state at an escape or at the end is
 * the same as if every byte had been looked at.
 */
static size_t pass_over(const struct needle_set *set, const char *text, size_t i, size_t plain, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned stride = NEEDLE_STRIDE;

	i = pass_strides(set, p, i, plain);
	while (plain - i >= NEEDLE_MIN && (stride = stride_at(set, p, i)) > 0) {
		i += stride;
		if (stride < NEEDLE_STRIDE) /* what was in the way lies behind */
			i = pass_strides(set, p, i, plain);
	}
	if (stride > 0)
		while (i < n && set->skip[p[i]])
			i++;
	return i;
}

static int feed_runs(struct needle_scan *s, const char *p, size_t n)
{
	if (!s->runs) {
		if (needle_runs_begin(s->set, p, 0, n) == n)
			return 0;
		s->runs = needle_runs_new(s->set);
		if (!s->runs)
			return -ENOMEM;
	}
	return needle_runs_feed(s->runs, s->offset, p, n);
}

int needle_scan_feed(struct needle_scan *s, const char *p, size_t n)
{
	struct escapes escapes = {0};
	size_t i = 0, from;

	/* first, and told later: who is told changes bytes */
	if (s->set->deep && feed_runs(s, p, n) < 0)
		return -ENOMEM;
	if (n >= SHORT) {
		escapes.percent = find_byte(p, 0, n, '%');
		escapes.backslash = find_byte(p, 0, n, '\\');
		escapes.ampersand = find_byte(p, 0, n, '&');
	}
	while (i < n) {
		if (s->at == 0 && !s->decoding) {
			from = i;
			i = pass_over(s->set, p, i, n >= SHORT ? next_escape(&escapes, p, i, n) : i, n);
			s->offset += i - from;
			if (i == n)
				break;
		}
		if (feed_byte(s, (unsigned char)p[i++]) < 0)
			return -ENOMEM;
	}
	tell_runs(s, UINT64_MAX);
	return 0;
}

int needle_scan_end(struct needle_scan *s)
{
	int r = 0;
	unsigned k;

	if (s->runs && needle_runs_end(s->runs) < 0)
		r = -ENOMEM;
	tell_runs(s, UINT64_MAX);
	for (k = 0; k < in_use(s); k++)
		needle_decode_end(&s->readings[k].decoder, read_unit, &s->readings[k]);
	s->decoding = s->parted = false;
	s->at = 0;
	return r;
}

void needle_scan_restart(struct needle_scan *s)
{
	s->offset = s->doubled = 0;
}

uint64_t needle_scan_safe(const struct needle_scan *s)
{
	uint64_t safe = s->offset - s->set->nodes[s->at].depth, start;
	const struct reading *r;

	for (r = s->readings; r < s->readings + in_use(s); r++) {
		start = r->decoder.n ? r->decoder.pending[0].start : s->offset;
		if (r->at)
			start = reading_start(r, s->set->nodes[r->at].depth);
		if (start < safe)
			safe = start;
	}
	return safe;
}
