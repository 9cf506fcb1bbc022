/* task/carry: links are judged as the verifier sees them, and what a judge of its own has is its own. Each attack was
 * one that the agent's view of things hid. */
#include "carry_world.h"
#include "task/carry_view.h"
#include "task/volumes.h"

/* dropped, whatever the rule */
static void gone(const struct world *w, const char *path)
{
	if (!there(w->upper, path) || there(w->to, path)) {
		printf("# %s: %s\n# said: %s\n", path, there(w->upper, path) ? "carried" : "not in upper", w->said);
		check_failures++;
	}
}

static void a_link_by_way_of_one_that_is_not_carried_is_judged_by_what_is_there_then(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "app/a/b/x", "x", 0644);
	/* merged /bin: the image's comes back, and is two folders deep */
	link_to(w.upper, "bin", "/app/a/b");
	link_to(w.upper, "app/answer", "/bin/../../tests/expected");
	link_to(w.upper, "app/reward", "/bin/../../logs/verifier/reward.txt");
	link_to(w.upper, "app/by-name", "answer");
	link_to(w.upper, "app/fine", "/bin/../lib");
	carry(&w);
	dropped(&w, "replaces", "bin");
	dropped(&w, "link-runner", "app/answer");
	dropped(&w, "link-runner", "app/reward");
	carried(&w, "app/fine");
	CHECK(!there(w.to, "app/by-name") || said(&w, "link-runner", "app/answer"));
	world_close(&w);
}

/* A test that reads one does not end: its time runs out, and what should be no score is an error that is tried again.
 */
static void links_to_devices_that_never_end_are_not_carried(void)
{
	static const struct {
		const char *name, *target;
	} links[] = {
		{"app/zero", "/dev/zero"},
		{"app/full", "/dev/full"},
		{"app/random", "/dev/random"},
		{"app/urandom", "/dev/urandom"},
		{"app/tty", "/dev/tty"},
		{"app/stdout", "/dev/stdout"},
		{"app/stderr", "/dev/stderr"},
		{"app/detour", "../dev/../dev/zero"},
		{"app/d", "/dev"},
		{"app/by-folder", "d/zero"},
		{"app/by-link", "zero"},
		{"app/kernel", "/proc/kmsg"},
		{"app/trace", "../sys/kernel/tracing/trace_pipe"},
		{"data/far", "../app/by-link"},
	};
	struct world w;
	size_t i;

	world_open(&w);
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		link_to(w.upper, links[i].name, links[i].target);
	/* nothing that is written there can be read again: a test's own log, or its program */
	link_to(w.upper, "app/empty", "/dev/null");
	link_to(w.image, "app/image.log", "/dev/null");
	link_to(w.upper, "app/image.log", "/dev/null");
	link_to(w.image, "app/other.log", "/app/main.py");
	link_to(w.upper, "app/other.log", "/dev/null");
	carry(&w);
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		dropped(&w, "link-runner", links[i].name);
	dropped(&w, "link-runner", "app/empty");
	dropped(&w, "link-runner", "app/other.log");
	carried(&w, "app/image.log");
	world_close(&w);
}

static void chains_of_links_are_judged_again_until_none_leads_there(void)
{
	struct world w;
	char name[32], target[64];
	unsigned i;

	world_open(&w);
	/* each hides the image's folder of the same name, and by that lets the next one lead elsewhere */
	for (i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "app/k%u/keep", i);
		put(w.image, name, "", 0644);
		snprintf(name, sizeof(name), "app/k%u", i);
		snprintf(target, sizeof(target), i ? "k%u/../../tests" : "/bin/../../tests", i - 1);
		link_to(w.upper, name, target);
	}
	put(w.upper, "srv/d1/d2/d3/x", "", 0644);
	link_to(w.upper, "bin", "/srv/d1/d2/d3");
	carry(&w);
	for (i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "app/k%u", i);
		gone(&w, name);
	}
	world_close(&w);
}

