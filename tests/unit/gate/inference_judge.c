#include "gate/inference/headers.h"
#include "gate/inference/judge.h"

#include "check.h"
#include "gate/inference/usage.h"

/* A policy with one provider of each kind, a local server, and a route to it. */
static struct pol_str claude[] = {{.s = "claude-*"}},
		      gpt[] = {{.s = "gpt-?"}, {.s = "gpt-4o"}, {.s = "text-embedding-3-*"}},
		      gemini[] = {{.s = "gemini-*"}};
static struct provider providers[] = {
	{.name = "anthropic",
	 .kind = {PROVIDER_ANTHROPIC, true, {0}},
	 .url = {.s = "https://api.anthropic.com"},
	 .models = {claude, 1, true}},
	{.name = "openai",
	 .kind = {PROVIDER_OPENAI, true, {0}},
	 .url = {.s = "https://api.openai.com"},
	 .models = {gpt, 3, true}},
	{.name = "gemini",
	 .kind = {PROVIDER_GEMINI, true, {0}},
	 .url = {.s = "https://generativelanguage.googleapis.com"},
	 .models = {gemini, 1, true}},
	{.name = "vllm", .kind = {PROVIDER_OPENAI, true, {0}}, .url = {.s = "http://127.0.0.1:8000/api/v1/"}},
	{.name = "free",
	 .kind = {PROVIDER_ANTHROPIC, true, {0}},
	 .url = {.s = "https://x.test"},
	 .server_tools = {SERVER_TOOLS_ALLOW, true, {0}}},
	{.name = "free-openai",
	 .kind = {PROVIDER_OPENAI, true, {0}},
	 .url = {.s = "https://x.test"},
	 .server_tools = {SERVER_TOOLS_ALLOW, true, {0}}},
};
static struct route routes[] = {{.model = "gpt-9", .provider = "vllm"},
				{.model = "gpt-*-local", .provider = "vllm"},
				{.model = "gpt-9", .provider = "openai"},
				{.model = "claude-local", .provider = "vllm"},
				{.model = "claude-gone", .provider = "nobody"}};
static const struct pol_inference policy = {providers, 6, routes, 5};
enum { ANTHROPIC, OPENAI, GEMINI, VLLM, FREE, FREE_OPENAI };

static int judge(int provider, const char *target, const char *text, struct buf *body, struct judged *ret,
		 struct ruling *no)
{
	struct http_request req = {
		.method = sv_of(text ? "POST" : "GET"), .target = sv_of(target), .body = text != NULL, .length = -1};

	*no = (struct ruling){0};
	if (judge_head(&policy, &providers[provider], &req, ret, no) < 0)
		return -1;
	if (!text)
		return 0;
	buf_clear(body);
	(void)buf_str(body, text);
	return judge_body(&policy, &req, body, ret, no);
}

struct request {
	int provider;
	const char *target, *body;
};

#define M "/v1/messages"
#define C "/v1/chat/completions"
#define R "/v1/responses"
#define G "/v1beta/models/gemini-2.5-pro:generateContent"

static const struct request good[] = {
	{ANTHROPIC, M "?beta=true",
	 "{\"model\":\"claude-opus-4-1\",\"max_tokens\":10,\"stream\":true,\"system\":[{\"type\":\"text\",\"text\":"
	 "\"x\",\"cache_control\":{\"type\":\"ephemeral\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"},
	{ANTHROPIC, M "/count_tokens", "{\"model\":\"claude-x\",\"messages\":[]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{"
	 "\"type\":\"base64\",\"media_type\":\"image/"
	 "png\",\"data\":\"AAAA\"}},{\"type\":\"document\",\"source\":{\"type\":\"text\",\"data\":\"x\"}},"
	 "{\"type\":\"document\",\"source\":{\"type\":\"content\",\"content\":[{\"type\":\"text\",\"text\":\"y\"}]}},{"
	 "\"type\":\"search_result\",\"source\":\"https://a.test\",\"title\":\"t\",\"content\":[]}]}]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\",\"properties\":{"
	 "\"Source\":{\"type\":\"url\"},\"Model\":{},\"file_id\":{}}}},{\"type\":\"custom\",\"name\":\"g\"},{\"type\":"
	 "\"bash_20250124\",\"name\":\"bash\"},"
	 "{\"type\":\"text_editor_20250728\",\"name\":\"e\"},{\"type\":\"computer_20250124\",\"name\":\"computer\"},{"
	 "\"type\":\"memory_20250818\",\"name\":\"memory\"},{\"type\":null,\"name\":\"h\"}],\"mcp_servers\":[],"
	 "\"container\":null}"},
	/* a tool's arguments are the client's own data */
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"role\":\"assistant\",\"content\":[{\"input\":{\"source\":{\"type\":"
	 "\"url\",\"url\":\"http://"
	 "a.test\"},\"file_id\":\"f\",\"Type\":1},\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\"}]}]}"},
	{ANTHROPIC, "/v1/models", NULL},
	{ANTHROPIC, "/v1/models?limit=20&after_id=claude-x", NULL},
	{ANTHROPIC, "/v1/models/claude-opus-4-1", NULL},
	{FREE, M,
	 "{\"model\":\"any\",\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}],\"mcp_servers\":[{"
	 "\"url\":\"https://m.test\"}],\"messages\":[{\"content\":[{\"source\":{\"type\":\"url\"}}]}]}"},

	{OPENAI, C,
	 "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"see "
	 "http://a.test\"},{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/"
	 "png;base64,AA\",\"detail\":\"low\"}},{\"type\":\"file\",\"file\":{\"file_data\":\"data:x\",\"filename\":\"a."
	 "pdf\"}}]},"
	 "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\","
	 "\"arguments\":\"{\\\"image_url\\\":\\\"http://"
	 "a\\\"}\"}}]}],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":"
	 "\"object\",\"properties\":{\"Tools\":{}}}}}],\"store\":true}"},
	{OPENAI, C,
	 "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"assistant\",\"content\":\"x\",\"annotations\":[{\"type\":"
	 "\"url_citation\",\"url_citation\":{\"url\":\"https://"
	 "a.test\",\"title\":\"t\"}},{\"type\":\"url_citation\",\"url\":\"https://"
	 "a.test\"}],\"audio\":{\"id\":\"audio_1\"}},"
	 "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"https://a.test\",\"url\":\"https://"
	 "a.test\"},{\"type\":\"image\",\"image\":\"data:image/"
	 "png;base64,AA\"},{\"type\":\"image\",\"image\":{\"url\":\"data:x\"}},{\"type\":\"input_audio\",\"input_"
	 "audio\":{\"data\":\"AA==\",\"format\":\"mp3\",\"url\":null}},"
	 "{\"type\":\"video\",\"video\":[\"AA\",\"data:image/"
	 "png;base64,AA\"],\"start\":\"00:01:30\",\"caption\":\"see: "
	 "https://a.test\"},{\"type\":\"document\",\"document\":\"Note: as of https://a.test, all is "
	 "well\"},{\"type\":\"document\",\"text\":\"https://"
	 "a.test is down\",\"document\":\"HTTP: a protocol\"},{\"type\":\"file\",\"file\":{\"filename\":\"C:\\\\a.pdf\",\"file_data\":\"data:x\"}}]}],"
	 "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}},\"parallel_tool_calls\":true,\"tool_"
	 "stream\":true,\"max_tool_calls\":3,\"tool_prompt\":\"use them\"}"},
	{OPENAI, "/v1/completions", "{\"model\":\"gpt-5\",\"prompt\":[\"a\",\"b\"]}"},
	{OPENAI, "/v1/embeddings", "{\"model\":\"text-embedding-3-small\",\"input\":[[1,2,3],\"x\"]}"},
	{OPENAI, R,
	 "{\"model\":\"gpt-5\",\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":"
	 "\"data:image/"
	 "png;base64,AA\"},{\"type\":\"input_file\",\"file_data\":\"x\",\"file_id\":null}]},{\"type\":\"function_call_"
	 "output\",\"output\":\"http://a\"}],"
	 "\"tools\":[{\"type\":\"function\",\"name\":\"f\"},{\"type\":\"custom\",\"name\":\"p\"},{\"type\":\"local_"
	 "shell\"},{\"type\":\"apply_patch\"},{\"type\":\"computer_use_preview\"},{\"type\":\"shell\",\"environment\":{"
	 "\"type\":\"local\"}},{\"type\":\"namespace\",\"name\":\"n\",\"tools\":[{\"type\":\"function\",\"name\":\"g\"}"
	 "]}],"
	 "\"store\":false,\"background\":false,\"previous_response_id\":\"resp_1\",\"prompt\":null}"},
	{OPENAI, "/v1/models", NULL},
	{VLLM, C,
	 "{\"model\":\"meta-llama/Llama-3.1-8B-Instruct\",\"messages\":[],\"chat_template_kwargs\":{\"x\":1}}"},
	{VLLM, "/v1/models/meta-llama/Llama-3.1-8B-Instruct", NULL},
	{FREE_OPENAI, R,
	 "{\"model\":\"m\",\"tools\":[{\"type\":\"mcp\"}],\"input\":[{\"content\":[{\"file_id\":\"f\"}]}],\"prompt\":{"
	 "\"id\":\"p\"}}"},

	{GEMINI, G "?key=placeholder",
	 "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"},{\"inline_data\":{\"mime_type\":\"image/"
	 "png\",\"data\":\"AA\"}}]}],\"tools\":[{\"functionDeclarations\":[{\"name\":\"f\",\"parameters\":{\"type\":"
	 "\"OBJECT\",\"properties\":{\"fileData\":{},\"model\":{}}}}]}],\"systemInstruction\":{\"parts\":{\"text\":"
	 "\"x\"}}}"},
	{GEMINI, "/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
	 "{\"contents\":[{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{\"fileData\":1,\"model\":\"x\"}}},{"
	 "\"function_response\":{\"name\":\"f\",\"response\":{\"file_uri\":\"x\",\"tools\":3}}}]}],"
	 "\"generationConfig\":{\"responseSchema\":{\"properties\":{\"model\":{}}}}}"},
	{GEMINI, "/v1beta/models/gemini-2.5-pro:countTokens",
	 "{\"generateContentRequest\":{\"model\":\"models/gemini-2.5-pro\",\"contents\":[]}}"},
	{GEMINI, "/v1beta/models/gemini-embedding-001:batchEmbedContents",
	 "{\"requests\":[{\"model\":\"models/gemini-embedding-001\",\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}"},
	{GEMINI, "/v1beta/models/gemini-embedding-001:embedContent",
	 "{\"model\":\"gemini-embedding-001\",\"content\":{\"parts\":[{\"text\":\"x\"}]}}"},
	{GEMINI, "/v1beta/models?pageSize=50", NULL},
};

