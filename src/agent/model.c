#include "agent/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/text.h"

enum {
	TIMEOUT_MS = 15 * 60 * 1000, /* a long answer of a slow model, not streamed */
	ATTEMPTS = 8,		     /* where the server says that it is overloaded: a minute in all */
	ATTEMPTS_UNREAD = 3,
	ATTEMPTS_CONNECT = 4,
	PAUSE_MS = 500,
	PAUSE_MAX_MS = 30 * 1000,
	PAUSE_ASKED_MAX_S = 120,
};

static const struct {
	const char *base, *key, *path;
} apis[] = {
	[API_OPENAI] = {"OPENAI_BASE_URL", "OPENAI_API_KEY", "/chat/completions"},
	[API_ANTHROPIC] = {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "/v1/messages"},
};

static const char *variable(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] ? v : NULL;
}

int model_find(const char *name, struct model *ret, struct error *err)
{
	const char *openai = variable(apis[API_OPENAI].base), *anthropic = variable(apis[API_ANTHROPIC].base);
	struct model m = {.name = name};

	if (!openai && !anthropic)
		return error_set(err, ERROR_MISSING, "neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL is set: the policy of this sandbox opens no model (inference.providers)");
	m.api = anthropic && (!openai || strcasestr(name, "claude")) ? API_ANTHROPIC : API_OPENAI;
	m.key = variable(apis[m.api].key);
	if (post_base_parse(apis[m.api].base, m.api == API_OPENAI ? openai : anthropic, &m.base, err) < 0)
		return -1;
	*ret = m;
	return 0;
}

static int post(const struct model *m, struct sv body, struct post_answer *ret, struct error *err)
{
	AUTO_FREE char *bearer = NULL;
	struct post_field openai[] = {{"Authorization", NULL}};
	struct post_field anthropic[] = {{"x-api-key", m->key}, {"anthropic-version", "2023-06-01"}};
	struct post_request req = {.path = apis[m->api].path, .fields = anthropic, .n_fields = ARRAY_LEN(anthropic), .body = body, .timeout_ms = TIMEOUT_MS};

	if (m->api == API_OPENAI) {
		if (m->key && asprintf(&bearer, "Bearer %s", m->key) < 0)
			return error_sys(err, ENOMEM, "a request");
		openai[0].value = bearer;
		req.fields = openai;
		req.n_fields = ARRAY_LEN(openai);
	}
	return post_send(&m->base, &req, ret, err);
}

static void wait_ms(int64_t ms)
{
	struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static void pause_before(unsigned attempt, unsigned asked, const char *why, void (*note)(const char *words))
{
	int64_t ms = (int64_t)PAUSE_MS << (attempt < 10 ? attempt : 10);
	char words[700];

	if (ms > PAUSE_MAX_MS)
		ms = PAUSE_MAX_MS;
	if (asked)
		ms = (int64_t)(asked < PAUSE_ASKED_MAX_S ? asked : PAUSE_ASKED_MAX_S) * 1000;
	(void)snprintf(words, sizeof(words), "%s; trying again in %d.%d s", why, (int)(ms / 1000), (int)(ms % 1000 / 100));
	if (note)
		note(words);
	wait_ms(ms);
}

static bool is_too_long(const struct post_answer *p, const char *said)
{
	static const char *const words[] = {"context", "too long", "too large", "maximum", "tokens"};
	size_t i;

	if (p->status == 413)
		return true;
	for (i = 0; p->status == 400 && i < ARRAY_LEN(words); i++)
		if (strcasestr(said, words[i]))
			return true;
	return false;
}

/* What becomes of an attempt. */
enum turn { TURN_REPLIED, TURN_AGAIN, TURN_AGAIN_SHORTER, TURN_LIMIT, TURN_REFUSED };

struct attempt {
	unsigned n, most;    /* most: attempts of the kind that just failed */
	unsigned retry_after;
};

static enum turn judge_status(const struct post_answer *p, const char *said, struct attempt *at, struct error *err)
{
	struct text_shown shown;

	(void)text_show(&shown, sv_of(said));
	at->most = ATTEMPTS;
	at->retry_after = p->retry_after;
	if (p->denied || p->status == 403) {
		(void)error_set(err, ERROR_DENIED, "%s: %s", p->denied ? "the policy refuses it" : "the model refuses it (403)", said[0] ? shown.s : "no reason was given");
		return TURN_REFUSED;
	}
	(void)error_set(err, ERROR_SYSTEM, "the model answers %d%s%s", p->status, said[0] ? ": " : "", shown.s);
	if (p->status == 429 && p->final)
		return TURN_LIMIT;
	if (!p->final && (p->status == 429 || p->status == 408 || p->status >= 500))
		return TURN_AGAIN;
	return is_too_long(p, said) ? TURN_AGAIN_SHORTER : TURN_REFUSED;
}

static enum turn try_once(const struct model *m, struct sv body, struct arena *a, struct reply *ret, struct attempt *at, struct error *err)
{
	struct post_answer p;
	struct text_shown shown;
	const char *why, *said;
	enum turn turn = TURN_REPLIED;

	at->retry_after = 0;
	at->most = ATTEMPTS_CONNECT;
	if (post(m, body, &p, err) < 0)
		return TURN_AGAIN;
	if (p.status != 200) {
		turn = judge_status(&p, reply_error(&p.body, a), at, err);
	} else if (reply_read(m->api, &p.body, a, ret, &why) < 0) {
		at->most = ATTEMPTS_UNREAD;
		said = reply_error(&p.body, a); /* some send errors with 200 */
		(void)error_set(err, ERROR_INPUT, "the answer %s%s%s", why, said[0] ? ": " : "", text_show(&shown, sv_of(said)));
		turn = TURN_AGAIN;
	}
	buf_done(&p.body);
	return turn;
}

enum model_end model_ask(const struct model *m, struct talk *t, struct arena *a, struct reply *ret, void (*note)(const char *words), struct error *err)
{
	struct attempt at = {0};
	enum turn turn;
	int r;

	for (;;) {
		AUTO_BUF body = {0};

		r = talk_request(t, &body);
		if (r == -E2BIG) {
			(void)error_set(err, ERROR_INPUT, "the conversation has become too long for the model");
			return MODEL_LIMIT;
		}
		if (r < 0) {
			(void)error_sys(err, r, "a request");
			return MODEL_REFUSED;
		}
		turn = try_once(m, buf_view(&body), a, ret, &at, err);
		if (turn == TURN_REPLIED)
			return MODEL_REPLIED;
		if (turn == TURN_LIMIT || (turn == TURN_AGAIN_SHORTER && talk_shrink(t) < 0))
			return turn == TURN_LIMIT ? MODEL_LIMIT : MODEL_REFUSED;
		if (turn == TURN_REFUSED || ++at.n >= at.most)
			return MODEL_REFUSED;
		if (turn == TURN_AGAIN)
			pause_before(at.n - 1, at.retry_after, err->text, note);
	}
}
