#include "sandbox/oci/oci_config.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "sandbox/oci/oci_show.h"

/* To set the limits of its own user namespace; of no use where it has none. */
#define LIMITS_CAPABILITY "CAP_SYS_RESOURCE"

/* What cordon-init needs, and gives up in every child. */
static const struct {
	const char *name;
	unsigned users; /* bit u: where struct box_ids' user is u */
} capabilities[] = {
#define ANY (1U << BOX_USER_IS | 1U << BOX_USER_BECOME | 1U << BOX_USER_NESTED)
	{"CAP_NET_ADMIN", ANY},			   /* the redirect */
	{"CAP_NET_BIND_SERVICE", ANY},		   /* port 53 */
	{"CAP_SETPCAP", ANY},			   /* empty bounding sets */
	{"CAP_KILL", ANY},			   /* commands are others' */
	{"CAP_SETUID", 1U << BOX_USER_BECOME},
	{"CAP_SETGID", 1U << BOX_USER_BECOME},
	{"CAP_SETFCAP", 1U << BOX_USER_NESTED},	   /* else the kernel lets nobody map uid 0 once more */
	{LIMITS_CAPABILITY, ANY},
#undef ANY
};

/* What the root of an image has, where no user namespace of its own gives it that (sandbox/common/confine.h). */
static const char *const image_capabilities[] = {"CAP_CHOWN",      "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID",
						 "CAP_SYS_CHROOT", "CAP_SETFCAP",      "CAP_SETUID", "CAP_SETGID"};

/*
 * Refused to everything in the container, cordon-init included; commands get an allowlist of their own from it
 * (filter.h), so this is what stands between a taken-over cordon-init and the rest of the kernel. What a command might
 * try (mount, ptrace, setns and their kin) is not here: cordon-init refuses it, and tells of it, which the kernel would
 * not ask it to do if this list came first.
 */
static const char *const refused_calls[] = {
	"acct",
	"add_key",
	"adjtimex",
	"bpf",
	"clock_adjtime",
	"clock_settime",
	"delete_module",
	"fanotify_init",
	"finit_module",
	"fsconfig",
	"fsmount",
	"fsopen",
	"fspick",
	"init_module",
	"io_uring_enter",
	"io_uring_register",
	"io_uring_setup",
	"ioperm",
	"iopl",
	"kcmp",
	"kexec_file_load",
	"kexec_load",
	"keyctl",
	"lookup_dcookie",
	"migrate_pages",
	"mount_setattr",
	"move_mount",
	"move_pages",
	"nfsservctl",
	"open_by_handle_at",
	"open_tree",
	"perf_event_open",
	"process_vm_readv",
	"process_vm_writev",
	"quotactl",
	"quotactl_fd",
	"reboot",
	"request_key",
	"setdomainname",
	"sethostname",
	"settimeofday",
	"swapoff",
	"swapon",
	"syslog",
	"uselib",
	"userfaultfd",
	"ustat",
	"vhangup",
};

static const char *const read_only_paths[] = {"/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"};

static void strings(struct json *j, const char *key, const char *const *list, size_t n)
{
	size_t i;

	json_key(j, key);
	json_list(j);
	for (i = 0; i < n; i++)
		json_str(j, list[i]);
	json_end(j);
}

/* A limit is set where there is a user namespace of its own, the network where it is not the leader's. */
static bool is_useful(const struct box *b, const char *capability)
{
	return (b->ids.mapped || strcmp(capability, LIMITS_CAPABILITY) != 0) &&
	       (!b->join.id || strncmp(capability, "CAP_NET_", 8) != 0);
}

static void add_capabilities(struct json *j, const struct box *b)
{
	/* Ambient last: they are what survives the exec of a program that is not root's; gVisor passes over them. */
	static const char *const sets[] = {"bounding", "effective", "permitted", "inheritable", "ambient"};
	const char *names[ARRAY_LEN(capabilities) + ARRAY_LEN(image_capabilities)];
	bool in_place = b->plan->image && !b->ids.mapped, ranges = box_has_ranges(b);
	size_t n = 0, i, k;

	for (i = 0; i < ARRAY_LEN(capabilities); i++)
		if ((capabilities[i].users & 1U << b->ids.user ||
		     (ranges && capabilities[i].users & 1U << BOX_USER_BECOME)) &&
		    is_useful(b, capabilities[i].name))
			names[n++] = capabilities[i].name;
	for (i = 0; in_place && i < ARRAY_LEN(image_capabilities); i++) {
		for (k = 0; k < n && strcmp(names[k], image_capabilities[i]) != 0; k++)
			;
		if (k == n)
			names[n++] = image_capabilities[i];
	}
	json_key(j, "capabilities");
	json_open(j);
	for (i = 0; i < ARRAY_LEN(sets); i++)
		strings(j, sets[i], names, n);
	json_close(j);
}

