#include "supervise/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "model/reach.h"
#include "policy/policy_codec.h"
#include "supervise/gate_conf.h"
#include "supervise/gate_likeness.h"
#include "supervise/gate_roles.h"
#include "vault/vault.h"
#include "wire/wire.h"

enum { VAULT, EGRESS, RELAY, ROLES };
enum { ENDED_TRIES = 20, LOAD_TIMEOUT_MS = 90000, RELOAD_MS = 30, TRUST_MAX = 16 << 20 };

struct gate {
	struct arena *arena;
	struct gate_role roles[ROLES];
	bool ready[ROLES];
	bool told_ready, lost, finishing;
	uint64_t generation;
	struct gate_conf conf;
	struct gate_placeholder *placeholders;
	uint32_t n_placeholders;
	struct buf bundle, java;
	struct buf usage[ROLES]; /* the last totals of each */
	const char *missing;
	int roots;     /* memfd, for egress */
	int redirects; /* GATE_REDIRECTS; -1: everything comes to the relay, or nothing does, or the sandbox does not
			  stand yet */
	struct redirect reach; /* of the last policy that came by gate_reload() */
	bool listening; /* the relay has its setup */
	const struct gate_events *events;
	void *arg;
};

bool gate_needed(const struct policy *p)
{
	return p->net.mode.v != NET_NONE || p->inference.n_providers > 0;
}

static int ask_vault(struct gate *g, const struct policy *p, struct error *err)
{
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, WIRE_MAX_BODY);
	if (gate_conf_put_names(p, &b, err) < 0)
		return -1;
	r = wire_send(g->roles[VAULT].control, VAULT_LOAD, buf_view(&b), NULL, 0);
	/* a vault that has ended may have said why */
	return r < 0 && r != -EPIPE && r != -ECONNRESET ? error_sys(err, r, "vault") : 0;
}

static int take_placeholders(struct gate *g, struct wire_in *in)
{
	uint32_t n = wire_get_u32(in), i;

	if (n > GATE_MAX_PLACEHOLDERS)
		return -EBADMSG;
	g->placeholders = arena_array(g->arena, n + 1, sizeof(*g->placeholders));
	if (!g->placeholders)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		g->placeholders[i].owner = arena_str(g->arena, wire_get_sv(in));
		g->placeholders[i].variable = arena_str(g->arena, wire_get_sv(in));
		g->placeholders[i].value = arena_str(g->arena, wire_get_sv(in));
	}
	g->n_placeholders = n;
	return wire_ok(in) && !arena_failed(g->arena) ? 0 : -EBADMSG;
}

/* TRUST brings three files: roots for egress, and what programs inside are to trust, as PEM and for Java. */
static int take_trust(struct gate *g, struct wire_message *m)
{
	int r;

	if (m->n_fds != 3)
		return -EBADMSG;
	g->roots = fd_take(&m->fds[0]);
	buf_init(&g->bundle, TRUST_MAX);
	buf_init(&g->java, TRUST_MAX);
	r = lseek(m->fds[1], 0, SEEK_SET) < 0 ? -errno : buf_read_fd(&g->bundle, m->fds[1]);
	if (r == 0)
		r = lseek(m->fds[2], 0, SEEK_SET) < 0 ? -errno : buf_read_fd(&g->java, m->fds[2]);
	return r;
}

static int on_loaded(struct gate *g, struct wire_message *m, enum vault_message wanted, struct error *err)
{
	struct wire_in in;
	struct sv text;
	int r = -EBADMSG;

	wire_in_init(&in, buf_view(&m->body));
	if (m->type == VAULT_FAILED) {
		text = wire_get_sv(&in);
		return error_set(err, ERROR_INPUT, "%.*s", (int)text.n, text.p);
	}
	if (m->type == VAULT_STALE) {
		struct sv name = wire_get_sv(&in);

		text = wire_get_sv(&in);
		g->missing = arena_printf(g->arena, "%s%scredential %.*s: %.*s", g->missing ? g->missing : "",
					  g->missing ? "; " : "", (int)name.n, name.p, (int)text.n, text.p);
		return 1;
	}
	if (m->type == VAULT_TRUST && wanted == VAULT_TRUST) {
		r = take_trust(g, m);
	} else if (m->type == VAULT_LOADED && wanted == VAULT_LOADED) {
		(void)wire_get_sv(&in); /* the CA's certificate alone */
		r = take_placeholders(g, &in);
	}
	return r < 0 ? error_sys(err, r, "vault: malformed answer") : 0;
}

