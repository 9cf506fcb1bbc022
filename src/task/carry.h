/*
 * carry: what of the agent's changes the verifier gets to see.
 *
 * The verifier runs in a fresh sandbox made of the image's own layers, and one layer more: what the agent changed, as
 * data. This makes that layer from the agent's upper folder. The rule, in short:
 *
 *	What the agent made is data and is carried. What runs because of its name or its place is the image's, or is not
 *	there.
 *
 * In the work folder everything is carried but
 *   - what Python, pytest, shells and tools run or obey unasked: conftest.py (and a package or library that Python
 *     takes in its place), sitecustomize.py, *.pth among packages, __pycache__, *.pyc, pytest.ini, sections for pytest
 *     and other tools that judge in pyproject.toml, setup.cfg and tox.ini (with their plugins and hooks), plugins of
 *     pytest by entry point, .bashrc and their like; settings of other test runners (.mocharc.js, jest.config.js,
 *     phpunit.xml ...), but not of what builds; what does both is the image's where it has it (deno.json,
 *     gradle.properties, foundry.toml). Where the image has such a file, its version stays; where it has none, there is
 *     none
 *   - an __init__.py with code in it where tests are, which run it on their way (carry_place.h), and what would be
 *     imported in the place of a test's own file
 *   - hooks of git repositories, and of whatever has a HEAD; of their configuration only what cannot run anything is
 *     carried, and none of a worktree's own
 *   - new modules in the folder where `python -m` starts, in those of PYTHONPATH and those that the tests name so, go
 *     to, or copy themselves to, with the names of the standard library, of test tools, or of packages of the image;
 *     and what makes a package of a folder with such a name, or is part of one that Python asks for though images have
 *     none
 *   - new modules, packages, scripts and commands that would be found in the place of the tests' own, there and in other
 *     folders where they are looked for (carry_brought.h)
 *   - changes to packages of the image (site-packages, node_modules) and to folders on the PATH; outside of the work
 *     folder also in folders of PYTHONPATH, NODE_PATH, PERL5LIB, RUBYLIB and CLASSPATH
 *   - links that lead to the runner's own folders (/tests, /logs, /solution ...) or to the root that has them, by
 *     whatever detour, as the agent saw it or as the verifier will; links in the place of folders of PATH, PYTHONPATH
 *     and LD_LIBRARY_PATH or on the way to one, of a home's .local, of site-packages, node_modules
 *
 * Outside the work folder also
 *   - what replaces or deletes files of the image in /bin, /sbin, /lib*, /usr, and programs of the image anywhere.
 *     Where the image's work folder is / or a system folder, there is none, and programs outside of system folders are
 *     data
 *   - in these folders only what the image knows nothing of is carried: new commands that the tests or the task's own
 *     solution name and no folder on the PATH has (installers ask for commands that images lack, and would run the
 *     agent's), new libraries whose name no library folder has, new packages whose name no Python of the image has and
 *     no package of it asks for (carry_asked.h), new folders that no program of the image loads from, data below
 *     share/, and include/ where no header of the image has the name. So what apt, pip or npm installed is there for
 *     the verifier, without what would take over its own programs: shells, installers and test tools (and what pytest
 *     imports) are never carried, nor are the databases and caches of installers, so that a verifier that installs them
 *     itself gets its own
 *   - the same for interpreters that an image has elsewhere: folders of bin and lib that are on the PATH or hold one,
 *     versions in ~/.pyenv, ~/.nvm and their like. What an interpreter has below lib stays also where that folder is a
 *     home, or the work folder or above it
 *   - packages of the image where build tools keep them, and what these tools read or made beside them (carry_store.h)
 *   - in homes every name with a dot that is not known to be data, and all of ~/.config but git's: a tool's start-up
 *     file needs no list. Where a home is the work folder, only what looks like such a file
 *   - start-up and loader files: /etc/profile*, ld.so.*, pam, cron, ssl, apt, hosts ...; users and groups only where
 *     the image's stay as they are
 *   - what tools started in /tests would find above them, directly below the root: node_modules, package.json, go.work
 *     ...
 *   - links in the place of folders; anything below /proc, /sys, /dev, /run and the runner's own folders
 *
 * Anywhere, what the tests bring themselves (carry_tests.h): commands and packages that their files install, and, where
 * they make virtual environments, those of the agent's that the image does not have. And nothing that the tests write
 * for themselves: in /tmp and /var/tmp only what the instruction names (carry_scratch.h), nothing where the tests'
 * texts say that they write, and no folder called as a file of theirs (carry_writes.h); no link that leads nowhere, and
 * none by which they could write to what they judge (carry_link.h). Devices, sockets and FIFOs are dropped, hard links
 * and holes of files kept, setuid and setgid bits taken off, extended attributes not copied. Folders of the image stay,
 * with their owners and modes, where they are the system's.
 *
 * All that is not carried is reported, with a rule and a reason, but for what is as the image has it. Nothing is
 * followed, all is opened by descriptor. The agent's processes have ended; nobody writes to any of the folders
 * meanwhile. It is done by a child that is the image's id 0 and nothing more (carry_child.h), where the request says
 * which ids these are.
 */
#ifndef CORDON_TASK_CARRY_H
#define CORDON_TASK_CARRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/image.h"
#include "task/carry_tests.h"

struct carry_request {
	int upper;		   /* the agent's; overlayfs's format */
	const char *const *layers; /* the image's, topmost first, NULL-terminated: paths of folders */
	const char *workdir;	   /* inside, absolute and canonical */
	const char *start;      /* where the verifier starts, if not there: modules are found there, too. NULL: there */
	const char *const *had; /* as layers: of the agent's image, where the verifier's is another. What that one has,
				   and the agent's has not alike, is the verifier's own, and stays, as do owners and
				   modes of its folders. NULL: it is the same */
	const char *wanted;	   /* a folder of the runner's whose files are carried all the same; or NULL */
	const char *const *env; /* of the verifier: "NAME=VALUE", NULL-terminated, or NULL. HOME, XDG_CONFIG_HOME, PATH,
				   PYTHONHOME, PYTHONPATH and its like, LD_LIBRARY_PATH, BASH_ENV and ENV say what is
				   loaded from where */
	const char *const *places; /* where the verifier's sandbox mounts something of its own, besides /tests and its
				      like; NULL-terminated, or NULL */
	const char *const *mounts; /* the same with files that the agent had, too: links may lead there, if the way ends
				      there. NULL: none */
	const char *instruction; /* what the agent was told, and the artifacts that it shall leave: names in it are the
				    agent's. NULL: that is not known, and no name is the tests' alone */
	const struct carry_test_files *tests; /* whose tests bring things themselves; NULL: that is not known, and any
						 new command is carried */
	const struct carry_test_files
		*solution;           /* the task's own: what it names, an agent may well have brought; or NULL */
	const struct image_ids *ids; /* who the files belong to; NULL: all to the caller */
	const int *stop; /* readable where somebody wants it to end; NULL: nobody does. Looked at where there are ids */
	uint64_t room;		   /* what copies in the place of links may take, all together; 0: nobody says */
	bool keep_conftests;	   /* the task wants those of the agent */
	/* path and message are escaped. Called for each thing that was dropped or changed. */
	void (*report)(void *arg, const char *rule, const char *path, const char *message);
	void *arg;
};

/* Fills the empty folder `to`, whose own owner and mode become those of the image's root. -1: it could not be made, and
 * holds nothing of use. */
int carry_changes(const struct carry_request *req, int to, struct error *err);

#endif
