#include "sandbox/common/filter.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "sys/bpf.h"

enum what {
	ENOSYS_, /* as for calls that are not listed */
	ALLOW,
	DENY,
	QUIET,
	GUARD,
	CLONE,
	SOCKET,
	SOCKETPAIR,
	SOCKOPT,
	IOCTL,
	PERSONALITY,
	MEMFD,
	SHARED,
	IPC,
	AFFINITY,
	PRIORITY,
	SCHEDULE,
	OPEN,
	OPENAT,
	MAKE,
	MAKEAT,
	SECCOMP,
	CHMOD,
	CHMODAT,
	PRCTL,
	FCNTL,
	LIMITS,
	AS_ROOT,
	CAPSET,
	CHOWN,
	CHOWNAT,
	GROUPS,
	ID,
	IDS,
	IDS3,
	N_WHAT
};

struct row {
	int nr;
	enum what what;
	const char *name;
};

static const struct row rows[] = {
#define ROW(name, what) {__NR_##name, what, #name},
#include "sandbox/common/syscalls.h"
#undef ROW
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), N_RANGES = 2 * N_ROWS + 2 };

/* Numbers from `from` up to the next range's. */
struct range {
	uint32_t from;
	enum what what;
};

struct program {
	struct sock_filter *out;
	size_t n;
	const struct filter_options *o;
	/* Branches of the search that end in an answer, which is put behind the search. */
	struct {
		size_t at;
		bool greater; /* the branch for "not below" */
		enum what what;
	} ends[N_RANGES];
	size_t n_ends;
	bool full;
};

static void emit(struct program *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (p->n == FILTER_MAX) {
		p->full = true;
		return;
	}
	bpf_put(&p->out[p->n++], code, jt, jf, k);
}

static void ret_allow(struct program *p)
{
	emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_ALLOW);
}

static void ret_errno(struct program *p, int code)
{
	emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_ERRNO | (uint32_t)code);
}

static void ret_denied(struct program *p)
{
	if (p->o->notify_denials)
		emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_NOTIFY);
	else
		ret_errno(p, EPERM);
}

static void ret_guard(struct program *p)
{
	emit(p, BPF_OP_RET, 0, 0, p->o->guard ? SECCOMP_DO_NOTIFY : SECCOMP_DO_ALLOW);
}

static void load_arg(struct program *p, unsigned i)
{
	emit(p, BPF_OP_LOAD, 0, 0, SECCOMP_ARG_LOW(i));
}

/* if (A == k) allow */
static void allow_if(struct program *p, uint32_t k)
{
	emit(p, BPF_OP_JEQ, 0, 1, k);
	ret_allow(p);
}

static void deny_if(struct program *p, uint32_t k)
{
	emit(p, BPF_OP_JEQ, 0, 1, k);
	ret_errno(p, EPERM);
}

static void block_clone(struct program *p)
{
	load_arg(p, 0);
	emit(p, BPF_OP_JSET, 0, 1, 0x7e020000); /* any CLONE_NEW*: cgroup, uts, ipc, user, pid, net, mount */
	ret_denied(p);
	ret_allow(p);
}

/* unix; internet streams and datagrams with their own protocols, which leaves out raw, MPTCP, SCTP, UDP-Lite and ping. */
static void block_socket(struct program *p)
{
	load_arg(p, 0);
	allow_if(p, 1);
	emit(p, BPF_OP_JEQ, 2, 0, 2);
	emit(p, BPF_OP_JEQ, 1, 0, 10);
	ret_errno(p, EAFNOSUPPORT);
	load_arg(p, 1);
	emit(p, BPF_OP_AND, 0, 0, 0xf);
	emit(p, BPF_OP_JEQ, 2, 0, 1);
	emit(p, BPF_OP_JEQ, 1, 0, 2);
	ret_errno(p, EPERM);
	load_arg(p, 2);
	allow_if(p, 0);
	allow_if(p, 6);
	allow_if(p, 17);
	ret_errno(p, EPROTONOSUPPORT);
}

static void block_socketpair(struct program *p)
{
	load_arg(p, 0);
	allow_if(p, 1);
	ret_errno(p, EAFNOSUPPORT);
}

