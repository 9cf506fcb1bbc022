#include "gate/egress/sigv4.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/coding.h"
#include "base/secret_memory.h"
#include "base/sha256.h"
#include "model/policy.h"

enum { CANONICAL_MAX = 4 * HTTP_MAX_HEAD, PARAMETERS_MAX = 2048 };

/* Hops add, drop or rewrite these; a signature over them would break. */
static const char *const unsigned_fields[] = {"accept-encoding", "authorization",   "expect",
					      "user-agent",      "x-amzn-trace-id", NULL};

void sigv4_date(int64_t now, char ret[SIGV4_DATE])
{
	time_t t = (time_t)now;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(ret, SIGV4_DATE, "%Y%m%dT%H%M%SZ", &tm) == 0)
		memcpy(ret, "19700101T000000Z", SIGV4_DATE);
}

static const char s3[] = "s3", express[] = "s3express";

bool sigv4_is_s3(const char *service)
{
	return strcmp(service, s3) == 0 || strcmp(service, express) == 0;
}

/* The last label, cut off with its dot. */
static struct sv cut_last(struct sv *host)
{
	const char *dot = host->n ? memrchr(host->p, '.', host->n) : NULL;
	struct sv label = dot ? sv_n(dot + 1, host->n - (size_t)(dot - host->p) - 1) : *host;

	host->n -= label.n + (dot != NULL);
	return label;
}

/*
 * "b--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com" and "s3express-control.us-west-2.amazonaws.com".
 * Buckets of plain S3 may be called s3express-something, and stand before "s3.REGION", "s3-REGION" or "s3".
 */
static bool is_express(struct sv host)
{
	static const char *const ends[] = {".amazonaws.com", ".amazonaws.com.cn"};
	struct sv label;
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(ends); i++) {
		n = strlen(ends[i]);
		if (host.n > n && memcmp(host.p + host.n - n, ends[i], n) == 0)
			break;
	}
	if (i == ARRAY_LEN(ends))
		return false;
	host.n -= n;
	label = cut_last(&host);
	if (sv_is(label, s3) || sv_starts(label, "s3-"))
		return false;
	label = cut_last(&host);
	if (sv_is(label, "dualstack"))
		label = cut_last(&host);
	return sv_starts(label, "s3express-");
}

const char *sigv4_service(const char *service, struct sv host)
{
	return strcmp(service, s3) == 0 && is_express(host) ? express : service;
}

static bool is_unreserved(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("-._~", c));
}

static void put_encoded(struct buf *out, struct sv s, bool keep_slash)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (is_unreserved(s.p[i]) || (keep_slash && s.p[i] == '/'))
			(void)buf_char(out, s.p[i]);
		else
			(void)buf_printf(out, "%%%02X", (unsigned char)s.p[i]);
}

/* Decoded and encoded again in the one form that is signed. */
static void put_recoded(struct buf *out, struct sv s, bool keep_slash)
{
	size_t i;
	char c;

	for (i = 0; i < s.n; i++) {
		c = s.p[i];
		if (c == '/' && keep_slash) {
			(void)buf_char(out, c);
			continue;
		}
		if (c == '%' && i + 2 < s.n && hex_byte(s.p[i + 1], s.p[i + 2]) >= 0) {
			c = (char)hex_byte(s.p[i + 1], s.p[i + 2]);
			i += 2;
		} else if (c == '+' && !keep_slash) {
			c = ' ';
		}
		put_encoded(out, sv_n(&c, 1), false);
	}
}

static struct sv cut(struct sv *rest, char at)
{
	const char *end = rest->n ? memchr(rest->p, at, rest->n) : NULL;
	struct sv part = end ? sv_n(rest->p, (size_t)(end - rest->p)) : *rest;
	size_t skip = part.n + (end != NULL);

	*rest = sv_n(rest->p + skip, rest->n - skip);
	return part;
}

struct parameter {
	struct sv name, value; /* encoded */
};

static int compare_sv(struct sv a, struct sv b)
{
	int r = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return r ? r : (a.n > b.n) - (a.n < b.n);
}

