/*
 * plan_build: policy + request + the host as it is now -> plan.
 *
 * Looks at the host's file system (which paths exist, what a pattern finds, where a denied name stands) and changes
 * nothing but its own cache. Everything that the native backend cannot enforce is refused here, naming key and line.
 * Time grows with the number of entries below the folders that the policy shows, because denied names are looked for at
 * any depth: about a microsecond each, and much less where the folders did not change since the last time
 * (plan/scan_memory.h); PLAN_MAX_ENTRIES bounds it.
 */
#ifndef CORDON_PLAN_BUILD_H
#define CORDON_PLAN_BUILD_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"
#include "model/plan.h"
#include "model/policy.h"

enum { PLAN_MAX_ENTRIES = 5000000, PLAN_MAX_OPS = 20000 };

/* What a gateway stands ready for, and what programs inside must trust to use it. */
struct plan_gate {
	struct sv bundle; /* certificates in PEM; empty: none are added to the system's */
	struct sv java;	  /* the same as a Java trust store */
	bool shared; /* it is another sandbox's, in whose network namespace this one is: it listens there already */
};

struct plan_request {
	const struct policy *policy;
	char *const *argv;
	char *const *env;	 /* complete: "K=V", NULL-terminated */
	const char *workdir;	 /* absolute, canonical; NULL: none */
	const char *here; /* absolute, canonical: the folder that relative patterns are below, with a work folder or
			     without; NULL: not known */
	const char *home;	 /* the user's home on the host, hidden; inside an empty folder of the same name */
	const char *state_dir;	 /* of this run */
	const char *const *protect; /* absolute and canonical: the run's own policy files, which it must not change
				       where it may write; NULL-terminated, or NULL */
	const char *const *ways; /* the same files as they were named, absolute: what these names go through must go on
				    leading there; NULL-terminated, or NULL */
	const char *const *outputs; /* so are these: records of this run and of others, made outside */
	const char *const *hide; /* absolute: files that hold values of credentials; NULL-terminated, or NULL */
	const char *const *git_configs; /* absolute: files that the user's git takes settings from, besides those at
					   their usual places in home and system; NULL-terminated, or NULL */
	const struct plan_gate *gate; /* NULL: no gateway runs, nothing outside can be reached */
	const char *runtime;	 /* that will carry it out, and why it is this one: to be printed; NULL: not known */
	const char *runtime_why;
	const struct image_root *image; /* copied; NULL: the host's base system. With one, nothing of the host is shown
					   but its mounts: workdir, home, protect and hide say nothing */
	const char *const *own;  /* absolute: folders that are Cordon's own, which the policy denies: not searched for
				    other names of files; NULL-terminated, SCAN_OWN_MAX at most, or NULL */
	const char *cache_dir;	 /* $XDG_CACHE_HOME/cordon; NULL: every folder is read */
};

int plan_build(const struct plan_request *req, struct plan **ret, struct error *err);
void plan_free(struct plan *p);

/* For --dry-run: grouped for a person, everything escaped; or all of it in order as one JSON document. Of the
 * environment both have the names only. */
void plan_print(const struct plan *p, struct buf *out);
/* A container runtime would show a copy in its place, which is brought back at the end (cli/launch_stage.h). */
bool plan_copies(const struct plan *p, const struct plan_op *op);
void plan_print_json(const struct plan *p, struct buf *out);

/* SHA-256 over all that the plan says, but the environment's values: they may be secrets. */
void plan_digest(const struct plan *p, char out[SHA256_HEX]);

#endif
