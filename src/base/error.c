#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	va_list ap;

	err->kind = kind;
	err->code = 0;
	va_start(ap, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return -1;
}

int error_sys(struct error *err, int code, const char *format, ...)
{
	va_list ap;
	size_t n;

	err->kind = ERROR_SYSTEM;
	err->code = code < 0 ? -code : code;
	va_start(ap, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	n = strlen(err->text);
	(void)snprintf(err->text + n, sizeof(err->text) - n, ": %s", strerror(err->code));
	return -1;
}

int error_prefix(struct error *err, const char *format, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t n;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	n = strlen(err->text);
	(void)snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	return -1;
}
