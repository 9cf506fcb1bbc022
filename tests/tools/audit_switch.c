/*
 * audit-switch: `on` switches the kernel's audit on, `off` off; `get` prints "enabled failure daemon rate".
 *
 * Once it was on, the kernel follows every system call of every process that is started until the next boot, on or off,
 * unless a rule says that no process is to be followed. So that rule comes first, and stays.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
	struct nlmsghdr head;
	union {
		struct audit_status status;
		struct audit_rule_data rule;
	};
};

static int ask(int fd, struct request *r, int type, size_t n, struct audit_status *ret)
{
	union {
		struct nlmsghdr head;
		char room[512];
	} m;
	ssize_t got;
	int code;

	r->head = (struct nlmsghdr){.nlmsg_len = (unsigned)NLMSG_LENGTH(n),
				    .nlmsg_type = (unsigned short)type,
				    .nlmsg_flags = NLM_F_REQUEST | (ret ? 0 : NLM_F_ACK)};
	if (send(fd, r, r->head.nlmsg_len, 0) < 0)
		return -errno;
	while ((got = recv(fd, &m, sizeof(m), 0)) >= (ssize_t)NLMSG_LENGTH(sizeof(code))) {
		memcpy(&code, NLMSG_DATA(&m.head), sizeof(code));
		if (m.head.nlmsg_type == NLMSG_ERROR && (code < 0 || !ret))
			return code;
		if (ret && m.head.nlmsg_type == AUDIT_GET) {
			memcpy(ret, NLMSG_DATA(&m.head),
			       sizeof(*ret) < (size_t)got - NLMSG_HDRLEN ? sizeof(*ret) : (size_t)got - NLMSG_HDRLEN);
			return 0;
		}
	}
	return -EIO;
}

static int follow_nobody(int fd)
{
	struct request r = {0};
	int code;

	r.rule.flags = AUDIT_FILTER_TASK;
	r.rule.action = AUDIT_NEVER;
	memset(r.rule.mask, 0xff, sizeof(r.rule.mask));
	code = ask(fd, &r, AUDIT_ADD_RULE, sizeof(r.rule), NULL);
	return code == -EEXIST ? 0 : code;
}

static int set(int fd, unsigned mask, unsigned enabled, unsigned failure)
{
	struct request r = {.status = {.mask = mask, .enabled = enabled, .failure = failure}};

	return ask(fd, &r, AUDIT_SET, sizeof(r.status), NULL);
}

int main(int argc, char **argv)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT), code = -EINVAL;
	const char *what = argc == 2 ? argv[1] : "";
	struct request r = {0};
	struct audit_status s = {0};

	if (fd < 0)
		code = -errno;
	else if (strcmp(what, "on") == 0)
		code = (code = follow_nobody(fd)) < 0 ? code : set(fd, AUDIT_STATUS_ENABLED, 1, 0);
	else if (strcmp(what, "off") == 0)
		code = set(fd, AUDIT_STATUS_ENABLED, 0, 0);
	else if (strcmp(what, "get") == 0 && (code = ask(fd, &r, AUDIT_GET, 0, &s)) == 0)
		(void)printf("%u %u %u %u\n", s.enabled, s.failure, s.pid, s.rate_limit);
	if (code < 0)
		(void)fprintf(stderr, "audit-switch %s: %s\n", what, strerror(-code));
	return code < 0;
}
