#include "sandbox/common/filter.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "sandbox/common/filter_lists.h"
#include "sandbox/common/filter_program.h"
#include "sys/bpf.h"

enum what {
	ENOSYS_, /* as for calls that are not listed */
	ALLOW,
	DENY,
	QUIET,
	DONE,
	GUARD,
	CLONE,
	SOCKET,
	SOCKETPAIR,
	SOCKOPT,
	SOCKOPT_READ,
	FLAGS3,
	FLAGS4,
	IOCTL,
	PERSONALITY,
	MAP,
	ADVICE,
	BARRIER,
	PIPE,
	MEMFD,
	SHARED,
	RULES,
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

/* A program, and branches of the search that end in an answer, which is put behind the search. */
struct search {
	struct program p;
	struct {
		size_t at;
		bool greater; /* the branch for "not below" */
		enum what what;
	} ends[N_RANGES];
	size_t n_ends;
};

static void ret_denied(struct program *p)
{
	if (p->options->notify_denials)
		program_emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_NOTIFY);
	else
		program_errno(p, EPERM);
}

static void ret_guard(struct program *p)
{
	program_emit(p, BPF_OP_RET, 0, 0, p->options->guard ? SECCOMP_DO_NOTIFY : SECCOMP_DO_ALLOW);
}

static void block_clone(struct program *p)
{
	program_load(p, 0);
	program_emit(p, BPF_OP_JSET, 0, 1, 0x7e020000); /* any CLONE_NEW*: cgroup, uts, ipc, user, pid, net, mount */
	ret_denied(p);
	program_allow(p);
}

static void block_memfd(struct program *p)
{
	if (p->options->no_memfd) {
		program_errno(p, ENOSYS);
		return;
	}
	program_load(p, 1);
	program_emit(p, BPF_OP_JSET, 0, 1, 4); /* MFD_HUGETLB: as filter_list_map() */
	program_errno(p, EINVAL);
	if (p->options->exec_limited) {
		program_emit(p, BPF_OP_JSET, 1, 0, 8); /* MFD_NOEXEC_SEAL */
		program_errno(p, EACCES);
	}
	program_allow(p);
}

static void block_shared(struct program *p)
{
	if (p->options->no_memfd || p->options->no_ipc)
		program_errno(p, ENOSYS);
	else
		program_allow(p); /* of huge pages the kernel asks for a capability, or a group */
}

/* Landlock's, any number of them. The kernel then seems to have none, and programs go on without; ours are made by
 * then. */
static void block_rules(struct program *p)
{
	if (p->options->no_memfd)
		program_errno(p, ENOSYS);
	else
		program_allow(p);
}

static void block_ipc(struct program *p)
{
	if (p->options->no_ipc)
		program_errno(p, ENOSYS);
	else
		program_allow(p);
}

static void block_flags3(struct program *p)
{
	filter_list_flags(p, 2);
}

static void block_flags4(struct program *p)
{
	filter_list_flags(p, 3);
}

/* PID 1 may have the workload's id, and no capability that it lacks: then the kernel lets it be slowed down. */
static void block_schedule(struct program *p)
{
	program_load(p, 0);
	program_deny_if(p, 1);
	program_allow(p);
}

static void block_affinity(struct program *p)
{
	if (p->options->pin_cpus)
		program_errno(p, EPERM);
	else
		block_schedule(p);
}

/* Of all of a user (2), PID 1 is one. */
static void block_priority(struct program *p)
{
	program_load(p, 0);
	program_deny_if(p, 2);
	program_load(p, 1);
	program_deny_if(p, 1);
	program_allow(p);
}

/* Never with setuid or setgid. */
static void mode_block(struct program *p, unsigned mode)
{
	if (p->options->root) {
		program_allow(p);
		return;
	}
	program_load(p, mode);
	program_emit(p, BPF_OP_JSET, 0, 1, 06000);
	program_errno(p, EPERM);
	program_allow(p);
}

/* What is done to a file that is opened: it is made (O_CREAT), without a name (__O_TMPFILE), or written to (O_WRONLY,
 * O_RDWR, O_TRUNC). */
enum {
	MAKES = 0100,
	MAKES_NO_NAME = 020000000,
	WRITES = 03 | 01000,
	NOTHING = 010000000 /* O_PATH: whatever else is asked for */
};

