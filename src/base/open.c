/*
 * open() for a cordon that is linked with musl, in place of its own: that sets close-on-exec with a second call behind
 * each open(), for kernels before 2.6.23, and a start opens some seventy files.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	return openat(AT_FDCWD, path, flags, mode);
}
