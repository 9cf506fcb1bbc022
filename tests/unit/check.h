/*
 * check: the smallest test harness that prints TAP. A test is a function; its name says what is promised.
 */
#ifndef CORDON_TESTS_CHECK_H
#define CORDON_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_case {
	const char *name;
	void (*run)(void);
};

static int check_failures;

#define CHECK(cond)                                                                                                    \
	do {                                                                                                           \
		if (!(cond)) {                                                                                         \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);                                            \
			check_failures++;                                                                              \
		}                                                                                                      \
	} while (0)

#define CHECK_STR(got, want)                                                                                           \
	do {                                                                                                           \
		const char *got_ = (got), *want_ = (want);                                                             \
		if (!got_ || strcmp(got_, want_) != 0) {                                                               \
			printf("# %s:%d: got \"%s\", want \"%s\"\n", __FILE__, __LINE__, got_ ? got_ : "(null)",       \
			       want_);                                                                                 \
			check_failures++;                                                                              \
		}                                                                                                      \
	} while (0)

static int check_main(const struct check_case *cases, size_t n)
{
	int failed = 0;
	size_t i;

	printf("1..%zu\n", n);
	for (i = 0; i < n; i++) {
		check_failures = 0;
		cases[i].run();
		printf("%sok %zu - %s\n", check_failures ? "not " : "", i + 1, cases[i].name);
		fflush(stdout);
		failed += check_failures != 0;
	}
	return failed != 0;
}

#define CASE(f) {#f, f}

#endif
