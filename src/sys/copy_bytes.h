/*
 * copy_bytes: the content of one open file becomes that of another, the quickest way there is: shared blocks, within
 * the kernel, or by hand. Holes stay holes.
 */
#ifndef CORDON_SYS_COPY_BYTES_H
#define CORDON_SYS_COPY_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * At most size bytes from the beginning of the regular file `from` to the empty file `to`. 0 or -errno; how much came
 * is the size of `to`: less than size where the file was shorter, and more where blocks are shared and it grew
 * meanwhile. *ret_cloned: blocks are shared.
 */
int sys_copy_bytes(int from, int to, uint64_t size, bool *ret_cloned);

#endif
