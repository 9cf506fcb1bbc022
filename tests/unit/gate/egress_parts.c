#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "check.h"
#include "gate/egress/dial.h"
#include "gate/egress/events.h"
#include "gate/egress/form_watch.h"
#include "gate/egress/grants.h"
#include "gate/egress/inflate.h"
#include "gate/egress/legible.h"
#include "gate/egress/quota.h"
#include "gate/egress/websocket.h"
#include "vault/vault.h"

/* text, compressed: bits as deflateInit2() takes them. */
static size_t squeeze(const char *text, size_t n, int bits, char *out, size_t max)
{
	z_stream z = {0};

	CHECK(deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_in = (Bytef *)(uintptr_t)text;
	z.avail_in = (uInt)n;
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)max;
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	(void)deflateEnd(&z);
	return max - z.avail_out;
}

/* Unfolds in pieces of `piece` bytes through a window of `window`. The result, or a negative error. */
static long unfold(const char *coding, struct sv bytes, size_t piece, size_t window, struct buf *out,
		   bool *ret_complete)
{
	struct inflater *i = NULL;
	char room[64];
	long n = 0;

	CHECK(inflater_new(sv_of(coding), &i) == 0 && i);
	while (bytes.n && n >= 0) {
		struct sv in = sv_n(bytes.p, bytes.n < piece ? bytes.n : piece);
		size_t given = in.n;

		do {
			n = inflater_run(i, &in, room, window);
			if (n > 0)
				(void)buf_add(out, room, (size_t)n);
		} while (n >= 0 && (in.n || inflater_has_more(i)));
		bytes.p += given;
		bytes.n -= given;
	}
	*ret_complete = inflater_is_complete(i);
	inflater_free(i);
	return n < 0 ? n : 0;
}

static void bodies_unfold_however_they_are_cut(void)
{
	static const struct {
		const char *coding;
		int bits;
	} forms[] = {{"gzip", 31}, {"X-GZIP", 31}, {"deflate", 15}, {"deflate", -15}};
	char text[3000], packed[4000];
	size_t i, n, piece;
	bool complete;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i * i % 23);
	for (i = 0; i < ARRAY_LEN(forms); i++) {
		n = squeeze(text, sizeof(text), forms[i].bits, packed, sizeof(packed));
		for (piece = 1; piece < n + 7; piece += 5) {
			AUTO_BUF out = {0};

			buf_init(&out, 1 << 20);
			CHECK(unfold(forms[i].coding, sv_n(packed, n), piece, 1 + piece % 64, &out, &complete) == 0);
			CHECK(complete && sv_eq(buf_view(&out), sv_n(text, sizeof(text))));
		}
	}
}

static void members_of_gzip_follow_each_other_and_nothing_else_does(void)
{
	char packed[400];
	AUTO_BUF out = {0};
	bool complete;
	size_t n = squeeze("one ", 4, 31, packed, 200);
	size_t two = n + squeeze("two", 3, 31, packed + n, 200);

	buf_init(&out, 1 << 20);
	CHECK(unfold("gzip", sv_n(packed, two), 3, 64, &out, &complete) == 0);
	CHECK(complete && sv_is(buf_view(&out), "one two"));
	memcpy(packed + n, "garbage behind it", 17);
	CHECK(unfold("gzip", sv_n(packed, n + 17), 100, 64, &out, &complete) == -EBADMSG);
	n = squeeze("one ", 4, 15, packed, 200);
	memcpy(packed + n, packed, n);
	CHECK(unfold("deflate", sv_n(packed, 2 * n), 100, 64, &out, &complete) == -EBADMSG);
}

static void what_is_missing_at_the_end_is_noticed(void)
{
	char packed[200];
	AUTO_BUF out = {0};
	bool complete;
	size_t n = squeeze("some text", 9, 31, packed, 200), i;

	buf_init(&out, 1 << 20);
	for (i = 1; i < n; i++) {
		CHECK(unfold("gzip", sv_n(packed, i), 100, 64, &out, &complete) == 0);
		CHECK(!complete);
	}
}

static void other_codings_are_not_guessed(void)
{
	static const char *const bad[] = {"br", "zstd", "compress", "gzip, gzip", "gzip,deflate", "gzipx", "*"};
	struct inflater *none = NULL;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(inflater_new(sv_of(bad[i]), &none) == -EOPNOTSUPP);
	CHECK(inflater_new(sv_of("identity"), &none) == 0 && !none);
}

struct world {
	struct loop *loop;
	struct events *events;
	int mine, theirs;
};

static void make(struct world *w)
{
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
	w->mine = pair[0];
	w->theirs = pair[1];
	w->loop = loop_new();
	w->events = events_new(w->loop, w->mine);
}

