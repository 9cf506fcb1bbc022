#include "gate/relay/tell.h"

#include "base/cleanup.h"
#include "gate/relay/events.h"

/* An address of IPv6 stands in brackets. */
static void put_host(struct buf *out, struct sv host)
{
	bool v6 = host.n && memchr(host.p, ':', host.n);

	(void)buf_str(out, v6 ? "[" : "");
	(void)buf_sv(out, host);
	(void)buf_str(out, v6 ? "]" : "");
}

/* "GET https://pypi.org/simple/": without the query. */
static void put_subject(struct buf *out, const struct http_exchange *x)
{
	const struct http_request *r = x->request;
	const char *mark = r->target.n ? memchr(r->target.p, '?', r->target.n) : NULL;

	(void)buf_sv(out, r->method);
	(void)buf_char(out, ' ');
	if (!x->origin->inference) {
		(void)buf_str(out, r->tls ? "https://" : "http://");
		put_host(out, r->host);
		if (r->port != (r->tls ? 443 : 80))
			(void)buf_printf(out, ":%u", r->port);
	}
	(void)buf_sv(out, mark ? sv_n(r->target.p, (size_t)(mark - r->target.p)) : r->target);
}

static enum event_domain domain_of(const struct http_exchange *x)
{
	return x->origin->inference ? DOMAIN_INFERENCE : DOMAIN_NETWORK;
}

static void tell(struct http_exchange *x, bool allow, struct sv kind, const char *rule, const char *detail)
{
	AUTO_BUF subject = {0};

	buf_init(&subject, HTTP_MAX_HEAD);
	put_subject(&subject, x);
	relay_events_tell(x->relay->events, &(struct relay_event){
						    .domain = domain_of(x),
						    .allow = allow,
						    .kind = kind,
						    .subject = buf_view(&subject),
						    .rule = sv_of(rule),
						    .detail = sv_of(detail),
					    });
}

void tell_denied(struct http_exchange *x, const char *rule, const char *detail)
{
	/* of a model it is the detail that names it */
	relay_events_request(x->relay->events, true);
	tell(x, false, x->origin->inference ? sv_of(detail) : x->request->host, rule, detail);
}

void tell_refused(struct relay *r, enum event_domain domain, struct sv subject, const char *why)
{
	relay_events_request(r->events, true);
	relay_events_tell(r->events, &(struct relay_event){.domain = domain, .subject = subject, .detail = sv_of(why)});
}

/* Up to the next blank, which goes too. */
static struct sv take_word(struct sv *line)
{
	const char *blank = line->n ? memchr(line->p, ' ', line->n) : NULL;
	struct sv word = blank ? sv_n(line->p, (size_t)(blank - line->p)) : *line;

	*line = sv_n(line->p + word.n + (blank != NULL), line->n - word.n - (blank != NULL));
	return word;
}

void tell_malformed(struct relay *r, const struct http_origin *o, struct sv start, struct sv host, const char *why)
{
	struct sv method = take_word(&start), target = take_word(&start);
	const char *mark = target.n ? memchr(target.p, '?', target.n) : NULL;
	AUTO_BUF subject = {0}, detail = {0};

	buf_init(&subject, 2 * HTTP_MAX_HEAD);
	buf_init(&detail, 2 * HTTP_MAX_HEAD);
	if (target.n) {
		(void)buf_sv(&subject, method);
		(void)buf_char(&subject, ' ');
	}
	if (o->host[0]) {
		(void)buf_str(&subject, o->tls ? "https://" : "http://");
		put_host(&subject, sv_of(o->host));
		if (o->port != (o->tls ? 443 : 80))
			(void)buf_printf(&subject, ":%u", o->port);
	}
	(void)buf_sv(&subject, mark ? sv_n(target.p, (size_t)(mark - target.p)) : target);
	(void)buf_str(&detail, why);
	if (host.n && !sv_is(host, o->host)) {
		(void)buf_str(&detail, "; Host: ");
		(void)buf_sv(&detail, host);
	}
	(void)buf_char(&detail, '\0');
	tell_refused(r, o->inference ? DOMAIN_INFERENCE : DOMAIN_NETWORK,
		     subject.n ? buf_view(&subject) : sv_of("the proxy's port"), buf_failed(&detail) ? why : detail.p);
}

const char tell_no_room[] = "so many hosts or models are new that the log has not named them all yet";

bool tell_has_room(const struct http_exchange *x, struct sv kind)
{
	return relay_events_has_room(x->relay->events, domain_of(x), kind);
}

bool tell_again(struct http_exchange *x, struct sv kind)
{
	return relay_events_count(x->relay->events, domain_of(x), kind);
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
