#include "gate/inference/usage_strip.h"

#include "base/cleanup.h"
#include "base/json_scan.h"

enum in { IN_HELD, IN_EVENT, IN_COMMENT }; /* all but the first pass */

enum to { TO_NOBODY, TO_HELD, TO_OUT, TO_NOWHERE }; /* TO_NOBODY: there was no CR */

void usage_strip_init(struct usage_strip *s)
{
	*s = (struct usage_strip){.in = IN_HELD};
	buf_init(&s->held, USAGE_STRIP_MAX + 16); /* ends of lines come on top */
}

void usage_strip_done(struct usage_strip *s)
{
	buf_done(&s->held);
}

static bool has_usage_alone(struct sv data)
{
	AUTO_SCAN scan = {0};
	AUTO_BUF text = {0};
	struct scan_error why;
	uint32_t choices, usage;

	buf_init(&text, USAGE_STRIP_MAX + 16);
	if (buf_sv(&text, data) < 0 || json_scan_read(&scan, &text, &why) < 0)
		return false;
	choices = json_scan_get(&scan, 0, "choices");
	usage = json_scan_get(&scan, 0, "usage");
	return choices && json_scan_kind(&scan, choices) == SCAN_ARRAY && !json_scan_first(&scan, choices) && usage &&
	       json_scan_kind(&scan, usage) == SCAN_OBJECT;
}

static bool is_data(struct sv line)
{
	return sv_starts(line, "data:") || sv_is(line, "data");
}

static void drop(struct usage_strip *s)
{
	buf_clear(&s->held);
	s->line = 0;
	s->found = false;
}

static void release(struct usage_strip *s, struct buf *out)
{
	(void)buf_sv(out, buf_view(&s->held));
	drop(s);
}

/* A line of what is held is complete, but for its end. False: it is not the event with the usage. */
static bool check_line(struct usage_strip *s)
{
	struct sv line = sv_n(s->held.p + s->line, s->held.n - s->line);

	if (!is_data(line))
		return true;
	if (s->found || line.n < 5)
		return false;
	s->found = has_usage_alone(sv_n(line.p + 5, line.n - 5));
	return s->found;
}

/* The end of a line of what is held. Where it goes. */
static enum to end_held_line(struct usage_strip *s, char c, struct buf *out)
{
	bool over = s->held.n == s->line, passes = over ? !s->found : !check_line(s);

	(void)buf_char(&s->held, c);
	s->line = s->held.n;
	if (!over && !passes)
		return TO_HELD;
	if (passes)
		release(s, out);
	else
		drop(s);
	if (!over) {
		s->in = IN_EVENT;
		s->line_is_empty = true;
	}
	return passes ? TO_OUT : TO_NOWHERE;
}

static void end_passing_line(struct usage_strip *s)
{
	if (s->in == IN_COMMENT || s->line_is_empty)
		s->in = IN_HELD;
	s->line_is_empty = true;
}

static void end_line(struct usage_strip *s, char c, struct buf *out)
{
	enum to to = TO_OUT;

	if (s->in == IN_HELD) {
		to = end_held_line(s, c, out);
	} else {
		(void)buf_char(out, c);
		end_passing_line(s);
	}
	s->after_cr = c == '\r' ? (uint8_t)to : TO_NOBODY;
}

static void line_byte(struct usage_strip *s, char c, struct buf *out)
{
	if (s->in == IN_HELD && s->held.n == 0 && c == ':')
		s->in = IN_COMMENT;
	if (s->in != IN_HELD) {
		(void)buf_char(out, c);
		s->line_is_empty = false;
		return;
	}
	(void)buf_char(&s->held, c);
	if (s->held.n < USAGE_STRIP_MAX)
		return;
	release(s, out);
	s->in = IN_EVENT;
	s->line_is_empty = false;
}

static void second_half(struct usage_strip *s, struct buf *out)
{
	if (s->after_cr == TO_OUT)
		(void)buf_char(out, '\n');
	else if (s->after_cr == TO_HELD && buf_char(&s->held, '\n') == 0)
		s->line = s->held.n;
	s->after_cr = TO_NOBODY;
}

int usage_strip_feed(struct usage_strip *s, struct sv bytes, struct buf *out)
{
	size_t i;

	for (i = 0; i < bytes.n; i++) {
		if (bytes.p[i] == '\n' && s->after_cr != TO_NOBODY) {
			second_half(s, out);
			continue;
		}
		s->after_cr = TO_NOBODY;
		if (bytes.p[i] == '\n' || bytes.p[i] == '\r')
			end_line(s, bytes.p[i], out);
		else
			line_byte(s, bytes.p[i], out);
	}
	return buf_failed(&s->held) ? buf_failed(&s->held) : buf_failed(out);
}

int usage_strip_end(struct usage_strip *s, struct buf *out)
{
	if (s->held.n && check_line(s) && s->found)
		drop(s);
	else
		release(s, out);
	return buf_failed(out);
}