static void unmake(struct world *w)
{
	events_free(w->events);
	loop_free(w->loop);
	(void)close(w->mine);
	(void)close(w->theirs);
}

/* How many messages wait, and the sum of their counts. */
static unsigned drain(const struct world *w, unsigned *ret_sum, struct buf *subjects)
{
	struct wire_message m;
	struct gate_event e;
	unsigned n = 0;

	while (wire_receive(w->theirs, &m) == 1) {
		CHECK(m.type == GATE_EVENT && gate_get_event(buf_view(&m.body), &e) == 0);
		n++;
		*ret_sum += e.count;
		(void)buf_sv(subjects, e.subject);
		wire_message_done(&m);
	}
	return n;
}

static void the_first_event_of_a_kind_is_told_and_the_rest_is_counted(void)
{
	struct world w;
	unsigned i, sum = 0;
	AUTO_BUF subjects = {0};

	buf_init(&subjects, 1 << 20);
	make(&w);
	for (i = 0; i < 1000; i++)
		events_tell(w.events, DOMAIN_NETWORK, false, sv_of("a:443"), sv_of("rule"), sv_of("why"));
	CHECK(drain(&w, &sum, &subjects) == 1 && sum == 1);
	events_flush(w.events);
	CHECK(drain(&w, &sum, &subjects) == 1 && sum == 1000);
	unmake(&w);
}

static void many_kinds_do_not_flood_the_log_and_none_is_lost(void)
{
	char subject[32];
	struct world w;
	unsigned i, sum = 0, n;
	AUTO_BUF subjects = {0};

	buf_init(&subjects, 1 << 20);
	make(&w);
	for (i = 0; i < 5000; i++) {
		(void)snprintf(subject, sizeof(subject), "host%u:443", i);
		events_tell(w.events, DOMAIN_NETWORK, false, sv_of(subject), sv_of(""), sv_of(""));
	}
	n = drain(&w, &sum, &subjects);
	CHECK(n <= EVENTS_BURST);
	for (i = 0; i < 10; i++) {
		events_flush(w.events);
		n += drain(&w, &sum, &subjects);
	}
	CHECK(n <= EVENTS_KINDS + 1 && sum == 5000);
	unmake(&w);
}

static void what_was_allowed_is_not_counted_among_denials(void)
{
	unsigned i, sum[2] = {0};
	struct wire_message m;
	struct gate_event g;
	char subject[32];
	struct world w;

	make(&w);
	for (i = 0; i < 1000; i++) {
		(void)snprintf(subject, sizeof(subject), "host%u:443", i);
		events_tell(w.events, DOMAIN_NETWORK, i % 4 == 0, sv_of(subject), sv_of(""), sv_of(""));
	}
	for (i = 0; i < 10; i++) {
		events_flush(w.events);
		while (wire_receive(w.theirs, &m) == 1) {
			if (gate_get_event(buf_view(&m.body), &g) == 0)
				sum[g.verdict == 1] += g.count;
			wire_message_done(&m);
		}
	}
	CHECK(sum[0] == 750 && sum[1] == 250);
	unmake(&w);
}

static void a_supervisor_that_does_not_read_is_waited_for(void)
{
	char subject[32];
	struct world w;
	unsigned i, sum = 0;
	AUTO_BUF subjects = {0};

	buf_init(&subjects, 1 << 20);
	make(&w);
	while (wire_send(w.mine, GATE_READY, sv_n("", 0), NULL, 0) == 0)
		;
	for (i = 0; i < 100; i++) {
		(void)snprintf(subject, sizeof(subject), "host%u:443", i % 20);
		events_tell(w.events, DOMAIN_NETWORK, false, sv_of(subject), sv_of(""), sv_of(""));
	}
	events_flush(w.events);
	for (;;) {
		struct wire_message m;

		if (wire_receive(w.theirs, &m) != 1)
			break;
		CHECK(m.type == GATE_READY);
		wire_message_done(&m);
	}
	events_flush(w.events);
	CHECK(drain(&w, &sum, &subjects) == 20 && sum == 100);
	unmake(&w);
}

static void texts_of_others_cannot_fake_a_line(void)
{
	struct world w;
	unsigned sum = 0;
	AUTO_BUF subjects = {0};

	buf_init(&subjects, 1 << 20);
	make(&w);
	events_tell(w.events, DOMAIN_NETWORK, false, sv_of("a\n\x1b[2Jb"), sv_of(""), sv_of(""));
	CHECK(drain(&w, &sum, &subjects) == 1);
	CHECK(!memchr(subjects.p, '\n', subjects.n) && !memchr(subjects.p, '\x1b', subjects.n));
	unmake(&w);
}

