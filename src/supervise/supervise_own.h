/*
 * supervise_own: the supervisor of a run, for supervise.c, which acts, and supervise_inside.c, which hears what PID 1
 * says. Nobody else includes it.
 */
#ifndef CORDON_SUPERVISE_OWN_H
#define CORDON_SUPERVISE_OWN_H

#include "supervise/control.h"
#include "supervise/denial_log.h"
#include "supervise/front.h"
#include "supervise/keep.h"
#include "supervise/outbox.h"
#include "supervise/reload.h"
#include "supervise/supervise.h"
#include "supervise/supervise_gate.h"
#include "supervise/terminal.h"
#include "supervise/watch.h"

struct supervisor {
	const struct supervise_request *req;
	struct supervise_result *ret;
	struct error *err;
	struct terminal terminal;
	struct outbox out;
	struct control control;
	struct keep keep;
	struct supervise_gate gate;
	struct denial_log denials;
	struct reload reload;
	bool reload_later; /* a file changed before the gateway was ready to hear of it */
	struct watch watch;
	bool watching;
	int signals;
	struct front_ear ear;
	struct front_shells shells;
	uint64_t deadline; /* of the run, ms; 0: none */
	uint64_t kill_at;  /* 0: nobody asked */
	uint64_t watch_at;
	uint64_t heard_by; /* PID 1 must have answered to all signals; 0: it need not */
	uint64_t unheard;  /* signals of the first command that it has not answered to */
	bool ended;
	bool stopped; /* all inside was, and the front; we go on */
	bool asked;   /* a question stood at the terminal */
	bool failed; /* ours: the audit log */
};

/* A log that cannot be written ends the run: s->failed. */
void supervisor_log(struct supervisor *s, const struct event *e);
/* id: of a command, INSIDE_ALL, or 0: the first. */
void supervisor_signal(struct supervisor *s, uint64_t id, int sig);
void supervisor_kill_all(struct supervisor *s);
/* All inside stands still, and the shell takes over. */
void supervisor_stop_all(struct supervisor *s);

/* One message of PID 1's; it has ended where there is none. */
void supervisor_hear(struct supervisor *s);
/* One of the process that covers a container's denied names. */
void supervisor_hear_cover(struct supervisor *s);

#endif
