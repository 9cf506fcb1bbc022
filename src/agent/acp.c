#include "agent/acp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/files.h"
#include "agent/params.h"
#include "agent/say.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"

enum { PROTOCOL_VERSION = 1, PARAMS_MAX = 8 << 20 };

void acp_init(struct acp *c, int in, int out, const sigset_t *mask)
{
	*c = (struct acp){.terminals = {.mask = mask}};
	rpc_init(&c->rpc, in, out);
}

void acp_done(struct acp *c)
{
	while (c->n_methods)
		free(c->methods[--c->n_methods]);
	terminals_done(&c->terminals);
	rpc_done(&c->rpc);
}

static void over(struct acp *c, enum agent_exit status, const char *reason)
{
	if (c->step == ACP_OVER)
		return;
	c->step = ACP_OVER;
	c->status = status;
	(void)snprintf(c->reason, sizeof(c->reason), "%s", reason);
}

void acp_fail(struct acp *c, const char *reason, const char *words)
{
	if (c->step != ACP_OVER)
		(void)error_set(&c->why, ERROR_SYSTEM, "%s", words);
	over(c, AGENT_REFUSED, reason);
}

static void check_sent(struct acp *c, int r)
{
	if (r < 0)
		acp_fail(c, "agent",
			 r == -EPIPE ? "the agent closed its input" : "what is sent to the agent does not arrive");
}

static void call(struct acp *c, enum acp_step step, const char *method, const struct buf *params)
{
	c->step = step;
	check_sent(c, buf_failed(params) ? buf_failed(params) : rpc_call(&c->rpc, ++c->call, method, buf_view(params)));
}

void acp_start(struct acp *c)
{
	AUTO_BUF params = {0};

	buf_init(&params, PARAMS_MAX);
	(void)buf_printf(&params,
			 "{\"protocolVersion\":%d,\"clientCapabilities\":{\"fs\":{\"readTextFile\":true,"
			 "\"writeTextFile\":true},\"terminal\":true},"
			 "\"clientInfo\":{\"name\":\"cordon-acp\",\"title\":\"Cordon\",\"version\":\"" CORDON_VERSION
			 "\"}}",
			 PROTOCOL_VERSION);
	call(c, ACP_INITIALIZE, "initialize", &params);
}

static void new_session(struct acp *c)
{
	AUTO_BUF params = {0};
	struct json j;

	buf_init(&params, PARAMS_MAX);
	json_init(&j, &params);
	json_open(&j);
	json_kstr(&j, "cwd", c->cwd);
	json_key(&j, "mcpServers");
	json_list(&j);
	json_end(&j);
	json_close(&j);
	call(c, ACP_NEW_SESSION, "session/new", &params);
}

static void prompt(struct acp *c, struct sv session)
{
	AUTO_BUF params = {0};
	struct json j;

	buf_init(&params, PARAMS_MAX);
	json_init(&j, &params);
	json_open(&j);
	json_key(&j, "sessionId");
	json_raw(&j, session);
	json_key(&j, "prompt");
	json_list(&j);
	json_open(&j);
	json_kstr(&j, "type", "text");
	json_key(&j, "text");
	json_sv(&j, c->instruction);
	json_close(&j);
	json_end(&j);
	json_close(&j);
	call(c, ACP_PROMPT, "session/prompt", &params);
}

/* Only ways to authenticate that take a key can work where nobody sits. */
static void note_methods(struct acp *c, const struct json_scan *s, uint32_t list)
{
	uint32_t i, id;
	struct sv raw;

	for (i = list && json_scan_kind(s, list) == SCAN_ARRAY ? json_scan_first(s, list) : 0;
	     i && c->n_methods < ACP_METHODS_MAX; i = json_scan_after(s, list, i)) {
		id = params_get(s, i, "id");
		if (!id || json_scan_kind(s, id) != SCAN_STRING)
			continue;
		raw = rpc_raw(s, id);
		if (!memmem(raw.p, raw.n, "key", 3) && !memmem(raw.p, raw.n, "KEY", 3))
			continue;
		c->methods[c->n_methods] = strndup(raw.p, raw.n);
		c->n_methods += c->methods[c->n_methods] != NULL;
	}
}

static void authenticate(struct acp *c)
{
	AUTO_BUF params = {0};

	buf_init(&params, PARAMS_MAX);
	(void)buf_printf(&params, "{\"methodId\":%s}", c->methods[c->tried++]);
	call(c, ACP_AUTHENTICATE, "authenticate", &params);
}

