#include "plan/environ_gate.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "model/gate.h"

#define PROXY "http://127.0.0.1:3128"
#define HERE  "localhost,127.0.0.1,::1"

_Static_assert(GATE_PROXY_PORT == 3128, "PROXY says so too");

/* One proxy for all: SOCKS on the same port is told apart by its first byte, so ALL_PROXY may say either. */
static const struct environ_placeholder network[] = {
	{"HTTP_PROXY", PROXY},
	{"HTTPS_PROXY", PROXY},
	{"ALL_PROXY", PROXY},
	{"NO_PROXY", HERE},
	{"http_proxy", PROXY},
	{"https_proxy", PROXY},
	{"all_proxy", PROXY},
	{"no_proxy", HERE},
	{"NODE_USE_ENV_PROXY", "1"},
	{"SSL_CERT_FILE", GATE_BUNDLE},		       /* OpenSSL, Go, rustls-native-certs, Ruby */
	{"CURL_CA_BUNDLE", GATE_BUNDLE},
	{"REQUESTS_CA_BUNDLE", GATE_BUNDLE},	       /* Python requests */
	{"PIP_CERT", GATE_BUNDLE},
	{"NODE_EXTRA_CA_CERTS", GATE_BUNDLE},
	{"npm_config_cafile", GATE_BUNDLE},
	{"GIT_SSL_CAINFO", GATE_BUNDLE},
	{"CARGO_HTTP_CAINFO", GATE_BUNDLE},
	{"DENO_CERT", GATE_BUNDLE},
	{"AWS_CA_BUNDLE", GATE_BUNDLE},
	{"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", GATE_BUNDLE},
	{"NIX_SSL_CERT_FILE", GATE_BUNDLE},
	{"HEX_CACERTS_PATH", GATE_BUNDLE},
	{"COMPOSER_CAFILE", GATE_BUNDLE},
};

/* The variable that clients of a kind read, and what they expect behind host and port. */
static const struct {
	const char *name, *path;
} base_urls[] = {
	[PROVIDER_ANTHROPIC] = {"ANTHROPIC_BASE_URL", ""},
	[PROVIDER_OPENAI] = {"OPENAI_BASE_URL", "/v1"},
	[PROVIDER_GEMINI] = {"GOOGLE_GEMINI_BASE_URL", ""},
};

static bool is_taken(const struct environ_placeholder *v, int n, const char *name)
{
	while (n-- > 0)
		if (strcmp(v[n].name, name) == 0)
			return true;
	return false;
}

/* Sandboxes of a group find each other by names and addresses that are in /etc/hosts, without a proxy. */
static const char *here(struct arena *arena, const struct image_root *image)
{
	const char *all = HERE, *p;
	size_t i, n;

	for (i = 0; image && image->hosts && image->hosts[i] && all; i++)
		for (p = image->hosts[i]; *p && all; p += n) {
			p += strspn(p, " \t");
			n = strcspn(p, " \t");
			if (n)
				all = arena_printf(arena, "%s,%.*s", all, (int)n, p);
		}
	return all;
}

const char *environ_gate_variable(const struct provider *p)
{
	return p->base_url_env.s ? p->base_url_env.s : base_urls[p->kind.v].name;
}

int environ_gate(struct arena *arena, const struct environ_request *req, struct environ_placeholder *out)
{
	const struct policy *p = req->policy;
	const struct provider *provider;
	const char *name;
	int n = 0;
	uint32_t i;

	for (i = 0; p->net.mode.v != NET_NONE && i < ARRAY_LEN(network); i++) {
		out[n] = network[i];
		if (strcasecmp(network[i].name, "NO_PROXY") == 0)
			out[n].value = here(arena, req->image);
		if (!out[n++].value)
			return -1;
	}
	if (p->net.mode.v != NET_NONE && req->java_option)
		out[n++] = (struct environ_placeholder){"JAVA_TOOL_OPTIONS",
							"-Djavax.net.ssl.trustStore=" GATE_JAVA
							" -Djavax.net.ssl.trustStorePassword=changeit"};
	for (i = 0; i < p->inference.n_providers && n < ENVIRON_GATE_MAX; i++) {
		provider = &p->inference.providers[i];
		name = environ_gate_variable(provider);
		/* the first provider of a kind has the kind's variable; others need a base_url_env of their own */
		if (is_taken(out, n, name))
			continue;
		out[n].name = name;
		out[n].value = arena_printf(arena, "http://127.0.0.1:%u%s", GATE_INFERENCE_PORT + i,
					    base_urls[provider->kind.v].path);
		if (!out[n++].value)
			return -1;
	}
	return n;
}
