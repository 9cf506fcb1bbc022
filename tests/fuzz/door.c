/*
 * The door's header: what is taken has exactly one encoding, and asks for nothing that its kind does not have.
 */
#include "base/door.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	unsigned char in[DOOR_HEADER] = {0}, out[DOOR_HEADER];
	struct door_header h;

	memcpy(in, bytes, n < DOOR_HEADER ? n : DOOR_HEADER);
	if (door_get(in, &h) < 0)
		return 0;
	door_put(&h, out);
	if (memcmp(in, out, DOOR_HEADER) != 0)
		abort();
	if ((h.kind == DOOR_TRANSPARENT) != (h.family != 0) || (h.family != 0) != (h.port != 0) ||
	    (h.provider && h.kind != DOOR_INFERENCE))
		abort();
	return 0;
}
