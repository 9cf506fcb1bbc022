#include "base/secret.h"

#include <errno.h>
#include <string.h>

/* All of it is in the guarded pages: in a forked child the length reads as zero too. */
struct secret {
	size_t n;
	char bytes[];
};

int secret_new(struct sv bytes, struct secret **ret)
{
	struct secret *s;

	if (bytes.n == 0 || bytes.n > SECRET_MAX)
		return -EINVAL;
	s = secret_memory_new(sizeof(*s) + bytes.n);
	if (!s)
		return -ENOMEM;
	s->n = bytes.n;
	memcpy(s->bytes, bytes.p, bytes.n);
	if (secret_memory_seal(s, sizeof(*s) + bytes.n) < 0) {
		secret_memory_free(s, sizeof(*s) + bytes.n);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void secret_free(struct secret *s)
{
	if (s)
		secret_memory_free(s, sizeof(*s) + s->n);
}

int secret_use(const struct secret *s, int (*fn)(struct sv plain, void *arg), void *arg)
{
	return s->n ? fn(sv_n(s->bytes, s->n), arg) : -ENODATA;
}

size_t secret_size(const struct secret *s)
{
	return s->n;
}

bool secret_equal(const struct secret *s, struct sv bytes)
{
	volatile unsigned char differ = s->n != bytes.n || s->n == 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		differ |= (unsigned char)(s->bytes[i] ^ (bytes.n ? bytes.p[i % bytes.n] : 0));
	return differ == 0;
}
