#include "image/limit.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

static int fail(struct error *err, int code, const char *text)
{
	(void)error_set(err, ERROR_DENIED, "%s", text);
	err->code = code;
	return -1;
}

int limit_fail_time(struct error *err)
{
	return fail(err, ETIMEDOUT, "its time is over");
}

int limit_fail_room(struct error *err)
{
	return fail(err, EDQUOT, "its files are more than may be stored");
}

int limit_check_time(const struct image_limit *l, struct error *err)
{
	return l->until_ms && now_ms() >= l->until_ms ? limit_fail_time(err) : 0;
}

bool limit_is_zeros(const char *p, size_t n)
{
	return n == 0 || (p[0] == '\0' && memcmp(p, p + 1, n - 1) == 0);
}
