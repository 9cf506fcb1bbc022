#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

static void escape(struct error *err)
{
	char raw[sizeof(err->text)];
	const char *p = err->text;
	struct buf b = {0};

	while (*p >= 0x20 && *p < 0x7f)
		p++;
	if (!*p)
		return;
	memcpy(raw, err->text, sizeof(raw));
	buf_init(&b, 8 * sizeof(raw));
	text_escape(&b, sv_of(raw), sizeof(raw));
	(void)snprintf(err->text, sizeof(err->text), "%s", b.p && !buf_failed(&b) ? b.p : "");
	buf_done(&b);
}

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
	va_list ap;

	err->kind = kind;
	err->code = 0;
	va_start(ap, format);
	(void)vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	escape(err);
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
	escape(err);
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
	escape(err);
	return -1;
}
