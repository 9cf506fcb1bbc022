/*
 * oci_runtime: what differs between runsc, runc and crun, as data.
 */
#ifndef CORDON_OCI_RUNTIME_H
#define CORDON_OCI_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

enum { OCI_FLAGS_MAX = 8 };

enum oci_cgroups {
	OCI_CGROUPS_LEFT,      /* it can be told to leave them alone */
	OCI_CGROUPS_READ_ONLY, /* it leaves them alone where it cannot write to them */
	OCI_CGROUPS_V1_ONLY, /* it leaves them alone, but refuses hosts that have both kinds: v2's are hidden from it */
};

struct oci_runtime {
	const char *name; /* as users say it */
	const char *paths[8]; /* where its program may be */
	const char *flags[OCI_FLAGS_MAX];	   /* always */
	const char *rootless_flags[OCI_FLAGS_MAX]; /* for ordinary users */
	enum oci_cgroups cgroups;
	bool own_kernel;    /* no user namespace in the spec, no seccomp; it brings its own /dev and /sys */
	/* Says that its program cannot be written to through /proc/PID/exe, from inside: else it makes sure of that by
	 * starting itself anew. */
	const char *sealed;
	bool graces; /* its processes would wait for the kernel's grace periods as they start (sys/grace.h), and do
			without what they wait for */
	bool recursive;	    /* mount options that hold for what is mounted below, too: "rro" */
};

/* The row of that name, or NULL. */
const struct oci_runtime *oci_runtime_find(const char *name);

/* The first of its paths that can be executed, or NULL. */
const char *oci_runtime_program(const struct oci_runtime *r);

#endif
