#include "gate/inference/headers.h"

#include "base/cleanup.h"
#include "base/field_name.h"
#include "http/fields.h"
#include "policy/net_match.h"

/* Another answer, another payer, another model or server: not even where every model may answer. */
static const char *const never[] = {"x-goog-fieldmask",
				    "x-goog-user-project",
				    "x-goog-request-params",
				    "prefer",
				    "if-match",
				    "if-none-match",
				    "if-modified-since",
				    "if-unmodified-since",
				    "accept-encoding",
				    "extra-parameters",
				    "model",
				    "x-model",
				    "x-model-id",
				    "x-model-name",
				    "x-model-override",
				    "x-target-model",
				    "x-llm-model",
				    "x-llm-provider",
				    "x-fallback",
				    "x-fallbacks",
				    "x-fallback-model",
				    "x-provider",
				    "x-deployment",
				    "x-route",
				    "x-router",
				    "x-target-url",
				    "x-target-host",
				    "x-upstream-url",
				    "x-base-url",
				    "x-api-base"};
static const char *const routers[] = {
	"x-portkey-", "helicone-", "cf-aig-",      "x-litellm-",       "x-openrouter-", "x-bt-",    "x-ms-model-",
	"azureml-",   "x-arch-",   "x-prefiller-", "x-data-parallel-", "x-gateway-",    "x-ai-eg-", "x-envoy-",
	"x-smg-",     "x-tfy-",    "x-bf-",        "x-higress-",       "x-vsr-",        "x-aibrix-"};

/* HTTP's own, and single ones of clients. */
static const char *const known[] = {"accept",
				    "accept-language",
				    "cache-control",
				    "content-encoding",
				    "content-language",
				    "content-type",
				    "date",
				    "dnt",
				    "origin",
				    "pragma",
				    "priority",
				    "referer",
				    "te",
				    "user-agent",
				    "idempotency-key",
				    "x-idempotency-key",
				    "traceparent",
				    "tracestate",
				    "x-cloud-trace-context",
				    "x-requested-with",
				    "x-request-timeout",
				    "x-server-timeout",
				    "x-retry-count",
				    "openai-organization",
				    "openai-project",
				    "openai-beta",
				    "openai-intent",
				    "chatgpt-account-id",
				    "originator",
				    "version",
				    "x-goog-api-client",
				    "x-app",
				    "x-initiator",
				    "x-interaction-type",
				    "x-interaction-id",
				    "http-referer",
				    "x-title",
				    "x-client-name",
				    "x-client-version",
				    "x-github-api-version",
				    "x-grok-conv-id",
				    "x-dashscope-cachecontrol",
				    "x-dashscope-useragent",
				    "x-dashscope-authtype",
				    "x-ms-useragent",
				    "vscode-sessionid",
				    "vscode-machineid"};
static const char *const families[] = {"anthropic-", "x-stainless-", "x-claude-",   "x-openai-",
				       "x-codex-",   "x-gemini-",    "x-opencode-", "copilot-",
				       "editor-",    "sec-fetch-",   "sec-ch-"};
static const char *const ids[] = {"request-id", "session-id", "conversation-id",
				  "thread-id",  "trace-id",   "correlation-id"};

/* In a name of a family: it may choose after all. */
static const char *const choices[] = {"model",    "rout",    "fallback", "provider", "deployment", "target",
				      "upstream", "backend", "endpoint", "url",      "host"};

static bool is_one_of(struct sv name, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (field_name_is(name, list[i]))
			return true;
	return false;
}

static bool is_of_one_of(struct sv name, const char *const *starts, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (field_name_starts(name, starts[i]))
			return true;
	return false;
}

/* "session-id", "x-any-session-id". */
static bool is_id(struct sv name)
{
	size_t i, n;

	for (i = 0; i < ARRAY_LEN(ids); i++) {
		n = strlen(ids[i]);
		if (name.n >= n && field_name_is(sv_n(name.p + name.n - n, n), ids[i]) &&
		    (name.n == n || !is_letter_or_digit(name.p[name.n - n - 1])))
			return true;
	}
	return false;
}

static bool may_choose(struct sv name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(choices); i++)
		if (memmem(name.p, name.n, choices[i], strlen(choices[i])))
			return true;
	return false;
}

static bool is_known(struct sv name)
{
	return is_one_of(name, known, ARRAY_LEN(known)) ||
	       ((is_of_one_of(name, families, ARRAY_LEN(families)) || is_id(name)) && !may_choose(name));
}

bool headers_drop(const struct provider *p, struct sv name)
{
	if (http_field_asks_part(name) || net_field_overrides(name) || net_field_rewrites(name) ||
	    net_field_rehosts(name, sv_of("host=")) || is_one_of(name, never, ARRAY_LEN(never)) ||
	    is_of_one_of(name, routers, ARRAY_LEN(routers)))
		return true;
	return (!p || p->models.set || p->models.n) && !is_known(name);
}
