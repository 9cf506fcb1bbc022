/*
 * egress-drive: starts a real cordon-egress and plays everybody around it: supervisor, relay and vault. Commands on
 * stdin, one a line:
 *
 *	req METHOD URL [h:NAME=VALUE] [d:TEXT] [n:BYTES] [t:NAME=VALUE] [i:PROVIDER] [ws] [len:N] [slow] [policy:FILE]
 *	    [unended] [then:TEXT] [quit:MS]
 *					one exchange; n: so many filler bytes, t: a trailer, slow: looks away for a
 *					while; policy: a new one comes meanwhile; unended: before the body's end, then:
 *					before these bytes of it, too; quit: gives up then
 *	par N METHOD URL [...]		N of them at once; prints how many were ok; # in it is 1 for the first 512, 2
 *					for the next, and so on; with `drop` every other one is given up at some point
 *	tunnel HOST PORT TEXT		says TEXT through a tunnel and prints what comes back
 *	flood HOST PORT BYTES		how many bytes a tunnel takes before it is cut
 *	fleet N HOST PORT		N tunnels at once, which ask before they send, as much as they are granted
 *	hold HOST PORT | held		opens a tunnel and keeps it | is it still open?
 *	open METHOD URL [...]		one exchange that is kept while other commands run
 *	opened N			waits until N bytes of the body of the one opened last are here, or it is over;
 *					shows them
 *	policy FILE			a new generation
 *	regrant GRANT | novault		the vault gives another set | goes away
 *	wait MS				lets things happen
 *	rawlink HEX | rawcalls TYPE	says what no relay would say
 *	stop				the supervisor goes away
 *
 * Output: "= ..." answers, "! ..." events, "~ ..." usage, "exit N" at the end.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "http/link.h"
#include "http/target.h"
#include "policy/policy_codec.h"
#include "policy_memory.h"
#include "vault/grant.h"
#include "vault/vault.h"
#include "wire/wire.h"

struct drive {
	struct loop *loop;
	struct link *link;
	int control, calls, vault, raw_link;
	pid_t pid;
	uint64_t generation;
	struct policy *policy; /* the last one that was sent */
	bool gone;
	int held;
	struct asked *open[64];
	char *open_words[64]; /* borrowed by them */
	size_t n_open;
	struct loop_watch on_control;
};

struct asked {
	struct drive *d;
	struct link_exchange *x;
	struct buf body; /* what came back */
	size_t to_send;
	struct sv text, then;
	int quit; /* ms; 0: never */
	struct http_field trailer;
	const char *policy;
	bool has_trailer, body_due, sent_end, done, quiet, slow, looked_away, drop, unended;
	uint16_t status;
};

static char filler[65536];

static int memfd_of(struct sv bytes)
{
	int fd = memfd_create("drive", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, bytes.p, bytes.n) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		exit(99);
	return fd;
}

static int policy_fd(struct drive *d, const char *file)
{
	AUTO_BUF text = {0}, bytes = {0};
	struct error err;

	buf_init(&text, 1 << 20);
	buf_init(&bytes, POLICY_CODEC_MAX);
	policy_free(d->policy);
	if (buf_read_file(&text, file) < 0 || !(d->policy = memory_policy(text.p, NULL, &err))) {
		printf("# %s: %s\n", file, err.text);
		exit(99);
	}
	(void)policy_encode(d->policy, &bytes);
	return memfd_of(buf_view(&bytes));
}

