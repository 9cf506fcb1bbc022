/* Other doors into the same kernel: 32-bit calls, x32 calls, segment tables, personalities. */
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>

#include "attack.h"

/* getpid as i386 code calls it: past every filter that only knows x86-64 numbers. */
static int int80(const struct scene *s, const struct attack *a)
{
#ifdef __x86_64__
	long rc = a->num;

	/* A kernel without i386 emulation answers with SIGSEGV. */
	__asm__ volatile("int $0x80" : "+a"(rc) : "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
	if (rc < 0)
		errno = (int)-rc;
	return judge_reached(s, rc < 0 ? -1 : rc, a->name);
#else
	return untried("%s: not this processor%s", a->name, s->control ? "" : ".");
#endif
}

static int x32(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(0x40000000L | a->num), a->name);
}

static int segments(const struct scene *s, const struct attack *a)
{
	char table[16];

	return judge(s, syscall(SYS_modify_ldt, 0, table, sizeof(table)), a->name);
}

static int persona(const struct scene *s, const struct attack *a)
{
	return judge(s, personality((unsigned long)a->num), a->name);
}

static int be_traced(const struct scene *s, const struct attack *a)
{
	return judge(s, ptrace(PTRACE_TRACEME, 0, NULL, NULL), a->name);
}

static const struct attack rows[] = {
	{"int80-getpid", "cannot make a 32-bit system call (int 0x80)", int80, .num = 20},
	{"int80-keyctl", "cannot reach keyctl by a 32-bit system call", int80, .num = 288},
	{"x32-getpid", "cannot make an x32 system call", x32, .num = SYS_getpid},
	{"x32-ptrace", "cannot reach ptrace by an x32 system call", x32, .num = 521},
	{"modify-ldt", "cannot use modify_ldt", segments},
	{"personality-aslr", "cannot turn address randomisation off", persona, .num = ADDR_NO_RANDOMIZE},
	{"personality-exec", "cannot make all its memory executable", persona, .num = READ_IMPLIES_EXEC},
	{"ptrace-traceme", "cannot use ptrace at all", be_traced},
};
ATTACKS("kernel", rows);
