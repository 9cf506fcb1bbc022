/*
 * What Docker Engine is told of a container, what its image is made of, and where the engine is looked for.
 */
#include "sandbox/docker/create.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sha256.h"
#include "check.h"
#include "sandbox/docker/submounts.h"
#include "sandbox/docker/tar.h"
#include "sandbox/docker/where.h"
#include "sys/tree.h"

static char folder[] = "/tmp/cordon-unit-docker.XXXXXX";

static void a_limit_that_the_engine_cannot_keep_is_refused(void)
{
	static const char without[] = "Your kernel does not support swap limit capabilities or the cgroup is not "
				      "mounted. Memory limited without swap.";
	struct error err = {0};

	CHECK(create_check_warning("Your kernel does not support memory limit capabilities or the cgroup is not "
				   "mounted. Limitation discarded.",
				   false, &err) < 0 &&
	      err.kind == ERROR_MISSING);
	CHECK(create_check_warning(without, false, &err) == 0);
	CHECK(create_check_warning(without, true, &err) < 0 && err.kind == ERROR_MISSING && strstr(err.text, "swap"));
	CHECK(create_check_warning("IPv4 forwarding is disabled. Networking will not work.", true, &err) == 0);
}

/* --- the document --- */

static struct plan_op ops[] = {
	{.kind = PLAN_FILE, .target = "/etc/hosts", .source = "x", .mode = 0644},
	{.kind = PLAN_FILE, .target = "/etc/passwd", .source = "y", .mode = 0644},
};
static struct plan plan = {.ops = ops,
			   .n_ops = 2,
			   .argv = (char *[]){(char[]){"hunter2-command"}, (char[]){"hunter2-argument"}, NULL},
			   .env = (char *[]){(char[]){"TOKEN=hunter2"}, NULL},
			   .limits = {.memory = 64 << 20, .processes = 12, .cpu_thousandths = 1500}};

static json_t *document_of(struct box_mount *mounts, size_t n, unsigned api, const char *join, struct error *err)
{
	static const struct box_backend backend = {.name = "docker"};
	struct box b = {.backend = &backend,
			.plan = &plan,
			.id = "0123abcd",
			.dir = "/run/cordon/0123abcd",
			.root = "/run/cordon/0123abcd/root",
			.ids = {.host_init = 1900000007},
			.mounts = mounts,
			.n_mounts = n,
			.join = {.id = join}};
	struct create c = {.box = &b, .image = "cordon-root:abc", .api = api};
	AUTO_BUF out = {0};

	buf_init(&out, 1 << 20);
	if (create_document(&c, &out, err) < 0)
		return NULL;
	CHECK(!strstr(out.p, "hunter2"));
	return json_loadb(out.p, out.n, JSON_REJECT_DUPLICATES, NULL);
}

static json_t *document(struct box_mount *mounts, size_t n, unsigned api, struct error *err)
{
	return document_of(mounts, n, api, NULL, err);
}

static json_t *host_config(const json_t *root)
{
	return json_object_get(root, "HostConfig");
}

static const char *text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static const json_t *mount_at(const json_t *root, const char *target)
{
	const json_t *list = json_object_get(host_config(root), "Mounts"), *found = NULL;
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *m = json_array_get(list, i);

		if (strcmp(text_at(m, "Target"), target) == 0) {
			CHECK(!found); /* the engine would refuse it */
			found = m;
		}
	}
	return found;
}