static void on_control(void *arg, unsigned events)
{
	struct drive *d = arg;
	struct wire_message m;
	struct gate_event e;
	struct gate_usage u;
	uint32_t i;

	(void)events;
	for (;;) {
		int r = wire_receive(d->control, &m);

		if (r <= 0) {
			d->gone = d->gone || r != -EAGAIN;
			return;
		}
		if (m.type == GATE_READY) {
			printf("= ready\n");
		} else if (m.type == GATE_EVENT && gate_get_event(buf_view(&m.body), &e) == 0) {
			printf("! %s %s %u %.*s | %.*s | %.*s\n", e.domain == 4 ? "inference" : "network",
			       e.verdict ? "allow" : "deny", e.count, (int)e.subject.n, e.subject.p, (int)e.rule.n,
			       e.rule.p, (int)e.detail.n, e.detail.p);
		} else if (m.type == GATE_USAGE && gate_get_usage(buf_view(&m.body), &u) == 0) {
			printf("~ out %lu requests %lu denied %lu", (unsigned long)u.bytes_out,
			       (unsigned long)u.requests, (unsigned long)u.denied);
			for (i = 0; i < u.n_models; i++)
				printf(" %.*s %lu/%lu/%lu+%lu", (int)u.models[i].model.n, u.models[i].model.p,
				       (unsigned long)u.models[i].requests, (unsigned long)u.models[i].input_tokens,
				       (unsigned long)u.models[i].output_tokens, (unsigned long)u.models[i].cut_tokens);
			printf("\n");
		} else {
			printf("# unexpected message %u\n", m.type);
		}
		wire_message_done(&m);
	}
}

static void push(struct asked *a)
{
	while (a->body_due && !a->sent_end && (a->text.n || a->to_send)) {
		struct sv piece =
			a->text.n ? a->text : sv_n(filler, a->to_send < sizeof(filler) ? a->to_send : sizeof(filler));
		ssize_t n = link_data(a->x, piece);

		if (n < 0)
			return;
		if (a->text.n) {
			a->text.p += n;
			a->text.n -= (size_t)n;
		} else {
			a->to_send -= (size_t)n;
		}
		if ((size_t)n < piece.n)
			return;
	}
	if (a->body_due && !a->sent_end && !a->unended) {
		struct http_fields f = {&a->trailer, 1};

		a->sent_end = true;
		(void)link_end(a->x, a->has_trailer ? &f : NULL);
	}
}

static void show_fields(const char *mark, const struct http_fields *f)
{
	uint32_t i;

	for (i = 0; f && i < f->n; i++)
		printf("%s%.*s: %.*s\n", mark, (int)f->v[i].name.n, f->v[i].name.p, (int)f->v[i].value.n,
		       f->v[i].value.p);
}

static void on_response(void *user, struct link_exchange *x, const struct http_response *r)
{
	struct asked *a = link_user(x);

	(void)user;
	a->status = r->status;
	if (!a->quiet) {
		printf("= %u %.*s length %ld\n", r->status, (int)r->reason.n, r->reason.p, (long)r->length);
		show_fields("  ", &r->fields);
	}
	if (r->websocket) {
		a->body_due = true;
		push(a);
	}
}

static void on_failed(void *user, struct link_exchange *x, enum gate_failure why, struct sv text)
{
	struct asked *a = link_user(x);

	(void)user;
	a->status = (uint16_t)why;
	if (!a->quiet)
		printf("= failed %s: %.*s\n", gate_failure_facts(why)->code, (int)text.n, text.p);
}

static void on_data(void *user, struct link_exchange *x, struct sv bytes)
{
	struct asked *a = link_user(x);

	(void)user;
	(void)buf_sv(&a->body, bytes);
	if (!a->slow || a->looked_away)
		link_consume(x, bytes.n);
}

static void on_end(void *user, struct link_exchange *x, const struct http_fields *trailers)
{
	struct asked *a = link_user(x);

	(void)user;
	if (!a->quiet)
		show_fields("  trailer ", trailers);
}

static void on_room(void *user, struct link_exchange *x)
{
	(void)user;
	push(link_user(x));
}

static void on_closed(void *user, struct link_exchange *x, bool reset)
{
	struct asked *a = link_user(x);

	(void)user;
	a->done = true;
	if (reset && !a->quiet && !a->status)
		printf("= reset\n");
}

static void on_gone(void *user)
{
	struct drive *d = user;

	d->gone = true;
}

static const struct link_events events = {.response = on_response,
					  .failed = on_failed,
					  .data = on_data,
					  .end = on_end,
					  .room = on_room,
					  .closed = on_closed,
					  .gone = on_gone};

static void pump(struct drive *d, int ms)
{
	loop_step(d->loop, 0);
	for (int64_t end = loop_now(d->loop) + ms; loop_now(d->loop) < end && !d->gone;)
		loop_step(d->loop, (int)(end - loop_now(d->loop)));
}

