/* Guards by their names: what is found is what a look at each of them would find. */
#include "plan/guard_names.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "check.h"

enum { MANY = 3000 };

static struct plan_guard guards[MANY];

static void add_one(struct guard_names *s, uint32_t i, const char *pattern, bool hidden)
{
	guards[i].hidden = hidden;
	CHECK(glob_init(&guards[i].glob, sv_of(pattern)) == 0);
	CHECK(guard_names_add(s, &guards[i], i) == 0);
}

static void drop(struct guard_names *s, uint32_t n)
{
	while (n)
		glob_done(&guards[--n].glob);
	guard_names_done(s);
}

static void a_plain_pattern_is_found_by_its_path_and_by_the_way_there(void)
{
	struct guard_names s = {0};
	const struct guard_name *e;

	CHECK(!guard_names_find(&s, sv_of("/a")));
	add_one(&s, 0, "/a/b/c", false);
	add_one(&s, 1, "/a/b/c/**", true);
	add_one(&s, 2, "/a/b", false);
	add_one(&s, 3, "/a/b/c", true);
	e = guard_names_find(&s, sv_of("/a/b/c"));
	CHECK(e && e->protects == 0 && e->hides == 1 && e->way == GUARD_NONE);
	e = guard_names_find(&s, sv_of("/a/b"));
	CHECK(e && e->protects == 2 && e->hides == GUARD_NONE && e->way == 0);
	e = guard_names_find(&s, sv_of("/a"));
	CHECK(e && e->protects == GUARD_NONE && e->hides == GUARD_NONE && e->way == 0);
	CHECK(!guard_names_find(&s, sv_of("/a/b/c/d")) && !guard_names_find(&s, sv_of("/a/")) &&
	      !guard_names_find(&s, sv_of("")));
	drop(&s, 4);
}

static void one_with_wildcards_is_found_by_its_text_alone(void)
{
	struct guard_names s = {0};
	const struct guard_name *e;

	add_one(&s, 0, "/a/b", false);
	add_one(&s, 1, "/a/x*/c", true);
	add_one(&s, 2, "**/.env", true);
	e = guard_names_find(&s, sv_of("/a/x*/c"));
	CHECK(e && e->hides == 1 && !guard_names_find(&s, sv_of("/a/x*")));
	e = guard_names_find(&s, sv_of("**/.env"));
	CHECK(e && e->hides == 2);
	CHECK(s.n_wild == 2 && s.wild[0] == 1 && s.wild[1] == 2);
	drop(&s, 3);
}

static void many_are_kept_apart(void)
{
	struct guard_names s = {0};
	const struct guard_name *e;
	char name[64];
	uint32_t i;

	for (i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "/w/d%u/t%u", i % 50, i);
		add_one(&s, i, name, i % 2);
	}
	for (i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "/w/d%u/t%u", i % 50, i);
		e = guard_names_find(&s, sv_of(name));
		CHECK(e && (i % 2 ? e->hides : e->protects) == i && (i % 2 ? e->protects : e->hides) == GUARD_NONE);
	}
	e = guard_names_find(&s, sv_of("/w/d49"));
	CHECK(e && e->way == 49 && !guard_names_find(&s, sv_of("/w/d50")));
	drop(&s, MANY);
}

static void a_table_from_an_arena_finds_the_same(void)
{
	struct arena *a = arena_new();
	struct guard_names s = {.arena = a};
	const struct guard_name *e;
	char pattern[64];
	uint32_t i;

	CHECK(guard_names_expect(&s, 200) == 0 && s.room >= 400);
	for (i = 0; i < 1000; i++) {
		(void)snprintf(pattern, sizeof(pattern), "/w/%u", i);
		add_one(&s, i, pattern, true);
	}
	for (i = 0; i < 1000; i++) {
		(void)snprintf(pattern, sizeof(pattern), "/w/%u", i);
		e = guard_names_find(&s, sv_of(pattern));
		CHECK(e && e->hides == i);
	}
	drop(&s, 1000);
	arena_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_plain_pattern_is_found_by_its_path_and_by_the_way_there),
		CASE(one_with_wildcards_is_found_by_its_text_alone),
		CASE(many_are_kept_apart),
		CASE(a_table_from_an_arena_finds_the_same),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
