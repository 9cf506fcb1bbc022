#include "sys/tcp.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { PACED_QUEUE = 64 * 1024 };

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

int tcp_pace(int fd, uint64_t bytes_per_second)
{
	unsigned rate = bytes_per_second > UINT32_MAX - 1 ? UINT32_MAX - 1 : (unsigned)bytes_per_second;
	int queue = PACED_QUEUE;

	if (setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &queue, sizeof(queue)) < 0)
		return -errno;
	return 0;
}
