/* task/carry: homes, interpreters of their own, and what the tests bring themselves. */
#include "carry_world.h"

#include "base/arena.h"

static void start_up_files_of_homes_need_no_list(void)
{
	static const char *const env[] = {"HOME=/srv/me/", "XDG_CONFIG_HOME=/srv/conf", NULL};
	static const char *const bad[] = {"root/.sqliterc",
					  "root/.jq",
					  "root/.psqlrc",
					  "root/.my.cnf",
					  "root/.unheard-of",
					  "home/u/.unheard/x",
					  "root/.config/curlrc",
					  "root/.config/go/env",
					  "var/lib/pg/.psqlrc",
					  "srv/me/.duckdbrc",
					  "srv/conf/any",
					  ".unheard",
					  "root/.gnupg/gpg-agent.conf",
					  "root/R/library/x"};
	static const char *const where[] = {"root/.sqliterc",
					    "root/.jq",
					    "root/.psqlrc",
					    "root/.my.cnf",
					    "root/.unheard-of",
					    "home/u/.unheard",
					    "root/.config/curlrc",
					    "root/.config/go",
					    "var/lib/pg/.psqlrc",
					    "srv/me/.duckdbrc",
					    "srv/conf/any",
					    ".unheard",
					    "root/.gnupg/gpg-agent.conf",
					    "root/R"};
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = env;
	put(w.image, "etc/passwd",
	    "root:x:0:0:root:/root:/bin/sh\npg:x:7:7::/var/lib/pg/:/bin/sh\nl:x:8:8::/home2/linked:/bin/sh\nbad:x\n",
	    0644);
	put(w.image, "root/.unheard/x", "the image's", 0644);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		put(w.upper, bad[i], "evil", 0644);
	put(w.upper, "root/.unheard/x", "evil", 0644);
	link_to(w.image, "home2", "srv");
	put(w.upper, "srv/linked/.unheard", "evil", 0644);
	link_to(w.upper, "home/v/.config", "/app/conf");
	link_to(w.upper, "home/v/.cache", "/app/conf");
	link_to(w.upper, "root/.config/git", "/app/conf");
	put(w.upper, "root/.ssh/id_ed25519", "x", 0600);
	put(w.upper, "root/.gnupg/pubring.kbx", "x", 0600);
	put(w.upper, "root/.cache/huggingface/x", "x", 0644);
	put(w.upper, "root/.bash_history", "x", 0644);
	put(w.upper, "root/.cargo/registry/src/x", "x", 0644);
	put(w.upper, "root/.rustup/toolchains/x/bin/rustc", "x", 0755);
	put(w.upper, "root/notes/.draft", "x", 0644);
	put(w.upper, "srv/repo/.eslintrc", "x", 0644);
	put(w.upper, "app/.unheard-of", "x", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "startup", where[i]);
	dropped(&w, "startup", "root/.unheard");
	dropped(&w, "startup", "srv/linked/.unheard");
	dropped(&w, "link", "home/v/.config");
	dropped(&w, "link", "home/v/.cache");
	dropped(&w, "link", "root/.config/git");
	carried(&w, "root/.ssh/id_ed25519");
	carried(&w, "root/.gnupg/pubring.kbx");
	carried(&w, "root/.cache/huggingface/x");
	carried(&w, "root/.bash_history");
	carried(&w, "root/.cargo/registry/src/x");
	carried(&w, "root/.rustup/toolchains/x/bin/rustc");
	carried(&w, "root/notes/.draft");
	carried(&w, "srv/repo/.eslintrc");
	carried(&w, "app/.unheard-of");
	world_close(&w);
}

static void a_work_folder_that_is_a_home_has_files_of_projects(void)
{
	struct world w;

	world_open(&w);
	w.req.workdir = "/root";
	put(w.upper, "root/.sqliterc", "evil", 0644);
	put(w.upper, "root/.jq", "evil", 0644);
	put(w.upper, "root/.config/curlrc", "evil", 0644);
	put(w.upper, "root/.eslintrc.json", "x", 0644);
	put(w.upper, "root/.env", "x", 0644);
	put(w.upper, "root/.github/ci.yml", "x", 0644);
	carry(&w);
	dropped(&w, "startup", "root/.sqliterc");
	dropped(&w, "startup", "root/.jq");
	dropped(&w, "startup", "root/.config/curlrc");
	carried(&w, "root/.eslintrc.json");
	carried(&w, "root/.env");
	carried(&w, "root/.github/ci.yml");
	world_close(&w);
	/* below a name with a dot, in a home */
	world_open(&w);
	w.req.workdir = "/root/.ws/task";
	put(w.upper, "root/.ws/task/answer", "x", 0644);
	carry(&w);
	carried(&w, "root/.ws/task/answer");
	world_close(&w);
}

