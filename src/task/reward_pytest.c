#include "task/reward_pytest.h"

#include <stdint.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { LINE_SHOWN = 1024, COUNT_MAX = 1000000 };

/* How a test can end: its word in the list, and in the last line. */
enum outcome { PASSED, FAILED, ERRORS, SKIPPED, XFAILED, XPASSED, OUTCOMES };

static const struct {
	const char *listed, *counted, *plural;
} words[OUTCOMES] = {
	[PASSED] = {"PASSED", "passed", "passed"},
	[FAILED] = {"FAILED", "failed", "failed"},
	[ERRORS] = {"ERROR", "error", "errors"},
	[SKIPPED] = {"SKIPPED", "skipped", "skipped"},
	[XFAILED] = {"XFAIL", "xfailed", "xfailed"},
	[XPASSED] = {"XPASS", "xpassed", "xpassed"},
};

struct counts {
	uint32_t n[OUTCOMES];
};

struct reader {
	struct sv rest;
	char line[LINE_SHOWN]; /* without colours and blanks at its ends; what is beyond is cut */
	size_t n;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Skips an escape sequence (ESC [ ... letter) at the beginning of s. */
static size_t colour(struct sv s)
{
	size_t i = 2;

	if (s.n < 3 || s.p[0] != '\033' || s.p[1] != '[')
		return 0;
	while (i < s.n && (s.p[i] == ';' || (s.p[i] >= '0' && s.p[i] <= '9')))
		i++;
	return i < s.n ? i + 1 : 0;
}

static bool next_line(struct reader *r)
{
	const char *end = r->rest.n ? memchr(r->rest.p, '\n', r->rest.n) : NULL;
	struct sv raw = sv_n(r->rest.p, end ? (size_t)(end - r->rest.p) : r->rest.n);
	size_t i, skip;

	if (r->rest.n == 0)
		return false;
	r->rest = sv_n(r->rest.p + raw.n + (end != NULL), r->rest.n - raw.n - (end != NULL));
	r->n = 0;
	for (i = 0; i < raw.n && r->n < sizeof(r->line); i += skip) {
		skip = colour(sv_n(raw.p + i, raw.n - i));
		if (skip)
			continue;
		skip = 1;
		if (r->n || !blank(raw.p[i]))
			r->line[r->n++] = raw.p[i];
	}
	while (r->n && blank(r->line[r->n - 1]))
		r->n--;
	return true;
}

/* What is between the "====" on both sides of a line. */
static struct sv inside_rule(struct sv s)
{
	while (s.n && s.p[0] == '=')
		s = sv_n(s.p + 1, s.n - 1);
	while (s.n && s.p[s.n - 1] == '=')
		s.n--;
	while (s.n && s.p[0] == ' ')
		s = sv_n(s.p + 1, s.n - 1);
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

static bool is_rule(struct sv line, const char *text)
{
	return line.n && line.p[0] == '=' && line.p[line.n - 1] == '=' && sv_is(inside_rule(line), text);
}

static bool is_header(struct sv line)
{
	return is_rule(line, "short test summary info");
}

static bool is_start(struct sv line)
{
	return is_rule(line, "test session starts");
}

/* A number at the beginning of *s, which moves behind it. */
static bool take_number(struct sv *s, uint32_t *ret)
{
	uint32_t v = 0;
	size_t i;

	for (i = 0; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++) {
		v = v * 10 + (uint32_t)(s->p[i] - '0');
		if (v > COUNT_MAX)
			return false;
	}
	*s = sv_n(s->p + i, s->n - i);
	*ret = v;
	return i > 0;
}

static struct sv take_word(struct sv *s)
{
	size_t i = 0;

	while (i < s->n && s->p[i] != ' ' && s->p[i] != ',')
		i++;
	*s = sv_n(s->p + i, s->n - i);
	return sv_n(s->p - i, i);
}

static bool take_text(struct sv *s, const char *text)
{
	if (!sv_starts(*s, text))
		return false;
	*s = sv_n(s->p + strlen(text), s->n - strlen(text));
	return true;
}

/* "3 passed, 1 skipped in 0.05s": words that are no outcome (warnings, deselected, subtests) are passed over. */
static bool read_last_line(struct sv line, struct counts *ret)
{
	struct counts c = {0};
	struct sv s = inside_rule(line), word;
	uint32_t n;
	size_t i;

	do {
		if (!take_number(&s, &n) || !take_text(&s, " "))
			return false;
		word = take_word(&s);
		for (i = 0; i < OUTCOMES; i++)
			if (sv_is(word, words[i].counted) || sv_is(word, words[i].plural))
				c.n[i] = n;
		while (!sv_starts(s, ", ") && !sv_starts(s, " in ") && take_text(&s, " "))
			(void)take_word(&s); /* "2 subtests passed" */
	} while (take_text(&s, ", "));
	if (!take_text(&s, " in ") || !s.n || s.p[0] < '0' || s.p[0] > '9')
		return false;
	*ret = c;
	return true;
}

/* "PASSED tests/test_a.py::test_b", "SKIPPED [2] tests/test_a.py:7: why" */
static void count_listed(struct sv line, struct counts *c)
{
	uint32_t n = 1;
	struct sv word;
	size_t i;

	word = take_word(&line);
	for (i = 0; i < OUTCOMES; i++)
		if (sv_is(word, words[i].listed) && take_text(&line, " ") && line.n) {
			if (i == SKIPPED && take_text(&line, "[") && (!take_number(&line, &n) || !sv_starts(line, "]")))
				n = 1;
			if (c->n[i] <= COUNT_MAX)
				c->n[i] += n;
			return;
		}
}

static int disagree(struct sv line, struct error *err)
{
	struct text_shown t;

	return error_set(err, ERROR_INPUT, "the tests that pytest lists are not the ones that it counts: %s",
			 text_show(&t, line));
}

/* What all runs of pytest in an output come to. */
struct score {
	struct counts total;
	bool found;  /* a header */
	bool failed; /* some test that must not have been listed or counted, in whatever order */
	bool bad;    /* what is no score, if nothing failed: the error says why */
	bool open;   /* a run has begun, and its last line is not there */
	bool behind; /* something is printed behind the last line of all */
};

static bool has_failed(const struct counts *c)
{
	return c->n[FAILED] || c->n[ERRORS] || c->n[XPASSED];
}

/* The last line of a run. */
static void end_summary(struct score *s, const struct counts *listed, const struct counts *counted, struct sv line,
			struct error *err)
{
	size_t i;

	for (i = 0; i < OUTCOMES; i++) {
		if (listed->n[i] != counted->n[i] && !s->bad)
			s->bad = disagree(line, err) < 0;
		s->total.n[i] += s->total.n[i] <= COUNT_MAX ? counted->n[i] : 0;
	}
	s->failed |= has_failed(counted);
}

/*
 * The lines behind a header, up to the last one of that run of pytest. A header within it begins anew: tests print
 * files of the agent's above the real one, and such a text must not make an error of what failed. Whatever was listed
 * as failed so far counts: what is printed below the real header must not make it pass either.
 */
static void read_summary(struct reader *r, struct score *s, struct error *err)
{
	struct counts listed = {0}, counted = {0};
	struct sv line;

	s->found = true;
	while (next_line(r)) {
		line = sv_n(r->line, r->n);
		if (is_header(line)) {
			listed = (struct counts){0};
		} else if (read_last_line(line, &counted)) {
			end_summary(s, &listed, &counted, line, err);
			s->open = s->behind = false;
			return;
		} else {
			count_listed(line, &listed);
			s->failed |= has_failed(&listed);
		}
	}
	if (!s->bad)
		s->bad = error_set(err, ERROR_INPUT, "the summary of pytest has no end") < 0;
}

/* A line of none. */
static void read_other(struct sv line, struct score *s)
{
	struct counts ignored;

	if (is_start(line))
		s->open = true;
	else if (read_last_line(line, &ignored))
		s->open = false;
	s->behind |= line.n > 0;
}

/* A pytest that was killed leaves no summary: one that is there all the same is a text that the tests printed. */
static int judge(struct sv output, bool last, double *ret, struct error *err)
{
	struct reader r = {.rest = output};
	struct score s = {0};

	while (next_line(&r))
		if (is_header(sv_n(r.line, r.n)))
			read_summary(&r, &s, err);
		else
			read_other(sv_n(r.line, r.n), &s);
	if (!s.found)
		return error_set(err, ERROR_INPUT,
				 "the tests' output has no summary of pytest (pytest -rA prints one)");
	if (s.bad && !s.failed)
		return -1;
	*ret = s.total.n[PASSED] && !s.failed;
	if (*ret > 0 && s.open)
		return error_set(err, ERROR_INPUT, "a run of pytest has no end");
	if (*ret > 0 && last && s.behind)
		return error_set(
			err, ERROR_INPUT,
			"the tests did not end with 0, and the summary of pytest is not the last that they printed");
	return 0;
}

int reward_of_pytest(struct sv output, double *ret, struct error *err)
{
	return judge(output, false, ret, err);
}

int reward_of_pytest_last(struct sv output, double *ret, struct error *err)
{
	return judge(output, true, ret, err);
}
