/*
 * import: other sandboxes' settings as a version 1 policy.
 *
 * Reads SynthOrg's DockerSandboxConfig (YAML, with its `policy` block, alone or below `docker` or `sandboxing`), NVIDIA
 * OpenShell's policy (YAML) and the settings of Anthropic's sandbox-runtime (JSON, alone or below `sandbox`). Keys that
 * the source leaves out get the source's own defaults, so that the result means what the source meant.
 *
 * Nothing is dropped silently: each key that has no counterpart, each unknown key and each value whose meaning changes
 * is a note with its line. What cannot be expressed is left out rather than widened, and where that is a denial, so is
 * all that it may have closed; only a rule for certain programs is for all here, and the note says so.
 *
 * The result owns its policy and its notes (import_done()). The input is at most YAML_TREE_BYTES long. Fails with
 * ERROR_INPUT where it cannot be read or is none of the three.
 */
#ifndef CORDON_POLICY_IMPORT_H
#define CORDON_POLICY_IMPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "model/policy.h"

enum import_source { IMPORT_SYNTHORG, IMPORT_OPENSHELL, IMPORT_SRT, IMPORT_DETECT };

/* "synthorg", "openshell", "srt"; NULL-terminated, in the order above. */
extern const char *const import_source_names[];

enum import_loss {
	IMPORT_LOST,    /* not carried over, or a restriction went */
	IMPORT_CHANGED, /* carried over, but means something else here; never more than it meant there */
};

struct import_note {
	enum import_loss loss;
	const char *key;  /* of the source, escaped: "network_policies.git.binaries" */
	const char *text; /* escaped */
	uint32_t line;    /* 0: not known (JSON), or about a default */
	struct import_note *next;
};

struct import_result {
	enum import_source source;
	struct policy *policy;
	struct import_note *notes;
	uint32_t n_lost;
	uint32_t n_changed;
};

int policy_import(const char *name, struct sv bytes, enum import_source from, struct import_result *ret,
		  struct error *err);
void import_done(struct import_result *r);

/* The policy as YAML, with the notes as comments above it. */
void import_print(const struct import_result *r, const char *name, struct buf *out);

#endif
