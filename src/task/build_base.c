/* Images from Docker Engine into the store, as `docker save` would bring them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "image/import.h"
#include "sandbox/docker/engine.h"
#include "task/build_engine.h"
#include "task/build_parts.h"

enum { PING_MS = 5000, WAIT_MS = 600000 };

static int to_file(void *arg, struct sv bytes)
{
	return write_all(*(const int *)arg, bytes.p, bytes.n);
}

int build_engine_open(const struct build_request *req, struct engine *e, struct error *err)
{
	return engine_init(e, req->engine, PING_MS, err);
}

int build_engine_has(const struct engine *e, const char *name, struct error *err)
{
	char path[512];
	struct engine_request ask = {.method = "GET", .path = path, .timeout_ms = WAIT_MS};
	AUTO_ANSWER a = {0};

	(void)snprintf(path, sizeof(path), "/images/%s/json", name);
	if (engine_call(e, &ask, &a, err) < 0)
		return -1;
	if (a.status == 404)
		return 0;
	return a.status == 200 ? 1 : engine_refused(&a, "Docker Engine does not say what it knows of an image", err);
}

int build_temp_file(struct image_work *w, struct error *err)
{
	int fd = openat(w->lock, "file", O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || unlinkat(w->lock, "file", 0) < 0)
		return error_sys(err, errno, "a temporary file in %s", w->path);
	return fd;
}

int build_engine_take(const struct build_request *req, const struct engine *e, const char *from, const char *name,
		      char ret_digest[IMAGE_DIGEST], struct error *err)
{
	struct image_import im = {.name = name, .path = "-", .note = req->note, .arg = req->arg};
	struct engine_transfer t = {.from = -1, .take = to_file};
	char path[512];
	struct engine_request ask = {.method = "GET", .path = path, .timeout_ms = WAIT_MS};
	struct image_work w;
	AUTO_ANSWER a = {0};
	AUTO_FD fd = -1;
	int r;

	if (image_work_new(req->store, &w, err) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/images/%s/get", from);
	fd = build_temp_file(&w, err);
	t.arg = &fd;
	r = fd < 0 ? -1 : engine_transfer(e, &ask, &t, &a, err);
	if (r == 0 && a.status != 200)
		r = engine_refused(&a, "Docker Engine does not give an image", err);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = error_sys(err, errno, "%s", w.path);
	im.input = fd;
	if (r == 0)
		r = image_import(req->store, &im, ret_digest, err);
	image_work_done(req->store, &w);
	return r;
}

int build_base_fetch(const struct build_request *req, const char *name, struct error *err)
{
	char digest[IMAGE_DIGEST];
	struct engine e = {0};
	int r = 1;

	if (!req->engine)
		return 1;
	if (build_engine_open(req, &e, err) < 0)
		r = -1;
	else
		r = build_engine_has(&e, name, err);
	if (r > 0)
		r = build_engine_take(req, &e, name, name, digest, err);
	else if (r == 0)
		r = 1;
	engine_done(&e);
	return r;
}
