/*
 * watch: waiting for several descriptors at once, by epoll, level-triggered.
 *
 * A watch is part of what it is for, and must stay in memory until watch_run() has returned, though it may be dropped
 * before.
 */
#ifndef CORDON_INIT_WATCH_H
#define CORDON_INIT_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct watch {
	int fd;
	bool on;
	uint32_t events;
	void (*fn)(void *arg, uint32_t events);
	void *arg;
};

/* From now on fn is called for these events (EPOLLIN, EPOLLOUT), and for EPOLLHUP and EPOLLERR even where they are 0. 0
 * or -errno. */
int watch_set(int epoll, struct watch *w, uint32_t events);
void watch_drop(int epoll, struct watch *w);

/* Waits once, at most timeout_ms (-1: for ever). 0 or -errno. */
int watch_run(int epoll, int timeout_ms);

#endif
