#include "task/compose_vars.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/text.h"

typedef const char *runner_fn(const struct compose_runner *r, struct arena *a, const char *arg);

/* "" is what the runner does not know; the variable is not there then. */
static const char *if_known(const char *s)
{
	return s && s[0] ? s : NULL;
}

static const char *fixed(const struct compose_runner *r, struct arena *a, const char *arg)
{
	(void)r;
	(void)a;
	return arg;
}

static const char *image(const struct compose_runner *r, struct arena *a, const char *arg)
{
	(void)a;
	(void)arg;
	return if_known(r->image);
}

static const char *prebuilt(const struct compose_runner *r, struct arena *a, const char *arg)
{
	(void)a;
	(void)arg;
	return if_known(r->prebuilt);
}

static const char *project(const struct compose_runner *r, struct arena *a, const char *suffix)
{
	return if_known(r->project) ? arena_printf(a, "%s%s", r->project, suffix) : NULL;
}

static const char *cpus(const struct compose_runner *r, struct arena *a, const char *arg)
{
	(void)arg;
	if (r->cpus == 0)
		return NULL;
	return r->cpus % 1000 ? arena_printf(a, "%" PRIu64 ".%03" PRIu64, r->cpus / 1000, r->cpus % 1000)
			      : arena_printf(a, "%" PRIu64, r->cpus / 1000);
}

static const char *memory(const struct compose_runner *r, struct arena *a, const char *arg)
{
	(void)arg;
	return r->memory ? arena_printf(a, "%" PRIu64 "M", r->memory >> 20) : NULL;
}

/* What Harbor, BenchFlow and Terminal-Bench 1 give to Compose files. Paths of the host are stand-ins. */
static const struct {
	const char *name;
	runner_fn *value;
	const char *arg;
} runner_variables[] = {
	{"COMPOSE_PROJECT_NAME", project, ""},
	{"CONTEXT_DIR", fixed, COMPOSE_STAND_IN_TASK},
	{"CPUS", cpus, NULL},
	{"ENV_AGENT_LOGS_PATH", fixed, "/logs/agent"},
	{"ENV_ARTIFACTS_PATH", fixed, "/logs/artifacts"},
	{"ENV_VERIFIER_LOGS_PATH", fixed, "/logs/verifier"},
	{"HOST_AGENT_LOGS_PATH", fixed, COMPOSE_STAND_IN "agent"},
	{"HOST_ARTIFACTS_PATH", fixed, COMPOSE_STAND_IN "artifacts"},
	{"HOST_VERIFIER_LOGS_PATH", fixed, COMPOSE_STAND_IN "verifier"},
	{"MAIN_IMAGE_NAME", image, NULL},
	{"MEMORY", memory, NULL},
	{"PREBUILT_IMAGE_NAME", prebuilt, NULL},
	{"TEST_DIR", fixed, "/tests"},
	{"T_BENCH_CONTAINER_AGENT_LOGS_PATH", fixed, "/agent-logs"},
	{"T_BENCH_CONTAINER_LOGS_PATH", fixed, "/logs"},
	{"T_BENCH_TASK_AGENT_LOGS_PATH", fixed, COMPOSE_STAND_IN "agent-logs"},
	{"T_BENCH_TASK_BUILD_CONTEXT_DIR", fixed, COMPOSE_STAND_IN_TASK},
	{"T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME", project, "-client"},
	{"T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME", image, NULL},
	{"T_BENCH_TASK_DOCKER_NAME_PREFIX", project, ""},
	{"T_BENCH_TASK_LOGS_PATH", fixed, COMPOSE_STAND_IN "task-logs"},
	{"T_BENCH_TEST_DIR", fixed, "/tests"},
};

const char *compose_variable(const struct compose_input *in, struct arena *a, struct sv name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(runner_variables); i++)
		if (sv_is(name, runner_variables[i].name))
			return runner_variables[i].value(&in->runner, a, runner_variables[i].arg);
	for (i = 0; i < in->n_variables; i++)
		if (sv_is(name, in->variables[i].name))
			return in->variables[i].value;
	return NULL;
}

struct expansion {
	const struct compose_input *in;
	struct arena *arena;
	struct buf out;
	const char *wrong;
};

static int fail(struct expansion *e, const char *wrong)
{
	e->wrong = wrong ? wrong : "out of memory";
	return -1;
}

static size_t name_length(struct sv s)
{
	size_t n = 0;

	while (n < s.n && (s.p[n] == '_' || (isascii((unsigned char)s.p[n]) && isalpha((unsigned char)s.p[n])) ||
			   (n && s.p[n] >= '0' && s.p[n] <= '9')))
		n++;
	return n;
}