static void interpreters_of_the_image_stay_wherever_they_are(void)
{
	static const char *const env[] = {"PATH=/app/.venv/bin:/srv/tool/bin:/srv/now/bin:/usr/bin:/bin",
					  "PYTHONPATH=/srv/mods.zip", NULL};
	static const char *const mine[] = {"root/miniconda3/lib/python3.12/argparse.py", "srv/tool/lib/helper.tcl",
					   "srv/v1/lib/modules", "root/.pyenv/versions/3/lib/python3.12/argparse.py",
					   "app/.venv/lib/python3.12/os.py"};
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = env;
	put(w.image, "root/miniconda3/bin/python3", "\177ELF", 0755);
	put(w.image, "srv/tool/bin/tool", "#!x", 0755);
	put(w.image, "srv/v1/bin/java", "\177ELF", 0755);
	link_to(w.image, "srv/now", "v1");
	put(w.image, "root/.pyenv/versions/3/bin/python3", "\177ELF", 0755);
	put(w.image, "app/.venv/bin/python3", "\177ELF", 0755);
	put(w.image, "app/gem/bin/gem", "#!ruby", 0755);
	put(w.image, "app/gem/lib/gem.rb", "1", 0644);
	for (i = 0; i < ARRAY_LEN(mine); i++) {
		put(w.image, mine[i], "the image's", 0644);
		put(w.upper, mine[i], "evil", 0644);
	}
	put(w.upper, "root/miniconda3/lib/python312.zip", "evil", 0644);
	put(w.upper, "root/miniconda3/lib/python3.12/nt.py", "evil", 0644);
	put(w.upper, "root/miniconda3/lib/python3.12/site-packages/flask/x.py", "x", 0644);
	put(w.upper, "root/miniconda3/bin/flask", "x", 0755);
	put(w.upper, "root/.pyenv/versions/evil/bin/python3", "evil", 0755);
	put(w.upper, "root/.pyenv/version", "evil", 0644);
	put(w.upper, "srv/mods.zip", "evil", 0644);
	put(w.upper, "app/.python-version", "/app/evil/python\n", 0644);
	put(w.upper, "app/sub/.python-version", "3.12.1\n", 0644);
	put(w.upper, "app/gem/lib/gem.rb", "the agent's work", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(mine); i++)
		dropped(&w, "replaces", mine[i]);
	dropped(&w, "autorun", "root/miniconda3/lib/python312.zip");
	dropped(&w, "system", "root/miniconda3/lib/python3.12/nt.py");
	dropped(&w, "system", "root/.pyenv/versions/evil");
	dropped(&w, "system", "root/.pyenv/version");
	dropped(&w, "replaces", "srv/mods.zip");
	dropped(&w, "startup", "app/.python-version");
	carried(&w, "root/miniconda3/lib/python3.12/site-packages/flask/x.py");
	carried(&w, "root/miniconda3/bin/flask");
	carried(&w, "app/sub/.python-version");
	carried(&w, "app/gem/lib/gem.rb");
	world_close(&w);
}

