#include "image/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "image/decompress.h"
#include "image/ids.h"
#include "image/unpack_report.h"
#include "sys/spawn.h"

enum { CHUNK = 256 * 1024, PIPE_SIZE = 1 << 20 };

/* One of the two processes. */
struct helper {
	pid_t pid;
	int in, report; /* our ends */
	int out;	/* of the decompressor */
};

/* Bytes on their way from one to the next. */
struct leg {
	char *p;
	size_t from, to;
	bool ended;
	struct sha256 digest;
	uint64_t bytes;
};

struct pump {
	const struct unpack_job *job;
	int program;
	struct helper dec, tar;
	struct leg first, second; /* first is used where there is a decompressor */
	bool compressed;
	uint64_t in_most; /* bytes of the source that are no holes */
	bool stopped;	  /* a helper takes no more: its report says why */
	bool tar_stopped; /* it is the unpacker */
	const char *wrong;
};

/* ---- starting them ---- */

struct start {
	int program;
	char *const *argv;
	const int *fds;
};

static int become_unpacker(void *arg)
{
	const struct start *s = arg;
	char *none[] = {NULL};

	(void)sys_become(s->program, s->argv, none, s->fds, 3);
	return 127;
}

static int make_pipe(int *ret_read, int *ret_write)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	(void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

static void not_blocking(int fd)
{
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static int start_decompressor(struct pump *p, enum compression how, struct error *err)
{
	char name[] = "cordon-unpack", verb[] = "decompress", number[8];
	char *argv[] = {name, verb, number, NULL}, *none[] = {NULL};
	AUTO_FD in = -1, out = -1, report = -1;
	int fds[3];

	(void)snprintf(number, sizeof(number), "%d", (int)how);
	if (make_pipe(&in, &p->dec.in) < 0 || make_pipe(&p->dec.out, &out) < 0 ||
	    make_pipe(&p->dec.report, &report) < 0)
		return error_sys(err, errno, "pipe");
	fds[0] = in;
	fds[1] = out;
	fds[2] = report;
	p->dec.pid = sys_spawn(p->program, argv, none, fds, 3);
	if (p->dec.pid < 0)
		return error_sys(err, (int)p->dec.pid, "cannot start cordon-unpack");
	not_blocking(p->dec.in);
	not_blocking(p->dec.out);
	return 0;
}

static uint64_t most_entries(const struct unpack_job *job)
{
	uint64_t room = job->limit.room / LIMIT_NAME_BYTES;

	return job->limit.room && room < job->budget->entries ? room : job->budget->entries;
}

static int start_unpacker(struct pump *p, const struct image_ids *ids, int folder, struct error *err)
{
	char name[] = "cordon-unpack", verb[] = "tar", count[16], bytes[24], entries[16];
	char *argv[] = {name, verb, count, bytes, entries, NULL};
	AUTO_FD in = -1, report = -1;
	struct start s = {.program = p->program, .argv = argv};
	int fds[3];

	(void)snprintf(count, sizeof(count), "%u", ids->count);
	(void)snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)p->job->budget->bytes);
	(void)snprintf(entries, sizeof(entries), "%llu", (unsigned long long)most_entries(p->job));
	if (make_pipe(&in, &p->tar.in) < 0 || make_pipe(&p->tar.report, &report) < 0)
		return error_sys(err, errno, "pipe");
	fds[0] = in;
	fds[1] = folder;
	fds[2] = report;
	s.fds = fds;
	p->tar.pid = image_ids_fork(ids, CLONE_NEWNET | CLONE_NEWIPC, become_unpacker, &s, err);
	if (p->tar.pid < 0)
		return -1;
	not_blocking(p->tar.in);
	return 0;
}

/* ---- moving bytes ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* Reads what there is room for, and takes its digest. */
static int leg_fill(struct leg *l, int fd)
{
	ssize_t n;

	if (l->from == l->to)
		l->from = l->to = 0;
	n = read(fd, l->p + l->to, CHUNK - l->to);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	l->ended = n == 0;
	sha256_add(&l->digest, l->p + l->to, (size_t)n);
	l->to += (size_t)n;
	l->bytes += (uint64_t)n;
	return 0;
}

/* Hands on what the next one takes; at the end its pipe is closed. */
static void leg_empty(struct pump *p, struct leg *l, int *fd)
{
	ssize_t n;

	if (l->from < l->to) {
		n = write(*fd, l->p + l->from, l->to - l->from);
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			p->stopped = true;
			p->tar_stopped = l == &p->second;
		}
		l->from += n > 0 ? (size_t)n : 0;
	}
	if (l->ended && l->from == l->to)
		close_fd(fd);
}

/* What the source has given so far, as far as it is input. */
static uint64_t input(const struct pump *p)
{
	uint64_t read = p->compressed ? p->first.bytes : p->second.bytes;

	if (p->job->inner)
		return 0;
	return read < p->in_most ? read : p->in_most;
}

