/*
 * engine: Docker Engine's API over its UNIX socket, as far as one container needs it.
 *
 * One connection for each call, one answer (answer.h), and a time limit for the whole of it. Nothing is kept but the
 * socket's path and the version of the API that both sides know. An engine that does not answer, answers garbage or
 * answers too much makes a call fail with one line that says so; it never blocks longer than the call's limit.
 */
#ifndef CORDON_DOCKER_ENGINE_H
#define CORDON_DOCKER_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sv.h"
#include "sandbox/docker/answer.h"

enum { ENGINE_ANSWER_MAX = 4 << 20 };

/* Versions 1.LEAST to 1.MOST of the API have all that is used here, with one meaning. */
enum { ENGINE_API_LEAST = 40, ENGINE_API_MOST = 47, ENGINE_API_RECURSIVE_READ_ONLY = 44 };

struct engine {
	char *path;
	unsigned api;	/* 1.api */
	bool rootless;	/* it runs as the user that we are, who is not root */
};

struct engine_request {
	const char *method;
	const char *path; /* behind "/v1.NN"; encoded already */
	const char *type; /* of the body; NULL: there is none */
	struct sv body;
	int timeout_ms;
};

/* Finds out which version of the API both know. path is copied. */
int engine_init(struct engine *e, const char *path, int timeout_ms, struct error *err);
void engine_done(struct engine *e);

/* An answer came, whatever its status: 0. a: initialised by this, also on failure; answer_done() it. */
int engine_call(const struct engine *e, const struct engine_request *req, struct answer *a, struct error *err);

/* A body that does not fit into memory, in either direction. The time limit holds for each wait, not for the whole. */
struct engine_transfer {
	int from;      /* the request's body: a file, read from its beginning; -1: req->body */
	uint64_t size; /* of it */
	int (*take)(void *arg, struct sv bytes); /* the body of an answer with status 200, piece by piece; 0 or -errno.
						    Of others it is in the answer */
	void *arg;
};
int engine_transfer(const struct engine *e, const struct engine_request *req, const struct engine_transfer *t,
		    struct answer *a, struct error *err);

/* What the engine said in an answer that is no success, escaped, one line. */
void engine_message(const struct answer *a, char *out, size_t size);

/* Sets err: the engine said no to what was tried. Returns -1. */
int engine_refused(const struct answer *a, const char *what, struct error *err);

#endif
