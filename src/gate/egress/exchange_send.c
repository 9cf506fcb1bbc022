#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/field_name.h"
#include "base/sha256.h"
#include "gate/egress/exchange_parts.h"
#include "gate/egress/websocket.h"
#include "gate/inference/headers.h"
#include "http/fields.h"

const char exchange_in_clear[] = "the credential is not sent without TLS";

static struct exchange *exchange_of(struct claim *c)
{
	return (struct exchange *)((char *)c - offsetof(struct exchange, claim));
}

int exchange_copy_fields(struct arena *a, const struct http_fields *from, struct http_fields *ret)
{
	struct http_fields f = {.v = arena_array(a, from->n + 1, sizeof(*f.v)), .n = from->n};
	uint32_t i;

	for (i = 0; f.v && i < f.n; i++) {
		f.v[i].name = sv_n(arena_str(a, from->v[i].name), from->v[i].name.n);
		f.v[i].value = sv_n(arena_str(a, from->v[i].value), from->v[i].value.n);
	}
	if (arena_failed(a))
		return -ENOMEM;
	*ret = f;
	return 0;
}

static struct sv credential_of(const struct exchange *x)
{
	return x->credential ? sv_of(x->credential) : sv_n("", 0);
}

void exchange_claim(struct exchange *x)
{
	const struct http_request *r = &x->request;
	const struct site_key key = {.tls = r->tls,
				     .inference = x->inference,
				     .only_h1 = r->websocket,
				     .port = r->port,
				     .host = r->host,
				     .credential = credential_of(x)};

	x->collect = false;
	x->waits = x->credential && loop_timer_armed(&x->egress->patience) &&
		   !grants_find(&x->egress->grants, x->credential);
	if (x->waits)
		return;
	if (pool_claim(x->egress->pool, &key, &x->claim) < 0)
		exchange_fail(x, GATE_FAILURE_INTERNAL, sv_n("", 0), NULL);
}

/*
 * Answers that are looked into are asked for as they are, and whole: what is compressed in frames is not seen, and a
 * part of a page may end amid a credential. What would change what a model's reply reports is not sent on.
 */
static bool is_dropped(const struct exchange *x, const struct provider *p, bool parts, struct sv name)
{
	static const char *const scrubbed[] = {"sec-websocket-extensions", "grpc-accept-encoding",
					       "connect-accept-encoding", "accept-charset", "a-im"};
	size_t i;

	for (i = 0; x->scrubbing && i < ARRAY_LEN(scrubbed); i++)
		if (field_name_is(name, scrubbed[i]))
			return true;
	if (parts && (sv_is(name, "range") || sv_is(name, "if-range")))
		return false;
	/* what is written in parts (Azure's pages) is not read */
	if (x->scrubbing && http_field_asks_part(name) &&
	    !(sv_is(x->request.method, "PUT") && field_name_is(name, "x-ms-range")))
		return true;
	return field_name_is(name, "accept-encoding") || (x->inference && headers_drop(p, name));
}

static int make_fields(const struct exchange *x, struct http_request *r)
{
	struct http_fields f = {.v = arena_array(x->arena, x->request.fields.n + 1, sizeof(*f.v))};
	const struct provider *p = x->inference ? exchange_provider(x) : NULL;
	bool parts = !x->inference && legible_range(&x->request.fields);
	struct http_field *one;
	char *room;
	uint32_t i;

	if (!f.v)
		return -ENOMEM;
	for (i = 0; i < x->request.fields.n; i++) {
		if (is_dropped(x, p, parts, x->request.fields.v[i].name))
			continue;
		one = &f.v[f.n++];
		*one = x->request.fields.v[i];
		if (!x->scrubbing || !sv_is(one->name, "accept"))
			continue;
		room = arena_alloc(x->arena, one->value.n + 1);
		if (!room)
			return -ENOMEM;
		one->value = legible_accept(one->value, room);
	}
	f.v[f.n++] = (struct http_field){sv_of("accept-encoding"), sv_of("identity")};
	r->fields = f;
	return 0;
}

/* A websocket that a client asked for over HTTP/2 has no key, and its server wants one. */
static int add_key(const struct exchange *x, struct http_request *r)
{
	struct http_fields f = {.v = arena_array(x->arena, r->fields.n + 1, sizeof(*f.v)), .n = r->fields.n};
	char *key = arena_alloc(x->arena, WEBSOCKET_KEY);
	int result;

	if (!f.v || !key)
		return -ENOMEM;
	result = websocket_make_key(key);
	if (result < 0)
		return result;
	if (f.n)
		memcpy(f.v, r->fields.v, f.n * sizeof(*f.v));
	f.v[f.n++] = (struct http_field){sv_of("sec-websocket-key"), sv_n(key, WEBSOCKET_KEY)};
	r->fields = f;
	return 0;
}