static void initialized(struct acp *c, const struct json_scan *s, uint32_t result)
{
	if (params_count(s, params_get(s, result, "protocolVersion"), 0) != PROTOCOL_VERSION) {
		acp_fail(c, "protocol", "the agent speaks another version of the protocol; version 1 is needed");
		return;
	}
	note_methods(c, s, params_get(s, result, "authMethods"));
	new_session(c);
}

static void session_made(struct acp *c, const struct json_scan *s, uint32_t result)
{
	uint32_t id = params_get(s, result, "sessionId");

	if (!id || json_scan_kind(s, id) != SCAN_STRING)
		acp_fail(c, "protocol", "the agent made a session without an id");
	else
		prompt(c, rpc_raw(s, id));
}

static void prompt_answered(struct acp *c, const struct json_scan *s, uint32_t result)
{
	static const struct {
		const char *reason;
		enum agent_exit status;
	} ends[] = {
		{"end_turn", AGENT_ENDED},  {"max_tokens", AGENT_LIMIT},  {"max_turn_requests", AGENT_LIMIT},
		{"refusal", AGENT_REFUSED}, {"cancelled", AGENT_REFUSED},
	};
	uint32_t why = params_get(s, result, "stopReason");
	size_t i;

	for (i = 0; why && i < ARRAY_LEN(ends); i++)
		if (json_scan_is_string(s, why, ends[i].reason)) {
			(void)error_set(&c->why, ERROR_DENIED, "the agent stopped: %s", ends[i].reason);
			over(c, ends[i].status, ends[i].reason);
			return;
		}
	acp_fail(c, "protocol", "the agent stopped for a reason that is not known");
}

static void take_result(struct acp *c, const struct json_scan *s, uint32_t result)
{
	switch (c->step) {
	case ACP_INITIALIZE:
		initialized(c, s, result);
		break;
	case ACP_AUTHENTICATE:
		new_session(c);
		break;
	case ACP_NEW_SESSION:
		session_made(c, s, result);
		break;
	case ACP_PROMPT:
		prompt_answered(c, s, result);
		break;
	case ACP_OVER:
		break;
	}
}

static void take_error(struct acp *c, const struct json_scan *s, uint32_t error)
{
	static const char *const asked[] = {[ACP_INITIALIZE] = "initialize",
					    [ACP_NEW_SESSION] = "session/new",
					    [ACP_AUTHENTICATE] = "authenticate",
					    [ACP_PROMPT] = "session/prompt"};
	uint32_t code = params_get(s, error, "code"), message = params_get(s, error, "message");
	bool wants_key = c->step == ACP_AUTHENTICATE ||
			 (c->step == ACP_NEW_SESSION && code && json_scan_kind(s, code) == SCAN_NUMBER &&
			  sv_is(json_scan_text(s, code), "-32000"));
	struct arena *a = arena_new();
	const char *words = a ? params_string(s, message, a) : NULL;
	struct text_shown shown;

	if (wants_key && c->tried < c->n_methods) {
		authenticate(c);
	} else {
		(void)error_set(&c->why, ERROR_SYSTEM, "the agent refuses %s: %s", asked[c->step],
				words ? text_show(&shown, sv_of(words)) : "no reason was given");
		over(c, AGENT_REFUSED, "agent");
	}
	arena_free(a);
}

/* The first option that allows; once is enough. */
static uint32_t choose(const struct json_scan *s, uint32_t options)
{
	static const char *const kinds[] = {"allow_once", "allow_always"};
	uint32_t i, kind, id;
	size_t k;

	for (k = 0; options && json_scan_kind(s, options) == SCAN_ARRAY && k < ARRAY_LEN(kinds); k++)
		for (i = json_scan_first(s, options); i; i = json_scan_after(s, options, i)) {
			kind = params_get(s, i, "kind");
			id = params_get(s, i, "optionId");
			if (kind && id && json_scan_is_string(s, kind, kinds[k]) &&
			    json_scan_kind(s, id) == SCAN_STRING)
				return id;
		}
	return 0;
}

