#include "gate/egress/resolve.h"

#include <ares.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"

/* BESIDE_NAME: of a question, header and type. QUESTIONS: one for each kind of address. */
enum { BESIDE_NAME = 18, QUESTIONS = 2 };
enum { TRY_TIMEOUT = 1500, TRIES = 3, HOSTS_MAX = 256 * 1024, NAME_MAX_TEXT = 254 };

struct pin {
	const char *host;
	struct address address;
};

/* A socket of c-ares. */
struct channel_socket {
	struct channel_socket *next;
	struct resolver *resolver;
	struct loop_watch watch;
	ares_socket_t fd;
};

/* One name that c-ares looks up. It cannot be called off there, so it outlives its query. */
struct resolve_lookup {
	struct resolve_query *query; /* NULL: nobody waits */
};

struct resolver {
	struct loop *loop;
	struct arena *arena;
	struct pin *pins;
	uint32_t n_pins;
	struct buf hosts; /* the hosts file */
	ares_channel channel;
	bool has_channel;
	struct channel_socket *sockets;
	struct loop_timer timer;
	resolve_charge_fn *charge; /* NULL: it is free */
	void *charge_arg;
	uint64_t paid; /* bytes that were charged and have not gone out yet */
};

static void watch_time(struct resolver *r);

static void on_socket(void *arg, unsigned events)
{
	struct channel_socket *s = arg;
	struct resolver *r = s->resolver;
	ares_socket_t fd = s->fd;

	/* s may be gone after this */
	ares_process_fd(r->channel, events & LOOP_READ ? fd : ARES_SOCKET_BAD,
			events & LOOP_WRITE ? fd : ARES_SOCKET_BAD);
	watch_time(r);
}

static void on_socket_state(void *data, ares_socket_t fd, int readable, int writable)
{
	unsigned want = (readable ? (unsigned)LOOP_READ : 0U) | (writable ? (unsigned)LOOP_WRITE : 0U) | LOOP_LEVEL;
	struct resolver *r = data;
	struct channel_socket *s, **at;

	for (at = &r->sockets; *at && (*at)->fd != fd; at = &(*at)->next)
		;
	s = *at;
	if (s && !readable && !writable) {
		loop_watch_remove(&s->watch);
		*at = s->next;
		free(s);
	} else if (s) {
		(void)loop_watch_change(&s->watch, want);
	} else if (readable || writable) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return; /* the query runs into its time limit */
		s->resolver = r;
		s->fd = fd;
		s->next = r->sockets;
		r->sockets = s;
		(void)loop_watch_add(r->loop, &s->watch, fd, want, on_socket, s);
	}
}

