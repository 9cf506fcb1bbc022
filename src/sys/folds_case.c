#include "sys/folds_case.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif

enum kind { FOLDS, HAS_FLAG, MAY_FOLD };

/* f_type of statfs(2). What is not here tells case apart. */
static const struct {
	unsigned long type;
	enum kind kind;
} kinds[] = {
	{0x4d44, FOLDS},	/* FAT */
	{0x2011bab0, FOLDS},	/* exFAT */
	{0x4244, FOLDS},	/* HFS */
	{0x482b, FOLDS},	/* HFS+ */
	{0xadf5, FOLDS},	/* ADFS */
	{0xadff, FOLDS},	/* AFFS */
	{0xf995e849, FOLDS},	/* HPFS */
	{0xef53, HAS_FLAG},	/* ext4 */
	{0xf2f52010, HAS_FLAG}, /* f2fs */
	{0x01021994, HAS_FLAG}, /* tmpfs */
	{0xca451a4e, HAS_FLAG}, /* bcachefs */
	{0x65735546, MAY_FOLD}, /* FUSE */
	{0xff534d42, MAY_FOLD}, /* CIFS */
	{0xfe534d42, MAY_FOLD}, /* SMB2 */
	{0x517b, MAY_FOLD},	/* SMB */
	{0x7366746e, MAY_FOLD}, /* NTFS3 */
	{0x5346544e, MAY_FOLD}, /* NTFS */
	{0x01021997, MAY_FOLD}, /* 9p */
	{0x53464846, MAY_FOLD}, /* WSL's */
	{0x58465342, MAY_FOLD}, /* XFS: ascii-ci */
	{0x3153464a, MAY_FOLD}, /* JFS: OS/2's */
	{0x2fc12fc1, MAY_FOLD}, /* ZFS: casesensitivity */
	{0x6969, MAY_FOLD},	/* NFS: as the server has it */
	{0x786f4256, MAY_FOLD}, /* VirtualBox's shared folders */
	{0xbacbacbc, MAY_FOLD}, /* VMware's */
};

static bool has_flag(int dir)
{
	int flags = 0;

	return ioctl(dir, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL);
}

/* In the other case. False: it has no letter. */
static bool respell(const char *name, char other[NAME_MAX + 1])
{
	size_t i, n = strnlen(name, NAME_MAX);
	bool letter = false;
	char c;

	for (i = 0; i < n; i++) {
		c = name[i];
		other[i] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? (char)(c ^ 0x20) : c;
		letter = letter || other[i] != c;
	}
	other[n] = '\0';
	return letter;
}

static bool is_one(int dir, const char *name, const char *other)
{
	struct stat a, b;

	return fstatat(dir, name, &a, AT_SYMLINK_NOFOLLOW) == 0 && fstatat(dir, other, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* By the first few names: one that is found under its other spelling is enough, for others may not be found at all. -1: there is none with a letter. */
static int folds_names(int dir)
{
	char other[NAME_MAX + 1];
	unsigned tried = 0;
	bool folded = false;
	const struct dirent *e;
	int fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	rewinddir(d);
	while (tried < 3 && (e = readdir(d)))
		if (respell(e->d_name, other)) {
			tried++;
			folded = folded || is_one(dir, e->d_name, other);
		}
	rewinddir(d);
	(void)closedir(d);
	return tried ? folded : -1;
}

/* By its own names, or those of the folder above. */
static bool folds(int dir)
{
	int r = folds_names(dir), up;
	struct stat here, above;

	if (r >= 0)
		return r == 1;
	up = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (up < 0)
		return false;
	if (fstat(dir, &here) == 0 && fstat(up, &above) == 0 && here.st_dev == above.st_dev)
		r = folds_names(up);
	(void)close(up);
	return r == 1;
}

bool sys_folds_case(int dir)
{
	struct statfs fs;
	size_t i;

	if (fstatfs(dir, &fs) < 0)
		return false;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((unsigned long)(unsigned int)fs.f_type != kinds[i].type)
			continue;
		return kinds[i].kind == FOLDS || (kinds[i].kind == HAS_FLAG ? has_flag(dir) : folds(dir));
	}
	return false;
}
