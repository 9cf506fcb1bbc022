#include "gate/egress/form_watch.h"

#include <stdlib.h>

#include "gate/egress/inflate.h"
#include "policy/net_form.h"

struct form_watch {
	struct net_form plain, unpacked;
	struct inflater *inflater; /* NULL: it is not packed, or need not be looked into any more */
	size_t made;
	bool is_form;	/* its head says so */
	bool illegible; /* packed so that nobody here can look */
};

static void give_up(struct form_watch *w)
{
	inflater_free(w->inflater);
	w->inflater = NULL;
	w->illegible = w->is_form;
}

struct form_watch *form_watch_new(const struct http_fields *head)
{
	struct form_watch *w = calloc(1, sizeof(*w));
	struct net_form_head h = {0};
	uint32_t i;

	if (!w)
		return NULL;
	for (i = 0; i < head->n; i++)
		net_form_head_field(&h, head->v[i].name, head->v[i].value);
	net_form_init(&w->plain, &h);
	net_form_init(&w->unpacked, &h);
	w->is_form = h.mentioned || h.types != 1 || h.odd;
	if (net_form_head_is_coded(&h) && (h.codings > 1 || inflater_new(h.coding, &w->inflater) < 0))
		give_up(w);
	return w;
}

void form_watch_free(struct form_watch *w)
{
	if (!w)
		return;
	inflater_free(w->inflater);
	free(w);
}

static bool asks_unpacked(struct form_watch *w, struct sv in, char *room, size_t n_room)
{
	long n = 1;

	while (w->inflater && (in.n || inflater_has_more(w->inflater))) {
		n = inflater_run(w->inflater, &in, room, n_room);
		w->made += n > 0 ? (size_t)n : 0;
		if (n > 0 && net_form_feed(&w->unpacked, sv_n(room, (size_t)n)))
			return true;
		if (w->unpacked.kinds == 0) {
			inflater_free(w->inflater);
			w->inflater = NULL;
		} else if (n < 0 || w->made > FORM_WATCH_MAX) {
			give_up(w);
		}
	}
	return false;
}

enum form_watch_result form_watch_feed(struct form_watch *w, struct sv bytes, char *room, size_t n_room)
{
	if (net_form_feed(&w->plain, bytes))
		return w->plain.illegible ? FORM_ILLEGIBLE : FORM_ASKS;
	if (asks_unpacked(w, bytes, room, n_room))
		return FORM_ASKS;
	return w->illegible ? FORM_ILLEGIBLE : FORM_FINE;
}
