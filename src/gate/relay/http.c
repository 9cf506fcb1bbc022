#include "gate/relay/http.h"

#include <stdlib.h>

#include "gate/inference/budget.h"
#include "gate/relay/session.h"
#include "gate/relay/session_h1.h"
#include "gate/relay/session_h2.h"
#include "vault/placeholder_set.h"

static void free_shared(struct relay_http *h)
{
	if (!h)
		return;
	budget_free(h->budget);
	placeholder_scan_free(h->heads);
	buf_done(&h->text);
	free(h);
}

static struct relay_http *make_shared(struct relay *r)
{
	struct relay_http *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	buf_init(&h->text, HTTP_MAX_HEAD);
	h->budget = budget_new();
	h->heads = r->placeholders ? placeholder_scan_new(r->placeholders) : NULL;
	if (h->budget && (h->heads || !r->placeholders))
		return h;
	free_shared(h);
	return NULL;
}

void http_serve(struct relay *r, struct stream *s, const struct http_origin *o)
{
	int e = -1;

	if (!r->http)
		r->http = make_shared(r);
	if (r->http)
		e = stream_alpn(s) == ALPN_H2 ? session_h2_start(r, s, o, sv_n("", 0)) : session_h1_start(r, s, o);
	if (e < 0) {
		stream_free(s);
		relay_connection_over(r);
	}
}

void http_judge_again(struct relay *r)
{
	struct session *s, *next;

	for (s = r->http ? r->http->sessions : NULL; s; s = next) {
		next = s->next;
		s->kind->judge_again(s);
	}
}

void http_lost_link(struct relay *r)
{
	while (r->http && r->http->sessions)
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

void session_begin(struct session *s, const struct session_kind *kind, struct relay *r, struct stream *stream, const struct http_origin *o)
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
