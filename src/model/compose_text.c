#include "model/compose_text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "model/compose.h"

static const char *const limit_names[] = {"as",       "core",   "cpu",   "data", "fsize", "locks",     "memlock",
					  "msgqueue", "nofile", "nproc", "rss",  "stack", "sigpending"};

static const char *const signal_names[] = {"HUP",  "INT",  "QUIT", "ABRT", "KILL", "USR1",  "USR2", "PIPE",
					   "ALRM", "TERM", "CONT", "STOP", "TSTP", "WINCH", "PWR"};

static bool is_one_of(struct sv s, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sv_is(s, names[i]))
			return true;
	return false;
}

static bool is_clean(const char *s, bool lines)
{
	struct sv rest = sv_of(s);
	size_t n;

	if (rest.n == 0 || rest.n > COMPOSE_TEXT_MAX)
		return false;
	for (; rest.n; rest = sv_n(rest.p + n, rest.n - n)) {
		const unsigned char *p = (const unsigned char *)rest.p;

		n = text_utf8(rest);
		if (n == 0 || p[0] == 0x7f || (p[0] < 0x20 && !(lines && (p[0] == '\t' || p[0] == '\n'))))
			return false;
		/* What some parsers of YAML take for the end of a line, and others not. */
		if ((n == 2 && p[0] == 0xc2 && p[1] < 0xa0) ||
		    (n == 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9)))
			return false;
	}
	return true;
}

bool compose_is_text(const char *s)
{
	return is_clean(s, true);
}

bool compose_is_line(const char *s)
{
	return is_clean(s, false);
}

/* ASCII only: what looks like a letter and is none could name a thing twice. */
static bool is_made_of(struct sv s, const char *others, size_t max)
{
	size_t i;

	if (s.n == 0 || s.n > max)
		return false;
	for (i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !(s.p[i] && strchr(others, s.p[i])))
			return false;
	return true;
}

bool compose_is_name(const char *s)
{
	return is_made_of(sv_of(s), "._-", 63) && isalnum((unsigned char)s[0]);
}

bool compose_is_host(const char *s)
{
	return is_made_of(sv_of(s), "._-", 253) && isalnum((unsigned char)s[0]) && !strstr(s, "..") &&
	       !sv_ends(sv_of(s), ".");
}

bool compose_is_variable(const char *s)
{
	return is_made_of(sv_of(s), "_", 256) && !isdigit((unsigned char)s[0]);
}

static bool is_digest(struct sv s)
{
	size_t i;

	if (!sv_starts(s, "sha256:") || s.n != 7 + 64)
		return false;
	for (i = 7; i < s.n; i++)
		if (!strchr("0123456789abcdef", s.p[i]))
			return false;
	return true;
}

static bool is_lower(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (isupper((unsigned char)s.p[i]))
			return false;
	return true;
}

/* One part of an image's name between slashes. The first may be a host with a port. */
static bool is_image_part(struct sv s, bool host)
{
	const char *colon = host ? memchr(s.p, ':', s.n) : NULL;
	struct sv name = colon ? sv_n(s.p, (size_t)(colon - s.p)) : s;
	struct sv port = colon ? sv_n(colon + 1, s.n - name.n - 1) : sv_of("1");
	size_t i;

	if (!is_made_of(name, "._-", 128) || !isalnum((unsigned char)name.p[0]) ||
	    !isalnum((unsigned char)name.p[name.n - 1]))
		return false;
	if (memmem(name.p, name.n, "..", 2) || port.n == 0 || port.n > 5)
		return false;
	for (i = 0; i < port.n; i++)
		if (!isdigit((unsigned char)port.p[i]))
			return false;
	return host || is_lower(name);
}

