#include "task/compose_role.h"

#include <errno.h>

#include "base/text.h"
#include "model/compose_codec.h"
#include "conf/parse_role.h"
#include "task/compose_read.h"

static void put_str(struct buf *out, const char *s)
{
	wire_put_sv(out, sv_of(s ? s : ""));
}

int compose_question(const struct compose_input *in, struct buf *out)
{
	uint32_t i;

	put_str(out, in->file);
	wire_put_sv(out, in->text);
	put_str(out, in->runner.project);
	put_str(out, in->runner.image);
	put_str(out, in->runner.prebuilt);
	wire_put_u64(out, in->runner.cpus);
	wire_put_u64(out, in->runner.memory);
	wire_put_u32(out, in->harbor);
	wire_put_u32(out, in->lenient);
	wire_put_u32(out, in->n_variables);
	for (i = 0; i < in->n_variables; i++) {
		put_str(out, in->variables[i].name);
		put_str(out, in->variables[i].value);
	}
	return buf_failed(out);
}

/* A string without NUL inside, or "" and a mark. */
static const char *get_str(struct wire_in *in, struct arena *a)
{
	struct sv s = wire_get_sv(in);
	const char *copy;

	if (s.n && memchr(s.p, 0, s.n))
		in->failed = true;
	copy = in->failed ? "" : arena_str(a, s);
	if (!copy)
		in->failed = true;
	return copy ? copy : "";
}

static int question_decode(struct sv question, struct arena *a, struct compose_input *ret)
{
	struct wire_in in;
	struct compose_pair *variables;
	uint32_t i;

	wire_in_init(&in, question);
	ret->file = get_str(&in, a);
	ret->text = wire_get_sv(&in);
	ret->runner.project = get_str(&in, a);
	ret->runner.image = get_str(&in, a);
	ret->runner.prebuilt = get_str(&in, a);
	ret->runner.cpus = wire_get_u64(&in);
	ret->runner.memory = wire_get_u64(&in);
	ret->harbor = wire_get_u32(&in) == 1;
	ret->lenient = wire_get_u32(&in) == 1;
	ret->n_variables = wire_get_u32(&in);
	if (in.failed || ret->n_variables > COMPOSE_VARIABLES_MAX)
		return -EBADMSG;
	variables = arena_array(a, ret->n_variables + 1, sizeof(*variables));
	for (i = 0; variables && i < ret->n_variables; i++) {
		variables[i].name = get_str(&in, a);
		variables[i].value = get_str(&in, a);
	}
	ret->variables = variables;
	return variables && wire_ok(&in) ? 0 : -EBADMSG;
}

static void put_problems(struct buf *out, const struct task_problems *problems)
{
	uint32_t i;

	wire_put_u32(out, problems->n);
	wire_put_u32(out, problems->left_out);
	for (i = 0; i < problems->n; i++) {
		const struct task_problem *p = &problems->v[i];

		wire_put_u32(out, p->warning);
		wire_put_u32(out, p->line);
		wire_put_u32(out, p->column);
		put_str(out, p->file);
		put_str(out, p->key);
		put_str(out, p->what);
	}
}

int compose_answer(struct sv question, struct buf *out, struct error *err)
{
	struct compose_input in = {0};
	struct arena *a = arena_new();
	struct task_problems problems = {.arena = a};
	const struct compose *c = NULL;
	int r;

	if (!a || question_decode(question, a, &in) < 0) {
		arena_free(a);
		return error_set(err, ERROR_SYSTEM, "the question about the Compose file is malformed");
	}
	r = compose_parse(&in, a, &problems, &c, err);
	if (r == 0 || problems.refused) {
		wire_put_u32(out, r == 0);
		put_problems(out, &problems);
		r = r == 0 ? compose_encode(c, out) : 0;
		if (r < 0 || buf_failed(out))
			r = error_set(err, ERROR_INPUT, "the Compose file is too large");
	}
	arena_free(a);
	return r;
}

/* What a child says is shown to a person, so it is escaped here whatever was done there. */
static const char *get_shown(struct wire_in *in, struct arena *a)
{
	struct sv s = wire_get_sv(in);
	AUTO_BUF shown = {0};
	const char *copy;

	buf_init(&shown, 1 << 16);
	text_escape(&shown, s, 4096);
	copy = buf_failed(&shown) ? NULL : arena_str(a, buf_view(&shown));
	if (!copy)
		in->failed = true;
	return copy ? copy : "";
}

static int get_problems(struct wire_in *in, struct arena *a, struct task_problems *to)
{
	uint32_t n = wire_get_u32(in), left_out = wire_get_u32(in), i;

	if (n > TASK_PROBLEMS_MAX)
		return -EBADMSG;
	for (i = 0; i < n && !in->failed; i++) {
		struct task_problem p = {.warning = wire_get_u32(in) == 1};

		p.line = wire_get_u32(in);
		p.column = wire_get_u32(in);
		p.file = get_shown(in, a);
		p.key = get_shown(in, a);
		p.what = get_shown(in, a);
		if (!in->failed)
			task_problem_add(to, &p);
	}
	to->left_out += left_out;
	return in->failed ? -EBADMSG : 0;
}

int compose_answer_decode(struct sv answer, struct arena *a, struct task_problems *problems, const struct compose **ret)
{
	uint32_t before = problems->refused;
	const struct compose *c = NULL;
	struct wire_in in;
	uint32_t fine;
	int r;

	wire_in_init(&in, answer);
	fine = wire_get_u32(&in);
	if (fine > 1)
		return -EBADMSG;
	r = get_problems(&in, a, problems);
	if (r == 0 && fine)
		r = compose_decode(&in, a, &c);
	if (r < 0)
		return r;
	if (!wire_ok(&in) || (fine != 1) != (problems->refused != before))
		return -EBADMSG;
	*ret = c;
	return 0;
}

int compose_load(const struct compose_input *in, struct arena *a, struct task_problems *problems,
		 const struct compose **ret, struct error *err)
{
	const struct parse_role role = {.what = "the Compose file", .parse = compose_answer};
	const struct compose *c = NULL;
	AUTO_BUF question = {0};
	AUTO_BUF answer = {0};

	buf_init(&question, COMPOSE_QUESTION_MAX);
	buf_init(&answer, COMPOSE_CODEC_MAX);
	if (in->n_variables > COMPOSE_VARIABLES_MAX)
		return error_set(err, ERROR_INPUT, "more than %d variables for the Compose file",
				 COMPOSE_VARIABLES_MAX);
	if (compose_question(in, &question) < 0)
		return error_set(err, ERROR_INPUT, "the Compose file is too large");
	if (parse_role_run(&role, buf_view(&question), &answer, err) < 0)
		return -1;
	if (compose_answer_decode(buf_view(&answer), a, problems, &c) < 0)
		return error_set(err, ERROR_INPUT, "the Compose file could not be parsed safely");
	if (!c)
		return compose_refused(problems, err);
	*ret = c;
	return 0;
}
