/* What a search tries of its patterns, and where, is a matter of speed only: the same is found as if each were tried on
 * every entry. */
#include "plan/scan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/name_set.h"
#include "check.h"
#include "sys/tree.h"

enum { PATTERNS_MAX = 4, NEVER = NAME_SET_MAX + 1, ROUNDS = 600 };

static char place[] = "/tmp/cordon-scan.XXXXXX";
static const char *const names[] = {"a", "b", "c", ".env"};

/* Three levels of folders, each with all names; a name that ends in a letter further on is a file. */
static void build(const char *folder, int depth)
{
	char path[256];
	size_t i;
	int fd;

	for (i = 0; i < 4; i++) {
		(void)snprintf(path, sizeof(path), "%.200s/%s", folder, names[i]);
		if (depth < 3 && i < 3) {
			CHECK(mkdir(path, 0700) == 0);
			build(path, depth + 1);
		} else {
			fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
			CHECK(fd >= 0 && close(fd) == 0);
		}
	}
}

static int note(void *arg, const char *path, const struct plan_guard *guard, bool on_way)
{
	return buf_printf(arg, "%s %s %d\n", path, guard->rule, on_way);
}

static void search(struct plan_guard *guards, size_t n, const char *shown_as, struct buf *found)
{
	struct scan s = {.guards = guards, .n_guards = n, .max_entries = 100000, .found = note, .arg = found};
	struct error err = {0};
	uint64_t entries = 0;

	CHECK(scan_tree(&s, place, shown_as, &entries, &err) == 0);
}

/* Below the tree, at it, above it or floating; of names, wildcards and "**". */
static void random_pattern(char *out, size_t size, const char *shown_as)
{
	static const char *const parts[] = {"a", "b", "c", ".env", "*", "?", "**"};
	const char *inside = strcmp(shown_as, "/") == 0 ? "/b" : shown_as;
	const char *const starts[] = {"**", "/*", "/tmp", place, inside, place, inside, "/**"};
	int n = rand() % 4, at = snprintf(out, size, "%s", starts[rand() % 8]);

	while (n-- > 0 && (size_t)at < size)
		at += snprintf(out + at, size - (size_t)at, "/%s", parts[rand() % 7]);
	if (strcmp(out, "**") == 0 || strcmp(out, "/**") == 0)
		(void)snprintf(out, size, "**/a");
}

static struct plan_guard never[NEVER];

static void make_never(void)
{
	char text[32];
	size_t i;

	for (i = 0; i < NEVER; i++) {
		(void)snprintf(text, sizeof(text), "**/never-%zu", i);
		never[i].rule = "none";
		CHECK(glob_init(&never[i].glob, sv_of(text)) == 0);
	}
}

static void patterns_are_found_wherever_they_begin(void)
{
	static const char *const shown[] = {place, "/work", "/"};
	char text[PATTERNS_MAX][128];
	AUTO_BUF some = {0};
	AUTO_BUF all = {0};
	int round;

	make_never();
	buf_init(&some, 1 << 20);
	buf_init(&all, 1 << 20);
	srand(7);
	for (round = 0; round < ROUNDS; round++) {
		static struct plan_guard guards[PATTERNS_MAX + NEVER];
		const char *shown_as = shown[rand() % 3];
		size_t n = 1 + (size_t)rand() % PATTERNS_MAX, i;

		for (i = 0; i < n; i++) {
			random_pattern(text[i], sizeof(text[i]), shown_as);
			guards[i] = (struct plan_guard){.rule = text[i], .hidden = rand() % 2};
			CHECK(glob_init(&guards[i].glob, sv_of(text[i])) == 0);
		}
		/* with so many names behind them, all are tried on every entry */
		memcpy(guards + n, never, sizeof(never));
		buf_clear(&some);
		buf_clear(&all);
		(void)buf_str(&some, "");
		(void)buf_str(&all, "");
		search(guards, n, shown_as, &some);
		search(guards, n + NEVER, shown_as, &all);
		if (strcmp(some.p, all.p) != 0)
			printf("# shown as %s, %s and %zu more:\n%s# is not\n%s", shown_as, text[0], n - 1, some.p,
			       all.p);
		CHECK_STR(some.p, all.p);
		for (i = 0; i < n; i++)
			glob_done(&guards[i].glob);
	}
	for (round = 0; round < NEVER; round++)
		glob_done(&never[round].glob);
}

int main(void)
{
	static const struct check_case cases[] = {CASE(patterns_are_found_wherever_they_begin)};
	int r;

	CHECK(mkdtemp(place) != NULL);
	build(place, 0);
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	sys_remove_tree(AT_FDCWD, place);
	return r;
}
