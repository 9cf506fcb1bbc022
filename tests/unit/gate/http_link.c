#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "http/link.h"
#include "http/link_frame.h"

/* Both sides in one process, each with what its events told. */
struct side {
	struct link *link;
	struct link_exchange *x; /* the last one */
	struct buf data;	 /* of all exchanges */
	char head[256];
	char fields[256];
	char trailers[256];
	enum gate_failure failure;
	int requests, responses, ends, closes, resets, rooms, gone;
	bool hold; /* do not consume */
};

struct pair {
	struct loop *loop;
	struct side relay, egress;
};

static void show_fields(char *to, size_t n, const struct http_fields *f)
{
	size_t at = 0;
	uint32_t i;

	to[0] = '\0';
	for (i = 0; i < f->n && at < n; i++)
		at += (size_t)snprintf(to + at, n - at, "%.*s=%.*s;", (int)f->v[i].name.n, f->v[i].name.p,
				       (int)f->v[i].value.n, f->v[i].value.p);
}

static void on_request(void *user, struct link_exchange *x, const struct link_request *r)
{
	struct side *s = user;

	s->x = x;
	s->requests++;
	(void)snprintf(s->head, sizeof(s->head), "%.*s %s://%.*s:%u%.*s length %lld%s%s%s provider %u generation %llu",
		       (int)r->head.method.n, r->head.method.p, r->head.tls ? "https" : "http", (int)r->head.host.n,
		       r->head.host.p, r->head.port, (int)r->head.target.n, r->head.target.p, (long long)r->head.length,
		       r->head.body ? " body" : "", r->head.websocket ? " websocket" : "",
		       r->inference ? " inference" : "", r->provider, (unsigned long long)r->generation);
	show_fields(s->fields, sizeof(s->fields), &r->head.fields);
}

static void on_response(void *user, struct link_exchange *x, const struct http_response *r)
{
	struct side *s = user;

	s->x = x;
	s->responses++;
	(void)snprintf(s->head, sizeof(s->head), "%u %.*s length %lld%s", r->status, (int)r->reason.n, r->reason.p,
		       (long long)r->length, r->body ? " body" : "");
	show_fields(s->fields, sizeof(s->fields), &r->fields);
}

static void on_failed(void *user, struct link_exchange *x, enum gate_failure why, struct sv text)
{
	struct side *s = user;

	(void)x;
	s->failure = why;
	(void)snprintf(s->head, sizeof(s->head), "%.*s", (int)text.n, text.p);
}

static void on_data(void *user, struct link_exchange *x, struct sv bytes)
{
	struct side *s = user;

	(void)buf_sv(&s->data, bytes);
	if (!s->hold)
		link_consume(x, bytes.n);
}

static void on_end(void *user, struct link_exchange *x, const struct http_fields *trailers)
{
	struct side *s = user;

	(void)x;
	s->ends++;
	show_fields(s->trailers, sizeof(s->trailers), trailers);
}

static void on_room(void *user, struct link_exchange *x)
{
	struct side *s = user;

	(void)x;
	s->rooms++;
}

static void on_closed(void *user, struct link_exchange *x, bool reset)
{
	struct side *s = user;

	s->closes++;
	s->resets += reset;
	if (s->x == x)
		s->x = NULL;
}

static void on_gone(void *user)
{
	((struct side *)user)->gone++;
}

static const struct link_events events = {on_request, on_response, on_failed, on_data,
					  on_end,     on_room,     on_closed, on_gone};

static void side_open(struct side *s, struct loop *loop, int fd, bool relay)
{
	buf_init(&s->data, 1 << 30);
	CHECK(link_new(loop, fd, relay, &events, s, &s->link) == 0);
}

static void pair_open(struct pair *p)
{
	int fds[2];

	*p = (struct pair){.loop = loop_new()};
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	side_open(&p->relay, p->loop, fds[0], true);
	side_open(&p->egress, p->loop, fds[1], false);
}

static void pair_done(struct pair *p)
{
	link_free(p->relay.link);
	link_free(p->egress.link);
	buf_done(&p->relay.data);
	buf_done(&p->egress.data);
	loop_free(p->loop);
}

static void settle(struct pair *p)
{
	int i;

	for (i = 0; i < 20; i++)
		(void)loop_step(p->loop, 0);
}

