/* Control groups: leaving one's own, lifting its limits, and release_agent, which the kernel runs as root on the host.
 */
#include <sys/mount.h>

#include "attack.h"

/* The names a walk looks for differ between cgroup v1 and v2: the first match of either wins. */
static const char *const escapes[] = {"cgroup.procs", "tasks", NULL};
static const char *const limits[] = {"memory.limit_in_bytes", "memory.max", "pids.max", "cpu.max", NULL};
static const char *const devices[] = {"devices.allow", NULL};
static const char *const agents[] = {"release_agent", "notify_on_release", NULL};
static const char *const *const names[] = {escapes, limits, devices, agents};

static int find_writable(const char *root, const char *const *wanted, int depth)
{
	char pattern[512];

	for (; *wanted; wanted++) {
		for (int i = 0; i < depth; i++) {
			static const char *const controllers[] = {
				"",         "/memory",  "/pids",    "/devices",    "/cpu",
				"/unified", "/systemd", "/freezer", "/user.slice", "/system.slice"};
			(void)snprintf(pattern, sizeof(pattern), "%s%s/%s", root, controllers[i], *wanted);
			int fd = open(pattern, O_WRONLY | O_CLOEXEC);
			if (fd >= 0) {
				close(fd);
				return won("%s may be written", pattern);
			}
		}
	}
	return REFUSED;
}

static int open_any(const struct scene *s, const struct attack *a)
{
	if (find_writable("/sys/fs/cgroup", names[a->num], 10) == WON)
		return WON;
	/* Not there: perhaps it can be mounted. */
	(void)mkdir("cg", 0700);
	if ((mount("none", "cg", "cgroup2", 0, NULL) == 0 ||
	     mount("none", "cg", "cgroup", 0, "none,name=cordon") == 0) &&
	    find_writable("cg", names[a->num], 1) == WON) {
		(void)umount2("cg", MNT_DETACH);
		return WON;
	}
	(void)umount2("cg", MNT_DETACH);
	return s->control && access("/sys/fs/cgroup/devices", F_OK) < 0 && a->num >= 2
		       ? untried("this machine has no cgroup v1")
		       : refused("no such control file can be opened");
}

static const struct attack rows[] = {
	{"cgroup-procs", "cannot leave its control group", open_any, CONTROL_ROOT, .num = 0},
	{"cgroup-limits", "cannot lift the limits of its control group", open_any, CONTROL_ROOT, .num = 1},
	{"cgroup-devices", "cannot allow itself devices", open_any, CONTROL_ROOT, .num = 2},
	{"cgroup-release-agent", "cannot set a release_agent", open_any, CONTROL_ROOT, .num = 3},
};
ATTACKS("filesystem", rows);