static void requests_of_real_clients_pass(void)
{
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i;

	buf_init(&body, 1 << 20);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int r = judge(good[i].provider, good[i].target, good[i].body, &body, &j, &no);

		if (r < 0)
			printf("# %s %.60s: %s\n", good[i].target, good[i].body ? good[i].body : "", no.detail);
		CHECK(r == 0 && no.status == 0);
	}
}

static const struct request denied[] = {
	/* models: case, prefix, suffix, another provider's, a second one */
	{ANTHROPIC, M, "{\"model\":\"gpt-4o\"}"},
	{ANTHROPIC, M, "{\"model\":\"Claude-x\"}"},
	{ANTHROPIC, M, "{\"model\":\"xclaude-x\"}"},
	{OPENAI, C, "{\"model\":\"gpt-4o-mini\"}"},
	{OPENAI, C, "{\"model\":\"gpt-\"}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"models\":[\"o1-pro\"]}"},
	{FREE_OPENAI, C, "{\"model\":\"m\",\"models\":[\"n\"]}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"Model\":\"o1\"}"},
	{OPENAI, C, "{\"MODEL\":\"gpt-4o\"}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"\\u004dodel\":\"o1\"}"},
	{FREE, M, "{\"model\":\"m\",\"modeL\":\"n\"}"},
	{GEMINI, "/v1beta/models/palm-2:generateContent", "{}"},
	{GEMINI, G, "{\"model\":\"models/gemini-other\"}"},
	{GEMINI, G, "{\"model\":3}"},
	{GEMINI, G, "{\"generationConfig\":{\"routingConfig\":{\"manualMode\":{\"modelName\":\"gemini-other\"}}}}"},
	{GEMINI, "/v1beta/models/gemini-embedding-001:batchEmbedContents",
	 "{\"requests\":[{\"model\":\"models/gemini-embedding-001\"},{\"model\":\"models/other\"}]}"},
	{GEMINI, G, "{\"Model\":\"models/gemini-2.5-pro\"}"},
	{ANTHROPIC, "/v1/models/other", NULL},
	/* routes */
	{ANTHROPIC, M, "{\"model\":\"claude-local\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-gone\"}"},
	/* tools that run at the provider */
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"tools\":[{\"name\":\"a\"},{\"type\":\"web_fetch_20250910\",\"name\":\"w\"}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":[{\"type\":\"code_execution_20250825\",\"name\":\"c\"}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":[{\"type\":\"mcp_toolset\",\"mcp_server_name\":\"m\"}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":[{\"type\":\"brand_new_20990101\"}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":[{\"type\":\"custom\",\"Type\":\"web_search_20250305\"}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":[{\"type\":\"web\\u005fsearch_20250305\"}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"too\\u006cs\":[{\"type\":\"web_search_20250305\"}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"Tools\":[]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tool\xc5\xbf\":[]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"mcp_servers\":[{\"type\":\"url\",\"url\":\"https://m.test\"}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"mcp_servers\":{}}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"container\":\"cont_1\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"container\":{\"skills\":[]}}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":{\"type\":\"web_search_20250305\"}}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"web_search_options\":{}}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"plugins\":[{\"id\":\"web\"}]}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"tools\":[{\"type\":\"browser_search\"}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"web_search\"}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"web_search_preview_2025_03_11\"}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"file_search\",\"vector_store_ids\":[\"v\"]}]}"},
	{OPENAI, R,
	 "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"code_interpreter\",\"container\":{\"type\":\"auto\"}}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"mcp\",\"server_url\":\"https://m.test\"}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"image_generation\"}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"shell\"}]}"},
	{OPENAI, R,
	 "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"shell\",\"environment\":{\"type\":\"container_auto\"}}]}"},
	{OPENAI, R,
	 "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"shell\",\"environment\":{\"type\":\"local\",\"Type\":\"container_"
	 "auto\"}}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"namespace\",\"tools\":[{\"type\":\"mcp\"}]}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"tools\":[{\"name\":\"f\"}]}"},
	{OPENAI, R,
	 "{\"model\":\"gpt-5\",\"input\":[{\"type\":\"tool_search_output\",\"tools\":[{\"type\":\"mcp\"}]}]}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"prompt\":{\"id\":\"pmpt_1\"}}"},
	{OPENAI, R, "{\"model\":\"gpt-5\",\"background\":true}"},
	{FREE_OPENAI, R, "{\"model\":\"m\",\"background\":true}"},
	{GEMINI, G, "{\"tools\":[{\"googleSearch\":{}}]}"},
	{GEMINI, G, "{\"tools\":[{\"google_search\":{}}]}"},
	{GEMINI, G, "{\"tools\":[{\"google_search_retrieval\":{}}]}"},
	{GEMINI, G, "{\"tools\":[{\"codeExecution\":{}}]}"},
	{GEMINI, G, "{\"tools\":[{\"functionDeclarations\":[],\"url_context\":{}}]}"},
	{GEMINI, G, "{\"tools\":{\"googleMaps\":{}}}"},
	{GEMINI, G, "{\"tools\":[{\"fileSearch\":{}}]}"},
	{GEMINI, G, "{\"Tools\":[]}"},
	{GEMINI, G, "{\"tools\":[{\"FunctionDeclarations\":[]}]}"},
	{GEMINI, G, "{\"cachedContent\":\"cachedContents/1\"}"},
	{GEMINI, G, "{\"cached_content\":\"x\"}"},
	{GEMINI, "/v1beta/models/gemini-2.5-pro:countTokens",
	 "{\"generateContentRequest\":{\"tools\":[{\"googleSearch\":{}}]}}"},
	/* sources that the provider would fetch */
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":"
	 "\"https://a.test/x.png\"}}]}]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"document\",\"source\":{\"type\":\"file\","
	 "\"file_id\":\"f\"}}]}]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\","
	 "\"content\":[{\"type\":\"image\",\"source\":{\"url\":\"https://a.test\",\"type\":\"url\"}}]}]}]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"document\",\"source\":{\"type\":\"content\","
	 "\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"url\"}}]}}]}]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"container_upload\",\"file_id\":\"f\"}]}]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\","
	 "\"TYPE\":\"url\"}}]}]}"},
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"image\",\"Source\":{\"type\":\"url\"}}]}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":{}}]}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"system\":[{\"type\":\"image\",\"source\":{\"type\":\"url\"}}]}"},
	/* what is called arguments but is none */
	{ANTHROPIC, M,
	 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"image\",\"input\":{\"source\":{\"type\":"
	 "\"url\"}}}]}]}"},
	{OPENAI, C,
	 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://"
	 "a.test\"}}]}]}"},
	{OPENAI, C,
	 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"image_url\",\"image_url\":\"http://"
	 "a.test\"}]}]}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"image_url\":{\"url\":\" data:x\"}}]}]}"},
	{OPENAI, C,
	 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"image_url\":{\"url\":\"data:x\",\"URL\":\"http://"
	 "a\"}}]}]}"},
	{OPENAI, C,
	 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"image_url\":{\"url\":\"file:///etc/passwd\"}}]}]}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"Image_Url\":{\"url\":\"http://a\"}}]}]}"},
	{OPENAI, C,
	 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"file\",\"file\":{\"file_id\":\"f\"}}]}]}"},
	{VLLM, C,
	 "{\"model\":\"m\",\"messages\":[{\"content\":[{\"type\":\"video_url\",\"video_url\":{\"url\":\"http://"
	 "169.254.169.254\"}}]}]}"},
	{VLLM, C,
	 "{\"model\":\"m\",\"messages\":[{\"content\":[{\"type\":\"audio_url\",\"audio_url\":{\"url\":\"http://"
	 "a\"}}]}]}"},
	{OPENAI, R,
	 "{\"model\":\"gpt-5\",\"input\":[{\"content\":[{\"type\":\"input_file\",\"file_url\":\"https://a.test/"
	 "x.pdf\"}]}]}"},
	{OPENAI, R,
	 "{\"model\":\"gpt-5\",\"input\":[{\"type\":\"computer_call_output\",\"output\":{\"image_url\":\"https://"
	 "a\"}}]}"},
	{GEMINI, G, "{\"contents\":[{\"parts\":[{\"fileData\":{\"fileUri\":\"https://a.test\"}}]}]}"},
	{GEMINI, G, "{\"contents\":{\"parts\":{\"file_data\":{\"file_uri\":\"gs://b\"}}}}"},
	{GEMINI, G, "{\"contents\":[{\"parts\":[{\"fileUri\":\"x\"}]}]}"},
	{GEMINI, G, "{\"contents\":[{\"parts\":[{\"file_Data\":{}}]}]}"},
	{GEMINI, G, "{\"contents\":[{\"parts\":[{\"args\":{\"fileData\":{}}}]}]}"},
	{GEMINI, G, "{\"system_instruction\":{\"parts\":[{\"fileData\":{}}]}}"},
	/* endpoints and their parameters */
	{ANTHROPIC, M "/batches", "{}"},
	{ANTHROPIC, "/v1/files", NULL},
	{ANTHROPIC, "/v1/files", "{}"},
	{ANTHROPIC, "/v1/skills", NULL},
	{ANTHROPIC, "/v1/complete", "{}"},
	{ANTHROPIC, "/v1/organizations/usage_report/messages", NULL},
	{ANTHROPIC, "/", NULL},
	{ANTHROPIC, C, "{}"},
	{ANTHROPIC, M, NULL},
	{OPENAI, "/v1/files", "{}"},
	{OPENAI, "/v1/batches", "{}"},
	{OPENAI, "/v1/assistants", "{}"},
	{OPENAI, "/v1/threads/t/runs", "{}"},
	{OPENAI, "/v1/vector_stores", "{}"},
	{OPENAI, "/v1/fine_tuning/jobs", "{}"},
	{OPENAI, "/v1/containers", "{}"},
	{OPENAI, "/v1/realtime", NULL},
	{OPENAI, "/v1/responses/resp_1", NULL},
	{OPENAI, "/v1/conversations", "{}"},
	{OPENAI, "/v1/chat/completions/", "{}"},
	{OPENAI, "/V1/chat/completions", "{}"},
	{OPENAI, "/v1/chat%2fcompletions", "{}"},
	{OPENAI, "//v1/chat/completions", "{}"},
	{OPENAI, "/api/chat", "{}"},
	{OPENAI, "/v1/chat/completions/../files", "{}"},
	{GEMINI, "/v1beta/files", NULL},
	{GEMINI, "/upload/v1beta/files", "{}"},
	{GEMINI, "/v1beta/cachedContents", "{}"},
	{GEMINI, "/v1beta/tunedModels/gemini-x:generateContent", "{}"},
	{GEMINI, "/v1beta/models/gemini-x:batchGenerateContent", "{}"},
	{GEMINI, "/v1beta/models/gemini-x/../tunedModels/y:generateContent", "{}"},
	{GEMINI, "/v1beta/models/gemini-x:predict:generateContent", "{}"},
	{GEMINI, G "?fields=candidates", "{}"},
	{GEMINI, G "?$alt=proto", "{}"},
	{GEMINI, G "?alt=proto", "{}"},
	{GEMINI, G "?alt=media", "{}"},
	{GEMINI, G "?uploadType=media", "{}"},
	{GEMINI, "/v1beta/models/gemini%2dx:generateContent", "{}"},
};

static void what_policy_forbids_is_denied(void)
{
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i;

	buf_init(&body, 1 << 20);
	for (i = 0; i < sizeof(denied) / sizeof(denied[0]); i++) {
		int r = judge(denied[i].provider, denied[i].target, denied[i].body, &body, &j, &no);

		if (r == 0 || no.status != RULING_DENIED)
			printf("# %s %s: %d %s\n", denied[i].target, denied[i].body ? denied[i].body : "GET", no.status,
			       no.detail);
		CHECK(r < 0 && no.status == RULING_DENIED && no.detail[0] && no.hint[0]);
	}
}

static const struct request malformed[] = {
	{ANTHROPIC, M, ""},
	{ANTHROPIC, M, "[]"},
	{ANTHROPIC, M, "{}"},
	{ANTHROPIC, M, "{\"model\":null}"},
	{ANTHROPIC, M, "{\"model\":[\"claude-x\"]}"},
	{ANTHROPIC, M, "{\"model\":\"\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-\\n\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-\\u0000\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"model\":\"claude-x\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"\\u006dodel\":\"other\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\"}{\"model\":\"other\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"stream\":\"true\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"stream\":1}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":\"web_search\"}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":[[{\"type\":\"web_search_20250305\"}]]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-x\",\"tools\":[{\"type\":[\"custom\"]}]}"},
	{ANTHROPIC, M, "{\"model\":\"claude-/../x\"}"},
	{ANTHROPIC, M "?beta=true&beta=false", "{\"model\":\"claude-x\"}"},
	{OPENAI, C, "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":[]}"},
};

static void what_cannot_be_judged_is_refused(void)
{
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i;

	buf_init(&body, 1 << 20);
	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		int r = judge(malformed[i].provider, malformed[i].target, malformed[i].body, &body, &j, &no);

		if (r == 0 || no.status != RULING_MALFORMED)
			printf("# %s %s: %d %s\n", malformed[i].target, malformed[i].body, no.status, no.detail);
		CHECK(r < 0 && no.status == RULING_MALFORMED);
	}
}

static void openai_streams_are_asked_for_usage(void)
{
	static const struct {
		const char *target, *in, *out;
	} cases[] = {
		{C, "{\"model\":\"gpt-4o\",\"stream\":true}",
		 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
		{C, "{\"stream_options\":null,\"model\":\"gpt-4o\",\"stream\":true}",
		 "{\"stream_options\":{\"include_usage\":true},\"model\":\"gpt-4o\",\"stream\":true}"},
		{C, "{\"model\":\"gpt-4o\",\"stream\":true, \"stream_options\": { }}",
		 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
		{C, "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_obfuscation\":false}}",
		 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true,\"include_"
		 "obfuscation\":false}}"},
		{C, "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":false}}",
		 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
		{C, "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":\"no\",\"a\":1}}",
		 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true,\"a\":1}}"},
		{C, "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":[1,2,3,4]}}",
		 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
		{C, "{\"model\":\"gpt-4o\",\"stream\":false}", "{\"model\":\"gpt-4o\",\"stream\":false}"},
		{"/v1/completions", "{\"model\":\"gpt-4o\",\"stream\":true}",
		 "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true}}"},
		{R, "{\"model\":\"gpt-4o\",\"stream\":true}", "{\"model\":\"gpt-4o\",\"stream\":true}"},
	};
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i;

	buf_init(&body, 1 << 20);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(judge(OPENAI, cases[i].target, cases[i].in, &body, &j, &no) == 0);
		CHECK_STR(body.p, cases[i].out);
		CHECK(body.n == strlen(cases[i].out));
	}
	CHECK(judge(OPENAI, C,
		    "{\"model\":\"gpt-4o\",\"stream\":true,\"stream_options\":{\"include_usage\":true,\"Include_"
		    "Usage\":false}}",
		    &body, &j, &no) < 0);
	CHECK(judge(OPENAI, C, "{\"model\":\"gpt-4o\",\"stream\":true,\"Stream_Options\":{}}", &body, &j, &no) < 0);
}

static void a_second_judge_agrees_and_changes_nothing(void)
{
	AUTO_BUF once = {0}, twice = {0};
	struct judged a, b;
	struct ruling no;
	size_t i;

	buf_init(&once, 1 << 20);
	buf_init(&twice, 1 << 20);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!good[i].body)
			continue;
		CHECK(judge(good[i].provider, good[i].target, good[i].body, &once, &a, &no) == 0);
		CHECK(judge(good[i].provider, good[i].target, once.p, &twice, &b, &no) == 0);
		CHECK_STR(twice.p, once.p);
		CHECK(a.provider == b.provider && a.stream == b.stream && strcmp(a.model, b.model) == 0 &&
		      strcmp(a.target, b.target) == 0);
	}
}

static void the_first_route_chooses_the_provider(void)
{
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;

	buf_init(&body, 4096);
	CHECK(judge(OPENAI, C, "{\"model\":\"gpt-9\"}", &body, &j, &no) == 0);
	CHECK(j.provider == &providers[VLLM]);
	CHECK_STR(j.target, "/api/v1/chat/completions");
	CHECK_STR(j.model, "gpt-9");
	CHECK_STR(body.p, "{\"model\":\"gpt-9\"}");
	CHECK(judge(OPENAI, C, "{\"model\":\"gpt-5-local\"}", &body, &j, &no) == 0 && j.provider == &providers[VLLM]);
	CHECK(judge(OPENAI, C, "{\"model\":\"gpt-5\"}", &body, &j, &no) == 0 && j.provider == &providers[OPENAI]);
	CHECK_STR(j.target, C);
}

static void targets_are_the_upstreams_and_without_the_clients_key(void)
{
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;

	buf_init(&body, 4096);
	CHECK(judge(GEMINI, G "?key=secret&alt=json", "{}", &body, &j, &no) == 0);
	CHECK_STR(j.target, G "?alt=json");
	CHECK_STR(j.model, "gemini-2.5-pro");
	CHECK(!j.stream);
	CHECK(judge(GEMINI, "/v1alpha/models/gemini-x:streamGenerateContent?key=a&alt=sse&key=b", "{}", &body, &j,
		    &no) == 0);
	CHECK_STR(j.target, "/v1alpha/models/gemini-x:streamGenerateContent?alt=sse");
	CHECK_STR(j.model, "gemini-x");
	CHECK(j.stream);
}

static void only_plain_json_bodies_are_taken(void)
{
	static const struct {
		const char *name, *value;
		int status;
	} cases[] = {
		{"content-type", "application/json", 0},
		{"content-type", "Application/JSON; charset=UTF-8", 0},
		{"content-type", "application/json; charset=utf-16", RULING_TYPE},
		{"content-type", "text/plain", RULING_TYPE},
		{"content-type", "multipart/form-data; boundary=x", RULING_TYPE},
		{"content-encoding", "gzip", RULING_TYPE},
		{"content-encoding", "identity", 0},
		{"anthropic-beta", "mcp-client-2025-04-04", 0},
		{"content-type", "application/json; charset=utf-8; x=y", RULING_TYPE},
	};
	struct http_request req = {.method = sv_of("POST"), .target = sv_of(M), .body = true, .length = 10};
	struct judged j;
	struct ruling no;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_field f = {sv_of(cases[i].name), sv_of(cases[i].value)};

		no.status = 0;
		req.fields = (struct http_fields){&f, 1};
		(void)judge_head(&policy, &providers[ANTHROPIC], &req, &j, &no);
		CHECK(no.status == cases[i].status);
	}
	req.fields.n = 0;
	req.length = (int64_t)SCAN_MAX_BYTES + 1;
	CHECK(judge_head(&policy, &providers[ANTHROPIC], &req, &j, &no) < 0 && no.status == RULING_TOO_LARGE);
	req.length = 1;
	req.websocket = true;
	CHECK(judge_head(&policy, &providers[ANTHROPIC], &req, &j, &no) < 0 && no.status == RULING_DENIED);
	req.websocket = req.body = false;
	CHECK(judge_head(&policy, &providers[ANTHROPIC], &req, &j, &no) < 0 && no.status == RULING_MALFORMED);
}

static void what_a_reply_may_have_is_read_from_the_body(void)
{
	static const struct {
		struct request r;
		uint64_t want;
	} v[] = {
		{{ANTHROPIC, M, "{\"model\":\"claude-x\",\"max_tokens\":10}"}, 10},
		{{ANTHROPIC, M, "{\"model\":\"claude-x\",\"max_completion_tokens\":1}"}, 4096},
		{{ANTHROPIC, M, "{\"model\":\"claude-x\",\"max_tokens\":null}"}, 4096},
		{{ANTHROPIC, M, "{\"model\":\"claude-x\",\"max_tokens\":-5}"}, 4096},
		{{ANTHROPIC, M, "{\"model\":\"claude-x\",\"max_tokens\":1e300}"}, USAGE_MAX},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":1,\"max_completion_tokens\":70}"}, 70},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":7,\"n\":10}"}, 70},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"n\":2,\"max_output_tokens\":1}"}, 8192},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":7,\"num_return_sequences\":10}"}, 70},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":1,\"n_predict\":-1}"}, 4096},
		{{OPENAI, "/v1/completions", "{\"model\":\"gpt-4o\",\"max_tokens\":8,\"prompt\":\"x\"}"}, 8},
		{{OPENAI, "/v1/completions", "{\"model\":\"gpt-4o\",\"max_tokens\":8,\"prompt\":[1,2,3]}"}, 8},
		{{OPENAI, "/v1/completions", "{\"model\":\"gpt-4o\",\"max_tokens\":8,\"prompt\":[\"a\",\"b\",\"c\"]}"},
		 24},
		{{OPENAI, "/v1/completions",
		  "{\"model\":\"gpt-4o\",\"max_tokens\":8,\"prompt\":[[1,2],[3]],\"prompt_embeds\":[\"a\"],\"n\":2,"
		  "\"best_of\":5}"},
		 120},
		{{OPENAI, "/v1/completions", "{\"model\":\"gpt-4o\",\"max_tokens\":8,\"prompt\":[]}"}, 8},
		{{OPENAI, R, "{\"model\":\"gpt-4o\",\"max_output_tokens\":99,\"max_tokens\":1}"}, 99},
		{{OPENAI, "/v1/embeddings", "{\"model\":\"text-embedding-3-large\",\"input\":\"x\"}"}, 0},
		{{ANTHROPIC, M "/count_tokens", "{\"model\":\"claude-x\",\"messages\":[]}"}, 0},
		{{GEMINI, G, "{\"contents\":[],\"generationConfig\":{\"maxOutputTokens\":20,\"candidateCount\":3}}"},
		 60},
		{{GEMINI, G, "{\"contents\":[],\"maxOutputTokens\":20}"}, 4096},
		/* a name that the server may pass over makes no reply short, and any of them may make it long */
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"n_predict\":1}"}, 4096},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_new_tokens\":1}"}, 4096},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_completion_tokens\":1,\"max_tokens\":null}"}, 4096},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_completion_tokens\":9000}"}, 9000},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":0,\"n_predict\":1}"}, 4096},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":1,\"n_predict\":8}"}, 8},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":1,\"options\":{\"num_predict\":9000}}"}, 9000},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"options\":{\"num_predict\":1,\"max_tokens\":1}}"}, 4096},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":5,\"options\":[]}"}, 5},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":5,\"min_tokens\":0}"}, 5},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":5,\"min_tokens\":9000}"}, 9000},
		{{OPENAI, C, "{\"model\":\"gpt-4o\",\"min_tokens\":5}"}, 4096},
		{{OPENAI, "/v1/completions", "{\"model\":\"gpt-4o\",\"n_predict\":1,\"prompt\":[\"a\",\"b\"]}"}, 8192},
		{{OPENAI, R, "{\"model\":\"gpt-4o\",\"max_tokens\":1}"}, 4096},
		{{OPENAI, R, "{\"model\":\"gpt-4o\",\"max_output_tokens\":16,\"n_predict\":9000}"}, 9000},
		{{OPENAI, R "/compact", "{\"model\":\"gpt-4o\",\"max_output_tokens\":16}"}, 4096},
		{{ANTHROPIC, M, "{\"model\":\"claude-x\",\"max_tokens\":1,\"n_predict\":9000}"}, 9000},
		{{GEMINI, G, "{\"contents\":[],\"generation_config\":{\"max_output_tokens\":20}}"}, 4096},
		{{GEMINI, G,
		  "{\"contents\":[],\"generationConfig\":{\"maxOutputTokens\":20},\"generation_config\":{\"max_output_"
		  "tokens\":30}}"},
		 30},
	};
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i;

	buf_init(&body, 1 << 20);
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		if (judge(v[i].r.provider, v[i].r.target, v[i].r.body, &body, &j, &no) < 0 ||
		    j.output_max != v[i].want) {
			printf("# %s: %llu %s\n", v[i].r.body, (unsigned long long)j.output_max, no.detail);
			CHECK(false);
		}
	}
}