static void check_sizes(struct pump *p)
{
	const struct unpack_budget *b = p->job->budget;
	uint64_t out = b->out + p->second.bytes;

	if (p->second.bytes > b->bytes + UNPACK_MAX_BYTES / 8)
		p->wrong = "unpacks to more than an image may have";
	if (out > UNPACK_RATIO_FROM && out / UNPACK_RATIO > b->in + input(p))
		p->wrong = "unpacks to far more than what it came in: a bomb; decompress it yourself, and write out "
			   "its holes, if you know better";
}

/* -1: there is no room for what has come, or no time for the rest. */
static int check_limit(const struct pump *p, struct error *err)
{
	const struct image_limit *l = &p->job->limit;

	if (l->room && p->second.bytes > l->room)
		return limit_fail_room(err);
	return limit_check_time(l, err);
}

/* One turn: whoever is ready gives or takes. */
static int turn(struct pump *p)
{
	struct leg *in = p->compressed ? &p->first : &p->second;
	bool wants_in = !in->ended && in->to < CHUNK,
	     wants_dec = p->compressed && !p->second.ended && p->second.to < CHUNK;
	struct pollfd fds[4] = {
		{.fd = wants_in ? p->job->in : -1, .events = POLLIN},
		{.fd = p->compressed && (p->first.from < p->first.to) ? p->dec.in : -1, .events = POLLOUT},
		{.fd = wants_dec ? p->dec.out : -1, .events = POLLIN},
		{.fd = p->second.from < p->second.to ? p->tar.in : -1, .events = POLLOUT},
	};
	int r = 0;

	if (poll(fds, 4, p->job->limit.until_ms ? left_ms(p->job->limit.until_ms) : -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[0].revents)
		r = leg_fill(in, p->job->in);
	if (r == 0 && fds[2].revents)
		r = leg_fill(&p->second, p->dec.out);
	if (p->compressed && p->dec.in >= 0)
		leg_empty(p, &p->first, &p->dec.in);
	if (p->tar.in >= 0)
		leg_empty(p, &p->second, &p->tar.in);
	/* full, and all handed on: from the start again */
	if (in->from == in->to)
		in->from = in->to = 0;
	if (p->second.from == p->second.to)
		p->second.from = p->second.to = 0;
	check_sizes(p);
	return r;
}

static int run_pump(struct pump *p, struct error *err)
{
	const struct unpack_job *job = p->job;
	const struct leg *in = p->compressed ? &p->first : &p->second;
	int r = 0;

	while (r == 0 && !p->stopped && !p->wrong && p->tar.in >= 0) {
		r = turn(p);
		if (check_limit(p, err) < 0)
			return error_prefix(err, "%s", job->what);
		if (job->progress)
			job->progress(job->arg, job->what, in->bytes, job->size);
	}
	if (p->wrong)
		return error_set(err, ERROR_INPUT, "%s %s", job->what, p->wrong);
	return r < 0 ? error_sys(err, r, "%s", job->what) : 0;
}

/* ---- how it went ---- */

/* Waits for it; -1 where it did not say that all is well. */
static int end_helper(struct helper *h, const char *what, struct unpack_report *ret, struct error *err)
{
	struct text_shown name, wrong;
	AUTO_BUF b = {0};
	int status = 0, r;

	close_fd(&h->in);
	close_fd(&h->out);
	buf_init(&b, UNPACK_REPORT_MAX);
	r = buf_read_fd(&b, h->report);
	close_fd(&h->report);
	while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR)
		;
	h->pid = 0;
	if (WIFSIGNALED(status))
		return error_set(err, ERROR_INPUT, "%s could not be unpacked safely: cordon-unpack ended by signal %d",
				 what, WTERMSIG(status));
	if (r < 0 || unpack_report_get(buf_view(&b), ret) < 0 || (ret->ok && WEXITSTATUS(status) != 0))
		return error_set(err, ERROR_SYSTEM, "%s: cordon-unpack failed with %d", what, WEXITSTATUS(status));
	if (ret->ok)
		return 0;
	(void)error_set(err, ERROR_INPUT, "%s%s%s%s %s%s%s", what, ret->name[0] ? ": \"" : "",
			ret->name[0] ? text_show(&name, sv_of(ret->name)) : ":", ret->name[0] ? "\"" : "",
			text_show(&wrong, sv_of(ret->wrong)), ret->code ? ": " : "",
			ret->code ? strerror(ret->code) : "");
	err->code = ret->code;
	if (ret->code)
		err->kind = ERROR_SYSTEM;
	return -1;
}

static void kill_helper(struct helper *h)
{
	close_fd(&h->in);
	close_fd(&h->out);
	close_fd(&h->report);
	if (h->pid <= 0)
		return;
	(void)kill(h->pid, SIGKILL);
	while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
	h->pid = 0;
}

static int check_digest(struct leg *l, const char *want, const char *what, char ret[IMAGE_DIGEST], struct error *err)
{
	unsigned char digest[SHA256_SIZE];

	memcpy(ret, "sha256:", 7);
	sha256_done(&l->digest, digest);
	sha256_hex(digest, ret + 7);
	if (want && strcmp(want, ret) != 0)
		return error_set(err, ERROR_INPUT, "%s is damaged or was changed: its digest is %s, and should be %s",
				 what, ret, want);
	return 0;
}

