/*
 * task/reward.h: the first byte chooses what is read. Bytes as reward.txt, reward.json or pytest's output give a score
 * between 0 and 1 or an error; bytes as a question or an answer give no more than that.
 */
#include "task/reward.h"

#include <math.h>
#include <stdlib.h>

#include "fuzz.h"

static void answer(struct sv question, bool bounded)
{
	struct arena *a = arena_new();
	AUTO_BUF out = {0};
	struct error err = {0};
	struct reward r = {0};

	buf_init(&out, 1 << 20);
	if (reward_parse(question, &out, &err) == 0) {
		if (reward_decode(buf_view(&out), a, &r) < 0 || !isfinite(r.value) ||
		    (bounded && (r.value < 0 || r.value > 1)))
			abort();
	} else if (!err.text[0]) {
		abort();
	}
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv rest = sv_n((const char *)bytes + 1, n ? n - 1 : 0);
	struct reward_files files = {.high = 1};
	struct arena *a;
	struct reward r;
	AUTO_BUF q = {0};

	if (n == 0)
		return 0;
	buf_init(&q, n + 128);
	switch ((uint8_t)(bytes[0] - '0') % 5) {
	case 0:
		files.text = &rest;
		reward_ask(&files, &q);
		break;
	case 1:
		files.json = &rest;
		reward_ask(&files, &q);
		break;
	case 2:
		reward_ask_pytest(rest, &q);
		break;
	case 3:
		answer(rest, false);
		return 0;
	default:
		a = arena_new();
		(void)reward_decode(rest, a, &r);
		arena_free(a);
		return 0;
	}
	answer(buf_view(&q), true);
	return 0;
}
