#include "policy/policy_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cachefile.h"
#include "base/cleanup.h"
#include "base/real_path.h"
#include "policy/policy_codec.h"

/* CACHE_PLACES entries at most; a policy larger than CACHE_MAX is parsed each time. */
enum { CACHE_PLACES = 1024, CACHE_MAX = 4 << 20 };

enum { PIPEFS = 0x50495045 }; /* the kernel's number for pipes without a name */

static const char magic[8] = {'C', 'C', 'A', 'C', 'H', 'E', 0, 2};

static void add_str(struct sha256 *s, const char *text)
{
	uint64_t n = text ? strlen(text) : UINT64_MAX;

	sha256_add(s, &n, sizeof(n));
	if (text)
		sha256_add(s, text, strlen(text));
}

int policy_cache_key(const struct policy_request *req, const char *cwd, struct cache_key *ret)
{
	unsigned char flags[2] = {req->no_ceiling, 0};
	struct sha256 s;
	size_t i;
	int r;

	sha256_init(&s);
	add_str(&s, CORDON_VERSION);
	r = cachefile_add_self(&s);
	if (r < 0)
		return r;
	add_str(&s, req->home);
	add_str(&s, req->config_dir);
	add_str(&s, req->cache_dir);
	add_str(&s, req->state_dir);
	add_str(&s, req->data_dir);
	add_str(&s, req->workdir);
	add_str(&s, req->phase);
	add_str(&s, req->runtime);
	add_str(&s, req->category);
	add_str(&s, cwd);
	for (i = 0; i < req->n_sources; i++) {
		flags[1] = (unsigned char)(req->sources[i].is_profile | req->sources[i].is_bound << 1);
		sha256_add(&s, flags, sizeof(flags));
		add_str(&s, req->sources[i].name);
	}
	sha256_add(&s, flags, 1);
	sha256_done(&s, ret->bytes);
	return 0;
}

/* A link, be it one on the way, that leads nowhere: its maker meant a file. */
static bool dangles(const char *path)
{
	char at[PATH_MAX], *slash;
	struct stat st;

	if ((size_t)snprintf(at, sizeof(at), "%s", path) >= sizeof(at))
		return true;
	while (lstat(at, &st) < 0) {
		slash = strrchr(at, '/');
		if (!slash || slash == at)
			return false;
		*slash = '\0';
	}
	return stat(at, &st) < 0;
}

int policy_cache_open_pipe(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct statfs fs;

	/* the flags are of this opening alone */
	if (fd < 0 || fstatfs(fd, &fs) < 0 || (unsigned long)fs.f_type != PIPEFS || fcntl(fd, F_SETFL, 0) < 0)
		return -1;
	return fd_take(&fd);
}

/* As buf_read_file(), but waits for whoever writes to a pipe that was handed over. */
static int read_pipe(const char *path, struct buf *bytes)
{
	AUTO_FD fd = policy_cache_open_pipe(path);

	return fd < 0 ? buf_read_file(bytes, path) : buf_read_fd(bytes, fd);
}

