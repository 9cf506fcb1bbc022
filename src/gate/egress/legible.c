#include "gate/egress/legible.h"

#include "base/cleanup.h"
#include "http/fields.h"

enum { MESSAGE_HEAD = 5, MESSAGE_COMPRESSED = 1 }; /* one byte of flags, four of length */

bool legible_codings(const struct http_fields *f)
{
	static const char *const names[] = {"grpc-encoding", "connect-content-encoding"};
	uint32_t i;
	size_t k;

	for (i = 0; i < f->n; i++)
		for (k = 0; k < ARRAY_LEN(names); k++)
			if (http_name_is(f->v[i].name, names[k]) && !http_eq_nocase(f->v[i].value, "identity"))
				return false;
	return true;
}

static bool starts_nocase(struct sv s, const char *lower_case)
{
	size_t n = strlen(lower_case);

	return s.n >= n && http_eq_nocase(sv_n(s.p, n), lower_case);
}

bool legible_has_messages(const struct http_fields *f)
{
	const struct sv *type = http_field(f, "content-type");

	if (!type || starts_nocase(*type, "application/grpc-web-text")) /* base64, which the scrubber reads */
		return false;
	return starts_nocase(*type, "application/grpc") || starts_nocase(*type, "application/connect+");
}

bool legible_messages_feed(struct legible_messages *m, struct sv bytes)
{
	size_t i = 0, n;

	while (i < bytes.n) {
		if (m->n == MESSAGE_HEAD) {
			n = bytes.n - i < m->left ? bytes.n - i : m->left;
			m->left -= (uint32_t)n;
			i += n;
			m->n = m->left ? MESSAGE_HEAD : 0;
			continue;
		}
		if (m->n == 0 && (bytes.p[i] & MESSAGE_COMPRESSED))
			return false;
		m->left = m->n ? m->left << 8 | (unsigned char)bytes.p[i] : 0;
		m->n++;
		i++;
	}
	return true;
}