static void models_that_search_by_themselves_are_server_tools(void)
{
	static const char *const names[] = {"gpt-4o-search-preview", "gpt-4o-mini-search-preview-2025-03-11",
					    "gpt-5-search-api", "openai/gpt-4o:online", "x:free:ONLINE"};
	char text[200];
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i;

	buf_init(&body, 1 << 20);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(text, sizeof(text), "{\"model\":\"%s\",\"messages\":[]}", names[i]);
		CHECK(judge(VLLM, C, text, &body, &j, &no) < 0 && no.status == RULING_DENIED && no.hint[0]);
		CHECK(judge(FREE_OPENAI, C, text, &body, &j, &no) == 0);
	}
	CHECK(judge(VLLM, C, "{\"model\":\"my-search-model\",\"messages\":[]}", &body, &j, &no) == 0);
	/* wherever else a model is named */
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(text, sizeof(text),
			       "{\"model\":\"m\",\"x\":[{\"draft_model\":[\"%s\"]}],\"messages\":[]}", names[i]);
		CHECK(judge(VLLM, C, text, &body, &j, &no) < 0 && no.status == RULING_DENIED &&
		      strstr(no.detail, "searches"));
		CHECK(judge(FREE_OPENAI, C, text, &body, &j, &no) == 0);
	}
	CHECK(judge(FREE_OPENAI, C, "{\"model\":\"m\",\"x\":{\"model_id\":\"m@preset/y\"},\"messages\":[]}", &body, &j,
		    &no) < 0);
	CHECK(judge(VLLM, C, "{\"model\":\"m\",\"x\":{\"model_id\":\"my-search-model\"},\"messages\":[]}", &body, &j,
		    &no) == 0);
}