/* The position of the brace that ends what began before s; s.n: there is none. */
static size_t find_end(struct sv s)
{
	unsigned depth = 1;
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '$' && i + 1 < s.n && s.p[i + 1] == '$') {
			i++;
		} else if (s.p[i] == '$' && i + 1 < s.n && s.p[i + 1] == '{') {
			depth++;
			i++;
		} else if (s.p[i] == '}' && --depth == 0) {
			return i;
		}
	}
	return s.n;
}

static int expand(struct expansion *e, struct sv text, unsigned depth);

static int not_there(struct expansion *e, struct sv name)
{
	struct text_shown shown;

	return fail(e, arena_printf(e->arena,
				    "${%s} is neither declared by the task nor the runner's; declare it in the task's "
				    "env, or write ${%s:-default}. The host's variables are never used",
				    text_show(&shown, name), shown.s));
}

/* ${X:?e}: e is the task's own message. */
static int asked_for(struct expansion *e, struct sv name, struct sv word, unsigned depth)
{
	struct text_shown shown, message;
	size_t before = e->out.n;

	if (expand(e, word, depth) < 0)
		return -1;
	(void)text_show(&message, sv_n(e->out.p ? e->out.p + before : "", e->out.n - before));
	return fail(e, arena_printf(e->arena, "${%s} is required and not there: \"%.200s\"", text_show(&shown, name),
				    message.s));
}

static int expand_form(struct expansion *e, struct sv name, struct sv op, unsigned depth)
{
	const char *value = compose_variable(e->in, e->arena, name);
	bool colon = op.n && op.p[0] == ':', there = value && !(colon && !value[0]);
	char form = op.n > (size_t)colon ? op.p[colon] : 0;
	struct sv word = op.n ? sv_n(op.p + colon + 1, op.n - colon - (op.n > (size_t)colon)) : op;

	switch (form) {
	case 0:
		if (colon)
			break;
		return value ? buf_str(&e->out, value) : not_there(e, name);
	case '-':
		return there ? buf_str(&e->out, value) : expand(e, word, depth + 1);
	case '?':
		return there ? buf_str(&e->out, value) : asked_for(e, name, word, depth + 1);
	case '+':
		return there ? expand(e, word, depth + 1) : 0;
	default:
		break;
	}
	return fail(e, "not a form of ${NAME} that Compose knows; write $$ for a dollar sign");
}

/* text begins behind a dollar sign. How much of it was used, or -1. */
static ssize_t expand_one(struct expansion *e, struct sv text, unsigned depth)
{
	size_t n, end;

	if (text.n && text.p[0] == '$')
		return buf_char(&e->out, '$') < 0 ? -1 : 1;
	n = name_length(text);
	if (n)
		return expand_form(e, sv_n(text.p, n), sv_of(""), depth) < 0 ? -1 : (ssize_t)n;
	if (text.n == 0 || text.p[0] != '{')
		return fail(e, "a lone $; write $$ for a dollar sign");
	text = sv_n(text.p + 1, text.n - 1);
	end = find_end(text);
	n = name_length(text);
	if (end == text.n || n == 0 || n > end)
		return fail(e, "not a form of ${NAME} that Compose knows; write $$ for a dollar sign");
	if (expand_form(e, sv_n(text.p, n), sv_n(text.p + n, end - n), depth) < 0)
		return -1;
	return (ssize_t)end + 2;
}

static int expand(struct expansion *e, struct sv text, unsigned depth)
{
	if (depth > COMPOSE_VARS_NESTING)
		return fail(e, "variables nested too deeply");
	while (text.n) {
		const char *dollar = memchr(text.p, '$', text.n);
		size_t plain = dollar ? (size_t)(dollar - text.p) : text.n;
		ssize_t used = 0;

		(void)buf_add(&e->out, text.p, plain);
		text = sv_n(text.p + plain, text.n - plain);
		if (text.n) {
			used = expand_one(e, sv_n(text.p + 1, text.n - 1), depth);
			if (used < 0)
				return -1;
			text = sv_n(text.p + 1 + used, text.n - 1 - (size_t)used);
		}
		if (buf_failed(&e->out))
			return fail(e, "too long with its variables filled in");
	}
	return 0;
}

const char *compose_expand(const struct compose_input *in, struct arena *a, struct sv text, const char **ret)
{
	struct expansion e = {.in = in, .arena = a};
	const char *copy = NULL;

	buf_init(&e.out, COMPOSE_TEXT_MAX);
	if (expand(&e, text, 0) == 0) {
		copy = arena_str(a, buf_view(&e.out));
		e.wrong = copy ? NULL : "out of memory";
	} else if (!e.wrong) {
		e.wrong = "too long with its variables filled in";
	}
	buf_done(&e.out);
	if (e.wrong)
		return e.wrong;
	*ret = copy;
	return NULL;
}
