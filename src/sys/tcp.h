/*
 * tcp: what the kernel knows about a connection and glibc's headers do not say.
 */
#ifndef CORDON_SYS_TCP_H
#define CORDON_SYS_TCP_H

#include <stdint.h>
#include <sys/socket.h>

struct tcp_counts {
	uint64_t out; /* bytes that were handed to the kernel to be sent, whoever holds the socket */
	uint64_t in;  /* bytes that arrived */
};

/* 0 or -errno. */
int tcp_counts(int fd, struct tcp_counts *ret);

/* Where an accepted connection was meant to go: what the redirect remembers, or, without one, the address that it came
 * to. IPv4 or IPv6; 0 or -errno. */
int tcp_destination(int fd, struct sockaddr_storage *ret);

/* From now on sends no faster than that, and queues little that was not sent: so that a quota can be watched. Failure
 * is -errno. */
int tcp_pace(int fd, uint64_t bytes_per_second);

#endif
