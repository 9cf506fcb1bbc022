#include "cli/home.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/real_path.h"
#include "base/sv.h"

enum { PASSWD_MAX = 4 << 20, FIELDS = 7 };

/* Where accounts live that nobody logs in to: daemons work in theirs, and people in a daemon's (/var/www). */
static bool is_login(struct sv shell)
{
	static const char *const none[] = {"/nologin", "/false", "/sync", "/shutdown", "/halt", NULL};
	size_t i;

	for (i = 0; none[i]; i++)
		if (sv_ends(shell, none[i]))
			return false;
	return true;
}

/* "/" is what those have that have none. */
static enum home_of compare(const char *folder, const char *home)
{
	char real[PATH_MAX];

	if (home[0] != '/' || !real_path(home, real) || strcmp(real, "/") == 0 || !path_is_in(real, folder))
		return HOME_NO;
	return strcmp(real, folder) == 0 ? HOME_IS : HOME_HOLDS;
}

static size_t split(struct sv line, struct sv fields[FIELDS])
{
	const char *colon;
	size_t n = 0;

	while (n < FIELDS) {
		colon = memchr(line.p, ':', line.n);
		fields[n] = sv_n(line.p, colon ? (size_t)(colon - line.p) : line.n);
		if (!colon)
			return n + 1;
		line = sv_n(colon + 1, line.n - fields[n++].n - 1);
	}
	return n;
}

/* One line of /etc/passwd: name, password, id, group, comment, home, shell. */
static enum home_of compare_line(struct sv line, const char *folder)
{
	struct sv f[FIELDS];
	char home[PATH_MAX], own[16];

	if (split(line, f) < FIELDS || !is_login(f[6]))
		return HOME_NO;
	(void)snprintf(own, sizeof(own), "%u", (unsigned)geteuid());
	if (geteuid() != 0 && !sv_is(f[2], own))
		return HOME_NO;
	return (size_t)snprintf(home, sizeof(home), "%.*s", (int)f[5].n, f[5].p) < sizeof(home) ? compare(folder, home)
												: HOME_NO;
}

static enum home_of compare_accounts(const char *folder)
{
	enum home_of found = HOME_NO;
	AUTO_BUF b = {0};
	const char *end;
	struct sv left;
	size_t n;

	buf_init(&b, PASSWD_MAX);
	if (buf_read_file(&b, "/etc/passwd") < 0)
		return HOME_NO;
	for (left = buf_view(&b); found == HOME_NO && left.n; left = sv_n(left.p + n, left.n - n)) {
		end = memchr(left.p, '\n', left.n);
		n = end ? (size_t)(end - left.p) : left.n;
		found = compare_line(sv_n(left.p, n), folder);
		n += end != NULL;
	}
	return found;
}

/* Who called sudo may be known to another directory than /etc/passwd. */
static enum home_of compare_callers(const char *folder)
{
	const char *name = getenv("SUDO_USER"), *said = getenv("SUDO_HOME");
	enum home_of found = said ? compare(folder, said) : HOME_NO;
	char usual[PATH_MAX];

	if (found == HOME_NO && name && (size_t)snprintf(usual, sizeof(usual), "/home/%s", name) < sizeof(usual))
		found = compare(folder, usual);
	return found;
}

enum home_of home_of(const char *folder)
{
	enum home_of found = compare_callers(folder);

	return found == HOME_NO ? compare_accounts(folder) : found;
}