static void it_asks_for_nothing_and_shows_nothing_of_the_command(void)
{
	struct error err = {0};
	json_t *root = document(NULL, 0, 41, &err), *h = host_config(root);

	CHECK(root);
	CHECK_STR(text_at(h, "NetworkMode"), "none");
	CHECK_STR(text_at(root, "User"), "1900000007:1900000007");
	CHECK_STR(json_string_value(json_array_get(json_object_get(h, "CapDrop"), 0)), "ALL");
	CHECK_STR(json_string_value(json_array_get(json_object_get(h, "SecurityOpt"), 0)), "no-new-privileges");
	CHECK(json_is_true(json_object_get(h, "ReadonlyRootfs")) && json_is_true(json_object_get(h, "AutoRemove")) &&
	      json_is_false(json_object_get(h, "Privileged")));
	CHECK(!json_object_get(h, "CapAdd") && !json_object_get(h, "Devices") && !json_object_get(h, "Binds") &&
	      !json_object_get(h, "Runtime"));
	CHECK_STR(text_at(json_object_get(h, "LogConfig"), "Type"), "none");
	CHECK(json_array_size(json_object_get(root, "Env")) == 0 && json_array_size(json_object_get(root, "Cmd")) == 0);
	CHECK_STR(json_string_value(json_array_get(json_object_get(root, "Entrypoint"), 0)), BOX_INIT);
	CHECK(json_object_size(json_object_get(root, "Labels")) == 1);
	json_decref(root);
}

static void a_member_has_its_leaders_network_as_it_is(void)
{
	struct error err = {0};
	json_t *root = document_of(NULL, 0, 41, "89abcdef", &err), *h = host_config(root);

	CHECK_STR(text_at(h, "NetworkMode"), "container:cordon-89abcdef");
	CHECK(!json_object_get(h, "Sysctls") &&
	      !json_object_get(root, "Hostname")); /* the engine takes them from there */
	CHECK_STR(text_at(h, "IpcMode"), "private");
	json_decref(root);
}

static void limits_are_the_policy_s(void)
{
	struct error err = {0};
	json_t *root = document(NULL, 0, 41, &err), *h = host_config(root);

	CHECK(json_integer_value(json_object_get(h, "Memory")) == 64 << 20 &&
	      json_integer_value(json_object_get(h, "MemorySwap")) == 64 << 20);
	CHECK(json_integer_value(json_object_get(h, "PidsLimit")) == 12);
	CHECK(json_integer_value(json_object_get(h, "CpuQuota")) == 150000 &&
	      json_integer_value(json_object_get(h, "CpuPeriod")) == 100000);
	json_decref(root);
}

static void the_profile_is_one_that_an_engine_can_read(void)
{
	struct error err = {0};
	json_t *root = document(NULL, 0, 41, &err), *profile;
	const char *text = json_string_value(json_array_get(json_object_get(host_config(root), "SecurityOpt"), 1));

	CHECK(text && strncmp(text, "seccomp={", 9) == 0);
	profile = json_loads(text + 8, 0, NULL);
	CHECK_STR(text_at(profile, "defaultAction"), "SCMP_ACT_ERRNO");
	CHECK(json_array_size(json_object_get(json_array_get(json_object_get(profile, "syscalls"), 0), "names")) > 200);
	json_decref(profile);
	json_decref(root);
}

static void each_target_is_mounted_once_and_the_last_wins(void)
{
	struct box_mount mounts[] = {
		{.kind = BOX_BIND, .source = "/usr", .target = "/usr", .folder = true},
		{.kind = BOX_TMPFS, .target = "/home/u", .writable = true, .size = 4096, .mode = 01777},
		{.kind = BOX_BIND, .source = "/a", .target = "/work/x", .folder = true},
		{.kind = BOX_BIND, .source = "/b", .target = "/work", .folder = true, .writable = true},
		{.kind = BOX_BIND, .source = "/mask", .target = "/work/.env"},
		{.kind = BOX_BIND, .source = "/c", .target = "/workx"},
		{.kind = BOX_BIND, .source = "/d", .target = "/home/u/w"},
		{.kind = BOX_BIND, .source = "/e", .target = "/usr"},
		{.kind = BOX_TMPFS, .target = "/covered", .writable = true, .size = 4096, .mode = 01777},
		{.kind = BOX_BIND, .source = "/f", .target = "/covered"},
	};
	struct error err = {0};
	json_t *root = document(mounts, ARRAY_LEN(mounts), 41, &err);
	const json_t *tmpfs = json_object_get(host_config(root), "Tmpfs");

	CHECK_STR(text_at(mount_at(root, "/usr"), "Source"), "/e");
	CHECK(!mount_at(root, "/work/x"));
	CHECK_STR(text_at(mount_at(root, "/work"), "Source"), "/b");
	CHECK(json_is_false(json_object_get(mount_at(root, "/work"), "ReadOnly")));
	CHECK(json_is_true(json_object_get(mount_at(root, "/work/.env"), "ReadOnly")));
	CHECK(mount_at(root, "/workx") && mount_at(root, "/home/u/w"));
	CHECK(json_object_size(tmpfs) == 1);
	CHECK_STR(text_at(tmpfs, "/home/u"), "rw,exec,nosuid,nodev,size=4096,mode=1777");
	json_decref(root);
}

