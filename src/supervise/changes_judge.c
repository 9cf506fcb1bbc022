#include "supervise/changes_judge.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "model/repository.h"
#include "sys/beneath.h"
#include "sys/stamp.h"

/* The kernel gives up after 40 links; the steps bound what a net of links that fork can cost. */
enum { MAX_HOPS = 40, STEPS_PER_LINK = 4000, STEPS_IN_ALL = 4000000 };

const char changes_meanwhile[] = "changed on the host since the run started";

struct judge {
	struct changes *list;
	const struct changes_rules *rules;
	int lower_fd;
	unsigned steps;     /* left for this link */
	unsigned steps_all; /* left */
	const char *full;   /* absolute path of the change at hand */
};

typedef const char *(*check_fn)(struct judge *j, const struct change *c);

/* What is shown is what is applied: a name that has to be escaped could be mistaken for another. Names that the host
 * has already are its own affair. */
static const char *check_name(struct judge *j, const struct change *c)
{
	const char *slash = strrchr(c->path, '/'), *name = slash ? slash + 1 : c->path;
	AUTO_BUF shown = {0};

	(void)j;
	buf_init(&shown, 4 * NAME_MAX);
	text_escape(&shown, sv_of(name), NAME_MAX);
	if (c->kind == CHANGE_ADDED && !sv_is(buf_view(&shown), name))
		return "has a name with control, invisible or non-UTF-8 characters";
	return NULL;
}

static bool is_leaf(enum change_type t)
{
	return t != CHANGE_NONE && t != CHANGE_FOLDER;
}

static const char *hit_by(struct judge *j, const struct change *c, const struct glob *globs, size_t n, const char *what)
{
	struct sv path = sv_of(j->full);
	struct text_shown shown;
	size_t i;

	for (i = 0; i < n; i++) {
		if (glob_hit(&globs[i], path))
			return arena_printf(j->list->arena, "is %s (%s)", what,
					    text_show(&shown, sv_of(globs[i].text)));
		/* Only a real folder may stand on the way to such a path, and none may be made there out of something
		 * else. */
		if ((is_leaf(c->before.type) || is_leaf(c->after.type)) && glob_on_way(&globs[i], path))
			return arena_printf(j->list->arena, "stands in the way to what is %s (%s)", what,
					    text_show(&shown, sv_of(globs[i].text)));
	}
	return NULL;
}

const char *changes_full_path(struct arena *a, const struct changes_rules *rules, const char *path)
{
	return arena_printf(a, "%s/%s", strcmp(rules->root, "/") == 0 ? "" : rules->root, path);
}

static int compare_hidden(const void *key, const void *member)
{
	const struct sv *path = key;
	const char *const *hidden = member;
	int r = strncmp(path->p, *hidden, path->n);

	return r ? r : (*hidden)[path->n] ? -1 : 0;
}

bool changes_is_hidden(const struct changes_rules *rules, const char *full)
{
	struct sv path = sv_of(full);

	if (!rules->n_hidden)
		return false;
	while (path.n && !bsearch(&path, rules->hidden, rules->n_hidden, sizeof(*rules->hidden), compare_hidden))
		do
			path.n--;
		while (path.n && path.p[path.n] != '/');
	return path.n != 0;
}

/* A folder that may be written to below one that may not is a root of its own. */
static const char *hit_by_read(struct judge *j, const struct change *c)
{
	const struct changes_rules *r = j->rules;
	const char *why = NULL;
	size_t i;

	for (i = 0; !why && i < r->n_read; i++)
		if (!glob_hit(&r->read[i], sv_of(r->root)))
			why = hit_by(j, c, &r->read[i], 1, "read-only");
	return why;
}

static const char *check_globs(struct judge *j, const struct change *c)
{
	const char *why = hit_by(j, c, j->rules->deny, j->rules->n_deny, "denied");

	if (!why && changes_is_hidden(j->rules, j->full))
		return "was hidden from the sandbox";
	if (!why)
		why = hit_by(j, c, j->rules->protect, j->rules->n_protect, "protected");
	return why ? why : hit_by_read(j, c);
}

/* 1: there, 0: not there, -1: who knows. */
static int is_in_lower(const struct judge *j, const char *path)
{
	AUTO_FD fd = sys_open_beneath(j->lower_fd, path, O_PATH | O_NOFOLLOW, 0);

	if (fd >= 0)
		return 1;
	/* A link on the way is one that goes: the change is in a folder. */
	return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -EXDEV ? 0 : -1;
}

/* What goes is counted as if it stayed: whether it goes is not decided yet. What is new is never there before, also
 * when it has been applied. What cannot be looked at could be there. */
static struct repository_view look_at(void *arg, struct sv folder)
{
	struct judge *j = arg;
	struct repository_view view = {0};
	size_t top = strcmp(j->rules->root, "/") == 0 ? 0 : strlen(j->rules->root);
	const struct change *c;
	char path[PATH_MAX];
	unsigned i;
	int there;