static void a_subject_has_no_query(void)
{
	const struct http_request r = {
		.method = {"GET", 3}, .tls = true, .host = {"a.test", 6}, .port = 8443, .target = {"/p?key=1?x", 10}};
	const struct http_request six = {.method = {"GET", 3}, .host = {"::1", 3}, .port = 80, .target = {"/", 1}};
	AUTO_BUF out = {0};

	buf_init(&out, 1000);
	events_subject(&out, &r);
	CHECK_STR(out.p, "GET https://a.test:8443/p");
	buf_clear(&out);
	events_subject(&out, &six);
	CHECK_STR(out.p, "GET http://[::1]/");
}

static void the_quota_is_a_total_and_never_wraps(void)
{
	struct policy p = {.net.max_bytes_out = {100, true, {0}}};
	struct quota q = {0};

	CHECK(quota_left(&q) == UINT64_MAX);
	quota_follow(&q, &p);
	quota_sent(&q, 99);
	CHECK(quota_left(&q) == 1);
	quota_sent(&q, UINT64_MAX - 5);
	CHECK(quota_left(&q) == 0);
	p.net.max_bytes_out.set = false;
	quota_follow(&q, &p);
	CHECK(quota_left(&q) == UINT64_MAX);
	CHECK(q.out == UINT64_MAX);
}

static void what_waits_counts_before_it_is_sent(void)
{
	struct policy p = {.net.max_bytes_out = {100, true, {0}}};
	struct quota q = {0};

	quota_follow(&q, &p);
	CHECK(quota_reserve(&q, 60) && quota_left(&q) == 40);
	CHECK(!quota_reserve(&q, 41) && !quota_take(&q, 41) && quota_left(&q) == 40);
	CHECK(quota_take(&q, 40) && quota_left(&q) == 0 && !quota_used_up(&q));
	quota_spend(&q, 50);
	CHECK(q.out == 90 && quota_left(&q) == 0 && !quota_used_up(&q));
	quota_release(&q, 10);
	CHECK(quota_left(&q) == 10 && quota_take(&q, 10) && quota_used_up(&q));
	/* a bound that moves below what waits already leaves nothing, and does not wrap */
	CHECK(quota_take(&q, 0));
	p.net.max_bytes_out.v = 200;
	quota_follow(&q, &p);
	CHECK(quota_reserve(&q, 100));
	p.net.max_bytes_out.v = 150;
	quota_follow(&q, &p);
	CHECK(quota_left(&q) == 0 && !quota_take(&q, 1) && !quota_used_up(&q));
}

static void proxies_are_urls_with_a_port(void)
{
	static const char *const bad[] = {"https://p.test:1",  "p.test:1",        "http://p.test", "http://u@p.test:1",
					  "http://p.test:1/x", "http://p.test:0", "http://:1",     "http://"};
	struct dialer d = {0};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(dialer_set_proxy(&d, sv_of(bad[i])) == -EINVAL);
	CHECK(!dialer_uses_proxy(&d, sv_of("a.test")));
	CHECK(dialer_set_proxy(&d, sv_of("http://P.test:3128/")) == 0 && strcmp(d.proxy, "p.test") == 0 &&
	      d.proxy_port == 3128);
	CHECK(dialer_uses_proxy(&d, sv_of("a.test")) && dialer_uses_proxy(&d, sv_of("1.1.1.1")));
	CHECK(!dialer_uses_proxy(&d, sv_of("localhost")) && !dialer_uses_proxy(&d, sv_of("10.0.0.1")) &&
	      !dialer_uses_proxy(&d, sv_of("::1")));
	CHECK(!dialer_uses_proxy(&d, sv_of("169.254.169.254")));
}

/* One message of the vault. */
static int tell(struct grants *g, uint16_t type, struct sv body)
{
	struct wire_message m = {.type = type};
	int r;

	buf_init(&m.body, WIRE_MAX_BODY);
	(void)buf_sv(&m.body, body);
	r = grants_message(g, &m);
	for (size_t i = 0; i < m.body.n; i++)
		CHECK(m.body.p[i] == 0);
	wire_message_done(&m);
	return r;
}

