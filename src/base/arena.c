#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The first is for what is small; who needs more than the second needs a plan's worth, and each chunk is one more to
 * map and to give back. */
enum { ARENA_FIRST = 2048 - 64, ARENA_SECOND = 16384 - 64, ARENA_MORE = 65536 - 64, ARENA_ALIGN = 16 };

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(ARENA_ALIGN) char data[];
};

struct arena {
	struct chunk *head;
	bool failed;
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

void arena_free(struct arena *a)
{
	struct chunk *c, *next;

	if (!a)
		return;
	for (c = a->head; c; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

void arena_reset(struct arena *a)
{
	struct chunk *c;

	while ((c = a->head) && (c->next || c->size > ARENA_FIRST)) {
		a->head = c->next;
		free(c);
	}
	if (c) {
		memset(c->data, 0, c->used);
		c->used = 0;
	}
	a->failed = false;
}

void *arena_alloc(struct arena *a, size_t n)
{
	struct chunk *c = a->head;
	size_t size;
	void *p;

	if (n > SIZE_MAX / 2) {
		a->failed = true;
		return NULL;
	}
	n = (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (!c || c->size - c->used < n) {
		size = !c ? ARENA_FIRST : !c->next ? ARENA_SECOND : ARENA_MORE;
		size = n > size ? n : size;
		c = calloc(1, sizeof(*c) + size);
		if (!c) {
			a->failed = true;
			return NULL;
		}
		c->size = size;
		c->next = a->head;
		a->head = c;
	}
	p = c->data + c->used;
	c->used += n;
	return p;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size) {
		a->failed = true;
		return NULL;
	}
	return arena_alloc(a, count * size);
}

char *arena_str(struct arena *a, struct sv s)
{
	char *p = arena_alloc(a, s.n + 1);

	if (p && s.n)
		memcpy(p, s.p, s.n);
	return p;
}

char *arena_join(struct arena *a, const struct sv *parts, size_t n)
{
	size_t size = 1, i;
	char *p, *to;

	for (i = 0; i < n; i++)
		size += parts[i].n;
	p = to = arena_alloc(a, size);
	for (i = 0; p && i < n; to += parts[i++].n)
		if (parts[i].n)
			memcpy(to, parts[i].p, parts[i].n);
	return p;
}

char **arena_strings(struct arena *a, const char *const *v)
{
	size_t n = 0, i;
	char **to;

	while (v && v[n])
		n++;
	to = arena_array(a, n + 1, sizeof(*to));
	for (i = 0; to && i < n; i++)
		to[i] = arena_str(a, sv_of(v[i]));
	return to;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return NULL;
	va_start(ap, format);
	(void)vsnprintf(p, (size_t)n + 1, format, ap);
	va_end(ap);
	return p;
}

bool arena_failed(const struct arena *a)
{
	return a->failed;
}