/* 1: something else was said. */
static int hear_vault(struct gate *g, enum vault_message wanted, struct error *err)
{
	struct pollfd p = {.fd = g->roles[VAULT].control, .events = POLLIN};
	struct wire_message m;
	int r;

	do
		r = poll(&p, 1, LOAD_TIMEOUT_MS);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return error_set(err, ERROR_SYSTEM,
				 "the credentials did not come within %d seconds; does a command in credentials.yaml "
				 "wait for input?",
				 LOAD_TIMEOUT_MS / 1000);
	r = wire_receive(p.fd, &m);
	if (r <= 0)
		return error_set(err, ERROR_SYSTEM, "cordon-vault ended without a word");
	r = on_loaded(g, &m, wanted, err);
	wire_message_done(&m);
	return r;
}

static int wait_vault(struct gate *g, enum vault_message wanted, struct error *err)
{
	int r;

	do
		r = hear_vault(g, wanted, err);
	while (r > 0);
	return r;
}

static int send_peer(struct gate *g, enum vault_peer peer, int fd, struct error *err)
{
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, 16);
	wire_put_u32(&b, (uint32_t)peer);
	r = wire_send(g->roles[VAULT].control, VAULT_PEER, buf_view(&b), &fd, 1);
	return r < 0 && r != -EPIPE && r != -ECONNRESET ? error_sys(err, r, "vault") : 0;
}

/* A policy as relay and egress get it: nobody can change it any more. */
static int policy_file(const struct policy *p, struct error *err)
{
	int fd = memfd_create("cordon-policy", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;
	AUTO_BUF b = {0};

	if (fd < 0)
		return error_sys(err, errno, "memfd_create");
	buf_init(&b, POLICY_CODEC_MAX);
	r = policy_encode(p, &b);
	if (r == 0)
		r = write_all(fd, b.p, b.n);
	if (r == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		r = -errno;
	if (r < 0) {
		(void)close(fd);
		return error_sys(err, r, "policy for the gateway");
	}
	return fd;
}

static uint64_t count_pins(const struct gateway_conf *conf)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; conf && i < conf->n_resolve; i++)
		n += conf->resolve[i].n;
	return n;
}

