/*
 * tree: removing folders with all that is in them, by descriptor, never following links; folders of mode 0 included. What belongs to somebody else stays.
 */
#ifndef CORDON_SYS_TREE_H
#define CORDON_SYS_TREE_H

/* What is in dir. */
void sys_empty_tree(int dir);

/* name in dir, be it a folder or a file. */
void sys_remove_tree(int dir, const char *name);

#endif
