/*
 * model: asks a model and gets its reply, through overload and passing failures.
 *
 * 429, 5xx and connections that fail are tried again, with growing pauses or the one that the server asks for, a
 * bounded number of times; answers that cannot be read twice more. A policy's refusal, a used-up budget and everything
 * else that the same request would meet again is final. Where the model says that the conversation is too long for it,
 * old outputs are cut and it is asked again.
 */
#ifndef CORDON_AGENT_MODEL_H
#define CORDON_AGENT_MODEL_H

#include "agent/post.h"
#include "agent/talk.h"

struct model {
	enum api api;
	const char *name;
	const char *key; /* the placeholder; NULL: none */
	struct post_base base;
	char path[320]; /* behind the base's */
};

enum model_end {
	MODEL_REPLIED,
	MODEL_LIMIT,   /* the budget is used up, or the conversation fits no more */
	MODEL_REFUSED, /* or not to be reached */
};

/*
 * From the variables of the sandbox: OPENAI_BASE_URL, ANTHROPIC_BASE_URL and GOOGLE_GEMINI_BASE_URL say which APIs
 * there are. Where several are set, models with "claude" in their names are asked the Anthropic way, with "gemini"
 * Gemini's, others the first of these that there is. Borrows everything.
 */
int model_find(const char *name, struct model *ret, struct error *err);

/* err is set with every end but MODEL_REPLIED. notes: where waiting is told, or NULL. */
enum model_end model_ask(const struct model *m, struct talk *t, struct arena *a, struct reply *ret,
			 void (*note)(const char *words), struct error *err);

#endif
