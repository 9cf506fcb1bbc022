#include "sandbox/common/filter_lists.h"

#include <errno.h>

#include "base/cleanup.h"
#include "sandbox/common/filter.h"
#include "sys/bpf.h"

/* unix; internet streams and datagrams with their own protocols, which leaves out raw, MPTCP, SCTP, UDP-Lite and ping.
 */
void filter_list_socket(struct program *p)
{
	program_load(p, 0);
	program_allow_if(p, 1);
	program_emit(p, BPF_OP_JEQ, 2, 0, 2);
	program_emit(p, BPF_OP_JEQ, 1, 0, 10);
	program_errno(p, EAFNOSUPPORT);
	program_load(p, 1);
	program_emit(p, BPF_OP_AND, 0, 0, 0xf);
	program_emit(p, BPF_OP_JEQ, 2, 0, 1);
	program_emit(p, BPF_OP_JEQ, 1, 0, 2);
	program_errno(p, EPERM);
	program_load(p, 2);
	program_allow_if(p, 0);
	program_allow_if(p, 6);
	program_allow_if(p, 17);
	program_errno(p, EPROTONOSUPPORT);
}

void filter_list_socketpair(struct program *p)
{
	program_load(p, 0);
	program_allow_if(p, 1);
	program_errno(p, EAFNOSUPPORT);
}

/* The options of one level of a socket: these alone, or all but these. */
struct level {
	uint32_t level;
	bool only;
	const struct span *v;
	size_t n;
};

/* Where A is not this level, all of it is jumped over. */
static void put_level(struct program *p, const struct level *l)
{
	size_t at = p->n;

	program_emit(p, BPF_OP_JEQ, 0, 0, l->level);
	program_load(p, 2);
	if (l->only) {
		program_allow_spans(p, l->v, l->n);
		program_errno(p, ENOPROTOOPT);
	} else {
		program_refuse_spans(p, l->v, l->n, ENOPROTOOPT);
		program_allow(p);
	}
	if (!p->full)
		bpf_put(&p->out[at], BPF_OP_JEQ, 0, (uint8_t)(p->n - at - 1), l->level);
}

/* Other levels have all of theirs. */
static void put_levels(struct program *p, const struct level *v, size_t n)
{
	size_t i;

	program_load(p, 1);
	for (i = 0; i < n; i++)
		put_level(p, &v[i]);
	program_allow(p);
}

/* For what is refused the answer is that of a kernel that does not know it. */
void filter_list_sockopt(struct program *p)
{
	static const struct span of_sockets[] = {
		{26, 26}, /* programs that are attached to them: SO_ATTACH_FILTER */
		{29, 29}, /* SO_TIMESTAMP, SO_TIMESTAMPNS, SO_TIMESTAMPING: for these the kernel marks the packets of
			     everybody; clocks and ping want them */
		{35, 35}, {37, 37}, {46, 46}, /* SO_BUSY_POLL */
		{49, 52},                     /* SO_INCOMING_CPU, and three more ways to attach programs */
		{60, 61}, /* pages that are sent in place, times of sending: SO_ZEROCOPY, SO_TXTIME */
		{63, 65}, /* the three of times again */
		{69, 74}, /* polling, memory that is set aside, hashes of ways */
		{80, 80}, /* memory of devices */
	};
	/* Left out: connections that are put together by hand (TCP_REPAIR), keys (MD5, AO), protocols above it
	 * (TCP_ULP), algorithms, and delays, which slow down everybody's packets. */
	static const struct span of_tcp[] = {{1, 10}, {12, 12}, {16, 18}, {23, 25}, {30, 30}, {34, 34}, {36, 36}};
	static const struct span of_udp[] = {{100, 100}}; /* UDP_ENCAP: IPsec and L2TP in datagrams */
	static const struct span of_ipv6[] = {
		{6, 6},             /* IPV6_2292PKTOPTIONS, an old way to the headers below */
		{32, 32},           /* IPV6_FLOWLABEL_MGR: the machine has so many for all */
		{34, 35},           /* policies of IPsec */
		{43, 44},           /* lists of senders of multicast groups */
		{48, 48}, {54, 55}, /* headers between IP's and TCP's: hop by hop, destination, and routing, which says
				       another destination than the packet's */
		{57, 57}, {59, 59}, {64, 65}, /* tables of packet filters */
	};
	/* Multicast groups stay, which service discovery joins. */
	static const struct span of_ip[] = {
		{4, 5},	  /* IP_OPTIONS, routes among them as in IPv6's headers; IP_ROUTER_ALERT */
		{16, 17}, /* policies of IPsec */
		{37, 38}, /* lists of senders of multicast groups */
		{41, 41},
		{43, 44},
		{48, 48},
		{64, 255}, /* tables of packet filters, ARP's, IPVS' */
	};
	static const struct level levels[] = {
		{0, false, of_ip, ARRAY_LEN(of_ip)},      {1, false, of_sockets, ARRAY_LEN(of_sockets)},
		{6, true, of_tcp, ARRAY_LEN(of_tcp)},     {17, false, of_udp, ARRAY_LEN(of_udp)},
		{41, false, of_ipv6, ARRAY_LEN(of_ipv6)},
	};

	put_levels(p, levels, ARRAY_LEN(levels));
}

