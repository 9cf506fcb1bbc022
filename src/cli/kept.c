#include "cli/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/launch_shown.h"
#include "supervise/control.h"

extern char **environ;

enum { KEPT_RECORD = STATE_ID - 1 + KEPT_PARTS * SHA256_HEX + 2 /* newline, and NUL */ };

static void add(struct sha256 *h, const char *s)
{
	/* the NUL too: no two lists read the same */
	sha256_add(h, s ? s : "", strlen(s ? s : "") + 1);
}

/* Variables of ours that the policy lets in. */
static void add_passed(struct sha256 *h, const struct policy *p)
{
	uint32_t i;

	for (i = 0; i < p->process.env_pass.n; i++)
		add(h, getenv(p->process.env_pass.v[i].s));
}

static void end_part(struct sha256 *h, char part[SHA256_HEX])
{
	unsigned char digest[SHA256_SIZE];

	sha256_done(h, digest);
	sha256_hex(digest, part);
}

static void digest_word(const char *s, char part[SHA256_HEX])
{
	struct sha256 h;

	sha256_init(&h);
	add(&h, s);
	end_part(&h, part);
}

static void digest_variables(const struct launch_request *req, char part[SHA256_HEX])
{
	struct sha256 h;
	size_t i;

	sha256_init(&h);
	for (i = 0; i < req->n_env_arguments; i++) {
		add(&h, req->env_arguments[i]);
		if (!strchr(req->env_arguments[i], '='))
			add(&h, getenv(req->env_arguments[i]));
	}
	add_passed(&h, req->policy->policy);
	end_part(&h, part);
}

