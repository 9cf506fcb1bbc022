#include <stdlib.h>
#include <string.h>

#include "image/tar_header.h"

static const char no_memory[] = "needs more memory than there is";

void tar_extra_init(struct tar_extra *x)
{
	*x = (struct tar_extra){0};
	buf_init(&x->text, (size_t)TAR_MAX_EXTRA * TAR_MAX_HEADERS);
	buf_init(&x->path, TAR_MAX_PATH);
	buf_init(&x->link, TAR_MAX_PATH);
}

void tar_extra_done(struct tar_extra *x)
{
	buf_done(&x->text);
	buf_done(&x->path);
	buf_done(&x->link);
	free(x->parts);
}

void tar_extra_clear(struct tar_extra *x)
{
	struct buf text = x->text, path = x->path, link = x->link;

	free(x->parts);
	buf_clear(&text);
	buf_clear(&path);
	buf_clear(&link);
	*x = (struct tar_extra){.text = text, .path = path, .link = link};
}

bool tar_decimal(struct sv s, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
			return false;
	}
	*ret = v;
	return s.n > 0;
}

const char *tar_add_part(struct tar_extra *x, uint64_t at, uint64_t n)
{
	struct tar_part *more;
	size_t cap;

	if (x->n_parts == TAR_MAX_HOLES)
		return "has more holes than a file may have";
	if (x->n_parts == x->cap_parts) {
		cap = x->cap_parts ? 2 * x->cap_parts : 16;
		more = reallocarray(x->parts, cap, sizeof(*more));
		if (!more)
			return no_memory;
		x->parts = more;
		x->cap_parts = cap;
	}
	x->parts[x->n_parts++] = (struct tar_part){at, n};
	return NULL;
}

const char *tar_check_parts(const struct tar_extra *x, uint64_t stored, uint64_t size)
{
	uint64_t end = 0, sum = 0, next;
	size_t i;

	for (i = 0; i < x->n_parts; i++) {
		if (x->parts[i].at < end || __builtin_add_overflow(x->parts[i].at, x->parts[i].n, &next) || next > size)
			return "has a map of holes that makes no sense";
		end = next;
		sum += x->parts[i].n; /* no more than size */
	}
	return sum == stored && !x->half_part ? NULL : "has a map of holes that does not fit its data";
}

/* Seconds with a fraction that is not looked at; what lies before 1970 is 1970. */
static const char *pax_time(struct tar_extra *x, struct sv v)
{
	const char *dot = memchr(v.p, '.', v.n);
	uint64_t seconds;

	x->has_mtime = true;
	if (dot)
		v.n = (size_t)(dot - v.p);
	if (sv_starts(v, "-")) {
		x->mtime = 0;
		return NULL;
	}
	if (!tar_decimal(v, &seconds) || seconds > INT64_MAX)
		return "has a pax header whose mtime is no time";
	x->mtime = (int64_t)seconds;
	return NULL;
}

static const char *pax_text(struct buf *to, bool *has, struct sv v)
{
	buf_clear(to);
	*has = v.n > 0; /* empty: as if it had not been said */
	if (memchr(v.p, '\0', v.n))
		return "has a NUL in a name";
	return buf_sv(to, v) < 0 ? "has a name that is too long" : NULL;
}

static const char *pax_xattr(struct tar_extra *x, struct sv name, struct sv value)
{
	if (x->n_xattrs == TAR_MAX_XATTRS)
		return "has more attributes than a file may have";
	if (!name.n || memchr(name.p, '\0', name.n))
		return "has an attribute without a name";
	x->xattrs[x->n_xattrs++] = (struct tar_xattr){name, value};
	return NULL;
}

/* "at,n,at,n,…" */
static const char *pax_map(struct tar_extra *x, struct sv v)
{
	uint64_t numbers[2];
	const char *comma, *wrong;
	unsigned i = 0;

	x->n_parts = 0;
	x->half_part = false;
	while (v.n) {
		comma = memchr(v.p, ',', v.n);
		if (!tar_decimal(sv_n(v.p, comma ? (size_t)(comma - v.p) : v.n), &numbers[i]))
			return "has a map of holes that is none";
		v = comma ? sv_n(comma + 1, v.n - (size_t)(comma + 1 - v.p)) : sv_n("", 0);
		i ^= 1;
		if (i)
			continue;
		wrong = tar_add_part(x, numbers[0], numbers[1]);
		if (wrong)
			return wrong;
	}
	return i ? "has a map of holes that is none" : NULL;
}

enum pax_key {
	PAX_PATH,
	PAX_LINK,
	PAX_SIZE,
	PAX_UID,
	PAX_GID,
	PAX_MTIME,
	PAX_SPARSE_MAJOR,
	PAX_SPARSE_MINOR,
	PAX_SPARSE_NAME,
	PAX_SPARSE_REAL,
	PAX_SPARSE_MAP,
	PAX_SPARSE_AT,
	PAX_SPARSE_N,
	PAX_XATTR,
	PAX_OTHER,
};

