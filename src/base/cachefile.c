#include "base/cachefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { CACHEFILE_PATH_MAX = 4096 };

int cachefile_add_self(struct sha256 *s)
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

static void digest_of(struct sv bytes, unsigned char out[SHA256_SIZE])
{
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, bytes.p, bytes.n);
	sha256_done(&s, out);
}

static int open_own(const char *dir, const char *name)
{
	char path[CACHEFILE_PATH_MAX];
	AUTO_FD fd = -1;
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) || st.st_nlink != 1)
		return -EPERM;
	return fd_take(&fd);
}

static bool begins_with(int fd, struct sv head)
{
	char is[CACHEFILE_HEAD_MAX];

	return head.n <= sizeof(is) && pread(fd, is, head.n, 0) == (ssize_t)head.n && sv_eq(sv_n(is, head.n), head);
}

int cachefile_read(const char *dir, const char *name, struct buf *out)
{
	return cachefile_read_of(dir, name, sv_n("", 0), out);
}

int cachefile_read_of(const char *dir, const char *name, struct sv head, struct buf *out)
{
	unsigned char digest[SHA256_SIZE];
	AUTO_FD fd = open_own(dir, name);
	int r = fd < 0 ? fd : head.n && !begins_with(fd, head) ? -ESTALE : buf_read_fd(out, fd);

	if (r < 0)
		return r;
	if (out->n < SHA256_SIZE)
		return -EBADMSG;
	out->n -= SHA256_SIZE;
	digest_of(buf_view(out), digest);
	return memcmp(digest, out->p + out->n, SHA256_SIZE) == 0 ? 0 : -EBADMSG;
}

/* The folder and the one it is in (~/.cache of a new user). */
static int make_dir(const char *dir)
{
	char parent[CACHEFILE_PATH_MAX];
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

int cachefile_replace(const char *dir, const char *name, struct buf *bytes)
{
	unsigned char digest[SHA256_SIZE];
	AUTO_FD folder = -1;
	AUTO_FD fd = -1;
	char temp[128];
	int r;

	digest_of(buf_view(bytes), digest);
	r = buf_add(bytes, digest, sizeof(digest));
	if (r < 0)
		return r;
	folder = open_dir(dir);
	if (folder < 0)
		return folder;
	(void)snprintf(temp, sizeof(temp), ".%s.%d", name, (int)getpid());
	/* Left over by one that was killed, with a pid that came round again. */
	(void)unlinkat(folder, temp, 0);
	fd = openat(folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, bytes->p, bytes->n);
	if (r == 0 && renameat(folder, temp, folder, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(folder, temp, 0);
	return r;
}
