/*
 * doctor_check: what `cordon doctor` looks at, as rows of tables.
 *
 * A row either names a probe (>= 0 or -errno) and its texts, or has a function that fills the result itself. The texts
 * say what it means to a user: `with` where it works, `without` where it does not. Rows that `cordon run` cannot do
 * without are `needed`: they are MISSING when they fail. The others become what `otherwise` says: WARN where something
 * is weaker or slower, MISSING where it is simply not there.
 *
 * Results hold text that is safe to print: what came from outside was escaped on its way in.
 */
#ifndef CORDON_DOCTOR_CHECK_H
#define CORDON_DOCTOR_CHECK_H

#include <stdbool.h>

#include "base/sv.h"

enum doctor_status { DOCTOR_OK, DOCTOR_WARN, DOCTOR_MISSING };

struct doctor_result {
	enum doctor_status status;
	char value[256];
	char meaning[256];
	char fix[512]; /* empty: nothing to do */
};

struct doctor_check {
	const char *id;
	const char *name;
	bool needed;
	enum doctor_status otherwise;
	int (*probe)(void);
	void (*run)(const struct doctor_check *check, struct doctor_result *ret);
	const char *arg; /* for run() */
	const char *with;
	const char *without;
	const char *fix;
};

/* The tables, each ended by a row without an id. */
extern const struct doctor_check doctor_kernel_checks[];
extern const struct doctor_check doctor_host_checks[];
extern const struct doctor_check doctor_tool_checks[];

void doctor_run(const struct doctor_check *check, struct doctor_result *ret);

/* For run() functions. */
void doctor_value(struct doctor_result *ret, const char *format, ...) __attribute__((format(printf, 2, 3)));
void doctor_value_shown(struct doctor_result *ret, struct sv untrusted); /* escaped, one line */
/* The status and texts of a check that failed; the value says why (code is -errno), unless one is set already. */
void doctor_fail(const struct doctor_check *check, int code, struct doctor_result *ret);
/* Another way to fix it than the table's. */
void doctor_fix(struct doctor_result *ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first line of what `FILE --version` says, as a value; none where it says nothing within 2 s. */
void doctor_program_version(const char *file, struct doctor_result *ret);

/* A number from /proc/sys; -1: not there. */
long doctor_sysctl(const char *path);

#endif