/* Not: programs attached to sockets (SO_ATTACH_*), other protocols layered over TCP (TCP_ULP). */
static void block_sockopt(struct program *p)
{
	load_arg(p, 1);
	emit(p, BPF_OP_JEQ, 2, 0, 1);  /* SOL_SOCKET: over the next two */
	emit(p, BPF_OP_JEQ, 11, 0, 6); /* IPPROTO_TCP: over the eleven to the last part */
	ret_allow(p);
	load_arg(p, 2);
	deny_if(p, 26);
	deny_if(p, 50);
	deny_if(p, 51);
	deny_if(p, 52);
	ret_allow(p);
	load_arg(p, 2);
	deny_if(p, 31);
	ret_allow(p);
}

/* What files, sockets and terminals need; nothing that types into a terminal, changes its discipline or steals it. */
static void block_ioctl(struct program *p)
{
	static const struct {
		uint32_t first, last;
	} known[] = {
		{0x5401, 0x5411},		/* TCGETS to TIOCOUTQ: settings, flow, exclusive use, controlling terminal, process groups */
		{0x5413, 0x5414},		/* window size; 0x5412, TIOCSTI, types into the terminal */
		{0x541b, 0x541b},		/* FIONREAD */
		{0x5420, 0x5422},		/* packet mode, FIONBIO, TIOCNOTTY */
		{0x5424, 0x542d},		/* line discipline (to read), break, session, TCGETS2 and its kin; 0x5423 would set the discipline */
		{0x5441, 0x5441},		/* TIOCGPTPEER */
		{0x5450, 0x5460},		/* close-on-exec, FIOASYNC, FIOQSIZE */
		{0x8904, 0x8907},		/* of sockets: owner, mark, time stamp */
		{0x8910, 0x8915},		/* of interfaces: names, addresses, flags (to read) */
		{0x8919, 0x891b},
		{0x8921, 0x8921},
		{0x8927, 0x8927},
		{0x8933, 0x8933},
		{0x40045431, 0x40045431},	/* TIOCSPTLCK */
		{0x40049409, 0x40049409},	/* FICLONE */
		{0x4020940d, 0x4020940d},	/* FICLONERANGE */
		{0x80045430, 0x80045430},	/* TIOCGPTN */
		{0x80045438, 0x80045439},	/* packet mode, lock (to read) */
		{0x80086601, 0x80086601},	/* FS_IOC_GETFLAGS */
		{0xc0189436, 0xc0189436},	/* FIDEDUPERANGE */
		{0xc020660b, 0xc020660b},	/* FIEMAP */
	};
	size_t i;

	load_arg(p, 1);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].first == known[i].last) {
			allow_if(p, known[i].first);
			continue;
		}
		emit(p, BPF_OP_JGE, 0, 2, known[i].first);
		emit(p, BPF_OP_JGE, 1, 0, known[i].last + 1);
		ret_allow(p);
	}
	ret_errno(p, ENOTTY);
}

static void block_personality(struct program *p)
{
	load_arg(p, 0);
	allow_if(p, 0);
	allow_if(p, 8); /* PER_LINUX32: what uname says */
	allow_if(p, 0xffffffff);
	ret_errno(p, EPERM);
}

static void block_memfd(struct program *p)
{
	if (p->o->no_memfd) {
		ret_errno(p, ENOSYS);
		return;
	}
	if (p->o->exec_limited) {
		load_arg(p, 1);
		emit(p, BPF_OP_JSET, 1, 0, 8); /* MFD_NOEXEC_SEAL */
		ret_errno(p, EACCES);
	}
	ret_allow(p);
}

static void block_shared(struct program *p)
{
	if (p->o->no_memfd || p->o->no_ipc)
		ret_errno(p, ENOSYS);
	else
		ret_allow(p);
}

static void block_ipc(struct program *p)
{
	if (p->o->no_ipc)
		ret_errno(p, ENOSYS);
	else
		ret_allow(p);
}

/* PID 1 may have the workload's id, and no capability that it lacks: then the kernel lets it be slowed down. */
static void block_schedule(struct program *p)
{
	load_arg(p, 0);
	deny_if(p, 1);
	ret_allow(p);
}

static void block_affinity(struct program *p)
{
	if (p->o->pin_cpus)
		ret_errno(p, EPERM);
	else
		block_schedule(p);
}

/* Of all of a user (2), PID 1 is one. */
static void block_priority(struct program *p)
{
	load_arg(p, 0);
	deny_if(p, 2);
	load_arg(p, 1);
	deny_if(p, 1);
	ret_allow(p);
}

/* Never with setuid or setgid. */
static void mode_block(struct program *p, unsigned mode)
{
	if (p->o->root) {
		ret_allow(p);
		return;
	}
	load_arg(p, mode);
	emit(p, BPF_OP_JSET, 0, 1, 06000);
	ret_errno(p, EPERM);
	ret_allow(p);
}

