#include "gate/relay/ask.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "gate/relay/channel.h"
#include "gate/relay/route.h"

struct relay_question {
	uint64_t id; /* 0: free */
	char host[256];
	uint16_t port;
	bool refused;
	int64_t until; /* where refused */
	struct guest *waiting;
};

struct relay_ask {
	struct relay_question v[ASK_QUESTIONS];
	uint64_t last_id;
	bool nobody; /* is there to be asked */
};

struct relay_ask *relay_ask_new(void)
{
	return calloc(1, sizeof(struct relay_ask));
}

void relay_ask_free(struct relay_ask *a)
{
	free(a);
}

static struct relay_question *find(struct relay_ask *a, struct sv host, uint16_t port)
{
	size_t i;

	for (i = 0; i < ASK_QUESTIONS; i++)
		if (a->v[i].id && a->v[i].port == port && sv_is(host, a->v[i].host))
			return &a->v[i];
	return NULL;
}

/* A free place, or that of an answer which has had its time. */
static struct relay_question *find_room(struct relay_ask *a, int64_t now)
{
	size_t i;

	for (i = 0; i < ASK_QUESTIONS; i++)
		if (!a->v[i].id || (a->v[i].refused && a->v[i].until <= now))
			return &a->v[i];
	return NULL;
}

static struct relay_question *put(struct relay *r, struct sv host, uint16_t port)
{
	struct relay_question *q = find_room(r->ask, loop_now(r->loop));
	AUTO_BUF b = {0};

	if (!q || host.n >= sizeof(q->host))
		return NULL;
	*q = (struct relay_question){.id = ++r->ask->last_id, .port = port};
	(void)snprintf(q->host, sizeof(q->host), "%.*s", (int)host.n, host.p);
	buf_init(&b, 512);
	wire_put_u64(&b, q->id);
	wire_put_sv(&b, host);
	wire_put_u32(&b, port);
	if (channel_send(r->control, GATE_ASK, buf_view(&b)) == 0)
		return q;
	q->id = 0;
	return NULL;
}

/* The question that is open, be it put just now. */
static struct relay_question *open_question(struct relay *r, struct sv host, uint16_t port)
{
	struct relay_question *q = find(r->ask, host, port);

	if (r->ask->nobody)
		return NULL;
	if (q && q->refused && q->until <= loop_now(r->loop)) {
		q->id = 0;
		q = NULL;
	}
	if (!q)
		q = put(r, host, port);
	return q && !q->refused ? q : NULL;
}

bool relay_ask(struct relay *r, struct sv host, uint16_t port)
{
	return open_question(r, host, port) != NULL;
}

static void on_asking(void *arg, unsigned events)
{
	if (events & (STREAM_FAILED | STREAM_HANGUP))
		guest_reset(arg);
}

bool relay_ask_wait(struct guest *g)
{
	struct relay_question *q = open_question(g->relay, sv_of(g->host), g->port);

	if (!q)
		return false;
	g->question = q;
	g->next_asking = q->waiting;
	q->waiting = g;
	guest_wait(g, on_asking);
	return true;
}

void relay_ask_leave(struct guest *g)
{
	struct guest **at;

	if (!g->question)
		return;
	for (at = &g->question->waiting; *at && *at != g; at = &(*at)->next_asking)
		;
	if (*at)
		*at = g->next_asking;
	g->question = NULL;
}

static void judge_again(struct guest *g)
{
	char host[sizeof(g->host)];

	relay_ask_leave(g);
	(void)snprintf(host, sizeof(host), "%s", g->host);
	route(g, sv_of(host), g->port);
}

static void settle(struct relay *r, struct relay_question *q, bool yes)
{
	q->refused =
		true; /* also while those that waited are judged: whom a yes does not help is not asked about again */
	q->until = loop_now(r->loop) + ASK_AGAIN_MS;
	while (q->waiting)
		judge_again(q->waiting);
	if (yes)
		q->id = 0;
}

bool relay_ask_answered(struct relay *r, struct sv body)
{
	struct wire_in in;
	uint64_t id;
	uint32_t yes;
	size_t i;

	wire_in_init(&in, body);
	id = wire_get_u64(&in);
	yes = wire_get_u32(&in);
	if (!wire_ok(&in) || (id == 0 && yes))
		return false;
	r->ask->nobody = r->ask->nobody || id == 0;
	for (i = 0; i < ASK_QUESTIONS; i++)
		if (r->ask->v[i].id && (r->ask->v[i].id == id || id == 0) && !r->ask->v[i].refused)
			settle(r, &r->ask->v[i], yes == 1);
	return true;
}
