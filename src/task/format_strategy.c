#include "task/format_strategy.h"

#include <errno.h>

#include "base/cleanup.h"
#include "conf/parse_role.h"
#include "task/format_document.h"
#include "task/format_parse.h"
#include "task/format_read.h"
#include "wire/wire.h"

static const char no_judge[] =
	"is a verifier that Cordon does not have; it runs test.sh (type script, command ./test.sh)";

static bool is_one_of(struct sv s, const char *const *words)
{
	return name_index(words, s) >= 0;
}

static int read_type(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	(void)arg;
	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	return sv_is(n->text, "script") ? 0 : reader_fail_value(r, n, no_judge);
}

static int read_command(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const char *const ours[] = {"./test.sh",  "test.sh",      "bash test.sh",   "bash ./test.sh",
					   "sh test.sh", "sh ./test.sh", "/tests/test.sh", "bash /tests/test.sh",
					   NULL};

	(void)to;
	(void)arg;
	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	return is_one_of(n->text, ours)
		       ? 0
		       : reader_fail_value(r, n, "is not test.sh, which is what Cordon runs; let test.sh do it");
}

static const struct reader_key strategy_rows[] = {
	{"type", read_type, 0, NULL}, {"command", read_command, 0, NULL}, {.name = NULL}};

/* Only the strategy that is taken has to be one that we have: the default, or the first. */
static int check_strategies(struct reader *r, const struct ynode *verifier)
{
	const struct ynode *all = reader_find(verifier, "strategies"),
			   *chosen = reader_find(verifier, "default_strategy"), *k;
	char nothing = 0; /* is kept: the rows only look */

	if (!all || reader_want(r, all, YNODE_MAP) < 0)
		return all ? -1 : 0;
	for (k = all->first; k; k = k->next)
		if (!chosen || (chosen->kind == YNODE_SCALAR && sv_eq(k->text, chosen->text)))
			break;
	if (!k)
		return reader_fail(r, chosen ? chosen : all, "no strategy has this name");
	reader_enter(r, k->text);
	return reader_map(r, k->value, &nothing, strategy_rows);
}

/* arg: the only path that is read. */
static int read_output(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	if (reader_want(r, n, YNODE_SCALAR) < 0)
		return -1;
	return sv_is(n->text, arg) ? 0 : reader_fail(r, n, "rewards are read from %s only", (const char *)arg);
}

/* Several keys are averaged (reward.h), whatever weights stand here. */
static int read_policy(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct ynode *metrics = n->kind == YNODE_MAP ? reader_find(n, "metrics") : NULL;

	(void)to;
	(void)arg;
	if (metrics && metrics->kind == YNODE_MAP && metrics->n > 1)
		reader_warn(r, n,
			    "the reward is the key \"reward\", or the plain mean of all keys where there is none");
	return 0;
}

static const struct reader_key output_rows[] = {
	{"reward_text", read_output, 0, "/logs/verifier/reward.txt"},
	{"reward_json", read_output, 0, "/logs/verifier/reward.json"},
	{"details_json", format_keep, 0, NULL},
	{"aggregate_policy", read_policy, 0, NULL},
	{.name = NULL},
};

static int read_verifier(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const struct reader_key rows[] = {
		{"name", format_keep, 0, NULL},          {"default_strategy", format_keep, 0, NULL},
		{"strategies", format_keep, 0, NULL},    {"rubric", format_keep, 0, NULL},
		{"outputs", reader_map, 0, output_rows}, {.name = NULL},
	};

	(void)arg;
	return reader_map(r, n, to, rows) < 0 ? -1 : check_strategies(r, n);
}

static const struct reader_key root_rows[] = {
	{"document_version", format_keep, 0, NULL}, {"verifier", read_verifier, 0, NULL}, {.name = NULL}};

int format_strategy(const char *name, struct sv text, struct arena *a, struct task_problems *problems,
		    struct error *err)
{
	struct format_telling telling = {problems, name};
	struct reader r = {.arena = a,
			   .name = name,
			   .file = 1,
			   .err = err,
			   .problem = format_tell,
			   .problem_arg = &telling,
			   .null_is_absent = true};
	const struct ynode *root;
	struct format_document d;
	const char *wrong = format_document_split(text, &d);
	char nothing = 0;

	if (wrong) {
		(void)reader_fail(&r, &(struct ynode){.line = 1, .column = 1}, "%s", wrong);
		return 0;
	}
	if (yaml_tree(a, name, d.front, &root, err) < 0) {
		if (err->kind != ERROR_INPUT)
			return -1;
		task_problem_add(problems, &(struct task_problem){.what = err->text});
		return 0;
	}
	return reader_map(&r, root, &nothing, root_rows) < 0 && err->kind == ERROR_SYSTEM ? -1 : 0;
}

/* ---- in a confined child: an empty task carries the problems ---- */

static int work(struct sv in, struct buf *out, struct error *err)
{
	struct task *t = task_new();
	struct task_problems problems = {.arena = t ? t->arena : NULL};
	struct wire_in w;
	const char *name;
	int r = -1;

	wire_in_init(&w, in);
	name = t ? arena_str(t->arena, wire_get_sv(&w)) : NULL;
	if (!name)
		(void)error_set(err, ERROR_SYSTEM, "out of memory");
	else
		r = format_strategy(name, wire_get_sv(&w), t->arena, &problems, err);
	if (r == 0) {
		r = task_encode(t, &problems, out);
		if (r < 0)
			r = error_sys(err, r, "%s", name);
	}
	task_free(t);
	return r;
}

int format_strategy_confined(const char *name, struct sv text, struct task_problems *problems, struct error *err)
{
	static const struct parse_role role = {.what = "verifier.md", .parse = work};
	struct task *t = NULL;
	AUTO_BUF question = {0};
	AUTO_BUF answer = {0};

	buf_init(&question, FORMAT_TEXT_MAX + 4096);
	buf_init(&answer, TASK_CODEC_MAX);
	wire_put_sv(&question, sv_of(name));
	wire_put_sv(&question, text);
	if (buf_failed(&question))
		return error_sys(err, buf_failed(&question), "%s", name);
	if (parse_role_run(&role, buf_view(&question), &answer, err) < 0)
		return -1;
	if (task_decode(buf_view(&answer), &t, problems) < 0)
		return error_set(err, ERROR_INPUT,
				 "verifier.md could not be parsed safely: its parser said nothing that makes sense");
	task_free(t);
	return 0;
}
