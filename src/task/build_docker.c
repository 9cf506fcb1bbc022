#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "image/mode.h"
#include "image/copy.h"
#include "image/recipe_write.h"
#include "image/tar.h"
#include "task/build_engine.h"
#include "task/build_parts.h"

/*
 * Theory of operation. The engine gets one archive: a Dockerfile (recipe_write.h), and for each step number N that
 * copies from the context
 *	cN/d/...	what goes below the destination
 *	cN/f/NAME	the one file that is to be the destination, or goes into it
 *	cN/a/NAME	archives that ADD unpacks
 * with nothing else in it, found by our own reading of the sources. So neither .dockerignore nor patterns nor links of
 * the context are left to the engine.
 */
enum { WAIT_MS = 3600 * 1000, MESSAGE_MAX = 1 << 20 };

struct docker_build {
	const struct build_request *req;
	struct build_plan plan;
	struct engine engine;
	int tar;
	uint64_t size;
	/* of the step whose files are being written */
	const struct recipe_step *step;
	size_t at, alone, below;
	char last[NAME_MAX + 1]; /* of the files alone */
	struct buf *lines;
	/* of the answer */
	struct buf line;
	char image[IMAGE_DIGEST];
	char said[400];
};

/* Is there room for as much? The engine writes out what it gets, holes too, so all bytes count, of all steps together.
 */
static int check_limit(struct docker_build *b, uint64_t n, struct error *err)
{
	const struct image_limit *l = &b->req->limit;

	if (limit_check_time(l, err) < 0)
		return -1;
	b->size += n;
	if (!l->room || b->size <= l->room)
		return 0;
	(void)error_set(err, ERROR_DENIED,
			"the files that it copies are more than the %llu MiB that may be stored; a task can ask for "
			"more with storage_mb",
			(unsigned long long)l->room >> 20);
	err->code = EDQUOT;
	return -1;
}

static int put_bytes(struct docker_build *b, const void *p, size_t n, struct error *err)
{
	int r = 0;

	if (check_limit(b, n, err) < 0)
		return -1;
	/* a hole of a file is one of the archive, which ends with bytes */
	if (n == LIMIT_PIECE && limit_is_zeros(p, n))
		r = lseek(b->tar, (off_t)n, SEEK_CUR) < 0 ? -errno : 0;
	else
		r = write_all(b->tar, p, n);
	return r < 0 ? error_sys(err, r, "the archive for Docker Engine") : 0;
}

static int put_zeros(struct docker_build *b, size_t n, struct error *err)
{
	static const char zeros[TAR_END];

	return put_bytes(b, zeros, n, err);
}

static int put_head(struct docker_build *b, const struct tar_entry *e, struct error *err)
{
	AUTO_BUF head = {0};

	buf_init(&head, 64 * 1024);
	tar_put(&head, e);
	return buf_failed(&head) ? error_sys(err, ENAMETOOLONG, "the archive for Docker Engine")
				 : put_bytes(b, head.p, head.n, err);
}

static int put_data(struct docker_build *b, const struct context_entry *e, struct error *err)
{
	uint64_t left = (uint64_t)e->st.st_size;
	char bytes[LIMIT_PIECE];
	ssize_t n;

	if (e->fd < 0)
		return put_bytes(b, e->content.p, e->content.n, err) < 0 ? -1
									 : put_zeros(b, tar_pad(e->content.n), err);
	while (left) {
		n = read(e->fd, bytes, left < sizeof(bytes) ? (size_t)left : sizeof(bytes));
		if (n <= 0)
			return error_sys(err, n < 0 ? errno : EIO, "reading a file of the context");
		if (put_bytes(b, bytes, (size_t)n, err) < 0)
			return -1;
		left -= (uint64_t)n;
	}
	return put_zeros(b, tar_pad((uint64_t)e->st.st_size), err);
}

/* What kind of place a file gets. */
static const char *place_of(const struct docker_build *b, const struct context_entry *e)
{
	if (!e->alone)
		return "d";
	return b->step->unpack && e->fd >= 0 && copy_is_archive(e->fd) ? "a" : "f";
}