static void each_denied(const struct request *v, size_t n, uint16_t status)
{
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i;

	buf_init(&body, 1 << 20);
	for (i = 0; i < n; i++) {
		int r = judge(v[i].provider, v[i].target, v[i].body, &body, &j, &no);

		if (r == 0 || no.status != status)
			printf("# %s %s: %d %s\n", v[i].target, v[i].body ? v[i].body : "GET", no.status, no.detail);
		CHECK(r < 0 && no.status == status && no.detail[0] && no.hint[0]);
	}
}

#define EACH_DENIED(v, status) each_denied(v, sizeof(v) / sizeof((v)[0]), status)

static void a_number_in_text_asks_for_no_more_than_is_reserved(void)
{
	static const struct request v[] = {
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":8,\"n\":\"100\"}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":\"100000\"}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":[100000]}"},
		{OPENAI, "/v1/completions", "{\"model\":\"gpt-4o\",\"best_of\":\"100\"}"},
		{ANTHROPIC, M, "{\"model\":\"claude-x\",\"max_tokens\":\"5\"}"},
		{GEMINI, G, "{\"contents\":[],\"generationConfig\":{\"candidateCount\":\"8\"}}"},
		{GEMINI, G, "{\"contents\":[],\"generation_config\":{\"candidate_count\":true}}"},
	};
	static const struct request alike[] = {
		{ANTHROPIC, M,
		 "{\"model\":\"claude-x\",\"max_tokens\":8,\"max_to\xe2\x84\xaa"
		 "ens\":100000}"},
		{ANTHROPIC, M, "{\"model\":\"claude-x\",\"max_tokens\":8,\"max_to\\u212aens\":100000}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"max_tokens\":8,\"MAX_TOKENS\":100000}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"N\":100}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"best_o\\u0066\":1,\"be\\u017ft_of\":100}"},
		{GEMINI, G,
		 "{\"contents\":[],\"generationConfig\":{\"maxOutputTokens\":8,\"maxOutputTo\\u212aens\":100000}}"},
	};

	EACH_DENIED(v, RULING_MALFORMED);
	EACH_DENIED(alike, RULING_DENIED);
}

