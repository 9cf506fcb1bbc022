/*
 * agents: who works on a task: the built-in ones, and the operator's agents/NAME.yaml (man/cordon-agents.5).
 *
 *	version: 1
 *	tools: {source: /opt/claude-code, target: /opt/agent}	# or a list: files and folders of the host, shown
 *								# read-only
 *	command: [/opt/agent/bin/claude, -p, --model, "{model}"]	# "{instruction}": the path, inside, of a file
 *								# with it
 *	stdin: instruction					# or none
 *	env: {set: {NAME: VALUE}, pass: [NAME]}			# "{model}" and "{instruction}" in values too
 *	profile: claude						# or a list; and policy: FILE: for the agent's phase
 *	protocol: command					# or acp: the command speaks it on stdin and stdout
 *	model: NAME						# where nobody names another
 *	trajectory: /logs/agent/trajectory.jsonl		# a file or folder, inside, to be kept
 *	timeout: 30m						# at most; the task's own holds as well
 *
 * Errors read "file:line:column: key: what is wrong; what to do". The file is the operator's: what it shows and passes
 * on enters the sandbox, so nobody else may be able to write it. It says nothing that runs on the host.
 */
#ifndef CORDON_TASK_AGENTS_H
#define CORDON_TASK_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/image.h"
#include "model/policy.h"

/* Inside: where the programs and files that an agent needs are shown. A runner puts the instruction there, too. */
#define AGENT_PLACE "/run/cordon-agent"
#define AGENT_INSTRUCTION AGENT_PLACE "/instruction.md"

enum { AGENT_TOOLS_MAX = 16, AGENT_WORDS_MAX = 256 };

/* cordon-agent's exit status where its model cannot be reached, or refuses, or the policy does. */
enum { AGENT_EXIT_NO_MODEL = 3 };

enum agent_kind {
	AGENT_ORACLE,  /* the task's own solution */
	AGENT_NONE,    /* nobody: the task is judged as it is */
	AGENT_CORDON,  /* cordon-agent */
	AGENT_COMMAND, /* a program of the operator's */
	AGENT_ACP,     /* the same, and it speaks the Agent Client Protocol to cordon-acp */
};

struct agent {
	struct arena *arena; /* of all that follows */
	const char *name;
	enum agent_kind kind;
	const struct image_mount *tools; /* sources are absolute, or from ~/; never writable */
	size_t n_tools;
	struct pol_list command;   /* at least one word with AGENT_COMMAND and AGENT_ACP */
	bool stdin_instruction;	   /* else there is nothing to read */
	struct pol_pairs env_set;  /* values may have placeholders */
	struct pol_list env_pass;
	struct pol_list profiles;  /* names */
	const char *policy;	   /* a file, absolute or from ~/; NULL: none */
	const char *model;	   /* NULL: none */
	const char *trajectory;	   /* inside; NULL: none */
	uint64_t timeout_ms;	   /* 0: it says nothing */
};

/* A file's bytes. file is its name for messages. On success *ret is the caller's. */
int agent_parse(const char *file, const char *name, struct sv bytes, struct agent **ret, struct error *err);
void agent_free(struct agent *a); /* NULL is fine */

/* By name: oracle, none, cordon, or CONFIG/agents/NAME.yaml. ERROR_INPUT where there is none: the message names those
 * there are. */
int agent_find(const char *config, const char *name, struct agent **ret, struct error *err);

/* 0, or ERROR_INPUT: it needs a model, and neither the caller nor its file names one. */
int agent_has_model(const struct agent *a, const char *model, struct error *err);

/* For one run of it. */
struct agent_use {
	const char *model;	 /* NULL: the agent's own */
	const char *instruction; /* inside, such as AGENT_INSTRUCTION */
};

/* What starts it in its sandbox; NULL-terminated, in the arena `to`. Nothing for oracle and none: *ret is NULL.
 * ERROR_INPUT where a model is needed and not named. */
int agent_argv(const struct agent *a, const struct agent_use *use, struct arena *to, char ***ret, struct error *err);

/* Its variables as "NAME=VALUE", NULL-terminated; what it passes on is not among them. */
int agent_env(const struct agent *a, const struct agent_use *use, struct arena *to, const char ***ret,
	      struct error *err);

/* What is to be shown: its tools with their sources made canonical, and the program that serves it. ERROR_MISSING where
 * something is not there. */
int agent_mounts(const struct agent *a, const char *home, struct arena *to, struct image_mount **ret, size_t *ret_n,
		 struct error *err);

/* Where its trajectory will be, inside; NULL: nowhere. */
const char *agent_trajectory(const struct agent *a);

#endif
