#include "gate/relay/first.h"

#include <stdio.h>

enum first_kind first_look(struct sv bytes, struct hello *ret)
{
	if (bytes.n == 0)
		return FIRST_MORE;
	if (bytes.p[0] >= 'A' && bytes.p[0] <= 'Z')
		return FIRST_HTTP;
	switch (hello_parse(bytes, ret)) {
	case HELLO_MORE:
		return FIRST_MORE;
	case HELLO_OK:
		return FIRST_TLS;
	case HELLO_NOT_TLS:
		return FIRST_OTHER;
	case HELLO_BAD:
		break;
	}
	return FIRST_BAD;
}

static const char *address_fault(const struct ruleset *rules, const struct hello *hello, uint16_t port,
				 enum net_way way)
{
	struct net_verdict v;

	if (!hello->name[0])
		return hello->ech ? "the ClientHello hides its name" : NULL;
	if (way == NET_INSPECT)
		return "the ClientHello has a name, and the connection is to an address";
	net_rules_name(rules, sv_of(hello->name), port, &v);
	if (v.allow ? v.way == NET_INSPECT : v.why != WHY_UNLISTED)
		return "the name in the ClientHello is not for a tunnel to an address";
	return NULL;
}

const char *first_name_fault(const struct ruleset *rules, const struct hello *hello, const char *host, bool is_address,
			     uint16_t port, enum net_way way)
{
	if (is_address)
		return address_fault(rules, hello, port, way);
	if (!hello->name[0])
		return "the ClientHello has no server name";
	if (strcmp(hello->name, host) != 0)
		return hello->ech ? "the ClientHello hides its name behind another one"
				  : "the ClientHello names another host";
	return NULL;
}

const char *first_fault_words(const char *fault, const struct hello *hello, char out[FIRST_FAULT])
{
	(void)snprintf(out, FIRST_FAULT, "%s%s%s", fault, hello->name[0] ? ": " : "", hello->name);
	return out;
}