static struct link_request get(const char *target, bool body)
{
	return (struct link_request){.head = {.method = sv_of(body ? "POST" : "GET"),
					      .tls = true,
					      .host = sv_of("a.test"),
					      .port = 443,
					      .target = sv_of(target),
					      .body = body,
					      .length = body ? HTTP_LENGTH_UNKNOWN : 0},
				     .generation = 7};
}

static struct link_exchange *ask(struct pair *p, bool body)
{
	struct link_request r = get("/x?y", body);
	struct link_exchange *x = NULL;

	CHECK(link_request(p->relay.link, &r, NULL, &x) == 0);
	settle(p);
	return x;
}

static void an_exchange_goes_over_whole(void)
{
	struct http_field v[] = {{sv_of("accept"), sv_of("*/*")}, {sv_of("x"), sv_of("")}},
			  t[] = {{sv_of("grpc-status"), sv_of("0")}};
	struct http_response ok = {.status = 200, .reason = sv_of("OK"), .body = true, .length = 5, .fields = {v, 1}};
	struct link_request r = get("/x?y", true);
	struct link_exchange *x;
	struct pair p;

	pair_open(&p);
	r.head.fields = (struct http_fields){v, 2};
	r.inference = true;
	r.provider = 3;
	CHECK(link_request(p.relay.link, &r, NULL, &x) == 0);
	CHECK(link_data(x, sv_of("hello")) == 5);
	CHECK(link_end(x, NULL) == 0);
	settle(&p);
	CHECK_STR(p.egress.head, "POST https://a.test:443/x?y length -1 body inference provider 3 generation 7");
	CHECK_STR(p.egress.fields, "accept=*/*;x=;");
	CHECK_STR(p.egress.data.p, "hello");
	CHECK(p.egress.ends == 1);
	CHECK(link_respond(p.egress.x, &(struct http_response){.status = 103}) == 0);
	CHECK(link_respond(p.egress.x, &ok) == 0);
	CHECK(link_data(p.egress.x, sv_of("world")) == 5);
	CHECK(link_end(p.egress.x, &(struct http_fields){t, 1}) == 0);
	settle(&p);
	CHECK(p.relay.responses == 2);
	CHECK_STR(p.relay.head, "200 OK length 5 body");
	CHECK_STR(p.relay.data.p, "world");
	CHECK_STR(p.relay.trailers, "grpc-status=0;");
	CHECK(p.relay.closes == 1 && p.egress.closes == 1 && p.relay.resets == 0 && p.egress.resets == 0);
	pair_done(&p);
}

static void an_answer_without_a_body_is_complete(void)
{
	struct pair p;

	pair_open(&p);
	(void)ask(&p, false);
	CHECK(link_respond(p.egress.x, &(struct http_response){.status = 204}) == 0);
	settle(&p);
	CHECK(p.relay.ends == 1 && p.relay.closes == 1 && p.egress.closes == 1);
	pair_done(&p);
}

static void who_does_not_consume_stops_its_sender_only(void)
{
	static char big[4 * LINK_WINDOW];
	struct link_exchange *slow, *quick;
	struct pair p;
	ssize_t n;

	pair_open(&p);
	slow = ask(&p, true);
	quick = ask(&p, true);
	p.egress.hold = true;
	n = link_data(slow, sv_n(big, sizeof(big)));
	CHECK(n == LINK_WINDOW);
	settle(&p);
	CHECK(link_data(slow, sv_n(big, 1)) == 0);
	CHECK(link_data(quick, sv_n(big, 10)) == 10);
	settle(&p);
	CHECK(p.egress.data.n == LINK_WINDOW + 10 && p.relay.rooms == 0);
	link_consume(p.egress.x, 10);
	settle(&p);
	CHECK(p.relay.rooms == 0);
	pair_done(&p);
}

static void credit_given_back_lets_the_sender_go_on(void)
{
	static char big[2 * LINK_WINDOW];
	struct link_exchange *x;
	struct pair p;
	size_t sent = 0;
	int i;

	pair_open(&p);
	x = ask(&p, true);
	for (i = 0; i < 1000 && sent < sizeof(big); i++) {
		ssize_t n = link_data(x, sv_n(big + sent, sizeof(big) - sent));

		CHECK(n >= 0);
		sent += n > 0 ? (size_t)n : 0;
		settle(&p);
	}
	CHECK(p.egress.data.n == sizeof(big) && p.relay.rooms > 0);
	pair_done(&p);
}

