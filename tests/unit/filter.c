#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "check.h"
#include "sandbox/common/filter.h"
#include "sys/bpf.h"

/* What the kernel would do with the filter for one call, by the few instructions that there are in one. */
static uint32_t answer(const struct sock_filter *f, int n, const struct seccomp_data *call)
{
	uint32_t a = 0;
	int i;

	for (i = 0; i < n; i++) {
		switch (f[i].code) {
		case BPF_OP_LOAD:
			memcpy(&a, (const char *)call + f[i].k, sizeof(a));
			break;
		case BPF_OP_AND:
			a &= f[i].k;
			break;
		case BPF_OP_JA:
			i += (int)f[i].k;
			break;
		case BPF_OP_JEQ:
			i += a == f[i].k ? f[i].jt : f[i].jf;
			break;
		case BPF_OP_JGE:
			i += a >= f[i].k ? f[i].jt : f[i].jf;
			break;
		case BPF_OP_JSET:
			i += a & f[i].k ? f[i].jt : f[i].jf;
			break;
		case BPF_OP_RET:
			return f[i].k;
		default:
			return UINT32_MAX;
		}
	}
	return UINT32_MAX;
}

enum { PASS = -1 };

struct asked {
	int nr;
	uint64_t args[6];
	int code; /* PASS, or the errno; 0 is said to be done */
};

static void check_all(const struct filter_options *o, const struct asked *v, size_t n)
{
	static struct sock_filter f[FILTER_MAX];
	int length = filter_build(o, f);
	struct seccomp_data call;
	uint32_t want, got;
	size_t i;

	CHECK(length > 0);
	for (i = 0; i < n; i++) {
		call = (struct seccomp_data){.nr = v[i].nr, .arch = SECCOMP_OUR_ARCH};
		memcpy(call.args, v[i].args, sizeof(v[i].args));
		want = v[i].code == PASS ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | (uint32_t)v[i].code;
		got = answer(f, length, &call);
		if (got != want)
			(void)printf("# call %d (%llu, %llu, %llu, %llu): %#x, not %#x\n", v[i].nr,
				     (unsigned long long)v[i].args[0], (unsigned long long)v[i].args[1],
				     (unsigned long long)v[i].args[2], (unsigned long long)v[i].args[3], got, want);
		CHECK(got == want);
	}
}

static void what_concerns_all_of_the_machine_is_refused_or_said_to_be_done(void)
{
	static const struct asked v[] = {
		{SYS_sync, {0}, 0},
		{SYS_syncfs, {3}, 0},
		{SYS_fsync, {3}, PASS},
		{SYS_sync_file_range, {3, 0, 4096, 2}, PASS},
		{SYS_membarrier, {0}, PASS},	/* which are there */
		{SYS_membarrier, {1}, EINVAL},	/* global */
		{SYS_membarrier, {2}, EINVAL},	/* global, expedited */
		{SYS_membarrier, {4}, EINVAL},	/* its registration */
		{SYS_membarrier, {8}, PASS},	/* private, expedited */
		{SYS_membarrier, {16}, PASS},
		{SYS_membarrier, {256}, PASS},
		{SYS_pipe2, {0, 0}, PASS},
		{SYS_pipe2, {0, 02000000 | 04000 | 040000}, PASS}, /* close-on-exec, non-blocking, packets */
		{SYS_pipe2, {0, 0200}, ENOPKG},
	};

	check_all(&(struct filter_options){0}, v, ARRAY_LEN(v));
}

