#include "policy/policy_role.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "policy/policy_codec.h"
#include "policy/policy_where.h"
#include "sys/role.h"
#include "sys/seccomp.h"
#include "wire/wire.h"

enum message {
	/* child -> parent */
	ROLE_WANT = 1, /* u32 kind, u32 has name, sv name, u32 has from, sv from */
	ROLE_POLICY,   /* the encoding */
	ROLE_FAILED,   /* u32 error kind, u32 errno, sv text */
	/* parent -> child */
	ROLE_TEXT, /* sv name, sv id, sv bytes */
	ROLE_NONE, /* there is no ceiling */
	ROLE_NO,   /* it cannot be had */
};

enum { HEAD = 8, WANT_MAX = 16384, FAILED_MAX = 4096, TEXT_MAX = POLICY_MAX_BYTES + WANT_MAX, CHUNK = 16384 };

/* Stands in the child's error for the reason that it was not told. */
static const char reason_mark[] = "[the reason]";

static const char unsafe[] = "the policy could not be compiled safely";

static void put_head(unsigned char head[HEAD], enum message type, size_t n)
{
	unsigned i;

	for (i = 0; i < 4; i++) {
		head[i] = (unsigned char)((unsigned)type >> (8 * i));
		head[4 + i] = (unsigned char)(n >> (8 * i));
	}
}

static void get_head(const unsigned char head[HEAD], uint32_t *type, uint32_t *n)
{
	struct wire_in in;

	wire_in_init(&in, sv_n((const char *)head, HEAD));
	*type = wire_get_u32(&in);
	*n = wire_get_u32(&in);
}

/* ---- the child: it has nothing but its socket, and ends where that fails ---- */

struct child {
	policy_role_work *work;
	const struct policy_request *req;
	int socket;
};

static void child_send(const struct child *c, enum message type, struct sv body)
{
	unsigned char head[HEAD];

	put_head(head, type, body.n);
	if (write_all(c->socket, head, HEAD) < 0 || write_all(c->socket, body.p, body.n) < 0)
		_exit(1);
}

