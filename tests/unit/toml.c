#include "conf/toml.h"

#include "base/buf.h"
#include "check.h"
#include "conf/reader.h"

/* tests/toml.sh holds the parser to the public suite; here is what that does not look at. */

static struct arena *arena;

static const struct ynode *parse(struct sv text, struct error *err)
{
	const struct ynode *root = NULL;

	*err = (struct error){0};
	return toml_tree(arena, "t.toml", text, &root, err) == 0 ? root : NULL;
}

static const struct ynode *value_of(const char *text, const char *key)
{
	struct error err;
	const struct ynode *root = parse(sv_of(text), &err);

	return root ? reader_find(root, key) : NULL;
}

static void check_error(const char *text, const char *want)
{
	struct error err;

	CHECK(!parse(sv_of(text), &err));
	CHECK(err.kind == ERROR_INPUT);
	CHECK_STR(err.text, want);
}

static void errors_name_file_line_and_column(void)
{
	check_error("a = 1\nb = ", "t.toml:2:5: a value is missing; write one, with quotes where it is text");
	check_error("a = 1\na = 2\n", "t.toml:2:1: a: duplicate key; keep one of them, first given in line 1");
	check_error("\xc3\xa9 = 1\n",
		    "t.toml:1:1: a key is missing here; put quotes around one that is not of letters, digits, - and _");
	check_error("\"\xc3\xa9\xc3\xa9\" = yes\n",
		    "t.toml:1:8: \"yes\" is no number, time, true or false; put quotes around text");
	check_error("a = \"x\ny\"",
		    "t.toml:1:7: the string has no end in this line; close its quotes, or use three of them");
	check_error("a = \"\"\"\nx\n\n", "t.toml:4:1: the string has no end; close its quotes");
	check_error("[a]\n[b]\n[a]\n", "t.toml:3:2: a: duplicate table; keep one of them, first given in line 1");
	check_error("a = {b = 1}\n[a.c]\n",
		    "t.toml:2:2: a: is written inline and cannot be added to, first given in line 1");
	check_error("a = \"\033[2J\"",
		    "t.toml:1:6: control character 0x1b; remove it, or write it as \\u001B in a string");
	check_error("\"\\u001b[2J\" = 1\n\"\\u001b[2J\" = 1\n",
		    "t.toml:2:1: \\x1b[2J: duplicate key; keep one of them, first given in line 1");
}

static void keys_and_values_know_their_place(void)
{
	struct error err;
	const struct ynode *root = parse(sv_of("\n  [ a . b ]\n\tk  =  [ 1,\n   'x' ]\n"), &err);
	const struct ynode *b = root ? root->first->value->first : NULL;

	CHECK(b && b->line == 2 && b->column == 9);
	CHECK(b && b->value->first->line == 3 && b->value->first->column == 2);
	CHECK(b && b->value->first->value->line == 3 && b->value->first->value->column == 8);
	CHECK(b && b->value->first->value->first->next->line == 4 && b->value->first->value->first->next->column == 4);
}

static void numbers_are_written_one_way(void)
{
	CHECK_STR(value_of("a = 0xdead_BEEF", "a")->text.p, "3735928559");
	CHECK_STR(value_of("a = +1_000", "a")->text.p, "1000");
	CHECK_STR(value_of("a = -0", "a")->text.p, "0");
	CHECK_STR(value_of("a = +6.0_1e+2", "a")->text.p, "6.01e+2");
	CHECK_STR(value_of("a = -9223372036854775808", "a")->text.p, "-9223372036854775808");
	CHECK(!value_of("a = 9223372036854775808", "a"));
	CHECK(!value_of("a = 0x8000000000000000", "a"));
	CHECK_STR(value_of("a = 1979-05-27 07:32:00z", "a")->text.p, "1979-05-27T07:32:00Z");
}

static void a_string_may_hold_a_nul_and_says_how_long_it_is(void)
{
	const struct ynode *n = value_of("a = \"x\\u0000y\"", "a");

	CHECK(n && n->text.n == 3 && memcmp(n->text.p, "x\0y", 4) == 0);
	CHECK(n && !n->plain && n->type == YTYPE_STRING);
}

static void put_many(struct buf *b, const char *s, unsigned n)
{
	for (; n > 0; n--)
		(void)buf_str(b, s);
}

static void refused_for(const struct buf *b, const char *why)
{
	struct error err;

	CHECK(!parse(buf_view(b), &err));
	CHECK(strstr(err.text, why));
}

static void nesting_has_an_end_whichever_way_it_is_written(void)
{
	static const struct {
		const char *before, *each, *behind;
	} ways[] = {
		{"a = ", "[", ""}, {"a = ", "{a = ", ""}, {"[a", ".a", "]"}, {"a", ".a", " = 1"}, {"[[a", ".a", "]]"}};
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		AUTO_BUF b = {0};

		buf_init(&b, 1 << 20);
		(void)buf_str(&b, ways[i].before);
		put_many(&b, ways[i].each, 10000);
		(void)buf_str(&b, ways[i].behind);
		refused_for(&b, "nested deeper");
	}
}

/* Each list of tables is two levels. */
static void lists_of_tables_count_twice(void)
{
	AUTO_BUF b = {0};
	unsigned i;

	buf_init(&b, 1 << 20);
	for (i = 1; i <= 20; i++) {
		(void)buf_str(&b, "[[a");
		put_many(&b, ".a", i - 1);
		(void)buf_str(&b, "]]\n");
	}
	refused_for(&b, "nested deeper");
}

static void size_and_number_of_values_have_an_end(void)
{
	AUTO_BUF b = {0};

	buf_init(&b, 32 << 20);
	(void)buf_str(&b, "a = [");
	put_many(&b, "1,", TOML_TREE_NODES + 1);
	(void)buf_str(&b, "]");
	refused_for(&b, "more than");
	buf_clear(&b);
	put_many(&b, "#\n", TOML_TREE_BYTES / 2 + 1);
	refused_for(&b, "larger than");
}

/* What would take the square of its size in a list takes next to nothing. */
static void a_table_of_very_many_keys_is_read(void)
{
	AUTO_BUF b = {0};
	struct error err;
	const struct ynode *root;
	unsigned i;

	buf_init(&b, 8 << 20);
	for (i = 0; i < 200000; i++)
		(void)buf_printf(&b, "k%u=1\n", i);
	root = parse(buf_view(&b), &err);
	CHECK(root && root->n == 200000);
	(void)buf_str(&b, "k199999=2\n");
	refused_for(&b, "duplicate key");
}

static void an_empty_file_is_an_empty_table(void)
{
	struct error err;
	const struct ynode *root = parse(sv_of(""), &err);

	CHECK(root && root->kind == YNODE_MAP && root->n == 0);
	root = parse(sv_of("\xef\xbb\xbf# only this"), &err);
	CHECK(root && root->n == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(errors_name_file_line_and_column),
		CASE(keys_and_values_know_their_place),
		CASE(numbers_are_written_one_way),
		CASE(a_string_may_hold_a_nul_and_says_how_long_it_is),
		CASE(nesting_has_an_end_whichever_way_it_is_written),
		CASE(lists_of_tables_count_twice),
		CASE(size_and_number_of_values_have_an_end),
		CASE(a_table_of_very_many_keys_is_read),
		CASE(an_empty_file_is_an_empty_table),
	};
	int r;

	arena = arena_new();
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return r;
}
