#include "model/git_state.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

const char *const git_state_files[GIT_STATE_FILES] = {"rebase-merge/git-rebase-todo", "rebase-merge/strategy",
						      "sequencer/opts"};

static const char *const git_state_folders[] = {"rebase-merge", "sequencer"};

/* Below a folder .git, by these last parts. */
static bool is_in_git(struct sv path, const char *end)
{
	static const char git[] = "/.git/";
	size_t n = strlen(end);

	if (path.n <= n || !sv_ends(path, end) || path.p[path.n - n - 1] != '/')
		return false;
	path.n -= n;
	return sv_starts(path, git + 1) || memmem(path.p, path.n, git, sizeof(git) - 1);
}

bool git_state_is(struct sv path)
{
	size_t i;

	for (i = 0; i < GIT_STATE_FILES; i++)
		if (is_in_git(path, git_state_files[i]))
			return true;
	return false;
}

bool git_state_is_place(struct sv path)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(git_state_folders); i++)
		if (is_in_git(path, git_state_folders[i]))
			return true;
	return git_state_is(path);
}

static struct sv next_line(struct sv *rest)
{
	const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct sv line = sv_n(rest->p, end ? (size_t)(end - rest->p) : rest->n);

	*rest = end ? sv_n(end + 1, rest->n - line.n - 1) : sv_n(rest->p + rest->n, 0);
	return line;
}

static bool is_one_of(char c, const char *set)
{
	return c == '\0' || strchr(set, c);
}

static struct sv skip_blanks(struct sv s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = sv_n(s.p + 1, s.n - 1);
	return s;
}

/* `exec` or `x`, as git reads it: before a blank, an end of line or a NUL. */
static bool list_runs(struct sv list)
{
	struct sv line, word;
	size_t n;

	while (list.n) {
		line = skip_blanks(next_line(&list));
		for (n = 0; n < line.n && !is_one_of(line.p[n], " \t\r"); n++)
			;
		word = sv_n(line.p, n);
		if (sv_is(word, "exec") || sv_is(word, "x"))
			return true;
	}
	return false;
}

static bool is_known_strategy(struct sv name)
{
	static const char *const known[] = {"ort", "recursive", "resolve", "octopus", "ours", "subtree"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(known); i++)
		if (sv_is(name, known[i]))
			return true;
	return false;
}

static bool strategy_runs(struct sv content)
{
	struct sv line = next_line(&content);

	return content.n || (line.n && !is_known_strategy(line));
}

static bool names_strategy(struct sv line)
{
	static const char word[] = "strategy";
	size_t i;

	for (i = 0; i + sizeof(word) - 1 <= line.n; i++)
		if (strncasecmp(line.p + i, word, sizeof(word) - 1) == 0)
			return true;
	return false;
}

/* As git writes it, one key to a line. What is written in another way could mean anything. */
static bool options_run(struct sv options)
{
	static const char key[] = "strategy = ", other[] = "strategy-option = ";
	struct sv line;

	while (options.n) {
		line = skip_blanks(next_line(&options));
		if (line.n && line.p[line.n - 1] == '\\')
			return true;
		if (!names_strategy(line) ||
		    (sv_starts(line, other) &&
		     !names_strategy(sv_n(line.p + sizeof(other) - 1, line.n - sizeof(other) + 1))))
			continue;
		if (!sv_starts(line, key) ||
		    !is_known_strategy(sv_n(line.p + sizeof(key) - 1, line.n - sizeof(key) + 1)))
			return true;
	}
	return false;
}

bool git_state_runs(struct sv path, struct sv content)
{
	static bool (*const judges[GIT_STATE_FILES])(struct sv) = {list_runs, strategy_runs, options_run};
	size_t i;

	for (i = 0; i < GIT_STATE_FILES; i++)
		if (sv_ends(path, git_state_files[i]))
			return judges[i](content);
	return false;
}
