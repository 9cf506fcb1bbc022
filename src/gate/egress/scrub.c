#include "gate/egress/scrub.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/coding.h"
#include "base/secret_memory.h"
#include "vault/needle_runs.h"

struct scrub {
	unsigned references;
	struct needle_set *set;
	struct needle_set *lower; /* of the same needles, for names of fields: their readers put them into lower case */
	size_t n;
	char **placeholders; /* by needle */
	size_t hold_max;
	bool alphabet[256];
	struct scrub_stream *texts, *names; /* for one text after the other; made when they are first needed */
};

/* ROW: " 73 6b 2d", which rows of numbers are known by. OLDER: searches that are finished beside the one of now. BREAK:
 * bytes that are looked at for one between lines. */
enum { ROW = 9, OLDER = 3, BREAK = 256 };

/* For the credentials of one scrub, in what comes from some point on. */
struct search {
	struct search *older;
	struct scrub_stream *stream;
	struct scrub *scrub; /* a reference, but for texts */
	struct needle_scan *scan;
	uint64_t first; /* offset of the first byte that it saw */
	uint64_t until; /* of one that was replaced: behind this nothing ends that began before it was */
};

struct scrub_stream {
	struct scrub *scrub;   /* of the newest search */
	struct search *search; /* the newest */
	size_t hold_max;
	char *hold; /* from `from` up to `end`: the bytes before `at` in the stream, all of the alphabet */
	size_t from, end, room;
	size_t given; /* of these, told to the caller by the last call */
	char *piece;  /* the caller's, during a call */
	uint64_t at;  /* offset of piece[0] */
	unsigned char row[ROW]; /* the last bytes of the stream, let go or not, the last one last */
	uint64_t hits;
};

static void free_texts(struct scrub_stream *t)
{
	if (!t)
		return;
	needle_scan_free(t->search->scan);
	free(t->search);
	free(t);
}

static void scrub_free(struct scrub *s)
{
	size_t i;

	free_texts(s->texts);
	free_texts(s->names);
	for (i = 0; s->placeholders && i < s->n; i++)
		free(s->placeholders[i]);
	free(s->placeholders);
	needle_set_unref(s->set);
	needle_set_unref(s->lower);
	free(s);
}

static void set_limits(struct scrub *s, const struct scrub_pair *pairs)
{
	size_t i, k, reach = needle_set_reach(s->set);

	for (s->hold_max = SCRUB_HOLD_MIN; s->hold_max < reach;)
		s->hold_max *= 2;
	for (i = 0x21; i <= 0x7e; i++)
		s->alphabet[i] = true;
	/* the vault lets in no other bytes but the blank */
	for (i = 0; i < s->n; i++)
		for (k = 0; k < pairs[i].secret.n; k++)
			s->alphabet[(unsigned char)pairs[i].secret.p[k]] = true;
}

int scrub_new(const struct scrub_pair *pairs, size_t n, struct scrub **ret)
{
	struct scrub *s = calloc(1, sizeof(*s));
	struct sv *needles = calloc(n + 1, sizeof(*needles));
	int r = -ENOMEM;
	size_t i;

	if (s)
		s->placeholders = calloc(n + 1, sizeof(*s->placeholders));
	if (!s || !needles || !s->placeholders)
		goto out;
	s->references = 1;
	s->n = n;
	for (i = 0; i < n; i++) {
		needles[i] = pairs[i].secret;
		s->placeholders[i] = strndup(pairs[i].placeholder.p, pairs[i].placeholder.n);
		if (!s->placeholders[i])
			goto out;
		if (!s->placeholders[i][0]) {
			r = -EINVAL;
			goto out;
		}
	}
	r = needle_set_new_deep(needles, n, &s->set);
	if (r == 0)
		r = needle_set_new_lower(needles, n, &s->lower);
	if (r == 0) {
		set_limits(s, pairs);
		*ret = s;
		s = NULL;
	}
out:
	free(needles);
	if (s)
		scrub_free(s);
	return r;
}

struct scrub *scrub_ref(struct scrub *s)
{
	s->references++;
	return s;
}

void scrub_unref(struct scrub *s)
{
	if (s && --s->references == 0)
		scrub_free(s);
}

size_t scrub_hold(const struct scrub *s)
{
	return s->hold_max;
}

static char *byte_at(struct scrub_stream *t, uint64_t offset)
{
	return offset >= t->at ? &t->piece[offset - t->at] : &t->hold[t->end - (t->at - offset)];
}

