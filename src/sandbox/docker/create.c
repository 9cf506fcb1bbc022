#include "sandbox/docker/create.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "sandbox/common/places.h"
#include "sandbox/common/profile.h"
#include "sandbox/docker/engine.h"

enum { PERIOD_US = 100000, PROFILE_MAX = 64 * 1024 };

/* What the engine hides and protects by itself, where nothing is said; of /sys nothing is shown. */
static const char *const masked[] = {
	"/proc/acpi",  "/proc/asound",   "/proc/interrupts",  "/proc/kcore", "/proc/keys",       "/proc/latency_stats",
	"/proc/locks", "/proc/pressure", "/proc/sched_debug", "/proc/scsi",  "/proc/timer_list", "/proc/timer_stats",
};
static const char *const read_only[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};

/* Files that an engine makes itself and mounts, unless something is mounted there. */
static const char *const engines_own[] = {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf"};

/* A name of other bytes would be changed on its way through JSON, and mean something else. */
static int check_name(const char *path, struct error *err)
{
	struct sv rest = sv_of(path);
	struct text_shown shown;
	size_t n;

	while (rest.n) {
		n = text_utf8(rest);
		if (n == 0)
			return error_set(err, ERROR_INPUT, "Docker Engine takes only names in UTF-8: %s",
					 text_show(&shown, sv_of(path)));
		rest = sv_n(rest.p + n, rest.n - n);
	}
	return 0;
}

static int check_names(const struct box *b, struct error *err)
{
	size_t i;

	for (i = 0; i < b->n_mounts; i++)
		if (check_name(b->mounts[i].target, err) < 0 ||
		    (b->mounts[i].source && check_name(b->mounts[i].source, err) < 0))
			return -1;
	return 0;
}

static void put_strings(struct json *j, const char *key, const char *const *v, size_t n)
{
	size_t i;

	json_key(j, key);
	json_list(j);
	for (i = 0; i < n; i++)
		json_str(j, v[i]);
	json_end(j);
}

/* Engines before API 1.44 make only the topmost mount of a bind read-only: what is mounted below it would stay
 * writable, so it is not shown with it (submounts.h). */
static void put_bind(struct json *j, const struct create *c, const char *source, const char *target, bool writable)
{
	json_open(j);
	json_kstr(j, "Type", "bind");
	json_kstr(j, "Source", source);
	json_kstr(j, "Target", target);
	json_kbool(j, "ReadOnly", !writable);
	json_key(j, "BindOptions");
	json_open(j);
	json_kstr(j, "Propagation", "rprivate");
	if (writable || c->api < ENGINE_API_RECURSIVE_READ_ONLY)
		json_kbool(j, "NonRecursive", true);
	else
		json_kbool(j, "ReadOnlyForceRecursive", true);
	json_close(j);
	json_close(j);
}

/* A file of the root's, on its place in the image. */
static int put_made(struct json *j, const struct create *c, const char *file, const char *target, struct error *err)
{
	AUTO_FREE char *source = NULL;

	if (asprintf(&source, "%s%s", c->box->root, file) < 0) {
		source = NULL;
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	put_bind(j, c, source, target, false);
	return check_name(source, err);
}

static bool is_mounted(const struct box *b, const char *target)
{
	size_t i;

	for (i = 0; i < b->n_mounts; i++)
		if (b->mounts[i].kind == BOX_BIND && strcmp(b->mounts[i].target, target) == 0)
			return true;
	return false;
}

/* An image's root has its own (lay.h). */
static const struct plan_op *made_file(const struct plan *p, const char *target)
{
	size_t i;

	if (p->image)
		return NULL;
	for (i = p->n_ops; i > 0; i--)
		if (p->ops[i - 1].kind == PLAN_FILE && places_has(p, &p->ops[i - 1]) &&
		    strcmp(p->ops[i - 1].target, target) == 0)
			return &p->ops[i - 1];
	return NULL;
}

static int put_made_files(struct json *j, const struct create *c, struct error *err)
{
	const struct plan *p = c->box->plan;
	size_t i;

	for (i = 0; i < p->n_ops; i++) {
		const char *target = p->ops[i].target;

		if (made_file(p, target) == &p->ops[i] && !is_mounted(c->box, target) &&
		    put_made(j, c, target, target, err) < 0)
			return -1;
	}
	/* else the engine would show what it knows of the host's network */
	for (i = 0; i < ARRAY_LEN(engines_own); i++)
		if (!made_file(p, engines_own[i]) && !is_mounted(c->box, engines_own[i]) &&
		    put_made(j, c, "/" PLACES_MASKS "/file", engines_own[i], err) < 0)
			return -1;
	return 0;
}

static int put_mounts(struct json *j, const struct create *c, struct error *err)
{
	const struct box *b = c->box;
	size_t i;
	int r;

	json_key(j, "Mounts");
	json_list(j);
	for (i = 0; i < b->n_mounts; i++)
		if (b->mounts[i].kind == BOX_BIND && !box_is_covered(b, i))
			put_bind(j, c, b->mounts[i].source, b->mounts[i].target, b->mounts[i].writable);
	r = put_made_files(j, c, err);
	json_end(j);
	return r;
}

static void put_tmpfs(struct json *j, const struct box *b)
{
	char options[128];
	size_t i;

	json_key(j, "Tmpfs");
	json_open(j);
	for (i = 0; i < b->n_mounts; i++) {
		const struct box_mount *m = &b->mounts[i];

		if ((m->kind != BOX_TMPFS && m->kind != BOX_SHM) || box_is_covered(b, i))
			continue;
		/* a size of 0 would be none at all */
		(void)snprintf(options, sizeof(options), "%s,%s,nosuid,nodev,size=%" PRIu64 ",mode=%o",
			       m->writable ? "rw" : "ro", m->no_exec ? "noexec" : "exec", m->size ? m->size : 4096,
			       m->mode & 07777u);
		json_kstr(j, m->target, options);
	}
	json_close(j);
}

static bool is_masked(const struct box *b, const char *path)
{
	size_t i;

	for (i = 0; i < b->n_mounts; i++)
		if (b->mounts[i].kind == BOX_MASK && path_is_in(path, b->mounts[i].target))
			return true;
	return false;
}

/* Those of the list that the box does not hide itself: each is a mount, and they take time. */
static void put_unmasked(struct json *j, const struct box *b, const char *const *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_masked(b, v[i]))
			json_str(j, v[i]);
}

static void put_masks(struct json *j, const struct box *b)
{
	size_t i;

	json_key(j, "MaskedPaths");
	json_list(j);
	json_str(j, "/sys");
	put_unmasked(j, b, masked, ARRAY_LEN(masked));
	for (i = 0; i < b->n_mounts; i++)
		if (b->mounts[i].kind == BOX_MASK && !path_is_in(b->mounts[i].target, "/sys"))
			json_str(j, b->mounts[i].target);
	json_end(j);
	json_key(j, "ReadonlyPaths");
	json_list(j);
	put_unmasked(j, b, read_only, ARRAY_LEN(read_only));
	json_end(j);
}

static int put_security(struct json *j, struct error *err)
{
	AUTO_BUF profile = {0};
	struct json p;

	buf_init(&profile, PROFILE_MAX);
	(void)buf_str(&profile, "seccomp=");
	json_init(&p, &profile);
	profile_write(&p);
	if (buf_failed(&profile))
		return error_sys(err, buf_failed(&profile), "seccomp profile");
	put_strings(j, "CapDrop", (const char *const[]){"ALL"}, 1);
	put_strings(j, "SecurityOpt", (const char *const[]){"no-new-privileges", profile.p}, 2);
	return 0;
}

static void put_limits(struct json *j, const struct plan_limits *l)
{
	/* of memory alone, unless swap is limited to the same */
	if (l->memory) {
		json_kint(j, "Memory", (int64_t)l->memory);
		json_kint(j, "MemorySwap", (int64_t)l->memory);
	}
	if (l->processes)
		json_kint(j, "PidsLimit", (int64_t)l->processes);
	/* not NanoCpus, which is refused where it is more than the machine has */
	if (l->cpu_thousandths) {
		json_kint(j, "CpuPeriod", PERIOD_US);
		json_kint(j, "CpuQuota", (int64_t)(l->cpu_thousandths * (PERIOD_US / 1000)));
	}
	json_kbool(j, "OomKillDisable", false);
	/* one byte: with 0 a kernel that pipes cores to a program starts it all the same (sandbox/common/confine.c) */
	json_key(j, "Ulimits");
	json_list(j);
	json_open(j);
	json_kstr(j, "Name", "core");
	json_kint(j, "Soft", 1);
	json_kint(j, "Hard", 1);
	json_close(j);
	json_end(j);
}

/* A member's network is its leader's, with what was set there; so is its host name, which an engine takes from there
 * and lets nobody set. */
static void put_network(struct json *j, const struct box *b)
{
	char leader[80];

	if (b->join.id) {
		(void)snprintf(leader, sizeof(leader), "container:cordon-%s", b->join.id);
		json_kstr(j, "NetworkMode", leader);
		return;
	}
	json_kstr(j, "NetworkMode", "none");
	/* cordon-init has no capability, and must listen on port 53 */
	json_key(j, "Sysctls");
	json_open(j);
	json_kstr(j, "net.ipv4.ip_unprivileged_port_start", "0");
	json_close(j);
}

static void put_namespaces(struct json *j, const struct box *b)
{
	put_network(j, b);
	json_kstr(j, "IpcMode", "private");
	json_kstr(j, "PidMode", "");
	json_kstr(j, "UTSMode", "");
	json_kstr(j, "CgroupnsMode", "private");
	/* the box's ids are the host's, also where the engine would map those of others */
	json_kstr(j, "UsernsMode", "host");
}

static int put_host_config(struct json *j, const struct create *c, struct error *err)
{
	json_key(j, "HostConfig");
	json_open(j);
	put_namespaces(j, c->box);
	put_limits(j, &c->box->plan->limits);
	put_tmpfs(j, c->box);
	put_masks(j, c->box);
	if (put_security(j, err) < 0 || put_mounts(j, c, err) < 0)
		return -1;
	json_kbool(j, "ReadonlyRootfs", true);
	json_kbool(j, "Privileged", false);
	json_kbool(j, "Init", false);
	json_kbool(j, "AutoRemove", true);
	if (c->runtime)
		json_kstr(j, "Runtime", c->runtime);
	json_key(j, "LogConfig");
	json_open(j);
	json_kstr(j, "Type", "none");
	json_close(j);
	json_key(j, "RestartPolicy");
	json_open(j);
	json_kstr(j, "Name", "no");
	json_close(j);
	json_close(j);
	return 0;
}

static void put_process(struct json *j, const struct create *c)
{
	uint32_t id = c->rootless ? 0 : c->box->ids.host_init;
	char user[32];

	(void)snprintf(user, sizeof(user), "%" PRIu32 ":%" PRIu32, id, id);
	put_strings(j, "Entrypoint", (const char *const[]){BOX_INIT, "--control", BOX_CONTROL}, 3);
	put_strings(j, "Cmd", NULL, 0);
	put_strings(j, "Env", NULL, 0);
	json_kstr(j, "User", user);
	json_kstr(j, "WorkingDir", "/");
	if (!c->box->join.id)
		json_kstr(j, "Hostname", "cordon");
	json_kbool(j, "Tty", false);
	json_kbool(j, "OpenStdin", false);
	json_kbool(j, "AttachStdin", false);
	json_kbool(j, "AttachStdout", false);
	json_kbool(j, "AttachStderr", false);
}

int create_document(const struct create *c, struct buf *out, struct error *err)
{
	struct json j;

	if (check_names(c->box, err) < 0)
		return -1;
	json_init(&j, out);
	json_open(&j);
	json_kstr(&j, "Image", c->image);
	put_process(&j, c);
	json_key(&j, "Labels");
	json_open(&j);
	json_kstr(&j, "cordon.run", c->box->id);
	json_close(&j);
	if (put_host_config(&j, c, err) < 0)
		return -1;
	json_close(&j);
	return buf_failed(out) ? error_sys(err, buf_failed(out), "the container's description") : 0;
}

int create_check_warning(const char *warning, bool swaps, struct error *err)
{
	struct text_shown shown;

	if (strcasestr(warning, "discarded"))
		return error_set(err, ERROR_MISSING, "Docker Engine cannot keep the limits of this policy: %s",
				 text_show(&shown, sv_of(warning)));
	/* "... Memory limited without swap." */
	if (swaps && strcasestr(warning, "without swap"))
		return error_set(
			err, ERROR_MISSING,
			"Docker Engine cannot keep process.memory here: its limit leaves swap out, and this machine "
			"has some; boot with swapaccount=1 or with cgroup v2, or turn swap off (swapoff -a)");
	return 0;
}
