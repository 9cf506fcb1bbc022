#include "task/reward_swebench.h"

static const char begins[] = "SWEBench results starts here", ends[] = "SWEBench results ends here";

/* The next line, without blanks at its ends. */
static bool next_line(struct sv *rest, struct sv *line)
{
	const char *nl = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	size_t n = nl ? (size_t)(nl - rest->p) : rest->n;

	if (rest->n == 0)
		return false;
	*line = sv_n(rest->p, n);
	*rest = sv_n(rest->p + n + (nl != NULL), rest->n - n - (nl != NULL));
	while (line->n && strchr(" \t\r", line->p[line->n - 1]) && line->p[line->n - 1])
		line->n--;
	while (line->n && (line->p[0] == ' ' || line->p[0] == '\t'))
		*line = sv_n(line->p + 1, line->n - 1);
	return true;
}

static int fail(struct error *err, const char *what)
{
	return error_set(err, ERROR_INPUT, "the tests' output: %s", what);
}

/* A mark that is behind a text without an end of its line is none to whoever passed, and one to whoever failed. */
static bool has_failed(struct sv output)
{
	struct sv rest = output, line, lines[2] = {0}; /* the two before */

	while (next_line(&rest, &line)) {
		if (sv_is(line, ends) && sv_is(lines[1], "FAILED") && sv_ends(lines[0], begins))
			return true;
		lines[0] = lines[1];
		lines[1] = line;
	}
	return false;
}

int reward_of_swebench(struct sv output, double *ret, struct error *err)
{
	struct sv rest = output, line, verdict = {0}, end = {0};
	bool found = false;

	*ret = 0;
	if (has_failed(output))
		return 0;
	while (next_line(&rest, &line)) {
		if (sv_is(line, ends))
			return fail(err, "its results end before they begin, or twice");
		if (!sv_is(line, begins))
			continue;
		if (found)
			return fail(err, "has results twice");
		found = true;
		if (!next_line(&rest, &verdict) || !next_line(&rest, &end) || !sv_is(end, ends))
			return fail(err, "its results are not one line");
	}
	if (!found)
		return fail(err, "has no results of SWE-bench");
	if (!sv_is(verdict, "PASSED"))
		return fail(err, "its result is neither PASSED nor FAILED");
	*ret = 1;
	return 0;
}