/* open and openat: to the guard where they make a name or write, never for a file with setuid or setgid. */
static void open_block(struct program *p, unsigned flags)
{
	program_load(p, flags);
	program_emit(p, BPF_OP_JSET, 1, 0, MAKES | MAKES_NO_NAME | (p->options->guard ? WRITES : 0));
	program_allow(p);
	program_emit(p, BPF_OP_JSET, 0, 1, NOTHING);
	program_allow(p);
	if (p->options->guard) {
		program_emit(p, BPF_OP_JSET, 0, 1, MAKES);
		ret_guard(p);
		program_emit(p, BPF_OP_JSET, 1, 0, MAKES_NO_NAME);
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
	if (p->options->guard)
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
	program_load(p, 1);
	program_emit(p, BPF_OP_JSET, 0, 1, 8); /* SECCOMP_FILTER_FLAG_NEW_LISTENER */
	program_errno(p, EPERM);
	program_allow(p);
}

/* To the guard where it could give rights to others than the owner. */
static void chmod_block(struct program *p, unsigned mode)
{
	if (!p->options->guard) {
		mode_block(p, mode);
		return;
	}
	program_load(p, mode);
	program_emit(p, BPF_OP_JSET, 0, 1, 06077);
	ret_guard(p);
	program_allow(p);
}

static void block_chmod(struct program *p)
{
	chmod_block(p, 1);
}

static void block_chmodat(struct program *p)
{
	chmod_block(p, 2);
}

static void unless_zero(struct program *p, uint32_t word, int code)
{
	program_emit(p, BPF_OP_LOAD, 0, 0, word);
	program_emit(p, BPF_OP_JEQ, 1, 0, 0);
	program_errno(p, code);
}

/*
 * prlimit64: only about the calling process (0); another's limits, PID 1's among them, are not the workload's to set.
 * The size of cores stays as it is: with 0, which programs like to set, a kernel that pipes cores to a program would
 * start that. They are told that it is done, for there will be none.
 */
static void block_limits(struct program *p)
{
	unless_zero(p, SECCOMP_ARG_LOW(0), EPERM);
	program_load(p, 1);
	program_emit(p, BPF_OP_JEQ, 1, 0, RLIMIT_CORE);
	program_allow(p);
	program_load(p, 2);
	program_emit(p, BPF_OP_JEQ, 0, 3, 0);
	program_emit(p, BPF_OP_LOAD, 0, 0, SECCOMP_ARG_HIGH(2));
	program_emit(p, BPF_OP_JEQ, 0, 1, 0);
	program_allow(p); /* it only asks */
	unless_zero(p, SECCOMP_ARG_LOW(3), EPERM);
	unless_zero(p, SECCOMP_ARG_HIGH(3), EPERM);
	program_errno(p, 0);
}

/* For root of an image: within its own root and namespaces it means nothing to others. */
static void block_as_root(struct program *p)
{
	if (p->options->root)
		program_allow(p);
	else
		ret_denied(p);
}

/* Takes away only: no_new_privs holds. */
static void block_capset(struct program *p)
{
	if (p->options->root)
		program_allow(p);
	else
		program_errno(p, EPERM);
}

static void ret_pretended(struct program *p)
{
	if (p->options->notify_denials)
		program_emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_NOTIFY);
	else
		program_errno(p, 0);
}

/* Over the next instruction where an argument is 0 or -1. */
static void unless_own(struct program *p, unsigned arg)
{
	program_load(p, arg);
	program_emit(p, BPF_OP_JEQ, 2, 0, 0);
	program_emit(p, BPF_OP_JEQ, 1, 0, UINT32_MAX);
}

static void pretend_others(struct program *p, unsigned arg)
{
	unless_own(p, arg);
	ret_pretended(p);
}

/* Where there is one id, what is given to it is: that can be done. */
static void chown_block(struct program *p, unsigned owner)
{
	if (p->options->one_id) {
		pretend_others(p, owner);
		pretend_others(p, owner + 1);
	}
	program_allow(p);
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
	if (p->options->one_id)
		ret_pretended(p);
	else
		program_allow(p);
}

/* The kernel refuses the others by itself; where somebody hears of it, the reason can be told. */
static void id_block(struct program *p, unsigned n)
{
	unsigned i;

	for (i = 0; p->options->one_id && p->options->notify_denials && i < n; i++) {
		unless_own(p, i);
		program_emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_NOTIFY);
	}
	program_allow(p);
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
	program_errno(p, ENOSYS);
}

static void block_quiet(struct program *p)
{
	program_errno(p, EPERM);
}

static void block_done(struct program *p)
{
	program_errno(p, 0);
}