static void a_prefix_may_be_anywhere(void)
{
	static const char *const env[] = {"PATH=/conda/bin:/node:/usr/bin:/bin", NULL};
	static const char *const mine[] = {"conda/lib/python3.11/json/__init__.py", "node/lib/helper.js",
					   "jdk/lib/modules", "x/lib/python3.11/os.py", "home/u/lib/ruby/set.rb"};
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = env;
	put(w.image, "conda/bin/python3", "\177ELF", 0755);
	put(w.image, "node/node", "\177ELF", 0755);
	put(w.image, "jdk/bin/java", "\177ELF", 0755);
	put(w.image, "jdk/lib/jvm.cfg", "", 0644);
	put(w.image, "x/y/bin/python3", "\177ELF", 0755);
	put(w.image, "home/u/bin/ruby", "\177ELF", 0755);
	put(w.image, "data/bin/run", "1", 0644);
	put(w.image, "data/lib/table.csv", "1", 0644);
	for (i = 0; i < ARRAY_LEN(mine); i++) {
		put(w.image, mine[i], "the image's", 0644);
		put(w.upper, mine[i], "evil", 0644);
	}
	put(w.upper, "conda/lib/python3.11/nt.py", "evil", 0644);
	put(w.upper, "conda/lib/python3.11/site-packages/flask/x.py", "x", 0644);
	put(w.upper, "conda/lib/python311.zip", "evil", 0644);
	put(w.upper, "home/u/lib/own.txt", "x", 0644);
	put(w.upper, "data/lib/table.csv", "2", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(mine); i++)
		dropped(&w, "replaces", mine[i]);
	dropped(&w, "system", "conda/lib/python3.11/nt.py");
	dropped(&w, "autorun", "conda/lib/python311.zip");
	carried(&w, "conda/lib/python3.11/site-packages/flask/x.py");
	carried(&w, "home/u/lib/own.txt");
	carried(&w, "data/lib/table.csv");
	world_close(&w);
}

static void a_prefix_may_be_the_work_folder_or_hold_it(void)
{
	static const char *const env[] = {"PATH=/conda/bin:/usr/bin:/bin", NULL};
	static const char *const works[] = {"/conda", "/conda/work"};
	struct world w;
	size_t i;

	for (i = 0; i < ARRAY_LEN(works); i++) {
		world_open(&w);
		w.req.env = env;
		w.req.workdir = works[i];
		put(w.image, "conda/bin/python3", "\177ELF", 0755);
		put(w.image, "conda/lib/python3.11/os.py", "the image's", 0644);
		put(w.image, "conda/lib/own.py", "1", 0644);
		put(w.upper, "conda/lib/python3.11/os.py", "evil", 0644);
		put(w.upper, "conda/lib/python3.11/nt.py", "evil", 0644);
		put(w.upper, "conda/lib/python311.zip", "evil", 0644);
		put(w.upper, "conda/lib/own.py", "work", 0644);
		put(w.upper, "conda/work/main.py", "work", 0644);
		carry(&w);
		dropped(&w, "replaces", "conda/lib/python3.11/os.py");
		dropped(&w, "system", "conda/lib/python3.11/nt.py");
		dropped(&w, "autorun", "conda/lib/python311.zip");
		carried(&w, "conda/lib/own.py");
		carried(&w, "conda/work/main.py");
		world_close(&w);
		world_open(&w);
		w.req.env = env;
		w.req.workdir = works[i];
		put(w.image, "conda/bin/python3", "\177ELF", 0755);
		put(w.image, "conda/lib/python3.11/os.py", "the image's", 0644);
		link_to(w.upper, "conda/lib", "work/lib");
		put(w.upper, "conda/work/lib/python3.11/os.py", "evil", 0644);
		carry(&w);
		dropped(&w, "link", "conda/lib");
		world_close(&w);
	}
}

/* PYTHONUSERBASE leads to packages that come before the image's, wherever it is. */
static void a_users_own_packages_may_be_in_the_work_folder(void)
{
	static const char *const env[] = {"HOME=/root", "PYTHONUSERBASE=/app/user/", NULL};
	static const char *const links[] = {"app/user/lib", "app/user/lib/python3.11", "app/user"};
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = env;
	put(w.upper, "app/user/lib/python3.11/site-packages/evil.pth", "import os", 0644);
	put(w.upper, "app/user/lib/python3.11/site-packages/pytest/__init__.py", "evil", 0644);
	put(w.upper, "app/user/lib/python3.11/site-packages/yaml/__init__.py", "evil", 0644);
	put(w.upper, "app/user/lib/python3.11/site-packages/fresh/__init__.py", "the agent's", 0644);
	put(w.upper, "app/user/share/data", "the agent's", 0644);
	put(w.upper, "app/own/lib/python3.11/site-packages/own.pth", "/app/src", 0644);
	carry(&w);
	dropped(&w, "autorun", "app/user/lib/python3.11/site-packages/evil.pth");
	dropped(&w, "tool", "app/user/lib/python3.11/site-packages/pytest");
	dropped(&w, "shadows", "app/user/lib/python3.11/site-packages/yaml");
	carried(&w, "app/user/lib/python3.11/site-packages/fresh/__init__.py");
	carried(&w, "app/user/share/data");
	carried(&w, "app/own/lib/python3.11/site-packages/own.pth");
	world_close(&w);
	for (i = 0; i < ARRAY_LEN(links); i++) {
		world_open(&w);
		w.req.env = env;
		put(w.upper, "app/other/x", "evil", 0644);
		link_to(w.upper, links[i], "/app/other");
		carry(&w);
		dropped(&w, "link", links[i]);
		world_close(&w);
	}
}