static int read_now(const char *path, bool wait, struct buf *bytes, char real[PATH_MAX])
{
	int r = wait ? read_pipe(path, bytes) : buf_read_file(bytes, path);

	if (r == -ENOENT && dangles(path))
		return -ENOLINK;
	if (r == 0 && !real_path(path, real) && (size_t)snprintf(real, PATH_MAX, "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	return r;
}

/* A pipe can be read once: it is not looked at again to see whether it is as it was. */
static bool is_pipe(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

int policy_cache_read(struct cache_files *files, struct arena *a, const char *path, struct buf *bytes, const char **ret)
{
	struct cache_file *f = &files->v[files->n];
	char real[PATH_MAX];
	struct sha256 s;
	int r = read_now(path, files->wait && is_pipe(path), bytes, real);

	if (r == 0) {
		*ret = arena_str(a, sv_of(real));
		if (!*ret)
			return -ENOMEM;
	}
	if ((r < 0 && r != -ENOENT) || files->n == ARRAY_LEN(files->v) || is_pipe(path))
		files->skip = true;
	if (files->skip)
		return r;
	*f = (struct cache_file){.path = path, .real = r == 0 ? *ret : NULL};
	if (f->real) {
		sha256_init(&s);
		sha256_add(&s, bytes->p, bytes->n);
		sha256_done(&s, f->digest);
	}
	files->n++;
	return r;
}

static void place_name(const struct cache_key *key, char name[16])
{
	unsigned place = ((unsigned)key->bytes[0] << 8 | key->bytes[1]) % CACHE_PLACES;

	(void)snprintf(name, 16, "policy-%03x", place);
}

static void digest_of(struct sv bytes, unsigned char out[SHA256_SIZE])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, bytes.p, bytes.n);
	sha256_done(&s, out);
}

/* The next n bytes, or NULL where there are fewer. */
static const char *take(struct sv *s, size_t n)
{
	const char *p = s->p;

	if (s->n < n)
		return NULL;
	*s = sv_n(s->p + n, s->n - n);
	return p;
}

/* The file is as it was: the same bytes, under the same name, or still not there. */
static bool unchanged(const char *path, const char *real, const char *digest, struct buf *scratch)
{
	unsigned char bytes[SHA256_SIZE];
	char now[PATH_MAX];
	int r;

	if (is_pipe(path))
		return false;
	buf_clear(scratch);
	r = read_now(path, false, scratch, now);
	if (!digest)
		return r == -ENOENT;
	if (r < 0 || strcmp(now, real) != 0)
		return false;
	digest_of(buf_view(scratch), bytes);
	return memcmp(bytes, digest, sizeof(bytes)) == 0;
}

/* The next string, with its NUL. */
static const char *take_str(struct sv *s)
{
	return take(s, strnlen(s->p, s->n) + 1);
}

/* One byte: 0 missing, 1 exists, 2 the end; a NUL-terminated path; where it exists another one and a digest. */
static int check_files(struct sv *rest)
{
	const char *mark, *path, *real, *digest;
	AUTO_BUF scratch = {0};

	buf_init(&scratch, POLICY_MAX_BYTES);
	for (;;) {
		mark = take(rest, 1);
		if (!mark || *mark < 0 || *mark > 2)
			return -EBADMSG;
		if (*mark == 2)
			return 0;
		path = take_str(rest);
		real = path && *mark ? take_str(rest) : NULL;
		digest = real ? take(rest, SHA256_SIZE) : NULL;
		if (!path || (*mark && !digest))
			return -EBADMSG;
		if (!unchanged(path, real, digest, &scratch))
			return -ESTALE;
	}
}

int policy_cache_get(const char *dir, const struct cache_key *key, struct policy **ret, char digest[SHA256_HEX])
{
	AUTO_BUF entry = {0};
	const char *head, *hex;
	char name[16];
	struct sv rest;
	int r;

	buf_init(&entry, CACHE_MAX);
	place_name(key, name);
	r = cachefile_read(dir, name, &entry);
	if (r < 0)
		return r;
	rest = buf_view(&entry);
	head = take(&rest, 8 + SHA256_SIZE);
	if (!head || memcmp(head, magic, sizeof(magic)) != 0 || memcmp(head + 8, key->bytes, SHA256_SIZE) != 0)
		return -ENOENT;
	hex = take(&rest, SHA256_HEX - 1);
	r = hex ? check_files(&rest) : -EBADMSG;
	if (r == 0)
		r = policy_decode(rest, ret);
	if (r == 0) {
		memcpy(digest, hex, SHA256_HEX - 1);
		digest[SHA256_HEX - 1] = '\0';
	}
	return r;
}

static void write_entry(struct buf *out, const struct cache_key *key, const struct cache_files *files,
			const char digest[SHA256_HEX], struct sv encoding)
{
	uint32_t i;

	(void)buf_add(out, magic, sizeof(magic));
	(void)buf_add(out, key->bytes, sizeof(key->bytes));
	(void)buf_add(out, digest, SHA256_HEX - 1);
	for (i = 0; i < files->n; i++) {
		const struct cache_file *f = &files->v[i];

		(void)buf_char(out, (char)(f->real != NULL));
		(void)buf_add(out, f->path, strlen(f->path) + 1);
		if (!f->real)
			continue;
		(void)buf_add(out, f->real, strlen(f->real) + 1);
		(void)buf_add(out, f->digest, SHA256_SIZE);
	}
	(void)buf_char(out, 2);
	(void)buf_sv(out, encoding);
}

int policy_cache_put(const char *dir, const struct cache_key *key, const struct cache_files *files,
		     const char digest[SHA256_HEX], struct sv encoding)
{
	AUTO_BUF entry = {0};
	char name[16];

	if (files->skip)
		return -ENOBUFS;
	buf_init(&entry, CACHE_MAX);
	write_entry(&entry, key, files, digest, encoding);
	if (buf_failed(&entry))
		return buf_failed(&entry);
	place_name(key, name);
	return cachefile_replace(dir, name, &entry);
}
