/* task/carry_place, and the tables of carry_rules.h for test runners: what runs or is obeyed because of where it is,
 * though no test imports it by name. */
#include "carry_world.h"

static const char code[] = "import os\nos._exit(0)\n";

/* Tests of the task: one file of the folder /tests. */
static void with_tests(struct world *w, struct carry_test_files *files, struct carry_test_file *file, const char *name,
		       const char *text)
{
	*file = (struct carry_test_file){.next = files->first, .name = name, .text = sv_of(text)};
	files->first = file;
	w->req.tests = files;
}

static void code_in_a_package_file_is_dropped_where_tests_are(void)
{
	static const char *const bad[] = {"__init__.py",
					  "app/__init__.py",
					  "app/tests/__init__.py",
					  "app/tests/unit/__init__.py",
					  "app/test/__init__.py",
					  "app/testing/__init__.py",
					  "app/proj/tests/__init__.py",
					  "app/unit_tests/__init__.py",
					  "app/lib/__init__.py",
					  "app/over/__init__.py",
					  "app/over/deep/__init__.py",
					  "app/pkg/test/__init__.py",
					  "srv/tests/__init__.py",
					  "app/tests/__init__.abi3.so"};
	static const char *const good[] = {"app/mypkg/__init__.py",          "app/mypkg/sub/__init__.py",
					   "app/src/mypkg/__init__.py",      "app/django/test/__init__.py",
					   "app/django/testing/__init__.py", "srv/work/__init__.py",
					   "app/worked/__init__.py",         "app/mypkg/__init__.abi3.so"};
	struct world w;
	size_t i;

	world_open(&w);
	put(w.image, "app/lib/test_core.py", "", 0644);
	put(w.image, "app/over/deep/checks/core_test.py", "", 0644);
	put(w.image, "app/django/__init__.py", "", 0644);
	put(w.image, "app/django/test/client.py", "", 0644);
	put(w.image, "app/worked/__init__.py", "from .core import run\n", 0644);
	put(w.image, "app/worked/test_core.py", "", 0644);
	put(w.image, "app/tests/__init__.py", "# the image's\n", 0644);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		put(w.upper, bad[i], code, 0644);
	for (i = 0; i < ARRAY_LEN(good); i++)
		put(w.upper, good[i], code, 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "autorun", bad[i]);
	for (i = 0; i < ARRAY_LEN(good); i++)
		carried(&w, good[i]);
	world_close(&w);
}

static void a_blank_package_file_is_carried_and_so_is_its_deletion(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "app/test/__init__.py", "x = 1\n", 0644);
	put(w.upper, "app/__init__.py", "", 0644);
	put(w.upper, "app/tests/__init__.py", "# Tests.\n\"\"\"Of 'all'\n\\\"\"\" things.\"\"\"  # so\n", 0644);
	delete(w.upper, "app/test/__init__.py");
	carry(&w);
	CHECK_STR(w.said, "");
	carried(&w, "app/__init__.py");
	carried(&w, "app/tests/__init__.py");
	carried(&w, "app/test/__init__.py");
	world_close(&w);
	/* a task that wants conftest.py files of the agent's has code of the agent's in pytest anyway */
	world_open(&w);
	w.req.keep_conftests = true;
	put(w.upper, "app/__init__.py", code, 0644);
	carry(&w);
	carried(&w, "app/__init__.py");
	world_close(&w);
}

static void no_text_with_code_looks_blank(void)
{
	static const char *const blank[] = {"",          "\n\n", "# x",        "# x\r\n'''a'''\n", "''",
					    "'a' # b\n", "\"\"", "\"it's\"\n", "\t\n \n",          "'a\\'b'\n"};
	static const char *const coded[] = {"x",
					    "# a\rimport os",
					    "'a' 'b'",
					    "'a'.x",
					    "'a';x",
					    "f'{x}'",
					    "'''a'''x",
					    "'a\nb'",
					    "\"\"\"a",
					    "# coding: utf-7\n#+AAo-import os\n",
					    "\n# vim: fileencoding=utf_7\n",
					    "'a'\\\n+x",
					    "\f x",
					    "''''''x",
					    "'a\\\\'x'\n",
					    "\xef\xbb\xbf# x\n",
					    "@x",
					    "(x)"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(blank); i++)
		CHECK(carry_python_blank(sv_of(blank[i])));
	for (i = 0; i < ARRAY_LEN(coded); i++)
		CHECK(!carry_python_blank(sv_of(coded[i])));
	CHECK(!carry_python_blank(sv_n("#\0\nx", 4)));
}

