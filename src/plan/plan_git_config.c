#include "plan/plan_git_config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/real_path.h"
#include "base/text.h"
#include "model/git_config.h"
#include "plan/plan_follow.h"
#include "plan/plan_linked.h"
#include "sys/tree.h"

/* DEPTH_MAX: git's own. */
enum { CONFIG_MAX = 8 << 20, DEPTH_MAX = 10, FILES_MAX = 1000, NAMED_MAX = 64 };

/* What git is told to run or to read is protected as this is. */
static const char config_pattern[] = "**/.git/config";

struct file {
	struct git_said *said;
	const char *folder; /* what it includes is relative to that */
	int depth;
};

static int no_memory(struct draft *d)
{
	return error_set(d->err, ERROR_SYSTEM, "out of memory");
}

int git_texts_add(struct draft *d, struct git_texts *t, const char *text)
{
	const char **more;
	size_t i;

	if (!text)
		return no_memory(d);
	for (i = 0; i < t->n; i++)
		if (strcmp(t->v[i], text) == 0)
			return 0;
	if (t->n == t->room) {
		more = realloc(t->v, (2 * t->room + 8) * sizeof(*more));
		if (!more)
			return no_memory(d);
		t->v = more;
		t->room = 2 * t->room + 8;
	}
	t->v[t->n] = arena_str(d->plan->arena, sv_of(text));
	if (!t->v[t->n])
		return no_memory(d);
	t->n++;
	return 1;
}

void git_texts_done(struct git_texts *t)
{
	free(t->v);
	*t = (struct git_texts){0};
}

void git_said_done(struct git_said *s)
{
	git_texts_done(&s->hooks);
	git_texts_done(&s->worktrees);
	git_texts_done(&s->files);
}

int plan_git_config_load(struct draft *d, const char *path, struct buf *b)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct text_shown t;
	struct stat st;
	int r;

	buf_init(b, CONFIG_MAX);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return error_sys(d->err, errno, "%s", text_show(&t, sv_of(path)));
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 1;
	r = buf_read_fd(b, fd);
	if (r == -EFBIG)
		return error_set(d->err, ERROR_INPUT,
				 "%s is larger than %d MiB, and git takes hooks from where it says: make it smaller",
				 text_show(&t, sv_of(path)), CONFIG_MAX >> 20);
	return r < 0 ? error_sys(d->err, r, "%s", text_show(&t, sv_of(path))) : 0;
}

/* The home of the user with this name: one whom /etc/passwd does not have is taken for the one who runs this. */
static const char *home_of(struct draft *d, struct sv name)
{
	AUTO_BUF b = {0};
	const char *line, *end, *home;
	int skip;

	if (!name.n || plan_git_config_load(d, "/etc/passwd", &b) != 0)
		return d->plan->home;
	for (line = b.n ? b.p : NULL; line; line = (end = strchr(line, '\n')) ? end + 1 : NULL) {
		if (strncmp(line, name.p, name.n) != 0 || line[name.n] != ':')
			continue;
		for (home = line, skip = 5; skip && home; skip--)
			home = (home = strpbrk(home, ":\n")) && *home == ':' ? home + 1 : NULL;
		if (home)
			return arena_str(d->plan->arena, sv_n(home, strcspn(home, ":\n")));
	}
	return d->plan->home;
}

const char *plan_git_config_place(struct draft *d, const char *folder, const char *text)
{
	const char *home;
	size_t n;

	if (text[0] == '/')
		return arena_str(d->plan->arena, sv_of(text));
	if (text[0] != '~')
		return arena_printf(d->plan->arena, "%s/%s", folder, text);
	n = strcspn(text, "/");
	home = home_of(d, sv_n(text + 1, n - 1));
	return home ? arena_printf(d->plan->arena, "%s%s", home, text + n) : NULL;
}

/* What git runs or reads may have other names (hard links). */
static int note_others(struct draft *d, int dir, const char *folder, const char *name)
{
	const char *path = name;
	const struct guard_name *e;
	struct stat st;

	if (fstatat(dir, name, &st, 0) < 0 || !S_ISREG(st.st_mode) || st.st_nlink < 2)
		return 0;
	e = guard_names_find(&d->names, sv_of(config_pattern));
	if (!e || e->protects == GUARD_NONE)
		return 0;
	if (folder)
		path = arena_printf(d->plan->arena, "%s/%s", folder, name);
	return plan_linked_file(d, &st, &d->plan->guards[e->protects], path);
}

/* All of a folder that is shown: nothing would be left to write to. */
static bool is_all(const struct draft *d, const char *path)
{
	AUTO_FREE char *real = real_path(path, NULL);
	const struct plan_op *op;
	size_t i;

	for (i = 0; real && i < d->plan->n_ops; i++) {
		op = &d->plan->ops[i];
		if (op->host && op->folder && op->writable && strcmp(op->source, real) == 0)
			return true;
	}
	return false;
}