static void what_the_engine_would_put_in_etc_is_ours(void)
{
	struct box_mount mounts[] = {{.kind = BOX_BIND, .source = "/mine", .target = "/etc/hostname"}};
	struct error err = {0};
	json_t *root = document(mounts, 1, 41, &err);

	CHECK_STR(text_at(mount_at(root, "/etc/hosts"), "Source"), "/run/cordon/0123abcd/root/etc/hosts");
	CHECK_STR(text_at(mount_at(root, "/etc/passwd"), "Source"), "/run/cordon/0123abcd/root/etc/passwd");
	CHECK_STR(text_at(mount_at(root, "/etc/resolv.conf"), "Source"), "/run/cordon/0123abcd/root/.masks/file");
	CHECK_STR(text_at(mount_at(root, "/etc/hostname"), "Source"), "/mine");
	json_decref(root);
}

/* Its files are shown in the image's own root, which the engine never sees; what the engine would put there is covered
 * in the root before it. */
static void of_an_image_the_engine_gets_nothing(void)
{
	struct image_root image = {0};
	struct error err = {0};
	json_t *root;

	plan.image = &image;
	root = document(NULL, 0, 41, &err);
	plan.image = NULL;
	CHECK(!mount_at(root, "/etc/passwd"));
	CHECK_STR(text_at(mount_at(root, "/etc/hosts"), "Source"), "/run/cordon/0123abcd/root/.masks/file");
	CHECK_STR(text_at(root, "User"), "1900000007:1900000007");
	CHECK(!json_object_get(host_config(root), "CapAdd"));
	json_decref(root);
}

static void nothing_below_a_read_only_folder_stays_writable(void)
{
	struct box_mount mounts[] = {{.kind = BOX_BIND, .source = "/opt", .target = "/opt", .folder = true}};
	struct error err = {0};
	json_t *before = document(mounts, 1, 43, &err), *since = document(mounts, 1, 44, &err);

	CHECK(json_is_true(json_object_get(json_object_get(mount_at(before, "/opt"), "BindOptions"), "NonRecursive")));
	CHECK(json_is_true(
		json_object_get(json_object_get(mount_at(since, "/opt"), "BindOptions"), "ReadOnlyForceRecursive")));
	json_decref(before);
	json_decref(since);
}

static void file_systems_below_a_folder_are_shown_by_themselves(void)
{
	static const char mountinfo[] = "1 0 8:1 / / rw - ext4 /dev/a rw\n"
					"2 1 8:2 / /proc rw,nosuid shared:5 master:1 - proc proc rw\n"
					"3 1 8:3 / /procx rw - ext4 /dev/b rw\n"
					"4 2 8:4 / /proc/sys/fs/binfmt_misc rw - autofs x rw\n"
					"5 2 8:5 / /proc/no\\040such rw - ext4 /dev/c rw\n"
					"6 2 8:6 / /proc/self rw - ext4 /dev/d rw\n"
					"7 2 8:6 / /proc/sys rw - ext4 /dev/d rw\n"
					"cut off";
	struct box_mount mounts[] = {
		{.kind = BOX_BIND, .source = "/proc", .target = "/shown", .folder = true, .no_exec = true},
		{.kind = BOX_BIND, .source = "/mask", .target = "/shown/sys/kernel", .folder = true},
		{.kind = BOX_BIND, .source = "/proc", .target = "/copy", .folder = true, .writable = true},
		{.kind = BOX_BIND, .source = "/proc/version", .target = "/file"},
	};
	struct box b = {.mounts = mounts, .n_mounts = ARRAY_LEN(mounts), .arena = arena_new()}, view;
	struct error err = {0};

	CHECK(submounts_show(&b, sv_of(mountinfo), &view, &err) == 0);
	CHECK(view.n_mounts == ARRAY_LEN(mounts) + 2);
	CHECK_STR(view.mounts[1].source, "/proc/self");
	CHECK_STR(view.mounts[1].target, "/shown/self");
	CHECK(view.mounts[1].no_exec && !view.mounts[1].writable && !view.mounts[1].folder);
	CHECK_STR(view.mounts[2].target, "/shown/sys");
	CHECK(view.mounts[2].folder);
	CHECK_STR(view.mounts[3].target, "/shown/sys/kernel");
	arena_free(b.arena);
}

