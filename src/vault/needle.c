#include "vault/needle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret_memory.h"
#include "vault/needle_decode.h"
#include "vault/needle_forms.h"

/* Nodes of the automaton: 0 is the root. Most have one child, so children are a list; the root's are a table. */
struct node {
	uint32_t child, sibling;
	uint32_t fail; /* the longest proper suffix that is a node */
	uint32_t live; /* this node, or the nearest suffix, from which a form can still go on */
	uint32_t hit;  /* the longest suffix (this node included) that is a whole form; 0: none */
	uint32_t depth;
	uint32_t needle;
	unsigned char byte;
	bool whole;
};

enum { PAIRS = 4096, STRIDE = NEEDLE_MIN - 1, SHORT = 24 /* bytes: looking for escapes first would take longer */ };

struct needle_set {
	unsigned references;
	bool lower; /* all forms are in lower case */
	uint32_t n, room; /* nodes */
	uint32_t longest; /* depth of the deepest */
	struct node *nodes;
	uint32_t root[256];
	bool skip[256]; /* at the root this byte leads nowhere and starts no escape */
	/*
	 * By two bytes (hash_pair): where they are the last of NEEDLE_MIN bytes that no form starts with, how many bytes on the next start can be. After Wu and Manber:
	 * most of a text is never looked at.
	 */
	uint8_t stride[PAIRS];
};

static size_t form_bytes(size_t needle)
{
	/* itself, decoded once and twice, with plus; two alphabets at three alignments; two cases of hexadecimal */
	return 4 * needle + 6 * (needle * 4 / 3 + 2) + 4 * needle;
}

static unsigned char fold(const struct needle_set *set, unsigned char c)
{
	return set->lower && c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

static uint32_t child_of(const struct needle_set *set, uint32_t at, unsigned char c)
{
	uint32_t k;

	if (at == 0)
		return set->root[c];
	for (k = set->nodes[at].child; k && set->nodes[k].byte != c; k = set->nodes[k].sibling)
		;
	return k;
}

static uint32_t step(const struct needle_set *set, uint32_t at, unsigned char c)
{
	uint32_t k;

	while ((k = child_of(set, at, c)) == 0 && at != 0)
		at = set->nodes[at].fail;
	return k;
}

static uint32_t add_child(struct needle_set *set, uint32_t at, unsigned char c)
{
	uint32_t k = set->n++;

	set->nodes[k] = (struct node){.byte = c, .depth = set->nodes[at].depth + 1, .sibling = set->nodes[at].child};
	set->nodes[at].child = k;
	if (at == 0)
		set->root[c] = k;
	if (set->nodes[k].depth > set->longest)
		set->longest = set->nodes[k].depth;
	return k;
}

struct adding {
	struct needle_set *set;
	uint32_t needle;
};

static int add_form(void *arg, struct sv form)
{
	struct adding *a = arg;
	uint32_t at = 0, k;
	unsigned char c;
	size_t i;

	if (form.n < NEEDLE_MIN || a->set->room - a->set->n < form.n)
		return form.n < NEEDLE_MIN ? 0 : -ENOMEM;
	for (i = 0; i < form.n; i++) {
		c = fold(a->set, (unsigned char)form.p[i]);
		k = child_of(a->set, at, c);
		at = k ? k : add_child(a->set, at, c);
	}
	if (!a->set->nodes[at].whole)
		a->set->nodes[at].needle = a->needle;
	a->set->nodes[at].whole = true;
	return 0;
}

static unsigned hash_pair(unsigned char a, unsigned char b)
{
	return ((unsigned)a << 4 ^ b) % PAIRS;
}

/* n has a parent that is not the root. */
static void note_pair(struct needle_set *set, const struct node *parent, const struct node *n)
{
	uint8_t *stride = &set->stride[hash_pair(parent->byte, n->byte)];

	if (n->depth <= NEEDLE_MIN && NEEDLE_MIN - n->depth < *stride)
		*stride = (uint8_t)(NEEDLE_MIN - n->depth);
}

/* Breadth first: a node's suffixes are shallower than itself. */
static int link_nodes(struct needle_set *set)
{
	uint32_t *queue = malloc((size_t)set->n * sizeof(*queue)), head = 0, tail = 0, at, k;
	struct node *n;

	if (!queue)
		return -ENOMEM;
	for (queue[tail++] = 0; head < tail; head++) {
		at = queue[head];
		for (k = set->nodes[at].child; k; k = set->nodes[k].sibling) {
			n = &set->nodes[k];
			n->fail = at == 0 ? 0 : step(set, set->nodes[at].fail, n->byte);
			n->hit = n->whole ? k : set->nodes[n->fail].hit;
			n->live = n->child ? k : set->nodes[n->fail].live;
			if (at)
				note_pair(set, &set->nodes[at], n);
			queue[tail++] = k;
		}
	}
	free(queue);
	return 0;
}

static int fill(struct needle_set *set, const struct sv *needles, size_t n)
{
	struct adding a = {.set = set};
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		a.needle = (uint32_t)i;
		r = needle_forms(needles[i], add_form, &a);
		if (r < 0)
			return r;
	}
	for (i = 0; i < 256; i++)
		set->skip[i] = set->root[i] == 0 && !needle_starts_escape((unsigned char)i);
	memset(set->stride, STRIDE, sizeof(set->stride));
	return link_nodes(set);
}