/* What is done to a file that is opened: it is made (O_CREAT), without a name (__O_TMPFILE), or written to (O_WRONLY, O_RDWR, O_TRUNC). */
enum { MAKES = 0100, MAKES_NO_NAME = 020000000, WRITES = 03 | 01000, NOTHING = 010000000 /* O_PATH: whatever else is asked for */ };

/* open and openat: to the guard where they make a name or write, never for a file with setuid or setgid. */
static void open_block(struct program *p, unsigned flags)
{
	load_arg(p, flags);
	emit(p, BPF_OP_JSET, 1, 0, MAKES | MAKES_NO_NAME | (p->o->guard ? WRITES : 0));
	ret_allow(p);
	emit(p, BPF_OP_JSET, 0, 1, NOTHING);
	ret_allow(p);
	if (p->o->guard) {
		emit(p, BPF_OP_JSET, 0, 1, MAKES);
		ret_guard(p);
		emit(p, BPF_OP_JSET, 1, 0, MAKES_NO_NAME);
		ret_guard(p);
	}
	mode_block(p, flags + 1);
}

static void block_open(struct program *p)
{
	open_block(p, 1);
}

static void block_openat(struct program *p)
{
	open_block(p, 2);
}

/* creat, mknod and mknodat: to the guard, or a file without setuid and setgid. */
static void make_block(struct program *p, unsigned mode)
{
	if (p->o->guard)
		ret_guard(p);
	else
		mode_block(p, mode);
}

static void block_make(struct program *p)
{
	make_block(p, 1);
}

static void block_makeat(struct program *p)
{
	make_block(p, 2);
}

/* A workload may tighten itself, but not put itself before our notifications. */
static void block_seccomp(struct program *p)
{
	load_arg(p, 1);
	emit(p, BPF_OP_JSET, 0, 1, 8); /* SECCOMP_FILTER_FLAG_NEW_LISTENER */
	ret_errno(p, EPERM);
	ret_allow(p);
}

/* To the guard where it could give rights to others than the owner. */
static void chmod_block(struct program *p, unsigned mode)
{
	if (!p->o->guard) {
		mode_block(p, mode);
		return;
	}
	load_arg(p, mode);
	emit(p, BPF_OP_JSET, 0, 1, 06077);
	ret_guard(p);
	ret_allow(p);
}

static void block_chmod(struct program *p)
{
	chmod_block(p, 1);
}

static void block_chmodat(struct program *p)
{
	chmod_block(p, 2);
}

/* Not PR_SET_MM, which rewrites what /proc says of a process. */
static void block_prctl(struct program *p)
{
	load_arg(p, 0);
	deny_if(p, 35);
	ret_allow(p);
}

/* Not leases (F_SETLEASE, F_SETDELEG), which let a file's owner stall whoever else opens it: the host, or another sandbox. Nor F_NOTIFY, which tells what the host does in a folder, and which nobody uses any more. */
static void block_fcntl(struct program *p)
{
	load_arg(p, 1);
	deny_if(p, 1024);
	deny_if(p, 1026);
	deny_if(p, 1040);
	ret_allow(p);
}

static void unless_zero(struct program *p, uint32_t word, int code)
{
	emit(p, BPF_OP_LOAD, 0, 0, word);
	emit(p, BPF_OP_JEQ, 1, 0, 0);
	ret_errno(p, code);
}

/*
 * prlimit64: only about the calling process (0); another's limits, PID 1's among them, are not the workload's to set. The size of cores stays as it is: with 0, which programs like to set, a kernel that
 * pipes cores to a program would start that. They are told that it is done, for there will be none.
 */
static void block_limits(struct program *p)
{
	unless_zero(p, SECCOMP_ARG_LOW(0), EPERM);
	load_arg(p, 1);
	emit(p, BPF_OP_JEQ, 1, 0, RLIMIT_CORE);
	ret_allow(p);
	load_arg(p, 2);
	emit(p, BPF_OP_JEQ, 0, 3, 0);
	emit(p, BPF_OP_LOAD, 0, 0, SECCOMP_ARG_HIGH(2));
	emit(p, BPF_OP_JEQ, 0, 1, 0);
	ret_allow(p); /* it only asks */
	unless_zero(p, SECCOMP_ARG_LOW(3), EPERM);
	unless_zero(p, SECCOMP_ARG_HIGH(3), EPERM);
	ret_errno(p, 0);
}

