#include "plan/plan_image.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/real_path.h"
#include "base/text.h"
#include "plan/environ_gate.h"
#include "plan/plan_base.h"
#include "plan/plan_exec.h"
#include "plan/plan_gate.h"
#include "sys/mounts.h"

#define WHY "the image"

enum { MAX_LAYERS = 256, MAX_HOSTS = 64 * 1024 };

static const char *const *copy_list(struct arena *a, const char *const *v)
{
	return (const char *const *)arena_strings(a, v);
}

/* Absolute, and every step a plain name: where it leads is for the lookup to say, not for "..". */
static bool is_plain_path(const char *path)
{
	const char *end;

	if (path[0] != '/' || !path[1])
		return false;
	for (; *path; path = end) {
		end = strchrnul(path + 1, '/');
		if (end == path + 1 || end - path > 255 ||
		    (path[1] == '.' && (end == path + 2 || (path[2] == '.' && end == path + 3))))
			return false;
	}
	return true;
}

/* What overlayfs reads without quotes. */
static bool is_plain_name(const char *path)
{
	const char *name = strrchr(path, '/');

	return is_plain_path(path) &&
	       name[1 + strspn(name + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")] == '\0';
}

static int check_ids(struct draft *d, const struct image_root *r)
{
	const struct image_ids *i = &r->ids;

	if (i->count == 0 || i->count > 0x7ffffff0 || i->zero_uid == 0 || i->zero_gid == 0)
		return error_set(d->err, ERROR_INPUT, "image: its ids are not those of an unprivileged user");
	if ((r->uid >= i->count || r->gid >= i->count) && geteuid() == 0)
		return error_set(d->err, ERROR_INPUT,
				 "image: its user %u:%u is beyond the %u ids that a sandbox has; give that user a "
				 "smaller number in the image, and its files with it",
				 r->uid, r->gid, i->count);
	if (r->uid >= i->count || r->gid >= i->count)
		return error_set(d->err, ERROR_MISSING,
				 "image: its user %u:%u is not among the %u ids that this sandbox can have; give your "
				 "user a range in /etc/subuid and /etc/subgid (`usermod --add-subuids 100000-165535 "
				 "--add-subgids 100000-165535 USER`), or run it as root",
				 r->uid, r->gid, i->count);
	return 0;
}

static int check_folders(struct draft *d, const struct image_root *r)
{
	size_t n = 0;
	const char *up = strrchr(r->upper, '/'), *work = strrchr(r->work, '/');

	while (r->layers[n] && n <= MAX_LAYERS)
		n++;
	if (n == 0 || n > MAX_LAYERS)
		return error_set(d->err, ERROR_INPUT, "image: it has %s", n ? "more than 256 layers" : "no layer");
	if (!is_plain_name(r->upper) || !is_plain_name(r->work) || up - r->upper != work - r->work ||
	    strncmp(r->upper, r->work, (size_t)(up - r->upper)) != 0 || strcmp(up, work) == 0)
		return error_set(d->err, ERROR_INPUT,
				 "image: upper and work folder must stand beside each other, under plain names");
	if (r->cwd[0] != '/')
		return error_set(d->err, ERROR_INPUT, "image: the folder to start in is no absolute path");
	return 0;
}

/* Some folder above it keeps everybody out but its owner: ourselves, root, or the image's root. */
static bool is_closed(const struct draft *d, const char *path)
{
	const char *end;
	char above[PATH_MAX];
	struct stat st;

	for (end = strrchr(path, '/'); end && end > path; end = memrchr(path, '/', (size_t)(end - path))) {
		if ((size_t)snprintf(above, sizeof(above), "%.*s", (int)(end - path), path) >= sizeof(above) ||
		    lstat(above, &st) < 0)
			return false;
		if (!(st.st_mode & 0011) &&
		    (st.st_uid == 0 || st.st_uid == geteuid() || st.st_uid == d->plan->image->ids.zero_uid))
			return true;
	}
	return false;
}

static int add_mount(struct draft *d, const struct image_mount *m)
{
	static const char *const own[] = {"/proc", "/dev", "/sys"};
	struct plan_op op = {.kind = PLAN_BIND,
			     .why = "a mount of the task",
			     .host = true,
			     .writable = m->writable,
			     .flags = MOUNT_NO_DEV | (m->writable ? 0 : MOUNT_READ_ONLY)};
	AUTO_FREE char *real = NULL;
	struct text_shown t;
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_LEN(own); i++)
		if (path_is_in(m->target, own[i]))
			return error_set(d->err, ERROR_DENIED,
					 "image: %s is the sandbox's own: nothing can be mounted there",
					 text_show(&t, sv_of(m->target)));
	if (!is_plain_path(m->target) || !is_plain_path(m->source))
		return error_set(d->err, ERROR_INPUT, "image: %s is no place for a mount",
				 text_show(&t, sv_of(m->target)));
	if (lstat(m->source, &st) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return error_set(d->err, ERROR_INPUT, "image: %s is no folder or file that could be mounted",
				 text_show(&t, sv_of(m->source)));
	/* opened later, without following links */
	real = real_path(m->source, NULL);
	if (!real)
		return error_sys(d->err, errno, "image: %s", text_show(&t, sv_of(m->source)));
	/* root of an image may make setuid programs there, and they would be ours */
	if (m->writable && !is_closed(d, real))
		return error_set(d->err, ERROR_DENIED,
				 "image: %s is to be writable inside, and others of this machine could reach what is "
				 "put there; it must lie in a folder that is closed to them (0700)",
				 text_show(&t, sv_of(m->source)));
	op.folder = S_ISDIR(st.st_mode);
	op.target = arena_str(d->plan->arena, sv_of(m->target));
	op.source = arena_str(d->plan->arena, sv_of(real));
	return draft_add(d, &op);
}

static const char *hosts_text(struct draft *d, const struct image_root *r)
{
	const char *const *line;
	AUTO_BUF b = {0};

	buf_init(&b, MAX_HOSTS);
	(void)buf_str(&b, "127.0.0.1 localhost cordon\n::1 localhost\n");
	for (line = r->hosts; line && *line; line++)
		(void)buf_printf(&b, "%s\n", *line);
	return buf_failed(&b) < 0 ? NULL : arena_str(d->plan->arena, buf_view(&b));
}

/* The image's own are covered for the run, as every container engine does it. */
static int add_made(struct draft *d, const struct image_root *r)
{
	const struct plan_op made[] = {
		{.kind = PLAN_FILE, .target = "/etc/hostname", .source = "cordon\n", .mode = 0644, .why = WHY},
		{.kind = PLAN_FILE, .target = "/etc/hosts", .source = hosts_text(d, r), .mode = 0644, .why = WHY},
		{.kind = PLAN_FILE,
		 .target = "/etc/resolv.conf",
		 .source = plan_base_resolv_conf(d),
		 .mode = 0644,
		 .why = WHY},
		/* apt drops to a user of its own for downloads, which a sandbox with one id has not */
		{.kind = PLAN_FILE,
		 .target = ENVIRON_APT_CONFIG,
		 .source = "APT::Sandbox::User \"root\";\n",
		 .mode = 0644,
		 .why = WHY},
	};
	size_t i, n = ARRAY_LEN(made) - (r->ids.count > 1);

	if (!made[1].source)
		return error_set(d->err, ERROR_INPUT, "image: too many lines for /etc/hosts");
	for (i = 0; i < n; i++)
		if (draft_add(d, &made[i]) < 0)
			return -1;
	return 0;
}

static struct image_root *copy_image(struct draft *d, const struct image_root *from)
{
	struct arena *a = d->plan->arena;
	struct image_root *to = arena_alloc(a, sizeof(*to));

	if (!to)
		return NULL;
	*to = *from;
	to->layers = copy_list(a, from->layers);
	to->upper = arena_str(a, sv_of(from->upper));
	to->work = arena_str(a, sv_of(from->work));
	to->env = copy_list(a, from->env);
	to->hosts = copy_list(a, from->hosts);
	to->cwd = arena_str(a, sv_of(from->cwd));
	/* what they say is in the steps */
	to->mounts = NULL;
	to->n_mounts = 0;
	return to;
}

static bool is_listed(const char *const *list, const char *path)
{
	while (*list && strcmp(*list, path) != 0)
		list++;
	return *list != NULL;
}

/* Folders that are mounted twice are there once. */
static const char **list_storage(struct arena *a, const struct image_root *image)
{
	const char **v = arena_array(a, image->n_mounts + 2, sizeof(*v));
	size_t n = 0, i;

	if (!v)
		return NULL;
	v[n++] = arena_str(a, sv_of(image->upper));
	for (i = 0; !arena_failed(a) && i < image->n_mounts; i++)
		if (image->mounts[i].writable && !is_listed((const char *const *)v, image->mounts[i].source))
			v[n++] = arena_str(a, sv_of(image->mounts[i].source));
	return arena_failed(a) ? NULL : v;
}

int plan_image_add(struct draft *d, const struct image_root *image)
{
	const struct pol_process *pp = &d->policy->process;
	struct plan *p = d->plan;
	size_t i;

	if (check_ids(d, image) < 0 || check_folders(d, image) < 0)
		return -1;
	/* a list of the host's programs means nothing for those of an image */
	if (!plan_exec_allows_all(&pp->allow_exec) || pp->deny_exec.n)
		return error_set(d->err, ERROR_DENIED,
				 "process.allow_exec, process.deny_exec: the programs of an image cannot be listed; "
				 "leave them out");
	p->image = copy_image(d, image);
	p->own_places = arena_array(p->arena, 3, sizeof(*p->own_places));
	p->storage_folders = list_storage(p->arena, image);
	if (!p->image || !p->own_places || !p->storage_folders)
		return error_set(d->err, ERROR_SYSTEM, "out of memory");
	p->own_places[0] = "/dev";
	p->own_places[1] = "/proc";
	p->uid = image->uid;
	p->gid = image->gid;
	p->cwd = p->image->cwd;
	p->limits.storage = image->storage;
	if (plan_base_add_devices(d) < 0 || plan_base_add_masks(d, "/proc") < 0 || add_made(d, image) < 0 ||
	    plan_gate_add(d) < 0)
		return -1;
	for (i = 0; i < image->n_mounts; i++)
		if (add_mount(d, &image->mounts[i]) < 0)
			return -1;
	draft_sort(d);
	return 0;
}
