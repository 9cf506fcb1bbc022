/* task/carry: what the tests write for themselves is theirs, whatever the agent left under its name. Each attack makes
 * tests write through a link, run a folder, or read what they did not write. */
#include "carry_world.h"

#include <sched.h>
#include <sys/mount.h>

#include "task/carry_told.h"
#include "task/carry_wish.h"
#include "task/carry_writes.h"

/* The world's tests: one file with that text, and an empty one of that name. */
static void with_tests(struct world *w, struct carry_test_files *files, struct carry_test_file v[2], const char *name,
		       const char *text)
{
	v[0] = (struct carry_test_file){.next = &v[1], .name = "test.sh", .text = sv_of(text)};
	v[1] = (struct carry_test_file){.name = name, .text = sv_of("")};
	*files = (struct carry_test_files){.first = v};
	w->req.tests = files;
}

static bool is_link(int dir, const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

static void of_scratch_files_those_come_that_the_instruction_names(void)
{
	static const struct {
		const char *instruction, *path;
		bool comes;
	} rows[] = {
		{"", "tmp/x", false},
		{"Write /tmp/x.", "tmp/x", true},
		{"Write /tmp/x.", "tmp/x2", false},
		{"Write /tmp/x.", "tmp/y/x", false},
		{"Write `/tmp/out/`.", "tmp/out/a/b", true},
		{"Write (/tmp/out/a.txt)", "tmp/out/a.txt", true},
		{"Write /tmp/out/a.txt", "tmp/out/b.txt", false},
		{"Write **/tmp/a.txt**", "tmp/a.txt", true},
		{"Write **/tmp/a.txt**", "tmp/a.txt.bak", false},
		{"/var/tmp/x", "var/tmp/x", true},
		{"", "var/tmp/x", false},
		{"Write /srv/tmp/x", "tmp/x", false},
		{"Write /tmpx/y", "tmp/y", false},
		{"a/tmp/x and ~/tmp/x", "tmp/x", false},
		{"one /tmp/out_<user>.txt each", "tmp/out_ann.txt", true},
		{"one /tmp/out_{user}.txt each", "tmp/out_ann.txt", true},
		{"one /tmp/out_$USER.txt each", "tmp/out_ann.txt", true},
		{"/tmp/part-*.csv", "tmp/part-1.csv", true},
		{"/tmp/part-*.csv", "tmp/part-1.py", false},
		{"a file report.txt in /tmp", "tmp/report.txt", true},
		{"a file report.txt in /tmp", "tmp/mine", true},
		{"a file report.txt in /tmp", "tmp/expected.txt", false},
		{"all in /tmp/*", "tmp/expected.txt", false},
		{"http://host/tmp/x", "tmp/x", false},
		{"Make /tmp/app/x, \"/tmp/app/y\"", "tmp/app/y", true},
		/* punctuation of any script, and prose without spaces */
		{"Save it to “/tmp/report.txt”.", "tmp/report.txt", true},
		{"Save it to “/tmp/report.txt”.", "tmp/other.txt", false},
		{"Read /tmp/report.txt’s head", "tmp/report.txt", true},
		{"to /tmp/a.txt—then", "tmp/a.txt", true},
		{"to /tmp/a.txt--then", "tmp/a.txt", true},
		{"to /tmp/a.txt…", "tmp/a.txt", true},
		{"«/tmp/a.txt»", "tmp/a.txt", true},
		{"/tmp/a.txt\u00a0holds", "tmp/a.txt", true},
		{"/tmp/in.txt→/tmp/out.txt", "tmp/out.txt", true},
		{"将结果写入/tmp/result.txt。", "tmp/result.txt", true},
		{"将结果写入/tmp/result.txt文件", "tmp/result.txt", true},
		{"将结果写入/tmp/result.txt文件", "tmp/expected.txt", false},
		{"将结果写入“/tmp/结果.txt”。", "tmp/结果.txt", true},
		{"保存到/tmp/out/目录下", "tmp/out/a.txt", true},
		{"在/tmp目录下创建report.txt文件", "tmp/report.txt", true},
		{"在/tmp目录下创建report.txt文件", "tmp/expected.txt", false},
		{"Écris /tmp/résumé.txt", "tmp/résumé.txt", true},
		{"Write _/tmp/a.txt_ or __/tmp/b.txt__", "tmp/b.txt", true},
		{"Write file:///tmp/a.txt", "tmp/a.txt", true},
		/* as Markdown has them */
		{"Write **/tmp/my file.txt**.", "tmp/my file.txt", true},
		{"Write __/tmp/my file.txt__.", "tmp/my file.txt", true},
		{"Write `/tmp/my file.txt`.", "tmp/my file.txt", true},
		{"Write \"/tmp/my file.txt\".", "tmp/my file.txt", true},
		{"Write **/tmp/my file.txt**.", "tmp/file.txt", false},
		{"Write /tmp/my file.txt.", "tmp/my file.txt", false},
		{"Write /tmp/out\\_put.txt.", "tmp/out_put.txt", true},
		{"Write /tmp/out\\_put.txt.", "tmp/expected.txt", false},
		{"Write /tmp/o&amp;p.txt.", "tmp/o&p.txt", true},
		{"Write /tmp/o&p.txt.", "tmp/o&p.txt", false},
		{"Write /tmp/\\*", "tmp/expected.txt", false},
		{"Write http:///tmp/a.txt and a_/tmp/a.txt", "tmp/a.txt", false},
	};
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		world_open(&w);
		with_tests(&w, &files, v, "check.py", "cp /tests/expected.txt /tmp/expected.txt; cat /tmp/x");
		w.req.instruction = rows[i].instruction;
		put(w.upper, rows[i].path, "1", 0644);
		carry(&w);
		if (there(w.to, rows[i].path) != rows[i].comes || said(&w, "scratch", "tmp") == rows[i].comes) {
			printf("# '%s' %s: %s\n", rows[i].instruction, rows[i].path, w.said);
			check_failures++;
		}
		world_close(&w);
	}
}