/* For root of an image: within its own root and namespaces it means nothing to others. */
static void block_as_root(struct program *p)
{
	if (p->o->root)
		ret_allow(p);
	else
		ret_denied(p);
}

/* Takes away only: no_new_privs holds. */
static void block_capset(struct program *p)
{
	if (p->o->root)
		ret_allow(p);
	else
		ret_errno(p, EPERM);
}

static void ret_pretended(struct program *p)
{
	if (p->o->notify_denials)
		emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_NOTIFY);
	else
		ret_errno(p, 0);
}

/* Over the next instruction where an argument is 0 or -1. */
static void unless_own(struct program *p, unsigned arg)
{
	load_arg(p, arg);
	emit(p, BPF_OP_JEQ, 2, 0, 0);
	emit(p, BPF_OP_JEQ, 1, 0, UINT32_MAX);
}

static void pretend_others(struct program *p, unsigned arg)
{
	unless_own(p, arg);
	ret_pretended(p);
}

/* Where there is one id, what is given to it is: that can be done. */
static void chown_block(struct program *p, unsigned owner)
{
	if (p->o->one_id) {
		pretend_others(p, owner);
		pretend_others(p, owner + 1);
	}
	ret_allow(p);
}

static void block_chown(struct program *p)
{
	chown_block(p, 1);
}

static void block_chownat(struct program *p)
{
	chown_block(p, 2);
}

static void block_groups(struct program *p)
{
	if (p->o->one_id)
		ret_pretended(p);
	else
		ret_allow(p);
}

/* The kernel refuses the others by itself; where somebody hears of it, the reason can be told. */
static void id_block(struct program *p, unsigned n)
{
	unsigned i;

	for (i = 0; p->o->one_id && p->o->notify_denials && i < n; i++) {
		unless_own(p, i);
		emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_NOTIFY);
	}
	ret_allow(p);
}

static void block_id(struct program *p)
{
	id_block(p, 1);
}

static void block_ids(struct program *p)
{
	id_block(p, 2);
}

static void block_ids3(struct program *p)
{
	id_block(p, 3);
}

static void block_enosys(struct program *p)
{
	ret_errno(p, ENOSYS);
}

static void block_quiet(struct program *p)
{
	ret_errno(p, EPERM);
}

static void (*const blocks[N_WHAT])(struct program *p) = {
	[ENOSYS_] = block_enosys,     [ALLOW] = ret_allow,	[DENY] = ret_denied,	 [QUIET] = block_quiet,
	[GUARD] = ret_guard,	      [CLONE] = block_clone,	[SOCKET] = block_socket, [SOCKETPAIR] = block_socketpair,
	[SOCKOPT] = block_sockopt,    [IOCTL] = block_ioctl,	[PERSONALITY] = block_personality, [MEMFD] = block_memfd,
	[SHARED] = block_shared,      [IPC] = block_ipc,	[AFFINITY] = block_affinity, [PRIORITY] = block_priority, [SCHEDULE] = block_schedule, [OPEN] = block_open,	 [OPENAT] = block_openat,
	[MAKE] = block_make,	      [MAKEAT] = block_makeat,
	[SECCOMP] = block_seccomp,    [CHMOD] = block_chmod,	[CHMODAT] = block_chmodat,
	[PRCTL] = block_prctl,	      [FCNTL] = block_fcntl,	[LIMITS] = block_limits,
	[AS_ROOT] = block_as_root,    [CAPSET] = block_capset,	[CHOWN] = block_chown,	 [CHOWNAT] = block_chownat,
	[GROUPS] = block_groups,      [ID] = block_id,		[IDS] = block_ids,	 [IDS3] = block_ids3,
};

static int by_number(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->nr > y->nr) - (x->nr < y->nr);
}

/* The table is in the order of x86-64's numbers. */
static bool is_sorted(const struct row *r)
{
	size_t i;

	for (i = 1; i < N_ROWS; i++)
		if (r[i - 1].nr >= r[i].nr)
			return false;
	return true;
}

