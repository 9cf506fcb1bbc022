/* model/git_config: a configuration file says what it says to git. */
#include "model/git_config.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "check.h"

static int note(void *arg, const char *name, const char *value)
{
	return buf_printf(arg, "%s=%s|", name, value) < 0 ? -1 : 0;
}

static void check_reads(const char *text, size_t n, int want, const char *says)
{
	AUTO_BUF b = {0};

	buf_init(&b, 4096);
	CHECK(git_config_read(sv_n(text, n), note, &b) == want);
	CHECK_STR(b.p ? b.p : "", says);
}

struct sample {
	const char *text, *says;
};

static void what_git_understands_is_read_as_git_does(void)
{
	static const struct sample samples[] = {
		{"", ""},
		{"[core]\n\thooksPath = .githooks\n", "core.hookspath=.githooks|"},
		{"[CORE] HOOKSPATH=a", "core.hookspath=a|"},
		{"\xef\xbb\xbf[core]\na=b", "core.a=b|"},
		{"[core]\r\n\ta = b\r\n", "core.a=b|"},
		{"[core]a=b\n[x]c=d", "core.a=b|x.c=d|"},
		{"[core]\n\n # no = 1\n;no = 2\na = b ; c\nd = e#f\n", "core.a=b|core.d=e|"},
		{"[core]\na = \"b ; c\" # d\n", "core.a=b ; c|"},
		{"[core]\na = b\\\nc\n", "core.a=bc|"},
		{"[core]\na = b\\\r\nc\n", "core.a=bc|"},
		{"[core]\na = b # c\\\nd = e\n", "core.a=b|core.d=e|"},
		{"[core]\na = \\\"b\\\\c\\td\\ne\\b\n", "core.a=\"b\\c\td\ne\b|"},
		{"[core]\na = b\"c d\"e  f  \n", "core.a=bc de  f|"},
		{"[core]\na = b \" \"\n", "core.a=b  |"},
		{"[core]\na = b\tc\n", "core.a=b\tc|core.a=b c|"},
		{"[core]\na\nb =\nc = \"\"\n", "core.a=|core.b=|core.c=|"},
		{"[core]\na", "core.a=|"},
		{"[core]\na = b\\", "core.a=b|"},
		{"[includeIf \"gitdir:/A\"]\npath = x\n", "includeif.gitdir:/A.path=x|"},
		{"[includeIf\t \"gitdir:/\"] path = x\n", "includeif.gitdir:/.path=x|"},
		{"[includeIf \"a]\\\"\\b\"]path=x", "includeif.a]\"b.path=x|"},
		{"[Branch.Main]a=b", "branch.main.a=b|"},
		{"a = b", "a=b|"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(samples); i++)
		check_reads(samples[i].text, strlen(samples[i].text), 0, samples[i].says);
	check_reads("[a]\nb = c\0d\ne = f", 17, 0, "a.b=c|a.e=f|");
}

static void before_what_git_refuses_all_counts(void)
{
	static const char *const bad[] = {"[core",       "[core\n]", "[co re]",   "[core \"x]\n", "[core \"x\" ]",
					  "[core \"x\"", "a b = c",  "a = \"b\n", "a = \\x",      "1 = 2",
					  "= x",         "\fa = b",  "a_b = c",   "a\rb"};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		(void)snprintf(text, sizeof(text), "[x]\nc = d\n%s\n[x]\ne = f\n", bad[i]);
		check_reads(text, strlen(text), 1, "x.c=d|");
	}
	check_reads("\xef\xbb[x]c=d", 8, 1, "");
}

static int stop(void *arg, const char *name, const char *value)
{
	(void)name;
	(void)value;
	++*(int *)arg;
	return -1;
}

static void who_is_told_can_stop_it(void)
{
	int n = 0;

	CHECK(git_config_read(sv_of("[a]\nb = c\nd = e\n"), stop, &n) == -1);
	CHECK(n == 1);
}

static const struct check_case cases[] = {
	CASE(what_git_understands_is_read_as_git_does),
	CASE(before_what_git_refuses_all_counts),
	CASE(who_is_told_can_stop_it),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
