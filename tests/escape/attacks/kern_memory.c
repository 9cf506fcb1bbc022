/* Memory features with a history: userfaultfd holds the kernel still, memfd_secret hides from it, vmsplice gives pages
 * away. */
#include <linux/userfaultfd.h>
#include <sys/uio.h>

#include "attack.h"

static int user_fault(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_userfaultfd, O_CLOEXEC | (int)a->num), a->name);
}

static int secret(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_memfd_secret, 0), a->name);
}

static int splice_pages(const struct scene *s, const struct attack *a)
{
	char page[64] = "x";
	const struct iovec part = {page, sizeof(page)};
	int fds[2];

	if (pipe(fds) < 0)
		return broken("pipe");
	return judge(s, vmsplice(fds[1], &part, 1, 0), a->name);
}

static int move_pages_self(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_move_pages, 0, 0, NULL, NULL, NULL, 0), a->name);
}

static int migrate(const struct scene *s, const struct attack *a)
{
	unsigned long node = 1;

	return judge(s, syscall(SYS_migrate_pages, 0, 2, &node, &node), a->name);
}

static int bind_memory(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_set_mempolicy, 0, NULL, 0), a->name);
}

static const struct attack rows[] = {
	{"userfaultfd", "cannot use userfaultfd", user_fault, CONTROL_ROOT},
	{"userfaultfd-user", "cannot use userfaultfd for user faults", user_fault, .num = UFFD_USER_MODE_ONLY},
	{"memfd-secret", "cannot use memfd_secret", secret},
	{"vmsplice", "cannot use vmsplice", splice_pages},
	{"move-pages", "cannot use move_pages", move_pages_self},
	{"migrate-pages", "cannot use migrate_pages", migrate},
	{"set-mempolicy", "cannot use set_mempolicy", bind_memory},
};
ATTACKS("kernel", rows);
