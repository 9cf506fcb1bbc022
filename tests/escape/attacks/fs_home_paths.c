/* The private key by every spelling of its path that some other name of the root folder allows. */
#include "attack.h"

static int read_by_path(const struct scene *s, const struct attack *a)
{
	struct fact key;
	char path[2048];

	(void)snprintf(path, sizeof(path), "%s%s", a->text, fact_key(s, &key));
	return judge_secret(s, open(path, O_RDONLY | O_CLOEXEC), path);
}

#define UP "../../../../../../../../../../../../../../../.."

static const struct attack rows[] = {
	{"home-direct", "cannot read ~/.ssh by its path", read_by_path, .text = ""},
	{"home-slashes", "cannot read ~/.ssh with //// and /./ in its path", read_by_path, .text = "////./."},
	{"home-dotdot", "cannot read ~/.ssh through ../../..", read_by_path, .text = UP},
	{"home-self-root", "cannot read ~/.ssh through /proc/self/root", read_by_path, .text = "/proc/self/root"},
	{"home-thread-root", "cannot read ~/.ssh through /proc/thread-self/root", read_by_path,
	 .text = "/proc/thread-self/root"},
	{"home-self-cwd", "cannot read ~/.ssh through /proc/self/cwd/..", read_by_path, .text = "/proc/self/cwd/" UP},
	{"home-link-dotdot", "cannot read ~/.ssh through ../.. behind a symlink to the work folder", read_by_path,
	 .text = "sub/link/" UP},
	{"home-init-root", "cannot read ~/.ssh through /proc/1/root", read_by_path, CONTROL_ROOT,
	 .text = "/proc/1/root"},
	{"home-init-cwd", "cannot read ~/.ssh through /proc/1/cwd/..", read_by_path, CONTROL_ROOT,
	 .text = "/proc/1/cwd/" UP},
};
ATTACKS("filesystem", rows);
