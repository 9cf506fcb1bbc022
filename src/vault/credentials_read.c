#include "vault/credentials_read.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "conf/misnamed.h"
#include "vault/credentials_file.h"
#include "vault/known.h"

enum { FILE_MAX = 1 << 20 };

static int parse_file(const char *path, struct credentials **ret, struct error *err)
{
	AUTO_BUF bytes = {0};
	struct text_shown shown;
	struct stat st;
	AUTO_FD fd = -1;
	int r;

	(void)text_show(&shown, sv_of(path));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return misnamed_refuse(path, err) < 0 ? -1
		       : (*ret = credentials_none())  ? 0
						      : error_set(err, ERROR_SYSTEM, "out of memory");
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, errno, "%s", shown.s);
	if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022))
		return error_set(err, ERROR_INPUT,
				 "%s: must be a regular file that is yours or root's and that nobody else can write; "
				 "run chmod 600",
				 shown.s);
	buf_init(&bytes, FILE_MAX);
	r = buf_read_fd(&bytes, fd);
	if (r < 0)
		return error_sys(err, r, "%s", shown.s);
	return credentials_parse(path, buf_view(&bytes), ret, err);
}

int credentials_read(const char *path, struct credentials **ret, struct error *err)
{
	struct credentials *c = NULL;

	if (parse_file(path, &c, err) < 0)
		return -1;
	if (credentials_add_known(c) < 0) {
		credentials_free(c);
		return error_sys(err, ENOMEM, "credentials");
	}
	*ret = c;
	return 0;
}

int credentials_file_path(const char *path, char *to, size_t size, struct error *err)
{
	const char *home = getenv("HOME");
	struct text_shown shown;
	int n;

	if (path[0] != '~')
		n = snprintf(to, size, "%s", path);
	else if (home && home[0] == '/')
		n = snprintf(to, size, "%s%s", home, path + 1);
	else
		return error_set(err, ERROR_MISSING, "%s: HOME is not set", text_show(&shown, sv_of(path)));
	return n < (int)size ? 0
			     : error_set(err, ERROR_INPUT, "%s: the path is too long", text_show(&shown, sv_of(path)));
}

const char *const *credentials_files(const struct credentials *c)
{
	const char **v = arena_array(c->arena, (size_t)c->n + 1, sizeof(*v));
	char path[PATH_MAX];
	struct error ignored;
	uint32_t i;
	size_t n = 0;

	for (i = 0; v && i < c->n; i++) {
		if (c->v[i].from.kind != SOURCE_FILE ||
		    credentials_file_path(c->v[i].from.words[0], path, sizeof(path), &ignored) < 0)
			continue;
		v[n++] = arena_str(c->arena, sv_of(path));
	}
	return arena_failed(c->arena) ? NULL : v;
}
