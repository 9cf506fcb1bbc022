/*
 * The decoders of model/gate.h: the first byte chooses one, the rest is a message. Whatever decodes encodes to the same
 * bytes again, so that nothing means two things and nothing is passed over; and it keeps to the limits that the header
 * names.
 */
#include "model/gate.h"

#include <stdlib.h>

#include "fuzz.h"
#include "wire/wire.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int relay_setup(struct sv body, struct buf *again)
{
	struct gate_relay_setup s;
	uint32_t i;

	if (gate_get_relay_setup(body, &s) < 0)
		return -1;
	must(s.n_listeners <= GATE_MAX_LISTENERS && s.n_placeholders <= GATE_MAX_PLACEHOLDERS);
	for (i = 0; i < s.n_listeners; i++)
		must(s.listeners[i].kind < GATE_LISTEN_KINDS);
	gate_put_relay_setup(again, &s);
	return 0;
}

static int egress_setup(struct sv body, struct buf *again)
{
	struct gate_egress_setup s;

	if (gate_get_egress_setup(body, &s) < 0)
		return -1;
	must(s.n_pins <= GATE_MAX_PINS);
	gate_put_egress_setup(again, &s);
	return 0;
}

static int event(struct sv body, struct buf *again)
{
	struct gate_event e;

	if (gate_get_event(body, &e) < 0)
		return -1;
	must(e.verdict <= 1 && e.count >= 1);
	gate_put_event(again, &e);
	return 0;
}

static int usage(struct sv body, struct buf *again)
{
	struct gate_usage u;

	if (gate_get_usage(body, &u) < 0)
		return -1;
	must(u.n_models <= sizeof(u.models) / sizeof(u.models[0]));
	gate_put_usage(again, &u);
	return 0;
}

static int tunnel(struct sv body, struct buf *again)
{
	struct gate_tunnel t;

	if (gate_get_tunnel(body, &t) < 0)
		return -1;
	must(t.port >= 1 && t.port <= 65535 && t.host.n);
	gate_put_tunnel(again, &t);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static int (*const decoders[])(struct sv, struct buf *) = {relay_setup, egress_setup, event, usage, tunnel};
	struct sv body = sv_n((const char *)bytes + 1, n ? n - 1 : 0);
	AUTO_BUF again = {0};

	if (n == 0 || body.n > WIRE_MAX_BODY)
		return 0;
	buf_init(&again, WIRE_MAX_BODY);
	if (decoders[bytes[0] % (sizeof(decoders) / sizeof(decoders[0]))](body, &again) == 0)
		must(!buf_failed(&again) && sv_eq(body, buf_view(&again)));
	return 0;
}
