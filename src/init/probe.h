/*
 * probe: what a workload would see, told to whoever tries out a runtime (cli/health.h). Runs as a command inside, with
 * no more rights than any.
 */
#ifndef CORDON_INIT_PROBE_H
#define CORDON_INIT_PROBE_H

/*
 * Prints "probe", a line "interface NAME" for each network interface but loopback, "looked" when that was all of them,
 * and "door WORD" with what is said to whoever connects to the port on loopback. Returns the exit status: 0, or 1 where
 * it could not look.
 */
int probe(const char *port);

#endif
