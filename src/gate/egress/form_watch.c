#include "gate/egress/form_watch.h"

#include <errno.h>
#include <stdlib.h>

#include "gate/egress/inflate.h"
#include "policy/net_form.h"

/* One way to unpack it. */
struct reading {
	struct net_form form;
	struct inflater *inflater; /* NULL: there is none, or it need not be looked into any more */
	size_t made;
};

enum { AS_SAID, BARE, READINGS };

struct form_watch {
	struct net_form plain;
	struct reading readings[READINGS]; /* BARE: of deflate, as servers that leave out zlib's frame read it */
	bool is_form;	/* its head says so */
	bool illegible; /* packed so that nobody here can look */
};

static void end(struct reading *r)
{
	inflater_free(r->inflater);
	r->inflater = NULL;
}

static int start(struct form_watch *w, const struct net_form_head *h)
{
	int e = h->codings > 1 ? -EOPNOTSUPP : inflater_new(h->coding, &w->readings[AS_SAID].inflater);

	if (e < 0)
		return e;
	return inflater_new_bare(h->coding, &w->readings[BARE].inflater);
}

struct form_watch *form_watch_new(const struct http_fields *head)
{
	struct form_watch *w = calloc(1, sizeof(*w));
	struct net_form_head h = {0}, unpacked;
	uint32_t i;

	if (!w)
		return NULL;
	for (i = 0; i < head->n; i++)
		net_form_head_field(&h, head->v[i].name, head->v[i].value);
	net_form_init(&w->plain, &h);
	unpacked = h;
	unpacked.codings = 0;
	unpacked.coding = sv_n("", 0);
	net_form_init(&w->readings[AS_SAID].form, &unpacked);
	net_form_init(&w->readings[BARE].form, &h); /* what is not bare looks like anything */
	w->is_form = h.mentioned || h.types != 1 || h.odd;
	w->illegible = net_form_head_is_coded(&h) && start(w, &h) < 0 && w->is_form;
	return w;
}

void form_watch_free(struct form_watch *w)
{
	size_t i;

	for (i = 0; w && i < READINGS; i++)
		end(&w->readings[i]);
	free(w);
}

/* 1: it asks; -1: it cannot be read so. */
static int look(struct reading *r, struct sv in, char *room, size_t n_room)
{
	long n;

	while (r->inflater && (in.n || inflater_has_more(r->inflater))) {
		n = inflater_run(r->inflater, &in, room, n_room);
		r->made += n > 0 ? (size_t)n : 0;
		if (n > 0 && net_form_feed(&r->form, sv_n(room, (size_t)n)))
			return 1;
		if (n < 0 || r->made > FORM_WATCH_MAX) {
			end(r);
			return r->form.kinds == 0 ? 0 : -1;
		}
		if (r->form.kinds == 0)
			end(r);
	}
	return 0;
}

static bool asks_unpacked(struct form_watch *w, struct sv in, char *room, size_t n_room)
{
	int as_said = look(&w->readings[AS_SAID], in, room, n_room), bare;

	if (as_said > 0)
		return true;
	bare = look(&w->readings[BARE], in, room, n_room);
	/* that a body is no bare one is nothing odd, unless it goes on for too long to be looked at */
	if (as_said < 0 || (bare < 0 && w->readings[BARE].made > FORM_WATCH_MAX))
		w->illegible = w->is_form;
	return bare > 0;
}

enum form_watch_result form_watch_feed(struct form_watch *w, struct sv bytes, char *room, size_t n_room)
{
	if (net_form_feed(&w->plain, bytes))
		return w->plain.illegible ? FORM_ILLEGIBLE : FORM_ASKS;
	if (asks_unpacked(w, bytes, room, n_room))
		return w->readings[AS_SAID].form.illegible ? FORM_ILLEGIBLE : FORM_ASKS;
	return w->illegible ? FORM_ILLEGIBLE : FORM_FINE;
}
