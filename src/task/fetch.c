#include "task/fetch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sv.h"
#include "base/text.h"
#include "sys/beneath.h"
#include "sys/tree.h"
#include "task/orders.h"

static bool is_plain_name(const char *name)
{
	struct sv s = sv_of(name);
	size_t n;

	while (s.n) {
		unsigned char c = (unsigned char)s.p[0];

		n = text_utf8(s);
		if (n == 0 || c < 0x20 || c == 0x7f)
			return false;
		s = sv_n(s.p + n, s.n - n);
	}
	return true;
}

/* Both are strangers': there may be a million of each. */
static bool is_excluded(struct fetch_limits *l, const char *name)
{
	uint32_t i;

	for (i = 0; l->exclude && i < l->exclude->n; i++) {
		if (l->tries == 0) {
			l->entries = 0;
			return false;
		}
		l->tries--;
		if (fnmatch(l->exclude->v[i].s, name, 0) == 0)
			return true;
	}
	return false;
}

/* By its holes a file can be larger than one can be where it is copied to: that is no failure of ours. 1, or the code.
 */
static int too_large(int code, struct fetch_limits *l)
{
	if (code != -EFBIG && code != -EINVAL)
		return code;
	l->left_out++;
	return 1;
}

/* From where both files are. 1: it ends here, and something was left out. */
static int copy_some(int from, int to, uint64_t size, struct fetch_limits *l)
{
	char bytes[65536];
	ssize_t n;
	int r;

	for (; size; size -= (uint64_t)n) {
		n = read(from, bytes, size < sizeof(bytes) ? (size_t)size : sizeof(bytes));
		if (n < 0 && errno == EINTR) {
			n = 0;
			continue;
		}
		/* what cannot be read to its end must not pass for all of it */
		if (n <= 0 || (uint64_t)n > l->bytes) {
			l->bytes = n > 0 ? 0 : l->bytes;
			l->left_out++;
			return 1;
		}
		l->bytes -= (uint64_t)n;
		r = write_all(to, bytes, (size_t)n);
		if (r < 0)
			return too_large(r, l);
	}
	return 0;
}

/* Holes stay holes: who left them stored nothing. */
static int copy_bytes(int from, int to, off_t size, struct fetch_limits *l)
{
	off_t at = 0, end;
	char more;
	int r;

	while (at < size) {
		off_t data = lseek(from, at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			break;
		end = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
		data = data < 0 ? at : data;
		end = end < 0 || end > size ? size : end;
		if (lseek(from, data, SEEK_SET) < 0 || lseek(to, data, SEEK_SET) < 0)
			r = too_large(-errno, l);
		else
			r = data < end ? copy_some(from, to, (uint64_t)(end - data), l) : 0;
		if (r)
			return r < 0 ? r : 0;
		at = end;
	}
	/* one of the kernel's own has no size, and one that cannot be read none that counts */
	if (pread(from, &more, 1, size) != 0)
		l->left_out++;
	r = ftruncate(to, size) < 0 ? too_large(-errno, l) : 0;
	return r < 0 ? r : 0;
}

int fetch_file(int from, const char *name, int to, const char *as, struct fetch_limits *l, struct error *err)
{
	AUTO_FD in = sys_open_beneath(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	AUTO_FD out = -1;
	struct text_shown shown;
	struct stat st;
	int r;

	if (in == -ENOENT)
		return 1;
	if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode) || l->entries == 0) {
		l->left_out++;
		return 1;
	}
	l->entries--;
	out = openat(to, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (out < 0 && errno == EEXIST) {
		l->left_out++;
		return 1;
	}
	r = out < 0 ? -errno : copy_bytes(in, out, st.st_size, l);
	return r < 0 ? error_sys(err, r, "results: %s", text_show(&shown, sv_of(as))) : 0;
}

static int fetch_below(int from, const char *name, int to, struct fetch_limits *l, struct error *err)
{
	AUTO_FD in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD out = -1;
	unsigned before = l->orders ? l->orders->depth : 0;
	struct text_shown shown;
	int r;

	if (in < 0 || l->depth == 0 || l->entries == 0) {
		l->left_out++;
		return 0;
	}
	l->entries--;
	if (mkdirat(to, name, 0755) < 0 && errno != EEXIST)
		return error_sys(err, errno, "results: %s", text_show(&shown, sv_of(name)));
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0 && (errno == ENOTDIR || errno == ELOOP)) {
		l->left_out++;
		return 0;
	}
	if (out < 0)
		return error_sys(err, errno, "results: %s", text_show(&shown, sv_of(name)));
	l->depth--;
	if (l->orders)
		(void)orders_enter(l->orders, name);
	r = fetch_folder(in, out, l, err);
	if (l->orders)
		orders_leave(l->orders, before);
	l->depth++;
	return r;
}

static int fetch_entry(int from, const char *name, int to, struct fetch_limits *l, struct error *err)
{
	struct stat st;

	if (is_plain_name(name) && fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (l->orders && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) && orders_refuse(l->orders, to, name))
			return 0;
		if (S_ISDIR(st.st_mode))
			return fetch_below(from, name, to, l, err);
		if (S_ISREG(st.st_mode))
			return fetch_file(from, name, to, name, l, err) < 0 ? -1 : 0;
	}
	l->left_out++;
	return 0;
}

int fetch_folder(int from, int to, struct fetch_limits *l, struct error *err)
{
	bool refused = l->orders && orders_refuse_folder(l->orders, from);
	DIR *d = refused ? NULL : sys_list(from);
	struct dirent *e;
	int r = 0;

	if (!d) {
		l->left_out += !refused;
		return 0;
	}
	while (r == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || is_excluded(l, e->d_name))
			continue;
		if (l->entries == 0) {
			l->left_out++; /* and whatever follows */
			break;
		}
		r = fetch_entry(from, e->d_name, to, l, err);
	}
	(void)closedir(d);
	return r;
}
