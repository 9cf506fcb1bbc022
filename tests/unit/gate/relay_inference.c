#include "gate/relay/session.h"
#include "relay_h2_client.h"

#include "base/cleanup.h"

static const char policy[] = "inference:\n"
			     "  providers:\n"
			     "    anthropic: {credential: anthropic, models: [\"claude-*\"], max_requests: 3}\n"
			     "    openai: {credential: openai, models: [\"gpt-*\"], max_output_tokens: 10}\n"
			     "    gemini: {credential: gemini, models: [\"gemini-*\"]}\n"
			     "    vllm: {kind: openai, url: \"http://10.0.0.5:8000/api/v1\", models: [\"local-*\"]}\n"
			     "  routes: [{model: \"local-*\", provider: vllm}]\n";

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static struct http_origin to(const struct rig *g, const char *name)
{
	const struct pol_inference *inf = &g->now.policy->inference;
	struct http_origin o = {.inference = true};

	for (o.provider = 0; o.provider < inf->n_providers; o.provider++)
		if (strcmp(inf->providers[o.provider].name, name) == 0)
			return o;
	abort();
}

static const char *post(struct rig *g, const char *provider, const char *path, const char *fields, const char *body)
{
	struct http_origin o = to(g, provider);
	static char request[16384];

	rig_connect(g, &o);
	(void)snprintf(request, sizeof(request),
		       "POST %s HTTP/1.1\r\nHost: 127.0.0.1:9000\r\nContent-Type: "
		       "application/json\r\n%sContent-Length: %zu\r\n\r\n%s",
		       path, fields, strlen(body), body);
	return rig_ask(g, request);
}

#define MASK "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
_Static_assert(sizeof(MASK) == sizeof(RIG_PLACEHOLDER), "as long as what it stands for");

static void an_agent_that_has_printed_its_environment_can_go_on(void)
{
	static const struct {
		const char *body, *sent; /* NULL: refused */
	} cases[] = {
		{"{\"model\":\"gpt-4\",\"a\":\"KEY=" RIG_PLACEHOLDER "\\nHOME=/\"}",
		 "{\"model\":\"gpt-4\",\"a\":\"KEY=" MASK "\\nHOME=/\"}"},
		{"{\"model\":\"gpt-4\",\"a\":[\"" RIG_PLACEHOLDER RIG_PLACEHOLDER "\",\"" RIG_PLACEHOLDER "\"]}",
		 "{\"model\":\"gpt-4\",\"a\":[\"" MASK MASK "\",\"" MASK "\"]}"},
		/* JSON in JSON, as the arguments of a tool are */
		{"{\"model\":\"gpt-4\",\"a\":\"{\\\"k\\\":\\\"" RIG_PLACEHOLDER "\\\"}\"}",
		 "{\"model\":\"gpt-4\",\"a\":\"{\\\"k\\\":\\\"" MASK "\\\"}\"}"},
		{"{\"model\":\"gpt-4\",\"" RIG_PLACEHOLDER "\":1}", "{\"model\":\"gpt-4\",\"" MASK "\":1}"},
		/* escapes are gone when the body is searched */
		{"{\"model\":\"gpt-4\",\"a\":\"sk\\u002dant-placeholder-0123456789abcdef\"}",
		 "{\"model\":\"gpt-4\",\"a\":\"" MASK "\"}"},
		{"{\"model\":\"gpt-4\",\"a\":\"\\\\" RIG_PLACEHOLDER "\"}",
		 "{\"model\":\"gpt-4\",\"a\":\"\\\\" MASK "\"}"},
		{"{\"model\":\"gpt-4\",\"a\":\"sk%2Dant-placeholder-0123456789abcdef.\"}",
		 "{\"model\":\"gpt-4\",\"a\":\"xx" MASK ".\"}"},
		{"{\"model\":\"gpt-4\",\"a\":\"c2stYW50LXBsYWNlaG9sZGVyLTAxMjM0NTY3ODlhYmNkZWY=\"}",
		 "{\"model\":\"gpt-4\",\"a\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxY=\"}"},
		/* what is judged is what is sent: this is no longer the name of a model that is allowed, nor one key
		   but two of the same name */
		{"{\"model\":\"" RIG_PLACEHOLDER "\"}", NULL},
		{"{\"model\":\"gpt-4\",\"" RIG_PLACEHOLDER "\":1,\"" MASK "\":2}", NULL},
		/* with an escape in it: in JSON in JSON nobody can say where it begins */
		{"{\"model\":\"gpt-4\",\"a\":\"sk\\\\u002dant-placeholder-0123456789abcdef\"}", NULL},
	};
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = post(&g, "openai", "/v1/chat/completions", "", cases[i].body);

		if (!starts(got, cases[i].sent ? "HTTP/1.1 200 " : "HTTP/1.1 4")) {
			printf("# %s: got %s\n", cases[i].body, got);
			CHECK(false);
		}
		CHECK(g.requests == (cases[i].sent ? 1 : 0));
		if (cases[i].sent)
			CHECK_STR(g.body.p, cases[i].sent);
	}
	rig_close(&g);
}