static void grants_count_only_when_they_are_complete(void)
{
	const char *hosts[] = {"a.test"};
	struct grant one = {.name = "k",
			    .hosts = hosts,
			    .n_hosts = 1,
			    .placeholders = {"placeholder", "", ""},
			    .inject = {.kind = INJECT_HEADER,
				       .name = "x-key",
				       .before = "",
				       .after = "",
				       .user = "",
				       .region = "",
				       .service = ""}};
	struct grants g = {0};
	struct buf b;

	CHECK(secret_new(sv_of("the-secret-value"), &one.parts[PART_VALUE]) == 0);
	buf_init(&b, 2 * GRANT_ENCODED_MAX);
	b.p = malloc(2 * GRANT_ENCODED_MAX);
	b.cap = 2 * GRANT_ENCODED_MAX;
	CHECK(grant_encode(&one, &b) == 0);
	CHECK(tell(&g, VAULT_GRANT, buf_view(&b)) == 0);
	CHECK(!g.complete && !grants_find(&g, "k"));
	CHECK(tell(&g, VAULT_GRANTS, sv_n("\2\0\0\0", 4)) == -EPROTO);
	CHECK(tell(&g, VAULT_GRANTS, sv_n("\1\0\0\0", 4)) == 0);
	CHECK(g.complete && grants_find(&g, "k"));
	CHECK(tell(&g, VAULT_MINT, sv_of("")) == -EPROTO);
	CHECK(tell(&g, VAULT_GRANT, sv_of("nonsense")) < 0);
	CHECK(tell(&g, VAULT_GRANTS, sv_n("\0\0\0\0", 4)) == 0);
	CHECK(!grants_find(&g, "k"));
	grants_done(&g);
	secret_free(one.parts[PART_VALUE]);
	buf_done(&b);
}

static void put_grant(struct grants *g, const char *name, const char *host, const char *value)
{
	const char *hosts[] = {host};
	struct grant one = {.name = name,
			    .hosts = hosts,
			    .n_hosts = 1,
			    .placeholders = {"placeholder-placeholder", "", ""},
			    .inject = {.kind = INJECT_HEADER,
				       .name = "x-key",
				       .before = "",
				       .after = "",
				       .user = "",
				       .region = "",
				       .service = ""}};
	struct buf b;

	CHECK(secret_new(sv_of(value), &one.parts[PART_VALUE]) == 0);
	buf_init(&b, 2 * GRANT_ENCODED_MAX);
	b.p = malloc(2 * GRANT_ENCODED_MAX);
	b.cap = 2 * GRANT_ENCODED_MAX;
	CHECK(grant_encode(&one, &b) == 0);
	CHECK(tell(g, VAULT_GRANT, buf_view(&b)) == 0);
	secret_free(one.parts[PART_VALUE]);
	buf_done(&b);
}

/* Does the host's scrub find the value? */
static bool finds(struct grants *g, const char *host, const char *value)
{
	struct scrub *s;
	char text[64];
	int hits;

	CHECK(grants_scrub_for(g, sv_of(host), &s) == 0);
	if (!s)
		return false;
	(void)snprintf(text, sizeof(text), "%s", value);
	hits = scrub_text(s, text, strlen(text));
	scrub_unref(s);
	return hits == 1;
}

static void answers_are_held_against_the_credentials_of_their_host_alone(void)
{
	struct grants g = {0};
	char host[32];
	unsigned i;

	put_grant(&g, "a", "a.test", "secret-of-a-0123");
	put_grant(&g, "b", "b.test", "secret-of-b-4567");
	put_grant(&g, "all", "*.test", "secret-of-all-89");
	CHECK(tell(&g, VAULT_GRANTS, sv_n("\3\0\0\0", 4)) == 0);
	for (i = 0; i < 3; i++) {
		CHECK(finds(&g, "a.test", "secret-of-a-0123") && !finds(&g, "a.test", "secret-of-b-4567"));
		CHECK(finds(&g, "b.test", "secret-of-b-4567") && !finds(&g, "b.test", "secret-of-a-0123"));
		CHECK(finds(&g, "a.test", "secret-of-all-89") && finds(&g, "c.test", "secret-of-all-89"));
		CHECK(!finds(&g, "c.test", "secret-of-a-0123") && !finds(&g, "elsewhere", "secret-of-all-89"));
	}
	/* new values are looked for, and old ones still */
	put_grant(&g, "a", "a.test", "another-of-a-999");
	CHECK(tell(&g, VAULT_GRANTS, sv_n("\1\0\0\0", 4)) == 0);
	CHECK(finds(&g, "a.test", "another-of-a-999") && finds(&g, "a.test", "secret-of-a-0123") &&
	      !finds(&g, "a.test", "secret-of-b-4567"));
	CHECK(finds(&g, "b.test", "secret-of-b-4567") && !grants_find(&g, "b"));
	/* more sets than are kept */
	for (i = 0; i < 2 * GRANTS_SCRUBS; i++) {
		(void)snprintf(host, sizeof(host), "h%u.test", i);
		put_grant(&g, host, host, "secret-of-many-1");
	}
	CHECK(tell(&g, VAULT_GRANTS, sv_n("\40\0\0\0", 4)) == 0);
	for (i = 0; i < 4 * GRANTS_SCRUBS; i++) {
		(void)snprintf(host, sizeof(host), "h%u.test", i % (2 * GRANTS_SCRUBS));
		CHECK(finds(&g, host, "secret-of-many-1"));
	}
	grants_done(&g);
}

