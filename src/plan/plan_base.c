#include "plan/plan_base.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "model/base_system.h"
#include "sys/mounts.h"

#define WHY "the base system"

/* A part of the base system: the host's link as a link, its folder or file shown read-only, or nothing where the host
 * has none. */
static int add_host_part(struct draft *d, const char *path)
{
	struct plan_op op = {.kind = PLAN_BIND, .target = path, .source = path, .why = WHY,
			     .flags = MOUNT_READ_ONLY | MOUNT_NO_DEV};
	char text[256];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) < 0)
		return 0;
	op.folder = S_ISDIR(st.st_mode);
	if (S_ISLNK(st.st_mode)) {
		n = readlink(path, text, sizeof(text) - 1);
		if (n <= 0)
			return 0;
		op.kind = PLAN_LINK;
		op.source = arena_str(d->plan->arena, sv_n(text, (size_t)n));
	}
	return draft_add(d, &op);
}

static int add_mask(struct draft *d, const char *path)
{
	struct plan_op op = {
		.kind = PLAN_MASK, .target = path, .why = "kernel surface", .flags = MOUNT_READ_ONLY | MOUNT_NO_EXEC};
	struct stat st;

	/* Files that only host root may read need no mask: the workload is never host root. */
	if (lstat(path, &st) < 0 || (S_ISREG(st.st_mode) && !(st.st_mode & 0007)))
		return 0;
	op.folder = S_ISDIR(st.st_mode);
	return draft_add(d, &op);
}

static int add_all(struct draft *d, const struct plan_op *ops, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (draft_add(d, &ops[i]) < 0)
			return -1;
	return 0;
}

/* Names are answered by the gateway, or by nobody: then a lookup fails at once, since nothing listens. */
static bool has_names(const struct draft *d)
{
	return d->gate && d->policy->net.mode.v != NET_NONE && d->policy->net.dns.v == DNS_POLICY;
}

const char *plan_base_resolv_conf(const struct draft *d)
{
	return has_names(d) ? "nameserver 127.0.0.1\noptions attempts:1 timeout:5\n" : "options attempts:1 timeout:1\n";
}

/* Where nobody answers, nobody is asked: a name is "not known", which no program tries again, and not a "temporary
 * failure". */
static const char *nsswitch_conf(const struct draft *d)
{
	return has_names(d) ? "passwd: files\ngroup: files\nhosts: files dns\nnetworks: files\nprotocols: "
			      "files\nservices: files\n"
			    : "passwd: files\ngroup: files\nhosts: files\nnetworks: files\nprotocols: files\nservices: "
			      "files\n";
}

static int add_made(struct draft *d)
{
	struct plan *p = d->plan;
	const char *passwd = arena_printf(p->arena,
					  "root:x:0:0:root:/root:/usr/sbin/nologin\ncordon:x:%u:%u::%s:/bin/"
					  "sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
					  p->uid, p->gid, p->home);
	const char *group = arena_printf(p->arena, "root:x:0:\ncordon:x:%u:\nnogroup:x:65534:\n", p->gid);
	const struct plan_op made[] = {
		{.kind = PLAN_FILE, .target = "/etc/group", .source = group, .mode = 0644, .why = WHY},
		{.kind = PLAN_FILE, .target = "/etc/hostname", .source = "cordon\n", .mode = 0644, .why = WHY},
		{.kind = PLAN_FILE,
		 .target = "/etc/hosts",
		 .source = "127.0.0.1 localhost cordon\n::1 localhost\n",
		 .mode = 0644,
		 .why = WHY},
		{.kind = PLAN_FILE,
		 .target = "/etc/nsswitch.conf",
		 .source = nsswitch_conf(d),
		 .mode = 0644,
		 .why = WHY},
		{.kind = PLAN_FILE, .target = "/etc/passwd", .source = passwd, .mode = 0644, .why = WHY},
		{.kind = PLAN_FILE,
		 .target = "/etc/resolv.conf",
		 .source = plan_base_resolv_conf(d),
		 .mode = 0644,
		 .why = WHY},
	};

	return add_all(d, made, sizeof(made) / sizeof(made[0]));
}

