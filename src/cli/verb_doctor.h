/*
 * verb_doctor: `cordon doctor [--json]`: what of the kernel, the machine and its tools is there, what that means, and
 * how to get the rest.
 *
 * Exits 0 when `cordon run` can work here, 1 when something that it needs is missing. Changes nothing on the machine.
 */
#ifndef CORDON_VERB_DOCTOR_H
#define CORDON_VERB_DOCTOR_H

#include "cli/cli.h"

extern const struct option verb_doctor_options[];

int verb_doctor(struct call *call, struct error *err);

#endif
