/*
 * digest: one number for a folder of the stage: names, kinds, the right to execute, links' texts and content; no times,
 * no owners. The same files give the same digest on every machine.
 */
#ifndef CORDON_TASK_DIGEST_H
#define CORDON_TASK_DIGEST_H

#include "base/error.h"
#include "base/sha256.h"

/* Of what is in the folder, which nobody else writes to. */
int digest_folder(int dir, char ret[SHA256_HEX], struct error *err);

#endif
