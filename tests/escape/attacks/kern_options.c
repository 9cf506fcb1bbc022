/* Features of processes, memory, pipes and sockets that concern others than who asks for them, or that hardly a program
 * needs: each is one number among the many that its system call takes. */
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "attack.h"

static int process(const struct scene *s, const struct attack *a)
{
	long rc = prctl((int)a->num, a->num2, 0, 0, 0);

	if (rc < 0 && errno == EINVAL && s->control)
		return untried("%s: this kernel lacks it", a->name);
	return judge(s, rc, a->name);
}

static int merge_pages(const struct scene *s, const struct attack *a)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return broken("mmap");
	if (madvise(p, 4096, MADV_MERGEABLE) == 0)
		return won("%s works", a->name);
	return s->control && errno == EINVAL ? untried("%s: this kernel lacks it", a->name) : lost(s, errno, a->name);
}

static int barrier(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_membarrier, (int)a->num, 0, 0), a->name);
}

static int notifications(const struct scene *s, const struct attack *a)
{
	int fds[2];

	if (pipe2(fds, O_EXCL /* O_NOTIFICATION_PIPE */) == 0)
		return won("%s works", a->name);
	return s->control && errno == ENOPKG ? untried("%s: this kernel lacks it", a->name) : lost(s, errno, a->name);
}

/* Without a pool that has pages only a file in memory can be made of them, which takes none yet. */
static int huge_file(const struct scene *s, const struct attack *a)
{
	int fd = memfd_create("huge", MFD_HUGETLB);

	if (fd < 0 && s->control && (errno == EINVAL || errno == ENOENT))
		return untried("%s: this kernel lacks it", a->name);
	return judge(s, fd, a->name);
}

static int huge_memory(const struct scene *s, const struct attack *a)
{
	void *p = mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (p != MAP_FAILED)
		return won("%s works", a->name);
	return s->control && (errno == ENOMEM || errno == EINVAL)
		       ? untried("%s: this machine has no such pages", a->name)
		       : lost(s, errno, a->name);
}

/* num: the level, num2: the option; text: its value, else 1 as an int. */
static int option(const struct scene *s, const struct attack *a)
{
	int fd = socket(AF_INET, a->num == IPPROTO_UDP ? SOCK_DGRAM : SOCK_STREAM, 0), one = 1, rc;

	if (fd < 0)
		return broken("socket");
	rc = a->text ? setsockopt(fd, (int)a->num, (int)a->num2, a->text, (socklen_t)strlen(a->text))
		     : setsockopt(fd, (int)a->num, (int)a->num2, &one, sizeof(one));
	if (rc < 0 && s->control && (errno == ENOPROTOOPT || errno == ENOENT || errno == EPERM))
		return untried("%s: this kernel or machine lacks it", a->name);
	return judge(s, rc, a->name);
}

/* 2: UDP_ENCAP_ESPINUDP. */
static int encapsulate(const struct scene *s, const struct attack *a)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), kind = 2;

	if (fd < 0)
		return broken("socket");
	if (setsockopt(fd, IPPROTO_UDP, 100 /* UDP_ENCAP */, &kind, sizeof(kind)) == 0)
		return won("%s works", a->name);
	return s->control && errno == ENOPROTOOPT ? untried("%s: this kernel lacks it", a->name)
						  : lost(s, errno, a->name);
}

/* A label of IPv6's flows: the machine has some thousands for all. */
static int flow_label(const struct scene *s, const struct attack *a)
{
	const struct {
		uint8_t to[16];
		uint32_t label;
		uint8_t action, share;
		uint16_t flags, expires, linger;
		uint32_t rest;
	} asked = {.to = {[15] = 1}, .action = 0, .share = 255, .flags = 1};
	int fd = socket(AF_INET6, SOCK_DGRAM, 0);

	if (fd < 0)
		return s->control ? untried("%s: no IPv6", a->name) : broken("socket");
	return judge(s, setsockopt(fd, IPPROTO_IPV6, 32 /* IPV6_FLOWLABEL_MGR */, &asked, sizeof(asked)), a->name);
}

/* A header that names another destination than the packet does: one segment, of type 4. */
static int route_by_segments(const struct scene *s, const struct attack *a)
{
	const uint8_t header[24] = {0, 2, 4, 0, [23] = 1};
	int fd = socket(AF_INET6, SOCK_STREAM, 0), rc;

	if (fd < 0)
		return s->control ? untried("%s: no IPv6", a->name) : broken("socket");
	rc = setsockopt(fd, IPPROTO_IPV6, 57 /* IPV6_RTHDR */, header, sizeof(header));
	if (rc < 0 && s->control && (errno == EINVAL || errno == EPERM))
		return untried("%s: this kernel lacks it", a->name);
	return judge(s, rc, a->name);
}

/* Each station is to write its address into the packet. */
static int record_route(const struct scene *s, const struct attack *a)
{
	const uint8_t record[8] = {7, 7, 4};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		return broken("socket");
	return judge(s, setsockopt(fd, IPPROTO_IP, 4 /* IP_OPTIONS */, record, sizeof(record)), a->name);
}

static int read_option(const struct scene *s, const struct attack *a)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint64_t value[16] = {0};
	socklen_t n = (socklen_t)(a->text ? strtoul(a->text, NULL, 10) : sizeof(value));
	int rc;

	if (fd < 0)
		return broken("socket");
	rc = getsockopt(fd, (int)a->num, (int)a->num2, value, &n);
	if (rc < 0 && s->control && errno == ENOPROTOOPT)
		return untried("%s: this kernel lacks it", a->name);
	return rc < 0 && errno == ENOPROTOOPT ? refused("%s: ENOPROTOOPT", a->name) : judge_reached(s, rc, a->name);
}

