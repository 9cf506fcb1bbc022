#include "plan/plan_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "sys/lookup.h"

int plan_source_judge(struct plan_op *op)
{
	AUTO_FD fd = sys_open_no_links(op->source, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	op->dev = st.st_dev;
	op->ino = st.st_ino;
	return fd_take(&fd);
}

/* What is not judged is Cordon's own. */
static int open_source(const struct plan_op *op, int flags)
{
	int fd;

	if (op->judged)
		return sys_open_no_links(op->source, flags);
	fd = open(op->source, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int plan_source_open(const struct plan_op *op, int flags)
{
	AUTO_FD fd = open_source(op, flags | (op->folder ? O_DIRECTORY : 0));
	struct stat st;

	if (fd < 0 || !op->judged || !op->ino)
		return fd_take(&fd);
	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_dev == op->dev && st.st_ino == op->ino ? fd_take(&fd) : -ESTALE;
}

int plan_source_error(const struct plan_op *op, int code, struct error *err)
{
	struct text_shown t;

	if (code != -ESTALE && code != -ELOOP && code != -ENOENT && code != -ENOTDIR)
		return error_sys(err, code, "%s", text_show(&t, sv_of(op->source)));
	(void)error_set(err, ERROR_SYSTEM,
			"%s: a link or another folder was put in its way while the sandbox was being made; try again "
			"when it is quiet",
			text_show(&t, sv_of(op->source)));
	err->code = EAGAIN;
	return -1;
}
