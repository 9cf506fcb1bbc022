/*
 * redirect: where TCP goes that is dialled in an empty network namespace which has every address
 * (sys_route_everything_here()): to one port of ours, but for loopback, and for what is refused at once.
 *
 * Whoever calls needs CAP_NET_ADMIN over the namespace that the socket is of: PID 1, at the start; later whoever made
 * that namespace's user namespace, from outside. 0 or -errno.
 */
#ifndef CORDON_SYS_REDIRECT_H
#define CORDON_SYS_REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

enum { REDIRECT_ROWS = 96, REDIRECT_REFUSED_GROUP = 1 };

/* What is dialled in this range, on this port. */
struct redirect_row {
	uint8_t address[16]; /* network order; of IPv4 the first four */
	uint8_t bits;	     /* of it that count, up to 32 or 128 */
	bool v6;
	bool refuse;
	uint16_t port; /* 0: any */
};

/* The first row that fits speaks. */
struct redirect {
	struct redirect_row rows[REDIRECT_ROWS];
	uint32_t n;
	bool refuse_rest; /* what no row fits */
};

/* A socket of the namespace that this process is in. */
int redirect_open(void);

/*
 * From now on, in the place of what was said before; connections that are there go on. SO_ORIGINAL_DST of one that was
 * redirected tells where it was meant to go. A connection that is refused ends with a reset before it began, and
 * refused_read() (refused.h) tells of it. -EOPNOTSUPP, -ENOENT and the like: the kernel lacks nf_tables, its nat, or,
 * where something is to be refused, what that needs.
 */
int redirect_tcp(int fd, uint16_t port, const struct redirect *what);

#endif