static void replace(void *arg, uint32_t needle, uint64_t start, uint64_t end)
{
	const struct search *search = arg;
	struct scrub_stream *t = search->stream;
	const char *placeholder = search->scrub->placeholders[needle];
	size_t length = strlen(placeholder);
	uint64_t first = t->at - (t->end - t->from), i; /* what is before it was released, and is gone */

	start += search->first;
	end += search->first;
	for (i = start > first ? start : first; i < end; i++)
		*byte_at(t, i) = placeholder[(i - start) % length];
	t->hits++;
}

/* NULL: no memory. Its scrub is borrowed. */
static struct search *search_new(struct scrub_stream *t, struct scrub *s, struct needle_set *set)
{
	struct search *search = malloc(sizeof(*search));

	if (!search)
		return NULL;
	*search = (struct search){.stream = t, .scrub = s};
	search->scan = needle_scan_new(set, replace, search);
	if (search->scan)
		return search;
	free(search);
	return NULL;
}

/* This one and all that are older. */
static void drop_searches(struct search **from)
{
	struct search *search;

	while ((search = *from)) {
		*from = search->older;
		needle_scan_free(search->scan);
		scrub_unref(search->scrub);
		free(search);
	}
}

struct scrub_stream *scrub_stream_new(struct scrub *s)
{
	struct scrub_stream *t = malloc(sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct scrub_stream){.scrub = s, .hold_max = s->hold_max};
	t->search = search_new(t, s, s->set);
	if (!t->search) {
		free(t);
		return NULL;
	}
	(void)scrub_ref(s);
	return t;
}

/* Ordinary memory, as is all that an answer passes through before it comes here. */
static void free_hold(struct scrub_stream *t)
{
	if (t->hold)
		secret_wipe(t->hold, t->room);
	free(t->hold);
}

void scrub_stream_free(struct scrub_stream *t)
{
	if (!t)
		return;
	free_hold(t);
	drop_searches(&t->search);
	free(t);
}

static void drop_given(struct scrub_stream *t)
{
	t->from += t->given;
	t->given = 0;
	if (t->from == t->end)
		t->from = t->end = 0;
}

/* Moves to the front, or to larger memory; so that each byte is moved a few times at most, however small the pieces
 * are. */
static int make_room(struct scrub_stream *t, size_t n)
{
	size_t held = t->end - t->from, room = t->room ? t->room : 512;
	char *larger;

	if (t->room - t->end >= n)
		return 0;
	if (t->from >= held && t->room - held >= n) {
		memmove(t->hold, t->hold + t->from, held);
	} else {
		while (room < 2 * held + n)
			room *= 2;
		larger = malloc(room);
		if (!larger)
			return -ENOMEM;
		if (held)
			memcpy(larger, t->hold + t->from, held);
		free_hold(t);
		t->hold = larger;
		t->room = room;
	}
	t->from = 0;
	t->end = held;
	return 0;
}

static int keep(struct scrub_stream *t, const char *p, size_t n)
{
	if (n == 0)
		return 0;
	if (make_room(t, n) < 0)
		return -ENOMEM;
	memcpy(t->hold + t->end, p, n);
	t->end += n;
	return 0;
}

/* The byte `back` bytes before the last one of what is held and the n bytes behind it; NUL: there is none. */
static unsigned char byte_back(const struct scrub_stream *t, const char *p, size_t n, size_t back)
{
	if (back < n)
		return (unsigned char)p[n - 1 - back];
	back -= n;
	return back < t->end - t->from ? (unsigned char)t->hold[t->end - 1 - back] : 0;
}

/* How many blanks and breaks end there; 0: none, or more than stand between two lines. */
static size_t blanks_back(const struct scrub_stream *t, const char *p, size_t n, size_t back)
{
	size_t size, breaks = 0;
	unsigned char c;

	for (size = 0; size <= NEEDLE_GAP; size++) {
		c = byte_back(t, p, n, back + size);
		if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			break;
		/* CR and LF are one; two of them are an empty line, or the end of an event */
		breaks += c == '\n' || (c == '\r' && (size == 0 || byte_back(t, p, n, back + size - 1) != '\n'));
	}
	return size > NEEDLE_GAP || breaks > 1 ? 0 : size;
}

/* How many characters of base64 and of escapes end there, as far as they count. */
static size_t line_back(const struct scrub_stream *t, const char *p, size_t n, size_t back)
{
	unsigned char c;
	size_t i;

	for (i = 0; i < NEEDLE_LINE; i++) {
		c = byte_back(t, p, n, back + i);
		if (!needle_runs_may_have(c) || c == '\n' || c == '\r')
			break;
	}
	return i;
}

