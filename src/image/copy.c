#include "image/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "image/copy_into.h"
#include "image/copy_stream.h"
#include "sys/lookup.h"

struct writer {
	struct copy_into into;
	const char *folder; /* only to make this one */
	struct image_limit limit;
	uint64_t *written; /* is seen by our parent, too */
};

static int write_in_child(void *arg, int root, int kept, struct error *err)
{
	struct writer *w = arg;
	struct copy_in in = {.fd = kept, .limit = w->limit};
	bool made = false;
	int r, fd;

	w->into.root = root;
	if (w->folder) {
		fd = copy_into_folder(&w->into, w->folder, &made, err);
		return fd < 0 ? -1 : made;
	}
	buf_init(&in.fields, COPY_FIELDS_MAX + 16);
	r = copy_into(&w->into, &in, err);
	buf_done(&in.fields);
	*w->written = in.written;
	return r < 0 ? -1 : w->into.unowned;
}

static int read_in_child(void *arg, int root, int kept, struct error *err)
{
	const struct copy_job *job = arg;
	struct copy_out out = {.fd = kept, .limit = job->limit};
	const struct context_sink sink = {copy_put, &out};
	AUTO_FD readable = sys_open_in_root(root, "/", O_RDONLY | O_DIRECTORY);
	const struct context c = {.root = readable, .owners = true};
	size_t tops;

	if (readable < 0)
		return error_sys(err, readable, "layers");
	return context_walk(&c, job->step, &sink, &tops, err) < 0 ? -1 : copy_put_end(&out, tops, err);
}

bool copy_is_archive(int fd)
{
	static const struct {
		size_t at, n;
		const char *bytes;
	} t[] = {{0, 3, "\x1f\x8b\x08"},
		 {0, 3, "BZh"},
		 {0, 6,
		  "\xfd"
		  "7zXZ\0"},
		 {0, 4, "\x28\xb5\x2f\xfd"},
		 {257, 5, "ustar"}};
	char head[512];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	size_t k;

	for (k = 0; k < ARRAY_LEN(t); k++)
		if (n >= (ssize_t)(t[k].at + t[k].n) && memcmp(head + t[k].at, t[k].bytes, t[k].n) == 0)
			return true;
	return false;
}

static int put_unless_archive(void *arg, const struct context_entry *e, struct error *err)
{
	return e->alone && e->fd >= 0 && copy_is_archive(e->fd) ? 0 : copy_put(arg, e, err);
}

static int read_here(const struct copy_job *job, int fd, struct error *err)
{
	struct copy_out out = {.fd = fd, .limit = job->limit};
	const struct context_sink sink = {job->skip_archives ? put_unless_archive : copy_put, &out};
	size_t tops;

	return context_walk(job->context, job->step, &sink, &tops, err) < 0 ? -1 : copy_put_end(&out, tops, err);
}

static int read_there(const struct copy_job *job, int fd, struct error *err)
{
	struct merged reader;
	void *arg;

	memcpy(&arg, &job, sizeof(arg)); /* it is only read */
	if (merged_start(job->ids, job->source, fd, read_in_child, arg, &reader, err) < 0)
		return -1;
	return merged_end_by(&reader, job->limit.until_ms, NULL, err);
}

static int run(const struct copy_job *job, struct writer *w, bool *ret_unowned, struct error *err)
{
	struct error read_err = {0}, write_err = {0};
	struct merged writer;
	int ends[2], r, unowned = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, errno, "socketpair");
	if (merged_start(job->ids, &job->target, ends[0], write_in_child, w, &writer, err) < 0) {
		(void)close(ends[0]);
		(void)close(ends[1]);
		return -1;
	}
	(void)close(ends[0]);
	r = job->context ? read_here(job, ends[1], &read_err) : read_there(job, ends[1], &read_err);
	(void)close(ends[1]);
	if (merged_end_by(&writer, job->limit.until_ms, &unowned, &write_err) < 0 &&
	    (r == 0 || read_err.code == EPIPE || read_err.code == ECONNRESET)) {
		*err = write_err;
		return -1;
	}
	if (r < 0)
		*err = read_err;
	*ret_unowned = unowned > 0;
	return r;
}

int copy_run(const struct copy_job *job, struct copy_made *ret, struct error *err)
{
	struct writer w = {.into = {.dest = job->step->dest,
				    .owner = job->owner,
				    .chmod = job->step->chmod,
				    .one_id = job->ids->count == 1},
			   .limit = job->limit};
	void *shared = mmap(NULL, sizeof(*w.written), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r;

	*ret = (struct copy_made){0};
	if (shared == MAP_FAILED)
		return error_sys(err, errno, "a copy");
	w.written = shared;
	r = run(job, &w, &ret->unowned, err);
	ret->written = *w.written;
	(void)munmap(shared, sizeof(*w.written));
	return r;
}

int copy_make_folder(const struct image_ids *ids, const struct merged_tree *target, const char *path,
		     const struct copy_owner *owner, bool *ret_made, struct error *err)
{
	struct writer w = {.into = {.dest = path, .owner = *owner, .chmod = "", .one_id = ids->count == 1},
			   .folder = path};
	struct merged writer;
	int made = 0;

	if (merged_start(ids, target, -1, write_in_child, &w, &writer, err) < 0 || merged_end(&writer, &made, err) < 0)
		return -1;
	*ret_made = made > 0;
	return 0;
}

int copy_digest(const struct context *c, const struct recipe_step *s, const struct image_limit *limit,
		struct sha256 *to, struct error *err)
{
	struct copy_out out = {.fd = -1, .to = to, .limit = *limit};
	const struct context_sink sink = {copy_put, &out};
	size_t tops;

	return context_walk(c, s, &sink, &tops, err) < 0 ? -1 : copy_put_end(&out, tops, err);
}