/* The whole number line as ranges with one meaning each. */
static size_t make_ranges(struct range *to)
{
	struct row sorted[N_ROWS];
	uint32_t next = 0;
	size_t i, n = 0;

	memcpy(sorted, rows, sizeof(rows));
	if (!is_sorted(sorted))
		qsort(sorted, N_ROWS, sizeof(sorted[0]), by_number);
	for (i = 0; i < N_ROWS; i++) {
		if ((uint32_t)sorted[i].nr > next && (n == 0 || to[n - 1].what != ENOSYS_))
			to[n++] = (struct range){next, ENOSYS_};
		if (n == 0 || to[n - 1].what != sorted[i].what)
			to[n++] = (struct range){(uint32_t)sorted[i].nr, sorted[i].what};
		next = (uint32_t)sorted[i].nr + 1;
	}
	if (to[n - 1].what != ENOSYS_)
		to[n++] = (struct range){next, ENOSYS_};
	return n;
}

/* A branch to an answer: patched when it is known where that stands. */
static void end_branch(struct program *p, size_t at, bool greater, enum what what)
{
	if (p->n_ends == N_RANGES) {
		p->full = true;
		return;
	}
	p->ends[p->n_ends].at = at;
	p->ends[p->n_ends].greater = greater;
	p->ends[p->n_ends++].what = what;
}

/* One comparison, the search among the lower half, the search among the upper half. */
static void tree(struct program *p, const struct range *r, size_t k)
{
	size_t half = k / 2, at = p->n;

	emit(p, BPF_OP_JGE, 0, 0, r[half].from);
	if (half == 1)
		end_branch(p, at, false, r[0].what);
	else
		tree(p, r, half);
	if (k - half == 1) {
		end_branch(p, at, true, r[half].what);
		return;
	}
	if (p->n - at - 1 > UINT8_MAX || p->full)
		p->full = true;
	else
		bpf_put(&p->out[at], BPF_OP_JGE, (uint8_t)(p->n - at - 1), 0, r[half].from);
	tree(p, r + half, k - half);
}

/* Sets one branch of the comparison at `at` to lead to `to`. */
static void set_branch(struct program *p, size_t at, bool greater, size_t to)
{
	struct sock_filter *f = &p->out[at];
	size_t jump = to - at - 1;

	if (jump > UINT8_MAX)
		p->full = true;
	else if (greater)
		f->jt = (uint8_t)jump;
	else
		f->jf = (uint8_t)jump;
}

/* The answers: one instruction each, so that all are within the reach of a branch; those that look at arguments lead on to their block. */
static void put_answers(struct program *p)
{
	size_t start = p->n, i;
	unsigned what;

	for (what = 0; what < N_WHAT; what++) {
		if (what <= GUARD)
			blocks[what](p);
		else
			emit(p, BPF_OP_JA, 0, 0, 0);
	}
	for (i = 0; i < p->n_ends && !p->full; i++)
		set_branch(p, p->ends[i].at, p->ends[i].greater, start + p->ends[i].what);
	for (what = GUARD + 1; what < N_WHAT && !p->full; what++) {
		bpf_put(&p->out[start + what], BPF_OP_JA, 0, 0, (uint32_t)(p->n - start - what - 1));
		blocks[what](p);
	}
}

int filter_build(const struct filter_options *o, struct sock_filter *out)
{
	struct program p = {.out = out, .o = o};
	struct range ranges[N_RANGES];
	size_t n = make_ranges(ranges);

	emit(&p, BPF_OP_LOAD, 0, 0, SECCOMP_AT_ARCH);
	emit(&p, BPF_OP_JEQ, 1, 0, SECCOMP_OUR_ARCH);
	emit(&p, BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	emit(&p, BPF_OP_LOAD, 0, 0, SECCOMP_AT_NR);
	emit(&p, BPF_OP_JGE, 0, 1, 0x40000000); /* x32 */
	emit(&p, BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	tree(&p, ranges, n);
	put_answers(&p);
	return p.full ? -E2BIG : (int)p.n;
}

static const struct row *find_row(int nr)
{
	size_t i;

	for (i = 0; i < N_ROWS; i++)
		if (rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

const char *filter_name(int nr)
{
	const struct row *r = find_row(nr);

	return r ? r->name : NULL;
}

bool filter_is_guarded(int nr)
{
	const struct row *r = find_row(nr);

	return r && (r->what == GUARD || r->what == OPEN || r->what == OPENAT || r->what == MAKE || r->what == MAKEAT || r->what == CHMOD || r->what == CHMODAT);
}

bool filter_is_pretended(int nr)
{
	const struct row *r = find_row(nr);

	return r && (r->what == CHOWN || r->what == CHOWNAT || r->what == GROUPS);
}

bool filter_is_id(int nr)
{
	const struct row *r = find_row(nr);

	return r && (r->what == ID || r->what == IDS || r->what == IDS3);
}
