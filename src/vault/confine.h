/*
 * confine: the walls around the vault: from here on it talks on the sockets it has, computes, and does nothing else.
 *
 * The environment is wiped; not dumpable, no new privileges; no process, no file, no memory that is both written and executed; an allowlist of system calls, anything else kills.
 * As in sys/role.h, a build with sanitizers has no filter and no bound on its memory.
 */
#ifndef CORDON_VAULT_CONFINE_H
#define CORDON_VAULT_CONFINE_H

/* 0 or -errno. */
int vault_confine(void);

#endif
