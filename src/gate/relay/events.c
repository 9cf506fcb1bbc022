#include "gate/relay/events.h"

#include <stdlib.h>

#include "base/text.h"
#include "gate/relay/denials.h"
#include "model/gate.h"

enum { TICK = 1000, BUCKETS = 256 };

/* What is allowed and was told. text: kind, subject, rule and detail, one behind the other, in the same allocation. */
struct kind {
	struct kind *next;	   /* in its bucket */
	struct kind *newer, *older; /* of those that were told, by last use; of the others, as they came */
	enum event_domain domain;
	uint32_t hash;
	uint32_t waiting; /* how many were not told yet */
	size_t n_kind, n_subject, n_rule, n_detail;
	char *text;
	uint32_t open; /* begun, and not settled */
	bool told; /* once, in full */
};

struct relay_events {
	struct loop *loop;
	struct channel *control;
	struct loop_timer tick;
	struct relay_denials *denials;
	unsigned allowed;	/* told in this second */
	uint32_t not_told;	/* one by one, nor will be */
	struct kind *buckets[BUCKETS];
	struct kind told, untold; /* rings: .older is the newest, .newer the oldest */
	unsigned n_told, n_untold;
	bool used; /* the totals changed */
	struct gate_usage usage;
};

static void on_tick(void *arg);
static bool send_denial(void *arg, const struct gate_event *g);

struct relay_events *relay_events_new(struct loop *loop, struct channel *control)
{
	struct relay_events *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->denials = relay_denials_new(send_denial, e);
	if (!e->denials) {
		free(e);
		return NULL;
	}
	e->loop = loop;
	e->control = control;
	e->told.newer = e->told.older = &e->told;
	e->untold.newer = e->untold.older = &e->untold;
	return e;
}

static void wake(struct relay_events *e)
{
	if (!loop_timer_armed(&e->tick))
		loop_timer_set(e->loop, &e->tick, TICK, on_tick, e);
}

static bool send_event(struct relay_events *e, const struct gate_event *g)
{
	AUTO_BUF body = {0};

	buf_init(&body, WIRE_MAX_BODY);
	gate_put_event(&body, g);
	return !buf_failed(&body) && channel_send(e->control, GATE_EVENT, buf_view(&body)) == 0;
}

static bool send_denial(void *arg, const struct gate_event *g)
{
	return send_event(arg, g);
}

/* Kinds. */

static void unlink_use(struct kind *k)
{
	k->newer->older = k->older;
	k->older->newer = k->newer;
}

static void link_newest(struct kind *ring, struct kind *k)
{
	k->older = ring->older;
	k->newer = ring;
	k->older->newer = k;
	ring->older = k;
}

static void was_told(struct relay_events *e, struct kind *k);

static void tell_kind(struct relay_events *e, struct kind *k)
{
	const char *at = k->text + k->n_kind;
	struct gate_event g = {
		.domain = k->domain, .verdict = 1, .count = k->waiting, .subject = sv_n(at, k->n_subject)};

	if (!k->waiting)
		return;
	g.rule = sv_n(at + k->n_subject, k->n_rule);
	/* only the first of a kind is told in full: the subject is that one's */
	g.detail = sv_n(at + k->n_subject + k->n_rule, k->n_detail);
	if (k->told && k->n_detail == 0)
		g.detail = sv_of(k->waiting > 1 ? "and so many more of its kind, whatever their path"
						: "and one more of its kind, whatever its path");
	if (send_event(e, &g))
		was_told(e, k);
}

/* The same where this second has room for it; else it waits. */
static void tell_in_turn(struct relay_events *e, struct kind *k)
{
	if (!k->waiting || e->allowed == RELAY_EVENTS_ALLOWED)
		return;
	e->allowed++;
	tell_kind(e, k);
}

static void forget(struct relay_events *e, struct kind *k)
{
	struct kind **p = &e->buckets[k->hash % BUCKETS];

	relay_denials_add_up(&e->not_told, k->waiting);
	relay_denials_add_up(&e->not_told, k->open);
	while (*p != k)
		p = &(*p)->next;
	*p = k->next;
	unlink_use(k);
	*(k->told ? &e->n_told : &e->n_untold) -= 1;
	free(k);
}

