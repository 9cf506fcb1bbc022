/*
 * A model's answer: what is taken from it is usable, and the request that repeats it is JSON. The first byte chooses
 * the form.
 */
#include "agent/reply.h"

#include <stdlib.h>
#include <string.h>

#include "agent/talk.h"
#include "base/json_scan.h"
#include "fuzz.h"

static void check_calls(const struct reply *r)
{
	size_t i;

	if (r->n_calls > REPLY_CALLS_MAX)
		abort();
	for (i = 0; i < r->n_calls; i++)
		if (!r->calls[i].id || !r->calls[i].id[0] || !r->calls[i].name ||
		    (!r->calls[i].fault && !r->calls[i].command))
			abort();
}

static void check_request(enum api api, const struct reply *r)
{
	struct talk *t = talk_new(api, "m", sv_of("x"));
	AUTO_BUF body = {0};
	AUTO_SCAN s = {0};
	struct scan_error e;
	size_t i;

	if (!t || talk_add_reply(t, r) < 0)
		abort();
	for (i = 0; i < r->n_calls; i++)
		if (talk_add_result(t, &r->calls[i], r->text, false) < 0)
			abort();
	if (talk_request(t, &body) == 0 && json_scan_read(&s, &body, &e) < 0 &&
	    strcmp(e.why, "is nested too deeply") != 0)
		abort();
	talk_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct arena *a = arena_new();
	enum api api = n ? (enum api)(bytes[0] % APIS) : API_OPENAI;
	AUTO_BUF body = {0}, same = {0};
	struct reply r;
	const char *why;

	buf_init(&body, REPLY_MAX);
	buf_init(&same, REPLY_MAX);
	if (n > 1 && (buf_add(&body, bytes + 1, n - 1) < 0 || buf_add(&same, bytes + 1, n - 1) < 0))
		abort();
	if (reply_read(api, &body, a, &r, &why) == 0) {
		check_calls(&r);
		check_request(api, &r);
	}
	if (!reply_error(&same, a))
		abort();
	arena_free(a);
	return 0;
}
