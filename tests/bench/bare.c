/*
 * bare: runs a command in a user, mount, PID, IPC, UTS, cgroup and network namespace of its own with loopback up, and
 * does nothing else.
 *
 *	bare [--plain | --root] CMD ARG...
 *
 * It is what the kernel takes for the namespaces alone, by the cheapest way there is: one process, which shares its
 * maker's memory until it is the command; no root of its own, no confinement, no limit, no log. With --plain it makes
 * no namespace either: what it takes that a program starts another and waits, the least that `cordon exec` could take.
 * With --root it also makes as many mounts of each kind as the strict profile's sandbox has, and enters them: what the
 * kernel takes for such a root, with no policy to read, nothing to decide or to search for, no Landlock, no filter, no
 * limit and no log.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[64 * 1024];

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (write(fd, text, strlen(text)) < 0)
		return -1;
	return close(fd);
}

static int loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo) < 0 ? -1 : 0;
}

/* Where a file system, or a folder or file of the host, is mounted from the new root. */
struct place {
	const char *type; /* NULL: a bind of source */
	const char *source, *target, *data;
};

static const struct place places[] = {
	{NULL, "/usr", "usr", NULL},
	{NULL, "/etc/alternatives", "etc/alternatives", NULL},
	{NULL, "/etc/ld.so.cache", "etc/ld.so.cache", NULL},
	{NULL, "/etc/ssl/certs", "etc/ssl", NULL},
	{"tmpfs", "scratch", "proc", "size=64m,mode=0755"},
	{NULL, "/dev/full", "dev/full", NULL},
	{NULL, "/dev/null", "dev/null", NULL},
	{NULL, "/dev/random", "dev/random", NULL},
	{NULL, "/dev/tty", "dev/tty", NULL},
	{NULL, "/dev/urandom", "dev/urandom", NULL},
	{NULL, "/dev/zero", "dev/zero", NULL},
	{"devpts", "devpts", "dev/pts", "newinstance,ptmxmode=0666,mode=0600"},
	{NULL, "proc", "tmp", NULL},
	{NULL, "proc", "home", NULL},
	{NULL, "proc", "dev/shm", NULL},
	{NULL, "/tmp", "work", NULL},
	{"proc", "proc", "proc", NULL},
};

static const char *const folders[] = {
	"usr",     "etc",     "proc",    "dev", "tmp", "home", "work", "mask", "etc/alternatives",
	"etc/ssl", "dev/pts", "dev/shm", NULL};
static const char *const files[] = {"etc/ld.so.cache", "dev/full", "dev/null", "dev/random", "dev/tty",
				    "dev/urandom",     "dev/zero", "hidden",   NULL};
static const char *const links[] = {"bin", "lib", "lib64", "sbin", NULL};
static const char *const hidden[] = {"acpi",
				     "buddyinfo",
				     "bus",
				     "cgroups",
				     "cmdline",
				     "config.gz",
				     "consoles",
				     "crypto",
				     "devices",
				     "diskstats",
				     "dma",
				     "driver",
				     "execdomains",
				     "fs",
				     "interrupts",
				     "iomem",
				     "ioports",
				     "irq",
				     "kallsyms",
				     "key-users",
				     "keys",
				     "locks",
				     "misc",
				     "mtrr",
				     "partitions",
				     "pressure",
				     "softirqs",
				     "swaps",
				     "sys/kernel/core_pattern",
				     "sys/kernel/random/boot_id",
				     "tty",
				     "vmstat",
				     "zoneinfo",
				     NULL};

static int make_names(void)
{
	char to[32];
	size_t i;

	for (i = 0; folders[i]; i++)
		if (mkdir(folders[i], 0755) < 0)
			return -1;
	for (i = 0; files[i]; i++)
		if (mknod(files[i], S_IFREG | 0644, 0) < 0)
			return -1;
	for (i = 0; links[i]; i++) {
		(void)snprintf(to, sizeof(to), "usr/%s", links[i]);
		if (symlink(to, links[i]) < 0)
			return -1;
	}
	return 0;
}

static int hide(const char *name)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "proc/%s", name);
	if (stat(path, &st) < 0)
		return 0;
	return mount(S_ISDIR(st.st_mode) ? "mask" : "hidden", path, NULL, MS_BIND, NULL);
}

static int make_root(void)
{
	size_t i;

	if (mount("bare", "/sys", "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=0755") < 0 || chdir("/sys") < 0 ||
	    make_names() < 0)
		return -1;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (mount(places[i].source, places[i].target, places[i].type,
			  places[i].type ? MS_NOSUID : MS_BIND | MS_REC, places[i].data) < 0 &&
		    errno != ENOENT)
			return -1;
	for (i = 0; hidden[i]; i++)
		if (hide(hidden[i]) < 0)
			return -1;
	return syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0 ? -1 : 0;
}

struct job {
	char **argv;
	unsigned uid, gid;
	bool root;
};

static int start(void *arg)
{
	const struct job *job = arg;

	(void)execv(job->argv[0], job->argv);
	perror(job->argv[0]);
	_exit(127);
}

static int run(void *arg)
{
	const struct job *job = arg;
	char uids[64], gids[64];

	(void)snprintf(uids, sizeof(uids), "1000 %u 1\n", job->uid);
	(void)snprintf(gids, sizeof(gids), "1000 %u 1\n", job->gid);
	if (put("/proc/self/setgroups", "deny") < 0 || put("/proc/self/uid_map", uids) < 0 ||
	    put("/proc/self/gid_map", gids) < 0 || loopback_up() < 0 || (job->root && make_root() < 0)) {
		perror("bare");
		_exit(125);
	}
	return start(arg);
}

int main(int argc, char **argv)
{
	int flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP |
		    CLONE_NEWNET;
	struct job job = {.argv = argv + 1,
			  .uid = geteuid(),
			  .gid = getegid(),
			  .root = argc > 1 && strcmp(argv[1], "--root") == 0};
	bool plain = argc > 1 && strcmp(argv[1], "--plain") == 0;
	int status;
	pid_t pid;

	job.argv += plain || job.root;
	if (job.argv >= argv + argc)
		return 2;
	pid = clone(plain ? start : run, stack + sizeof(stack), (plain ? 0 : flags) | CLONE_VM | CLONE_VFORK | SIGCHLD,
		    &job);
	if (pid < 0) {
		perror("bare: clone");
		return 125;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
