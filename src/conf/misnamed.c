#include "conf/misnamed.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

static struct sv stem(const char *path)
{
	return sv_n(path, strlen(path) - strlen(".yaml"));
}

int misnamed_refuse(const char *path, struct error *err)
{
	char other[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(other, sizeof(other), "%.*s.yml", (int)stem(path).n, path) >= sizeof(other) ||
	    lstat(other, &st) < 0)
		return 0;
	return misnamed_fail(path, err);
}

int misnamed_fail(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	struct text_shown name;

	(void)text_show(&name, stem(path));
	return error_set(err, ERROR_INPUT, "%s.yml: is not read under this name; rename it to %s, or remove it", name.s,
			 slash ? slash + 1 : path);
}