static void where_tests_copy_themselves_to_they_are(void)
{
	static const char script[] = "mkdir -p /app/one\ncp /tests/test_x.py /app/one/\ncp -r \"/tests/.\" "
				     "'/app/two'\ncat >/app/three/deep/test_y.py <<END\ncd /app/four && cp "
				     "/tests/test_x.py . && cp /tests/test_x.py sub/\ncp /tests/data.csv /app/data/x\n"
				     "pytest -q /app/seven/test_x.py::test_a /app/eight/test_mine.py "
				     "/tests/test_x.py\ncp /tests/test_x.py /app/nine\n";
	static const char *const bad[] = {"app/one/__init__.py",   "app/two/__init__.py",  "app/three/deep/__init__.py",
					  "app/three/__init__.py", "app/four/__init__.py", "app/four/sub/__init__.py",
					  "app/seven/__init__.py"};
	struct carry_test_files files = {0};
	struct carry_test_file a, b, c;
	struct world w;
	size_t i;

	world_open(&w);
	with_tests(&w, &files, &a, "test.sh", script);
	with_tests(&w, &files, &c, "helper.py", "");
	with_tests(&w, &files, &b, "test_x.py", "import mypkg.core, json\nfrom five import six\n");
	for (i = 0; i < ARRAY_LEN(bad); i++)
		put(w.upper, bad[i], code, 0644);
	put(w.upper, "app/data/__init__.py", "x = 1\n", 0644);
	put(w.upper, "app/one/json.py", code, 0644);
	put(w.upper, "app/eight/__init__.py", code, 0644);
	put(w.upper, "app/two/helper/__init__.py", code, 0644);
	put(w.upper, "app/helper/__init__.py", code, 0644);
	put(w.upper, "app/eight/helper/__init__.py", code, 0644);
	link_to(w.upper, "app/nine", "mypkg");
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "autorun", bad[i]);
	carried(&w, "app/data/__init__.py");
	carried(&w, "app/eight/__init__.py");
	carried(&w, "app/eight/helper/__init__.py");
	dropped(&w, "module", "app/one/json.py");
	dropped(&w, "module", "app/two/helper");
	dropped(&w, "module", "app/helper");
	dropped(&w, "link", "app/nine");
	world_close(&w);
}

static void a_package_that_the_tests_import_is_the_work_wherever_it_is(void)
{
	struct carry_test_files files = {0};
	struct carry_test_file a, b;
	struct world w;

	world_open(&w);
	put(w.image, "app/six/test_old.py", "", 0644);
	with_tests(
		&w, &files, &a, "test.sh",
		"cp /tests/test_x.py /app/mypkg/\ncp /tests/test_x.py /app/five/\ncp /tests/test_x.py /app/seven/\n");
	with_tests(&w, &files, &b, "test_x.py",
		   "import mypkg.core, json\nfrom top.five import x\nrun('/app/seven/main.py', 'seven.py', "
		   "'my_seven')\nwith patch('six.core'): pass\n");
	put(w.upper, "app/mypkg/__init__.py", code, 0644);
	put(w.upper, "app/five/__init__.py", code, 0644);
	put(w.upper, "app/six/__init__.py", code, 0644);
	put(w.upper, "app/seven/__init__.py", code, 0644);
	carry(&w);
	carried(&w, "app/mypkg/__init__.py");
	carried(&w, "app/five/__init__.py");
	carried(&w, "app/six/__init__.py");
	dropped(&w, "autorun", "app/seven/__init__.py");
	world_close(&w);
}

