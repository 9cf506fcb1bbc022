/* task/carry, by who asks for what the image lacks: the tests, the task's solution, or programs of the image that would
 * run it unasked. */
#include "carry_world.h"
#include "task/carry_asked.h"

/* The tests' and the solution's files, one of each. */
struct texts {
	struct carry_test_file file[2];
	struct carry_test_files tests, solution;
};

static void say(struct world *w, struct texts *t, const char *tests, const char *solution)
{
	*t = (struct texts){
		.file = {{.name = "test.sh", .text = sv_of(tests)}, {.name = "solve.sh", .text = sv_of(solution)}}};
	t->tests.first = &t->file[0];
	t->solution.first = &t->file[1];
	w->req.tests = &t->tests;
	w->req.solution = &t->solution;
}

/* pip runs lsb_release and rustc wherever there is one; so may whatever a package's installation does. */
static void only_commands_that_the_task_names_are_carried(void)
{
	static const char *const named[] = {
		"usr/local/bin/greet", "usr/bin/run-it", "usr/bin/convert", "root/.local/bin/in-python",
		"usr/sbin/served",     "usr/bin/cat2",   "usr/bin/quoted",  "app/tools/x.y"};
	static const char *const unnamed[] = {"usr/local/bin/lsb_release",
					      "usr/local/bin/rustc",
					      "usr/bin/greets",
					      "usr/bin/gree",
					      "root/.local/bin/other",
					      "usr/local/sbin/commented",
					      "usr/bin/variable",
					      "usr/bin/given",
					      "usr/bin/braces",
					      "app/tools/y",
					      "usr/bin/a b"};
	struct texts t;
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = (const char *const[]){"PATH=/app/tools:/usr/local/bin:/usr/bin:/bin", NULL};
	say(&w, &t,
	    "#!/bin/sh\n# commented\npip install -q requests\nif [ \"$(greet)\" = 1 ]; then /usr/bin/run-it $variable; "
	    "fi\ngiven=1 cat2 <x.y >${braces}\nsubprocess.run(['in-python', x == 1])\n",
	    "apt-get install -y imagemagick\nsystem(\"served;quoted\")\n");
	for (i = 0; i < ARRAY_LEN(named); i++)
		put(w.upper, named[i], "x", 0755);
	for (i = 0; i < ARRAY_LEN(unnamed); i++)
		put(w.upper, unnamed[i], "evil", 0755);
	put(w.upper, "app/node_modules/.bin/tsc", "x", 0755);
	put(w.upper, "app/bin/mine", "x", 0755);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(named); i++)
		carried(&w, named[i]);
	for (i = 0; i < ARRAY_LEN(unnamed); i++)
		dropped(&w, "unnamed", unnamed[i]);
	carried(&w, "app/node_modules/.bin/tsc");
	carried(&w, "app/bin/mine");
	world_close(&w);
	/* what a command that they name is known to run */
	world_open(&w);
	say(&w, &t, "cargo test\n", "");
	put(w.upper, "usr/bin/cargo", "x", 0755);
	put(w.upper, "usr/bin/rustc", "x", 0755);
	carry(&w);
	carried(&w, "usr/bin/cargo");
	carried(&w, "usr/bin/rustc");
	world_close(&w);
}

