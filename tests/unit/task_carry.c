/* task/carry: what the agent made is data; what runs because of its name or its place is the image's, or is not there.
 * Each attack is in the agent's upper folder, from where a plain copy would carry it. */
#include "carry_world.h"

static void work_is_carried_as_it_is(void)
{
	struct world w;
	struct stat st;

	world_open(&w);
	put(w.upper, "app/main.py", "print(2)\n", 0644);
	put(w.upper, "app/run.sh", "#!/bin/sh\necho\n", 0700);
	put(w.upper, "app/out/deep/odd\nname", "x", 0600);
	put(w.upper, "app/bin/mine", "\177ELF", 0755);
	put(w.upper, "app/package.json", "{}", 0644);
	put(w.upper, "app/pyproject.toml", "[project]\nname = \"x\"\ndependencies = [\"pytest==8\"]\n", 0644);
	link_to(w.upper, "app/latest", "out/deep");
	put(w.upper, "data/result.csv", "1,2", 0644);
	put(w.upper, "root/answer.txt", "42", 0644);
	put(w.upper, "tmp/out.txt", "t", 0644);
	put(w.upper, "etc/nginx/nginx.conf", "worker 2;\n", 0644);
	put(w.upper, "opt/data/output.csv", "2", 0644);
	carry(&w);
	CHECK_STR(w.said, "");
	check_text(w.to, "app/main.py", "print(2)\n");
	check_text(w.to, "etc/nginx/nginx.conf", "worker 2;\n");
	carried(&w, "app/out/deep/odd\nname");
	carried(&w, "app/bin/mine");
	carried(&w, "app/pyproject.toml");
	carried(&w, "app/latest");
	carried(&w, "data/result.csv");
	carried(&w, "root/answer.txt");
	carried(&w, "tmp/out.txt");
	carried(&w, "opt/data/output.csv");
	CHECK(fstatat(w.to, "app/run.sh", &st, 0) == 0 && (st.st_mode & 07777) == 0700);
	world_close(&w);
}

static void deletions_in_data_are_carried(void)
{
	struct world w;
	struct stat st;

	world_open(&w);
	delete(w.upper, "app/main.py");
	delete(w.upper, "opt/data");
	delete(w.upper, "app/never-was");
	carry(&w);
	CHECK(fstatat(w.to, "app/main.py", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == 0);
	carried(&w, "opt/data");
	CHECK(!there(w.to, "app/never-was"));
	world_close(&w);
}

static void programs_and_libraries_of_the_image_stay(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "usr/bin/sh", "#!evil", 0755);
	delete(w.upper, "usr/bin/grep");
	link_to(w.upper, "usr/bin/python3", "/app/evil");
	put(w.upper, "usr/lib/x86_64-linux-gnu/libc.so.6", "evil", 0644);
	put(w.upper, "usr/lib/python3.11/json/__init__.py", "evil", 0644);
	put(w.upper, "opt/tool/bin/tool", "evil", 0755);
	put(w.upper, "srv/check.sh", "evil", 0755);
	put(w.upper, "app/node_modules/left/index.js", "evil", 0644);
	carry(&w);
	dropped(&w, "replaces", "usr/bin/sh");
	dropped(&w, "deletes", "usr/bin/grep");
	dropped(&w, "replaces", "usr/bin/python3");
	dropped(&w, "replaces", "usr/lib/x86_64-linux-gnu/libc.so.6");
	dropped(&w, "replaces", "usr/lib/python3.11/json/__init__.py");
	dropped(&w, "replaces", "opt/tool/bin/tool");
	dropped(&w, "replaces", "srv/check.sh");
	dropped(&w, "replaces", "app/node_modules/left/index.js");
	world_close(&w);
}

static void a_touched_program_is_nothing_to_speak_of(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "usr/bin/sh", "#!sh", 0000);
	put(w.upper, "app/conftest.py", "# the image's\n", 0600);
	carry(&w);
	CHECK(!there(w.to, "usr/bin/sh") && !there(w.to, "app/conftest.py"));
	if (geteuid() == 0)
		CHECK_STR(w.said, "");
	world_close(&w);
}

