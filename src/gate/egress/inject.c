#include "gate/egress/inject.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/coding.h"
#include "base/field_name.h"
#include "gate/egress/sigv4.h"
#include "http/fields.h"
#include "policy/net_parameter.h"

static const char empty_sha256[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

enum { FIELDS_ADDED = 4 }; /* at most: a signature's */

struct injection {
	size_t size;      /* of all of it */
	uint32_t n, room; /* fields */
	size_t used;      /* of bytes */
	struct sv target; /* empty: unchanged */
	struct http_field *fields;
	char bytes[];
};

struct work {
	const struct grant *g;
	const struct http_request *req;
	const struct inject_context *ctx;
	struct injection *in;
	const char *date, *hash; /* sigv4 */
	struct sv key_id;
};

static size_t room_left(const struct injection *in)
{
	return in->size - sizeof(*in) - in->used;
}

/* Appends to the text that is being built; false: no room. */
static bool put(struct injection *in, struct sv s)
{
	if (s.n > room_left(in))
		return false;
	if (s.n)
		memcpy(in->bytes + in->used, s.p, s.n);
	in->used += s.n;
	return true;
}

static bool add_field(struct injection *in, const char *name, struct sv value)
{
	if (in->n == in->room)
		return false;
	in->fields[in->n++] = (struct http_field){sv_of(name), value};
	return true;
}

static bool drops(const char *const *names, struct sv name)
{
	for (; *names; names++)
		if (field_name_is(name, *names))
			return true;
	return false;
}

/* The request's fields but the named ones. */
static bool keep_fields(struct injection *in, const struct http_request *req, const char *const *drop)
{
	uint32_t i;

	for (i = 0; i < req->fields.n; i++) {
		if (drops(drop, req->fields.v[i].name))
			continue;
		if (in->n == in->room)
			return false;
		in->fields[in->n++] = req->fields.v[i];
	}
	return true;
}

static int put_header(struct sv value, void *arg)
{
	struct work *w = arg;
	const struct inject_form *f = &w->g->inject;
	const char *const drop[] = {f->name, NULL};
	size_t start = w->in->used;

	if (!keep_fields(w->in, w->req, drop) || !put(w->in, sv_of(f->before)) || !put(w->in, value) ||
	    !put(w->in, sv_of(f->after)) || !add_field(w->in, f->name, sv_n(w->in->bytes + start, w->in->used - start)))
		return INJECT_TOO_LARGE;
	return INJECT_DONE;
}

static int put_basic(struct sv value, void *arg)
{
	static const char *const drop[] = {"authorization", NULL};
	struct work *w = arg;
	struct injection *in = w->in;
	size_t plain = in->used, coded, n;

	if (!put(in, sv_of(w->g->inject.user)) || !put(in, sv_of(":")) || !put(in, value))
		return INJECT_TOO_LARGE;
	n = in->used - plain;
	coded = in->used;
	if (!put(in, sv_of("Basic ")) || room_left(in) < BASE64_SIZE(n))
		return INJECT_TOO_LARGE;
	base64_put(sv_n(in->bytes + plain, n), base64_standard, in->bytes + in->used);
	in->used += BASE64_SIZE(n);
	if (!keep_fields(in, w->req, drop) ||
	    !add_field(in, "authorization", sv_n(in->bytes + coded, in->used - coded)))
		return INJECT_TOO_LARGE;
	return INJECT_DONE;
}

/* Is this parameter, "name=value", one of that name, in any spelling that a server may read as it? */
static bool is_parameter(struct sv p, const char *name)
{
	const char *eq = memchr(p.p, '=', p.n);

	return net_parameter_is(eq ? sv_n(p.p, (size_t)(eq - p.p)) : p, name);
}

static bool put_parameter(struct injection *in, const char *name, struct sv value)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	size_t i;

	if (!put(in, sv_of(name)) || !put(in, sv_of("=")))
		return false;
	for (i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];
		char coded[3] = {'%', hex_upper[c >> 4], hex_upper[c & 15]};
		bool as_is = memchr(plain, c, sizeof(plain) - 1) != NULL;

		if (!put(in, as_is ? sv_n(value.p + i, 1) : sv_n(coded, 3)))
			return false;
	}
	return true;
}