/* Large tests: scripts are read before data, names of all files are known, and what is not read is said. */
static void tests_that_are_too_large_are_told_of(void)
{
	enum { FILES = 24, EACH = 200 << 10 };
	struct carry_test_files files = {0};
	struct arena *a = arena_new();
	char *text = malloc(EACH + 1), path[64];
	struct world w;
	unsigned i, round;

	for (round = 0; round < 2; round++) {
		world_open(&w);
		memset(text, 'x', EACH);
		text[EACH] = '\0';
		for (i = 0; i < FILES; i++) {
			snprintf(path, sizeof(path), "tests/a%u.%s", i, round ? "py" : "csv");
			put(w.second, path, text, 0644);
		}
		put(w.second, "tests/zz/test.sh", "greet\n", 0755);
		put(w.second, "tests/zz/test_own.py", "pass\n", 0644);
		{
			AUTO_FD folder = openat(w.second, "tests", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

			files = (struct carry_test_files){0};
			CHECK(carry_tests_read(&files, a, folder) == 0);
		}
		CHECK(files.cut == (round == 1) && carry_tests_have(&files, sv_of("test_own"), false));
		w.req.tests = &files;
		put(w.upper, "usr/bin/greet", "x", 0755);
		put(w.upper, "usr/bin/other", "x", 0755);
		carry(&w);
		CHECK(said(&w, "tests-unread", "tests") == (round == 1));
		if (round == 0)
			carried(&w, "usr/bin/greet");
		dropped(&w, "unnamed", "usr/bin/other");
		world_close(&w);
	}
	free(text);
	arena_free(a);
}

struct list {
	char text[1024];
	size_t n;
};

static void add(void *arg, struct sv name)
{
	struct list *l = arg;

	l->n += (size_t)snprintf(l->text + l->n, sizeof(l->text) - l->n, "%s%.*s", l->n ? " " : "", (int)name.n,
				 name.p);
}

static void what_a_text_of_python_imports_is_found(void)
{
	static const struct {
		const char *text, *asks;
	} cases[] = {
		{"import a\nimport b.c.d as e, f\nfrom g import (\n  h,\n  i)\nfrom .j import k\nfrom . import l\n",
		 "a b.c f g"},
		{"try:\n    import simplejson as json\nexcept ImportError:\n    import json\n", "simplejson json"},
		{"try: import a\nexcept: b = 1; import c\n", "a c"},
		{"def f():\n    import a\n    try:\n        import b\n    except ImportError:\n        import c\n    "
		 "import d\nimport e\n",
		 "b e"},
		{"class A:\n    import a\n    def f(\n        self,\n    ):\n        import b\n", "a"},
		{"async def f():\n\timport a\n\twith contextlib.suppress(ImportError):\n\t\timport b\n", "b"},
		{"try:\n    def f():\n        import a\n    import b\nfinally:\n    pass\n", "b"},
		{"if TYPE_CHECKING:\n    from a import b\nelse:\n    from c import d\nif not TYPE_CHECKING:\n    "
		 "import e\nif typing.TYPE_CHECKING:\n    import f\n",
		 "c e"},
		{"\"\"\"text\nimport a\n\"\"\"\nimport b # import c\ns = 'import d'\nx = \"\"\"import e\"\"\"; import "
		 "f\n",
		 "b f"},
		{"m = importlib.import_module(\"a.b\")\nn = __import__('c')\nbn = import_optional_dependency(\"d\", "
		 "errors=\"warn\")\nif find_spec('e'): pass\nprint(\"f\")\n",
		 "a.b c d e"},
		{"def f():\n    import_optional_dependency(\"a\")\n    try:\n        return import_module('b')\n    "
		 "except ImportError: pass\n",
		 "b"},
		{"import", ""},
		{"from", ""},
		{"try:\n\timport \xc3\xa9\n", "\xc3\xa9"},
		{"x = '\\'import a'\nimport b", "b"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct list l = {0};

		carry_asks_python(sv_of(cases[i].text), add, &l);
		CHECK_STR(l.text, cases[i].asks);
	}
}

static void what_a_text_of_node_tries_is_found(void)
{
	static const struct {
		const char *text, *asks;
	} cases[] = {
		{"const a = require('a')\ntry {\n\tconst b = require('bufferutil/x');\n} catch (e) {}\nrequire('c')\n",
		 "bufferutil"},
		{"try{n=require(\"@a/b/c\")}catch(e){n=require('d')}", "@a/b"},
		{"if (!x) {\n  try {\n    // y\n    if (z) { w = {} }\n    require( 'a' );\n  } catch {}\n}", "a"},
		{"try { f(() => { require('a') }) } catch {}\nfunction g() { require('b') }\nretry { require('c') }",
		 "a"},
		{"await import('a'); import b from 'b'; try { require('./c'); require(d); require('/e') } catch {}",
		 "a"},
		{"try { prerequire('a'); require('b", ""},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct list l = {0};

		carry_asks_node(sv_of(cases[i].text), add, &l);
		CHECK_STR(l.text, cases[i].asks);
	}
}

#define SITE "usr/local/lib/python3.11/dist-packages/"

static void packages_that_the_images_own_ask_for_are_not_carried(void)
{
	static const char *const bad[] = {SITE "simplejson.py",
					  SITE "html5lib",
					  SITE "chardet.abi3.so",
					  SITE "simplejson-3.0.dist-info",
					  SITE "cloud",
					  "root/.local/lib/python3.11/site-packages/simplejson",
					  "app/simplejson.py",
					  "app/html5lib",
					  "app/node_modules/bufferutil",
					  "app/node_modules/@opt/fast"};
	static const char *const good[] = {SITE "numpy/__init__.py",
					   SITE "typed.py",
					   SITE "lazy/__init__.py",
					   SITE "tested.py",
					   SITE "cryptography/__init__.py",
					   SITE "google/protobuf/__init__.py",
					   SITE "redis/__init__.py",
					   SITE "spoken.py",
					   SITE "solved/__init__.py",
					   SITE "bs4/__init__.py",
					   SITE "listed.py",
					   "app/helper.py",
					   "app/server.py",
					   "app/spoken.py",
					   "app/worded.py",
					   "app/node_modules/lodash/index.js",
					   "app/node_modules/@opt/other/index.js",
					   "app/node_modules/wanted/index.js",
					   "app/sub/simplejson.py"};
	struct texts t;
	struct world w;
	size_t i;

	world_open(&w);
	say(&w, &t, "import spoken\nassert worded == 1\nrequire('wanted')\n", "pip install Solved beautifulsoup4\n");
	put(w.second, SITE "requests/compat.py",
	    "try:\n    import simplejson as json\nexcept ImportError:\n    import json\nfrom cryptography import "
	    "x\nimport server\nimport worded\n",
	    0644);
	put(w.second, SITE "requests/models.py",
	    "if TYPE_CHECKING:\n    import typed\ndef f():\n    import lazy\ntry:\n    import spoken, solved, bs4, "
	    "listed\n    from google.appengine.api import x\n    from cloud.api import y\nexcept ImportError: pass\n",
	    0644);
	put(w.second, SITE "requests/tests/test_x.py", "import tested\n", 0644);
	put(w.image, "usr/lib/python3/dist-packages/yaml/deep/down.py",
	    "import html5lib\nx = import_module('chardet')\n", 0644);
	put(w.image, "usr/lib/python3/dist-packages/pip/x.py", "import redis\n", 0644);
	put(w.image, "app/requirements.txt", "listed>=1\n", 0644);
	put(w.second, "app/node_modules/left/index.js",
	    "try { require('bufferutil'); require('wanted'); require('@opt/fast') } catch {}\n", 0644);
	put(w.upper, SITE "html5lib/__init__.py", "evil", 0644);
	put(w.upper, SITE "simplejson-3.0.dist-info/METADATA", "x", 0644);
	put(w.upper, SITE "cloud/__init__.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/simplejson/__init__.py", "evil", 0644);
	put(w.upper, "app/html5lib/__init__.py", "evil", 0644);
	put(w.upper, "app/node_modules/bufferutil/index.js", "evil", 0644);
	put(w.upper, "app/node_modules/@opt/fast/index.js", "evil", 0644);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (!there(w.upper, bad[i]))
			put(w.upper, bad[i], "evil", 0644);
	for (i = 0; i < ARRAY_LEN(good); i++)
		put(w.upper, good[i], "x", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "asked", bad[i]);
	for (i = 0; i < ARRAY_LEN(good); i++)
		carried(&w, good[i]);
	world_close(&w);
	/* what test tools and installers ask for */
	world_open(&w);
	say(&w, &t, "pip install x\n", "");
	put(w.upper, SITE "attr/__init__.py", "evil", 0644);
	put(w.upper, SITE "socks.py", "evil", 0644);
	carry(&w);
	dropped(&w, "asked", SITE "attr");
	dropped(&w, "asked", SITE "socks.py");
	world_close(&w);
	world_open(&w);
	say(&w, &t, "import aiohttp\n", "pip install PySocks\n");
	put(w.upper, SITE "attr/__init__.py", "x", 0644);
	put(w.upper, SITE "socks.py", "x", 0644);
	carry(&w);
	carried(&w, SITE "attr/__init__.py");
	carried(&w, SITE "socks.py");
	world_close(&w);
	/* a part that is asked for, in a folder that is no package */
	world_open(&w);
	say(&w, &t, "", "");
	put(w.second, SITE "requests/x.py", "try:\n    from google.appengine.api import x\nexcept ImportError: pass\n",
	    0644);
	put(w.upper, SITE "google/appengine/api.py", "evil", 0644);
	carry(&w);
	dropped(&w, "asked", SITE "google");
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(only_commands_that_the_task_names_are_carried),
		CASE(tests_that_are_too_large_are_told_of),
		CASE(what_a_text_of_python_imports_is_found),
		CASE(what_a_text_of_node_tries_is_found),
		CASE(packages_that_the_images_own_ask_for_are_not_carried),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
