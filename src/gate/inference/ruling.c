#include "gate/inference/ruling.h"

#include <stdarg.h>
#include <stdio.h>

int ruling_set(struct ruling *r, uint16_t status, const char *hint, const char *format, ...)
{
	va_list ap;

	r->status = status;
	r->provider[0] = r->model[0] = '\0';
	(void)snprintf(r->hint, sizeof(r->hint), "%s", hint);
	va_start(ap, format);
	(void)vsnprintf(r->detail, sizeof(r->detail), format, ap);
	va_end(ap);
	return -1;
}
