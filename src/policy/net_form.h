/*
 * net_form: does a body ask its server to take the request for another method?
 *
 * Frameworks take a parameter `_method` (and fields that were meant for headers, net_match.h) out of a form, too. This
 * looks for one while the body goes by: the names of a form in the URL's encoding, the words in the heads of a
 * multipart form's parts, the names at the top of a JSON object. Which of them a body may be its head says
 * (net_form_head.h). What is compressed is to be unpacked before.
 *
 * No heap; the state is plain data, and small.
 */
#ifndef CORDON_POLICY_NET_FORM_H
#define CORDON_POLICY_NET_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/net_form_head.h"
#include "policy/net_rules.h"

struct net_form_word {
	uint32_t n;
	char text[256];
};

struct net_form_url {
	bool passing; /* up to the end of a value */
	struct net_form_word name;
};

enum net_form_last { NET_FORM_OTHER, NET_FORM_NAME, NET_FORM_FILENAME };

struct net_form_parts {
	bool head;	/* of a part: from the boundary on, up to an empty line */
	bool filled, cr; /* it has a line; one has ended in CR LF */
	uint8_t breaks;	 /* bytes of line ends, one after the other */
	uint8_t matched, n_boundary;
	char boundary[NET_FORM_BOUNDARY]; /* with its two dashes */
	uint8_t back[NET_FORM_BOUNDARY];
	enum net_form_last last;	   /* the word before */
	struct net_form_word word, joined; /* joined: over the end of a line */
};

struct net_form_json {
	bool begun;
	bool strict; /* it says to be JSON: what is none is illegible, since readers that take it all the same differ */
	bool parts,
		messages; /* it also says to come in these, and has not begun: its first byte tells whether it does */
	bool quoted, escaped, too_long,
		named;      /* in a string; behind a backslash; the last token was a name that asks */
	bool opened, keyed; /* the last token was one that a name may follow; it was the string behind such a one */
	uint32_t depth;
	struct net_form_word text;
};

struct net_form {
	unsigned kinds; /* that are still looked for */
	bool found;
	bool illegible; /* found, because nothing can be looked for in it */
	struct net_form_url url;
	struct net_form_parts parts;
	struct net_form_json json;
};

/* Would the answer to this question, which is v, be another one for a body that asks? Then it is to be looked for. */
bool net_form_matters(const struct ruleset *rules, const struct net_request *q, const struct net_verdict *v);

void net_form_init(struct net_form *f, const struct net_form_head *h);

extern const char net_form_illegible[]; /* what to say of one */

/* The next bytes of the body. True: it asks, now or before. */
bool net_form_feed(struct net_form *f, struct sv bytes);

#endif