static int compare_parameters(const void *a, const void *b)
{
	const struct parameter *x = a, *y = b;
	int r = compare_sv(x->name, y->name);

	return r ? r : compare_sv(x->value, y->value);
}

/* Views into `text` are taken only once it no longer moves: offsets first. */
static int put_query(struct buf *out, struct sv query)
{
	AUTO_FREE struct parameter *v = calloc(PARAMETERS_MAX, sizeof(*v));
	AUTO_FREE size_t *ends = calloc(2 * PARAMETERS_MAX, sizeof(*ends));
	AUTO_BUF text = {0};
	struct sv part;
	size_t n = 0, at = 0, i;

	if (!v || !ends)
		return -ENOMEM;
	buf_init(&text, 4 * HTTP_MAX_TARGET);
	while (query.n) {
		part = cut(&query, '&');
		if (part.n == 0)
			continue;
		if (n == PARAMETERS_MAX)
			return -EFBIG;
		put_recoded(&text, cut(&part, '='), false);
		ends[2 * n] = text.n;
		put_recoded(&text, part, false);
		ends[2 * n++ + 1] = text.n;
	}
	if (buf_failed(&text))
		return buf_failed(&text);
	for (i = 0; i < n; i++) {
		v[i].name = sv_n(text.p + at, ends[2 * i] - at);
		v[i].value = sv_n(text.p + ends[2 * i], ends[2 * i + 1] - ends[2 * i]);
		at = ends[2 * i + 1];
	}
	qsort(v, n, sizeof(*v), compare_parameters);
	for (i = 0; i < n; i++)
		(void)buf_printf(out, "%s%.*s=%.*s", i ? "&" : "", (int)v[i].name.n, v[i].name.p, (int)v[i].value.n,
				 v[i].value.p);
	return 0;
}

void sigv4_host(const struct http_request *req, struct buf *out)
{
	bool v6 = memchr(req->host.p, ':', req->host.n) != NULL;

	(void)buf_printf(out, v6 ? "[%.*s]" : "%.*s", (int)req->host.n, req->host.p);
	if (req->port != (req->tls ? 443 : 80))
		(void)buf_printf(out, ":%u", req->port);
}

struct signed_field {
	struct sv name, value;
	uint32_t order; /* fields of one name keep their order */
};

static int compare_fields(const void *a, const void *b)
{
	const struct signed_field *x = a, *y = b;
	int r = compare_sv(x->name, y->name);

	return r ? r : (x->order > y->order) - (x->order < y->order);
}

/* Runs of blanks become one. */
static void put_trimmed(struct buf *out, struct sv s)
{
	bool blank = true;
	size_t i;

	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	for (i = 0; i < s.n; i++) {
		bool is = s.p[i] == ' ' || s.p[i] == '\t';

		if (!is || !blank)
			(void)buf_char(out, is ? ' ' : s.p[i]);
		blank = is;
	}
}

static size_t collect(const struct http_request *req, struct sv host, struct signed_field *v)
{
	size_t n = 0;
	uint32_t i;

	v[n++] = (struct signed_field){sv_of("host"), host, 0};
	for (i = 0; i < req->fields.n && n <= HTTP_MAX_FIELDS; i++)
		if (name_index(unsigned_fields, req->fields.v[i].name) < 0)
			v[n++] = (struct signed_field){req->fields.v[i].name, req->fields.v[i].value, i};
	qsort(v, n, sizeof(*v), compare_fields);
	return n;
}

/* The signed fields, and their names joined by ";". */
static void put_fields(const struct http_request *req, struct buf *out, struct buf *names)
{
	struct signed_field v[HTTP_MAX_FIELDS + 1] __attribute__((uninitialized));
	AUTO_BUF host = {0};
	size_t n, i;

	buf_init(&host, 1024);
	sigv4_host(req, &host);
	n = collect(req, buf_view(&host), v);
	for (i = 0; i < n; i++) {
		if (i > 0 && sv_eq(v[i].name, v[i - 1].name)) {
			(void)buf_char(out, ',');
		} else {
			(void)buf_printf(out, "%s%.*s:", i ? "\n" : "", (int)v[i].name.n, v[i].name.p);
			(void)buf_printf(names, "%s%.*s", i ? ";" : "", (int)v[i].name.n, v[i].name.p);
		}
		put_trimmed(out, v[i].value);
	}
	(void)buf_char(out, '\n');
}

