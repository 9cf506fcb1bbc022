#include "task/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void problems_done(struct problems *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		free(p->v[i]);
	*p = (struct problems){0};
}

void problems_add(struct problems *p, const char *format, ...)
{
	char *line = NULL;
	va_list ap;
	int n = -1;

	va_start(ap, format);
	if (p->n < PROBLEMS_MAX)
		n = vasprintf(&line, format, ap);
	va_end(ap);
	if (n < 0)
		p->more++;
	else
		p->v[p->n++] = line;
}

int problems_error(const struct problems *p, struct error *err)
{
	size_t total = p->n + p->more;

	if (total == 0)
		return 0;
	if (p->n == 0)
		return error_set(err, ERROR_INPUT, "%zu problems, and no memory to name them", total);
	if (total == 1)
		return error_set(err, ERROR_INPUT, "%s", p->v[0]);
	return error_set(err, ERROR_INPUT, "%s (and %zu more)", p->v[0], total - 1);
}