static void (*const blocks[N_WHAT])(struct program *p) = {
	[ENOSYS_] = block_enosys,
	[ALLOW] = program_allow,
	[DENY] = ret_denied,
	[QUIET] = block_quiet,
	[DONE] = block_done,
	[GUARD] = ret_guard,
	[CLONE] = block_clone,
	[SOCKET] = filter_list_socket,
	[SOCKETPAIR] = filter_list_socketpair,
	[SOCKOPT] = filter_list_sockopt,
	[SOCKOPT_READ] = filter_list_sockopt_read,
	[FLAGS3] = block_flags3,
	[FLAGS4] = block_flags4,
	[IOCTL] = filter_list_ioctl,
	[PERSONALITY] = filter_list_personality,
	[MAP] = filter_list_map,
	[ADVICE] = filter_list_advice,
	[BARRIER] = filter_list_barrier,
	[PIPE] = filter_list_pipe,
	[MEMFD] = block_memfd,
	[SHARED] = block_shared,
	[RULES] = block_rules,
	[IPC] = block_ipc,
	[AFFINITY] = block_affinity,
	[PRIORITY] = block_priority,
	[SCHEDULE] = block_schedule,
	[OPEN] = block_open,
	[OPENAT] = block_openat,
	[MAKE] = block_make,
	[MAKEAT] = block_makeat,
	[SECCOMP] = block_seccomp,
	[CHMOD] = block_chmod,
	[CHMODAT] = block_chmodat,
	[PRCTL] = filter_list_prctl,
	[FCNTL] = filter_list_fcntl,
	[LIMITS] = block_limits,
	[AS_ROOT] = block_as_root,
	[CAPSET] = block_capset,
	[CHOWN] = block_chown,
	[CHOWNAT] = block_chownat,
	[GROUPS] = block_groups,
	[ID] = block_id,
	[IDS] = block_ids,
	[IDS3] = block_ids3,
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
static void end_branch(struct search *s, size_t at, bool greater, enum what what)
{
	if (s->n_ends == N_RANGES) {
		s->p.full = true;
		return;
	}
	s->ends[s->n_ends].at = at;
	s->ends[s->n_ends].greater = greater;
	s->ends[s->n_ends++].what = what;
}

/* One comparison, the search among the lower half, the search among the upper half. */
static void tree(struct search *s, const struct range *r, size_t k)
{
	struct program *p = &s->p;
	size_t half = k / 2, at = p->n;

	program_emit(p, BPF_OP_JGE, 0, 0, r[half].from);
	if (half == 1)
		end_branch(s, at, false, r[0].what);
	else
		tree(s, r, half);
	if (k - half == 1) {
		end_branch(s, at, true, r[half].what);
		return;
	}
	if (p->n - at - 1 > UINT8_MAX || p->full)
		p->full = true;
	else
		bpf_put(&p->out[at], BPF_OP_JGE, (uint8_t)(p->n - at - 1), 0, r[half].from);
	tree(s, r + half, k - half);
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

/* The answers: one instruction each, so that all are within the reach of a branch; those that look at arguments lead on
 * to their block. */
static void put_answers(struct search *s)
{
	struct program *p = &s->p;
	size_t start = p->n, i;
	unsigned what;

	for (what = 0; what < N_WHAT; what++) {
		if (what <= GUARD)
			blocks[what](p);
		else
			program_emit(p, BPF_OP_JA, 0, 0, 0);
	}
	for (i = 0; i < s->n_ends && !p->full; i++)
		set_branch(p, s->ends[i].at, s->ends[i].greater, start + s->ends[i].what);
	for (what = GUARD + 1; what < N_WHAT && !p->full; what++) {
		bpf_put(&p->out[start + what], BPF_OP_JA, 0, 0, (uint32_t)(p->n - start - what - 1));
		blocks[what](p);
	}
}

int filter_build(const struct filter_options *o, struct sock_filter *out)
{
	struct search s = {.p = {.out = out, .options = o}};
	struct program *p = &s.p;
	struct range ranges[N_RANGES];
	size_t n = make_ranges(ranges);

	program_emit(p, BPF_OP_LOAD, 0, 0, SECCOMP_AT_ARCH);
	program_emit(p, BPF_OP_JEQ, 1, 0, SECCOMP_OUR_ARCH);
	program_emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	program_emit(p, BPF_OP_LOAD, 0, 0, SECCOMP_AT_NR);
	program_emit(p, BPF_OP_JGE, 0, 1, 0x40000000); /* x32 */
	program_emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_KILL);
	tree(&s, ranges, n);
	put_answers(&s);
	return p->full ? -E2BIG : (int)p->n;
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

	return r && (r->what == GUARD || r->what == OPEN || r->what == OPENAT || r->what == MAKE || r->what == MAKEAT ||
		     r->what == CHMOD || r->what == CHMODAT);
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
