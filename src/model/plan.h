/*
 * plan: what a backend will do, in order, as plain data. Made from an effective policy, a request and one look at the
 * host; never changed afterwards; printed by --dry-run.
 *
 * Everything lives in the plan's arena. Paths are absolute and canonical; `source` is a path of the host, `target` one
 * inside.
 */
#ifndef CORDON_MODEL_PLAN_H
#define CORDON_MODEL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/glob.h"
#include "model/image.h"
#include "sys/redirect.h"

/* How folders begin in which an apply has what it replaces, at the top of a work folder; nobody inside sees them. */
#define PLAN_STAGING ".cordon-apply-"

enum plan_op_kind {
	PLAN_DIR,     /* make a folder (mode) */
	PLAN_LINK,    /* make a symbolic link with `source` as its text */
	PLAN_FILE,    /* make a file with `source` as its content (mode) */
	PLAN_BIND,    /* show the host's source at target */
	PLAN_TMPFS,   /* an empty file system of the sandbox's own (size, mode) */
	PLAN_PROC,    /* its own /proc */
	PLAN_DEVICE,  /* a device node of the host */
	PLAN_PTS,     /* its own terminals */
	PLAN_OVERLAY, /* a copy-on-write view of source at target; changes go to `upper`, or to the scratch space where
			 that is NULL */
	PLAN_PROTECT, /* what stands at target becomes read-only */
	PLAN_MASK,    /* what stands at target cannot be seen */
	PLAN_SHOW,    /* what the sandbox has at source, inside, is shown at target too */
	PLAN_EXEC,    /* what stands at target may be executed although it lies in such a place */
};

struct plan_op {
	enum plan_op_kind kind;
	const char *target;
	const char *source;
	const char *upper;
	const char *why; /* the policy key or rule, for --dry-run */
	uint64_t size; /* FILE: bytes of source; 0: up to its NUL */
	uint32_t mode;
	unsigned flags;	 /* enum mount_flag of sys/mounts.h */
	bool folder;	 /* BIND: the source is one. MASK: what it hides is known to be one, and no link */
	bool writable;	 /* Landlock grants writing below target */
	bool host;	 /* its files are the host's: mandatory protections hold there; root's ids are mapped */
	bool judged;     /* host: by the name that source is, which others may change what stands at: see
			    plan/plan_source.h. Else it is Cordon's own */
	uint64_t dev, ino; /* judged: of the folder that was searched; ino 0: none was */
};

struct plan_limits {
	uint64_t memory;	/* bytes */
	uint64_t processes;
	uint64_t cpu_thousandths; /* 0: all */
	uint64_t timeout_ms;	/* 0: none */
	uint64_t file_size;
	uint64_t storage; /* of an image's upper folder; 0: none */
};

/* A socket that listens inside for the gateway. */
struct plan_listener {
	uint32_t kind;	   /* enum gate_listener_kind of model/gate.h */
	uint32_t provider; /* of the policy, for inference */
	uint16_t port;	   /* of loopback */
	bool v6;
};

/* A pattern that holds for paths that do not exist yet. */
struct plan_guard {
	struct glob glob;
	const char *rule;  /* "filesystem.deny **" + "/.env (policy.yaml:4)" */
	bool hidden;	   /* no access at all; else only writing is refused */
	bool host_only;	   /* does not hold in the sandbox's own places (/tmp) */
	bool yields;	   /* to a writable folder that the policy names below it */
	bool of_run;       /* what no policy lists: a file that its policy came from, or that holds a credential; what a
			      denied name leads to that is a link */
};

/*
 * Where in its file system lies what is shown at target, if it still has the name by which the plan was made: a
 * writable folder or file of the host, or what is mounted in one. A mount goes along with the folder that it shows;
 * what that is called by now can be told by this.
 */
struct plan_origin {
	const char *target;
	const char *name;	 /* on the host */
	const char *root, *point; /* of the host's mount that it lies on: which part of a file system is shown where */
};

struct plan {
	struct arena *arena;
	struct plan_op *ops;
	size_t n_ops;
	struct plan_guard *guards;
	size_t n_guards;
	struct plan_origin *origins;
	size_t n_origins;
	const char **own_places; /* NULL-terminated: targets of the sandbox's own file systems */

	char **argv;
	char **env;
	const char *cwd;
	const char *workdir; /* NULL: none */
	int workdir_mode;    /* enum workdir_mode */
	const char *home;
	uint32_t uid, gid; /* inside */
	uint64_t tmp_size;
	struct plan_limits limits;
	bool restrict_exec;	  /* only what `executables` names may be executed */
	const char **executables; /* NULL-terminated paths inside: files, or folders with all below them */
	bool loopback;
	int network;	    /* enum net_mode: what the gateway opens, where there is one */
	uint32_t providers; /* of models */
	struct plan_listener *listeners; /* none: there is no gateway */
	size_t n_listeners;
	struct redirect reach; /* what is dialled by address and goes to a listener, where the plan has one for that */

	const char *runtime, *runtime_why; /* who carries it out, and what named it; NULL: not known yet */

	const struct image_root
		*image; /* the root is made of these layers, in place of the host's base system; NULL: no */
	const char **storage_folders; /* what limits.storage counts: the image's upper folder, and what else it may
					 write to; NULL-terminated. NULL: there is no image */

	const char *skeleton; /* a root with all places made, on the host; NULL: none */
	const char *state_dir; /* the run's own folder on the host: upper and work folders are below it */
};

#endif