/* As we have it: a runtime written in Go raises its own, and would pass that on. */
static void add_limits(struct json *j)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0)
		return;
	json_key(j, "rlimits");
	json_list(j);
	json_open(j);
	json_kstr(j, "type", "RLIMIT_NOFILE");
	json_key(j, "soft");
	json_uint(j, l.rlim_cur);
	json_key(j, "hard");
	json_uint(j, l.rlim_max);
	json_close(j);
	json_end(j);
}

static void add_process(struct json *j, const struct box *b)
{
	static const char *const args[] = {BOX_INIT, "--control", BOX_CONTROL};

	json_key(j, "process");
	json_open(j);
	json_kbool(j, "terminal", false);
	json_key(j, "user");
	json_open(j);
	json_kint(j, "uid", 0);
	json_kint(j, "gid", 0);
	json_close(j);
	strings(j, "args", args, ARRAY_LEN(args));
	strings(j, "env", NULL, 0);
	json_kstr(j, "cwd", "/");
	json_kbool(j, "noNewPrivileges", true);
	add_capabilities(j, b);
	add_limits(j);
	json_close(j);
}

/* One element of "mounts" up to its options. */
static void open_mount(struct json *j, const char *target, const char *type, const char *source)
{
	json_open(j);
	json_kstr(j, "destination", target);
	json_kstr(j, "type", type);
	json_kstr(j, "source", source);
	json_key(j, "options");
	json_list(j);
}

static void close_mount(struct json *j)
{
	json_end(j);
	json_close(j);
}

static void option(struct json *j, bool recursive, const char *name)
{
	char text[32];

	json_str(j, name);
	if (!recursive)
		return;
	(void)snprintf(text, sizeof(text), "r%s", name);
	json_str(j, text);
}

/* Flags that the source's own mount has are asked for too: in a user namespace the kernel lets nobody take them away.
 */
static void add_bind(struct json *j, const struct oci_runtime *r, const struct box_mount *m, const char *source)
{
	bool recursive = m->folder && r->recursive && !m->cover; /* crun would want to read it */
	struct statvfs fs = {0};

	(void)statvfs(m->source, &fs);
	open_mount(j, m->target, "bind", source);
	json_str(j, m->folder && !m->cover ? "rbind" : "bind");
	json_str(j, "rprivate");
	option(j, recursive, "nosuid");
	option(j, recursive, "nodev");
	if (!m->writable || (fs.f_flag & ST_RDONLY))
		option(j, recursive, "ro");
	if (m->no_exec || (fs.f_flag & ST_NOEXEC))
		option(j, recursive && m->no_exec, "noexec");
	close_mount(j);
}

static void add_tmpfs(struct json *j, const struct box_mount *m)
{
	char text[64];

	open_mount(j, m->target, "tmpfs", "tmpfs");
	json_str(j, "nosuid");
	json_str(j, "nodev");
	if (m->no_exec)
		json_str(j, "noexec");
	(void)snprintf(text, sizeof(text), "mode=%" PRIo32, m->mode);
	json_str(j, text);
	if (m->size) {
		(void)snprintf(text, sizeof(text), "size=%" PRIu64, m->size);
		json_str(j, text);
	}
	close_mount(j);
}

static void add_proc(struct json *j, const struct box_mount *m)
{
	open_mount(j, m->target, "proc", "proc");
	json_str(j, "nosuid");
	json_str(j, "nodev");
	json_str(j, "noexec");
	close_mount(j);
}

static void add_pts(struct json *j, const struct box_mount *m)
{
	open_mount(j, m->target, "devpts", "devpts");
	json_str(j, "nosuid");
	json_str(j, "noexec");
	json_str(j, "newinstance");
	json_str(j, "ptmxmode=0666");
	json_str(j, "mode=0620");
	json_str(j, "max=64");
	close_mount(j);
}

/* Only to hold the devices and links that the runtime makes: read-only as soon as they are there. */
static void add_dev(struct json *j)
{
	open_mount(j, "/dev", "tmpfs", "tmpfs");
	json_str(j, "nosuid");
	json_str(j, "noexec");
	json_str(j, "ro");
	json_str(j, "mode=755");
	json_str(j, "size=65536");
	close_mount(j);
}

