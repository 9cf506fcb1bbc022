#include "policy/policy_codec.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "policy/policy_fields.h"
#include "policy/policy_mandatory.h"

/*
 * One description for both directions: each visit_*() writes its value when encoding and replaces it when decoding, so
 * the two cannot drift apart.
 */
struct codec {
	struct buf *out; /* encoding; NULL: decoding */
	const char *at, *end;
	struct policy *p;
	uint32_t files;
	int failed; /* 0 or -errno */
};

static const char magic[8] = {'C', 'P', 'O', 'L', 0, 0, 0, 6};

/* The fewest bytes that each can take, and the most phases: each is a whole policy. */
enum { MIN_STR = 2, MIN_ORIGIN = 3, MIN_RULE = 17 + MIN_ORIGIN, MIN_PHASE = 1 + MIN_ORIGIN, MAX_PHASES = 4 };

static void fail(struct codec *c, int code)
{
	if (!c->failed)
		c->failed = code;
}

static void visit_bytes(struct codec *c, void *p, size_t n)
{
	if (c->out) {
		(void)buf_add(c->out, p, n);
		return;
	}
	if (c->failed || (size_t)(c->end - c->at) < n) {
		fail(c, -EBADMSG);
		memset(p, 0, n);
		return;
	}
	memcpy(p, c->at, n);
	c->at += n;
}

/* Seven bits a byte, the low ones first; the last byte has its top bit clear and, past the first, is not zero: one form
 * for each number. */
static void visit_int(struct codec *c, uint64_t *v)
{
	unsigned char b[10];
	uint64_t rest = *v;
	unsigned n = 0, shift = 0;

	if (c->out) {
		for (; rest >= 0x80; rest >>= 7)
			b[n++] = (unsigned char)(rest | 0x80);
		b[n++] = (unsigned char)rest;
		visit_bytes(c, b, n);
		return;
	}
	for (*v = 0; shift < 70; shift += 7) {
		visit_bytes(c, b, 1);
		if (shift == 63 && b[0] > 1)
			break;
		*v |= (uint64_t)(b[0] & 0x7f) << shift;
		if (b[0] < 0x80) {
			if (b[0] == 0 && shift)
				break;
			return;
		}
	}
	fail(c, -EBADMSG);
	*v = 0;
}

static void visit_u32(struct codec *c, uint32_t *v)
{
	uint64_t wide = *v;

	visit_int(c, &wide);
	if (wide > UINT32_MAX) {
		fail(c, -EBADMSG);
		wide = 0;
	}
	*v = (uint32_t)wide;
}

/* A small number that is at most max. */
static unsigned visit_mark(struct codec *c, unsigned v, unsigned max)
{
	uint64_t wide = v;

	visit_int(c, &wide);
	if (wide > max) {
		fail(c, -EBADMSG);
		wide = 0;
	}
	return (unsigned)wide;
}

static void visit_bool(struct codec *c, bool *v)
{
	*v = visit_mark(c, *v, 1);
}

static void visit_origin(struct codec *c, struct origin *at)
{
	visit_u32(c, &at->file);
	visit_u32(c, &at->line);
	visit_u32(c, &at->column);
	if (at->file >= c->files)
		fail(c, -EBADMSG);
}

static void visit_str(struct codec *c, const char **s)
{
	uint32_t n = c->out ? (uint32_t)strlen(*s) : 0;

	visit_u32(c, &n);
	if (c->out) {
		(void)buf_add(c->out, *s, (size_t)n + 1);
		return;
	}
	*s = "";
	if (c->failed || (size_t)(c->end - c->at) <= n || c->at[n] != '\0' || memchr(c->at, '\0', n)) {
		fail(c, -EBADMSG);
		return;
	}
	*s = c->at;
	c->at += n + 1;
}

/* A string that may be absent. */
static void visit_opt(struct codec *c, const char **s)
{
	if (visit_mark(c, *s != NULL, 1))
		visit_str(c, s);
	else
		*s = NULL;
}

/* An array's length, and its memory when decoding: never more than the bytes that are left could fill. */
static void *visit_array(struct codec *c, uint32_t *n, void *v, size_t size, size_t min_bytes)
{
	visit_u32(c, n);
	if (c->out)
		return v;
	if (c->failed || *n > (size_t)(c->end - c->at) / min_bytes) {
		fail(c, -EBADMSG);
		*n = 0;
	}
	v = arena_array(c->p->arena, *n, size);
	if (!v) {
		fail(c, -ENOMEM);
		*n = 0;
	}
	return v;
}

/* For each index of an array, as long as nothing went wrong. */
#define VISIT_ARRAY(c, i, n, v, min_bytes)                                                                             \
	(v) = visit_array((c), &(n), (v), sizeof(*(v)), (min_bytes));                                                  \
	for ((i) = 0; (i) < (n) && !(c)->failed; (i)++)