/* One line in the log, that the request was allowed, and with what change. */
static void an_overwritten_placeholder_is_told_as_a_note(void)
{
	struct rig g;
	const char *e;
	int notes = 0, denials = 0, i;

	rig_open(&g, policy);
	for (i = 0; i < 3; i++)
		(void)post(&g, "openai", "/v1/chat/completions", "",
			   "{\"model\":\"gpt-4\",\"a\":\"" RIG_PLACEHOLDER "\"}");
	while ((e = rig_event(&g))[0]) {
		notes += strstr(e, "it was overwritten") != NULL;
		denials += strstr(e, "deny") != NULL;
		CHECK(!strstr(e, RIG_PLACEHOLDER));
	}
	CHECK(notes == 1 && denials == 0);
	rig_close(&g);
}

static void requests_to_models_are_judged_and_sent_as_judged(void)
{
	static const struct {
		const char *provider, *path, *body;
		const char *seen; /* the head's start; NULL: refused */
		const char *sent;
	} cases[] = {
		{"anthropic", "/v1/messages", "{ \"model\" : \"claude-x\", \"max_tokens\": 5 }",
		 "POST https://api.anthropic.com:443/v1/messages ", "{\"model\":\"claude-x\",\"max_tokens\":5}"},
		{"anthropic", "/v1/messages", "{\"model\":\"gpt-4\"}", NULL, NULL},
		{"anthropic", "/v1/messages", "{\"model\":\"Claude-x\"}", NULL, NULL},
		{"anthropic", "/v1/messages", "{\"model\":\"claude-x\",\"model\":\"other\"}", NULL, NULL},
		{"anthropic", "/v1/messages",
		 "{\"model\":\"claude-x\",\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}]}",
		 NULL, NULL},
		{"anthropic", "/v1/messages", "not json", NULL, NULL},
		{"anthropic", "/v1/files", "{}", NULL, NULL},
		{"anthropic", "/v1/messages/batches", "{}", NULL, NULL},
		{"openai", "/v1/chat/completions", "{\"model\":\"gpt-4\",\"stream\":true}",
		 "POST https://api.openai.com:443/v1/chat/completions ",
		 "{\"model\":\"gpt-4\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
		/* the privacy router: another server than the one that was asked */
		{"openai", "/v1/chat/completions", "{\"model\":\"local-7b\"}",
		 "POST http://10.0.0.5:8000/api/v1/chat/completions ", "{\"model\":\"local-7b\"}"},
		{"anthropic", "/v1/messages", "{\"model\":\"local-7b\"}", NULL, NULL},
		{"gemini", "/v1beta/models/gemini-p:generateContent?key=" RIG_PLACEHOLDER, "{\"contents\":[]}",
		 "POST https://generativelanguage.googleapis.com:443/v1beta/models/gemini-p:generateContent ",
		 "{\"contents\":[]}"},
		{"gemini", "/v1beta/models/other:generateContent", "{\"contents\":[]}", NULL, NULL},
	};
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = post(&g, cases[i].provider, cases[i].path, "", cases[i].body);

		if (!starts(got, cases[i].seen ? "HTTP/1.1 200 " : "HTTP/1.1 4")) {
			printf("# %s %s: got %s\n", cases[i].path, cases[i].body, got);
			CHECK(false);
		}
		CHECK(g.requests == (cases[i].seen ? 1 : 0));
		if (!cases[i].seen)
			continue;
		if (!starts(rig_seen(&g), cases[i].seen))
			CHECK_STR(rig_seen(&g), cases[i].seen);
		CHECK_STR(g.body.p, cases[i].sent);
	}
	rig_close(&g);
}

