#include "base/real_path.h"

#include <stdlib.h>
#include <string.h>

char *real_path(const char *path, char *out)
{
	char *real = realpath(path, out);

	if (real && real[0] == '/' && real[1] == '/')
		memmove(real, real + 1, strlen(real));
	return real;
}
