#include "sys/kaudit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/landlock.h"

/* Not in Debian 12's headers. */
enum { TYPE_ACCESS = 1423, TYPE_DOMAIN = 1424, ANSWER_MS = 1000 };

union message {
	struct nlmsghdr head;
	char room[512];
};

static bool has_caps(void)
{
	static const unsigned needed[] = {CAP_AUDIT_READ, CAP_AUDIT_WRITE, CAP_AUDIT_CONTROL};
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	size_t i;

	if (syscall(SYS_capget, &head, data) < 0)
		return false;
	for (i = 0; i < ARRAY_LEN(needed); i++)
		if (!(data[CAP_TO_INDEX(needed[i])].effective & CAP_TO_MASK(needed[i])))
			return false;
	return true;
}

/* An error that is an answer, or 0. */
static int code_of(const union message *m, ssize_t n)
{
	int code = 0;

	if (m->head.nlmsg_type == NLMSG_ERROR && n >= (ssize_t)NLMSG_LENGTH(sizeof(code)))
		memcpy(&code, m->room + NLMSG_HDRLEN, sizeof(code));
	return code;
}

/*
 * A message of a program that says nothing is passed over while audit is off, and is wrong while it is on: either way
 * nobody hears of it. The question that there is for this, AUDIT_GET, is answered by a thread that the kernel makes for
 * it, which takes as long as a whole start of a sandbox when the machine is busy.
 */
static enum kaudit_answer is_on(int fd)
{
	struct nlmsghdr ask = {
		.nlmsg_len = NLMSG_LENGTH(0), .nlmsg_type = AUDIT_USER, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK};
	union message m;
	ssize_t n;

	if (send(fd, &ask, ask.nlmsg_len, 0) < 0 ||
	    (n = recv(fd, &m, sizeof(m), MSG_DONTWAIT)) < (ssize_t)NLMSG_LENGTH(sizeof(int)) ||
	    m.head.nlmsg_type != NLMSG_ERROR)
		return KAUDIT_NOT_ALLOWED;
	switch (code_of(&m, n)) {
	case 0:
		return KAUDIT_OFF;
	case -EINVAL:
		return KAUDIT_READS;
	default:
		return KAUDIT_NOT_ALLOWED;
	}
}

static int get_status(int fd, struct audit_status *ret)
{
	struct nlmsghdr ask = {.nlmsg_len = NLMSG_LENGTH(0), .nlmsg_type = AUDIT_GET, .nlmsg_flags = NLM_F_REQUEST};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t need = offsetof(struct audit_status, backlog) + sizeof(ret->backlog);
	union message m;
	ssize_t n;

	if (send(fd, &ask, ask.nlmsg_len, 0) < 0)
		return -errno;
	while (poll(&p, 1, ANSWER_MS) == 1 && (n = recv(fd, &m, sizeof(m), MSG_DONTWAIT)) >= (ssize_t)sizeof(m.head)) {
		if (code_of(&m, n) < 0)
			return code_of(&m, n);
		if (m.head.nlmsg_type == AUDIT_GET && n >= (ssize_t)NLMSG_LENGTH(need)) {
			memcpy(ret, m.room + NLMSG_HDRLEN, need);
			return 0;
		}
	}
	return -ETIMEDOUT;
}

static enum kaudit_answer is_harmless(int fd, uint32_t *ret_lost)
{
	struct audit_status s = {0};

	if (get_status(fd, &s) < 0)
		return KAUDIT_NOT_ALLOWED;
	*ret_lost = s.lost;
	if (!s.enabled)
		return KAUDIT_OFF;
	if (s.failure == AUDIT_FAIL_PANIC)
		return KAUDIT_PANICS;
	return s.pid && !s.rate_limit ? KAUDIT_UNBOUNDED : KAUDIT_READS;
}

/* Threads of the kernel are always in the first network namespace; and who was answered sees the first pid namespace,
 * where 2 is one. */
static bool stream_is_here(void)
{
	struct stat ours, kernels;

	return stat("/proc/self/ns/net", &ours) == 0 && stat("/proc/2/ns/net", &kernels) == 0 &&
	       ours.st_dev == kernels.st_dev && ours.st_ino == kernels.st_ino;
}

/* Everything else that a host audits must not wake us: it may be thousands of records a second, for each of a thousand
 * sandboxes. */
static int join(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS,
			 offsetof(struct nlmsghdr, nlmsg_type)), /* as if it were big-endian */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(TYPE_ACCESS), 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htons(TYPE_DOMAIN), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog filter = {.len = ARRAY_LEN(code), .filter = code};
	int group = AUDIT_NLGRP_READLOG;

	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) < 0 ||
	    setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
		return -errno;
	return 0;
}

int kaudit_look(struct kaudit_queue *ret)
{
	AUTO_FD fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_AUDIT);
	struct audit_status s = {0};
	int r = fd < 0 ? -errno : get_status(fd, &s);

	if (r == 0)
		*ret = (struct kaudit_queue){.lost = s.lost, .waiting = s.backlog};
	return r;
}

enum kaudit_answer kaudit_open(int landlock_abi, int *ret_fd, uint32_t *ret_lost)
{
	AUTO_FD fd = -1;
	uint32_t lost = 0;
	enum kaudit_answer a;

	if (landlock_abi < LANDLOCK_ABI_RECORDS)
		return KAUDIT_NO_RECORDS;
	if (!has_caps())
		return KAUDIT_NOT_ALLOWED;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_AUDIT);
	if (fd < 0)
		return KAUDIT_NO_RECORDS;
	a = is_on(fd);
	if (a == KAUDIT_READS)
		a = is_harmless(fd, &lost);
	if (a != KAUDIT_READS)
		return a;
	if (!stream_is_here())
		return KAUDIT_ELSEWHERE;
	if (join(fd) < 0)
		return KAUDIT_NOT_ALLOWED;
	*ret_fd = fd_take(&fd);
	*ret_lost = lost;
	return KAUDIT_READS;
}

int kaudit_receive(int fd, char text[KAUDIT_TEXT_MAX + 1], enum kaudit_record *ret_type)
{
	struct nlmsghdr head;
	struct sockaddr_nl from = {0};
	struct iovec parts[2] = {{&head, sizeof(head)}, {text, KAUDIT_TEXT_MAX}};
	struct msghdr m = {.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = parts, .msg_iovlen = 2};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	if (n < (ssize_t)sizeof(head) || from.nl_pid != 0 ||
	    (head.nlmsg_type != TYPE_ACCESS && head.nlmsg_type != TYPE_DOMAIN) || m.msg_flags & MSG_TRUNC)
		return -EBADMSG;
	n -= (ssize_t)sizeof(head);
	/* behind the text may be what aligns it */
	n = (ssize_t)strnlen(text, (size_t)n);
	text[n] = '\0';
	*ret_type = head.nlmsg_type == TYPE_ACCESS ? KAUDIT_ACCESS : KAUDIT_DOMAIN;
	return (int)n;
}