static void a_name_that_the_instruction_has_ends_where_its_prose_goes_on(void)
{
	static const struct {
		const char *instruction, *name;
		bool told;
	} rows[] = {
		{"Write report.txt.", "report.txt", true},
		{"Write “report.txt”, please", "report.txt", true},
		{"Write “done”", "done", true},
		{"Write 「done」", "done", true},
		{"all is done—then stop", "done", false},
		{"report.txt’s head", "report.txt", true},
		{"report.txt—then", "report.txt", true},
		{"report.txt--then", "report.txt", true},
		{"report.txt…", "report.txt", true},
		{"report.txt\u00a0holds", "report.txt", true},
		{"_report.txt_ and __init__.py", "report.txt", true},
		{"_report.txt_ and __init__.py", "__init__.py", true},
		{"写入report.txt文件", "report.txt", true},
		{"写入report.txt文件", "expected.txt", false},
		{"写入/app/报告.txt。", "报告.txt", true},
		{"写入/app/done目录", "done", true},
		{"Écris résumé.txt", "résumé.txt", true},
		{"ｒeport.txt，ok", "ｒeport.txt", true},
		{"\xe2\x80 \xff report.txt\xe2", "report.txt", true},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct carry_request req = {.instruction = rows[i].instruction};
		struct carry c = {.req = &req, .arena = arena_new()};

		CHECK(c.arena && carry_told_init(&c) == 0);
		if (carry_told(&c, sv_of(rows[i].name)) != rows[i].told) {
			printf("# '%s': %s\n", rows[i].instruction, rows[i].name);
			check_failures++;
		}
		arena_free(c.arena);
	}
}

