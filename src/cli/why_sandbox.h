/*
 * why_sandbox: what a run would do about one path, by the plan that it would be made of.
 *
 * A policy is words about names. What holds inside is made of them and of what this machine has: links, other names of
 * a file, sockets, what git is told to look at, a home folder that is never a work folder. So the plan is built as
 * `run` builds it, the path is followed through it as a process inside would be led, and the guard's own judgement is
 * asked. What modes and owners of files allow is not looked at.
 */
#ifndef CORDON_CLI_WHY_SANDBOX_H
#define CORDON_CLI_WHY_SANDBOX_H

#include <limits.h>

#include "cli/cli_policy.h"
#include "model/plan.h"
#include "sandbox/native/guard_judge.h"

struct why_sandbox {
	struct plan *plan; /* NULL: no run would start */
	struct guard guard;
	const char *workdir; /* of the run, borrowed from the policy; NULL: none */
	const char *unfit;   /* why the current folder is no work folder; NULL: it is, or none was asked for */
	char refused[512];   /* why no run would start */
};

enum why_access { WHY_READ, WHY_WRITE, WHY_EXEC };

enum why_verdict {
	WHY_NO,
	WHY_YES,
	WHY_POLICY, /* the plan has nothing to add: as the policy says */
};

struct why_answer {
	char path[PATH_MAX];	/* where it leads inside */
	char text[320];		/* a sentence for a person */
	char rule[192], from[192]; /* "" where there is none */
	char hint[192];		/* what to change; "": nothing can */
};

/* 0, also where no run would start; -1: no memory. call and policy must outlive it. */
int why_sandbox_open(struct why_sandbox *s, const struct call *call, const struct cli_policy *policy,
		     struct error *err);
void why_sandbox_done(struct why_sandbox *s);

/* What a path with ".." in it is called inside, where that is the folder above the one that a link leads to. False:
 * there is none in it, or nobody can tell. path: absolute. There must be a plan. */
bool why_sandbox_name(const struct why_sandbox *s, const char *path, char out[PATH_MAX]);

/* Where links lead the path inside. False: nowhere else. There must be a plan. */
bool why_sandbox_lead(const struct why_sandbox *s, const char *path, char out[PATH_MAX]);

/* The program that the kernel starts for a script (its "#!" line), named from the root. False: it is none, as far as
 * this machine's file says. There must be a plan. */
bool why_sandbox_interpreter(const struct why_sandbox *s, const char *path, char out[PATH_MAX]);

/* path: absolute and canonical, as somebody inside would say it. */
enum why_verdict why_sandbox_ask(const struct why_sandbox *s, const char *path, enum why_access access,
				 struct why_answer *ret);

#endif
