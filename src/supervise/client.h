/*
 * client: `cordon exec`: a further command in a running sandbox, with our terminal, signals and exit status.
 */
#ifndef CORDON_SUPERVISE_CLIENT_H
#define CORDON_SUPERVISE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct gate_likeness;

/* Which limit of the policy ended a command; "" where none did. */
struct client_limit {
	char key[64];
};

/* sock: from control_connect(). collect: files cannot be passed in to be written (stdio.h). The command's exit status,
 * or -1, with ESHUTDOWN where the sandbox ended, or is ending, and the command was not begun; *ret_limit is set in both
 * cases. */
int client_exec(int sock, char *const *argv, bool collect, struct client_limit *ret_limit, struct error *err);

/* What runs in a kept sandbox, and what ran there last. */
struct client_seen {
	uint32_t running;
	uint64_t idle_ms;
	bool ending; /* it takes no command any more */
	char last[256]; /* escaped */
};

enum { CLIENT_LOOK_MS = 500 };

/* `cordon ps`: 0, or -errno: it does not answer within CLIENT_LOOK_MS. */
int client_look(int sock, struct client_seen *ret);

enum { CLIENT_TAKE_MS = 10000 };

/* A kept sandbox is to be used under the policy with this digest and, where that needs a gateway, with the credentials
 * of which likeness was made (else NULL); alone: by this connection only, and ends with it. */
enum client_taken {
	CLIENT_TAKEN,
	CLIENT_GONE,		  /* it is somebody else's, or does not answer */
	CLIENT_OTHER_POLICY,	  /* by now */
	CLIENT_OTHER_CREDENTIALS, /* or another gateway.yaml */
};
enum client_taken client_take(int sock, bool alone, const char *policy_digest, const struct gate_likeness *likeness);

/* `cordon policy push`: the file at path (absolute), or where text_fd is not -1 what is in that one, is the run's
 * policy from now on. 0; 1: and err has what of it waits for a restart; or -1: why not; ERROR_DENIED: it has no
 * gateway, so nothing is open. */
int client_push(int sock, const char *path, int text_fd, struct error *err);

/* `cordon stop`: asks the run to end, with SIGKILL after a while. Without waiting: the connection ends with the run. 0
 * or -errno. */
int client_stop(int sock, uint32_t grace_ms);

#endif
