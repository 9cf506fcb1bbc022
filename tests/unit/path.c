#include "base/path.h"
#include "check.h"

static void a_folder_holds_itself_and_what_is_below(void)
{
	CHECK(path_is_in("/a/b", "/a/b") && path_is_in("/a/b/c", "/a/b") && path_is_in("a/b", "a"));
	CHECK(!path_is_in("/a/bc", "/a/b") && !path_is_in("/a", "/a/b") && !path_is_in("", "a"));
	CHECK(path_is_below("/a/b/c", "/a/b") && !path_is_below("/a/b", "/a/b") && !path_is_below("/a/b/", "/a/b") &&
	      !path_is_below("/a/bc", "/a/b"));
}

static void all_is_in_the_root_and_nothing_relative(void)
{
	CHECK(path_is_in("/", "/") && path_is_in("/a", "/") && path_is_below("/a", "/") && !path_is_below("/", "/"));
	CHECK(!path_is_in("a", "/"));
}

static void a_slash_at_the_end_of_the_folder_is_nothing(void)
{
	CHECK(path_is_in("/a/b", "/a/") && path_is_in("/a", "/a/") && !path_is_in("/ab", "/a/"));
}

static void the_rest_begins_with_its_slash(void)
{
	CHECK_STR(path_rest("/a/b/c", "/a"), "/b/c");
	CHECK_STR(path_rest("/a/b", "/"), "/a/b");
	CHECK_STR(path_rest("/a", "/a"), "");
	CHECK(!path_rest("/ab", "/a"));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_folder_holds_itself_and_what_is_below),
		CASE(all_is_in_the_root_and_nothing_relative),
		CASE(a_slash_at_the_end_of_the_folder_is_nothing),
		CASE(the_rest_begins_with_its_slash),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
