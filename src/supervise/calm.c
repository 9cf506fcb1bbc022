#include "supervise/calm.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/pen.h"

#define CAN "\030"
#define ESC "\033"
#define ST ESC "\\"

/* Ends what is unfinished, VT52's mode and printing; text is shown, in ASCII, as we write it. Setting margins moves the
 * cursor: it is put back. */
static const char state[] = CAN ST ESC "<" ESC "[4i" ESC "[?2026l" ESC "(B\017" ESC "[0m" ESC "[4l" ESC "[?7h" ESC
				       "[?25h" ESC "7" ESC "[?69l" ESC "[r" ESC "8";
/* The second is the Linux console's. */
static const char palette[] = ESC "]104" ST ESC "]R" ST ESC "]110" ST ESC "]111" ST;
/* Lines may be of double height, of which one shows a half. */
static const char fresh[] = "\r\n" ESC "[J" ESC "#5";

/* Where an ESC, and the "]" of a string for the terminal itself, were seen. */
enum { TEXT, ESCAPE, STRING, NUMBER };

/* Titles, folders and links: what most programs write. Any other string may change the palette. */
static bool is_harmless(unsigned char c)
{
	return memchr("0278", c, 4) != NULL;
}

static unsigned char step(struct calm *c, unsigned char byte)
{
	switch (c->at) {
	case ESCAPE:
		return byte == ']' ? STRING : byte < ' ' ? ESCAPE : TEXT;
	case STRING:
		c->coloured = c->coloured || !is_harmless(byte);
		return NUMBER;
	case NUMBER:
		c->coloured = c->coloured || byte != ';';
		return TEXT;
	default:
		return TEXT;
	}
}

void calm_watch(struct calm *c, const char *p, size_t n)
{
	unsigned char byte;
	size_t i;

	for (i = 0; i < n && !(c->changed && c->coloured); i++) {
		byte = (unsigned char)p[i];
		/* SO, and what is ESC and a letter in one byte, or is written as two in UTF-8 */
		c->changed = c->changed || byte == '\033' || byte == '\016' || (byte >= 0x80 && byte <= 0x9f);
		c->coloured = c->coloured || (byte == 0x9d && (c->before < 0x80 || c->before == 0xc2));
		c->at = byte == '\033' ? ESCAPE : step(c, byte);
		c->before = byte;
	}
}

static bool understands(int fd)
{
	const char *term = getenv("TERM");

	return fd >= 0 && isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

void calm_terminal(const struct calm *c, int fd, int ms)
{
	if (!c->changed || !understands(fd))
		return;
	(void)sys_pen_write_all(fd, state, sizeof(state) - 1, ms);
	if (c->coloured)
		(void)sys_pen_write_all(fd, palette, sizeof(palette) - 1, ms);
}

void calm_line(int fd, int ms)
{
	const struct calm all = {.changed = true, .coloured = true};

	calm_terminal(&all, fd, ms);
	if (understands(fd))
		(void)sys_pen_write_all(fd, fresh, sizeof(fresh) - 1, ms);
	else if (fd >= 0)
		(void)sys_pen_write_all(fd, "\r\n", 2, ms);
}