static void a_link_in_a_folder_that_is_restored_or_missing_hides_nothing(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "app/deep/er/x", "", 0644);
	/* not carried, as whole folders or by the links' own names */
	link_to(w.upper, "app/sitecustomize", "/srv/a/b/c");
	link_to(w.upper, "app/one", "sitecustomize/../../tests/expected");
	link_to(w.upper, "app/__pycache__/l", "/srv/a/b/c");
	link_to(w.upper, "app/two", "__pycache__/l/../../../tests/expected");
	/* taken away by the agent, and there again */
	delete (w.upper, "usr/bin/grep");
	link_to(w.upper, "usr/lib/python3.11", "/srv/a/b/c/d");
	link_to(w.upper, "app/three", "/usr/lib/python3.11/../../../tests/expected");
	/* relative, through folders of the image and by way of each other */
	link_to(w.upper, "app/deep/er/up", "../../..");
	link_to(w.upper, "app/four", "deep/er/up/tests/expected");
	link_to(w.upper, "app/five", "deep/er/../../..//./tests");
	link_to(w.upper, "app/six", "seven");
	link_to(w.upper, "app/seven", "six");
	link_to(w.upper, "app/fine", "deep/er/x");
	carry(&w);
	gone(&w, "app/one");
	gone(&w, "app/two");
	gone(&w, "app/three");
	gone(&w, "app/four");
	gone(&w, "app/five");
	gone(&w, "app/six");
	gone(&w, "app/seven");
	gone(&w, "app/deep/er/up");
	carried(&w, "app/fine");
	world_close(&w);
}

static void a_link_to_the_root_is_none_to_a_folder_with_tests(void)
{
	struct world w;

	world_open(&w);
	link_to(w.upper, "app/project", "/");
	link_to(w.upper, "app/up", "..");
	link_to(w.upper, "app/usr", "/usr");
	carry(&w);
	dropped(&w, "link-runner", "app/project");
	dropped(&w, "link-runner", "app/up");
	carried(&w, "app/usr");
	world_close(&w);
}

static void deleted_and_opaque_folders_of_the_image_are_not_looked_into(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "app/gone/a/b/c/x", "", 0644);
	link_to(w.image, "app/gone/l", "a/b/c");
	link_to(w.image, "app/anew/l", "/app/gone/a/b");
	delete (w.upper, "app/gone");
	put(w.upper, "app/anew/x", "", 0644);
	opaque(w.upper, "app/anew");
	/* a verifier that makes the folder has it one deep, not three */
	link_to(w.upper, "app/one", "gone/l/../../../tests/x");
	link_to(w.upper, "app/two", "anew/l/../../../tests/x");
	carry(&w);
	dropped(&w, "link-runner", "app/one");
	dropped(&w, "link-runner", "app/two");
	world_close(&w);
}

static void several_names_of_one_link_are_each_judged(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "app/tests/expected", "", 0644);
	link_to(w.upper, "app/a/b/one", "../../tests/expected");
	CHECK(linkat(w.upper, "app/a/b/one", w.upper, "app/two", 0) == 0);
	carry(&w);
	carried(&w, "app/a/b/one");
	dropped(&w, "link-runner", "app/two");
	world_close(&w);
}

static void where_something_is_mounted_nothing_is_in_the_way_and_no_link_leads_back(void)
{
	static const char *const live[] = {"/new/json", "/srv/live", NULL}, *const mounts[] = {"/data/in", NULL};
	struct world w;

	world_open(&w);
	put(w.image, "srv/live/x", "", 0644);
	w.req.places = live;
	w.req.mounts = mounts;
	/* the mount would follow it, or fail */
	link_to(w.upper, "new", "/usr/lib/python3.11");
	put(w.upper, "data", "a file", 0644);
	put(w.upper, "srv/live/y", "", 0644);
	/* what is in there can be a link to anywhere by now */
	link_to(w.upper, "app/one", "/srv/live/result");
	link_to(w.upper, "app/two", "/srv/live/../../tests");
	link_to(w.upper, "app/three", "/data/in/self/../tests/expected");
	link_to(w.upper, "app/four", "/data/in/input.csv");
	link_to(w.upper, "app/five", "four/..//../tests");
	carry(&w);
	dropped(&w, "runner", "new");
	dropped(&w, "runner", "data");
	dropped(&w, "runner", "srv/live");
	dropped(&w, "link-runner", "app/one");
	dropped(&w, "link-runner", "app/two");
	dropped(&w, "link-runner", "app/three");
	dropped(&w, "link-runner", "app/five");
	carried(&w, "app/four");
	world_close(&w);
}

/* What a variable names, what that leads to, what holds it and what is in it: none of it is for others to write to
 * meanwhile. */
