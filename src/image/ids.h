/*
 * ids: which ids of the host an image's files and processes have, and working as them.
 *
 * Where we are root, ids 0 to 65535 of an image are a range of the host that nobody else has (IMAGE_IDS_ROOT and
 * further). For an ordinary user, and in a user namespace that lacks that range, inside 0 is ourselves and the others
 * come from /etc/subuid and /etc/subgid by newuidmap and newgidmap, where both files give us 65535 ids or more and both
 * programs are there. Else there is one id: ourselves.
 *
 * What belongs to such ids is made, read and removed by children that are id 0 of a user namespace with that mapping
 * (image_in_ids()), as root too: a child that reads what others wrote then has no power over anything else.
 */
#ifndef CORDON_IMAGE_IDS_H
#define CORDON_IMAGE_IDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "model/image.h"

enum { IMAGE_IDS_ROOT = 1700000000, IMAGE_IDS_COUNT = 65536 };

/* Those of the calling user. */
int image_ids_of_user(struct image_ids *ret, struct error *err);

/* The host's id for one inside, or -1: it has none (with count 1 everything is `zero`). */
int64_t image_host_uid(const struct image_ids *ids, uint32_t inside);
int64_t image_host_gid(const struct image_ids *ids, uint32_t inside);

/*
 * Forks a child that is id 0 with all capabilities of a new user namespace with this mapping, and of whatever else
 * `namespaces` (CLONE_NEW*) says; fn(arg) runs there, and what it returns is the exit status. Other fds and the
 * environment are as they were: fn closes or execs. The child dies with us. Its pid, or -1.
 */
pid_t image_ids_fork(const struct image_ids *ids, int namespaces, int (*fn)(void *arg), void *arg, struct error *err);

/* The same, and waits for it. 0 where fn returned 0; -1: err says what ended it. */
int image_in_ids(const struct image_ids *ids, int (*fn)(void *arg), void *arg, struct error *err);

/* A user namespace with this mapping that nobody is in, for children of ours to enter: an fd (O_CLOEXEC), or -1. */
int image_ids_open(const struct image_ids *ids, struct error *err);

/* Removes `name` in the folder `dir` with all that is in it, whoever of these ids it belongs to. -1 where something is
 * left. */
int image_ids_remove(const struct image_ids *ids, int dir, const char *name, struct error *err);

#endif
