#include "gate/egress/websocket.h"

#include <errno.h>
#include <openssl/evp.h>
#include <sys/random.h>

#include "base/coding.h"

enum { SHA1 = 20, NONCE = 16, KEY_MAX = 128 /* 24, but for clients that take it easy */ };

/* The value of the only field of that name; else n == 0. */
static struct sv only(const struct http_fields *f, const char *name)
{
	struct sv value = sv_n("", 0);
	uint32_t i, n = 0;

	for (i = 0; i < f->n; i++)
		if (sv_is(f->v[i].name, name)) {
			value = f->v[i].value;
			n++;
		}
	return n == 1 ? value : sv_n("", 0);
}

int websocket_make_key(char ret[WEBSOCKET_KEY])
{
	char nonce[NONCE];
	ssize_t n = getrandom(nonce, sizeof(nonce), 0);

	if (n != (ssize_t)sizeof(nonce))
		return n < 0 ? -errno : -EIO;
	base64_put(sv_n(nonce, sizeof(nonce)), base64_standard, ret);
	return 0;
}

void websocket_expect(const struct http_fields *request, char ret[WEBSOCKET_ACCEPT])
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	struct sv key = only(request, "sec-websocket-key");
	unsigned char text[KEY_MAX + sizeof(guid)], digest[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	ret[0] = '\0';
	if (key.n == 0 || key.n > KEY_MAX)
		return;
	memcpy(text, key.p, key.n);
	memcpy(text + key.n, guid, sizeof(guid));
	if (EVP_Digest(text, key.n + sizeof(guid) - 1, digest, &n, EVP_sha1(), NULL) != 1 || n != SHA1)
		return;
	base64_put(sv_n((const char *)digest, SHA1), base64_standard, ret);
	ret[WEBSOCKET_ACCEPT - 1] = '\0';
}

bool websocket_is_accepted(const struct http_fields *response, const char *expected)
{
	return expected[0] && sv_is(only(response, "sec-websocket-accept"), expected);
}
