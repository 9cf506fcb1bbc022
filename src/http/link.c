#include "http/link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "http/link_frame.h"
#include "loop/near.h"
#include "wire/wire.h"

/*
 * Theory of operation. An exchange's number is its slot and, above it, a count of the slot's users, so that a frame
 * that was under way when the exchange ended never reaches its successor: the socket keeps the order, and the relay
 * takes a slot anew only after it has sent or received the end of the last exchange there.
 *
 * Output is one buffer that is written when the loop's iteration ends. It is full at OUT_FULL: body bytes then have to
 * wait. Heads and ends do not; but a side that asks and never reads the answers could have any number of them, so at
 * OUT_MAX the link breaks, and well before that no exchange is opened.
 */
enum {
	SLOT_BITS = 14,
	SLOT_MASK = (1 << SLOT_BITS) - 1,
	OUT_FULL = 1 << 20,
	OUT_MAX = 1 << 26,
	OUT_CROWDED = OUT_MAX / 2,
	IN_SIZE = 2 * (LINK_HEADER + LINK_MAX_FRAME),
	DATA_MAX = 32 * 1024, /* of one frame */
	CREDIT_STEP = LINK_WINDOW / 4, /* credit is given back in steps */
};

_Static_assert(LINK_MAX_EXCHANGES <= 1 << SLOT_BITS, "an exchange has a slot");

struct link_exchange {
	struct link *link;
	void *user;
	uint32_t id;
	uint32_t may_send;    /* bytes of body that the other side has room for */
	uint32_t may_receive; /* ... that we have */
	uint32_t consumed;    /* and not told yet */
	bool sending, receiving; /* a body is due, or may still be */
	bool starved;	      /* a writer waits for `room` */
	bool over, reset;
	bool answered; /* the final head was sent, or has come */
	struct link_exchange *next_over;
};

struct link {
	struct loop *loop;
	int fd;
	bool relay, broken;
	bool waits; /* for room to write */
	bool gone;  /* was told: no event comes any more */
	const struct link_events *events;
	void *user;
	struct loop_watch watch;
	struct loop_task flush;
	struct near near; /* to the other side */
	struct link_exchange **slots;
	uint32_t *uses; /* of each slot, so far */
	uint32_t n_slots;
	uint32_t n_open;
	struct link_exchange *over;
	struct buf out;
	size_t sent; /* of out */
	char *in;
	size_t n_in;
	struct http_field fields[HTTP_MAX_FIELDS];
};

static void on_flush(void *arg);
static void on_socket(void *arg, unsigned events);