/* Not: programs that are attached, the machine's numbers of sockets and network namespaces, and queues of devices; of
 * TCP what can be set, what connections tell of themselves (INFO, CONGESTION, CC_INFO, ULP, IS_MPTCP), and no pages
 * that are received in place. */
void filter_list_sockopt_read(struct program *p)
{
	static const struct span of_sockets[] = {{26, 26}, {56, 57}, {71, 71}};
	static const struct span of_tcp[] = {{1, 13}, {16, 18}, {23, 26}, {30, 31}, {34, 34}, {36, 36}, {43, 43}};
	static const struct level levels[] = {{1, false, of_sockets, ARRAY_LEN(of_sockets)},
					      {6, true, of_tcp, ARRAY_LEN(of_tcp)}};

	put_levels(p, levels, ARRAY_LEN(levels));
}

/*
 * Not: urgent bytes (MSG_OOB), of which UNIX sockets keep one aside, a way that only telnet and FTP know and that has
 * had holes; memory of devices. All others are the caller's affair, or mean nothing without an option that is refused
 * (MSG_ZEROCOPY).
 */
void filter_list_flags(struct program *p, unsigned arg)
{
	program_load(p, arg);
	program_emit(p, BPF_OP_JSET, 0, 1, 0x2000001);
	program_errno(p, EOPNOTSUPP);
	program_allow(p);
}

/* What files, sockets and terminals need; nothing that types into a terminal, changes its discipline or steals it. */
void filter_list_ioctl(struct program *p)
{
	static const struct span known[] = {
		{0x5401, 0x5411}, /* TCGETS to TIOCOUTQ: settings, flow, exclusive use, controlling terminal, process
				     groups */
		{0x5413, 0x5414}, /* window size; 0x5412, TIOCSTI, types into the terminal */
		{0x541b, 0x541b}, /* FIONREAD */
		{0x5420, 0x5422}, /* packet mode, FIONBIO, TIOCNOTTY */
		{0x5424, 0x542d}, /* line discipline (to read), break, session, TCGETS2 and its kin; 0x5423 would set
				     the discipline */
		{0x5441, 0x5441}, /* TIOCGPTPEER */
		{0x5450, 0x5460}, /* close-on-exec, FIOASYNC, FIOQSIZE */
		{0x8904, 0x8905}, /* of sockets: owner, mark; the next two would have all packets marked with times */
		{0x8910, 0x8915}, /* of interfaces: names, addresses, flags (to read) */
		{0x8919, 0x891b},         {0x8921, 0x8921},         {0x8927, 0x8927},
		{0x8933, 0x8933},         {0x40045431, 0x40045431}, /* TIOCSPTLCK */
		{0x40049409, 0x40049409},                           /* FICLONE */
		{0x4020940d, 0x4020940d},                           /* FICLONERANGE */
		{0x80045430, 0x80045430},                           /* TIOCGPTN */
		{0x80045438, 0x80045439},                           /* packet mode, lock (to read) */
		{0x80086601, 0x80086601},                           /* FS_IOC_GETFLAGS */
		{0xc0189436, 0xc0189436},                           /* FIDEDUPERANGE */
		{0xc020660b, 0xc020660b},                           /* FIEMAP */
	};

	program_load(p, 1);
	program_allow_spans(p, known, ARRAY_LEN(known));
	program_errno(p, ENOTTY);
}

