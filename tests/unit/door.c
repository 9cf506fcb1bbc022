#include "base/door.h"

#include <errno.h>

#include "base/cleanup.h"
#include "check.h"

static const struct door_header good[] = {
	{.kind = DOOR_PROXY},
	{.kind = DOOR_TRANSPARENT, .family = 4, .port = 443, .address = {198, 18, 0, 1}},
	{.kind = DOOR_TRANSPARENT, .family = 6, .port = 65535, .address = {0x20, 1, 0xd, 0xb8, [15] = 9}},
	{.kind = DOOR_DNS},
	{.kind = DOOR_DNS_DATAGRAMS},
	{.kind = DOOR_INFERENCE},
	{.kind = DOOR_INFERENCE, .provider = 0x01020304},
};

static void what_was_put_is_got(void)
{
	unsigned char bytes[DOOR_HEADER];
	struct door_header h;
	size_t i;

	for (i = 0; i < ARRAY_LEN(good); i++) {
		door_put(&good[i], bytes);
		CHECK(door_get(bytes, &h) == 0 && h.kind == good[i].kind && h.provider == good[i].provider &&
		      h.family == good[i].family);
		CHECK(h.port == good[i].port && memcmp(h.address, good[i].address, 16) == 0);
	}
}

/* The header of the first kind has no room for anything: each of its 256 bits but the kind's must be as it is. */
static void a_bit_that_means_nothing_is_refused(void)
{
	unsigned char bytes[DOOR_HEADER];
	struct door_header h;
	size_t bit;

	for (bit = 0; bit < 8 * DOOR_HEADER; bit++) {
		door_put(&good[0], bytes);
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		if (bit / 8 != 5)
			CHECK(door_get(bytes, &h) == -EBADMSG);
	}
}

static void kinds_have_what_is_theirs_and_no_more(void)
{
	static const struct door_header bad[] = {
		{.kind = 0},
		{.kind = DOOR_INFERENCE + 1},
		{.kind = 255},
		{.kind = DOOR_TRANSPARENT},
		{.kind = DOOR_TRANSPARENT, .family = 4},
		{.kind = DOOR_TRANSPARENT, .port = 1},
		{.kind = DOOR_TRANSPARENT, .family = 5, .port = 1},
		{.kind = DOOR_TRANSPARENT, .family = 4, .port = 1, .provider = 1},
		{.kind = DOOR_PROXY, .provider = 1},
		{.kind = DOOR_PROXY, .family = 4, .port = 1},
		{.kind = DOOR_DNS, .port = 53},
		{.kind = DOOR_INFERENCE, .family = 6},
	};
	unsigned char bytes[DOOR_HEADER];
	struct door_header h;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		door_put(&bad[i], bytes);
		CHECK(door_get(bytes, &h) == -EBADMSG);
	}
	/* an IPv4 address is four bytes */
	door_put(&good[1], bytes);
	bytes[20] = 1;
	CHECK(door_get(bytes, &h) == -EBADMSG);
}

static const struct check_case cases[] = {
	CASE(what_was_put_is_got),
	CASE(a_bit_that_means_nothing_is_refused),
	CASE(kinds_have_what_is_theirs_and_no_more),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
