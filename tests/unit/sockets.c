/* Tables of sockets that the kernel does not have are asked for once. */
#include "sys/sockets.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

static bool are_refused(uint16_t type, int code, size_t n)
{
	struct {
		struct nlmsghdr head;
		int code;
	} m = {{.nlmsg_len = sizeof(m), .nlmsg_type = type}, code};

	return sys_sockets_are_refused(&m, n);
}

static void a_table_that_is_not_there_is_told_from_an_empty_one(void)
{
	const size_t n = NLMSG_LENGTH(sizeof(int));

	CHECK(are_refused(NLMSG_ERROR, -ENOENT, n) && are_refused(NLMSG_DONE, -ENOENT, n));
	CHECK(!are_refused(NLMSG_DONE, 0, n) && !are_refused(NLMSG_ERROR, -EAGAIN, n));
	CHECK(!are_refused(SOCK_DIAG_BY_FAMILY, -ENOENT, n));
	CHECK(!are_refused(NLMSG_DONE, -ENOENT, n - 1) && !are_refused(NLMSG_DONE, -ENOENT, 0));
}

static void what_was_refused_is_not_asked_for_again(void)
{
	uint32_t refused = 0, all = UINT32_MAX;
	int fd = sys_sockets_open(), pair[2];
	struct sys_sockets sum, none;

	CHECK(fd >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(sys_sockets_sum(fd, UINT64_MAX, &refused, &sum) == 0);
	CHECK(sum.n >= 2 || (refused & 1));
	CHECK(sys_sockets_sum(fd, UINT64_MAX, &all, &none) == 0 && none.n == 0 && none.bytes == 0);
	CHECK(close(pair[0]) == 0 && close(pair[1]) == 0 && close(fd) == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_table_that_is_not_there_is_told_from_an_empty_one),
		CASE(what_was_refused_is_not_asked_for_again),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
