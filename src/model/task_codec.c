#include <errno.h>
#include <string.h>

#include "model/task.h"
#include "wire/wire.h"

/*
 * One description for both directions: a struct is a table of its members, and one function walks it, writing each when
 * encoding and replacing it when decoding, so the two cannot drift apart. Members of type pol_num, pol_str and so on
 * travel with their origins.
 */
enum member_kind {
	MEMBER_NUM,
	MEMBER_STR,
	MEMBER_LIST,
	MEMBER_PAIRS,
	MEMBER_RANGE,
	MEMBER_TEXT,
	MEMBER_STRUCT,
	MEMBER_POINTER,
	MEMBER_ARRAY
};

struct shape;

struct member {
	enum member_kind kind;
	size_t offset;
	uint64_t max;		/* of a number; of an array: most items. 0: any number, ITEMS_MAX items */
	const struct shape *of; /* of structs */
	size_t count;		/* offset of an array's uint32_t count */
};

struct shape {
	size_t size;
	const struct member *members;
	size_t n;
};

enum { ITEMS_MAX = 4096, WORDS_MAX = 65536, MAGIC = 0x314b5354 };

struct codec {
	struct buf *out; /* encoding; NULL: decoding */
	struct wire_in in;
	struct arena *arena;
	int failed; /* 0 or -errno */
};

static void walk(struct codec *c, const struct shape *shape, void *object);

static void fail(struct codec *c, int code)
{
	if (!c->failed)
		c->failed = code;
}

static void visit_u32(struct codec *c, uint32_t *v)
{
	if (c->out)
		wire_put_u32(c->out, *v);
	else
		*v = wire_get_u32(&c->in);
}

static void visit_u64(struct codec *c, uint64_t *v)
{
	if (c->out)
		wire_put_u64(c->out, *v);
	else
		*v = wire_get_u64(&c->in);
}

static void visit_bool(struct codec *c, bool *v)
{
	uint32_t wide = *v;

	visit_u32(c, &wide);
	if (wide > 1)
		fail(c, -EBADMSG);
	*v = wide == 1;
}

static void visit_origin(struct codec *c, struct origin *at)
{
	visit_u32(c, &at->file);
	visit_u32(c, &at->line);
	visit_u32(c, &at->column);
	if (at->file > 1)
		fail(c, -EBADMSG);
}

/* A count of things that take room here: at most max, and no more than the bytes that are left could hold. */
static void visit_count(struct codec *c, uint32_t *n, uint32_t max)
{
	visit_u32(c, n);
	if (*n <= max && (c->out || *n <= c->in.rest.n / 4))
		return;
	fail(c, -EBADMSG);
	*n = 0;
}

static void *visit_room(struct codec *c, void *have, uint32_t n, size_t size)
{
	void *p;

	if (c->out || n == 0)
		return c->out ? have : NULL;
	p = arena_array(c->arena, n, size);
	if (!p)
		fail(c, -ENOMEM);
	return p;
}

/* A text that may be absent. */
static void visit_text(struct codec *c, const char **s)
{
	bool has = *s != NULL;
	struct sv text;

	visit_bool(c, &has);
	if (c->out) {
		if (has)
			wire_put_sv(c->out, sv_of(*s));
		return;
	}
	*s = NULL;
	if (!has)
		return;
	text = wire_get_sv(&c->in);
	if (text.n && memchr(text.p, '\0', text.n))
		fail(c, -EBADMSG);
	*s = arena_str(c->arena, text);
	if (!*s)
		fail(c, -ENOMEM);
}

/* A text that must be there. */
static void visit_some_text(struct codec *c, const char **s)
{
	visit_text(c, s);
	if (!*s)
		fail(c, -EBADMSG);
}

static void visit_num(struct codec *c, struct pol_num *v, uint64_t max)
{
	visit_bool(c, &v->set);
	visit_u64(c, &v->v);
	visit_origin(c, &v->at);
	if (max && v->v > max)
		fail(c, -EBADMSG);
}

static void visit_str(struct codec *c, struct pol_str *v)
{
	visit_text(c, &v->s);
	visit_origin(c, &v->at);
}