bool compose_is_image(const char *s)
{
	struct sv rest = sv_of(s);
	const char *at = memchr(rest.p, '@', rest.n), *slash, *colon;
	bool first = true;

	if (rest.n > 512 || (at && !is_digest(sv_n(at + 1, rest.n - (size_t)(at - s) - 1))))
		return false;
	if (at)
		rest.n = (size_t)(at - s);
	for (; (slash = memchr(rest.p, '/', rest.n)) != NULL; first = false) {
		if (!is_image_part(sv_n(rest.p, (size_t)(slash - rest.p)), first))
			return false;
		rest = sv_n(slash + 1, rest.n - (size_t)(slash - rest.p) - 1);
	}
	colon = memchr(rest.p, ':', rest.n);
	if (colon) {
		struct sv tag = sv_n(colon + 1, rest.n - (size_t)(colon - rest.p) - 1);

		if (!is_made_of(tag, "._-", 128) || tag.p[0] == '.' || tag.p[0] == '-')
			return false;
		rest.n = (size_t)(colon - rest.p);
	}
	return is_image_part(rest, false);
}

/* Every part of a path without its leading slash is there and is a name. */
static bool is_canonical(const char *s)
{
	for (;;) {
		size_t n = strcspn(s, "/");

		if (n == 0 || n > 255 || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		if (!s[n])
			return true;
		s += n + 1;
	}
}

bool compose_is_inside(const char *s)
{
	if (strcmp(s, ".") == 0)
		return true;
	return compose_is_line(s) && strlen(s) < 4096 && s[0] != '~' && !strchr(s, '\\') && is_canonical(s);
}

bool compose_is_folder(const char *s)
{
	return compose_is_line(s) && strlen(s) < 4096 && s[0] == '/' && (!s[1] || is_canonical(s + 1));
}

bool compose_is_target(const char *s)
{
	static const char *const ours[] = {"/proc", "/sys", "/dev", "/run/cordon", "/etc/hosts"};
	size_t i;

	/* A colon would be another field to who reads the short form. */
	if (!compose_is_folder(s) || !s[1] || strchr(s, ':'))
		return false;
	if (path_is_in(s, "/dev/shm"))
		return true;
	for (i = 0; i < ARRAY_LEN(ours); i++)
		if (path_is_in(s, ours[i]))
			return false;
	return true;
}

bool compose_is_loopback(const char *s)
{
	struct in_addr v4;

	return strcmp(s, "::1") == 0 || (inet_pton(AF_INET, s, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}

bool compose_is_port(const char *s)
{
	unsigned port = 0;
	size_t n = strspn(s, "0123456789"), i;

	if (n == 0 || n > 5 || s[0] == '0')
		return false;
	for (i = 0; i < n; i++)
		port = port * 10 + (unsigned)(s[i] - '0');
	return port <= 65535 && (strcmp(s + n, "/tcp") == 0 || strcmp(s + n, "/udp") == 0);
}

bool compose_is_user(const char *s)
{
	struct sv user = sv_n(s, strcspn(s, ":"));
	struct sv group = s[user.n] ? sv_of(s + user.n + 1) : sv_of("0");

	return is_made_of(user, "._-", 64) && user.p[0] != '-' && is_made_of(group, "._-", 64) && group.p[0] != '-';
}

bool compose_is_platform(const char *s)
{
	return sv_starts(sv_of(s), "linux/") && is_made_of(sv_of(s + 6), "/_", 32) && is_canonical(s + 6);
}

bool compose_is_capability(const char *s)
{
	size_t i;

	for (i = 0; s[i]; i++)
		if (!isupper((unsigned char)s[i]) && s[i] != '_')
			return false;
	return i > 0 && i < 32 && !sv_starts(sv_of(s), "CAP_");
}

bool compose_is_limit(const char *s)
{
	return is_one_of(sv_of(s), limit_names, ARRAY_LEN(limit_names));
}

bool compose_is_signal(const char *s)
{
	struct sv name = sv_of(s);

	if (sv_starts(name, "SIG"))
		name = sv_n(s + 3, name.n - 3);
	else if (name.n > 0 && name.n <= 2 && strspn(s, "0123456789") == name.n)
		return s[0] != '0' && (name.n == 1 || (s[0] - '0') * 10 + (s[1] - '0') <= 64);
	return is_one_of(name, signal_names, ARRAY_LEN(signal_names));
}