/* A string of JSON cannot hold every byte that a path can. */
static bool is_text(const char *path)
{
	struct sv s = sv_of(path);
	size_t n;

	while (s.n) {
		n = text_utf8(s);
		if (n == 0)
			return false;
		s = sv_n(s.p + n, s.n - n);
	}
	return true;
}

/* gVisor lays a tmpfs over a /tmp that is empty, unless something is mounted there: what a command leaves in it must be
 * in the upper folder. */
static void add_image_tmp(struct json *j, const struct box *b)
{
	char source[PATH_MAX];

	(void)snprintf(source, sizeof(source), "%s/tmp", b->root);
	open_mount(j, "/tmp", "bind", source);
	json_str(j, "bind");
	json_str(j, "nosuid");
	json_str(j, "nodev");
	close_mount(j);
}

static int add_mounts(struct json *j, const struct box *b, const struct oci_runtime *r, struct error *err)
{
	const struct box_mount *m;
	struct text_shown shown;

	json_key(j, "mounts");
	json_list(j);
	if (!r->own_kernel)
		add_dev(j);
	else if (b->plan->image)
		add_image_tmp(j, b);
	for (m = b->mounts; m < b->mounts + b->n_mounts; m++) {
		const char *source = oci_show_source(b, r, (size_t)(m - b->mounts)),
			   *path = !is_text(m->target)          ? m->target
				   : source && !is_text(source) ? source
								: NULL;

		if (path)
			return error_set(err, ERROR_INPUT, "%s: %s can only be given paths that are UTF-8",
					 text_show(&shown, sv_of(path)), r->name);
		if (m->kind == BOX_BIND && !source)
			return error_set(err, ERROR_SYSTEM, "out of memory");
		if (oci_covers_itself(r, m))
			continue;
		if (m->kind == BOX_BIND)
			add_bind(j, r, m, source);
		else if (m->kind == BOX_TMPFS || m->kind == BOX_SHM)
			add_tmpfs(j, m);
		else if (m->kind == BOX_PROC)
			add_proc(j, m);
		else if (m->kind == BOX_PTS)
			add_pts(j, m);
	}
	json_end(j);
	return 0;
}

static void add_mapping(struct json *j, uint32_t inside, uint32_t outside, uint32_t count)
{
	json_open(j);
	json_kint(j, "containerID", inside);
	json_kint(j, "hostID", outside);
	json_kint(j, "size", count);
	json_close(j);
}

static void add_mappings(struct json *j, const char *key, const struct box *b, uint32_t zero, uint32_t first)
{
	const struct box_ids *ids = &b->ids;

	json_key(j, key);
	json_list(j);
	if (!b->plan->image || ids->image_shift)
		add_mapping(j, 0, ids->host_init, 1);
	if (b->plan->image) {
		add_mapping(j, ids->image_shift, zero, 1);
		if (b->plan->image->ids.count > 1)
			add_mapping(j, ids->image_shift + 1, first, b->plan->image->ids.count - 1);
	} else if (ids->host != ids->host_init) {
		add_mapping(j, ids->inside, ids->host, 1);
	}
	json_end(j);
}

/* Low ports are everybody's in an image's sandbox: the capability for them would be over cordon-init's namespaces. */
static void add_sysctl(struct json *j)
{
	json_key(j, "sysctl");
	json_open(j);
	json_kstr(j, "net.ipv4.ip_unprivileged_port_start", "0");
	json_close(j);
}

/* A member's own user namespace has no power over the network, which belongs to its leader's. */
static void add_namespaces(struct json *j, const struct box *b)
{
	static const char *const types[] = {"network", "pid", "mount", "ipc", "uts", "cgroup", "user"};
	size_t n = ARRAY_LEN(types) - !b->ids.mapped, i;
	char path[PATH_MAX];

	json_key(j, "namespaces");
	json_list(j);
	for (i = 0; i < n; i++) {
		json_open(j);
		json_kstr(j, "type", types[i]);
		if (i == 0 && b->join.id && b->join.net >= 0) {
			(void)snprintf(path, sizeof(path), "%s/" OCI_NETWORK, b->dir);
			json_kstr(j, "path", path);
		}
		json_close(j);
	}
	json_end(j);
}

