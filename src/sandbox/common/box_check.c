#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sandbox/common/box.h"
#include "sys/lookup.h"
#include "sys/names.h"

/* 0 or -errno. The folder that was searched; of anything else, what stands at its name now, without a link on the way.
 */
static int look_outside(const struct box_mount *m, struct sys_facts *ret)
{
	AUTO_FD fd = -1;

	if (m->ino) {
		*ret = (struct sys_facts){.dev = m->dev, .inode = m->ino};
		return 0;
	}
	fd = sys_open_no_links(m->source, O_PATH);
	return fd < 0 ? fd : sys_facts_at(fd, "", ret);
}

/* The root of a mount, for what was shown instead may stand elsewhere, and at the target what a folder around it has
 * there. */
static bool is_shown(int root, const struct box_mount *m)
{
	AUTO_FD fd = sys_open_in_root(root, m->target, O_PATH);
	struct sys_facts inside, outside;

	return fd >= 0 && sys_facts_at(fd, "", &inside) == 0 && look_outside(m, &outside) == 0 && inside.mount_root &&
	       inside.dev == outside.dev && inside.inode == outside.inode;
}

/* Covered; a link, which is judged by the name that it leads to; or not there. */
static bool is_hidden(int root, const char *target)
{
	AUTO_FD fd = sys_open_in_root(root, target, O_PATH | O_NOFOLLOW);
	struct sys_facts is;
	struct stat st;

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -EACCES;
	return fstat(fd, &st) == 0 && (S_ISLNK(st.st_mode) || (sys_facts_at(fd, "", &is) == 0 && is.mount_root));
}

static int check_hidden(const struct box *b, int root, struct error *err)
{
	const struct plan_op *op, *by, *end = b->plan->ops + b->plan->n_ops;
	struct text_shown t;

	for (op = b->plan->ops; op < end; op++) {
		by = op->kind == PLAN_MASK ? box_shown_by(b->plan, op->target) : NULL;
		if (by && by->judged && !is_hidden(root, op->target))
			return error_set(err, ERROR_DENIED,
					 "%s does not hide %s: it changed while the sandbox was being made; try again "
					 "when it is quiet",
					 b->backend->name, text_show(&t, sv_of(op->target)));
	}
	return 0;
}

static int open_root(const struct box *b, struct error *err)
{
	char path[64];
	int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)b->init_pid);
	if (b->init_pid > 0)
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, ERROR_MISSING,
				 "%s: the container's files cannot be looked at from here%s%s, so nobody can say "
				 "whether it shows the folders that the policy means",
				 b->backend->name,
				 b->init_pid > 0 ? ": " : " (its processes are in another PID namespace than Cordon)",
				 b->init_pid > 0 ? strerror(errno) : "");
	return fd;
}

int box_check_mounts(const struct box *b, struct error *err)
{
	struct text_shown t;
	AUTO_FD root = -1;
	size_t i;

	for (i = 0; i < b->n_mounts; i++) {
		if (!b->mounts[i].judged || box_is_covered(b, i))
			continue;
		if (root < 0 && (root = open_root(b, err)) < 0)
			return -1;
		if (!is_shown(root, &b->mounts[i]))
			return error_set(err, ERROR_DENIED,
					 "%s showed something else than %s: a link or another folder was put in its "
					 "way while the sandbox was being made; try again when it is quiet",
					 b->backend->name, text_show(&t, sv_of(b->mounts[i].source)));
	}
	return root < 0 ? 0 : check_hidden(b, root, err);
}
