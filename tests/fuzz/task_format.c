/*
 * The task formats: the first byte says which, the rest is the file. What is parsed survives the encoding, and what was
 * accepted passes the second look.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "task/format_check.h"
#include "task/format_parse.h"

static void encode_and_back(const struct task *t, const struct task_problems *problems)
{
	struct task_problems again = {.arena = t->arena};
	struct task *copy = NULL;
	struct error err;
	AUTO_BUF a = {0};
	AUTO_BUF b = {0};

	buf_init(&a, TASK_CODEC_MAX);
	buf_init(&b, TASK_CODEC_MAX);
	if (task_encode(t, problems, &a) < 0)
		return;
	if (task_decode(buf_view(&a), &copy, &again) < 0 || again.refused != problems->refused ||
	    task_encode(copy, &again, &b) < 0 || !sv_eq(buf_view(&a), buf_view(&b)))
		abort();
	if (problems->refused == 0 && format_check(copy, &err) < 0)
		abort();
	task_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct task *t = n ? task_new() : NULL;
	struct task_problems problems = {0};
	struct format_input in = {0};
	struct error err = {0};

	if (!t)
		return 0;
	in.format = (enum task_format)(bytes[0] % 3);
	in.lenient = bytes[0] & 0x80;
	in.name = "f";
	in.text = sv_n((const char *)bytes + 1, n - 1);
	problems.arena = t->arena;
	if (format_parse(&in, t, &problems, &err) == 0)
		encode_and_back(t, &problems);
	task_free(t);
	return 0;
}
