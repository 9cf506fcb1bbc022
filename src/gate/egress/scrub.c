#include "gate/egress/scrub.h"

#include <errno.h>
#include <stdlib.h>

#include "base/secret_memory.h"
#include "vault/needle.h"

struct scrub {
	unsigned references;
	struct needle_set *set;
	size_t n;
	char **placeholders; /* by needle */
};

struct scrub_stream {
	struct scrub *scrub;
	struct needle_scan *scan;
	char *hold; /* guarded; the bytes before `at` in the stream */
	size_t hold_n, hold_room;
	size_t given; /* of hold, told to the caller by the last call */
	char *piece;  /* the caller's, during a call */
	uint64_t at;  /* offset of piece[0] */
	uint64_t hits;
};

static void scrub_free(struct scrub *s)
{
	size_t i;

	for (i = 0; s->placeholders && i < s->n; i++)
		free(s->placeholders[i]);
	free(s->placeholders);
	needle_set_unref(s->set);
	free(s);
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
	r = needle_set_new(needles, n, &s->set);
	if (r == 0) {
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

static char *byte_at(struct scrub_stream *t, uint64_t offset)
{
	return offset >= t->at ? &t->piece[offset - t->at] : &t->hold[t->hold_n - (t->at - offset)];
}

static void replace(void *arg, uint32_t needle, uint64_t start, uint64_t end)
{
	struct scrub_stream *t = arg;
	const char *placeholder = t->scrub->placeholders[needle];
	size_t length = strlen(placeholder);
	uint64_t i;

	for (i = start; i < end; i++)
		*byte_at(t, i) = placeholder[(i - start) % length];
	t->hits++;
}

struct scrub_stream *scrub_stream_new(struct scrub *s)
{
	struct scrub_stream *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->scan = needle_scan_new(s->set, replace, t);
	if (!t->scan) {
		free(t);
		return NULL;
	}
	t->scrub = scrub_ref(s);
	return t;
}

void scrub_stream_free(struct scrub_stream *t)
{
	if (!t)
		return;
	secret_memory_free(t->hold, t->hold_room);
	needle_scan_free(t->scan);
	scrub_unref(t->scrub);
	free(t);
}

static void drop_given(struct scrub_stream *t)
{
	if (t->given == 0)
		return;
	t->hold_n -= t->given;
	memmove(t->hold, t->hold + t->given, t->hold_n);
	secret_wipe(t->hold + t->hold_n, t->given);
	t->given = 0;
}

static int keep(struct scrub_stream *t, const char *p, size_t n)
{
	size_t room = t->hold_room ? t->hold_room : 512;
	char *larger;

	if (n == 0)
		return 0;
	while (room - t->hold_n < n)
		room *= 2;
	if (room > t->hold_room) {
		larger = secret_memory_new(room);
		if (!larger)
			return -ENOMEM;
		if (t->hold_n)
			memcpy(larger, t->hold, t->hold_n);
		secret_memory_free(t->hold, t->hold_room);
		t->hold = larger;
		t->hold_room = room;
	}
	memcpy(t->hold + t->hold_n, p, n);
	t->hold_n += n;
	return 0;
}

int scrub_stream_feed(struct scrub_stream *t, char *p, size_t n, struct scrub_out *ret)
{
	uint64_t safe;
	size_t now, held;

	drop_given(t);
	t->piece = p;
	if (needle_scan_feed(t->scan, p, n) < 0)
		return -ENOMEM;
	safe = needle_scan_safe(t->scan);
	now = safe > t->at ? (size_t)(safe - t->at) : 0;
	held = safe >= t->at ? t->hold_n : t->hold_n - (size_t)(t->at - safe);
	if (keep(t, p + now, n - now) < 0)
		return -ENOMEM;
	t->at += n;
	t->piece = NULL;
	t->given = held;
	ret->held = sv_n(held ? t->hold : "", held);
	ret->now = sv_n(p, now);
	return 0;
}

void scrub_stream_end(struct scrub_stream *t, struct scrub_out *ret)
{
	drop_given(t);
	needle_scan_end(t->scan);
	t->given = t->hold_n;
	ret->held = sv_n(t->hold_n ? t->hold : "", t->hold_n);
	ret->now = sv_n("", 0);
}

uint64_t scrub_stream_hits(const struct scrub_stream *t)
{
	return t->hits;
}

int scrub_text(struct scrub *s, char *p, size_t n)
{
	struct scrub_stream t = {.scrub = s, .piece = p};
	int r;

	t.scan = needle_scan_new(s->set, replace, &t);
	if (!t.scan)
		return -ENOMEM;
	r = needle_scan_feed(t.scan, p, n);
	needle_scan_end(t.scan);
	needle_scan_free(t.scan);
	return r < 0 ? r : (int)t.hits;
}

static int scan_text(struct scrub_stream *t, char *p, size_t n)
{
	int r;

	t->piece = p;
	t->hits = 0;
	r = needle_scan_feed(t->scan, p, n);
	needle_scan_end(t->scan);
	needle_scan_restart(t->scan);
	return r < 0 ? r : (int)t->hits;
}

/* The text, or a clean copy of it. */
static int scrub_sv(struct scrub_stream *t, struct sv *text, struct arena *a)
{
	char *copy = malloc(text->n + 1);
	int hits;

	if (!copy)
		return -ENOMEM;
	if (text->n)
		memcpy(copy, text->p, text->n);
	hits = scan_text(t, copy, text->n);
	if (hits > 0) {
		text->p = arena_str(a, sv_n(copy, text->n));
		hits = text->p ? hits : -ENOMEM;
	}
	free(copy);
	return hits;
}

int scrub_fields(struct scrub *s, struct http_fields *f, struct arena *a)
{
	uint32_t i, kept = 0;
	int hits = 0, in_name, in_value;
	struct scrub_stream t = {.scrub = s};

	t.scan = needle_scan_new(s->set, replace, &t);
	if (!t.scan)
		return -ENOMEM;
	for (i = 0; i < f->n; i++) {
		struct http_field field = f->v[i];

		in_name = scrub_sv(&t, &field.name, a);
		in_value = in_name ? 0 : scrub_sv(&t, &field.value, a);
		if (in_name < 0 || in_value < 0)
			break;
		hits += in_name + in_value;
		if (!in_name)
			f->v[kept++] = field;
	}
	needle_scan_free(t.scan);
	if (i < f->n)
		return -ENOMEM;
	f->n = kept;
	return hits;
}
