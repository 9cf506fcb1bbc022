/* Capability sets that are not empty, and locks that are not set, as /proc/self/status and prctl tell them. */
#include <linux/securebits.h>
#include <sys/prctl.h>

#include "attack.h"

static int read_set(const struct scene *s, const struct attack *a)
{
	unsigned long long set = 0;
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");
	int got = 0;

	if (!f)
		return lost(s, errno, "/proc/self/status");
	while (got != 1 && fgets(line, sizeof(line), f))
		got = strncmp(line, a->text, strlen(a->text)) == 0 && sscanf(strchr(line, ':'), ": %llx", &set) == 1;
	(void)fclose(f);
	if (got != 1)
		return refused("no %s in /proc/self/status", a->text);
	if (s->control && a->num == 0 && set != 0)
		return untried("%s is set outside too", a->text);
	return (set != 0) == (a->num != 0) ? won("%s is %llx", a->text, set) : refused("%s is %llx", a->text, set);
}

static int drop_bounding(const struct scene *s, const struct attack *a)
{
	return judge(s, prctl(PR_CAPBSET_DROP, 0, 0, 0, 0), a->name);
}

static int securebits(const struct scene *s, const struct attack *a)
{
	return judge(s, prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0), a->name);
}

static int memory_map(const struct scene *s, const struct attack *a)
{
	unsigned size = 0;

	return judge(s, prctl(35 /* PR_SET_MM */, 15 /* PR_SET_MM_MAP_SIZE */, &size, 0, 0), a->name);
}

static const struct attack rows[] = {
	{"caps-effective", "has no effective capability", read_set, CONTROL_ROOT, .text = "CapEff", .num = 1},
	{"caps-permitted", "has no permitted capability", read_set, CONTROL_ROOT, .text = "CapPrm", .num = 1},
	{"caps-bounding", "has an empty bounding set", read_set, .text = "CapBnd", .num = 1},
	{"caps-inheritable", "inherits no inheritable capability", read_set, CONTROL_ROOT, STAGE_CAPS, "CapInh", 1},
	{"caps-ambient", "inherits no ambient capability", read_set, CONTROL_ROOT, STAGE_CAPS, "CapAmb", 1},
	{"no-new-privs", "cannot run without no_new_privs", read_set, .text = "NoNewPrivs", .num = 0},
	{"seccomp-off", "cannot run without a seccomp filter", read_set, .text = "Seccomp", .num = 0},
	{"prctl-capbset", "cannot alter its bounding set", drop_bounding, CONTROL_USERNS},
	{"prctl-securebits", "cannot set securebits", securebits, CONTROL_USERNS},
	{"prctl-mm", "cannot rewrite its memory map with PR_SET_MM", memory_map},
};
ATTACKS("process", rows);