static void tools_started_in_tests_find_nothing_above_them(void)
{
	static const char *const bad[] = {"package.json", "vite.config.js", "go.work",
					  "deno.json",    "tsconfig.json",  "node_modules/x.js"};
	struct world w;
	size_t i;

	world_open(&w);
	put(w.image, "app/env/pyvenv.cfg", "home = /usr/bin\n", 0644);
	put(w.image, "app/env/bin/python3", "\177ELF", 0755);
	put(w.image, "app/env/lib/python3.12/os.py", "", 0644);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		put(w.upper, bad[i], "evil", 0644);
	put(w.upper, "result.json", "x", 0644);
	put(w.upper, "app/package.json", "x", 0644);
	put(w.upper, "usr/bin/pybuilddir.txt", "/app/evil\n", 0755);
	put(w.upper, "etc/screenrc", "evil", 0644);
	put(w.upper, "etc/nanorc", "evil", 0644);
	link_to(w.upper, "app/env", "elsewhere");
	carry(&w);
	for (i = 0; i + 1 < ARRAY_LEN(bad); i++)
		dropped(&w, "system", bad[i]);
	dropped(&w, "system", "node_modules");
	dropped(&w, "autorun", "usr/bin/pybuilddir.txt");
	dropped(&w, "startup", "etc/nanorc");
	dropped(&w, "link", "app/env");
	carried(&w, "result.json");
	carried(&w, "app/package.json");
	world_close(&w);
	world_open(&w);
	w.req.workdir = "/";
	put(w.upper, "package.json", "the agent's work", 0644);
	carry(&w);
	carried(&w, "package.json");
	world_close(&w);
}

static void modules_that_no_image_has_are_not_carried(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "app/org/notes.txt", "a folder of the image's", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/org/python/core.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/nt.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/_winapi.abi3.so", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/_bz2.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/apport_python_hook.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/certifi/__init__.py", "x", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/typing_extensions.py", "x", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/audioop/__init__.py", "x", 0644);
	put(w.upper, "app/org/python/core.py", "evil", 0644);
	link_to(w.upper, "app/org/linked", "../x");
	put(w.upper, "org/python/core.py", "evil", 0644);
	put(w.upper, "app/org/example/Main.java", "x", 0644);
	put(w.upper, "app/src/org/python/core.py", "x", 0644);
	carry(&w);
	dropped(&w, "module", "usr/local/lib/python3.11/dist-packages/org");
	dropped(&w, "module", "usr/local/lib/python3.11/dist-packages/nt.py");
	dropped(&w, "module", "usr/local/lib/python3.11/dist-packages/_winapi.abi3.so");
	dropped(&w, "module", "usr/local/lib/python3.11/dist-packages/_bz2.py");
	dropped(&w, "module", "root/.local/lib/python3.11/site-packages/apport_python_hook.py");
	dropped(&w, "module", "app/org/python/core.py");
	dropped(&w, "module", "app/org/linked");
	dropped(&w, "module", "org/python/core.py");
	carried(&w, "usr/local/lib/python3.11/dist-packages/certifi/__init__.py");
	carried(&w, "usr/local/lib/python3.11/dist-packages/typing_extensions.py");
	carried(&w, "usr/local/lib/python3.11/dist-packages/audioop/__init__.py");
	carried(&w, "app/org/example/Main.java");
	carried(&w, "app/src/org/python/core.py");
	world_close(&w);
}

