/*
 * box: what cordon-init is told where it is PID 1 of a container that somebody else made (runc, crun, gVisor, Docker
 * Engine).
 *
 * The container shows a folder of the run's at BOX_DIR, read-only. cordon-init connects to the socket BOX_CONTROL in it
 * (SOCK_SEQPACKET) before anything else; the supervisor takes that one connection and no other, so whoever connects
 * later, from inside, speaks to nobody. Its first message is INSIDE_ORDERS with the bytes of struct box_orders, the
 * second INSIDE_SPAWN with id 0: the command, with its environment and its standard input, output and error as
 * descriptors. So nothing of a command stands in a file, an argument list or what a container engine lets others
 * inspect. From then on both say what the supervisor and the native PID 1 say to each other (model/inside.h). The end
 * of the connection is the end of everything inside.
 */
#ifndef CORDON_MODEL_BOX_H
#define CORDON_MODEL_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/sv.h"
#include "model/plan.h"

#define BOX_DIR "/run/cordon"
#define BOX_INIT BOX_DIR "/init"
#define BOX_CONTROL BOX_DIR "/control"
#define BOX_DOOR BOX_DIR "/door"

/*
 * How a command gets the plan's user id, and the capabilities that cordon-init needs for it (permitted, effective, and
 * in the bounding set). NET_ADMIN and NET_BIND_SERVICE open ports, SYS_RESOURCE sets the limits of its user namespace,
 * where it has one of its own; it drops them when that is done. Commands have none: where the bounding set is not empty
 * already, SETPCAP is needed to empty it.
 */
enum box_user {
	BOX_USER_IS,     /* cordon-init has it already */
	BOX_USER_BECOME, /* cordon-init is root of the container: it changes ids. SETUID, SETGID, SETPCAP, KILL */
	BOX_USER_NESTED, /* it is the only id there is: a further user namespace gives it another number. SETFCAP,
			    SETPCAP */
	BOX_USERS
};

struct box_orders {
	/* Of the plan: uid, gid, cwd, limits, restrict_exec, executables, listeners, reach, loopback; and of its ops
	 * the targets that are writable, as ops of kind PLAN_BIND. */
	struct plan *plan;
	enum box_user user;
	bool memory_cgroup, cpu_cgroup; /* the kernel counts: see struct confine_features */
	bool transparent;		/* redirect all that is dialled, where the namespace allows it */
	bool shared_ipc;		/* see struct confine_features */
	bool sends_fds;			/* descriptors can be sent out: INSIDE_SPACES has the namespaces */
	bool lingers;			/* its mounts may stay a moment longer than it: see sys_linger() */
	/* Of the plan's image, where there is one, cordon-init gets the number of ids only. */
	bool image_nested; /* its workload has a user namespace of its own, in which the ids are the image's: that which
			      came with the orders, or cordon-init makes it; else they are those that cordon-init sees
			    */
	uint32_t image_shift; /* where cordon-init makes it: the image's 0 is this one to cordon-init */
};

void box_put_orders(struct buf *b, const struct box_orders *o);
/* 0, -EBADMSG or -ENOMEM. The plan is made in arena. */
int box_get_orders(struct sv body, struct arena *arena, struct box_orders *ret);

#endif
