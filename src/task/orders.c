#include "task/orders.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/repository.h"
#include "policy/policy_mandatory.h"
#include "sys/tree.h"

/* Of paths: a folder that is fetched is at most FETCH_LIMITS deep. */
enum { PATH_BYTES = 64 << 10 };

static const char unclear[] = "its name has control, invisible or non-UTF-8 characters";
static const char too_long[] = "its path is too long to be judged";
static const char is_git[] = "git takes what has this name for a repository, or for the way to one, and runs programs "
			     "that a repository names";
static const char makes_repository[] =
	"a git repository by what is in it, whatever its name: git runs programs that a repository names";

static char fold(char c)
{
	return (char)tolower((unsigned char)c);
}

/* As a file system has it that knows no case, and no dots and spaces at an end. */
static struct sv fold_name(const char *name, char ret[NAME_MAX + 1])
{
	size_t n = strnlen(name, NAME_MAX), i;

	while (n && (name[n - 1] == '.' || name[n - 1] == ' '))
		n--;
	/* nothing else: then it is all there is of it */
	n = n ? n : strnlen(name, NAME_MAX);
	for (i = 0; i < n; i++)
		ret[i] = fold(name[i]);
	ret[n] = '\0';
	return sv_n(ret, n);
}

static int add_table(struct orders *o, const struct mandatory *table)
{
	char *text, *p;

	for (; table->pattern; table++) {
		text = arena_str(o->arena, sv_of(table->pattern));
		for (p = text; p && *p; p++)
			*p = fold(*p);
		if (!text || glob_init_in(&o->v[o->n].glob, sv_of(text), o->arena) < 0)
			return -1;
		o->v[o->n++].reason = table->reason;
	}
	return 0;
}

static size_t count(const struct mandatory *table)
{
	size_t n = 0;

	while (table[n].pattern)
		n++;
	return n;
}

int orders_init(struct orders *o, struct arena *arena)
{
	*o = (struct orders){.arena = arena};
	buf_init(&o->at, PATH_BYTES);
	buf_init(&o->as, PATH_BYTES);
	o->v = arena_array(arena, count(mandatory_deny) + count(mandatory_protect), sizeof(*o->v));
	return o->v && add_table(o, mandatory_deny) == 0 && add_table(o, mandatory_protect) == 0 ? 0 : -1;
}

void orders_done(struct orders *o)
{
	buf_done(&o->at);
	buf_done(&o->as);
}

unsigned orders_enter(struct orders *o, const char *name)
{
	char folded[NAME_MAX + 1];

	(void)buf_char(&o->at, '/');
	(void)buf_str(&o->at, name);
	(void)buf_char(&o->as, '/');
	(void)buf_sv(&o->as, fold_name(name, folded));
	return o->depth++;
}

static void cut_last(struct buf *path)
{
	char *slash = path->p ? strrchr(path->p, '/') : NULL;

	if (buf_failed(path) || !slash)
		return;
	path->n = (size_t)(slash - path->p);
	*slash = '\0';
}

void orders_leave(struct orders *o, unsigned depth)
{
	for (; o->depth > depth; o->depth--) {
		cut_last(&o->at);
		cut_last(&o->as);
	}
}

/* With what is above it let through, only a pattern whose last name is this one can be met. */
static bool may_end(const struct glob *g, struct sv name)
{
	unsigned last = g->n - 1U;

	if (g->stars & 1ULL << last)
		last--;
	return glob_component(glob_at(g, last), name);
}

/* name: as it is compared, in the place at hand. */
static const char *check_patterns(const struct orders *o, struct sv name)
{
	AUTO_BUF path = {0};
	size_t i;

	buf_init(&path, PATH_BYTES + NAME_MAX);
	(void)buf_sv(&path, buf_view(&o->as));
	(void)buf_char(&path, '/');
	(void)buf_sv(&path, name);
	if (buf_failed(&path))
		return too_long;
	for (i = 0; i < o->n; i++)
		if (may_end(&o->v[i].glob, name) && glob_hit(&o->v[i].glob, buf_view(&path)))
			return o->v[i].reason;
	return NULL;
}

static unsigned part_of(struct sv folded)
{
	char part[NAME_MAX + 1];
	unsigned i;

	for (i = 0; i < REPOSITORY_PARTS; i++)
		if (sv_eq(folded, fold_name(repository_parts[i], part)))
			return 1U << i;
	return 0;
}

/* What stands in the folder already, from another part of what the sandbox left. */
static unsigned parts_in(int folder)
{
	char folded[NAME_MAX + 1];
	DIR *d = sys_list(folder);
	unsigned parts = 0;
	struct dirent *e;

	/* one that cannot be looked at may have all */
	if (!d)
		return UINT_MAX;
	while ((e = readdir(d)))
		parts |= part_of(fold_name(e->d_name, folded));
	(void)closedir(d);
	return parts;
}

/* Looking what is there costs: a part that has dots or spaces behind it, of which there may be any number, is none that
 * anybody needs. */
static const char *check_repository(int to, struct sv folded, const char *name)
{
	unsigned part = part_of(folded);

	return part && (folded.n < strlen(name) || repository_is(parts_in(to) | part)) ? makes_repository : NULL;
}

static bool is_shown_as_it_is(const char *name)
{
	AUTO_BUF shown = {0};

	buf_init(&shown, 8 * NAME_MAX);
	text_escape(&shown, sv_of(name), NAME_MAX);
	return sv_is(buf_view(&shown), name);
}

static const char *judge(const struct orders *o, int to, const char *name)
{
	char folded[NAME_MAX + 1];
	struct sv as = fold_name(name, folded);
	const char *why;

	if (buf_failed(&o->at) || buf_failed(&o->as))
		return too_long;
	if (!is_shown_as_it_is(name))
		return unclear;
	if (sv_is(as, ".git"))
		return is_git;
	why = check_patterns(o, as);
	return why ? why : check_repository(to, as, name);
}

static void remember(struct orders *o, const char *name, const char *why)
{
	struct orders_refused *r;
	AUTO_BUF shown = {0};

	if (o->n_refused++ >= ORDERS_NAMED)
		return;
	r = &o->refused[o->n_refused - 1];
	buf_init(&shown, 8 * PATH_BYTES);
	text_escape(&shown, sv_of(o->at.n ? o->at.p + 1 : ""), PATH_MAX);
	if (*name) {
		(void)buf_str(&shown, o->at.n ? "/" : "");
		text_escape(&shown, sv_of(name), NAME_MAX);
	}
	r->path = buf_failed(&shown) ? "" : arena_str(o->arena, buf_view(&shown));
	r->reason = why;
}

bool orders_refuse(struct orders *o, int to, const char *name)
{
	const char *why = judge(o, to, name);

	if (why)
		remember(o, name, why);
	return why != NULL;
}

bool orders_refuse_folder(struct orders *o, int from)
{
	unsigned parts = 0, i;

	for (i = 0; i < REPOSITORY_PARTS; i++)
		parts |= (unsigned)(faccessat(from, repository_parts[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0) << i;
	if (!repository_is(parts))
		return false;
	remember(o, "", makes_repository);
	return true;
}