static void what_is_part_of_a_value_is_no_comment_and_no_section(void)
{
	static const struct {
		const char *ours, *image;
		bool toml, same;
	} cases[] = {
		{"[tool.pytest.ini_options]\naddopts = \"\"\"\n-q\n#x -p evil\n\"\"\"\n",
		 "[tool.pytest.ini_options]\naddopts = \"\"\"\n-q\n\"\"\"\n", true, false},
		{"[tool.pytest.ini_options]\naddopts = \"-q\" # as before\n[project]\nname = \"x\"\n",
		 "[tool]\npytest.ini_options.addopts = '-q'\n", true, true},
		{"[tool.pytest]\nx = 1\n", "", true, false},
		{"[tool]\npytest.ini_options = {addopts = [\"-p\", \"evil\"]}\n", "", true, false},
		{"[tool.\"p\\u0079test\".ini_options]\naddopts = \"-p evil\"\n", "", true, false},
		{"a = \"\"\"\n[tool.pytest]\n\"\"\"\n", "", true, true},
		{"[tool.poetry.dependencies]\npytest = {version = \"8\"}\n", "", true, true},
		{"no toml", "", true, false},
		{"[project]\n", "no toml", true, false},
		{"[tool.uv]\nindex-url = \"file:///app\"\n", "", true, false},
		{"[[tool.uv.index]]\nurl = \"file:///app\"\n", "", true, false},
		{"[tool.uv]\ndev-dependencies = []\n[tool.coverage.report]\nfail_under = 3\n", "", true, true},
		{"[tool.coverage.run]\nplugins = [\"evil\"]\n", "", true, false},
		{"[pytest]\naddopts =\n -q\n [x]\n -p evil\n", "[pytest]\naddopts =\n -q\n", false, false},
		{"[pytest]\naddopts =\n -q\n[x\n -p evil\n", "[pytest]\naddopts =\n -q\n", false, false},
		{"[pytest]\naddopts =\n -q\n[x] #\n -p evil\n", "[pytest]\naddopts =\n -q\n", false, false},
		{"[pytest]\naddopts =\n -q\n[x;]\n -p evil\n", "[pytest]\naddopts =\n -q\n", false, false},
		{"[pytest]\naddopts = -q \x1c[x]\n -p evil\n", "[pytest]\naddopts = -q\n", false, false},
		{"[pytest]\naddopts = -q\n[x]\x1c\n -p evil\n", "[pytest]\naddopts = -q\n", false, false},
		{"[pytest]\naddopts = -q\n testpaths = x\n", "[pytest]\naddopts = -q\ntestpaths = x\n", false, false},
		{"# mine\n[pytest]\n# c\naddopts = -q\n[metadata]\nname = x\n", "[pytest]\naddopts = -q\n", false,
		 true},
		{"[metadata]\nname = x\n[options.entry_points]\nx.plugins = y\n[flake8]\nmax-line-length = "
		 "99\n[mypy]\nstrict = true\n[coverage:run]\nsource = x\n[testenv]\ncommands = x\n; c\n",
		 "", false, true},
		{"[coverage:run]\nplugins = evil\n", "", false, false},
		{"[coverage:run]\nPlugins =\n evil\n", "", false, false},
		{"[metadata]\n [coverage:run]\n plugins = evil\n", "", false, false},
		{"[DEFAULT]\nplugins = evil\n[coverage:run]\nbranch = true\n", "", false, false},
		{"x = 1\n[metadata]\n", "", false, false},
		{"[mypy]\nplugins = evil.py\n", "", false, false},
		{"[mypy]\npython_executable = /app/evil\n", "", false, false},
		{"[flake8:local-plugins]\nextension = X = evil:P\n", "", false, false},
		{"[behave.formatters]\nx = evil:F\n", "", false, false},
		{"[easy_install]\nindex_url = file:///app\n", "", false, false},
		{"[testenv]\ncommands = true\n", "[testenv]\ncommands = pytest\n", false, false},
		{"[mypy]\nstrict = false\n", "[mypy]\nstrict = true\n", false, false},
		{"[mypy]\nplugins = own\n[metadata]\nname = y\n", "[mypy]\nplugins = own\n[metadata]\nname = x\n",
		 false, true},
		{"", "[coverage:run]\nbranch = true\n", false, false},
		{"[tool.pylint.main]\ninit-hook = \"evil\"\n", "", true, false},
		{"[tool.pylint.main]\nload-plugins = [\"evil\"]\n", "", true, false},
		{"[tool.pylint.reports]\nevaluation = \"evil\"\n", "", true, false},
		{"[tool.mypy]\nplugins = \"evil.py\"\n", "", true, false},
		{"[[tool.mypy.overrides]]\nplugins = \"evil.py\"\n", "", true, false},
		{"[tool.mypy]\nstrict = true\n[[tool.mypy.overrides]]\nmodule = "
		 "\"x\"\n[tool.hatch.build.hooks.vcs]\nversion-file = \"x\"\n[tool.coverage.run]\nsource = "
		 "[\"x\"]\n[tool.ruff]\nx = 1\n",
		 "", true, true},
		{"[tool.mypy]\nstrict = true\nplugins = [\"own\"]\n", "[tool.mypy]\nplugins = [\"own\"]\n", true, true},
		{"[tool.behave.formatters]\nx = \"evil:F\"\n", "", true, false},
		{"[pytest]\r\naddopts = -q\r\n[metadata]\r\nname = x\r\n", "[pytest]\r\naddopts = -q\r\n", false, true},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		bool same = cases[i].toml ? carry_same_project(sv_of(cases[i].ours), sv_of(cases[i].image), NULL)
					  : carry_same_sections(sv_of(cases[i].ours), sv_of(cases[i].image));

		if (same != cases[i].same)
			printf("# case %zu\n", i);
		CHECK(same == cases[i].same);
	}
}

