/*
 * watch_proc: reading a process's entry in a /proc, for the watchdog.
 *
 * A process goes on when its first thread has ended, but its own entry then shows no memory and no open files: those of
 * a thread that lives on do ("PID/task/TID").
 */
#ifndef CORDON_SUPERVISE_WATCH_PROC_H
#define CORDON_SUPERVISE_WATCH_PROC_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WATCH_TASK_SIZE = 32 }; /* "PID/task/TID" */

/* What we have used of a CPU: who keeps all of them busy shall not make a look seem dear, and the next one late. */
uint64_t watch_proc_spent_us(void);

bool watch_proc_is_number(const char *s);

DIR *watch_proc_folder(int dir, const char *path); /* NULL where there is none */

/* The bytes of dir/task/name, ended with a 0; -errno. */
int watch_proc_read(int dir, const char *task, const char *name, char *out, size_t cap);

/* The number behind the key, or 0. */
uint64_t watch_proc_number(const char *text, const char *key);

/* Of "status"; in KiB. What is not there is 0. */
struct watch_status {
	uint64_t mapped, tables, swap, anon, shared;
	pid_t parent; /* as dir numbers it */
	pid_t inside; /* its own number in the innermost PID namespace */
	bool filtered; /* its system calls are: it is the workload's */
};

/* False where there is no such process. */
bool watch_proc_status(int dir, const char *task, struct watch_status *ret);

/* Pages that are mapped, and those of them that are there. False where it has no memory (any more). */
bool watch_proc_pages(int dir, const char *task, uint64_t *ret_mapped, uint64_t *ret_resident);

/* The task that shows the memory of a process: itself, or one of its threads. False where none does. */
bool watch_proc_alive(int dir, const char *pid, char ret[static WATCH_TASK_SIZE]);

/*
 * Whether a process of the workload's is there that we were refused a look at. Who executes a file that it may not
 * read, of an owner or a group that its user namespace has no number for, is out of reach for all but root. Our own PID
 * 1 and its helpers are too: those have no filter of system calls, but for the one (ahead, its number inside; 0: none)
 * that waits to become a command.
 */
bool watch_proc_is_hidden(int dir, const char *task, pid_t ahead);

typedef void watch_proc_fn(int dir, const char *task, void *arg);

/*
 * Calls fn for one task per table of open files that the process has: threads may have their own. Which of them do can
 * only be told where dir is the /proc of our own PID namespace (numbers_are_ours); elsewhere all of them are looked at,
 * most of them at most: false where there are more.
 */
bool watch_proc_each_table(int dir, const char *pid, bool numbers_are_ours, unsigned most, watch_proc_fn *fn,
			   void *arg);

#endif
