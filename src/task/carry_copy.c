#include "task/carry_copy.h"

#include <errno.h>
#include <unistd.h>

#include "base/text.h"
#include "sys/copy_bytes.h"

int carry_fail(struct carry *c, int code)
{
	struct text_shown t;

	return error_sys(c->err, code, "carrying %s to the verifier", text_show(&t, sv_n(c->at, c->len)));
}

int carry_facts(struct carry *c, int fd, const struct stat *st)
{
	struct timespec times[2] = {st->st_mtim, st->st_mtim};

	if (fchown(fd, st->st_uid, st->st_gid) < 0 && (errno != EPERM || c->caller == 0))
		return carry_fail(c, errno);
	if (fchmod(fd, st->st_mode & (S_ISDIR(st->st_mode) ? 03777 : 01777)) < 0 || futimens(fd, times) < 0)
		return carry_fail(c, errno);
	return 0;
}

int carry_bytes(struct carry *c, int in, int out, const struct stat *st)
{
	bool cloned;
	int r = sys_copy_bytes(in, out, (uint64_t)st->st_size, &cloned);

	return r < 0 ? carry_fail(c, r) : carry_facts(c, out, st);
}
