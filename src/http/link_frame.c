#include "http/link_frame.h"

#include <errno.h>
#include <string.h>

#include "loop/near.h"
#include "wire/wire.h"

enum { REQ_TLS = 1, REQ_BODY = 2, REQ_WEBSOCKET = 4, REQ_EXPECT = 8, REQ_INFERENCE = 16, REQ_ALL = 31 };
enum { RES_BODY = 1, RES_WEBSOCKET = 2, RES_ALL = 3 };

static void put_le32(char *p, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		p[i] = (char)(v >> 8 * i);
}

static uint32_t get_le32(const char *p)
{
	uint32_t v = 0;
	int i;

	for (i = 0; i < 4; i++)
		v |= (uint32_t)(unsigned char)p[i] << 8 * i;
	return v;
}

size_t link_open(struct buf *out, enum link_type type, uint32_t exchange)
{
	char header[LINK_HEADER] = {0};
	size_t at = out->n;

	header[4] = (char)type;
	put_le32(header + 8, exchange);
	(void)buf_add(out, header, sizeof(header));
	return at;
}

void link_close(struct buf *out, size_t at)
{
	if (!buf_failed(out))
		put_le32(out->p + at, (uint32_t)(out->n - at - LINK_HEADER));
}

void link_set_near(struct buf *out, size_t at, int cpu)
{
	unsigned v = cpu >= 0 && cpu < NEAR_CPUS ? (unsigned)cpu + 1 : 0;

	if (buf_failed(out))
		return;
	out->p[at + 6] = (char)(v & 0xff);
	out->p[at + 7] = (char)(v >> 8);
}

int link_get_header(const char *bytes, struct link_header *ret)
{
	unsigned type = (unsigned char)bytes[4],
		 near = (unsigned char)bytes[6] | (unsigned)(unsigned char)bytes[7] << 8;
	uint32_t length = get_le32(bytes);

	if (length > LINK_MAX_FRAME || type == 0 || type >= LINK_TYPES || bytes[5] ||
	    near > (type == LINK_REQUEST ? NEAR_CPUS : 0))
		return -EBADMSG;
	*ret = (struct link_header){
		.length = length, .type = (enum link_type)type, .exchange = get_le32(bytes + 8), .near = (int)near - 1};
	return 0;
}

void link_put_fields(struct buf *out, const struct http_fields *f)
{
	uint32_t i;

	wire_put_u32(out, f ? f->n : 0);
	for (i = 0; f && i < f->n; i++) {
		wire_put_sv(out, f->v[i].name);
		wire_put_sv(out, f->v[i].value);
	}
}

static void get_fields(struct wire_in *in, struct http_field *room, struct http_fields *ret)
{
	uint32_t n = wire_get_u32(in), i;

	if (n > HTTP_MAX_FIELDS) {
		in->failed = true;
		n = 0;
	}
	for (i = 0; i < n; i++) {
		room[i].name = wire_get_sv(in);
		room[i].value = wire_get_sv(in);
	}
	*ret = (struct http_fields){room, n};
}

void link_put_request(struct buf *out, const struct link_request *r)
{
	const struct http_request *h = &r->head;
	uint32_t flags = (h->tls ? REQ_TLS : 0U) | (h->body ? REQ_BODY : 0U) | (h->websocket ? REQ_WEBSOCKET : 0U) |
			 (h->expect_continue ? REQ_EXPECT : 0U) | (r->inference ? REQ_INFERENCE : 0U);

	wire_put_u32(out, flags);
	wire_put_u32(out, h->port);
	wire_put_u32(out, r->provider);
	wire_put_u64(out, r->generation);
	wire_put_u64(out, (uint64_t)h->length);
	wire_put_sv(out, h->method);
	wire_put_sv(out, h->host);
	wire_put_sv(out, h->target);
	link_put_fields(out, &h->fields);
}

/* A length is a count of bytes or unknown. */
static bool length_ok(int64_t n)
{
	return n >= 0 || n == HTTP_LENGTH_UNKNOWN;
}

int link_get_request(struct sv payload, struct http_field *room, struct link_request *ret)
{
	struct link_request r = {0};
	struct wire_in in;
	uint32_t flags, port;

	wire_in_init(&in, payload);
	flags = wire_get_u32(&in);
	port = wire_get_u32(&in);
	r.provider = wire_get_u32(&in);
	r.generation = wire_get_u64(&in);
	r.head.length = (int64_t)wire_get_u64(&in);
	r.head.method = wire_get_sv(&in);
	r.head.host = wire_get_sv(&in);
	r.head.target = wire_get_sv(&in);
	get_fields(&in, room, &r.head.fields);
	if (!wire_ok(&in) || flags > REQ_ALL || port == 0 || port > 65535 || !length_ok(r.head.length))
		return -EBADMSG;
	r.head.port = (uint16_t)port;
	r.head.tls = flags & REQ_TLS;
	r.head.body = flags & REQ_BODY;
	r.head.websocket = flags & REQ_WEBSOCKET;
	r.head.expect_continue = flags & REQ_EXPECT;
	r.inference = flags & REQ_INFERENCE;
	*ret = r;
	return 0;
}

void link_put_response(struct buf *out, const struct http_response *r)
{
	wire_put_u32(out, (r->body ? RES_BODY : 0U) | (r->websocket ? RES_WEBSOCKET : 0U));
	wire_put_u32(out, r->status);
	wire_put_u64(out, (uint64_t)r->length);
	wire_put_sv(out, r->reason);
	link_put_fields(out, &r->fields);
}

int link_get_response(struct sv payload, struct http_field *room, struct http_response *ret)
{
	struct http_response r = {0};
	struct wire_in in;
	uint32_t flags, status;

	wire_in_init(&in, payload);
	flags = wire_get_u32(&in);
	status = wire_get_u32(&in);
	r.length = (int64_t)wire_get_u64(&in);
	r.reason = wire_get_sv(&in);
	get_fields(&in, room, &r.fields);
	if (!wire_ok(&in) || flags > RES_ALL || status < 100 || status > 999 || !length_ok(r.length))
		return -EBADMSG;
	r.status = (uint16_t)status;
	r.body = flags & RES_BODY;
	r.websocket = flags & RES_WEBSOCKET;
	*ret = r;
	return 0;
}

int link_get_trailers(struct sv payload, struct http_field *room, struct http_fields *ret)
{
	struct wire_in in;

	wire_in_init(&in, payload);
	get_fields(&in, room, ret);
	return wire_ok(&in) ? 0 : -EBADMSG;
}
