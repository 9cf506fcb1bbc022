#include "image/copy_stream.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/wire.h"

enum { LAST = 3, SPAN_HEAD = 12 };

static int send_all(const struct copy_out *o, const void *p, size_t n, struct error *err)
{
	const char *at = p;
	ssize_t k;

	if (o->to)
		sha256_add(o->to, p, n);
	while (o->fd >= 0 && n) {
		k = send(o->fd, at, n, MSG_NOSIGNAL);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return error_sys(err, errno, "whoever writes the files has gone");
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

static int send_fields(const struct copy_out *o, const struct buf *fields, struct error *err)
{
	AUTO_BUF head = {0};

	buf_init(&head, 16);
	wire_put_u32(&head, (uint32_t)fields->n);
	if (buf_failed(fields) || buf_failed(&head))
		return error_sys(err, ENAMETOOLONG, "a file's name");
	return send_all(o, head.p, head.n, err) < 0 ? -1 : send_all(o, fields->p, fields->n, err);
}

/* zeros, then n bytes, which stand behind room for the head. */
static int send_span(const struct copy_out *o, uint64_t zeros, char *span, size_t n, struct error *err)
{
	AUTO_BUF head = {0};

	buf_init(&head, 2 * SPAN_HEAD);
	wire_put_u64(&head, zeros);
	wire_put_u32(&head, (uint32_t)n);
	if (buf_failed(&head) || head.n != SPAN_HEAD)
		return error_sys(err, ENOMEM, "a file");
	memcpy(span, head.p, SPAN_HEAD);
	return send_all(o, span, SPAN_HEAD + n, err);
}

/* All n bytes at `at`, or an error: a file that shrinks meanwhile is one. */
static int read_piece(int fd, char *p, size_t n, uint64_t at, struct error *err)
{
	ssize_t k;

	while (n) {
		k = pread(fd, p, n, (off_t)at);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? error_sys(err, errno, "reading a file")
				     : error_set(err, ERROR_INPUT, "a file became shorter while it was copied");
		p += k;
		n -= (size_t)k;
		at += (uint64_t)k;
	}
	return 0;
}

/* Where the next piece with something in it begins, at or behind `at`: what lies before it is a hole. */
static uint64_t next_piece(int fd, uint64_t at, uint64_t size)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);
	struct stat st;

	if (data < 0 && errno == ENXIO) /* behind the end, or a hole up to it */
		return fstat(fd, &st) == 0 && (uint64_t)st.st_size >= size ? size : at;
	return data < 0 || (uint64_t)data < at ? at : (uint64_t)data - (uint64_t)data % LIMIT_PIECE;
}

/* Exactly as many bytes as were announced. */
static int send_file(const struct copy_out *o, int fd, uint64_t size, struct error *err)
{
	char span[SPAN_HEAD + LIMIT_PIECE];
	uint64_t at = 0, sent = 0, next;
	size_t n;

	while (at < size) {
		if (limit_check_time(&o->limit, err) < 0)
			return -1;
		next = next_piece(fd, at, size);
		at = next < size ? next : size;
		n = size - at < LIMIT_PIECE ? (size_t)(size - at) : LIMIT_PIECE;
		if (read_piece(fd, span + SPAN_HEAD, n, at, err) < 0)
			return -1;
		if (!limit_is_zeros(span + SPAN_HEAD, n)) {
			if (send_span(o, at - sent, span, n, err) < 0)
				return -1;
			sent = at + n;
		}
		at += n;
	}
	return sent < size ? send_span(o, size - sent, span, 0, err) : 0;
}

static int send_content(const struct copy_out *o, struct sv content, struct error *err)
{
	char span[SPAN_HEAD + LIMIT_PIECE];
	size_t n;

	for (; content.n; content = sv_n(content.p + n, content.n - n)) {
		n = content.n < LIMIT_PIECE ? content.n : LIMIT_PIECE;
		memcpy(span + SPAN_HEAD, content.p, n);
		if (send_span(o, 0, span, n, err) < 0)
			return -1;
	}
	return 0;
}

int copy_put(void *arg, const struct context_entry *e, struct error *err)
{
	const struct copy_out *o = arg;
	AUTO_BUF f = {0};
	bool file = S_ISREG(e->st.st_mode);

	if (limit_check_time(&o->limit, err) < 0)
		return -1;
	buf_init(&f, COPY_FIELDS_MAX);
	wire_put_u32(&f, file ? COPY_FILE : S_ISDIR(e->st.st_mode) ? COPY_FOLDER : COPY_LINK);
	wire_put_u32(&f, e->alone);
	wire_put_sv(&f, sv_of(e->path));
	wire_put_sv(&f, sv_of(e->link ? e->link : ""));
	wire_put_u32(&f, e->st.st_mode & 07777);
	wire_put_u32(&f, e->st.st_uid);
	wire_put_u32(&f, e->st.st_gid);
	/* times are copied, but the same files at another time are the same files */
	wire_put_u64(&f, o->to ? 0 : (uint64_t)e->st.st_mtim.tv_sec);
	wire_put_u64(&f, file ? (uint64_t)e->st.st_size : 0);
	if (send_fields(o, &f, err) < 0)
		return -1;
	if (!file)
		return 0;
	return e->fd < 0 ? send_content(o, e->content, err) : send_file(o, e->fd, (uint64_t)e->st.st_size, err);
}

