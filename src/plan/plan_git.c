#include "plan/plan_git.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "plan/plan_follow.h"

enum { CONFIG_MAX = 256 * 1024 };

struct told {
	struct draft *d;
	const char *folder;   /* of the configuration: what it includes is relative to that */
	const char *worktree; /* and hooks to this; */
	bool own;	      /* the repository's, whose includes count */
	int added;
};

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* A value without quotes, comments and blanks at its end. */
static void read_value(const char *p, char out[PATH_MAX])
{
	bool quoted = false;
	size_t n = 0, end = 0;

	for (p = skip_blanks(p); *p && *p != '\n' && n < PATH_MAX - 1 && (quoted || (*p != '#' && *p != ';')); p++) {
		if (*p == '"') {
			quoted = !quoted;
			continue;
		}
		if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
			p++;
		out[n++] = *p;
		if (quoted || !isspace((unsigned char)*p))
			end = n;
	}
	out[end] = '\0';
}

/* One place that git looks at: relative to folder, to the home folder, or absolute. */
static int add_place(struct told *t, const char *folder, const char *value)
{
	const char *path;
	int r;

	if (!value[0])
		return 0;
	if (value[0] == '/')
		path = arena_str(t->d->plan->arena, sv_of(value));
	else if (value[0] == '~' && value[1] == '/')
		path = arena_printf(t->d->plan->arena, "%s%s", t->d->plan->home, value + 1);
	else
		path = arena_printf(t->d->plan->arena, "%s/%s", folder, value);
	r = path ? plan_follow_named(t->d, path, "**/.git/config", "git's configuration names it") : -1;
	t->added |= r > 0;
	return r < 0 ? -1 : 0;
}

/* In which sections it says something to us. */
enum section { OTHER, CORE, INCLUDE };

static enum section read_section(const char *line)
{
	if (strncasecmp(line, "[core]", 6) == 0)
		return CORE;
	return strncasecmp(line, "[include]", 9) == 0 || strncasecmp(line, "[includeif ", 11) == 0 ? INCLUDE : OTHER;
}

static int read_line(struct told *t, enum section *section, const char *line)
{
	const char *key[] = {[OTHER] = NULL, [CORE] = "hookspath", [INCLUDE] = "path"};
	char value[PATH_MAX];
	const char *p;

	line = skip_blanks(line);
	if (*line == '[') {
		*section = read_section(line);
		line = strchr(line, ']') ? skip_blanks(strchr(line, ']') + 1) : "";
	}
	if (*section == OTHER || strncasecmp(line, key[*section], strlen(key[*section])) != 0)
		return 0;
	p = skip_blanks(line + strlen(key[*section]));
	if (*p != '=')
		return 0;
	read_value(p + 1, value);
	if (*section == CORE)
		return t->own || value[0] != '/' ? add_place(t, t->worktree, value) : 0;
	return t->own ? add_place(t, t->folder, value) : 0;
}

static int read_config(struct told *t, const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	enum section section = OTHER;
	AUTO_BUF b = {0};
	char *line, *end;

	buf_init(&b, CONFIG_MAX);
	if (fd < 0 || buf_read_fd(&b, fd) < 0 || !b.n || memchr(b.p, '\0', b.n))
		return 0;
	for (line = b.p; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		if (read_line(t, &section, line) < 0)
			return -1;
	}
	return 0;
}

int plan_git_follow(struct draft *d, const char *config)
{
	size_t n = strlen(config), git = strlen("/config"), tree = strlen("/.git/config");
	struct told t = {.d = d, .own = true};

	if (n <= tree)
		return 0;
	t.folder = arena_str(d->plan->arena, sv_n(config, n - git));
	t.worktree = arena_str(d->plan->arena, sv_n(config, n - tree));
	if (!t.folder || !t.worktree)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	if (read_config(&t, config) < 0)
		return -1;
	t.own = false;
	if (read_config(&t, arena_printf(d->plan->arena, "%s/.gitconfig", d->plan->home)) < 0 || read_config(&t, arena_printf(d->plan->arena, "%s/.config/git/config", d->plan->home)) < 0)
		return -1;
	return t.added;
}
