/* A seccomp listener of one's own, or a filter on top, could answer calls in place of the sandbox's. Watches on folders
 * tell what the host does there. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>

#include "attack.h"

static int listen_calls(const struct scene *s, const struct attack *a)
{
	struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {1, code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return lost(s, errno, "no_new_privs");
	return judge(s, syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program),
		     a->name);
}

static int fanotify(const struct scene *s, const struct attack *a)
{
	/* FAN_REPORT_FID: the kind that needs no privilege since 5.13. */
	return judge(s, syscall(SYS_fanotify_init, 0x200, O_RDONLY), a->name);
}

/* Programs that the host starts are opened in there. */
static int dnotify(const struct scene *s, const struct attack *a)
{
	int fd = open("/usr/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return broken("/usr/bin");
	(void)signal(SIGIO, SIG_IGN);
	r = fcntl(fd, F_NOTIFY, DN_ACCESS | DN_MULTISHOT);
	if (r < 0 && errno == EINVAL && s->control)
		return untried("this kernel has no dnotify");
	return judge(s, r, a->name);
}

static const struct attack rows[] = {
	{"seccomp-listener", "cannot install a seccomp listener", listen_calls},
	{"fanotify-user", "cannot use fanotify without privilege", fanotify},
	{"dnotify", "cannot watch a folder of the base system with F_NOTIFY", dnotify},
};
ATTACKS("kernel", rows);