static void system_folders_cannot_be_taken_away_or_led_elsewhere(void)
{
	static const struct {
		const char *path, *rule;
	} bad[] = {{"usr", "link"},    {"etc", "link"},        {"opt", "link"},        {"tests", "runner"},
		   {"logs", "runner"}, {"solution", "runner"}, {"verifier", "runner"}, {"app", "link"},
		   {"tmp", "link"},    {"bin", "replaces"}};
	struct world w;
	struct stat st;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		world_open(&w);
		link_to(w.upper, bad[i].path, "/srv/x");
		carry(&w);
		dropped(&w, bad[i].rule, bad[i].path);
		world_close(&w);
	}
	world_open(&w);
	delete(w.upper, "usr");
	delete(w.upper, "etc");
	delete(w.upper, "bin");
	carry(&w);
	dropped(&w, "deletes", "usr");
	dropped(&w, "deletes", "etc");
	dropped(&w, "deletes", "bin");
	world_close(&w);
	/* mv /usr /usr.old; mkdir -p /usr/bin */
	world_open(&w);
	put(w.upper, "usr/bin/newcmd", "x", 0755);
	opaque(w.upper, "usr");
	opaque(w.upper, "usr/bin");
	put(w.upper, "bin/ls", "evil", 0755);
	carry(&w);
	CHECK(said(&w, "deletes", "usr") && said(&w, "replaces", "bin") && !there(w.to, "bin"));
	CHECK(fstatat(w.to, "usr/bin", &st, 0) == 0);
	{
		AUTO_FD fd = openat(w.to, "usr/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		char v[4];

		CHECK(fgetxattr(fd, "user.overlay.opaque", v, sizeof(v)) < 0);
	}
	world_close(&w);
}

static void commands_that_are_new_are_carried_and_shims_are_not(void)
{
	struct world w;

	world_open(&w);
	w.req.env = (const char *const[]){"HOME=/root", "PATH=/app/tools:/usr/local/bin/:/usr/bin:/bin", NULL};
	put(w.upper, "usr/bin/nginx", "\177ELF", 0755);
	put(w.upper, "usr/local/bin/sqlite3", "evil", 0755);
	put(w.upper, "usr/local/sbin/sh", "evil", 0755);
	put(w.upper, "usr/local/bin/pytest", "evil", 0755);
	put(w.upper, "usr/local/bin/python", "evil", 0755);
	put(w.upper, "usr/bin/curl", "evil", 0755);
	put(w.upper, "root/.local/bin/uvx", "evil", 0755);
	put(w.upper, "root/.local/bin/env", "evil", 0755);
	put(w.upper, "root/.local/bin/sqlite3", "evil", 0755);
	put(w.upper, "root/.local/bin/mytool", "x", 0755);
	put(w.upper, "app/tools/sqlite3", "evil", 0755);
	put(w.upper, "app/tools/other", "x", 0755);
	put(w.upper, "app/node_modules/.bin/jest", "evil", 0755);
	put(w.upper, "app/node_modules/.bin/left", "x", 0755);
	link_to(w.upper, "usr/local/bin/python3", "/app/evil");
	carry(&w);
	carried(&w, "usr/bin/nginx");
	carried(&w, "root/.local/bin/mytool");
	carried(&w, "app/tools/other");
	carried(&w, "app/node_modules/.bin/left");
	dropped(&w, "shadows", "usr/local/bin/sqlite3");
	dropped(&w, "tool", "usr/local/sbin/sh");
	dropped(&w, "tool", "usr/local/bin/pytest");
	dropped(&w, "tool", "usr/local/bin/python");
	dropped(&w, "tool", "usr/local/bin/python3");
	dropped(&w, "tool", "usr/bin/curl");
	dropped(&w, "tool", "root/.local/bin/uvx");
	dropped(&w, "startup", "root/.local/bin/env");
	dropped(&w, "shadows", "root/.local/bin/sqlite3");
	dropped(&w, "shadows", "app/tools/sqlite3");
	dropped(&w, "tool", "app/node_modules/.bin/jest");
	world_close(&w);
}

