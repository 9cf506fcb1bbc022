/*
 * needle_set: the automaton of needle.h, for the files that run it. After Aho and Corasick, over all forms of all
 * needles (needle_forms.h).
 */
#ifndef CORDON_VAULT_NEEDLE_SET_H
#define CORDON_VAULT_NEEDLE_SET_H

#include "vault/needle.h"
#include "vault/needle_runs.h"

/* Nodes of the automaton: 0 is the root. Most have one child, so children are a list; the root's are a table. */
struct needle_node {
	uint32_t child, sibling;
	uint32_t fail; /* the longest proper suffix that is a node */
	uint32_t live; /* this node, or the nearest suffix, from which a form can still go on */
	uint32_t hit;  /* the longest suffix (this node included) that is a whole form; 0: none */
	uint32_t depth;
	uint32_t needle;
	unsigned char byte;
	bool whole;
};

enum { NEEDLE_PAIRS = 4096, NEEDLE_STRIDE = NEEDLE_MIN - 1 };

struct needle_set {
	unsigned references;
	bool lower; /* all forms are in lower case */
	bool backslash; /* one of the needles has one */
	uint32_t n, room; /* nodes */
	uint32_t longest; /* depth of the deepest */
	uint32_t shortest; /* of the needles */
	uint32_t word;     /* the longest form that is one word */
	bool deep; /* what is in base64 and hexadecimal is to be undone */
	struct needle_node *nodes;
	uint32_t root[256];
	bool skip[256]; /* at the root this byte leads nowhere and starts no escape */
	/*
	 * By two bytes (needle_hash): where they are the last of NEEDLE_MIN bytes that no form starts with, how many
	 * bytes on the next start can be. After Wu and Manber: most of a text is never looked at.
	 */
	uint8_t stride[NEEDLE_PAIRS];
	uint64_t dull[NEEDLE_VALUES]; /* of a deep set: needle_runs_prepare() */
};

static inline unsigned char needle_fold(const struct needle_set *set, unsigned char c)
{
	return set->lower && c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

static inline uint32_t needle_child(const struct needle_set *set, uint32_t at, unsigned char c)
{
	uint32_t k;

	if (at == 0)
		return set->root[c];
	for (k = set->nodes[at].child; k && set->nodes[k].byte != c; k = set->nodes[k].sibling)
		;
	return k;
}

static inline uint32_t needle_step(const struct needle_set *set, uint32_t at, unsigned char c)
{
	uint32_t k;

	while ((k = needle_child(set, at, c)) == 0 && at != 0)
		at = set->nodes[at].fail;
	return k;
}

static inline unsigned needle_hash(unsigned char a, unsigned char b)
{
	return ((unsigned)a << 4 ^ b) % NEEDLE_PAIRS;
}

#endif
