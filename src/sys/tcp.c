#include "sys/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* ORIGINAL_DESTINATION: SO_ORIGINAL_DST of netfilter, the same number at both levels; its header does not go with
 * glibc's. */
enum { PACED_QUEUE = 64 * 1024, ORIGINAL_DESTINATION = 80 };

int tcp_counts(int fd, struct tcp_counts *ret)
{
	struct tcp_info info = {0};
	socklen_t n = sizeof(info);
	int queued = 0;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) < 0)
		return -errno;
	if (n < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received))
		return -ENOSYS;
	if (ioctl(fd, SIOCOUTQ, &queued) < 0)
		queued = 0; /* not connected any more */
	/* the SYN counts as a byte that was acknowledged */
	ret->out = (info.tcpi_bytes_acked ? info.tcpi_bytes_acked - 1 : 0) + (uint64_t)queued;
	ret->in = info.tcpi_bytes_received;
	return 0;
}

static int is_internet(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET || a->ss_family == AF_INET6;
}

/* A socket of IPv6 may carry a connection of IPv4, whose memory is at the other level: both are asked. */
int tcp_destination(int fd, struct sockaddr_storage *ret)
{
	static const int levels[] = {SOL_IP, SOL_IPV6};
	socklen_t n;
	size_t i;

	for (i = 0; i < 2; i++) {
		n = sizeof(*ret);
		if (getsockopt(fd, levels[i], ORIGINAL_DESTINATION, ret, &n) == 0 && is_internet(ret))
			return 0;
	}
	n = sizeof(*ret);
	if (getsockname(fd, (struct sockaddr *)ret, &n) < 0)
		return -errno;
	return is_internet(ret) ? 0 : -EAFNOSUPPORT;
}

int tcp_pace(int fd, uint64_t bytes_per_second)
{
	unsigned rate = bytes_per_second > UINT32_MAX - 1 ? UINT32_MAX - 1 : (unsigned)bytes_per_second;
	int queue = PACED_QUEUE;

	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &queue, sizeof(queue)) < 0)
		return -errno;
	return 0;
}