static void libraries_that_are_new_are_carried_and_loaders_places_are_not(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "usr/lib/x86_64-linux-gnu/libjq.so.1", "x", 0644);
	put(w.upper, "usr/lib/postgresql/15/bin/psql", "x", 0755);
	put(w.upper, "usr/share/nginx/html/index.html", "x", 0644);
	put(w.upper, "usr/include/jq.h", "x", 0644);
	put(w.upper, "usr/local/go/bin/go", "x", 0755);
	put(w.upper, "usr/local/lib/libc.so.6", "evil", 0644);
	put(w.upper, "usr/lib/x86_64-linux-gnu/libnss_systemd.so.2", "evil", 0644);
	put(w.upper, "usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v3/libc.so.6", "evil", 0644);
	put(w.upper, "usr/lib/x86_64-linux-gnu/gconv/gconv-modules", "evil", 0644);
	put(w.upper, "usr/lib/x86_64-linux-gnu/perl5/strict.pm", "evil", 0644);
	put(w.upper, "usr/local/share/perl/5.36/strict.pm", "evil", 0644);
	put(w.upper, "usr/share/git-core/templates/hooks/post-checkout", "evil", 0755);
	put(w.upper, "usr/libexec/helper", "evil", 0755);
	put(w.upper, "usr/lib/ssl/openssl.cnf", "evil", 0644);
	put(w.upper, "usr/lib/locale/locale-archive", "evil", 0644);
	carry(&w);
	carried(&w, "usr/lib/x86_64-linux-gnu/libjq.so.1");
	carried(&w, "usr/lib/postgresql/15/bin/psql");
	carried(&w, "usr/share/nginx/html/index.html");
	carried(&w, "usr/include/jq.h");
	carried(&w, "usr/local/go/bin/go");
	dropped(&w, "shadows", "usr/local/lib/libc.so.6");
	dropped(&w, "system", "usr/lib/x86_64-linux-gnu/libnss_systemd.so.2");
	dropped(&w, "system", "usr/lib/x86_64-linux-gnu/glibc-hwcaps");
	dropped(&w, "system", "usr/lib/x86_64-linux-gnu/gconv");
	dropped(&w, "system", "usr/lib/x86_64-linux-gnu/perl5");
	dropped(&w, "system", "usr/local/share/perl");
	dropped(&w, "system", "usr/share/git-core");
	dropped(&w, "system", "usr/libexec/helper");
	dropped(&w, "system", "usr/lib/ssl");
	dropped(&w, "system", "usr/lib/locale");
	world_close(&w);
}

static void startup_files_are_dropped(void)
{
	static const char *const bad[] = {"etc/ld.so.preload", "etc/ld.so.cache",
					  "etc/ld.so.conf.d",  "etc/profile",
					  "etc/profile.d",     "etc/environment",
					  "etc/bash.bashrc",   "etc/zsh",
					  "etc/hosts",         "etc/nsswitch.conf",
					  "etc/resolv.conf",   "etc/pam.d",
					  "etc/cron.d",        "etc/crontab",
					  "etc/systemd",       "etc/ssl",
					  "etc/apt",           "etc/alternatives",
					  "etc/perl",          "etc/pip.conf",
					  "etc/sudoers.d",     "etc/ssh/ssh_config",
					  "root/.bashrc",      "root/.profile",
					  "root/.zshenv",      "root/.config/pip",
					  "root/.config/fish", "root/.npmrc",
					  "root/.curlrc",      "home/u/.bash_profile",
					  "root/.ssh/config",  "app/.bashrc",
					  "app/.npmrc",        "etc/ld-musl-x86_64.path",
					  "var/spool/cron"};
	struct world w;
	size_t i;

	world_open(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		put(w.upper, bad[i], "evil", 0644);
	put(w.upper, "root/.ssh/id_ed25519", "key", 0600);
	put(w.upper, "etc/init.d/nginx", "x", 0755);
	put(w.upper, "root/.cache/uv/x", "evil", 0644);
	put(w.upper, "var/lib/dpkg/status", "x", 0644);
	put(w.upper, "root/.cache/huggingface/model", "x", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "startup", bad[i]);
	dropped(&w, "installer", "root/.cache/uv");
	dropped(&w, "installer", "var/lib/dpkg");
	carried(&w, "root/.ssh/id_ed25519");
	carried(&w, "etc/init.d/nginx");
	carried(&w, "root/.cache/huggingface/model");
	world_close(&w);
}

static void users_may_be_added_and_root_stays_who_it_is(void)
{
	static const struct {
		const char *text;
		bool ok;
	} cases[] = {
		{"root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/bash\n", true},
		{"root:x:0:0:root:/root:/app/evil\n", false},
		{"root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\n", false},
		{"root:x:0:0:root:/root:/bin/sh\ntoor:x:00:0::/:/bin/sh\n", false},
		{"eve:x:7:7::/:/x\nroot:x:0:0:root:/root:/bin/sh\n", false},
		{"root:x:0:0:root:/root:/bin/sh\nx:x:4294967296:0::/:/bin/sh\n", false},
		{"", false},
	};
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		world_open(&w);
		put(w.upper, "etc/passwd", cases[i].text, 0644);
		carry(&w);
		CHECK(there(w.to, "etc/passwd") == cases[i].ok && said(&w, "accounts", "etc/passwd") != cases[i].ok);
		world_close(&w);
	}
}