/* Parses the words of `req` behind it. */
static void ask(struct drive *d, struct asked *a, char *words)
{
	struct http_field fields[20];
	struct link_request r = {.generation = d->generation, .head = {.fields = {fields, 0}}};
	char *save = NULL, *w = strtok_r(words, " ", &save), *url, *eq;
	struct http_target t;
	char path[4096];
	long length = -2;

	*a = (struct asked){.d = d, .quiet = a->quiet};
	buf_init(&a->body, 256 << 20);
	r.head.method = sv_of(w ? w : "");
	url = strtok_r(NULL, " ", &save);
	if (!url || http_target(sv_of("GET"), sv_of(url), path, &t)) {
		/* as it stands: host and path that no reader would give */
		printf("# not canonical\n");
		r.head.host = sv_of("pin.test");
		r.head.port = 1;
		r.head.target = sv_of(url ? url : "");
	} else {
		r.head.tls = t.tls;
		r.head.host = http_authority_host(&t.authority);
		r.head.port = t.authority.port;
		r.head.target = t.path.text;
	}
	while ((w = strtok_r(NULL, " ", &save))) {
		eq = strchr(w, '=');
		if (strncmp(w, "h:", 2) == 0 && eq) {
			*eq = '\0';
			fields[r.head.fields.n++] = (struct http_field){sv_of(w + 2), sv_of(eq + 1)};
		} else if (strncmp(w, "t:", 2) == 0 && eq) {
			*eq = '\0';
			a->trailer = (struct http_field){sv_of(w + 2), sv_of(eq + 1)};
			a->has_trailer = true;
		} else if (strncmp(w, "d:", 2) == 0) {
			a->text = sv_of(w + 2);
			a->body_due = true;
		} else if (strncmp(w, "then:", 5) == 0) {
			a->then = sv_of(w + 5);
		} else if (strncmp(w, "n:", 2) == 0) {
			a->to_send = strtoul(w + 2, NULL, 10);
			a->body_due = true;
		} else if (strncmp(w, "i:", 2) == 0) {
			r.inference = true;
			r.provider = (uint32_t)strtoul(w + 2, NULL, 10);
		} else if (strncmp(w, "target:", 7) == 0) {
			r.head.target = sv_of(w + 7);
		} else if (strncmp(w, "host:", 5) == 0) {
			r.head.host = sv_of(w + 5);
		} else if (strncmp(w, "len:", 4) == 0) {
			length = strtol(w + 4, NULL, 10);
		} else if (strcmp(w, "slow") == 0) {
			a->slow = true;
		} else if (strcmp(w, "unended") == 0) {
			a->unended = true;
		} else if (strncmp(w, "quit:", 5) == 0) {
			a->quit = atoi(w + 5);
		} else if (strcmp(w, "drop") == 0) {
			a->drop = true;
		} else if (strncmp(w, "policy:", 7) == 0) {
			a->policy = w + 7;
		} else if (strcmp(w, "ws") == 0) {
			r.head.websocket = true;
			a->text = sv_of("hello");
		}
	}
	r.head.body = a->body_due;
	r.head.length = !a->body_due ? 0 : length != -2 ? length : HTTP_LENGTH_UNKNOWN;
	if (link_request(d->link, &r, a, &a->x) < 0) {
		printf("= not taken\n");
		a->done = true;
		return;
	}
	if (!r.head.websocket)
		push(a);
}

static void show_body(const struct asked *a)
{
	size_t i, n = a->body.n < 2000 ? a->body.n : 2000;

	printf("  body %zu ", a->body.n);
	for (i = 0; i < n; i++)
		putchar(isprint((unsigned char)a->body.p[i]) ? a->body.p[i] : '.');
	printf("\n");
}

static void new_policy(struct drive *d, const char *file)
{
	int fd = policy_fd(d, file);
	AUTO_BUF body = {0};

	buf_init(&body, 64);
	wire_put_u64(&body, ++d->generation);
	(void)wire_send(d->control, GATE_POLICY, buf_view(&body), &fd, 1);
	(void)close(fd);
}

