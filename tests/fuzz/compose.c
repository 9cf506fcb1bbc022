/*
 * Compose files: any bytes, no crash; what is accepted is fit to run, survives the way between processes, and the file
 * made of it says the same again. The same bytes as an answer of the confined parser: what decodes is fit to run, too.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "model/compose_codec.h"
#include "task/compose_role.h"
#include "task/compose_write.h"

static const struct compose_place stand_ins = {
	.task = COMPOSE_STAND_IN_TASK,
	.folders = {"/.cordon/verifier", "/.cordon/agent", "/.cordon/artifacts", "/.cordon/task-logs",
		    "/.cordon/agent-logs"},
};

static const struct compose *parse(struct sv text, bool harbor, bool lenient, struct arena *a)
{
	static const struct compose_pair declared[] = {{"A", "b"}, {"EMPTY", ""}, {"UP", ".."}};
	const struct compose_input in = {
		.file = "f",
		.text = text,
		.runner = {.project = "p", .image = "i", .prebuilt = "", .cpus = 1000, .memory = 1 << 30},
		.variables = declared,
		.n_variables = 3,
		.harbor = harbor,
		.lenient = lenient};
	struct task_problems problems = {.arena = a};
	const struct compose *c = NULL;
	struct error err = {0};

	if (compose_parse(&in, a, &problems, &c, &err) < 0 && c)
		abort();
	return c;
}

static void must_come_back(const struct compose *c, bool harbor, struct arena *a)
{
	AUTO_BUF out = {0};
	const struct compose *again = NULL;
	struct wire_in in;

	buf_init(&out, 32 << 20);
	if (compose_wrong(c) || compose_encode(c, &out) < 0)
		abort();
	wire_in_init(&in, buf_view(&out));
	if (compose_decode(&in, a, &again) < 0 || !wire_ok(&in) || !compose_equal(c, again))
		abort();
	buf_clear(&out);
	if (compose_write(c, &stand_ins, NULL, &out) < 0)
		abort();
	again = parse(buf_view(&out), harbor, false, a);
	if (!again || !compose_equal(c, again))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv text = sv_n((const char *)bytes, n);
	struct arena *a = arena_new();
	struct task_problems problems = {.arena = a};
	const struct compose *c;
	bool harbor = n % 2;

	c = parse(text, harbor, n % 3 == 0, a);
	if (c)
		must_come_back(c, harbor, a);
	c = NULL;
	if (compose_answer_decode(text, a, &problems, &c) == 0 && c && compose_wrong(c))
		abort();
	arena_free(a);
	return 0;
}