static void links_to_the_runners_folders_are_dropped_by_whatever_detour(void)
{
	static const char *const bad[] = {"/tests/expected.json",
					  "../tests/x",
					  "/logs/verifier/reward.txt",
					  "/proc/self/root/tests/x",
					  "/app/../tests",
					  "up/tests/x",
					  "root/tests",
					  "/solution",
					  "hop/expected",
					  "/dev/fd/0",
					  "/dev",
					  "circle",
					  "/mnt/mine/x"};
	static const char *const places[] = {"/mnt/mine", NULL};
	struct world w;
	char name[32];
	size_t i;

	world_open(&w);
	w.req.places = places;
	link_to(w.upper, "app/up", "..");
	link_to(w.upper, "app/root", "/");
	link_to(w.upper, "app/hop", "/srv/hop");
	link_to(w.upper, "srv/hop", "../tests");
	link_to(w.upper, "app/circle", "circle");
	link_to(w.upper, "app/fine", "/etc/nginx/nginx.conf");
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(name, sizeof(name), "app/bad%zu", i);
		link_to(w.upper, name, bad[i]);
	}
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(name, sizeof(name), "app/bad%zu", i);
		dropped(&w, "link-runner", name);
	}
	carried(&w, "app/fine");
	world_close(&w);
}

static void special_files_and_setuid_bits_do_not_come(void)
{
	struct world w;
	struct stat st;

	world_open(&w);
	make_folders(w.upper, "app/x");
	CHECK(mkfifoat(w.upper, "app/fifo", 0644) == 0);
	put(w.upper, "app/suid", "x", 04755);
	put(w.upper, "proc/x", "x", 0644);
	put(w.upper, "run/x", "x", 0644);
	put(w.upper, "dev/shm/x", "x", 0644);
	carry(&w);
	dropped(&w, "special", "app/fifo");
	dropped(&w, "runner", "proc");
	dropped(&w, "runner", "run");
	dropped(&w, "runner", "dev");
	CHECK(said(&w, "setuid", "app/suid") && fstatat(w.to, "app/suid", &st, 0) == 0 && (st.st_mode & 07777) == 0755);
	if (geteuid() == 0) {
		CHECK(mknodat(w.upper, "app/null", S_IFCHR | 0666, makedev(1, 3)) == 0);
		sys_empty_tree(w.to);
		carry(&w);
		dropped(&w, "special", "app/null");
	}
	world_close(&w);
}

static void attributes_do_not_come_and_owners_do(void)
{
	struct world w;
	struct stat st;
	char v[8];
	AUTO_FD fd = -1;

	world_open(&w);
	put(w.upper, "app/x", "x", 0644);
	fd = openat(w.upper, "app/x", O_RDONLY | O_CLOEXEC);
	CHECK(fsetxattr(fd, "user.overlay.redirect", "/etc", 4, 0) == 0);
	if (geteuid() == 0)
		CHECK(fchown(fd, 1700001000, 1700001000) == 0);
	carry(&w);
	close(fd);
	fd = openat(w.to, "app/x", O_RDONLY | O_CLOEXEC);
	CHECK(fgetxattr(fd, "user.overlay.redirect", v, sizeof(v)) < 0);
	if (geteuid() == 0)
		CHECK(fstat(fd, &st) == 0 && st.st_uid == 1700001000);
	world_close(&w);
}

