/*
 * policy_compile: from source texts to the effective policy, without touching the system.
 *
 * Whatever has to be read comes through a callback, so that this can run in a process that has no files: the callback
 * then asks its parent. What it returns is hostile input all the same.
 *
 * Bounds: `extends` nests at most POLICY_MAX_DEPTH deep, at most POLICY_MAX_FILES texts are fetched, each at most
 * POLICY_MAX_BYTES long.
 */
#ifndef CORDON_POLICY_COMPILE_H
#define CORDON_POLICY_COMPILE_H

#include "base/buf.h"
#include "base/error.h"
#include "model/policy.h"

enum { POLICY_MAX_BYTES = 8 << 20, POLICY_MAX_DEPTH = 16, POLICY_MAX_FILES = 256 };

struct policy_source {
	const char *name; /* profile name, or path */
	bool is_profile;
	bool is_bound; /* no source, but a further ceiling: what a task asks for, of all that it might get */
};

struct policy_request {
	const struct policy_source *sources; /* none: profile "default" */
	size_t n_sources;
	const char *home;       /* absolute and canonical; ~ means this */
	const char *config_dir; /* $XDG_CONFIG_HOME/cordon; may not exist; NULL: none */
	const char *cache_dir;  /* $XDG_CACHE_HOME/cordon; NULL: no cache */
	const char *data_dir;   /* $XDG_DATA_HOME/cordon, likewise */
	const char *state_dir;  /* $XDG_STATE_HOME/cordon; only named here to be denied inside; NULL: the usual place */
	const char *workdir;    /* absolute and canonical; relative patterns are below it */
	const char *phase;      /* of a task run, laid over the rest; NULL: none */
	const char *runtime;  /* of the command line: takes the place of what the sources say, below the ceiling as they
				 are; NULL: none */
	const char *category; /* of the command: of a ceiling's categories only this one is held against a runtime;
				 NULL: none, or any */
	bool no_ceiling;        /* `policy check FILE` judges the file alone */
	bool again;             /* amid a run, which has other things to do: no pipe is waited for */
};

enum policy_want_kind { POLICY_WANT_PROFILE, POLICY_WANT_FILE, POLICY_WANT_CEILING };

struct policy_want {
	enum policy_want_kind kind;
	const char *name; /* profile or path as written; NULL for the ceiling */
	const char *from; /* id of the text whose `extends` names it; NULL: the command line */
};

struct policy_text {
	const char *name; /* for messages */
	const char *id;   /* same text, same id: to find cycles */
	struct buf bytes; /* maximum set by the caller; freed by it too */
};

struct policy_fetch {
	/* 0: *ret is filled, its strings in the arena. 1: there is none (the ceiling only). -1: err is set. */
	int (*get)(void *ctx, const struct policy_want *want, struct arena *a, struct policy_text *ret,
		   struct error *err);
	void *ctx;
};

/* On success *ret is the effective policy (policy_free()). */
int policy_compile(const struct policy_request *req, const struct policy_fetch *fetch, struct policy **ret,
		   struct error *err);

#endif