static int new_set(const struct sv *needles, size_t n, bool lower, struct needle_set **ret)
{
	struct needle_set *set;
	size_t room = 1, i;
	int r;

	if (n > NEEDLE_COUNT)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (needles[i].n < NEEDLE_MIN || needles[i].n > NEEDLE_MAX)
			return -EINVAL;
		room += form_bytes(needles[i].n);
	}
	set = secret_memory_new(sizeof(*set));
	if (!set)
		return -ENOMEM;
	*set = (struct needle_set){.references = 1, .lower = lower, .n = 1, .room = (uint32_t)room};
	set->nodes = secret_memory_new(room * sizeof(*set->nodes));
	r = set->nodes ? fill(set, needles, n) : -ENOMEM;
	if (r < 0) {
		needle_set_unref(set);
		return r;
	}
	*ret = set;
	return 0;
}

int needle_set_new(const struct sv *needles, size_t n, struct needle_set **ret)
{
	return new_set(needles, n, false, ret);
}

int needle_set_new_lower(const struct sv *needles, size_t n, struct needle_set **ret)
{
	return new_set(needles, n, true, ret);
}

struct needle_set *needle_set_ref(struct needle_set *set)
{
	set->references++;
	return set;
}

void needle_set_unref(struct needle_set *set)
{
	if (!set || --set->references > 0)
		return;
	secret_memory_free(set->nodes, set->room * sizeof(*set->nodes));
	secret_memory_free(set, sizeof(*set));
}

enum { READINGS = 2 }; /* decoded once, decoded twice */

size_t needle_set_reach(const struct needle_set *set)
{
	size_t reach = set->longest;
	unsigned i;

	for (i = 0; i < READINGS; i++)
		reach *= NEEDLE_ESCAPE_MAX;
	return reach;
}

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
	uint64_t mask;
	struct reading readings[READINGS];
};

struct needle_scan *needle_scan_new(struct needle_set *set, needle_hit_fn *hit, void *arg)
{
	struct needle_scan *s = malloc(sizeof(*s));
	unsigned i;

	if (!s)
		return NULL;
	*s = (struct needle_scan){.set = needle_set_ref(set), .hit = hit, .arg = arg};
	for (s->mask = 1; s->mask <= set->longest;)
		s->mask = s->mask << 1 | 1;
	for (i = 0; i < READINGS; i++)
		s->readings[i] = (struct reading){.scan = s, .next = i + 1 < READINGS ? &s->readings[i + 1] : NULL};
	return s;
}

void needle_scan_free(struct needle_scan *s)
{
	if (!s)
		return;
	free(s->readings[0].starts);
	secret_wipe(s->readings, sizeof(s->readings));
	needle_set_unref(s->set);
	free(s);
}

static uint64_t reading_start(const struct reading *r, uint32_t depth)
{
	return r->starts[(r->count - depth) & r->scan->mask];
}

