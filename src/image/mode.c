#include "image/mode.h"

#include <stdlib.h>
#include <string.h>

enum { UMASK = 022, ALL = 07777 };

/* The bits that a letter stands for: behind an operator, or of whom. */
struct letter {
	char c;
	mode_t bits;
};

static const struct letter whos[] = {{'u', 04700}, {'g', 02070}, {'o', 01007}, {'a', ALL}, {0, 0}};
static const struct letter perms[] = {{'r', 0444}, {'w', 0222}, {'x', 0111}, {'s', 06000}, {'t', 01000}, {0, 0}};

static const struct letter *find(const struct letter *t, char c)
{
	for (; t->c; t++)
		if (t->c == c)
			return t;
	return NULL;
}

/* u, g or o behind an operator: what they have now, for whom it is. */
static mode_t copied(char c, mode_t now)
{
	return ((now >> (c == 'u' ? 6 : c == 'g' ? 3 : 0)) & 7) * 0111;
}

/* One operator and its letters, from p on; NULL: it is none. */
static const char *operate(const char *p, mode_t who, bool folder, mode_t *io)
{
	const struct letter *l;
	mode_t bits = 0, now = *io;
	char op = *p++;

	if (op != '+' && op != '-' && op != '=')
		return NULL;
	if (*p && strchr("ugo", *p)) {
		bits = copied(*p++, now);
	} else {
		for (; (l = find(perms, *p)) || *p == 'X'; p++)
			bits |= l ? l->bits : folder || (now & 0111) ? 0111 : 0;
	}
	bits &= who ? who : (mode_t)(ALL & ~UMASK);
	if (op == '=')
		now &= who ? ~who : 0;
	*io = op == '-' ? now & ~bits : now | bits;
	return p;
}

/* One clause: who, and at least one operator. */
static const char *clause(const char *p, bool folder, mode_t *io)
{
	const struct letter *l;
	mode_t who = 0;

	for (; (l = find(whos, *p)); p++)
		who |= l->bits;
	do {
		p = operate(p, who, folder, io);
	} while (p && *p && *p != ',');
	return p;
}

static bool change(const char *text, bool folder, mode_t *io)
{
	const char *p = text;

	if (!*text || strlen(text) > MODE_TEXT_MAX)
		return false;
	if (!text[strspn(text, "01234567")]) {
		*io = (mode_t)strtoul(text, NULL, 8) & ALL;
		return strlen(text) <= 5;
	}
	for (;; p++) {
		p = clause(p, folder, io);
		if (!p || !*p)
			return p != NULL;
	}
}

bool mode_is_valid(const char *text)
{
	mode_t ignored = 0;

	return change(text, false, &ignored);
}

mode_t mode_change(const char *text, mode_t old, bool folder)
{
	mode_t mode = old & ALL;

	(void)change(text, folder, &mode);
	return mode & ALL;
}
