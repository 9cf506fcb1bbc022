#include "supervise/textdiff_lcs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum { SIDES = 2, MAX_LINES = 1 << 26 };

/* What is left of one side: classes of lines, and where each line was. */
struct rest {
	uint32_t *class;
	uint32_t *line;
	long n;
	unsigned char *changed;
};

struct lcs {
	struct rest side[SIDES];
	long *reach[SIDES]; /* furthest x on each diagonal, forward and backward; -1: none */
	uint64_t work;
};

/* A rectangle of the edit graph: lines [at, at + n) of each side. */
struct box {
	long at[SIDES];
	long n[SIDES];
};

struct entry {
	struct sv line;
	uint32_t index;
	uint32_t side;
};

static int compare_lines(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	size_t n = a->line.n < b->line.n ? a->line.n : b->line.n;
	int r = n ? memcmp(a->line.p, b->line.p, n) : 0;

	if (r)
		return r;
	return (a->line.n > b->line.n) - (a->line.n < b->line.n);
}

/* Gives equal lines the same class, from 1 on; 0 for lines that the other side does not have. */
static void classify(struct entry *e, size_t n, uint32_t *const class[SIDES])
{
	size_t i, j;
	uint32_t next = 0;
	bool seen[SIDES];

	for (i = 0; i < n; i = j) {
		seen[0] = seen[1] = false;
		for (j = i; j < n && compare_lines(&e[i], &e[j]) == 0; j++)
			seen[e[j].side] = true;
		if (seen[0] && seen[1])
			next++;
		for (; i < j; i++)
			class[e[i].side][e[i].index] = seen[0] && seen[1] ? next : 0;
	}
}

static void set_aside(struct rest *r, size_t lines)
{
	size_t i;

	for (i = 0; i < lines; i++) {
		if (r->class[i] == 0) {
			r->changed[i] = 1;
			continue;
		}
		r->class[r->n] = r->class[i];
		r->line[r->n++] = (uint32_t)i;
	}
}

