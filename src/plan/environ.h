/*
 * environ: the environment of the sandbox, built from nothing.
 *
 * In this order, a later entry replacing an earlier one of the same name:
 *  1. a small safe set (PATH, HOME, USER, LOGNAME, SHELL, LANG, TMPDIR, PWD; TERM with a terminal, where the host's
 *     is a plain token);
 *     over it what an image says, where the sandbox is made of one;
 *  2. where the policy opens network or inference: how programs find the gateway (proxies, base URLs, certificates);
 *  3. policy's env.pass: names whose value is the host's;
 *  4. policy's env.set;
 *  5. --env K=V and --env K of the command line, in their order;
 *  6. placeholders that stand for credentials.
 * Some names can never take the host's value (loader and shell start-up variables, proxies); names that look like a
 * credential's are marked when they are passed. Everything else of the host stays out, and is listed with the reason.
 *
 * The result lives in the caller's arena and borrows the strings of the request. Values of entries that stay out are
 * never kept.
 */
#ifndef CORDON_PLAN_ENVIRON_H
#define CORDON_PLAN_ENVIRON_H

#include <stdbool.h>

#include "base/error.h"
#include "model/image.h"
#include "model/policy.h"

enum environ_why {
	ENVIRON_SAFE,        /* in: the safe set */
	ENVIRON_IMAGE,       /* in: the image */
	ENVIRON_GATEWAY,     /* in: how to reach the gateway */
	ENVIRON_PASS,        /* in: env.pass */
	ENVIRON_SET,         /* in: env.set */
	ENVIRON_ARGUMENT,    /* in: --env */
	ENVIRON_PLACEHOLDER, /* in: stands for a credential */
	ENVIRON_NOT_NAMED,   /* out: nothing names it */
	ENVIRON_FORBIDDEN,   /* out: can never take the host's value */
	ENVIRON_SECRET,      /* out: looks like a credential, and nothing names it */
	ENVIRON_UNSET,       /* out: named, but the host has none */
	ENVIRON_ODD,         /* out: no plain name, or TERM that is no plain token */
};

struct environ_entry {
	const char *name;
	const char *value; /* NULL: stays out */
	enum environ_why why;
	struct origin at; /* of the policy's word, for PASS, SET and those out because of them */
	bool from_host;   /* the value is the host's: not for the eyes of a log */
	bool secret;      /* in a report: the name looks like a credential's */
};

struct environ_placeholder {
	const char *name;
	const char *value;
};

struct environ_request {
	const struct policy *policy;
	char *const *host; /* NULL-terminated NAME=VALUE */
	const char *pwd;   /* where CMD starts, inside */
	const char *home;  /* the user's home: an empty folder of that name inside */
	const struct image_root
		*image; /* the sandbox is made of it, and home says nothing; NULL: of the host's base system */
	bool tty;
	const char *const *arguments; /* of --env */
	size_t n_arguments;
	const struct environ_placeholder *placeholders;
	size_t n_placeholders;
	bool java_option; /* this machine has no trust store of Java's that could be covered: tell it by a variable */
	bool report; /* also list what stays out; a launch does not need it */
};

struct environ_set {
	struct environ_entry *entries; /* first those that are in, then those that stay out, each sorted by name */
	size_t n;
	size_t n_in;
};

/* -1: no memory, or an --env that cannot be honoured (ERROR_USAGE). */
int environ_build(struct arena *arena, const struct environ_request *req, struct environ_set *ret, struct error *err);

/* For execve(): NAME=VALUE of what is in, NULL-terminated, in the arena. NULL: no memory. */
char **environ_vector(struct arena *arena, const struct environ_set *set);

/* A few words for a person: "named in env.pass". */
const char *environ_why_text(enum environ_why why);

bool environ_is_forbidden(const char *name);
bool environ_is_secret(const char *name);

#endif