int link_new(struct loop *loop, int fd, bool relay, const struct link_events *events, void *user, struct link **ret)
{
	struct link *l = calloc(1, sizeof(*l));
	int r;

	if (!l) {
		(void)close(fd);
		return -ENOMEM;
	}
	l->loop = loop;
	l->fd = fd;
	l->relay = relay;
	l->events = events;
	l->user = user;
	buf_init(&l->out, OUT_MAX);
	near_init(&l->near, loop);
	r = loop_watch_add(loop, &l->watch, fd, LOOP_READ, on_socket, l);
	if (r < 0) {
		link_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

void link_free(struct link *l)
{
	struct link_exchange *x;
	uint32_t i;

	if (!l)
		return;
	while ((x = l->over)) {
		l->over = x->next_over;
		free(x);
	}
	for (i = 0; i < l->n_slots; i++)
		free(l->slots[i]);
	free(l->slots);
	free(l->uses);
	free(l->in);
	buf_done(&l->out);
	loop_watch_remove(&l->watch);
	loop_task_cancel(&l->flush);
	near_done(&l->near);
	(void)close(l->fd);
	free(l);
}

static void wake(struct link *l)
{
	if (!l->gone)
		loop_task_post(l->loop, &l->flush, on_flush, l);
}

static void break_link(struct link *l)
{
	l->broken = true;
	wake(l);
}

static void end_exchange(struct link_exchange *x, bool reset)
{
	struct link *l = x->link;

	if (x->over)
		return;
	x->over = true;
	x->reset = reset;
	x->next_over = l->over;
	l->over = x;
	/* the slot is free at once: the next frame may be the request of its next user */
	l->slots[x->id & SLOT_MASK] = NULL;
	l->n_open--;
	wake(l);
}

static void end_if_done(struct link_exchange *x)
{
	if (!x->sending && !x->receiving)
		end_exchange(x, false);
}

static int make_room(struct link *l, uint32_t slot)
{
	uint32_t n = l->n_slots ? l->n_slots : 32;
	struct link_exchange **slots;
	uint32_t *uses;

	while (n <= slot)
		n *= 2;
	slots = reallocarray(l->slots, n, sizeof(struct link_exchange *));
	if (!slots)
		return -ENOMEM;
	l->slots = slots;
	uses = reallocarray(l->uses, n, sizeof(*uses));
	if (!uses)
		return -ENOMEM;
	l->uses = uses;
	memset(slots + l->n_slots, 0, (n - l->n_slots) * sizeof(struct link_exchange *));
	memset(uses + l->n_slots, 0, (n - l->n_slots) * sizeof(*uses));
	l->n_slots = n;
	return 0;
}

static int add_exchange(struct link *l, uint32_t id, struct link_exchange **ret)
{
	uint32_t slot = id & SLOT_MASK;
	struct link_exchange *x;

	if (slot >= l->n_slots && make_room(l, slot) < 0)
		return -ENOMEM;
	if (l->slots[slot])
		return -EEXIST;
	x = malloc(sizeof(*x));
	if (!x)
		return -ENOMEM;
	*x = (struct link_exchange){.link = l, .id = id, .may_send = LINK_WINDOW, .may_receive = LINK_WINDOW};
	l->slots[slot] = x;
	l->n_open++;
	*ret = x;
	return 0;
}

static struct link_exchange *find(const struct link *l, uint32_t id)
{
	uint32_t slot = id & SLOT_MASK;
	struct link_exchange *x = slot < l->n_slots ? l->slots[slot] : NULL;

	return x && x->id == id ? x : NULL;
}

static uint32_t free_slot(const struct link *l)
{
	uint32_t i;

	/* the first free one: a link with few exchanges stays in few cache lines */
	for (i = 0; i < l->n_slots; i++)
		if (!l->slots[i])
			return i;
	return l->n_slots;
}

/* A frame without fields of its own. */
static void send_short(struct link_exchange *x, enum link_type type, const uint32_t *value)
{
	struct link *l = x->link;
	size_t at = link_open(&l->out, type, x->id);

	if (value)
		wire_put_u32(&l->out, *value);
	link_close(&l->out, at);
	wake(l);
}

/* Where the only exchange is to be answered from. */
static int meet(struct link *l)
{
	if (l->n_open == 1)
		return near_lead(&l->near);
	near_part(&l->near);
	return -1;
}

int link_request(struct link *l, const struct link_request *r, void *exchange_user, struct link_exchange **ret)
{
	size_t before = l->out.n, at;
	struct link_exchange *x;
	uint32_t slot;
	int e;

	if (l->broken)
		return -EPIPE;
	slot = free_slot(l);
	if (l->n_open >= LINK_MAX_EXCHANGES || slot > SLOT_MASK || l->out.n - l->sent >= OUT_CROWDED)
		return -EAGAIN;
	e = add_exchange(l, slot, &x);
	if (e < 0)
		return e;
	x->id = ++l->uses[slot] << SLOT_BITS | slot;
	x->user = exchange_user;
	x->sending = r->head.body || r->head.websocket;
	x->receiving = true;
	at = link_open(&l->out, LINK_REQUEST, x->id);
	link_put_request(&l->out, r);
	link_close(&l->out, at);
	link_set_near(&l->out, at, meet(l));
	wake(l);
	if (buf_failed(&l->out) || l->out.n - before > LINK_HEADER + LINK_MAX_FRAME) {
		l->out.n = before;
		l->slots[slot] = NULL;
		l->n_open--;
		free(x);
		return -EINVAL;
	}
	*ret = x;
	return 0;
}

int link_respond(struct link_exchange *x, const struct http_response *r)
{
	bool interim = r->status < 200 && !r->websocket;
	struct link *l = x->link;
	size_t before = l->out.n, at;

	if (x->over || x->answered)
		return -EINVAL;
	at = link_open(&l->out, LINK_RESPONSE, x->id);
	link_put_response(&l->out, r);
	link_close(&l->out, at);
	wake(l);
	if (buf_failed(&l->out) || l->out.n - before > LINK_HEADER + LINK_MAX_FRAME) {
		l->out.n = before;
		return -EINVAL;
	}
	if (interim)
		return 0;
	x->answered = true;
	x->sending = r->body || r->websocket;
	end_if_done(x);
	return 0;
}

int link_fail(struct link_exchange *x, enum gate_failure why, struct sv text)
{
	struct link *l = x->link;
	size_t at;

	if (x->over)
		return -EINVAL;
	at = link_open(&l->out, LINK_FAIL, x->id);
	wire_put_u32(&l->out, (uint32_t)why);
	wire_put_sv(&l->out, sv_n(text.p, text.n > 512 ? 512 : text.n));
	link_close(&l->out, at);
	end_exchange(x, false);
	return 0;
}

size_t link_room(const struct link_exchange *x)
{
	const struct link *l = x->link;
	size_t queued = l->out.n - l->sent;

	if (x->over || !x->sending || l->broken || queued >= OUT_FULL)
		return 0;
	return x->may_send;
}

ssize_t link_data(struct link_exchange *x, struct sv bytes)
{
	struct link *l = x->link;
	size_t taken = 0, n, at;

	if (x->over || !x->sending)
		return -EINVAL;
	while (taken < bytes.n && (n = link_room(x)) > 0) {
		n = n < bytes.n - taken ? n : bytes.n - taken;
		n = n < DATA_MAX ? n : DATA_MAX;
		at = link_open(&l->out, LINK_DATA, x->id);
		(void)buf_add(&l->out, bytes.p + taken, n);
		link_close(&l->out, at);
		x->may_send -= (uint32_t)n;
		taken += n;
		wake(l);
	}
	x->starved = taken < bytes.n;
	return (ssize_t)taken;
}

int link_end(struct link_exchange *x, const struct http_fields *trailers)
{
	struct link *l = x->link;
	size_t at;

	if (x->over || !x->sending)
		return -EINVAL;
	at = link_open(&l->out, LINK_END, x->id);
	link_put_fields(&l->out, trailers);
	link_close(&l->out, at);
	x->sending = false;
	wake(l);
	end_if_done(x);
	return 0;
}

void link_consume(struct link_exchange *x, size_t n)
{
	uint32_t give;

	x->consumed += (uint32_t)n;
	if (x->over || !x->receiving || x->consumed < CREDIT_STEP)
		return;
	give = x->consumed;
	x->consumed = 0;
	x->may_receive += give;
	send_short(x, LINK_CREDIT, &give);
}

void link_reset(struct link_exchange *x)
{
	if (x->over)
		return;
	send_short(x, LINK_RESET, NULL);
	end_exchange(x, true);
}

void *link_user(const struct link_exchange *x)
{
	return x->user;
}

void link_set_user(struct link_exchange *x, void *user)
{
	x->user = user;
}

/* What comes in: 0, or -1 where the other side does not keep to the rules. */

static int got_request(struct link *l, const struct link_header *h, struct sv payload)
{
	struct link_request r;
	struct link_exchange *x;

	if (l->relay || link_get_request(payload, l->fields, &r) < 0 || l->n_open >= LINK_MAX_EXCHANGES ||
	    add_exchange(l, h->exchange, &x) < 0)
		return -1;
	x->sending = true; /* an answer is due */
	x->receiving = r.head.body || r.head.websocket;
	near_follow(&l->near, h->near);
	l->events->request(l->user, x, &r);
	return 0;
}

static int got_response(struct link_exchange *x, struct sv payload)
{
	struct link *l = x->link;
	struct http_response r;

	if (!l->relay || x->answered || link_get_response(payload, l->fields, &r) < 0)
		return -1;
	if (r.status >= 200 || r.websocket) {
		x->answered = true;
		x->receiving = r.body || r.websocket;
	}
	l->events->response(l->user, x, &r);
	if (x->answered && !x->receiving && !x->over) {
		l->events->end(l->user, x, &(struct http_fields){0});
		end_if_done(x);
	}
	return 0;
}

static int got_data(struct link_exchange *x, struct sv payload)
{
	struct link *l = x->link;

	if (!x->receiving || payload.n == 0 || payload.n > x->may_receive || (l->relay && !x->answered))
		return -1;
	x->may_receive -= (uint32_t)payload.n;
	l->events->data(l->user, x, payload);
	return 0;
}

static int got_end(struct link_exchange *x, struct sv payload)
{
	struct link *l = x->link;
	struct http_fields trailers;

	if (!x->receiving || (l->relay && !x->answered) || link_get_trailers(payload, l->fields, &trailers) < 0)
		return -1;
	x->receiving = false;
	l->events->end(l->user, x, &trailers);
	end_if_done(x);
	return 0;
}

static int got_fail(struct link_exchange *x, struct sv payload)
{
	struct link *l = x->link;
	struct wire_in in;
	uint32_t why;
	struct sv text;

	wire_in_init(&in, payload);
	why = wire_get_u32(&in);
	text = wire_get_sv(&in);
	if (!l->relay || !wire_ok(&in) || why == 0 || why >= GATE_FAILURES)
		return -1;
	l->events->failed(l->user, x, (enum gate_failure)why, text);
	end_exchange(x, false);
	return 0;
}

static int got_reset(struct link_exchange *x, struct sv payload)
{
	if (payload.n)
		return -1;
	end_exchange(x, true);
	return 0;
}

static int got_credit(struct link_exchange *x, struct sv payload)
{
	struct wire_in in;
	uint32_t n;

	wire_in_init(&in, payload);
	n = wire_get_u32(&in);
	if (!wire_ok(&in) || n == 0 || n > LINK_WINDOW - x->may_send)
		return -1;
	x->may_send += n;
	if (x->starved && x->sending) {
		x->starved = false;
		x->link->events->room(x->link->user, x);
	}
	return 0;
}

static void close_over(struct link *l)
{
	struct link_exchange *x;

	while ((x = l->over)) {
		l->over = x->next_over;
		l->events->closed(l->user, x, x->reset);
		free(x);
	}
}

static int got_frame(struct link *l, const struct link_header *h, struct sv payload)
{
	static int (*const handlers[LINK_TYPES])(struct link_exchange *, struct sv) = {
		[LINK_RESPONSE] = got_response, [LINK_DATA] = got_data,	  [LINK_END] = got_end,
		[LINK_FAIL] = got_fail,		[LINK_RESET] = got_reset, [LINK_CREDIT] = got_credit,
	};
	struct link_exchange *x;

	if (h->type == LINK_REQUEST) {
		close_over(l); /* what was given up before it holds nothing any more when it is judged */
		return got_request(l, h, payload);
	}
	x = find(l, h->exchange);
	/* not open: it ended here while the frame was under way */
	return x ? handlers[h->type](x, payload) : 0;
}

/* Handles the complete frames of the input. */
static int take_frames(struct link *l)
{
	struct link_header h;
	size_t at = 0;

	while (l->n_in - at >= LINK_HEADER) {
		if (link_get_header(l->in + at, &h) < 0)
			return -1;
		if (l->n_in - at - LINK_HEADER < h.length)
			break;
		if (got_frame(l, &h, sv_n(l->in + at + LINK_HEADER, h.length)) < 0)
			return -1;
		at += LINK_HEADER + h.length;
	}
	if (at)
		memmove(l->in, l->in + at, l->n_in - at);
	l->n_in -= at;
	return 0;
}

static void receive(struct link *l, bool ending)
{
	size_t room;
	ssize_t n;

	if (!l->in)
		l->in = malloc(IN_SIZE);
	while (l->in && !l->broken) {
		room = IN_SIZE - l->n_in;
		n = read(l->fd, l->in + l->n_in, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n > 0)
			l->n_in += (size_t)n;
		if (n <= 0 || take_frames(l) < 0) {
			break_link(l);
			return;
		}
		if ((size_t)n < room && !ending)
			break; /* emptied */
	}
	if (!l->in)
		break_link(l);
}

/* An idle link holds no buffer. While something is open the next frame is near, and so large a piece is dear: giving it
 * back makes the allocator clear up each time. */
static void drop_input(struct link *l)
{
	if (!l->in || l->n_in || l->n_open)
		return;
	free(l->in);
	l->in = NULL;
}

static void feed_starved(struct link *l)
{
	uint32_t i;

	for (i = 0; i < l->n_slots; i++) {
		struct link_exchange *x = l->slots[i];

		if (!x || !x->starved || link_room(x) == 0)
			continue;
		x->starved = false;
		l->events->room(l->user, x);
	}
}

/* The reader of a UNIX socket wakes who waits for room at each read: ask only while there is something to write. */
static void wait_for_room(struct link *l)
{
	bool waits = !l->broken && l->sent < l->out.n;

	if (waits == l->waits)
		return;
	l->waits = waits;
	if (loop_watch_change(&l->watch, waits ? LOOP_READ | LOOP_WRITE : LOOP_READ) < 0)
		l->broken = true;
}

static void send_out(struct link *l)
{
	bool was_full = l->out.n - l->sent >= OUT_FULL;
	ssize_t n;

	while (!l->broken && l->sent < l->out.n) {
		n = send(l->fd, l->out.p + l->sent, l->out.n - l->sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			l->broken = true;
		else
			l->sent += (size_t)n;
	}
	if (l->sent == l->out.n) {
		buf_clear(&l->out);
		l->sent = 0;
	} else if (l->sent >= OUT_FULL / 2) {
		memmove(l->out.p, l->out.p + l->sent, l->out.n - l->sent);
		l->out.n -= l->sent;
		l->sent = 0;
	}
	wait_for_room(l);
	if (was_full && l->out.n - l->sent < OUT_FULL)
		feed_starved(l);
}

static void on_flush(void *arg)
{
	struct link *l = arg;

	if (buf_failed(&l->out))
		l->broken = true;
	send_out(l);
	close_over(l);
	drop_input(l);
	if (l->broken) {
		loop_watch_remove(&l->watch);
		l->gone = true;
		l->events->gone(l->user);
	}
}

static void on_socket(void *arg, unsigned events)
{
	struct link *l = arg;

	if (events & LOOP_WRITE && l->sent < l->out.n)
		send_out(l);
	if (events & LOOP_READ)
		receive(l, events & LOOP_HANGUP);
	drop_input(l);
	if (l->broken)
		wake(l);
}
