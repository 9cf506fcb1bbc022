/* model/git_state: which rebases and cherry-picks that are going on would have git run a program. */
#include "model/git_state.h"

#include "base/cleanup.h"
#include "check.h"

#define LIST ".git/rebase-merge/git-rebase-todo"
#define STRATEGY ".git/rebase-merge/strategy"
#define OPTIONS "sub/.git/worktrees/w/sequencer/opts"

static bool runs(const char *path, const char *content)
{
	return git_state_runs(sv_of(path), sv_of(content));
}

static void files_of_a_rebase_are_known_in_a_repository_only(void)
{
	static const char *const known[] = {LIST, STRATEGY, OPTIONS, "a/.git/modules/b/rebase-merge/git-rebase-todo"};
	static const char *const others[] = {"rebase-merge/git-rebase-todo",
					     "a.git/rebase-merge/strategy",
					     ".git/x-rebase-merge/strategy",
					     ".git/rebase-merge/strategy_opts",
					     "sequencer/opts",
					     ".git",
					     "",
					     "git-rebase-todo"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++)
		CHECK(git_state_is(sv_of(known[i])) && git_state_is_place(sv_of(known[i])));
	for (i = 0; i < ARRAY_LEN(others); i++)
		CHECK(!git_state_is(sv_of(others[i])) && !git_state_is_place(sv_of(others[i])));
	CHECK(git_state_is_place(sv_of(".git/rebase-merge")) &&
	      git_state_is_place(sv_of(".git/worktrees/x/sequencer")));
	CHECK(!git_state_is(sv_of(".git/rebase-merge")));
}

static void a_list_runs_what_its_exec_lines_say(void)
{
	static const char *const bad[] = {"exec make\n", "x make", "pick 1 a\nexec make\n", " \t x\tmake\n",
					  "exec\n",      "x\r\n",  "# a comment\nx y"};
	static const char *const good[] = {"",
					   "pick 1 exec\nfixup 2 x y\n",
					   "# exec make\n",
					   "label exec\nmerge -C 1 x # y\n",
					   "execute 1\nxx 2\n",
					   "p 1 a\n\n",
					   "update-ref refs/heads/x\n"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(runs(LIST, bad[i]));
	for (i = 0; i < ARRAY_LEN(good); i++)
		CHECK(!runs(LIST, good[i]));
	CHECK(git_state_runs(sv_of(LIST), sv_n("exec\0make", 9)));
}

static void a_strategy_is_one_of_gits_own(void)
{
	CHECK(!runs(STRATEGY, "") && !runs(STRATEGY, "ort\n") && !runs(STRATEGY, "recursive") &&
	      !runs(STRATEGY, "subtree\n"));
	CHECK(runs(STRATEGY, "/evil\n") && runs(STRATEGY, "ort\n/evil\n") && runs(STRATEGY, "ort \n") &&
	      runs(STRATEGY, "\nx") && runs(STRATEGY, "ORT"));
}

static void options_name_no_other_strategy_however_they_are_written(void)
{
	static const char *const bad[] = {
		"[options]\n\tstrategy = /evil\n",
		"[options]\n\tSTRATEGY=/evil\n",
		"[options] strategy = /evil\n",
		"[options]\n\tstrategy = \\\n/evil\n",
		"[options]\n\tstrategy = ort\n\tstrategy = /evil\n",
		"[options]\n\tstrategy-option = x\nstrategy=/evil",
		"[options]\n\tstrategy-option = a\\\n",
		"[options]\n\tstrategy-option = x strategy = y\n",
		"[options]\n\tstrategy =\t/evil\n",
	};
	static const char *const good[] = {"", "[options]\n\tno-commit = true\n\tmainline = 1\n",
					   "[options]\n\tstrategy = ort\n\tstrategy-option = theirs\n",
					   "[options]\n\tstrategy-option = ours\n"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(runs(OPTIONS, bad[i]));
	for (i = 0; i < ARRAY_LEN(good); i++)
		CHECK(!runs(OPTIONS, good[i]));
}

static const struct check_case cases[] = {
	CASE(files_of_a_rebase_are_known_in_a_repository_only),
	CASE(a_list_runs_what_its_exec_lines_say),
	CASE(a_strategy_is_one_of_gits_own),
	CASE(options_name_no_other_strategy_however_they_are_written),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