int plan_git_config_protect(struct git_said *s, const char *folder, const char *text)
{
	const char *path = text ? plan_git_config_place(s->d, folder, text) : NULL;
	struct text_shown t;
	int r;

	if (!path)
		return no_memory(s->d);
	if (is_all(s->d, path))
		return error_set(s->d->err, ERROR_DENIED,
				 "git's configuration has all of %s for hooks or settings (core.hooksPath, "
				 "include.path, init.templateDir), and the run could write there; use another work "
				 "folder, or another path for git",
				 text_show(&t, sv_of(path)));
	r = plan_follow_named(s->d, path, config_pattern, "git's configuration names it");
	s->added |= r > 0;
	return r < 0 ? -1 : note_others(s->d, AT_FDCWD, NULL, path);
}

/* What links in a folder lead to; files: and which other names its files have. */
static int protect_entries(struct git_said *s, const char *folder, bool files)
{
	AUTO_FD dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sys_names names;
	const char *name;
	int r = 0;

	if (dir < 0 || sys_names_open(&names, dir) < 0)
		return 0;
	while (r == 0 && (name = sys_names_next(&names))) {
		if (names.type == DT_LNK || names.type == DT_UNKNOWN)
			r = plan_git_config_protect(s, "", arena_printf(s->d->plan->arena, "%s/%s", folder, name));
		else if (files && names.type == DT_REG)
			r = note_others(s->d, dir, folder, name);
	}
	sys_names_close(&names);
	return r;
}

int plan_git_config_links(struct git_said *s, const char *folder)
{
	return protect_entries(s, folder, false);
}

int plan_git_config_hooks(struct git_said *s, const char *folder, const char *text)
{
	const char *path = plan_git_config_place(s->d, folder, text);

	if (!path)
		return no_memory(s->d);
	return plan_git_config_protect(s, "", path) < 0 ? -1 : protect_entries(s, path, true);
}

static int read_file(struct git_said *s, const char *path, int depth);

static int found_include(const struct file *f, const char *value)
{
	const char *path = plan_git_config_place(f->said->d, f->folder, value);

	if (!path)
		return no_memory(f->said->d);
	if (plan_git_config_protect(f->said, f->folder, value) < 0)
		return -1;
	return f->depth < DEPTH_MAX ? read_file(f->said, path, f->depth + 1) : 0;
}

/* Each of a repository's work trees is looked at for each of its relative folders of hooks. */
static int found_named(const struct file *f, struct git_texts *to, const char *value)
{
	struct text_shown t;

	if (git_texts_add(f->said->d, to, value) < 0)
		return -1;
	return to->n <= NAMED_MAX ? 0
				  : error_set(f->said->d->err, ERROR_INPUT,
					      "git's configuration in %s names more than %d folders of hooks or work "
					      "trees, too many to protect; have it name fewer",
					      text_show(&t, sv_of(f->folder)), NAMED_MAX);
}

static int found_hooks(const struct file *f, const char *value)
{
	if (value[0] == '/' || value[0] == '~')
		return plan_git_config_hooks(f->said, f->folder, value);
	return found_named(f, &f->said->hooks, value);
}

/* Git copies hooks from there into every repository that it makes. A relative one is below wherever somebody stands. */
static int found_template(const struct file *f, const char *value)
{
	const char *path =
		value[0] == '/' || value[0] == '~' ? plan_git_config_place(f->said->d, f->folder, value) : "";

	if (!path)
		return no_memory(f->said->d);
	return !path[0] || plan_git_config_protect(f->said, "", path) == 0 ? 0 : -1;
}

static int told(void *arg, const char *name, const char *value)
{
	static const char optional[] = ":(optional)";
	const struct file *f = arg;

	if (!value[0])
		return 0;
	/* newer versions take this off the value, older ones do not know it */
	if (strncmp(value, optional, sizeof(optional) - 1) == 0 && told(arg, name, value + sizeof(optional) - 1) < 0)
		return -1;
	if (strcmp(name, "core.hookspath") == 0)
		return found_hooks(f, value);
	if (strcmp(name, "init.templatedir") == 0)
		return found_template(f, value);
	if (strcmp(name, "core.worktree") == 0)
		return found_named(f, &f->said->worktrees, value);
	if (strcmp(name, "include.path") == 0 ||
	    (strncmp(name, "includeif.", 10) == 0 && sv_ends(sv_of(name), ".path")))
		return found_include(f, value);
	return 0;
}

static int read_file(struct git_said *s, const char *path, int depth)
{
	const char *slash = strrchr(path, '/');
	struct file f = {.said = s, .depth = depth};
	AUTO_BUF b = {0};
	int r = git_texts_add(s->d, &s->files, path);

	if (r <= 0)
		return r;
	if (s->files.n > FILES_MAX)
		return error_set(s->d->err, ERROR_INPUT,
				 "git's configuration includes more than %d files; have it include fewer", FILES_MAX);
	r = plan_git_config_load(s->d, path, &b);
	if (r != 0)
		return r < 0 ? -1 : 0;
	f.folder = arena_str(s->d->plan->arena, sv_n(path, slash ? (size_t)(slash - path) : 0));
	if (!f.folder)
		return no_memory(s->d);
	r = git_config_read(buf_view(&b), told, &f);
	if (r == -ENOMEM)
		return no_memory(s->d);
	return r < 0 ? -1 : 0;
}

int plan_git_config_read(struct git_said *s, const char *path)
{
	return read_file(s, path, 0);
}
