#include "gate/relay/tell.h"

#include "base/cleanup.h"
#include "gate/relay/events.h"

/* "GET https://pypi.org/simple/": without the query. */
static void put_subject(struct buf *out, const struct http_exchange *x)
{
	const struct http_request *r = x->request;
	const char *mark = r->target.n ? memchr(r->target.p, '?', r->target.n) : NULL;

	(void)buf_sv(out, r->method);
	(void)buf_char(out, ' ');
	if (!x->origin->inference) {
		(void)buf_str(out, r->tls ? "https://" : "http://");
		(void)buf_sv(out, r->host);
		if (r->port != (r->tls ? 443 : 80))
			(void)buf_printf(out, ":%u", r->port);
	}
	(void)buf_sv(out, mark ? sv_n(r->target.p, (size_t)(mark - r->target.p)) : r->target);
}

static void tell(struct http_exchange *x, bool allow, struct sv kind, const char *rule, const char *detail)
{
	AUTO_BUF subject = {0};

	buf_init(&subject, HTTP_MAX_HEAD);
	put_subject(&subject, x);
	relay_events_tell(x->relay->events, &(struct relay_event){
						    .domain = x->origin->inference ? DOMAIN_INFERENCE : DOMAIN_NETWORK,
						    .allow = allow,
						    .kind = kind,
						    .subject = buf_view(&subject),
						    .rule = sv_of(rule),
						    .detail = sv_of(detail),
					    });
}

void tell_denied(struct http_exchange *x, const char *rule, const char *detail)
{
	relay_events_request(x->relay->events, true);
	tell(x, false, sv_n("", 0), rule, detail);
}

bool tell_again(struct http_exchange *x, struct sv kind)
{
	return relay_events_count(x->relay->events, x->origin->inference ? DOMAIN_INFERENCE : DOMAIN_NETWORK, kind);
}

void tell_allowed(struct http_exchange *x, struct sv kind, const char *rule)
{
	tell(x, true, kind, rule, "");
}

void tell_note(struct http_exchange *x, const char *kind, const char *detail)
{
	if (!tell_again(x, sv_of(kind)))
		tell(x, true, sv_of(kind), "", detail);
}
