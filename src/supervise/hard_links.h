/*
 * hard_links: which names of a tree are one file, so that its copy can be one, too. Zero it; hard_links_done() frees.
 */
#ifndef CORDON_SUPERVISE_HARD_LINKS_H
#define CORDON_SUPERVISE_HARD_LINKS_H

#include <sys/types.h>

struct hard_links {
	void *root;
};

/* A file that was copied: which it was, and where its copy is. */
struct hard_link {
	dev_t dev;
	ino_t ino;
	ino_t made;	     /* the copy's number, of the caller */
	const void *made_of; /* the caller's */
	char path[];
};

/* 0 or -ENOMEM. The first of a file's names stays. */
int hard_links_add(struct hard_links *h, dev_t dev, ino_t ino, const char *path, ino_t made, const void *made_of);
/* NULL: none of its names was added. */
const struct hard_link *hard_links_find(const struct hard_links *h, dev_t dev, ino_t ino);
void hard_links_done(struct hard_links *h);

#endif