/* num: by which of the calls. */
static int send_urgent(const struct scene *s, const struct attack *a)
{
	char byte = 'x';
	struct iovec part = {&byte, 1};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
	int fds[2];
	long rc;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return broken("socketpair");
	if (a->num == SYS_sendto)
		rc = send(fds[0], &byte, 1, MSG_OOB);
	else if (a->num == SYS_sendmsg)
		rc = sendmsg(fds[0], &m.msg_hdr, MSG_OOB);
	else
		rc = sendmmsg(fds[0], &m, 1, MSG_OOB);
	if (rc < 0 && s->control && errno == EOPNOTSUPP)
		return untried("%s: this kernel lacks it", a->name);
	return judge(s, rc, a->name);
}

static int attach_filter(const struct scene *s, const struct attack *a)
{
	struct sock_filter pass = {BPF_RET | BPF_K, 0, 0, 0xffff};
	struct sock_fprog program = {1, &pass};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) < 0)
		return broken("socket");
	return judge(s, setsockopt(fd, SOL_SOCKET, (int)a->num2, &program, sizeof(program)), a->name);
}

static const struct attack rows[] = {
	{"merge-process", "cannot have all its memory merged with that of others (PR_SET_MEMORY_MERGE)", process,
	 .num = 67, .num2 = 1},
	{"merge-pages", "cannot have memory merged with that of others (MADV_MERGEABLE)", merge_pages},
	{"call-dispatch", "cannot turn system calls into signals (PR_SET_SYSCALL_USER_DISPATCH)", process, .num = 59,
	 .num2 = 0},
	{"restore-timers", "cannot choose the numbers of timers (PR_TIMER_CREATE_RESTORE_IDS)", process, .num = 77,
	 .num2 = 1},
	{"machine-checks", "cannot say how broken memory is told of (PR_MCE_KILL)", process, .num = 33, .num2 = 0},
	{"barrier-global", "cannot make the whole machine wait for a barrier", barrier, .num = 1},
	{"barrier-others", "cannot interrupt the processors of others for a barrier", barrier, .num = 2},
	{"notification-pipe", "cannot make a queue of the kernel's notifications", notifications},
	{"huge-file", "cannot make a file of the machine's huge pages", huge_file},
	{"huge-memory", "cannot take the machine's huge pages", huge_memory},
	{"socket-filter", "cannot attach a program to a socket (SO_ATTACH_FILTER)", attach_filter,
	 .num2 = SO_ATTACH_FILTER},
	{"socket-group-filter", "cannot attach a program to a group of sockets (SO_ATTACH_REUSEPORT_CBPF)",
	 attach_filter, .num2 = 51},
	{"socket-stamps", "cannot have the machine's packets marked with times (SO_TIMESTAMPING)", option,
	 .num = SOL_SOCKET, .num2 = 37},
	{"socket-times", "... or by SO_TIMESTAMP", option, .num = SOL_SOCKET, .num2 = 29},
	{"socket-times-ns", "... or by SO_TIMESTAMPNS", option, .num = SOL_SOCKET, .num2 = 64},
	{"socket-number", "cannot learn the machine's number of a socket (SO_COOKIE)", read_option, .num = SOL_SOCKET,
	 .num2 = 57, .text = "8"},
	{"urgent-unix", "cannot send urgent bytes by a UNIX socket (MSG_OOB)", send_urgent, .num = SYS_sendto},
	{"urgent-unix-msg", "... by sendmsg()", send_urgent, .num = SYS_sendmsg},
	{"urgent-unix-many", "... by sendmmsg()", send_urgent, .num = SYS_sendmmsg},
	{"tcp-in-place", "cannot have pages received in place (TCP_ZEROCOPY_RECEIVE)", read_option, .num = IPPROTO_TCP,
	 .num2 = 35, .text = "64"},
	{"packet-options", "cannot give packets options of IP (IP_OPTIONS)", record_route},
	{"socket-zerocopy", "cannot send pages in place (SO_ZEROCOPY)", option, .num = SOL_SOCKET, .num2 = 60},
	{"socket-reserve", "cannot set memory aside for a socket (SO_RESERVE_MEM)", option, .num = SOL_SOCKET,
	 .num2 = 73},
	{"socket-poll", "cannot have the kernel wait busily for a socket (SO_BUSY_POLL)", option, CONTROL_ROOT,
	 .num = SOL_SOCKET, .num2 = 46},
	{"tcp-algorithm", "cannot choose how TCP avoids congestion (TCP_CONGESTION)", option, .num = IPPROTO_TCP,
	 .num2 = 13, .text = "reno"},
	{"tcp-repair", "cannot put a TCP connection together by hand (TCP_REPAIR)", option, CONTROL_ROOT,
	 .num = IPPROTO_TCP, .num2 = 19},
	{"tcp-keep-syn", "cannot keep the headers of connections (TCP_SAVE_SYN)", option, .num = IPPROTO_TCP,
	 .num2 = 27},
	{"flow-label", "cannot take labels that all of the machine share (IPV6_FLOWLABEL_MGR)", flow_label},
	{"routing-header", "cannot send packets with a routing header (IPV6_RTHDR)", route_by_segments},
	{"udp-encap", "cannot have IPsec taken from datagrams (UDP_ENCAP)", encapsulate},
};
ATTACKS("kernel", rows);
