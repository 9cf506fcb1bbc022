#include "supervise/outbox.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "wire/wire.h"

void outbox_init(struct outbox *o, int sock)
{
	*o = (struct outbox){.sock = sock};
}

bool outbox_waits(const struct outbox *o)
{
	return o->n;
}

static int put(struct outbox *o, uint16_t type, struct sv body)
{
	struct outbox_message *m = &o->v[(o->first + o->n) % OUTBOX_MAX];

	if (o->n == OUTBOX_MAX)
		return -ENOBUFS;
	if (!o->n)
		o->since = (uint64_t)now_ms();
	*m = (struct outbox_message){.type = type, .n = (uint16_t)body.n};
	memcpy(m->body, body.p, body.n);
	o->n++;
	return 0;
}

int outbox_send(struct outbox *o, uint16_t type, const struct buf *body, const int *fds, size_t n_fds)
{
	int r = o->n ? -EAGAIN : wire_send_now(o->sock, type, buf_view(body), fds, n_fds);

	if (r != -EAGAIN || n_fds || body->n > OUTBOX_BODY)
		return r;
	return put(o, type, buf_view(body));
}

void outbox_flush(struct outbox *o)
{
	const struct outbox_message *m;

	for (; o->n; o->n--) {
		m = &o->v[o->first];
		/* any other failure is the end of PID 1, of which the supervisor hears by itself */
		if (wire_send_now(o->sock, m->type, sv_n(m->body, m->n), NULL, 0) == -EAGAIN)
			return;
		o->first = (o->first + 1) % OUTBOX_MAX;
		o->since = (uint64_t)now_ms();
	}
}

uint64_t outbox_until(const struct outbox *o)
{
	return o->n ? o->since + OUTBOX_STUCK_MS : UINT64_MAX;
}

bool outbox_is_stuck(const struct outbox *o, uint64_t now)
{
	return now >= outbox_until(o);
}