int plan_base_add_devices(struct draft *d)
{
	static const struct plan_op own[] = {
		{.kind = PLAN_PROC, .target = "/proc", .why = WHY},
		{.kind = PLAN_DIR, .target = "/dev", .mode = 0755, .why = WHY},
		{.kind = PLAN_DEVICE, .target = "/dev/null", .source = "/dev/null", .why = WHY},
		{.kind = PLAN_DEVICE, .target = "/dev/zero", .source = "/dev/zero", .why = WHY},
		{.kind = PLAN_DEVICE, .target = "/dev/full", .source = "/dev/full", .why = WHY},
		{.kind = PLAN_DEVICE, .target = "/dev/random", .source = "/dev/random", .why = WHY},
		{.kind = PLAN_DEVICE, .target = "/dev/urandom", .source = "/dev/urandom", .why = WHY},
		{.kind = PLAN_DEVICE, .target = "/dev/tty", .source = "/dev/tty", .why = WHY},
		{.kind = PLAN_PTS, .target = "/dev/pts", .why = WHY},
		{.kind = PLAN_LINK, .target = "/dev/ptmx", .source = "pts/ptmx", .why = WHY},
		{.kind = PLAN_LINK, .target = "/dev/fd", .source = "/proc/self/fd", .why = WHY},
		{.kind = PLAN_LINK, .target = "/dev/stdin", .source = "/proc/self/fd/0", .why = WHY},
		{.kind = PLAN_LINK, .target = "/dev/stdout", .source = "/proc/self/fd/1", .why = WHY},
		{.kind = PLAN_LINK, .target = "/dev/stderr", .source = "/proc/self/fd/2", .why = WHY},
		{.kind = PLAN_TMPFS,
		 .target = "/dev/shm",
		 .source = "shm",
		 .mode = 01777,
		 .folder = true,
		 .writable = true,
		 .flags = MOUNT_NO_EXEC,
		 .why = "filesystem.tmp_size"},
	};

	return add_all(d, own, sizeof(own) / sizeof(own[0]));
}

static int add_own(struct draft *d)
{
	/* The scratch places share one file system, so that tmp_size bounds them together. */
	const struct plan_op own[] = {
		{.kind = PLAN_TMPFS,
		 .target = "/tmp",
		 .source = "tmp",
		 .mode = 01777,
		 .folder = true,
		 .writable = true,
		 .why = "filesystem.tmp_size"},
		{.kind = PLAN_TMPFS,
		 .target = d->plan->home,
		 .source = "home",
		 .mode = 0700,
		 .folder = true,
		 .writable = true,
		 .why = "filesystem.tmp_size"},
		{.kind = PLAN_LINK, .target = "/var/tmp", .source = "/tmp", .why = WHY},
		{.kind = PLAN_LINK, .target = "/var/run", .source = "/run", .why = WHY},
		{.kind = PLAN_DIR, .target = "/run", .mode = 0755, .why = WHY},
		{.kind = PLAN_LINK, .target = "/run/shm", .source = "/dev/shm", .why = WHY},
	};

	return plan_base_add_devices(d) < 0 ? -1 : add_all(d, own, sizeof(own) / sizeof(own[0]));
}

int plan_base_add_masks(struct draft *d, const char *below)
{
	const struct base_path *row;
	int r = 0;

	for (row = base_paths; r == 0 && row->pattern; row++)
		if (row->kind == BASE_HIDDEN && path_is_in(row->pattern, below))
			r = add_mask(d, row->pattern);
	return r;
}

int plan_base_add(struct draft *d)
{
	const struct base_path *row;
	int r = add_made(d);

	for (row = base_paths; r == 0 && row->pattern; row++) {
		if (row->kind == BASE_READ)
			r = add_host_part(d, row->pattern);
		else if (row->kind == BASE_HIDDEN)
			r = add_mask(d, row->pattern);
	}
	if (r == 0)
		r = add_own(d);
	d->plan->own_places = arena_array(d->plan->arena, 5, sizeof(char *));
	if (d->plan->own_places) {
		d->plan->own_places[0] = "/tmp";
		d->plan->own_places[1] = "/dev";
		d->plan->own_places[2] = "/proc";
		d->plan->own_places[3] = d->plan->home;
	}
	return r;
}
