/*
 * exchange_parts: what the files of exchange.h share.
 */
#ifndef CORDON_GATE_EGRESS_EXCHANGE_PARTS_H
#define CORDON_GATE_EGRESS_EXCHANGE_PARTS_H

#include "base/arena.h"
#include "gate/egress/egress.h"
#include "gate/egress/exchange.h"
#include "gate/egress/inflate.h"
#include "gate/egress/inject.h"
#include "gate/egress/legible.h"
#include "gate/egress/pool.h"
#include "gate/egress/scrub_frames.h"
#include "gate/inference/judge.h"
#include "policy/net_form.h"

enum {
	/* How long a server may be silent. Clients of models wait for ten minutes by themselves, and must be the first
	   to give up. */
	EXCHANGE_SILENCE = 900 * 1000,
	EXCHANGE_WEBSOCKET = 3600 * 1000,
	EXCHANGE_COLLECT = SCAN_MAX_BYTES,
	EXCHANGE_COLLECTED_MAX = 256 << 20, /* bytes of all bodies that are held until they are complete */
	EXCHANGE_INTERIMS = 32, /* at once, and one more each second: who waits for long may be told so all the time */
	EXCHANGE_KEPT = 64 * 1024, /* of a judged body that was sent; a longer one cannot be judged again */
};

struct exchange {
	struct exchange *next, *prev;
	struct egress *egress;
	struct link_exchange *link;
	struct arena *arena;
	struct claim claim;
	struct call call;
	struct loop_timer timer;

	/* The request, as it was judged. */
	struct http_request request;
	struct net_asks asks; /* by its fields; those of trailers come besides */
	bool inference;
	const char *provider;	/* its name */
	const char *credential; /* what the rule or the provider names; NULL: none */
	const char *model;
	bool admitted; /* ticket counts */
	struct budget_ticket ticket;
	uint64_t left;	 /* of a body with a declared length */
	uint64_t sent;	 /* of its body */
	size_t reserved; /* of the quota, for what waits in call.body */
	size_t counted;	 /* of call.body, in egress.collected */
	bool collect;	 /* its body must be there as a whole first */
	bool hash;	 /* and be hashed, for a signature */
	bool whole;	 /* it was, and was judged */
	struct buf kept; /* what was judged, for a policy that comes when it was sent; empty: there was none, or it was
			    too long */
	bool ended;	 /* all of it came */
	bool discard;	 /* nobody wants the rest of it */
	bool retried;
	struct form_watch *form; /* of a body that must not ask for another method; NULL: it may, or there is none */
	bool form_matters; /* to the rules of the name; else only to those of a range that it may lead to */
	bool form_asks;	   /* it does ask */
	bool paid;	   /* the rate of the range that its name leads to */
	bool waits; /* for its credential, which a new policy has brought: the vault may be fetching it */

	/* The answer. */
	unsigned interims; /* of EXCHANGE_INTERIMS, as of interim_at */
	int64_t interim_at;
	bool answered; /* its head was passed on */
	bool erred;    /* ... and says that the request was not served */
	bool unserved; /* the server said so by refusing it, or by hanging up before it answered */
	bool body;     /* one follows */
	bool websocket;
	bool scrubbing, counting;
	bool flagged; /* its body is a row of messages, each with a flag that says whether it is compressed */
	struct legible_messages flags;
	struct scrub *scrub;
	struct scrub_stream *scrubber;
	struct scrub_frames *frames; /* instead, of a websocket */
	struct loop_timer idle; /* until what the scrubber holds goes out, behind a message */
	struct inflater *inflater;
	struct usage usage;
	struct buf raw;	 /* from the connection, not looked at yet, from raw_at on */
	size_t raw_at;
	struct buf late; /* looked at, and the link did not take it yet, from late_at on */
	size_t late_at;
	bool came;     /* all of it */
	bool scrubbed; /* ... and was looked at to its end */
	bool told;     /* ... and was passed on */
	struct http_fields trailers;

	bool over; /* failed or closed: nothing more is to be done */
};

/* Ends it without an answer, or amid one. rule may be empty; text NULL: the failure's own phrase. */
void exchange_fail(struct exchange *x, enum gate_failure why, struct sv rule, const char *text);
void exchange_touch(struct exchange *x); /* something moved: the time limit starts again */
bool exchange_reserve(struct exchange *x); /* from the quota, for all that waits in call.body. False: it was ended. */
void exchange_drop_body(struct exchange *x); /* frees what waits in call.body: nothing of it will be sent */

/* exchange_judge.c: false: it was ended. */
bool exchange_check(struct exchange *x,
		    const struct link_request *r); /* is it a request at all, and is there room for it? */
const struct provider *
exchange_provider(const struct exchange *x); /* of now; NULL: the policy has none of that name any more */
bool exchange_judge(struct exchange *x, bool whole);			/* whole: by its body too */
bool exchange_judge_form(struct exchange *x, struct sv bytes); /* the next ones of its body */
bool exchange_pay_address(struct exchange *x,
			  const struct upstream *u); /* the rate of a range, where a name leads there */
enum gate_failure exchange_check_address(const struct exchange *x, const struct address *a, bool fixed);
bool exchange_still_allowed(struct exchange *x); /* by the policy of now, with the trailers that came; where nothing was
						    sent, with the credential that this policy names */

/* exchange_send.c */
extern const char exchange_in_clear[]; /* why a credential is not sent */
void exchange_claim(struct exchange *x);
void exchange_ready(struct claim *c, struct upstream *u);
int exchange_copy_fields(struct arena *a, const struct http_fields *from, struct http_fields *ret);

/* exchange_answer.c */
extern const struct call_events exchange_call_events;
void exchange_room(struct exchange *x);
void exchange_renew(struct exchange *x); /* other values are in force: they are looked for in what still comes */
void exchange_answer_done(struct exchange *x); /* counts, and frees what the answer needed */

#endif
