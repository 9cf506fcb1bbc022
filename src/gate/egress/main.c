/* cordon-egress: see egress.h. Started by the supervisor with the descriptors of model/gate.h, never by hand. */
#include <signal.h>
#include <stdio.h>

#include "gate/egress/egress.h"
#include "gate/egress/setup.h"

int main(void)
{
	struct egress e;
	struct error err = {0};
	int status;

	(void)signal(SIGPIPE, SIG_IGN);
	if (egress_setup(&e, &err) < 0) {
		(void)fprintf(stderr, "cordon: egress: %s\n", err.text);
		egress_done(&e);
		return 125;
	}
	status = egress_run(&e);
	egress_done(&e);
	return status;
}