static void no_field_leads_to_another_model_or_server(void)
{
	static const char *const fields[] = {
		"\"fallbacks\":[{\"model\":\"other\"}]",
		"\"fallbacks\":[\"other\"]",
		"\"Fallbacks\":[\"other\"]",
		"\"models\":[\"other\"]",
		"\"modelS\":[\"other\"]",
		"\"context_window_fallbacks\":[{\"a\":[\"b\"]}]",
		"\"preset\":\"p\"",
		"\"route\":\"fallback\"",
		"\"provider\":{\"order\":[\"x\"]}",
		"\"user_config\":{}",
		"\"api_base\":\"https://evil.test\"",
		"\"base_url\":\"https://evil.test\"",
		"\"baseUrl\":\"https://evil.test\"",
		"\"custom_llm_provider\":\"x\"",
		"\"deployment_id\":\"x\"",
		"\"extra_body\":{\"x\":1}",
		"\"whatever\":{\"model\":\"other\"}",
		"\"whatever\":[{\"a\":{\"Model\":\"other\"}}]",
		"\"whatever\":{\"draft_model\":\"other\"}",
		"\"draft_model\":\"other\"",
		"\"context_management\":{\"edits\":[{\"type\":\"compact\",\"model\":\"other\"}]}",
		"\"x\":{\"models\":[\"other\"]}",
		"\"x\":{\"y\":[{\"api_base\":\"https://evil.test\"}]}",
		"\"fastest_response\":true",
		"\"prompt_id\":\"p\"",
		"\"proxy\":\"http://evil.test\"",
		"\"aws_bedrock_runtime_endpoint\":\"https://evil.test\"",
		"\"vertex_location\":\"x\"",
		"\"vertexProject\":\"x\"",
		"\"vertex_credentials\":\"x\"",
		"\"x\":{\"vertex_ai_location\":\"x\"}",
		"\"specific_deployment\":true",
		"\"tags\":[\"x\"]",
		"\"litellm_metadata\":{}",
		"\"lora_path\":\"x\"",
		"\"headers\":{\"a\":\"b\"}",
		"\"success_callback\":[\"x\"]",
		"\"langfuse_host\":\"x\"",
		"\"kv_transfer_params\":{\"remote_host\":\"x\"}",
		"\"bootstrap_host\":\"x\"",
		"\"tensorzero::variant_name\":\"x\"",
		"\"router_settings_override\":{\"fallbacks\":[{\"gpt-4o\":[\"other\"]}]}",
		"\"router_settings_override\":{}",
		"\"model_group_alias\":{\"gpt-4o\":\"other\"}",
		"\"adapter_path\":\"x\"",
		"\"adapters\":\"other\"",
		"\"adapters\":[\"other\"]",
		"\"deployment_name\":\"other\"",
		"\"deploymentName\":\"other\"",
		"\"loras\":[\"x\"]",
		"\"model_alias_map\":{\"gpt-4o\":\"other\"}",
		"\"tensorzero::whatever\":{\"a\":1}",
		"\"TensorZero::internal_dynamic_variant_config\":{\"a\":\"other\"}",
		"\"tensorzero::provider_tools\":[{\"tool\":{\"type\":\"web_search\"}}]",
	};
	static const struct request names[] = {
		{OPENAI, C, "{\"model\":\"gpt-4o@preset/x\"}"},
		{FREE_OPENAI, C, "{\"model\":\"m@preset/x\"}"},
		{FREE_OPENAI, C, "{\"model\":\"@preset/x\"}"},
		{FREE, M, "{\"model\":\"m@PRESET/x\"}"},
		{FREE, M, "{\"model\":\"m\",\"provider\":{}}"},
		{FREE, M, "{\"model\":\"m\",\"fallbacks\":[{\"model\":\"n\"}]}"},
	};
	char text[400];
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i, k;

	buf_init(&body, 1 << 20);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		for (k = 0; k < 2; k++) {
			(void)snprintf(text, sizeof(text), "{\"model\":\"%s\",%s,\"messages\":[]}",
				       k ? "gpt-4o" : "claude-x", fields[i]);
			if (judge(k ? OPENAI : ANTHROPIC, k ? C : M, text, &body, &j, &no) == 0 ||
			    no.status != RULING_DENIED)
				printf("# %s: %d %s\n", text, no.status, no.detail);
			CHECK(no.status == RULING_DENIED && no.hint[0]);
		}
	EACH_DENIED(names, RULING_DENIED);
	/* one that the policy allows, and what only looks like it */
	CHECK(judge(ANTHROPIC, M,
		    "{\"model\":\"claude-x\",\"context_management\":{\"edits\":[{\"type\":\"compact\",\"model\":"
		    "\"claude-y\"}]},\"metadata\":{\"model\":\"mine\"},\"fallbacks\":[]}",
		    &body, &j, &no) == 0);
	CHECK(judge(OPENAI, C,
		    "{\"model\":\"gpt-4o\",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{"
		    "\"properties\":{\"model\":{\"const\":\"T\"},\"models\":{}}}}},\"models\":null,\"reasoning\":{"
		    "\"effort\":\"low\"}}",
		    &body, &j, &no) == 0);
	CHECK(judge(OPENAI, C,
		    "{\"model\":\"gpt-4o\",\"messages\":[],\"tensorzero::episode_id\":\"x\",\"tensorzero::tags\":{"
		    "\"a\":\"b\"},\"exploration_rate\":1,\"modalities\":[\"text\"],\"router\":null,\"adapters\":[]}",
		    &body, &j, &no) == 0);
	CHECK(judge(OPENAI, R,
		    "{\"model\":\"gpt-5\",\"input\":[{\"role\":\"user\",\"content\":\"x\",\"model\":\"T\"}],\"text\":{"
		    "\"format\":{\"type\":\"json_schema\",\"schema\":{\"enum\":[{\"model\":\"T\"}]}}},\"instructions\":"
		    "\"x\"}",
		    &body, &j, &no) == 0);
}

