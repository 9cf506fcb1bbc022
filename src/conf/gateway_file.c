#include "conf/gateway_file.h"

#include <arpa/inet.h>

#include "base/cleanup.h"
#include "conf/reader.h"
#include "conf/value_net.h"

static const char *value_address(struct arena *a, struct sv s, const char **ret)
{
	const char *canonical;
	unsigned char bytes[16];

	if (value_host_exact(a, s, &canonical) ||
	    (inet_pton(AF_INET, canonical, bytes) != 1 && inet_pton(AF_INET6, canonical, bytes) != 1))
		return "is not an IP address; write one such as 127.0.0.1 or ::1";
	*ret = canonical;
	return NULL;
}

static const char *value_absolute(struct arena *a, struct sv s, const char **ret)
{
	if (!sv_starts(s, "/") && !sv_starts(s, "~/"))
		return "is relative, and to what would be a guess; write it from / or from ~/";
	return value_path(a, s, ret);
}

static const char *value_proxy(struct arena *a, struct sv s, const char **ret)
{
	struct sv name, port;
	const char *url;

	if (sv_starts(s, "https://"))
		return "is a proxy that is itself spoken to by TLS, which is not supported; write http://HOST:PORT of "
		       "its plain port (what goes through is encrypted as ever)";
	if (s.n && memchr(s.p, '@', s.n))
		return "has a name or a password, which the gateway does not send to a proxy; write http://HOST:PORT "
		       "of one that asks for none";
	if (value_url(a, s, &url) || strchr(strstr(url, "://") + 3, '/') ||
	    !value_split_port(sv_of(strstr(url, "://") + 3), &name, &port) || !port.n)
		return "is not a proxy's URL; write http://HOST:PORT";
	*ret = url;
	return NULL;
}

static int read_answer(struct reader *r, const struct ynode *key, struct gateway_answer *answer)
{
	static const struct reader_text text_address = {value_address, true};
	struct pol_list list = {0};
	uint32_t i;

	if (reader_string(r, key, value_host_exact, &answer->host) < 0)
		return -1;
	reader_enter(r, key->text);
	if (reader_list(r, key->value, &list, &text_address) < 0)
		return -1;
	answer->addresses = arena_array(r->arena, list.n, sizeof(*answer->addresses));
	if (!answer->addresses)
		return reader_no_memory(r);
	for (i = 0; i < list.n; i++)
		answer->addresses[answer->n++] = list.v[i].s;
	reader_leave(r);
	return 0;
}

static int read_resolve(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct gateway_conf *c = to;
	const struct ynode *k;

	(void)arg;
	if (reader_want(r, n, YNODE_MAP) < 0)
		return -1;
	c->resolve = arena_array(r->arena, (size_t)n->n + 1, sizeof(*c->resolve));
	if (!c->resolve)
		return reader_no_memory(r);
	for (k = n->first; k; k = k->next) {
		struct gateway_answer *answer = &c->resolve[c->n_resolve];

		if (read_answer(r, k, answer) < 0)
			return -1;
		/* The same name in another case: the tree's own check compares bytes. */
		if (gateway_answer_for(c, sv_of(answer->host)))
			return reader_fail_value(r, k, "stands twice; put all addresses into one list");
		c->n_resolve++;
	}
	return 0;
}

static int read_text(struct reader *r, const struct ynode *n, void *to, const void *arg)
{
	const struct reader_text *type = arg;

	return reader_string(r, n, type->check, to);
}

static const struct reader_text text_absolute = {value_absolute, false};
static const struct reader_text text_proxy = {value_proxy, false};

static const struct reader_key root_keys[] = {
	{"version", reader_version, 0, NULL},
	{"resolve", read_resolve, 0, NULL},
	{"ca_file", read_text, offsetof(struct gateway_conf, ca_file), &text_absolute},
	{"upstream_proxy", read_text, offsetof(struct gateway_conf, upstream_proxy), &text_proxy},
	{NULL, NULL, 0, NULL},
};

int gateway_parse(const char *name, struct sv bytes, struct gateway_conf **ret, struct error *err)
{
	struct arena *a = arena_new();
	struct gateway_conf *c = a ? arena_alloc(a, sizeof(*c)) : NULL;
	struct reader r = {.arena = a, .name = name, .err = err};

	if (!c) {
		arena_free(a);
		return reader_no_memory(&r);
	}
	c->arena = a;
	if (reader_parse(&r, bytes, c, root_keys) < 0) {
		arena_free(a);
		return -1;
	}
	*ret = c;
	return 0;
}

void gateway_conf_free(struct gateway_conf *c)
{
	if (c)
		arena_free(c->arena);
}

const struct gateway_answer *gateway_answer_for(const struct gateway_conf *c, struct sv host)
{
	uint32_t i;

	for (i = 0; i < c->n_resolve; i++)
		if (sv_is(host, c->resolve[i].host))
			return &c->resolve[i];
	return NULL;
}
