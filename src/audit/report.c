#include "audit/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/report_log.h"
#include "audit/report_page.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"

enum { PAGE_MAX = 16 << 20, TEMP_NAME = 40 };

/* A new file of a name that nobody can guess; 0600. */
static int make_temp(int dir, char name[TEMP_NAME])
{
	unsigned long long id = 0;
	int fd;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return -errno;
	(void)snprintf(name, TEMP_NAME, ".cordon-report-%016llx", id);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int try_place(const struct report_place *p)
{
	char name[TEMP_NAME];
	struct stat st;
	int fd;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	fd = make_temp(p->dir, name);
	if (fd < 0)
		return fd;
	(void)close(fd);
	return unlinkat(p->dir, name, 0) < 0 ? -errno : 0;
}

/* The folder of a path; -errno. */
static int open_folder(const char *path, const char *slash)
{
	char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, code = errno;

	free(folder);
	return fd < 0 ? -code : fd;
}

int report_place_open(const char *path, struct report_place *ret, struct error *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct text_shown shown;
	int r;

	(void)text_show(&shown, sv_of(path));
	*ret = (struct report_place){.dir = -1};
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_set(err, ERROR_USAGE, "--report %s: is a folder; name a file", shown.s);
	if (strlen(name) >= sizeof(ret->name))
		return error_sys(err, ENAMETOOLONG, "--report %s", shown.s);
	memcpy(ret->name, name, strlen(name) + 1);
	r = open_folder(path, slash);
	ret->dir = r < 0 ? -1 : r;
	if (r >= 0)
		r = try_place(ret);
	if (r == 0)
		return 0;
	report_place_done(ret);
	return error_sys(err, r, "--report %s: cannot be written there", shown.s);
}

void report_place_done(struct report_place *p)
{
	if (p->dir >= 0)
		(void)close(p->dir);
	p->dir = -1;
}

static int put_file(const struct report_place *place, struct sv page)
{
	char name[TEMP_NAME];
	AUTO_FD fd = make_temp(place->dir, name);
	int r;

	if (fd < 0)
		return fd;
	r = write_all(fd, page.p, page.n);
	if (r == 0 && renameat(place->dir, name, place->dir, place->name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(place->dir, name, 0);
	return r;
}

int report_write(const struct report_place *place, const struct report_request *req, struct error *err)
{
	struct report_log *l = calloc(1, sizeof(*l));
	struct text_shown shown;
	AUTO_BUF page = {0};
	int r;

	if (!l)
		return error_sys(err, ENOMEM, "--report");
	if (report_log_read(req->log, req->last_hash, l, err) < 0) {
		free(l);
		return error_prefix(err, "--report");
	}
	buf_init(&page, PAGE_MAX);
	report_page(l, req, &page);
	report_log_done(l);
	free(l);
	r = buf_failed(&page) ? buf_failed(&page) : put_file(place, buf_view(&page));
	return r < 0 ? error_sys(err, r, "--report: write %s", text_show(&shown, sv_of(place->name))) : 0;
}
