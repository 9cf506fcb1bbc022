/*
 * graphql: what a GraphQL document would have a server do: the type of each operation and the fields at its top.
 *
 * A lexer for the whole language and a parser for as much of it as the question needs: definitions, their names, the
 * top selection sets through fragments and inline fragments. What is inside arguments and deeper selections is only
 * checked to be tokens with matching brackets.
 *
 * Refused, since servers differ about it or it cannot be judged: definitions other than operations and fragments, text
 * outside ASCII but in strings and comments, control characters and Unicode line ends in comments, fragments that are
 * missing, twice there or in a circle, an anonymous operation beside others.
 *
 * Limits: GRAPHQL_TOKENS, GRAPHQL_DEFINITIONS, GRAPHQL_DEPTH. A graphql borrows the text and owns its tokens.
 */
#ifndef CORDON_GATE_INFERENCE_GRAPHQL_H
#define CORDON_GATE_INFERENCE_GRAPHQL_H

#include <stdint.h>

#include "base/sv.h"

enum { GRAPHQL_TOKENS = 1 << 17, GRAPHQL_DEFINITIONS = 256, GRAPHQL_DEPTH = 128 };

enum graphql_type { GRAPHQL_QUERY, GRAPHQL_MUTATION, GRAPHQL_SUBSCRIPTION, GRAPHQL_FRAGMENT };

struct graphql_token {
	uint32_t at, len;
	uint32_t match; /* of a bracket: the other one */
	char kind;      /* the punctuator's first byte, 'n' name, 's' string, '0' number */
};

struct graphql_definition {
	enum graphql_type type;
	struct sv name;                                            /* n == 0: anonymous */
	uint32_t body;                                             /* its "{" */
	enum { FRAGMENT_NEW, FRAGMENT_OPEN, FRAGMENT_DONE } state; /* of a fragment, while fields are visited */
};

struct graphql {
	struct sv text;
	struct graphql_token *t;
	uint32_t n, cap;
	struct graphql_definition d[GRAPHQL_DEFINITIONS];
	uint32_t n_definitions;
};

/* 0; -EINVAL, -EFBIG and a static *ret_why (to stand behind "the document "); -ENOMEM. */
int graphql_read(struct graphql *g, struct sv text, const char **ret_why);
void graphql_done(struct graphql *g);

/* Calls back with each field at the top of the operation (its name, not its alias). Stops and returns -1 when field()
 * does; -EINVAL and *ret_why. */
int graphql_fields(struct graphql *g, uint32_t operation, int (*field)(void *ctx, struct sv name), void *ctx,
		   const char **ret_why);

#endif