static void values_that_were_replaced_or_withdrawn_are_still_looked_for(void)
{
	static const char none[4], one[4] = {1};
	struct grants g = {0};
	char value[32], large[8001];
	unsigned i;

	for (i = 0; i < 3 * GRANTS_OLD; i++) {
		(void)snprintf(value, sizeof(value), "value-number-%u.", i);
		put_grant(&g, "k", "a.test", value);
		CHECK(tell(&g, VAULT_GRANTS, sv_n(one, 4)) == 0);
		CHECK(finds(&g, "a.test", value) &&
		      (i == 0 || finds(&g, "a.test", "value-number-0.") == (i <= GRANTS_OLD)));
		/* the same again pushes nothing out */
		put_grant(&g, "other", "a.test", value);
		CHECK(tell(&g, VAULT_GRANTS, sv_n(one, 4)) == 0 && g.n_old == (i < GRANTS_OLD ? i : GRANTS_OLD));
	}
	/* nor does one that comes and goes */
	for (i = 0; i < 2 * GRANTS_OLD; i++) {
		if (i % 2)
			put_grant(&g, "k", "a.test", value);
		CHECK(tell(&g, VAULT_GRANTS, sv_n(i % 2 ? one : none, 4)) == 0);
		CHECK(finds(&g, "a.test", value) && finds(&g, "a.test", "value-number-150.") &&
		      !finds(&g, "b.test", value));
	}
	/* long ones take the place of more */
	memset(large, 'x', sizeof(large));
	for (i = 0; i < 9; i++) {
		(void)snprintf(large + 7990, 11, "%u", i);
		put_grant(&g, "k", "a.test", large);
		CHECK(tell(&g, VAULT_GRANTS, sv_n(one, 4)) == 0);
	}
	CHECK(g.n_old == GRANTS_OLD_BYTES / 8000 && !finds(&g, "a.test", value));
	grants_done(&g);
	CHECK(g.n == 0 && g.n_old == 0);
}

static bool legible(const char *name, const char *value)
{
	const struct http_field field = {sv_of(name), sv_of(value)};

	return legible_codings(&(struct http_fields){.v = (struct http_field *)(uintptr_t)&field, .n = 1});
}

static bool has_messages(const char *type, struct legible_messages *ret)
{
	const struct http_field field = {sv_of("content-type"), sv_of(type)};

	return legible_has_messages(&(struct http_fields){.v = (struct http_field *)(uintptr_t)&field, .n = 1}, ret);
}

/* How much of a text passes, in pieces of a size. */
static size_t passes_as_text(const char *text, size_t piece)
{
	struct legible_messages m;
	size_t i, n, all = strlen(text);

	CHECK(has_messages("application/grpc-web-text+proto; x=y", &m));
	for (i = 0; i < all; i += n) {
		n = all - i < piece ? all - i : piece;
		if (!legible_messages_feed(&m, sv_n(text + i, n)))
			return i;
	}
	return all;
}

static void compressed_messages_hide_in_no_base64(void)
{
	/* a message of two bytes, one of three, a trailer: each by itself, then as one, then in the other alphabet */
	static const char *const fine[] = {"AAAAAAJhYg==AAAAAANhYmM=gAAAAAFh", "AAAAAAJhYgAAAAADYWJjgAAAAAFh",
					   "AAAAAAP__3-AAAAAAA==", "AAAAAAA=", "AAAAAAJhYgAAAAADYWJjgAAAA"};
	/* the flag: of the first, of a later one, of a trailer, amid others; what is no base64; padding amid a head and
	 * amid a message, too much, too early, with more behind it */
	static const char *const bad[] = {"AQAAAAJhYg==",
					  "AAAAAAJhYg==AQAAAAJhYg==",
					  "AAAAAAJhYgEAAAAEYWJjZA==",
					  "AAAAAAJhYg==gQAAAAFh",
					  "AAAAAAJh\nYgAAAAADYWJjgAAAAAFh",
					  "AAAA AAJhYgAAAAADYWJjgAAAAAFh",
					  "AAA=AAACYWI=",
					  "AAAAAAJhYg==AAAAAA==",
					  "AAAAAANhYg==Yw==",
					  "A===",
					  "=AAA",
					  "AAAAAAA==",
					  "AA=AAAAA",
					  "AAAAAAJhYg======",
					  "AA\x80=",
					  "AAAAAAJhYg==+wAAAAFh",
					  "AA=="};
	size_t i, piece;

	for (piece = 1; piece < 40; piece++) {
		for (i = 0; i < ARRAY_LEN(fine); i++)
			CHECK(passes_as_text(fine[i], piece) == strlen(fine[i]));
		for (i = 0; i < ARRAY_LEN(bad); i++)
			CHECK(passes_as_text(bad[i], piece) < strlen(bad[i]));
	}
}