static void req(struct drive *d, char *words)
{
	struct asked a = {0};
	int i, still = 0;
	size_t before = 0;

	ask(d, &a, words);
	if (a.unended && a.policy) {
		pump(d, 100);
		new_policy(d, a.policy);
		pump(d, 100);
		a.unended = false;
		a.text = a.then;
		if (!a.done)
			push(&a);
	}
	if (a.quit) {
		pump(d, a.quit);
		if (!a.done)
			link_reset(a.x);
	}
	for (i = 0; i < 3000 && !a.done && !d->gone; i++) {
		loop_step(d->loop, 10);
		/* nothing has come for a while; where a body is due, not before it began, which may take its time */
		still = a.body.n == before && (a.body.n || a.policy || i > 1000) ? still + 1 : 0;
		before = a.body.n;
		if (a.slow && !a.looked_away && still == 60) {
			printf("= held %zu\n", a.body.n);
			a.looked_away = true;
			if (a.policy)
				new_policy(d, a.policy);
			else
				link_consume(a.x, a.body.n);
		}
	}
	if (!a.done)
		printf("= hangs\n");
	else if (a.body.n)
		show_body(&a);
	if (!a.done && !d->gone)
		exit(98);
	buf_done(&a.body);
}

static void open_one(struct drive *d, const char *words)
{
	struct asked *a = calloc(1, sizeof(*a));

	if (d->n_open == sizeof(d->open) / sizeof(d->open[0]))
		exit(99);
	d->open[d->n_open] = a;
	d->open_words[d->n_open] = strdup(words);
	ask(d, a, d->open_words[d->n_open++]);
	pump(d, 50);
}

static void opened(struct drive *d, size_t n)
{
	const struct asked *a = d->n_open ? d->open[d->n_open - 1] : NULL;
	int i;

	for (i = 0; a && i < 1000 && a->body.n < n && !a->done && !d->gone; i++)
		loop_step(d->loop, 10);
	if (!a || (a->body.n < n && !a->done))
		printf("= waited in vain\n");
	else
		show_body(a);
}

/* The link is gone. */
static void free_open(struct drive *d)
{
	while (d->n_open) {
		buf_done(&d->open[--d->n_open]->body);
		free(d->open[d->n_open]);
		free(d->open_words[d->n_open]);
	}
}

static void par(struct drive *d, char *words)
{
	char *rest = NULL;
	size_t n = strtoul(words, &rest, 10), i, done = 0, ok = 0, turns = 0;
	struct asked *a = calloc(n ? n : 1, sizeof(*a));
	char **copies = calloc(n ? n : 1, sizeof(*copies)); /* borrowed by the exchanges until they end */

	for (i = 0; i < n; i++) {
		copies[i] = strdup(rest);
		for (char *at = copies[i]; (at = strchr(at, '#'));)
			*at = (char)('1' + i / 512);
		a[i].quiet = true;
		ask(d, &a[i], copies[i]);
	}
	while (done < n && turns++ < 400000 && !d->gone) {
		loop_step(d->loop, 10);
		for (i = turns % 7; i < n; i += 7)
			if (a[i].drop && !a[i].done && i % 2 && i / 20 <= turns)
				link_reset(a[i].x);
		for (i = done = ok = 0; i < n; i++) {
			done += a[i].done;
			ok += a[i].done && a[i].status == 200;
		}
	}
	printf("= %zu of %zu ok, %zu done\n", ok, n, done);
	if (done < n)
		exit(98);
	for (i = 0; i < n; i++) {
		buf_done(&a[i].body);
		free(copies[i]);
	}
	free(copies);
	free(a);
}

/* The fd of a tunnel, or -1 and it was told why. */
static int open_tunnel(struct drive *d, const char *host, unsigned port, uint64_t id)
{
	const struct gate_tunnel t = {.id = id, .generation = d->generation, .host = sv_of(host), .port = port};
	struct wire_message m;
	AUTO_BUF body = {0};
	struct wire_in in;
	int fd = -1, i, r = -EAGAIN;

	buf_init(&body, 4096);
	gate_put_tunnel(&body, &t);
	(void)wire_send(d->calls, GATE_TUNNEL, buf_view(&body), NULL, 0);
	for (i = 0; i < 1500 && r == -EAGAIN && !d->gone; i++) {
		loop_step(d->loop, 10);
		r = wire_receive(d->calls, &m);
	}
	if (r <= 0) {
		printf("= no answer\n");
		return -1;
	}
	wire_in_init(&in, buf_view(&m.body));
	if (wire_get_u64(&in) != id)
		printf("= wrong id\n");
	if (m.type == GATE_TUNNEL_UP) {
		fd = m.fds[0];
		m.fds[0] = -1;
	} else {
		uint32_t why = wire_get_u32(&in);
		struct sv text = wire_get_sv(&in);

		printf("= failed %s: %.*s\n", gate_failure_facts(why)->code, (int)text.n, text.p);
	}
	wire_message_done(&m);
	return fd;
}

