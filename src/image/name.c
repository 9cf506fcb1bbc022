#include "image/name.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char default_host[] = "docker.io", old_host[] = "index.docker.io", default_path[] = "library/",
		  default_tag[] = "latest", sha256[] = "sha256:";

enum { HEX_DIGITS = 64, TAG_MAX = 128 };

static bool is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z');
}

/* strchr() would find the NUL. */
static bool one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

bool image_is_digest(struct sv s)
{
	size_t i;

	if (s.n != strlen(sha256) + HEX_DIGITS || !sv_starts(s, sha256))
		return false;
	for (i = strlen(sha256); i < s.n; i++)
		if (!(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return true;
}

/* Runs of lower-case letters and digits; between them one ".", one or two "_", or any number of "-". */
static bool is_part(struct sv s)
{
	size_t i = 0, from;

	for (;;) {
		for (from = i; i < s.n && is_lower(s.p[i]);)
			i++;
		if (i == from)
			return false;
		if (i == s.n)
			return true;
		from = i;
		while (i < s.n && s.p[i] == s.p[from] && (s.p[i] == '-' || i - from < (s.p[i] == '_' ? 2 : 1)))
			i++;
		if (!one_of(s.p[from], "._-"))
			return false;
	}
}

static bool is_path(struct sv s)
{
	const char *slash;

	while ((slash = memchr(s.p, '/', s.n))) {
		if (!is_part(sv_n(s.p, (size_t)(slash - s.p))))
			return false;
		s = sv_n(slash + 1, s.n - (size_t)(slash + 1 - s.p));
	}
	return is_part(s);
}

/* Labels of letters, digits and inner "-", then perhaps a port. */
static bool is_host(struct sv s)
{
	const char *colon = memchr(s.p, ':', s.n);
	size_t i, n = colon ? (size_t)(colon - s.p) : s.n;

	for (i = 0; i < n; i++) {
		if (is_alnum(s.p[i]))
			continue;
		if (i == 0 || i + 1 == n || !one_of(s.p[i], ".-") || !is_alnum(s.p[i - 1] == '-' ? 'a' : s.p[i - 1]))
			return false;
	}
	for (i = n + 1; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return n > 0 && (!colon || (s.n - n > 1 && s.n - n <= 6));
}

static bool is_tag(struct sv s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && s.p[i] != '_' && (i == 0 || !one_of(s.p[i], ".-")))
			return false;
	return s.n > 0 && s.n <= TAG_MAX;
}

/* The first part is a host where it could be no part of a path: as Docker tells them apart. */
static bool names_host(struct sv first)
{
	size_t i;

	if (sv_is(first, "localhost") || memchr(first.p, '.', first.n) || memchr(first.p, ':', first.n))
		return true;
	for (i = 0; i < first.n; i++)
		if (first.p[i] >= 'A' && first.p[i] <= 'Z')
			return true;
	return false;
}

struct parts {
	struct sv host, path, tag, digest;
};

static void split(struct sv s, struct parts *ret)
{
	const char *at = memchr(s.p, '@', s.n), *slash, *colon;

	*ret = (struct parts){.host = sv_of(default_host), .tag = sv_n("", 0), .digest = sv_n("", 0)};
	if (at) {
		ret->digest = sv_n(at + 1, s.n - (size_t)(at + 1 - s.p));
		s.n = (size_t)(at - s.p);
	}
	slash = memrchr(s.p, '/', s.n);
	colon = memrchr(s.p, ':', s.n);
	if (colon && (!slash || colon > slash)) {
		ret->tag = sv_n(colon + 1, s.n - (size_t)(colon + 1 - s.p));
		s.n = (size_t)(colon - s.p);
		if (!ret->tag.n)
			ret->tag = sv_of("-"); /* no tag at all */
	}
	slash = memchr(s.p, '/', s.n);
	if (slash && names_host(sv_n(s.p, (size_t)(slash - s.p)))) {
		ret->host = sv_n(s.p, (size_t)(slash - s.p));
		s = sv_n(slash + 1, s.n - (size_t)(slash + 1 - s.p));
	}
	ret->path = s;
	if (at && !ret->digest.n)
		ret->digest = sv_of("-");
}

int image_name_canonical(struct sv name, char ret[IMAGE_NAME_MAX + 1], struct error *err)
{
	struct text_shown shown;
	struct parts p;
	const char *wrong = NULL;
	char out[IMAGE_NAME_MAX + 1];
	int n;

	split(name, &p);
	if (sv_is(p.host, old_host))
		p.host = sv_of(default_host);
	if (!name.n)
		wrong = "it is empty";
	else if (!is_path(p.path))
		wrong = "a name is made of lower-case letters and digits, with . _ __ - and / between them";
	else if (!is_host(p.host))
		wrong = "the registry before the first / is no host name";
	else if (p.tag.n && !is_tag(p.tag))
		wrong = "a tag is made of letters, digits, _ . and -, at most 128, and starts with neither . nor -";
	else if (p.digest.n && !image_is_digest(p.digest))
		wrong = "a digest is sha256: and 64 digits from 0 to 9 and a to f";
	if (wrong)
		return error_set(err, ERROR_INPUT, "image name \"%s\": %s", text_show(&shown, name), wrong);
	if (!p.tag.n)
		p.tag = sv_of(default_tag);
	n = snprintf(out, sizeof(out), "%.*s/%s%.*s%c%.*s", (int)p.host.n, p.host.p,
		     sv_is(p.host, default_host) && !memchr(p.path.p, '/', p.path.n) ? default_path : "", (int)p.path.n,
		     p.path.p, p.digest.n ? '@' : ':', (int)(p.digest.n ? p.digest.n : p.tag.n),
		     p.digest.n ? p.digest.p : p.tag.p);
	if (n < 0 || (size_t)n >= sizeof(out))
		return error_set(err, ERROR_INPUT, "image name \"%s\": longer than %d bytes", text_show(&shown, name),
				 IMAGE_NAME_MAX);
	memcpy(ret, out, sizeof(out));
	return 0;
}

void image_name_short(const char *canonical, char ret[IMAGE_NAME_MAX + 1])
{
	const char *p = canonical;
	size_t n = strlen(default_host);

	if (strncmp(p, default_host, n) == 0 && p[n] == '/') {
		p += n + 1;
		n = strlen(default_path);
		if (strncmp(p, default_path, n) == 0 && !strchr(p + n, '/'))
			p += n;
	}
	(void)snprintf(ret, IMAGE_NAME_MAX + 1, "%s", p);
}