/*
 * Does what stands between two lines of base64, or a part of it, end there? How many bytes it has, or 0. The other half
 * of a break may be escaped, amid blanks that are not, or not be here yet.
 */
static size_t line_break(const struct scrub_stream *t, const char *p, size_t n, size_t back)
{
	size_t size = blanks_back(t, p, n, back), more = size, most = back + BREAK, line;

	for (back += size; more && back < most; back += line + more) {
		line = line_back(t, p, n, back);
		if (line == NEEDLE_LINE)
			return size;
		if (line == 0 || !memchr("\\%&", byte_back(t, p, n, back + line - 1), 3))
			return 0;
		more = blanks_back(t, p, n, back + line);
	}
	return 0;
}

/* A zero between letters of UTF-16. */
static bool widens(const struct scrub_stream *t, const char *p, size_t n, size_t back)
{
	return byte_back(t, p, n, back) == 0 && t->scrub->alphabet[byte_back(t, p, n, back + 1)];
}

/* A blank behind three numbers of two digits, as rows of hexadecimal have: what is shorter is in ordinary text ("may be
 * "). */
static bool divides(const struct scrub_stream *t, const char *p, size_t n, size_t back)
{
	size_t i;

	for (i = 0; i < ROW; i++) {
		unsigned char c = back + i < n ? (unsigned char)p[n - 1 - back - i] : t->row[ROW - 1 - (back + i - n)];

		if (i % 3 ? hex_value((char)c) < 0 : c != ' ')
			return false;
	}
	return true;
}

static void note_row(struct scrub_stream *t, const char *p, size_t n)
{
	size_t kept = n < ROW ? ROW - n : 0;

	memmove(t->row, t->row + ROW - kept, kept);
	memcpy(t->row + kept, p + n - (ROW - kept), ROW - kept);
}

static size_t joint(const struct scrub_stream *t, const char *p, size_t n, size_t back)
{
	return widens(t, p, n, back) || divides(t, p, n, back) ? 1 : line_break(t, p, n, back);
}

/* How many of the last bytes, of those held too, are of the alphabet, or stand between those of one form. */
static size_t tail_of(const struct scrub_stream *t, const char *p, size_t n)
{
	const bool *alphabet = t->scrub->alphabet;
	size_t tail = 0, step;

	while (tail < n) {
		step = alphabet[(unsigned char)p[n - tail - 1]] ? 1 : joint(t, p, n, tail);
		if (step == 0)
			return tail;
		tail += step;
	}
	return n + (t->end - t->from);
}

int scrub_stream_renew(struct scrub_stream *t, struct scrub *s)
{
	struct search *search = search_new(t, s, s->set), **oldest = &t->search;
	unsigned n;

	if (!search)
		return -ENOMEM;
	drop_given(t);
	search->first = t->at - (t->end - t->from);
	search->scrub = scrub_ref(s);
	search->older = t->search;
	t->search->until = t->at + t->hold_max;
	t->search = search;
	t->scrub = s;
	t->hold_max = s->hold_max > t->hold_max ? s->hold_max : t->hold_max;
	for (n = 0; *oldest && n <= OLDER; n++)
		oldest = &(*oldest)->older;
	drop_searches(oldest);
	return t->end > t->from ? needle_scan_feed(search->scan, t->hold + t->from, t->end - t->from) : 0;
}

static int look_at(struct scrub_stream *t, char *p, size_t n)
{
	struct search **one = &t->search;
	int r = 0;

	t->piece = p;
	for (; *one && r == 0; one = &(*one)->older) {
		if (one != &t->search && t->at >= (*one)->until) {
			drop_searches(one);
			break;
		}
		r = needle_scan_feed((*one)->scan, p, n);
	}
	t->piece = NULL;
	return r;
}

int scrub_stream_feed(struct scrub_stream *t, char *p, size_t n, struct sv *ret)
{
	size_t held, tail, out;

	drop_given(t);
	held = t->end - t->from;
	tail = tail_of(t, p, n);
	tail = tail < t->hold_max ? tail : t->hold_max;
	out = held + n - tail;
	note_row(t, p, n);
	if (look_at(t, p, n) < 0)
		return -ENOMEM;
	/* one piece goes out, not two: what was held, and what follows it */
	if (keep(t, held ? p : p + out, held ? n : tail) < 0)
		return -ENOMEM;
	t->at += n;
	t->given = held ? out : 0;
	*ret = held ? sv_n(t->hold + t->from, out) : sv_n(p, out);
	return 0;
}

bool scrub_stream_waits(const struct scrub_stream *t)
{
	return t->end - t->from > t->given;
}