static void nothing_takes_the_place_of_a_test_file(void)
{
	struct carry_test_files files = {0};
	struct carry_test_file a, b, c;
	struct world w;

	world_open(&w);
	put(w.image, "app/sub/core_test/notes.txt", "", 0644);
	with_tests(&w, &files, &a, "test_x.py", "");
	with_tests(&w, &files, &b, "core_test.py", "");
	with_tests(&w, &files, &c, "helper.py", "");
	put(w.upper, "app/test_x/__init__.py", "", 0644);
	put(w.upper, "app/tests/test_x.abi3.so", "", 0644);
	put(w.upper, "app/sub/core_test/__init__.py", "", 0644);
	put(w.upper, "app/test_x.py", "is written over", 0644);
	put(w.upper, "app/helper/__init__.py", "", 0644);
	put(w.upper, "app/data/test_x/a.txt", "", 0644);
	put(w.upper, "app/mypkg/a.txt", "", 0644);
	link_to(w.upper, "app/tests2", "mypkg");
	carry(&w);
	dropped(&w, "module", "app/test_x");
	dropped(&w, "module", "app/tests/test_x.abi3.so");
	dropped(&w, "module", "app/sub/core_test/__init__.py");
	carried(&w, "app/test_x.py");
	carried(&w, "app/helper/__init__.py");
	carried(&w, "app/data/test_x/a.txt");
	carried(&w, "app/tests2");
	world_close(&w);
	world_open(&w);
	link_to(w.upper, "app/tests", "mypkg");
	put(w.upper, "app/core.py", "", 0644);
	link_to(w.upper, "app/mypkg/__init__.py", "/app/core.py");
	link_to(w.upper, "app/__init__.py", "/app/core.py");
	carry(&w);
	dropped(&w, "link", "app/tests");
	dropped(&w, "autorun", "app/__init__.py");
	carried(&w, "app/mypkg/__init__.py");
	world_close(&w);
}

static void settings_of_test_runners_are_the_images(void)
{
	static const char *const bad[] = {".mocharc.cjs",
					  ".mocharc.js",
					  ".mocharc.mjs",
					  ".mocharc.json",
					  ".mocharc.jsonc",
					  ".mocharc.yml",
					  ".mocharc.yaml",
					  "test/mocha.opts",
					  "jest.config.js",
					  "jest.config.mts",
					  "jest.config.json",
					  "jest-preset.js",
					  "src/setupTests.ts",
					  "vitest.config.ts",
					  "vitest.workspace.json",
					  "ava.config.mjs",
					  "karma.conf.js",
					  "playwright.config.ts",
					  "cypress.config.js",
					  "cypress/support/e2e.js",
					  ".nycrc",
					  ".nycrc.json",
					  "nyc.config.js",
					  ".c8rc.json",
					  ".taprc",
					  "wdio.conf.js",
					  "testem.js",
					  "testem.yml",
					  "spec/support/jasmine.json",
					  ".rspec",
					  ".rspec-local",
					  ".simplecov",
					  "phpunit.xml",
					  "phpunit.xml.dist",
					  "phpunit.dist.xml",
					  "tests/Pest.php",
					  ".busted",
					  "behave.ini",
					  ".behaverc",
					  "features/environment.py",
					  "unittest.cfg",
					  "nose2.cfg",
					  "CTestCustom.cmake",
					  "tests/testthat/setup-x.R",
					  "tests/testthat/helper.R",
					  "codecept.conf.js",
					  "codeception.yml",
					  ".bazelrc",
					  "tools/bazel",
					  ".mvn/jvm.config",
					  ".mvn/extensions.xml",
					  ".mvn/maven.config",
					  ".jvmopts",
					  ".sbtopts",
					  "Directory.Build.rsp",
					  ".pnp.cjs",
					  ".pnp.loader.mjs",
					  ".pnpmfile.cjs",
					  "bunfig.toml",
					  ".shellspec",
					  "sub/.mocharc.cjs",
					  "rstest.config.ts",
					  "rstest.config.mjs",
					  "tox.toml"};
	static const char *const good[] = {"package.json",
					   "Makefile",
					   "CMakeLists.txt",
					   "vite.config.js",
					   "babel.config.js",
					   ".babelrc",
					   ".swcrc",
					   "tsconfig.json",
					   "Directory.Build.props",
					   "Directory.Build.targets",
					   "build.gradle",
					   "testem.md",
					   "src/bazel",
					   "support/e2e.js",
					   "renv/activate.R",
					   "jest.setup.js",
					   "lib/Pest.php",
					   "src/environment.py",
					   "node_modules/right/.nycrc",
					   "node_modules/right/jest.config.js",
					   "deno.json",
					   "gradle.properties",
					   "foundry.toml",
					   "test/test_helper.exs"};
	static const char *const kept[] = {"app/renv2/renv/activate.R", "app/old/deno.json",
					   "app/old/deno.jsonc",        "app/old/gradle.properties",
					   "app/old/foundry.toml",      "app/old/test/test_helper.exs"};
	char path[128];
	struct world w;
	size_t i;

	world_open(&w);
	for (i = 0; i < ARRAY_LEN(kept); i++) {
		put(w.image, kept[i], "", 0644);
		put(w.upper, kept[i], "quit()", 0644);
	}
	put(w.image, "app/jest.config.cjs", "module.exports = {}\n", 0644);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(path, sizeof(path), "app/%s", bad[i]);
		put(w.upper, path, "process.exit(0)\n", 0644);
	}
	for (i = 0; i < ARRAY_LEN(good); i++) {
		snprintf(path, sizeof(path), "app/%s", good[i]);
		put(w.upper, path, "x\n", 0644);
	}
	delete(w.upper, "app/jest.config.cjs");
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(path, sizeof(path), "app/%s", bad[i]);
		dropped(&w, "autorun", path);
	}
	for (i = 0; i < ARRAY_LEN(good); i++) {
		snprintf(path, sizeof(path), "app/%s", good[i]);
		carried(&w, path);
	}
	for (i = 0; i < ARRAY_LEN(kept); i++)
		dropped(&w, "startup", kept[i]);
	dropped(&w, "autorun", "app/jest.config.cjs");
	world_close(&w);
}

