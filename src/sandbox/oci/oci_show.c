#include "sandbox/oci/oci_show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/plan_source.h"
#include "sys/lookup.h"
#include "sys/mounts.h"

/* And the mount's number: a folder or file in the box's folder. */
#define SHOWN "shown."

bool oci_covers_itself(const struct oci_runtime *r, const struct box_mount *m)
{
	return r->own_kernel && m->kind == BOX_BIND && m->over;
}

static bool is_bound(const struct oci_runtime *r, const struct box_mount *m)
{
	return r->own_kernel && m->judged;
}

const char *oci_show_source(const struct box *b, const struct oci_runtime *r, size_t i)
{
	return is_bound(r, &b->mounts[i]) ? arena_printf(b->arena, "%s/" SHOWN "%zu", b->dir, i) : b->mounts[i].source;
}

bool oci_show_needed(const struct box *b, const struct oci_runtime *r)
{
	const struct box_mount *m;

	for (m = b->mounts; m < b->mounts + b->n_mounts; m++)
		if (is_bound(r, m) || oci_covers_itself(r, m))
			return true;
	return false;
}

/* By descriptor: source, which may be anywhere. */
static int bind_fd(int fd, const char *place, bool recursive)
{
	char source[64];

	(void)snprintf(source, sizeof(source), "/proc/self/fd/%d", fd);
	return sys_bind(source, place, recursive);
}

static int show_one(const struct box *b, const struct oci_runtime *r, size_t i, struct error *err)
{
	const struct box_mount *m = &b->mounts[i];
	const struct plan_op op = {
		.source = m->source, .folder = m->folder, .judged = true, .dev = m->dev, .ino = m->ino};
	const char *place = oci_show_source(b, r, i);
	AUTO_FD fd = plan_source_open(&op, O_PATH);
	int code;

	if (fd < 0)
		return plan_source_error(&op, fd, err);
	if (!place)
		return error_set(err, ERROR_SYSTEM, "out of memory");
	code = (m->folder ? mkdir(place, 0700) : mknod(place, S_IFREG | 0600, 0)) < 0 ? -errno
										      : bind_fd(fd, place, m->folder);
	return code < 0 ? error_sys(err, code, "%s", place) : 0;
}

/* Where what stands at the target of the i-th mount comes from: the last one before it that shows it. */
static const char *find_place(const struct box *b, const struct oci_runtime *r, size_t i)
{
	const char *source, *rest;
	size_t j = i;

	while (j-- > 0) {
		rest = path_rest(b->mounts[i].target, b->mounts[j].target);
		if (b->mounts[j].kind != BOX_BIND || b->mounts[j].cover || !rest || !*rest)
			continue;
		source = oci_show_source(b, r, j);
		return source ? arena_printf(b->arena, "%s%s", source, rest) : NULL;
	}
	return b->mounts[i].over;
}

/* gVisor opens what it mounts on, which a socket or a FIFO does not stand: those are covered here, before it takes the
 * folder that they are in with all that is mounted there. */
static int cover_one(const struct box *b, const struct oci_runtime *r, size_t i, struct error *err)
{
	const char *path = find_place(b, r, i);
	AUTO_FD place = path ? sys_open_no_links(path, O_PATH) : -ENOMEM;
	struct text_shown t;
	char target[64];
	int code;

	(void)snprintf(target, sizeof(target), "/proc/self/fd/%d", place);
	code = place < 0 ? place : sys_bind(b->mounts[i].source, target, false);
	return code < 0 ? error_sys(err, code, "%s, which must be covered", text_show(&t, sv_of(b->mounts[i].target)))
			: 0;
}

int oci_show(const struct box *b, const struct oci_runtime *r, struct error *err)
{
	size_t i;

	for (i = 0; i < b->n_mounts; i++)
		if ((is_bound(r, &b->mounts[i]) && show_one(b, r, i, err) < 0) ||
		    (oci_covers_itself(r, &b->mounts[i]) && cover_one(b, r, i, err) < 0))
			return -1;
	return 0;
}
