#include "cli/launch_learn.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"

/* The target is not the end of its text: what follows is somebody else's. */
static void denied(struct learn *l, const char *text, size_t n)
{
	const struct event_field target = {.key = "target", .value = {text, n}};

	learn_denied(l, &(struct event){.kind = EVENT_DENIAL,
					.domain = DOMAIN_NETWORK,
					.verdict = "deny",
					.fields = &target,
					.n_fields = 1});
}

static void written(const struct learn *l, const struct policy *policy, struct buf *out)
{
	char folder[] = "/tmp/cordon-test-XXXXXX", path[64];
	const struct call call = {0};
	struct place place;
	struct error err;

	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(path, sizeof(path), "%s/learned.yaml", folder);
	CHECK(place_open(path, &place) == 0 && learn_write(l, &call, policy, &place, &err) == 0);
	place_done(&place);
	buf_init(out, 1 << 20);
	CHECK(buf_read_file(out, path) == 0);
	(void)unlink(path);
	(void)rmdir(folder);
}

static void a_port_is_learned_as_it_was_asked_for(void)
{
	struct learn *l = learn_new();
	const struct policy policy = {0};
	AUTO_BUF out = {0};

	CHECK(l != NULL);
	denied(l, "x.y:4430", 7);
	denied(l, "a.b:80800", 8);
	denied(l, "GET http://c.d:80801", 19);
	written(l, &policy, &out);
	CHECK(strstr(out.p, "host: \"x.y\"  # refused 1 time\n      ports: [443]\n"));
	CHECK(strstr(out.p, "host: \"a.b\"  # refused 1 time\n      ports: [8080]\n"));
	CHECK(strstr(out.p, "ports: [8080]\n      methods: [GET]\n"));
	learn_free(l);
}

static void what_a_rule_refused_by_its_body_is_no_rule_without_one(void)
{
	struct pol_str tools[] = {{.s = "safe"}};
	struct net_rule rules[] = {{.host = "tools.test", .credential = {.s = "key"}, .mcp.tools = {tools, 1, true}}};
	const struct policy policy = {.net.allow = {.v = rules, .n = 1}};
	struct learn *l = learn_new();
	AUTO_BUF out = {0};

	CHECK(l != NULL);
	denied(l, "POST https://tools.test/mcp", 27);
	denied(l, "tools.test:8443", 15);
	denied(l, "POST https://other.test/x", 25);
	written(l, &policy, &out);
	CHECK(!strstr(out.p, "host: \"tools.test\"") && !strstr(out.p, "credential"));
	CHECK(strstr(out.p, "#   network: POST tools.test, port 443, /mcp: a rule for this host looks into bodies"));
	CHECK(strstr(out.p, "host: \"other.test\""));
	learn_free(l);
}

static void model_denied(struct learn *l, const char *target, const char *rule)
{
	const struct event_field field = {.key = "target", .value = sv_of(target)};

	learn_denied(l, &(struct event){.kind = EVENT_DENIAL,
					.domain = DOMAIN_INFERENCE,
					.verdict = "deny",
					.rule = rule,
					.message = "why",
					.fields = &field,
					.n_fields = 1});
}

static void a_model_is_added_to_the_list_of_its_provider(void)
{
	struct provider providers[] = {{.name = "openai"}, {.name = "local"}, {.name = "quiet"}};
	const struct policy policy = {.inference = {.providers = providers, .n_providers = ARRAY_LEN(providers)}};
	struct learn *l = learn_new();
	AUTO_BUF out = {0};

	CHECK(l != NULL);
	model_denied(l, "POST /v1/responses", "inference.providers openai model gpt-9");
	model_denied(l, "POST /v1/chat/completions", "inference.providers local model a/b:c");
	model_denied(l, "POST /v1/chat/completions", "inference.providers openai model gpt-9");
	model_denied(l, "POST /v1/chat/completions", "inference.providers openai model o1");
	/* what no list of a provider opens */
	model_denied(l, "POST /v1/chat/completions", "inference.providers gone model x");
	model_denied(l, "POST /v1/chat/completions", "inference.providers openai model gpt-*");
	model_denied(l, "POST /v1/files", "inference.providers openai");
	written(l, &policy, &out);
	CHECK(strstr(out.p, "inference:\n  providers:\n    \"openai\":\n      models:\n        - \"gpt-9\"  # refused "
			    "2 times\n        - \"o1\"  # refused 1 time\n"
			    "    \"local\":\n      models:\n        - \"a/b:c\"  # refused 1 time\n\n# Also refused"));
	CHECK(!strstr(out.p, "quiet") && !strstr(out.p, "\"gpt-*\""));
	CHECK(strstr(out.p, "#   inference: model x of provider gone (1)\n"));
	CHECK(strstr(out.p, "#   inference: POST /v1/files, by inference.providers openai: why (1)\n"));
	learn_free(l);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_port_is_learned_as_it_was_asked_for),
		CASE(what_a_rule_refused_by_its_body_is_no_rule_without_one),
		CASE(a_model_is_added_to_the_list_of_its_provider),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
