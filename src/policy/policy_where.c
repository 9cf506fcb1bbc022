#include "policy/policy_where.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

static const char *file_name(const struct policy *p, struct origin at)
{
	const char *name = at.file < p->n_files ? p->files[at.file] : NULL;

	return name ? name : "built in";
}

const char *policy_where(const struct policy *p, struct origin at)
{
	struct text_shown name;
	const char *where;

	(void)text_show(&name, sv_of(file_name(p, at)));
	where = at.line ? arena_printf(p->arena, "%s:%u", name.s, at.line) : arena_printf(p->arena, "%s", name.s);
	return where ? where : "built in";
}

int policy_fail(const struct policy *p, struct origin at, const char *key, struct error *err, const char *format, ...)
{
	struct text_shown name;
	char what[400], place[32] = "";
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	if (at.line)
		(void)snprintf(place, sizeof(place), ":%u:%u", at.line, at.column);
	return error_set(err, ERROR_INPUT, "%s%s: %s: %s", text_show(&name, sv_of(file_name(p, at))), place, key, what);
}

int policy_no_memory(struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "out of memory");
}