/* Python looks for modules beside the program that it starts before it looks in its own. */
static void beside_a_program_of_the_image_s_nothing_takes_a_module_s_place(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "usr/share/judge/judge", "from jl.core import ok", 0755);
	put(w.image, "usr/share/judge/jl/core.py", "", 0644);
	put(w.image, "opt/judge/lib/m.py", "", 0644);
	put(w.upper, "usr/share/judge/jl/core/__init__.py", "evil", 0644);
	put(w.upper, "usr/share/judge/csv.py", "evil", 0644);
	put(w.upper, "usr/share/judge/json/__init__.py", "evil", 0644);
	put(w.upper, "opt/judge/lib/m/__init__.py", "evil", 0644);
	put(w.upper, "usr/share/judge/data/core.csv", "1", 0644);
	put(w.upper, "usr/share/judge/html/index.html", "x", 0644);
	put(w.upper, "usr/share/newer/app.py", "x", 0644);
	carry(&w);
	dropped(&w, "module", "usr/share/judge/jl/core");
	dropped(&w, "module", "usr/share/judge/csv.py");
	dropped(&w, "module", "usr/share/judge/json");
	dropped(&w, "module", "opt/judge/lib/m");
	carried(&w, "usr/share/judge/data/core.csv");
	carried(&w, "usr/share/judge/html/index.html");
	carried(&w, "usr/share/newer/app.py");
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(code_in_a_package_file_is_dropped_where_tests_are),
		CASE(a_blank_package_file_is_carried_and_so_is_its_deletion),
		CASE(no_text_with_code_looks_blank),
		CASE(where_tests_copy_themselves_to_they_are),
		CASE(a_package_that_the_tests_import_is_the_work_wherever_it_is),
		CASE(nothing_takes_the_place_of_a_test_file),
		CASE(settings_of_test_runners_are_the_images),
		CASE(beside_a_program_of_the_image_s_nothing_takes_a_module_s_place),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
