/*
 * Where a cordon that is linked with musl begins, in place of musl's _start, to which it goes on.
 *
 * A program that may lie anywhere has to be told its place in memory: each pointer of its tables is one to be moved,
 * and there are eight thousand. musl moves them one by one from a list of 190 KB, and the kernel gives it each page
 * that it writes to by an interrupt of its own: a third of what a start takes until main(). Here the pages come in one
 * call, and the list is one of bits (DT_RELR), two KB. Where the linker cannot make such a list there is none, and musl
 * finds its own.
 *
 * Nothing runs before this: no table, no thread's memory, no protected stack.
 */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* linux/mman.h has MADV_POPULATE_WRITE from 5.14 on, elf.h the others from glibc 2.36 on. */
enum { POPULATE_WRITE = 23, RELR_BYTES = 35, RELR = 36, PAGE = 4096, BITS = 63 };

#define HIDDEN __attribute__((visibility("hidden")))
extern char __ehdr_start[] HIDDEN, __init_array_start[] HIDDEN;
extern Elf64_Dyn _DYNAMIC[] HIDDEN;
HIDDEN void cordon_relocate(void);

/* What is written to lies between these. A kernel that does not know the call gives the pages one by one. */
static inline void have_pages(void)
{
	uintptr_t from = (uintptr_t)__init_array_start & ~(uintptr_t)(PAGE - 1);
	long r = SYS_madvise;

	__asm__ volatile("syscall"
			 : "+a"(r)
			 : "D"(from), "S"((uintptr_t)_DYNAMIC - from), "d"((long)POPULATE_WRITE)
			 : "rcx", "r11", "memory");
}

/* An even entry is the place of a pointer, an odd one has a bit for each of the next 63. */
static inline void move_pointers(const uint64_t *entry, size_t n, uintptr_t base)
{
	uintptr_t *at = NULL;
	uint64_t bits;

	for (; n; n--, entry++) {
		if (!(*entry & 1)) {
			at = (uintptr_t *)(base + *entry);
			*at++ += base;
			continue;
		}
		for (bits = *entry >> 1; bits; bits &= bits - 1)
			at[__builtin_ctzll(bits)] += base;
		at += BITS;
	}
}

__attribute__((used, no_stack_protector)) void cordon_relocate(void)
{
	uintptr_t base = (uintptr_t)__ehdr_start;
	const uint64_t *list = NULL;
	size_t bytes = 0;
	Elf64_Dyn *d;

	have_pages();
	for (d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == RELR)
			list = (const uint64_t *)(base + d->d_un.d_ptr);
		if (d->d_tag == RELR_BYTES) {
			bytes = d->d_un.d_val;
			d->d_un.d_val = 0; /* a newer musl would do it once more */
		}
	}
	move_pointers(list, bytes / sizeof(*list), base);
}

/* As the kernel left the stack it has to reach musl: all arguments lie on it. */
__asm__(".pushsection .text\n"
	".globl cordon_start\n"
	".hidden cordon_start\n"
	".type cordon_start, @function\n"
	"cordon_start:\n"
	"	mov %rsp, %rbx\n"
	"	and $-16, %rsp\n"
	"	call cordon_relocate\n"
	"	mov %rbx, %rsp\n"
	"	xor %ebx, %ebx\n"
	"	xor %edx, %edx\n"
	"	jmp _start\n"
	".size cordon_start, . - cordon_start\n"
	".popsection\n");