static void another_user_than_root_is_enough_for_files_of_all_ids(void)
{
	struct image_ids ids;
	struct world w;
	struct stat st;

	world_open(&w);
	if (image_ids_of_user(&ids, &w.err) < 0 || image_in_ids(&ids, succeed, NULL, &w.err) < 0) {
		printf("# no user namespaces here: %s\n", w.err.text);
		world_close(&w);
		return;
	}
	w.req.ids = &ids;
	put(w.upper, "app/private/x", "x", 0600);
	put(w.upper, "usr/bin/sh", "evil", 0755);
	put(w.upper, "app/odd\nname.pyc", "evil", 0644);
	delete(w.upper, "app/main.py");
	opaque(w.upper, "app/private");
	if (geteuid() == 0) {
		CHECK(chmod(w.base, 0711) == 0 && fchownat(w.upper, "app/private/x", 1700000999, 1700000999, 0) == 0 &&
		      fchownat(w.upper, "app/private", 1700000999, 1700000999, 0) == 0);
		CHECK(fchmodat(w.upper, "app/private", 0700, 0) == 0 && ids.zero_uid == 1700000000);
		give(w.base);
	}
	carry(&w);
	carried(&w, "app/private/x");
	carried(&w, "app/main.py");
	dropped(&w, "replaces", "usr/bin/sh");
	CHECK(strstr(w.said, "carry.autorun /app/odd\\x0aname.pyc\n") != NULL);
	if (geteuid() == 0)
		CHECK(fstatat(w.to, "app/private/x", &st, 0) == 0 && st.st_uid == 1700000999 &&
		      (st.st_mode & 07777) == 0600);
	world_close(&w);
}

static void a_work_folder_among_the_systems_is_none(void)
{
	struct world w;

	world_open(&w);
	w.req.workdir = "/";
	put(w.upper, "usr/bin/sh", "evil", 0755);
	put(w.upper, "srv/check.sh", "the agent's work", 0755);
	put(w.upper, "app/main.py", "x", 0644);
	carry(&w);
	dropped(&w, "replaces", "usr/bin/sh");
	carried(&w, "srv/check.sh");
	carried(&w, "app/main.py");
	world_close(&w);
	world_open(&w);
	w.req.workdir = "/usr/bin";
	put(w.upper, "usr/bin/sh", "evil", 0755);
	carry(&w);
	dropped(&w, "replaces", "usr/bin/sh");
	world_close(&w);
}

static void what_a_layer_took_away_counts_as_not_there(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "usr/bin/oldtool", "x", 0755);
	delete(w.second, "usr/bin/oldtool");
	put(w.upper, "usr/bin/oldtool", "new", 0755);
	put(w.image, "usr/lib/gone/a", "x", 0644);
	make_folders(w.second, "usr/lib/gone/x");
	opaque(w.second, "usr/lib/gone");
	put(w.upper, "usr/lib/gone/a", "y", 0644);
	carry(&w);
	carried(&w, "usr/bin/oldtool");
	dropped(&w, "system", "usr/lib/gone/a");
	world_close(&w);
}

