#include "sandbox/common/filter_program.h"

#include <errno.h>

#include "sandbox/common/filter.h"
#include "sys/bpf.h"

void program_emit(struct program *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (p->n == FILTER_MAX) {
		p->full = true;
		return;
	}
	bpf_put(&p->out[p->n++], code, jt, jf, k);
}

void program_allow(struct program *p)
{
	program_emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_ALLOW);
}

void program_errno(struct program *p, int code)
{
	program_emit(p, BPF_OP_RET, 0, 0, SECCOMP_DO_ERRNO | (uint32_t)code);
}

void program_load(struct program *p, unsigned i)
{
	program_emit(p, BPF_OP_LOAD, 0, 0, SECCOMP_ARG_LOW(i));
}

/* if (A == k) allow */
void program_allow_if(struct program *p, uint32_t k)
{
	program_emit(p, BPF_OP_JEQ, 0, 1, k);
	program_allow(p);
}

void program_deny_if(struct program *p, uint32_t k)
{
	program_emit(p, BPF_OP_JEQ, 0, 1, k);
	program_errno(p, EPERM);
}

static size_t length(const struct span *v, size_t n)
{
	size_t i, all = 0;

	for (i = 0; i < n; i++)
		all += v[i].first == v[i].last ? 1 : 2;
	return all;
}

/* All lead to one answer behind them, over which whatever is in none of them jumps: what the kernel has to check and
 * translate at each start stays short. */
static void answer_spans(struct program *p, const struct span *v, size_t n, uint32_t answer)
{
	size_t left = length(v, n), i;

	if (left > UINT8_MAX) {
		p->full = true;
		return;
	}
	for (i = 0; i < n; i++) {
		if (v[i].first == v[i].last) {
			program_emit(p, BPF_OP_JEQ, (uint8_t)left--, 0, v[i].first);
			continue;
		}
		program_emit(p, BPF_OP_JGE, 0, 1, v[i].first);
		program_emit(p, BPF_OP_JGE, 0, (uint8_t)(left - 1), v[i].last + 1);
		left -= 2;
	}
	program_emit(p, BPF_OP_JA, 0, 0, 1);
	program_emit(p, BPF_OP_RET, 0, 0, answer);
}

void program_allow_spans(struct program *p, const struct span *v, size_t n)
{
	answer_spans(p, v, n, SECCOMP_DO_ALLOW);
}

void program_refuse_spans(struct program *p, const struct span *v, size_t n, int code)
{
	answer_spans(p, v, n, SECCOMP_DO_ERRNO | (uint32_t)code);
}
