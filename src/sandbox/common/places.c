#include "sandbox/common/places.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/text.h"

/* Goes up when places_make() makes something else of the same plan. */
#define FORMAT "1"

static int fail(struct error *err, int code, const struct plan_op *op, const char *what)
{
	struct text_shown t;

	return error_sys(err, code, "sandbox root: %s %s", what, text_show(&t, sv_of(op->target)));
}

/* The target's name from the new root, where we stand. */
static const char *at(const struct plan_op *op)
{
	return op->target + 1;
}

/* mkdir -p of everything before the last name. */
static void make_parents(const char *path)
{
	char part[4096];
	const char *slash;

	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		if ((size_t)(slash - path) >= sizeof(part))
			return;
		memcpy(part, path, (size_t)(slash - path));
		part[slash - path] = '\0';
		(void)mkdir(part, 0755);
	}
}

static int make_folder(const char *path, mode_t mode)
{
	if (mkdir(path, mode) == 0 || errno == EEXIST)
		return 0;
	make_parents(path);
	return mkdir(path, mode) < 0 && errno != EEXIST ? -errno : 0;
}

/* A place for a mount: cheaper than opening it. */
static int make_empty(const char *path, mode_t mode)
{
	if (mknod(path, S_IFREG | mode, 0) == 0 || errno == EEXIST)
		return 0;
	make_parents(path);
	return mknod(path, S_IFREG | mode, 0) < 0 && errno != EEXIST ? -errno : 0;
}

static int make_file(const char *path, mode_t mode, const char *content, size_t n)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode), r;

	if (fd < 0 && errno == ENOENT) {
		make_parents(path);
		fd = open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode);
	}
	if (fd < 0)
		return -errno;
	r = write_all(fd, content, n);
	(void)close(fd);
	return r;
}

/* What the host shows below a scratch place gets its place there, when that is mounted. */
static bool is_in_scratch(const struct plan *p, const struct plan_op *op)
{
	const char **place;

	for (place = p->own_places; op->host && *place; place++)
		if (path_is_below(op->target, *place))
			return true;
	return false;
}

bool places_has(const struct plan *p, const struct plan_op *op)
{
	switch (op->kind) {
	case PLAN_PROTECT:
	case PLAN_MASK:
	case PLAN_EXEC:
	case PLAN_SHOW:
		return false;
	default:
		return !is_in_scratch(p, op);
	}
}

static int make_place(const struct plan_op *op, struct error *err)
{
	int r = 0;

	switch (op->kind) {
	case PLAN_DIR:
	case PLAN_OVERLAY:
	case PLAN_TMPFS:
	case PLAN_PROC:
	case PLAN_PTS:
		r = make_folder(at(op), 0755);
		break;
	case PLAN_BIND:
		r = op->folder ? make_folder(at(op), 0755) : make_empty(at(op), 0644);
		break;
	case PLAN_DEVICE:
		r = make_empty(at(op), 0644);
		break;
	case PLAN_FILE:
		r = make_file(at(op), op->mode, op->source, op->size ? op->size : strlen(op->source));
		break;
	default:
		break;
	}
	return r < 0 ? fail(err, r, op, "make") : 0;
}

/* Links come last: a place is never made through one. */
static int make_link(const struct plan_op *op, struct error *err)
{
	if (symlink(op->source, at(op)) == 0 || errno == EEXIST)
		return 0;
	make_parents(at(op));
	return symlink(op->source, at(op)) < 0 && errno != EEXIST ? fail(err, errno, op, "link") : 0;
}

int places_make(const struct plan *p, struct error *err)
{
	size_t i;

	if (mkdir(PLACES_MASKS, 0755) < 0 || mkdir(PLACES_MASKS "/folder", 0) < 0 ||
	    make_empty(PLACES_MASKS "/file", 0) < 0)
		return error_sys(err, errno, "sandbox root: masks");
	for (i = 0; i < p->n_ops; i++)
		if (places_has(p, &p->ops[i]) && make_place(&p->ops[i], err) < 0)
			return -1;
	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == PLAN_LINK && make_link(&p->ops[i], err) < 0)
			return -1;
	return 0;
}

int places_digest(const struct plan *p, char out[SHA256_HEX])
{
	unsigned char digest[SHA256_SIZE];
	struct sha256 s;
	const struct plan_op *op;
	char head[3];
	size_t i;

	sha256_init(&s);
	sha256_add(&s, FORMAT, sizeof(FORMAT));
	for (i = 0; i < p->n_ops; i++) {
		op = &p->ops[i];
		if (!places_has(p, op))
			continue;
		if (op->kind == PLAN_FILE && op->size)
			return -ENOTSUP;
		head[0] = (char)op->kind;
		head[1] = (char)op->folder;
		head[2] = (char)(op->kind == PLAN_LINK || op->kind == PLAN_FILE);
		sha256_add(&s, head, sizeof(head));
		sha256_add(&s, &op->mode, sizeof(op->mode));
		sha256_add(&s, op->target, strlen(op->target) + 1);
		if (head[2])
			sha256_add(&s, op->source, strlen(op->source) + 1);
	}
	sha256_done(&s, digest);
	sha256_hex(digest, out);
	return 0;
}
