/*
 * endpoint: which requests a provider of each kind takes, and where they go upstream.
 *
 * A table of what passes; whatever is not in it is refused, with a hint where a person is likely to have meant
 * something (batches, files, stored state, hosted tools: anything that keeps, fetches or runs things at the provider).
 * Kind openai also stands for servers that speak its dialect (vLLM, llama.cpp, Ollama's /v1).
 *
 * Targets are relative to the provider's base URL inside the sandbox, so that they read as at the provider itself
 * ("/v1/messages", "/v1beta/models/M:generateContent"). Only listed query parameters pass: others could change the
 * reply's form and so hide its usage ("fields", "alt=proto"); a client's "key" is dropped, as every credential it
 * sends. Those of a list of models pass there only. Paths are compared byte by byte: percent-encoding in them is
 * refused.
 *
 * Pure, no allocation.
 */
#ifndef CORDON_GATE_INFERENCE_ENDPOINT_H
#define CORDON_GATE_INFERENCE_ENDPOINT_H

#include <stdbool.h>

#include "base/buf.h"
#include "gate/inference/ruling.h"
#include "model/policy.h"

enum endpoint_op {
	OP_MODELS,   /* a list of models, or one */
	OP_MESSAGES, /* Anthropic */
	OP_CHAT,     /* OpenAI: /v1/chat/completions */
	OP_COMPLETIONS,
	OP_EMBEDDINGS,
	OP_RESPONSES,
	OP_COMPACT, /* of a conversation in responses */
	OP_GENERATE, /* Gemini, as all below */
	OP_COUNT,
	OP_EMBED,
};

struct endpoint {
	enum provider_kind kind;
	enum endpoint_op op;
	const char *method;
	const char *path; /* "{model}" stands for a model's name */
	bool body;        /* has one, a JSON object */
	bool stream;      /* always streams */
};

enum { ENDPOINT_MAX_MODEL = 256, ENDPOINT_MAX_TARGET = 2048 };

struct endpoint_match {
	const struct endpoint *endpoint;
	struct sv model; /* from the path, borrowed from the target; n == 0: none there */
};

/* 0, or -1 and the ruling. */
int endpoint_find(enum provider_kind kind, struct sv method, struct sv target, struct endpoint_match *ret,
		  struct ruling *no);

/*
 * Appends what to ask the upstream for: the path of the provider's url, the endpoint's, and the query that passes. A
 * url that already ends in the version ("http://host:8000/v1") does not get it twice.
 */
void endpoint_target(const char *url, struct sv target, struct buf *out);

/* A name that can be judged: 1 to ENDPOINT_MAX_MODEL printable ASCII characters, no blank, quote, backslash or percent
 * sign, no "." or ".." segment. */
bool endpoint_model_ok(struct sv name);

#endif
