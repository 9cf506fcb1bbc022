/* Changes of host files outside the work folder, each by another call. The file is the runner's own. */
#include <sys/time.h>
#include <sys/xattr.h>

#include "attack.h"

enum change { WRITE, CREATE, UNLINK, RENAME, TRUNCATE, CHMOD, MKDIR, UTIMES, XATTR, SYMLINK };

static long change_it(enum change change, const char *file, const char *fresh)
{
	switch (change) {
	case WRITE:
		return make_file(file, 0, 0644);
	case CREATE:
		return make_file(fresh, O_EXCL, 0644);
	case UNLINK:
		return unlink(file);
	case RENAME:
		return rename(file, fresh);
	case TRUNCATE:
		return truncate(file, 0);
	case CHMOD:
		return chmod(file, 0777);
	case MKDIR:
		return mkdir(fresh, 0777);
	case UTIMES:
		return utimes(file, NULL);
	case XATTR:
		return setxattr(file, "user.cordon", "x", 1, 0);
	case SYMLINK:
		return symlink("/", fresh);
	}
	return -1;
}

static int change_outside(const struct scene *s, const struct attack *a)
{
	struct fact file;
	char fresh[1100];

	(void)snprintf(fresh, sizeof(fresh), "%s.new", fact(s, "outside", &file));
	return judge(s, change_it((enum change)a->num, file.s, fresh), a->name);
}

static const struct attack rows[] = {
	{"outside-write", "cannot write a host file outside the work folder", change_outside, .num = WRITE},
	{"outside-create", "cannot create a host file outside the work folder", change_outside, .num = CREATE},
	{"outside-unlink", "cannot delete a host file outside the work folder", change_outside, .num = UNLINK},
	{"outside-rename", "cannot rename a host file outside the work folder", change_outside, .num = RENAME},
	{"outside-truncate", "cannot truncate a host file outside the work folder", change_outside, .num = TRUNCATE},
	{"outside-chmod", "cannot chmod a host file outside the work folder", change_outside, .num = CHMOD},
	{"outside-mkdir", "cannot make a folder outside the work folder", change_outside, .num = MKDIR},
	{"outside-utimes", "cannot set times of a host file outside the work folder", change_outside, .num = UTIMES},
	{"outside-xattr", "cannot set attributes of a host file outside the work folder", change_outside, .num = XATTR},
	{"outside-symlink", "cannot make a symlink outside the work folder", change_outside, .num = SYMLINK},
};
ATTACKS("filesystem", rows);
