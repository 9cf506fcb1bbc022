/* Cordon's own state, audit log and executables: whoever rewrites them owns the next run. */
#include "attack.h"

/* ETXTBSY comes after the permission check: the file would be writable once its process is gone. */
static int judge_write(const struct scene *s, const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0 && errno == ETXTBSY)
		return won("%s may be written, only not now", path);
	return judge(s, fd, path);
}

static int write_fact(const struct scene *s, const struct attack *a)
{
	struct fact path;

	return judge_write(s, fact(s, a->text, &path));
}

static int write_path(const struct scene *s, const struct attack *a)
{
	return judge_write(s, a->text);
}

static const struct attack rows[] = {
	{"cordon-state", "cannot write Cordon's state folder", write_fact, .text = "state"},
	{"cordon-policy", "cannot write the operator's policy", write_fact, .text = "config"},
	{"cordon-binary", "cannot write Cordon's executable", write_fact, .text = "binary"},
	{"init-exe", "cannot write the executable of PID 1 through /proc/1/exe", write_path, CONTROL_ROOT,
	 .text = "/proc/1/exe"},
};
ATTACKS("filesystem", rows);
