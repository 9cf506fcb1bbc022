#include "http/message.h"

const struct sv *http_field(const struct http_fields *f, const char *name)
{
	uint32_t i;

	for (i = 0; i < f->n; i++)
		if (sv_is(f->v[i].name, name))
			return &f->v[i].value;
	return NULL;
}
