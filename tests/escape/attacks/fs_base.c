/* Changes of the base system. Each sets what is already there, so that a control that succeeds changes nothing. */
#include <sys/xattr.h>

#include "attack.h"

#define BASE_FILE "/usr/lib/os-release"

enum change { OPEN, TRUNCATE, CHMOD, CHOWN, UTIMES, XATTR, CREATE, LINK };

static long change_it(enum change change, const char *path, const struct stat *st)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	switch (change) {
	case OPEN:
		return open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	case TRUNCATE:
		return truncate(path, st->st_size);
	case CHMOD:
		return chmod(path, st->st_mode & 07777);
	case CHOWN:
		return chown(path, st->st_uid, st->st_gid);
	case UTIMES:
		return utimensat(AT_FDCWD, path, times, 0);
	case XATTR:
		return setxattr(path, "user.cordon", "x", 1, 0) < 0 ? -1 : removexattr(path, "user.cordon");
	case CREATE:
		return make_file(path, O_EXCL, 0600) < 0 ? -1 : unlink(path);
	case LINK:
		return link("/usr/bin/env", path) < 0 ? -1 : unlink(path);
	}
	return -1;
}

static int change_base(const struct scene *s, const struct attack *a)
{
	struct stat st = {0};

	(void)stat(a->text, &st);
	return judge(s, change_it((enum change)a->num, a->text, &st), a->name);
}

static const struct attack rows[] = {
	{"base-open", "cannot open a file of the base system for writing", change_base, CONTROL_ROOT, .text = BASE_FILE,
	 .num = OPEN},
	{"base-truncate", "cannot truncate a file of the base system", change_base, CONTROL_ROOT, .text = BASE_FILE,
	 .num = TRUNCATE},
	{"base-chmod", "cannot chmod a file of the base system", change_base, CONTROL_ROOT, .text = BASE_FILE,
	 .num = CHMOD},
	{"base-chown", "cannot chown a file of the base system", change_base, CONTROL_ROOT, .text = BASE_FILE,
	 .num = CHOWN},
	{"base-utimes", "cannot set times of a file of the base system", change_base, CONTROL_ROOT, .text = BASE_FILE,
	 .num = UTIMES},
	{"base-xattr", "cannot set attributes of a file of the base system", change_base, CONTROL_ROOT,
	 .text = BASE_FILE, .num = XATTR},
	{"base-create-usr", "cannot create a file in /usr", change_base, CONTROL_ROOT, .text = "/usr/.cordon-escape",
	 .num = CREATE},
	{"base-create-bin", "cannot create a program in /usr/bin", change_base, CONTROL_ROOT,
	 .text = "/usr/bin/.cordon-escape", .num = CREATE},
	{"base-create-etc", "cannot create a file in /etc", change_base, CONTROL_ROOT, .text = "/etc/.cordon-escape",
	 .num = CREATE},
	{"base-create-root", "cannot create a file in /", change_base, CONTROL_ROOT, .text = "/.cordon-escape",
	 .num = CREATE},
	{"base-link", "cannot hard-link a program of the base system", change_base, CONTROL_ROOT,
	 .text = "/usr/bin/.cordon-escape", .num = LINK},
};
ATTACKS("filesystem", rows);
