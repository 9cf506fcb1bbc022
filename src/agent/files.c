#include "agent/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/params.h"
#include "base/cleanup.h"
#include "base/json.h"

/* Not blocking: a FIFO must not hold us up. -errno, or an fd. */
static int open_regular(const char *path, int flags)
{
	AUTO_FD fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	return fd_take(&fd);
}

static int fail(struct rpc *r, struct sv id, int code)
{
	return rpc_error(r, id, code == -ENOENT || code == -ENOTDIR ? RPC_NOT_FOUND : RPC_FAILED, strerror(-code));
}

/* The lines from the first (counted from 1), at most that many. */
static struct sv lines(struct sv text, uint64_t first, uint64_t most)
{
	const char *at = text.p, *end = text.p + text.n, *next;
	uint64_t i;

	for (i = 1; i < first && at < end; i++) {
		next = memchr(at, '\n', (size_t)(end - at));
		at = next ? next + 1 : end;
	}
	text.p = at;
	for (i = 0; i < most && at < end; i++) {
		next = memchr(at, '\n', (size_t)(end - at));
		at = next ? next + 1 : end;
	}
	return sv_n(text.p, (size_t)(at - text.p));
}

static int read_into(const char *path, struct buf *text)
{
	AUTO_FD fd = open_regular(path, O_RDONLY);

	buf_init(text, FILES_MAX);
	return fd < 0 ? fd : buf_read_fd(text, fd);
}

int files_read(struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id)
{
	struct arena *a = arena_new();
	const char *path = a ? params_string(s, params_get(s, params, "path"), a) : NULL;
	AUTO_BUF text = {0}, out = {0};
	struct json j;
	int e = path && path[0] == '/' ? read_into(path, &text) : -EDOM;

	arena_free(a);
	if (e == -EDOM)
		return rpc_error(r, id, RPC_BAD_PARAMS, "path must be absolute");
	if (e < 0)
		return fail(r, id, e);
	buf_init(&out, 6 * FILES_MAX + 256);
	json_init(&j, &out);
	json_open(&j);
	json_key(&j, "content");
	json_sv(&j, lines(buf_view(&text), params_count(s, params_get(s, params, "line"), 1),
			  params_count(s, params_get(s, params, "limit"), UINT64_MAX)));
	json_close(&j);
	return buf_failed(&out) ? fail(r, id, -ENOMEM) : rpc_result(r, id, buf_view(&out));
}

void files_make_folders(const char *path)
{
	AUTO_FREE char *copy = strdup(path);
	char *at;

	for (at = copy ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)mkdir(copy, 0777);
		*at = '/';
	}
}

static int write_to(const char *path, struct sv text)
{
	AUTO_FD fd = -1;

	files_make_folders(path);
	fd = open_regular(path, O_WRONLY | O_CREAT);
	if (fd < 0)
		return fd;
	return ftruncate(fd, 0) < 0 ? -errno : write_all(fd, text.p, text.n);
}

int files_write(struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id)
{
	struct arena *a = arena_new();
	const char *path = a ? params_string(s, params_get(s, params, "path"), a) : NULL;
	uint32_t content = params_get(s, params, "content");
	AUTO_BUF text = {0};
	int e = -EDOM;

	buf_init(&text, SCAN_MAX_BYTES);
	if (content && json_scan_kind(s, content) == SCAN_STRING)
		json_scan_decode(s, content, &text);
	if (path && path[0] == '/' && content && json_scan_kind(s, content) == SCAN_STRING)
		e = buf_failed(&text) ? buf_failed(&text) : write_to(path, buf_view(&text));
	arena_free(a);
	if (e == -EDOM)
		return rpc_error(r, id, RPC_BAD_PARAMS, "path must be absolute, and content a string");
	return e < 0 ? fail(r, id, e) : rpc_result(r, id, sv_of("{}"));
}
