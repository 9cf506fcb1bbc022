/* task/workspace: what a diff of a work folder takes of the host is bounded, whatever lies in that folder. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "task/workspace.h"

static char base[] = "/tmp/cordon-workspace-XXXXXX";

/* An upper folder and one layer, each with an empty work folder. */
struct folders {
	char image[128];
	int upper, now, was; /* its root; the work folders */
};

static struct folders folders(const char *name)
{
	struct folders f;
	char path[160];

	(void)snprintf(f.image, sizeof(f.image), "%s/%s-image", base, name);
	(void)snprintf(path, sizeof(path), "%s/%s-upper", base, name);
	(void)mkdir(f.image, 0755);
	(void)mkdir(path, 0755);
	f.upper = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f.was = open(f.image, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mkdirat(f.upper, "app", 0755) == 0 && mkdirat(f.was, "app", 0755) == 0);
	f.now = openat(f.upper, "app", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)close(f.was);
	(void)snprintf(path, sizeof(path), "%s/app", f.image);
	f.was = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(f.upper >= 0 && f.now >= 0 && f.was >= 0);
	return f;
}

static void folders_done(struct folders *f)
{
	(void)close(f->upper);
	(void)close(f->now);
	(void)close(f->was);
}

static void put(int dir, const char *name, struct sv text)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write_all(fd, text.p, text.n) == 0);
}

/* The whole diff, as text. */
static const char *diff(const struct folders *f, int stop, struct buf *to)
{
	const char *layers[] = {f->image, NULL};
	struct error err;
	FILE *out = tmpfile();

	buf_init(to, (size_t)1 << 30);
	CHECK(out && workspace_diff(f->upper, layers, "/app", out, stop, &err) == 0);
	CHECK(fflush(out) == 0 && lseek(fileno(out), 0, SEEK_SET) == 0 && buf_read_fd(to, fileno(out)) == 0 &&
	      buf_char(to, '\0') == 0);
	(void)fclose(out);
	return to->p ? to->p : "";
}

/* Lines that have it. One after the other: some strstr() look at the whole of so long a text each time. */
static unsigned count(const char *text, const char *what)
{
	const char *end;
	unsigned n = 0;

	for (; *text; text = end + 1) {
		end = strchr(text, '\n');
		if (!end)
			break;
		n += memmem(text, (size_t)(end - text), what, strlen(what)) != NULL;
	}
	return n;
}

