/* mount(2): anything mounted over the base system, or made writable again, rewrites the rules. */
#include <sys/mount.h>

#include "attack.h"

static int mount_it(const struct scene *s, const struct attack *a)
{
	(void)mkdir("mnt", 0700);
	return judge(s, mount("none", "mnt", a->text, 0, NULL), a->name);
}

static int bind_root(const struct scene *s, const struct attack *a)
{
	(void)mkdir("mnt", 0700);
	return judge(s, mount("/", "mnt", NULL, MS_BIND | MS_REC, NULL), a->name);
}

static int remount(const struct scene *s, const struct attack *a)
{
	return judge(s, mount(NULL, a->text, NULL, MS_REMOUNT | MS_BIND, NULL), a->name);
}

static int propagate(const struct scene *s, const struct attack *a)
{
	return judge(s, mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL), a->name);
}

static const struct attack rows[] = {
	{"mount-tmpfs", "cannot mount a tmpfs", mount_it, CONTROL_USERNS, .text = "tmpfs"},
	{"mount-proc", "cannot mount another /proc", mount_it, CONTROL_USERNS, .text = "proc"},
	{"mount-ramfs", "cannot mount a ramfs, which has no size limit", mount_it, CONTROL_USERNS, .text = "ramfs"},
	{"mount-bind", "cannot bind-mount the root folder", bind_root, CONTROL_USERNS},
	{"mount-remount-root", "cannot remount / read-write", remount, CONTROL_USERNS, .text = "/"},
	{"mount-remount-proc", "cannot remount /proc with other options", remount, CONTROL_USERNS, .text = "/proc"},
	{"mount-shared", "cannot turn mount propagation on", propagate, CONTROL_USERNS},
};
ATTACKS("filesystem", rows);