static void packages_of_the_tests_come_from_where_the_image_says(void)
{
	static const struct {
		const char *ours, *image;
		bool same;
	} cases[] = {
		{"[tool.uv.sources]\npytest = {path = \"evil\"}\n", "", false},
		{"[tool.uv]\nsources.pandas.git = \"file:///app/evil\"\n", "", false},
		{"tool.\"u\\u0076\".sources = {numpy = [{url = \"https://e.invalid/x.whl\"}]}\n", "", false},
		{"[tool.uv.sources]\nmine = {path = \"lib\"}\n[project]\nname = \"new\"\n",
		 "[tool.uv.sources]\nmine = {path = \"lib\"}\n", true},
		{"[tool.uv.sources]\nmine = {path = \"evil\"}\n", "[tool.uv.sources]\nmine = {path = \"lib\"}\n",
		 false},
		{"[tool.uv]\nfind-links = [\"/app\"]\n", "", false},
		{"[tool.uv]\noverride-dependencies = [\"pytest @ file:///app\"]\n", "", false},
		{"[tool.uv]\nconstraint-dependencies = [\"pytest==1\"]\n", "", false},
		{"[tool.uv]\ncache-keys = []\n", "", false},
		{"[tool.uv.pip]\nindex-url = \"file:///app\"\n", "", false},
		{"[tool.uv]\npackage = true\nmanaged = true\n[tool.uv.workspace]\nmembers = [\"a\"]\n", "", true},
		{"[build-system]\nrequires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n", "", true},
		{"[build-system]\nrequires = []\nbuild-backend = \"b\"\nbackend-path = [\".\"]\n", "", false},
		{"[build-system]\nrequires = []\n", "[build-system]\nbackend-path = [\".\"]\n", true},
		{"[build-system]\nrequires = [\"setuptools@file:///app\"]\n", "", false},
		{"[[tool.poetry.source]]\nname = \"x\"\nurl = \"file:///app\"\n", "", false},
		{"[[tool.pdm.source]]\nurl = \"file:///app\"\n", "", false},
		{"[[tool.rye.sources]]\nurl = \"file:///app\"\n", "", false},
		{"[project]\ndependencies = [\"pytest>=8\", \"mine @ file:///app/mine\"]\n", "", true},
		{"[project]\ndependencies = [\"pytest @ file:///app/evil\"]\n", "", false},
		{"[project]\ndependencies = [\" PyTest_Json.Report [a, b]@file:///app/evil\"]\n", "", false},
		{"[project.optional-dependencies]\nx = [\"pluggy@ file:///app/evil\"]\n", "", false},
		{"[dependency-groups]\nx = [{include-group = \"y\"}]\ny = [\"pytest @ git+file:///app/evil\"]\n", "",
		 false},
		{"[tool.uv]\ndev-dependencies = [\"pytest @ file:///app/evil\"]\n", "", false},
		{"[project]\ndependencies = [\"pandas @ file:///app/evil\"]\n", "", false},
		{"[project]\ndependencies = [\"pandas>=2\"]\n", "", true},
		{"[project]\nname = \"b\"\ndependencies = [\"pytest @ file:///p\"]\n",
		 "[project]\ndependencies = [\"pytest @ file:///p\"]\n", true},
		{"[tool.poetry.dependencies]\npytest = {path = \"evil\"}\n", "", false},
		{"[tool.poetry.dependencies]\npytest = [{version = \"8\"}, {git = \"evil\"}]\nmine = {path = \"m\"}\n",
		 "", false},
		{"[tool.poetry.group.x.dependencies.pandas]\nurl = \"evil\"\n", "", false},
		{"[tool.poetry.dependencies]\npandas = {version = \"2\"}\nmine = {path = \"m\"}\n", "", true},
	};
	struct carry_test_file file = {.text = sv_of("uv add pandas\n")};
	struct carry_test_files files = {.first = &file};
	struct arena *a = arena_new();
	struct carry_tests t = {0};
	size_t i;

	CHECK(carry_tests_learn(&t, a, &files) == 0);
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		bool same = carry_same_project(sv_of(cases[i].ours), sv_of(cases[i].image), &t);

		if (same != cases[i].same)
			printf("# case %zu\n", i);
		CHECK(same == cases[i].same);
	}
	arena_free(a);
}

