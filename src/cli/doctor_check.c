#include "cli/doctor_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"

/* What an errno means for somebody who asks whether a thing works. */
static const struct {
	int code;
	const char *text;
} reasons[] = {
	{ENOSYS, "not in this kernel"}, {EOPNOTSUPP, "not supported"}, {EPERM, "not permitted"},
	{EACCES, "not permitted"},      {ENOENT, "not there"},         {ETIMEDOUT, "does not answer"},
	{EPROTO, "has no effect"},
};

static const char *reason(int code)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == -code)
			return reasons[i].text;
	return strerror(-code);
}

void doctor_value(struct doctor_result *ret, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(ret->value, sizeof(ret->value), format, ap);
	va_end(ap);
}

void doctor_value_shown(struct doctor_result *ret, struct sv untrusted)
{
	struct text_shown shown;

	text_show(&shown, sv_n(untrusted.p, untrusted.n < 80 ? untrusted.n : 80));
	doctor_value(ret, "%.200s", shown.s);
}

void doctor_fix(struct doctor_result *ret, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(ret->fix, sizeof(ret->fix), format, ap);
	va_end(ap);
}

static void meaning(struct doctor_result *ret, const char *text)
{
	(void)snprintf(ret->meaning, sizeof(ret->meaning), "%s", text ? text : "");
}

void doctor_fail(const struct doctor_check *check, int code, struct doctor_result *ret)
{
	ret->status = check->needed ? DOCTOR_MISSING : check->otherwise;
	meaning(ret, check->without);
	if (!ret->value[0])
		doctor_value(ret, "%s", reason(code));
	if (!ret->fix[0] && check->fix)
		doctor_fix(ret, "%s", check->fix);
}

void doctor_run(const struct doctor_check *check, struct doctor_result *ret)
{
	int r;

	*ret = (struct doctor_result){.status = DOCTOR_OK};
	meaning(ret, check->with);
	if (check->run) {
		check->run(check, ret);
		return;
	}
	r = check->probe();
	if (r < 0)
		doctor_fail(check, r, ret);
	else
		doctor_value(ret, "works");
}

long doctor_sysctl(const char *path)
{
	AUTO_BUF b = {0};

	buf_init(&b, 64);
	return buf_read_file(&b, path) < 0 ? -1 : strtol(b.p, NULL, 10);
}
