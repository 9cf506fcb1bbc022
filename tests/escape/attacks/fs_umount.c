/* Taking off any one mount uncovers what it hides. */
#include <sys/mount.h>

#include "attack.h"

static int umount_any(const struct scene *s, const struct attack *a)
{
	char text[65536], path[1024], *save = NULL;
	int err = 0, fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return lost(s, errno, "/proc/self/mountinfo");
	ssize_t n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	close(fd); /* an open file would keep /proc busy */
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%*s %*s %*s %*s %1023s", path) != 1)
			continue;
		if (umount2(path, (int)a->num) == 0)
			return won("%s was unmounted", path);
		err = errno;
	}
	return lost(s, err, "umount2");
}

static const struct attack rows[] = {
	{"umount-detach", "cannot detach any mount (MNT_DETACH)", umount_any, CONTROL_USERNS, .num = MNT_DETACH},
	{"umount-plain", "cannot unmount any mount", umount_any, CONTROL_USERNS, .num = UMOUNT_NOFOLLOW},
};
ATTACKS("filesystem", rows);
