/*
 * netlink_batch: messages for netlink while they are being written, one behind the other, and the kernel's word about
 * them. Shared by netlink.c, redirect.c and refused.c.
 *
 * No heap. What does not fit is left out and remembered: batch_send() sends nothing then. Functions that return
 * something give 0 or -errno.
 */
#ifndef CORDON_SYS_NETLINK_BATCH_H
#define CORDON_SYS_NETLINK_BATCH_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BATCH_ROOM = 64 * 1024 };

struct batch {
	size_t n;
	size_t message; /* where the last one starts */
	uint32_t seq;
	uint32_t wanted; /* messages that will be answered */
	bool full;
	_Alignas(NLMSG_ALIGNTO) char bytes[BATCH_ROOM]; /* the first n are set */
};

void batch_init(struct batch *b);

void batch_message(struct batch *b, uint16_t type, uint16_t flags, const void *head, size_t n);
void batch_attribute(struct batch *b, uint16_t type, const void *data, size_t n);
void batch_text(struct batch *b, uint16_t type, const char *s);
void batch_number(struct batch *b, uint16_t type, uint32_t v); /* big-endian, as netfilter has them */

/* What is added until batch_close() is inside it. */
size_t batch_open(struct batch *b, uint16_t type);
void batch_close(struct batch *b, size_t at);

/* A socket of this family (NETLINK_ROUTE and so on) in the network namespace that this process is in. */
int batch_socket(int family);

/* The kernel answers each message that asked for it; the first error is ours. */
int batch_send(int fd, const struct batch *b);

#endif
