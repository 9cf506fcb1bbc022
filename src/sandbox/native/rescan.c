#include "sandbox/native/rescan.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "plan/scan.h"
#include "sandbox/native/root.h"

enum { FIRST_MS = 250, EVERY_MS = 2000, SHARE = 10, MAX_ENTRIES = 5000000, HINDERED_MAX = 3 };

void rescan_init(struct rescan *r, const struct guard *g)
{
	size_t i;

	*r = (struct rescan){0};
	for (i = 0; g->plan->n_guards && i < g->plan->n_ops; i++)
		if (g->plan->ops[i].host && g->plan->ops[i].folder)
			r->at_ms = now_ms() + FIRST_MS;
}

int rescan_wait(const struct rescan *r)
{
	uint64_t now;

	if (!r->at_ms || r->child)
		return -1;
	now = now_ms();
	return r->at_ms <= now ? 0 : (int)(r->at_ms - now);
}

struct look {
	const struct guard *g;
	bool writable;
};

static int found(void *arg, const char *path, const struct plan_guard *guard, bool on_way)
{
	const struct look *l = arg;
	const struct plan *p = l->g->plan;
	bool hidden = guard->hidden && !on_way;

	/* Only what the policy's patterns name: the workload's own sockets and locked folders are its own affair. */
	if (guard != &scan_repository && (guard < p->guards || guard >= p->guards + p->n_guards))
		return 0;
	if ((!hidden && !l->writable) || root_is_covered(path, hidden))
		return 0;
	if (root_mask_again(path, hidden) == 0)
		l->g->denied(l->g->arg, guard->rule, sv_of(path));
	return 0;
}

static void look_everywhere(const struct guard *g)
{
	const struct plan_op *op, *end = g->plan->ops + g->plan->n_ops;
	struct scan_links links;
	struct look l = {.g = g};
	struct scan scan = {.guards = g->plan->guards, .n_guards = g->plan->n_guards, .max_entries = MAX_ENTRIES, .found = found, .arg = &l, .links = &links, .lenient = true};
	struct error ignored = {0};
	uint64_t entries = 0;

	scan_links_init(&links, MAX_ENTRIES);
	links.lenient = true;
	for (op = g->plan->ops; op < end; op++) {
		l.writable = op->writable;
		if (op->host && op->folder)
			(void)scan_tree(&scan, op->target, op->target, &entries, &ignored);
	}
	for (op = g->plan->ops; op < end; op++) {
		l.writable = op->writable;
		if (op->host && op->folder)
			(void)scan_other_names(&scan, op->target, op->target, &ignored);
	}
	scan_links_done(&links);
}

static void looked(struct rescan *r)
{
	uint64_t took = now_ms() - r->began_ms;

	r->hindered = 0;
	r->at_ms = now_ms() + (took * SHARE > EVERY_MS ? took * SHARE : EVERY_MS);
}

void rescan_start(struct rescan *r, const struct guard *g)
{
	if (rescan_wait(r) != 0)
		return;
	if (!root_has_masks())
		_exit(1); /* somebody deleted the skeleton that the root is: nothing can be covered any more */
	r->began_ms = now_ms();
	if (r->hindered >= HINDERED_MAX) {
		look_everywhere(g);
		looked(r);
		return;
	}
	r->child = fork();
	if (r->child == 0) {
		(void)setpriority(PRIO_PROCESS, 0, 10);
		look_everywhere(g);
		_exit(0);
	}
	if (r->child < 0) {
		r->child = 0;
		r->at_ms = now_ms() + EVERY_MS;
	}
}

void rescan_reaped(struct rescan *r, pid_t pid, int status)
{
	if (!r->child || pid != r->child)
		return;
	if (WIFSTOPPED(status)) {
		(void)kill(pid, ++r->hindered < HINDERED_MAX ? SIGCONT : SIGKILL);
		return;
	}
	r->child = 0;
	if (!WIFSIGNALED(status)) {
		looked(r);
		return;
	}
	r->hindered++;
	r->at_ms = now_ms();
}