static void programs_load_nothing_from_a_volume_that_others_write_to(void)
{
	static const struct {
		const char *env, *path;
		bool loaded;
	} rows[] = {
		{"PYTHONPATH=/data", "/data/json", true},
		{"PYTHONPATH=/data", "/data", true},
		{"PYTHONPATH=/data/lib", "/data", true},
		{"PYTHONPATH=/datalake", "/data", false},
		{"PYTHONPATH=/x/data", "/data", false},
		{"PYTHONPATH=/a:/b:/data/", "/data/json", true},
		{"PYTHONPATH=/a::/data//./lib", "/data", true},
		{"PYTHONPATH=/b/../data", "/data/json", true},
		{"PYTHONPATH=../data", "/data/json", true},
		{"PYTHONPATH=.", "/app/json", true},
		{"PYTHONPATH=/lead", "/data/json", true},
		{"PYTHONPATH=/lead/py", "/data", true},
		{"PYTHONPATH=/lead/py", "/data/json", false},
		{"PYTHONPATH=/", "/data", true},
		{"PYTHONPATH=", "/data", false},
		{"PYTHONPATH=lib", "/app/lib/x", true},
		{"HOME=/srv", "/srv/.local", true},
		{"HOME=/srv/me", "/srv", true},
		{"HOME=/srv", "/srv2", false},
		{"HOME=/", "/data", false},
		{"HOME=/", "/.local", true},
		{"HOME=//", "/.config/x", true},
		{"LD_PRELOAD=/usr/lib/a.so /data/b.so", "/data", true},
		{"LD_LIBRARY_PATH=/a;/data", "/data/x", true},
		{"NODE_OPTIONS=--max-old-space-size=512 --require=/data/x.js", "/data", true},
		{"PERL5OPT=-I/data -w", "/data/lib", true},
		{"PYTEST_ADDOPTS=-c /data/p.ini", "/data", true},
		{"NODE_OPTIONS=--max-old-space-size=512", "/data", false},
		{"LUA_PATH=/data/?.lua;;", "/data/json", true},
		{"DATA=/data", "/data", false},
		{"MYPATH=/data", "/data", false},
		{"PATH=/usr/bin:/bin", "/data", false},
		{"XDG_CONFIG_HOME=/data/c", "/data", true},
	};
	struct layered image;
	struct world w;
	size_t i;

	world_open(&w);
	link_to(w.image, "lead", "/srv/lead");
	link_to(w.image, "srv/lead", "../data");
	CHECK(layered_open(&image, w.layers) == 0);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const char *env[] = {"LANG=C", rows[i].env, NULL};

		if (volumes_loaded(&image, env, "/app", rows[i].path) != rows[i].loaded) {
			printf("# %s %s\n", rows[i].env, rows[i].path);
			check_failures++;
		}
	}
	layered_done(&image);
	world_close(&w);
}

/* The judge's image is that of the world; the agent had another one, which is below. */
static void what_a_judge_has_of_its_own_is_not_replaced(void)
{
	const char *had[2] = {0};
	char path[96];
	struct world w;
	struct stat st;
	int other;

	world_open(&w);
	other = folder(&w, "other");
	snprintf(path, sizeof(path), "%s/other", w.base);
	had[0] = path;
	CHECK(fchmodat(w.image, "tmp", 01777, 0) == 0);
	w.req.had = had;
	w.req.start = "/judge";
	w.req.wanted = "/logs/artifacts";
	/* alike in both: the agent's work */
	put(other, "app/main.py", "print(1)\n", 0644);
	put(w.upper, "app/main.py", "print(2)\n", 0644);
	put(other, "app/run.sh", "#!/bin/sh\n", 0755);
	put(w.upper, "app/run.sh", "#!/bin/sh\nexit 0\n", 0644);
	/* only the judge's, or other bytes, or another text, or no file */
	put(w.image, "app/checker", "#!/bin/sh\n", 0755);
	put(w.upper, "app/checker", "evil", 0644);
	put(w.image, "app/expected", "42", 0644);
	put(other, "app/expected", "41", 0644);
	put(w.upper, "app/expected", "0", 0644);
	link_to(w.image, "app/link", "expected");
	link_to(other, "app/link", "answers");
	put(w.upper, "app/link", "0", 0644);
	put(w.image, "app/data/x", "x", 0644);
	put(other, "app/data", "x", 0644);
	put(w.upper, "app/data", "0", 0644);
	/* what is new, where nothing runs by its name */
	put(w.upper, "app/answer", "42", 0644);
	put(w.upper, "judge/answer", "42", 0644);
	put(w.upper, "judge/pytest.py", "x", 0644);
	put(w.upper, "judge/json.py", "x", 0644);
	put(w.upper, "app/sub/conftest.py", "x", 0644);
	put(w.upper, "app/pytest.py", "x", 0644);
	put(w.upper, "tmp/out", "x", 0644);
	put(w.upper, "logs/artifacts/a", "x", 0644);
	put(w.upper, "logs/artifacts/conftest.py", "x", 0644);
	put(w.upper, "logs/verifier/reward.txt", "1", 0644);
	put(w.upper, "logs/artifacts2", "1", 0644);
	put(w.upper, "tests/test.sh", "1", 0644);
	carry(&w);
	check_text(w.to, "app/main.py", "print(2)\n");
	check_text(w.to, "app/run.sh", "#!/bin/sh\nexit 0\n");
	dropped(&w, "replaces", "app/checker");
	dropped(&w, "replaces", "app/expected");
	dropped(&w, "replaces", "app/link");
	dropped(&w, "replaces", "app/data");
	carried(&w, "app/answer");
	carried(&w, "judge/answer");
	dropped(&w, "module", "judge/pytest.py");
	dropped(&w, "module", "judge/json.py");
	dropped(&w, "autorun", "app/sub/conftest.py");
	dropped(&w, "module", "app/pytest.py");
	CHECK(fstatat(w.to, "tmp", &st, 0) == 0 && (st.st_mode & 07777) == 01777); /* as the judge's image has it */
	carried(&w, "logs/artifacts/a");
	dropped(&w, "autorun", "logs/artifacts/conftest.py");
	dropped(&w, "runner", "logs/verifier");
	dropped(&w, "runner", "logs/artifacts2");
	dropped(&w, "runner", "tests");
	close(other);
	world_close(&w);
}