static bool is_plain_name(const char *s)
{
	return !s[strcspn(s, "*?[\\$\"'")];
}

static int put_entry(void *arg, const struct context_entry *e, struct error *err)
{
	struct docker_build *b = arg;
	const char *place = place_of(b, e), *sources[2] = {NULL, NULL};
	char path[PATH_MAX + 64];
	struct tar_entry t = {.type = S_ISREG(e->st.st_mode)   ? TAR_FILE
				      : S_ISDIR(e->st.st_mode) ? TAR_FOLDER
							       : TAR_LINK,
			      .mode = e->st.st_mode & 07777,
			      .mtime = e->st.st_mtim.tv_sec};

	if (*b->step->chmod && t.type != TAR_LINK)
		t.mode = mode_change(b->step->chmod, t.mode, t.type == TAR_FOLDER);
	(void)snprintf(path, sizeof(path), "c%zu/%s/%s", b->at, place, e->path);
	t.path = sv_of(path);
	t.link = sv_of(e->link ? e->link : "");
	t.size = t.type == TAR_FILE ? (uint64_t)e->st.st_size : 0;
	if (e->alone && !is_plain_name(e->path))
		return error_set(err, ERROR_INPUT,
				 "a file's name has a character that Docker's builder reads as a pattern; the native "
				 "builder does not");
	if (place[0] == 'a') {
		sources[0] = path;
		recipe_write_copy(b->plan.arena, b->lines, "ADD", b->step, "", sources, b->step->dest);
	} else if (place[0] == 'f') {
		b->alone++;
		(void)snprintf(b->last, sizeof(b->last), "%s", e->path);
	} else {
		b->below++;
	}
	if (put_head(b, &t, err) < 0)
		return -1;
	return t.type == TAR_FILE ? put_data(b, e, err) : 0;
}

/* An empty folder, so that a copy has a source whatever is in it. */
static int put_folder(struct docker_build *b, const char *kind, struct error *err)
{
	struct tar_entry t = {.type = TAR_FOLDER, .mode = 0755};
	char path[64];

	(void)snprintf(path, sizeof(path), "c%zu/%s", b->at, kind);
	t.path = sv_of(path);
	return put_head(b, &t, err);
}

static int copy_step(void *arg, size_t at, const struct recipe_step *s, struct buf *out, struct error *err)
{
	struct docker_build *b = arg;
	const struct context_sink sink = {put_entry, b};
	char path[NAME_MAX + 64];
	const char *sources[2] = {path, NULL};
	const char *dest = s->dest, *folder;
	size_t tops;

	b->step = s;
	b->at = at;
	b->alone = b->below = 0;
	b->lines = out;
	folder = dest[strlen(dest) - 1] == '/' ? dest : arena_printf(b->plan.arena, "%s/", dest);
	if (strchr(dest, '$') || strchr(dest, '\\') || strchr(dest, '"') || strchr(dest, '\''))
		return error_set(err, ERROR_INPUT,
				 "%.200s:%u: the destination has a character that Docker's builder would read",
				 b->plan.shown, s->line);
	if (put_folder(b, "d", err) < 0 || context_walk(&b->plan.context, s, &sink, &tops, err) < 0)
		return build_fail(&b->plan, s, err);
	if (b->alone == 1) {
		(void)snprintf(path, sizeof(path), "c%zu/f/%s", at, b->last);
		recipe_write_copy(b->plan.arena, out, "COPY", s, "", sources, tops > 1 ? folder : dest);
	} else if (b->alone) {
		(void)snprintf(path, sizeof(path), "c%zu/f/", at);
		recipe_write_copy(b->plan.arena, out, "COPY", s, "", sources, folder);
	}
	if (b->below || tops == 0 || (!b->alone && !s->unpack)) {
		(void)snprintf(path, sizeof(path), "c%zu/d/", at);
		recipe_write_copy(b->plan.arena, out, "COPY", s, "", sources, folder);
	}
	return 0;
}

