/*
 * bench-stage FROM TO ROUNDS: stages the task folder FROM into the empty folder TO, again and again; prints files,
 * bytes, and the median of the seconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sys/tree.h"
#include "task/stage.h"

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int from = argc == 4 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1,
	    to = argc == 4 ? open(argv[2], O_RDONLY | O_DIRECTORY) : -1;
	int rounds = argc == 4 ? atoi(argv[3]) : 0, i;
	struct problems problems = {0};
	struct stage_stats stats;
	struct error err;
	double v[1000];

	if (from < 0 || to < 0 || rounds < 1 || rounds > 1000)
		return 2;
	for (i = 0; i < rounds; i++) {
		double start = now();

		if (stage_copy(from, to, &stage_default_limits, &stats, NULL, &problems, &err) < 0) {
			fprintf(stderr, "bench-stage: %s\n", err.text);
			return 1;
		}
		v[i] = now() - start;
		sys_empty_tree(to);
	}
	qsort(v, (size_t)rounds, sizeof(v[0]), by_size);
	printf("%llu\t%llu\t%.6f\n", (unsigned long long)stats.files, (unsigned long long)stats.bytes, v[rounds / 2]);
	return 0;
}