/* Clients of S3 put what they get where the part belongs that they asked for, and do not look whether it is one: they
 * would write all of an object there. */
static bool asks_part_of_object(const struct exchange *x)
{
	return x->scrubbing && sv_is(x->request.method, "GET") && http_field(&x->request.fields, "range") &&
	       grants_sign_objects(&x->egress->grants, x->request.host);
}

/* 0, or it was ended. The injection is to be freed when the head is written. */
static int put_credential(struct exchange *x, const struct upstream *u, struct http_request *r, struct injection **ret)
{
	const struct grant *g = grants_find(&x->egress->grants, x->credential);
	struct inject_context ctx = {.now = time(NULL)};
	char hex[SHA256_HEX];
	enum inject_result result;

	if (!g) {
		exchange_fail(x, GATE_FAILURE_CREDENTIAL, sv_n("", 0), NULL);
		return -1;
	}
	/* the address was looked at before it was dialled; through a proxy there is none */
	if (!r->tls && !upstream_is_local(u)) {
		exchange_fail(x, GATE_FAILURE_CREDENTIAL, sv_n("", 0), exchange_in_clear);
		return -1;
	}
	if (x->hash) {
		sha256_hex_of(buf_view(&x->call.body), hex);
		ctx.body_sha256 = sv_of(hex);
	}
	result = inject_apply(g, r, &ctx, ret);
	if (result == INJECT_DONE)
		return 0;
	exchange_fail(x, GATE_FAILURE_CREDENTIAL, sv_n("", 0), inject_what(result));
	return -1;
}

/*
 * A server that leaves a body unread reads it as its next request, which nobody judged: it must hear that none follows.
 * Only JSON that was looked at whole is the beginning of no request, for any reader.
 */
static bool is_last(const struct exchange *x)
{
	const struct buf *body = &x->call.body;

	return x->request.body && !(x->whole && !x->hash && body->n && (body->p[0] == '{' || body->p[0] == '['));
}

static void claim_another(struct exchange *x)
{
	x->claim.patient = true;
	exchange_claim(x);
}

void exchange_ready(struct claim *claim, struct upstream *u)
{
	struct exchange *x = exchange_of(claim);
	struct http_request r = x->request;
	struct injection *injection = NULL;
	int result;

	/* a policy that came while it waited may name another one */
	if (!sv_eq(site_key(u->site)->credential, credential_of(x))) {
		claim_another(x);
		return;
	}
	if (!exchange_pay_address(x, u))
		return;
	r.last = is_last(x);
	/* those that come while it is under way are added: exchange_renew() */
	scrub_unref(x->scrub);
	result = grants_scrub_for(&x->egress->grants, r.host, &x->scrub);
	x->scrubbing = x->scrub != NULL;
	if (x->scrubbing && !legible_codings(&r.fields)) {
		exchange_fail(x, GATE_FAILURE_COMPRESSED, sv_n("", 0),
			      "its messages are compressed: a host that a credential is bound to would answer in kind, "
			      "and its answers must be looked into");
		return;
	}
	if (asks_part_of_object(x)) {
		exchange_fail(x, GATE_FAILURE_POLICY, sv_n("", 0),
			      "a part of an object may end amid a credential: ask for all of it (the AWS CLI and "
			      "boto3: raise multipart_threshold)");
		return;
	}
	if (result == 0 && (x->scrubbing || x->inference))
		result = make_fields(x, &r);
	if (result == 0 && r.websocket && !http_field(&r.fields, "sec-websocket-key"))
		result = add_key(x, &r);
	if (result == 0 && x->credential && put_credential(x, u, &r, &injection) < 0)
		return;
	if (result == 0)
		result = upstream_open(u, &x->call, &r);
	injection_free(injection);
	if (result == -EAGAIN) {
		claim_another(x);
		return;
	}
	if (result == -EDQUOT) {
		exchange_fail(x, GATE_FAILURE_QUOTA, sv_of("network.max_bytes_out"),
			      "network.max_bytes_out is used up");
		return;
	}
	if (result < 0) {
		exchange_fail(x, result == -EINVAL ? GATE_FAILURE_PROTOCOL : GATE_FAILURE_INTERNAL, sv_n("", 0),
			      result == -EINVAL ? "the request cannot be written" : NULL);
		return;
	}
	exchange_touch(x);
	upstream_push(&x->call);
}
