/*
 * bpf: the few instructions that a seccomp filter needs, so that nobody above sys/ includes <linux/...>.
 */
#ifndef CORDON_SYS_BPF_H
#define CORDON_SYS_BPF_H

#include <asm/unistd.h> /* the numbers of system calls, more of them than libc may know */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BPF_OP_LOAD = BPF_LD | BPF_W | BPF_ABS,
	BPF_OP_JEQ = BPF_JMP | BPF_JEQ | BPF_K,
	BPF_OP_JGE = BPF_JMP | BPF_JGE | BPF_K,
	BPF_OP_JSET = BPF_JMP | BPF_JSET | BPF_K,
	BPF_OP_JA = BPF_JMP | BPF_JA,
	BPF_OP_AND = BPF_ALU | BPF_AND | BPF_K,
	BPF_OP_RET = BPF_RET | BPF_K,
};

#define SECCOMP_DO_ALLOW  SECCOMP_RET_ALLOW
#define SECCOMP_DO_ERRNO  SECCOMP_RET_ERRNO
#define SECCOMP_DO_KILL	  SECCOMP_RET_KILL_PROCESS
#define SECCOMP_DO_NOTIFY SECCOMP_RET_USER_NOTIF

#define SECCOMP_AT_NR	   offsetof(struct seccomp_data, nr)
#define SECCOMP_AT_ARCH	   offsetof(struct seccomp_data, arch)
#define SECCOMP_ARG_LOW(i) ((uint32_t)(offsetof(struct seccomp_data, args) + 8 * (i)))
#define SECCOMP_ARG_HIGH(i) (SECCOMP_ARG_LOW(i) + 4) /* little-endian */

#if defined(__x86_64__)
#define SECCOMP_OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SECCOMP_OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "name the audit architecture of this machine"
#endif

static inline void bpf_put(struct sock_filter *to, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	*to = (struct sock_filter){code, jt, jf, k};
}

#endif
