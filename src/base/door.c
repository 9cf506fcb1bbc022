#include "base/door.h"

#include <errno.h>
#include <string.h>

/* No protocol that a client speaks first begins like this. */
static const unsigned char magic[4] = {0xc0, 'D', 'o', 'r'};

enum { AT_VERSION = 4, AT_KIND = 5, AT_FAMILY = 6, AT_PROVIDER = 8, AT_PORT = 12, AT_ADDRESS = 16 };

void door_put(const struct door_header *h, unsigned char out[DOOR_HEADER])
{
	memset(out, 0, DOOR_HEADER);
	memcpy(out, magic, sizeof(magic));
	out[AT_VERSION] = DOOR_VERSION;
	out[AT_KIND] = (unsigned char)h->kind;
	out[AT_FAMILY] = h->family;
	out[AT_PROVIDER] = (unsigned char)(h->provider >> 24);
	out[AT_PROVIDER + 1] = (unsigned char)(h->provider >> 16);
	out[AT_PROVIDER + 2] = (unsigned char)(h->provider >> 8);
	out[AT_PROVIDER + 3] = (unsigned char)h->provider;
	out[AT_PORT] = (unsigned char)(h->port >> 8);
	out[AT_PORT + 1] = (unsigned char)h->port;
	memcpy(out + AT_ADDRESS, h->address, h->family == 6 ? 16 : h->family == 4 ? 4 : 0);
}

static int is_sound(const struct door_header *h)
{
	if (h->kind < DOOR_PROXY || h->kind > DOOR_INFERENCE || (h->provider && h->kind != DOOR_INFERENCE))
		return 0;
	if (h->kind == DOOR_TRANSPARENT)
		return (h->family == 4 || h->family == 6) && h->port;
	return h->family == 0 && h->port == 0;
}

int door_get(const unsigned char in[DOOR_HEADER], struct door_header *ret)
{
	unsigned char again[DOOR_HEADER];
	struct door_header h = {
		.kind = (enum door_kind)in[AT_KIND],
		.family = in[AT_FAMILY],
		.provider = (uint32_t)in[AT_PROVIDER] << 24 | (uint32_t)in[AT_PROVIDER + 1] << 16 |
			    (uint32_t)in[AT_PROVIDER + 2] << 8 | in[AT_PROVIDER + 3],
		.port = (uint16_t)(in[AT_PORT] << 8 | in[AT_PORT + 1]),
	};

	if (!is_sound(&h))
		return -EBADMSG;
	memcpy(h.address, in + AT_ADDRESS, h.family == 6 ? 16 : h.family == 4 ? 4 : 0);
	/* Magic, version and all that must be zero: whatever we would not have written so. */
	door_put(&h, again);
	if (memcmp(again, in, DOOR_HEADER) != 0)
		return -EBADMSG;
	*ret = h;
	return 0;
}