static void kernel_memory_that_nobody_counts_is_refused(void)
{
	static const struct asked counted[] = {
		{SYS_landlock_create_ruleset, {0}, PASS},
		{SYS_landlock_add_rule, {3, 1}, PASS},
		{SYS_landlock_restrict_self, {3}, PASS},
		{SYS_fcntl, {3, 1031, 1 << 20}, PASS}, /* F_SETPIPE_SZ */
	};
	static const struct asked uncounted[] = {
		{SYS_landlock_create_ruleset, {0}, ENOSYS},
		{SYS_landlock_add_rule, {3, 1}, ENOSYS},
		{SYS_landlock_restrict_self, {3}, PASS}, /* our own comes after the filter */
		{SYS_fcntl, {3, 1031, 4096}, PASS},
		{SYS_fcntl, {3, 1031, 65536}, PASS},
		{SYS_fcntl, {3, 1031, 65537}, EPERM},
		{SYS_fcntl, {3, 1031, 1 << 20}, EPERM},
		{SYS_fcntl, {3, 1032, 1 << 20}, PASS}, /* F_GETPIPE_SZ */
		{SYS_fcntl, {3, 1024, 0}, EPERM},
		{SYS_memfd_create, {0, 0}, ENOSYS},
	};

	check_all(&(struct filter_options){0}, counted, ARRAY_LEN(counted));
	check_all(&(struct filter_options){.no_memfd = true}, uncounted, ARRAY_LEN(uncounted));
}

static void memory_is_neither_merged_with_others_nor_taken_from_where_nobody_counts(void)
{
	static const struct asked v[] = {
		{SYS_mmap, {0, 4096, 3, 0x22}, PASS},
		{SYS_mmap, {0, 4096, 3, 0x100022}, PASS}, /* MAP_FIXED_NOREPLACE */
		{SYS_mmap, {0, 4096, 3, 0x40022}, ENOMEM},
		{SYS_madvise, {0, 4096, 4}, PASS},
		{SYS_madvise, {0, 4096, 11}, PASS},
		{SYS_madvise, {0, 4096, 12}, EINVAL},
		{SYS_madvise, {0, 4096, 13}, PASS},
		{SYS_madvise, {0, 4096, 14}, PASS},
		{SYS_madvise, {0, 4096, 100}, EINVAL},
		{SYS_madvise, {0, 4096, 101}, EINVAL},
		{SYS_madvise, {0, 4096, 102}, PASS}, /* MADV_GUARD_INSTALL */
		{SYS_memfd_create, {0, 1}, PASS},
		{SYS_memfd_create, {0, 5}, EINVAL},
	};

	check_all(&(struct filter_options){0}, v, ARRAY_LEN(v));
}

static void options_of_a_process_are_those_that_programs_use(void)
{
	static const struct asked v[] = {
		{SYS_prctl, {1}, PASS},          {SYS_prctl, {4}, PASS},          {SYS_prctl, {8}, PASS},
		{SYS_prctl, {9}, EINVAL},        {SYS_prctl, {15}, PASS},         {SYS_prctl, {22}, PASS},
		{SYS_prctl, {29}, PASS},         {SYS_prctl, {31}, EINVAL},       {SYS_prctl, {35}, EPERM},
		{SYS_prctl, {36}, PASS},         {SYS_prctl, {38}, PASS},         {SYS_prctl, {41}, PASS},
		{SYS_prctl, {47}, PASS},         {SYS_prctl, {53}, PASS},         {SYS_prctl, {57}, EINVAL},
		{SYS_prctl, {59}, EINVAL},       {SYS_prctl, {62}, EINVAL},       {SYS_prctl, {65}, PASS},
		{SYS_prctl, {67}, EINVAL},       {SYS_prctl, {77}, EINVAL},       {SYS_prctl, {0x53564d41}, PASS},
		{SYS_prctl, {0x59616d61}, PASS}, {SYS_prctl, {0x41555856}, PASS}, {SYS_prctl, {1000}, EINVAL},
	};

	check_all(&(struct filter_options){0}, v, ARRAY_LEN(v));
}

