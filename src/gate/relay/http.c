#include "gate/relay/http.h"

#include <stdlib.h>

#include "gate/relay/session.h"
#include "gate/relay/session_h1.h"
#include "gate/relay/session_h2.h"
#include "http/h1.h"
#include "vault/placeholder_set.h"

const struct session_limits session_limits = {
	.head = 10 * 1000,
	.idle = 60 * 1000,
	.progress = 60 * 1000,
	.hangup = 30 * 1000,
	.answer = 24 * 3600 * 1000,
	.linger = 2 * 1000,
};

static void free_shared(struct relay_http *h)
{
	uint32_t i;

	if (!h)
		return;
	for (i = 0; i < h->n_providers; i++)
		free(h->providers[i]);
	free(h->providers);
	placeholder_scan_free(h->heads);
	h1_recent_free(h->recent);
	buf_done(&h->text);
	free(h);
}

/* A later policy may have other providers, or the same ones in another order: a port stays with its name. */
static int keep_names(struct relay_http *h, const struct pol_inference *inf)
{
	h->providers = calloc(inf->n_providers + 1, sizeof(char *));
	if (!h->providers)
		return -1;
	for (; h->n_providers < inf->n_providers; h->n_providers++) {
		h->providers[h->n_providers] = strdup(inf->providers[h->n_providers].name);
		if (!h->providers[h->n_providers])
			return -1;
	}
	return 0;
}

int http_open(struct relay *r)
{
	struct relay_http *h = calloc(1, sizeof(*h));

	if (!h)
		return -1;
	h->limits = session_limits;
	buf_init(&h->text, HTTP_MAX_HEAD);
	h->heads = r->placeholders ? placeholder_scan_new(r->placeholders) : NULL;
	h->recent = h1_recent_new();
	if (!h->recent || (r->placeholders && !h->heads) || keep_names(h, &r->now->policy->inference) < 0) {
		free_shared(h);
		return -1;
	}
	r->http = h;
	return 0;
}

void http_serve(struct relay *r, struct stream *s, const struct http_origin *o)
{
	int e = stream_alpn(s) == ALPN_H2 ? session_h2_start(r, s, o, sv_n("", 0)) : session_h1_start(r, s, o);

	if (e < 0) {
		stream_free(s);
		relay_connection_over(r);
	}
}

void http_judge_again(struct relay *r)
{
	struct session *s, *next;

	for (s = r->http->sessions; s; s = next) {
		next = s->next;
		s->kind->judge_again(s);
	}
}

void http_lost_link(struct relay *r)
{
	while (r->http->sessions)
		session_end(r->http->sessions, SESSION_ABORT);
	relay_stop(r);
}

static void free_session(void *arg)
{
	struct session *s = arg;

	s->kind->free(s);
}

void http_done(struct relay *r)
{
	struct session *s;

	while (r->http && (s = r->http->sessions)) {
		session_end(s, SESSION_ABORT);
		loop_task_cancel(&s->task);
		free_session(s);
	}
	free_shared(r->http);
	r->http = NULL;
}

void session_begin(struct session *s, const struct session_kind *kind, struct relay *r, struct stream *stream,
		   const struct http_origin *o)
{
	struct session **first = &r->http->sessions;

	s->kind = kind;
	s->relay = r;
	s->stream = stream;
	s->origin = *o;
	s->next = *first;
	if (s->next)
		s->next->prev = s;
	*first = s;
}

void session_end(struct session *s, enum session_close how)
{
	struct relay *r = s->relay;
	struct stream *stream = s->stream;

	if (s->dead)
		return;
	s->dead = true;
	s->kind->stop(s);
	s->stream = NULL;
	if (s->prev)
		s->prev->next = s->next;
	else
		r->http->sessions = s->next;
	if (s->next)
		s->next->prev = s->prev;
	loop_timer_cancel(&s->timer);
	loop_task_post(r->loop, &s->task, free_session, s);
	if (how == SESSION_HAND_ON)
		return;
	if (how == SESSION_CLOSE)
		stream_close(stream);
	else
		stream_free(stream);
	relay_connection_over(r);
}
