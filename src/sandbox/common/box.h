/*
 * box: the host's side of a sandbox that a container runtime makes: what has to stand ready before one is started, and
 * what is left to do when it has ended. The same for every runtime; how a container is made of it is the backend's
 * (sandbox/oci, sandbox/docker).
 *
 * A box is a folder, ROOT/ID, of which a container sees:
 *
 *	run/	at BOX_DIR (model/box.h): the sockets `control` and `door`, and `init`, an empty file on which
 * cordon-init is mounted root/	its root: the folders, links and small files of the plan (places.h), on which everything
 * else is mounted. Read-only. Boxes with the same places share one, in ROOT/.roots: making and removing fifty names
 *		would cost more than all the rest; plans with files of one run alone have their own here. Where the plan
 * has an image, that is the root: the backend mounts it at image/, in a mount namespace of its own, or in the
 * container's (sandbox/docker/lay.h).
 *
 * and beside them `lock`, locked as long as the supervisor lives, and what the backend keeps. Nobody but the
 * supervisor's user and the box's own ids can enter it: whoever could reach the door could speak to the gateway in this
 * run's name.
 *
 * Folders of the host that the sandbox may write to are not shown: the plan that comes here names copies in their
 * place, which the caller made and brings back when the run has ended (cli/launch_stage.h). So a name that is denied or
 * protected, and does not exist yet, cannot get to the host, although no runtime can refuse to make it.
 *
 * Life: box_new() makes all of it, start() of the backend starts the container, whose PID 1 is BOX_INIT and connects
 * back: box_connect() waits for it and gives the orders. Nothing of the workload runs before box_go(). Then the
 * supervisor takes over with box->socket, and stop() is how it kills. done() and box_free() leave nothing behind.
 *
 * A supervisor that is killed takes the container with it: cordon-init ends at the end of its connection, and the
 * runtime's own process cleans up after it; where cordon-init could be stopped from inside, a process on the host sees
 * to it (oci/oci_heir.h). What is left then (this folder) goes with the next run or `cordon ps` (box_sweep()).
 */
#ifndef CORDON_SANDBOX_BOX_H
#define CORDON_SANDBOX_BOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "model/box.h"
#include "model/plan.h"

struct cgroup;
struct cgroup_stats;
struct box;

enum { BOX_SCRATCH_MODE = 01777 };

enum box_mount_kind {
	BOX_BIND,  /* source of the host at target */
	BOX_TMPFS, /* size, mode */
	BOX_PROC,
	BOX_PTS,
	BOX_SHM,   /* as BOX_TMPFS; where shared memory is looked for */
	BOX_MASK,  /* nobody may read target, a file or a folder of /proc or /sys, if it is there */
};

/* In the order in which they are to be mounted, the box's own last. Every one is nosuid and nodev. */
struct box_mount {
	enum box_mount_kind kind;
	const char *source;
	const char *target;
	bool writable;
	bool no_exec;
	bool folder;
	bool cover; /* something unreadable, below which nothing is */
	const char *over; /* BOX_BIND on a socket or FIFO of the host's: its path there. NULL: on something else */
	bool judged; /* BOX_BIND: by source's name, which others may change what stands at (plan/plan_source.h); else it
			is ours, or the system's */
	uint64_t dev, ino; /* judged: of the folder that it must be; ino 0: what stands there */
	uint64_t size;
	uint32_t mode;
};

/* Who is who. Outside numbers are the host's; inside 0 is cordon-init's where user is BOX_USER_BECOME or
 * BOX_USER_NESTED. */
struct box_ids {
	enum box_user user;
	uint32_t inside;       /* of the workload, as the plan has it */
	uint32_t host;	       /* the same on the host: owns what the plan shows writable */
	uint32_t host_init;    /* cordon-init's on the host */
	bool mapped; /* in a user namespace: inside 0 is host_init, inside `inside` is host (where they differ) */
	uint32_t image_shift;  /* where the plan has an image, and mapped: its 0 is this one there, the others follow */
};

/* What a kind of container can do. A table, not code: backends differ in data first. */
struct box_backend {
	const char *name; /* of enum runtime */
	/* Which ids a run by this user gets. */
	void (*ids)(const struct plan *plan, struct box_ids *ret);
	/* Begins to start the container; returns before it runs. Sets b->runtime and b->runtime_pidfd where a process
	 * of the host's stands for it. */
	int (*start)(struct box *b, struct error *err);
	/* Kills all that is inside, at once. Also after a start() that failed half-way. Never fails. */
	void (*stop)(struct box *b);
	/* After stop() or the end: removes what the runtime keeps of it, and waits until it is gone. */
	void (*done)(struct box *b);
	/* What the runtime said of its failure, in one line, escaped; false: nothing. NULL: it cannot be asked. */
	bool (*said)(struct box *b, char *out, size_t size);
	/* own_cgroup: what it counted, as far as that is known: to be asked soon after the command has ended, for the
	 * cgroup goes with cordon-init. failed: the command did, perhaps for want of memory. NULL: it cannot be asked.
	 */
	void (*stats)(struct box *b, bool failed, struct cgroup_stats *ret);
	/* A process of the host's whose root folder is what the workload sees, or what it is served from; 0: there is
	 * none. NULL: cordon-init is. After box_connect(). */
	pid_t (*shows)(const struct box *b);
	/* Removes what runs left whose supervisor was killed: `id` is such a run. False: that is not certain yet, and
	 * the box stays for the next sweep. NULL: nothing can be left. */
	bool (*sweep)(const char *dir, const char *id);
	bool landlock;	   /* the host's kernel runs the workload: Landlock holds */
	bool transparent;  /* all that is dialled can be redirected */
	bool sends_fds;	   /* descriptors can be sent out of it */
	bool lingers; /* nobody waits for its mounts to be gone: what they are made of is the box's, or not the run's at
			 all */
	bool own_kernel;   /* it counts the workload's processes itself, and needs more of the host's than they are */
	unsigned own_threads; /* room that it needs itself in the run's cgroup, besides the workload's processes, which
				 RLIMIT_NPROC counts alone */
	bool own_cgroup;   /* it makes cgroups of its own (b->cgroup is not joined) */
};

