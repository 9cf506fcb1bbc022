/*
 * image: a root file system as layers, and what a sandbox made of one is, as plain data.
 *
 * Layers are folders of the host that nobody writes to: each holds the files of one layer, what it takes away as overlayfs says it (a character device 0:0; the attribute user.overlay.opaque).
 */
#ifndef CORDON_MODEL_IMAGE_H
#define CORDON_MODEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who the ids of an image's files and processes are on the host. Inside 0 is `zero`, inside 1 and further are `first` and further, up to `count` ids in all. With count 1 everything belongs to one id: chown of
 * anything to anybody is made to look successful, and reported. Groups likewise.
 */
struct image_ids {
	uint32_t count;
	uint32_t zero_uid, first_uid;
	uint32_t zero_gid, first_gid;
};

/* What an image says of the commands that run in it. Strings are UTF-8 without controls other than tab and newline. */
struct image_config {
	const char **env;	 /* "NAME=VALUE", NULL-terminated */
	const char **entrypoint; /* NULL: none */
	const char **command;	 /* NULL: none */
	const char *workdir;	 /* absolute; "/" where it says nothing */
	const char *user;	 /* as written: "name", "uid", "name:group"; "" is root */
	const char **shell;	 /* of RUN in a Dockerfile; NULL: /bin/sh -c */
	const char **on_build;	 /* instructions for those who build on it; NULL: none */
};

/* A folder or file of the host in an image's sandbox. */
struct image_mount {
	const char *source; /* absolute and canonical, on the host */
	const char *target; /* absolute, inside; made where it is missing, in the upper folder */
	bool writable;
};

/* The root of one sandbox. */
struct image_root {
	const char *const *layers; /* topmost first, NULL-terminated, at least one; absolute and canonical */
	const char *upper;	   /* what the sandbox changes is there afterwards; owned by `zero` of ids */
	const char *work;	   /* an empty folder beside it, for overlayfs */
	struct image_ids ids;
	const struct image_mount *mounts;
	size_t n_mounts;
	const char *const *env; /* "NAME=VALUE", NULL-terminated: above the safe set, below what the gateway sets */
	const char *cwd;	/* inside; made where it is missing */
	uint32_t uid, gid;	/* inside */
};

#endif