/* Ours stands where the first of that name stood, else at the end. */
static int put_query(struct sv value, void *arg)
{
	static const char *const drop[] = {NULL};
	struct work *w = arg;
	const char *name = w->g->inject.name;
	struct sv target = w->req->target;
	const char *mark = memchr(target.p, '?', target.n);
	size_t start = w->in->used, at = mark ? (size_t)(mark - target.p) : target.n, end;
	bool placed = false, ours, ok = put(w->in, sv_n(target.p, at));
	char joint = '?';

	if (mark && at + 1 == target.n)
		mark = NULL;
	for (at++; mark && ok && at <= target.n; at = end + 1) {
		/* to some servers ";" is as good as "&" */
		for (end = at; end < target.n && target.p[end] != '&' && target.p[end] != ';'; end++)
			;
		ours = is_parameter(sv_n(target.p + at, end - at), name);
		if (!ours)
			ok = put(w->in, sv_n(&joint, 1)) && put(w->in, sv_n(target.p + at, end - at));
		else if (!placed)
			ok = put(w->in, sv_of(joint == '?' ? "?" : "&")) &&
			     (placed = put_parameter(w->in, name, value));
		/* what follows ours must not become a part of it */
		joint = !ours && end < target.n ? target.p[end] : '&';
	}
	if (ok && !placed)
		ok = put(w->in, sv_of(joint == '?' ? "?" : "&")) && put_parameter(w->in, name, value);
	w->in->target = sv_n(w->in->bytes + start, w->in->used - start);
	return ok && w->in->target.n <= HTTP_MAX_TARGET && keep_fields(w->in, w->req, drop) ? INJECT_DONE
											    : INJECT_TOO_LARGE;
}

static bool is_sha256(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (hex_value(s.p[i]) < 0)
			return false;
	return s.n == 64;
}

/*
 * The hash that is signed. The client's own header is used where it says what the upstream will check against the body
 * anyway; chunks that are signed one by one cannot be signed anew here.
 */
static enum inject_result payload_hash(struct work *w)
{
	const struct sv *sent = http_field(&w->req->fields, "x-amz-content-sha256");
	struct sv hash = {0};

	if (sent && sv_starts(*sent, "STREAMING-AWS4"))
		return INJECT_NOT_SIGNABLE;
	if (is_sha256(w->ctx->body_sha256))
		hash = w->ctx->body_sha256;
	else if (sent && (is_sha256(*sent) || sv_is(*sent, "UNSIGNED-PAYLOAD") ||
			  sv_is(*sent, "STREAMING-UNSIGNED-PAYLOAD-TRAILER")))
		hash = *sent;
	else if (!w->req->body)
		hash = sv_of(empty_sha256);
	else if (w->req->tls && sigv4_is_s3(w->g->inject.service))
		hash = sv_of("UNSIGNED-PAYLOAD");
	else
		return INJECT_NEEDS_HASH;
	w->hash = w->in->bytes + w->in->used;
	return put(w->in, hash) && put(w->in, sv_n("", 1)) ? INJECT_DONE : INJECT_TOO_LARGE;
}

static int put_signature(struct sv secret_key, void *arg)
{
	struct work *w = arg;
	struct http_request changed = *w->req;
	const struct sigv4_request r = {.http = &changed,
					.region = w->g->inject.region,
					.service = sigv4_service(w->g->inject.service, w->req->host),
					.date = w->date,
					.key_id = w->key_id,
					.secret_key = secret_key,
					.payload_hash = sv_of(w->hash)};
	AUTO_BUF value = {0};
	size_t start = w->in->used;
	int result;

	changed.fields = (struct http_fields){w->in->fields, w->in->n};
	buf_init(&value, HTTP_MAX_HEAD);
	result = sigv4_sign(&r, &value);
	if (result == -ENOMEM)
		return INJECT_NO_MEMORY;
	if (result < 0 || !put(w->in, buf_view(&value)) ||
	    !add_field(w->in, "authorization", sv_n(w->in->bytes + start, value.n)))
		return INJECT_TOO_LARGE;
	return INJECT_DONE;
}

static int put_token(struct sv token, void *arg)
{
	struct work *w = arg;
	size_t start = w->in->used;

	return put(w->in, token) && add_field(w->in, "x-amz-security-token", sv_n(w->in->bytes + start, token.n))
		       ? INJECT_DONE
		       : INJECT_TOO_LARGE;
}

static const char *const signing[] = {"authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256",
				       NULL};

static int with_key_id(struct sv key_id, void *arg)
{
	struct work *w = arg;
	const struct grant *g = w->g;
	bool s3 = sigv4_is_s3(g->inject.service);
	char date[SIGV4_DATE];
	int r;

	w->key_id = key_id;
	sigv4_date(w->ctx->now, date);
	w->date = w->in->bytes + w->in->used;
	if (!put(w->in, sv_n(date, SIGV4_DATE)) || !keep_fields(w->in, w->req, signing) ||
	    !add_field(w->in, "x-amz-date", sv_of(w->date)))
		return INJECT_TOO_LARGE;
	r = (int)payload_hash(w);
	if (r != INJECT_DONE)
		return r;
	if ((s3 || http_field(&w->req->fields, "x-amz-content-sha256")) &&
	    !add_field(w->in, "x-amz-content-sha256", sv_of(w->hash)))
		return INJECT_TOO_LARGE;
	r = g->parts[PART_TOKEN] ? secret_use(g->parts[PART_TOKEN], put_token, w) : INJECT_DONE;
	return r == INJECT_DONE ? secret_use(g->parts[PART_VALUE], put_signature, w) : r;
}