static void visit_list(struct codec *c, struct pol_list *v)
{
	uint32_t i;

	visit_bool(c, &v->set);
	visit_count(c, &v->n, WORDS_MAX);
	v->v = visit_room(c, v->v, v->n, sizeof(*v->v));
	for (i = 0; !c->failed && i < v->n; i++) {
		visit_some_text(c, &v->v[i].s);
		visit_origin(c, &v->v[i].at);
	}
}

static void visit_pairs(struct codec *c, struct pol_pairs *v)
{
	uint32_t i;

	visit_bool(c, &v->set);
	visit_count(c, &v->n, WORDS_MAX);
	v->v = visit_room(c, v->v, v->n, sizeof(*v->v));
	for (i = 0; !c->failed && i < v->n; i++) {
		visit_some_text(c, &v->v[i].key);
		visit_some_text(c, &v->v[i].value);
		visit_origin(c, &v->v[i].at);
	}
}

static void visit_double(struct codec *c, double *v)
{
	uint64_t bits;

	memcpy(&bits, v, sizeof(bits));
	visit_u64(c, &bits);
	memcpy(v, &bits, sizeof(bits));
}

static void visit_range(struct codec *c, struct task_range *v)
{
	visit_bool(c, &v->set);
	visit_double(c, &v->low);
	visit_double(c, &v->high);
	visit_origin(c, &v->at);
	/* the comparisons fail for what is no number */
	if (v->set && !(v->low <= 0 && v->low >= -1e300 && v->high >= 1 && v->high <= 1e300))
		fail(c, -EBADMSG);
}

/* `at` is a pointer to some struct: its bytes are copied, because its type is not known here. */
static void visit_pointer(struct codec *c, const struct shape *of, void *at)
{
	void *p;
	bool has;

	memcpy(&p, at, sizeof(p));
	has = p != NULL;
	visit_bool(c, &has);
	p = has ? visit_room(c, p, 1, of->size) : NULL;
	if (p)
		walk(c, of, p);
	memcpy(at, &p, sizeof(p));
}

static void visit_array(struct codec *c, const struct member *m, void *at, uint32_t *n)
{
	char *p;
	uint32_t i;

	memcpy(&p, at, sizeof(p));
	visit_count(c, n, m->max ? (uint32_t)m->max : ITEMS_MAX);
	p = visit_room(c, p, *n, m->of->size);
	for (i = 0; !c->failed && i < *n; i++)
		walk(c, m->of, p + i * m->of->size);
	memcpy(at, &p, sizeof(p));
}

static void walk(struct codec *c, const struct shape *shape, void *object)
{
	size_t i;

	for (i = 0; !c->failed && i < shape->n; i++) {
		const struct member *m = &shape->members[i];
		void *at = (char *)object + m->offset;

		switch (m->kind) {
		case MEMBER_NUM: visit_num(c, at, m->max); break;
		case MEMBER_STR: visit_str(c, at); break;
		case MEMBER_LIST: visit_list(c, at); break;
		case MEMBER_PAIRS: visit_pairs(c, at); break;
		case MEMBER_RANGE: visit_range(c, at); break;
		case MEMBER_TEXT: visit_text(c, at); break;
		case MEMBER_STRUCT: walk(c, m->of, at); break;
		case MEMBER_POINTER: visit_pointer(c, m->of, at); break;
		case MEMBER_ARRAY: visit_array(c, m, at, (uint32_t *)((char *)object + m->count)); break;
		}
	}
}

