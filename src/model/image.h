/*
 * image: a root file system as layers, and what a sandbox made of one is, as plain data.
 *
 * Layers are folders of the host that nobody writes to: each holds the files of one layer, what it takes away as
 * overlayfs says it (a character device 0:0; the attribute user.overlay.opaque).
 */
#ifndef CORDON_MODEL_IMAGE_H
#define CORDON_MODEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Who the ids of an image's files and processes are on the host. Inside 0 is `zero`, inside 1 and further are `first`
 * and further, up to `count` ids in all. With count 1 everything belongs to one id: chown of anything to anybody is
 * made to look successful, and reported. Groups likewise.
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

/*
 * A folder or file of the host in an image's sandbox. What is shown read-only looks as if inside 0 owned it. What is
 * writable is a folder made for this run alone, which belongs to an id of the sandbox and lies in a folder that is
 * closed to others (0700); nothing guards names in it.
 */
struct image_mount {
	const char *source; /* absolute and canonical, on the host */
	const char *target; /* absolute, inside, no link itself, not in /proc, /dev or /sys; made where it is missing,
			       and taken away again */
	bool writable;
};

enum { IMAGE_GROUPS_MAX = 64 };

/* The root of one sandbox. */
struct image_root {
	const char *const *layers; /* topmost first, NULL-terminated, at least one; absolute and canonical */
	/*
	 * What the sandbox changes is in `upper` afterwards, but for mount points, which are taken away again. Both
	 * stand in one folder of their own, which is closed to others (0700); all three belong to `zero` of ids. Their
	 * own names are letters, digits, '.', '_' and '-'.
	 */
	const char *upper;
	const char *work; /* for overlayfs: emptied before and after */
	struct image_ids ids;
	const struct image_mount *mounts;
	size_t n_mounts;
	const char *const *env; /* "NAME=VALUE", NULL-terminated: above the safe set, below what the gateway sets */
	const char *cwd;	/* inside; made where it is missing */
	uint32_t uid, gid;	/* inside */
	uint32_t groups[IMAGE_GROUPS_MAX]; /* further ones, inside, each of ids; none where there is one id */
	uint32_t n_groups;
	const char *const *hosts; /* further lines of /etc/hosts, NULL-terminated; NULL: none */
	uint64_t storage;	  /* bytes that the upper folder and the writable mounts may hold; 0: no limit */
};

#endif
