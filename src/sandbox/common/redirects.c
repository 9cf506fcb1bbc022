#include "sandbox/common/redirects.h"

#include "base/cleanup.h"
#include "sys/netlink.h"
#include "sys/refused.h"

static bool redirect_within(uint16_t port, const struct redirect *reach, struct redirects *ret)
{
	AUTO_FD refused = refused_open();
	AUTO_FD changes = redirect_open();

	if (refused < 0 || changes < 0 || redirect_tcp(changes, port, reach) < 0)
		return false;
	*ret = (struct redirects){.refused = fd_take(&refused), .changes = fd_take(&changes)};
	return true;
}

static bool redirect_all(uint16_t port)
{
	static const struct redirect all = {.n = 0};
	AUTO_FD fd = redirect_open();

	return fd >= 0 && redirect_tcp(fd, port, &all) == 0;
}

bool redirects_make(uint16_t port, const struct redirect *reach, struct redirects *ret)
{
	*ret = (struct redirects){.refused = -1, .changes = -1};
	return sys_route_everything_here() == 0 && ((reach && redirect_within(port, reach, ret)) || redirect_all(port));
}
