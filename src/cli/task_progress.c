#include "cli/task_progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

static int columns(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

static void draw(const struct progress *p)
{
	uint64_t s = (now_ms() - p->since) / 1000;
	char text[64 + ATTEND_LINE];

	(void)snprintf(text, sizeof(text), "%-7s %2u:%02u  %s", p->phase, (unsigned)(s / 60), (unsigned)(s % 60),
		       p->line);
	(void)fprintf(stderr, "\r\033[K%.*s", columns() - 1, text);
	(void)fflush(stderr);
}

static void begin(void *arg, const char *phase)
{
	struct progress *p = arg;

	p->phase = phase;
	p->since = now_ms();
	p->line[0] = '\0';
	if (p->live)
		draw(p);
	else
		call_note(p->call, "%s", phase);
}

static void line(void *arg, const char *text)
{
	struct progress *p = arg;

	if (!p->live || !p->phase)
		return;
	if (text)
		(void)snprintf(p->line, sizeof(p->line), "%s", text);
	draw(p);
}

void task_progress_init(struct progress *p, const struct call *call, struct task_progress *ret)
{
	*p = (struct progress){.call = call, .live = isatty(STDERR_FILENO)};
	*ret = (struct task_progress){.phase = begin, .line = line, .arg = p};
}

void task_progress_done(struct progress *p)
{
	if (p->live && p->phase)
		(void)fputs("\r\033[K", stderr);
	p->phase = NULL;
}