static void names_that_json_would_change_are_refused(void)
{
	struct box_mount source = {.kind = BOX_BIND, .source = "/a\xff", .target = "/a"},
			 target = {.kind = BOX_BIND, .source = "/a", .target = "/a\xc0\xaf"};
	struct box_mount fine = {.kind = BOX_BIND, .source = "/\xc3\xa4\"\\\n", .target = "/a"};
	struct error err = {0};
	json_t *root;

	CHECK(!document(&source, 1, 41, &err) && strstr(err.text, "UTF-8"));
	CHECK(!document(&target, 1, 41, &err));
	root = document(&fine, 1, 41, &err);
	CHECK_STR(text_at(mount_at(root, "/a"), "Source"), "/\xc3\xa4\"\\\n");
	json_decref(root);
}

/* --- the image --- */

static int make(const char *name)
{
	AUTO_FREE char *path = NULL;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return path = NULL, -1;
	(void)mkdir(path, 0755);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put(int dir, const char *name, const char *text, mode_t mode)
{
	AUTO_FD fd = openat(dir, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write_all(fd, text, strlen(text)) == 0 && fchmod(fd, mode) == 0);
}

static void fill(int dir, const char *content)
{
	char name[201];

	memset(name, 'n', 200);
	name[200] = '\0';
	CHECK(mkdirat(dir, "z", 0700) == 0 && mkdirat(dir, "a", 0755) == 0 && mkdirat(dir, "a/b", 01777) == 0 &&
	      fchmodat(dir, "a/b", 01777, 0) == 0);
	CHECK(mkdirat(dir, "closed", 0) == 0);
	put(dir, "a/file", content, 0640);
	put(dir, "unreadable", "", 0);
	put(dir, name, "", 0644);
	CHECK(symlinkat("usr/bin", dir, "bin") == 0 && symlinkat(name, dir, "long") == 0);
}

/* As tar itself reads it; true where it lists just that. */
static bool tar_lists(const struct buf *archive, const char *want)
{
	AUTO_BUF got = {0};
	char command[256];
	FILE *f;
	int c;

	(void)snprintf(command, sizeof(command), "%s/archive", folder);
	f = fopen(command, "w");
	if (!f || fwrite(archive->p, 1, archive->n, f) != archive->n || fclose(f) != 0)
		return false;
	(void)snprintf(command, sizeof(command),
		       "tar --numeric-owner -tvf %s/archive | sed -E 's/ +/ /g; s/ 1970-01-01 00:00//; s/n{200}/N/g'",
		       folder);
	f = popen(command, "r"); /* NOLINT: a test */
	buf_init(&got, 8192);
	while (f && (c = getc(f)) != EOF)
		(void)buf_char(&got, (char)c);
	if (!f || pclose(f) != 0 || strcmp(got.p, want) != 0) {
		printf("# tar says: %s\n", got.p ? got.p : "nothing");
		return false;
	}
	return true;
}

static void an_archive_holds_places_and_nothing_that_is_in_them(void)
{
	AUTO_FD dir = make("one");
	AUTO_BUF b = {0};

	fill(dir, "content");
	buf_init(&b, 1 << 20);
	CHECK(tar_places(dir, &b) == 0 && b.n % 512 == 0);
	CHECK(setenv("TZ", "UTC", 1) == 0);
	CHECK(tar_lists(&b, "drwxr-xr-x 0/0 0 a/\n"
			    "drwxrwxrwt 0/0 0 a/b/\n"
			    "-rw-r----- 0/0 0 a/file\n"
			    "lrwxrwxrwx 0/0 0 bin -> usr/bin\n"
			    "d--------- 0/0 0 closed/\n"
			    "lrwxrwxrwx 0/0 0 long -> N\n"
			    "-rw-r--r-- 0/0 0 N\n"
			    "---------- 0/0 0 unreadable\n"
			    "drwx------ 0/0 0 z/\n"));
}

static void the_same_places_are_the_same_bytes(void)
{
	AUTO_FD two = make("two");
	AUTO_FD one = make("one");
	AUTO_BUF a = {0}, b = {0};
	char x[SHA256_HEX], y[SHA256_HEX];

	fill(two, "another content");
	buf_init(&a, 1 << 20);
	buf_init(&b, 1 << 20);
	CHECK(tar_places(one, &a) == 0 && tar_places(two, &b) == 0);
	sha256_hex_of(buf_view(&a), x);
	sha256_hex_of(buf_view(&b), y);
	CHECK_STR(x, y);
	CHECK(fchmodat(two, "z", 0755, 0) == 0);
	buf_clear(&b);
	CHECK(tar_places(two, &b) == 0);
	sha256_hex_of(buf_view(&b), y);
	CHECK(strcmp(x, y) != 0);
}

static void an_archive_has_a_maximum_and_no_devices(void)
{
	AUTO_FD one = make("one");
	AUTO_FD three = make("three");
	AUTO_BUF b = {0}, c = {0};

	buf_init(&b, 1024);
	CHECK(tar_places(one, &b) == -EFBIG);
	CHECK(mkfifoat(three, "pipe", 0600) == 0);
	buf_init(&c, 1 << 20);
	CHECK(tar_places(three, &c) == -EINVAL);
}

/* --- where the engine is --- */

static char *find(char *const *env, struct error *err)
{
	char *path = NULL;

	*err = (struct error){0};
	return where_is_docker(env, &path, err) < 0 ? NULL : path;
}

#define ENV(...) ((char *[]){__VA_ARGS__, NULL})

static void docker_host_comes_first_and_must_be_a_socket_of_this_machine(void)
{
	static const char *const refused[] = {"tcp://127.0.0.1:2375",
					      "ssh://u@host",
					      "npipe:////./pipe/docker",
					      "http://x",
					      "/run/docker.sock",
					      "unix://run/docker.sock",
					      "unix://",
					      "fd://"};
	char variable[256];
	struct error err;
	size_t i;
	AUTO_FREE char *path = find(
		ENV((char[]){"DOCKER_CONTEXT=other"}, (char[]){"DOCKER_HOST=unix:///run/user/7/docker.sock"}), &err);
	AUTO_FREE char *none = find(ENV((char[]){"DOCKER_HOST="}, (char[]){"DOCKER_HOSTS=x"}), &err);

	CHECK_STR(path, "/run/user/7/docker.sock");
	CHECK_STR(none, WHERE_DEFAULT);
	for (i = 0; i < ARRAY_LEN(refused); i++) {
		(void)snprintf(variable, sizeof(variable), "DOCKER_HOST=%s", refused[i]);
		CHECK(!find(ENV(variable), &err) && strstr(err.text, "DOCKER_HOST"));
	}
	memset(variable, 'x', sizeof(variable) - 1);
	memcpy(variable, "DOCKER_HOST=unix:///", 20);
	variable[255] = '\0';
	CHECK(!find(ENV(variable), &err));
}

static void put_context(const char *name, const char *meta)
{
	char digest[SHA256_HEX], path[256];
	AUTO_FD dir = -1;

	sha256_hex_of(sv_of(name), digest);
	(void)snprintf(path, sizeof(path), "config/contexts/meta/%s", digest);
	AUTO_FD config = make("config");
	AUTO_FD contexts = make("config/contexts");
	AUTO_FD metas = make("config/contexts/meta");
	dir = make(path);
	CHECK(config >= 0 && contexts >= 0 && metas >= 0 && dir >= 0);
	put(dir, "meta.json", meta, 0644);
}

static void contexts_are_read_as_docker_keeps_them(void)
{
	char config[256];
	struct error err;
	AUTO_FD dir = make("config");

	(void)snprintf(config, sizeof(config), "DOCKER_CONFIG=%s/config", folder);
	put_context("here", "{\"Name\":\"here\",\"Endpoints\":{\"docker\":{\"Host\":\"unix:///run/"
			    "here.sock\",\"SkipTLSVerify\":false}}}");
	put_context("far", "{\"Name\":\"far\",\"Endpoints\":{\"docker\":{\"Host\":\"ssh://somewhere\"}}}");
	put_context("odd", "{\"Name\":\"odd\",\"Endpoints\":[]}");
	put_context("broken", "{");
	AUTO_FREE char *named = find(ENV(config, (char[]){"DOCKER_CONTEXT=here"}), &err);
	CHECK_STR(named, "/run/here.sock");
	CHECK(!find(ENV(config, (char[]){"DOCKER_CONTEXT=far"}), &err) && strstr(err.text, "ssh://somewhere"));
	CHECK(!find(ENV(config, (char[]){"DOCKER_CONTEXT=odd"}), &err));
	CHECK(!find(ENV(config, (char[]){"DOCKER_CONTEXT=broken"}), &err) && strstr(err.text, "not JSON"));
	CHECK(!find(ENV(config, (char[]){"DOCKER_CONTEXT=absent"}), &err));
	CHECK(!find(ENV((char[]){"DOCKER_CONTEXT=here"}), &err));
	AUTO_FREE char *plain = find(ENV(config), &err);
	CHECK_STR(plain, WHERE_DEFAULT);
	put(dir, "config.json", "{\"auths\":{},\"currentContext\":\"here\"}", 0644);
	AUTO_FREE char *current = find(ENV(config), &err);
	CHECK_STR(current, "/run/here.sock");
	AUTO_FREE char *standard = find(ENV(config, (char[]){"DOCKER_CONTEXT=default"}), &err);
	CHECK_STR(standard, WHERE_DEFAULT);
	put(dir, "config.json", "[", 0644);
	CHECK(!find(ENV(config), &err) && strstr(err.text, "not JSON"));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(it_asks_for_nothing_and_shows_nothing_of_the_command),
		CASE(a_member_has_its_leaders_network_as_it_is),
		CASE(limits_are_the_policy_s),
		CASE(a_limit_that_the_engine_cannot_keep_is_refused),
		CASE(the_profile_is_one_that_an_engine_can_read),
		CASE(each_target_is_mounted_once_and_the_last_wins),
		CASE(what_the_engine_would_put_in_etc_is_ours),
		CASE(of_an_image_the_engine_gets_nothing),
		CASE(nothing_below_a_read_only_folder_stays_writable),
		CASE(file_systems_below_a_folder_are_shown_by_themselves),
		CASE(names_that_json_would_change_are_refused),
		CASE(an_archive_holds_places_and_nothing_that_is_in_them),
		CASE(the_same_places_are_the_same_bytes),
		CASE(an_archive_has_a_maximum_and_no_devices),
		CASE(docker_host_comes_first_and_must_be_a_socket_of_this_machine),
		CASE(contexts_are_read_as_docker_keeps_them),
	};
	int failed;

	if (!mkdtemp(folder))
		return 99;
	(void)umask(022);
	failed = check_main(cases, ARRAY_LEN(cases));
	sys_remove_tree(AT_FDCWD, folder);
	return failed;
}
