/*
 * guard_mode: who may do what with a file, as far as a workload says it: modes and extended attributes.
 *
 * A folder that is shown as a whole, or that holds denied or protected names, keeps other users of the machine out as
 * the host has it: what they could do in there no policy says, and it would outlive the sandbox. All else the workload
 * could do to what is in it itself. Neither setuid nor setgid is given to files (to folders setgid is: git's shared
 * repositories and whoever works in a folder that has it need that); access lists cannot be set at all. Names are judged
 * as where a file is opened to be written: the host may have made a denied one just now. A file of the host's
 * that only came in open, as standard input does, is opened to nobody and gets no attribute.
 */
#ifndef CORDON_NATIVE_GUARD_MODE_H
#define CORDON_NATIVE_GUARD_MODE_H

#include "sandbox/native/guard_job.h"

/* chmod, setxattr, removexattr and their kin: 0, or -errno; *ret_known false: it is none of them. */
int guard_mode(const struct job *j, bool *ret_known);

#endif
