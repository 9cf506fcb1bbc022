#include "model/base_system.h"

#include "base/glob.h"

#define SYSTEM  "the base system"
#define MADE    "what is made for the sandbox in place of the host's"
#define SCRATCH "the sandbox's own scratch space"
#define PROC    "the sandbox's own /proc"
#define DEVICE  "the sandbox's own /dev"

/*
 * Each row of /etc and each hidden one of /proc is a mount that every start pays for (some 4 µs): of /etc there is what
 * programs cannot do without, of /proc what tells about the host's hardware, keys, kernel and load, and is read by no
 * program but those that look after a machine. What is left there of the machine is what C libraries, language
 * runtimes, ps and build tools ask for: cpuinfo, filesystems, loadavg, meminfo, stat, uptime, version, and sys. Files
 * that only host root can open need no mount: no workload is host root.
 */
const struct base_path base_paths[] = {
	{"/usr", BASE_READ, SYSTEM},
	{"/bin", BASE_READ, SYSTEM},
	{"/sbin", BASE_READ, SYSTEM},
	{"/lib", BASE_READ, SYSTEM},
	{"/lib32", BASE_READ, SYSTEM},
	{"/lib64", BASE_READ, SYSTEM},
	{"/libx32", BASE_READ, SYSTEM},
	{"/etc/alternatives", BASE_READ, SYSTEM},
	{"/etc/crypto-policies", BASE_READ, SYSTEM},
	{"/etc/fonts", BASE_READ, SYSTEM},
	{"/etc/java", BASE_READ, SYSTEM},
	{"/etc/java-11-openjdk", BASE_READ, SYSTEM},
	{"/etc/java-17-openjdk", BASE_READ, SYSTEM},
	{"/etc/java-21-openjdk", BASE_READ, SYSTEM},
	{"/etc/ld.so.cache", BASE_READ, SYSTEM},
	{"/etc/localtime", BASE_READ, SYSTEM},
	{"/etc/maven", BASE_READ, SYSTEM},
	{"/etc/mime.types", BASE_READ, SYSTEM},
	{"/etc/os-release", BASE_READ, SYSTEM},
	{"/etc/pki/ca-trust", BASE_READ, SYSTEM},
	{"/etc/pki/tls/certs", BASE_READ, SYSTEM},
	{"/etc/pki/tls/cert.pem", BASE_READ, SYSTEM},
	{"/etc/pki/tls/openssl.cnf", BASE_READ, SYSTEM},
	{"/etc/R", BASE_READ, SYSTEM},
	{"/etc/ssl/certs", BASE_READ, SYSTEM},
	{"/etc/ssl/cert.pem", BASE_READ, SYSTEM},
	{"/etc/ssl/openssl.cnf", BASE_READ, SYSTEM},
	{"/etc/ssl/ca-bundle.pem", BASE_READ, SYSTEM},
	{"/etc/ImageMagick-6", BASE_READ, SYSTEM},
	{"/etc/OpenCL", BASE_READ, SYSTEM},
	{"/etc/vulkan", BASE_READ, SYSTEM},
	{"/etc/php", BASE_READ, SYSTEM},
	{"/etc/passwd", BASE_MADE, MADE},
	{"/etc/group", BASE_MADE, MADE},
	{"/etc/hosts", BASE_MADE, MADE},
	{"/etc/hostname", BASE_MADE, MADE},
	{"/etc/nsswitch.conf", BASE_MADE, MADE},
	{"/etc/resolv.conf", BASE_MADE, MADE},
	{"/tmp", BASE_PRIVATE, SCRATCH},
	{"/var/tmp", BASE_PRIVATE, SCRATCH},
	{"/dev/shm", BASE_PRIVATE, SCRATCH},
	{"/proc", BASE_PROC, PROC},
	{"/proc/acpi", BASE_HIDDEN, PROC},
	{"/proc/asound", BASE_HIDDEN, PROC},
	{"/proc/buddyinfo", BASE_HIDDEN, PROC},
	{"/proc/bus", BASE_HIDDEN, PROC},
	{"/proc/cgroups", BASE_HIDDEN, PROC},
	{"/proc/cmdline", BASE_HIDDEN, PROC},
	{"/proc/config.gz", BASE_HIDDEN, PROC},
	{"/proc/consoles", BASE_HIDDEN, PROC},
	{"/proc/crypto", BASE_HIDDEN, PROC},
	{"/proc/devices", BASE_HIDDEN, PROC},
	{"/proc/diskstats", BASE_HIDDEN, PROC},
	{"/proc/dma", BASE_HIDDEN, PROC},
	{"/proc/driver", BASE_HIDDEN, PROC},
	{"/proc/execdomains", BASE_HIDDEN, PROC},
	{"/proc/fb", BASE_HIDDEN, PROC},
	{"/proc/fs", BASE_HIDDEN, PROC},
	{"/proc/interrupts", BASE_HIDDEN, PROC},
	{"/proc/iomem", BASE_HIDDEN, PROC},
	{"/proc/ioports", BASE_HIDDEN, PROC},
	{"/proc/irq", BASE_HIDDEN, PROC},
	{"/proc/kallsyms", BASE_HIDDEN, PROC},
	{"/proc/key-users", BASE_HIDDEN, PROC},
	{"/proc/keys", BASE_HIDDEN, PROC},
	{"/proc/latency_stats", BASE_HIDDEN, PROC},
	{"/proc/locks", BASE_HIDDEN, PROC}, /* those of all sandboxes, whose offsets would carry words between them */
	{"/proc/misc", BASE_HIDDEN, PROC},
	{"/proc/modules", BASE_HIDDEN, PROC},
	{"/proc/mtrr", BASE_HIDDEN, PROC},
	{"/proc/partitions", BASE_HIDDEN, PROC},
	{"/proc/pressure", BASE_HIDDEN, PROC}, /* triggers can be written there */
	{"/proc/sched_debug", BASE_HIDDEN, PROC},
	{"/proc/schedstat", BASE_HIDDEN, PROC},
	{"/proc/scsi", BASE_HIDDEN, PROC},
	{"/proc/softirqs", BASE_HIDDEN, PROC},
	{"/proc/swaps", BASE_HIDDEN, PROC},
	{"/proc/sys/kernel/core_pattern", BASE_HIDDEN, PROC}, /* a program of the host's, where it has one for that */
	{"/proc/sys/kernel/random/boot_id", BASE_HIDDEN,
	 PROC}, /* what sandboxes of one machine have in common, and others do not */
	{"/proc/tty", BASE_HIDDEN, PROC},
	{"/proc/version_signature", BASE_HIDDEN, PROC},
	{"/proc/vmstat", BASE_HIDDEN, PROC}, /* with the next: what all of the machine does, page by page */
	{"/proc/zoneinfo", BASE_HIDDEN, PROC},
	{"/proc/kcore", BASE_CLOSED, PROC},
	{"/proc/kmsg", BASE_CLOSED, PROC},
	{"/proc/kpagecgroup", BASE_CLOSED, PROC},
	{"/proc/kpagecount", BASE_CLOSED, PROC},
	{"/proc/kpageflags", BASE_CLOSED, PROC},
	{"/proc/pagetypeinfo", BASE_CLOSED, PROC},
	{"/proc/slabinfo", BASE_CLOSED, PROC},
	{"/proc/sysrq-trigger", BASE_CLOSED, PROC},
	{"/proc/timer_list", BASE_CLOSED, PROC},
	{"/proc/vmallocinfo", BASE_CLOSED, PROC},
	/* of the sandbox's first process, which nobody inside may trace */
	{"/proc/1/auxv", BASE_CLOSED, PROC},
	{"/proc/1/cwd", BASE_CLOSED, PROC},
	{"/proc/1/environ", BASE_CLOSED, PROC},
	{"/proc/1/exe", BASE_CLOSED, PROC},
	{"/proc/1/fd", BASE_CLOSED, PROC},
	{"/proc/1/fdinfo", BASE_CLOSED, PROC},
	{"/proc/1/io", BASE_CLOSED, PROC},
	{"/proc/1/map_files", BASE_CLOSED, PROC},
	{"/proc/1/maps", BASE_CLOSED, PROC},
	{"/proc/1/mem", BASE_CLOSED, PROC},
	{"/proc/1/ns", BASE_CLOSED, PROC},
	{"/proc/1/numa_maps", BASE_CLOSED, PROC},
	{"/proc/1/pagemap", BASE_CLOSED, PROC},
	{"/proc/1/personality", BASE_CLOSED, PROC},
	{"/proc/1/root", BASE_CLOSED, PROC},
	{"/proc/1/smaps", BASE_CLOSED, PROC},
	{"/proc/1/smaps_rollup", BASE_CLOSED, PROC},
	{"/proc/1/stack", BASE_CLOSED, PROC},
	{"/proc/1/syscall", BASE_CLOSED, PROC},
	{"/proc/1/timers", BASE_CLOSED, PROC},
	{"/dev/null", BASE_DEVICE, DEVICE},
	{"/dev/zero", BASE_DEVICE, DEVICE},
	{"/dev/full", BASE_DEVICE, DEVICE},
	{"/dev/random", BASE_DEVICE, DEVICE},
	{"/dev/urandom", BASE_DEVICE, DEVICE},
	{"/dev/tty", BASE_DEVICE, DEVICE},
	{"/dev/ptmx", BASE_DEVICE, DEVICE},
	{"/dev/pts", BASE_DEVICE, DEVICE},
	{"/dev/fd", BASE_DEVICE, DEVICE},
	{"/dev/stdin", BASE_DEVICE, DEVICE},
	{"/dev/stdout", BASE_DEVICE, DEVICE},
	{"/dev/stderr", BASE_DEVICE, DEVICE},
	{"/dev/*", BASE_HIDDEN, "devices of the host"}, /* behind those above: the first of equal depth decides */
	{"/sys", BASE_HIDDEN, "devices of the host"},
	{0},
};

