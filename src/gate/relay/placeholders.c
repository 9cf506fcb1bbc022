#include "gate/relay/placeholders.h"

#include <errno.h>

#include "gate/relay/session.h"
#include "gate/relay/tell.h"
#include "policy/net_rules.h"
#include "vault/placeholder_set.h"

/*
 * One scan runs over all heads, text after text, so that a request costs no allocation. Between two of them stand line
 * feeds, which no text has: what was begun in one is not found to be completed by the next. Texts are laid side by side
 * first, since the scan passes over long ones in large steps.
 */
static const char between[] = {'\n', '\n', '\n'};

struct look {
	struct placeholder_scan *scan;
	int found;
	size_t n;
	char room[1024];
};

static void look_on(struct look *l)
{
	if (l->n && l->found == PLACEHOLDER_NONE)
		l->found = placeholder_scan_feed(l->scan, sv_n(l->room, l->n));
	l->n = 0;
}

static void look_at(struct look *l, struct sv text)
{
	/* the room may be full to the last byte */
	if (text.n + sizeof(between) > sizeof(l->room) - l->n)
		look_on(l);
	if (text.n > sizeof(l->room) - sizeof(between)) {
		if (l->found == PLACEHOLDER_NONE)
			l->found = placeholder_scan_feed(l->scan, text);
	} else {
		memcpy(l->room + l->n, text.p, text.n);
		l->n += text.n;
	}
	memcpy(l->room + l->n, between, sizeof(between));
	l->n += sizeof(between);
}

/* target may be empty. */
static int look_at_head(struct http_exchange *x, struct sv target, const struct http_fields *f)
{
	struct look l __attribute__((uninitialized)); /* clearing it would cost more than filling it */
	uint32_t i;

	l.scan = x->relay->http->heads;
	l.found = PLACEHOLDER_NONE;
	l.n = 0;
	look_at(&l, target);
	for (i = 0; i < f->n; i++) {
		look_at(&l, f->v[i].value);
		look_at(&l, f->v[i].name);
	}
	look_on(&l);
	return l.found;
}

/* A scan that has found one says so for ever. False: there is no memory for another, and nothing more can be judged. */
static bool look_anew(struct http_exchange *x)
{
	struct relay_http *http = x->relay->http;
	struct placeholder_scan *scan = placeholder_scan_new(x->relay->placeholders);

	if (!scan)
		return false;
	placeholder_scan_free(http->heads);
	http->heads = scan;
	return true;
}

bool placeholders_in_fields(struct http_exchange *x, const struct http_fields *fields)
{
	if (!x->relay->placeholders || look_at_head(x, sv_n("", 0), fields) == PLACEHOLDER_NONE)
		return false;
	(void)look_anew(x);
	return true;
}

int placeholders_refuse(struct http_exchange *x, const char *where)
{
	static const char hint[] = "it stands for a key that is not in this sandbox, and is never filled in: send the "
				   "request without it; where a rule has that credential for a host, the gateway adds "
				   "it to each request by itself, and to no body";
	struct denial d;

	denial_set(&d, 403, "policy_denied", hint,
		   "a placeholder for a credential is in the %s of this request", where);
	d.domain = x->origin->inference ? "inference" : "network";
	tell_denied(x, "", d.detail);
	return http_exchange_refuse(x, &d);
}

int placeholders_mask_body(struct http_exchange *x)
{
	struct denial d;
	int n = x->relay->placeholders && x->body.n
			? placeholder_mask_json(x->relay->placeholders, x->body.p, x->body.n)
			: 0;

	if (n < 0) {
		denial_set(&d, 503, "gateway_busy", "try again later", "out of memory");
		return http_exchange_refuse(x, &d);
	}
	if (n > 0)
		tell_note(x, "placeholder in a body",
			  "a placeholder for a credential was in the body: it was overwritten");
	return n > 0;
}

int placeholders_check_body(struct http_exchange *x)
{
	if (x->collected && x->relay->placeholders &&
	    placeholder_find(x->relay->placeholders, buf_view(&x->body)) != PLACEHOLDER_NONE)
		return placeholders_refuse(x, "body");
	return 0;
}

static bool has(struct http_exchange *x, struct sv text)
{
	return placeholder_find(x->relay->placeholders, text) != PLACEHOLDER_NONE;
}

static void drop_fields(struct http_exchange *x, struct http_fields *f)
{
	uint32_t i, n = 0;

	for (i = 0; i < f->n; i++)
		if (!has(x, f->v[i].value))
			f->v[n++] = f->v[i];
	f->n = n;
}

/* The parameters of the query that have none. */
static struct sv drop_parameters(struct http_exchange *x, struct sv target)
{
	struct buf *out = &x->relay->http->text;
	const char *mark = memchr(target.p, '?', target.n), *end = target.p + target.n, *at, *amp;
	char joint = '?';

	if (!mark)
		return target;
	buf_clear(out);
	(void)buf_add(out, target.p, (size_t)(mark - target.p));
	for (at = mark + 1; at <= end; at = amp + 1) {
		amp = at < end ? memchr(at, '&', (size_t)(end - at)) : NULL;
		amp = amp ? amp : end;
		if (has(x, sv_n(at, (size_t)(amp - at))))
			continue;
		(void)buf_char(out, joint);
		(void)buf_add(out, at, (size_t)(amp - at));
		joint = '&';
	}
	return buf_failed(out) ? target : buf_view(out);
}

/* Some rule for this host adds it, if to another path: clients have one variable for all. */
static bool is_added_there(void *arg, struct sv owner)
{
	struct http_exchange *x = arg;

	return net_rules_adds(x->relay->now->rules, x->request->host, owner);
}

static bool has_other(struct http_exchange *x, const struct http_request *head)
{
	struct placeholder_set *set = x->relay->placeholders;
	uint32_t i;

	if (placeholder_find_other(set, head->target, is_added_there, x))
		return true;
	for (i = 0; i < head->fields.n; i++)
		if (placeholder_find_other(set, head->fields.v[i].value, is_added_there, x))
			return true;
	return false;
}

int placeholders_check_head(struct http_exchange *x, struct http_request *head, bool may_drop)
{
	bool in_target;

	if (!x->relay->placeholders)
		return 0;
	if (look_at_head(x, head->target, &head->fields) == PLACEHOLDER_NONE)
		return 0;
	in_target = has(x, head->target);
	if (!look_anew(x) || !may_drop || has_other(x, head))
		return placeholders_refuse(x, in_target ? "target" : "fields");
	drop_fields(x, &head->fields);
	head->target = drop_parameters(x, head->target);
	/* what is left is in the path, in a name, or goes over a parameter's end */
	if (look_at_head(x, head->target, &head->fields) == PLACEHOLDER_NONE)
		return 0;
	(void)look_anew(x);
	return placeholders_refuse(x, "target or in the name of a field");
}
