/*
 * event: what a run reports. Plain data; audit/ turns it into a line of the chain.
 *
 * Field names on the line follow OCSF 1.x where a class fits: `time` (ms since the epoch), `class_uid`, `activity_id`,
 * `severity_id`, `disposition`; plus run, seq, domain, verdict, rule, prev and hash.
 */
#ifndef CORDON_MODEL_EVENT_H
#define CORDON_MODEL_EVENT_H

#include <stdint.h>

#include "base/sv.h"

enum event_kind {
	EVENT_START,  /* the sandbox is about to start */
	EVENT_DENIAL, /* something was refused */
	EVENT_LIMIT,  /* a limit of the process domain was hit */
	EVENT_EXEC,   /* `cordon exec` put a further command in */
	EVENT_SIGNAL, /* stopped by a person or by a signal */
	EVENT_EXIT,   /* the end, with resource usage */
	EVENT_NOTE    /* anything else worth keeping, e.g. a fallback */
};

enum event_domain { DOMAIN_NONE, DOMAIN_FILESYSTEM, DOMAIN_NETWORK, DOMAIN_PROCESS, DOMAIN_INFERENCE };

/* A further member of the line; value is JSON text when is_json, else a string that is escaped. */
struct event_field {
	const char *key;
	struct sv value;
	int is_json;
};

struct event {
	enum event_kind kind;
	enum event_domain domain;
	const char *verdict; /* "allow", "deny", "escalate", or NULL */
	const char *rule;    /* which rule decided, or NULL */
	const char *message; /* one sentence, or NULL */
	const struct event_field *fields;
	size_t n_fields;
};

#endif