static int put_dockerfile(struct docker_build *b, struct sv text, struct error *err)
{
	struct tar_entry t = {.type = TAR_FILE, .path = sv_of("Dockerfile"), .mode = 0644, .size = text.n};

	return put_head(b, &t, err) < 0 || put_bytes(b, text.p, text.n, err) < 0 ||
			       put_zeros(b, tar_pad(text.n), err) < 0 || put_zeros(b, TAR_END, err) < 0
		       ? -1
		       : 0;
}

static int write_archive(struct docker_build *b, struct error *err)
{
	struct recipe_writer w = {.name = b->plan.shown, .copy = copy_step, .arg = b, .no_network = !b->req->network};
	AUTO_BUF text = {0};

	buf_init(&text, RECIPE_BYTES);
	return recipe_write(b->plan.arena, b->plan.recipe, &w, &text, err) < 0
		       ? -1
		       : put_dockerfile(b, buf_view(&text), err);
}

/* One line of what the engine tells while it builds. */
static void told(struct docker_build *b, struct sv line)
{
	json_t *j = json_loadb(line.p, line.n, 0, NULL);
	const char *text = json_string_value(json_object_get(j, "stream")),
		   *wrong = json_string_value(json_object_get(j, "error"));
	const char *id = json_string_value(json_object_get(json_object_get(j, "aux"), "ID"));
	AUTO_BUF shown = {0};

	buf_init(&shown, 8192);
	if (id && image_is_digest(sv_of(id)))
		memcpy(b->image, id, IMAGE_DIGEST);
	if (wrong)
		text_escape(&shown, sv_of(wrong), sizeof(b->said) / 4);
	if (shown.n)
		(void)snprintf(b->said, sizeof(b->said), "%s", shown.p);
	buf_clear(&shown);
	if (text && strncmp(text, "Step ", 5) == 0 && b->req->step) {
		text_escape(&shown, text_trim(sv_of(text)), 200);
		b->req->step(b->req->arg, 0, 0, shown.p ? shown.p : "", false);
	}
	json_decref(j);
}

static int take_lines(void *arg, struct sv bytes)
{
	struct docker_build *b = arg;
	const char *end;

	while (bytes.n) {
		end = memchr(bytes.p, '\n', bytes.n);
		buf_add(&b->line, bytes.p, end ? (size_t)(end - bytes.p) : bytes.n);
		if (buf_failed(&b->line))
			return -EFBIG;
		if (!end)
			break;
		told(b, buf_view(&b->line));
		buf_clear(&b->line);
		bytes = sv_n(end + 1, bytes.n - (size_t)(end + 1 - bytes.p));
	}
	return 0;
}

static int post(struct docker_build *b, const char *tag, struct error *err)
{
	struct engine_transfer t = {.from = b->tar, .size = b->size, .take = take_lines, .arg = b};
	char path[256];
	struct engine_request ask = {
		.method = "POST", .path = path, .type = "application/x-tar", .timeout_ms = WAIT_MS};
	AUTO_ANSWER a = {0};

	(void)snprintf(path, sizeof(path), "/build?version=1&rm=1&forcerm=1&t=%s%s", tag,
		       b->req->network ? "" : "&networkmode=none");
	if (engine_transfer(&b->engine, &ask, &t, &a, err) < 0)
		return -1;
	if (a.status != 200)
		return engine_refused(&a, "Docker Engine does not build", err);
	if (b->said[0])
		return error_set(err, ERROR_INPUT, "%.200s: Docker Engine: %s", b->plan.shown, b->said);
	return b->image[0] ? 0 : error_set(err, ERROR_SYSTEM, "Docker Engine does not say what it built");
}

/* The engine must have the bases itself, and they must not bring instructions that it would carry out unseen. */
static int check_bases(struct docker_build *b, struct error *err)
{
	size_t k;
	int r;

	for (k = 0; k < b->plan.n_bases; k++) {
		const struct build_base *base = &b->plan.bases[k];

		if (base->image.config.on_build && base->image.config.on_build[0])
			return error_set(err, ERROR_INPUT,
					 "%.200s: the image %s has triggers (ONBUILD), which Docker's builder would "
					 "carry out by itself; use the native builder",
					 b->plan.shown, base->name);
		r = build_engine_has(&b->engine, base->name, err);
		if (r < 0)
			return -1;
		if (r == 0)
			return error_set(err, ERROR_MISSING,
					 "Docker Engine has no image %s; `docker pull %s` brings it", base->name,
					 base->name);
	}
	return 0;
}