	if (folder.n < top)
		return view;
	folder = folder.n > top ? sv_n(folder.p + top + 1, folder.n - top - 1) : sv_n("", 0);
	for (i = 0; i < REPOSITORY_PARTS; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%.*s%s%s", (int)folder.n, folder.p, folder.n ? "/" : "",
				     repository_parts[i]) >= sizeof(path)) {
			view.after |= 1U << i;
			continue;
		}
		c = changes_find(j->list, path);
		there = c && !c->refused && c->before.type == CHANGE_NONE ? 0 : is_in_lower(j, path);
		view.before |= (unsigned)(there > 0) << i;
		view.after |= (unsigned)(there < 0 || (c && c->after.type != CHANGE_NONE)) << i;
	}
	return view;
}

static const char *check_repository(struct judge *j, const struct change *c)
{
	(void)c;
	return repository_judge(sv_of(j->full), look_at, j) ? "is part of a repository that git would obey" : NULL;
}

static const char *check_type(struct judge *j, const struct change *c)
{
	(void)j;
	return c->after.type == CHANGE_SPECIAL ? "is a device, FIFO or socket" : NULL;
}

static const char *check_mode(struct judge *j, const struct change *c)
{
	(void)j;
	if (c->after.type == CHANGE_FILE && (c->after.mode & 07000))
		return "has a setuid, setgid or sticky bit";
	return NULL;
}

/* A folder's ctime says that something in it changed; what is in it is asked for itself. */
static const char *check_conflict(struct judge *j, const struct change *c)
{
	const struct change_side *b = &c->before;

	if (j->rules->force || j->rules->started.tv_sec == 0)
		return NULL;
	if (b->type == CHANGE_NONE)
		return j->rules->copied && copied_knows(j->rules->copied, c->path) ? changes_meanwhile : NULL;
	if (b->type == CHANGE_FOLDER && c->kind != CHANGE_MODE)
		return NULL;
	return sys_stamp_later(b->ctime, j->rules->started) ? changes_meanwhile : NULL;
}

/* A place during the resolution of a link: a folder below the root ("" is the root), and what is still to be resolved
 * from there. */
struct place {
	char at[PATH_MAX];
	const char *rest;
};

static bool leads_out(struct judge *j, const char *at, const char *rest, unsigned hops);

/* The path leads on through a link with this target, with `rest` behind it. */
static bool link_leads_out(struct judge *j, const char *at, const char *target, const char *rest, unsigned hops)
{
	AUTO_BUF b = {0};

	buf_init(&b, 4 * PATH_MAX);
	if (target[0] == '/')
		return true;
	(void)buf_str(&b, target);
	(void)buf_char(&b, '/');
	(void)buf_str(&b, rest);
	return buf_failed(&b) != 0 || leads_out(j, at, b.p, hops + 1);
}

/* A link may be at this path before the changes, and another one behind them; with refused changes left out, either may
 * be met. */