static void a_place_for_scratch_files_stays_as_the_image_has_it(void)
{
	struct world w;
	struct stat st;

	world_open(&w);
	w.req.instruction = "";
	put(w.image, "tmp/data/in.csv", "1", 0644);
	put(w.image, "tmp/old", "1", 0644);
	put(w.upper, "tmp/data/in.csv", "2", 0644);
	put(w.upper, "tmp/data/expected.csv", "2", 0644);
	delete(w.upper, "tmp/old");
	CHECK(fchmodat(w.image, "tmp", 01777, 0) == 0 && fchmodat(w.upper, "tmp", 0755, 0) == 0);
	link_to(w.upper, "var/tmp", "/app");
	carry(&w);
	check_text(w.to, "tmp/data/in.csv", "2");
	carried(&w, "tmp/old");
	CHECK(!there(w.to, "tmp/data/expected.csv") && !there(w.to, "var/tmp"));
	CHECK(fstatat(w.to, "tmp", &st, 0) == 0 && (st.st_mode & 07777) == 01777);
	world_close(&w);

	/* but a work folder there is the work */
	world_open(&w);
	w.req.instruction = "";
	w.req.workdir = "/tmp/work";
	put(w.image, "tmp/work/x", "1", 0644);
	put(w.upper, "tmp/work/sub/y", "1", 0644);
	put(w.upper, "tmp/worked", "1", 0644);
	carry(&w);
	carried(&w, "tmp/work/sub/y");
	CHECK(!there(w.to, "tmp/worked"));
	world_close(&w);
}

static void thousands_of_scratch_files_are_one_finding(void)
{
	char name[64];
	struct world w;
	size_t i;

	world_open(&w);
	w.req.instruction = "";
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "tmp/%zu\033[31m%0*d", i, 40, 0);
		put(w.upper, name, "", 0644);
	}
	carry(&w);
	CHECK_STR(w.said, "carry.scratch /tmp\n");
	world_close(&w);
}

static void a_link_that_leads_nowhere_is_no_answer(void)
{
	struct world w;

	world_open(&w);
	w.req.instruction = "Write the answer to /app/answer.txt. Scratch files go to /tmp.";
	link_to(w.upper, "app/answer.txt", "/tmp/reference.txt");
	link_to(w.upper, "app/one", "two");
	link_to(w.upper, "app/two", "three");
	link_to(w.upper, "app/by-folder", "none/answer.txt");
	link_to(w.upper, "app/scratch", "/tmp");
	put(w.upper, "tmp/given", "", 0644);
	link_to(w.upper, "app/given", "/tmp/given");
	put(w.upper, "app/conftest.py", "evil", 0644);
	link_to(w.upper, "app/restored", "conftest.py");
	put(w.upper, "app/sub/conftest.py", "evil", 0644);
	link_to(w.upper, "app/dropped", "sub/conftest.py");
	carry(&w);
	dropped(&w, "link-nowhere", "app/answer.txt");
	dropped(&w, "link-nowhere", "app/one");
	dropped(&w, "link-nowhere", "app/two");
	dropped(&w, "link-nowhere", "app/by-folder");
	dropped(&w, "link-nowhere", "app/scratch");
	dropped(&w, "link-nowhere", "app/dropped");
	carried(&w, "app/given");
	carried(&w, "app/restored");
	world_close(&w);
}

static const char tests_text[] = "D=$(pwd)\ncp /tests/x $D/expected.txt; cat $D/out.txt $D/ref $D/answer; python -c "
				 "'import x'; ls $D/libfoo.so $D/latest $D/current; tool; esbuild";

