/*
 * reward: what the verifier said the agent's work is worth, or why that cannot be known.
 *
 * The verifier's sandbox has ended when this reads what it left. Its files are as strange as the agent can make them,
 * so nothing but the strict form is a score; whatever else stands there is an error with a reason, and never a score.
 *
 *	reward.txt	one decimal number: 1, 0.75, .5, 1e-05; blanks and line ends around it
 *	reward.json	one object of numbers: {"reward": 1.0} or {"tests": 0.5, "style": 1}. No duplicate keys, NaN,
 *			Infinity, booleans, strings, null or nested values
 *
 * Each is a regular file with one name, of at most REWARD_FILE_MAX bytes. One of them must be there. Where both are,
 * they must agree: exactly, or, where reward.txt has two decimals or more, to that many decimals. The score is the key
 * `reward`, or the mean of all keys where there is none; it must be in the task's range (0 to 1 where the task says
 * nothing), and so must all keys whose mean it is. Keys beside `reward` may be any finite number: tasks count things
 * there.
 *
 * Terminal-Bench 1 has no reward file: there the output of run-tests.sh is read. What pytest lists under "short test
 * summary info" must agree with what it says at its end, for each run of it in the output. The score is 1 where at
 * least one test passed and none failed, broke or passed unexpectedly (skipped and expectedly failed ones do not
 * count), else 0. Tests print files of the agent's, which may look like a summary: a header within one begins anew, and
 * once something failed the score is 0, whatever else is there, so that no text makes an error or more of it. Where
 * pytest was killed, such a text may be all there is: nobody passed where a run has begun and not ended, or where the
 * script did not end with 0 and printed something behind the summary. A test that runs the agent's code in its own
 * process can be made to say anything: this format knows no better.
 *
 * Files are opened below the folder without following links. Parsing happens where it can do nothing else
 * (conf/parse_role.h); reward_parse() is that pure function.
 */
#ifndef CORDON_TASK_REWARD_H
#define CORDON_TASK_REWARD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "task/result.h"

enum { REWARD_FILE_MAX = 64 << 10, REWARD_KEYS_MAX = 256, REWARD_KEY_MAX = 200, REWARD_OUTPUT_MAX = 32 << 20 };

struct reward {
	double value;
	struct task_reward *v; /* the keys in their order; {"reward", value} where there is no reward.json */
	size_t n;
};

/* Of the verifier's folder. -1: ERROR_INPUT says why there is no score, with the code ERANGE where there is a reward,
 * but out of range, or two that differ; ERROR_SYSTEM why it could not be looked at. What ret points to is in the
 * arena. */
int reward_read(int folder, double low, double high, struct arena *a, struct reward *ret, struct error *err);

/* Of the output of run-tests.sh, a regular file that is read from its beginning. well: it ended with 0. */
int reward_read_pytest(int output, bool well, struct arena *a, struct reward *ret, struct error *err);
/* The same where the task's parser is "swebench" (reward_swebench.h). */
int reward_read_swebench(int output, struct arena *a, struct reward *ret, struct error *err);

/* A question for reward_parse(): in wire/wire.h's fields. text and json: NULL where there is no such file. */
struct reward_files {
	const struct sv *text, *json;
	double low, high;
};
void reward_ask(const struct reward_files *files, struct buf *out);
void reward_ask_pytest(struct sv output, struct buf *out);
void reward_ask_pytest_last(struct sv output, struct buf *out);
void reward_ask_swebench(struct sv output, struct buf *out);

/* From a question to an answer, both bytes: a parse_role_fn. */
int reward_parse(struct sv in, struct buf *out, struct error *err);

/* The answer, with checks. 0 or -errno (-EBADMSG). */
int reward_decode(struct sv bytes, struct arena *a, struct reward *ret);

#endif