static int set_up_egress(struct gate *g, const struct policy *p, struct error *err)
{
	AUTO_FREE struct gate_egress_setup *s = calloc(1, sizeof(*s));
	int fds[2] = {policy_file(p, err), g->roots};
	AUTO_BUF b = {0};
	uint32_t i, k;
	int r;

	if (fds[0] < 0)
		return -1;
	if (!s) {
		(void)close(fds[0]);
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	s->generation = g->generation;
	if (count_pins(g->conf.file) > GATE_MAX_PINS) {
		(void)close(fds[0]);
		return error_set(err, ERROR_INPUT, "gateway.yaml: resolve: more than %d addresses", GATE_MAX_PINS);
	}
	for (i = 0; g->conf.file && i < g->conf.file->n_resolve; i++)
		for (k = 0; k < g->conf.file->resolve[i].n && s->n_pins < GATE_MAX_PINS; k++)
			s->pins[s->n_pins++] = (struct gate_pin){sv_of(g->conf.file->resolve[i].host),
								 sv_of(g->conf.file->resolve[i].addresses[k])};
	if (g->conf.file && g->conf.file->upstream_proxy)
		s->proxy = sv_of(g->conf.file->upstream_proxy);
	buf_init(&b, WIRE_MAX_BODY);
	gate_put_egress_setup(&b, s);
	r = wire_send(g->roles[EGRESS].control, GATE_EGRESS_SETUP, buf_view(&b), fds, 2);
	(void)close(fds[0]);
	return r < 0 ? error_sys(err, r, "egress") : 0;
}

/* The sockets between the roles, and the roles themselves. */
static int start_roles(struct gate *g, const struct gate_request *req, struct error *err)
{
	int link[2] = {-1, -1}, calls[2] = {-1, -1}, to_egress[2] = {-1, -1}, to_relay[2] = {-1, -1}, r = -1;
	char *argv[] = {(char[]){"cordon-vault"}, NULL, NULL, NULL, NULL};

	argv[1] = g->conf.credentials;
	argv[2] = g->conf.ca_file;
	argv[3] = req->policy->net.mode.v == NET_NONE ? (char[]){"outside"} : (char[]){"inside"};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, link) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, calls) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_egress) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, to_relay) < 0)
		(void)error_sys(err, errno, "socketpair");
	else
		r = gate_role_start(&g->roles[VAULT], argv, req->environment, NULL, 0, err);
	if (r == 0)
		r = send_peer(g, VAULT_EGRESS, to_egress[0], err);
	if (r == 0)
		r = send_peer(g, VAULT_RELAY, to_relay[0], err);
	if (r == 0)
		r = gate_role_start(&g->roles[EGRESS], NULL, NULL, (int[]){link[0], calls[0], to_egress[1]}, 3, err);
	if (r == 0)
		r = gate_role_start(&g->roles[RELAY], NULL, NULL, (int[]){link[1], calls[1], to_relay[1]}, 3, err);
	for (int i = 0; i < 2; i++) {
		cleanup_fd(&link[i]);
		cleanup_fd(&calls[i]);
		cleanup_fd(&to_egress[i]);
		cleanup_fd(&to_relay[i]);
	}
	return r;
}