static void child_read(const struct child *c, void *to, size_t n)
{
	char *p = to;
	ssize_t got;

	while (n > 0) {
		got = read(c->socket, p, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			_exit(1);
		p += got;
		n -= (size_t)got;
	}
}

static void put_name(struct buf *b, const char *name)
{
	wire_put_u32(b, name != NULL);
	wire_put_sv(b, sv_of(name ? name : ""));
}

static int child_text(struct sv body, struct arena *a, struct policy_text *ret, struct error *err)
{
	struct wire_in in;

	wire_in_init(&in, body);
	ret->name = arena_str(a, wire_get_sv(&in));
	ret->id = arena_str(a, wire_get_sv(&in));
	if (buf_sv(&ret->bytes, wire_get_sv(&in)) < 0 || !ret->name || !ret->id)
		return policy_no_memory(err);
	return wire_ok(&in) ? 0 : error_set(err, ERROR_SYSTEM, "a malformed answer");
}

static int child_get(void *ctx, const struct policy_want *want, struct arena *a, struct policy_text *ret,
		     struct error *err)
{
	const struct child *c = ctx;
	unsigned char head[HEAD];
	AUTO_FREE char *body = NULL;
	AUTO_BUF b = {0};
	uint32_t type, n;

	buf_init(&b, WANT_MAX);
	wire_put_u32(&b, (uint32_t)want->kind);
	put_name(&b, want->name);
	put_name(&b, want->from);
	if (buf_failed(&b))
		return error_set(err, ERROR_INPUT, "the name is too long for a file's");
	child_send(c, ROLE_WANT, buf_view(&b));
	child_read(c, head, HEAD);
	get_head(head, &type, &n);
	if (type == ROLE_NONE)
		return 1;
	if (type != ROLE_TEXT)
		return error_set(err, ERROR_INPUT, "%s", reason_mark);
	body = malloc((size_t)n + 1);
	if (!body)
		return policy_no_memory(err);
	child_read(c, body, n);
	return child_text(sv_n(body, n), a, ret, err);
}

static int child_main(void *arg, int sock)
{
	struct child *c = arg;
	struct policy_fetch fetch = {child_get, c};
	struct error err = {0};
	struct policy *p = NULL;
	AUTO_BUF b = {0};
	int r;

	c->socket = sock;
	buf_init(&b, POLICY_CODEC_MAX);
	if (c->work(c->req, &fetch, &p, &err) == 0) {
		r = policy_encode(p, &b);
		if (r == 0) {
			child_send(c, ROLE_POLICY, buf_view(&b));
			return 0;
		}
		(void)error_sys(&err, r, "the policy cannot be encoded");
		buf_clear(&b);
	}
	wire_put_error(&b, &err);
	child_send(c, ROLE_FAILED, buf_view(&b));
	return 0;
}

/* ---- the parent: it trusts no length, no order and no promptness ---- */

struct parent {
	const struct policy_request *req;
	const struct policy_fetch *fetch;
	struct arena *arena;
	int socket;
	struct timespec end;
	const char *ids[POLICY_MAX_FILES + 1]; /* of the texts that were handed out */
	unsigned n_ids, questions;
	struct error refused; /* why the last question was answered with a no */
};

enum { PARENT_GONE = -ECONNRESET, PARENT_LATE = -ETIMEDOUT, PARENT_NONSENSE = -EBADMSG };

static int wait_for(const struct parent *p, short events)
{
	struct pollfd fd = {.fd = p->socket, .events = events};
	struct timespec now;
	int64_t left;
	int r;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	left = (int64_t)(p->end.tv_sec - now.tv_sec) * 1000 + (p->end.tv_nsec - now.tv_nsec) / 1000000;
	if (left <= 0)
		return PARENT_LATE;
	r = poll(&fd, 1, (int)left);
	return r < 0 && errno != EINTR ? -errno : 0;
}

/* A piece of at most max bytes; 0 or PARENT_GONE and the like. */
static int receive(const struct parent *p, void *to, size_t max, size_t *ret)
{
	ssize_t n;
	int r;

	for (;;) {
		n = recv(p->socket, to, max, MSG_DONTWAIT);
		if (n > 0) {
			*ret = (size_t)n;
			return 0;
		}
		if (n == 0 || errno == ECONNRESET)
			return PARENT_GONE;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
		r = wait_for(p, POLLIN);
		if (r < 0)
			return r;
	}
}

static int receive_body(const struct parent *p, uint32_t n, struct buf *out)
{
	char chunk[CHUNK];
	size_t got = 0;
	int r = 0;

	while (r == 0 && n > 0) {
		r = receive(p, chunk, n < CHUNK ? n : CHUNK, &got);
		if (r == 0) {
			n -= (uint32_t)got;
			r = buf_add(out, chunk, got);
		}
	}
	return r;
}

/* Type of the next message, its body in out (which is emptied first). */
static int receive_message(const struct parent *p, struct buf *out)
{
	static const uint32_t most[] = {
		[ROLE_WANT] = WANT_MAX, [ROLE_POLICY] = POLICY_CODEC_MAX, [ROLE_FAILED] = FAILED_MAX};
	unsigned char head[HEAD];
	uint32_t type, n;
	size_t have = 0, got = 0;
	int r;

	for (; have < HEAD; have += got) {
		r = receive(p, head + have, HEAD - have, &got);
		if (r < 0)
			return r;
	}
	get_head(head, &type, &n);
	if (type < ROLE_WANT || type > ROLE_FAILED || n > most[type])
		return PARENT_NONSENSE;
	buf_clear(out);
	r = receive_body(p, n, out);
	return r < 0 ? r : (int)type;
}

static int send_bytes(const struct parent *p, struct sv s)
{
	ssize_t n;
	int r;

	while (s.n > 0) {
		n = send(p->socket, s.p, s.n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			s = sv_n(s.p + n, s.n - (size_t)n);
			continue;
		}
		if (errno == EPIPE || errno == ECONNRESET)
			return PARENT_GONE;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
		r = wait_for(p, POLLOUT);
		if (r < 0)
			return r;
	}
	return 0;
}

static int send_message(const struct parent *p, enum message type, struct sv body)
{
	unsigned char head[HEAD];
	int r;

	put_head(head, type, body.n);
	r = send_bytes(p, sv_n((const char *)head, HEAD));
	return r < 0 ? r : send_bytes(p, body);
}

/* NULL: it has none, or one with a NUL in it (marks in as failed). */
static const char *get_name(struct wire_in *in, struct arena *a)
{
	bool has = wire_get_u32(in) != 0;
	struct sv s = wire_get_sv(in);

	if (has && memchr(s.p, '\0', s.n))
		in->failed = true;
	return has ? arena_str(a, s) : NULL;
}

static bool is_source(const struct policy_request *req, const struct policy_want *want)
{
	size_t i;

	if (req->n_sources == 0)
		return want->kind == POLICY_WANT_PROFILE && strcmp(want->name, "default") == 0;
	for (i = 0; i < req->n_sources; i++)
		if (strcmp(req->sources[i].name, want->name) == 0 &&
		    req->sources[i].is_profile == (want->kind == POLICY_WANT_PROFILE))
			return true;
	return false;
}

/* Can an honest child ask this? */
static bool may_ask(const struct parent *p, const struct policy_want *want)
{
	unsigned i;

	if (want->kind == POLICY_WANT_CEILING)
		return !p->req->no_ceiling && !want->name && !want->from;
	if (want->kind > POLICY_WANT_CEILING || !want->name)
		return false;
	if (!want->from)
		return is_source(p->req, want);
	for (i = 0; i < p->n_ids; i++)
		if (strcmp(p->ids[i], want->from) == 0)
			return true;
	return false;
}

/* A file that another one names, and not the person, may be anything: what cannot be a policy is not handed out. */
static int check_text(const struct policy_want *want, const struct policy_text *text, struct error *err)
{
	static const char word[] = "version";
	struct text_shown name;

	if (want->kind != POLICY_WANT_FILE || !want->from)
		return 0;
	if (memmem(buf_view(&text->bytes).p, text->bytes.n, word, strlen(word)))
		return 0;
	return error_set(err, ERROR_INPUT,
			 "%s: is no policy file: it has no version; write \"version: 1\" as its first line",
			 text_show(&name, sv_of(text->name)));
}

static int send_text(struct parent *p, const struct policy_text *text)
{
	AUTO_BUF b = {0};

	buf_init(&b, TEXT_MAX);
	wire_put_sv(&b, sv_of(text->name));
	wire_put_sv(&b, sv_of(text->id));
	wire_put_sv(&b, buf_view(&text->bytes));
	if (buf_failed(&b))
		return buf_failed(&b);
	p->ids[p->n_ids++] = text->id;
	return send_message(p, ROLE_TEXT, buf_view(&b));
}

/* What we ourselves take for an answer, as where somebody has to write it first, is not the child's time. */
static void give_back(struct parent *p, const struct timespec *since)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	p->end.tv_sec += now.tv_sec - since->tv_sec;
	p->end.tv_nsec += now.tv_nsec - since->tv_nsec;
}

