/* Ways through symbolic links: where they lead is where the C library says, and each link on them is told. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "check.h"
#include "plan/plan_links.h"

static char root[PATH_MAX];

static const char *in(struct arena *a, const char *name)
{
	return arena_printf(a, "%s/%s", root, name);
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245U + 12345U;
	return *seed >> 16 & 0x7fff;
}

/* A few names in a few folders; whatever is wrong with a link (loops, nowhere, dots, slashes) comes up. */
static void random_path(unsigned *seed, struct buf *out)
{
	static const char *const names[] = {"a", "b", "c", "d", "..", ".", "e", "f", "g"};
	unsigned i, n = 1 + next_random(seed) % 4;

	for (i = 0; i < n; i++)
		(void)buf_printf(out, "%s%s", i ? next_random(seed) % 8 ? "/" : "//" : "",
				 names[next_random(seed) % ARRAY_LEN(names)]);
}

/* Links lead out of the test's folder, too: nothing is made there. */
static bool is_ours(const char *name)
{
	char folder[PATH_MAX], real[PATH_MAX], *slash;
	size_t n = strlen(root);

	(void)snprintf(folder, sizeof(folder), "./%s", name);
	slash = strrchr(folder, '/');
	*slash = '\0';
	return realpath(folder, real) && strncmp(real, root, n) == 0 && (real[n] == '/' || !real[n]);
}

static void make_something(unsigned *seed)
{
	AUTO_BUF name = {0};
	AUTO_BUF text = {0};
	unsigned kind = next_random(seed) % 8;

	buf_init(&name, PATH_MAX);
	buf_init(&text, PATH_MAX);
	random_path(seed, &name);
	if (!is_ours(name.p))
		return;
	if (kind < 3 && mkdir(name.p, 0700) < 0)
		return;
	if (kind < 3)
		return;
	if (next_random(seed) % 3 == 0)
		(void)buf_printf(&text, "%s/", root);
	random_path(seed, &text);
	if (symlink(text.p, name.p) < 0)
		return;
}

static unsigned count(const struct plan_way *way)
{
	const struct plan_link *l;
	unsigned n = 0;

	for (l = way->links; l; l = l->next)
		n++;
	return n;
}

static void a_way_leads_where_the_c_library_says(void)
{
	struct arena *a = arena_new();
	char real[PATH_MAX];
	struct plan_way way;
	unsigned i, seed = 7, found = 0;
	const char *path;
	bool is;
	int r;

	CHECK(chdir(root) == 0);
	for (i = 0; i < 300; i++)
		make_something(&seed);
	for (i = 0; i < 20000; i++) {
		AUTO_BUF b = {0};

		buf_init(&b, PATH_MAX);
		random_path(&seed, &b);
		path = in(a, b.p);
		is = realpath(path, real);
		r = plan_links_find(a, path, &way);
		found += is;
		if (is && (r < 0 || strcmp(way.real, real) != 0))
			printf("# %s: %s, not %s\n", path, r < 0 ? strerror(-r) : way.real, real);
		CHECK(!is || (r == 0 && strcmp(way.real, real) == 0));
		/* what is found has no link in it, whatever the way was */
		CHECK(r < 0 || (realpath(way.real, real) && strcmp(way.real, real) == 0));
	}
	CHECK(found > 1000 && found < 19000);
	arena_free(a);
}

static void each_link_is_told_with_the_folder_that_it_lies_in(void)
{
	struct arena *a = arena_new();
	const struct plan_link *l;
	struct plan_way way;

	CHECK(mkdir(in(a, "one"), 0700) == 0 && mkdir(in(a, "two"), 0750) == 0 && mkdir(in(a, "two/deep"), 0700) == 0);
	CHECK(symlink("../two", in(a, "one/way")) == 0 && symlink("deep/../deep", in(a, "two/on")) == 0 &&
	      symlink(in(a, "one/way"), in(a, "first")) == 0);
	CHECK(plan_links_find(a, in(a, "first/on"), &way) == 0);
	CHECK_STR(way.real, in(a, "two/deep"));
	CHECK(count(&way) == 3);
	l = way.links; /* the last one first */
	CHECK_STR(l ? l->folder : "", in(a, "two"));
	CHECK_STR(l ? l->path : "", in(a, "two/on"));
	CHECK(l && (l->st.st_mode & 0777) == 0750);
	l = l ? l->next : NULL;
	CHECK_STR(l ? l->folder : "", in(a, "one"));
	l = l ? l->next : NULL;
	CHECK_STR(l ? l->path : "", in(a, "first"));
	CHECK(plan_links_find(a, in(a, "two/deep"), &way) == 0 && count(&way) == 0);
	CHECK(plan_links_find(a, "/", &way) == 0 && count(&way) == 0);
	CHECK_STR(way.real, "/");
	arena_free(a);
}

