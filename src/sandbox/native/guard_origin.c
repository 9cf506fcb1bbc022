#include "sandbox/native/guard_origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "sys/mount_of.h"

static struct origin_mount *find(const struct origins *o, uint64_t mount)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (o->v[i].mount == mount)
			return &o->v[i];
	return NULL;
}

static int tell(const struct origins *o, uint64_t mount, struct sys_mount_told *ret)
{
	return o->unique ? sys_mount_tell(mount, ret) : sys_mount_read(o->proc, mount, ret);
}

/* What hides another mount, or was mounted there since, has the name, too. */
static int add(struct origins *o, const struct plan_origin *of)
{
	AUTO_FD fd = open(of->target, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct sys_mount_told told;
	struct origin_mount *there;
	uint64_t mount;
	bool top;
	int r;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -errno; /* covered, or in what is */
	r = sys_mount_of(fd, o->unique, &mount, &top);
	if (r == 0 && o->unique && !o->n && sys_mount_tell(mount, &told) < 0) {
		/* a container may keep its processes from asking so */
		o->unique = false;
		r = sys_mount_of(fd, false, &mount, &top);
	}
	if (r < 0 || !top)
		return r;
	there = find(o, mount);
	if (!there)
		there = &o->v[o->n++];
	*there = (struct origin_mount){mount, of};
	return 0;
}

int origins_init(struct origins *o, const struct plan *p, int proc)
{
	AUTO_FD here = -1;
	uint64_t mount;
	size_t i;
	int r = 0;

	*o = (struct origins){.proc = proc};
	if (!p->n_origins)
		return 0;
	o->v = calloc(p->n_origins, sizeof(*o->v));
	here = open("/", O_PATH | O_CLOEXEC);
	if (!o->v || here < 0)
		return o->v ? -errno : -ENOMEM;
	o->unique = sys_mount_of(here, true, &mount, NULL) == 0;
	for (i = 0; r == 0 && i < p->n_origins; i++)
		r = add(o, &p->origins[i]);
	return r;
}

/* By one of them. mine: the file is on its mount; else that lies around it. */
static int ask_one(const struct origins *o, const struct origin_mount *m, bool mine, const char *path,
		   char other[PATH_MAX])
{
	struct sys_mount_told now;
	const char *below, *in;
	int n;

	if (tell(o, m->mount, &now) < 0 || !(below = path_rest(path, now.point)))
		return mine ? ORIGIN_LOST : ORIGIN_SAME; /* taken away, and something else has the name */
	in = path_rest(now.root, m->of->root);
	if (!in)
		return ORIGIN_LOST;
	in = in[0] && in[1] ? in : "";
	n = snprintf(other, PATH_MAX, "%s%s", strcmp(m->of->point, "/") == 0 ? "" : m->of->point, in);
	if (n >= PATH_MAX)
		return ORIGIN_LOST;
	if (strcmp(other, m->of->name) == 0)
		return ORIGIN_SAME;
	return snprintf(other + n, (size_t)(PATH_MAX - n), "%s", below) < PATH_MAX - n ? ORIGIN_OTHER : ORIGIN_LOST;
}

int origins_ask(const struct origins *o, int fd, const char *path, char other[PATH_MAX])
{
	const struct origin_mount *m;
	char name[PATH_MAX];
	uint64_t mount;
	bool mine;
	int r;

	other[0] = '\0';
	if (!o->n)
		return ORIGIN_SAME;
	if (sys_mount_of(fd, o->unique, &mount, NULL) < 0)
		return ORIGIN_LOST;
	for (m = o->v; m < o->v + o->n; m++) {
		mine = m->mount == mount;
		if (!mine && !path_is_below(path, m->of->target))
			continue;
		r = ask_one(o, m, mine, path, name);
		/* three names are more than anybody needs */
		if (r == ORIGIN_LOST || (r == ORIGIN_OTHER && other[0] && strcmp(other, name) != 0))
			return ORIGIN_LOST;
		if (r == ORIGIN_OTHER)
			memcpy(other, name, strlen(name) + 1);
	}
	return other[0] ? ORIGIN_OTHER : ORIGIN_SAME;
}