static void one_name_is_one_model(void)
{
	static struct pol_str listed[] = {{.s = "gpt-ok*"}, {.s = "a,b"}};
	static const char *const odd[] = {"gpt-ok,gpt-bad", "gpt-ok|gpt-bad", "gpt-ok;gpt-bad", "gpt-ok,", "gpt-ok(x)",
					  "gpt-ok[x]",      "gpt-ok#x",       "gpt-ok?x",       "gpt-ok!", "gpt-ok{x}"};
	static const char *const real[] = {"gpt-ok", "gpt-ok/claude-3.5-sonnet:beta", "gpt-ok@20250101+x_1", "gpt-ok~",
					   "a,b",    "gpt-ok:us-east-1:123"};
	struct provider *p = &providers[FREE_OPENAI];
	struct provider before = *p;
	char text[200];
	AUTO_BUF body = {0};
	struct judged j;
	struct ruling no;
	size_t i, k;

	buf_init(&body, 1 << 20);
	/* without a list, too: one request would be paid as one and asked of many */
	for (k = 0; k < 2; k++) {
		for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			(void)snprintf(text, sizeof(text), "{\"model\":\"%s\",\"messages\":[]}", odd[i]);
			if (judge(FREE_OPENAI, C, text, &body, &j, &no) == 0)
				printf("# %s\n", text);
			CHECK(no.status == RULING_DENIED && strstr(no.hint, "name one model"));
		}
		p->models = (struct pol_list){listed, 2, true};
	}
	for (i = 0; i < sizeof(real) / sizeof(real[0]); i++) {
		(void)snprintf(text, sizeof(text), "{\"model\":\"%s\",\"messages\":[]}", real[i]);
		CHECK(judge(FREE_OPENAI, C, text, &body, &j, &no) == 0);
	}
	*p = before;
}

