#include "policy/policy_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "policy/policy_codec.h"

/* CACHE_PLACES entries at most; a policy larger than CACHE_MAX is parsed each time. */
enum { CACHE_PLACES = 1024, CACHE_MAX = 4 << 20, CACHE_HEAD = 8 + SHA256_SIZE + 64, CACHE_PATH_MAX = 4096 };

static const char magic[8] = {'C', 'C', 'A', 'C', 'H', 'E', 0, 1};

static void add_str(struct sha256 *s, const char *text)
{
	uint64_t n = text ? strlen(text) : UINT64_MAX;

	sha256_add(s, &n, sizeof(n));
	if (text)
		sha256_add(s, text, strlen(text));
}

/* Another build may come to other results: the executable's identity is part of the key. */
static int add_self(struct sha256 *s)
{
	struct stat st;
	uint64_t id[6];

	if (stat("/proc/self/exe", &st) < 0)
		return -errno;
	id[0] = st.st_dev;
	id[1] = st.st_ino;
	id[2] = (uint64_t)st.st_size;
	id[3] = (uint64_t)st.st_mtim.tv_sec;
	id[4] = (uint64_t)st.st_mtim.tv_nsec;
	id[5] = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	sha256_add(s, id, sizeof(id));
	return 0;
}

int policy_cache_key(const struct policy_request *req, const char *cwd, struct cache_key *ret)
{
	unsigned char flags[2] = {req->no_ceiling, 0};
	struct sha256 s;
	size_t i;
	int r;

	sha256_init(&s);
	add_str(&s, CORDON_VERSION);
	r = add_self(&s);
	if (r < 0)
		return r;
	add_str(&s, req->home);
	add_str(&s, req->config_dir);
	add_str(&s, req->cache_dir);
	add_str(&s, req->state_dir);
	add_str(&s, req->workdir);
	add_str(&s, req->phase);
	add_str(&s, cwd);
	for (i = 0; i < req->n_sources; i++) {
		flags[1] = req->sources[i].is_profile;
		sha256_add(&s, flags, sizeof(flags));
		add_str(&s, req->sources[i].name);
	}
	sha256_add(&s, flags, 1);
	sha256_done(&s, ret->bytes);
	return 0;
}

