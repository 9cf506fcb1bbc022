/*
 * format: a task's folder, as one of the formats that Cordon knows.
 *
 * Harbor: task.toml, instruction.md (or steps/NAME/instruction.md), environment/, tests/test.sh, solution/solve.sh.
 * BenchFlow: task.md, environment/, verifier/ (or tests/) with a verifier.md that chooses test.sh or none
 * (format_strategy.h), oracle/ (or solution/). Terminal-Bench 1: task.yaml, Dockerfile, docker-compose.yaml,
 * run-tests.sh, tests/, solution.sh. A folder with task.toml and task.md is Harbor's where it has an instruction.md,
 * and the other file is not read (a warning).
 *
 * Files are opened below the folder without following links; nothing of them is executed. The configuration is parsed
 * in a confined child (format_parse.h), and what that says is looked at again. The instruction is text for the agent:
 * UTF-8 without NUL, at most FORMAT_INSTRUCTION_MAX bytes, otherwise as it is.
 *
 * Refused besides what format_parse.h refuses: no instruction, no test script, nothing to build and no image. A task
 * without a solution is valid. Only environment/docker-compose.yaml is the runner's compose file; .env files are never
 * read (a warning beside a compose file).
 */
#ifndef CORDON_TASK_FORMAT_H
#define CORDON_TASK_FORMAT_H

#include "base/error.h"
#include "model/task.h"

enum { FORMAT_INSTRUCTION_MAX = 1 << 20 };

/*
 * folder stays the caller's. problems->arena must be set; all problems are added. 0: accepted, and *ret is the caller's
 * (task_free()). -1: refused (ERROR_INPUT with the first problem) or failed.
 */
int format_load(int folder, bool lenient, struct task **ret, struct task_problems *problems, struct error *err);

/* The first refusal among them as an error, escaped: a confined parser may have written it. Returns -1. */
int format_refused(const struct task_problems *problems, struct error *err);

/* Hooks that other runners execute on the host: refused, wherever one is. */
void format_check_hooks(int folder, struct task_problems *problems);

#endif
