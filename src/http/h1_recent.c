#include "http/h1_recent.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/secret_memory.h"

struct entry {
	bool used; /* complete */
	bool is_request;
	bool proxy, server, tls; /* of the context, whose host is ... */
	uint16_t port;
	uint16_t host;
	char host_text[HTTP_HOST_MAX + 3];
	struct h1_asked asked;
	struct h1_limits limits;
	size_t n;                  /* bytes of the head */
	char raw[H1_RECENT_HEAD];  /* as it came, */
	char read[H1_RECENT_HEAD]; /* and as reading left it */
	struct h1_reading reading; /* with views into `read`, and fields in ... */
	struct http_field fields[H1_RECENT_FIELDS];
};

struct h1_recent {
	struct entry *entries; /* NULL: none was kept yet */
	unsigned next;
};

struct h1_recent *h1_recent_new(void)
{
	return calloc(1, sizeof(struct h1_recent));
}

void h1_recent_free(struct h1_recent *recent)
{
	if (recent)
		secret_memory_free(recent->entries, H1_RECENT * sizeof(*recent->entries));
	free(recent);
}

static bool same_limits(const struct h1_limits *a, const struct h1_limits *b)
{
	return a->head == b->head && a->target == b->target && a->fields == b->fields && a->body == b->body;
}

static bool is_for(const struct entry *e, const struct h1_situation *s)
{
	const struct h1_context *c = s->context;

	if (e->is_request != s->is_request || !same_limits(&e->limits, s->limits))
		return false;
	if (!s->is_request)
		return e->asked.head == s->asked.head && e->asked.connect == s->asked.connect &&
		       e->asked.websocket == s->asked.websocket;
	return e->proxy == c->proxy && e->server == c->server && e->tls == c->tls && e->port == c->port &&
	       sv_eq(sv_n(e->host_text, e->host), c->host);
}

/* A view into the n bytes at `from` is one into the same bytes at `to`; others are of constants, and stay. */
static void move(struct sv *s, const char *from, size_t n, const char *to)
{
	if ((uintptr_t)s->p >= (uintptr_t)from && (uintptr_t)s->p <= (uintptr_t)from + n)
		s->p = to + (s->p - from);
}

/* v: room for the fields, or NULL where there is none. */
static void copy_reading(struct h1_reading *to, const struct h1_reading *r, const char *from, size_t n, const char *at,
			 struct http_field *v)
{
	struct sv *const texts[] = {&to->start.method,   &to->start.target,   &to->start.reason,
				    &to->request.method, &to->request.target, &to->response.reason};
	size_t i;

	*to = *r;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		move(texts[i], from, n, at);
	to->request.host = http_authority_host(&to->host);
	to->fields.v = v;
	for (i = 0; i < to->fields.n; i++) {
		v[i] = r->fields.v[i];
		move(&v[i].name, from, n, at);
		move(&v[i].value, from, n, at);
	}
	to->request.fields = to->response.fields = to->fields;
}

static const struct entry *find(const struct h1_recent *recent, const struct h1_situation *s, struct sv in)
{
	const struct entry *e = recent->entries;

	for (; e && e < recent->entries + H1_RECENT; e++)
		if (e->used && e->n <= in.n && memcmp(e->raw, in.p, e->n) == 0 && is_for(e, s))
			return e;
	return NULL;
}

bool h1_recent_find(const struct h1_recent *recent, const struct h1_situation *s, struct sv *in, struct h1_lines *head,
		    struct h1_reading *ret)
{
	const struct entry *e = find(recent, s, *in);
	struct http_field *v = NULL;
	char *p;

	if (!e)
		return false;
	p = malloc(e->n);
	if (e->reading.fields.n)
		v = malloc(e->reading.fields.n * sizeof(*v));
	if (!p || (!v && e->reading.fields.n)) {
		free(p);
		free(v);
		return false;
	}
	memcpy(p, e->read, e->n);
	*head = (struct h1_lines){.p = p, .n = e->n, .cap = e->n};
	copy_reading(ret, &e->reading, e->read, e->n, p, v);
	*in = sv_n(in->p + e->n, in->n - e->n);
	return true;
}

bool h1_recent_begin(struct h1_recent *recent, const struct h1_situation *s, struct sv raw)
{
	const struct h1_context *c = s->context;
	struct entry *e;

	if (raw.n > H1_RECENT_HEAD || c->host.n >= sizeof(e->host_text))
		return false;
	if (!recent->entries)
		recent->entries = secret_memory_new(H1_RECENT * sizeof(*recent->entries));
	if (!recent->entries)
		return false;
	e = &recent->entries[recent->next];
	e->used = false;
	e->is_request = s->is_request;
	e->proxy = c->proxy;
	e->server = c->server;
	e->tls = c->tls;
	e->port = c->port;
	e->host = (uint16_t)c->host.n;
	if (c->host.n)
		memcpy(e->host_text, c->host.p, c->host.n);
	e->asked = s->asked;
	e->limits = *s->limits;
	e->n = raw.n;
	memcpy(e->raw, raw.p, raw.n);
	return true;
}

void h1_recent_keep(struct h1_recent *recent, const struct h1_lines *head, const struct h1_reading *reading)
{
	struct entry *e = &recent->entries[recent->next];

	if (reading->fields.n > H1_RECENT_FIELDS)
		return;
	memcpy(e->read, head->p, e->n);
	copy_reading(&e->reading, reading, head->p, e->n, e->read, e->fields);
	e->used = true;
	recent->next = (recent->next + 1) % H1_RECENT;
}
