#include "gate/inference/judge_elsewhere.h"

#include <strings.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "gate/inference/models.h"
#include "gate/inference/spelling.h"

static const char hint_one[] = "name one model, and leave it to the policy where it is served",
		  hint_tools[] = "leave it out; use tools that run inside the sandbox";

/* At the top. */
static const char *const places[] = {"route", "preset", "provider", "providers", "engine", "extra_body", "proxy",
				     "prompt_id", "fastest_response",
				     /* which of a router's servers, or of a server's adapters, answers */
				     "tags", "litellm_metadata", "lora", "loras", "lora_path", "lora_name", "lora_id",
				     "lora_request",
				     /* what it sends along, and whom it tells */
				     "headers", "extra_headers",
				     "callbacks", "success_callback", "failure_callback",
				     "langfuse_host", "langfuse_public_key", "langfuse_secret_key",
				     /* whom the server itself talks to */
				     "kv_transfer_params", "bootstrap_host", "bootstrap_port", NULL};

/* At the top, by what the name contains: routers have many of these, and get more. */
static const char *const place_parts[] = {
	"router", "deployment", "adapter", "model_group", "model_alias", "fallback", NULL};

/* A gateway's own, by what they begin with; and those that only say which conversation it is. */
static const char gateway_own[] = "tensorzero::";
static const char *const gateway_harmless[] = {
	"tensorzero::episode_id", "tensorzero::tags", "tensorzero::dryrun", "tensorzero::cache_options", NULL};

/* At any depth: a list of what to try next holds whole requests. */
static const char *const servers[] = {"api_base",
				      "base_url",
				      "custom_llm_provider",
				      "litellm_params",
				      "litellm_credential_name",
				      "user_config",
				      "model_list",
				      "azure_endpoint",
				      "azure_ad_token",
				      "aws_bedrock_runtime_endpoint",
				      "aws_sts_endpoint",
				      "aws_region_name",
				      "aws_role_name",
				      "aws_profile_name",
				      "aws_web_identity_token",
				      "vertex_location",
				      "vertex_project",
				      "vertex_credentials",
				      "vertex_ai_location",
				      "vertex_ai_project",
				      "vertex_ai_credentials",
				      NULL};

/* Names that end so name models. */
static const char *const models[] = {"model", "models", "model_name", "model_id", NULL};

/* Tools of the provider, by the name at the top and by what it contains. */
static const char *const tools[] = {
	"data_sources", "mcp_servers", "venice_parameters", "compound_custom", "tool_resources", "knowledge",
	"enable_enhancement", "features", "tool_ids", "tool_servers", "files", "linkup", NULL};
static const char *const tool_parts[] = {"search", "plugin", "connector", NULL};

/* What else is called after tools may be a list of the provider's, but for these; a number or a switch is none. */
static const char *const tool_names[] = {
	"tools", "tool_choice", "allowed_tools", "tool_prompt", "tool_call_parser", "tool_call_format", NULL};

/* The conversation, which is judged elsewhere or only text, schemas, and what the client says about itself. */
static const char *const own[] = {"messages",
				  "input",
				  "system",
				  "instructions",
				  "prompt",
				  "metadata",
				  "schema",
				  "json_schema",
				  "parameters",
				  "input_schema",
				  "properties",
				  "guided_json",
				  "structured_outputs",
				  "input_examples",
				  "chat_template_kwargs",
				  NULL};

/* The first of the list that has this relation to the name, or NULL. */
static const char *first(struct sv name, const char *const *list, bool (*is)(struct sv, const char *))
{
	while (*list && !is(name, *list))
		list++;
	return *list;
}

/* null, false and nothing at all say that it is not wanted. */
static bool is_wanted(const struct judge *j, uint32_t value)
{
	struct sv text = json_scan_text(j->s, value);

	return json_scan_kind(j->s, value) != SCAN_NULL && !sv_is(text, "false") && !sv_is(text, "[]");
}

static int refuse(const struct judge *j, uint32_t key, const char *hint)
{
	struct text_shown shown;

	return ruling_set(j->no, RULING_DENIED, hint, "%s is not for this sandbox",
			  text_show(&shown, json_scan_text(j->s, key)));
}