static void sockets_tell_and_carry_what_programs_use(void)
{
	static const struct asked v[] = {
		{SYS_getsockopt, {3, 0, 80}, PASS},	    /* SO_ORIGINAL_DST */
		{SYS_getsockopt, {3, 1, 4}, PASS},	    /* SO_ERROR */
		{SYS_getsockopt, {3, 1, 17}, PASS},	    /* SO_PEERCRED */
		{SYS_getsockopt, {3, 1, 57}, ENOPROTOOPT},  /* SO_COOKIE */
		{SYS_getsockopt, {3, 6, 11}, PASS},	    /* TCP_INFO */
		{SYS_getsockopt, {3, 6, 35}, ENOPROTOOPT},  /* TCP_ZEROCOPY_RECEIVE */
		{SYS_sendto, {3, 0, 1, 0x4040}, PASS},	    /* MSG_NOSIGNAL, MSG_DONTWAIT */
		{SYS_sendto, {3, 0, 1, 0x4041}, EOPNOTSUPP}, /* MSG_OOB */
		{SYS_recvfrom, {3, 0, 1, 0x122}, PASS},	    /* MSG_PEEK, MSG_TRUNC, MSG_WAITALL */
		{SYS_recvfrom, {3, 0, 1, 1}, EOPNOTSUPP},
		{SYS_sendmsg, {3, 0, 0x4000, 1}, PASS},
		{SYS_sendmsg, {3, 0, 1}, EOPNOTSUPP},
		{SYS_recvmsg, {3, 0, 0x40000000, 1}, PASS}, /* MSG_CMSG_CLOEXEC */
		{SYS_recvmsg, {3, 0, 0x2000000}, EOPNOTSUPP},
		{SYS_sendmmsg, {3, 0, 1, 1}, EOPNOTSUPP},
		{SYS_recvmmsg, {3, 0, 1, 0x10000}, PASS},
		{SYS_recvmmsg, {3, 0, 1, 1}, EOPNOTSUPP},
	};

	check_all(&(struct filter_options){0}, v, ARRAY_LEN(v));
}

