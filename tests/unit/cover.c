/* sandbox/common/cover_known, cover_trees: which names of the host a container must not see are covered, and in which
 * folders new ones could come. */
#include "sandbox/common/cover_trees.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"

static struct sys_facts file(uint64_t inode, time_t born)
{
	return (struct sys_facts){.dev = 1, .inode = inode, .born = {.tv_sec = born, .tv_nsec = 7}};
}

static bool is_known(const struct cover_known *k, const char *target, struct sys_facts is)
{
	return cover_known_is(k, target, &is);
}

static void set(struct cover_known *k, const char *target, struct sys_facts is)
{
	CHECK(cover_known_set(k, target, &is) == 0);
}

static void a_name_is_covered_as_long_as_the_same_file_stands_there(void)
{
	struct cover_known k = {0};

	set(&k, "/w/.env", file(10, 100));
	CHECK(is_known(&k, "/w/.env", file(10, 100)));
	CHECK(!is_known(&k, "/w/.env", file(11, 100)));
	CHECK(!is_known(&k, "/w/.env", file(10, 101))); /* the number was used again */
	CHECK(!is_known(&k, "/w/other", file(10, 100))); /* another name of it */
	set(&k, "/w/.env", file(12, 102));
	CHECK(is_known(&k, "/w/.env", file(12, 102)) && k.n == 1);
	cover_known_done(&k);
}

static void a_name_that_was_lost_is_covered_no_more_whatever_comes_there(void)
{
	struct cover_known k = {0};

	set(&k, "/w/.env", file(10, 0));
	cover_known_forget(&k, "/w/.env");
	cover_known_forget(&k, "/w/never");
	CHECK(!is_known(&k, "/w/.env", file(10, 0)));
	CHECK(k.n == 1);
	cover_known_done(&k);
}

static void many_names_are_found_in_whatever_order_they_came(void)
{
	struct cover_known k = {0};
	char name[32];
	unsigned i;

	for (i = 0; i < 1000; i++) {
		(void)snprintf(name, sizeof(name), "/w/%u", i * 7919 % 1000);
		set(&k, name, file(i * 7919 % 1000 + 1, 5));
	}
	CHECK(k.n == 1000);
	for (i = 0; i < 1000; i++) {
		(void)snprintf(name, sizeof(name), "/w/%u", i);
		CHECK(is_known(&k, name, file(i + 1, 5)));
	}
	cover_known_done(&k);
}

/* Below a folder of the test's own: read-only and shown at /a, with a copy of another at /a/own, and a file that is
 * shown by itself. */
static void only_folders_that_are_shown_as_they_are_can_change(void)
{
	char top[] = "/tmp/cordon-cover-XXXXXX", hidden[64];
	struct plan_op ops[] = {
		{.kind = PLAN_BIND, .target = "/a", .source = top, .folder = true, .host = true},
		{.kind = PLAN_BIND, .target = "/a/own", .source = "/", .folder = true, .host = true, .writable = true},
		{.kind = PLAN_TMPFS, .target = "/a/tmp"},
		{.kind = PLAN_BIND, .target = "/denied", .source = top, .folder = true, .host = true},
		{.kind = PLAN_BIND, .target = "/file", .source = "/etc/passwd", .host = true},
		{.kind = PLAN_MASK, .target = "/a/.env"},
		{.kind = PLAN_MASK, .target = "/a/own/.env"},
		{.kind = PLAN_MASK, .target = "/denied"},
		{.kind = PLAN_MASK, .target = "/proc/kcore"},
	};
	struct plan plan = {.ops = ops, .n_ops = ARRAY_LEN(ops)};
	struct cover_known known = {0};
	struct cover_trees t = {0};

	CHECK(mkdtemp(top) != NULL);
	(void)snprintf(hidden, sizeof(hidden), "%s/.env", top);
	CHECK(mknod(hidden, S_IFREG | 0600, 0) == 0);
	CHECK(cover_trees_init(&t, &plan, &known) == 0);
	CHECK(t.n == 1 && t.v[0].op == &ops[0] && t.v[0].searched);
	CHECK(known.n == 1 && strcmp(known.v[0].target, "/a/.env") == 0 && known.v[0].is.inode != 0);
	CHECK(cover_trees_at(&t, "/a/x/y") == &t.v[0]);
	CHECK(!cover_trees_at(&t, "/a/own/x") && !cover_trees_at(&t, "/a/tmp/x") && !cover_trees_at(&t, "/file") &&
	      !cover_trees_at(&t, "/nowhere"));
	CHECK(strcmp(cover_tree_below(&t.v[0], "/a/x/y"), "x/y") == 0 &&
	      strcmp(cover_tree_below(&t.v[0], "/a"), "") == 0);
	CHECK(cover_tree_stands(&t.v[0]));
	CHECK(unlink(hidden) == 0 && rmdir(top) == 0 && !cover_tree_stands(&t.v[0]));
	cover_trees_done(&t);
	cover_known_done(&known);
}

static const struct check_case cases[] = {
	CASE(a_name_is_covered_as_long_as_the_same_file_stands_there),
	CASE(a_name_that_was_lost_is_covered_no_more_whatever_comes_there),
	CASE(many_names_are_found_in_whatever_order_they_came),
	CASE(only_folders_that_are_shown_as_they_are_can_change),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