static void count(const struct pump *p, const struct unpack_counts *made)
{
	struct unpack_budget *b = p->job->budget;

	b->in += input(p);
	b->out += p->second.bytes;
	b->bytes -= made->bytes < b->bytes ? made->bytes : b->bytes;
	b->entries -= made->entries < b->entries ? made->entries : b->entries;
}

/* The decompressor's trouble is the cause of the unpacker's, since what it passed on is cut short, unless the unpacker
 * was first. */
static int end_pump(struct pump *p, struct unpack_result *ret, struct error *err)
{
	struct unpack_report report = {0};
	char blob[IMAGE_DIGEST];

	if (!p->compressed)
		p->first.digest = p->second.digest;
	if (p->compressed && end_helper(&p->dec, p->job->what, &report, err) < 0 && !p->tar_stopped)
		return -1;
	if (end_helper(&p->tar, p->job->what, &report, err) < 0)
		return -1;
	if (p->stopped)
		return error_set(err, ERROR_SYSTEM, "%s: cordon-unpack ended early", p->job->what);
	/* where a digest is known it speaks for itself */
	if (!report.whole && !p->job->tar)
		return error_set(err, ERROR_INPUT, "%s is cut short: it has no end", p->job->what);
	ret->counts = report.counts;
	count(p, &report.counts);
	if (check_digest(&p->first, p->job->blob, p->job->what, blob, err) < 0)
		return -1;
	return check_digest(&p->second, p->job->tar, p->job->what, ret->tar, err);
}

/* What is read to know the form belongs to the bytes. */
static int read_head(struct pump *p, enum compression *ret, struct error *err)
{
	struct leg *l = &p->first;
	int r = 0;

	while (r == 0 && !l->ended && l->to < COMPRESSION_HEAD) {
		struct pollfd fd = {.fd = p->job->in, .events = POLLIN};

		(void)poll(&fd, 1, -1);
		r = leg_fill(l, p->job->in);
	}
	if (r < 0)
		return error_sys(err, r, "%s", p->job->what);
	*ret = compression_of(sv_n(l->p, l->to));
	p->compressed = *ret != COMPRESSION_NONE;
	if (!p->compressed) {
		char *empty = p->second.p;

		p->second = p->first;
		p->first = (struct leg){.p = empty};
	}
	return 0;
}

static int run(struct pump *p, const struct image_ids *ids, int folder, struct unpack_result *ret, struct error *err)
{
	enum compression how = COMPRESSION_NONE;

	if (read_head(p, &how, err) < 0)
		return -1;
	if (p->second.ended && p->second.bytes == 0)
		return error_set(err, ERROR_INPUT, "%s is empty", p->job->what);
	if (start_unpacker(p, ids, folder, err) < 0 || (p->compressed && start_decompressor(p, how, err) < 0))
		return -1;
	if (run_pump(p, err) < 0)
		return -1;
	return end_pump(p, ret, err);
}

void unpack_budget_init(struct unpack_budget *b)
{
	*b = (struct unpack_budget){.bytes = UNPACK_MAX_BYTES, .entries = UNPACK_MAX_ENTRIES};
}

/* How many bytes of it are somewhere: a file can be all holes. Where it is read from stays as it is. */
static uint64_t bytes_in(int fd)
{
	off_t here = lseek(fd, 0, SEEK_CUR), data = 0, hole = here;
	uint64_t sum = 0;
	struct stat st;

	if (here < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_blocks * 512 >= (uint64_t)st.st_size)
		return UINT64_MAX;
	while ((data = lseek(fd, hole, SEEK_DATA)) >= 0 && (hole = lseek(fd, data, SEEK_HOLE)) > data)
		sum += (uint64_t)(hole - data);
	if (data < 0 && errno != ENXIO)
		sum = UINT64_MAX; /* the file system does not say */
	return lseek(fd, here, SEEK_SET) == here ? sum : UINT64_MAX;
}

int image_unpack(const struct image_ids *ids, int folder, const struct unpack_job *job, struct unpack_result *ret,
		 struct error *err)
{
	struct pump p = {
		.job = job, .dec = {.in = -1, .out = -1, .report = -1}, .tar = {.in = -1, .out = -1, .report = -1}};
	AUTO_FREE char *room = malloc(2 * CHUNK);
	AUTO_FD program = sys_find_program("unpack");
	void (*before)(int);
	int r;

	if (!room)
		return error_sys(err, ENOMEM, "%s", job->what);
	if (program < 0)
		return error_set(err, ERROR_MISSING,
				 "cordon-unpack is not beside this program nor in ../libexec/cordon: images need it; "
				 "install all of Cordon's programs together");
	p.program = program;
	p.in_most = bytes_in(job->in);
	p.first.p = room;
	p.second.p = room + CHUNK;
	sha256_init(&p.first.digest);
	sha256_init(&p.second.digest);
	before = signal(SIGPIPE, SIG_IGN);
	r = run(&p, ids, folder, ret, err);
	kill_helper(&p.dec);
	kill_helper(&p.tar);
	(void)signal(SIGPIPE, before);
	return r;
}
