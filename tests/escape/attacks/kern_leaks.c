/* Files that tell about the kernel: addresses, keys, modules, configuration, memory, devices. */
#include "attack.h"

static int read_some(const struct scene *s, const struct attack *a)
{
	char text[256];
	int fd = open(a->text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return s->control && errno == ENOENT ? untried("this machine has no %s", a->text)
						     : lost(s, errno, a->text);
	ssize_t n = read(fd, text, sizeof(text));
	close(fd);
	if (n < 0)
		return lost(s, errno, a->text);
	if (n == 0 && s->control)
		return untried("%s is empty on this machine", a->text);
	return n > 0 ? won("%s can be read", a->text) : refused("%s is empty", a->text);
}

static int symbols(const struct scene *s, const struct attack *a)
{
	unsigned long long address = 0;
	FILE *f = fopen(a->text, "re");

	if (!f)
		return s->control && errno == ENOENT ? untried("this kernel has no %s", a->text)
						     : lost(s, errno, a->text);
	for (int i = 0; i < 200 && address == 0; i++) {
		if (fscanf(f, "%llx %*c %*[^\n]", &address) != 1)
			break;
	}
	(void)fclose(f);
	return address ? won("a kernel address is known") : refused("all addresses are zero");
}

static int host_sockets(const struct scene *s, const struct attack *a)
{
	struct fact name;
	char line[512];
	FILE *f = fopen(a->text, "re");
	bool hit = false;

	if (!f)
		return lost(s, errno, a->text);
	(void)fact(s, "socket", &name);
	while (!hit && fgets(line, sizeof(line), f))
		hit = strstr(line, name.s) != NULL;
	(void)fclose(f);
	return hit ? won("the host's sockets are listed") : refused("none of the host's sockets is listed");
}

#define ROW(label, path)                                                                                               \
	{                                                                                                              \
		"leak-" label, "cannot read " path, read_some, CONTROL_ROOT, .text = path                              \
	}

static const struct attack rows[] = {
	{"leak-kallsyms", "cannot learn kernel addresses from /proc/kallsyms", symbols, CONTROL_ROOT,
	 .text = "/proc/kallsyms"},
	{"leak-net-unix", "cannot list the host's sockets", host_sockets, .text = "/proc/net/unix"},
	ROW("kcore", "/proc/kcore"),
	ROW("modules", "/proc/modules"),
	ROW("keys", "/proc/keys"),
	ROW("key-users", "/proc/key-users"),
	ROW("timer-list", "/proc/timer_list"),
	ROW("config", "/proc/config.gz"),
	ROW("iomem", "/proc/iomem"),
	ROW("ioports", "/proc/ioports"),
	ROW("slabinfo", "/proc/slabinfo"),
	ROW("vmallocinfo", "/proc/vmallocinfo"),
	ROW("pagetypeinfo", "/proc/pagetypeinfo"),
	ROW("interrupts", "/proc/interrupts"),
	ROW("sched-debug", "/proc/sched_debug"),
	ROW("kpagecount", "/proc/kpagecount"),
	ROW("boot-id", "/proc/sys/kernel/random/boot_id"),
	ROW("buddyinfo", "/proc/buddyinfo"),
	ROW("cgroups", "/proc/cgroups"),
	ROW("cmdline", "/proc/cmdline"),
	ROW("consoles", "/proc/consoles"),
	ROW("core-pattern", "/proc/sys/kernel/core_pattern"),
	ROW("crypto", "/proc/crypto"),
	ROW("devices", "/proc/devices"),
	ROW("diskstats", "/proc/diskstats"),
	ROW("dma", "/proc/dma"),
	ROW("execdomains", "/proc/execdomains"),
	ROW("kpageflags", "/proc/kpageflags"),
	ROW("locks", "/proc/locks"),
	ROW("misc", "/proc/misc"),
	ROW("partitions", "/proc/partitions"),
	ROW("pressure", "/proc/pressure/cpu"),
	ROW("softirqs", "/proc/softirqs"),
	ROW("swaps", "/proc/swaps"),
	ROW("tty-drivers", "/proc/tty/drivers"),
	ROW("vmstat", "/proc/vmstat"),
	ROW("zoneinfo", "/proc/zoneinfo"),
};
ATTACKS("kernel", rows);
