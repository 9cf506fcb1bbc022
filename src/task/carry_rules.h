/*
 * carry_rules: the names that carry.h speaks of, as tables. Pure functions of names and paths; paths are absolute and
 * canonical.
 */
#ifndef CORDON_TASK_CARRY_RULES_H
#define CORDON_TASK_CARRY_RULES_H

#include <stdbool.h>

#include "base/sv.h"

/* Why something is not carried, or not as it was. */
enum carry_rule {
	CARRY_KEEP,
	CARRY_SPECIAL,
	CARRY_RUNNER,
	CARRY_AUTORUN,
	CARRY_STARTUP,
	CARRY_PYTEST,
	CARRY_PLUGIN,
	CARRY_GIT,
	CARRY_GIT_CUT,
	CARRY_ACCOUNTS,
	CARRY_INSTALLER,
	CARRY_MODULE,
	CARRY_REPLACES,
	CARRY_DELETES,
	CARRY_SHADOWS,
	CARRY_TOOL,
	CARRY_TESTS,
	CARRY_TESTS_CUT,
	CARRY_BROUGHT,
	CARRY_UNNAMED,
	CARRY_ASKED,
	CARRY_SYSTEM,
	CARRY_LINK,
	CARRY_LINK_RUNNER,
	CARRY_LINK_NOWHERE,
	CARRY_LINK_TESTS,
	CARRY_LINK_COPIED,
	CARRY_SCRATCH,
	CARRY_WRITTEN,
	CARRY_SETUID,
	CARRY_DEEP,
	CARRY_SAME, /* there is nothing to carry, and nothing to say */
	CARRY_RULES
};

/* "carry.autorun" and a sentence for people. */
struct carry_text {
	const char *rule, *message;
};
extern const struct carry_text carry_texts[CARRY_RULES];

/* What a name at that path is, wherever it is. */
enum carry_name {
	NAME_PLAIN,
	NAME_AUTORUN,
	NAME_CONFTEST, /* autorun, unless the task wants them */
	NAME_SITE,     /* *.pth: autorun where Python looks for packages; else weights of a model are called so */
	NAME_STARTUP,
	NAME_INSTALLER,   /* databases and caches of installers */
	NAME_KEPT,        /* where the image has one, it stays; else data */
	NAME_VENV,        /* pyvenv.cfg: the same, and none beside a program of the image */
	NAME_VERSION,     /* .python-version: of a Python; a path could be there as well */
	NAME_PINNED,      /* the same of other tools, with their names */
	NAME_PINNED_KEPT, /* and where the image has one, it stays */
	NAME_CHECKER,  /* of tools that judge: where the image has one, it stays; else data, unless it runs something */
	NAME_SECTIONS, /* setup.cfg, tox.ini: have sections for such tools */
	NAME_PYPROJECT,
	NAME_PLUGINS,    /* entry_points.txt */
	NAME_GIT_CONFIG, /* of a user or the system */
	NAME_PASSWD,
	NAME_ACCOUNTS,
};
enum carry_name carry_name_of(const char *path);

/* A module beside which `python -m pytest` would start: NAME.py, NAME.so, a package NAME. Is it named as one of the
 * standard library's or of the test tools'? */
bool carry_module_taken(struct sv name);

/* The standard library's alone, and what it tries to import though images have none; only the latter. A new package of
 * such a name would be found. */
bool carry_standard_module(struct sv name);
bool carry_absent_module(struct sv name);

/* What a name is in somebody's home folder. */
enum carry_home {
	HOME_DATA,
	HOME_TOOL,    /* versions of interpreters: where the image has the folder, it is the system's */
	HOME_STARTUP, /* any other name with a dot */
};
enum carry_home carry_home_name(struct sv name);

/* A home that is the work folder has files of projects, too: does it look like a start-up file? */
bool carry_startup_looks(struct sv name);

/* Commands, and packages of Python or node, that are never carried. The stem of a package: "pytest" of
 * "pytest-8.0.dist-info". */
bool carry_tool_command(struct sv name);
bool carry_tool_package(struct sv stem);

/* Folders that programs of an image load from, where they are new, too: names below lib/ and share/. */
bool carry_loaded_folder(struct sv name);

/* Names directly below the root that a tool which is started in /tests finds on its way up, and obeys. */
bool carry_seen_from_tests(struct sv name);

/* Where the runner mounts its own, and the kernel's file systems. */
bool carry_runner_place(const char *path);

/* The device that a link of the image's may lead to: it is empty. */
bool carry_plain_device(const char *path);

#endif
