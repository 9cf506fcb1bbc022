/*
 * cordon-relay: the relay role (gate/relay/relay.h). Started by cordon, with the descriptors of model/gate.h.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "gate/relay/relay.h"
#include "gate/relay/setup.h"
#include "sys/process.h"

int main(int argc, char **argv)
{
	struct relay r = {0};
	struct error err = {0};

	(void)argv;
	if (argc != 1 || fcntl(GATE_VAULT_FD, F_GETFD) < 0 || sys_close_from(GATE_VAULT_FD + 1) < 0) {
		(void)fprintf(stderr, "cordon-relay: is started by cordon\n");
		return 125;
	}
	/* A client that goes while we splice to it is an error to handle, not an end. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (relay_setup(&r, &err) < 0) {
		(void)fprintf(stderr, "cordon-relay: %s\n", err.text);
		return 125;
	}
	if (loop_run(r.loop) < 0)
		r.status = 1;
	relay_teardown(&r);
	return r.status;
}