static void credentials_of_the_client_are_left_out(void)
{
	struct rig g;

	rig_open(&g, policy);
	(void)post(&g, "anthropic", "/v1/messages",
		   "Authorization: Bearer x\r\nX-Api-Key: " RIG_PLACEHOLDER
		   "\r\nx-goog-api-key: y\r\nAccept-Encoding: gzip\r\nanthropic-version: 2023-06-01\r\n",
		   "{\"model\":\"claude-x\",\"max_tokens\":5}");
	CHECK_STR(rig_seen(&g), "POST https://api.anthropic.com:443/v1/messages content-type=application/json "
				"anthropic-version=2023-06-01 body\nend\n");
	/* in any other field it is refused */
	CHECK(starts(post(&g, "anthropic", "/v1/messages", "X-Title: " RIG_PLACEHOLDER "\r\n",
			  "{\"model\":\"claude-x\",\"max_tokens\":5}"),
		     "HTTP/1.1 403 "));
	CHECK(g.requests == 0);
	rig_close(&g);
}

static void a_denial_has_the_domain_and_other_refusals_the_form_of_the_provider(void)
{
	const char *got;
	struct rig g;

	rig_open(&g, policy);
	got = post(&g, "anthropic", "/v1/messages", "", "{\"model\":\"other\"}");
	CHECK(starts(got, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\nX-Proxy-Error: blocked-by-allowlist\r\n"));
	CHECK(strstr(got, "\r\n\r\n{\"error\":\"policy_denied\",\"domain\":\"inference\",\"detail\":\""));
	CHECK(starts(rig_event(&g), "deny POST /v1/messages | inference.providers anthropic model other | "));
	got = post(&g, "anthropic", "/v1/messages", "", "{");
	CHECK(starts(got, "HTTP/1.1 400 ") &&
	      strstr(got, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"cordon: "));
	got = post(&g, "openai", "/v1/chat/completions", "", "{");
	CHECK(starts(got, "HTTP/1.1 400 ") && strstr(got, "{\"error\":{\"message\":\"cordon: "));
	got = post(&g, "gemini", "/v1beta/models/gemini-p:generateContent", "", "{");
	CHECK(starts(got, "HTTP/1.1 400 ") && strstr(got, "{\"error\":{\"code\":400,\"message\":\"cordon: "));
	/* what egress says about budgets, too */
	g.failure = GATE_FAILURE_QUOTA;
	got = post(&g, "gemini", "/v1beta/models/gemini-p:generateContent", "", "{\"contents\":[]}");
	CHECK(starts(got, "HTTP/1.1 429 ") && strstr(got, "\"status\":\"RESOURCE_EXHAUSTED\""));
	rig_close(&g);
}

/* Egress alone knows what was sent and what came: nothing here may say no in its place. */
static void budgets_are_kept_by_egress_alone(void)
{
	static const char stream[] =
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":12}}\n\ndata: [DONE]\n\n";
	struct http_field type = {sv_of("content-type"), sv_of("text/event-stream")};
	const char *got;
	struct rig g;
	int i;

	rig_open(&g, policy);
	for (i = 0; i < 5; i++)
		CHECK(starts(post(&g, "anthropic", "/v1/messages", "", "{\"model\":\"claude-x\",\"max_tokens\":5}"),
			     "HTTP/1.1 200 "));
	g.answer = (struct http_response){
		.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN, .fields = {&type, 1}};
	g.answer_body = sv_of(stream);
	for (i = 0; i < 2; i++) {
		got = post(&g, "openai", "/v1/chat/completions", "", "{\"model\":\"gpt-4\",\"stream\":true}");
		CHECK(starts(got, "HTTP/1.1 200 ") && strstr(got, "[DONE]"));
	}
	/* what it says is told in the provider's form, and not to be tried again */
	g.failure = GATE_FAILURE_QUOTA;
	got = post(&g, "anthropic", "/v1/messages", "", "{\"model\":\"claude-x\",\"max_tokens\":5}");
	CHECK(starts(got, "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n"));
	CHECK(strstr(got, "x-should-retry: false\r\n") &&
	      strstr(got, "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"cordon: "));
	got = post(&g, "openai", "/v1/chat/completions", "", "{\"model\":\"gpt-4\",\"stream\":true}");
	CHECK(starts(got, "HTTP/1.1 429 ") && strstr(got, "\"code\":\"insufficient_quota\""));
	rig_close(&g);
}

static void events_of_a_stream_pass_one_by_one(void)
{
	static const char request[] =
		"POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 51\r\n\r\n"
		"{\"model\":\"claude-x\",\"max_tokens\":5,\"stream\": true }";
	struct http_field type = {sv_of("content-type"), sv_of("text/event-stream")};
	struct http_origin o;
	struct rig g;

	rig_open(&g, policy);
	o = to(&g, "anthropic");
	g.silent = true;
	rig_connect(&g, &o);
	(void)rig_ask(&g, request);
	CHECK(g.x && g.got.n == 0);
	g.answer = (struct http_response){
		.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN, .fields = {&type, 1}};
	CHECK(link_respond(g.x, &g.answer) == 0);
	rig_run(&g);
	CHECK(starts(g.got.p, "HTTP/1.1 200 "));
	buf_clear(&g.got);
	CHECK(link_data(g.x, sv_of("event: a\n\n")) == 10);
	rig_run(&g);
	CHECK_STR(g.got.p, "a\r\nevent: a\n\n\r\n");
	buf_clear(&g.got);
	CHECK(link_data(g.x, sv_of("event: b\n\n")) == 10 && link_end(g.x, NULL) == 0);
	rig_run(&g);
	CHECK_STR(g.got.p, "a\r\nevent: b\n\n\r\n0\r\n\r\n");
	CHECK(!g.closed);
	rig_close(&g);
}

static void lists_of_models_pass_and_are_not_counted(void)
{
	struct http_origin o;
	struct rig g;
	int i;

	rig_open(&g, policy);
	o = to(&g, "anthropic");
	rig_connect(&g, &o);
	for (i = 0; i < 5; i++)
		CHECK(starts(rig_ask(&g, "GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 200 "));
	CHECK_STR(rig_seen(&g), "GET https://api.anthropic.com:443/v1/models\n");
	CHECK(starts(rig_ask(&g, "GET /v1/models/gpt-4 HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 403 "));
	rig_close(&g);
}

static void a_client_that_asks_whether_anybody_is_there_is_told_so_and_nothing_else_happens(void)
{
	static const char *const others[] = {
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /v1/models HTTP/1.1\r\nHost: a\r\n\r\n",
		"HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /?x HTTP/1.1\r\nHost: a\r\n\r\n",
		"HEAD / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"};
	struct http_origin o;
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	o = to(&g, "anthropic");
	rig_connect(&g, &o);
	CHECK_STR(rig_ask(&g, "HEAD / HTTP/1.1\r\nHost: a\r\nX-Api-Key: " RIG_PLACEHOLDER "\r\n\r\n"),
		  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	/* its connection goes on, also where several come at once */
	buf_clear(&g.got);
	CHECK_STR(rig_ask(&g, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\n"),
		  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	CHECK(!g.closed && g.requests == 0);
	CHECK_STR(rig_event(&g), "");
	for (i = 0; i < ARRAY_LEN(others); i++) {
		rig_connect(&g, &o);
		CHECK(!starts(rig_ask(&g, others[i]), "HTTP/1.1 200 ") && g.requests == 0);
		CHECK(starts(rig_event(&g), "deny "));
	}
	rig_close(&g);
}

static void a_body_too_large_to_be_judged_is_refused_at_once(void)
{
	struct http_origin o;
	struct rig g;

	rig_open(&g, policy);
	o = to(&g, "anthropic");
	rig_connect(&g, &o);
	CHECK(starts(rig_ask(&g, "POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Type: "
				 "application/json\r\nContent-Length: 33554433\r\n\r\n"),
		     "HTTP/1.1 413 "));
	CHECK(g.requests == 0);
	rig_connect(&g, &o);
	CHECK_STR(rig_ask(&g, "POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Type: "
			      "application/json\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n"),
		  "HTTP/1.1 100 Continue\r\n\r\n");
	CHECK(g.requests == 0);
	CHECK(starts(rig_ask(&g, "{\"model\":\"claude-x\"}"), "HTTP/1.1 200 "));
	rig_close(&g);
}

static void a_reload_ends_requests_to_models_it_forbids(void)
{
	struct http_origin o;
	struct rig g;

	rig_open(&g, policy);
	o = to(&g, "anthropic");
	g.silent = true;
	rig_connect(&g, &o);
	(void)rig_ask(&g, "POST /v1/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: "
			  "20\r\n\r\n{\"model\":\"claude-x\"}");
	CHECK(g.requests == 1);
	http_judge_again(&g.relay);
	rig_run(&g);
	CHECK(!g.closed);
	rig_policy(&g, "inference: {providers: {anthropic: {credential: anthropic, models: [claude-y]}}}");
	http_judge_again(&g.relay);
	rig_run(&g);
	CHECK(g.closed && starts(g.got.p, "HTTP/1.1 403 ") && g.resets == 1);
	CHECK(strstr(g.got.p,
		     "\"detail\":\"the policy changed and no longer allows this\",\"hint\":\"ask the operator"));
	rig_close(&g);
}

/* The port of a provider stays its own, whatever comes before it in a later policy. */
static void a_reload_does_not_mix_up_providers(void)
{
	struct http_origin o;
	struct rig g;

	rig_open(&g, "inference: {providers: {openai: {credential: openai, models: [\"gpt-*\"]}}}");
	o = to(&g, "openai");
	rig_policy(&g, "inference: {providers: {another: {kind: openai, url: \"http://10.0.0.9/v1\", models: [\"*\"]}, "
		       "openai: {credential: openai, models: [\"gpt-*\"]}}}");
	rig_connect(&g, &o);
	(void)rig_ask(&g, "GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n");
	CHECK_STR(rig_seen(&g), "GET https://api.openai.com:443/v1/models\n");
	CHECK(g.provider == 1);
	rig_policy(&g,
		   "inference: {providers: {another: {kind: openai, url: \"http://10.0.0.9/v1\", models: [\"*\"]}}}");
	CHECK(strstr(rig_ask(&g, "GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 403 "));
	CHECK_STR(rig_seen(&g), "");
	rig_close(&g);
}

#define USAGE_ALONE "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":12}}\n\n"
#define WORD "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":null}\n\n"
#define END "data: [DONE]\n\n"

/* A client reads choices[0] of every event where it has not asked for more. */
static void usage_that_the_client_did_not_ask_for_does_not_reach_it(void)
{
	static const struct {
		const char *body;
		bool kept;
	} cases[] = {
		{"{\"model\":\"gpt-4\",\"stream\":true}", false},
		{"{\"model\":\"gpt-4\",\"stream\":true,\"stream_options\":{\"include_usage\":false}}", false},
		{"{\"model\":\"gpt-4\",\"stream\":true,\"a\":\"" RIG_PLACEHOLDER "\"}", false},
		{"{\"model\":\"gpt-4\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}", true},
		{"{\"model\":\"gpt-4\",\"stream\":true,\"stream_options\":{\"include_usage\":true},\"a\":"
		 "\"" RIG_PLACEHOLDER "\"}",
		 true},
	};
	struct http_field type = {sv_of("content-type"), sv_of("text/event-stream; charset=utf-8")};
	static const char stream[] = WORD USAGE_ALONE END;
	struct http_field json = {sv_of("content-type"), sv_of("application/json")};
	struct http_request r = {.method = sv_of("POST"),
				 .host = sv_of("a"),
				 .port = 80,
				 .target = sv_of("/v1/chat/completions"),
				 .body = true,
				 .length = HTTP_LENGTH_UNKNOWN,
				 .fields = {&json, 1}};
	struct http_origin o;
	struct h2_client c;
	struct rig g;
	size_t i;

	rig_open(&g, policy);
	o = to(&g, "openai");
	/* with a length, which will not be that of what is left */
	g.answer =
		(struct http_response){.status = 200, .body = true, .length = sizeof(stream) - 1, .fields = {&type, 1}};
	g.answer_body = sv_of(stream);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = post(&g, "openai", "/v1/chat/completions", "", cases[i].body);

		CHECK(strstr(got, cases[i].kept ? WORD USAGE_ALONE END : WORD END) && !g.closed);
		client_open(&c, &g, &o);
		CHECK(h2_request(c.h2, &r, NULL, &c.stream) == 0);
		CHECK(h2_offer(c.stream, sv_of(cases[i].body)) == 0 && h2_end(c.stream, NULL) == 0);
		client_run(&c);
		CHECK(c.log.p && strstr(c.log.p, cases[i].kept ? "\n" WORD USAGE_ALONE END "\nend 0\n"
							       : "\n" WORD END "\nend 0\n"));
		client_close(&c);
	}
	rig_close(&g);
}

/* What is left out is taken all the same: a stream of nothing else does not stop. */
static void usage_that_is_left_out_does_not_hold_up_the_stream(void)
{
	static const char request[] = "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: "
				      "application/json\r\nContent-Length: 31\r\n\r\n"
				      "{\"model\":\"gpt-4\",\"stream\":true}";
	struct http_field type = {sv_of("content-type"), sv_of("text/event-stream")};
	struct http_origin o;
	struct rig g;
	size_t sent;

	rig_open(&g, policy);
	o = to(&g, "openai");
	g.silent = true;
	rig_connect(&g, &o);
	(void)rig_ask(&g, request);
	g.answer = (struct http_response){
		.status = 200, .body = true, .length = HTTP_LENGTH_UNKNOWN, .fields = {&type, 1}};
	CHECK(g.x && link_respond(g.x, &g.answer) == 0);
	rig_run(&g);
	buf_clear(&g.got);
	for (sent = 0; sent < 4 * LINK_WINDOW; sent += strlen(USAGE_ALONE)) {
		CHECK(link_data(g.x, sv_of(USAGE_ALONE)) == (ssize_t)strlen(USAGE_ALONE));
		rig_run(&g);
	}
	CHECK(g.got.n == 0);
	CHECK(link_data(g.x, sv_of("data: x\n")) == 8);
	rig_run(&g);
	CHECK_STR(g.got.p, "8\r\ndata: x\n\r\n");
	buf_clear(&g.got);
	CHECK(link_data(g.x, sv_of("\ndata: y")) == 8 && link_end(g.x, NULL) == 0);
	rig_run(&g);
	CHECK_STR(g.got.p, "1\r\n\n\r\n7\r\ndata: y\r\n0\r\n\r\n");
	CHECK(!g.closed);
	rig_close(&g);
}

static const struct check_case cases[] = {
	CASE(usage_that_is_left_out_does_not_hold_up_the_stream),
	CASE(usage_that_the_client_did_not_ask_for_does_not_reach_it),
	CASE(an_agent_that_has_printed_its_environment_can_go_on),
	CASE(an_overwritten_placeholder_is_told_as_a_note),
	CASE(requests_to_models_are_judged_and_sent_as_judged),
	CASE(credentials_of_the_client_are_left_out),
	CASE(a_denial_has_the_domain_and_other_refusals_the_form_of_the_provider),
	CASE(budgets_are_kept_by_egress_alone),
	CASE(events_of_a_stream_pass_one_by_one),
	CASE(lists_of_models_pass_and_are_not_counted),
	CASE(a_client_that_asks_whether_anybody_is_there_is_told_so_and_nothing_else_happens),
	CASE(a_body_too_large_to_be_judged_is_refused_at_once),
	CASE(a_reload_ends_requests_to_models_it_forbids),
	CASE(a_reload_does_not_mix_up_providers),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