#define NUM(type, name)		 {MEMBER_NUM, offsetof(struct type, name), 0, NULL, 0}
#define ENUM(type, name, most)	 {MEMBER_NUM, offsetof(struct type, name), most, NULL, 0}
#define STR(type, name)		 {MEMBER_STR, offsetof(struct type, name), 0, NULL, 0}
#define LIST(type, name)	 {MEMBER_LIST, offsetof(struct type, name), 0, NULL, 0}
#define PAIRS(type, name)	 {MEMBER_PAIRS, offsetof(struct type, name), 0, NULL, 0}
#define RANGE(type, name)	 {MEMBER_RANGE, offsetof(struct type, name), 0, NULL, 0}
#define TEXT(type, name)	 {MEMBER_TEXT, offsetof(struct type, name), 0, NULL, 0}
#define STRUCT(type, name, of)	 {MEMBER_STRUCT, offsetof(struct type, name), 0, &of, 0}
#define POINTER(type, name, of)	 {MEMBER_POINTER, offsetof(struct type, name), 0, &of, 0}
#define ARRAY(type, name, n, of) {MEMBER_ARRAY, offsetof(struct type, name), 0, &of, offsetof(struct type, n)}
#define SHAPE(type)                                                                                                    \
	static const struct shape type##_shape = {sizeof(struct type), type##_members,                                 \
						  sizeof(type##_members) / sizeof(type##_members[0])}

static const struct member task_network_members[] = {ENUM(task_network, mode, NET_PUBLIC), LIST(task_network, hosts)};
SHAPE(task_network);

static const struct member task_healthcheck_members[] = {
	STR(task_healthcheck, command),	    NUM(task_healthcheck, interval),	   NUM(task_healthcheck, timeout),
	NUM(task_healthcheck, start_period), NUM(task_healthcheck, start_interval), NUM(task_healthcheck, retries),
};
SHAPE(task_healthcheck);

static const struct member task_mcp_members[] = {
	STR(task_mcp, name),          ENUM(task_mcp, transport, TASK_MCP_HTTP),
	STR(task_mcp, url),           STR(task_mcp, command),
	LIST(task_mcp, args),         STR(task_mcp, cwd),
	PAIRS(task_mcp, env),         PAIRS(task_mcp, headers),
	LIST(task_mcp, tools),        LIST(task_mcp, include_tags),
	LIST(task_mcp, exclude_tags),
};
SHAPE(task_mcp);

static const struct member task_command_members[] = {
	STR(task_command, command), NUM(task_command, timeout), STR(task_command, cwd),
	PAIRS(task_command, env),   STR(task_command, user),    STR(task_command, service),
};
SHAPE(task_command);

static const struct member task_commands_members[] = {ARRAY(task_commands, v, n, task_command_shape)};
SHAPE(task_commands);

static const struct member task_environment_members[] = {
	NUM(task_environment, build_timeout),
	STR(task_environment, docker_image),
	NUM(task_environment, cpus),
	NUM(task_environment, memory),
	NUM(task_environment, storage),
	STRUCT(task_environment, network, task_network_shape),
	PAIRS(task_environment, env),
	STR(task_environment, workdir),
	STR(task_environment, skills_dir),
	STRUCT(task_environment, healthcheck, task_healthcheck_shape),
	ARRAY(task_environment, mcp, n_mcp, task_mcp_shape),
	STRUCT(task_environment, setup, task_commands_shape),
};
SHAPE(task_environment);

static const struct member task_agent_members[] = {
	NUM(task_agent, timeout),
	STR(task_agent, user),
	STRUCT(task_agent, network, task_network_shape),
	STR(task_agent, prompt_prefix),
};
SHAPE(task_agent);

static const struct member task_verifier_members[] = {
	NUM(task_verifier, timeout),
	STR(task_verifier, user),
	STRUCT(task_verifier, network, task_network_shape),
	PAIRS(task_verifier, env),
	RANGE(task_verifier, range),
	STR(task_verifier, service),
	ENUM(task_verifier, separate, 1),
	POINTER(task_verifier, environment, task_environment_shape),
	STRUCT(task_verifier, collect, task_commands_shape),
	ENUM(task_verifier, keep_conftests, 1),
	LIST(task_verifier, pytest_plugins),
};
SHAPE(task_verifier);

static const struct member task_solution_members[] = {NUM(task_solution, timeout), PAIRS(task_solution, env)};
SHAPE(task_solution);

static const struct member task_artifact_members[] = {
	STR(task_artifact, source),
	STR(task_artifact, destination),
	STR(task_artifact, service),
	LIST(task_artifact, exclude),
};
SHAPE(task_artifact);

static const struct member task_artifacts_members[] = {ARRAY(task_artifacts, v, n, task_artifact_shape)};
SHAPE(task_artifacts);

static const struct member task_files_members[] = {
	TEXT(task_files, config),      TEXT(task_files, instruction),     TEXT(task_files, context),
	TEXT(task_files, dockerfile),  TEXT(task_files, compose),         TEXT(task_files, tests),
	TEXT(task_files, test_script), TEXT(task_files, test_dockerfile), TEXT(task_files, test_compose),
	TEXT(task_files, solution),    TEXT(task_files, solve_script),    TEXT(task_files, workdir),
};
SHAPE(task_files);

static const struct member task_step_members[] = {
	STR(task_step, name),
	TEXT(task_step, instruction),
	STRUCT(task_step, agent, task_agent_shape),
	STRUCT(task_step, verifier, task_verifier_shape),
	STRUCT(task_step, healthcheck, task_healthcheck_shape),
	STRUCT(task_step, artifacts, task_artifacts_shape),
	PAIRS(task_step, min_reward),
	STRUCT(task_step, files, task_files_shape),
};
SHAPE(task_step);

static const struct member task_members[] = {
	STR(task, schema),
	STR(task, name),
	TEXT(task, instruction),
	STRUCT(task, agent, task_agent_shape),
	STRUCT(task, verifier, task_verifier_shape),
	STRUCT(task, environment, task_environment_shape),
	STRUCT(task, solution, task_solution_shape),
	STRUCT(task, artifacts, task_artifacts_shape),
	{MEMBER_ARRAY, offsetof(struct task, steps), TASK_STEPS_MAX, &task_step_shape, offsetof(struct task, n_steps)},
	ENUM(task, steps_reward, TASK_STEPS_FINAL),
	STR(task, parser),
	TEXT(task, metadata),
	STRUCT(task, files, task_files_shape),
};
SHAPE(task);

static void visit_problem(struct codec *c, struct task_problem *p)
{
	visit_bool(c, &p->warning);
	visit_some_text(c, &p->file);
	visit_u32(c, &p->line);
	visit_u32(c, &p->column);
	visit_some_text(c, &p->key);
	visit_some_text(c, &p->what);
}

static void visit_problems(struct codec *c, struct task_problems *list)
{
	struct task_problem p;
	uint32_t i, n = list->n, left_out = list->left_out, refused = list->refused;

	visit_count(c, &n, TASK_PROBLEMS_MAX);
	for (i = 0; !c->failed && i < n; i++) {
		p = c->out ? list->v[i] : (struct task_problem){0};
		visit_problem(c, &p);
		if (!c->out && !c->failed)
			task_problem_add(list, &p);
	}
	visit_u32(c, &left_out);
	visit_u32(c, &refused);
	/* Those that were left out may be refusals; none of those that are here may be unsaid. */
	if (!c->out && refused > list->refused)
		list->refused = refused;
	if (!c->out)
		list->left_out += left_out;
}

static void visit_all(struct codec *c, struct task *t, struct task_problems *problems)
{
	uint32_t magic = MAGIC, format = (uint32_t)t->format;

	visit_u32(c, &magic);
	visit_u32(c, &format);
	if (magic != MAGIC || format > TASK_TERMINAL)
		fail(c, -EBADMSG);
	t->format = (enum task_format)format;
	visit_problems(c, problems);
	walk(c, &task_shape, t);
	if (!t->instruction || !t->metadata)
		fail(c, -EBADMSG);
}

int task_encode(const struct task *t, const struct task_problems *problems, struct buf *out)
{
	/* Encoding only reads: the copies keep the one description of both directions from writing to what is the
	 * caller's. */
	struct task task = *t;
	struct task_problems list = *problems;
	struct codec c = {.out = out};

	visit_all(&c, &task, &list);
	return c.failed ? c.failed : buf_failed(out);
}

int task_decode(struct sv bytes, struct task **ret, struct task_problems *problems)
{
	struct task *t = task_new();
	struct codec c = {.arena = t ? t->arena : NULL};

	if (!t)
		return -ENOMEM;
	wire_in_init(&c.in, bytes);
	visit_all(&c, t, problems);
	if (!c.failed && !wire_ok(&c.in))
		c.failed = -EBADMSG;
	if (c.failed) {
		task_free(t);
		return c.failed;
	}
	*ret = t;
	return 0;
}