static void messages_that_are_compressed_are_not_legible(void)
{
	static const char row[] = "\0\0\0\0\0\0\0\0\0\003\001\001\001\200\0\0\0\001\001\001\0\0\0\001x";
	struct legible_messages m;
	size_t piece, i, n;

	CHECK(legible("grpc-encoding", "identity") && legible("grpc-accept-encoding", "gzip") &&
	      legible("connect-content-encoding", "Identity"));
	CHECK(!legible("grpc-encoding", "gzip") && !legible("connect-content-encoding", "br") &&
	      !legible("grpc_encoding", "gzip"));
	CHECK(!legible("grpc-encoding", "") && !legible("grpc-encoding", "identity, gzip"));
	CHECK(!has_messages("text/html", &m) && !has_messages("application/json", &m));
	for (piece = 1; piece < sizeof(row); piece++) {
		CHECK(has_messages("application/grpc+proto", &m) && has_messages("Application/connect+json", &m));
		for (i = 0; i < 19; i += n) {
			n = 19 - i < piece ? 19 - i : piece;
			CHECK(legible_messages_feed(&m, sv_n(row + i, n)));
		}
		CHECK(!legible_messages_feed(&m, sv_n(row + 19, 1)));
	}
}

static bool readable(const char *type)
{
	const struct http_field fields[] = {{sv_of("content-type"), sv_of("text/html")},
					    {sv_of("content-type"), sv_of(type)}};

	return legible_charset(&(struct http_fields){.v = (struct http_field *)(uintptr_t)fields, .n = 2});
}

static void character_sets_that_hide_letters_are_not_legible(void)
{
	static const char *const good[] = {"",
					   "text/html",
					   "text/html; charset=utf-8",
					   "a/b;CHARSET=\"ISO-8859-15\"; x=y",
					   "a/b; charset = 'windows-1252'",
					   "a/b;charset=iso_8859-1",
					   "a/b;charset=cp850",
					   "a/b;charset=",
					   "a/b;charset=utf-8,a/b"};
	static const char *const bad[] = {"a/b;charset=utf-16",         "a/b;charset=utf-8;charset=utf-16le",
					  "a/b; x=\"; charset=utf-32",  "a/b,c/d ; Charset=\"UTF-7\"",
					  "a/b;charset=cp037",          "a/b;charset=ibm1047",
					  "a/b;charset=iso-2022-kr",    "a/b;charset=hz-gb-2312",
					  "a/b;charset*=utf-8''utf-16", "a/b;charset=\"utf\\-16\"",
					  "charset=ebcdic-us"};
	static const char *const accepts[][2] = {{"*/*", "*/*"},
						 {"a/b;charset=utf-16", "a/b"},
						 {"a/b ;q=1; charset=x , c/d;q=0.2", "a/b ;q=1, c/d;q=0.2"},
						 {"charset=x", ""},
						 {"", ""},
						 {"a/b;x=\";CharSet=utf-16", "a/b;x=\""},
						 {"charset=x ; q=1", "; q=1"}};
	char room[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(good); i++)
		CHECK(readable(good[i]));
	for (i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(!readable(bad[i]));
	for (i = 0; i < ARRAY_LEN(accepts); i++)
		CHECK(sv_is(legible_accept(sv_of(accepts[i][0]), room), accepts[i][1]));
}

static bool is_whole(unsigned status, const char *name, const char *value)
{
	const struct http_field fields[] = {{sv_of("content-range"), sv_of("rows 0-1/2")}, {sv_of(name), sv_of(value)}};

	return legible_whole(status, &(struct http_fields){.v = (struct http_field *)(uintptr_t)fields, .n = 2});
}

static bool range(const char *unit, const char *value)
{
	const struct http_field fields[] = {{sv_of("range-unit"), sv_of(unit)}, {sv_of("range"), sv_of(value)}};
	bool has = unit[0] != '\0';

	return legible_range(
		&(struct http_fields){.v = (struct http_field *)(uintptr_t)(has ? fields : fields + 1), .n = 1 + has});
}

static void ranges_of_other_things_than_bytes_may_be_asked_for(void)
{
	static const char *const bytes[] = {"bytes=0-9",  "Bytes=0-9", "BYTES 0-9", "byte=0-9", "items=0-9, bytes=0-9",
					    "octets=0-9", "chars=0-9", "0-9",       "=0-9",     "",
					    "x-bytes=1-2"};
	static const char *const others[] = {"items=0-24", "id ..; max=10", "name ]a..; order=desc", "ID 1-2",
					     "rows=0-9"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bytes); i++)
		CHECK(!range("", bytes[i]) && !range("bytes", bytes[i]));
	for (i = 0; i < ARRAY_LEN(others); i++)
		CHECK(range("", others[i]) && !range("bytes", others[i]));
	CHECK(range("items", "0-9") && !range("items", "bytes=0-9") && !range("Octets", "0-9"));
	CHECK(legible_range(&(struct http_fields){0}));
}

