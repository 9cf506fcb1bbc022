/* The machine's names, clocks and log. Each is set to what it already is. */
#include <sys/klog.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>

#include "attack.h"

static int host_name(const struct scene *s, const struct attack *a)
{
	struct utsname names;

	(void)uname(&names);
	return judge(s, sethostname(names.nodename, strlen(names.nodename)), a->name);
}

static int domain_name(const struct scene *s, const struct attack *a)
{
	struct utsname names;

	(void)uname(&names);
	return judge(s, setdomainname(names.domainname, strlen(names.domainname)), a->name);
}

/* With neither time nor zone the call only asks for the right. */
static int set_time(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_settimeofday, NULL, NULL), a->name);
}

static int set_clock(const struct scene *s, const struct attack *a)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return judge(s, clock_settime(CLOCK_REALTIME, &now), a->name);
}

static int adjust(const struct scene *s, const struct attack *a)
{
	struct timex t = {0};

	if (adjtimex(&t) < 0)
		return lost(s, errno, a->name);
	t.modes = ADJ_FREQUENCY;
	return judge(s, a->num ? clock_adjtime(CLOCK_REALTIME, &t) : adjtimex(&t), a->name);
}

static int kernel_log(const struct scene *s, const struct attack *a)
{
	return judge(s, klogctl((int)a->num, NULL, 0), a->name);
}

static const struct attack rows[] = {
	{"sethostname", "cannot set the host name", host_name, CONTROL_ROOT},
	{"setdomainname", "cannot set the domain name", domain_name, CONTROL_ROOT},
	{"settimeofday", "cannot set the time with settimeofday", set_time, CONTROL_ROOT},
	{"clock-settime", "cannot set the clock with clock_settime", set_clock, CONTROL_ROOT},
	{"adjtimex", "cannot adjust the clock with adjtimex", adjust, CONTROL_ROOT},
	{"clock-adjtime", "cannot adjust the clock with clock_adjtime", adjust, CONTROL_ROOT, .num = 1},
	{"syslog-size", "cannot ask for the kernel log", kernel_log, CONTROL_ROOT, .num = 10},
};
ATTACKS("kernel", rows);
