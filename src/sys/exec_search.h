/*
 * exec_search: a command by its name, as execvpe() does it: in the folders of PATH, and a text without an interpreter
 * line by /bin/sh. Neither libc's is used: musl's knows no such text, and none is for a child that shares our memory.
 */
#ifndef CORDON_SYS_EXEC_SEARCH_H
#define CORDON_SYS_EXEC_SEARCH_H

/* Returns -errno; of several, what stood in the way of a file that is there. A text with more than EXEC_SEARCH_WORDS
 * words is -ENOEXEC. No heap, no stdio. */
enum { EXEC_SEARCH_WORDS = 1024 };

int sys_exec_search(char *const *argv, char *const *env);

#endif
