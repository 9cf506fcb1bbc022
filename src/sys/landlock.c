#include "sys/landlock.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Debian 12's headers stop at ABI 2; these are the kernel's own numbers. */
enum {
	FS_EXECUTE = 1 << 0,
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_REMOVE_DIR = 1 << 4,
	FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_CHAR = 1 << 6,
	FS_MAKE_DIR = 1 << 7,
	FS_MAKE_REG = 1 << 8,
	FS_MAKE_SOCK = 1 << 9,
	FS_MAKE_FIFO = 1 << 10,
	FS_MAKE_BLOCK = 1 << 11,
	FS_MAKE_SYM = 1 << 12,
	FS_REFER = 1 << 13,
	FS_TRUNCATE = 1 << 14,
	FS_IOCTL_DEV = 1 << 15,
	SCOPE_ABSTRACT = 1 << 0,
	SCOPE_SIGNAL = 1 << 1,
	RULE_PATH_BENEATH = 1,
	GET_VERSION = 1,
	LOG_NEW_EXEC_ON = 1 << 1,
	LOG_SUBDOMAINS_OFF = 1 << 2
};

struct ruleset_attr {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

struct path_attr {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

/* Handled rights of the file system by ABI: 1, 2 (refer), 3 and 4 (truncate), 5 and up (ioctl). */
static uint64_t handled_fs(int abi)
{
	static const uint64_t by_abi[] = {0, (1 << 13) - 1, (1 << 14) - 1, (1 << 15) - 1, (1 << 15) - 1, (1 << 16) - 1};

	return by_abi[abi > 5 ? 5 : abi];
}

int landlock_abi(void)
{
	long r = syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);

	return r < 0 ? -errno : (int)r;
}

int landlock_new(int abi)
{
	/* TCP is handled only where the network namespace does not speak already: it always does here. */
	struct ruleset_attr attr = {.fs = handled_fs(abi), .scoped = abi >= 6 ? SCOPE_ABSTRACT | SCOPE_SIGNAL : 0};
	size_t size = abi >= 6 ? sizeof(attr) : sizeof(attr.fs);
	long fd = syscall(SYS_landlock_create_ruleset, &attr, size, 0);

	return fd < 0 ? -errno : (int)fd;
}

int landlock_allow(int ruleset, int abi, int at, unsigned rights, int is_folder)
{
	static const uint64_t on_files = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV;
	struct path_attr attr = {.fd = at};

	if (rights & LL_EXEC)
		attr.access |= FS_EXECUTE;
	if (rights & LL_READ)
		attr.access |= FS_READ_FILE | FS_READ_DIR;
	if (rights & LL_WRITE)
		attr.access |= FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG |
			       FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER | FS_TRUNCATE;
	if (rights & LL_DEVICES)
		attr.access |= FS_WRITE_FILE | FS_IOCTL_DEV | FS_TRUNCATE;
	if (rights & LL_WHITEOUTS)
		attr.access |= FS_MAKE_CHAR;
	attr.access &= handled_fs(abi);
	if (!is_folder)
		attr.access &= on_files;
	return syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &attr, 0) < 0 ? -errno : 0;
}

int landlock_enforce(int ruleset, bool record)
{
	return syscall(SYS_landlock_restrict_self, ruleset, record ? LOG_NEW_EXEC_ON | LOG_SUBDOMAINS_OFF : 0) < 0
		       ? -errno
		       : 0;
}