static void visit_num(struct codec *c, struct pol_num *num, uint64_t max)
{
	visit_bool(c, &num->set);
	if (!num->set)
		return;
	visit_int(c, &num->v);
	visit_origin(c, &num->at);
	if (num->v > max)
		fail(c, -EBADMSG);
}

static void visit_pol_str(struct codec *c, struct pol_str *s)
{
	visit_opt(c, &s->s);
	if (s->s)
		visit_origin(c, &s->at);
}

static void visit_list(struct codec *c, struct pol_list *list)
{
	uint32_t i;

	visit_bool(c, &list->set);
	VISIT_ARRAY(c, i, list->n, list->v, MIN_STR + MIN_ORIGIN)
	{
		visit_str(c, &list->v[i].s);
		visit_origin(c, &list->v[i].at);
	}
}

static void visit_pairs(struct codec *c, struct pol_pairs *pairs)
{
	uint32_t i;

	visit_bool(c, &pairs->set);
	VISIT_ARRAY(c, i, pairs->n, pairs->v, 2 * MIN_STR + MIN_ORIGIN)
	{
		visit_str(c, &pairs->v[i].key);
		visit_str(c, &pairs->v[i].value);
		visit_origin(c, &pairs->v[i].at);
	}
}

static void visit_rule(struct codec *c, struct net_rule *r)
{
	uint64_t port;
	uint32_t i;

	visit_opt(c, &r->host);
	visit_opt(c, &r->cidr);
	if (!r->host == !r->cidr)
		fail(c, -EBADMSG);
	VISIT_ARRAY(c, i, r->n_ports, r->ports, 1)
	{
		port = r->ports[i];
		visit_int(c, &port);
		if (port == 0 || port > UINT16_MAX)
			fail(c, -EBADMSG);
		r->ports[i] = (uint16_t)port;
	}
	visit_list(c, &r->methods);
	visit_list(c, &r->paths);
	visit_pol_str(c, &r->credential);
	visit_num(c, &r->rate, UINT64_MAX);
	visit_list(c, &r->graphql.types);
	visit_list(c, &r->graphql.operations);
	visit_list(c, &r->mcp.tools);
	visit_list(c, &r->mcp.methods);
	visit_origin(c, &r->at);
}

static void visit_rules(struct codec *c, struct net_rules *rules)
{
	uint32_t i;

	visit_bool(c, &rules->set);
	VISIT_ARRAY(c, i, rules->n, rules->v, MIN_RULE)
	visit_rule(c, &rules->v[i]);
}

static void visit_fields(struct codec *c, struct policy *p)
{
	const struct policy_field *f;

	for (f = policy_fields; f->name; f++) {
		void *member = policy_field_of(p, f);

		if (f->kind == FIELD_NUM)
			visit_num(c, member, f->max);
		else if (f->kind == FIELD_LIST)
			visit_list(c, member);
		else if (f->kind == FIELD_PAIRS)
			visit_pairs(c, member);
		else
			visit_rules(c, member);
	}
}

static void visit_protect(struct codec *c, struct policy *p)
{
	bool usual = c->out && mandatory_is_protect(&p->fs.protect);

	visit_bool(c, &usual);
	if (!usual)
		visit_list(c, &p->fs.protect);
	else if (!c->out && mandatory_set_protect(p) < 0)
		fail(c, -ENOMEM);
	/* The list in full would be a second encoding of the same policy. */
	if (!usual && !c->out && mandatory_is_protect(&p->fs.protect))
		fail(c, -EBADMSG);
}

static void visit_provider(struct codec *c, struct provider *p)
{
	visit_str(c, &p->name);
	visit_num(c, &p->kind, PROVIDER_GEMINI);
	visit_pol_str(c, &p->url);
	visit_pol_str(c, &p->credential);
	visit_pol_str(c, &p->base_url_env);
	visit_list(c, &p->models);
	visit_num(c, &p->max_requests, UINT64_MAX);
	visit_num(c, &p->max_output_tokens, UINT64_MAX);
	visit_num(c, &p->server_tools, SERVER_TOOLS_ALLOW);
	p->reach = (enum provider_reach)visit_mark(c, p->reach, REACH_PUBLIC);
	visit_origin(c, &p->at);
}

static void visit_inference(struct codec *c, struct pol_inference *inf)
{
	uint32_t i;

	VISIT_ARRAY(c, i, inf->n_providers, inf->providers, MIN_STR + 9 + MIN_ORIGIN)
	visit_provider(c, &inf->providers[i]);
	VISIT_ARRAY(c, i, inf->n_routes, inf->routes, 2 * MIN_STR + MIN_ORIGIN)
	{
		visit_str(c, &inf->routes[i].model);
		visit_str(c, &inf->routes[i].provider);
		visit_origin(c, &inf->routes[i].at);
	}
}