/* A member of a group has the network of a running box of the same backend, which leads. */
struct box_join {
	const char *id;	 /* of its run; NULL: this one has a network of its own */
	int user, net;	 /* the namespaces that it is in; -1: they are not the host's */
	int leader;	 /* the connection to its supervisor, whose end is the member's */
	bool first;      /* in a kernel of one group: what that kernel has once (System V IPC) is this member's, for its
			    leader runs nothing; only one may say so */
};

struct box {
	const struct box_backend *backend;
	const struct plan *plan;
	const char *id;	    /* of the run; containers are named "cordon-ID" */
	const char *dir;    /* the box's folder on the host */
	int dir_fd, lock;
	const char *root;   /* of the container, on the host */
	int root_fd;	    /* locked, so that it stays as long as we use it */
	bool memory_cgroup, cpu_cgroup; /* the kernel counts */
	struct box_join join;
	const char *leader_dir; /* where it joins one: that box's folder */
	struct box_ids ids;
	struct box_mount *mounts;
	size_t n_mounts;
	int userns;         /* of the workload of the plan's image, made by the backend, for cordon-init to enter; -1:
			       cordon-init makes it, or there is none */
	int control, door;  /* listening; door -1: the plan has no listeners */
	int socket;	    /* the connection of cordon-init; -1: not yet */
	bool told;	    /* cordon-init has the command, and may have started it */
	pid_t init_pid;	    /* cordon-init's on the host, where it has one there; 0: it has none, or is not known yet */
	pid_t peer; /* who connected for cordon-init, as our kernel sees it; 0: nobody yet, or it is out of our sight */
	pid_t runtime;	    /* a process of ours, waited for by done(); -1: none */
	int runtime_pidfd;  /* -1: none */
	pid_t heir;	    /* a child of ours that ends the container when we are killed; 0: none, cordon-init does */
	const struct cgroup *cgroup; /* what start() puts into it, unless own_cgroup; NULL: none */
	void *own;	    /* the backend's */
	struct arena *arena;
};

struct box_request {
	const struct box_backend *backend;
	const struct plan *plan;
	const char *id;
	const char *root;  /* the folder of all boxes of this user, absolute; box_root() */
	const struct box_ids *ids; /* from backend->ids() */
	const char *init;  /* path of cordon-init on the host */
	const struct cgroup *cgroup;
	bool memory_cgroup, cpu_cgroup;
	struct box_join join; /* borrowed, as long as the box lives */
};

/*
 * The folder of all boxes: for root /run/cordon, which other ids can pass through (0711), for others below
 * XDG_RUNTIME_DIR, or at `fallback`. Made where it is missing, if `make`; refused where others own it. free() it.
 */
int box_root(const char *fallback, bool make, char **ret, struct error *err);

int box_new(const struct box_request *req, struct box **ret, struct error *err);

/* Waits for cordon-init, at most timeout_ms, and gives it its orders. The runtime's end, or SIGINT and its kin pending,
 * end the wait with an error, for which the backend is asked what the runtime said. */
int box_connect(struct box *b, int timeout_ms, struct error *err);

/* The command of the plan starts. */
struct box_stdio {
	int fds[3];   /* borrowed */
	bool tty[3];  /* give it the sandbox's own terminal in this place */
	unsigned rows, columns;
	int stream; /* through which the terminal is carried, where there is one and the backend sends no descriptors;
		       borrowed */
};
int box_go(struct box *b, const struct box_stdio *stdio, struct error *err);
/* None starts by itself: they will come. */
int box_hold(struct box *b, struct error *err);

/* Stops, cleans up, removes the folder. NULL is fine. */
void box_free(struct box *b);

/* Fills b->mounts. For box.c. */
int box_add_mounts(struct box *b, const char *init, struct error *err);

/* Something that is mounted later stands at the target of the i-th mount, or above it. */
bool box_is_covered(const struct box *b, size_t i);

/* The step of which what will stand at target is a part: the last bind that covers it is what is seen. NULL: nothing of
 * the host's is there. */
const struct plan_op *box_shown_by(const struct plan *p, const char *target);

/*
 * A runtime is given names, and looks them up itself, following links. So before cordon-init has its orders, what
 * stands in its root is compared with what was judged, and all that is to be hidden there must be: another sandbox is
 * not begun. For box.c, where the container's files are the host kernel's; other kernels show their own numbers, and
 * their backends see to it in another way.
 */
int box_check_mounts(const struct box *b, struct error *err);

/* The ids of the plan's image are ranges of an ordinary user's: the runtime runs in a user namespace that has them, as
 * its root. */
bool box_has_ranges(const struct box *b);

/* An errno, in the box's folder, where something in an image's root keeps its sandbox from starting. */
#define BOX_IN_THE_WAY "in-the-way"

/* Mount points that were made in the upper folder of the plan's image, as INSIDE_PLACES of model/inside.h has them;
 * none where the backend did not get so far. */
#define BOX_IMAGE "image"
#define BOX_PLACES "places"
void box_places(const struct box *b, struct buf *out);

/* Removes boxes whose supervisor is gone. */
void box_sweep(const char *root, const struct box_backend *const *backends);

#endif
