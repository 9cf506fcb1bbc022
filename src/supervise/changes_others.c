#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "supervise/changes_apply.h"
#include "supervise/changes_journal.h"
#include "supervise/changes_names.h"
#include "supervise/state.h"
#include "sys/lookup.h"

static void cleanup_arena(struct arena **a)
{
	arena_free(*a);
}

int changes_recover_any(int state_fd, enum changes_recovered *ret, struct error *err)
{
	__attribute__((cleanup(cleanup_arena))) struct arena *arena = arena_new();
	struct journal j = {0};
	AUTO_FD lower = -1;
	int r = arena ? journal_load(state_fd, arena, &j) : -ENOMEM;

	*ret = RECOVERED_NOTHING;
	if (r < 0)
		return error_sys(err, r, "read the journal of an interrupted apply");
	if (r == 0) {
		(void)journal_remove(state_fd); /* half a journal that never counted */
		return 0;
	}
	lower = sys_open_no_links(j.root, O_RDONLY | O_DIRECTORY);
	if (lower >= 0 && journal_is_of(&j, lower))
		return changes_recover(lower, state_fd, ret, err);
	*ret = RECOVERED_LOST;
	return 0;
}

struct others {
	int lower;
	const char *root;
	struct changes_others *ret;
};

static bool is_staging(const char *name)
{
	return strncmp(name, CHANGES_STAGING, strlen(CHANGES_STAGING)) == 0;
}

/* How many staging folders there are; the last one's name. -errno. */
static int count_left(int lower, char name[64])
{
	AUTO_NAMES names = {0};
	size_t budget = CHANGES_ENTRIES, i;
	struct text_shown t;
	int n = 0, r = names_read(&names, lower, &budget);

	for (i = 0; r == 0 && i < names.n; i++) {
		if (!is_staging(names.v[i]))
			continue;
		n++;
		(void)snprintf(name, 64, "%.63s", text_show(&t, sv_of(names.v[i])));
	}
	return r < 0 ? r : n;
}

static int recover_one(void *arg, const char *id)
{
	__attribute__((cleanup(cleanup_arena))) struct arena *arena = arena_new();
	enum changes_recovered way = RECOVERED_NOTHING;
	struct others *o = arg;
	struct error err = {0};
	struct journal j = {0};
	struct state s;
	bool running;

	if (!arena || state_open(o->root, id, &s, &running, &err) < 0)
		return 0;
	/* one that is at work holds the folder's lock, and is left alone */
	if (journal_load(s.dir, arena, &j) > 0 && journal_is_of(&j, o->lower) &&
	    changes_recover(o->lower, s.dir, &way, &err) < 0)
		o->ret->failed++;
	state_done(&s);
	o->ret->back += way == RECOVERED_BACK;
	o->ret->kept += way == RECOVERED_KEPT;
	o->ret->forward += way == RECOVERED_FORWARD;
	return 0;
}

int changes_recover_others(int lower_fd, const char *root, struct changes_others *ret, struct error *err)
{
	struct others o = {lower_fd, root, ret};
	int n;

	*ret = (struct changes_others){0};
	n = count_left(lower_fd, ret->name);
	if (n > 0 && state_each(root, recover_one, &o, err) < 0)
		return -1;
	if (n > 0)
		n = count_left(lower_fd, ret->name);
	if (n < 0)
		return error_sys(err, n, "list the work folder");
	ret->unknown = (size_t)n > ret->failed ? (size_t)n - ret->failed : 0;
	return 0;
}