static int permit(struct acp *c, const struct json_scan *s, uint32_t params, struct sv id)
{
	uint32_t option = choose(s, params_get(s, params, "options"));
	AUTO_BUF out = {0};

	buf_init(&out, RPC_LINE_MAX);
	if (option)
		(void)buf_printf(&out, "{\"outcome\":{\"outcome\":\"selected\",\"optionId\":%.*s}}",
				 (int)rpc_raw(s, option).n, rpc_raw(s, option).p);
	else
		(void)buf_str(&out, "{\"outcome\":{\"outcome\":\"cancelled\"}}");
	return rpc_result(&c->rpc, id, buf_view(&out));
}

static int read_file(struct acp *c, const struct json_scan *s, uint32_t params, struct sv id)
{
	return files_read(&c->rpc, s, params, id);
}

static int write_file(struct acp *c, const struct json_scan *s, uint32_t params, struct sv id)
{
	return files_write(&c->rpc, s, params, id);
}

static const struct {
	const char *method;
	int (*fn)(struct acp *c, const struct json_scan *s, uint32_t params, struct sv id);
	terminals_fn *terminal;
} requests[] = {
	{"session/request_permission", permit, NULL},
	{"fs/read_text_file", read_file, NULL},
	{"fs/write_text_file", write_file, NULL},
	{"terminal/create", NULL, terminals_create},
	{"terminal/output", NULL, terminals_output},
	{"terminal/wait_for_exit", NULL, terminals_wait},
	{"terminal/kill", NULL, terminals_kill},
	{"terminal/release", NULL, terminals_release},
};

static void take_request(struct acp *c, const struct json_scan *s, const struct rpc_message *m)
{
	size_t i;
	int r;

	for (i = 0; i < ARRAY_LEN(requests) && !sv_is(m->method, requests[i].method); i++)
		;
	if (i == ARRAY_LEN(requests))
		r = rpc_error(&c->rpc, m->id, RPC_NO_METHOD, "there is no such method");
	else if (requests[i].fn)
		r = requests[i].fn(c, s, m->body, m->id);
	else
		r = requests[i].terminal(&c->terminals, &c->rpc, s, m->body, m->id);
	check_sent(c, r);
}

/* What the agent says and does, for those who watch. */
static void show(const struct json_scan *s, uint32_t update)
{
	uint32_t kind = params_get(s, update, "sessionUpdate"), content = params_get(s, update, "content"),
		 title = params_get(s, update, "title");
	struct arena *a = arena_new();
	const char *text = NULL;

	if (a && kind && json_scan_is_string(s, kind, "agent_message_chunk"))
		text = params_string(s, params_get(s, content, "text"), a);
	if (text)
		say_lines("", sv_of(text));
	text = a && kind && json_scan_is_string(s, kind, "tool_call") ? params_string(s, title, a) : NULL;
	if (text)
		say_lines("* ", sv_of(text));
	arena_free(a);
}

static void take_notification(struct acp *c, const struct json_scan *s, const struct rpc_message *m)
{
	uint32_t update = params_get(s, m->body, "update");

	if (!sv_is(m->method, "session/update") || !update || json_scan_kind(s, update) != SCAN_OBJECT)
		return;
	trail_update(c->trail, json_scan_text(s, update));
	show(s, update);
}

static void take_message(struct acp *c, const struct json_scan *s, const struct rpc_message *m)
{
	char id[16];

	if (m->kind == RPC_REQUEST) {
		take_request(c, s, m);
		return;
	}
	if (m->kind == RPC_NOTIFICATION) {
		take_notification(c, s, m);
		return;
	}
	(void)snprintf(id, sizeof(id), "%u", c->call);
	if (!sv_is(m->id, id) || c->step == ACP_OVER)
		return; /* an answer to nothing that was asked */
	if (m->kind == RPC_RESULT)
		take_result(c, s, m->body);
	else
		take_error(c, s, m->body);
}

void acp_take(struct acp *c, struct buf *line)
{
	AUTO_BUF kept = {0};
	AUTO_SCAN s = {0};
	struct scan_error e;
	struct rpc_message m;

	if (!line->n || line->p[strspn(line->p, " \t\r")] == '\0')
		return;
	buf_init(&kept, 512);
	(void)buf_add(&kept, line->p, line->n < 400 ? line->n : 400);
	if (json_scan_read(&s, line, &e) == 0 && rpc_parse(&s, &m) == 0) {
		take_message(c, &s, &m);
		return;
	}
	trail_words(c->trail, "note", buf_view(&kept));
	if (++c->unreadable > ACP_UNREADABLE_MAX)
		acp_fail(c, "protocol", "the agent prints what is not the protocol");
}
