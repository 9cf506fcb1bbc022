#include "sandbox/common/image_user.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "sys/userns.h"

/* Lines of a map: 0, and those behind it. */
static void write_map(char map[64], uint32_t zero, uint32_t first, uint32_t count)
{
	int n = snprintf(map, 64, "0 %u 1\n", zero);

	/* two lines, since ours are two: a line must lie within one of the parent's */
	if (count > 1)
		(void)snprintf(map + n, 64 - (size_t)n, "1 %u %u\n", first, count - 1);
}

/* With many ids each would have a count of its own; what is set while a namespace is made bounds them all together. */
static int bound_processes(const struct plan *p, struct rlimit *before, struct error *err)
{
	rlim_t processes = p->limits.processes ? p->limits.processes : RLIM_INFINITY;
	struct rlimit bounded;

	if (getrlimit(RLIMIT_NPROC, before) < 0)
		return error_sys(err, errno, "sandbox: limits");
	bounded = *before;
	if (processes < bounded.rlim_cur)
		bounded.rlim_cur = processes;
	(void)setrlimit(RLIMIT_NPROC, &bounded);
	return 0;
}

static int made(int fd, const struct rlimit *before, struct error *err)
{
	(void)setrlimit(RLIMIT_NPROC, before);
	return fd < 0 ? error_sys(err, fd, "sandbox: the workload's user namespace") : fd;
}

int image_user_make(const struct plan *p, uint32_t shift, struct error *err)
{
	struct rlimit before;
	char map[64];
	int fd;

	write_map(map, shift, shift + 1, p->image->ids.count);
	if (bound_processes(p, &before, err) < 0)
		return -1;
	fd = made(sys_userns_make(map, map), &before, err);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return fd;
}

int image_user_make_for(const struct plan *p, uint32_t init, struct error *err)
{
	const struct image_ids *ids = &p->image->ids;
	char uids[64], gids[64];
	struct rlimit before;

	write_map(uids, ids->zero_uid, ids->first_uid, ids->count);
	write_map(gids, ids->zero_gid, ids->first_gid, ids->count);
	return bound_processes(p, &before, err) < 0 ? -1
						    : made(sys_userns_make_for(init, init, uids, gids), &before, err);
}