#define MEDIA(part) {OPENAI, C, "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":[" part "]}]}"}

static void the_provider_is_not_told_to_fetch_or_search(void)
{
	static const struct request v[] = {
		{OPENAI, C,
		 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"file\",\"file\":{\"file_data\":\"https:"
		 "//evil.test/?stolen=DATA\"}}]}]}"},
		{OPENAI, C,
		 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"file\",\"file\":{\"file_data\":\" "
		 "https://evil.test\"}}]}]}"},
		{OPENAI, C,
		 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"file\",\"file\":{\"fileData\":\"https:/"
		 "/evil.test\"}}]}]}"},
		{OPENAI, C,
		 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"file\",\"file\":{\"file_data\":[\"gs://"
		 "evil\"]}}]}]}"},
		{OPENAI, R,
		 "{\"model\":\"gpt-5\",\"input\":[{\"content\":[{\"type\":\"input_file\",\"file_data\":\"s3://evil/"
		 "x\"}]}]}"},
		{OPENAI, C,
		 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"input_audio\",\"input_audio\":{"
		 "\"data\":\"https://evil.test\"}}]}]}"},
		{OPENAI, C,
		 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"video\",\"video\":[\"AA\",\"https://"
		 "evil.test\"]}]}]}"},
		{OPENAI, C,
		 "{\"model\":\"gpt-4o\",\"messages\":[{\"content\":[{\"type\":\"document_url\",\"document_url\":"
		 "\"https://evil.test\"}]}]}"},
		MEDIA("{\"type\":\"input_audio\",\"input_audio\":\"https://evil.test/a.mp3\"}"),
		MEDIA("{\"type\":\"input_audio\",\"input_audio\":{\"url\":\"https://evil.test/a.mp3\"}}"),
		MEDIA("{\"type\":\"image\",\"url\":\"https://evil.test\"}"),
		MEDIA("{\"type\":\"image\",\"image\":{\"url\":\"https://evil.test\"}}"),
		MEDIA("{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://evil.test\"}}"),
		MEDIA("{\"type\":\"video\",\"url\":\"https://evil.test\"}"),
		MEDIA("{\"type\":\"audio\",\"audio\":{\"url\":\"https://evil.test\"}}"),
		MEDIA("{\"type\":\"file\",\"file\":{\"url\":\"https://evil.test\"}}"),
		MEDIA("{\"type\":\"input_image\",\"image\":{\"uri\":\"gs://evil\"}}"),
		MEDIA("{\"url\":\"https://evil.test\",\"type\":\"input_video\"}"),
		MEDIA("{\"type\":\"image\",\"URL\":\"https://evil.test\"}"),
		MEDIA("{\"type\":\"image\",\"remote_url\":[\"https://evil.test\"]}"),
		MEDIA("{\"type\":\"image\",\"url\":{\"url\":\"https://evil.test\"}}"),
		MEDIA("{\"type\":\"image\",\"a\":[{\"b\":{\"url\":\"https://evil.test\"}}]}"),
		MEDIA("{\"type\":\"media\",\"media\":\"https://evil.test\"}"),
		MEDIA("{\"type\":\"document\",\"document\":\"https://evil.test\"}"),
		MEDIA("{\"type\":\"x\",\"input_file\":\"https://evil.test\"}"),
		MEDIA("{\"type\":\"x\",\"file\":\"https://evil.test\"}"),
		MEDIA("{\"type\":\"x\",\"file\":\"https:\\/\\/evil.test\"}"),
		MEDIA("{\"type\":\"x\",\"file\":[\" gs:\\u002f/evil.test\"]}"),
		MEDIA("{\"type\":\"x\",\"file\":\"\\n\\u0001https://evil.test\"}"),
		MEDIA("{\"type\":\"x\",\"file\":\"ht\\ttps:\\\\evil.test\"}"),
		MEDIA("{\"type\":\"image\",\"image\":\"                                https://evil.test\"}"),
		MEDIA("{\"type\":\"image\",\"image\":\"\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\t\\thttps://evil.test\"}"),
		MEDIA("{\"type\":\"image\",\"image\":{\"src\":\"https://evil.test\"}}"),
		MEDIA("{\"type\":\"image\",\"image\":{\"a\":[{\"path\":\"\\u3000https://evil.test\"}]}}"),
		MEDIA("{\"type\":\"video_frames\",\"frames\":[[\"https://evil.test\"]]}"),
		MEDIA("{\"type\":\"x\",\"image_file\":\"https://evil.test\"}"),
		MEDIA("{\"type\":\"x\",\"attachments\":[{\"where\":\"https://evil.test\"}]}"),
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"provider_tools\":[{\"type\":\"web\"}]}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"builtinTools\":\"web\"}"},
		{ANTHROPIC, M, "{\"model\":\"claude-x\",\"server_tools\":{\"web\":true}}"},
		{ANTHROPIC, M,
		 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":{\"type\":"
		 "\"base64\",\"data\":\"https://evil.test\"}}]}]}"},
		{ANTHROPIC, M,
		 "{\"model\":\"claude-x\",\"messages\":[{\"content\":[{\"type\":\"image\",\"source\":{\"type\":"
		 "\"base64\",\"data\":\"AA\",\"url\":\"https://evil.test\"}}]}]}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"enable_search\":true}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"enableSearch\":true}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"web_search\":true}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"search_parameters\":{}}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"dataSources\":[{}]}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"compound_custom\":{}}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"venice_parameters\":{\"enable_web_search\":\"on\"}}"},
		{OPENAI, C, "{\"model\":\"gpt-4o\",\"connectors\":[{\"id\":\"web-search\"}]}"},
		{ANTHROPIC, M, "{\"model\":\"claude-x\",\"plugins\":[{\"id\":\"web\"}]}"},
		{ANTHROPIC, M, "{\"model\":\"claude-x\",\"web_search_options\":{}}"},
		{ANTHROPIC, M, "{\"model\":\"claude-x\",\"McpServers\":[{}]}"},
		{VLLM, C, "{\"model\":\"m:enable_web_search=on&enable_web_scraping=true\"}"},
		{VLLM, C, "{\"model\":\"m:x=on\"}"},
		{ANTHROPIC, M, "{\"model\":\"claude-x:online\"}"},
	};

	EACH_DENIED(v, RULING_DENIED);
}