static void parts_of_a_page_are_not_legible(void)
{
	CHECK(!legible_whole(206, &(struct http_fields){0}) && legible_whole(200, &(struct http_fields){0}));
	CHECK(is_whole(206, "content-range", "0-24/100") && is_whole(200, "content-range", "items 0-24/*") &&
	      is_whole(416, "content-range", "bytes */40"));
	CHECK(!is_whole(200, "content-range", "bytes 0-9/40") && !is_whole(206, "content-range", " Bytes=0-9/*") &&
	      !is_whole(206, "content-range", "bytes\t0-9/*"));
	CHECK(!is_whole(206, "content-type", "Multipart/ByteRanges; boundary=x") &&
	      !is_whole(200, "content-type", "multipart/byteranges") &&
	      is_whole(200, "content-type", "multipart/mixed"));
}

static enum form_watch_result watch_as(const char *type, const char *coding, struct sv body)
{
	struct http_field fields[] = {{sv_of("content-type"), sv_of(type)}, {sv_of("content-encoding"), sv_of(coding)}};
	const struct http_fields head = {fields, 2};
	struct form_watch *w = form_watch_new(&head);
	enum form_watch_result whole, bytes = FORM_FINE;
	char room[64];
	size_t i;

	CHECK(w);
	whole = form_watch_feed(w, body, room, sizeof(room));
	form_watch_free(w);
	w = form_watch_new(&head);
	CHECK(w);
	for (i = 0; i < body.n && bytes == FORM_FINE; i++)
		bytes = form_watch_feed(w, sv_n(body.p + i, 1), room, sizeof(room));
	form_watch_free(w);
	CHECK(whole == bytes);
	return whole;
}

static enum form_watch_result watch(const char *coding, struct sv body)
{
	return watch_as("application/x-www-form-urlencoded", coding, body);
}

static void packed_json_is_held_to_the_book_when_it_is_unpacked(void)
{
	static const char asks[] = "{\"a\":1,\"_method\":1}", fine[] = "{\"a\":\"it's\"}",
			  odd[] = "{/*\"*/\"_method\":1}";
	static const struct {
		const char *coding;
		int bits;
	} ways[] = {{"gzip", 31}, {"deflate", 15}, {"deflate", -15}};
	char body[512];
	size_t i;

	for (i = 0; i < ARRAY_LEN(ways); i++) {
		CHECK(watch_as("application/json", ways[i].coding,
			       sv_n(body, squeeze(asks, sizeof(asks) - 1, ways[i].bits, body, sizeof(body)))) ==
		      FORM_ASKS);
		CHECK(watch_as("application/json", ways[i].coding,
			       sv_n(body, squeeze(fine, sizeof(fine) - 1, ways[i].bits, body, sizeof(body)))) ==
		      FORM_FINE);
		CHECK(watch_as("application/json", ways[i].coding,
			       sv_n(body, squeeze(odd, sizeof(odd) - 1, ways[i].bits, body, sizeof(body)))) ==
		      FORM_ILLEGIBLE);
	}
	CHECK(watch_as("application/json", "identity", sv_of(odd)) == FORM_ILLEGIBLE &&
	      watch_as("application/json", "identity", sv_of(fine)) == FORM_FINE);
}