static const struct {
	const char *key;
	enum pax_key is;
} keys[] = {
	{"path", PAX_PATH},
	{"linkpath", PAX_LINK},
	{"size", PAX_SIZE},
	{"uid", PAX_UID},
	{"gid", PAX_GID},
	{"mtime", PAX_MTIME},
	{"GNU.sparse.major", PAX_SPARSE_MAJOR},
	{"GNU.sparse.minor", PAX_SPARSE_MINOR},
	{"GNU.sparse.name", PAX_SPARSE_NAME},
	{"GNU.sparse.realsize", PAX_SPARSE_REAL}, /* 1.0 */
	{"GNU.sparse.size", PAX_SPARSE_REAL},	  /* 0.0 and 0.1 */
	{"GNU.sparse.map", PAX_SPARSE_MAP},
	{"GNU.sparse.offset", PAX_SPARSE_AT},
	{"GNU.sparse.numbytes", PAX_SPARSE_N},
};

static const char xattr_prefix[] = "SCHILY.xattr.";

static enum pax_key key_of(struct sv key)
{
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (sv_is(key, keys[i].key))
			return keys[i].is;
	return sv_starts(key, xattr_prefix) ? PAX_XATTR : PAX_OTHER;
}

static const char *pax_number(bool *has, uint64_t *to, struct sv v)
{
	*has = v.n > 0;
	return !v.n || tar_decimal(v, to) ? NULL : "has a pax header with a number that is none";
}

static const char *pax_sparse(struct tar_extra *x, enum pax_key key, struct sv v)
{
	uint64_t n;

	x->sparse = true;
	switch (key) {
	case PAX_SPARSE_NAME:
		return pax_text(&x->path, &x->has_path, v);
	case PAX_SPARSE_REAL:
		return pax_number(&x->has_real, &x->real, v);
	case PAX_SPARSE_MAP:
		return pax_map(x, v);
	default:
		break;
	}
	if (!tar_decimal(v, &n))
		return "has a map of holes that is none";
	switch (key) {
	case PAX_SPARSE_MAJOR:
		x->sparse_in_data = n == 1;
		return n <= 1 ? NULL : "is sparse in a way that is not known";
	case PAX_SPARSE_MINOR:
		return n <= 1 ? NULL : "is sparse in a way that is not known";
	case PAX_SPARSE_AT:
		if (x->half_part)
			return "has a map of holes that is none";
		x->half_part = true;
		return tar_add_part(x, n, 0);
	case PAX_SPARSE_N:
		if (!x->half_part)
			return "has a map of holes that is none";
		x->half_part = false;
		x->parts[x->n_parts - 1].n = n;
		return NULL;
	default:
		return NULL;
	}
}

static const char *pax_record(struct tar_extra *x, struct sv key, struct sv v)
{
	enum pax_key is = key_of(key);

	switch (is) {
	case PAX_PATH:
		/* a sparse file's real name stands in a record of its own, behind which this one has a made-up one */
		return x->sparse && x->has_path ? NULL : pax_text(&x->path, &x->has_path, v);
	case PAX_LINK:
		return pax_text(&x->link, &x->has_link, v);
	case PAX_SIZE:
		return pax_number(&x->has_size, &x->size, v);
	case PAX_UID:
		return pax_number(&x->has_uid, &x->uid, v);
	case PAX_GID:
		return pax_number(&x->has_gid, &x->gid, v);
	case PAX_MTIME:
		return v.n ? pax_time(x, v) : NULL;
	case PAX_XATTR:
		return pax_xattr(x, sv_n(key.p + strlen(xattr_prefix), key.n - strlen(xattr_prefix)), v);
	case PAX_OTHER:
		return NULL;
	default:
		return pax_sparse(x, is, v);
	}
}

/* "LENGTH KEY=VALUE\n", where the length is that of all of it. */
static bool next_record(struct sv *rest, struct sv *key, struct sv *value)
{
	const char *blank = memchr(rest->p, ' ', rest->n < 12 ? rest->n : 12), *equals;
	size_t digits = blank ? (size_t)(blank - rest->p) : 0;
	uint64_t n;
	struct sv body;

	if (!blank || !tar_decimal(sv_n(rest->p, digits), &n) || n > rest->n || n < digits + 3 ||
	    rest->p[n - 1] != '\n')
		return false;
	body = sv_n(blank + 1, n - digits - 2);
	equals = memchr(body.p, '=', body.n);
	if (!equals || equals == body.p)
		return false;
	*key = sv_n(body.p, (size_t)(equals - body.p));
	*value = sv_n(equals + 1, body.n - key->n - 1);
	*rest = sv_n(rest->p + n, rest->n - n);
	return true;
}

const char *tar_pax(struct tar_extra *x, bool global)
{
	struct sv rest = buf_view(&x->text), key, value;
	const char *wrong = NULL;
	enum pax_key is;

	/* one header's numbers and names replace another's; its attributes and parts do not add up */
	x->n_xattrs = 0;
	x->n_parts = 0;
	x->half_part = false;
	while (!wrong && rest.n) {
		if (!next_record(&rest, &key, &value))
			return "has a pax header that is none";
		is = key_of(key);
		if (!global)
			wrong = pax_record(x, key, value);
		else if (is != PAX_OTHER && is != PAX_MTIME)
			wrong = "says things of all entries that only one can have";
	}
	return wrong;
}
