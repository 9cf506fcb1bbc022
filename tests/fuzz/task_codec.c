/*
 * What a parser that was taken over may say: any bytes. What decodes is encoded to the same bytes.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "model/task.h"
#include "task/format_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct task_problems problems = {.arena = arena_new()};
	struct task *t = NULL;
	struct error err;
	AUTO_BUF again = {0};

	if (!problems.arena)
		return 0;
	buf_init(&again, TASK_CODEC_MAX);
	if (task_decode(sv_n((const char *)bytes, n), &t, &problems) == 0) {
		if (task_encode(t, &problems, &again) < 0)
			abort();
		(void)format_check(t, &err);
		task_free(t);
	}
	arena_free(problems.arena);
	return 0;
}
