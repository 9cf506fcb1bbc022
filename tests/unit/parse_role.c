#include "conf/parse_role.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sys/role.h"
#include "wire/wire.h"

enum { ANSWER_MAX = 1 << 20 };

struct outcome {
	struct buf answer;
	struct error err;
	int r;
};

static struct outcome run_for(parse_role_fn *fn, struct sv in, unsigned ms, size_t most)
{
	struct parse_role role = {.what = "the text", .parse = fn, .ms = ms, .memory = 256 << 20};
	struct outcome o = {0};

	buf_init(&o.answer, most);
	o.r = parse_role_run(&role, in, &o.answer, &o.err);
	return o;
}

static struct outcome run(parse_role_fn *fn, const char *in)
{
	return run_for(fn, sv_of(in), 5000, ANSWER_MAX);
}

static int reverse(struct sv in, struct buf *out, struct error *err)
{
	size_t i;

	(void)err;
	for (i = in.n; i > 0; i--)
		(void)buf_char(out, in.p[i - 1]);
	return 0;
}

static int refuse(struct sv in, struct buf *out, struct error *err)
{
	(void)in;
	(void)buf_str(out, "half an answer");
	return error_set(err, ERROR_INPUT, "x.toml:3:1: key: no\033[2J");
}

static int say_no_kind(struct sv in, struct buf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	return -1;
}

static int spin(struct sv in, struct buf *out, struct error *err)
{
	volatile unsigned n = 0;

	(void)in;
	(void)out;
	(void)err;
	for (;;)
		n++;
	return 0;
}

static int crash(struct sv in, struct buf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	__builtin_trap();
}

static int leave(struct sv in, struct buf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	_exit(0);
}

/* An answer, and then an end that is not that of one. */
static int answer_and_die(struct sv in, struct buf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	if (write(0, "Aall is well", 12) != 12)
		_exit(1);
	__builtin_trap();
}

static int flood(struct sv in, struct buf *out, struct error *err)
{
	static const char much[65536] = {'A'};

	(void)in;
	(void)out;
	(void)err;
	while (write(0, much, sizeof(much)) > 0)
		;
	_exit(0);
}

static int nonsense(struct sv in, struct buf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	(void)!write(0, "Zhello", 6);
	_exit(0);
}

static int lie_about_error(struct sv in, struct buf *out, struct error *err)
{
	(void)in;
	(void)out;
	(void)err;
	(void)!write(0, "E\1\0\0\0\0\0\0\0\377\377\377\177x", 14);
	_exit(0);
}

static int too_much(struct sv in, struct buf *out, struct error *err)
{
	int i;

	(void)in;
	(void)err;
	for (i = 0; i < 1000; i++)
		(void)buf_str(out, "0123456789");
	return 0;
}

static int open_file(struct sv in, struct buf *out, struct error *err)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	(void)in;
	(void)err;
	(void)buf_printf(out, "%d", fd);
	return 0;
}

static int make_socket(struct sv in, struct buf *out, struct error *err)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)in;
	(void)err;
	(void)buf_printf(out, "%d", fd);
	return 0;
}

static int read_environment(struct sv in, struct buf *out, struct error *err)
{
	(void)in;
	(void)err;
	(void)buf_str(out, getenv("PARSE_ROLE_SECRET") ? "seen" : "nothing");
	return 0;
}

static int hoard(struct sv in, struct buf *out, struct error *err)
{
	/* volatile: clang leaves out an allocation of which nothing is read and says that it was had. */
	char *volatile p = malloc((size_t)512 << 20);

	(void)in;
	(void)err;
	(void)buf_str(out, p ? "had" : "refused");
	return 0;
}

static void an_answer_comes_through(void)
{
	struct outcome o = run(reverse, "stressed");

	CHECK(o.r == 0);
	CHECK_STR(o.answer.p, "desserts");
	buf_done(&o.answer);
}

static void an_empty_answer_is_one(void)
{
	struct outcome o = run(reverse, "");

	CHECK(o.r == 0 && o.answer.n == 0);
	buf_done(&o.answer);
}

