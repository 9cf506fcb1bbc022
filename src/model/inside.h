/*
 * inside: what the supervisor and PID 1 of a sandbox say to each other. One message a packet, wire.h has the encoding.
 */
#ifndef CORDON_MODEL_INSIDE_H
#define CORDON_MODEL_INSIDE_H

#include <stdint.h>

#include "base/buf.h"

#define INSIDE_ALL UINT64_MAX

enum inside_message {
	/* supervisor -> PID 1 */
	INSIDE_GO = 1, /* the host's side is ready; once where root maps the ids (fds: id-mapped trees in the order of
			  the plan's ops that want one), once before the workload starts: u32 1 where none is to be
			  started yet (INSIDE_STARTED is the answer all the same) */
	INSIDE_SPAWN,  /* u64 id, u32 tty bits, u32 rows, u32 columns, strings argv, env, sv cwd; fds: stdin, stdout,
			  stderr, and maybe a stream (see INSIDE_RESIZE) */
	INSIDE_SIGNAL, /* u64 id (INSIDE_ALL: every process), u32 signal */
	/* PID 1 -> supervisor */
	INSIDE_FAILED,    /* u64 id, u32 error kind, u32 errno, sv text: it was not started; id 0: the sandbox was not
			     made, or could not go on; ERROR_DENIED: because what is denied could not be covered */
	INSIDE_STARTED,   /* of command 0, and of others with a terminal: u64 id, u32 pid inside, u32 has terminal; fd:
			     the terminal's master where it has one */
	INSIDE_STOPPED,   /* u64 id, u32 signal */
	INSIDE_EXITED,    /* u64 id, u32 wait status, u64 user us, u64 system us, u64 max rss KiB */
	INSIDE_DENIED,    /* u32 domain, sv rule, sv text */
	INSIDE_UNTOLD,    /* u64: so many denials more, which came too fast to be told one by one */
	INSIDE_LISTENERS, /* for each of the fds: u32 enum gate_listener_kind, u32 provider; they are of the sandbox's
			     network namespace. Once, and before anything runs in it. Native: all of them, and INSIDE_GO
			     is awaited; of a container, whose others are behind the door: GATE_LISTEN_REFUSED and
			     GATE_REDIRECTS, or none where its kernel cannot refuse */
	INSIDE_UPPER,     /* fd: the folder that holds what the run changes in its copy of the work folder */
	/* a client (`cordon exec`, `cordon stop`) -> supervisor; it may also send SPAWN (its id and env are passed
	   over) and SIGNAL */
	INSIDE_STOP, /* u32 grace in milliseconds */
	INSIDE_TAKE, /* u32 1: the sandbox is for this client alone, and ends with its connection; sv the digest of the
			policy that it counts on; sv, sv: nonce and digest of its credentials
			(supervise/gate_likeness.h), "" where that policy needs no gateway */
	INSIDE_PUSH, /* sv path: the policy is to be this file's from now on; with a descriptor: what is in that one */
	INSIDE_PUSHED, /* the answer: u32 1 and "", or 0 and why not */
	/* supervisor -> PID 1 of a container */
	INSIDE_ORDERS, /* the bytes of struct box_orders (model/box.h): first of all, and once; fd, where the host made
			  it: the user namespace of the workload of an image */
	/*
	 * Where descriptors cannot be sent out of a sandbox, INSIDE_SPAWN with a terminal brings a fourth one, a UNIX
	 * stream: PID 1 carries the terminal through it, INSIDE_STARTED has no descriptor, and a change of size is
	 * told, also by a client (its id is passed over).
	 */
	INSIDE_RESIZE, /* u64 id, u32 rows, u32 columns */
	/* a client -> supervisor, and its answer; who only looks is nobody that the sandbox stays for */
	INSIDE_LOOK,
	INSIDE_SEEN,  /* u32 commands that run, u64 milliseconds since the last one ended or the sandbox was ready, sv
			 the command that was started last (words, escaped), u32 1: it is to end, and takes no command
			 any more */
	INSIDE_LIMIT, /* supervisor -> a client, before its command's end: sv the policy's key that ended it */
	/* sandboxes with an image for their root */
	INSIDE_TREES, /* supervisor -> PID 1, before the first INSIDE_GO; fds: what the root is made of, or a part of it
		       */
	INSIDE_PLACES,  /* PID 1 -> supervisor: sv; mount points that were made in the upper folder, each with its NUL,
			   in their order */
	INSIDE_SPACES,  /* PID 1 -> supervisor: its network stands; fds: its user and its network namespace, or none
			   where it cannot send them. Supervisor -> a client that asked: u32 1 where that was said, u32 1
			   where there is a gateway, sv the runtime; then the gateway's placeholders: u32 how many, sv
			   variable, sv value each; fds: certificates in PEM, and as Java reads them, and the two
			   namespaces where they are known */
	INSIDE_JOIN,    /* a client -> supervisor: it wants these, and will end when the connection ends */
	INSIDE_RECORD,  /* supervisor -> PID 1, before the word to start commands: sv; the kernel is to record what
			   Landlock denies, of processes with this name (confine_record()) */
	INSIDE_EXPIRED, /* supervisor -> PID 1: u64 id; the command's time is over: all that comes of it ends with it,
			   before its end is told */
	INSIDE_PRETENDED, /* PID 1 -> supervisor: sv name, u32 1: the first of the calls that were made to look
			     successful; 0: the first that asked for an id that there is not */
	INSIDE_UNWATCHED, /* PID 1 -> supervisor, once: no watches are left, so that only the search covers what the
			     host replaces */
	INSIDE_PROC,      /* PID 1 -> supervisor, before anything runs in it; fds: the sandbox's own /proc, and maybe a
			     socket to ask what sockets hold (sys/sockets.h) */
	INSIDE_AHEAD,     /* PID 1 -> supervisor: u32; the number inside of the process that waits to become the next
			     command, 0: none does any more; u64: so many INSIDE_SPAWN had come. With each that is sent none
			     waits any more, whatever was said before it came */
	INSIDE_HEARD,     /* PID 1 -> supervisor: the answer to an INSIDE_SIGNAL of command 0, when it was passed on */
	INSIDE_TAKEN, /* supervisor -> a client that sent INSIDE_TAKE: u32 1, or 0: another policy is in force, or 2: it
			 has other credentials; and nothing was taken */
};

/* What INSIDE_SPAWN says. The decoder trusts nothing: PID 1 is all that a sandbox's commands are started by. */
struct inside_spawn {
	uint64_t id;
	uint32_t tty_bits; /* bit i: fd i is a terminal */
	uint32_t rows, columns;
	char *const *argv; /* at least one word */
	char *const *env;  /* NULL: none */
	const char *cwd;   /* absolute; "": the plan's, as a client says it */
};

enum { INSIDE_STRINGS_MAX = 65536, INSIDE_TERMINAL_MAX = 0xffff };

void inside_spawn_encode(const struct inside_spawn *s, struct buf *out);
/* 0, -EBADMSG or -ENOMEM. What it points to is the caller's (inside_spawn_done()); after a failure only id may be used.
 */
int inside_spawn_decode(struct sv body, struct inside_spawn *ret);
void inside_spawn_done(struct inside_spawn *s);

#endif
