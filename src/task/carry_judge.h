/*
 * carry_judge: is one name of the agent's upper folder carried? The order of the rules, over the tables of
 * carry_rules.h and what the image has (carry_view.h).
 */
#ifndef CORDON_TASK_CARRY_JUDGE_H
#define CORDON_TASK_CARRY_JUDGE_H

#include <limits.h>

#include "base/arena.h"
#include "task/carry.h"
#include "task/carry_rules.h"
#include "task/carry_view.h"
#include "task/carry_words.h"

/* What a folder is. */
enum zone {
	ZONE_DATA,   /* neither of the others */
	ZONE_WORK,   /* the work folder */
	ZONE_SYSTEM, /* programs load from there: the image's files stay */
	ZONE_FREE,   /* new, and the image knows nothing of it */
};

enum { CARRY_TEXT_MAX = 1 << 20, CARRY_LINKED = 1024 };

/* A run of it all. */
struct carry {
	const struct carry_request *req;
	struct layered root;
	struct layered had; /* empty: the agent had the same */
	struct arena *arena;
	struct error *err;
	void (*report)(void *arg, enum carry_rule rule, struct sv path);
	void *report_arg;
	const char *work; /* NULL: there is none that would be data */
	const char **path, **modules, **libraries; /* folders of the variables, NULL-terminated */
	const char **packages; /* of PYTHONPATH and its like, where they are not of the work folder: the image's own */
	const char **home, **config, **python_home; /* the same, of HOME, XDG_CONFIG_HOME and PYTHONHOME */
	const char **caches, **data, **user_base;  /* of XDG_CACHE_HOME, XDG_DATA_HOME and PYTHONUSERBASE */
	const char **homes;			   /* of the image's users, NULL-terminated */
	struct carry_named_store *stores;	   /* of variables; the last has no folder */
	const char *shell_files[2];		   /* BASH_ENV, ENV; or NULL */
	const char **stems; /* of packages that the image's Pythons have */
	size_t n_stems;
	bool stems_known;
	struct carry_tests tests;
	struct carry_words named; /* by the tests and the solution */
	struct carry_tests solved; /* as tests, of the solution; with asked */
	struct carry_words asked, project, node_asked; /* carry_asked.h; of one folder of node's at a time */
	struct carry_test_files project_files;
	const char *node_folder;
	size_t asked_bytes, asked_names;
	bool asked_known;
	const char **starts; /* where they start something, or let Python look */
	const char **copies; /* where they copy test files to */
	const char **stands; /* the folders that the verifier starts in, and where links of the image lead from them: it
				cannot start where they are none */
	struct carry_words told, spoken, test_names; /* carry_told.h */
	bool told_links;			     /* the instruction asks for symbolic links */
	const char **scratch;			     /* carry_scratch.h */
	struct told_path *told_paths;
	bool told_scratch;	 /* such a place is named, and nothing in it */
	struct written *writes; /* carry_writes.h */
	size_t n_writes;
	struct carry_words write_names;
	struct brought *brought; /* carry_brought.h */
	struct linked *linked[CARRY_LINKED]; /* files of several names that were copied, by their first one */
	struct carried_link *links;	     /* symbolic ones, for carry_link.h */
	uint64_t link_steps;		     /* what they took so far */
	struct link_memo *link_memo;	     /* what they met */
	uint64_t link_bytes;		     /* that copies took in their place */
	int to;				     /* the layer that is made */
	uid_t caller;
	char at[PATH_MAX]; /* the path at hand, absolute; "" is the root */
	size_t len;
};

/* A folder, in the agent's upper and in the image. */
struct spot {
	int in;
	struct layered image;
	enum zone zone;
	bool hidden; /* what the image has there is not seen through the layer that is made */
	bool git;    /* of a repository */
	bool hooks;
	const struct carry_store *store; /* that it is part of, or NULL */
	size_t store_len;		 /* of the store's path */
};

/* A name in it. */
struct entry {
	const char *name;
	struct stat st;	   /* in the upper folder */
	struct stat image; /* st_mode 0: the image has none */
	int image_fd;
};

/* c->at is the entry's path. CARRY_GIT_CUT: carried, filtered. */
enum carry_rule carry_judge(struct carry *c, const struct spot *s, const struct entry *e);

/* The zone of a folder that is carried. */
enum zone carry_zone(const struct carry *c, const struct spot *s, const struct entry *e);

/* Is it at or below a place of the runner's or the kernel's? */
bool carry_place(const struct carry *c, const char *path);

/* Is the folder one of these? */
bool carry_among(const char *const *folders, struct sv folder);

/* Is one of these at the path, or below it? */
bool carry_leads_to(const char *const *places, const char *path);

/* Is it where files of the task are mounted? */
bool carry_mounted(const struct carry *c, const char *path);

/* Sets work and what the variables say. */
int carry_judge_init(struct carry *c);

#endif