static int count_components(struct sv path)
{
	size_t i;
	int n = 0;

	for (i = 0; i + 1 < path.n; i++)
		n += path.p[i] == '/';
	return n;
}

/* Without wildcards the answer needs no pattern: most of a policy and nearly all of the table is such. */
static int plain_depth(struct sv folder, struct sv path)
{
	bool inside = folder.n == 1 || (path.n >= folder.n && memcmp(path.p, folder.p, folder.n) == 0 &&
					(path.n == folder.n || path.p[folder.n] == '/'));

	return inside ? count_components(folder) : -1;
}

int base_pattern_depth(const char *pattern, struct sv path)
{
	struct glob g;
	size_t end = 1;
	int depth = 0, found = -1;

	if (pattern[0] == '/' && !strpbrk(pattern, "*?[\\"))
		return plain_depth(sv_of(pattern), path);
	if (glob_init(&g, sv_of(pattern)) < 0)
		return -1;
	if (glob_hit(&g, sv_of("/")))
		found = 0;
	while (found < 0 && end < path.n) {
		while (end < path.n && path.p[end] != '/')
			end++;
		depth++;
		if (glob_hit(&g, sv_n(path.p, end)))
			found = depth;
		end++;
	}
	glob_done(&g);
	return found;
}

const struct base_path *base_system_find(struct sv path, int *ret_depth)
{
	const struct base_path *row, *best = NULL;
	int depth;

	*ret_depth = -1;
	for (row = base_paths; row->pattern; row++) {
		depth = base_pattern_depth(row->pattern, path);
		if (depth > *ret_depth) {
			*ret_depth = depth;
			best = row;
		}
	}
	return best;
}
