/*
 * net_form: does a body ask its server to take the request for another method?
 *
 * Frameworks take a parameter `_method` (and fields that were meant for headers, net_match.h) out of a form, too. This
 * looks for one while the body goes by: the names of a form in the URL's encoding (which a body without a type is taken
 * for), the dispositions of a multipart form's parts, the names at the top of a JSON object. Other types are not looked
 * into, nor is what is compressed (Content-Encoding).
 *
 * No heap; the state is plain data, and small: a disposition of more than NET_FORM_LINE bytes counts as one that asks.
 */
#ifndef CORDON_POLICY_NET_FORM_H
#define CORDON_POLICY_NET_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/net_rules.h"

enum { NET_FORM_LINE = 1024 };

enum net_form_kind { NET_FORM_NONE, NET_FORM_URL, NET_FORM_PARTS, NET_FORM_JSON };

struct net_form {
	enum net_form_kind kind;
	bool found;
	bool passing;  /* up to the end of a value, or of a line */
	bool fresh;    /* parts: a line has ended, and may be continued by the next */
	bool too_long; /* parts: the line is longer than text */
	bool quoted, escaped, named; /* JSON: in a string; behind a backslash; the last token was a name that asks */
	uint32_t depth;		     /* JSON */
	uint32_t n;
	char text[NET_FORM_LINE];
};

/* type: the value of Content-Type; p NULL: there is none. */
enum net_form_kind net_form_kind(struct sv type);

/* Would the answer to this question, which is v, be another one for a body that asks? Then it is to be looked for. */
bool net_form_matters(const struct ruleset *rules, const struct net_request *q, const struct net_verdict *v);

void net_form_init(struct net_form *f, enum net_form_kind kind);

/* The next bytes of the body. True: it asks, now or before. */
bool net_form_feed(struct net_form *f, struct sv bytes);

#endif
