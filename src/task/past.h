/*
 * past: results of tasks that are kept below the state folder, where nobody said --out.
 *
 * ROOT/ID is a folder that `cordon task run` made; the id says when: SECONDS-MILLISECONDS since 1970. Its runner holds
 * a lock on it (past_hold) until it ends, so that one which goes on is told from one that was killed. Much in such a
 * folder was written by tasks and agents: of all that only result.json and, before there is one, .started are read,
 * which are Cordon's own, and removing follows no link.
 */
#ifndef CORDON_TASK_PAST_H
#define CORDON_TASK_PAST_H

#include <limits.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "task/result.h"

enum { PAST_ID_MAX = 32 };

struct past {
	int root, dir; /* the folder's parent, and the folder */
	char id[PAST_ID_MAX];
	char path[PATH_MAX];
	int64_t started_ms;
	bool running;
};

/* Where they are: "STATE/tasks". */
int past_root(const char *state, char ret[PATH_MAX], struct error *err);

/* The name of a new one. */
void past_name(char ret[PAST_ID_MAX]);

/* For a runner: holds its folder, by an fd that stays open until the end. ERROR_USAGE where another run does. */
int past_hold(int dir, const char *path, struct error *err);

/* Says in its folder what runs, until there is a result: the task by the name of its folder. What cannot be written is
 * not said. */
void past_say(int dir, const char *task, const char *agent);
void past_unsay(int dir);

/* Calls fn for each id, the newest first, until it returns another value than 0, which is returned. A folder that is
 * not there holds none. */
int past_each(const char *root, int (*fn)(void *arg, const char *id), void *arg, struct error *err);

/* ERROR_INPUT where there is none of that id. past_done() lets go of it. */
int past_open(const char *root, const char *id, struct past *ret, struct error *err);
void past_done(struct past *p);

/* Its result, in the arena ret->arena, and its text as it is in the file but for blanks. ERROR_MISSING where there is
 * none: it goes on, or was killed. */
int past_read(const struct past *p, struct task_result *ret, struct buf *text, struct error *err);

/* What was said of one that has no result, in the arena; NULL where nothing was. */
void past_said(const struct past *p, struct arena *arena, const char **ret_task, const char **ret_agent);

/* With all that is in it. ERROR_USAGE where it is running. */
int past_remove(struct past *p, struct error *err);

#endif
