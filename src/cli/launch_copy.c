#include "cli/launch_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/launch_hide.h"
#include "image/ids.h"
#include "plan/plan_source.h"
#include "supervise/copy.h"
#include "supervise/usage.h"

/* The workload can shut folders to its user, who we are; root of a namespace that maps just us reads them all the same.
 */
static int open_reader(struct error *err)
{
	struct image_ids ids = {.count = 1, .zero_uid = geteuid(), .zero_gid = getegid()};

	return geteuid() == 0 ? 0 : image_ids_open(&ids, err);
}

static int bound(struct launch_copy *c, uint64_t more, struct error *err)
{
	uint64_t has;

	if (!more)
		return 0;
	c->reader = open_reader(err);
	if (c->reader < 0) {
		c->reader = 0;
		return error_prefix(err, "filesystem.tmp_size, for the copy of the work folder");
	}
	has = usage_now(c->folders, c->reader ? c->reader : -1);
	if (has > UINT64_MAX - more)
		return error_set(err, ERROR_SYSTEM,
				 "filesystem.tmp_size: it cannot be told how much the copy of the work folder holds");
	c->room = has + more;
	return 0;
}

static void tell(const struct call *call, const char *other_group)
{
	struct text_shown t;

	if (other_group)
		call_note(call,
			  "note: %s is of another group than yours, which overlayfs could not change: the "
			  "copy-on-write work folder is copied as a whole instead",
			  text_show(&t, sv_of(other_group)));
	else
		call_note(call, "note: no overlayfs here for the copy-on-write work folder: copying it instead");
}

int launch_copy_make(struct launch_copy *c, const struct call *call, struct plan *plan, struct plan_op *op,
		     const struct state *state, const char *other_group, struct error *err)
{
	AUTO_FD from = plan_source_open(op, O_RDONLY);
	AUTO_FD copy = -1;

	tell(call, other_group);
	if (from < 0)
		return plan_source_error(op, from, err);
	c->folders[0] = arena_printf(plan->arena, "%s/" STATE_COPY, state->path);
	if (!c->folders[0])
		return error_set(err, ERROR_SYSTEM, "out of memory");
	if (state_write_file(state, STATE_FLEETING, sv_of(""), err) < 0 ||
	    copy_kept(from, state->dir, STATE_COPY, err) < 0 || bound(c, plan->tmp_size, err) < 0)
		return -1;
	op->kind = PLAN_BIND;
	op->judged = false;
	op->source = c->folders[0];
	/* sockets and the like are not in it, nor what could not be read */
	copy = openat(state->dir, STATE_COPY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (copy >= 0)
		hide_drop(plan, op->target, copy);
	return 0;
}

void launch_copy_watch(const struct launch_copy *c, struct watch_limits *w)
{
	if (!c->folders[0])
		return;
	w->disk = c->folders[0];
	w->storage = c->room;
	w->storage_folders = c->folders;
	w->storage_copy = true;
	w->storage_user = c->reader;
}

void launch_copy_end(const struct launch_copy *c, const struct state *state)
{
	if (c->folders[0])
		(void)unlinkat(state->dir, STATE_FLEETING, 0);
}

void launch_copy_done(struct launch_copy *c)
{
	if (c->reader > 0)
		(void)close(c->reader);
	c->reader = 0;
}
