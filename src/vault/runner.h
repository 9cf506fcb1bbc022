/*
 * runner: the vault's child that fetches values (vault/source.h), because the vault itself opens and starts nothing.
 *
 * It serves one socket, knows the credentials it was born with, and is told positions in them. It ends when the vault
 * does.
 */
#ifndef CORDON_VAULT_RUNNER_H
#define CORDON_VAULT_RUNNER_H

#include <sys/types.h>

#include "vault/credential.h"

/* Forks it. Its pid, and our end of its socket (O_CLOEXEC); or -errno. All fds from 3 on are closed in it, but its
 * socket. */
pid_t runner_start(const struct credentials *credentials, int *ret_socket);

#endif
