/*
 * cli_policy: from --policy, --profile and --workdir to an effective policy.
 *
 * What a verb that works with a policy shares: where the user's folders are (HOME, XDG_*_HOME; relative ones are passed
 * over, as the XDG specification says), which sources were named and in which order, and the work folder. The struct
 * owns what it holds (cli_policy_done()).
 */
#ifndef CORDON_CLI_POLICY_H
#define CORDON_CLI_POLICY_H

#include <limits.h>

#include "cli/cli.h"
#include "policy/policy_load.h"
#include "vault/credential.h"

enum cli_policy_flags {
	CLI_POLICY_ALONE = 1,   /* without the operator's ceiling */
	CLI_POLICY_NOWHERE = 2, /* the work folder is CLI_NOWHERE unless --workdir says otherwise: answers do not depend
				   on where one stands */
	CLI_POLICY_NO_CACHE = 4,
	CLI_POLICY_AGAIN = 8, /* amid a run: no pipe is waited for */
};

#define CLI_NOWHERE "/workdir"

/* Rows for a verb's table of options. */
#define CLI_OPTION_POLICY                                                                                              \
	{                                                                                                              \
		"policy", 'p', "FILE", "file", "Use this policy file; later ones go on top.",                          \
			OPTION_MANY                                                                                    \
	}
#define CLI_OPTION_PROFILE                                                                                             \
	{                                                                                                              \
		"profile", 0, "NAME", "profile", "Use this profile; profiles and policy files mix, in their order.",   \
			OPTION_MANY                                                                                    \
	}
#define CLI_OPTION_WORKDIR(help)                                                                                       \
	{                                                                                                              \
		"workdir", 'w', "DIR", "dir", help, 0                                                                  \
	}
#define CLI_OPTION_RUNTIME                                                                                             \
	{                                                                                                              \
		"runtime", 'r', "RUNTIME", "runtime",                                                                  \
			"Use this runtime in place of the policy's, as far as the operator's ceiling lets you.", 0     \
	}
#define CLI_OPTION_CATEGORY                                                                                            \
	{                                                                                                              \
		"category", 0, "CATEGORY", "category",                                                                 \
			"The tool category of CMD: code_execution and terminal run in gVisor unless the policy says "  \
			"otherwise.",                                                                                  \
			0                                                                                              \
	}
#define CLI_OPTION_JSON                                                                                                \
	{                                                                                                              \
		"json", 0, NULL, NULL, "Print one JSON document.", 0                                                   \
	}

struct cli_folders {
	char home[PATH_MAX];
	char config[PATH_MAX]; /* each ends in /cordon */
	char cache[PATH_MAX];
	char state[PATH_MAX];
	char data[PATH_MAX];
};

struct cli_policy {
	struct policy *policy;
	char digest[65];
	char workdir[PATH_MAX]; /* absolute and canonical */
	struct cli_folders folders;
};

int cli_folders(struct cli_folders *ret, struct error *err);

/*
 * Those that only Cordon fills, by where they are and by where they would be with another environment, for struct
 * plan_request: NULL-terminated, in the caller's storage. What the user writes there (policies, credentials) may have
 * other names elsewhere: the folder of the configuration is none of them, whatever else is kept in it.
 */
struct cli_own {
	char room[8][PATH_MAX];
	const char *v[9];
};
const char *const *cli_own(struct cli_own *o, const struct cli_folders *f);

/* name: a further source in front of those of the options, as a person writes it (a profile, or a path: what has a "/"
 * or "."); NULL: none. */
int cli_policy_load(const struct call *call, const char *name, unsigned flags, struct cli_policy *ret,
		    struct error *err);
/* The same from one file alone, in place of the options' sources. */
int cli_policy_load_file(const struct call *call, const char *path, unsigned flags, struct cli_policy *ret,
			 struct error *err);
int cli_policy_load_profile(const struct call *call, const char *name, unsigned flags, struct cli_policy *ret,
			    struct error *err);

void cli_policy_done(struct cli_policy *p);

/* "strict" is a profile, "./strict" and "strict.yaml" are files. */
bool cli_is_profile(const char *name);

/* Without ".", "..", double and trailing slashes; relative ones are below base. 0, or -1: too long. */
int cli_path_clean(const char *base, const char *path, char out[PATH_MAX]);

/* The operator's credentials.yaml, without values. The caller frees (credentials_free()). */
int cli_credentials(const struct cli_policy *p, struct credentials **ret, struct error *err);

/* Prints the buffer to call->out. -1 where the buffer failed before. */
int cli_print(const struct call *call, const struct buf *out, struct error *err);

#endif