static bool links_here_lead_out(struct judge *j, const struct place *p, const char *path, unsigned hops)
{
	const struct change *c = changes_find(j->list, path);
	char target[PATH_MAX];
	AUTO_FD fd = -1;
	ssize_t n;

	if (hops >= MAX_HOPS)
		return false;
	if (c && c->after.type == CHANGE_LINK && link_leads_out(j, p->at, c->after.target, p->rest, hops))
		return true;
	fd = sys_open_beneath(j->lower_fd, path, O_PATH | O_NOFOLLOW, 0);
	n = fd < 0 ? -1 : readlinkat(fd, "", target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = '\0';
	return link_leads_out(j, p->at, target, p->rest, hops);
}

static bool step_up(struct place *p)
{
	char *slash = strrchr(p->at, '/');

	if (p->at[0] == '\0')
		return false;
	*(slash ? slash : p->at) = '\0';
	return true;
}

/* Takes the next component off p->rest and goes there by its text. False: that, or a link there, leads out. */
static bool step(struct judge *j, struct place *p, unsigned hops)
{
	size_t n = strcspn(p->rest, "/");
	struct sv name = sv_n(p->rest, n);
	char path[PATH_MAX];

	p->rest += n + strspn(p->rest + n, "/");
	if (n == 0 || sv_is(name, "."))
		return true;
	if (sv_is(name, ".."))
		return step_up(p);
	if ((size_t)snprintf(path, sizeof(path), "%s%s%.*s", p->at, p->at[0] ? "/" : "", (int)n, name.p) >=
	    sizeof(path))
		return false;
	if (links_here_lead_out(j, p, path, hops))
		return false;
	memcpy(p->at, path, sizeof(path));
	return true;
}

/*
 * Follows a path by its text and, wherever a link is or will be, through that too: it must stay inside on every one of
 * these ways. What needs too many steps counts as leading out. More links in a row than the kernel follows lead
 * nowhere.
 */
static bool leads_out(struct judge *j, const char *at, const char *rest, unsigned hops)
{
	struct place p = {.rest = rest};

	if (strlen(at) >= sizeof(p.at))
		return true;
	memcpy(p.at, at, strlen(at) + 1);
	while (*p.rest) {
		if (j->steps == 0 || j->steps_all == 0)
			return true;
		j->steps--;
		j->steps_all--;
		if (!step(j, &p, hops))
			return true;
	}
	return false;
}

/*
 * "name/..": what the name is decides where that leads, and it may become a link with the next run that comes back.
 * Without such a step a link that stays inside does so for good, whatever it leads through.
 */
static bool goes_up_behind_a_name(const char *target)
{
	bool named = false;
	size_t n;

	for (; *target; target += n + strspn(target + n, "/")) {
		n = strcspn(target, "/");
		if (named && n == 2 && target[0] == '.' && target[1] == '.')
			return true;
		named = named ||
			!(n == 0 || (n == 1 && target[0] == '.') || (n == 2 && target[0] == '.' && target[1] == '.'));
	}
	return false;
}

static const char *check_link(struct judge *j, const struct change *c)
{
	struct place folder = {.rest = ""};

	if (c->after.type != CHANGE_LINK || c->kind == CHANGE_DELETED)
		return NULL;
	if (c->after.target[0] == '/')
		return "is a link to an absolute path";
	if (goes_up_behind_a_name(c->after.target))
		return "is a link that goes up (..) behind a name, and could lead out of the work folder later";
	if (strlen(c->path) >= sizeof(folder.at))
		return "has too long a path";
	memcpy(folder.at, c->path, strlen(c->path) + 1);
	(void)step_up(&folder);
	j->steps = STEPS_PER_LINK;
	return leads_out(j, folder.at, c->after.target, 0) ? "is a link that leads out of the work folder" : NULL;
}

/* Cheapest and clearest reasons first. */
static const check_fn checks[] = {check_name, check_globs, check_repository, check_type,
				  check_mode, check_link,  check_conflict};

static int judge_one(struct judge *j, struct change *c)
{
	size_t i;

	j->full = changes_full_path(j->list->arena, j->rules, c->path);
	if (!j->full)
		return -ENOMEM;
	for (i = 0; i < ARRAY_LEN(checks) && !c->refused; i++)
		c->refused = checks[i](j, c);
	c->own = c->refused != NULL;
	return arena_failed(j->list->arena) ? -ENOMEM : 0;
}

/* Does everything behind c that lies below it stand or fall with it? */
static bool is_unit(const struct change *c)
{
	return c->after.type == CHANGE_FOLDER ? c->before.type != CHANGE_FOLDER : c->kind == CHANGE_TYPE;
}

/* A folder that must go, be it for good or for something in its place, cannot while a part of it must stay. Backwards:
 * deepest first. */
static void keep_folders_of_kept(struct changes *l)
{
	size_t i, k;
	struct change *c;

	for (i = l->n; i-- > 0;) {
		c = &l->v[i];
		if (c->refused || c->before.type != CHANGE_FOLDER || c->after.type == CHANGE_FOLDER)
			continue;
		for (k = i + 1; k < l->n && path_is_below(l->v[k].path, c->path) && !c->refused; k++)
			if (l->v[k].refused)
				c->refused = "holds something that must stay";
	}
}

static void refuse_what_is_below(struct changes *l)
{
	const struct change *top = NULL;
	struct change *c;
	size_t i;

	for (i = 0; i < l->n; i++) {
		c = &l->v[i];
		if (top && path_is_below(c->path, top->path)) {
			if (!c->refused)
				c->refused = "is part of a change that is refused";
			continue;
		}
		top = c->refused && is_unit(c) ? c : NULL;
	}
}

int changes_judge(struct changes *c, int lower_fd, const struct changes_rules *rules, struct error *err)
{
	struct judge j = {.list = c, .rules = rules, .lower_fd = lower_fd, .steps_all = STEPS_IN_ALL};
	size_t i;

	for (i = 0; i < c->n; i++)
		if (judge_one(&j, &c->v[i]) < 0)
			return error_sys(err, ENOMEM, "list of changes");
	keep_folders_of_kept(c);
	refuse_what_is_below(c);
	c->n_refused = 0;
	for (i = 0; i < c->n; i++)
		c->n_refused += c->v[i].refused != NULL;
	return 0;
}

const char *changes_judge_again(const struct changes *c, int lower_fd)
{
	const struct changes_rules rules = {.root = c->root};
	struct changes list = *c;
	struct judge j = {.list = &list, .rules = &rules, .lower_fd = lower_fd};
	size_t i;

	for (i = 0; i < c->n; i++) {
		if (c->v[i].refused || c->v[i].after.type == CHANGE_NONE)
			continue;
		j.full = changes_full_path(c->arena, &rules, c->v[i].path);
		if (!j.full || check_repository(&j, &c->v[i]))
			return c->v[i].path;
	}
	return NULL;
}