int kept_init(struct kept *k, const struct launch_request *req, const char *owner, struct error *err)
{
	AUTO_FREE char *runs = NULL;
	struct sha256 h;
	size_t i;

	*k = (struct kept){0};
	if (state_root(&runs, err) < 0)
		return -1;
	if (asprintf(&k->folder, "%s/..", runs) < 0) {
		k->folder = NULL;
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	digest_word(owner, k->parts[KEPT_OWNER]);
	digest_word(req->policy->digest, k->parts[KEPT_POLICY]);
	digest_word(runtime_names[req->pick->runtime], k->parts[KEPT_RUNTIME]);
	digest_word(req->workdir, k->parts[KEPT_WORKDIR]);
	digest_variables(req, k->parts[KEPT_VARIABLES]);
	if (launch_shown(req, k->parts[KEPT_SHOWN], err) < 0)
		return -1;
	sha256_init(&h);
	for (i = 0; i < KEPT_PARTS; i++)
		add(&h, k->parts[i]);
	end_part(&h, k->key);
	return 0;
}

void kept_done(struct kept *k)
{
	free(k->folder);
	k->folder = NULL;
}

/* A folder of ours below the state folder. */
static int open_folder(const struct kept *k, const char *name, bool make)
{
	AUTO_FD parent = open(k->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD middle = -1;

	if (parent < 0)
		return -errno;
	if (make)
		(void)mkdirat(parent, name, 0700);
	middle = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return middle < 0 ? -errno : fd_take(&middle);
}

static int open_warm(const struct kept *k, bool make)
{
	AUTO_FD warm = open_folder(k, "warm", make);
	int fd;

	if (warm < 0)
		return warm;
	if (make)
		(void)mkdirat(warm, k->key, 0700);
	fd = openat(warm, k->key, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_id(const char *s)
{
	return strlen(s) == STATE_ID - 1 && strspn(s, "0123456789abcdef") == STATE_ID - 1;
}

int kept_lock(const struct kept *k, struct error *err)
{
	AUTO_FD dir = open_folder(k, "owned", true);
	AUTO_FD fd = dir < 0 ? -1 : openat(dir, k->key, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		return error_sys(err, dir < 0 ? dir : errno, "%s/owned", k->folder);
	return fd_take(&fd);
}

static off_t place(size_t slot)
{
	return (off_t)slot * (KEPT_RECORD - 1);
}

void kept_id(int lock, size_t slot, char ret_id[STATE_ID])
{
	char id[STATE_ID] = "";

	(void)!pread(lock, id, STATE_ID - 1, place(slot));
	memcpy(ret_id, is_id(id) ? id : "", is_id(id) ? STATE_ID : 1);
}

/* One line of a fixed length: the id and the digests. */
static void put_record(const struct kept *k, const char *id, struct buf *out)
{
	size_t i;

	buf_init(out, KEPT_RECORD);
	(void)buf_str(out, id);
	for (i = 0; i < KEPT_PARTS; i++)
		(void)buf_printf(out, " %s", k->parts[i]);
	(void)buf_char(out, '\n');
}

int kept_save(const struct kept *k, int lock, size_t slot, const char *id, struct error *err)
{
	AUTO_BUF b = {0};
	ssize_t n;

	put_record(k, id, &b);
	n = pwrite(lock, b.p, b.n, place(slot));
	return n == (ssize_t)b.n ? 0 : error_sys(err, n < 0 ? errno : EIO, "%s/owned", k->folder);
}

/* The slot that has it, or KEPT_SLOTS. */
static size_t find_id(int fd, const char *id)
{
	char has[STATE_ID];
	size_t slot;

	for (slot = 0; fd >= 0 && slot < KEPT_SLOTS; slot++) {
		kept_id(fd, slot, has);
		if (strcmp(has, id) == 0)
			return slot;
	}
	return KEPT_SLOTS;
}

/* Not while it is being handed out: kept_lock() has told somebody its id then. */
static int forget_id(int fd, const char *id)
{
	static const char none[STATE_ID - 1] = "--------";
	size_t slot;

	if (find_id(fd, id) == KEPT_SLOTS)
		return 0;
	if (flock(fd, LOCK_EX) < 0)
		return -errno;
	slot = find_id(fd, id);
	return slot < KEPT_SLOTS && pwrite(fd, none, sizeof(none), place(slot)) < 0 ? -errno : 0;
}

int kept_disown(const char *id, struct error *err)
{
	AUTO_FREE char *runs = NULL;
	AUTO_FREE char *folder = NULL;
	struct dirent *e;
	int dir, r = 0;
	DIR *d;

	if (state_root(&runs, err) < 0)
		return -1;
	if (asprintf(&folder, "%s/..", runs) < 0) {
		folder = NULL;
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	dir = open_folder(&(struct kept){.folder = folder}, "owned", false);
	d = dir < 0 ? NULL : fdopendir(dir);
	while (d && r == 0 && (e = readdir(d))) {
		AUTO_FD fd = e->d_name[0] == '.' ? -1 : openat(dirfd(d), e->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

		int forgotten = forget_id(fd, id);

		if (forgotten < 0)
			r = error_sys(err, forgotten, "%s/owned", folder);
	}
	if (d)
		(void)closedir(d);
	return r;
}

/* What is different about the sandbox of a record, if it is the same owner's and is there; else NULL. */
static const char *compare(const struct kept *k, int dir, const char *name, char ret_id[STATE_ID])
{
	static const char *const what[KEPT_PARTS] = {[KEPT_POLICY] = "policy",
						     [KEPT_RUNTIME] = "runtime",
						     [KEPT_WORKDIR] = "work folder",
						     [KEPT_VARIABLES] = "set of variables",
						     [KEPT_SHOWN] = "set of folders or denied names"};
	AUTO_FD file = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	const char *differs = NULL;
	AUTO_BUF b = {0};
	size_t i;

	buf_init(&b, KEPT_SLOTS * KEPT_RECORD);
	if (file < 0 || buf_read_fd(&b, file) < 0 || b.n < KEPT_RECORD - 1)
		return NULL;
	/* the parts are the same in all of a file */
	for (i = KEPT_PARTS; i-- > 0;)
		if (memcmp(b.p + STATE_ID + i * SHA256_HEX, k->parts[i], SHA256_HEX - 1) != 0)
			differs = i == KEPT_OWNER ? NULL : what[i];
	for (i = 0; differs && i < KEPT_SLOTS; i++) {
		AUTO_FD there = -1;

		kept_id(file, i, ret_id);
		there = ret_id[0] ? control_connect(ret_id) : -1;
		if (there >= 0)
			return differs;
	}
	return NULL;
}

const char *kept_other(const struct kept *k, char ret_id[STATE_ID])
{
	int dir = open_folder(k, "owned", false);
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	const char *differs = NULL;
	struct dirent *e;

	while (d && !differs && (e = readdir(d)))
		differs = e->d_name[0] == '.' ? NULL : compare(k, dirfd(d), e->d_name, ret_id);
	if (d)
		(void)closedir(d);
	return differs;
}

int kept_offer(const struct kept *k, const char *id, struct error *err)
{
	AUTO_FD dir = open_warm(k, true);
	AUTO_FD fd = dir < 0 ? -1 : openat(dir, id, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	return fd < 0 ? error_sys(err, dir < 0 ? dir : errno, "%s/warm", k->folder) : 0;
}

int kept_take(const struct kept *k, char ret_id[STATE_ID])
{
	int dir = open_warm(k, false), fd = -1;
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct dirent *e;

	while (d && fd < 0 && (e = readdir(d))) {
		if (!is_id(e->d_name) || unlinkat(dirfd(d), e->d_name, 0) < 0)
			continue;
		fd = control_connect(e->d_name); /* one that has ended since cannot be had */
		memcpy(ret_id, e->d_name, STATE_ID);
	}
	if (d)
		(void)closedir(d);
	return fd < 0 ? -1 : fd;
}

int kept_fill(const struct kept *k)
{
	AUTO_FD dir = open_warm(k, true);
	AUTO_FD lock = dir < 0 ? -1 : openat(dir, "lock", O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);

	return lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 ? fd_take(&lock) : -1;
}

/* Told by its log, which is locked while its supervisor lives: a connection would wake each of them up. */
static bool is_alive(int runs, const char *id)
{
	char name[STATE_ID + 16];
	AUTO_FD log = -1;

	(void)snprintf(name, sizeof(name), "%s/audit.jsonl", id);
	log = openat(runs, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return log >= 0 && flock(log, LOCK_SH | LOCK_NB) < 0;
}

size_t kept_count(const struct kept *k, size_t enough)
{
	AUTO_FD runs = open_folder(k, "runs", false);
	AUTO_FD dir = runs < 0 ? -1 : open_warm(k, true);
	int copy = dir < 0 ? -1 : fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;
	size_t n = 0;

	while (d && n < enough && (e = readdir(d))) {
		if (!is_id(e->d_name))
			continue;
		if (is_alive(runs, e->d_name))
			n++;
		else
			(void)unlinkat(dir, e->d_name, 0);
	}
	if (d)
		(void)closedir(d);
	return n;
}

bool kept_is_wanted(int lock)
{
	struct stat st;

	return fstat(lock, &st) == 0 && st.st_nlink;
}

void kept_halt(const char *runs)
{
	struct kept k = {0};
	AUTO_FREE char *folder = NULL;
	struct dirent *e;
	char path[300];
	int dir;
	DIR *d;

	if (asprintf(&folder, "%s/..", runs) < 0) {
		folder = NULL;
		return;
	}
	k.folder = folder;
	dir = open_folder(&k, "warm", false);
	d = dir < 0 ? NULL : fdopendir(dir);
	while (d && (e = readdir(d))) {
		(void)snprintf(path, sizeof(path), "%s/lock", e->d_name);
		if (e->d_name[0] != '.')
			(void)unlinkat(dir, path, 0);
	}
	if (d)
		(void)closedir(d);
}
