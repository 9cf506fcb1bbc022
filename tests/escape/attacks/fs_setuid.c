/* A file with the setuid or setgid bit, or with file capabilities, waits in the work folder for somebody outside to run
 * it. */
#include <linux/capability.h>
#include <linux/openat2.h>
#include <sys/xattr.h>

#include "attack.h"

enum way { CHMOD, FCHMOD, FCHMODAT2, OPEN, CREAT, OPENAT2, MKNOD, MKNODAT, SETGID };

static void set_bit(enum way way, const char *file)
{
	struct open_how how = {.flags = O_CREAT | O_WRONLY | O_EXCL, .mode = 04755};

	if (way == OPEN)
		(void)open(file, O_CREAT | O_EXCL | O_WRONLY, 04755);
#ifdef SYS_creat
	else if (way == CREAT)
		(void)syscall(SYS_creat, file, 04755);
#endif
	else if (way == OPENAT2)
		(void)syscall(SYS_openat2, AT_FDCWD, file, &how, sizeof(how));
#ifdef SYS_mknod
	else if (way == MKNOD)
		(void)syscall(SYS_mknod, file, S_IFREG | 04755, 0);
#endif
	else if (way == MKNODAT)
		(void)syscall(SYS_mknodat, AT_FDCWD, file, S_IFREG | 04755, 0);
	else if (make_file(file, O_EXCL, 0755) < 0)
		return;
	if (way == CHMOD || way == SETGID)
		(void)chmod(file, way == CHMOD ? 04755 : 02755);
	else if (way == FCHMOD)
		(void)fchmod(open(file, O_RDONLY), 04755);
	else if (way == FCHMODAT2)
		(void)syscall(452 /* fchmodat2 */, AT_FDCWD, file, 04755, 0);
}

static int make_setuid(const struct scene *s, const struct attack *a)
{
	struct stat st = {0};

	(void)umask(0);
	set_bit((enum way)a->num, "bomb");
	int err = errno;
	(void)stat("bomb", &st);
	return st.st_mode & 06000 ? won("%s set mode %04o", a->name, st.st_mode & 07777u) : lost(s, err, a->name);
}

static int file_caps(const struct scene *s, const struct attack *a)
{
	struct vfs_cap_data caps = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
				    .data = {{~0u, 0}, {~0u, 0}}};

	(void)a;
	if (make_file("bomb", O_EXCL, 0755) < 0)
		return broken("bomb");
	return judge(s, setxattr("bomb", "security.capability", &caps, sizeof(caps), 0), "security.capability");
}

static const struct attack rows[] = {
	{"setuid-chmod", "cannot set the setuid bit with chmod", make_setuid, .stage = STAGE_DENY, .num = CHMOD},
	{"setuid-fchmod", "cannot set the setuid bit with fchmod", make_setuid, .stage = STAGE_DENY, .num = FCHMOD},
	{"setuid-fchmodat2", "cannot set the setuid bit with fchmodat2", make_setuid, .stage = STAGE_DENY,
	 .num = FCHMODAT2},
	{"setuid-create", "cannot create a file with the setuid bit", make_setuid, .stage = STAGE_DENY, .num = OPEN},
	{"setuid-creat", "cannot create a file with the setuid bit by the older call", make_setuid, .stage = STAGE_DENY,
	 .num = CREAT},
	{"setuid-openat2", "cannot create a setuid file with openat2", make_setuid, .stage = STAGE_DENY,
	 .num = OPENAT2},
	{"setuid-mknod", "cannot create a setuid file with mknod", make_setuid, .stage = STAGE_DENY, .num = MKNOD},
	{"setuid-mknodat", "cannot create a setuid file with mknodat", make_setuid, .stage = STAGE_DENY,
	 .num = MKNODAT},
	{"setgid-chmod", "cannot set the setgid bit with chmod", make_setuid, .stage = STAGE_DENY, .num = SETGID},
	{"file-capabilities", "cannot give a file capabilities", file_caps, CONTROL_USERNS, STAGE_DENY},
};
ATTACKS("filesystem", rows);