static void loops_and_long_ways_lead_nowhere(void)
{
	struct arena *a = arena_new();
	AUTO_FREE char *text = malloc(5000);
	struct plan_way way;
	int i;

	CHECK(symlink("l2", in(a, "l1")) == 0 && symlink("l1", in(a, "l2")) == 0);
	CHECK(plan_links_find(a, in(a, "l1"), &way) == -ELOOP);
	CHECK(symlink(".", in(a, "s0")) == 0);
	for (i = 0; i < 45; i++)
		CHECK(symlink(arena_printf(a, "s%d", i), in(a, arena_printf(a, "s%d", i + 1))) == 0);
	CHECK(plan_links_find(a, in(a, "s20"), &way) == 0 && count(&way) == 21);
	CHECK_STR(way.real, root);
	CHECK(plan_links_find(a, in(a, "s45"), &way) == -ELOOP);
	/* each round is a longer rest */
	CHECK(symlink("more/././././././././././././././.", in(a, "more")) == 0);
	CHECK(plan_links_find(a, in(a, "more/x"), &way) < 0);
	memset(text, 'x', 4999);
	text[4999] = '\0';
	CHECK(plan_links_find(a, in(a, text), &way) < 0);
	text[300] = '\0';
	CHECK(plan_links_find(a, in(a, text), &way) == -ENAMETOOLONG);
	arena_free(a);
}

/* What is told of the way, the last first, without the test's folder. */
static const char *told(struct arena *a, const struct plan_way *way)
{
	const struct plan_link *l;
	const char *s = "";

	for (l = way->links; l; l = l->next)
		s = arena_printf(a, "%s %s", s,
				 strncmp(l->path, root, strlen(root)) == 0 ? l->path + strlen(root) + 1 : l->path);
	return s;
}

static void a_trace_goes_on_where_nothing_stands(void)
{
	static const struct {
		const char *text, *real, *told;
	} cases[] = {
		{".githooks", "t/.githooks", ""},
		{".githooks/", "t/.githooks", ""},
		{"./.githooks/./", "t/.githooks", ""},
		{"no//where/.//x", "t/no/where/x", ""},
		{"no/../x", "t/x", " t/no"},
		{"no/where/../../x", "t/x", " t/no t/no/where"},
		{"no/..", "t", " t/no"},
		{"../x", "x", ""},
		{"../t/../x", "x", " t"},
		{"file/x", "t/file/x", ""},
		{"way", "t/way", ""},
		{"way/.", "t/way", ""},
		{"way/x", "t/real/deep/x", " t/way"},
		{"way/../x", "t/real/x", " t/real/deep t/way"},
		{"no/../way/x", "t/real/deep/x", " t/way t/no"},
		{"real/up/x", "t/x", " t/real/up"},
		{"real/...", "t/real/...", ""},
	};
	struct arena *a = arena_new();
	struct plan_way way;
	unsigned i;

	CHECK(mkdir(in(a, "t"), 0700) == 0 && mkdir(in(a, "t/real"), 0700) == 0 &&
	      mkdir(in(a, "t/real/deep"), 0700) == 0);
	CHECK(symlink("real/deep", in(a, "t/way")) == 0 && symlink("..", in(a, "t/real/up")) == 0 &&
	      close(creat(in(a, "t/file"), 0600)) == 0);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK(plan_links_trace(a, in(a, "t"), cases[i].text, &way) == 0);
		CHECK_STR(way.real ? way.real : "", in(a, cases[i].real));
		CHECK_STR(told(a, &way), cases[i].told);
	}
	CHECK(plan_links_trace(a, in(a, "t"), "/no//such/../x/", &way) == 0);
	CHECK_STR(way.real, "/no/x");
	CHECK(symlink("ring", in(a, "t/ring")) == 0);
	CHECK(plan_links_trace(a, in(a, "t"), "ring/x", &way) == -ELOOP && count(&way) > 0);
	arena_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_way_leads_where_the_c_library_says),
		CASE(each_link_is_told_with_the_folder_that_it_lies_in),
		CASE(loops_and_long_ways_lead_nowhere),
		CASE(a_trace_goes_on_where_nothing_stands),
	};
	char temporary[] = "/tmp/plan_links.XXXXXX", command[PATH_MAX + 16];
	int r;

	if (!mkdtemp(temporary) || !realpath(temporary, root))
		return 99;
	r = check_main(cases, ARRAY_LEN(cases));
	(void)snprintf(command, sizeof(command), "rm -rf '%.200s'", root);
	return system(command) == 0 ? r : 99;
}
