/*
 * open_by_handle_at takes an inode number, not a path: with CAP_DAC_READ_SEARCH any mount of the file system will do
 * ("shocker"). The runner knows the key's handle, which an attacker would guess.
 */
#include "attack.h"

struct handle {
	unsigned bytes;
	int type;
	unsigned char data[128];
};

static int by_handle(const struct scene *s, const struct attack *a)
{
	static const char *const mounts[] = {".", "/", "/usr", "/etc", "/etc/passwd", "/tmp", "/dev/null"};
	struct handle h = {.type = (int)fact_num(s, "handle_type")};
	struct fact hex;

	(void)a;
	for (const char *p = fact(s, "handle", &hex); p[0] && p[1] && h.bytes < sizeof(h.data); p += 2)
		(void)sscanf(p, "%2hhx", &h.data[h.bytes++]);
	if (h.bytes == 0)
		return untried("the file system gives no handles");
	int fd = -1;
	for (size_t i = 0; fd < 0 && i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		int mount = open(mounts[i], O_RDONLY | O_CLOEXEC);
		fd = (int)syscall(SYS_open_by_handle_at, mount, &h, O_RDONLY);
		if (mount >= 0)
			close(mount);
	}
	return judge_secret(s, fd, "open_by_handle_at");
}

static int name_handle(const struct scene *s, const struct attack *a)
{
	struct handle h = {.bytes = sizeof(h.data)};
	struct fact key;
	int mount = 0;

	(void)a;
	long rc = syscall(SYS_name_to_handle_at, AT_FDCWD, fact_key(s, &key), &h, &mount, 0);
	return judge(s, rc, "name_to_handle_at of the key");
}

static const struct attack rows[] = {
	{"home-by-handle", "cannot open ~/.ssh by its file handle (shocker)", by_handle, CONTROL_ROOT},
	{"home-name-handle", "cannot learn the file handle of a key in ~/.ssh", name_handle},
};
ATTACKS("filesystem", rows);
