/*
 * ask: questions of the gateway to the person at the terminal (network.ask). One at a time, ASK_SECONDS for each, and
 * no is the answer of whoever says nothing.
 *
 * Where the terminal's keys go to the sandbox, the person's next line is the answer and does not go in; else /dev/tty
 * is asked. Where there is no terminal nobody is asked, and the answer is no at once. What is shown is escaped: a name
 * cannot write on the terminal.
 *
 * A workload can print what looks like a question about another host, and hide ours. So the terminal is put into a
 * known state before each (calm.h), and yes is a number that is drawn for the question and shown with it: who answers
 * a question that is not ours, or did not see ours, opens nothing. While one stands nothing of the workload's is
 * written to the terminal. Where what the workload prints may come there without us (its output is a pipe, whose reader
 * may show it), it could still change the name in our question: there, yes is the name itself.
 *
 * A workload can make a terminal type, too: it answers queries (its version, its modes) as if they came from the
 * keyboard. What has an escape is not taken for an answer, nor is what comes within the first ASK_QUIET_MS.
 */
#ifndef CORDON_SUPERVISE_ASK_H
#define CORDON_SUPERVISE_ASK_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sv.h"

enum { ASK_SECONDS = 30, ASK_MAX = 16, ASK_QUIET_MS = 400 };

struct ask {
	int tty;      /* /dev/tty, opened by us; -1: not (yet) */
	int carried;  /* the terminal whose keys go to the sandbox; -1: none */
	bool alone;   /* nobody but us writes there what the workload prints */
	bool nobody;  /* no terminal can be had */
	struct {
		uint64_t id;
		char what[300];
	} waiting[ASK_MAX]; /* the first one is shown */
	size_t n;
	uint64_t until; /* ms: of the one that is shown */
	char yes[300];	/* what must be typed for it */
	char typed[300]; /* so far */
	size_t n_typed;
	void (*answer)(void *arg, uint64_t id, const char *what, bool yes);
	void *arg;
};

void ask_init(struct ask *a, int carried, bool alone,
	      void (*answer)(void *arg, uint64_t id, const char *what, bool yes), void *arg);
void ask_done(struct ask *a);

/* Is there a terminal at all? */
bool ask_somebody(struct ask *a);

/* what: "host:port". Too many at once: no. */
void ask_add(struct ask *a, uint64_t id, struct sv what, uint64_t now);

/* What was typed on the carried terminal. True: it was for the question. */
bool ask_keys(struct ask *a, const char *p, size_t n, uint64_t now);
bool ask_stands(const struct ask *a);

/* One entry for poll(); the next deadline (0: none); and what to do about both. */
struct pollfd ask_poll(const struct ask *a);
uint64_t ask_until(const struct ask *a);
void ask_serve(struct ask *a, const struct pollfd *p, uint64_t now);

#endif