static void installs(const char *text, bool list, const char *yes, const char *no, bool venv)
{
	struct arena *a = arena_new();
	struct carry_test_file file = {.text = sv_of(text), .list = list};
	struct carry_test_files files = {.first = &file};
	struct carry_tests t = {0};

	CHECK(a && carry_tests_learn(&t, a, &files) == 0);
	CHECK(!yes || carry_tests_install(&t, sv_of(yes)));
	CHECK(!no || !carry_tests_install(&t, sv_of(no)));
	CHECK(t.makes_venv == venv);
	arena_free(a);
}

/* Each folder was once added to a copy of all those before it. */
static void folders_without_number_take_no_room_without_bound(void)
{
	struct arena *a = arena_new();
	struct carry_test_file file = {0};
	struct carry_test_files files = {.first = &file};
	struct carry_tests t = {0};
	struct buf text;
	unsigned i;

	buf_init(&text, 8 << 20);
	for (i = 0; i < 100000; i++)
		CHECK(buf_printf(&text, "cd /app\ncd /folder-%06u\n", i) == 0);
	file.text = buf_view(&text);
	CHECK(a && carry_tests_learn(&t, a, &files) == 0);
	CHECK(t.n_folders == CARRY_TESTS_FOLDERS && strlen(t.folders) < (size_t)CARRY_TESTS_FOLDERS * 20);
	CHECK(strncmp(t.folders, "/app:/folder-000000:/folder-000001:", 35) == 0);
	buf_done(&text);
	arena_free(a);
}

static void what_tests_install_is_read_from_their_lines(void)
{
	installs("apt-get update && apt-get install -y sqlite3 curl && nginx -t\n", false, "sqlite3", "nginx", false);
	installs("apt-get install -y \\\n  curl \\\n  sqlite3\nnginx -t\n", false, "sqlite3", "nginx", false);
	installs("subprocess.run(['apk', 'add', 'sqlite'])\n", false, "sqlite3", NULL, false);
	installs("apt install -y ripgrep\n", false, "rg", "ripgrep2", false);
	installs("pip install 'Scikit-Learn>=1' numpy==2.0\n", false, "sklearn", "scipy", false);
	installs("python3 -m pip install numpy[all]\n", false, "numpy", "json", false);
	installs("uvx -w pytest==8 -w numpy pytest /tests\n", false, "numpy", "flask", false);
	installs("apt-get install -y python3-numpy\n", false, "numpy", NULL, false);
	installs("# please install nginx with apt\nassert which('nginx'), 'nginx is not installed'\n", false, NULL,
		 "nginx", false);
	installs("numpy==1.0\n", true, "numpy", NULL, false);
	installs("numpy==1.0\n", false, NULL, "numpy", false);
	installs("python3 -m venv /opt/judge\n", false, "judge", NULL, true);
	installs("uv venv .tbench-testing\n", false, ".tbench-testing", NULL, true);
	installs("uv run pytest\n", false, NULL, "pytest", true);
	installs("virtualenv x; true\n", false, "x", NULL, true);
	installs(". venv/bin/activate\n", false, NULL, "venv", false);
	installs("", false, NULL, "x", false);
}

