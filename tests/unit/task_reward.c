/* task/reward: only the strict form is a score; everything else is an error with a reason. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "sys/tree.h"
#include "task/reward.h"

struct world {
	char base[64];
	int top, folder;
	double low, high;
	struct arena *a;
	struct reward r;
	struct error err;
};

static void world_open(struct world *w)
{
	*w = (struct world){.low = 0, .high = 1, .a = arena_new()};
	snprintf(w->base, sizeof(w->base), "/tmp/cordon-reward.XXXXXX");
	CHECK(mkdtemp(w->base) != NULL);
	w->top = open(w->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mkdirat(w->top, "verifier", 0755) == 0);
	w->folder = openat(w->top, "verifier", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void world_close(struct world *w)
{
	sys_empty_tree(w->top);
	close(w->folder);
	close(w->top);
	CHECK(rmdir(w->base) == 0);
	arena_free(w->a);
}

static void put(int dir, const char *name, struct sv text)
{
	AUTO_FD fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n);
}

static int score(struct world *w)
{
	return reward_read(w->folder, w->low, w->high, w->a, &w->r, &w->err);
}

/* NULL: no such file. NAN: no score. */
static double of(const char *text, const char *json, double low, double high)
{
	struct world w;
	double v;

	world_open(&w);
	w.low = low;
	w.high = high;
	if (text)
		put(w.folder, "reward.txt", sv_of(text));
	if (json)
		put(w.folder, "reward.json", sv_of(json));
	v = score(&w) == 0 ? w.r.value : (double)NAN;
	if (isnan(v))
		CHECK(w.err.kind == ERROR_INPUT && w.err.text[0]);
	world_close(&w);
	return v;
}

static int code_of(const char *text, const char *json)
{
	struct world w;
	int code;

	world_open(&w);
	if (text)
		put(w.folder, "reward.txt", sv_of(text));
	if (json)
		put(w.folder, "reward.json", sv_of(json));
	code = score(&w) == 0 ? -1 : w.err.code;
	world_close(&w);
	return code;
}

/* Who judges again where there is no reward has to tell them apart. */
static void a_reward_that_cannot_be_the_score_is_told_from_none(void)
{
	CHECK(code_of("3.2", NULL) == ERANGE && code_of("-1", NULL) == ERANGE);
	CHECK(code_of(NULL, "{\"reward\": 2}") == ERANGE && code_of(NULL, "{\"a\": 1, \"b\": 2}") == ERANGE);
	CHECK(code_of("1", "{\"reward\": 0.5}") == ERANGE);
	CHECK(code_of(NULL, NULL) == 0 && code_of("", NULL) == 0 && code_of("much", NULL) == 0);
	CHECK(code_of(NULL, "{") == 0 && code_of(NULL, "{\"reward\": true}") == 0 && code_of("1", "[]") == 0);
	CHECK(code_of("1", NULL) == -1);
}

static void a_plain_number_is_a_score(void)
{
	CHECK(of("1", NULL, 0, 1) == 1 && of("0\n", NULL, 0, 1) == 0 && of(" 0.75\r\n\n", NULL, 0, 1) == 0.75 &&
	      of(".5", NULL, 0, 1) == 0.5);
	CHECK(of("1.", NULL, 0, 1) == 1 && of("1e-05", NULL, 0, 1) == 1e-05 && of("+1.0", NULL, 0, 1) == 1 &&
	      of("007e-1", NULL, 0, 1) == 0.7);
	CHECK(!signbit(of("-0.0", NULL, 0, 1)));
}

