#include "base/method.h"

#include "base/cleanup.h"

enum { METHOD_MAX = 32 };

/* Those of llhttp, which gives the second opinion on every head of HTTP/1.1; the most usual first. */
static const char *const known[] = {
	"GET",       "POST",        "HEAD",  "PUT",        "DELETE",     "OPTIONS",   "PATCH",  "CONNECT",  "TRACE",
	"COPY",      "LOCK",        "MKCOL", "MOVE",       "PROPFIND",   "PROPPATCH", "SEARCH", "UNLOCK",   "BIND",
	"REBIND",    "UNBIND",      "ACL",   "REPORT",     "MKACTIVITY", "CHECKOUT",  "MERGE",  "M-SEARCH", "NOTIFY",
	"SUBSCRIBE", "UNSUBSCRIBE", "PURGE", "MKCALENDAR", "LINK",       "UNLINK",    "SOURCE",
};

bool method_is_sound(struct sv method)
{
	size_t i;
	char c;

	for (i = 0; i < method.n; i++) {
		c = method.p[i];
		if (!(c >= 'A' && c <= 'Z') && (i == 0 || !(c == '-' || (c >= '0' && c <= '9'))))
			return false;
	}
	return method.n > 0 && method.n <= METHOD_MAX;
}

bool method_is_known(struct sv method)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++)
		if (sv_is(method, known[i]))
			return true;
	return false;
}
