/* The store as builders and runs use it: layers from folders, images of them, the cache, and what stays while it is
 * used. */
#include "image/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "image/ids.h"
#include "image/walk.h"

static char folder[] = "/tmp/cordon-unit.XXXXXX";

static struct image_store *open_store(void)
{
	struct image_store *s = NULL;
	struct error err = {0};

	if (image_store_open(&s, &err) < 0) {
		printf("# %s\n", err.text);
		exit(1);
	}
	return s;
}

/* What a process inside leaves in an upper folder. */
struct filling {
	const char *upper, *text;
	bool bad;
};

static int fill(void *arg)
{
	const struct filling *f = arg;
	AUTO_FD dir = open(f->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	AUTO_FD fd = dir < 0 ? -1 : openat(dir, "f", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	AUTO_FD opaque = -1;

	if (fd < 0 || write(fd, f->text, strlen(f->text)) < 0 || futimens(fd, times) < 0)
		return 1;
	if (mkdirat(dir, "d", 0700) < 0 || mknodat(dir, "gone", S_IFCHR, makedev(0, 0)) < 0 ||
	    linkat(dir, "f", dir, "g", 0) < 0)
		return 2;
	opaque = openat(dir, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (opaque < 0 || fsetxattr(opaque, f->bad ? "user.overlay.redirect" : "user.overlay.opaque",
				    f->bad ? "/etc" : "y", f->bad ? 4 : 1, 0) < 0)
		return 3;
	return utimensat(dir, "d", times, 0) < 0 || futimens(dir, times) < 0 ? 4 : 0;
}

static void need(int r, const struct error *err)
{
	if (r < 0)
		printf("# %s\n", err->text);
	CHECK(r == 0);
}

/* A layer with that text in it. The child of the namespace cannot come by the path: it inherits where we are. */
static void make_layer(struct image_store *s, const char *text, struct image_layer *ret)
{
	struct error err = {0};
	struct image_work w;
	struct filling f = {.upper = ".", .text = text};

	need(image_work_new(s, &w, &err), &err);
	CHECK(chdir(w.upper) == 0);
	need(image_in_ids(image_store_ids(s), fill, &f, &err), &err);
	CHECK(chdir("/") == 0);
	need(image_add_layer(s, &w, 0, ret, &err), &err);
	image_work_done(s, &w);
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void a_folder_becomes_a_layer_once(void)
{
	struct image_store *s = open_store();
	struct image_layer a, b, c;
	struct stat st;
	char path[PATH_MAX];

	make_layer(s, "same", &a);
	make_layer(s, "same", &b);
	make_layer(s, "other", &c);
	CHECK_STR(b.digest, a.digest);
	CHECK_STR(b.path, a.path);
	CHECK(strcmp(c.digest, a.digest) != 0);
	CHECK(a.bytes == 4 && b.bytes == 4 && c.bytes == 5);
	/* as overlayfs wants it, untouched */
	(void)snprintf(path, sizeof(path), "%s/gone", a.path);
	CHECK(lstat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == 0);
	CHECK(st.st_uid == image_store_ids(s)->zero_uid);
	image_layer_done(&a);
	image_layer_done(&b);
	image_layer_done(&c);
	image_store_close(s);
}

static void a_layer_that_means_other_layers_is_refused(void)
{
	struct image_store *s = open_store();
	struct filling f = {.upper = ".", .text = "x", .bad = true};
	struct error err = {0};
	struct image_layer l;
	struct image_work w;

	need(image_work_new(s, &w, &err), &err);
	CHECK(chdir(w.upper) == 0);
	need(image_in_ids(image_store_ids(s), fill, &f, &err), &err);
	CHECK(chdir("/") == 0);
	CHECK(image_add_layer(s, &w, 0, &l, &err) < 0 && err.kind == ERROR_INPUT && strstr(err.text, "elsewhere"));
	image_work_done(s, &w);
	image_store_close(s);
}

static const char *env[] = {"A=b", NULL}, *command[] = {"sh", "-c", "one\ttwo\nthree", NULL};
static const struct image_config config = {.env = env, .command = command, .workdir = "/w", .user = "1000"};

/* Whoever unpacks may fail first, and then nobody reads: the one who reads the folder must notice. */
static void a_walk_that_nobody_reads_ends(void)
{
	struct image_store *s = open_store();
	char path[] = "/tmp/cordon-walk.XXXXXX";
	AUTO_FD dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	AUTO_FD file = dir < 0 ? -1 : openat(dir, "large", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct walk_result walked = {0};
	struct error err = {0};
	struct image_walk w;

	CHECK(file >= 0 && ftruncate(file, 32 << 20) == 0);
	need(image_walk_start(image_store_ids(s), dir, &w, &err), &err);
	(void)alarm(30);
	CHECK(image_walk_end(&w, false, &walked, &err) < 0 && err.code == EPIPE);
	(void)alarm(0);
	CHECK(unlinkat(dir, "large", 0) == 0 && rmdir(path) == 0);
	image_store_close(s);
}

static void digest_of_folder(struct image_store *s, int dir, struct walk_result *ret)
{
	struct error err = {0};
	struct image_walk w;
	char bytes[4096];

	need(image_walk_start(image_store_ids(s), dir, &w, &err), &err);
	while (read(w.out, bytes, sizeof(bytes)) > 0)
		;
	need(image_walk_end(&w, false, ret, &err), &err);
}

/* Some file systems list more names of attributes than others hold. */
static void a_digest_stands_for_all_attributes(void)
{
	struct image_store *s = open_store();
	char path[] = "/dev/shm/cordon-walk.XXXXXX", name[256];
	AUTO_FD dir = mkdtemp(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	AUTO_FD file = dir < 0 ? -1 : openat(dir, "f", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct walk_result one = {0}, other = {0};
	unsigned i;

	for (i = 0; file >= 0 && i < 60; i++) {
		(void)snprintf(name, sizeof(name), "user.%0240u", i);
		if (fsetxattr(file, name, "1", 1, 0) < 0)
			break;
	}
	if (i == 60) {
		digest_of_folder(s, dir, &one);
		CHECK(fsetxattr(file, name, "2", 1, 0) == 0);
		digest_of_folder(s, dir, &other);
		CHECK(strcmp(one.digest, other.digest) != 0);
	} else {
		printf("# /dev/shm holds no attributes: not checked\n");
	}
	if (dir >= 0)
		CHECK(unlinkat(dir, "f", 0) == 0 && rmdir(path) == 0);
	image_store_close(s);
}

static void an_image_is_found_with_its_layers_topmost_first(void)
{
	struct image_store *s = open_store();
	char digest[IMAGE_DIGEST], again[IMAGE_DIGEST];
	struct image_layer low, high;
	struct error err = {0};
	const char *layers[2];
	struct image i;

	make_layer(s, "low", &low);
	make_layer(s, "high", &high);
	layers[0] = low.digest;
	layers[1] = high.digest;
	need(image_add(s, "unit:1", &config, layers, 2, digest, &err), &err);
	need(image_add(s, NULL, &config, layers, 2, again, &err), &err);
	CHECK_STR(again, digest);
	need(image_tag(s, digest, "example.com/unit:2", &err), &err);
	need(image_find(s, "docker.io/library/unit:1", &i, &err), &err);
	CHECK_STR(i.digest, digest);
	CHECK(i.n_layers == 2 && strcmp(i.layers[0], high.path) == 0 && strcmp(i.layers[1], low.path) == 0 &&
	      !i.layers[2]);
	CHECK(strcmp(i.layer_digests[0], high.digest) == 0 && i.bytes == 7);
	CHECK_STR(i.config.command[2], command[2]);
	CHECK_STR(i.config.env[0], "A=b");
	CHECK(!i.config.env[1] && !i.config.entrypoint && !i.config.shell);
	CHECK_STR(i.config.workdir, "/w");
	CHECK_STR(i.names[0], "docker.io/library/unit:1");
	CHECK_STR(i.names[1], "example.com/unit:2");
	image_done(&i);
	digest[7 + 12] = '\0';
	need(image_find(s, digest + 7, &i, &err), &err);
	image_done(&i);
	digest[7 + 11] = '\0';
	CHECK(image_find(s, digest + 7, &i, &err) < 0 && err.kind == ERROR_MISSING);
	image_layer_done(&low);
	image_layer_done(&high);
	image_store_close(s);
}

static void an_image_needs_layers_that_are_there(void)
{
	static const char *const missing[] =
		{"sha256:0000000000000000000000000000000000000000000000000000000000000000"},
				 *const none[] = {"../../etc"};
	struct image_store *s = open_store();
	struct error err = {0};
	char digest[IMAGE_DIGEST];

	CHECK(image_add(s, "x", &config, missing, 1, digest, &err) < 0 && err.kind == ERROR_MISSING);
	CHECK(image_add(s, "x", &config, none, 1, digest, &err) < 0 && err.kind == ERROR_INPUT);
	CHECK(image_add(s, "x", &config, missing, 0, digest, &err) < 0);
	CHECK(image_add(s, "x", &config, missing, IMAGE_MAX_LAYERS + 1, digest, &err) < 0);
	image_store_close(s);
}

static void what_is_held_stays_and_the_rest_goes(void)
{
	struct image_store *s = open_store(), *other = open_store();
	char digest[IMAGE_DIGEST], path[PATH_MAX];
	struct image_layer l;
	struct error err = {0};
	const char *layers[1];
	struct image i, gone;
	uint64_t freed = 0;

	make_layer(s, "held", &l);
	layers[0] = l.digest;
	(void)snprintf(path, sizeof(path), "%s", l.path);
	need(image_add(s, "held", &config, layers, 1, digest, &err), &err);
	need(image_find(s, "held", &i, &err), &err);
	image_layer_done(&l);
	need(image_remove(other, "held", &freed, &err), &err);
	CHECK(exists(path)); /* others that nobody held may be gone */
	CHECK(image_find(s, "held", &gone, &err) < 0);
	image_done(&i);
	/* and with the next removal, whatever it is of, it goes */
	need(image_tag(s, "unit:1", "brief", &err), &err);
	need(image_remove(s, "brief", &freed, &err), &err);
	CHECK(!exists(path) && freed >= 4);
	image_store_close(s);
	image_store_close(other);
}

/* What cannot be read for want of a descriptor is no image less. */
static void layers_stay_while_images_cannot_be_read(void)
{
	struct image_store *s = open_store();
	char digest[IMAGE_DIGEST], path[PATH_MAX];
	struct rlimit before, few;
	struct error err = {0};
	struct image_layer l;
	const char *layers[1];
	int next[3], i;

	make_layer(s, "stays", &l);
	layers[0] = l.digest;
	(void)snprintf(path, sizeof(path), "%s", l.path);
	need(image_add(s, "stays", &config, layers, 1, digest, &err), &err);
	image_layer_done(&l);
	need(image_tag(s, "stays", "brief", &err), &err);
	/* enough for the lock, the folder of images and its listing */
	for (i = 0; i < 3; i++)
		next[i] = dup(STDOUT_FILENO);
	CHECK(next[2] >= 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
	few = (struct rlimit){(rlim_t)next[2] + 1, before.rlim_max};
	for (i = 0; i < 3; i++)
		CHECK(close(next[i]) == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	CHECK(image_remove(s, "brief", NULL, &err) < 0 && err.code == EMFILE);
	CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
	CHECK(exists(path));
	need(image_remove(s, "stays", NULL, &err), &err);
	image_store_close(s);
}

#define KEY(c) c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c c

static void the_cache_remembers_until_the_image_goes(void)
{
	struct image_store *s = open_store();
	struct image_layer l, again;
	struct error err = {0};
	char digest[IMAGE_DIGEST], path[PATH_MAX];
	const char *layers[1];

	CHECK(image_cache_get(s, KEY("ab"), &again, &err) == 1);
	make_layer(s, "cached", &l);
	need(image_cache_put(s, KEY("ab"), l.digest, &err), &err);
	need(image_cache_get(s, KEY("ab"), &again, &err), &err);
	CHECK_STR(again.digest, l.digest);
	CHECK(again.bytes == 6);
	image_layer_done(&again);
	(void)snprintf(path, sizeof(path), "%s", l.path);
	layers[0] = l.digest;
	/* a removal of something else leaves what a builder may come back to */
	need(image_add(s, "brief", &config, layers, 1, digest, &err), &err);
	need(image_remove(s, "example.com/unit:2", NULL, &err), &err);
	image_layer_done(&l);
	CHECK(exists(path));
	need(image_remove(s, "brief", NULL, &err), &err);
	CHECK(!exists(path));
	CHECK(image_cache_get(s, KEY("ab"), &again, &err) == 1);
	CHECK(image_cache_get(s, "../../etc/passwd", &again, &err) == -1);
	CHECK(image_cache_get(s, KEY("AB"), &again, &err) == -1);
	image_store_close(s);
}

static void layers_that_nobody_named_go_with_the_next_removal(void)
{
	struct image_store *s = open_store();
	struct image_layer l;
	struct error err = {0};
	char path[PATH_MAX];

	make_layer(s, "orphan", &l);
	(void)snprintf(path, sizeof(path), "%s", l.path);
	need(image_remove(s, "unit:1", NULL, &err), &err);
	CHECK(exists(path)); /* its builder still holds it */
	image_layer_done(&l);
	CHECK(image_remove(s, "unit:1", NULL, &err) < 0 && err.kind == ERROR_MISSING);
	image_store_close(s);
}

struct told {
	size_t n;
	uint64_t bytes;
};

static void tell(void *arg, const char *digest, uint64_t bytes)
{
	struct told *t = arg;

	CHECK(strncmp(digest, "sha256:", 7) == 0);
	t->n++;
	t->bytes += bytes;
}

static struct told prune(struct image_store *s, bool look)
{
	struct told t = {0};
	struct error err = {0};

	need(image_prune(s, &(struct image_prune){look, tell, &t}, &err), &err);
	return t;
}

static void pruning_takes_what_no_image_has_and_nobody_holds(void)
{
	struct image_store *s = open_store(), *builder = open_store();
	struct image_layer used, old, now, again;
	struct error err = {0};
	char digest[IMAGE_DIGEST], gone[PATH_MAX];
	const char *layers[1];
	struct told t;

	(void)prune(s, false); /* what the tests before left */
	make_layer(s, "of an image", &used);
	make_layer(s, "made yesterday", &old);
	make_layer(builder, "being made", &now);
	layers[0] = used.digest;
	need(image_add(s, "pruned:1", &config, layers, 1, digest, &err), &err);
	need(image_cache_put(s, KEY("a1"), used.digest, &err), &err);
	need(image_cache_put(s, KEY("a2"), old.digest, &err), &err);
	need(image_cache_put(s, KEY("a3"), now.digest, &err), &err);
	(void)snprintf(gone, sizeof(gone), "%s", old.path);
	image_layer_done(&used);
	image_layer_done(&old);
	t = prune(s, true);
	CHECK(t.n == 1 && t.bytes == 14);
	CHECK(exists(gone) && image_cache_get(s, KEY("a2"), &again, &err) == 0);
	image_layer_done(&again);
	t = prune(s, false);
	CHECK(t.n == 1 && t.bytes == 14);
	CHECK(!exists(gone) && image_cache_get(s, KEY("a2"), &again, &err) == 1);
	/* the builder's, and what it is found by, are as they were */
	CHECK(exists(now.path) && image_cache_get(s, KEY("a3"), &again, &err) == 0);
	image_layer_done(&again);
	CHECK(image_cache_get(s, KEY("a1"), &again, &err) == 0);
	image_layer_done(&again);
	image_layer_done(&now);
	CHECK(prune(s, false).n == 1 && image_cache_get(s, KEY("a3"), &again, &err) == 1);
	CHECK(prune(s, false).n == 0);
	need(image_remove(s, "pruned:1", NULL, &err), &err);
	image_store_close(builder);
	image_store_close(s);
}

static void a_store_that_others_can_read_is_refused(void)
{
	struct image_store *s = open_store();
	struct error err = {0};
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s", image_store_path(s));
	image_store_close(s);
	CHECK(chmod(path, 0755) == 0);
	CHECK(image_store_open(&s, &err) < 0 && err.kind == ERROR_DENIED);
	CHECK(chmod(path, 0700) == 0);
}

static void ids_of_the_host_and_inside(void)
{
	const struct image_ids many = {65536, 1001, 100000, 1001, 200000}, one = {1, 1001, 1002, 1001, 1002};

	CHECK(image_host_uid(&many, 0) == 1001 && image_host_uid(&many, 1) == 100000 &&
	      image_host_uid(&many, 65535) == 165534 && image_host_uid(&many, 65536) == -1);
	CHECK(image_host_gid(&many, 1) == 200000);
	CHECK(image_host_uid(&one, 0) == 1001 && image_host_uid(&one, 33) == 1001);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(ids_of_the_host_and_inside),
		CASE(a_folder_becomes_a_layer_once),
		CASE(a_layer_that_means_other_layers_is_refused),
		CASE(a_walk_that_nobody_reads_ends),
		CASE(a_digest_stands_for_all_attributes),
		CASE(an_image_is_found_with_its_layers_topmost_first),
		CASE(an_image_needs_layers_that_are_there),
		CASE(what_is_held_stays_and_the_rest_goes),
		CASE(layers_stay_while_images_cannot_be_read),
		CASE(the_cache_remembers_until_the_image_goes),
		CASE(layers_that_nobody_named_go_with_the_next_removal),
		CASE(pruning_takes_what_no_image_has_and_nobody_holds),
		CASE(a_store_that_others_can_read_is_refused),
	};
	struct error err = {0};
	struct image_ids ids;
	int r;

	if (!mkdtemp(folder) || chmod(folder, 0711) < 0 || setenv("XDG_DATA_HOME", folder, 1) < 0)
		return 1;
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	if (image_ids_of_user(&ids, &err) == 0)
		(void)image_ids_remove(&ids, AT_FDCWD, folder, &err);
	return r;
}