static void a_failure_ends_the_exchange_with_its_reason(void)
{
	struct pair p;

	pair_open(&p);
	(void)ask(&p, false);
	CHECK(link_fail(p.egress.x, GATE_FAILURE_EXPIRED, sv_of("since May")) == 0);
	settle(&p);
	CHECK(p.relay.failure == GATE_FAILURE_EXPIRED && p.relay.closes == 1 && p.egress.closes == 1);
	CHECK_STR(p.relay.head, "since May");
	pair_done(&p);
}

static void a_reset_by_either_side_reaches_the_other(void)
{
	struct pair p;

	pair_open(&p);
	link_reset(ask(&p, true));
	settle(&p);
	CHECK(p.relay.resets == 1 && p.egress.resets == 1);
	(void)ask(&p, true);
	link_reset(p.egress.x);
	settle(&p);
	CHECK(p.relay.resets == 2 && p.egress.resets == 2 && p.relay.gone == 0);
	pair_done(&p);
}

static void what_was_under_way_when_an_exchange_ended_reaches_no_other(void)
{
	struct link_exchange *x;
	struct pair p;

	pair_open(&p);
	x = ask(&p, false);
	CHECK(link_respond(p.egress.x, &(struct http_response){.status = 200, .body = true, .length = 3}) == 0);
	CHECK(link_data(p.egress.x, sv_of("old")) == 3);
	link_reset(x);
	(void)loop_step(p.loop, 0);
	(void)ask(&p, false); /* takes the same slot */
	CHECK(p.relay.data.n == 0 && p.relay.gone == 0 && p.egress.requests == 2);
	pair_done(&p);
}

static void a_side_that_breaks_the_rules_is_cut_off(void)
{
	static const struct {
		const char *what;
		const char *bytes;
		size_t n;
	} cases[] = {
		{"too long", "\xff\xff\xff\x7f\x03\0\0\0\0\x40\0\0", 12},
		{"no type", "\0\0\0\0\0\0\0\0\0\x40\0\0", 12},
		{"unknown type", "\0\0\0\0\x63\0\0\0\0\x40\0\0", 12},
		{"a request to the relay", "\0\0\0\0\x01\0\0\0\0\x40\0\0", 12},
		{"data before an answer", "\x01\0\0\0\x03\0\0\0\0\x40\0\0x", 13},
		{"an end before an answer", "\x04\0\0\0\x04\0\0\0\0\x40\0\0\0\0\0\0", 16},
		{"a malformed answer", "\x01\0\0\0\x02\0\0\0\0\x40\0\0x", 13},
		{"credit that was never used", "\x04\0\0\0\x07\0\0\0\0\x40\0\0\x01\0\0\0", 16},
		{"a CPU to come to, from who does not lead", "\0\0\0\0\x06\0\x01\0\0\x40\0\0", 12},
		{"an unknown failure", "\x08\0\0\0\x05\0\0\0\0\x40\0\0\xff\0\0\0\0\0\0\0", 20},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct pair p = {.loop = loop_new()};
		int fds[2];

		CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
		side_open(&p.relay, p.loop, fds[0], true);
		(void)ask(&p, false); /* its number is 0x4000 */
		CHECK(write(fds[1], cases[i].bytes, cases[i].n) == (ssize_t)cases[i].n);
		settle(&p);
		if (p.relay.gone != 1)
			printf("# %s\n", cases[i].what);
		CHECK(p.relay.gone == 1);
		CHECK(link_request(p.relay.link, &(struct link_request){0}, NULL, &p.relay.x) == -EPIPE);
		link_free(p.relay.link);
		buf_done(&p.relay.data);
		(void)close(fds[1]);
		loop_free(p.loop);
	}
}

