/*
 * trail: the trajectory, one JSON object per line, written as it happens.
 *
 *	{"ms":N,"role":"system"|"user","content":TEXT}
 *	{"ms":N,"role":"assistant","content":TEXT,"tool_calls":[{"id","command","timeout"}],"stop":WORD,
 *	 "usage":{"input_tokens","output_tokens"}}
 *	{"ms":N,"role":"tool","id":TEXT,"exit":N,"timed_out":BOOL,"seconds":N,"output":TEXT}
 *	{"ms":N,"role":"update","update":{...}}			what an agent of ACP tells (acp.h)
 *	{"ms":N,"role":"note","content":TEXT}
 *	{"ms":N,"role":"end","reason":WORD,"content":TEXT,"exit":N}	always the last
 *
 * ms counts from the start. The file lies inside of the sandbox, where the agent's commands can write it too: it tells
 * what happened, and proves nothing. Folders that it needs are made; where it cannot be written, work goes on.
 */
#ifndef CORDON_AGENT_TRAIL_H
#define CORDON_AGENT_TRAIL_H

#include <stdint.h>

#include "agent/reply.h"
#include "base/error.h"

struct trail {
	int fd; /* -1: nothing is kept */
	int64_t start;
};

/* path NULL: nothing is kept. A failure is one to tell, and not to stop for: nothing is kept then, either. */
int trail_open(struct trail *t, const char *path, struct error *err);
void trail_close(struct trail *t);

void trail_words(const struct trail *t, const char *role, struct sv content);
void trail_reply(const struct trail *t, const struct reply *r);

struct trail_result {
	const char *id;
	int status;
	bool timed_out;
	int64_t ms;
	struct sv output;
};
void trail_result(const struct trail *t, const struct trail_result *r);
void trail_update(const struct trail *t, struct sv json); /* one JSON value */
void trail_end(const struct trail *t, const char *reason, const char *content, int exit_status);

#endif