int gate_start(const struct gate_request *req, struct gate **ret, struct error *err)
{
	struct gate *g = calloc(1, sizeof(*g));
	static const char *const names[ROLES] = {[VAULT] = "vault", [EGRESS] = "egress", [RELAY] = "relay"};
	int i;

	if (!g)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	for (i = 0; i < ROLES; i++)
		g->roles[i] = (struct gate_role){.name = names[i], .control = -1};
	gate_roles_adopt();
	g->roots = g->redirects = -1;
	buf_init(&g->usage[EGRESS], WIRE_MAX_BODY);
	buf_init(&g->usage[RELAY], WIRE_MAX_BODY);
	g->generation = 1;
	g->arena = arena_new();
	g->ready[VAULT] = true;
	if (!g->arena) {
		gate_free(g);
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	if (gate_conf_read(req, &g->conf, err) < 0 || start_roles(g, req, err) < 0 ||
	    ask_vault(g, req->policy, err) < 0 || wait_vault(g, VAULT_TRUST, err) < 0 ||
	    wait_vault(g, VAULT_LOADED, err) < 0 || set_up_egress(g, req->policy, err) < 0) {
		gate_free(g);
		return -1;
	}
	*ret = g;
	return 0;
}

void gate_free(struct gate *g)
{
	int i;

	if (!g)
		return;
	for (i = ROLES - 1; i >= 0; i--)
		gate_role_end(&g->roles[i]);
	gate_roles_bury();
	gate_conf_done(&g->conf);
	buf_done(&g->bundle);
	buf_done(&g->java);
	buf_done(&g->usage[EGRESS]);
	buf_done(&g->usage[RELAY]);
	if (g->roots >= 0)
		(void)close(g->roots);
	if (g->redirects >= 0)
		(void)close(g->redirects);
	arena_free(g->arena);
	free(g);
}

void gate_inside(const struct gate *g, struct gate_inside *ret)
{
	*ret = (struct gate_inside){.placeholders = g->placeholders,
				    .n_placeholders = g->n_placeholders,
				    .bundle = buf_view(&g->bundle),
				    .java = buf_view(&g->java),
				    .missing = g->missing};
}

bool gate_is_ready(const struct gate *g)
{
	return g->told_ready;
}

void gate_listen_events(struct gate *g, const struct gate_events *events, void *arg)
{
	g->events = events;
	g->arg = arg;
}

static int redirect_now(const struct gate *g, const struct redirect *reach, struct error *err)
{
	int r = g->redirects < 0 ? 0 : redirect_tcp(g->redirects, GATE_REDIRECT_PORT, reach);

	return r < 0 ? error_sys(err, r, "gateway: the sandbox's redirect cannot be changed") : 0;
}

/* For reloads; one may have come before. */
static int keep_redirects(struct gate *g, int fd, struct error *err)
{
	if (g->redirects >= 0)
		return error_set(err, ERROR_SYSTEM, "sandbox: more than one redirect");
	g->redirects = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (g->redirects < 0)
		return error_sys(err, errno, "gateway");
	return g->generation > 1 ? redirect_now(g, &g->reach, err) : 0;
}

static void lose(struct gate *g, int role);

/* While the run goes on. A role that does not listen, with the room for hundreds of messages full, is not waited for:
 * the clock and the limits would be. */
static int tell(struct gate *g, int role, uint16_t type, const struct buf *body, const int *fds, size_t n_fds)
{
	int r = wire_send_now(g->roles[role].control, type, buf_view(body), fds, n_fds);

	if (r == -EAGAIN)
		lose(g, role);
	return r;
}

/* All but this came by the door, before the sandbox stood. */
static int listen_later(struct gate *g, const struct gate_relay_setup *s, const int *fds, struct error *err)
{
	AUTO_BUF none = {0};
	int r = 0;

	if (s->n_listeners > 1 || (s->n_listeners == 1 && s->listeners[0].kind != GATE_LISTEN_REFUSED))
		return error_set(err, ERROR_SYSTEM, "sandbox: sockets that nobody asked for");
	if (s->n_listeners)
		r = tell(g, RELAY, GATE_REFUSED, &none, fds, 1);
	/* a relay that has ended is heard of by itself */
	return r < 0 && !g->lost && r != -EPIPE && r != -ECONNRESET ? error_sys(err, r, "relay") : 0;
}

int gate_listen(struct gate *g, const struct policy *p, const struct gate_listener *listeners, const int *fds, size_t n,
		struct error *err)
{
	struct gate_relay_setup s = {.generation = g->generation};
	int all[GATE_MAX_LISTENERS + 1], r;
	AUTO_BUF b = {0};
	size_t i;

	if (n > GATE_MAX_LISTENERS)
		return error_set(err, ERROR_SYSTEM, "too many listeners");
	for (i = 0; i < n; i++) {
		if (listeners[i].kind == GATE_REDIRECTS) {
			if (keep_redirects(g, fds[i], err) < 0)
				return -1;
			continue;
		}
		s.listeners[s.n_listeners++] = listeners[i];
		all[s.n_listeners] = fds[i];
	}
	if (g->listening)
		return listen_later(g, &s, all + 1, err);
	for (; s.n_placeholders < g->n_placeholders; s.n_placeholders++) {
		s.placeholders[s.n_placeholders] = sv_of(g->placeholders[s.n_placeholders].value);
		s.owners[s.n_placeholders] = sv_of(g->placeholders[s.n_placeholders].owner);
	}
	all[0] = policy_file(p, err);
	if (all[0] < 0)
		return -1;
	buf_init(&b, WIRE_MAX_BODY);
	gate_put_relay_setup(&b, &s);
	r = wire_send(g->roles[RELAY].control, GATE_RELAY_SETUP, buf_view(&b), all, s.n_listeners + 1);
	(void)close(all[0]);
	g->listening = true;
	return r < 0 ? error_sys(err, r, "relay") : 0;
}

static int send_policy(struct gate *g, int role, int fd)
{
	AUTO_BUF b = {0};

	buf_init(&b, 16);
	wire_put_u64(&b, g->generation);
	return tell(g, role, GATE_POLICY, &b, &fd, 1);
}

static bool on_vault_message(struct gate *g, const struct wire_message *m);

/* One message of the vault's. 1: it was no answer; 0: the credentials are there; -1: they are not. */
static int hear_answer(struct gate *g, struct error *err)
{
	struct wire_message m;
	struct wire_in in;
	struct sv text;
	int r = 1;

	if (wire_receive(g->roles[VAULT].control, &m) <= 0)
		return error_set(err, ERROR_SYSTEM, "cordon-vault ended without a word");
	wire_in_init(&in, buf_view(&m.body));
	if (m.type == VAULT_FAILED) {
		text = wire_get_sv(&in);
		r = error_set(err, ERROR_INPUT, "%.*s", (int)text.n, text.p);
	} else if (m.type == VAULT_LOADED) {
		r = 0;
	} else {
		(void)on_vault_message(g, &m);
	}
	wire_message_done(&m);
	return r;
}

/*
 * Asks for the credentials that the policy names. The vault knows at once what is not in credentials.yaml, and has at
 * once what it had before; a command that takes longer than RELOAD_MS is not waited for: then the policy comes first,
 * so that what it denies is denied, and what needs the credential waits for it in egress, and is refused where it does
 * not come.
 */
static int load_again(struct gate *g, const struct policy *p, struct error *err)
{
	struct pollfd poll_vault = {.fd = g->roles[VAULT].control, .events = POLLIN};
	struct error old;
	int r = 1;

	/* what it said about an earlier one is no answer to this */
	while (poll(&poll_vault, 1, 0) > 0)
		if (hear_answer(g, &old) < 0 && old.kind == ERROR_SYSTEM)
			break;
	if (ask_vault(g, p, err) < 0)
		return -1;
	while (r > 0 && poll(&poll_vault, 1, RELOAD_MS) > 0)
		r = hear_answer(g, err);
	if (r > 0)
		r = wire_send(g->roles[VAULT].control, VAULT_COMMIT, sv_n("", 0), NULL, 0) < 0
			    ? error_set(err, ERROR_SYSTEM, "cordon-vault does not listen")
			    : 0;
	return r < 0 ? -1 : 0;
}

/* What the new policy could allow comes to the relay from now on, and is judged there; the rest is refused by the
 * kernel. */
static int redirect_again(struct gate *g, const struct policy *p, struct error *err)
{
	struct redirect reach;

	reach_of(p, &reach);
	if (redirect_now(g, &reach, err) < 0)
		return -1;
	g->reach = reach;
	return 0;
}

int gate_reload(struct gate *g, const struct policy *p, struct error *err)
{
	AUTO_FD fd = policy_file(p, err);
	int r;

	if (fd < 0 || load_again(g, p, err) < 0 || redirect_again(g, p, err) < 0)
		return -1;
	g->generation++;
	/* egress first: what it does not know yet it refuses, which is the safe way round */
	r = send_policy(g, EGRESS, fd);
	if (r == 0)
		r = send_policy(g, RELAY, fd);
	return r < 0 ? error_sys(err, r, "gateway: new policy") : 0;
}

void gate_answer(struct gate *g, uint64_t question, bool yes)
{
	AUTO_BUF b = {0};

	buf_init(&b, 32);
	wire_put_u64(&b, question);
	wire_put_u32(&b, yes);
	(void)tell(g, RELAY, GATE_ANSWER, &b, NULL, 0);
}

void gate_compare(struct gate *g, uint64_t question, const struct gate_likeness *theirs)
{
	unsigned char about[SHA256_SIZE];
	AUTO_BUF b = {0};

	gate_conf_digest(&g->conf, about);
	buf_init(&b, 256);
	wire_put_u64(&b, question);
	wire_put_sv(&b, sv_n((const char *)theirs->nonce, sizeof(theirs->nonce)));
	wire_put_sv(&b, sv_n((const char *)about, sizeof(about)));
	wire_put_sv(&b, sv_n((const char *)theirs->mac, sizeof(theirs->mac)));
	(void)tell(g, VAULT, VAULT_COMPARE, &b, NULL, 0);
}

void gate_nobody(struct gate *g)
{
	gate_answer(g, 0, false);
}

void gate_quiet(struct gate *g)
{
	AUTO_BUF b = {0};

	buf_init(&b, 16);
	wire_put_u32(&b, 1);
	(void)tell(g, RELAY, GATE_QUIET, &b, NULL, 0);
}

size_t gate_poll(const struct gate *g, struct pollfd *p)
{
	int i;

	if (!g)
		return 0;
	for (i = 0; i < ROLES; i++)
		p[i] = (struct pollfd){.fd = g->roles[i].control, .events = POLLIN};
	return ROLES;
}

static void on_ready(struct gate *g, int role)
{
	int i;

	g->ready[role] = true;
	for (i = 0; i < ROLES; i++)
		if (!g->ready[i])
			return;
	if (!g->told_ready && !g->lost)
		g->events->ready(g->arg);
	g->told_ready = true;
}

static bool on_ask(struct gate *g, struct sv body)
{
	uint64_t question;
	struct wire_in in;
	struct sv host;
	uint32_t port;

	wire_in_init(&in, body);
	question = wire_get_u64(&in);
	host = wire_get_sv(&in);
	port = wire_get_u32(&in);
	if (!wire_ok(&in) || host.n == 0 || port == 0 || port > 65535)
		return false;
	if (!g->lost) /* the one who asks is gone */
		g->events->ask(g->arg, question, host, port);
	return true;
}

/* Both sides count: what the workload did is the relay's to say; what went out, what models were asked and wrote, and
 * what it denied of what the relay let pass, is egress's. */
static bool on_usage(struct gate *g, int role, struct sv body)
{
	struct gate_usage u, models = {0};

	if (gate_get_usage(body, &u) < 0)
		return false;
	buf_clear(&g->usage[role]);
	if (buf_sv(&g->usage[role], body) < 0)
		return true; /* totals: the next ones will do */
	if (g->usage[EGRESS].n)
		(void)gate_get_usage(buf_view(&g->usage[EGRESS]), &models);
	if (g->usage[RELAY].n == 0 || gate_get_usage(buf_view(&g->usage[RELAY]), &u) < 0)
		return true;
	u.denied = u.denied > UINT64_MAX - models.denied ? UINT64_MAX : u.denied + models.denied;
	u.bytes_out = models.bytes_out;
	memcpy(u.models, models.models, sizeof(u.models));
	u.n_models = models.n_models;
	g->events->usage(g->arg, &u);
	return true;
}

/* false: it makes no sense. */
static bool on_role_message(struct gate *g, int role, const struct wire_message *m)
{
	struct gate_event e;

	if (m->type == GATE_READY)
		on_ready(g, role);
	else if (m->type == GATE_ASK)
		return role == RELAY && on_ask(g, buf_view(&m->body));
	else if (m->type == GATE_EVENT && gate_get_event(buf_view(&m->body), &e) == 0)
		g->events->event(g->arg, &e);
	else
		return m->type == GATE_USAGE && on_usage(g, role, buf_view(&m->body));
	return true;
}

static bool on_compared(const struct gate *g, struct wire_in *in)
{
	uint64_t question = wire_get_u64(in);
	uint32_t same = wire_get_u32(in);

	if (!wire_ok(in))
		return false;
	g->events->compared(g->arg, question, same == 1);
	return true;
}

/* After the start the vault has only changes to tell, and answers to gate_compare(). */
static bool on_vault_message(struct gate *g, const struct wire_message *m)
{
	struct gate_event e = {.domain = 0, .verdict = 0, .count = 1, .rule = sv_of("credential")};
	struct wire_in in;

	wire_in_init(&in, buf_view(&m->body));
	if (m->type == VAULT_COMPARED)
		return on_compared(g, &in);
	if (m->type == VAULT_STALE)
		e.subject = wire_get_sv(&in);
	if (m->type == VAULT_STALE || m->type == VAULT_FAILED) {
		e.detail = wire_get_sv(&in);
		g->events->event(g->arg, &e);
	}
	return true;
}

static bool hear(struct gate *g, int role)
{
	struct wire_message m;
	bool sound;

	if (wire_receive(g->roles[role].control, &m) <= 0)
		return false;
	sound = role == VAULT ? on_vault_message(g, &m) : on_role_message(g, role, &m);
	wire_message_done(&m);
	return sound;
}

/*
 * Which role was it, and how did it end? Roles that talk to one that ended end too, and may be heard of before it: the
 * one that a signal ended is the cause. Its sockets close a moment before it can be waited for.
 */
static int find_ended(const struct gate *g, int role, char *how, size_t size)
{
	const struct timespec pause = {0, 1000000};
	char text[32];
	bool killed;
	int tries, i;

	(void)snprintf(how, size, "it does not answer");
	for (tries = 0; tries < ENDED_TRIES; tries++) {
		for (i = 0; i < ROLES; i++) {
			if (!gate_role_ended(&g->roles[i], text, sizeof(text), &killed))
				continue;
			if (killed || i == role)
				(void)snprintf(how, size, "%s", text);
			if (killed)
				return i;
		}
		(void)nanosleep(&pause, NULL);
	}
	return role;
}

/* One role without the others is no gateway: all of them end, and what they still had to say is for the log. */
static void lose(struct gate *g, int role)
{
	struct pollfd p = {.events = POLLIN};
	char how[32];
	int i;

	if (g->finishing)
		gate_role_end(&g->roles[role]);
	if (g->finishing || g->lost)
		return;
	g->lost = true;
	role = find_ended(g, role, how, sizeof(how));
	for (i = ROLES - 1; i >= 0; i--)
		gate_role_kill(&g->roles[i]);
	for (i = 0; i < ROLES; i++) {
		p.fd = g->roles[i].control;
		while (p.fd >= 0 && poll(&p, 1, 0) > 0 && hear(g, i))
			;
		gate_role_end(&g->roles[i]);
	}
	g->events->lost(g->arg, g->roles[role].name, how);
}

void gate_serve(struct gate *g, const struct pollfd *p, size_t n)
{
	size_t i;

	for (i = 0; g && i < n; i++)
		if (p[i].revents && g->roles[i].control >= 0 && !hear(g, (int)i))
			lose(g, (int)i);
}

void gate_serve_last(struct gate *g)
{
	struct pollfd p[GATE_POLL];

	if (g && !g->lost && poll(p, gate_poll(g, p), 0) > 0)
		gate_serve(g, p, GATE_POLL);
}

void gate_finish(struct gate *g)
{
	struct pollfd p[GATE_POLL];
	struct timespec start, now;
	int64_t left = GATE_FINISH_MAX_MS;

	if (!g || !g->told_ready)
		return;
	g->finishing = true;
	(void)shutdown(g->roles[RELAY].control, SHUT_WR);
	(void)shutdown(g->roles[EGRESS].control, SHUT_WR);
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	while (left > 0 && (g->roles[RELAY].control >= 0 || g->roles[EGRESS].control >= 0)) {
		(void)gate_poll(g, p);
		if (poll(p, GATE_POLL, (int)(left < GATE_FINISH_MS ? left : GATE_FINISH_MS)) <= 0)
			return;
		gate_serve(g, p, GATE_POLL);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		left = GATE_FINISH_MAX_MS -
		       ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000);
	}
}