int policy_cache_read(struct cache_files *files, const char *path, struct buf *bytes)
{
	struct cache_file *f = &files->v[files->n];
	struct sha256 s;
	int r = buf_read_file(bytes, path);

	if (r == -ENOTDIR)
		r = -ENOENT;
	if ((r < 0 && r != -ENOENT) || files->n == ARRAY_LEN(files->v))
		files->skip = true;
	if (files->skip)
		return r;
	*f = (struct cache_file){.path = path, .exists = r == 0};
	if (f->exists) {
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

/* A whole entry, if it is the user's own file and nobody else's to write. */
static int read_entry(const char *dir, const struct cache_key *key, struct buf *out)
{
	char path[CACHE_PATH_MAX], name[16];
	AUTO_FD fd = -1;
	struct stat st;
	ssize_t n;

	place_name(key, name);
	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) || st.st_nlink != 1)
		return -EPERM;
	if (st.st_size < CACHE_HEAD + SHA256_SIZE || st.st_size > CACHE_MAX)
		return -EBADMSG;
	out->p = malloc((size_t)st.st_size);
	if (!out->p)
		return -ENOMEM;
	out->cap = (size_t)st.st_size;
	n = read(fd, out->p, (size_t)st.st_size);
	if (n != st.st_size)
		return -EBADMSG;
	out->n = (size_t)n;
	return 0;
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

/* The file is as it was: the same bytes, or still not there. */
static bool unchanged(const char *path, const char *digest, struct buf *scratch)
{
	unsigned char now[SHA256_SIZE];
	int r;

	buf_clear(scratch);
	r = buf_read_file(scratch, path);
	if (!digest)
		return r == -ENOENT || r == -ENOTDIR;
	if (r < 0)
		return false;
	digest_of(buf_view(scratch), now);
	return memcmp(now, digest, sizeof(now)) == 0;
}

/* One byte: 0 missing, 1 exists, 2 the end; a NUL-terminated path; a digest where it exists. */
static int check_files(struct sv *rest)
{
	const char *mark, *path, *digest;
	AUTO_BUF scratch = {0};
	size_t n;

	buf_init(&scratch, POLICY_MAX_BYTES);
	for (;;) {
		mark = take(rest, 1);
		if (!mark || *mark < 0 || *mark > 2)
			return -EBADMSG;
		if (*mark == 2)
			return 0;
		n = strnlen(rest->p, rest->n);
		path = take(rest, n + 1);
		digest = path && *mark ? take(rest, SHA256_SIZE) : NULL;
		if (!path || (*mark && !digest))
			return -EBADMSG;
		if (!unchanged(path, digest, &scratch))
			return -ESTALE;
	}
}

int policy_cache_get(const char *dir, const struct cache_key *key, struct policy **ret, char digest[SHA256_HEX])
{
	AUTO_BUF entry = {0};
	unsigned char whole[SHA256_SIZE];
	const char *head, *hex;
	struct sv rest;
	int r;

	buf_init(&entry, CACHE_MAX);
	r = read_entry(dir, key, &entry);
	if (r < 0)
		return r;
	rest = sv_n(entry.p, entry.n - SHA256_SIZE);
	if (memcmp(rest.p, magic, sizeof(magic)) != 0 || memcmp(rest.p + 8, key->bytes, SHA256_SIZE) != 0)
		return -ENOENT;
	digest_of(rest, whole);
	if (memcmp(whole, entry.p + rest.n, SHA256_SIZE) != 0)
		return -EBADMSG;
	head = take(&rest, 8 + SHA256_SIZE);
	hex = take(&rest, SHA256_HEX - 1);
	r = head && hex ? check_files(&rest) : -EBADMSG;
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
	unsigned char whole[SHA256_SIZE];
	uint32_t i;

	(void)buf_add(out, magic, sizeof(magic));
	(void)buf_add(out, key->bytes, sizeof(key->bytes));
	(void)buf_add(out, digest, SHA256_HEX - 1);
	for (i = 0; i < files->n; i++) {
		(void)buf_char(out, (char)files->v[i].exists);
		(void)buf_add(out, files->v[i].path, strlen(files->v[i].path) + 1);
		if (files->v[i].exists)
			(void)buf_add(out, files->v[i].digest, SHA256_SIZE);
	}
	(void)buf_char(out, 2);
	(void)buf_sv(out, encoding);
	if (buf_failed(out))
		return;
	digest_of(buf_view(out), whole);
	(void)buf_add(out, whole, sizeof(whole));
}

/* The folder and the one it is in (~/.cache of a new user). */
static int make_dir(const char *dir)
{
	char parent[CACHE_PATH_MAX];
	const char *slash = strrchr(dir, '/');

	if (mkdir(dir, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || !slash || slash == dir)
		return -errno;
	if (snprintf(parent, sizeof(parent), "%.*s", (int)(slash - dir), dir) >= (int)sizeof(parent))
		return -ENAMETOOLONG;
	if (mkdir(parent, 0700) < 0 && errno != EEXIST)
		return -errno;
	return mkdir(dir, 0700) == 0 || errno == EEXIST ? 0 : -errno;
}

/* It must be the user's, and nobody else's to write. */
static int open_dir(const char *dir)
{
	AUTO_FD fd = -1;
	struct stat st;
	int r = make_dir(dir);

	if (r < 0)
		return r;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return -EPERM;
	return fd_take(&fd);
}

/* Whoever reads sees the old entry or the new one: the name appears with all its bytes. */
static int replace(int dir, const char *name, struct sv bytes)
{
	AUTO_FD fd = -1;
	char temp[40];
	int r;

	(void)snprintf(temp, sizeof(temp), ".%s.%d", name, (int)getpid());
	/* Left over by one that was killed, with a pid that came round again. */
	(void)unlinkat(dir, temp, 0);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes.p, bytes.n);
	if (r == 0 && renameat(dir, temp, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, temp, 0);
	return r;
}

int policy_cache_put(const char *dir, const struct cache_key *key, const struct cache_files *files,
		     const char digest[SHA256_HEX], struct sv encoding)
{
	AUTO_BUF entry = {0};
	AUTO_FD fd = -1;
	char name[16];

	if (files->skip)
		return -ENOBUFS;
	buf_init(&entry, CACHE_MAX);
	write_entry(&entry, key, files, digest, encoding);
	if (buf_failed(&entry))
		return buf_failed(&entry);
	fd = open_dir(dir);
	if (fd < 0)
		return fd;
	place_name(key, name);
	return replace(fd, name, buf_view(&entry));
}
