/*
 * spawn: times commands side by side.
 *
 *	spawn [-r ROUNDS] [-w WARM_UP_ROUNDS] NAME[@K] CMD ARG... [, NAME[@K] CMD ARG...]...
 *
 * Each round starts every command once, waits for its end, and takes the time from before vfork to after wait; the next
 * round begins with another command, so that none always runs behind the same one. A command with @K is in every K-th
 * round only. stdin, stdout and stderr are /dev/null.
 *
 * Prints a line per command, tab-separated: name, runs, median, 10th and 90th percentile (all in microseconds), ratio
 * of its median to the first command's. A command that fails is not timed any further: name, "failed", what happened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS_MAX = 32, ROUNDS_MAX = 100000 };

struct row {
	const char *name;
	int every;
	char **argv;
	double *us;
	int n;
	char failure[64];
};

static void die(const char *what)
{
	fprintf(stderr, "spawn: %s\n", what);
	exit(2);
}

static double now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* The wait status, or -1. */
static int run_once(char *const *argv, int null_fd, double *ret_us)
{
	double start = now_us();
	pid_t pid = vfork();
	int status = -1;

	if (pid == 0) {
		(void)dup2(null_fd, 0);
		(void)dup2(null_fd, 1);
		(void)dup2(null_fd, 2);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	*ret_us = now_us() - start;
	return status;
}

static void time_row(struct row *r, int null_fd, bool warm_up)
{
	double us = 0;
	int status = run_once(r->argv, null_fd, &us);

	if (status == -1)
		(void)snprintf(r->failure, sizeof(r->failure), "could not be started");
	else if (WIFSIGNALED(status))
		(void)snprintf(r->failure, sizeof(r->failure), "signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		(void)snprintf(r->failure, sizeof(r->failure), "exit status %d", WEXITSTATUS(status));
	else if (!warm_up)
		r->us[r->n++] = us;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* q in percent, by the nearest rank. */
static double quantile(const struct row *r, int q)
{
	return r->us[(r->n - 1) * q / 100];
}

static int parse_rows(char **argv, int argc, struct row *rows)
{
	int n = 0, i = 0;
	char *at;

	while (i < argc) {
		struct row *r = &rows[n];

		if (n == ROWS_MAX || i + 1 >= argc)
			die("usage: spawn [-r ROUNDS] [-w WARM_UP_ROUNDS] NAME[@K] CMD ARG... [, NAME[@K] CMD "
			    "ARG...]...");
		*r = (struct row){.name = argv[i], .every = 1, .argv = argv + i + 1};
		at = strrchr(argv[i], '@');
		if (at) {
			*at = '\0';
			r->every = atoi(at + 1);
		}
		if (r->every < 1)
			die("@K must be at least 1");
		while (i < argc && strcmp(argv[i], ",") != 0)
			i++;
		argv[i++] = NULL; /* argv[argc] is NULL already */
		n++;
	}
	return n;
}

static void print_rows(struct row *rows, int n)
{
	double first = 0, median;
	int i;

	for (i = 0; i < n; i++) {
		struct row *r = &rows[i];

		if (r->failure[0] || r->n == 0) {
			printf("%s\tfailed\t%s\n", r->name, r->failure[0] ? r->failure : "never run");
			continue;
		}
		qsort(r->us, (size_t)r->n, sizeof(r->us[0]), by_size);
		median = quantile(r, 50);
		if (i == 0)
			first = median;
		printf("%s\t%d\t%.1f\t%.1f\t%.1f\t%.3f\n", r->name, r->n, median, quantile(r, 10), quantile(r, 90),
		       first > 0 ? median / first : 0);
	}
}

int main(int argc, char **argv)
{
	static struct row rows[ROWS_MAX];
	int rounds = 100, warm_up = 3, n, i, k, c, null_fd;

	while ((c = getopt(argc, argv, "+r:w:")) != -1) {
		if (c == 'r')
			rounds = atoi(optarg);
		else if (c == 'w')
			warm_up = atoi(optarg);
		else
			return 2;
	}
	if (rounds < 1 || rounds > ROUNDS_MAX || warm_up < 0)
		die("rounds out of range");
	n = parse_rows(argv + optind, argc - optind, rows);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; i < n; i++) {
		rows[i].us = calloc((size_t)rounds, sizeof(double));
		if (!rows[i].us)
			die("no memory");
	}
	for (i = -warm_up; i < rounds; i++) {
		for (k = 0; k < n; k++) {
			struct row *r = &rows[(k + (i < 0 ? 0 : i)) % n];

			if (!r->failure[0] && (i < 0 ? r->every == 1 || i == -1 : i % r->every == 0))
				time_row(r, null_fd, i < 0);
		}
	}
	print_rows(rows, n);
	return 0;
}
