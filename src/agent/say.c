#include "agent/say.h"

#include <unistd.h>

#include "base/text.h"

enum { LINES_MAX = 40, LINE_SHOWN = 400 };

static void print(struct buf *line)
{
	(void)buf_char(line, '\n');
	if (buf_failed(line) == 0)
		(void)write_all(STDOUT_FILENO, line->p, line->n);
}

static void say_line(const char *mark, struct sv text)
{
	AUTO_BUF line = {0};

	buf_init(&line, 16 * 1024);
	(void)buf_str(&line, mark);
	text_escape(&line, text, LINE_SHOWN);
	print(&line);
}

void say_lines(const char *mark, struct sv text)
{
	const char *end;
	unsigned i;
	size_t n;

	for (i = 0; i < LINES_MAX && text.n; i++) {
		end = memchr(text.p, '\n', text.n);
		n = end ? (size_t)(end - text.p) : text.n;
		say_line(mark, sv_n(text.p, n));
		n += end != NULL;
		text = sv_n(text.p + n, text.n - n);
	}
	if (text.n)
		say_line(mark, sv_of("[...]"));
}

void say_note(const char *words)
{
	say_lines("cordon-agent: ", sv_of(words));
}
