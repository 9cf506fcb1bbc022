/* image/users: names are those of the image, as its layers show them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "check.h"
#include "image/users.h"

static char base[] = "/tmp/cordon-users-XXXXXX";
static char top[64], bottom[64];
static const char *layers[3];

static void write_file(const char *layer, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/etc", layer);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof(path), "%s/etc/%s", layer, name);
	(void)unlink(path);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void begin(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf %s/*", base);
	CHECK(system(command) == 0);
	CHECK(mkdir(top, 0755) == 0 && mkdir(bottom, 0755) == 0);
	write_file(bottom, "passwd",
		   "root:x:0:0:root:/root:/bin/sh\nnot a "
		   "line\nbob:x:1000:1001::/home/bob:/bin/sh\nodd:x:-1:0::/:\nbig:x:4294967295:0::/:\n");
	write_file(bottom, "group", "root:x:0:\nwheel:x:10:bob\n");
}

static void names_and_numbers_are_found(void)
{
	struct image_user u;
	struct error err;
	uint32_t g = 0;

	begin();
	CHECK(image_user_find(layers, "", &u, &err) == 0 && u.uid == 0 && u.gid == 0 && strcmp(u.home, "/root") == 0);
	CHECK(image_user_find(layers, "bob", &u, &err) == 0 && u.uid == 1000 && u.gid == 1001 &&
	      strcmp(u.home, "/home/bob") == 0);
	CHECK(image_user_find(layers, "1000", &u, &err) == 0 && u.gid == 1001);
	CHECK(image_user_find(layers, "77", &u, &err) == 0 && u.uid == 77 && u.gid == 0 && strcmp(u.home, "/") == 0);
	CHECK(image_user_find(layers, "bob:wheel", &u, &err) == 0 && u.gid == 10);
	CHECK(image_user_find(layers, "5:6", &u, &err) == 0 && u.uid == 5 && u.gid == 6);
	CHECK(image_group_find(layers, "wheel", &g, &err) == 0 && g == 10);
}

static void users_have_the_groups_that_the_image_says(void)
{
	struct image_root root = {.ids = {.count = 65536}};
	struct image_user u;
	struct error err;

	begin();
	write_file(bottom, "group",
		   "root:x:0:\nshared:x:2000:alice,bob\nbobby:x:2001:bobby\nhigh:x:70000:bob\nbad:x:-1:bob\nlast:x:"
		   "2002:bob\nnone:x:2003\n");
	CHECK(image_user_find(layers, "bob", &u, &err) == 0 && u.gid == 1001 && u.n_groups == 3 &&
	      u.groups[0] == 2000 && u.groups[1] == 70000 && u.groups[2] == 2002);
	image_user_become(&u, &root);
	CHECK(root.uid == 1000 && root.gid == 1001 && root.n_groups == 2 && root.groups[0] == 2000 &&
	      root.groups[1] == 2002);
	CHECK(image_user_find(layers, "1000", &u, &err) == 0 && u.n_groups == 3);
	CHECK(image_user_find(layers, "bob:shared", &u, &err) == 0 && u.gid == 2000 && u.n_groups == 0);
	CHECK(image_user_find(layers, "77", &u, &err) == 0 && u.n_groups == 0);
	root.ids.count = 1;
	CHECK(image_user_find(layers, "bob", &u, &err) == 0);
	image_user_become(&u, &root);
	CHECK(root.n_groups == 0);
}

static void what_is_no_user_is_refused(void)
{
	static const char *const users[] = {"nobody-here", "odd", "big",      "4294967295",
					    "99999999999", "-1",  "bob:none", "bob:4294967295"};
	struct image_user u;
	struct error err;
	size_t i;

	begin();
	for (i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		CHECK(image_user_find(layers, users[i], &u, &err) < 0 && err.kind == ERROR_INPUT);
}

static void the_topmost_layer_that_has_it_counts(void)
{
	struct image_user u;
	struct error err;

	begin();
	write_file(top, "passwd", "bob:x:7:7::/b:/bin/sh\n");
	CHECK(image_user_find(layers, "bob", &u, &err) == 0 && u.uid == 7);
}

static void a_link_never_leads_to_the_hosts_table(void)
{
	struct image_user u;
	struct error err;
	char path[256];

	begin();
	(void)snprintf(path, sizeof(path), "%s/etc", top);
	CHECK(symlink("/etc", path) == 0);
	CHECK(image_user_find(layers, "daemon", &u, &err) < 0);
	CHECK(strstr(err.text, "/etc is no folder"));
	CHECK(unlink(path) == 0 && mkfifo(path, 0644) == 0 && image_user_find(layers, "daemon", &u, &err) < 0);
	CHECK(strstr(err.text, "/etc is no folder"));
	CHECK(unlink(path) == 0 && mkdir(path, 0755) == 0);
	(void)snprintf(path, sizeof(path), "%s/etc/passwd", top);
	CHECK(symlink("/etc/passwd", path) == 0);
	CHECK(image_user_find(layers, "daemon", &u, &err) < 0);
	CHECK(strstr(err.text, "/etc/passwd is no plain file"));
	CHECK(unlink(path) == 0 && mkdir(path, 0755) == 0 && image_user_find(layers, "bob", &u, &err) < 0 &&
	      rmdir(path) == 0);
	CHECK(strstr(err.text, "/etc/passwd is no plain file"));
	CHECK(symlink("/etc/passwd", path) == 0);
	CHECK(unlink(path) == 0 && mkfifo(path, 0644) == 0);
	CHECK(image_user_find(layers, "bob", &u, &err) < 0);
	CHECK(strstr(err.text, "/etc/passwd is no plain file"));
	CHECK(unlink(path) == 0);
	/* taken away */
	if (mknod(path, S_IFCHR, makedev(0, 0)) == 0)
		CHECK(image_user_find(layers, "bob", &u, &err) < 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(names_and_numbers_are_found),
		CASE(users_have_the_groups_that_the_image_says), CASE(what_is_no_user_is_refused),
		CASE(the_topmost_layer_that_has_it_counts),
		CASE(a_link_never_leads_to_the_hosts_table),
	};
	char command[128];
	int r;

	if (!mkdtemp(base))
		return 1;
	(void)snprintf(top, sizeof(top), "%s/top", base);
	(void)snprintf(bottom, sizeof(bottom), "%s/bottom", base);
	layers[0] = top;
	layers[1] = bottom;
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	(void)snprintf(command, sizeof(command), "rm -rf %s", base);
	return system(command) == 0 ? r : 1;
}