static void what_the_caller_had_stays_before_the_answer(void)
{
	struct parse_role role = {.what = "the text", .parse = reverse};
	struct error err = {0};
	AUTO_BUF b = {0};

	buf_init(&b, 5);
	(void)buf_str(&b, "ab");
	CHECK(parse_role_run(&role, sv_of("edc"), &b, &err) == 0);
	CHECK_STR(b.p, "abcde");
	CHECK(parse_role_run(&role, sv_of("f"), &b, &err) < 0);
}

static void an_error_comes_through_without_its_controls(void)
{
	struct outcome o = run(refuse, "");

	CHECK(o.r < 0 && o.err.kind == ERROR_INPUT && o.answer.n == 0);
	CHECK_STR(o.err.text, "x.toml:3:1: key: no\\x1b[2J");
	o = run(say_no_kind, "");
	CHECK(o.r < 0 && o.err.kind == ERROR_INPUT && strstr(o.err.text, "nothing that makes sense"));
}

static void who_hangs_crashes_or_goes_is_a_refusal(void)
{
	struct outcome o = run_for(spin, sv_of(""), 300, ANSWER_MAX);

	CHECK(o.r < 0 && o.err.kind == ERROR_INPUT && strstr(o.err.text, "took too long"));
	o = run(crash, "");
	CHECK(o.r < 0 && o.err.kind == ERROR_INPUT);
	o = run(leave, "");
	CHECK(o.r < 0 && o.err.kind == ERROR_INPUT && strstr(o.err.text, "without an answer"));
	CHECK(strncmp(o.err.text, "the text could not be parsed safely", 35) == 0);
}

static void an_answer_before_a_crash_does_not_count(void)
{
	struct outcome o = run(answer_and_die, "");

	CHECK(o.r < 0 && o.err.kind == ERROR_INPUT);
	buf_done(&o.answer);
}

static void nonsense_and_floods_are_refused(void)
{
	struct outcome o = run(flood, "");

	CHECK(o.r < 0 && strstr(o.err.text, "more than can be taken in"));
	CHECK(o.answer.n <= ANSWER_MAX);
	buf_done(&o.answer);
	o = run(nonsense, "");
	CHECK(o.r < 0 && strstr(o.err.text, "nothing that makes sense"));
	o = run(lie_about_error, "");
	CHECK(o.r < 0 && strstr(o.err.text, "nothing that makes sense"));
	o = run_for(too_much, sv_of(""), 5000, 9999);
	CHECK(o.r < 0 && strstr(o.err.text, "more than can be taken in"));
	buf_done(&o.answer);
}

static void it_has_no_file_no_network_no_variable_and_little_memory(void)
{
	struct outcome o;

	CHECK(setenv("PARSE_ROLE_SECRET", "fake", 1) == 0);
	o = run(read_environment, "");
	CHECK(o.r == 0);
	CHECK_STR(o.answer.p, "nothing");
	buf_done(&o.answer);
	if (!role_is_filtered())
		return;
	o = run(open_file, "");
	CHECK(o.r < 0 && strstr(o.err.text, "signal 31"));
	o = run(make_socket, "");
	CHECK(o.r < 0 && strstr(o.err.text, "signal 31"));
	o = run(hoard, "");
	CHECK(o.r == 0);
	CHECK_STR(o.answer.p, "refused");
	buf_done(&o.answer);
}

static void nobody_is_left_behind(void)
{
	struct outcome o = run_for(spin, sv_of(""), 50, ANSWER_MAX);

	CHECK(o.r < 0);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(an_answer_comes_through),
		CASE(an_empty_answer_is_one),
		CASE(what_the_caller_had_stays_before_the_answer),
		CASE(an_error_comes_through_without_its_controls),
		CASE(who_hangs_crashes_or_goes_is_a_refusal),
		CASE(an_answer_before_a_crash_does_not_count),
		CASE(nonsense_and_floods_are_refused),
		CASE(it_has_no_file_no_network_no_variable_and_little_memory),
		CASE(nobody_is_left_behind),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
