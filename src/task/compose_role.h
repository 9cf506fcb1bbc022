/*
 * compose_role: compose_parse() between a confined child and us, as bytes. Inside of compose.h, and for those who test
 * it.
 *
 * The question holds all of struct compose_input; the answer the problems, and the model where none of them is a
 * refusal. Both are decoded with checks: what an answer says of the model is looked at by compose_wrong(), and a
 * problem's text is escaped again.
 */
#ifndef CORDON_TASK_COMPOSE_ROLE_H
#define CORDON_TASK_COMPOSE_ROLE_H

#include "task/compose.h"

enum { COMPOSE_QUESTION_MAX = 16 << 20 };

/* 0 or -errno. */
int compose_question(const struct compose_input *in, struct buf *out);

/* A parse_role_fn: from a question to an answer. */
int compose_answer(struct sv question, struct buf *out, struct error *err);

/* 0, -EBADMSG or -ENOMEM. *ret is NULL where something was refused. */
int compose_answer_decode(struct sv answer, struct arena *a, struct task_problems *problems,
			  const struct compose **ret);

#endif
