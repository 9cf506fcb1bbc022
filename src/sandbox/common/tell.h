/*
 * tell: what the first process of a sandbox says to its supervisor (model/inside.h).
 *
 * Nothing here fails: where nobody listens any more the process ends, and with it all that is inside.
 */
#ifndef CORDON_SANDBOX_TELL_H
#define CORDON_SANDBOX_TELL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "base/buf.h"
#include "base/error.h"
#include "model/event.h"
#include "model/inside.h"

struct tell {
	int socket;
	time_t second;
	unsigned events; /* told in this second */
	uint64_t untold; /* denials that were only counted */
};

void tell_send(struct tell *t, enum inside_message type, const struct buf *body, const int *fds, size_t n);

void tell_failed(struct tell *t, uint64_t id, const struct error *err);
/* The same of the sandbox itself, and ends. */
void tell_give_up(struct tell *t, const struct error *err) __attribute__((noreturn));
/* master: of its terminal, -1: it has none that could be sent. */
void tell_started(struct tell *t, uint64_t id, pid_t pid, bool terminal, int master);
/* The network stands, and others may join it: our namespaces, or that it is so, where descriptors cannot be sent. */
int tell_spaces(struct tell *t, bool sends_fds, struct error *err);
/* What runs in here is counted by it, and by what the sockets hold. */
void tell_proc(struct tell *t);
/* spawns: so many INSIDE_SPAWN had come. */
void tell_ahead(struct tell *t, pid_t pid, uint64_t spawns);
void tell_stopped(struct tell *t, uint64_t id, int sig);
void tell_heard(struct tell *t);
void tell_exited(struct tell *t, uint64_t id, int status, const struct rusage *usage);

/* A workload that is denied things in a loop must not fill the log: some of a second are told, the others counted. */
void tell_denied(struct tell *t, enum event_domain domain, const char *rule, struct sv text);
void tell_untold(struct tell *t); /* how many were counted, if any */

#endif
