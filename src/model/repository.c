#include "model/repository.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

enum { HEAD = 1, OBJECTS = 2, REFS = 4, COMMONDIR = 8 };

const char *const repository_parts[REPOSITORY_PARTS] = {"HEAD", "objects", "refs", "commondir"};

static const char makes_one[] = "a bare repository: its config could run programs of its choice (built in)";
const char repository_order_rule[] = "a bare repository: git takes orders from it (built in)";

bool repository_is(unsigned parts)
{
	return (parts & HEAD) && ((parts & COMMONDIR) || (parts & (OBJECTS | REFS)) == (OBJECTS | REFS));
}

bool repository_is_order(struct sv name)
{
	static const char *const orders[] = {"config", "config.worktree", "commondir", "gitdir", "hooks"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(orders); i++)
		if (sv_is(name, orders[i]))
			return true;
	return false;
}

bool repository_has_patterns(struct sv folder)
{
	static const char modules[] = "/.git/modules/";

	return sv_ends(folder, "/.git") || memmem(folder.p, folder.n, modules, sizeof(modules) - 1);
}

static unsigned part_bit(struct sv name)
{
	unsigned i;

	for (i = 0; i < REPOSITORY_PARTS; i++)
		if (sv_is(name, repository_parts[i]))
			return 1U << i;
	return 0;
}

const char *repository_judge(struct sv path, repository_look *look, void *arg)
{
	struct repository_view view;
	struct sv folder, name;
	unsigned part;
	size_t at, end;
	bool order;

	for (at = 0; at < path.n; at = end) {
		for (end = at + 1; end < path.n && path.p[end] != '/'; end++)
			;
		folder = sv_n(path.p, at);
		name = sv_n(path.p + at + 1, end - at - 1);
		order = repository_is_order(name);
		part = end == path.n ? part_bit(name) : 0;
		if ((!order && !part) || repository_has_patterns(folder))
			continue;
		view = look(arg, folder);
		if (order && repository_is(view.before | view.after))
			return repository_order_rule;
		if (part && !repository_is(view.before) && repository_is(view.before | view.after | part))
			return makes_one;
	}
	return NULL;
}