void filter_list_personality(struct program *p)
{
	program_load(p, 0);
	program_allow_if(p, 0);
	program_allow_if(p, 8); /* PER_LINUX32: what uname says */
	program_allow_if(p, 0xffffffff);
	program_errno(p, EPERM);
}

/* Huge pages of the host's pool, which no limit of memory counts: it is answered as if the pool were empty. */
void filter_list_map(struct program *p)
{
	program_load(p, 3);
	program_emit(p, BPF_OP_JSET, 0, 1, 0x40000); /* MAP_HUGETLB */
	program_errno(p, ENOMEM);
	program_allow(p);
}

/* Not: memory that the kernel merges with that of others, which tells by its speed what they have (MADV_MERGEABLE);
 * pages that are taken for broken. */
void filter_list_advice(struct program *p)
{
	static const struct span refused[] = {{12, 12}, {100, 101}};

	program_load(p, 2);
	program_refuse_spans(p, refused, ARRAY_LEN(refused), EINVAL);
	program_allow(p);
}

/* Not those that concern the processes of others (global, global and expedited, and its registration). */
void filter_list_barrier(struct program *p)
{
	static const struct span refused[] = {{1, 2}, {4, 4}};

	program_load(p, 0);
	program_refuse_spans(p, refused, ARRAY_LEN(refused), EINVAL);
	program_allow(p);
}

/* Not queues of the kernel's notifications (O_NOTIFICATION_PIPE, which is O_EXCL). */
void filter_list_pipe(struct program *p)
{
	program_load(p, 1);
	program_emit(p, BPF_OP_JSET, 0, 1, 0200);
	program_errno(p, ENOPKG);
	program_allow(p);
}

/*
 * What a program may say of itself. Left out are PR_SET_MM, which rewrites what /proc says of a process;
 * PR_SET_MEMORY_MERGE, as MADV_MERGEABLE; cookies of core scheduling; system calls that are turned into signals; what
 * serves checkpoints; what a later kernel adds.
 */
void filter_list_prctl(struct program *p)
{
	static const struct span known[] = {
		{1, 8},   /* signal of the parent's death, dumps, unaligned access, capabilities over setuid() */
		{15, 16}, /* name */
		{21, 30}, /* seccomp, bounding set, time stamp counter, secure bits, slack of timers */
		{36, 42}, /* subreaper, no_new_privs, address of the thread's id, huge pages of its own */
		{47, 47}, /* ambient capabilities, which it has none to raise */
		{50, 56}, /* vectors, speculation, pointers with keys and tags */
		{60, 61},
		{63, 66},                 /* matrices; no memory that is written and executed */
		{74, 76},                 /* shadow stacks */
		{0x41555856, 0x41555856}, /* PR_GET_AUXV */
		{0x53564d41, 0x53564d41}, /* PR_SET_VMA: names of memory */
		{0x59616d61, 0x59616d61}, /* PR_SET_PTRACER: nobody can trace all the same */
	};

	program_load(p, 0);
	program_deny_if(p, 35);
	program_allow_spans(p, known, ARRAY_LEN(known));
	program_errno(p, EINVAL);
}

/* Not leases (F_SETLEASE, F_SETDELEG), which let a file's owner stall whoever else opens it: the host, or another
 * sandbox. Nor F_NOTIFY, which tells what the host does in a folder, and which nobody uses any more. */
void filter_list_fcntl(struct program *p)
{
	program_load(p, 1);
	program_deny_if(p, 1024);
	program_deny_if(p, 1026);
	program_deny_if(p, 1040);
	if (p->options->no_memfd) {
		program_emit(p, BPF_OP_JEQ, 0, 3,
			     1031); /* F_SETPIPE_SZ: as for a user who has too many pages of pipes */
		program_load(p, 2);
		program_emit(p, BPF_OP_JGE, 0, 1, 65536 + 1);
		program_errno(p, EPERM);
	}
	program_allow(p);
}
