#include "vault/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "vault/placeholder.h"
#include "vault/source.h"
#include "vault/source_value.h"
#include "wire/wire.h"

enum { NAMES_MAX = 1024, SEND_MS = 1000, RETRY_FIRST_MS = 5000, RETRY_LAST_MS = 60000 };

/* One credential of the file. */
struct held {
	bool wanted; /* by the last LOAD that was not refused: its grant is in force */
	bool asked;  /* by the one that is under way */
	bool fetching;
	bool missing; /* an optional one that could not be fetched */
	bool named; /* has its placeholders, which then stay for the whole run */
	struct source_value value;
	struct placeholder placeholders[GRANT_PARTS];
	int64_t due;   /* when to fetch it again (ms); 0: never */
	int64_t pause; /* before the next try */
};

struct vault {
	const struct credentials *credentials;
	struct mint *mint;
	const struct likeness_base *base;
	int peers[VAULT_PEERS];
	struct held *held; /* as many as credentials */
	bool loading;      /* the supervisor waits for LOADED or FAILED */
	bool sound;        /* the names of the last LOAD were */
};

static int64_t clock_ms(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void drop_peer(struct vault *v, enum vault_peer peer)
{
	if (v->peers[peer] >= 0)
		(void)close(v->peers[peer]);
	v->peers[peer] = -1;
}

static void take_peer(struct vault *v, enum vault_peer peer, int fd)
{
	drop_peer(v, peer);
	v->peers[peer] = fd;
	/* Nobody who does not read may hold us for longer than SEND_MS. */
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
}

/* A peer that does not take it is dropped. */
static void tell(struct vault *v, enum vault_peer peer, enum vault_message type, struct sv body)
{
	struct pollfd p = {.fd = v->peers[peer], .events = POLLOUT};
	int r;

	if (p.fd < 0)
		return;
	r = wire_send(p.fd, (uint16_t)type, body, NULL, 0);
	if (r == -EAGAIN && poll(&p, 1, SEND_MS) == 1)
		r = wire_send(p.fd, (uint16_t)type, body, NULL, 0);
	if (r < 0)
		drop_peer(v, peer);
}

static void fail_load(struct vault *v, const char *credential, const char *text)
{
	AUTO_BUF whole = {0};
	AUTO_BUF body = {0};
	struct text_shown name;

	/* One answer to a LOAD: what fails behind the first failure is told by the next one. */
	if (!v->loading)
		return;
	buf_init(&whole, 4096);
	buf_init(&body, 8192);
	(void)buf_printf(&whole, "credential %s: %s", text_show(&name, sv_of(credential)), text);
	wire_put_sv(&body, buf_view(&whole));
	tell(v, VAULT_SUPERVISOR, VAULT_FAILED, buf_view(&body));
	v->loading = false; /* and what was wanted before still is */
}

static void tell_stale(struct vault *v, const char *credential, struct sv text)
{
	AUTO_BUF body = {0};

	buf_init(&body, 8192);
	wire_put_sv(&body, sv_of(credential));
	wire_put_sv(&body, text);
	tell(v, VAULT_SUPERVISOR, VAULT_STALE, buf_view(&body));
}

static void fetch(struct vault *v, uint32_t index)
{
	AUTO_BUF body = {0};

	if (v->held[index].fetching)
		return;
	buf_init(&body, 16);
	wire_put_u32(&body, index);
	v->held[index].fetching = true;
	v->held[index].due = 0;
	tell(v, VAULT_RUNNER, VAULT_FETCH, buf_view(&body));
}

/* A view of what is held, in the form that goes out; owns nothing. */
static struct grant grant_of(const struct credential *c, const struct held *h)
{
	struct grant g = {.name = c->name, .hosts = c->hosts, .n_hosts = c->n_hosts, .inject = c->inject};
	unsigned i;

	for (i = 0; i < GRANT_PARTS; i++) {
		g.parts[i] = h->value.parts[i];
		g.placeholders[i] = h->placeholders[i].s;
	}
	return g;
}

static void send_grant(struct vault *v, const struct grant *g)
{
	AUTO_BUF body = {0};

	buf_init(&body, WIRE_MAX_BODY);
	body.p = malloc(GRANT_ENCODED_MAX + 1);
	body.cap = body.p ? GRANT_ENCODED_MAX + 1 : 0;
	if (grant_encode(g, &body) == 0)
		tell(v, VAULT_EGRESS, VAULT_GRANT, buf_view(&body));
	else
		drop_peer(v, VAULT_EGRESS);
	source_wipe(&body);
}

static void send_grants(struct vault *v)
{
	AUTO_BUF body = {0};
	uint32_t i, n = 0;

	for (i = 0; i < v->credentials->n; i++) {
		if (v->held[i].wanted && v->held[i].value.parts[PART_VALUE]) {
			struct grant g = grant_of(&v->credentials->v[i], &v->held[i]);

			send_grant(v, &g);
			n++;
		}
	}
	buf_init(&body, 16);
	wire_put_u32(&body, n);
	tell(v, VAULT_EGRESS, VAULT_GRANTS, buf_view(&body));
}

/* Which variable of the sandbox holds the placeholder of a part; NULL: there is no such placeholder. */
static const char *variable_of(const struct credential *c, unsigned part)
{
	const char *name = credential_variable(c, part);

	return name || part != PART_VALUE ? name : "";
}

static void put_placeholders(const struct vault *v, struct buf *out, uint32_t *ret_n)
{
	uint32_t i;
	unsigned part;

	for (i = 0; i < v->credentials->n; i++) {
		for (part = 0; v->held[i].asked && part < GRANT_PARTS; part++) {
			const char *variable = variable_of(&v->credentials->v[i], part);

			if (!variable)
				continue;
			wire_put_sv(out, sv_of(v->credentials->v[i].name));
			wire_put_sv(out, sv_of(variable));
			wire_put_sv(out, sv_of(v->held[i].placeholders[part].s));
			++*ret_n;
		}
	}
}

/* What was asked for is complete, and is wanted from now on. */
static void send_loaded(struct vault *v)
{
	AUTO_BUF list = {0};
	AUTO_BUF pem = {0};
	AUTO_BUF body = {0};
	struct error err;
	uint32_t n = 0, i;

	buf_init(&list, WIRE_MAX_BODY);
	buf_init(&pem, 16 * 1024);
	buf_init(&body, WIRE_MAX_BODY);
	put_placeholders(v, &list, &n);
	if (mint_certificate(v->mint, &pem, &err) < 0) {
		fail_load(v, "CA", err.text);
		return;
	}
	wire_put_sv(&body, buf_view(&pem));
	wire_put_u32(&body, n);
	(void)buf_sv(&body, buf_view(&list));
	if (buf_failed(&body)) {
		fail_load(v, "all", "too many for one run");
		return;
	}
	for (i = 0; i < v->credentials->n; i++)
		v->held[i].wanted = v->held[i].asked;
	send_grants(v);
	tell(v, VAULT_SUPERVISOR, VAULT_LOADED, buf_view(&body));
	v->loading = false;
}

static void finish_load(struct vault *v)
{
	uint32_t i;

	if (!v->loading)
		return;
	for (i = 0; i < v->credentials->n; i++)
		if (v->held[i].asked && !v->held[i].missing && !v->held[i].value.parts[PART_VALUE])
			return;
	send_loaded(v);
}

static int make_placeholders(const struct credential *c, struct held *h)
{
	int r;

	if (h->named)
		return 0;
	r = placeholder_make(c, &h->placeholders[PART_VALUE]);
	if (r == 0)
		r = placeholder_make_key_id(&h->placeholders[PART_KEY_ID]);
	h->placeholders[PART_TOKEN] = h->placeholders[PART_VALUE];
	h->named = r == 0;
	return r;
}

static bool share_variable(const struct credential *a, const struct credential *b)
{
	const char *x, *y;
	unsigned i, k;

	for (i = 0; i < GRANT_PARTS; i++) {
		for (k = 0; k < GRANT_PARTS; k++) {
			x = variable_of(a, i);
			y = variable_of(b, k);
			if (x && y && x[0] && strcmp(x, y) == 0)
				return true;
		}
	}
	return false;
}

/* Two placeholders in one variable: one of the two credentials would not work, and which is chance. */
static bool variable_is_taken(const struct vault *v, const struct credential *c)
{
	uint32_t i;

	for (i = 0; i < v->credentials->n; i++)
		if (&v->credentials->v[i] != c && v->held[i].asked && share_variable(c, &v->credentials->v[i]))
			return true;
	return false;
}

/* The names of a LOAD; false: it was refused, and what is in force has not changed. */
static bool want(struct vault *v, struct sv name)
{
	const struct credential *c = credentials_find(v->credentials, name);
	struct text_shown shown;

	if (!c) {
		fail_load(v, text_show(&shown, name), "is not in credentials.yaml; add it there");
		return false;
	}
	v->held[c - v->credentials->v].asked = true;
	if (variable_is_taken(v, c)) {
		fail_load(v, c->name,
			  "sets the same variable inside as another one of this run; give one of them another env");
		return false;
	}
	if (make_placeholders(c, &v->held[c - v->credentials->v]) < 0) {
		fail_load(v, c->name, "no random numbers");
		return false;
	}
	return true;
}

static int on_load(struct vault *v, struct wire_in *in)
{
	char **names = wire_get_strings(in, NAMES_MAX);
	bool ok = true;
	uint32_t i;

	if (!names || !wire_ok(in)) {
		free(names);
		return -EPROTO;
	}
	v->loading = true;
	for (i = 0; i < v->credentials->n; i++)
		v->held[i].asked = false;
	for (i = 0; ok && names[i]; i++)
		ok = want(v, sv_of(names[i]));
	free(names);
	v->sound = ok;
	for (i = 0; ok && i < v->credentials->n; i++)
		if (v->held[i].asked && !v->held[i].value.parts[PART_VALUE])
			fetch(v, i);
	if (ok)
		finish_load(v);
	return 0;
}

static int on_commit(struct vault *v, const struct wire_in *in)
{
	uint32_t i;

	if (!wire_ok(in))
		return -EPROTO;
	if (v->loading)
		send_loaded(v);
	/* it may have failed just before */
	for (i = 0; v->sound && i < v->credentials->n; i++) {
		struct held *h = &v->held[i];

		h->wanted = h->asked;
		if (h->wanted && !h->value.parts[PART_VALUE] && !h->fetching && !v->credentials->v[i].optional)
			h->due = clock_ms(CLOCK_MONOTONIC) + RETRY_FIRST_MS;
	}
	return 0;
}

static int on_peer(struct vault *v, struct wire_in *in, struct wire_message *m)
{
	uint32_t which = wire_get_u32(in);

	if (!wire_ok(in) || (which != VAULT_EGRESS && which != VAULT_RELAY) || m->n_fds != 1)
		return -EPROTO;
	take_peer(v, (enum vault_peer)which, fd_take(&m->fds[0]));
	if (which == VAULT_EGRESS)
		send_grants(v);
	return 0;
}

/* Does a LOAD wait for it, which is not answered yet? */
static bool is_awaited(const struct vault *v, const struct held *h)
{
	return v->loading && h->asked && !h->value.parts[PART_VALUE];
}

static void fetched(struct vault *v, uint32_t index, struct sv bytes)
{
	const struct credential *c = &v->credentials->v[index];
	struct held *h = &v->held[index];
	struct source_value value = {0};
	struct error err = {0};
	bool first = is_awaited(v, h);

	if (source_value_parse(c, bytes, clock_ms(CLOCK_REALTIME) / 1000, &value, &err) < 0) {
		if (first)
			fail_load(v, c->name, err.text);
		else if (h->wanted)
			tell_stale(v, c->name, sv_of(err.text));
		h->due = first ? 0 : clock_ms(CLOCK_MONOTONIC) + RETRY_LAST_MS;
		return;
	}
	source_value_done(&h->value);
	h->value = value;
	h->pause = RETRY_FIRST_MS;
	h->due = value.good_for ? clock_ms(CLOCK_MONOTONIC) + 1000 * source_value_refresh(value.good_for) : 0;
	if (first)
		finish_load(v);
	else
		send_grants(v);
}

static void not_fetched(struct vault *v, uint32_t index, struct sv text)
{
	const struct credential *c = &v->credentials->v[index];
	struct held *h = &v->held[index];
	struct text_shown shown;

	if (!h->value.parts[PART_VALUE] && c->optional) {
		h->missing = true;
		tell_stale(v, c->name, text);
		finish_load(v);
		return;
	}
	if (is_awaited(v, h)) {
		fail_load(v, c->name, text_show(&shown, text));
		return;
	}
	if (!h->wanted)
		return; /* by a LOAD that was refused */
	tell_stale(v, c->name, text);
	h->pause = h->pause ? h->pause : RETRY_FIRST_MS;
	h->due = clock_ms(CLOCK_MONOTONIC) + h->pause;
	h->pause = 2 * h->pause < RETRY_LAST_MS ? 2 * h->pause : RETRY_LAST_MS;
}

static int on_fetched(struct vault *v, struct wire_in *in)
{
	uint32_t index = wire_get_u32(in), ok = wire_get_u32(in);
	struct sv bytes = wire_get_sv(in);

	if (!wire_ok(in) || index >= v->credentials->n)
		return -EPROTO;
	v->held[index].fetching = false;
	if (ok)
		fetched(v, index, bytes);
	else
		not_fetched(v, index, bytes);
	return 0;
}

static int on_mint(struct vault *v, struct wire_in *in)
{
	AUTO_BUF cert = {0};
	AUTO_BUF key = {0};
	AUTO_BUF body = {0};
	struct error err;
	uint32_t id = wire_get_u32(in);
	struct sv host = wire_get_sv(in);

	if (!wire_ok(in))
		return -EPROTO;
	buf_init(&cert, 16 * 1024);
	buf_init(&key, 16 * 1024);
	buf_init(&body, 64 * 1024);
	if (host.n > 253 || mint_leaf(v->mint, host, &cert, &key, &err) < 0) {
		buf_clear(&cert);
		buf_clear(&key);
	}
	wire_put_u32(&body, id);
	wire_put_sv(&body, buf_view(&cert));
	wire_put_sv(&body, buf_view(&key));
	tell(v, VAULT_RELAY, VAULT_MINTED, buf_view(&body));
	source_wipe(&key);
	source_wipe(&body);
	return 0;
}

/* In a time that does not depend on where they differ. */
static bool is_same(const unsigned char *a, struct sv b)
{
	unsigned char differs = b.n != LIKENESS_SIZE;
	size_t i;

	for (i = 0; i < LIKENESS_SIZE && i < b.n; i++)
		differs |= a[i] ^ (unsigned char)b.p[i];
	return !differs;
}

static int on_compare(struct vault *v, struct wire_in *in)
{
	uint64_t question = wire_get_u64(in);
	struct sv nonce = wire_get_sv(in), about = wire_get_sv(in), theirs = wire_get_sv(in);
	unsigned char ours[LIKENESS_SIZE];
	struct likeness *l;
	AUTO_BUF body = {0};
	uint32_t i;

	if (!wire_ok(in))
		return -EPROTO;
	l = likeness_new(v->base, nonce, about);
	for (i = 0; l && i < v->credentials->n; i++)
		if (v->held[i].wanted)
			likeness_add(l, &v->credentials->v[i], v->held[i].value.parts);
	buf_init(&body, 16);
	wire_put_u64(&body, question);
	wire_put_u32(&body, likeness_end(l, ours) == 0 && is_same(ours, theirs));
	tell(v, VAULT_SUPERVISOR, VAULT_COMPARED, buf_view(&body));
	return 0;
}

/* What a peer says; anything else is not its to say. */
static int on_message(struct vault *v, enum vault_peer from, struct wire_message *m)
{
	struct wire_in in;

	wire_in_init(&in, buf_view(&m->body));
	if (from == VAULT_SUPERVISOR && m->type == VAULT_LOAD)
		return on_load(v, &in);
	if (from == VAULT_SUPERVISOR && m->type == VAULT_COMMIT)
		return on_commit(v, &in);
	if (from == VAULT_SUPERVISOR && m->type == VAULT_COMPARE)
		return on_compare(v, &in);
	if (from == VAULT_SUPERVISOR && m->type == VAULT_PEER)
		return on_peer(v, &in, m);
	if (from == VAULT_RUNNER && m->type == VAULT_FETCHED)
		return on_fetched(v, &in);
	if (from == VAULT_RELAY && m->type == VAULT_MINT)
		return on_mint(v, &in);
	return -EPROTO;
}

static void hear(struct vault *v, enum vault_peer peer)
{
	int sock = v->peers[peer], r;
	struct wire_message m;

	r = wire_receive(sock, &m);
	if (r == -EAGAIN)
		return;
	if (r > 0) {
		r = on_message(v, peer, &m) < 0 ? -EPROTO : 1;
		secret_wipe(m.body.p, m.body.n);
		wire_message_done(&m);
	}
	if (r <= 0 && v->peers[peer] == sock)
		drop_peer(v, peer);
}

/* Starts what is due; how long until the next (ms), or -1. */
static int start_due(struct vault *v)
{
	int64_t now = clock_ms(CLOCK_MONOTONIC), next = INT64_MAX;
	uint32_t i;

	for (i = 0; i < v->credentials->n; i++) {
		struct held *h = &v->held[i];

		if (!h->wanted || h->due == 0)
			continue;
		if (h->due <= now)
			fetch(v, i);
		else if (h->due < next)
			next = h->due;
	}
	if (next == INT64_MAX)
		return -1;
	return next - now > 3600000 ? 3600000 : (int)(next - now);
}

int vault_serve(struct vault *v, struct error *err)
{
	struct pollfd p[VAULT_PEERS];
	unsigned i;
	int wait;

	while (v->peers[VAULT_SUPERVISOR] >= 0) {
		if (v->peers[VAULT_RUNNER] < 0)
			return error_set(err, ERROR_SYSTEM, "the vault's source runner is gone");
		wait = start_due(v);
		for (i = 0; i < VAULT_PEERS; i++)
			p[i] = (struct pollfd){.fd = v->peers[i], .events = POLLIN};
		if (poll(p, VAULT_PEERS, wait) < 0 && errno != EINTR)
			return error_sys(err, errno, "poll");
		for (i = 0; i < VAULT_PEERS; i++)
			if (p[i].fd >= 0 && p[i].revents && v->peers[i] == p[i].fd)
				hear(v, (enum vault_peer)i);
	}
	return 0;
}

struct vault *vault_new(const struct credentials *credentials, struct mint *mint, const struct likeness_base *base,
			int supervisor, int runner)
{
	struct vault *v = calloc(1, sizeof(*v));
	struct held *held = calloc((size_t)credentials->n + 1, sizeof(*held));

	if (!v || !held) {
		free(v);
		free(held);
		return NULL;
	}
	*v = (struct vault){
		.credentials = credentials, .mint = mint, .base = base, .held = held, .peers = {-1, -1, -1, -1}};
	take_peer(v, VAULT_SUPERVISOR, supervisor);
	take_peer(v, VAULT_RUNNER, runner);
	return v;
}

void vault_free(struct vault *v)
{
	uint32_t i;

	if (!v)
		return;
	for (i = 0; i < VAULT_PEERS; i++)
		drop_peer(v, (enum vault_peer)i);
	for (i = 0; i < v->credentials->n; i++)
		source_value_done(&v->held[i].value);
	free(v->held);
	free(v);
}