static void add_seccomp(struct json *j)
{
	struct utsname u;

	json_key(j, "seccomp");
	json_open(j);
	json_kstr(j, "defaultAction", "SCMP_ACT_ALLOW");
	json_key(j, "architectures");
	json_list(j);
	/* The machine's own and no other: calls by another way in (x32, i386) end their process. */
	json_str(j, uname(&u) == 0 && strcmp(u.machine, "aarch64") == 0 ? "SCMP_ARCH_AARCH64" : "SCMP_ARCH_X86_64");
	json_end(j);
	json_key(j, "syscalls");
	json_list(j);
	json_open(j);
	strings(j, "names", refused_calls, ARRAY_LEN(refused_calls));
	json_kstr(j, "action", "SCMP_ACT_ERRNO");
	json_kint(j, "errnoRet", 1); /* EPERM */
	json_close(j);
	json_end(j);
	json_close(j);
}

/*
 * What the plan hides of /proc. runc before 1.2.8 covers a file with the container's /dev/null without looking whether
 * it is that (CVE-2025-31133): here /dev is what it made itself a moment before, and nothing of anybody else's has run
 * in the container yet.
 */
static void add_masks(struct json *j, const struct box *b)
{
	size_t i;

	json_key(j, "maskedPaths");
	json_list(j);
	for (i = 0; i < b->n_mounts; i++)
		if (b->mounts[i].kind == BOX_MASK)
			json_str(j, b->mounts[i].target);
	json_end(j);
}

/*
 * All of /proc/sys but `user`: there cordon-init, and nobody without a capability that it drops before any command
 * starts, sets limits of its own user namespace. What the kernel does not have yet, a module's, is root's of the host,
 * who is nobody inside.
 */
static int add_read_only(struct json *j, struct error *err)
{
	DIR *d = opendir("/proc/sys");
	struct dirent *e;
	char path[300];
	size_t i;

	if (!d)
		return error_sys(err, errno, "/proc/sys");
	json_key(j, "readonlyPaths");
	json_list(j);
	for (i = 0; i < ARRAY_LEN(read_only_paths); i++)
		json_str(j, read_only_paths[i]);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.' || strcmp(e->d_name, "user") == 0)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/sys/%s", e->d_name);
		json_str(j, path);
	}
	json_end(j);
	(void)closedir(d);
	return 0;
}

static int add_linux(struct json *j, const struct box *b, const struct oci_runtime *r, struct error *err)
{
	const struct image_ids none = {0}, *ids = b->plan->image ? &b->plan->image->ids : &none;
	bool same = box_has_ranges(b); /* the runtime is root itself then, in a user namespace with the same numbers */
	int ret = 0;

	json_key(j, "linux");
	json_open(j);
	if (b->ids.mapped) {
		add_mappings(j, "uidMappings", b, same ? 0 : ids->zero_uid, same ? 1 : ids->first_uid);
		add_mappings(j, "gidMappings", b, same ? 0 : ids->zero_gid, same ? 1 : ids->first_gid);
	}
	if (b->ids.mapped && b->plan->image && !b->join.id)
		add_sysctl(j);
	add_namespaces(j, b);
	if (!r->own_kernel) {
		add_masks(j, b);
		ret = add_read_only(j, err);
		add_seccomp(j);
	}
	json_close(j);
	return ret;
}

/* A network stack of gVisor's is its sandbox's: a member is a further container in that of its leader, which is told so
 * in the words that containerd has for it. */
static void add_annotations(struct json *j, const struct box *b)
{
	char leader[64];

	(void)snprintf(leader, sizeof(leader), "cordon-%s", b->join.id);
	json_key(j, "annotations");
	json_open(j);
	json_kstr(j, "io.kubernetes.cri.container-type", "container");
	json_kstr(j, "io.kubernetes.cri.sandbox-id", leader);
	json_close(j);
}

int oci_config_write(const struct box *b, const struct oci_runtime *r, struct buf *out, struct error *err)
{
	struct json j;

	json_init(&j, out);
	json_open(&j);
	json_kstr(&j, "ociVersion", "1.0.2");
	add_process(&j, b);
	json_key(&j, "root");
	json_open(&j);
	json_kstr(&j, "path", b->root);
	json_kbool(&j, "readonly", !b->plan->image);
	json_close(&j);
	json_kstr(&j, "hostname", "cordon");
	if (r->own_kernel && b->join.id)
		add_annotations(&j, b);
	if (add_mounts(&j, b, r, err) < 0 || add_linux(&j, b, r, err) < 0)
		return -1;
	json_close(&j);
	return buf_failed(out) ? error_sys(err, buf_failed(out), "%s: write down the container", r->name) : 0;
}