static void options_of_a_socket_are_those_that_programs_use(void)
{
	static const struct asked v[] = {
		{SYS_setsockopt, {3, 0, 1}, PASS},	    /* of IP */
		{SYS_setsockopt, {3, 0, 4}, ENOPROTOOPT},   /* IP_OPTIONS */
		{SYS_setsockopt, {3, 0, 35}, PASS},	    /* IP_ADD_MEMBERSHIP */
		{SYS_setsockopt, {3, 0, 48}, ENOPROTOOPT},  /* MCAST_MSFILTER */
		{SYS_setsockopt, {3, 0, 64}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 41, 26}, PASS},	    /* of IPv6 */
		{SYS_setsockopt, {3, 41, 6}, ENOPROTOOPT},  /* IPV6_2292PKTOPTIONS */
		{SYS_setsockopt, {3, 41, 32}, ENOPROTOOPT}, /* IPV6_FLOWLABEL_MGR */
		{SYS_setsockopt, {3, 41, 33}, PASS},
		{SYS_setsockopt, {3, 41, 42}, PASS},	    /* MCAST_JOIN_GROUP */
		{SYS_setsockopt, {3, 41, 48}, ENOPROTOOPT}, /* MCAST_MSFILTER */
		{SYS_setsockopt, {3, 41, 54}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 41, 56}, PASS},	    /* IPV6_RECVRTHDR */
		{SYS_setsockopt, {3, 41, 57}, ENOPROTOOPT}, /* IPV6_RTHDR */
		{SYS_setsockopt, {3, 41, 67}, PASS},	    /* IPV6_TCLASS */
		{SYS_socket, {1, 1, 0}, PASS},
		{SYS_socket, {2, 1, 6}, PASS},
		{SYS_socket, {10, 2 | 02000000, 17}, PASS},
		{SYS_socket, {2, 3, 0}, EPERM},
		{SYS_socket, {2, 1, 262}, EPROTONOSUPPORT},
		{SYS_socket, {16, 3, 0}, EAFNOSUPPORT},
		{SYS_socket, {17, 3, 0}, EAFNOSUPPORT},
		{SYS_setsockopt, {3, 1, 2}, PASS},	    /* SO_REUSEADDR */
		{SYS_setsockopt, {3, 1, 21}, PASS},	    /* SO_SNDTIMEO */
		{SYS_setsockopt, {3, 1, 26}, ENOPROTOOPT},  /* SO_ATTACH_FILTER */
		{SYS_setsockopt, {3, 1, 28}, PASS},
		{SYS_setsockopt, {3, 1, 29}, ENOPROTOOPT},  /* SO_TIMESTAMP */
		{SYS_setsockopt, {3, 1, 34}, PASS},
		{SYS_setsockopt, {3, 1, 35}, ENOPROTOOPT},  /* SO_TIMESTAMPNS */
		{SYS_setsockopt, {3, 1, 63}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 1, 37}, ENOPROTOOPT},  /* SO_TIMESTAMPING */
		{SYS_setsockopt, {3, 1, 46}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 1, 47}, PASS},	    /* SO_MAX_PACING_RATE */
		{SYS_setsockopt, {3, 1, 49}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 1, 50}, ENOPROTOOPT},  /* SO_ATTACH_BPF */
		{SYS_setsockopt, {3, 1, 52}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 1, 53}, PASS},
		{SYS_setsockopt, {3, 1, 60}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 1, 62}, PASS},
		{SYS_setsockopt, {3, 1, 66}, PASS},	    /* SO_RCVTIMEO_NEW */
		{SYS_setsockopt, {3, 1, 74}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 6, 1}, PASS},	    /* TCP_NODELAY */
		{SYS_setsockopt, {3, 6, 10}, PASS},
		{SYS_setsockopt, {3, 6, 12}, PASS},	    /* TCP_QUICKACK */
		{SYS_setsockopt, {3, 6, 13}, ENOPROTOOPT},  /* TCP_CONGESTION */
		{SYS_setsockopt, {3, 6, 18}, PASS},	    /* TCP_USER_TIMEOUT */
		{SYS_setsockopt, {3, 6, 19}, ENOPROTOOPT},  /* TCP_REPAIR */
		{SYS_setsockopt, {3, 6, 30}, PASS},	    /* TCP_FASTOPEN_CONNECT */
		{SYS_setsockopt, {3, 6, 31}, ENOPROTOOPT},  /* TCP_ULP */
		{SYS_setsockopt, {3, 6, 36}, PASS},
		{SYS_setsockopt, {3, 6, 37}, ENOPROTOOPT},
		{SYS_setsockopt, {3, 17, 100}, ENOPROTOOPT}, /* UDP_ENCAP */
		{SYS_setsockopt, {3, 17, 103}, PASS},	    /* UDP_SEGMENT */
		{SYS_ioctl, {3, 0x5401}, PASS},
		{SYS_ioctl, {3, 0x5411}, PASS},
		{SYS_ioctl, {3, 0x5412}, ENOTTY}, /* TIOCSTI */
		{SYS_ioctl, {3, 0x541b}, PASS},
		{SYS_ioctl, {3, 0x5423}, ENOTTY},
		{SYS_ioctl, {3, 0xc020660b}, PASS},
	};

	check_all(&(struct filter_options){0}, v, ARRAY_LEN(v));
}

static void the_longest_filter_still_fits(void)
{
	static const struct asked v[] = {{SYS_getpid, {0}, PASS},
					 {SYS_sync, {0}, 0},
					 {SYS_landlock_create_ruleset, {0}, PASS},
					 {100000, {0}, ENOSYS}};

	check_all(&(struct filter_options){.guard = true,
					   .notify_denials = true,
					   .exec_limited = true,
					   .root = true,
					   .one_id = true,
					   .pin_cpus = true},
		  v, ARRAY_LEN(v));
	check_all(&(struct filter_options){.guard = true, .notify_denials = true, .exec_limited = true}, v,
		  ARRAY_LEN(v));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_concerns_all_of_the_machine_is_refused_or_said_to_be_done),
		CASE(kernel_memory_that_nobody_counts_is_refused),
		CASE(memory_is_neither_merged_with_others_nor_taken_from_where_nobody_counts),
		CASE(options_of_a_process_are_those_that_programs_use),
		CASE(options_of_a_socket_are_those_that_programs_use),
		CASE(sockets_tell_and_carry_what_programs_use),
		CASE(the_longest_filter_still_fits),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
