#include "gate/relay/tunnel.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/relay/calls.h"
#include "gate/relay/events.h"
#include "gate/relay/first.h"
#include "gate/relay/pipes.h"
#include "policy/net_rules.h"

/*
 * TURN: bytes of one direction before others get theirs. BULK: in one turn, they are a transfer and not a talk. COPY:
 * at a time, where there is no pipe to splice through.
 */
enum { TURN = 4 * 1024 * 1024, BULK = 16 * 1024, COPY = 64 * 1024, BUCKETS = 1024 };

/* One direction. */
struct flow {
	int from, to;
	bool readable, writable; /* worth a try */
	bool ended;		 /* nothing more comes */
	bool told;		 /* and the other side knows */
	struct tunnel *asks;	 /* before it sends, where there is a bound; NULL: never */
	bool waits;		 /* for the answer */
	uint32_t asked, granted; /* bytes; granted: and not sent yet */
	struct pipe_pair pipe;
	size_t held; /* bytes in the pipe */
	uint64_t bytes;
	uint64_t counted; /* of them in the totals */
};

struct tunnel {
	struct relay_tunnels *all;
	struct tunnel *next, *prev;
	struct tunnel *same; /* of its bucket */
	struct loop_watch client, upstream;
	struct loop_timer idle, count;
	struct loop_task turn;
	struct flow up, down;
	struct buf first; /* to be sent up before what is spliced */
	bool look;	  /* at it, before it is */
	bool is_address;
	uint16_t port;
	uint64_t id;
	char host[256];
	char name[HELLO_NAME_MAX + 1]; /* in the ClientHello of one to an address */
};

struct relay_tunnels {
	struct relay *relay;
	struct tunnel ends; /* of the ring */
	struct tunnel *buckets[BUCKETS];
	struct pipes pipes;
	char copy[COPY];
};

struct relay_tunnels *relay_tunnels_new(struct relay *r)
{
	struct relay_tunnels *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->relay = r;
	all->ends.next = all->ends.prev = &all->ends;
	return all;
}

static void count(struct tunnel *t)
{
	if (t->up.bytes != t->up.counted || t->down.bytes != t->down.counted)
		relay_events_bytes(t->all->relay->events, t->up.bytes - t->up.counted, t->down.bytes - t->down.counted);
	t->up.counted = t->up.bytes;
	t->down.counted = t->down.bytes;
}

