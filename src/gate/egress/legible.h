/*
 * legible: is a body written so that the scrubber (scrub.h) can read it?
 *
 * A host answers in the way that it is asked to, and it is the workload that asks: messages of gRPC and Connect that
 * are compressed one by one, which goes by the messages of the request; character sets in which letters are other bytes
 * than in ASCII, which goes by Accept and Accept-Charset. What cannot be looked into is not asked for, and fails where
 * it comes all the same. (Content-Encoding is undone before: inflate.h.)
 *
 * Pure, no heap.
 */
#ifndef CORDON_GATE_EGRESS_LEGIBLE_H
#define CORDON_GATE_EGRESS_LEGIBLE_H

#include "http/message.h"

/* Does no field of this head, of a request or an answer, say that messages are compressed? */
bool legible_codings(const struct http_fields *f);

/* Is each Content-Type without a character set, or with one that has ASCII's letters as ASCII does? */
bool legible_charset(const struct http_fields *f);

/*
 * Is an answer with this status not a part of a page, which may begin or end amid anything? Parts of what is counted in
 * other units than bytes (PostgREST's rows) are whole in themselves.
 */
bool legible_whole(unsigned status, const struct http_fields *f);

/*
 * Does each Range of a request count something else than bytes (Heroku's "id ..; max=10", PostgREST's "0-9" beside
 * Range-Unit: items)? Its answer has whole ones, or says that it has not. Not where a server that reads loosely could
 * find bytes in it, or characters.
 */
bool legible_range(const struct http_fields *f);

/* A value of Accept, without the parameters that ask for a character set. It is written to `to`, which has room for
 * value.n bytes. */
struct sv legible_accept(struct sv value, char *to);

/* Where in a row of messages a stream is, each of which has a flag that says whether it is compressed. */
struct legible_messages {
	unsigned n;    /* of the next message's head */
	uint32_t left; /* of the message */
	/* Of grpc-web-text, which is base64: */
	bool text;
	unsigned n_group, n_padding; /* characters of the group that is open, of them padding */
	uint32_t group;
};

/* Is a body with this head such a row? Then *ret is at its beginning. */
bool legible_has_messages(const struct http_fields *f, struct legible_messages *ret);

/*
 * The next bytes. False: a message is compressed, whatever the head said; or what should be base64 is not, or is padded
 * amid a message: it would be encoded in pieces, and what lies over their border would not be found.
 */
bool legible_messages_feed(struct legible_messages *m, struct sv bytes);

/* Did the last byte end a message? */
bool legible_messages_are_between(const struct legible_messages *m);

#endif
