/* Host files that are readable to the user, or to root, and not part of the base system. */
#include "attack.h"

static int read_path(const struct scene *s, const struct attack *a)
{
	return judge_secret(s, open(a->text, O_RDONLY | O_CLOEXEC), a->text);
}

static int read_fact(const struct scene *s, const struct attack *a)
{
	struct fact path;

	return judge_secret(s, open(fact(s, a->text, &path), O_RDONLY | O_CLOEXEC), a->text);
}

static const struct attack rows[] = {
	{"read-shadow", "cannot read /etc/shadow", read_path, CONTROL_ROOT, .text = "/etc/shadow"},
	{"read-outside", "cannot read a host file outside the work folder", read_fact, .text = "outside"},
	{"read-tmp", "cannot read a host file in /tmp", read_fact, .text = "tmp_file"},
	{"read-shm", "cannot read a host file in /dev/shm", read_fact, .text = "shm_file"},
	{"read-config", "cannot read the operator's policy", read_fact, .text = "config"},
};
ATTACKS("filesystem", rows);
