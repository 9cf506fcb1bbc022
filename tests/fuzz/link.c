/*
 * A link whose other side was taken over: bytes into the relay's side or egress's, over a socket, driven by the loop.
 * The first byte chooses the side and how its user behaves, the second how the bytes are cut. Whatever comes: events
 * are in order, no window is overrun, each exchange is closed once, `gone` comes once and is the last event, whatever
 * the user calls after it, and nothing is left over.
 */
#include "http/link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

enum {
	RELAY = 1,
	HOLD = 2,    /* never consumes */
	ANSWER = 4,  /* responds at once, with a body larger than the window */
	FAIL = 8,    /* fails each request */
	RESET = 16,  /* resets each exchange with its first data */
	DEAF = 32,   /* the other side never reads */
	INSIST = 64, /* goes on after `gone` */
	STEPS = 8,   /* iterations until all that can move has moved */
	REQUESTS = 3,
};

struct seen {
	struct seen *next;
	struct link_exchange *x; /* NULL: closed */
	bool head, end, given_up;
	size_t held;
};

struct user {
	unsigned flags;
	struct link *link;
	struct seen *all;
	uint32_t open;
	bool gone;
};

static char body[LINK_WINDOW + 1];

static void must(bool holds)
{
	if (!holds)
		abort();
}

static struct seen *add(struct user *u, struct link_exchange *x)
{
	struct seen *s = calloc(1, sizeof(*s));

	must(s);
	*s = (struct seen){.next = u->all, .x = x};
	u->all = s;
	link_set_user(x, s);
	/* those that are over but not closed yet count here, and not for the link */
	u->open++;
	return s;
}

/* An event for x may come now. */
static struct seen *expect(struct user *u, struct link_exchange *x)
{
	struct seen *s = link_user(x);

	must(!u->gone && s && s->x == x && !s->given_up);
	return s;
}

static void give_body(struct link_exchange *x)
{
	ssize_t n = link_data(x, sv_n(body, sizeof(body)));

	must(n == -EINVAL || (n >= 0 && n <= LINK_WINDOW));
}

static void on_request(void *user, struct link_exchange *x, const struct link_request *r)
{
	struct http_response answer = {.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN};
	struct user *u = user;
	struct seen *s;

	must(!u->gone && !(u->flags & RELAY) && !link_user(x));
	must(r->head.port && r->head.length >= HTTP_LENGTH_UNKNOWN && r->head.fields.n <= HTTP_MAX_FIELDS);
	s = add(u, x);
	s->head = true;
	if (u->flags & FAIL) {
		must(link_fail(x, GATE_FAILURE_POLICY, sv_of("no")) == 0);
		s->given_up = true;
	} else if (u->flags & ANSWER) {
		must(link_respond(x, &answer) == 0 && link_respond(x, &answer) == -EINVAL);
		give_body(x);
	}
}

static void on_response(void *user, struct link_exchange *x, const struct http_response *r)
{
	struct user *u = user;
	struct seen *s = expect(u, x);

	must(u->flags & RELAY && !s->head && !s->end && r->status >= 100 && r->status <= 999 &&
	     r->fields.n <= HTTP_MAX_FIELDS);
	s->head = r->status >= 200 || r->websocket;
}

static void on_failed(void *user, struct link_exchange *x, enum gate_failure why, struct sv text)
{
	struct user *u = user;
	struct seen *s = expect(u, x);

	must(u->flags & RELAY && why > GATE_FAILURE_NONE && why < GATE_FAILURES && text.p);
	s->given_up = true;
}

static void on_data(void *user, struct link_exchange *x, struct sv bytes)
{
	struct user *u = user;
	struct seen *s = expect(u, x);

	must(s->head && !s->end && bytes.n);
	s->held += bytes.n;
	must(s->held <= LINK_WINDOW);
	if (u->flags & RESET) {
		link_reset(x);
		s->given_up = true;
	}
	if (!(u->flags & HOLD)) {
		link_consume(x, s->held);
		s->held = 0;
	}
}

static void on_end(void *user, struct link_exchange *x, const struct http_fields *trailers)
{
	struct user *u = user;
	struct seen *s = expect(u, x);

	must(s->head && !s->end && trailers->n <= HTTP_MAX_FIELDS);
	s->end = true;
	if (u->flags & ANSWER)
		(void)link_end(x, NULL);
}

static void on_room(void *user, struct link_exchange *x)
{
	(void)expect(user, x);
	must(link_room(x) > 0);
	give_body(x);
}

static void on_closed(void *user, struct link_exchange *x, bool reset)
{
	struct user *u = user;
	struct seen *s = link_user(x);

	(void)reset;
	must(!u->gone && s && s->x == x);
	s->x = NULL;
	u->open--;
}

static void on_gone(void *user)
{
	struct user *u = user;
	struct seen *s;

	must(!u->gone);
	u->gone = true;
	for (s = u->all; u->flags & INSIST && s; s = s->next) {
		if (!s->x)
			continue;
		give_body(s->x);
		link_consume(s->x, s->held);
		link_reset(s->x);
	}
}

static const struct link_events events = {on_request, on_response, on_failed, on_data,
					  on_end,     on_room,     on_closed, on_gone};

static void start_requests(struct user *u)
{
	struct link_request r = {
		.head = {.method = sv_of("GET"), .host = sv_of("a.test"), .port = 80, .target = sv_of("/")}};
	struct link_exchange *x;
	size_t i;

	for (i = 0; i < REQUESTS; i++) {
		r.head.body = i == 1;
		r.head.websocket = i == 2;
		must(link_request(u->link, &r, NULL, &x) == 0);
		(void)add(u, x);
		if (r.head.body)
			give_body(x);
	}
}

static void settle(struct user *u, struct loop *loop, int peer)
{
	char sink[16 * 1024];
	int i;

	for (i = 0; i < STEPS; i++) {
		must(loop_step(loop, 0) == 0);
		while (!(u->flags & DEAF) && read(peer, sink, sizeof(sink)) > 0)
			;
	}
}

static void feed(struct user *u, struct loop *loop, int peer, const uint8_t *bytes, size_t n, size_t step)
{
	size_t at = 0;
	ssize_t sent;

	while (at < n && !u->gone) {
		sent = send(peer, bytes + at, n - at < step ? n - at : step, MSG_NOSIGNAL);
		must(sent > 0); /* what was sent before was read */
		at += (size_t)sent;
		settle(u, loop, peer);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct user u = {.flags = n ? bytes[0] : 0};
	struct link_request late = {.head = {.port = 80}};
	struct loop *loop = loop_new();
	struct link_exchange *x;
	struct seen *s;
	int fds[2];

	must(loop && socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	must(link_new(loop, fds[0], u.flags & RELAY, &events, &u, &u.link) == 0);
	if (u.flags & RELAY)
		start_requests(&u);
	settle(&u, loop, fds[1]);
	if (n > 2)
		feed(&u, loop, fds[1], bytes + 2, n - 2, bytes[1] ? bytes[1] : n);
	must(u.open <= LINK_MAX_EXCHANGES);
	(void)close(fds[1]);
	u.flags |= DEAF;
	settle(&u, loop, -1);
	must(u.gone && link_request(u.link, &late, NULL, &x) == -EPIPE);
	link_free(u.link);
	loop_free(loop);
	while ((s = u.all)) {
		u.all = s->next;
		free(s);
	}
	return 0;
}
