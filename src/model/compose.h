/*
 * compose: the services of a task, as plain data.
 *
 * What a Compose file may say here is what Cordon honours (task/compose.h has the tables); whatever reaches the host
 * has no field. So a file made of this model can hold nothing else, and who runs services by it needs to know nothing
 * of Compose. Everything is in the arena of whoever made it. Strings are never NULL: "" is "not said". They are UTF-8
 * without controls but tab and newline.
 *
 * Variables are filled in. None of the values is the host's: paths of the host have stand-ins below COMPOSE_STAND_IN,
 * which only whoever runs the services replaces (struct compose_place in task/compose_write.h).
 */
#ifndef CORDON_MODEL_COMPOSE_H
#define CORDON_MODEL_COMPOSE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	COMPOSE_SERVICES_MAX = 32,
	COMPOSE_LIST_MAX = 256,	  /* items of any list below */
	COMPOSE_TEXT_MAX = 65536, /* bytes of any string below */
	COMPOSE_CODEC_MAX = 4 << 20
};

/* Stand-ins for folders of the host. A task may write them out; they name what it can have anyway. */
#define COMPOSE_STAND_IN "/.cordon/"
#define COMPOSE_STAND_IN_TASK "/.cordon/task"

/* v[n] is NULL. */
struct compose_strings {
	const char **v;
	uint32_t n;
	bool set; /* given, if only as [] */
};

struct compose_pair {
	const char *name, *value;
};

struct compose_pairs {
	struct compose_pair *v;
	uint32_t n;
};

struct compose_build {
	bool set;
	const char *context;	/* relative to the file's folder, canonical; "." is the folder itself */
	const char *dockerfile; /* relative to the context, canonical and inside it */
	const char *target;
	struct compose_pairs args;
};

enum compose_mount_kind {
	COMPOSE_MOUNT_TASK,   /* of the task's folder */
	COMPOSE_MOUNT_RUNNER, /* of the runner's folders for logs and artifacts */
	COMPOSE_MOUNT_VOLUME, /* a volume of this project; without a name: of this service alone */
	COMPOSE_MOUNT_TMPFS,
	COMPOSE_MOUNT_KINDS
};

/* The runner's folders. In the order of compose_folder_names. */
enum compose_folder {
	COMPOSE_FOLDER_VERIFIER,   /* HOST_VERIFIER_LOGS_PATH: never what the verifier's own sandbox has there */
	COMPOSE_FOLDER_AGENT,	   /* HOST_AGENT_LOGS_PATH */
	COMPOSE_FOLDER_ARTIFACTS,  /* HOST_ARTIFACTS_PATH */
	COMPOSE_FOLDER_TASK_LOGS,  /* T_BENCH_TASK_LOGS_PATH */
	COMPOSE_FOLDER_AGENT_LOGS, /* T_BENCH_TASK_AGENT_LOGS_PATH */
	COMPOSE_FOLDERS
};

/* The last part of each folder's stand-in. */
extern const char *const compose_folder_names[COMPOSE_FOLDERS];

struct compose_mount {
	uint64_t kind;	    /* enum compose_mount_kind */
	uint64_t folder;    /* of RUNNER: enum compose_folder */
	const char *source; /* of TASK: relative and canonical, "." is the folder itself; of RUNNER: "." (services write
			       there, and could make a link of any part of it); of VOLUME: its name */
	const char *target; /* absolute, canonical, not "/" */
	bool read_only;
	uint64_t size; /* of TMPFS, bytes; 0: not said */
	uint64_t mode; /* of TMPFS; 0: not said */
	uint64_t line;
};

struct compose_mounts {
	struct compose_mount *v;
	uint32_t n;
};

enum compose_condition { COMPOSE_STARTED, COMPOSE_HEALTHY, COMPOSE_COMPLETED, COMPOSE_CONDITIONS };
extern const char *const compose_condition_names[]; /* "service_started", ... */

struct compose_need {
	const char *service;
	uint64_t condition; /* enum compose_condition */
};

struct compose_needs {
	struct compose_need *v;
	uint32_t n;
};

struct compose_health {
	bool set;
	bool disabled; /* the image's is not to be used either */
	bool shell;    /* test is one text for the image's shell; else an argument list */
	struct compose_strings test;
	uint64_t interval, timeout, start_period, start_interval; /* ms; 0: not said */
	uint64_t retries;					   /* 0: not said */
};

enum compose_network_mode {
	COMPOSE_NET_PROJECT, /* on the networks that it names */
	COMPOSE_NET_NONE,
	COMPOSE_NET_SERVICE, /* in the network of another service */
	COMPOSE_NET_MODES
};

struct compose_network_use {
	const char *network;
	struct compose_strings aliases;
};

struct compose_network_uses {
	struct compose_network_use *v;
	uint32_t n;
};

struct compose_limit {
	const char *name; /* "nofile" */
	uint64_t soft, hard;
};

struct compose_limits {
	struct compose_limit *v;
	uint32_t n;
};

enum compose_restart { COMPOSE_RESTART_NO, COMPOSE_RESTART_FAILURE, COMPOSE_RESTART_ALWAYS, COMPOSE_RESTARTS };

struct compose_service {
	const char *name; /* [A-Za-z0-9][A-Za-z0-9._-]*, at most 63; none begins with "cordon-" */
	uint64_t line;
	const char *image;
	const char *platform; /* "linux/amd64" */
	struct compose_build build;
	struct compose_strings entrypoint, command;
	struct compose_pairs environment; /* each name once */
	const char *working_dir, *user, *hostname;
	bool init, read_only, stdin_open, tty;
	struct compose_mounts mounts; /* targets differ */
	struct compose_needs needs;   /* `links` too */
	struct compose_health health;
	uint64_t network_mode;		     /* enum compose_network_mode */
	const char *network_service;	     /* of COMPOSE_NET_SERVICE */
	struct compose_network_uses
		networks; /* of COMPOSE_NET_PROJECT: at least one, "default" where the file says nothing.
			     container_name, and names in links of others, are aliases on all of them */
	struct compose_pairs hosts;	     /* name, loopback address */
	struct compose_strings ports;	     /* "8080/tcp" that it serves; nothing is ever published */
	struct compose_strings cap_drop;     /* without "CAP_" */
	uint64_t memory, memory_reserved, cpus, pids, shm_size; /* bytes, thousandths; 0: not said */
	struct compose_limits limits;
	const char *stop_signal;
	uint64_t stop_grace; /* ms; 0: not said */
	uint64_t restart;    /* enum compose_restart */
	uint64_t restart_max; /* of FAILURE; 0: no maximum */
};

struct compose {
	struct compose_service *services; /* in the file's order */
	uint32_t n_services;
	uint64_t main; /* index of the agent's own */
	struct compose_strings networks; /* "default" only where a service uses it */
	struct compose_strings internal; /* those of them that lead to nothing outside */
	struct compose_strings volumes;
};

/* The service whose network this one is in: itself, mostly. Of a model that compose_wrong() has nothing against. */
const struct compose_service *compose_network(const struct compose *c, const struct compose_service *s);

/* The position of a service, or -1. */
int compose_find(const struct compose *c, const char *name);

/*
 * Does the model hold what this header says, and nothing that could reach further? A parser that was taken over may
 * answer with any bytes, so this looks again at all that has a meaning outside: paths, names, images, addresses, enums,
 * references. Pure. NULL, or what is wrong.
 */
const char *compose_wrong(const struct compose *c);

/* Equal in all but lines. */
bool compose_equal(const struct compose *a, const struct compose *b);

#endif
