/*
 * doctor_runtime: `cordon doctor --runtime R`: one container of R, and how far it came.
 */
#ifndef CORDON_CLI_DOCTOR_RUNTIME_H
#define CORDON_CLI_DOCTOR_RUNTIME_H

#include "base/error.h"
#include "cli/cli.h"

/* 0: all steps went well; 1: one did not; -1. */
int doctor_runtime(struct call *call, struct error *err);

#endif