static bool contains(struct sv s, const char *part)
{
	size_t n = strlen(part), i;

	for (i = 0; i + n <= s.n; i++)
		if (strncasecmp(s.p + i, part, n) == 0)
			return true;
	return false;
}

/* What comes behind a colon may switch things on ("m:enable_web_search=on&..."): no version of a model has a "=". */
static bool runs_tools(struct sv model)
{
	static const char *const parts[] = {
		"-search-preview", "-search-api", "-deep-research", ":online", ":enable_", "=", "&"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(parts); i++)
		if (contains(model, parts[i]))
			return true;
	return false;
}

static int judge_name(const struct judge *j, struct sv model)
{
	struct text_shown shown;

	if (contains(model, "@preset"))
		return ruling_set(j->no, RULING_DENIED, hint_one,
				  "model %s brings a preset that is stored at the provider",
				  text_show(&shown, model));
	if (j->deny_tools && runs_tools(model))
		return ruling_set(
			j->no, RULING_DENIED, "use a model that does not search by itself, or server_tools: allow",
			"model %s runs tools at its provider: it searches the web", text_show(&shown, model));
	return 0;
}

int judge_model_name(const struct judge *j)
{
	return judge_name(j, sv_of(j->model));
}

static int judge_named(const struct judge *j, uint32_t value)
{
	const struct provider *p = j->provider;
	struct text_shown shown;

	if (models_choose(j->policy, json_scan_text(j->s, value), &p, j->no) < 0)
		return -1;
	if (p != j->provider)
		return ruling_set(j->no, RULING_DENIED, hint_one, "model %s is served by another provider",
				  text_show(&shown, json_scan_text(j->s, value)));
	return judge_name(j, json_scan_text(j->s, value));
}

/* named: a text here is a model's name. As deep as a scan is. */
static int walk(const struct judge *j, uint32_t value, bool named)
{
	bool object = json_scan_kind(j->s, value) == SCAN_OBJECT;
	struct sv key;
	uint32_t i;

	if (json_scan_kind(j->s, value) == SCAN_STRING)
		return named ? judge_named(j, value) : 0;
	for (i = json_scan_first(j->s, value); i; i = json_scan_after(j->s, value, i)) {
		if (!object) {
			if (walk(j, i, named) < 0)
				return -1;
			continue;
		}
		key = json_scan_text(j->s, i);
		if (first(key, own, spelling_alike))
			continue;
		if (first(key, servers, spelling_alike) && is_wanted(j, i + 1))
			return refuse(j, i, hint_one);
		if (walk(j, i + 1, first(key, models, spelling_ends) != NULL) < 0)
			return -1;
	}
	return 0;
}

static bool leads_elsewhere(struct sv name)
{
	if (spelling_has(name, gateway_own))
		return !first(name, gateway_harmless, spelling_alike);
	return first(name, places, spelling_alike) || spelling_alike(name, "models") ||
	       first(name, place_parts, spelling_has);
}

static bool brings_tools(const struct judge *j, struct sv name, uint32_t value)
{
	enum scan_kind kind = json_scan_kind(j->s, value);

	if (first(name, tools, spelling_alike) || first(name, tool_parts, spelling_has))
		return true;
	return spelling_has(name, "tool") && !first(name, tool_names, spelling_alike) &&
	       (kind == SCAN_STRING || kind == SCAN_ARRAY || kind == SCAN_OBJECT);
}

static int judge_top(const struct judge *j, uint32_t key)
{
	struct sv name = json_scan_text(j->s, key);

	if (!is_wanted(j, key + 1))
		return 0;
	if (leads_elsewhere(name))
		return refuse(j, key, hint_one);
	if (j->deny_tools && brings_tools(j, name, key + 1))
		return refuse(j, key, hint_tools);
	return 0;
}

int judge_elsewhere(const struct judge *j)
{
	uint32_t i;

	if (j->kind == PROVIDER_GEMINI)
		return 0;
	for (i = json_scan_first(j->s, 0); i; i = json_scan_after(j->s, 0, i))
		if (judge_top(j, i) < 0)
			return -1;
	return walk(j, 0, false);
}
