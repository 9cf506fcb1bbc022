/*
 * System calls for administrators. Each is called with arguments that the kernel refuses after it has checked the
 * caller's rights, so that the control, as root, gets as far as that and changes nothing.
 */
#include <sys/quota.h>

#include "attack.h"

static int call(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(a->num, a->num2, -1, -1, -1, -1), a->name);
}

static int call_zero(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(a->num, a->num2, 0, 0, 0, 0), a->name);
}

static int io_ports(const struct scene *s, const struct attack *a)
{
	return judge(s, syscall(SYS_ioperm, 0x80, 1, 1), a->name);
}

#define ROW(name, what, function, nr, first)                                                                           \
	{                                                                                                              \
		name, "cannot reach " what, function, CONTROL_ROOT, .num = nr, .num2 = first                           \
	}

static const struct attack rows[] = {
	ROW("kexec-load", "kexec_load", call, SYS_kexec_load, 0),
	ROW("kexec-file-load", "kexec_file_load", call, SYS_kexec_file_load, -1),
	ROW("init-module", "init_module", call_zero, SYS_init_module, 0),
	ROW("finit-module", "finit_module", call, SYS_finit_module, -1),
	ROW("delete-module", "delete_module", call, SYS_delete_module, 1),
	ROW("iopl", "iopl", call_zero, SYS_iopl, 3),
	{"ioperm", "cannot reach I/O ports with ioperm", io_ports, CONTROL_ROOT},
	ROW("quotactl", "quotactl", call_zero, SYS_quotactl, QCMD(Q_SYNC, USRQUOTA)),
	ROW("quotactl-fd", "quotactl_fd", call_zero, 443, -1),
	ROW("swapon", "swapon", call_zero, SYS_swapon, 1),
	ROW("swapoff", "swapoff", call_zero, SYS_swapoff, 1),
	ROW("acct", "acct", call_zero, SYS_acct, 1),
	ROW("reboot", "reboot", call_zero, SYS_reboot, 0),
	ROW("lookup-dcookie", "lookup_dcookie", call_zero, SYS_lookup_dcookie, 0),
	ROW("nfsservctl", "nfsservctl", call_zero, SYS_nfsservctl, 0),
	ROW("uselib", "uselib", call_zero, SYS_uselib, 1),
	ROW("sysfs-call", "sysfs(2)", call_zero, SYS_sysfs, 3),
	ROW("ustat", "ustat", call_zero, SYS_ustat, 0),
	ROW("fanotify-init", "fanotify_init", call_zero, SYS_fanotify_init, 0),
	ROW("create-module", "create_module", call_zero, SYS_create_module, 0),
	ROW("sysctl-call", "_sysctl", call_zero, SYS__sysctl, 0),
};
ATTACKS("kernel", rows);
