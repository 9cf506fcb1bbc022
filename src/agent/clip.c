#include "agent/clip.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int clip_init(struct clip *c, size_t head, size_t tail)
{
	*c = (struct clip){.head = head, .tail = tail};
	c->p = malloc(head + tail ? head + tail : 1);
	return c->p ? 0 : -ENOMEM;
}

void clip_done(struct clip *c)
{
	free(c->p);
	*c = (struct clip){0};
}

static void add_tail(struct clip *c, struct sv bytes)
{
	size_t at, n;

	if (bytes.n > c->tail) {
		c->n += bytes.n - c->tail;
		bytes = sv_n(bytes.p + (bytes.n - c->tail), c->tail);
	}
	while (bytes.n) {
		at = (size_t)((c->n - c->head) % c->tail);
		n = c->tail - at < bytes.n ? c->tail - at : bytes.n;
		memcpy(c->p + c->head + at, bytes.p, n);
		bytes = sv_n(bytes.p + n, bytes.n - n);
		c->n += n;
	}
}

void clip_add(struct clip *c, struct sv bytes)
{
	size_t n = c->n < c->head ? c->head - (size_t)c->n : 0;

	n = n < bytes.n ? n : bytes.n;
	if (n)
		memcpy(c->p + c->n, bytes.p, n);
	c->n += n;
	bytes = sv_n(bytes.p + n, bytes.n - n);
	if (c->tail)
		add_tail(c, bytes);
	else
		c->n += bytes.n;
}

bool clip_is_cut(const struct clip *c)
{
	return c->n > c->head + c->tail;
}

static bool continues(char b)
{
	return ((unsigned char)b & 0xc0) == 0x80;
}

/* Without a sequence that the cut left without its end: at most three bytes. */
static size_t whole_head(const char *p, size_t n)
{
	size_t back = 0, length;

	while (back < 3 && back < n && continues(p[n - 1 - back]))
		back++;
	if (back == n)
		return n;
	length = (unsigned char)p[n - 1 - back] >= 0xf0   ? 4
		 : (unsigned char)p[n - 1 - back] >= 0xe0 ? 3
		 : (unsigned char)p[n - 1 - back] >= 0xc0 ? 2
							  : 1;
	return length > back + 1 ? n - 1 - back : n;
}

static void put_tail(const struct clip *c, struct buf *out)
{
	size_t at = (size_t)((c->n - c->head) % c->tail), skip = 0;
	const char *ring = c->p + c->head;

	while (skip < 3 && skip < c->tail && continues(ring[(at + skip) % c->tail]))
		skip++;
	at = (at + skip) % c->tail;
	if (at + (c->tail - skip) <= c->tail) {
		(void)buf_add(out, ring + at, c->tail - skip);
		return;
	}
	(void)buf_add(out, ring + at, c->tail - at);
	(void)buf_add(out, ring, c->tail - skip - (c->tail - at));
}

void clip_text(const struct clip *c, struct buf *out)
{
	size_t head;

	if (!clip_is_cut(c)) {
		(void)buf_add(out, c->p, (size_t)c->n);
		return;
	}
	head = whole_head(c->p, c->head);
	(void)buf_add(out, c->p, head);
	if (c->head)
		(void)buf_printf(out, "\n[... %" PRIu64 " bytes of output are left out here ...]\n",
				 c->n - c->head - c->tail);
	if (c->tail)
		put_tail(c, out);
}
