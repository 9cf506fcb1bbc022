#include "model/compose_codec.h"

#include <errno.h>

#include "model/compose_shape.h"

static void put_shape(struct buf *out, const struct compose_shape *shape, const char *from);

static void put_texts(struct buf *out, const struct compose_strings *s)
{
	uint32_t i;

	wire_put_u32(out, s->set);
	wire_put_u32(out, s->n);
	for (i = 0; i < s->n; i++)
		wire_put_sv(out, sv_of(s->v[i]));
}

static void put_list(struct buf *out, const struct compose_shape *shape, const void *list)
{
	struct compose_items items = compose_items(list);
	uint32_t i;

	wire_put_u32(out, items.n);
	for (i = 0; i < items.n; i++)
		put_shape(out, shape, items.v + i * shape->size);
}

static void put_field(struct buf *out, const struct compose_field *f, const char *from)
{
	const void *at = from + f->offset;

	switch (f->kind) {
	case FIELD_TEXT:
		wire_put_sv(out, sv_of(compose_text_at(at)));
		break;
	case FIELD_NUM:
		wire_put_u64(out, compose_num_at(at));
		break;
	case FIELD_FLAG:
		wire_put_u32(out, *(const bool *)at);
		break;
	case FIELD_TEXTS:
		put_texts(out, at);
		break;
	case FIELD_LIST:
		put_list(out, f->shape, at);
		break;
	case FIELD_PART:
		put_shape(out, f->shape, at);
		break;
	}
}

static void put_shape(struct buf *out, const struct compose_shape *shape, const char *from)
{
	size_t i;

	for (i = 0; i < shape->n; i++)
		put_field(out, &shape->fields[i], from);
}

int compose_encode(const struct compose *c, struct buf *out)
{
	put_shape(out, &compose_shape, (const char *)c);
	return buf_failed(out);
}

struct source {
	struct wire_in *in;
	struct arena *arena;
	int failed; /* -errno */
};

static void fail(struct source *s, int code)
{
	if (!s->failed)
		s->failed = code;
}

/* A count that the bytes left could hold: each item takes at least four. */
static uint32_t get_count(struct source *s, uint64_t max)
{
	uint32_t n = wire_get_u32(s->in);

	if (n > max || n > s->in->rest.n / 4 + 1) {
		fail(s, -EBADMSG);
		return 0;
	}
	return n;
}

static const char *get_text(struct source *s)
{
	struct sv text = wire_get_sv(s->in);
	const char *copy;

	if (text.n > COMPOSE_TEXT_MAX || (text.n && memchr(text.p, 0, text.n)))
		fail(s, -EBADMSG);
	copy = arena_str(s->arena, s->failed ? sv_of("") : text);
	if (!copy)
		fail(s, -ENOMEM);
	return copy ? copy : "";
}

static bool get_flag(struct source *s)
{
	uint32_t v = wire_get_u32(s->in);

	if (v > 1)
		fail(s, -EBADMSG);
	return v == 1;
}

static void get_texts(struct source *s, struct compose_strings *to)
{
	bool set = get_flag(s);
	uint32_t n = get_count(s, COMPOSE_LIST_MAX), i;
	const char **v = arena_array(s->arena, n + 1, sizeof(*v));

	if (!v) {
		fail(s, -ENOMEM);
		return;
	}
	for (i = 0; i < n && !s->failed; i++)
		v[i] = get_text(s);
	*to = (struct compose_strings){.v = v, .n = i, .set = set};
}

static void get_shape(struct source *s, const struct compose_shape *shape, char *to);

static void get_list(struct source *s, const struct compose_field *f, char *to)
{
	uint32_t n = get_count(s, f->max ? f->max : COMPOSE_LIST_MAX), i;
	char *v = arena_array(s->arena, n ? n : 1, f->shape->size);

	if (!v) {
		fail(s, -ENOMEM);
		return;
	}
	for (i = 0; i < n && !s->failed; i++)
		get_shape(s, f->shape, v + i * f->shape->size);
	memcpy(to, &v, sizeof(v));
	memcpy(to + sizeof(v), &i, sizeof(i));
}

static void get_field(struct source *s, const struct compose_field *f, char *to)
{
	char *at = to + f->offset;
	const char *text;
	uint64_t num;

	switch (f->kind) {
	case FIELD_TEXT:
		text = get_text(s);
		memcpy(at, &text, sizeof(text));
		break;
	case FIELD_NUM:
		num = wire_get_u64(s->in);
		memcpy(at, &num, sizeof(num));
		break;
	case FIELD_FLAG:
		*(bool *)(void *)at = get_flag(s);
		break;
	case FIELD_TEXTS:
		get_texts(s, (struct compose_strings *)(void *)at);
		break;
	case FIELD_LIST:
		get_list(s, f, at);
		break;
	case FIELD_PART:
		get_shape(s, f->shape, at);
		break;
	}
}

static void get_shape(struct source *s, const struct compose_shape *shape, char *to)
{
	size_t i;

	for (i = 0; i < shape->n && !s->failed; i++)
		get_field(s, &shape->fields[i], to);
}

int compose_decode(struct wire_in *in, struct arena *a, const struct compose **ret)
{
	struct source s = {.in = in, .arena = a};
	struct compose *c = arena_alloc(a, sizeof(*c));

	if (!c)
		return -ENOMEM;
	get_shape(&s, &compose_shape, (char *)c);
	if (s.failed)
		return s.failed;
	if (in->failed || compose_wrong(c))
		return -EBADMSG;
	*ret = c;
	return 0;
}