static void close_tunnel(struct drive *d, int fd, uint64_t id)
{
	AUTO_BUF body = {0};

	buf_init(&body, 64);
	wire_put_u64(&body, id);
	(void)wire_send(d->calls, GATE_TUNNEL_OVER, buf_view(&body), NULL, 0);
	if (fd >= 0)
		(void)close(fd);
}

static void tunnel(struct drive *d, char *words)
{
	char host[256], text[256] = "", got[512];
	unsigned port;
	ssize_t n = -1;
	int fd, i;

	if (sscanf(words, "%255s %u %255s", host, &port, text) < 2)
		return;
	fd = open_tunnel(d, host, port, 1);
	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));
	for (i = 0; i < 200 && n < 0; i++) {
		loop_step(d->loop, 10);
		n = read(fd, got, sizeof(got) - 1);
	}
	got[n > 0 ? n : 0] = '\0';
	printf("= up, got %s\n", got);
	close_tunnel(d, fd, 1);
}

static void flood(struct drive *d, char *words)
{
	char host[256];
	unsigned port;
	size_t want, sent = 0;
	ssize_t n;
	int fd, i;

	if (sscanf(words, "%255s %u %zu", host, &port, &want) < 3 || (fd = open_tunnel(d, host, port, 2)) < 0)
		return;
	for (i = 0; i < 20000 && sent < want; i++) {
		n = send(fd, filler, want - sent < sizeof(filler) ? want - sent : sizeof(filler), MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			break;
		sent += n > 0 ? (size_t)n : 0;
		loop_step(d->loop, n > 0 ? 0 : 1);
	}
	printf("= sent %zu of %zu\n", sent, want);
	close_tunnel(d, fd, 2);
}

static void want(struct drive *d, uint64_t id)
{
	AUTO_BUF body = {0};

	buf_init(&body, 64);
	wire_put_u64(&body, id);
	wire_put_u32(&body, sizeof(filler));
	(void)wire_send(d->calls, GATE_TUNNEL_WANT, buf_view(&body), NULL, 0);
}

/* Sends all that is granted, and asks again. How much that was. */
static size_t use_grant(struct drive *d, const int *fds, size_t n)
{
	struct wire_message m;
	struct wire_in in;
	uint64_t id;
	uint32_t granted = 0;

	if (wire_receive(d->calls, &m) <= 0)
		return 0;
	wire_in_init(&in, buf_view(&m.body));
	id = wire_get_u64(&in);
	if (m.type == GATE_TUNNEL_GRANT)
		granted = wire_get_u32(&in);
	wire_message_done(&m);
	if (!granted || granted > sizeof(filler) || id < 100 || id >= 100 + n)
		return 0;
	(void)fcntl(fds[id - 100], F_SETFL, 0);
	(void)write_all(fds[id - 100], filler, granted);
	want(d, id);
	return granted;
}

static void fleet(struct drive *d, char *words)
{
	char host[256];
	unsigned port;
	size_t n, i, all = 0;
	int fds[64], turns;

	if (sscanf(words, "%zu %255s %u", &n, host, &port) < 3 || n > ARRAY_LEN(fds))
		return;
	for (i = 0; i < n; i++)
		fds[i] = open_tunnel(d, host, port, 100 + i);
	for (i = 0; i < n; i++)
		want(d, 100 + i);
	for (turns = 0; turns < 2000 && !d->gone; turns++) {
		size_t used = use_grant(d, fds, n);

		all += used;
		loop_step(d->loop, used ? 0 : 1);
	}
	printf("= granted %zu\n", all);
	for (i = 0; i < n; i++)
		close_tunnel(d, fds[i], 100 + i);
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

static void raw_link(struct drive *d, const char *hex)
{
	unsigned char bytes[256];
	size_t n = 0;

	for (; hex[0] && hex[1] && n < sizeof(bytes); hex += 2)
		bytes[n++] = (unsigned char)(hex_digit(hex[0]) << 4 | hex_digit(hex[1]));
	(void)!write(d->raw_link, bytes, n);
	pump(d, 500);
}

/* "name|host|header|before|value|placeholder", or with "sigv4:SERVICE" as header "keyid/secret" as value. */
static void send_grant(struct drive *d, char *text)
{
	char *save = NULL, *w[6];
	struct grant g = {.n_hosts = 1,
			  .placeholders = {"", "", ""},
			  .inject = {.name = "", .before = "", .after = "", .user = "", .region = "", .service = ""}};
	const char *hosts[1];
	struct buf b;
	size_t i;

	for (i = 0; i < 6; i++)
		w[i] = strtok_r(i ? NULL : text, "|", &save);
	hosts[0] = w[1];
	g.name = w[0];
	g.hosts = hosts;
	g.placeholders[0] = w[5];
	if (strncmp(w[2], "sigv4:", 6) == 0) {
		char *slash = strchr(w[4], '/');

		g.inject.kind = INJECT_SIGV4;
		g.inject.service = w[2] + 6;
		g.inject.region = "eu-test-1";
		(void)secret_new(sv_n(w[4], (size_t)(slash - w[4])), &g.parts[PART_KEY_ID]);
		(void)secret_new(sv_of(slash + 1), &g.parts[PART_VALUE]);
		g.placeholders[1] = "AKIDPLACEHOLDER00000";
	} else {
		g.inject.kind = strcmp(w[2], "?key") == 0 ? INJECT_QUERY : INJECT_HEADER;
		g.inject.name = strcmp(w[2], "?key") == 0 ? "key" : w[2];
		g.inject.before = strcmp(w[3], "-") == 0 ? "" : w[3];
		(void)secret_new(sv_of(w[4]), &g.parts[PART_VALUE]);
	}
	buf_init(&b, 2 * GRANT_ENCODED_MAX);
	b.p = malloc(2 * GRANT_ENCODED_MAX);
	b.cap = 2 * GRANT_ENCODED_MAX;
	if (grant_encode(&g, &b) < 0 || wire_send(d->vault, VAULT_GRANT, buf_view(&b), NULL, 0) < 0)
		exit(99);
	buf_done(&b);
	for (i = 0; i < GRANT_PARTS; i++)
		secret_free(g.parts[i]);
}

static void command(struct drive *d, char *line)
{
	char *space = strchr(line, ' '), *rest = space ? space + 1 : line + strlen(line), byte;
	AUTO_BUF body = {0};
	char host[256];
	unsigned port;
	ssize_t n;

	buf_init(&body, 256);
	if (space)
		*space = '\0';
	if (strcmp(line, "req") == 0) {
		req(d, rest);
	} else if (strcmp(line, "par") == 0) {
		par(d, rest);
	} else if (strcmp(line, "open") == 0) {
		open_one(d, rest);
	} else if (strcmp(line, "opened") == 0) {
		opened(d, strtoul(rest, NULL, 10));
	} else if (strcmp(line, "tunnel") == 0) {
		tunnel(d, rest);
	} else if (strcmp(line, "flood") == 0) {
		flood(d, rest);
	} else if (strcmp(line, "fleet") == 0) {
		fleet(d, rest);
	} else if (strcmp(line, "hold") == 0 && sscanf(rest, "%255s %u", host, &port) == 2) {
		d->held = open_tunnel(d, host, port, 3);
	} else if (strcmp(line, "held") == 0) {
		while ((n = recv(d->held, &byte, 1, MSG_DONTWAIT)) > 0)
			;
		printf("= %s\n", n == 0 ? "cut" : "open");
	} else if (strcmp(line, "policy") == 0) {
		new_policy(d, rest);
		pump(d, 50);
	} else if (strcmp(line, "regrant") == 0) {
		send_grant(d, rest);
		wire_put_u32(&body, 1);
		(void)wire_send(d->vault, VAULT_GRANTS, buf_view(&body), NULL, 0);
		pump(d, 50);
	} else if (strcmp(line, "novault") == 0) {
		(void)close(d->vault);
		pump(d, 50);
	} else if (strcmp(line, "wait") == 0) {
		pump(d, atoi(rest));
	} else if (strcmp(line, "rawlink") == 0) {
		raw_link(d, rest);
	} else if (strcmp(line, "rawcalls") == 0) {
		(void)wire_send(d->calls, (uint16_t)atoi(rest), sv_of("xx"), NULL, 0);
		pump(d, 500);
	} else if (strcmp(line, "pid") == 0) {
		printf("= pid %d\n", (int)d->pid);
	} else if (line[0] && line[0] != '#') {
		printf("# unknown command %s\n", line);
		exit(99);
	}
	(void)fflush(stdout);
}

static void start(struct drive *d, const char *egress, int fds[4][2])
{
	int i;

	d->pid = fork();
	if (d->pid == 0) {
		for (i = 0; i < 4; i++)
			(void)dup2(fds[i][1], 100 + i);
		for (i = 0; i < 4; i++)
			(void)dup2(100 + i, 3 + i);
		(void)execl(egress, egress, (char *)NULL);
		_exit(97);
	}
	for (i = 0; i < 4; i++)
		(void)close(fds[i][1]);
}

int main(int argc, char **argv)
{
	struct drive d = {.held = -1, .generation = 1, .policy = policy_new()};
	struct gate_egress_setup s = {.generation = 1, .proxy = {"", 0}};
	int fds[4][2], i, files[2], status = 0;
	uint32_t n_grants = 0;
	AUTO_BUF body = {0}, count = {0}, roots = {0};
	char line[70000];

	if (argc < 4)
		return 99;
	memset(filler, 'x', sizeof(filler));
	for (i = 0; i < 4; i++)
		if (socketpair(AF_UNIX, (i == 1 ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC, 0, fds[i]) < 0)
			return 99;
	d.control = fds[0][0];
	d.raw_link = dup(fds[1][0]);
	d.calls = fds[2][0];
	d.vault = fds[3][0];
	start(&d, argv[1], fds);
	for (i = 4; i + 1 < argc; i += 2) {
		char *eq = strchr(argv[i + 1], '=');

		if (strcmp(argv[i], "pin") == 0 && eq) {
			*eq = '\0';
			s.pins[s.n_pins++] = (struct gate_pin){sv_of(argv[i + 1]), sv_of(eq + 1)};
		} else if (strcmp(argv[i], "proxy") == 0) {
			s.proxy = sv_of(argv[i + 1]);
		} else if (strcmp(argv[i], "grant") == 0) {
			send_grant(&d, argv[i + 1]);
			n_grants++;
		}
	}
	buf_init(&body, WIRE_MAX_BODY);
	buf_init(&count, 64);
	buf_init(&roots, 1 << 20);
	wire_put_u32(&count, n_grants);
	(void)wire_send(d.vault, VAULT_GRANTS, buf_view(&count), NULL, 0);
	files[0] = policy_fd(&d, argv[2]);
	(void)buf_read_file(&roots, argv[3]);
	files[1] = memfd_of(buf_view(&roots));
	gate_put_egress_setup(&body, &s);
	(void)wire_send(d.control, GATE_EGRESS_SETUP, buf_view(&body), files, 2);
	for (i = 0; i < 4; i++)
		(void)fcntl(fds[i][0], F_SETFL, O_NONBLOCK);
	d.loop = loop_new();
	if (!d.loop || link_new(d.loop, fds[1][0], true, &events, &d, &d.link) < 0 ||
	    loop_watch_add(d.loop, &d.on_control, d.control, LOOP_READ, on_control, &d) < 0)
		return 99;
	pump(&d, 100);
	while (!d.gone && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "stop") == 0)
			break;
		command(&d, line);
	}
	(void)shutdown(d.control, SHUT_WR);
	pump(&d, 300);
	link_free(d.link);
	free_open(&d);
	loop_free(d.loop);
	policy_free(d.policy);
	if (waitpid(d.pid, &status, 0) == d.pid)
		printf("exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
