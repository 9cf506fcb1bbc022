/*
 * format_parse: from the text of a task's one configuration file to struct task. Pure: no file, no clock, no variable.
 *
 * task.toml (Harbor, schema 1.x), task.md (BenchFlow: the same keys as front matter, the instruction below) and
 * task.yaml (Terminal-Bench 1) are read by tables. All problems are told, each with line, column and key:
 *   - a key that is not known, with the nearest one that is (a warning in lenient mode);
 *   - a value that is not what its key needs;
 *   - what is understood and cannot be honoured: GPUs and TPUs, operating systems other than Linux, judges that are
 * models, memory scores, scenes and simulated users, locks on the host, captures into the host's environment;
 *   - what contradicts itself, such as allow_internet = false beside network_mode = "public".
 * Warnings besides: tests that want the agent's own shell, and keys that other runners pass over as well (base_image).
 * What only describes a task ([metadata], [task], authors, estimates) is kept as JSON and not interpreted. Both names
 * of a section that Harbor and BenchFlow call differently (environment and sandbox, solution and oracle) are known in
 * both, one at a time.
 */
#ifndef CORDON_TASK_FORMAT_PARSE_H
#define CORDON_TASK_FORMAT_PARSE_H

#include "base/error.h"
#include "model/task.h"

enum { FORMAT_TEXT_MAX = 4 << 20 };

struct format_input {
	enum task_format format;
	const char *name; /* of the file, relative to the task's folder */
	struct sv text;
	bool lenient;
};

/*
 * Fills *t but for files and the instruction of Harbor's. 0: whether the task is accepted is for problems to say. -1:
 * out of memory, or the text is no TOML or YAML at all: then err says so, and problems has it as well.
 */
int format_parse(const struct format_input *in, struct task *t, struct task_problems *problems, struct error *err);

/* The same in a confined child (conf/parse_role.h). problems->arena must be set. */
int format_parse_confined(const struct format_input *in, struct task **ret, struct task_problems *problems,
			  struct error *err);

#endif