/* The first time it becomes one of those that are known; the one that was used least lately makes room for it. */
static void was_told(struct relay_events *e, struct kind *k)
{
	k->waiting = 0;
	if (k->told)
		return;
	if (e->n_told == RELAY_EVENTS_KINDS) {
		tell_in_turn(e, e->told.newer);
		forget(e, e->told.newer);
	}
	k->told = true;
	e->n_untold--;
	e->n_told++;
	unlink_use(k);
	link_newest(&e->told, k);
}

void relay_events_free(struct relay_events *e)
{
	if (!e)
		return;
	loop_timer_cancel(&e->tick);
	while (e->told.newer != &e->told)
		forget(e, e->told.newer);
	while (e->untold.newer != &e->untold)
		forget(e, e->untold.newer);
	relay_denials_free(e->denials);
	free(e);
}

static struct sv cut(struct sv s)
{
	return sv_n(s.p, s.n < RELAY_EVENTS_TEXT ? s.n : RELAY_EVENTS_TEXT);
}

static uint32_t hash_of(enum event_domain domain, struct sv s)
{
	uint32_t h = 2166136261u ^ (uint32_t)domain;
	size_t i;

	for (i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	return h;
}

static struct kind *find(const struct relay_events *e, enum event_domain domain, struct sv kind, uint32_t hash)
{
	struct kind *k;

	for (k = e->buckets[hash % BUCKETS]; k; k = k->next)
		if (k->hash == hash && k->domain == domain && sv_eq(sv_n(k->text, k->n_kind), kind))
			return k;
	return NULL;
}

bool relay_events_full(const struct relay_events *e)
{
	return e->n_untold == RELAY_EVENTS_NEW;
}

bool relay_events_has_room(const struct relay_events *e, enum event_domain domain, struct sv kind)
{
	kind = cut(kind);
	return !relay_events_full(e) || find(e, domain, kind, hash_of(domain, kind));
}

static void use(struct relay_events *e, struct kind *k)
{
	if (k->told) {
		unlink_use(k);
		link_newest(&e->told, k);
	}
	wake(e);
}

bool relay_events_count(struct relay_events *e, enum event_domain domain, struct sv kind)
{
	struct kind *k;

	kind = cut(kind);
	k = find(e, domain, kind, hash_of(domain, kind));
	if (!k)
		return false;
	relay_denials_add_up(&k->waiting, 1);
	use(e, k);
	return true;
}

bool relay_events_begin(struct relay_events *e, enum event_domain domain, struct sv kind)
{
	struct kind *k;

	kind = cut(kind);
	k = find(e, domain, kind, hash_of(domain, kind));
	if (!k)
		return false;
	relay_denials_add_up(&k->open, 1);
	use(e, k);
	return true;
}

void relay_events_settle(struct relay_events *e, enum event_domain domain, struct sv kind, bool refused)
{
	struct kind *k;

	kind = cut(kind);
	k = find(e, domain, kind, hash_of(domain, kind));
	if (!k || !k->open) /* it had to make room meanwhile: then it was told as a number */
		return;
	k->open--;
	if (!refused)
		relay_denials_add_up(&k->waiting, 1);
	wake(e);
}

/* The texts of an event, escaped, one behind the other; n has their lengths. */
static int put_texts(struct buf *out, const struct relay_event *event, size_t n[3])
{
	const struct sv *const v[3] = {&event->subject, &event->rule, &event->detail};
	size_t before, i;

	for (i = 0; i < 3; i++) {
		before = out->n;
		text_escape(out, v[i]->p ? *v[i] : sv_n("", 0), RELAY_EVENTS_TEXT);
		n[i] = out->n - before;
	}
	return buf_failed(out);
}

/* NULL: no memory, or nobody has a place to give. */
static struct kind *remember(struct relay_events *e, const struct relay_event *event, struct sv texts,
			     const size_t n[3])
{
	struct sv kind = cut(event->kind.p ? event->kind : sv_n("", 0));
	uint32_t hash = hash_of(event->domain, kind);
	struct kind *k;

	if (relay_events_full(e))
		return NULL;
	k = malloc(sizeof(*k) + kind.n + texts.n);
	if (!k)
		return NULL;
	*k = (struct kind){.next = e->buckets[hash % BUCKETS],
			   .domain = event->domain,
			   .hash = hash,
			   .waiting = 1,
			   .n_kind = kind.n,
			   .n_subject = n[0],
			   .n_rule = n[1],
			   .n_detail = n[2],
			   .text = (char *)(k + 1)};
	if (kind.n)
		memcpy(k->text, kind.p, kind.n);
	memcpy(k->text + kind.n, texts.p, texts.n);
	e->buckets[hash % BUCKETS] = k;
	link_newest(&e->untold, k);
	e->n_untold++;
	return k;
}

/* Telling. */

void relay_events_tell(struct relay_events *e, const struct relay_event *event)
{
	AUTO_BUF texts = {0};
	struct kind *k;
	size_t n[3];

	wake(e);
	if (event->allow && relay_events_count(e, event->domain, event->kind))
		return;
	buf_init(&texts, 16 * RELAY_EVENTS_TEXT);
	if (put_texts(&texts, event, n) < 0) {
		if (event->allow)
			relay_denials_add_up(&e->not_told, 1);
		else
			relay_denials_count(e->denials, event, 1);
		return;
	}
	if (!event->allow) {
		relay_denials_tell(e->denials, event, buf_view(&texts), n);
		return;
	}
	k = remember(e, event, buf_view(&texts), n);
	if (k)
		tell_in_turn(e, k);
	else
		relay_denials_add_up(&e->not_told, 1);
}

/* As one event: how many there were. */
static void tell_number(struct relay_events *e)
{
	const struct gate_event g = {.domain = DOMAIN_NETWORK,
				     .verdict = 1,
				     .count = e->not_told,
				     .subject = sv_of("(others)"),
				     .rule = sv_n("", 0),
				     .detail = sv_of("more kinds of what is allowed at once than are told one by one")};

	if (g.count && send_event(e, &g))
		e->not_told = 0;
}

static void tell_usage(struct relay_events *e)
{
	AUTO_BUF body = {0};

	if (!e->used)
		return;
	buf_init(&body, WIRE_MAX_BODY);
	gate_put_usage(&body, &e->usage);
	if (!buf_failed(&body) && channel_send(e->control, GATE_USAGE, buf_view(&body)) == 0)
		e->used = false;
}

/* Those of a ring, the oldest first. One that was told for the first time goes to the other ring. */
static void tell_ring(struct relay_events *e, const struct kind *ring,
		      void (*tell)(struct relay_events *, struct kind *))
{
	struct kind *k, *next;

	for (k = ring->newer; k != ring; k = next) {
		next = k->newer;
		tell(e, k);
	}
}

static void settle_open(struct relay_events *e, struct kind *k)
{
	(void)e;
	relay_denials_add_up(&k->waiting, k->open);
	k->open = 0;
}

void relay_events_flush(struct relay_events *e)
{
	tell_ring(e, &e->untold, settle_open);
	tell_ring(e, &e->told, settle_open);
	tell_ring(e, &e->untold, tell_kind);
	tell_ring(e, &e->told, tell_kind);
	tell_number(e);
	relay_denials_flush(e->denials);
	tell_usage(e);
}

static bool any_waits(const struct relay_events *e)
{
	const struct kind *k;

	for (k = e->told.newer; k != &e->told; k = k->newer)
		if (k->waiting)
			return true;
	return e->n_untold > 0;
}

/* Those that were used least lately come first, so that whatever is used often keeps nobody from being told. */
static void on_tick(void *arg)
{
	struct relay_events *e = arg;
	bool more = relay_denials_tick(e->denials);

	e->allowed = 0;
	tell_ring(e, &e->untold, tell_in_turn);
	tell_ring(e, &e->told, tell_in_turn);
	tell_number(e);
	tell_usage(e);
	if (more || any_waits(e) || e->not_told || e->used)
		wake(e);
}

/* Totals. */

static void add(uint64_t *to, uint64_t n)
{
	*to = *to > UINT64_MAX - n ? UINT64_MAX : *to + n;
}

static void changed(struct relay_events *e)
{
	e->used = true;
	wake(e);
}

void relay_events_bytes(struct relay_events *e, uint64_t out, uint64_t in)
{
	add(&e->usage.bytes_out, out);
	add(&e->usage.bytes_in, in);
	changed(e);
}

void relay_events_lost(struct relay_events *e, uint32_t n)
{
	const struct relay_event event = {.domain = DOMAIN_NETWORK};

	wake(e);
	relay_denials_count(e->denials, &event, n);
	e->usage.requests += n;
	e->usage.denied += n;
	changed(e);
}

void relay_events_request(struct relay_events *e, bool denied)
{
	e->usage.requests++;
	e->usage.denied += denied;
	changed(e);
}
