/*
 * carry: a terminal of the sandbox's whose master cannot be sent out (gVisor lets no descriptor through): its bytes go
 * through a stream that came in, both ways.
 *
 * Does inside what supervise/terminal.h does outside, and for the same reasons; size changes come by message
 * (INSIDE_RESIZE).
 */
#ifndef CORDON_SANDBOX_CARRY_H
#define CORDON_SANDBOX_CARRY_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CARRY_POLL = 2, CARRY_LOOK_MS = 50 };

struct carry;

/* Takes both descriptors, also where it fails (NULL: no memory). */
struct carry *carry_new(int master, int stream);
void carry_free(struct carry *c); /* hangs up on whoever has the terminal; NULL is fine */

void carry_poll(const struct carry *c, struct pollfd p[CARRY_POLL]);
/* With the same entries. leader: the command that was started with it. False: the other side is gone. */
bool carry_serve(struct carry *c, const struct pollfd p[CARRY_POLL], pid_t leader);
/* Nobody has the terminal open just now: look again after CARRY_LOOK_MS. */
bool carry_is_hung(const struct carry *c);

/* Its command has ended: what is in it goes out before anybody is told. Bounded, in bytes and in time. */
void carry_drain(struct carry *c);

void carry_resize(struct carry *c, uint32_t rows, uint32_t columns);

#endif