static int inject_value(struct work *w)
{
	const struct secret *value = w->g->parts[PART_VALUE];

	switch (w->g->inject.kind) {
	case INJECT_HEADER:
		return secret_use(value, put_header, w);
	case INJECT_BASIC:
		return secret_use(value, put_basic, w);
	case INJECT_QUERY:
		return w->req->target.n && w->req->target.p[0] == '/' ? secret_use(value, put_query, w)
								      : INJECT_NO_PLACE;
	case INJECT_SIGV4:
		return w->req->target.n && w->req->target.p[0] == '/'
			       ? secret_use(w->g->parts[PART_KEY_ID], with_key_id, w)
			       : INJECT_NO_PLACE;
	}
	return INJECT_NO_PLACE;
}

/* Room for everything that any form puts: the value in all its encodings, and what stands around it. */
static size_t room_for(const struct grant *g, const struct http_request *req)
{
	const struct inject_form *f = &g->inject;
	size_t n = req->target.n + strlen(f->name) + strlen(f->before) + strlen(f->after) + 3 * strlen(f->user) + 256;
	unsigned i;

	for (i = 0; i < GRANT_PARTS; i++)
		n += g->parts[i] ? 4 * secret_size(g->parts[i]) : 0;
	return f->kind == INJECT_SIGV4 ? n + HTTP_MAX_HEAD : n;
}

static struct injection *injection_new(const struct grant *g, const struct http_request *req)
{
	size_t room = room_for(g, req);
	struct injection *in = malloc(sizeof(*in) + room);

	if (!in)
		return NULL;
	*in = (struct injection){.size = sizeof(*in) + room};
	in->room = req->fields.n < HTTP_MAX_FIELDS - FIELDS_ADDED ? req->fields.n + FIELDS_ADDED : HTTP_MAX_FIELDS;
	in->fields = malloc(in->room * sizeof(*in->fields));
	if (!in->fields) {
		free(in);
		return NULL;
	}
	return in;
}

/* Where the value stands; a session token has a name that is never in a table. */
static struct sv guarded_name(const struct inject_form *f)
{
	switch (f->kind) {
	case INJECT_HEADER:
		return sv_of(f->name);
	case INJECT_QUERY:
		return sv_of(":path");
	case INJECT_BASIC:
	case INJECT_SIGV4:
		break;
	}
	return sv_of("authorization");
}

enum inject_result inject_apply(const struct grant *g, struct http_request *req, const struct inject_context *ctx,
				struct injection **ret)
{
	struct work w = {.g = g, .req = req, .ctx = ctx};
	int r;

	if (!grant_covers(g, req->host))
		return INJECT_OTHER_HOST;
	w.in = injection_new(g, req);
	if (!w.in)
		return INJECT_NO_MEMORY;
	r = inject_value(&w);
	if (r != INJECT_DONE) {
		injection_free(w.in);
		return r < 0 ? INJECT_NO_MEMORY : (enum inject_result)r;
	}
	req->fields = (struct http_fields){w.in->fields, w.in->n};
	if (w.in->target.n)
		req->target = w.in->target;
	req->guarded = guarded_name(&g->inject);
	*ret = w.in;
	return INJECT_DONE;
}

bool inject_replaces(const struct grant *g, struct sv name)
{
	switch (g->inject.kind) {
	case INJECT_HEADER:
		return field_name_is(name, g->inject.name);
	case INJECT_BASIC:
		return field_name_is(name, "authorization");
	case INJECT_SIGV4:
		return drops(signing, name);
	case INJECT_QUERY:
		break;
	}
	return false;
}

void injection_free(struct injection *in)
{
	if (!in)
		return;
	free(in->fields);
	secret_wipe(in, in->size);
	free(in);
}

const char *inject_what(enum inject_result r)
{
	static const char *const what[] = {
		[INJECT_DONE] = "was added",
		[INJECT_OTHER_HOST] = "is not bound to this host",
		[INJECT_NEEDS_HASH] = "needs the hash of the whole body",
		[INJECT_NOT_SIGNABLE] = "cannot sign a body whose chunks are signed one by one",
		[INJECT_NO_PLACE] = "has no place in this request",
		[INJECT_TOO_LARGE] = "makes the request too large",
		[INJECT_NO_MEMORY] = "could not be added: out of memory",
	};
	return what[r];
}
