/*
 * h1_recent: what the heads that came last were found to mean, for h1.c.
 *
 * A client that polls, and a server that answers it, send the same head again and again. What a head means follows from
 * its bytes, from what the connection is and from what was asked, and from nothing else: where all of these are the
 * same to the last byte, so is what our reader and llhttp made of it, and neither has to read it again. Only heads that
 * both accepted are kept, and only short ones.
 *
 * One serves all readers of a role. What servers sent may have a credential in it, so all that is kept is kept in
 * memory for that (base/secret_memory.h); there is none before the first head.
 */
#ifndef CORDON_HTTP_H1_RECENT_H
#define CORDON_HTTP_H1_RECENT_H

#include "http/h1.h"
#include "http/h1_check.h"
#include "http/h1_head.h"

enum { H1_RECENT = 8, H1_RECENT_HEAD = 1024 /* bytes */, H1_RECENT_FIELDS = 24 };

/* All that a head says. Its texts are in the head's bytes, once those were read; the host's name is in `host`. */
struct h1_reading {
	struct h1_start start;
	struct h1_framing framing;
	struct http_fields fields;
	struct http_authority host;
	struct http_request request;
	struct http_response response;
};

/* All that it depends on besides. */
struct h1_situation {
	bool is_request;
	const struct h1_context *context;
	struct h1_asked asked;
	const struct h1_limits *limits;
};

/* Does `in` begin with such a head? Takes it off, into head and ret, which must be empty; the fields are the caller's
 * to free. False where there is no memory, too. */
bool h1_recent_find(const struct h1_recent *recent, const struct h1_situation *s, struct sv *in, struct h1_lines *head,
		    struct h1_reading *ret);

/* Before a whole head is read: keeps its bytes, which reading changes. The oldest makes room. False: this one is not
 * kept. */
bool h1_recent_begin(struct h1_recent *recent, const struct h1_situation *s, struct sv raw);

/* The head that it began with was accepted. */
void h1_recent_keep(struct h1_recent *recent, const struct h1_lines *head, const struct h1_reading *reading);

#endif
