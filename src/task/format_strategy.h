/*
 * format_strategy: BenchFlow's verifier.md, beside the test script: which of several ways the verifier takes.
 *
 * Cordon has one: it runs test.sh, which writes its reward below /logs/verifier. A file that chooses that, or says
 * nothing that leads elsewhere, is fine; judges that are models, other commands and other places for rewards are
 * refused. What describes (names, rubrics, prompts for judges) is passed over.
 */
#ifndef CORDON_TASK_FORMAT_STRATEGY_H
#define CORDON_TASK_FORMAT_STRATEGY_H

#include "base/error.h"
#include "model/task.h"

/* A pure function of the text. -1: out of memory. Problems are added. */
int format_strategy(const char *name, struct sv text, struct arena *a, struct task_problems *problems,
		    struct error *err);

/* The same in a confined child. */
int format_strategy_confined(const char *name, struct sv text, struct task_problems *problems, struct error *err);

#endif