static void set_reset(int fd)
{
	const struct linger now = {.l_onoff = 1};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static struct tunnel **place(struct relay_tunnels *all, uint64_t id)
{
	struct tunnel **at = &all->buckets[id % BUCKETS];

	while (*at && (*at)->id != id)
		at = &(*at)->same;
	return at;
}

static void end(struct tunnel *t, bool reset)
{
	struct relay_tunnels *all = t->all;

	count(t);
	*place(all, t->id) = t->same;
	loop_watch_remove(&t->client);
	loop_watch_remove(&t->upstream);
	loop_timer_cancel(&t->idle);
	loop_timer_cancel(&t->count);
	loop_task_cancel(&t->turn);
	pipes_give(&all->pipes, &t->up.pipe, t->up.held == 0);
	pipes_give(&all->pipes, &t->down.pipe, t->down.held == 0);
	if (reset) {
		set_reset(t->up.from);
		set_reset(t->up.to);
	}
	(void)close(t->up.from);
	(void)close(t->up.to);
	relay_call_over(all->relay->calls, t->id);
	t->next->prev = t->prev;
	t->prev->next = t->next;
	buf_done(&t->first);
	free(t);
	relay_connection_over(all->relay);
}

void relay_tunnels_free(struct relay_tunnels *all)
{
	if (!all)
		return;
	while (all->ends.next != &all->ends)
		end(all->ends.next, true);
	pipes_done(&all->pipes);
	free(all);
}

/* Moving bytes. Each returns what it moved; 0: it would have to wait; -1: that side failed. */

/* How many of n bytes may go now: 0: egress is asked. */
static ssize_t may_send(struct flow *f, size_t n)
{
	struct relay *r = f->asks ? f->asks->all->relay : NULL;

	if (!r || !r->now->policy->net.max_bytes_out.set)
		return (ssize_t)n;
	if (f->granted)
		return (ssize_t)(n < f->granted ? n : f->granted);
	f->asked = (uint32_t)(n < TURN ? n : TURN);
	f->waits = true;
	return relay_call_want(r->calls, f->asks->id, f->asked) < 0 ? -1 : 0;
}

static void has_sent(struct flow *f, size_t n)
{
	f->granted -= (uint32_t)(n < f->granted ? n : f->granted);
}

/* Without a pipe: looks at what is there, sends it, and takes as much away as was sent. */
static ssize_t copy(struct relay_tunnels *all, struct flow *f)
{
	ssize_t n = recv(f->from, all->copy, COPY, MSG_PEEK), sent;

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -1;
	if (n < 0) {
		f->readable = errno == EINTR;
		return 0;
	}
	if (n == 0) {
		f->ended = true;
		return 0;
	}
	n = may_send(f, (size_t)n);
	if (n <= 0)
		return n;
	sent = send(f->to, all->copy, (size_t)n, MSG_NOSIGNAL);
	if (sent < 0 && errno != EAGAIN && errno != EINTR)
		return -1;
	if (sent < n)
		f->writable = false;
	has_sent(f, sent > 0 ? (size_t)sent : 0);
	return sent > 0 ? recv(f->from, all->copy, (size_t)sent, 0) : 0;
}

static ssize_t fill(struct flow *f)
{
	ssize_t n = splice(f->from, NULL, f->pipe.in, NULL, PIPE_BYTES, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -1;
	/* The pipe is empty: it is the socket that has nothing. */
	if (n < 0)
		f->readable = errno == EINTR;
	else if (n == 0)
		f->ended = true;
	else
		f->held = (size_t)n;
	return n > 0 ? n : 0;
}

static ssize_t drain(struct flow *f)
{
	ssize_t n = may_send(f, f->held);

	if (n <= 0)
		return n;
	n = splice(f->pipe.out, NULL, f->to, NULL, (size_t)n, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -1;
	if (n < 0) {
		f->writable = errno == EINTR;
		return 0;
	}
	f->held -= (size_t)n;
	has_sent(f, (size_t)n);
	return n;
}

static ssize_t move(struct relay_tunnels *all, struct flow *f)
{
	if (f->pipe.out < 0 && pipes_take(&all->pipes, &f->pipe) < 0)
		return copy(all, f);
	if (!f->held && fill(f) < 0)
		return -1;
	return f->held ? drain(f) : 0;
}

static bool can_move(const struct flow *f)
{
	return f->writable && !f->waits && (f->held || (f->readable && !f->ended));
}

/*
 * Whoever waits right away for the rest of a transfer is woken for each of its pieces, which costs more than to move
 * them. A sender that waits for this CPU gets it first; where none does, this is nothing. Once per turn, since others
 * wait too. True: look again.
 */
static bool let_sender_run(void)
{
	return sched_yield() == 0;
}

/* 0, or -1: a side failed. *more: there is still something to do. */
static int run(struct relay_tunnels *all, struct flow *f, bool *more)
{
	size_t moved = 0;
	bool yielded = false;
	ssize_t n;

	while (can_move(f) && moved < TURN) {
		n = move(all, f);
		if (n < 0)
			return -1;
		moved += (size_t)n;
		if (!f->readable && moved >= BULK && !yielded) {
			yielded = true;
			f->readable = let_sender_run();
		}
	}
	f->bytes += moved;
	*more = *more || can_move(f);
	if (!f->held)
		pipes_give(&all->pipes, &f->pipe, true);
	if (f->ended && !f->held && !f->told) {
		f->told = true;
		(void)shutdown(f->to, SHUT_WR);
	}
	return 0;
}

/* The client's first bytes. */

static void tell_refused(struct tunnel *t, const char *why)
{
	struct relay_events *events = t->all->relay->events;
	char subject[300];

	(void)snprintf(subject, sizeof(subject), strchr(t->host, ':') ? "[%s]:%u" : "%s:%u", t->host, t->port);
	relay_events_request(events, true);
	relay_events_tell(events, &(struct relay_event){
					  .domain = DOMAIN_NETWORK, .subject = sv_of(subject), .detail = sv_of(why)});
}

/* 1: they may go up; 0: there are not enough yet; -1: they must not, or the client failed. */
static int look(struct tunnel *t)
{
	struct relay_tunnels *all = t->all;
	struct hello hello;
	const char *fault = NULL;
	char words[FIRST_FAULT];
	enum first_kind kind;
	ssize_t n;

	while ((kind = first_look(buf_view(&t->first), &hello)) == FIRST_MORE && !t->up.ended) {
		n = recv(t->up.from, all->copy, 16 * 1024, 0);
		if (n < 0 && errno == EAGAIN) {
			t->up.readable = false;
			return 0;
		}
		if (n < 0 && errno != EINTR)
			return -1;
		t->up.ended = n == 0;
		if (n > 0 && buf_add(&t->first, all->copy, (size_t)n) < 0)
			return -1;
	}
	if (kind == FIRST_TLS)
		fault = first_name_fault(all->relay->now->rules, &hello, t->host, t->is_address, t->port, NET_RAW);
	else if (kind == FIRST_BAD || (kind == FIRST_MORE && t->first.n))
		fault = "the ClientHello cannot be judged";
	if (fault) {
		tell_refused(t, kind == FIRST_TLS ? first_fault_words(fault, &hello, words) : fault);
		return -1;
	}
	t->look = false;
	if (kind == FIRST_TLS)
		(void)snprintf(t->name, sizeof(t->name), "%s", hello.name);
	return 1;
}

/* The same answers. */
static int send_first(struct tunnel *t)
{
	ssize_t n;

	while (t->first.n) {
		if (!t->up.writable || t->up.waits)
			return 0;
		n = may_send(&t->up, t->first.n);
		if (n <= 0)
			return (int)n;
		n = send(t->up.to, t->first.p, (size_t)n, MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		if (n < 0) {
			t->up.writable = errno == EINTR;
			continue;
		}
		has_sent(&t->up, (size_t)n);
		t->up.bytes += (uint64_t)n;
		t->first.n -= (size_t)n;
		memmove(t->first.p, t->first.p + n, t->first.n);
	}
	buf_done(&t->first);
	return 1;
}

static int run_up(struct tunnel *t, bool *more)
{
	int r = 1;

	if (t->look)
		r = t->up.readable || t->first.n ? look(t) : 0;
	if (r > 0 && t->first.n)
		r = send_first(t);
	if (r <= 0)
		return r;
	return run(t->all, &t->up, more);
}

static void on_turn(void *arg);
static void on_idle(void *arg);
static void on_count(void *arg);

static void work(struct tunnel *t)
{
	struct loop *loop = t->all->relay->loop;
	bool more = false;

	if (run_up(t, &more) < 0 || run(t->all, &t->down, &more) < 0) {
		end(t, true);
		return;
	}
	if (t->up.told && t->down.told) {
		end(t, false);
		return;
	}
	loop_timer_set(loop, &t->idle, t->up.told || t->down.told ? TUNNEL_HALF_MS : TUNNEL_IDLE_MS, on_idle, t);
	if (!loop_timer_armed(&t->count))
		loop_timer_set(loop, &t->count, 1000, on_count, t);
	if (more)
		loop_task_post(loop, &t->turn, on_turn, t);
}

static void on_turn(void *arg)
{
	work(arg);
}

static void on_idle(void *arg)
{
	end(arg, true);
}

static void on_count(void *arg)
{
	count(arg);
}

static void on_client(void *arg, unsigned events)
{
	struct tunnel *t = arg;

	t->up.readable |= (events & LOOP_READ) != 0;
	t->down.writable |= (events & LOOP_WRITE) != 0;
	work(t);
}

static void on_upstream(void *arg, unsigned events)
{
	struct tunnel *t = arg;

	t->down.readable |= (events & LOOP_READ) != 0;
	t->up.writable |= (events & LOOP_WRITE) != 0;
	work(t);
}

/* Starting, and judging again. */

/* By the host, and where that is an address by the name in the ClientHello too: a policy that came later may deny it,
 * or look inside. */
static bool may_be(const struct tunnel *t)
{
	const struct ruleset *rules = t->all->relay->now->rules;
	struct hello hello = {0};
	struct net_verdict v;

	net_rules_name(rules, sv_of(t->host), t->port, &v);
	if (!v.allow || v.way == NET_INSPECT)
		return false;
	if (!t->is_address || !t->name[0])
		return true;
	(void)snprintf(hello.name, sizeof(hello.name), "%s", t->name);
	return first_name_fault(rules, &hello, t->host, true, t->port, v.way) == NULL;
}

static struct tunnel *make(struct relay *r, struct tunnel_ends *ends)
{
	struct tunnel *t = calloc(1, sizeof(*t));
	struct hello hello;
	int yes = 1;

	if (!t)
		return NULL;
	*t = (struct tunnel){.all = r->tunnels,
			     .next = &r->tunnels->ends,
			     .prev = r->tunnels->ends.prev,
			     .up = {.from = ends->client, .to = ends->upstream, .pipe = {-1, -1}},
			     .down = {.from = ends->upstream, .to = ends->client, .pipe = {-1, -1}},
			     .first = ends->first,
			     .look = ends->look,
			     .is_address = ends->is_address,
			     .port = ends->port,
			     .id = ends->id};
	(void)snprintf(t->host, sizeof(t->host), "%s", ends->host);
	if (!t->look && first_look(buf_view(&t->first), &hello) == FIRST_TLS)
		(void)snprintf(t->name, sizeof(t->name), "%s", hello.name);
	t->up.asks = t;
	t->same = *place(t->all, t->id);
	*place(t->all, t->id) = t;
	t->prev->next = t;
	t->next->prev = t;
	/* What one side sent in one piece arrives in one: waiting to collect more would only add to the delay. */
	(void)setsockopt(ends->client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	(void)setsockopt(ends->upstream, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return t;
}

void relay_tunnel_start(struct relay *r, struct tunnel_ends *ends)
{
	struct tunnel *t = make(r, ends);

	if (!t) {
		(void)close(ends->client);
		(void)close(ends->upstream);
		buf_done(&ends->first);
		relay_call_over(r->calls, ends->id);
		relay_connection_over(r);
		return;
	}
	if (!may_be(t) || loop_watch_add(r->loop, &t->client, ends->client, LOOP_READ | LOOP_WRITE, on_client, t) < 0 ||
	    loop_watch_add(r->loop, &t->upstream, ends->upstream, LOOP_READ | LOOP_WRITE, on_upstream, t) < 0)
		end(t, true);
}

bool relay_tunnel_granted(struct relay *r, uint64_t id, uint32_t n)
{
	struct tunnel *t = *place(r->tunnels, id);

	if (!t)
		return true; /* it ended while egress answered */
	if (!t->up.waits || n > t->up.asked)
		return false;
	t->up.waits = false;
	t->up.granted = n;
	if (n == 0)
		end(t, true);
	else
		work(t);
	return true;
}

void relay_tunnels_count(struct relay *r)
{
	struct tunnel *t;

	for (t = r->tunnels->ends.next; t != &r->tunnels->ends; t = t->next)
		count(t);
}

void relay_tunnels_judge_again(struct relay *r)
{
	struct tunnel *t, *next;

	for (t = r->tunnels->ends.next; t != &r->tunnels->ends; t = next) {
		next = t->next;
		if (!may_be(t)) {
			tell_refused(t, "the new policy does not allow this tunnel");
			end(t, true);
		}
	}
}
