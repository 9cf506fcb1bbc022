#include "http/message.h"

#include <strings.h>

#include "base/cleanup.h"

const char http_needless_body[] =
	"this method has no body: a server that leaves it unread takes it for what comes next; send it by POST";

bool http_method_has_body(struct sv method)
{
	static const char *const without[] = {"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(without); i++)
		if (method.n == strlen(without[i]) && strncasecmp(method.p, without[i], method.n) == 0)
			return false;
	return true;
}

const struct sv *http_field(const struct http_fields *f, const char *name)
{
	uint32_t i;

	for (i = 0; i < f->n; i++)
		if (sv_is(f->v[i].name, name))
			return &f->v[i].value;
	return NULL;
}
