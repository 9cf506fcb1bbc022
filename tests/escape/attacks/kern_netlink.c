/* Netlink: configuration of routing, firewall, audit, devices and more, most of it parsed before rights are checked. */
#include <linux/netlink.h>
#include <sys/socket.h>

#include "attack.h"

static int make(const struct scene *s, const struct attack *a)
{
	return judge(s, socket(AF_NETLINK, (int)a->num2 | SOCK_CLOEXEC, (int)a->num), a->name);
}

#define ROW(label, protocol)                                                                                           \
	{                                                                                                              \
		"netlink-" label, "cannot make a " #protocol " socket", make, .num = protocol, .num2 = SOCK_RAW        \
	}

static const struct attack rows[] = {
	ROW("route", NETLINK_ROUTE),
	ROW("netfilter", NETLINK_NETFILTER),
	ROW("audit", NETLINK_AUDIT),
	ROW("uevent", NETLINK_KOBJECT_UEVENT),
	ROW("sock-diag", NETLINK_SOCK_DIAG),
	ROW("generic", NETLINK_GENERIC),
	ROW("xfrm", NETLINK_XFRM),
	ROW("crypto", NETLINK_CRYPTO),
	ROW("connector", NETLINK_CONNECTOR),
	{"netlink-datagram", "cannot make a NETLINK_ROUTE socket as SOCK_DGRAM", make, .num = NETLINK_ROUTE,
	 .num2 = SOCK_DGRAM},
};
ATTACKS("kernel", rows);
