/*
 * dns: queries that come as datagrams, each through the door on a stream of its own, so that one that deserves no
 * answer keeps none from its own.
 *
 * At most DNS_WAITING at once: of more, the one that has waited longest is given up. An answer that takes longer than
 * DNS_MS is none; clients ask again.
 */
#ifndef CORDON_INIT_DNS_H
#define CORDON_INIT_DNS_H

enum { DNS_WAITING = 64, DNS_MS = 2000, DNS_QUERY = 1024, DNS_ANSWER = 4096 };

struct dns;

/* door: its path, borrowed. fd: a socket from listen_on(); taken. 0 or -errno. */
int dns_new(int epoll, const char *door, int fd, struct dns **ret);
void dns_free(struct dns *d); /* NULL is fine */

/* After each watch_run(): gives up what is late. The time limit of the next one, -1 for none. */
int dns_tick(struct dns *d);

#endif
