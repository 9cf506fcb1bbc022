#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"
#include "supervise/textdiff.h"
#include "supervise/textdiff_lcs.h"

static char *diff_modes(const char *path, unsigned m0, struct sv a, unsigned m1, struct sv b,
			struct textdiff_style style)
{
	struct textdiff_side before = {.mode = m0, .text = a}, after = {.mode = m1, .text = b};
	char *p = NULL;
	size_t n;
	FILE *f = open_memstream(&p, &n);

	CHECK(f != NULL && textdiff_print(f, path, &before, &after, &style) == 0);
	if (f)
		(void)fclose(f);
	return p;
}

static char *diff(const char *a, const char *b)
{
	return diff_modes("x", 0100644, sv_of(a), 0100644, sv_of(b), (struct textdiff_style){0});
}

static void changes_have_three_lines_of_context(void)
{
	AUTO_FREE char *d = diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");

	CHECK_STR(d, "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

static void changes_far_apart_are_hunks_of_their_own(void)
{
	AUTO_FREE char *near = diff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n");
	AUTO_FREE char *far = diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n");

	CHECK_STR(near,
		  "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
	CHECK_STR(far, "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
		       "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

static void a_missing_last_newline_is_said(void)
{
	AUTO_FREE char *d = diff("a\nb", "a\nb\n");

	CHECK_STR(d,
		  "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
}

static void new_and_deleted_files_are_against_dev_null(void)
{
	AUTO_FREE char *n = diff_modes("d/n", 0, sv_of(""), 0100755, sv_of("a\n"), (struct textdiff_style){0});
	AUTO_FREE char *o = diff_modes("o", 0100644, sv_of("a\n"), 0, sv_of(""), (struct textdiff_style){0});
	AUTO_FREE char *e = diff_modes("e", 0, sv_of(""), 0100644, sv_of(""), (struct textdiff_style){0});

	CHECK_STR(n, "diff --git a/d/n b/d/n\nnew file mode 100755\n--- /dev/null\n+++ b/d/n\n@@ -0,0 +1 @@\n+a\n");
	CHECK_STR(o, "diff --git a/o b/o\ndeleted file mode 100644\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
	CHECK_STR(e, "diff --git a/e b/e\nnew file mode 100644\n");
}

static void modes_links_and_types_are_shown_as_git_does(void)
{
	AUTO_FREE char *m = diff_modes("m", 0100644, sv_of("a\n"), 0100755, sv_of("a\n"), (struct textdiff_style){0});
	AUTO_FREE char *t = diff_modes("t", 0100644, sv_of("a\n"), 0120777, sv_of("to"), (struct textdiff_style){0});

	CHECK_STR(m, "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n");
	CHECK_STR(t, "diff --git a/t b/t\ndeleted file mode 100644\n--- a/t\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
		     "diff --git a/t b/t\nnew file mode 120000\n--- /dev/null\n+++ b/t\n@@ -0,0 +1 @@\n+to\n\\ No "
		     "newline at end of file\n");
}

static void binary_and_hidden_content_is_only_named(void)
{
	AUTO_FREE char *b = diff_modes("b", 0100644, sv_n("a\0b", 3), 0100644, sv_of("c"), (struct textdiff_style){0});
	AUTO_FREE char *n = diff_modes("b", 0, sv_of(""), 0100644, sv_n("\0", 1), (struct textdiff_style){0});
	AUTO_FREE char *h = diff_modes("h", 0100644, sv_of("abc"), 0100644, (struct sv){0}, (struct textdiff_style){0});

	CHECK_STR(b, "diff --git a/b b/b\nBinary files a/b and b/b differ\n");
	CHECK_STR(n, "diff --git a/b b/b\nnew file mode 100644\nBinary files /dev/null and b/b differ\n");
	CHECK_STR(h, "diff --git a/h b/h\nFiles a/h and b/h are too large to show: 3 bytes before, 0 after\n");
}

static void names_are_quoted_where_git_would(void)
{
	AUTO_FREE char *q =
		diff_modes("a\n\"b", 0100644, sv_of("a\n"), 0100600, sv_of("a\n"), (struct textdiff_style){0});
	AUTO_FREE char *s = diff_modes("a b", 0100644, sv_of("a\n"), 0100644, sv_of("b\n"), (struct textdiff_style){0});

	CHECK_STR(q, "diff --git \"a/a\\012\\\"b\" \"b/a\\012\\\"b\"\nold mode 100644\nnew mode 100600\n");
	CHECK(s && strstr(s, "--- a/a b\t\n+++ b/a b\t\n"));
}

static void a_terminal_gets_no_control_characters(void)
{
	AUTO_FREE char *d = diff_modes("x\x1b[2J", 0100644, sv_of("a\n"), 0100644,
				       sv_of("\tb\x1b]0;evil\x07\r\n\xff\n"), (struct textdiff_style){.escape = true});
	const char *p;

	CHECK(d && strstr(d, "+\tb\\x1b]0;evil\\x07\\x0d\n+\\xff\n") && strstr(d, "+++ b/x\\x1b[2J\n"));
	for (p = d; p && *p; p++)
		CHECK(*p == '\n' || *p == '\t' || (unsigned char)*p >= 0x20);
}

static void two_texts_that_cost_too_much_are_too_different(void)
{
	AUTO_FREE char *d = diff_modes("x", 0100644, sv_of("1\n2\n3\n4\n"), 0100644, sv_of("4\n3\n2\n1\n5\n"),
				       (struct textdiff_style){.max_work = 10});

	CHECK_STR(d, "diff --git a/x b/x\nFiles a/x and b/x are too different: 4 lines before, 5 after\n");
}

static void a_large_rewritten_file_is_cheap(void)
{
	AUTO_BUF a, b;
	AUTO_FREE char *d = NULL;
	int i;

	buf_init(&a, 1 << 24);
	buf_init(&b, 1 << 24);
	for (i = 0; i < 200000; i++) {
		(void)buf_printf(&a, "old %d\n", i);
		(void)buf_printf(&b, "new %d\n", i);
	}
	d = diff(a.p, b.p);
	CHECK(d && strstr(d, "@@ -1,200000 +1,200000 @@"));
}

/* The length of the longest common subsequence, the slow way. */
static size_t lcs_length(const struct sv *a, size_t n, const struct sv *b, size_t m)
{
	static size_t t[64][64];
	size_t i, j;

	for (i = 0; i <= n; i++)
		for (j = 0; j <= m; j++)
			t[i][j] = i == 0 || j == 0            ? 0
				  : sv_eq(a[i - 1], b[j - 1]) ? t[i - 1][j - 1] + 1
				  : t[i - 1][j] > t[i][j - 1] ? t[i - 1][j]
							      : t[i][j - 1];
	return t[n][m];
}

static void the_edit_is_always_a_shortest_one(void)
{
	static const char *const words[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct sv v[2][63], *x, *y;
	unsigned char changed[2][64];
	size_t n[2], i, k, kept, round, alphabet;
	struct lcs_side s[2];
	uint64_t work;

	srand(7);
	for (round = 0; round < 20000; round++) {
		alphabet = 1 + (size_t)rand() % 8;
		memset(changed, 0, sizeof(changed));
		for (k = 0; k < 2; k++) {
			n[k] = (size_t)rand() % 40;
			for (i = 0; i < n[k]; i++)
				v[k][i] = sv_of(words[(size_t)rand() % alphabet]);
			s[k] = (struct lcs_side){v[k], n[k], changed[k]};
		}
		work = TEXTDIFF_WORK;
		CHECK(textdiff_lcs(&s[0], &s[1], &work) == 0);
		x = v[0];
		y = v[1];
		for (kept = 0, i = 0, k = 0; i < n[0] || k < n[1];) {
			if (i < n[0] && changed[0][i]) {
				i++;
			} else if (k < n[1] && changed[1][k]) {
				k++;
			} else if (i < n[0] && k < n[1] && sv_eq(x[i], y[k])) {
				i++, k++, kept++;
			} else {
				CHECK(0 == 1); /* kept lines do not pair up */
				return;
			}
		}
		CHECK(kept == lcs_length(x, n[0], y, n[1]));
		if (check_failures)
			return;
	}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(changes_have_three_lines_of_context),
		CASE(changes_far_apart_are_hunks_of_their_own),
		CASE(a_missing_last_newline_is_said),
		CASE(new_and_deleted_files_are_against_dev_null),
		CASE(modes_links_and_types_are_shown_as_git_does),
		CASE(binary_and_hidden_content_is_only_named),
		CASE(names_are_quoted_where_git_would),
		CASE(a_terminal_gets_no_control_characters),
		CASE(two_texts_that_cost_too_much_are_too_different),
		CASE(a_large_rewritten_file_is_cheap),
		CASE(the_edit_is_always_a_shortest_one),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