/* A chain of links, as long as any may be, each of whose texts is as long as any may be: following it takes a million
 * steps. */
static void links_that_take_too_many_steps_are_not_carried(void)
{
	enum { HOPS = 38, LINKS = 120, TURNS = 800 };
	char text[PATH_MAX], name[64];
	unsigned i, kept = 0;
	size_t n = 0;
	struct world w;

	world_open(&w);
	put(w.upper, "app/a/c38", "end", 0644);
	for (i = 0; i < TURNS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "../a/");
	for (i = 0; i < HOPS; i++) {
		(void)snprintf(text + n, sizeof(text) - n, "c%u", i + 1);
		(void)snprintf(name, sizeof(name), "app/a/c%u", i);
		link_to(w.upper, name, text);
	}
	for (i = 0; i < LINKS; i++) {
		(void)snprintf(name, sizeof(name), "app/a/l%u", i);
		link_to(w.upper, name, "c0");
	}
	carry(&w);
	for (i = 0; i < LINKS; i++) {
		(void)snprintf(name, sizeof(name), "app/a/l%u", i);
		kept += there(w.to, name);
	}
	CHECK(kept < LINKS / 2);
	carried(&w, "app/a/c38");
	world_close(&w);
}

static void thousands_of_links_as_package_managers_make_them_are_carried(void)
{
	enum { LINKS = 3000 };
	char name[96], text[96];
	struct world w;
	unsigned i;

	world_open(&w);
	for (i = 0; i < LINKS; i++) {
		(void)snprintf(name, sizeof(name), "app/vendor/.store/p%u@1/pack/p%u/index", i, i);
		put(w.upper, name, "1", 0644);
		(void)snprintf(name, sizeof(name), "app/vendor/p%u", i);
		(void)snprintf(text, sizeof(text), ".store/p%u@1/pack/p%u", i, i);
		link_to(w.upper, name, text);
		(void)snprintf(name, sizeof(name), "app/vendor/.store/p%u@1/pack/next", i);
		(void)snprintf(text, sizeof(text), "../../p%u@1/pack/p%u", (i + 1) % LINKS, (i + 1) % LINKS);
		link_to(w.upper, name, text);
	}
	carry(&w);
	for (i = 0; i < LINKS; i++) {
		(void)snprintf(name, sizeof(name), "app/vendor/p%u", i);
		carried(&w, name);
		(void)snprintf(name, sizeof(name), "app/vendor/.store/p%u@1/pack/next", i);
		carried(&w, name);
	}
	CHECK_STR(w.said, "");
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_link_by_way_of_one_that_is_not_carried_is_judged_by_what_is_there_then),
		CASE(links_to_devices_that_never_end_are_not_carried),
		CASE(chains_of_links_are_judged_again_until_none_leads_there),
		CASE(a_link_in_a_folder_that_is_restored_or_missing_hides_nothing),
		CASE(a_link_to_the_root_is_none_to_a_folder_with_tests),
		CASE(deleted_and_opaque_folders_of_the_image_are_not_looked_into),
		CASE(several_names_of_one_link_are_each_judged),
		CASE(where_something_is_mounted_nothing_is_in_the_way_and_no_link_leads_back),
		CASE(programs_load_nothing_from_a_volume_that_others_write_to),
		CASE(what_a_judge_has_of_its_own_is_not_replaced),
		CASE(links_that_take_too_many_steps_are_not_carried),
		CASE(thousands_of_links_as_package_managers_make_them_are_carried),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