static void files_that_nobody_may_read_are_carried_too(void)
{
	struct world w;
	int status;
	pid_t pid;

	world_open(&w);
	if (geteuid() == 0) { /* as an ordinary user whose own files they are */
		CHECK(chmod(w.base, 0755) == 0 && fchown(w.upper, 65534, 65534) == 0 &&
		      fchown(w.to, 65534, 65534) == 0);
		pid = fork();
		if (pid == 0) {
			if (setresuid(65534, 65534, 65534) < 0)
				_exit(9);
			put(w.upper, "app/secret/x", "x", 0000);
			CHECK(fchmodat(w.upper, "app/secret", 0, 0) == 0);
			carry(&w);
			_exit(check_failures != 0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	} else {
		put(w.upper, "app/secret/x", "x", 0000);
		CHECK(fchmodat(w.upper, "app/secret", 0, 0) == 0);
		carry(&w);
	}
	carried(&w, "app/secret");
	world_close(&w);
}

static void no_link_leads_programs_elsewhere(void)
{
	static const char *const env[] = {"PATH=/app/.venv/bin:/app/now/bin:/root/.local/bin:/usr/bin:/bin",
					  "PYTHONPATH=/app/src", NULL};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.image, "app/.venv/bin/check", "\177ELF", 0755);
	put(w.image, "app/v1/bin/tool", "\177ELF", 0755);
	link_to(w.image, "app/now", "v1");
	link_to(w.upper, "app/.venv", "v2");
	put(w.upper, "app/v2/bin/check", "evil", 0755);
	put(w.upper, "app/v1/bin/tool", "evil", 0755);
	put(w.upper, "app/v1/bin/grep", "evil", 0755);
	link_to(w.upper, "app/now", "v2");
	link_to(w.upper, "root/.local", "x");
	put(w.upper, "root/x/bin/python3", "evil", 0755);
	link_to(w.upper, "home/u/.local/lib/python3.11", "/home/u/y");
	link_to(w.upper, "home/v/.local/lib/python3.11/site-packages", "/home/v/y");
	link_to(w.upper, "app/src", "/srv/modules");
	link_to(w.upper, "app/node_modules/.bin", "../evil");
	link_to(w.upper, "app/current", "v2");
	carry(&w);
	dropped(&w, "link", "app/.venv");
	dropped(&w, "link", "app/now");
	dropped(&w, "replaces", "app/v1/bin/tool");
	dropped(&w, "tool", "app/v1/bin/grep");
	dropped(&w, "link", "root/.local");
	dropped(&w, "link", "home/u/.local/lib/python3.11");
	dropped(&w, "link", "home/v/.local/lib/python3.11/site-packages");
	dropped(&w, "link", "app/src");
	dropped(&w, "link", "app/node_modules/.bin");
	carried(&w, "app/current");
	world_close(&w);
}

static void what_is_carried_takes_no_more_room_than_it_took(void)
{
	struct world w;
	struct stat a, b, hole;
	AUTO_FD fd = -1;

	world_open(&w);
	put(w.upper, "app/a", "one file", 0644);
	CHECK(linkat(w.upper, "app/a", w.upper, "app/b", 0) == 0 &&
	      linkat(w.upper, "app/a", w.upper, "root-b", 0) == 0);
	fd = openat(w.upper, "app/sparse", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && pwrite(fd, "x", 1, 1 << 20) == 1 && ftruncate(fd, (off_t)1 << 34) == 0 && fstat(fd, &a) == 0);
	carry(&w);
	CHECK(fstatat(w.to, "app/sparse", &hole, 0) == 0);
	CHECK(hole.st_size == (off_t)1 << 34);
	CHECK(hole.st_blocks <= 2048);
	close(fd);
	fd = openat(w.to, "app/sparse", O_RDONLY | O_CLOEXEC);
	CHECK(pread(fd, &a, 1, 1 << 20) == 1 && *(char *)&a == 'x');
	CHECK(fstatat(w.to, "app/a", &a, 0) == 0 && fstatat(w.to, "root-b", &b, 0) == 0);
	CHECK(a.st_ino == b.st_ino);
	CHECK(a.st_nlink == 3);
	check_text(w.to, "app/b", "one file");
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(work_is_carried_as_it_is),
		CASE(deletions_in_data_are_carried),
		CASE(programs_and_libraries_of_the_image_stay),
		CASE(a_touched_program_is_nothing_to_speak_of),
		CASE(system_folders_cannot_be_taken_away_or_led_elsewhere),
		CASE(commands_that_are_new_are_carried_and_shims_are_not),
		CASE(libraries_that_are_new_are_carried_and_loaders_places_are_not),
		CASE(startup_files_are_dropped),
		CASE(users_may_be_added_and_root_stays_who_it_is),
		CASE(links_to_the_runners_folders_are_dropped_by_whatever_detour),
		CASE(special_files_and_setuid_bits_do_not_come),
		CASE(attributes_do_not_come_and_owners_do),
		CASE(another_user_than_root_is_enough_for_files_of_all_ids),
		CASE(a_work_folder_among_the_systems_is_none),
		CASE(what_a_layer_took_away_counts_as_not_there),
		CASE(files_that_nobody_may_read_are_carried_too),
		CASE(no_link_leads_programs_elsewhere),
		CASE(what_is_carried_takes_no_more_room_than_it_took),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