static void more_data_than_credit_is_cut_off(void)
{
	static char frame[LINK_HEADER + 32768];
	struct pair p = {.loop = loop_new()};
	size_t i;
	int fds[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	CHECK(fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0);
	side_open(&p.egress, p.loop, fds[0], false);
	p.egress.hold = true;
	{
		struct link_request r = get("/", true);
		AUTO_BUF b = {0};
		size_t at;

		buf_init(&b, 4096);
		at = link_open(&b, LINK_REQUEST, 1 << 14);
		link_put_request(&b, &r);
		link_close(&b, at);
		CHECK(write(fds[1], b.p, b.n) == (ssize_t)b.n);
	}
	memcpy(frame, "\0\x80\0\0\x03\0\0\0\0\x40\0\0", LINK_HEADER);
	for (i = 0; i < 5 && !p.egress.gone; i++) {
		CHECK(p.egress.gone == 0);
		CHECK(write(fds[1], frame, sizeof(frame)) == (ssize_t)sizeof(frame));
		settle(&p);
	}
	CHECK(p.egress.gone == 1 && p.egress.data.n == LINK_WINDOW);
	link_free(p.egress.link);
	buf_done(&p.egress.data);
	(void)close(fds[1]);
	loop_free(p.loop);
}

static void the_end_of_one_side_is_told_to_the_other(void)
{
	struct pair p;

	pair_open(&p);
	(void)ask(&p, true);
	link_free(p.egress.link);
	p.egress.link = NULL;
	settle(&p);
	CHECK(p.relay.gone == 1);
	pair_done(&p);
}

static void gone_is_the_last_event_whatever_is_called_after_it(void)
{
	struct link_request r = get("/", false);
	struct link_exchange *x, *y;
	struct pair p;

	pair_open(&p);
	x = ask(&p, true);
	link_free(p.egress.link);
	p.egress.link = NULL;
	settle(&p);
	CHECK(p.relay.gone == 1 && p.relay.closes == 0);
	CHECK(link_data(x, sv_of("more")) == 0);
	link_reset(x);
	CHECK(link_request(p.relay.link, &r, NULL, &y) == -EPIPE);
	settle(&p);
	CHECK(p.relay.gone == 1 && p.relay.closes == 0);
	pair_done(&p);
}

/* Sends a request by hand on the other end of egress's link. */
static void ask_by_hand(int fd, uint32_t id)
{
	struct link_request r = get("/", false);
	AUTO_BUF frame = {0};
	size_t at;

	buf_init(&frame, LINK_MAX_FRAME);
	at = link_open(&frame, LINK_REQUEST, id);
	link_put_request(&frame, &r);
	link_close(&frame, at);
	CHECK(write(fd, frame.p, frame.n) == (ssize_t)frame.n);
}

static void a_side_that_asks_and_never_reads_is_cut_off(void)
{
	static char reason[60 * 1024];
	struct http_response large = {.status = 200, .reason = {reason, sizeof(reason)}};
	const uint32_t bound = 2 * 1024; /* 120 MiB of answers */
	struct pair p = {.loop = loop_new()};
	uint32_t i;
	int fds[2];

	memset(reason, 'x', sizeof(reason));
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	side_open(&p.egress, p.loop, fds[0], false);
	for (i = 0; i < bound && !p.egress.gone; i++) {
		ask_by_hand(fds[1], i);
		(void)loop_step(p.loop, 0);
		if (p.egress.x)
			(void)link_respond(p.egress.x, &large);
		(void)loop_step(p.loop, 0);
	}
	CHECK(p.egress.gone == 1 && i > 100);
	link_free(p.egress.link);
	buf_done(&p.egress.data);
	(void)close(fds[1]);
	loop_free(p.loop);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_exchange_goes_over_whole),
		CASE(an_answer_without_a_body_is_complete),
		CASE(who_does_not_consume_stops_its_sender_only),
		CASE(credit_given_back_lets_the_sender_go_on),
		CASE(a_failure_ends_the_exchange_with_its_reason),
		CASE(a_reset_by_either_side_reaches_the_other),
		CASE(what_was_under_way_when_an_exchange_ended_reaches_no_other),
		CASE(a_side_that_breaks_the_rules_is_cut_off),
		CASE(more_data_than_credit_is_cut_off),
		CASE(the_end_of_one_side_is_told_to_the_other),
		CASE(gone_is_the_last_event_whatever_is_called_after_it),
		CASE(a_side_that_asks_and_never_reads_is_cut_off),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