static void forget(const struct docker_build *b, const char *tag)
{
	char path[256];
	struct engine_request ask = {.method = "DELETE", .path = path, .timeout_ms = WAIT_MS};
	AUTO_ANSWER a = {0};
	struct error ignored = {0};

	(void)snprintf(path, sizeof(path), "/images/%s?noprune=1", tag);
	(void)engine_call(&b->engine, &ask, &a, &ignored);
}

/* Its layers are the engine's, its configuration is ours: what the Dockerfile said. */
static int take_image(struct docker_build *b, const char *tag, struct build_result *ret, struct error *err)
{
	const struct recipe *r = b->plan.recipe;
	char digest[IMAGE_DIGEST];
	const char **layers;
	struct image i;
	size_t k;
	int code;

	if (build_engine_take(b->req, &b->engine, tag, tag, digest, err) < 0 ||
	    image_find(b->req->store, digest, &i, err) < 0)
		return -1;
	layers = arena_array(b->plan.arena, i.n_layers + 1, sizeof(*layers));
	for (k = 0; layers && k < i.n_layers; k++)
		layers[k] = i.layer_digests[i.n_layers - 1 - k];
	code = layers ? image_add(b->req->store, b->req->name, &r->stages[r->n_stages - 1].config, layers, i.n_layers,
				  ret->digest, err)
		      : error_sys(err, ENOMEM, "layers");
	image_done(&i);
	if (code == 0 && strcmp(digest, ret->digest) != 0) {
		struct error ignored = {0};

		(void)image_remove(b->req->store, tag, NULL, &ignored);
	}
	return code;
}

/* leave: the image stays at the engine, under its tag, in place of coming into the store. */
static int build(struct docker_build *b, const char *tag, bool leave, struct build_result *ret, struct error *err)
{
	size_t k;
	int r;

	if (build_engine_open(b->req, &b->engine, err) < 0 || check_bases(b, err) < 0 || write_archive(b, err) < 0)
		return -1;
	r = post(b, tag, err);
	if (r == 0 && !leave)
		r = take_image(b, tag, ret, err);
	if (r < 0 || !leave)
		forget(b, tag);
	for (k = 0; k < b->plan.recipe->n_stages; k++)
		ret->steps += b->plan.recipe->stages[k].n_steps;
	return r;
}

static int prepare(const struct build_request *req, const char *tag, bool leave, struct build_result *ret,
		   struct error *err)
{
	struct docker_build b = {.req = req, .tar = -1};
	struct image_work w = {.lock = -1};
	int r;

	*ret = (struct build_result){0};
	if (!req->engine)
		return error_set(err, ERROR_MISSING, "there is no Docker Engine to build with; use the native builder");
	buf_init(&b.line, MESSAGE_MAX);
	r = build_plan(req, &b.plan, err);
	if (r == 0)
		r = image_work_new(req->store, &w, err);
	b.tar = r == 0 ? build_temp_file(&w, err) : -1;
	if (b.tar >= 0)
		r = build(&b, tag, leave, ret, err);
	else
		r = -1;
	if (b.tar >= 0)
		(void)close(b.tar);
	if (w.lock >= 0)
		image_work_done(req->store, &w);
	buf_done(&b.line);
	engine_done(&b.engine);
	build_plan_done(&b.plan);
	return r;
}

int build_docker(const struct build_request *req, struct build_result *ret, struct error *err)
{
	uint64_t number = 0;
	char tag[64];

	(void)!getrandom(&number, sizeof(number), 0);
	(void)snprintf(tag, sizeof(tag), "cordon-build:%016llx", (unsigned long long)number);
	return prepare(req, tag, false, ret, err);
}

int build_docker_leave(const struct build_request *req, const char *tag, struct error *err)
{
	struct build_result ignored;

	return prepare(req, tag, true, &ignored, err);
}