/* How many the last lines say are not shown. */
static unsigned hidden(const char *text)
{
	const char *line = strstr(text, "\n# changes that are not shown"), *colon = line ? strchr(line, ':') : NULL;

	return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

/* n lines, all different; twice the same where seed is. */
static void lines(struct buf *b, size_t n, unsigned seed)
{
	AUTO_FREE unsigned *v = calloc(n, sizeof(*v));
	size_t i, j;
	unsigned swap;

	buf_init(b, WORKSPACE_FILE);
	CHECK(v != NULL);
	srand(seed);
	for (i = 0; i < n; i++)
		v[i] = (unsigned)i;
	for (i = n - 1; seed && i > 0; i--) {
		j = (size_t)rand() % (i + 1);
		swap = v[i];
		v[i] = v[j];
		v[j] = swap;
	}
	for (i = 0; i < n; i++)
		(void)buf_printf(b, "line %u\n", v[i]);
	CHECK(buf_failed(b) == 0);
}

static void changes_are_shown(void)
{
	struct folders f = folders("plain");
	AUTO_BUF all = {0};
	const char *text;

	put(f.was, "f", sv_of("one\n"));
	put(f.now, "f", sv_of("two\n"));
	text = diff(&f, -1, &all);
	CHECK_STR(text, "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n");
	folders_done(&f);
}

static void a_file_of_many_names_fills_no_disk(void)
{
	enum { NAMES = 100 };
	struct folders f = folders("names");
	AUTO_BUF all = {0};
	const char *text;
	AUTO_BUF large = {0};
	char name[32];
	size_t i;

	lines(&large, 80000, 0);
	put(f.now, "n0", buf_view(&large));
	for (i = 1; i < NAMES; i++) {
		(void)snprintf(name, sizeof(name), "n%zu", i);
		CHECK(linkat(f.now, "n0", f.now, name, 0) == 0);
	}
	text = diff(&f, -1, &all);
	CHECK(all.n <= WORKSPACE_BYTES && all.n > WORKSPACE_BYTES / 4);
	CHECK(count(text, "diff --git ") == NAMES);
	CHECK(hidden(text) > 0 && hidden(text) < NAMES && hidden(text) == count(text, " are too large to show"));
	CHECK(count(text, "+++ b/n") == NAMES - hidden(text));
	folders_done(&f);
}

static void names_alone_fill_none_either(void)
{
	enum { NAMES = 4000, DEPTH = 14 };
	struct folders f = folders("deep");
	AUTO_BUF all = {0};
	const char *text;
	AUTO_FD dir = fcntl(f.now, F_DUPFD_CLOEXEC, 3);
	char name[NAME_MAX + 1];
	size_t i;
	int below;

	memset(name, '\xff', NAME_MAX);
	name[NAME_MAX] = '\0';
	for (i = 0; i < DEPTH; i++) {
		CHECK(mkdirat(dir, name, 0755) == 0);
		below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(dir);
		dir = below;
	}
	put(dir, "n0", sv_of("text\n"));
	for (i = 1; i < NAMES; i++) {
		(void)snprintf(name, sizeof(name), "n%zu", i);
		CHECK(linkat(dir, "n0", dir, name, 0) == 0);
	}
	text = diff(&f, -1, &all);
	CHECK(all.n <= WORKSPACE_BYTES && all.n > WORKSPACE_BYTES / 2);
	CHECK(hidden(text) > 0 && count(text, "+++ ") + hidden(text) == NAMES);
	folders_done(&f);
}

static void comparing_ends(void)
{
	enum { FILES = 12 };
	struct folders f = folders("work");
	AUTO_BUF all = {0};
	const char *text;
	char name[32];
	size_t i;

	for (i = 0; i < FILES; i++) {
		AUTO_BUF old = {0};
		AUTO_BUF new = {0};

		lines(&old, 30000, 1);
		lines(&new, 30000, (unsigned)i + 2);
		(void)snprintf(name, sizeof(name), "f%zu", i);
		put(f.was, name, buf_view(&old));
		put(f.now, name, buf_view(&new));
	}
	text = diff(&f, -1, &all);
	CHECK(count(text, " are too different") < 5 && hidden(text) >= FILES - 5);
	CHECK(count(text, " are too large to show") == hidden(text) && count(text, "diff --git ") == FILES);
	folders_done(&f);
}

/* Empty lines need no step but to be sorted. */
static void sorting_ends_too(void)
{
	enum { FILES = 40 };
	struct folders f = folders("sort");
	AUTO_FREE char *empty = malloc(WORKSPACE_FILE - 1);
	AUTO_BUF all = {0};
	const char *text;
	char name[32];
	size_t i;

	CHECK(empty != NULL);
	memset(empty, '\n', WORKSPACE_FILE - 1);
	put(f.was, "f0", sv_n(empty, WORKSPACE_FILE / 2));
	put(f.now, "f0", sv_n(empty, WORKSPACE_FILE - 1));
	for (i = 1; i < FILES; i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		CHECK(linkat(f.was, "f0", f.was, name, 0) == 0 && linkat(f.now, "f0", f.now, name, 0) == 0);
	}
	text = diff(&f, -1, &all);
	CHECK(hidden(text) >= FILES - 10 && count(text, "diff --git ") == FILES);
	folders_done(&f);
}

static void a_signal_ends_it(void)
{
	struct folders f = folders("stop");
	AUTO_BUF all = {0};
	AUTO_BUF none = {0};
	const char *whole;
	int ends[2];

	put(f.now, "f", sv_of("two\n"));
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	whole = diff(&f, ends[0], &all);
	CHECK(count(whole, "+two") == 1 && !strstr(whole, "# "));
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK_STR(diff(&f, ends[0], &none), "# there may be more changes: a signal came before all were looked at\n");
	(void)close(ends[0]);
	(void)close(ends[1]);
	folders_done(&f);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(changes_are_shown),
		CASE(a_file_of_many_names_fills_no_disk),
		CASE(names_alone_fill_none_either),
		CASE(comparing_ends),
		CASE(sorting_ends_too),
		CASE(a_signal_ends_it),
	};
	char command[64];
	int r;

	if (!mkdtemp(base))
		return 1;
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	(void)snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command) == 0 ? r : 1;
}
