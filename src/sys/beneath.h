/*
 * beneath: opening paths that cannot leave a folder.
 *
 * The path is relative and is resolved below dirfd without following any link, magic or not. "..", an absolute path,
 * and a link anywhere on the way are refused whatever they would lead to. openat2() does the work; where the kernel or
 * a filter lacks it, the path is walked component by component with O_NOFOLLOW, with the same answers.
 *
 * O_CLOEXEC is always added. O_PATH | O_NOFOLLOW opens a link in the last place itself, as it does with openat2().
 */
#ifndef CORDON_SYS_BENEATH_H
#define CORDON_SYS_BENEATH_H

#include <sys/types.h>

/* An fd, or -errno: -EXDEV for "..", and absolute paths, -ELOOP for a link, -ENOENT for an empty path, else as openat()
 * says. */
int sys_open_beneath(int dirfd, const char *path, int flags, mode_t mode);

#endif
