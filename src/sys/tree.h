/*
 * tree: making folders, listing them, and removing them with all that is in them.
 *
 * Removing goes by descriptor and never follows links; folders of mode 0 are included, and so is what lies deeper than
 * there are descriptors. What belongs to somebody else stays.
 */
#ifndef CORDON_SYS_TREE_H
#define CORDON_SYS_TREE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* mkdir -p, each new folder for us alone. path is written to meanwhile. 0 or -errno. */
int sys_make_folders(char *path);

/* The names in dir from the first on, wherever dir itself stands: for closedir(). NULL: errno says why. */
DIR *sys_list(int dir);

/* What getdents64() gives. */
struct sys_entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* The same without memory of its own, for what every start looks through: to give a DIR back takes longer than to read
 * a folder of few names. */
struct sys_names {
	int fd;
	unsigned char type; /* of the last: DT_, as readdir() has it */
	size_t at, n;
	_Alignas(8) char bytes[2048];
};

int sys_names_open(struct sys_names *s, int dir); /* 0 or -errno */
/* The same for a folder in it; a link is followed. */
int sys_names_open_at(struct sys_names *s, int dir, const char *name);
const char *sys_names_next(struct sys_names *s); /* neither "." nor ".."; NULL: there are no more */
void sys_names_close(struct sys_names *s);

/* A folder that is open, be it as a path only, open for reading (O_CLOEXEC); one of ours that is shut to us is opened
 * up for its owner first. -1: errno says why. */
int sys_open_again(int dir);

/* There is nothing in dir; false, too, where it cannot be read. */
bool sys_is_empty(int dir);

/* What is in dir. */
void sys_empty_tree(int dir);

/* name in dir, be it a folder or a file. */
void sys_remove_tree(int dir, const char *name);

#endif