static void tests_use_what_they_bring_themselves(void)
{
	struct carry_test_files files = {0};
	struct arena *a = arena_new();
	struct world w;

	world_open(&w);
	put(w.second, "tests/test.sh", "apt-get install -y jq5\n", 0644);
	put(w.second, "tests/run.sh",
	    "cd '/app/project' && PYTHONPATH=\"$X:src2:/app/src/\" python3 -m pytest; other\n", 0644);
	put(w.upper, "app/project/argparse.py", "evil", 0644);
	put(w.upper, "app/src/json/__init__.py", "evil", 0644);
	put(w.upper, "app/src2/nt.py", "evil", 0644);
	put(w.upper, "app/project/mine.py", "x", 0644);
	put(w.second, "tests/deep/er/x.py", "run('uv init && uv venv .judge')\n", 0644);
	put(w.second, "tests/requirements-dev.txt", "judge>=1\n", 0644);
	put(w.second, "other", "pip install other\n", 0644);
	link_to(w.second, "tests/link.sh", "../other");
	{
		AUTO_FD folder = openat(w.second, "tests", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		CHECK(carry_tests_read(&files, a, folder) == 0 &&
		      files.bytes ==
			      strlen("apt-get install -y jq5\nrun('uv init && uv venv .judge')\njudge>=1\ncd "
				     "'/app/project' && PYTHONPATH=\"$X:src2:/app/src/\" python3 -m pytest; other\n"));
	}
	w.req.tests = &files;
	put(w.image, "app/empty/README", "", 0644);
	put(w.upper, "usr/local/bin/jq5", "evil", 0755);
	put(w.upper, "usr/local/bin/other", "x", 0755);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/judge/__init__.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/judge-1.dist-info/METADATA", "evil", 0644);
	put(w.upper, "app/pyproject.toml", "[project]\n", 0644);
	put(w.upper, "app/uv.lock", "evil", 0644);
	put(w.upper, "app/sub/pyproject.toml", "[project]\n", 0644);
	put(w.upper, "app/.venv/pyvenv.cfg", "home = /usr/bin\n", 0644);
	put(w.upper, "app/marked/bin/activate", "evil", 0644);
	put(w.upper, "app/filled/lib/python3.11/site-packages/x.py", "evil", 0644);
	put(w.upper, "app/empty/bin/activate", "evil", 0644);
	put(w.upper, "app/empty/lib/python3.11/x.py", "evil", 0644);
	link_to(w.upper, "app/.judge", "elsewhere");
	put(w.upper, "app/elsewhere/README", "x", 0644);
	put(w.upper, "app/bin/tool", "x", 0755);
	carry(&w);
	dropped(&w, "tests", "usr/local/bin/jq5");
	dropped(&w, "tests", "usr/local/lib/python3.11/dist-packages/judge");
	dropped(&w, "tests", "usr/local/lib/python3.11/dist-packages/judge-1.dist-info");
	dropped(&w, "tests", "app/pyproject.toml");
	dropped(&w, "tests", "app/uv.lock");
	dropped(&w, "tests", "app/.venv");
	dropped(&w, "tests", "app/marked");
	dropped(&w, "tests", "app/filled");
	dropped(&w, "tests", "app/empty/bin/activate");
	dropped(&w, "tests", "app/empty/lib/python3.11");
	dropped(&w, "tests", "app/.judge");
	dropped(&w, "module", "app/project/argparse.py");
	dropped(&w, "module", "app/src/json");
	dropped(&w, "module", "app/src2/nt.py");
	carried(&w, "app/project/mine.py");
	carried(&w, "usr/local/bin/other");
	carried(&w, "app/sub/pyproject.toml");
	carried(&w, "app/elsewhere/README");
	carried(&w, "app/bin/tool");
	world_close(&w);
	arena_free(a);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(start_up_files_of_homes_need_no_list),
		CASE(a_work_folder_that_is_a_home_has_files_of_projects),
		CASE(interpreters_of_the_image_stay_wherever_they_are),
		CASE(a_prefix_may_be_anywhere),
		CASE(a_prefix_may_be_the_work_folder_or_hold_it),
		CASE(a_users_own_packages_may_be_in_the_work_folder),
		CASE(tools_started_in_tests_find_nothing_above_them),
		CASE(modules_that_no_image_has_are_not_carried),
		CASE(what_is_part_of_a_value_is_no_comment_and_no_section),
		CASE(packages_of_the_tests_come_from_where_the_image_says),
		CASE(what_tests_install_is_read_from_their_lines),
		CASE(folders_without_number_take_no_room_without_bound),
		CASE(tests_use_what_they_bring_themselves),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
