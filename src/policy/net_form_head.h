/*
 * net_form_head: which kinds of form a server may take a body for, by the fields of its head.
 *
 * Servers read types loosely, each in its own way: one cuts at a comma or a blank, another looks for "/json" anywhere.
 * So a kind that is mentioned anywhere counts, and a type that is none (not a/b), or several of them, is every kind
 * that needs no boundary. JSON is looked for under all types: some servers never ask for the type, and only what begins
 * with a brace is JSON.
 *
 * No heap; the values are borrowed.
 */
#ifndef CORDON_POLICY_NET_FORM_HEAD_H
#define CORDON_POLICY_NET_FORM_HEAD_H

#include <stdbool.h>

#include "base/sv.h"

enum { NET_FORM_URL = 1, NET_FORM_PARTS = 2, NET_FORM_JSON = 4 };
enum { NET_FORM_BOUNDARY = 128 };

struct net_form_head {
	unsigned types;     /* how many fields say one */
	unsigned mentioned; /* kinds */
	bool odd;	    /* a type that is none */
	bool messages;	    /* of gRPC or Connect, each behind its flags and length */
	bool other_charset; /* one that is not like ASCII: names are not what they look like */
	unsigned boundaries;
	struct sv boundary; /* that every reader understands alike; n is 0: there is none */
	unsigned codings;   /* how many fields say one */
	struct sv coding;   /* the last of Content-Encoding */
};

/* Each field of the head, whatever its name (lower case). Begin with a struct of zeros. */
void net_form_head_field(struct net_form_head *h, struct sv name, struct sv value);

unsigned net_form_head_kinds(const struct net_form_head *h);

/* A form in which names cannot be looked for. */
bool net_form_head_is_illegible(const struct net_form_head *h);

/* Is the body compressed, or said to be? */
bool net_form_head_is_coded(const struct net_form_head *h);

#endif
