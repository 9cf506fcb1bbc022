#include "agent/rpc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"

enum { READ_SIZE = 64 * 1024 };

void rpc_init(struct rpc *r, int in, int out)
{
	*r = (struct rpc){.in = in, .out = out};
	buf_init(&r->received, RPC_LINE_MAX + READ_SIZE);
	buf_init(&r->unsent, RPC_UNSENT_MAX);
}

void rpc_done(struct rpc *r)
{
	buf_done(&r->received);
	buf_done(&r->unsent);
}

int rpc_fill(struct rpc *r)
{
	char bytes[READ_SIZE];
	ssize_t n;

	if (r->seen > RPC_LINE_MAX)
		return -EFBIG;
	n = read(r->in, bytes, sizeof(bytes));
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (n == 0)
		return 0;
	return buf_add(&r->received, bytes, (size_t)n) < 0 ? buf_failed(&r->received) : 1;
}

static void drop(struct buf *b, size_t n)
{
	memmove(b->p, b->p + n, b->n - n);
	b->n -= n;
	b->p[b->n] = '\0';
}

bool rpc_line(struct rpc *r, struct buf *line)
{
	const char *from = r->received.n ? r->received.p + r->seen : "",
		   *end = memchr(from, '\n', r->received.n - r->seen);
	size_t n;

	if (!end) {
		r->seen = r->received.n;
		return false;
	}
	n = (size_t)(end - r->received.p);
	buf_clear(line);
	(void)buf_add(line, r->received.p, n);
	drop(&r->received, n + 1);
	r->seen = 0;
	return buf_failed(line) == 0;
}

struct sv rpc_raw(const struct json_scan *s, uint32_t i)
{
	struct sv text = json_scan_text(s, i);

	return json_scan_kind(s, i) == SCAN_STRING ? sv_n(text.p - 1, text.n + 2) : text;
}

int rpc_parse(const struct json_scan *s, struct rpc_message *ret)
{
	uint32_t id = json_scan_get(s, 0, "id"), method = json_scan_get(s, 0, "method"),
		 result = json_scan_get(s, 0, "result"), error = json_scan_get(s, 0, "error");

	if (json_scan_kind(s, 0) != SCAN_OBJECT || (id && json_scan_kind(s, id) >= SCAN_ARRAY) ||
	    (method && json_scan_kind(s, method) != SCAN_STRING))
		return -EINVAL;
	*ret = (struct rpc_message){.id = id ? rpc_raw(s, id) : sv_of("null")};
	if (method) {
		ret->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
		ret->method = json_scan_text(s, method);
		ret->body = json_scan_get(s, 0, "params");
		return result || error ? -EINVAL : 0;
	}
	if (!id || !result == !error)
		return -EINVAL;
	ret->kind = error ? RPC_ERROR : RPC_RESULT;
	ret->body = error ? error : result;
	return 0;
}

static void begin(struct rpc *r, struct json *j)
{
	json_init(j, &r->unsent);
	json_open(j);
	json_kstr(j, "jsonrpc", "2.0");
}

static int end(struct rpc *r, struct json *j)
{
	json_close(j);
	(void)buf_char(&r->unsent, '\n');
	return buf_failed(&r->unsent) ? buf_failed(&r->unsent) : rpc_flush(r);
}

int rpc_call(struct rpc *r, unsigned id, const char *method, struct sv params)
{
	struct json j;

	begin(r, &j);
	json_kint(&j, "id", id);
	json_kstr(&j, "method", method);
	json_key(&j, "params");
	json_raw(&j, params);
	return end(r, &j);
}

int rpc_result(struct rpc *r, struct sv id, struct sv value)
{
	struct json j;

	begin(r, &j);
	json_key(&j, "id");
	json_raw(&j, id);
	json_key(&j, "result");
	json_raw(&j, value);
	return end(r, &j);
}

int rpc_error(struct rpc *r, struct sv id, int code, const char *message)
{
	struct json j;

	begin(r, &j);
	json_key(&j, "id");
	json_raw(&j, id);
	json_key(&j, "error");
	json_open(&j);
	json_kint(&j, "code", code);
	json_kstr(&j, "message", message);
	json_close(&j);
	return end(r, &j);
}

int rpc_flush(struct rpc *r)
{
	ssize_t n;

	while (r->unsent.n) {
		n = write(r->out, r->unsent.p, r->unsent.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		drop(&r->unsent, (size_t)n);
	}
	return 0;
}
