/* deaf_relay: in cordon-relay's place, as somebody who took it over: says that it is ready, asks without end, and hears
 * nothing. */
#include <unistd.h>

#include "model/gate.h"
#include "wire/wire.h"

enum { CONTROL = 3 };

int main(void)
{
	struct wire_message setup;
	struct buf b = {0};

	if (wire_receive(CONTROL, &setup) <= 0 || wire_send(CONTROL, GATE_READY, sv_n("", 0), NULL, 0) < 0)
		return 1;
	buf_init(&b, 64);
	wire_put_u64(&b, 1);
	wire_put_sv(&b, sv_of("a.test"));
	wire_put_u32(&b, 443);
	while (wire_send(CONTROL, GATE_ASK, buf_view(&b), NULL, 0) == 0)
		;
	return 0;
}