static void what_a_list_of_models_takes_passes_nowhere_else(void)
{
	static const struct request v[] = {
		{ANTHROPIC, M "?after_id=x", "{\"model\":\"claude-x\"}"},
		{ANTHROPIC, "/v1/models/claude-x?after_id=x", NULL},
		{ANTHROPIC, "/v1/models?limit=DATA", NULL},
		{ANTHROPIC, "/v1/models?data=DATA", NULL},
		{GEMINI, G "?pageToken=x", "{}"},
		{GEMINI, "/v1beta/models?pageSize=1x", NULL},
	};

	EACH_DENIED(v, RULING_DENIED);
}

static const struct provider of_any_model = {.name = "any"},
			     of_listed_models = {.name = "listed", .models = {NULL, 0, true}};

static void check_headers(const char *const *names, bool passes_any, bool passes_listed)
{
	for (; *names; names++)
		if (headers_drop(&of_any_model, sv_of(*names)) == passes_any ||
		    headers_drop(&of_listed_models, sv_of(*names)) == passes_listed) {
			printf("# %s\n", *names);
			CHECK(false);
		}
}

static void headers_that_choose_another_model_or_server_do_not_pass(void)
{
	static const char *const routers[] = {
		"x-goog-fieldmask", "azureml-model-deployment", "x-ms-model-mesh-model-name", "x-bt-endpoint-name",
		"x-target-url", "x_model", "x.model", "extra-parameters", "x_portkey_config", "x~portkey~config",
		"x-http-method-override", "x-portkey-config", "helicone-target-url", "x-arch-llm-provider-hint",
		"x-prefiller-host-port", "x-prefiller-url", "x-data-parallel-host-port",
		"x-gateway-destination-endpoint", "x-gateway-model-name", "x-gateway-model-name-rewrite",
		"x-ai-eg-model", "x-envoy-original-dst-host", "x-smg-target-worker", "x-tfy-metadata", "x-bf-vk",
		"x-higress-llm-model", "x-vsr-selected-model", "x-aibrix-x", "x-model-override", "x-target-model",
		"x-llm-model", "x-llm-provider", "x-fallback", "x-fallbacks", "x-route", "model", "range",
		"if-none-match", "accept-encoding",
		/* what servers take for the path: endpoints that are not there would be */
		"x-original-url", "x-rewrite-url", "script_name", "path-info", "x-forwarded-prefix", "destination",
		/* and for the host */
		"forwarded", "x-forwarded-host", "x_host", NULL};
	/* of whom nobody has heard yet */
	static const char *const unknown[] = {"x-new-router-choice",
					      "x-selected-worker",
					      "worker",
					      "x-openai-model",
					      "anthropic-model-override",
					      "x-stainless-base-url",
					      "cookie",
					      "baggage",
					      "x-model-request-id",
					      "xrequest-id",
					      "openai-model",
					      "acceptx",
					      "x-accept",
					      NULL};
	/* of libraries and agents */
	static const char *const clients[] = {"accept",
					      "accept-language",
					      "content-type",
					      "user-agent",
					      "idempotency-key",
					      "x-request-id",
					      "x-client-request-id",
					      "x-ms-client-request-id",
					      "request-id",
					      "traceparent",
					      "tracestate",
					      "x-stainless-lang",
					      "x-stainless-retry-count",
					      "x-stainless-helper-method",
					      "x-stainless-read-timeout",
					      "openai-organization",
					      "openai-project",
					      "openai-beta",
					      "anthropic-version",
					      "anthropic-beta",
					      "anthropic-dangerous-direct-browser-access",
					      "x-app",
					      "x-claude-code-session-id",
					      "session_id",
					      "conversation_id",
					      "thread-id",
					      "originator",
					      "version",
					      "chatgpt-account-id",
					      "x-codex-turn-state",
					      "x-goog-api-client",
					      "x-server-timeout",
					      "http-referer",
					      "x-title",
					      "copilot-integration-id",
					      "editor-version",
					      "x-initiator",
					      "sec-fetch-mode",
					      "x-session-id",
					      "x-opencode-session",
					      NULL};

	check_headers(routers, false, false);
	check_headers(unknown, true, false);
	check_headers(clients, true, true);
	CHECK(headers_drop(NULL, sv_of("x-selected-worker")) && !headers_drop(NULL, sv_of("accept")));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(requests_of_real_clients_pass),
		CASE(what_policy_forbids_is_denied),
		CASE(what_cannot_be_judged_is_refused),
		CASE(a_number_in_text_asks_for_no_more_than_is_reserved),
		CASE(no_field_leads_to_another_model_or_server),
		CASE(one_name_is_one_model),
		CASE(the_provider_is_not_told_to_fetch_or_search),
		CASE(what_a_list_of_models_takes_passes_nowhere_else),
		CASE(headers_that_choose_another_model_or_server_do_not_pass),
		CASE(openai_streams_are_asked_for_usage),
		CASE(a_second_judge_agrees_and_changes_nothing),
		CASE(the_first_route_chooses_the_provider),
		CASE(targets_are_the_upstreams_and_without_the_clients_key),
		CASE(only_plain_json_bodies_are_taken),
		CASE(what_a_reply_may_have_is_read_from_the_body),
		CASE(models_that_search_by_themselves_are_server_tools),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