void scrub_stream_release(struct scrub_stream *t, struct sv *ret)
{
	drop_given(t);
	t->given = t->end - t->from;
	*ret = sv_n(t->given ? t->hold + t->from : "", t->given);
}

void scrub_stream_end(struct scrub_stream *t, struct sv *ret)
{
	struct search *search;
	int r = 0;

	drop_given(t);
	for (search = t->search; search; search = search->older)
		r = needle_scan_end(search->scan) < 0 ? -ENOMEM : r;
	/* not looked at to its end: it must not be seen */
	if (r < 0 && t->hold)
		memset(t->hold + t->from, '*', t->end - t->from);
	scrub_stream_release(t, ret);
}

uint64_t scrub_stream_hits(const struct scrub_stream *t)
{
	return t->hits;
}

/* Not a user of its own: it goes with the scrub. NULL: no memory. */
static struct scrub_stream *texts_of(struct scrub *s, struct needle_set *set, struct scrub_stream **kept)
{
	struct scrub_stream *t = *kept;

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->scrub = s;
	t->search = search_new(t, s, set);
	if (!t->search) {
		free(t);
		return NULL;
	}
	*kept = t;
	return t;
}

static int scan_text(struct scrub_stream *t, char *p, size_t n)
{
	int r;

	t->piece = p;
	t->hits = 0;
	r = needle_scan_feed(t->search->scan, p, n);
	if (needle_scan_end(t->search->scan) < 0)
		r = -ENOMEM;
	needle_scan_restart(t->search->scan);
	t->piece = NULL;
	return r < 0 ? r : (int)t->hits;
}

int scrub_text(struct scrub *s, char *p, size_t n)
{
	struct scrub_stream *t;

	if (n < NEEDLE_MIN)
		return 0; /* no form is as short */
	t = texts_of(s, s->set, &s->texts);
	return t ? scan_text(t, p, n) : -ENOMEM;
}

enum { FEW = 2048 }; /* bytes that are looked at in one piece, without an allocation */

static size_t longest_of(const struct http_fields *f)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		n = f->v[i].name.n > n ? f->v[i].name.n : n;
		n = f->v[i].value.n > n ? f->v[i].value.n : n;
	}
	return n;
}

/* All names, or all values, side by side in room; line feeds, which none of them has, keep what one begins from being
 * completed by the next. False: they do not fit. */
static bool join(const struct http_fields *f, bool names, char room[FEW], size_t *ret)
{
	size_t n = 0, k;
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		const struct sv *text = names ? &f->v[i].name : &f->v[i].value;

		if (text->n > FEW - 3 || n > FEW - 3 - text->n)
			return false;
		memcpy(room + n, text->p, text->n);
		n += text->n;
		for (k = 0; k < 3; k++)
			room[n++] = '\n';
	}
	*ret = n;
	return true;
}

/* The text, or a clean copy of it. room is for the longest. */
static int scrub_sv(struct scrub_stream *t, struct sv *text, char *room, struct arena *a)
{
	int hits;

	if (text->n < NEEDLE_MIN)
		return 0;
	memcpy(room, text->p, text->n);
	hits = scan_text(t, room, text->n);
	if (hits > 0) {
		text->p = arena_str(a, sv_n(room, text->n));
		hits = text->p ? hits : -ENOMEM;
	}
	return hits;
}

int scrub_fields(struct scrub *s, struct http_fields *f, struct arena *a)
{
	uint32_t i, kept = 0;
	int hits = 0, in_name, in_value;
	struct scrub_stream *values = texts_of(s, s->set, &s->texts), *names = texts_of(s, s->lower, &s->names);
	char few[FEW] __attribute__((uninitialized)), *room;
	size_t longest = longest_of(f), n;
	AUTO_FREE char *many = longest > FEW ? malloc(longest) : NULL;

	room = longest > FEW ? many : few;
	if (!values || !names || !room)
		return -ENOMEM;
	/* an answer gives no credential back but once in a blue moon */
	if (join(f, true, few, &n) && scan_text(names, few, n) == 0 && join(f, false, few, &n) &&
	    scan_text(values, few, n) == 0)
		return 0;
	for (i = 0; i < f->n; i++) {
		struct http_field field = f->v[i];

		in_name = scrub_sv(names, &field.name, room, a);
		in_value = in_name ? 0 : scrub_sv(values, &field.value, room, a);
		if (in_name < 0 || in_value < 0)
			return -ENOMEM;
		hits += in_name + in_value;
		if (!in_name)
			f->v[kept++] = field;
	}
	f->n = kept;
	return hits;
}
