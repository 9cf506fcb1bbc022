/* Address families beyond UNIX and IP: code that a network namespace does not confine, or that few people ever
 * reviewed. */
#include <sys/socket.h>

#include "attack.h"

static int make(const struct scene *s, const struct attack *a)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW};
	int err = 0;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		int fd = socket((int)a->num, types[i] | SOCK_CLOEXEC, (int)a->num2);
		if (fd >= 0) {
			close(fd);
			return won("%s: a socket was made", a->name);
		}
		if (err != EPERM)
			err = errno;
	}
	if (err == EPERM && s->control)
		return untried("%s: needs more than root here", a->name);
	/* Families that are not there refuse with EAFNOSUPPORT, odd types with others. */
	return lost(s, err == EINVAL ? EAFNOSUPPORT : err, a->name);
}

#define ROW(label, family)                                                                                             \
	{                                                                                                              \
		"af-" label, "cannot make a socket of family " #family, make, CONTROL_ROOT, .num = family              \
	}

static const struct attack rows[] = {
	{"af-vsock", "cannot make a socket of family AF_VSOCK", make, .num = AF_VSOCK},
	{"af-alg", "cannot make a socket of family AF_ALG", make, .num = AF_ALG},
	ROW("packet", AF_PACKET),
	ROW("key", AF_KEY),
	ROW("tipc", AF_TIPC),
	ROW("can", AF_CAN),
	ROW("bluetooth", AF_BLUETOOTH),
	ROW("rds", AF_RDS),
	ROW("smc", AF_SMC),
	ROW("xdp", AF_XDP),
	ROW("kcm", AF_KCM),
	ROW("qipcrtr", AF_QIPCRTR),
	ROW("rxrpc", AF_RXRPC),
	ROW("x25", AF_X25),
	ROW("ax25", AF_AX25),
	ROW("netrom", AF_NETROM),
	ROW("rose", AF_ROSE),
	ROW("appletalk", AF_APPLETALK),
	ROW("ipx", AF_IPX),
	ROW("llc", AF_LLC),
	ROW("pppox", AF_PPPOX),
	ROW("nfc", AF_NFC),
	ROW("phonet", AF_PHONET),
	ROW("caif", AF_CAIF),
	ROW("ieee802154", AF_IEEE802154),
	ROW("ib", AF_IB),
	ROW("mctp", AF_MCTP),
};
ATTACKS("kernel", rows);