static void visit_tests(struct codec *c, struct policy *p)
{
	uint32_t i;

	VISIT_ARRAY(c, i, p->n_tests, p->tests, 4 + MIN_STR + MIN_ORIGIN)
	{
		struct pol_test *t = &p->tests[i];

		visit_bool(c, &t->allow);
		t->subject = (enum test_subject)visit_mark(c, t->subject, TEST_MODEL);
		visit_str(c, &t->target);
		visit_opt(c, &t->method);
		visit_opt(c, &t->path);
		visit_origin(c, &t->at);
	}
}

static void visit_body(struct codec *c, struct policy *p)
{
	visit_fields(c, p);
	visit_protect(c, p);
	visit_num(c, &p->fs.tmp_bound, UINT64_MAX);
	visit_bool(c, &p->fs.read_bounded);
	visit_bool(c, &p->fs.write_bounded);
	visit_bool(c, &p->fs.workdir_read_bounded);
	visit_bool(c, &p->fs.workdir_write_bounded);
	visit_list(c, &p->process.env_bound);
	visit_list(c, &p->net.doors);
	visit_inference(c, &p->inference);
}

static void visit_phase(struct codec *c, struct phase *phase)
{
	int index = c->out ? name_index(phase_names, sv_of(phase->name)) : 0;

	phase->name = phase_names[visit_mark(c, (unsigned)index, 3)];
	visit_origin(c, &phase->at);
	if (!c->out) {
		phase->policy = arena_alloc(c->p->arena, sizeof(*phase->policy));
		if (!phase->policy) {
			fail(c, -ENOMEM);
			return;
		}
		phase->policy->arena = c->p->arena;
		phase->policy->files = c->p->files;
		phase->policy->n_files = c->p->n_files;
	}
	visit_body(c, phase->policy);
}

static void visit_policy(struct codec *c, struct policy *p)
{
	char start[sizeof(magic)];
	uint32_t i;

	memcpy(start, magic, sizeof(magic));
	visit_bytes(c, start, sizeof(start));
	if (memcmp(start, magic, sizeof(magic)) != 0)
		fail(c, -EBADMSG);
	VISIT_ARRAY(c, i, p->n_files, p->files, MIN_STR)
	visit_str(c, &p->files[i]);
	c->files = p->n_files;
	if (c->files == 0)
		fail(c, -EBADMSG);
	visit_list(c, &p->extends);
	visit_body(c, p);
	visit_tests(c, p);
	VISIT_ARRAY(c, i, p->n_phases, p->phases, MIN_PHASE)
	{
		if (i < MAX_PHASES)
			visit_phase(c, &p->phases[i]);
		else
			fail(c, -EBADMSG);
	}
}

int policy_encode(const struct policy *p, struct buf *out)
{
	/* Encoding only reads: the copy keeps the one description of both directions from writing to *p. */
	struct policy copy = *p;
	struct codec c = {.out = out, .p = &copy};

	visit_policy(&c, &copy);
	return c.failed ? c.failed : buf_failed(out);
}

int policy_decode(struct sv bytes, struct policy **ret)
{
	struct policy *p = policy_new();
	struct codec c = {.p = p};
	char *copy = p ? arena_str(p->arena, bytes) : NULL;

	if (!copy) {
		policy_free(p);
		return -ENOMEM;
	}
	c.at = copy;
	c.end = copy + bytes.n;
	visit_policy(&c, p);
	if (!c.failed && c.at != c.end)
		c.failed = -EBADMSG;
	if (c.failed) {
		policy_free(p);
		return c.failed;
	}
	*ret = p;
	return 0;
}

static int read_from_start(int fd, struct buf *out)
{
	char chunk[16384];
	ssize_t n;

	while ((n = pread(fd, chunk, sizeof(chunk), (off_t)out->n)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (buf_add(out, chunk, (size_t)n) < 0)
			return buf_failed(out);
	}
	return 0;
}

int policy_decode_fd(int fd, struct policy **ret)
{
	AUTO_BUF bytes = {0};
	int r;

	buf_init(&bytes, POLICY_CODEC_MAX);
	r = read_from_start(fd, &bytes);
	return r < 0 ? r : policy_decode(buf_view(&bytes), ret);
}

int policy_digest(const struct policy *p, char digest[SHA256_HEX])
{
	AUTO_BUF b = {0};
	int r;

	buf_init(&b, POLICY_CODEC_MAX);
	r = policy_encode(p, &b);
	if (r == 0)
		sha256_hex_of(buf_view(&b), digest);
	return r;
}
