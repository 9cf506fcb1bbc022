/*
 * What libyaml and jansson were compiled to call where glibc checks sizes, for a cordon that is linked with musl, which
 * has no such functions. The sizes are checked here.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

int __vsnprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, va_list ap)
{
	(void)flag;
	if (n > room)
		abort();
	return vsnprintf(to, n, format, ap);
}

int __snprintf_chk(char *to, size_t n, int flag, size_t room, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = __vsnprintf_chk(to, n, flag, room, format, ap);
	va_end(ap);
	return r;
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
	size_t n = room < INT32_MAX ? room : INT32_MAX; /* not known: -1 */
	va_list ap;
	int r;

	(void)flag;
	va_start(ap, format);
	r = vsnprintf(to, n, format, ap);
	va_end(ap);
	if (r >= 0 && (size_t)r >= n)
		abort();
	return r;
}

char *__strncpy_chk(char *to, const char *from, size_t n, size_t room)
{
	if (n > room)
		abort();
	return strncpy(to, from, n);
}