static int prepare(struct lcs *l, const struct lcs_side *const in[SIDES])
{
	size_t total = in[0]->n + in[1]->n, i, k, at = 0;
	AUTO_FREE struct entry *e = calloc(total + 1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	for (k = 0; k < SIDES; k++) {
		l->side[k].class = calloc(in[k]->n + 1, sizeof(uint32_t));
		l->side[k].line = calloc(in[k]->n + 1, sizeof(uint32_t));
		if (!l->side[k].class || !l->side[k].line)
			return -ENOMEM;
		l->side[k].changed = in[k]->changed;
		for (i = 0; i < in[k]->n; i++)
			e[at++] = (struct entry){in[k]->lines[i], (uint32_t)i, (uint32_t)k};
	}
	qsort(e, total, sizeof(*e), compare_lines);
	classify(e, total, (uint32_t *const[SIDES]){l->side[0].class, l->side[1].class});
	for (k = 0; k < SIDES; k++)
		set_aside(&l->side[k], in[k]->n);
	return 0;
}

/* Lines x of the first and y of the second side, counted from the start of the box, or from its end. */
static bool same(const struct lcs *l, const struct box *b, bool backward, long x, long y)
{
	if (backward) {
		x = b->n[0] - 1 - x;
		y = b->n[1] - 1 - y;
	}
	return l->side[0].class[b->at[0] + x] == l->side[1].class[b->at[1] + y];
}

/* Takes the path on diagonal k one edit further, and then along equal lines as far as they go. Returns x, or -1 where
 * the diagonal cannot be reached. */
static long advance(struct lcs *l, const struct box *b, bool backward, long k, bool first)
{
	const long *v = l->reach[backward];
	long x = first ? 0 : -1;

	if (!first && v[k - 1] >= 0 && v[k - 1] < b->n[0])
		x = v[k - 1] + 1;
	if (!first && v[k + 1] > x && v[k + 1] - k <= b->n[1])
		x = v[k + 1];
	l->work -= l->work > 0;
	if (x < 0)
		return -1;
	while (x < b->n[0] && x - k < b->n[1] && same(l, b, backward, x, x - k)) {
		x++;
		l->work -= l->work > 0;
	}
	return x;
}

/* One more edit in one direction. True where it meets the other direction: (x, y) is then on a shortest path. */
static bool grow(struct lcs *l, const struct box *b, bool backward, long d, long *ret_x, long *ret_y)
{
	long delta = b->n[0] - b->n[1], k, x, other;
	/* Forward paths meet backward ones of d - 1 edits where delta is odd; backward paths meet forward ones of d
	 * edits where it is even. */
	bool may_meet = (delta & 1) != (backward ? 1 : 0);
	long width = backward ? d : d - 1;

	for (k = -d; k <= d; k += 2) {
		x = advance(l, b, backward, k, d == 0);
		l->reach[backward][k] = x;
		other = delta - k;
		if (!may_meet || x < 0 || other < -width || other > width)
			continue;
		if (l->reach[!backward][other] >= 0 && x + l->reach[!backward][other] >= b->n[0]) {
			*ret_x = backward ? b->n[0] - x : x;
			*ret_y = backward ? b->n[1] - (x - k) : x - k;
			return true;
		}
	}
	return false;
}

/* Where a shortest path through the box has half its edits behind it. 0 or -E2BIG. */
static int find_middle(struct lcs *l, const struct box *b, long *ret_x, long *ret_y)
{
	long most = (b->n[0] + b->n[1] + 1) / 2, k, d;

	for (k = -most - 1; k <= most + 1; k++)
		l->reach[0][k] = l->reach[1][k] = -1;
	for (d = 0; d <= most; d++) {
		if (l->work == 0)
			return -E2BIG;
		if (grow(l, b, false, d, ret_x, ret_y) || grow(l, b, true, d, ret_x, ret_y))
			return 0;
	}
	return -E2BIG;
}

static void strip_common_ends(const struct lcs *l, struct box *b)
{
	while (b->n[0] > 0 && b->n[1] > 0 && same(l, b, false, 0, 0)) {
		b->at[0]++;
		b->at[1]++;
		b->n[0]--;
		b->n[1]--;
	}
	while (b->n[0] > 0 && b->n[1] > 0 && same(l, b, true, 0, 0)) {
		b->n[0]--;
		b->n[1]--;
	}
}

/* Each halving halves the number of edits: the recursion is at most as deep as that number has bits. */
static int compare(struct lcs *l, struct box b)
{
	struct box head, tail;
	long x = 0, y = 0, i;
	int r, k;

	strip_common_ends(l, &b);
	if (b.n[0] == 0 || b.n[1] == 0) {
		for (k = 0; k < SIDES; k++)
			for (i = 0; i < b.n[k]; i++)
				l->side[k].changed[l->side[k].line[b.at[k] + i]] = 1;
		return 0;
	}
	r = find_middle(l, &b, &x, &y);
	if (r < 0)
		return r;
	head = (struct box){{b.at[0], b.at[1]}, {x, y}};
	tail = (struct box){{b.at[0] + x, b.at[1] + y}, {b.n[0] - x, b.n[1] - y}};
	r = compare(l, head);
	return r < 0 ? r : compare(l, tail);
}

static void lcs_done(struct lcs *l)
{
	int k;

	for (k = 0; k < SIDES; k++) {
		free(l->side[k].class);
		free(l->side[k].line);
	}
}

int textdiff_lcs(struct lcs_side *a, struct lcs_side *b, uint64_t *work)
{
	__attribute__((cleanup(lcs_done))) struct lcs l = {.work = *work};
	const struct lcs_side *const in[SIDES] = {a, b};
	AUTO_FREE long *storage = NULL;
	size_t width;
	int r;

	if (a->n > MAX_LINES || b->n > MAX_LINES || a->n + b->n > *work)
		return -E2BIG;
	r = prepare(&l, in);
	if (r < 0)
		return r;
	width = (size_t)(l.side[0].n + l.side[1].n) + 5;
	storage = calloc(2 * width, sizeof(*storage));
	if (!storage)
		return -ENOMEM;
	l.reach[0] = storage + width / 2;
	l.reach[1] = storage + width + width / 2;
	r = compare(&l, (struct box){{0, 0}, {l.side[0].n, l.side[1].n}});
	*work = l.work;
	return r;
}
