/*
 * carry_tests: what a task's tests bring themselves.
 *
 * Tests that install something before they use it mean their own: a command of the agent's, earlier on the PATH, or a
 * package that an installer finds "already there", would be used in its place; so would a virtual environment that they
 * make only where there is none. This reads the lines of the tests' files that call an installer. It is a list of
 * words, not a shell: what a variable names, or a script from the network, is not seen.
 */
#ifndef CORDON_TASK_CARRY_TESTS_H
#define CORDON_TASK_CARRY_TESTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/sv.h"

enum {
	CARRY_TESTS_BYTES = 4 << 20,
	CARRY_TESTS_FILE = 256 << 10,
	CARRY_TESTS_WORDS = 20000,
	CARRY_TESTS_FOLDERS = 256
};

/* The tests' files, as they are: whoever has their folder need not look into them. */
struct carry_test_file {
	struct carry_test_file *next;
	const char *name; /* NULL: not known */
	const char *path; /* below their folder; NULL: as the name */
	struct sv text; /* empty where it is too large for a script */
	bool list; /* every line of it names packages, as in requirements.txt */
};

/* What looks like a script comes first. Of files behind CARRY_TESTS_BYTES, and of those above CARRY_TESTS_FILE, only
 * the names are known. */
struct carry_test_files {
	struct carry_test_file *first;
	size_t bytes;
	bool cut; /* scripts are among these, or in folders that are too deep */
};

/* Adds all regular files in a folder and those below it; links are not followed. 0 or -errno. */
int carry_tests_read(struct carry_test_files *f, struct arena *a, int folder);

/* One file of a folder. 0 or -errno. */
int carry_tests_read_file(struct carry_test_files *f, struct arena *a, int folder, const char *name);

/* What they say. */
struct carry_tests {
	const char **words; /* of packages and their commands, and of folders of virtual environments: lower case, '_'
			       for '-'; sorted, NULL-terminated */
	size_t n;
	const char *folders; /* of cd and PYTHONPATH=, "A:B:C", each once; or NULL */
	size_t n_folders;    /* at most CARRY_TESTS_FOLDERS */
	const char *copies;  /* where test files are copied to, or are said to be, in the same way */
	size_t n_copies;
	bool copies_here;    /* some to a folder that is relative to where they are */
	const char *modules; /* of PYTHONPATH= alone */
	size_t n_modules;
	const char *here; /* while a file is read: where its last `cd` went; NULL: that is not known */
	bool makes_venv;    /* python -m venv, uv venv, virtualenv, uv init, uv sync, uv run */
	bool makes_project; /* uv init */
};

/* f may be NULL: nothing is known. 0 or -ENOMEM. */
int carry_tests_learn(struct carry_tests *t, struct arena *a, const struct carry_test_files *f);

/* Do the tests install a package that has this command or module? */
bool carry_tests_install(const struct carry_tests *t, struct sv name);

/* Packages that are known to have a command or module which is not called as they are: lower case, '_' for '-'. fn()
 * returning false ends it. */
void carry_tests_packages(struct sv name, bool (*fn)(void *arg, const char *package), void *arg);

/* Is one of the test files, test_NAME.py or NAME_test.py, called so without its ending? any: or another file of theirs.
 * f may be NULL. */
bool carry_tests_have(const struct carry_test_files *f, struct sv name, bool any);

/* Do they import a module of that name, or name something in it? */
bool carry_tests_module(const struct carry_test_files *f, struct sv name);

/* Do they import a package of that name, as NAME or as part of another, or name something in it? What is relative may
 * mean any. */
bool carry_tests_import(const struct carry_test_files *f, struct sv name);

#endif
