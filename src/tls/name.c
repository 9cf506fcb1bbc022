#include "tls/name.h"

#include <arpa/inet.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_label(struct sv s)
{
	size_t i;

	if (s.n == 0 || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-')
		return false;
	for (i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && !(s.p[i] >= 'a' && s.p[i] <= 'z') && s.p[i] != '-' && s.p[i] != '_')
			return false;
	return true;
}

/* Decimal, octal or hexadecimal, as inet_aton() would read it. */
static bool is_number(struct sv s)
{
	bool hex = sv_starts(s, "0x");
	size_t i;

	for (i = hex ? 2 : 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && !(hex && s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return true;
}

bool name_is_host(struct sv s)
{
	struct sv label = {s.p, 0};
	size_t i;

	if (s.n == 0 || s.n > NAME_MAX_BYTES)
		return false;
	for (i = 0; i <= s.n; i++) {
		if (i < s.n && s.p[i] != '.')
			continue;
		label.n = (size_t)(s.p + i - label.p);
		if (!is_label(label))
			return false;
		if (i < s.n)
			label.p = s.p + i + 1;
	}
	return !is_number(label);
}

int name_address(struct sv s, unsigned char out[16])
{
	char text[INET6_ADDRSTRLEN];

	if (s.n == 0 || s.n >= sizeof(text) || memchr(s.p, 0, s.n))
		return 0;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	if (inet_pton(AF_INET, text, out) == 1)
		return 4;
	return inet_pton(AF_INET6, text, out) == 1 ? 16 : 0;
}
