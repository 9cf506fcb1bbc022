/*
 * compose_shape: the table of model/compose.h's fields, for those who walk all of them.
 */
#ifndef CORDON_MODEL_COMPOSE_SHAPE_H
#define CORDON_MODEL_COMPOSE_SHAPE_H

#include <stddef.h>
#include <string.h>

#include "model/compose.h"
#include "model/compose_text.h"

enum compose_field_kind {
	FIELD_TEXT,  /* const char * */
	FIELD_NUM,   /* uint64_t */
	FIELD_FLAG,  /* bool */
	FIELD_TEXTS, /* struct compose_strings */
	FIELD_LIST,  /* a pointer to structs of the shape, and a uint32_t: how many */
	FIELD_PART   /* a struct of the shape */
};

struct compose_shape;

struct compose_field {
	const char *name; /* for messages of compose_wrong() */
	enum compose_field_kind kind;
	size_t offset;
	compose_text_fn *is;		   /* TEXT, TEXTS: what they must be, "" apart; NULL: any text, "" too */
	bool needed;			   /* TEXT: "" is not fine */
	uint64_t max;			   /* NUM; LIST: 0 is COMPOSE_LIST_MAX */
	const struct compose_shape *shape; /* LIST, PART */
	bool apart;			   /* two models are equal whatever it is */
};

struct compose_shape {
	size_t size;
	const struct compose_field *fields;
	size_t n;
};

extern const struct compose_shape compose_shape;

/* Puts "" and empty lists where a struct of the shape has NULL, all the way down. */
void compose_fill(const struct compose_shape *shape, void *to);
extern const struct compose_shape compose_service_shape;

static inline const char *compose_text_at(const void *at)
{
	const char *text;

	memcpy(&text, at, sizeof(text));
	return text;
}

static inline uint64_t compose_num_at(const void *at)
{
	uint64_t num;

	memcpy(&num, at, sizeof(num));
	return num;
}

/* All lists are laid out alike. */
struct compose_items {
	char *v;
	uint32_t n;
};

static inline struct compose_items compose_items(const void *list)
{
	struct compose_items items;

	memcpy(&items.v, list, sizeof(items.v));
	memcpy(&items.n, (const char *)list + sizeof(items.v), sizeof(items.n));
	return items;
}

#endif
