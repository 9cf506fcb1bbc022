/*
 * task: what a benchmark task's folder says, as plain data.
 *
 * One form for Harbor's task.toml, BenchFlow's task.md and Terminal-Bench 1's task.yaml. Everything a task points to
 * lives in its arena; task_free() ends it all. Values remember where they were written (struct origin; file is 1 for
 * the file that files.config names). Unset means that the task did not say it; the TASK_DEFAULT_ values are what its
 * runners take then.
 *
 * Whoever loads a task has checked it (task/format.h): text is UTF-8 without controls but tab and newline, paths inside
 * the sandbox are absolute, canonical and without "..", names of the folder's files are relative, canonical and without
 * "..", and no field is here that nobody honours. Nothing in it was taken from this machine: `${NAME}` in values of
 * `env` stands as it was written (task/env.h).
 */
#ifndef CORDON_MODEL_TASK_H
#define CORDON_MODEL_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/policy.h"

enum task_format {
	TASK_HARBOR,   /* task.toml, instruction.md, environment/, tests/, solution/ */
	TASK_DOCUMENT, /* task.md: the same as front matter, and the instruction below it; verifier/, oracle/ */
	TASK_TERMINAL  /* Terminal-Bench 1: task.yaml, Dockerfile and docker-compose.yaml at the top, run-tests.sh,
			  tests/, solution.sh */
};

enum {
	TASK_DEFAULT_VERIFIER_MS = 600 * 1000,
	TASK_DEFAULT_AGENT_MS = 600 * 1000,
	TASK_DEFAULT_BUILD_MS = 600 * 1000,
	TASK_DEFAULT_SETUP_MS = 600 * 1000,
	TASK_DEFAULT_COLLECT_MS = 60 * 1000,
	TASK_DEFAULT_MEMORY_MB = 2048,
	TASK_DEFAULT_STORAGE_MB = 10240,
	TASK_DEFAULT_CPUS = 1000 /* thousandths */
};

/* "no-network", "allowlist", "public": the values are those of enum net_mode. */
extern const char *const task_network_names[];

/* Of one role. The environment's holds for every role that says nothing. */
struct task_network {
	struct pol_num mode;   /* enum net_mode; `allow_internet` is folded into it */
	struct pol_list hosts; /* exact names, "*.name", addresses and networks ("10.0.0.0/8"); only with NET_ALLOWLIST,
				  and then at least one. Lower case. */
};

struct task_healthcheck {
	struct pol_str command; /* unset: there is none */
	struct pol_num interval, timeout, start_period, start_interval; /* ms; 5 s, 30 s, 0 and 5 s */
	struct pol_num retries; /* 3 */
};

enum task_transport { TASK_MCP_STDIO, TASK_MCP_SSE, TASK_MCP_HTTP };
extern const char *const task_transport_names[];

struct task_mcp {
	struct pol_str name;
	struct pol_num transport; /* enum task_transport; always set */
	struct pol_str url;	  /* of the others than stdio */
	struct pol_str command;	  /* of stdio */
	struct pol_list args;
	struct pol_str cwd;
	struct pol_pairs env, headers;
	struct pol_list tools, include_tags, exclude_tags;
};

/* A shell command that the task wants run inside: before the agent (setup), or between agent and verifier (collect). */
struct task_command {
	struct pol_str command;
	struct pol_num timeout; /* ms */
	struct pol_str cwd;
	struct pol_pairs env;
	struct pol_str user;
	struct pol_str service; /* of the compose file; unset or "main": the agent's own */
};

struct task_commands {
	struct task_command *v;
	uint32_t n;
};

struct task_environment {
	struct pol_num build_timeout; /* ms */
	struct pol_str docker_image;  /* a ready image; the Dockerfile is then not used */
	struct pol_num cpus;	      /* thousandths */
	struct pol_num memory;	      /* bytes */
	struct pol_num storage;	      /* bytes */
	struct task_network network;
	struct pol_pairs env;
	struct pol_str workdir;	   /* inside; unset: the image's */
	struct pol_str skills_dir; /* inside */
	struct task_healthcheck healthcheck;
	struct task_mcp *mcp;
	uint32_t n_mcp;
	struct task_commands setup;
};

struct task_agent {
	struct pol_num timeout; /* ms */
	struct pol_str user;	/* name or number; unset: the image's */
	struct task_network network;
	struct pol_str prompt_prefix; /* before the instruction */
};

/* Numbers between which rewards must be; unset: 0 and 1. */
struct task_range {
	double low, high; /* finite; low <= 0, high >= 1 */
	bool set;
	struct origin at;
};

struct task_verifier {
	struct pol_num timeout; /* ms */
	struct pol_str user;
	struct task_network network;
	struct pol_pairs env;
	struct task_range range;
	struct pol_str service;  /* of the compose file whose state is judged; unset or "main": the agent's */
	struct pol_num separate; /* 1: the verifier is a machine of its own, which only gets the artifacts; 0 or unset:
				    it sees the agent's files */
	struct task_environment *environment; /* of a separate one; NULL: as the task's */
	struct task_commands collect;
	struct pol_num keep_conftests; /* 1: conftest.py files of the agent are wanted ([verifier.hardening]
					  cleanup_conftests = false) */
	struct pol_list pytest_plugins;
};