static void a_packed_form_is_read_in_each_way_that_a_server_may_read_it(void)
{
	static const char asks[] = "&_method=DELETE&x=1", fine[] = "a=b&method=c";
	/* with zlib's frame a stored block of 0x9c00 bytes, of which little comes; without it one of 0x9c, and another
	 * block */
	char body[512];
	size_t n;

	CHECK(watch("deflate", sv_n(body, squeeze(asks, sizeof(asks) - 1, 15, body, sizeof(body)))) == FORM_ASKS);
	CHECK(watch("deflate", sv_n(body, squeeze(asks, sizeof(asks) - 1, -15, body, sizeof(body)))) == FORM_ASKS);
	CHECK(watch("gzip", sv_n(body, squeeze(asks, sizeof(asks) - 1, 31, body, sizeof(body)))) == FORM_ASKS);
	CHECK(watch("deflate", sv_n(body, squeeze(fine, sizeof(fine) - 1, 15, body, sizeof(body)))) == FORM_FINE);
	CHECK(watch("Deflate", sv_n(body, squeeze(fine, sizeof(fine) - 1, -15, body, sizeof(body)))) == FORM_FINE);
	CHECK(watch("gzip", sv_n(body, squeeze(fine, sizeof(fine) - 1, 15, body, sizeof(body)))) == FORM_ILLEGIBLE);
	CHECK(watch("br", sv_of("a=b")) == FORM_ILLEGIBLE);
	memcpy(body, "\x78\x9c\x00\x63\xff\x9c\x00", 7);
	memset(body + 7, 'a', 0x9c - 2);
	n = 5 + 0x9c;
	CHECK(watch("deflate", sv_n(body, n + squeeze(asks, sizeof(asks) - 1, -15, body + n, sizeof(body) - n))) ==
	      FORM_ASKS);
	CHECK(watch("deflate", sv_n(body, n + squeeze(fine, sizeof(fine) - 1, -15, body + n, sizeof(body) - n))) ==
	      FORM_FINE);
}

static void a_switch_of_protocols_is_meant_only_with_the_word_that_fits(void)
{
	struct http_field asked[] = {{sv_of("sec-websocket-key"), sv_of("dGhlIHNhbXBsZSBub25jZQ==")},
				     {sv_of("sec-websocket-key"), sv_of("dGhlIHNhbXBsZSBub25jZQ==")}},
			  said[] = {{sv_of("sec-websocket-accept"), sv_of("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")},
				    {sv_of("sec-websocket-accept"), sv_of("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")}};
	struct http_fields once = {said, 1}, twice = {said, 2}, none = {said, 0};
	char expected[WEBSOCKET_ACCEPT];

	websocket_expect(&(struct http_fields){asked, 1}, expected);
	CHECK_STR(expected, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	CHECK(websocket_is_accepted(&once, expected) && !websocket_is_accepted(&twice, expected) &&
	      !websocket_is_accepted(&none, expected));
	said[0].value = sv_of("S3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
	CHECK(!websocket_is_accepted(&once, expected));
	websocket_expect(&(struct http_fields){asked, 2}, expected);
	CHECK_STR(expected, "");
	said[0].value = sv_of("");
	CHECK(!websocket_is_accepted(&once, expected) && !websocket_is_accepted(&none, expected));
	asked[0].value = sv_of("SGVsbG8sIHdvcmxkIQ==");
	websocket_expect(&(struct http_fields){asked, 1}, expected);
	CHECK_STR(expected, "qGEgH3En71di5rrssAZTmtRTyFk=");
	asked[0].value = sv_of("");
	websocket_expect(&(struct http_fields){asked, 1}, expected);
	CHECK_STR(expected, "");
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(bodies_unfold_however_they_are_cut),
		CASE(members_of_gzip_follow_each_other_and_nothing_else_does),
		CASE(what_is_missing_at_the_end_is_noticed),
		CASE(other_codings_are_not_guessed),
		CASE(messages_that_are_compressed_are_not_legible),
		CASE(compressed_messages_hide_in_no_base64),
		CASE(character_sets_that_hide_letters_are_not_legible),
		CASE(parts_of_a_page_are_not_legible),
		CASE(ranges_of_other_things_than_bytes_may_be_asked_for),
	CASE(ranges_of_other_things_than_bytes_may_be_asked_for),
		CASE(packed_json_is_held_to_the_book_when_it_is_unpacked),
		CASE(the_first_event_of_a_kind_is_told_and_the_rest_is_counted),
		CASE(many_kinds_do_not_flood_the_log_and_none_is_lost),
		CASE(what_was_allowed_is_not_counted_among_denials),
		CASE(a_supervisor_that_does_not_read_is_waited_for),
		CASE(texts_of_others_cannot_fake_a_line),
		CASE(a_subject_has_no_query),
		CASE(the_quota_is_a_total_and_never_wraps),
		CASE(what_waits_counts_before_it_is_sent),
		CASE(proxies_are_urls_with_a_port),
		CASE(grants_count_only_when_they_are_complete),
		CASE(answers_are_held_against_the_credentials_of_their_host_alone),
		CASE(values_that_were_replaced_or_withdrawn_are_still_looked_for),
		CASE(a_packed_form_is_read_in_each_way_that_a_server_may_read_it),
		CASE(a_switch_of_protocols_is_meant_only_with_the_word_that_fits),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
