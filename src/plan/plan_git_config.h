/*
 * plan_git_config: what configuration files of git, and those that they include, say about hooks. For plan_git.c.
 */
#ifndef CORDON_PLAN_GIT_CONFIG_H
#define CORDON_PLAN_GIT_CONFIG_H

#include "plan/plan_draft.h"

/* Texts in the plan's arena. */
struct git_texts {
	const char **v;
	size_t n, room;
};

struct git_said {
	struct draft *d;
	struct git_texts hooks;	    /* core.hooksPath, where it is relative */
	struct git_texts worktrees; /* core.worktree, as it is written */
	struct git_texts files;	    /* which were read */
	bool added;		    /* more is protected now */
};

/* 1: it was new. 0, or -1: no memory, also for the text, which is NULL then. */
int git_texts_add(struct draft *d, struct git_texts *t, const char *text);
void git_texts_done(struct git_texts *t);
void git_said_done(struct git_said *s);

/* Reads a file, if it is there and was not read before. What it includes, and absolute places of hooks, are protected.
 */
int plan_git_config_read(struct git_said *s, const char *path);

/* Protects a place below folder, as the text has it: relative, absolute, or below a home. text is NULL: there was no
 * memory for it. */
int plan_git_config_protect(struct git_said *s, const char *folder, const char *text);

/* Protects what links in a folder of hooks lead to: the folder need not be shown. */
int plan_git_config_links(struct git_said *s, const char *folder);

/* Both, for a folder of hooks. */
int plan_git_config_hooks(struct git_said *s, const char *folder, const char *text);

/* The place that the text means, in the plan's arena; NULL: no memory. */
const char *plan_git_config_place(struct draft *d, const char *folder, const char *text);

/* A whole file. 0; 1: there is none that can be read; -1. */
int plan_git_config_load(struct draft *d, const char *path, struct buf *b);

#endif
