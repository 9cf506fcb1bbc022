#include "gate/relay/denials.h"

#include <stdlib.h>

#include "base/cleanup.h"

/* text: place, subject, rule and detail. */
struct waiting {
	uint32_t count;
	size_t n_place, n[3];
	char *text;
};

struct sort {
	unsigned room;   /* how many more may be told before the next tick */
	uint32_t others; /* that find no place */
	unsigned n;
	struct waiting v[RELAY_DENIALS_WAITING];
};

enum { LOOKUPS, NETWORK, INFERENCE, SORTS };

/* Names cost nothing to look up, and there is no end of them: a log is not to be filled with them. */
static const struct {
	enum event_domain domain;
	unsigned a_second;
	const char *others;
} facts[SORTS] = {
	[LOOKUPS] = {DOMAIN_NETWORK, 10,
		     "more names that no rule allows were looked up at once than are told one by one"},
	[NETWORK] = {DOMAIN_NETWORK, RELAY_DENIALS_BURST, "more places were denied at once than are told one by one"},
	[INFERENCE] = {DOMAIN_INFERENCE, RELAY_DENIALS_BURST,
		       "more requests to models were denied at once than are told one by one"},
};

struct relay_denials {
	bool (*send)(void *arg, const struct gate_event *g);
	void *arg;
	struct sort sorts[SORTS];
};

struct relay_denials *relay_denials_new(bool (*send)(void *arg, const struct gate_event *g), void *arg)
{
	struct relay_denials *d = calloc(1, sizeof(*d));
	size_t i;

	if (!d)
		return NULL;
	d->send = send;
	d->arg = arg;
	for (i = 0; i < SORTS; i++)
		d->sorts[i].room = RELAY_DENIALS_BURST;
	return d;
}

void relay_denials_free(struct relay_denials *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < SORTS; i++)
		while (d->sorts[i].n)
			free(d->sorts[i].v[--d->sorts[i].n].text);
	free(d);
}

static size_t sort_of(const struct relay_event *event)
{
	if (event->domain == DOMAIN_INFERENCE)
		return INFERENCE;
	return event->lookup ? LOOKUPS : NETWORK;
}

static struct sv place_of(const struct relay_event *event)
{
	struct sv s = event->kind.n ? event->kind : event->subject;

	return sv_n(s.p ? s.p : "", s.n < RELAY_EVENTS_TEXT ? s.n : RELAY_EVENTS_TEXT);
}

static bool send_texts(struct relay_denials *d, size_t sort, uint32_t count, const char *texts, const size_t n[3])
{
	const struct gate_event g = {.domain = facts[sort].domain,
				     .count = count,
				     .subject = sv_n(texts, n[0]),
				     .rule = sv_n(texts + n[0], n[1]),
				     .detail = sv_n(texts + n[0] + n[1], n[2])};

	return d->send(d->arg, &g);
}

void relay_denials_add_up(uint32_t *to, uint32_t n)
{
	*to = n < UINT32_MAX - *to ? *to + n : UINT32_MAX;
}

static bool count_waiting(struct sort *s, struct sv place)
{
	unsigned i;

	for (i = 0; i < s->n; i++)
		if (sv_eq(sv_n(s->v[i].text, s->v[i].n_place), place)) {
			relay_denials_add_up(&s->v[i].count, 1);
			return true;
		}
	return false;
}

/* False: there is no room, or no memory. */
static bool wait_in(struct sort *s, struct sv place, struct sv texts, const size_t n[3])
{
	struct waiting *w = &s->v[s->n];

	if (s->n == RELAY_DENIALS_WAITING)
		return false;
	*w = (struct waiting){1, place.n, {n[0], n[1], n[2]}, malloc(place.n + texts.n + 1)};
	if (!w->text)
		return false;
	memcpy(w->text, place.p, place.n);
	memcpy(w->text + place.n, texts.p, texts.n);
	s->n++;
	return true;
}

void relay_denials_tell(struct relay_denials *d, const struct relay_event *event, struct sv texts, const size_t n[3])
{
	size_t sort = sort_of(event);
	struct sort *s = &d->sorts[sort];
	struct sv place = place_of(event);

	if (s->room && s->n == 0 && send_texts(d, sort, 1, texts.p, n))
		s->room--;
	else if (!count_waiting(s, place) && !wait_in(s, place, texts, n))
		relay_denials_add_up(&s->others, 1);
}

void relay_denials_count(struct relay_denials *d, const struct relay_event *event, uint32_t n)
{
	relay_denials_add_up(&d->sorts[sort_of(event)].others, n);
}

/* max: how many at most. How many it was. */
static unsigned tell_waiting(struct relay_denials *d, size_t sort, unsigned max)
{
	struct sort *s = &d->sorts[sort];
	unsigned told;

	for (told = 0; told < s->n && told < max; told++) {
		const struct waiting *w = &s->v[told];

		if (!send_texts(d, sort, w->count, w->text + w->n_place, w->n))
			break;
		free(w->text);
	}
	s->n -= told;
	memmove(s->v, s->v + told, s->n * sizeof(s->v[0]));
	return told;
}

static void tell_others(struct relay_denials *d, size_t sort)
{
	const struct gate_event g = {.domain = facts[sort].domain,
				     .count = d->sorts[sort].others,
				     .subject = sv_of("(others)"),
				     .rule = sv_n("", 0),
				     .detail = sv_of(facts[sort].others)};

	if (g.count && d->send(d->arg, &g))
		d->sorts[sort].others = 0;
}

bool relay_denials_tick(struct relay_denials *d)
{
	bool more = false;
	size_t i;

	for (i = 0; i < SORTS; i++) {
		struct sort *s = &d->sorts[i];
		unsigned room = s->room + facts[i].a_second;

		s->room = room < RELAY_DENIALS_BURST ? room : RELAY_DENIALS_BURST;
		s->room -= tell_waiting(d, i, s->room);
		tell_others(d, i);
		more = more || s->n || s->others || s->room < RELAY_DENIALS_BURST;
	}
	return more;
}

void relay_denials_flush(struct relay_denials *d)
{
	size_t i;

	for (i = 0; i < SORTS; i++) {
		(void)tell_waiting(d, i, RELAY_DENIALS_WAITING);
		tell_others(d, i);
	}
}
