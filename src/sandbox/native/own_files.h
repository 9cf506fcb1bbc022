/*
 * own_files: the sockets and FIFOs that the workload made in folders of the host's.
 *
 * Behind any other that comes there stands somebody outside: it is covered, or refused. The workload makes its own by
 * calls that PID 1 answers, which notes them here. It keeps each open (O_PATH), so that no other file gets its number
 * as long as it is noted: device and inode say all, by whatever name it is found. Those with no name left are
 * forgotten, and the oldest of more than some thousands, or than may be open: that one is the host's from then on.
 *
 * One writes, PID 1. The child of it that searches reads the same memory; a file that is just being made it takes for
 * none of the host's before PID 1 has said whose it is.
 */
#ifndef CORDON_NATIVE_OWN_FILES_H
#define CORDON_NATIVE_OWN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct own_pin;
struct own_shared;

struct own_files {
	struct own_shared *shared; /* NULL: nothing was made yet, and nobody was forked who asks */
	struct own_pin *pins;      /* by place in `shared` */
	size_t n, room, at;        /* at: the last that was taken */
	uint64_t turn, look_at;
};

/* Memory for it, which children share from then on: before the first child that asks. 0 or -errno: no file is known. */
int own_files_share(struct own_files *o);

/* Around the making of a file, and own_files_add() where it was made. */
void own_files_begin(struct own_files *o);
void own_files_end(struct own_files *o);

/* fd: of the file, not taken. Where it cannot be kept (none may be open), the file is not known. */
void own_files_add(struct own_files *o, int fd);

/* Forgets those that have no name any more. */
void own_files_sweep(struct own_files *o);

/* Of a file that the caller has open, or that it looks at in PID 1. */
bool own_files_has(const struct own_files *o, const struct stat *st);

#endif
