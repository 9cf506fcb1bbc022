/*
 * source: fetching a credential's bytes from where the operator said they are.
 *
 *  - env: the variable must be set and not empty. Several variables (sigv4) are joined by newlines; the third may be
 * missing.
 *  - file: a regular file that belongs to this user or to root, without any right for group or others, and not behind a
 * link in its last part. "~/" is $HOME.
 *  - command: run without a shell, with HOME, PATH, USER, LOGNAME, LANG, XDG_RUNTIME_DIR, DBUS_SESSION_BUS_ADDRESS,
 * GNUPGHOME, PASSWORD_STORE_DIR, SSH_AUTH_SOCK and GPG_TTY as its only variables, stdin from /dev/null, stderr to ours,
 * in a process group of its own that is killed when the time is over.
 *
 * At most SOURCE_MAX bytes; one newline at the end is dropped. Errors name the source, never what was read.
 */
#ifndef CORDON_VAULT_SOURCE_H
#define CORDON_VAULT_SOURCE_H

#include "base/buf.h"
#include "base/error.h"
#include "vault/credential.h"

enum { SOURCE_MAX = 64 * 1024, SOURCE_COMMAND_MS = 30000 };

/* What a command gets of our variables. */
enum { SOURCE_VARIABLES = 11 };
struct source_variable {
	const char *name;
	bool decides; /* which value a command finds; the others say how it speaks, and to whom it may */
};
extern const struct source_variable source_variables[SOURCE_VARIABLES];

/* Into out, which must be empty; its storage is made here in full size, so that growing leaves no copy behind. The
 * caller wipes it (source_wipe()). */
int source_fetch(const struct credential_source *from, struct buf *out, struct error *err);
/* The same with another time for commands. */
int source_fetch_within(const struct credential_source *from, unsigned ms, struct buf *out, struct error *err);
void source_wipe(struct buf *out);

#endif
