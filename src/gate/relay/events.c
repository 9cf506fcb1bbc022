#include "gate/relay/events.h"

#include <stdlib.h>

#include "base/text.h"
#include "model/gate.h"

enum { TICK = 1000, BUCKETS = 256, NAME_MAX_BYTES = 256 };

/* What is allowed and was told. text: kind, subject, rule and detail, one behind the other, in the same allocation. */
struct kind {
	struct kind *next;	   /* in its bucket */
	struct kind *newer, *older; /* by last use */
	enum event_domain domain;
	uint32_t hash;
	uint32_t waiting; /* how many were not told yet */
	size_t n_kind, n_subject, n_rule, n_detail;
	char *text;
	bool told; /* once, in full */
};

struct model {
	char provider[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
	uint64_t requests, input, output;
};

struct relay_events {
	struct loop *loop;
	struct channel *control;
	struct loop_timer tick;
	unsigned denials, allowed; /* told in this second */
	uint32_t not_told[2];	   /* one by one, nor will be: denied, allowed */
	struct kind *buckets[BUCKETS];
	struct kind ends; /* ring: ends.older is the newest, ends.newer the oldest */
	unsigned n_kinds;
	bool used; /* the totals changed */
	struct gate_usage usage;
	struct model models[RELAY_EVENTS_MODELS];
};

static void on_tick(void *arg);

struct relay_events *relay_events_new(struct loop *loop, struct channel *control)
{
	struct relay_events *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->loop = loop;
	e->control = control;
	e->ends.newer = e->ends.older = &e->ends;
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

/* Kinds. */

static void unlink_use(struct kind *k)
{
	k->newer->older = k->older;
	k->older->newer = k->newer;
}

static void link_newest(struct relay_events *e, struct kind *k)
{
	k->older = e->ends.older;
	k->newer = &e->ends;
	k->older->newer = k;
	e->ends.older = k;
}

static void tell_kind(struct relay_events *e, struct kind *k)
{
	const char *at = k->text + k->n_kind;
	struct gate_event g = {.domain = k->domain, .verdict = 1, .count = k->waiting, .subject = sv_n(at, k->n_subject)};

	if (!k->waiting)
		return;
	g.rule = sv_n(at + k->n_subject, k->n_rule);
	/* only the first of a kind is told in full: the subject is that one's */
	g.detail = sv_n(at + k->n_subject + k->n_rule, k->n_detail);
	if (k->told && k->n_detail == 0)
		g.detail = sv_of("and so many more of its kind, whatever their path");
	if (send_event(e, &g)) {
		k->waiting = 0;
		k->told = true;
	}
}

/* The same where this second has room for it; else it waits. */
static void tell_in_turn(struct relay_events *e, struct kind *k)
{
	if (!k->waiting || e->allowed == RELAY_EVENTS_ALLOWED)
		return;
	e->allowed++;
	tell_kind(e, k);
}

static void add_up(uint32_t *to, uint32_t n)
{
	*to = *to > UINT32_MAX - n ? UINT32_MAX : *to + n;
}

static void forget(struct relay_events *e, struct kind *k)
{
	struct kind **p = &e->buckets[k->hash % BUCKETS];

	add_up(&e->not_told[true], k->waiting);
	while (*p != k)
		p = &(*p)->next;
	*p = k->next;
	unlink_use(k);
	e->n_kinds--;
	free(k);
}

void relay_events_free(struct relay_events *e)
{
	if (!e)
		return;
	loop_timer_cancel(&e->tick);
	while (e->ends.newer != &e->ends)
		forget(e, e->ends.newer);
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

static struct kind *find(struct relay_events *e, enum event_domain domain, struct sv kind, uint32_t hash)
{
	struct kind *k;

	for (k = e->buckets[hash % BUCKETS]; k; k = k->next)
		if (k->hash == hash && k->domain == domain && sv_eq(sv_n(k->text, k->n_kind), kind))
			return k;
	return NULL;
}

bool relay_events_count(struct relay_events *e, enum event_domain domain, struct sv kind)
{
	struct kind *k;

	kind = cut(kind);
	k = find(e, domain, kind, hash_of(domain, kind));
	if (!k)
		return false;
	if (k->waiting < UINT32_MAX)
		k->waiting++;
	unlink_use(k);
	link_newest(e, k);
	wake(e);
	return true;
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

/* NULL: no memory. */
static struct kind *remember(struct relay_events *e, const struct relay_event *event, struct sv texts, const size_t n[3])
{
	struct sv kind = cut(event->kind.p ? event->kind : sv_n("", 0));
	uint32_t hash = hash_of(event->domain, kind);
	struct kind *k;

	if (e->n_kinds == RELAY_EVENTS_KINDS) {
		tell_in_turn(e, e->ends.newer);
		forget(e, e->ends.newer);
	}
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
	link_newest(e, k);
	e->n_kinds++;
	return k;
}

/* Telling. */

static void tell_denial(struct relay_events *e, const struct relay_event *event, struct sv texts, const size_t n[3])
{
	const struct gate_event g = {.domain = event->domain,
				     .count = 1,
				     .subject = sv_n(texts.p, n[0]),
				     .rule = sv_n(texts.p + n[0], n[1]),
				     .detail = sv_n(texts.p + n[0] + n[1], n[2])};

	if (e->denials < RELAY_EVENTS_DENIALS && send_event(e, &g))
		e->denials++;
	else
		add_up(&e->not_told[false], 1);
}

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
		add_up(&e->not_told[event->allow], 1);
		return;
	}
	if (!event->allow) {
		tell_denial(e, event, buf_view(&texts), n);
		return;
	}
	k = remember(e, event, buf_view(&texts), n);
	if (k)
		tell_in_turn(e, k);
	else
		add_up(&e->not_told[true], 1);
}

/* As one event: how many there were. */
static void tell_number(struct relay_events *e, bool allowed)
{
	const struct gate_event g = {.domain = DOMAIN_NETWORK,
				     .verdict = allowed,
				     .count = e->not_told[allowed],
				     .subject = sv_of("(others)"),
				     .rule = sv_n("", 0),
				     .detail = sv_of(allowed ? "more kinds of what is allowed at once than are told one by one"
							     : "more denials in one second than are told one by one")};

	if (g.count && send_event(e, &g))
		e->not_told[allowed] = 0;
}

static void tell_usage(struct relay_events *e)
{
	AUTO_BUF body = {0};
	uint32_t i;

	if (!e->used)
		return;
	for (i = 0; i < e->usage.n_models; i++) {
		e->usage.models[i].provider = sv_of(e->models[i].provider);
		e->usage.models[i].model = sv_of(e->models[i].name);
		e->usage.models[i].requests = e->models[i].requests;
		e->usage.models[i].input_tokens = e->models[i].input;
		e->usage.models[i].output_tokens = e->models[i].output;
	}
	buf_init(&body, WIRE_MAX_BODY);
	gate_put_usage(&body, &e->usage);
	if (!buf_failed(&body) && channel_send(e->control, GATE_USAGE, buf_view(&body)) == 0)
		e->used = false;
}

static void tell_numbers(struct relay_events *e)
{
	tell_number(e, false);
	tell_number(e, true);
	tell_usage(e);
}

void relay_events_flush(struct relay_events *e)
{
	struct kind *k;

	for (k = e->ends.newer; k != &e->ends; k = k->newer)
		tell_kind(e, k);
	tell_numbers(e);
}

/* Those that were used least lately come first, so that whatever is used often keeps nobody from being told. */
static void on_tick(void *arg)
{
	struct relay_events *e = arg;
	bool more = e->denials > 0;
	struct kind *k;

	e->denials = e->allowed = 0;
	for (k = e->ends.newer; k != &e->ends; k = k->newer) {
		tell_in_turn(e, k);
		more = more || k->waiting;
	}
	tell_numbers(e);
	if (more || e->not_told[false] || e->not_told[true] || e->used)
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

void relay_events_request(struct relay_events *e, bool denied)
{
	e->usage.requests++;
	e->usage.denied += denied;
	changed(e);
}

static void copy_name(char to[NAME_MAX_BYTES], struct sv from)
{
	AUTO_BUF shown = {0};
	size_t n;

	buf_init(&shown, 16 * NAME_MAX_BYTES);
	text_escape(&shown, from, NAME_MAX_BYTES);
	n = shown.n < NAME_MAX_BYTES - 1 ? shown.n : NAME_MAX_BYTES - 1;
	if (n)
		memcpy(to, shown.p, n);
	to[n] = '\0';
}

static struct model *model_of(struct relay_events *e, struct sv provider, struct sv name)
{
	struct model key = {0};
	uint32_t i;

	copy_name(key.provider, provider);
	copy_name(key.name, name);
	for (i = 0; i < e->usage.n_models; i++)
		if (strcmp(e->models[i].provider, key.provider) == 0 && strcmp(e->models[i].name, key.name) == 0)
			return &e->models[i];
	if (e->usage.n_models == RELAY_EVENTS_MODELS)
		return &e->models[RELAY_EVENTS_MODELS - 1];
	if (e->usage.n_models == RELAY_EVENTS_MODELS - 1) {
		key = (struct model){0};
		copy_name(key.name, sv_of("(other)"));
	}
	e->models[e->usage.n_models] = key;
	return &e->models[e->usage.n_models++];
}

void relay_events_model(struct relay_events *e, struct sv provider, struct sv model, uint64_t requests, uint64_t input_tokens, uint64_t output_tokens)
{
	struct model *m = model_of(e, provider, model);

	add(&m->requests, requests);
	add(&m->input, input_tokens);
	add(&m->output, output_tokens);
	changed(e);
}