static void tests_do_not_write_to_the_work_through_a_link(void)
{
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;
	struct stat st, other;

	world_open(&w);
	with_tests(&w, &files, v, "solution.csv", tests_text);
	w.req.instruction = "Write out.txt and the folder `answer`.";
	put(w.upper, "app/out.txt", "wrong", 0644);
	link_to(w.upper, "app/expected.txt", "out.txt");	      /* by the tests' name */
	link_to(w.upper, "app/solution.csv", "main.py");	      /* of one of their files, to the image's */
	put(w.upper, "app/mine/a", "", 0644);
	link_to(w.upper, "app/ref", "mine");			      /* to a folder */
	put(w.upper, "app/expected/a", "", 0644);
	link_to(w.upper, "data/answer", "/app/expected");	      /* an answer that is what tests make */
	link_to(w.upper, "app/sub/out.txt", "../data.1");	      /* an answer that is a link */
	put(w.upper, "app/data.1", "1", 0600);
	link_to(w.upper, "app/notes", "expected.1");		      /* nobody's name */
	put(w.upper, "app/expected.1", "1", 0600);
	link_to(w.upper, "app/ref_1.txt", "out.txt");		      /* a name of parts */
	CHECK(linkat(w.upper, "app/out.txt", w.upper, "app/out.2", 0) == 0);
	v[0].text = sv_of(
		"D=$(pwd)\ncp /tests/x $D/expected.txt; cat $D/out.txt; diff -r $D/ref $D/answer; mkdir $D/expected");
	carry(&w);
	CHECK(said(&w, "link-copied", "app/expected.txt") && !is_link(w.to, "app/expected.txt"));
	check_text(w.to, "app/expected.txt", "wrong");
	CHECK(said(&w, "link-copied", "app/ref_1.txt"));
	CHECK(fstatat(w.to, "app/expected.txt", &st, 0) == 0 && fstatat(w.to, "app/out.txt", &other, 0) == 0 &&
	      st.st_ino != other.st_ino);
	check_text(w.to, "app/solution.csv", "print(1)\n");
	CHECK(!is_link(w.to, "app/solution.csv"));
	dropped(&w, "link-tests", "app/ref");
	dropped(&w, "link-tests", "data/answer");
	CHECK(said(&w, "link-copied", "app/sub/out.txt") &&
	      fstatat(w.to, "app/sub/out.txt", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	      (st.st_mode & 0777) == 0600);
	CHECK(is_link(w.to, "app/notes"));
	world_close(&w);
}

/* app/out.txt and three links to it under names of the tests' own. */
static void many_links_to_one_file(struct world *w, struct carry_test_files *files, struct carry_test_file v[2])
{
	char text[40 << 10];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	with_tests(w, files, v, "check.py", "D=$(pwd); cat $D/one $D/two $D/three");
	w->req.instruction = "Write out.txt.";
	put(w->upper, "app/out.txt", text, 0644);
	link_to(w->upper, "app/one", "out.txt");
	link_to(w->upper, "app/two", "out.txt");
	link_to(w->upper, "app/three", "out.txt");
}

static size_t copies(const struct world *w)
{
	return (size_t)there(w->to, "app/one") + there(w->to, "app/two") + there(w->to, "app/three");
}

static void copies_in_the_place_of_links_take_no_more_than_the_task_may_store(void)
{
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;

	world_open(&w);
	many_links_to_one_file(&w, &files, v);
	w.req.room = 100 << 10;
	carry(&w);
	CHECK(there(w.to, "app/out.txt") && copies(&w) == 2);
	world_close(&w);
}

static bool say_ids(const char *file, const char *text)
{
	AUTO_FD fd = open(file, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool enter_namespaces(void)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "0 %u 1", geteuid());
	snprintf(gids, sizeof(gids), "0 %u 1", getegid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && say_ids("/proc/self/setgroups", "deny") &&
	       say_ids("/proc/self/uid_map", uids) && say_ids("/proc/self/gid_map", gids);
}

/* In namespaces of its own, where there are some, with room for the file and one copy. */
static int carry_to_a_full_disk(void)
{
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;
	char to[96];
	bool ok = true;

	world_open(&w);
	snprintf(to, sizeof(to), "%s/to", w.base);
	if (enter_namespaces() && mount("none", to, "tmpfs", 0, "size=100k,nr_inodes=64") == 0) {
		close(w.to);
		w.to = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		many_links_to_one_file(&w, &files, v);
		ok = carry_changes(&w.req, w.to, &w.err) == 0 && there(w.to, "app/out.txt") && copies(&w) == 1;
		if (!ok)
			printf("# %s, %zu copies\n", w.err.text, copies(&w));
	}
	(void)umount2(to, MNT_DETACH);
	world_close(&w);
	return ok ? 0 : 1;
}

static void a_disk_that_such_copies_fill_is_no_error_of_the_infrastructure(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		status = carry_to_a_full_disk();
		fflush(stdout);
		_exit(status);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void links_of_programs_and_those_that_are_asked_for_stay(void)
{
	static const struct {
		const char *path, *target;
	} rows[] = {
		{"app/venv/bin/python", "/usr/bin/python3"},
		{"app/venv/bin/python3", "python"},
		{"app/node_modules/.bin/esbuild", "../esbuild/bin/esbuild"},
		{"app/node_modules/x", "../packages/x"},
		{"app/bin/tool", "../src/tool"},
		{"app/latest", "releases/2"},
		{"app/current", "releases/2/index.html"},
		{"etc/nginx/enabled/x", "../nginx.conf"},
		{"app/libbar.so", "libbar.so.1"},
	};
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;
	size_t i;

	world_open(&w);
	with_tests(&w, &files, v, "check.py", tests_text);
	w.req.instruction = "Make a symlink `latest` to the newest release, and /app/current to its page.";
	put(w.upper, "app/node_modules/esbuild/bin/esbuild", "x", 0755);
	put(w.upper, "app/packages/x/index.js", "x", 0644);
	put(w.upper, "app/src/tool", "x", 0755);
	put(w.upper, "app/releases/2/index.html", "x", 0644);
	put(w.upper, "app/libbar.so.1", "x", 0644);
	put(w.upper, "app/libfoo.so.1", "x", 0644);
	link_to(w.upper, "app/libfoo.so", "libfoo.so.1");
	for (i = 0; i < ARRAY_LEN(rows); i++)
		link_to(w.upper, rows[i].path, rows[i].target);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!is_link(w.to, rows[i].path)) {
			printf("# %s: %s\n", rows[i].path, w.said);
			check_failures++;
		}
	/* named by the tests: the same file, under both names */
	check_text(w.to, "app/libfoo.so", "x");
	world_close(&w);
}

static void who_speaks_of_links_does_not_always_ask_for_some(void)
{
	static const struct {
		const char *instruction;
		bool wishes;
	} rows[] = {
		{"Write answer.txt.", false},
		{"Make a symlink `latest` to the newest release.", true},
		{"`current` must be a symbolic link.", true},
		{"Run ln -s a b.", true},
		{"Create a link /app/latest to the newest.", true},
		{"Add a sym link", true},
		{"创建符号链接latest", true},
		{"If it does not exist, create a symlink.", true},
		{"Instead of a copy use a symlink.", true},
		{"Use a symlink (not a copy).", true},
		{"Do not forget to create the symlink.", true},
		{"The symlink must not be broken.", true},
		{"Do not copy. Symlinks are fine.", true},
		{"Do not use symlinks.", false},
		{"do not create any symbolic links", false},
		{"Don't use symlinks; don’t use soft links", false},
		{"DO NOT USE SYMLINKS", false},
		{"The answer must not be a symlink.", false},
		{"a plain file and no symlink", false},
		{"Copy without using symlinks.", false},
		{"Avoid symlinks", false},
		{"`ln -s` is not allowed", false},
		{"Symlinks must not be used. Symlinks are forbidden!", false},
		{"Symbolic links will not be followed.", false},
		{"Follow symbolic links, and ignore broken symlinks.", false},
		{"不要使用符号链接。", false},
		{"シンボリックリンクは使わないでください", false},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (carry_wishes_links(sv_of(rows[i].instruction)) != rows[i].wishes) {
			printf("# '%s'\n", rows[i].instruction);
			check_failures++;
		}
}

/* answer.txt, which the tests would write what they expect through; and links to folders. */
static void what_an_instruction_says_of_links_opens_no_way_to_what_tests_make(void)
{
	static const char *const rows[] = {"Write /app/answer.txt, and `folder`. Do not use symlinks.",
					   "Write /app/answer.txt, and `folder`. Symlinks are not allowed.",
					   "Write /app/answer.txt, and `folder`. It may be a symlink."};
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		world_open(&w);
		with_tests(&w, &files, v, "check.py",
			   "run(['/tests/ref.py', '--out', 'expected.json'], cwd='/app')\n"
			   "run(['/tests/ref.py', '--all', 'reference'], cwd='/app')\n");
		w.req.instruction = rows[i];
		put(w.upper, "app/expected.json", "x", 0644);
		link_to(w.upper, "app/answer.txt", "expected.json");
		put(w.upper, "app/reference/a", "x", 0644);
		link_to(w.upper, "app/folder", "reference");
		carry(&w);
		CHECK(said(&w, "link-copied", "app/answer.txt") && !is_link(w.to, "app/answer.txt"));
		if (i < 2)
			dropped(&w, "link-tests", "app/folder");
		world_close(&w);
	}
	/* what the image has may be led to */
	world_open(&w);
	with_tests(&w, &files, v, "check.py", "assert readlink('/app/latest') == 'main.py'");
	w.req.instruction = "Make a symlink `latest` to the newest program.";
	link_to(w.upper, "app/latest", "main.py");
	carry(&w);
	CHECK(is_link(w.to, "app/latest"));
	world_close(&w);
}

static void what_stands_where_tests_write_is_not_carried(void)
{
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;

	world_open(&w);
	with_tests(&w, &files, v, "check.py",
		   "cd /app\ncp /tests/check.py run.py\ncp /tests/one.txt /tests/two.txt data/\nS=/app/score\ntest -x "
		   "&& echo 1 >\"$S\"\npython3 app.py >/app/out.txt\nmkdir -p /app/made\ncp -r /tests /app/tests\ncp "
		   "/tests/helper.sh /app/lib\ncp /app/set.json /tmp/kept\necho {} >/app/set.json\n[ -e log ] || echo "
		   "none >log\n# /app/note, for later\necho 1 >/app/note\n");
	w.req.instruction = "app.py writes its results to /app/out.txt. Have lib ready, and a good score.";
	put(w.upper, "app/score", "1", 0644);
	put(w.upper, "app/run.py/__main__.py", "evil", 0644);
	put(w.upper, "app/sub/check.py/__main__.py", "evil", 0644);
	put(w.upper, "app/run/__main__.py", "evil", 0644);
	put(w.upper, "app/run.abi3.so", "evil", 0644);
	put(w.upper, "app/tests/check.py", "evil", 0644);
	put(w.upper, "app/made", "a file", 0644);
	put(w.upper, "app/set.json", "{1}", 0644);
	put(w.upper, "app/log", "1", 0644);
	put(w.upper, "app/note", "1", 0644);
	put(w.upper, "app/data/x", "x", 0644);
	put(w.upper, "app/data/two.txt/x", "x", 0644);
	put(w.upper, "app/lib/x", "x", 0644);
	put(w.upper, "app/out.txt", "x", 0644);
	put(w.upper, "app/app.py", "x", 0644);
	put(w.upper, "app/sub/score", "x", 0644);
	carry(&w);
	dropped(&w, "written", "app/score");
	dropped(&w, "written", "app/run.py");
	dropped(&w, "written", "app/run");
	dropped(&w, "written", "app/run.abi3.so");
	dropped(&w, "written", "app/sub/check.py");
	dropped(&w, "written", "app/tests");
	dropped(&w, "written", "app/made");
	dropped(&w, "written", "app/data/two.txt");
	dropped(&w, "written", "app/note");
	/* what they speak of before */
	carried(&w, "app/set.json");
	carried(&w, "app/log");
	carried(&w, "app/data/x");
	carried(&w, "app/lib/x");
	carried(&w, "app/out.txt");
	carried(&w, "app/app.py");
	carried(&w, "app/sub/score");
	world_close(&w);
}

static void what_tests_reach_by_a_variable_before_they_write_it_is_carried(void)
{
	static const struct {
		const char *name, *text;
		bool comes;
	} rows[] = {
		{"test.py",
		 "CONFIG = \"/app/set.json\"\nold = json.load(open(CONFIG))\nwith open(CONFIG, \"w\") as f:\n", true},
		{"test.py", "CONFIG = Path('/app/set.json')\nold = CONFIG.read_text()\nCONFIG.write_text('x')\n", true},
		{"test.py", "CONFIG = '/app/set.json'\nold = load(path=CONFIG)\nopen(CONFIG, 'w')\n", true},
		{"test.py", "CONFIG = '/app/set.json'\nopen(CONFIG, 'w')\nopen(CONFIG)\n", false},
		{"test.py", "CONFIG = '/app/set.json'\n# reads CONFIG\nMY_CONFIG = CONFIG2\nopen(CONFIG, 'w')\n", false},
		{"test.py", "CONFIG = '/app/set.json'\nOTHER = CONFIG\nopen(CONFIG, 'w')\n", false},
		{"test.py", "C = '/in'\nopen(C)\nC = '/app/set.json'\nopen(C, 'w')\n", false},
		{"test.sh", "OUT=/app/set.json; jq . \"$OUT\"; echo >\"$OUT\"\n", true},
		{"test.sh", "OUT=/app/set.json\ncat ${OUT}\necho >$OUT\n", true},
		{"test.sh", "OUT=/app/set.json; echo >\"$OUT\"; cat $OUT\n", false},
		{"test.sh", "OUT=/app/set.json\n# cat $OUT\necho OUT $OUTER\necho >$OUT\n", false},
		{"test.sh", "OUT=/app/set.json\nCOPY=\"$OUT\"\necho >$OUT\n", false},
	};
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		world_open(&w);
		with_tests(&w, &files, v, "check.txt", rows[i].text);
		v[0].name = rows[i].name;
		w.req.instruction = "Do as the README says.";
		put(w.upper, "app/set.json", "{}", 0644);
		carry(&w);
		if (there(w.to, "app/set.json") != rows[i].comes ||
		    said(&w, "written", "app/set.json") == rows[i].comes) {
			printf("# %s: %s\n", rows[i].text, w.said);
			check_failures++;
		}
		world_close(&w);
	}
}

static int list_write(void *arg, const struct carry_place_written *at)
{
	static const char kinds[] = "FCD";
	struct buf *out = arg;

	return buf_printf(out, "%s%c %.*s%s%.*s%s%.*s", out->n ? ", " : "", kinds[at->is], (int)at->path.n, at->path.p,
			  at->from.n ? " < " : "", (int)at->from.n, at->from.p, at->here.n ? " in " : "",
			  (int)at->here.n, at->here.p);
}

static void what_tests_write_is_told_from_what_they_read(void)
{
	static const struct {
		bool shell;
		const char *text, *want;
	} rows[] = {
		{true, "cat >/tmp/x <<E", "F /tmp/x"},
		{true, "cat > x 2>&1", "F x"},
		{true, "a 2>/dev/null|tee -a y z", "F /dev/null, F y, F z"},
		{true, "a &>>\"/x\"", "F /x"},
		{true, "a >|x", "F x"},
		{true, "cp -r a b c", "C c < a, C c < b"},
		{true, "cp a b >x", "F x, C b < a"},
		{true, "cd /a; cp \\\n  x y", "C y < x in /a"},
		{true, "cd /a && cd $B; >x", "F x in $B"},
		{true, "W=/a\nV=\"$W/b\"; cp x $V/c; cd ${W}; >${V}d", "C /a/b/c < x, F /a/bd in /a"},
		{true, "W=/a; W=$(pwd); >$W/x; >$U/x", "F $/x, F $U/x"},
		{true, "pip install -r a.txt pytest; install a b", "C b < a"},
		{true, "# cp a b\nmkdir -p a/b", "D a/b"},
		{true, "gcc a.c -o /work/a; curl -o b x", "F /work/a"},
		{true, "if [ 1 -gt 2 ]; then mv a b; fi", "C b < a"},
		{false, "if x > limit: y = a >= b", ""},
		{false, "open('/a').read(); open('/b', 'r'); open('/c', encoding='utf-8')", ""},
		{false, "with open(\"/a\", \"w\") as f:", "F /a"},
		{false, "open('/a', mode='wb')", "F /a"},
		{false, "with open('/a') as x: pass", ""},
		{false, "Path('/a').write_text('x'); Path('/b').open(); Path('/c').open('w')", "F /a, F /c"},
		{false, "Path('/a').mkdir(); os.makedirs('/b')", "D /a, D /b"},
		{false, "shutil.copy('/tests/a', '/b')", "C /b < /tests/a"},
		{false, "subprocess.run('echo 42 > /tmp/ref', shell=True)", "F /tmp/ref"},
		{false, "subprocess.run(['cp', '/tests/a', '/b'], check=True)", "C /b < /tests/a"},
		{false, "a = '</div>'; f() -> int", ""},
		{false,
		 "A = '/a'\nB = Path('/b')\nopen(A, 'w'); B.write_text('x'); B.read_text(); C.write_text(A); B.open()",
		 "F /a, F /b"},
		{false, "A = '/a'\nshutil.copy(B, A); shutil.copy('/x', A)", "C /a < /x"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_BUF out = {0};

		buf_init(&out, 4096);
		CHECK(carry_writes_in(sv_of(rows[i].text), rows[i].shell, list_write, &out) == 0);
		if (!sv_is(buf_view(&out), rows[i].want)) {
			printf("# %s: %.*s\n", rows[i].text, (int)out.n, out.p ? out.p : "");
			check_failures++;
		}
	}
}

static void without_an_instruction_nothing_is_the_tests_own(void)
{
	struct carry_test_files files;
	struct carry_test_file v[2];
	struct world w;

	world_open(&w);
	with_tests(&w, &files, v, "check.py", tests_text);
	put(w.upper, "tmp/x", "1", 0644);
	put(w.upper, "app/out.txt", "1", 0644);
	link_to(w.upper, "app/expected.txt", "out.txt");
	carry(&w);
	CHECK_STR(w.said, "");
	CHECK(is_link(w.to, "app/expected.txt"));
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(of_scratch_files_those_come_that_the_instruction_names),
		CASE(a_name_that_the_instruction_has_ends_where_its_prose_goes_on),
		CASE(a_place_for_scratch_files_stays_as_the_image_has_it),
		CASE(thousands_of_scratch_files_are_one_finding),
		CASE(a_link_that_leads_nowhere_is_no_answer),
		CASE(tests_do_not_write_to_the_work_through_a_link),
		CASE(copies_in_the_place_of_links_take_no_more_than_the_task_may_store),
		CASE(a_disk_that_such_copies_fill_is_no_error_of_the_infrastructure),
		CASE(links_of_programs_and_those_that_are_asked_for_stay),
		CASE(who_speaks_of_links_does_not_always_ask_for_some),
		CASE(what_an_instruction_says_of_links_opens_no_way_to_what_tests_make),
		CASE(what_stands_where_tests_write_is_not_carried),
		CASE(what_tests_reach_by_a_variable_before_they_write_it_is_carried),
		CASE(what_tests_write_is_told_from_what_they_read),
		CASE(without_an_instruction_nothing_is_the_tests_own),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
