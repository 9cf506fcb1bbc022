/*
 * import_parts: what the three readers of import share. Not for others.
 *
 * A reader walks the source's tree with tables of keys; what a table does not name becomes a note. Memory is the
 * policy's arena; running out of it marks the arena, and is found once at the end.
 */
#ifndef CORDON_POLICY_IMPORT_PARTS_H
#define CORDON_POLICY_IMPORT_PARTS_H

#include "conf/yaml.h"
#include "policy/import.h"

enum { IMPORT_KEY_MAX = 200 };

#define IMPORT_CONTAINER "these were paths of a container; here they are the host's, with what is there"

/* Parts of a policy that open nothing, because what the source closed there cannot be told. */
enum import_closed { CLOSED_FILES = 1, CLOSED_NETWORK = 2, CLOSED_PROGRAMS = 4 };

struct import {
	struct import_result *result;
	struct policy *policy;
	struct arena *arena;
	struct import_note **tail;
	struct pol_list unreadable; /* of srt: folders that could not be read there and have no rule here */
	bool reads_workdir;	    /* of srt: it could be read wherever it is */
	bool all_hosts;		    /* of SynthOrg: the network leads everywhere */
	bool lists_hosts;	    /* of SynthOrg: not everywhere, whether or not the list can be read */
	bool no_workdir;	    /* the work folder itself is denied */
	unsigned closed;	    /* enum import_closed */
	char key[IMPORT_KEY_MAX]; /* where we are, escaped */
};

typedef void import_fn(struct import *im, const struct ynode *n);

struct import_key {
	const char *name;
	import_fn *take;  /* NULL: nothing to do, the key has been looked at before */
	const char *lost; /* with take NULL: why it cannot be carried over, unless it is false, empty or null */
};

/* Reads a mapping; keys that the table does not have are noted as unknown. Ended by a row without a name. */
void import_map(struct import *im, const struct ynode *n, const struct import_key *table);
/* Calls take for each item, with "[i]" at the end of the key. */
void import_list(struct import *im, const struct ynode *n, import_fn *take);

/*
 * A denial that cannot be carried over: what it closed could be anything, so these parts of the policy open nothing
 * (import_settle()). Noted; the caller has said why.
 */
void import_close(struct import *im, const struct ynode *n, unsigned parts);
/* A list of denials: what is not a list closes the parts. */
void import_denials(struct import *im, const struct ynode *n, import_fn *take, unsigned parts);
/* A block that may hold denials: what is no mapping closes the parts. */
void import_block(struct import *im, const struct ynode *n, const struct import_key *table, unsigned parts);
/* Is the name that of something that closes? ("denyExec", "blocked_hosts") */
bool import_is_denial(struct sv key);
/* Last of all. */
void import_settle(struct import *im);

const struct ynode *import_find(const struct ynode *map, const char *key);
bool import_is_empty(const struct ynode *n); /* null, false, "", [] or {} */
bool import_is_true(const struct ynode *n);

/* Notes about the key where we are; n gives the line, and may be NULL. */
void import_lost(struct import *im, const struct ynode *n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void import_changed(struct import *im, const struct ynode *n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Goes down into a key and back; the returned mark is import_up()'s. */
size_t import_down(struct import *im, struct sv name);
void import_up(struct import *im, size_t mark);

/* Set a value of the policy from a scalar; a wrong one is noted as lost. */
void import_num(struct import *im, const struct ynode *n, const char *(*parse)(struct sv, uint64_t *),
		struct pol_num *to);
void import_set(struct pol_num *to, uint64_t v);
void import_text(struct import *im, struct pol_list *to, const char *s); /* once */
void import_pair(struct import *im, struct pol_pairs *to, const char *key, const char *value);

/* A path pattern for read, write, deny or a list of programs: checked, "/" at its end removed. */
void import_path(struct import *im, const struct ynode *n, struct pol_list *to);
/* Without empty and "." parts, and without a "/" at its end: "." for nothing, "/" for the root. NULL: no memory. */
const char *import_plain_path(struct import *im, struct sv s);
/* NULL: not a pattern (noted). Empty and "." parts are left out; a ".." is none of ours to resolve, as links may lead
 * elsewhere. */
const char *import_path_text(struct import *im, const struct ynode *n);
/* The same of a denial, where "$HOME" is the home. NULL: not a pattern, and the files are closed. */
const char *import_denied_path(struct import *im, const struct ynode *n);

/*
 * Addresses that were the sandbox's own there, or never let through: loopback and what is local to a link, as a cloud's
 * metadata are. Here they would be this machine's. True: the range has only such.
 */
bool import_is_never(const char *cidr);
/* A range that is allowed and holds some of them: they are denied (noted). */
void import_keep_never(struct import *im, const struct ynode *item, const char *cidr);

/* A rule for a host or an address (a private address becomes a cidr). NULL: not a host, or never to be allowed (noted).
 */
struct net_rule *import_rule(struct import *im, const struct ynode *n, struct sv host, struct net_rules *to);
/* An empty rule at the end of the list, for the caller to fill in. NULL: no memory. */
struct net_rule *import_new_rule(struct import *im, struct net_rules *to);
void import_drop_rule(struct net_rules *from); /* the last one again */
void import_port(struct import *im, struct net_rule *r, uint16_t port);
/* "host" or "host:port", as both SynthOrg and sandbox-runtime write it. */
struct net_rule *import_host_port(struct import *im, const struct ynode *n, struct net_rules *to);

import_fn import_from_synthorg, import_from_openshell, import_from_srt;

/* JSON to the tree that YAML gives, without lines. NULL and err: not JSON. */
const struct ynode *import_json_tree(struct arena *a, const char *name, struct sv bytes, struct error *err);

#endif