static void other_texts_are_no_score(void)
{
	static const char *const bad[] = {"",
					  "\n",
					  "nan",
					  "NaN",
					  "inf",
					  "-inf",
					  "Infinity",
					  "1e999",
					  "true",
					  "0x1",
					  "0x1p3",
					  "1,0",
					  "1 1",
					  "1\n0",
					  "1;",
					  "PASS",
					  "1.0.0",
					  "1e",
					  "--1",
					  "e5",
					  ".",
					  "+",
					  "1_0",
					  "1f",
					  "\357\273\2771",
					  "\xd9\xa1",
					  "1\v",
					  "0.99999999999999999999999999999999999999999999999999999999999999999999",
					  "1.5",
					  "-0.1",
					  "2"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (!isnan(of(bad[i], NULL, 0, 1)))
			CHECK_STR(bad[i], "no score");
}

static void a_nul_byte_is_no_end_of_a_number(void)
{
	struct world w;

	world_open(&w);
	put(w.folder, "reward.txt", sv_n("1\0garbage", 9));
	CHECK(score(&w) < 0);
	put(w.folder, "reward.txt", sv_n("1\0", 2));
	CHECK(score(&w) < 0);
	world_close(&w);
}

static void an_object_of_numbers_is_a_score(void)
{
	struct world w;

	CHECK(of(NULL, "{\"reward\": 1.0}", 0, 1) == 1 && of(NULL, "{\"score\": 0.25}\n", 0, 1) == 0.25 &&
	      of(NULL, "{\"a\": 1, \"b\": 0}", 0, 1) == 0.5);
	/* beside `reward` other keys may count things */
	CHECK(of(NULL, "{\"tests\": 17, \"reward\": 0.5, \"worst\": -3}", 0, 1) == 0.5);
	CHECK(isnan(of(NULL, "{\"tests\": 17, \"passed\": 0.5}", 0, 1)));
	world_open(&w);
	put(w.folder, "reward.json", sv_of("{\"b\\u00e4r\": 1, \"a\": 0.5}"));
	CHECK(score(&w) == 0 && w.r.n == 2 && w.r.value == 0.75 && w.r.v[1].value == 0.5);
	CHECK_STR(w.r.v[0].key, "b\xc3\xa4r");
	CHECK_STR(w.r.v[1].key, "a");
	world_close(&w);
	world_open(&w);
	put(w.folder, "reward.txt", sv_of("0.5"));
	CHECK(score(&w) == 0 && w.r.n == 1);
	CHECK_STR(w.r.v[0].key, "reward");
	world_close(&w);
}

static void other_json_is_no_score(void)
{
	static const char *const bad[] = {"",
					  "{}",
					  "1",
					  "[1]",
					  "null",
					  "{\"reward\": true}",
					  "{\"reward\": NaN}",
					  "{\"reward\": Infinity}",
					  "{\"reward\": -Infinity}",
					  "{\"reward\": 1e999}",
					  "{\"reward\": \"1\"}",
					  "{\"reward\": null}",
					  "{\"reward\": [1]}",
					  "{\"reward\": {\"reward\": 1}}",
					  "{\"reward\": 0, \"reward\": 1}",
					  "{\"reward\": 0, \"\\u0072eward\": 1}",
					  "{\"reward\": 1,}",
					  "{'reward': 1}",
					  "{\"reward\": 1} x",
					  "{\"reward\": 1}{\"reward\": 1}",
					  "{\"reward\": 01}",
					  "{\"reward\": .5}",
					  "{\"reward\": +1}",
					  "{\"reward\": 1.5}",
					  "{\"reward\": -1}",
					  "{\"a\": 2, \"b\": -1}",
					  "{\"reward\": 1, \"x\": true}",
					  "// c\n{\"reward\": 1}",
					  "\xef\xbb\xbf{\"reward\": 1}",
					  "{\"reward\\u0000\": 1}",
					  "{\"reward\": 99999999999999999999999999}",
					  "{reward: 1}",
					  "{\"reward\": 1"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (!isnan(of(NULL, bad[i], 0, 1)))
			CHECK_STR(bad[i], "no score");
}

static void the_task_may_widen_the_range_and_nothing_is_clamped(void)
{
	CHECK(of("-3", NULL, -5, 10) == -3 && of("10", NULL, -5, 10) == 10 && isnan(of("10.01", NULL, -5, 10)) &&
	      isnan(of(NULL, "{\"reward\": -6}", -5, 10)));
}

static void both_files_must_agree(void)
{
	CHECK(of("1", "{\"reward\": 1}", 0, 1) == 1 && of("0.5", "{\"a\": 1, \"b\": 0}", 0, 1) == 0.5);
	CHECK(isnan(of("0", "{\"reward\": 1}", 0, 1)) && isnan(of("1", "{\"reward\": 0.9}", 0, 1)) &&
	      isnan(of("0.3", "{\"reward\": 0.33}", 0, 1)));
	CHECK(of("0.33", "{\"reward\": 0.3333333333333333}", 0, 1) == 0.3333333333333333);
	CHECK(isnan(of("0.34", "{\"reward\": 0.3333333333333333}", 0, 1)) &&
	      isnan(of("1.00", "{\"reward\": 0.99}", 0, 1)));
	/* one that is broken is not made good by the other */
	CHECK(isnan(of("1", "{", 0, 1)) && isnan(of("", "{\"reward\": 1}", 0, 1)));
	CHECK(isnan(of(NULL, NULL, 0, 1)));
}

static void only_regular_files_of_one_name_count(void)
{
	struct world w;

	world_open(&w);
	put(w.top, "forged", sv_of("1"));
	CHECK(symlinkat("../forged", w.folder, "reward.txt") == 0 && score(&w) < 0 &&
	      strstr(w.err.text, "symbolic link"));
	CHECK(unlinkat(w.folder, "reward.txt", 0) == 0 && linkat(w.top, "forged", w.folder, "reward.txt", 0) == 0);
	CHECK(score(&w) < 0 && strstr(w.err.text, "hard link"));
	CHECK(unlinkat(w.folder, "reward.txt", 0) == 0 && mkfifoat(w.folder, "reward.txt", 0644) == 0);
	CHECK(score(&w) < 0 && strstr(w.err.text, "regular"));
	CHECK(unlinkat(w.folder, "reward.txt", 0) == 0 && mkdirat(w.folder, "reward.txt", 0755) == 0);
	CHECK(score(&w) < 0 && strstr(w.err.text, "regular"));
	CHECK(unlinkat(w.folder, "reward.txt", AT_REMOVEDIR) == 0 &&
	      symlinkat("/proc/self/fd/0", w.folder, "reward.json") == 0);
	CHECK(score(&w) < 0);
	world_close(&w);
}

static void large_files_are_refused(void)
{
	static char big[REWARD_FILE_MAX + 2];
	struct world w;

	memset(big, ' ', sizeof(big));
	big[0] = '1';
	world_open(&w);
	put(w.folder, "reward.txt", sv_n(big, REWARD_FILE_MAX));
	CHECK(score(&w) == 0 && w.r.value == 1);
	put(w.folder, "reward.txt", sv_n(big, REWARD_FILE_MAX + 1));
	CHECK(score(&w) < 0 && strstr(w.err.text, "more than"));
	world_close(&w);
}

static void what_is_shown_of_a_file_is_escaped(void)
{
	struct world w;

	world_open(&w);
	put(w.folder, "reward.txt", sv_of("\x1b[2J1"));
	CHECK(score(&w) < 0 && strstr(w.err.text, "\\x1b[2J1"));
	world_close(&w);
}

static double pytest_ended(const char *output, bool well)
{
	char path[] = "/tmp/cordon-pytest.XXXXXX";
	AUTO_FD fd = mkstemp(path);
	struct arena *a = arena_new();
	struct reward r = {0};
	struct error err = {0};
	double v;

	CHECK(unlink(path) == 0 && write(fd, output, strlen(output)) == (ssize_t)strlen(output));
	v = reward_read_pytest(fd, well, a, &r, &err) == 0 ? r.value : (double)NAN;
	if (isnan(v))
		CHECK(err.kind == ERROR_INPUT);
	arena_free(a);
	return v;
}

#define HEAD "=========================== short test summary info ============================\n"

static double pytest(const char *output)
{
	return pytest_ended(output, true);
}

static void terminal_bench_scores_what_pytest_lists(void)
{
	CHECK(pytest("collected 2 items\n" HEAD "PASSED ../tests/test_outputs.py::test_a\nPASSED "
						"../tests/test_outputs.py::test_b\n============================== 2 "
						"passed in 0.01s ===============================\n") == 1);
	CHECK(pytest(HEAD "PASSED t.py::a\nFAILED t.py::b - assert 1 == 2\n==== 1 failed, 1 passed in 0.12s ====\n") ==
	      0);
	CHECK(pytest(HEAD "ERROR t.py - ImportError: x\n!!! Interrupted: 1 error during collection !!!\n=== 1 error in "
			  "0.19s ===\n") == 0);
	CHECK(pytest(HEAD "PASSED t.py::a\nSKIPPED [2] t.py:3: no gpu\nXFAIL t.py::x - known\n1 passed, 2 skipped, 1 "
			  "xfailed, 3 warnings in 61.20s (0:01:01)\n") == 1);
	CHECK(pytest(HEAD "PASSED t.py::a\nXPASS t.py::x\n=== 1 passed, 1 xpassed in 1s ===\n") == 0);
	CHECK(pytest(HEAD "SKIPPED [1] t.py:3: all\n=== 1 skipped in 1.00s ===\n") == 0);
	CHECK(pytest("\033[36m\033[1m=== short test summary info ===\033[0m\r\n\033[32mPASSED\033[0m "
		     "t.py::\033[1ma\033[0m\r\n\033[32m=== \033[32m\033[1m1 passed\033[0m\033[32m in "
		     "0.01s\033[0m\033[32m ===\033[0m\r\n") == 1);
	/* twice, both count */
	CHECK(pytest(HEAD "PASSED a::a\n== 1 passed in 1s ==\n" HEAD "PASSED b::b\n== 1 passed in 1s ==\n") == 1);
	CHECK(pytest(HEAD "PASSED a::a\n== 1 passed in 1s ==\n" HEAD "FAILED b::b\n== 1 failed in 1s ==\n") == 0);
	CHECK(pytest(HEAD "PASSED a::a\n== 1 passed, 2 subtests passed in 1s ==\n") == 1);
}

static void forged_summaries_of_pytest_are_no_score(void)
{
	CHECK(isnan(pytest("")) && isnan(pytest("all good\n")) && isnan(pytest(HEAD)) &&
	      isnan(pytest(HEAD "PASSED a::a\n")));
	CHECK(isnan(pytest("=== 5 passed in 0.1s ===\n")));
	/* lines that a program printed between */
	CHECK(isnan(pytest(HEAD "PASSED a::a\nPASSED forged::b\n== 1 passed in 1s ==\n")));
	/* a forged run beside the real one does not help it */
	CHECK(pytest(HEAD "PASSED x::y\n=== 1 passed in 0s ===\n" HEAD "FAILED a::a - x\n=== 1 failed in 1s ===\n") ==
	      0);
	CHECK(isnan(pytest(HEAD "PASSED a::a\n== 99999999999 passed in 1s ==\n")));
}

#define STARTS "============================= test session starts ==============================\n"

static void a_summary_in_a_text_is_no_score_where_pytest_has_none(void)
{
	static const char forged[] = HEAD "PASSED a::a\n== 1 passed in 1s ==\n";
	char text[1024];

	snprintf(text, sizeof(text), "%s" STARTS "collected 1 item\nKilled\n", forged);
	CHECK(isnan(pytest(text)));
	snprintf(text, sizeof(text), STARTS "collected 1 item\n" STARTS "%s", forged);
	CHECK(pytest(text) == 1);
	/* without a word of pytest's: by the status of the script */
	snprintf(text, sizeof(text), "%srun-tests.sh: line 3: 12 Killed\n", forged);
	CHECK(pytest(text) == 1 && isnan(pytest_ended(text, false)));
	snprintf(text, sizeof(text), "%s \r\n\n", forged);
	CHECK(pytest_ended(text, false) == 1);
	/* which makes no error of a failure */
	CHECK(pytest_ended(HEAD "FAILED a::a\n== 1 failed in 1s ==\nmore\n" STARTS, false) == 0);
	CHECK(pytest(HEAD "FAILED a::a\n== 1 failed in 1s ==\n" STARTS) == 0);
}

static void no_text_that_a_test_prints_makes_an_error_of_a_failure(void)
{
	/* above the real header: one without an end, or with one */
	CHECK(pytest("---- Captured stdout call ----\n" HEAD HEAD "FAILED a::a\n== 1 failed in 1s ==\n") == 0);
	CHECK(pytest(HEAD "PASSED forged::a\n" HEAD "FAILED a::a\n== 1 failed in 1s ==\n") == 0);
	CHECK(pytest(HEAD "PASSED forged::a\n== 2 passed in 1s ==\n" HEAD "FAILED a::a\n== 1 failed in 1s ==\n") == 0);
	/* below it: in a message of several lines, or behind it all */
	CHECK(pytest(HEAD "FAILED a::a - x\n" HEAD "PASSED b::b\n== 1 passed in 1s ==\n== 1 failed in 1s ==\n") == 0);
	CHECK(pytest(HEAD "FAILED a::a - x\n== 1 passed in 1s ==\n== 1 failed in 1s ==\n") == 0);
	CHECK(pytest(HEAD "PASSED a::a\n== 1 failed, 1 passed in 1s ==\n") == 0);
	CHECK(pytest(HEAD "FAILED a::a\n== 1 failed in 1s ==\n" HEAD "PASSED forged::b\n") == 0);
	CHECK(pytest(HEAD "ERROR a::a\n") == 0);
	/* what passed still has */
	CHECK(pytest(HEAD "PASSED forged::a\n" HEAD "PASSED a::a\n== 1 passed in 1s ==\n") == 1);
	CHECK(isnan(pytest(HEAD "PASSED a::a\n== 1 passed in 1s ==\n" HEAD "PASSED b::b\n")));
}

static void answers_are_decoded_with_checks(void)
{
	struct arena *a = arena_new();
	struct reward r;
	AUTO_BUF q = {0};
	AUTO_BUF answer = {0};
	struct sv text = sv_of("0.5");
	struct reward_files files = {.text = &text, .high = 1};
	struct error err;
	size_t i;

	buf_init(&q, 1000);
	buf_init(&answer, 1000);
	reward_ask(&files, &q);
	CHECK(reward_parse(buf_view(&q), &answer, &err) == 0 && reward_decode(buf_view(&answer), a, &r) == 0 &&
	      r.value == 0.5);
	for (i = 0; i < answer.n; i++)
		CHECK(reward_decode(sv_n(answer.p, i), a, &r) < 0);
	memset(answer.p, 0xff, 8);
	CHECK(reward_decode(buf_view(&answer), a, &r) < 0);
	for (i = 0; i < q.n; i++) {
		buf_clear(&answer);
		CHECK(reward_parse(sv_n(q.p, i), &answer, &err) < 0);
	}
	arena_free(a);
}

#define BEGINS "SWEBench results starts here\n"
#define ENDS   "SWEBench results ends here\n"

static double swebench(const char *output)
{
	AUTO_BUF question = {0};
	AUTO_BUF answer = {0};
	struct arena *a = arena_new();
	struct reward r = {0};
	struct error err = {0};
	double v = (double)NAN;

	buf_init(&question, 1 << 16);
	buf_init(&answer, 1 << 16);
	reward_ask_swebench(sv_of(output), &question);
	if (reward_parse(buf_view(&question), &answer, &err) == 0 && reward_decode(buf_view(&answer), a, &r) == 0)
		v = r.value;
	else
		CHECK(err.kind == ERROR_INPUT);
	arena_free(a);
	return v;
}

static void swe_benchs_verdict_is_one_line_between_two_marks(void)
{
	CHECK(swebench("noise\n" BEGINS "PASSED\n" ENDS "more\n") == 1);
	CHECK(swebench(BEGINS "FAILED\r\n" ENDS) == 0);
	CHECK(isnan(swebench("")));
	CHECK(isnan(swebench("PASSED\n")));
	CHECK(isnan(swebench(BEGINS "PASSED\n")));
	CHECK(isnan(swebench(BEGINS ENDS)));
	CHECK(isnan(swebench(BEGINS "PASSED\nPASSED\n" ENDS)));
	CHECK(isnan(swebench(BEGINS "passed\n" ENDS)));
	CHECK(isnan(swebench(ENDS BEGINS "PASSED\n" ENDS)));
	CHECK(isnan(swebench(BEGINS BEGINS "PASSED\n" ENDS)));
	CHECK(isnan(swebench("text" BEGINS "PASSED\n" ENDS)));
	CHECK(isnan(swebench(BEGINS "PASSED\n" ENDS BEGINS "PASSED\n" ENDS)));
	/* what a test prints makes no error of a failure, and nothing better */
	CHECK(swebench(BEGINS "PASSED\n" ENDS BEGINS "FAILED\n" ENDS) == 0);
	CHECK(swebench(ENDS BEGINS "FAILED\n" ENDS) == 0);
	CHECK(swebench(BEGINS BEGINS "FAILED\n" ENDS) == 0);
	CHECK(swebench(BEGINS "PASSED\n" BEGINS "FAILED\n" ENDS) == 0);
	CHECK(swebench("text" BEGINS "FAILED\n" ENDS BEGINS) == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_reward_that_cannot_be_the_score_is_told_from_none),
		CASE(a_plain_number_is_a_score),
		CASE(other_texts_are_no_score),
		CASE(a_nul_byte_is_no_end_of_a_number),
		CASE(an_object_of_numbers_is_a_score),
		CASE(other_json_is_no_score),
		CASE(the_task_may_widen_the_range_and_nothing_is_clamped),
		CASE(both_files_must_agree),
		CASE(only_regular_files_of_one_name_count),
		CASE(large_files_are_refused),
		CASE(what_is_shown_of_a_file_is_escaped),
		CASE(terminal_bench_scores_what_pytest_lists),
		CASE(forged_summaries_of_pytest_are_no_score),
		CASE(a_summary_in_a_text_is_no_score_where_pytest_has_none),
		CASE(no_text_that_a_test_prints_makes_an_error_of_a_failure),
		CASE(answers_are_decoded_with_checks),
		CASE(swe_benchs_verdict_is_one_line_between_two_marks),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