static void on_time(void *arg)
{
	struct resolver *r = arg;

	ares_process_fd(r->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	watch_time(r);
}

static void watch_time(struct resolver *r)
{
	struct timeval tv;

	if (!ares_timeout(r->channel, NULL, &tv))
		loop_timer_cancel(&r->timer);
	else
		loop_timer_set(r->loop, &r->timer, tv.tv_sec * 1000 + tv.tv_usec / 1000 + 1, on_time, r);
}

static ares_socket_t open_socket(int family, int type, int protocol, void *arg)
{
	(void)arg;
	return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
}

static int close_socket(ares_socket_t fd, void *arg)
{
	(void)arg;
	return close(fd);
}

static int connect_socket(ares_socket_t fd, const struct sockaddr *to, ares_socklen_t n, void *arg)
{
	(void)arg;
	return connect(fd, to, n);
}

static ares_ssize_t receive(ares_socket_t fd, void *bytes, size_t n, int flags, struct sockaddr *from,
			    ares_socklen_t *n_from, void *arg)
{
	(void)arg;
	return recvfrom(fd, bytes, n, flags, from, n_from);
}

/* A question is paid for before it is asked (resolve_start()). Where no answer comes it is asked again, of each server:
 * that is paid for as it goes out, or does not go. */
static ares_ssize_t send_paid(ares_socket_t fd, const struct iovec *v, int n, void *arg)
{
	struct resolver *r = arg;
	uint64_t bytes = 0;
	ssize_t sent;
	int i;

	for (i = 0; i < n; i++)
		bytes += v[i].iov_len;
	if (r->charge && bytes > r->paid) {
		if (!r->charge(r->charge_arg, bytes - r->paid)) {
			errno = ECONNREFUSED;
			return -1;
		}
		r->paid = bytes;
	}
	sent = writev(fd, v, n);
	if (r->charge && sent > 0)
		r->paid -= (uint64_t)sent;
	return sent;
}

static int read_pins(struct resolver *r, const struct gate_pin *pins, uint32_t n, struct error *err)
{
	uint32_t i;

	r->pins = arena_array(r->arena, n, sizeof(*r->pins));
	for (i = 0; i < n && r->pins; i++) {
		if (!address_parse(pins[i].address, &r->pins[i].address))
			return error_set(err, ERROR_INPUT, "a fixed address of the set-up is none");
		r->pins[i].host = arena_str(r->arena, pins[i].host);
	}
	r->n_pins = n;
	return arena_failed(r->arena) ? error_sys(err, ENOMEM, "resolver") : 0;
}

int resolver_new(struct loop *loop, const struct gate_pin *pins, uint32_t n, struct resolver **ret, struct error *err)
{
	static const struct ares_socket_functions sockets = {open_socket, close_socket, connect_socket, receive,
							     send_paid};
	char lookups[] = "b";
	/* no domains to search: the flag alone does not keep ares_getaddrinfo() from it */
	struct ares_options options = {.flags = ARES_FLAG_NOALIASES | ARES_FLAG_NOSEARCH,
				       .timeout = TRY_TIMEOUT,
				       .tries = TRIES,
				       .lookups = lookups,
				       .domains = NULL,
				       .ndomains = 0,
				       .sock_state_cb = on_socket_state};
	struct resolver *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return error_sys(err, ENOMEM, "resolver");
	r->loop = loop;
	options.sock_state_cb_data = r;
	buf_init(&r->hosts, HOSTS_MAX);
	/* one that is missing or too large is passed over */
	if (buf_read_file(&r->hosts, "/etc/hosts") < 0)
		buf_clear(&r->hosts);
	r->arena = arena_new();
	status = r->arena ? ares_init_options(&r->channel, &options,
					      ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
						      ARES_OPT_DOMAINS | ARES_OPT_SOCK_STATE_CB)
			  : ARES_ENOMEM;
	r->has_channel = status == ARES_SUCCESS;
	if (!r->has_channel || read_pins(r, pins, n, err) < 0) {
		if (!r->has_channel)
			(void)error_set(err, ERROR_SYSTEM, "resolver: %s", ares_strerror(status));
		resolver_free(r);
		return -1;
	}
	ares_set_socket_functions(r->channel, &sockets, r);
	*ret = r;
	return 0;
}

void resolver_charge(struct resolver *r, resolve_charge_fn *fn, void *arg)
{
	r->charge = fn;
	r->charge_arg = arg;
}

void resolver_free(struct resolver *r)
{
	struct channel_socket *s;

	if (!r)
		return;
	if (r->has_channel)
		ares_destroy(r->channel);
	while ((s = r->sockets)) {
		r->sockets = s->next;
		loop_watch_remove(&s->watch);
		free(s);
	}
	loop_timer_cancel(&r->timer);
	buf_done(&r->hosts);
	arena_free(r->arena);
	free(r);
}

static void add(struct resolve_answer *a, const struct address *one)
{
	if (a->n < RESOLVE_MAX)
		a->v[a->n++] = *one;
}

/* IPv6 and IPv4 in turn: where one of them leads nowhere, the other's turn comes soon. */
static void interleave(struct resolve_answer *a)
{
	struct address v[2][RESOLVE_MAX];
	unsigned n[2] = {0}, i;

	for (i = 0; i < a->n; i++)
		v[a->v[i].is4][n[a->v[i].is4]++] = a->v[i];
	a->n = 0;
	for (i = 0; i < RESOLVE_MAX; i++) {
		if (i < n[0])
			add(a, &v[0][i]);
		if (i < n[1])
			add(a, &v[1][i]);
	}
}

/* The answer is given by the loop's timer, which may be due at once. */
static void on_due(void *arg)
{
	struct resolve_query *q = arg;

	if (q->lookup) { /* the time limit */
		q->lookup->query = NULL;
		q->lookup = NULL;
		q->why = GATE_FAILURE_NAME;
	}
	q->resolver = NULL;
	q->fn(q->arg, q->why, &q->answer);
}

static void answer(struct resolve_query *q, enum gate_failure why)
{
	q->lookup = NULL;
	q->why = why;
	interleave(&q->answer);
	loop_timer_set(q->resolver->loop, &q->timer, 0, on_due, q);
}

static void on_addresses(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
	struct resolve_lookup *l = arg;
	struct resolve_query *q = l->query;
	struct ares_addrinfo_node *node;

	(void)timeouts;
	free(l);
	if (q)
		q->lookup = NULL;
	if (q && status != ARES_EDESTRUCTION) {
		for (node = info ? info->nodes : NULL; node; node = node->ai_next) {
			struct address a;

			if (node->ai_family == AF_INET) {
				const struct sockaddr_in *in = (const void *)node->ai_addr;

				a = address_of4((const uint8_t *)&in->sin_addr);
			} else if (node->ai_family == AF_INET6) {
				const struct sockaddr_in6 *in6 = (const void *)node->ai_addr;

				a = address_of6(in6->sin6_addr.s6_addr);
			} else {
				continue;
			}
			add(&q->answer, &a);
		}
		answer(q, status == ARES_SUCCESS && q->answer.n ? GATE_FAILURE_NONE : GATE_FAILURE_NAME);
	}
	if (info)
		ares_freeaddrinfo(info);
}

static bool cut(struct sv *s, const char *at, struct sv *ret)
{
	size_t i = 0, n;

	while (i < s->n && strchr(at, s->p[i]))
		i++;
	for (n = i; n < s->n && !strchr(at, s->p[n]); n++)
		;
	*ret = sv_n(s->p + i, n - i);
	s->p += n;
	s->n -= n;
	return ret->n > 0;
}

static bool same_name(struct sv a, struct sv b)
{
	return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

/* One line of the hosts file. */
static void add_line(struct resolve_answer *a, struct sv line, struct sv host)
{
	const char *comment = memchr(line.p, '#', line.n);
	struct address address;
	struct sv word;

	if (comment)
		line.n = (size_t)(comment - line.p);
	if (!cut(&line, " \t\r", &word) || !address_parse(word, &address))
		return;
	while (cut(&line, " \t\r", &word))
		if (same_name(word, host)) {
			add(a, &address);
			return;
		}
}

bool resolver_has_pin(const struct resolver *r, struct sv host)
{
	uint32_t i;

	for (i = 0; i < r->n_pins; i++)
		if (same_name(sv_of(r->pins[i].host), host))
			return true;
	return false;
}

static bool known_here(const struct resolver *r, struct sv host, struct resolve_answer *a)
{
	struct sv hosts = buf_view(&r->hosts), line;
	uint32_t i;

	if (address_parse(host, &a->v[0])) {
		a->n = 1;
		return true;
	}
	for (i = 0; i < r->n_pins; i++)
		if (same_name(sv_of(r->pins[i].host), host))
			add(a, &r->pins[i].address);
	a->fixed = a->n > 0;
	while (a->n == 0 && cut(&hosts, "\n", &line)) {
		add_line(a, line, host);
		while (a->n && cut(&hosts, "\n", &line))
			add_line(a, line, host);
	}
	return a->n > 0;
}

void resolve_start(struct resolver *r, struct resolve_query *q, struct sv host, resolve_fn *fn, void *arg)
{
	const struct ares_addrinfo_hints hints = {.ai_flags = ARES_AI_NOSORT, .ai_family = AF_UNSPEC};
	char name[NAME_MAX_TEXT + 1];

	*q = (struct resolve_query){.resolver = r, .fn = fn, .arg = arg};
	if (known_here(r, host, &q->answer)) {
		answer(q, GATE_FAILURE_NONE);
		return;
	}
	if (host.n == 0 || host.n > NAME_MAX_TEXT || memchr(host.p, '\0', host.n) || address_looks_numeric(host)) {
		answer(q, GATE_FAILURE_NAME);
		return;
	}
	if (r->charge) {
		uint64_t bytes = QUESTIONS * (host.n + BESIDE_NAME);

		if (!r->charge(r->charge_arg, bytes)) {
			answer(q, GATE_FAILURE_QUOTA);
			return;
		}
		r->paid += bytes;
	}
	memcpy(name, host.p, host.n);
	name[host.n] = '\0';
	q->lookup = malloc(sizeof(*q->lookup));
	if (!q->lookup) {
		answer(q, GATE_FAILURE_INTERNAL);
		return;
	}
	q->lookup->query = q;
	loop_timer_set(r->loop, &q->timer, RESOLVE_TIMEOUT, on_due, q);
	ares_getaddrinfo(r->channel, name, NULL, &hints, on_addresses, q->lookup);
	watch_time(r);
}

void resolve_cancel(struct resolve_query *q)
{
	if (q->lookup)
		q->lookup->query = NULL;
	q->lookup = NULL;
	loop_timer_cancel(&q->timer);
	q->resolver = NULL;
}