static int put_canonical(const struct sigv4_request *r, struct buf *out, struct buf *names)
{
	struct sv rest = r->http->target, path = cut(&rest, '?');
	int result;

	(void)buf_printf(out, "%.*s\n", (int)r->http->method.n, r->http->method.p);
	/* S3 signs a path as it is meant, others what was sent once more. */
	if (sigv4_is_s3(r->service))
		put_recoded(out, path, true);
	else
		put_encoded(out, path, true);
	(void)buf_char(out, '\n');
	result = put_query(out, rest);
	if (result < 0)
		return result;
	(void)buf_char(out, '\n');
	put_fields(r->http, out, names);
	(void)buf_printf(out, "\n%s\n%.*s", names->p, (int)r->payload_hash.n, r->payload_hash.p);
	return buf_failed(out) ? buf_failed(out) : buf_failed(names);
}

static bool hmac(const void *key, size_t key_n, struct sv text, unsigned char ret[SHA256_SIZE])
{
	return HMAC(EVP_sha256(), key, (int)key_n, (const unsigned char *)text.p, text.n, ret, NULL) != NULL;
}

/* The key is good for one day, region and service, and is wiped all the same. */
static int sign(const struct sigv4_request *r, struct sv text, char ret[SHA256_HEX])
{
	const struct sv steps[] = {sv_n(r->date, 8), sv_of(r->region), sv_of(r->service), sv_of("aws4_request"), text};
	size_t n = r->secret_key.n + 4, i;
	unsigned char key[SHA256_SIZE], next[SHA256_SIZE];
	char *first = malloc(n);
	bool ok = first != NULL;

	if (!ok)
		return -ENOMEM;
	memcpy(first, "AWS4", 4);
	memcpy(first + 4, r->secret_key.p, r->secret_key.n);
	for (i = 0; ok && i < ARRAY_LEN(steps); i++) {
		ok = i ? hmac(key, sizeof(key), steps[i], next) : hmac(first, n, steps[i], next);
		memcpy(key, next, sizeof(key));
	}
	if (ok)
		sha256_hex(key, ret);
	secret_wipe(first, n);
	free(first);
	secret_wipe(key, sizeof(key));
	secret_wipe(next, sizeof(next));
	return ok ? 0 : -ENOMEM;
}

int sigv4_sign(const struct sigv4_request *r, struct buf *authorization)
{
	AUTO_BUF canonical = {0};
	AUTO_BUF names = {0};
	AUTO_BUF text = {0};
	char digest[SHA256_HEX], signature[SHA256_HEX];
	int result;

	buf_init(&canonical, CANONICAL_MAX);
	buf_init(&names, HTTP_MAX_HEAD);
	buf_init(&text, 1024);
	/* It holds the session token: it must not move while it grows, or it would leave copies behind. */
	result = buf_reserve(&canonical, CANONICAL_MAX);
	if (result == 0)
		result = put_canonical(r, &canonical, &names);
	if (result == 0)
		sha256_hex_of(buf_view(&canonical), digest);
	if (canonical.p)
		secret_wipe(canonical.p, canonical.cap);
	if (result < 0)
		return result;
	(void)buf_printf(&text, "AWS4-HMAC-SHA256\n%s\n%.8s/%s/%s/aws4_request\n%s", r->date, r->date, r->region,
			 r->service, digest);
	result = buf_failed(&text) ? buf_failed(&text) : sign(r, buf_view(&text), signature);
	if (result < 0)
		return result;
	return buf_printf(authorization,
			  "AWS4-HMAC-SHA256 Credential=%.*s/%.8s/%s/%s/aws4_request, SignedHeaders=%s, Signature=%s",
			  (int)r->key_id.n, r->key_id.p, r->date, r->region, r->service, names.p, signature);
}
