#include "task/format_read.h"
#include "task/format_terminal.h"

/* Terminal-Bench 1: one flat task.yaml. Its runner's defaults are not those of Harbor. */

enum { DEFAULT_AGENT_MS = 360 * 1000, DEFAULT_TEST_MS = 60 * 1000 };

#define ROW(name, fn, member, arg)                                                                                     \
	{                                                                                                              \
		name, fn, offsetof(struct task, member), arg                                                           \
	}
#define KEEP(name)                                                                                                     \
	{                                                                                                              \
		name, format_keep, 0, NULL                                                                             \
	}

/* The test script's output is judged here, in the sandbox's stead, so only what is known can be. */
static int read_parser(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	static const char *const names[] = {"pytest", "swebench", NULL};
	struct pol_str *parser = to;
	uint64_t i;

	(void)arg;
	if (reader_word(r, n, names, &i) < 0)
		return -1;
	*parser = (struct pol_str){.s = names[i], .at = reader_origin(r, n)};
	return 0;
}

/* All that a shell has besides files is lost: a task that needs it scores less than it should, and never more. */
static int read_same_shell(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct pol_num same = {0};

	(void)to;
	(void)arg;
	if (format_num(r, n, &same, &format_type_bool) < 0)
		return -1;
	if (same.v)
		reader_warn(r, n,
			    "the tests do not run in the agent's own shell, which has ended before they start; they "
			    "see its files only");
	return 0;
}

static int read_scripts(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	(void)to;
	(void)arg;
	if (reader_want(r, n, YNODE_LIST) < 0)
		return -1;
	if (n->n == 0 || (n->n == 1 && n->first->kind == YNODE_SCALAR && sv_is(n->first->text, "run-tests.sh")))
		return 0;
	return reader_fail(
		r, n, "names other scripts than run-tests.sh, which is the one that is run; let that one call them");
}

const struct reader_key format_terminal_rows[] = {
	ROW("instruction", format_keep, instruction, NULL),
	ROW("parser_name", read_parser, parser, NULL),
	ROW("max_agent_timeout_sec", format_num, agent.timeout, &format_type_seconds),
	ROW("max_test_timeout_sec", format_num, verifier.timeout, &format_type_seconds),
	{"run_tests_in_same_shell", read_same_shell, 0, NULL},
	{"test_scripts", read_scripts, 0, NULL},
	KEEP("descriptions"),
	KEEP("author"),
	KEEP("author_name"),
	KEEP("author_email"),
	KEEP("difficulty"),
	KEEP("category"),
	KEEP("tags"),
	KEEP("language"),
	KEEP("env_name"),
	KEEP("disable_asciinema"),
	KEEP("estimated_duration_sec"),
	KEEP("expert_time_estimate_min"),
	KEEP("junior_time_estimate_min"),
	{.name = NULL},
};

/* Older files have descriptions by key instead; the one that counts is "base". */
static const struct ynode *old_instruction(const struct ynode *root)
{
	const struct ynode *list = reader_find(root, "descriptions"), *item, *key;

	for (item = list && list->kind == YNODE_LIST ? list->first : NULL; item; item = item->next) {
		key = item->kind == YNODE_MAP ? reader_find(item, "key") : NULL;
		if (key && sv_is(key->text, "base"))
			return reader_find(item, "description");
	}
	return NULL;
}

int format_terminal_finish(struct reader *r, const struct ynode *root, struct task *t)
{
	const struct ynode *text = reader_find(root, "instruction");
	struct pol_str instruction = {0};

	if (!t->agent.timeout.set)
		t->agent.timeout = (struct pol_num){.v = DEFAULT_AGENT_MS, .set = true};
	if (!t->verifier.timeout.set)
		t->verifier.timeout = (struct pol_num){.v = DEFAULT_TEST_MS, .set = true};
	if (!t->parser.s)
		t->parser.s = "pytest";
	if (!text)
		text = old_instruction(root);
	if (!text)
		return reader_fail(r, root, "instruction is missing; write what the agent is to do");
	reader_enter(r, sv_of("instruction"));
	if (format_str(r, text, &instruction, &format_type_long) < 0)
		return -1;
	reader_leave(r);
	t->instruction = instruction.s;
	return 0;
}
