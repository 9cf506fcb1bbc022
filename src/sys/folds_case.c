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

enum { TRIED = 3 };
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
	{0x7c7c6673, MAY_FOLD}, /* Parallels' */
	{0x794c7630, MAY_FOLD}, /* overlayfs: as its layers do */
	{0x00c36400, MAY_FOLD}, /* Ceph */
	{0x9660, MAY_FOLD},	/* CD-ROM: check=relaxed */
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

/* Names that were found although nothing had said that they are there. */
struct found {
	unsigned n;
	char names[TRIED][NAME_MAX + 1];
};

/* The other spellings of the first few names that are found. How many names there were to try. */
static unsigned try_names(DIR *d, int dir, struct found *found)
{
	char *other = found->names[0];
	const struct dirent *e;
	unsigned tried = 0;
	struct stat st;

	while (tried < TRIED && (e = readdir(d)))
		if (respell(e->d_name, other)) {
			tried++;
			if (fstatat(dir, other, &st, AT_SYMLINK_NOFOLLOW) == 0 && ++found->n < TRIED)
				other = found->names[found->n];
		}
	return tried;
}

/* Whether one of them is not listed: then it is another of the same name. (The numbers of files say nothing: some
 * number each spelling.) */
static bool has_unlisted(DIR *d, struct found *found)
{
	const struct dirent *e;
	unsigned i;

	rewinddir(d);
	while (found->n && (e = readdir(d)))
		for (i = 0; i < found->n; i++)
			if (strcmp(e->d_name, found->names[i]) == 0) {
				found->n--;
				memmove(found->names[i], found->names[found->n], sizeof(found->names[i]));
				break;
			}
	return found->n > 0;
}

/* By the first few names: one that is found under its other spelling is enough, for others may not be found at all. -1:
 * there is none with a letter. */
static int folds_names(int dir)
{
	int fd = fcntl(dir, F_DUPFD_CLOEXEC, 3), r = -1;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct found found = {0};

	if (!d) {
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	rewinddir(d);
	if (try_names(d, dir, &found))
		r = has_unlisted(d, &found);
	rewinddir(d);
	(void)closedir(d);
	return r;
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
		return folds(dir); /* whatever it is */
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((unsigned long)(unsigned int)fs.f_type != kinds[i].type)
			continue;
		return kinds[i].kind == FOLDS || (kinds[i].kind == HAS_FLAG ? has_flag(dir) : folds(dir));
	}
	return false;
}
