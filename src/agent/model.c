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
	const char *base, *key;
	const char *path, *behind; /* behind: with the model's name between them */
	const char *of; /* in names of models that are its own */
} apis[] = {
	[API_OPENAI] = {"OPENAI_BASE_URL", "OPENAI_API_KEY", "/chat/completions", NULL, "gpt"},
	[API_ANTHROPIC] = {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "/v1/messages", NULL, "claude"},
	[API_GEMINI] = {"GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", "/v1beta/models/", ":generateContent", "gemini"},
};

static const char *variable(const char *name)
{
	const char *v = getenv(name);

	return v && v[0] ? v : NULL;
}

/* Its own, where that is there; else the first that is. APIS: there is none. */
static enum api choose(const char *name)
{
	size_t i, first = APIS;

	for (i = APIS; i-- > 0;) {
		if (!variable(apis[i].base))
			continue;
		if (strcasestr(name, apis[i].of))
			return (enum api)i;
		first = i;
	}
	return (enum api)first;
}

/* A name that stands in a path is no path itself. */
static int make_path(struct model *m, struct error *err)
{
	static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
	const char *name = strncmp(m->name, "models/", 7) == 0 ? m->name + 7 : m->name;
	const char *behind = apis[m->api].behind;
	struct text_shown shown;

	if (snprintf(m->path, sizeof(m->path), "%s%s%s", apis[m->api].path, behind ? name : "", behind ? behind : "") <
		    (int)sizeof(m->path) &&
	    (!behind || (*name && !name[strspn(name, fine)])))
		return 0;
	return error_set(err, ERROR_USAGE, "%s is no name of a model at Gemini", text_show(&shown, sv_of(m->name)));
}

int model_find(const char *name, struct model *ret, struct error *err)
{
	struct model m = {.name = name, .api = choose(name)};

	if (m.api == APIS)
		return error_set(err, ERROR_MISSING,
				 "neither OPENAI_BASE_URL nor ANTHROPIC_BASE_URL nor GOOGLE_GEMINI_BASE_URL is set: "
				 "the policy of this sandbox opens no model (inference.providers)");
	m.key = variable(apis[m.api].key);
	if (post_base_parse(apis[m.api].base, variable(apis[m.api].base), &m.base, err) < 0 || make_path(&m, err) < 0)
		return -1;
	*ret = m;
	return 0;
}

static int post(const struct model *m, struct sv body, struct post_answer *ret, struct error *err)
{
	AUTO_FREE char *bearer = NULL;
	struct post_field openai[] = {{"Authorization", NULL}};
	const struct post_field anthropic[] = {{"x-api-key", m->key}, {"anthropic-version", "2023-06-01"}},
				gemini[] = {{"x-goog-api-key", m->key}};
	const struct {
		const struct post_field *v;
		size_t n;
	} fields[] = {[API_OPENAI] = {openai, ARRAY_LEN(openai)},
		      [API_ANTHROPIC] = {anthropic, ARRAY_LEN(anthropic)},
		      [API_GEMINI] = {gemini, ARRAY_LEN(gemini)}};
	struct post_request req = {.path = m->path,
				   .fields = fields[m->api].v,
				   .n_fields = fields[m->api].n,
				   .body = body,
				   .timeout_ms = TIMEOUT_MS};

	if (m->api == API_OPENAI && m->key && asprintf(&bearer, "Bearer %s", m->key) < 0)
		return error_sys(err, ENOMEM, "a request");
	openai[0].value = bearer;
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
	(void)snprintf(words, sizeof(words), "%s; trying again in %d.%d s", why, (int)(ms / 1000),
		       (int)(ms % 1000 / 100));
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
		(void)error_set(err, ERROR_DENIED, "%s: %s",
				p->denied ? "the policy refuses it" : "the model refuses it (403)",
				said[0] ? shown.s : "no reason was given");
		return TURN_REFUSED;
	}
	(void)error_set(err, ERROR_SYSTEM, "the model answers %d%s%s", p->status, said[0] ? ": " : "", shown.s);
	if (p->status == 429 && p->final)
		return TURN_LIMIT;
	if (!p->final && (p->status == 429 || p->status == 408 || p->status >= 500))
		return TURN_AGAIN;
	return is_too_long(p, said) ? TURN_AGAIN_SHORTER : TURN_REFUSED;
}

static enum turn try_once(const struct model *m, struct sv body, struct arena *a, struct reply *ret, struct attempt *at,
			  struct error *err)
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
		(void)error_set(err, ERROR_INPUT, "the answer %s%s%s", why, said[0] ? ": " : "",
				text_show(&shown, sv_of(said)));
		turn = TURN_AGAIN;
	}
	buf_done(&p.body);
	return turn;
}

enum model_end model_ask(const struct model *m, struct talk *t, struct arena *a, struct reply *ret,
			 void (*note)(const char *words), struct error *err)
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
