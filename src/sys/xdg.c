#include "sys/xdg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int sys_xdg_path(const char *variable, const char *otherwise, const char *rest, char **ret)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	char *path = NULL;
	int n;

	if (base && base[0] == '/')
		n = asprintf(&path, "%s/%s", base, rest);
	else if (home && home[0] == '/')
		n = asprintf(&path, "%s/%s/%s", home, otherwise, rest);
	else
		return -ENOENT;
	if (n < 0)
		return -ENOMEM;
	*ret = path;
	return 0;
}