int copy_put_end(const struct copy_out *o, size_t tops, struct error *err)
{
	AUTO_BUF f = {0};

	buf_init(&f, 64);
	wire_put_u32(&f, LAST);
	wire_put_u64(&f, tops);
	return send_fields(o, &f, err);
}

static int read_all(int fd, void *p, size_t n, struct error *err)
{
	char *at = p;
	ssize_t k;

	while (n) {
		k = read(fd, at, n);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return error_set(err, ERROR_SYSTEM, "whoever reads the files has gone");
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

/* As a C string, in place: the field behind it has been read by then. */
static const char *text(struct sv s)
{
	return s.n ? s.p : "";
}

static int decode(struct copy_in *in, struct copy_entry *e, struct error *err)
{
	struct wire_in w;
	struct sv path, link;
	uint32_t kind;

	wire_in_init(&w, buf_view(&in->fields));
	kind = wire_get_u32(&w);
	if (kind == LAST) {
		in->tops = (size_t)wire_get_u64(&w);
		return wire_ok(&w) ? 0 : error_set(err, ERROR_SYSTEM, "a copy's entry cannot be read");
	}
	e->alone = wire_get_u32(&w) == 1;
	path = wire_get_sv(&w);
	link = wire_get_sv(&w);
	e->mode = wire_get_u32(&w);
	e->uid = wire_get_u32(&w);
	e->gid = wire_get_u32(&w);
	e->time = (int64_t)wire_get_u64(&w);
	e->size = wire_get_u64(&w);
	if (!wire_ok(&w) || kind > COPY_LINK || path.n == 0 || path.n >= PATH_MAX || link.n >= PATH_MAX ||
	    memchr(path.p, '\0', path.n) || memchr(link.p, '\0', link.n) || e->mode > 07777)
		return error_set(err, ERROR_SYSTEM, "a copy's entry cannot be read");
	e->kind = (enum copy_kind)kind;
	in->fields.p[path.p - in->fields.p + (ptrdiff_t)path.n] = '\0';
	in->fields.p[link.p - in->fields.p + (ptrdiff_t)link.n] = '\0';
	e->path = text(path);
	e->link = text(link);
	return 1;
}

/* n bytes more, in blocks. */
static int count(struct copy_in *in, uint64_t n, struct error *err)
{
	in->written += (n + LIMIT_BLOCK - 1) / LIMIT_BLOCK * LIMIT_BLOCK;
	return in->limit.room && in->written > in->limit.room ? limit_fail_room(err) : 0;
}

int copy_get(struct copy_in *in, struct copy_entry *ret, struct error *err)
{
	unsigned char le[4];
	uint32_t n;
	int r;

	if (read_all(in->fd, le, sizeof(le), err) < 0)
		return -1;
	n = (uint32_t)le[0] | (uint32_t)le[1] << 8 | (uint32_t)le[2] << 16 | (uint32_t)le[3] << 24;
	if (n > COPY_FIELDS_MAX)
		return error_set(err, ERROR_SYSTEM, "a copy's entry cannot be read");
	buf_clear(&in->fields);
	if (buf_reserve(&in->fields, n + 1) < 0)
		return error_sys(err, ENOMEM, "a copy's entry");
	if (read_all(in->fd, in->fields.p, n, err) < 0)
		return -1;
	in->fields.n = n;
	r = decode(in, ret, err);
	if (r <= 0)
		return r;
	in->written += LIMIT_NAME_BYTES;
	return count(in, ret->kind == COPY_FOLDER, err) < 0 ? -1 : 1;
}

static int get_span(struct copy_in *in, uint64_t left, uint64_t *ret_zeros, size_t *ret_n, char piece[LIMIT_PIECE],
		    struct error *err)
{
	char head[SPAN_HEAD];
	struct wire_in w;
	uint64_t zeros;
	uint32_t n;

	if (read_all(in->fd, head, sizeof(head), err) < 0)
		return -1;
	wire_in_init(&w, sv_n(head, sizeof(head)));
	zeros = wire_get_u64(&w);
	n = wire_get_u32(&w);
	if (!wire_ok(&w) || n > LIMIT_PIECE || zeros > left || n > left - zeros || (!zeros && !n))
		return error_set(err, ERROR_SYSTEM, "a copy's entry cannot be read");
	*ret_zeros = zeros;
	*ret_n = n;
	return read_all(in->fd, piece, n, err);
}

int copy_get_data(struct copy_in *in, const struct copy_entry *e, int to, struct error *err)
{
	uint64_t left = e->size, zeros = 0;
	char piece[LIMIT_PIECE];
	size_t n = 0;
	int r;

	while (left) {
		if (get_span(in, left, &zeros, &n, piece, err) < 0 || count(in, n, err) < 0)
			return -1;
		if (zeros && lseek(to, (off_t)zeros, SEEK_CUR) < 0)
			return error_sys(err, errno, "writing a file");
		r = write_all(to, piece, n);
		if (r < 0)
			return error_sys(err, r, "writing a file");
		left -= zeros + n;
	}
	if (e->size && n == 0 && ftruncate(to, (off_t)e->size) < 0)
		return error_sys(err, errno, "writing a file");
	return 0;
}
