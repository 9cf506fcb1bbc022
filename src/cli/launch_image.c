#include "cli/launch_image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/ids.h"
#include "sys/beneath.h"
#include "sys/lookup.h"
#include "sys/tree.h"

uint32_t launch_image_uid(const struct image_root *r)
{
	return r->uid == 0 ? r->ids.zero_uid : r->ids.first_uid + r->uid - 1;
}

int launch_image_stdio(const struct image_root *r, struct stdio_collect *c, int fds[3], int *ret_feed,
		       struct error *err)
{
	struct stat st;
	int i, code;

	if (fstat(fds[0], &st) == 0 && S_ISREG(st.st_mode)) {
		fds[0] = stdio_feed_later(fds[0], ret_feed);
		if (fds[0] < 0)
			return error_sys(err, fds[0], "standard input");
	}
	code = stdio_collect_start(c, fds);
	/* so that /dev/stdout can be opened; a pipe has no name by which others could */
	for (i = 0; i < 3; i++)
		if (fds[i] > 2)
			(void)!fchown(fds[i], launch_image_uid(r), (gid_t)-1);
	return code < 0 ? error_sys(err, code, "standard output") : 0;
}

int launch_image_reader(const struct image_root *r)
{
	struct error none = {0};

	return r && geteuid() != 0 ? image_ids_open(&r->ids, &none) : -1;
}

static void empty_work(const struct image_root *r)
{
	AUTO_FD work = sys_open_no_links(r->work, O_RDONLY | O_DIRECTORY);

	if (work >= 0)
		sys_empty_tree(work);
}

int launch_image_prepare(const struct image_root *r, struct error *err)
{
	AUTO_FD work = sys_open_no_links(r->work, O_RDONLY | O_DIRECTORY);
	struct text_shown t;

	if (work < 0)
		return error_sys(err, work, "image: %s", text_show(&t, sv_of(r->work)));
	sys_empty_tree(work);
	return 0;
}

/* One place: its name in the upper folder, which the workload may have filled with anything. */
static void clear_place(int upper, const char *path)
{
	const char *name = strrchr(path, '/');
	AUTO_FD dir = -1;
	char folder[4096];
	struct stat st;

	if (!name || !name[1] || (size_t)(name - path) >= sizeof(folder))
		return;
	memcpy(folder, path, (size_t)(name - path));
	folder[name - path] = '\0';
	dir = sys_open_beneath(upper, folder[0] ? folder + 1 : ".", O_PATH | O_DIRECTORY, 0);
	if (dir < 0 || fstatat(dir, name + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISDIR(st.st_mode))
		(void)unlinkat(dir, name + 1, AT_REMOVEDIR);
	else if (S_ISREG(st.st_mode) && st.st_size == 0)
		(void)unlinkat(dir, name + 1, 0);
}

void launch_image_done(const struct image_root *r, const struct buf *places)
{
	AUTO_FD upper = sys_open_no_links(r->upper, O_RDONLY | O_DIRECTORY);
	size_t end = places->n, at;

	/* the last that was made first: a folder is empty when what was made in it is gone */
	while (upper >= 0 && end > 0) {
		for (at = end - 1; at > 0 && places->p[at - 1]; at--)
			;
		clear_place(upper, places->p + at);
		end = at;
	}
	empty_work(r);
}