static int answer(struct parent *p, struct sv question)
{
	struct policy_want want = {0};
	struct policy_text text = {0};
	struct timespec since;
	struct wire_in in;
	int r;

	wire_in_init(&in, question);
	want.kind = (enum policy_want_kind)wire_get_u32(&in);
	want.name = get_name(&in, p->arena);
	want.from = get_name(&in, p->arena);
	if (!wire_ok(&in) || p->questions++ >= POLICY_MAX_FILES || !may_ask(p, &want))
		return PARENT_NONSENSE;
	buf_init(&text.bytes, POLICY_MAX_BYTES);
	(void)clock_gettime(CLOCK_MONOTONIC, &since);
	r = p->fetch->get(p->fetch->ctx, &want, p->arena, &text, &p->refused);
	give_back(p, &since);
	if (r == 0)
		r = check_text(&want, &text, &p->refused);
	if (r == 0)
		r = send_text(p, &text);
	else
		r = send_message(p, r == 1 ? ROLE_NONE : ROLE_NO, sv_n("", 0));
	buf_done(&text.bytes);
	return r;
}

/* The child's error, as far as it is one; with the reason where it could only say that there is one. */
static int take_error(const struct parent *p, struct sv body, struct error *err)
{
	struct wire_error said;
	AUTO_BUF shown = {0};

	if (wire_get_error(body, &said) < 0)
		return error_set(err, ERROR_INPUT, "%s: its parser said nothing that makes sense", unsafe);
	if (p->refused.kind && sv_ends(said.text, reason_mark)) {
		buf_init(&shown, 4 * sizeof(err->text));
		text_escape(&shown, sv_n(said.text.p, said.text.n - strlen(reason_mark)), sizeof(err->text));
		*err = p->refused;
		if (shown.n > 2) /* "where: " */
			(void)error_prefix(err, "%.*s", (int)shown.n - 2, shown.p);
		return -1;
	}
	return wire_error_set(&said, err);
}

