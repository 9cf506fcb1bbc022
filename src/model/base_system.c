#include "model/base_system.h"

#include "base/glob.h"

#define SYSTEM  "the base system"
#define SECRET  "secrets of the host"
#define SCRATCH "the sandbox's own scratch space"
#define PROC    "the sandbox's own /proc"
#define DEVICE  "the sandbox's own /dev"

const struct base_path base_paths[] = {
	{"/usr", BASE_READ, SYSTEM},
	{"/bin", BASE_READ, SYSTEM},
	{"/sbin", BASE_READ, SYSTEM},
	{"/lib", BASE_READ, SYSTEM},
	{"/lib32", BASE_READ, SYSTEM},
	{"/lib64", BASE_READ, SYSTEM},
	{"/libx32", BASE_READ, SYSTEM},
	{"/etc", BASE_READ, SYSTEM},
	{"/etc/shadow*", BASE_HIDDEN, SECRET},
	{"/etc/gshadow*", BASE_HIDDEN, SECRET},
	{"/etc/security/opasswd", BASE_HIDDEN, SECRET},
	{"/etc/sudoers*", BASE_HIDDEN, SECRET},
	{"/etc/doas.conf", BASE_HIDDEN, SECRET},
	{"/etc/ssh/*key*", BASE_HIDDEN, SECRET},
	{"/etc/ssl/private", BASE_HIDDEN, SECRET},
	{"/etc/pki/tls/private", BASE_HIDDEN, SECRET},
	{"/etc/letsencrypt", BASE_HIDDEN, SECRET},
	{"/etc/krb5.keytab", BASE_HIDDEN, SECRET},
	{"/etc/cryptsetup-keys.d", BASE_HIDDEN, SECRET},
	{"/etc/NetworkManager/system-connections", BASE_HIDDEN, SECRET},
	{"/etc/wireguard", BASE_HIDDEN, SECRET},
	{"/etc/openvpn", BASE_HIDDEN, SECRET},
	{"/etc/ppp/*-secrets", BASE_HIDDEN, SECRET},
	{"/etc/wpa_supplicant", BASE_HIDDEN, SECRET},
	{"/etc/netplan", BASE_HIDDEN, SECRET},
	{"/etc/docker", BASE_HIDDEN, SECRET},
	{"/etc/kubernetes", BASE_HIDDEN, SECRET},
	{"/etc/munge", BASE_HIDDEN, SECRET},
	{"/etc/slurm*/*.key", BASE_HIDDEN, SECRET},
	{"/etc/mysql/debian.cnf", BASE_HIDDEN, SECRET},
	{"/etc/machine-id", BASE_HIDDEN, SECRET},
	{"/etc/apt/auth.conf*", BASE_HIDDEN, SECRET},
	{"/tmp", BASE_PRIVATE, SCRATCH},
	{"/var/tmp", BASE_PRIVATE, SCRATCH},
	{"/dev/shm", BASE_PRIVATE, SCRATCH},
	{BASE_HOME, BASE_PRIVATE, "the sandbox's own home"},
	{"/proc", BASE_PROC, PROC},
	{"/proc/kcore", BASE_HIDDEN, PROC},
	{"/proc/kmsg", BASE_HIDDEN, PROC},
	{"/proc/keys", BASE_HIDDEN, PROC},
	{"/proc/key-users", BASE_HIDDEN, PROC},
	{"/proc/kallsyms", BASE_HIDDEN, PROC},
	{"/proc/sysrq-trigger", BASE_HIDDEN, PROC},
	{"/proc/timer_list", BASE_HIDDEN, PROC},
	{"/dev/null", BASE_DEVICE, DEVICE},
	{"/dev/zero", BASE_DEVICE, DEVICE},
	{"/dev/full", BASE_DEVICE, DEVICE},
	{"/dev/random", BASE_DEVICE, DEVICE},
	{"/dev/urandom", BASE_DEVICE, DEVICE},
	{"/dev/tty", BASE_DEVICE, DEVICE},
	{"/dev/ptmx", BASE_DEVICE, DEVICE},
	{"/dev/pts", BASE_DEVICE, DEVICE},
	{"/dev/fd", BASE_DEVICE, DEVICE},
	{"/dev/stdin", BASE_DEVICE, DEVICE},
	{"/dev/stdout", BASE_DEVICE, DEVICE},
	{"/dev/stderr", BASE_DEVICE, DEVICE},
	{"/dev/*", BASE_HIDDEN, "devices of the host"}, /* behind those above: the first of equal depth decides */
	{"/sys", BASE_HIDDEN, "devices of the host"},
	{0},
};

int base_glob_depth(const struct glob *g, struct sv path)
{
	size_t end = 1;
	int depth = 0;

	if (glob_hit(g, sv_of("/")))
		return 0;
	while (end < path.n) {
		while (end < path.n && path.p[end] != '/')
			end++;
		depth++;
		if (glob_hit(g, sv_n(path.p, end)))
			return depth;
		end++;
	}
	return -1;
}

const struct base_path *base_system_find(struct sv path, int *ret_depth)
{
	const struct base_path *row, *best = NULL;
	struct glob g;
	int depth;

	*ret_depth = -1;
	for (row = base_paths; row->pattern; row++) {
		if (glob_init(&g, sv_of(row->pattern)) < 0)
			continue;
		depth = base_glob_depth(&g, path);
		glob_done(&g);
		if (depth > *ret_depth) {
			*ret_depth = depth;
			best = row;
		}
	}
	return best;
}