static void read_unit(void *arg, const struct needle_unit *u)
{
	struct reading *r = arg;
	const struct needle_set *set = r->scan->set;
	uint32_t at = step(set, r->at, fold(set, u->c)), hit = set->nodes[at].hit;

	r->starts[r->count++ & r->scan->mask] = u->start;
	if (hit)
		r->scan->hit(r->scan->arg, set->nodes[hit].needle, reading_start(r, set->nodes[hit].depth), u->end);
	r->at = set->nodes[at].live;
	if (r->next)
		needle_decode(&r->next->decoder, u, read_unit, r->next);
}

/* From here on the readings may differ from the stream as it is; up to here they are the same. */
static int start_decoding(struct needle_scan *s)
{
	uint64_t depth = s->set->nodes[s->at].depth, i;
	unsigned k;

	if (!s->readings[0].starts) {
		s->readings[0].starts = calloc(READINGS * (s->mask + 1), sizeof(uint64_t));
		if (!s->readings[0].starts)
			return -ENOMEM;
		s->readings[1].starts = s->readings[0].starts + s->mask + 1;
	}
	for (k = 0; k < READINGS; k++) {
		s->readings[k].at = s->at;
		s->readings[k].count = depth;
		for (i = 0; i < depth; i++)
			s->readings[k].starts[i] = s->offset - depth + i;
	}
	s->decoding = true;
	return 0;
}

static bool readings_agree(const struct needle_scan *s)
{
	uint32_t depth = s->set->nodes[s->at].depth;
	unsigned k;

	for (k = 0; k < READINGS; k++)
		if (s->readings[k].decoder.n || s->readings[k].at != s->at ||
		    (depth && reading_start(&s->readings[k], depth) != s->offset - depth))
			return false;
	return true;
}

static int feed_byte(struct needle_scan *s, unsigned char c)
{
	const struct needle_unit u = {c, s->offset, s->offset + 1};
	uint32_t at, hit;

	if (!s->decoding && needle_starts_escape(c) && start_decoding(s) < 0)
		return -ENOMEM;
	at = step(s->set, s->at, c);
	hit = s->set->nodes[at].hit;
	s->at = s->set->nodes[at].live;
	s->offset++;
	if (hit)
		s->hit(s->arg, s->set->nodes[hit].needle, s->offset - s->set->nodes[hit].depth, s->offset);
	if (s->decoding) {
		needle_decode(&s->readings[0].decoder, &u, read_unit, &s->readings[0]);
		s->decoding = !readings_agree(s);
	}
	return 0;
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

/*
 * From the root: up to where a form may start, or an escape is, or the bytes end. There are no escapes before `plain`. Close to it, what is shorter than NEEDLE_MIN counts as a start
 * too, so that the state at an escape or at the end is the same as if every byte had been looked at.
 */
static size_t pass_over(const struct needle_set *set, const char *text, size_t i, size_t plain, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned stride = STRIDE;

	while (plain - i >= NEEDLE_MIN && (stride = set->stride[hash_pair(p[i + STRIDE - 1], p[i + STRIDE])]) > 0)
		i += stride;
	if (stride > 0)
		while (i < n && set->skip[p[i]])
			i++;
	return i;
}

int needle_scan_feed(struct needle_scan *s, const char *p, size_t n)
{
	struct escapes escapes = {0};
	size_t i = 0, from;

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
	return 0;
}

void needle_scan_end(struct needle_scan *s)
{
	unsigned k;

	for (k = 0; s->decoding && k < READINGS; k++)
		needle_decode_end(&s->readings[k].decoder, read_unit, &s->readings[k]);
	s->decoding = false;
	s->at = 0;
}

void needle_scan_restart(struct needle_scan *s)
{
	s->offset = 0;
}

uint64_t needle_scan_safe(const struct needle_scan *s)
{
	uint64_t safe = s->offset - s->set->nodes[s->at].depth, start;
	const struct reading *r;

	for (r = s->readings; s->decoding && r; r = r->next) {
		start = r->decoder.n ? r->decoder.pending[0].start : s->offset;
		if (r->at)
			start = reading_start(r, s->set->nodes[r->at].depth);
		if (start < safe)
			safe = start;
	}
	return safe;
}