struct task_solution {
	struct pol_num timeout; /* ms */
	struct pol_pairs env;
};

/* What is to be kept of the agent's files, or of a service's. */
struct task_artifact {
	struct pol_str source;	    /* inside: absolute, or relative to the work folder */
	struct pol_str destination; /* relative, below the results' folder; unset: as the source */
	struct pol_str service;
	struct pol_list exclude;
};

struct task_artifacts {
	struct task_artifact *v;
	uint32_t n;
};

/* What is where in the task's folder: relative names, NULL where there is none. */
struct task_files {
	const char *config;	 /* task.toml, task.md or task.yaml; NULL in a step */
	const char *instruction; /* instruction.md; NULL where the config has it */
	const char *context; /* of the build: "environment", "." for Terminal-Bench; NULL: there is only docker_image */
	const char *dockerfile;	 /* environment/Dockerfile */
	const char *compose;	 /* environment/docker-compose.yaml: the runner's one compose file */
	const char *tests;	 /* tests or verifier: /tests of the verifier */
	const char *test_script; /* tests/test.sh, run-tests.sh: what the verifier runs */
	const char *test_dockerfile; /* tests/Dockerfile: of a separate verifier without docker_image; `tests` is the
					context, and what it builds has the tests in it */
	const char *test_compose;    /* tests/docker-compose.yaml of a separate verifier: says no more than that it has
					`tests` at /tests (task/review_compose.h) */
	const char *solution;	 /* solution or oracle: /solution of the oracle */
	const char *solve_script; /* solution/solve.sh, solution.sh */
	const char *workdir;	 /* of a step: steps/NAME/workdir, copied into the work folder before it */
};

/* A step: its own instruction and judgement, in one environment. What it leaves unset is the task's. */
struct task_step {
	struct pol_str name;
	const char *instruction;
	struct task_agent agent;
	struct task_verifier verifier;
	struct task_healthcheck healthcheck; /* besides the environment's */
	struct task_artifacts artifacts;     /* besides the task's */
	struct pol_pairs min_reward; /* key -> number as text: below it, later steps are not run; {"reward": n} for a
					plain number */
	struct task_files files;
};

enum task_steps_reward { TASK_STEPS_MEAN, TASK_STEPS_FINAL };
extern const char *const task_steps_reward_names[];

struct task {
	struct arena *arena;
	enum task_format format;
	struct pol_str schema; /* "1.3"; unset: not said */
	struct pol_str name;   /* as the task says: "org/name"; unset: not said */
	const char *instruction; /* text of the agent's prompt; "" where only steps have one */
	struct task_agent agent;
	struct task_verifier verifier;
	struct task_environment environment;
	struct task_solution solution;
	struct task_artifacts artifacts;
	struct task_step *steps; /* in order; none: the task is one step */
	uint32_t n_steps;
	struct pol_num steps_reward; /* enum task_steps_reward; unset: mean */
	struct pol_str parser;       /* Terminal-Bench 1: what its test script says is read by this parser, "pytest" or
					"swebench"; there is no reward file */
	const char *metadata; /* one JSON object, kept and never interpreted: [metadata], [task] and what else only
				 describes */
	struct task_files files;
};

/* Of one file and key of a task that is not as it must be. */
struct task_problem {
	bool warning;	  /* accepted nevertheless */
	const char *file; /* relative, escaped */
	uint32_t line, column; /* 0: of the whole file */
	const char *key;  /* "environment.cpus", escaped; "" where there is none */
	const char *what; /* what is wrong and what to do; escaped */
};

struct task_problems {
	struct arena *arena; /* of the texts; not owned */
	struct task_problem *v;
	uint32_t n;
	uint32_t refused; /* of them, those that are no warnings */
	uint32_t left_out; /* further ones beyond TASK_PROBLEMS_MAX */
};

enum { TASK_PROBLEMS_MAX = 200, TASK_STEPS_MAX = 64, TASK_CODEC_MAX = 24 << 20 };

/* An empty task with its own arena; NULL: no memory. */
struct task *task_new(void);
void task_free(struct task *t); /* NULL is fine */

/* Adds a copy; where it does not fit any more, it is only counted. */
void task_problem_add(struct task_problems *list, const struct task_problem *p);

/*
 * Between the confined parser and us. Encoding appends to out; decoding trusts nothing: every count, length and enum is
 * checked, texts hold no NUL, and paths are looked at again by whoever uses them. 0 or -errno (-EBADMSG: malformed).
 * The problems' texts are copied into problems->arena, which the caller has set.
 */
int task_encode(const struct task *t, const struct task_problems *problems, struct buf *out);
int task_decode(struct sv bytes, struct task **ret, struct task_problems *problems);

#endif
