/*
 * tracees: who is traced by a tool here, so that all can be let go or killed.
 */
#ifndef CORDON_TESTS_TRACEES_H
#define CORDON_TESTS_TRACEES_H

#include <stddef.h>
#include <sys/types.h>

enum { TRACEES_MAX = 256 };

struct tracees {
	pid_t v[TRACEES_MAX];
	size_t n;
};

static inline void forget(struct tracees *t, pid_t pid)
{
	size_t i;

	for (i = 0; i < t->n && t->v[i] != pid; i++)
		;
	if (i < t->n)
		t->v[i] = t->v[--t->n];
}

static inline void remember(struct tracees *t, pid_t pid)
{
	forget(t, pid);
	if (t->n < TRACEES_MAX)
		t->v[t->n++] = pid;
}

#endif
