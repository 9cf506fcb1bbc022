#include "sandbox/common/image_user.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "sys/userns.h"

int image_user_make(const struct plan *p, uint32_t shift, struct error *err)
{
	rlim_t processes = p->limits.processes ? p->limits.processes : RLIM_INFINITY;
	struct rlimit before, bounded;
	char map[64];
	int fd, n = snprintf(map, sizeof(map), "0 %u 1\n", shift);

	/* two lines, since ours are two: a line must lie within one of the parent's */
	if (p->image->ids.count > 1)
		(void)snprintf(map + n, sizeof(map) - (size_t)n, "1 %u %u\n", shift + 1, p->image->ids.count - 1);
	/* with many ids each would have a count of its own; what is set now bounds them all together */
	if (getrlimit(RLIMIT_NPROC, &before) < 0)
		return error_sys(err, errno, "sandbox: limits");
	bounded = before;
	if (processes < bounded.rlim_cur)
		bounded.rlim_cur = processes;
	(void)setrlimit(RLIMIT_NPROC, &bounded);
	fd = sys_userns_make(map, map);
	(void)setrlimit(RLIMIT_NPROC, &before);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return fd < 0 ? error_sys(err, fd, "sandbox: the workload's user namespace") : fd;
}
