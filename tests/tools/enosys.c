/*
 * enosys NAME[,NAME...] -- CMD [ARG...]
 *
 * Runs CMD on a kernel that seems to lack the named system calls: a seccomp filter answers ENOSYS to them. The filter
 * holds for everything that CMD starts. Exits 125 on its own failures, as env(1) does.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "add the AUDIT_ARCH_ of this machine"
#endif

enum { CALLS_MAX = 64, EXIT_OWN_FAILURE = 125 };

static const struct {
	const char *name;
	int nr;
} calls[] = {
	{"clone3", SYS_clone3},
	{"close_range", SYS_close_range},
	{"fsopen", SYS_fsopen},
	{"landlock_add_rule", SYS_landlock_add_rule},
	{"landlock_create_ruleset", SYS_landlock_create_ruleset},
	{"landlock_restrict_self", SYS_landlock_restrict_self},
	{"memfd_create", SYS_memfd_create},
	{"mount", SYS_mount},
	{"mount_setattr", SYS_mount_setattr},
	{"move_mount", SYS_move_mount},
	{"open_tree", SYS_open_tree},
	{"openat2", SYS_openat2},
	{"pidfd_getfd", SYS_pidfd_getfd},
	{"pidfd_open", SYS_pidfd_open},
	{"pidfd_send_signal", SYS_pidfd_send_signal},
	{"seccomp", SYS_seccomp},
	{"setxattr", SYS_setxattr},
	{"statmount", 457}, /* on all machines; newer than our headers */
	{"unshare", SYS_unshare},
	{"utimensat", SYS_utimensat},
};

static int number_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].nr;
	return -1;
}

/* Reads the list (and takes it apart). Returns how many, or -1 for a name that is not known. */
static int parse(char *list, int nr[CALLS_MAX])
{
	char *name, *rest = list;
	int n = 0;

	while ((name = strsep(&rest, ","))) {
		nr[n] = number_of(name);
		if (nr[n++] < 0 || n == CALLS_MAX) {
			fprintf(stderr, "enosys: unknown system call \"%s\"\n", name);
			return -1;
		}
	}
	return n;
}

static int install(const int *nr, int n)
{
	struct sock_filter f[2 * CALLS_MAX + 8];
	struct sock_fprog program = {.filter = f};
	unsigned short at = 0;
	int i;

	f[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	f[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	f[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	f[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (i = 0; i < n; i++) {
		f[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr[i], 0, 1);
		f[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	}
	f[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = at;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int argc, char **argv)
{
	int nr[CALLS_MAX], n;

	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		fprintf(stderr, "usage: enosys NAME[,NAME...] -- CMD [ARG...]\n");
		return EXIT_OWN_FAILURE;
	}
	n = parse(argv[1], nr);
	if (n < 0)
		return EXIT_OWN_FAILURE;
	if (install(nr, n) < 0) {
		perror("enosys: seccomp");
		return EXIT_OWN_FAILURE;
	}
	(void)execvp(argv[3], argv + 3);
	perror("enosys: exec");
	return errno == ENOENT ? 127 : 126;
}