/* ROLE_POLICY or ROLE_FAILED, with the body in out; or -errno. */
static int serve(struct parent *p, struct buf *out)
{
	int r;

	do {
		r = receive_message(p, out);
		if (r == ROLE_WANT)
			r = answer(p, buf_view(out));
	} while (r == 0);
	return r;
}

static int fail_role(int code, int status, struct error *err)
{
	if (code == PARENT_LATE)
		return error_set(err, ERROR_INPUT, "%s: it took too long; make it smaller", unsafe);
	if (code == PARENT_NONSENSE)
		return error_set(err, ERROR_INPUT, "%s: its parser said nothing that makes sense", unsafe);
	if (code != PARENT_GONE)
		return error_sys(err, code, "%s", unsafe);
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == ROLE_NOT_CONFINED)
		return error_set(err, ERROR_MISSING, "%s: its parser could not be confined; %s", unsafe,
				 seccomp_lack());
	if (status >= 0 && WIFSIGNALED(status))
		return error_set(err, ERROR_INPUT, "%s: its parser was ended by signal %d (%s)", unsafe,
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	return error_set(err, ERROR_INPUT, "%s: its parser ended without an answer", unsafe);
}

int policy_role_run(policy_role_work *work, unsigned ms, const struct policy_request *req,
		    const struct policy_fetch *fetch, struct arena *a, struct buf *out, struct error *err)
{
	static const struct role_bounds bounds = {.memory = POLICY_ROLE_MEMORY, .cpu_seconds = POLICY_ROLE_MS / 1000};
	struct child child = {.work = work, .req = req};
	AUTO_FREE struct parent *p = calloc(1, sizeof(*p));
	AUTO_FD sock = -1;
	pid_t pid;
	int r, status;

	if (!p)
		return policy_no_memory(err);
	(void)clock_gettime(CLOCK_MONOTONIC, &p->end);
	p->end.tv_sec += ms / 1000;
	p->end.tv_nsec += (long)(ms % 1000) * 1000000;
	p->req = req;
	p->fetch = fetch;
	p->arena = a;
	pid = role_fork(&bounds, child_main, &child, &sock);
	p->socket = sock;
	r = pid < 0 ? (int)pid : serve(p, out);
	if (pid > 0) {
		/* Who closed its socket is on its way out, for it may not close it otherwise: what ended it is worth
		 * knowing. */
		status = role_end(pid, r != PARENT_GONE);
		if (r == ROLE_FAILED)
			r = take_error(p, buf_view(out), err);
		else if (r < 0)
			r = fail_role(r, status, err);
	} else {
		r = error_sys(err, r, "%s", unsafe);
	}
	return r < 0 ? -1 : 0;
}

int policy_role_compile(const struct policy_request *req, const struct policy_fetch *fetch, struct arena *a,
			struct buf *out, struct error *err)
{
	return policy_role_run(policy_compile, POLICY_ROLE_MS, req, fetch, a, out, err);
}
