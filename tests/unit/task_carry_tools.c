/* task/carry, by what runs a file unasked: Python, pytest, git, packages, variables. task_carry.c has the places. */
#include "carry_world.h"

static void names_that_run_by_themselves_are_dropped_everywhere(void)
{
	static const char *const bad[] = {"app/tests/conftest.py",
					  "app/sitecustomize.py",
					  "app/usercustomize.py",
					  "app/__pycache__",
					  "app/lib/mod.pyc",
					  "app/pytest.ini",
					  "app/.pytest.ini",
					  "app/sub/.coveragerc",
					  "conftest.py",
					  "pytest.ini",
					  "usr/lib/python3/dist-packages/evil.pth",
					  "root/.local/lib/python3.11/site-packages/evil.pth",
					  "usr/local/lib/python3.11/dist-packages/sitecustomize.py",
					  "app/old.egg-link"};
	struct world w;
	size_t i;

	world_open(&w);
	put(w.upper, "app/__pycache__/main.cpython-311.pyc", "x", 0644);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (!there(w.upper, bad[i]))
			put(w.upper, bad[i], "import os", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "autorun", bad[i]);
	world_close(&w);
}

/* Weights of models are called so, too. */
static void a_pth_file_is_data_where_no_python_of_the_image_looks_for_packages(void)
{
	static const char *const good[] = {"app/model.pth", "srv/weights/model.pth",
					   "app/venv/lib/python3.11/site-packages/__editable__.mine-1.0.pth"};
	static const char *const bad[] = {
		"app/own/lib/python3.11/site-packages/evil.pth", "srv/own/lib/python3.11/site-packages/evil.pth",
		"usr/local/lib/python3.12/site-packages/evil.pth", "root/.local/lib/python3.11/site-packages/evil.pth",
		"usr/local/share/evil.pth"};
	struct world w;
	size_t i;

	world_open(&w);
	put(w.image, "app/own/lib/python3.11/site-packages/pytest/__init__.py", "", 0644);
	for (i = 0; i < ARRAY_LEN(good); i++)
		put(w.upper, good[i], "x", 0644);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		put(w.upper, bad[i], "import os", 0644);
	CHECK(symlinkat("../../../weights", w.upper, "app/venv/lib/python3.11/dist-packages") == 0);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(good); i++)
		carried(&w, good[i]);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "autorun", bad[i]);
	CHECK(!there(w.to, "app/venv/lib/python3.11/dist-packages"));
	world_close(&w);
}

static void the_images_conftest_stays_changed_deleted_or_in_a_folder_made_anew(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "app/conftest.py", "import os; os._exit(0)", 0644);
	carry(&w);
	dropped(&w, "autorun", "app/conftest.py");
	world_close(&w);
	world_open(&w);
	delete(w.upper, "app/conftest.py");
	carry(&w);
	dropped(&w, "autorun", "app/conftest.py");
	world_close(&w);
	/* rm -rf /app; mkdir /app: everything of the image is hidden, so its conftest.py is put there */
	world_open(&w);
	put(w.upper, "app/main.py", "new", 0644);
	opaque(w.upper, "app");
	carry(&w);
	check_text(w.to, "app/conftest.py", "# the image's\n");
	check_text(w.to, "app/main.py", "new");
	CHECK(!there(w.to, "app/run.sh"));
	world_close(&w);
	world_open(&w);
	w.req.keep_conftests = true;
	put(w.upper, "app/conftest.py", "mine", 0644);
	carry(&w);
	check_text(w.to, "app/conftest.py", "mine");
	world_close(&w);
}

/* pytest imports it by its name, and Python takes a package or a library of that name first. */
static void nothing_is_imported_in_the_place_of_a_conftest(void)
{
	static const char *const bad[] = {"app/checks/conftest",    "app/conftest.so",
					  "app/a/conftest.abi3.so", "app/a/conftest.cpython-311-x86_64-linux-gnu.so",
					  "srv/conftest",           "conftest",
					  "app/b/conftest"};
	struct world w;
	size_t i;

	world_open(&w);
	put(w.image, "app/checks/conftest.py", "", 0644);
	put(w.upper, "app/checks/conftest/__init__.py", "evil", 0644);
	put(w.upper, "srv/conftest/__init__.abi3.so", "evil", 0644);
	put(w.upper, "conftest/conftest/__init__.py", "evil", 0644);
	link_to(w.upper, "app/b/conftest", "../src");
	for (i = 0; i < ARRAY_LEN(bad); i++)
		if (!there(w.upper, bad[i]))
			put(w.upper, bad[i], "\177ELF", 0644);
	put(w.upper, "app/conftest.md", "notes", 0644);
	put(w.upper, "app/my_conftest.py", "x", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "autorun", bad[i]);
	carried(&w, "app/conftest.md");
	carried(&w, "app/my_conftest.py");
	world_close(&w);
	/* the image may have a folder called so: it stays as it is */
	world_open(&w);
	put(w.image, "app/conftest/notes", "", 0644);
	put(w.upper, "app/conftest/__init__.py", "evil", 0644);
	carry(&w);
	CHECK(!there(w.to, "app/conftest/__init__.py"));
	world_close(&w);
	world_open(&w);
	w.req.keep_conftests = true;
	put(w.upper, "app/conftest/__init__.py", "mine", 0644);
	carry(&w);
	carried(&w, "app/conftest/__init__.py");
	world_close(&w);
}

static void sections_for_pytest_are_the_images(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "app/a/pyproject.toml", "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n",
	    0644);
	put(w.upper, "app/a/pyproject.toml", "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n",
	    0644);
	put(w.upper, "app/b/pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-p evil\"\n", 0644);
	put(w.upper, "app/c/pyproject.toml", "tool.pytest.ini_options.addopts = \"-p evil\"\n", 0644);
	put(w.upper, "app/d/pyproject.toml", "tool = {pytest = {addopts = \"-p evil\"}}\n", 0644);
	put(w.upper, "app/e/pyproject.toml", "[tool.\"\\u0070ytest\"]\naddopts = \"-p evil\"\n", 0644);
	put(w.upper, "app/f/setup.cfg", "[metadata]\nname = f\n", 0644);
	put(w.upper, "app/g/setup.cfg", "[tool:pytest]\naddopts = -p evil\n", 0644);
	put(w.upper, "app/h/tox.ini", "[pytest]\naddopts = -p evil\n", 0644);
	put(w.upper, "app/i/pyproject.toml", "[tool.poetry.dependencies]\npytest = \"^8.0\"\n", 0644);
	link_to(w.upper, "app/j/pyproject.toml", "../b/other.toml");
	put(w.image, "app/k/pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n", 0644);
	put(w.upper, "app/k/pyproject.toml/x", "a folder in its place", 0644);
	put(w.upper, "app/l/tox.ini/x", "a folder of one's own", 0644);
	carry(&w);
	check_text(w.to, "app/a/pyproject.toml",
		   "[project]\nname = \"b\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n");
	carried(&w, "app/f/setup.cfg");
	carried(&w, "app/i/pyproject.toml");
	dropped(&w, "pytest-section", "app/b/pyproject.toml");
	dropped(&w, "pytest-section", "app/c/pyproject.toml");
	dropped(&w, "pytest-section", "app/d/pyproject.toml");
	dropped(&w, "pytest-section", "app/e/pyproject.toml");
	dropped(&w, "pytest-section", "app/g/setup.cfg");
	dropped(&w, "pytest-section", "app/h/tox.ini");
	dropped(&w, "pytest-section", "app/j/pyproject.toml");
	dropped(&w, "pytest-section", "app/k/pyproject.toml");
	carried(&w, "app/l/tox.ini/x");
	world_close(&w);
}

static void settings_of_tools_that_judge_run_nothing(void)
{
	static const char *const bad[] = {"app/mypy.ini",         "app/.pylintrc",        "app/pylintrc",
					  "app/.flake8",          "app/a/.tool-versions", "app/rust-toolchain.toml",
					  "app/a/rust-toolchain", "app/mise.toml",        "app/.mise.local.toml",
					  "app/old/.flake8",      "app/global.json",      "app/old/global.json"};
	struct world w;
	size_t i;

	world_open(&w);
	put(w.image, "app/old/.flake8", "[flake8]\n", 0644);
	put(w.upper, "app/mypy.ini", "[mypy]\nplugins = evil.py\n", 0644);
	put(w.upper, "app/.pylintrc", "[MAIN]\nInit-Hook=evil\n", 0644);
	put(w.upper, "app/pylintrc", "[REPORTS]\nevaluation=evil\n", 0644);
	put(w.upper, "app/.flake8", "[flake8:local-plugins]\nextension = X = evil:P\n", 0644);
	put(w.upper, "app/a/.tool-versions", "python path:/app/evil\n", 0644);
	put(w.upper, "app/rust-toolchain.toml", "[toolchain]\npath = \"evil\"\n", 0644);
	put(w.upper, "app/a/rust-toolchain", "[toolchain]\n\"p\\u0061th\" = \"evil\"\n", 0644);
	put(w.upper, "app/mise.toml", "[hooks]\nenter = \"evil\"\n", 0644);
	put(w.upper, "app/.mise.local.toml", "[tools]\n", 0644);
	put(w.upper, "app/old/.flake8", "[flake8]\nexclude = all\n", 0644);
	put(w.upper, "app/global.json", "{\"sdk\": {\"paths\": [\"evil\"]}}\n", 0644);
	put(w.image, "app/old/global.json", "{}\n", 0644);
	put(w.upper, "app/old/global.json", "{\"sdk\": {\"version\": \"9.0.1\"}}\n", 0644);
	put(w.upper, "app/b/global.json", "{\"sdk\": {\"version\": \"9.0.1\"}}\n", 0644);
	put(w.upper, "app/b/mypy.ini", "[mypy]\nstrict = true\n", 0644);
	put(w.upper, "app/b/.flake8", "[flake8]\nmax-line-length = 99\n", 0644);
	put(w.upper, "app/b/.tool-versions", "nodejs 20.1.0\n", 0644);
	put(w.upper, "app/b/rust-toolchain.toml", "[toolchain]\nchannel = \"1.80\"\n", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		dropped(&w, "startup", bad[i]);
	carried(&w, "app/b/mypy.ini");
	carried(&w, "app/b/.flake8");
	carried(&w, "app/b/.tool-versions");
	carried(&w, "app/b/rust-toolchain.toml");
	carried(&w, "app/b/global.json");
	world_close(&w);
}

static void packages_that_are_new_are_carried_and_those_that_shadow_are_not(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/numpy/core.py", "x", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/numpy-1.0.dist-info/METADATA", "x", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/yaml/__init__.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/json.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/pytest/__init__.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/_pytest/__init__.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/pytest-8.0.dist-info/METADATA", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/pytest_evil.py", "evil", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/helper-1.0.dist-info/entry_points.txt",
	    "[pytest11]\nx = helper\n", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/script-1.0.dist-info/entry_points.txt",
	    "[console_scripts]\nx = script:main\n", 0644);
	put(w.upper, "usr/local/lib/python3.11/dist-packages/requests/evil.py", "evil", 0644);
	put(w.upper, "usr/lib/python3.11/antigravity2.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/Yaml/__init__.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/pandas/__init__.py", "x", 0644);
	put(w.upper, "app/node_modules/right/index.js", "x", 0644);
	put(w.upper, "app/node_modules/left/node_modules/fs/index.js", "evil", 0644);
	put(w.upper, "app/node_modules/jest/index.js", "evil", 0644);
	put(w.upper, "app/node_modules/@jest/core/index.js", "evil", 0644);
	put(w.upper, "app/node_modules/@types/node/index.d.ts", "x", 0644);
	put(w.upper, "app/.venv/lib/python3.11/site-packages/yaml/__init__.py", "the agent's own", 0644);
	put(w.upper, "app/dist/x-1.egg-info/entry_points.txt", "[pytest11]\nx=x\n", 0644);
	carry(&w);
	carried(&w, "usr/local/lib/python3.11/dist-packages/numpy/core.py");
	carried(&w, "usr/local/lib/python3.11/dist-packages/numpy-1.0.dist-info/METADATA");
	carried(&w, "usr/local/lib/python3.11/dist-packages/script-1.0.dist-info/entry_points.txt");
	carried(&w, "root/.local/lib/python3.11/site-packages/pandas/__init__.py");
	carried(&w, "app/node_modules/right/index.js");
	carried(&w, "app/node_modules/@types/node/index.d.ts");
	carried(&w, "app/.venv/lib/python3.11/site-packages/yaml/__init__.py");
	dropped(&w, "shadows", "usr/local/lib/python3.11/dist-packages/yaml");
	dropped(&w, "shadows", "usr/local/lib/python3.11/dist-packages/json.py");
	dropped(&w, "tool", "usr/local/lib/python3.11/dist-packages/pytest");
	dropped(&w, "tool", "usr/local/lib/python3.11/dist-packages/_pytest");
	dropped(&w, "tool", "usr/local/lib/python3.11/dist-packages/pytest-8.0.dist-info");
	dropped(&w, "tool", "usr/local/lib/python3.11/dist-packages/pytest_evil.py");
	dropped(&w, "pytest-plugin", "usr/local/lib/python3.11/dist-packages/helper-1.0.dist-info/entry_points.txt");
	dropped(&w, "pytest-plugin", "app/dist/x-1.egg-info/entry_points.txt");
	dropped(&w, "system", "usr/local/lib/python3.11/dist-packages/requests/evil.py");
	dropped(&w, "system", "usr/lib/python3.11/antigravity2.py");
	dropped(&w, "shadows", "root/.local/lib/python3.11/site-packages/Yaml");
	dropped(&w, "tool", "app/node_modules/jest");
	dropped(&w, "tool", "app/node_modules/@jest");
	dropped(&w, "system", "app/node_modules/left/node_modules");
	world_close(&w);
}

static void git_runs_nothing_of_the_agents(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "app/.git/config",
	    "[core]\n\tbare = false\n\tfsmonitor = /app/evil\n\thooksPath = /app\n[user]\n\tname = A\n[alias]\n\tlog = "
	    "!evil\n[include]\n\tpath = /app/x\n[remote \"origin\"]\n\turl = https://x\n",
	    0644);
	put(w.upper, "app/.git/hooks/pre-commit", "evil", 0755);
	put(w.upper, "app/.git/hooks/pre-push.sample", "x", 0755);
	put(w.upper, "app/.git/refs/heads/main", "x", 0644);
	put(w.upper, "app/.git/config.worktree", "[core]\n", 0644);
	put(w.upper, "srv/bare.git/objects/x", "x", 0644);
	put(w.upper, "srv/bare.git/refs/x", "x", 0644);
	put(w.upper, "srv/bare.git/config", "[core]\n\tsshCommand = evil\n", 0644);
	put(w.upper, "srv/bare.git/hooks/post-receive", "evil", 0755);
	link_to(w.upper, "app/sub/.git/config", "/app/evil-config");
	link_to(w.upper, "app/other/.git/hooks", "/app/hooks");
	put(w.upper, "root/.gitconfig", "[user]\n\temail = a@b\n[core]\n\tpager = evil\n", 0644);
	carry(&w);
	check_text(w.to, "app/.git/config",
		   "[core]\n\tbare = false\n[user]\n\tname = A\n[remote \"origin\"]\n\turl = https://x\n");
	check_text(w.to, "srv/bare.git/config", "");
	check_text(w.to, "root/.gitconfig", "[user]\n\temail = a@b\n");
	carried(&w, "app/.git/refs/heads/main");
	carried(&w, "app/.git/hooks/pre-push.sample");
	dropped(&w, "git-hook", "app/.git/hooks/pre-commit");
	dropped(&w, "git-hook", "app/.git/config.worktree");
	dropped(&w, "git-hook", "srv/bare.git/hooks/post-receive");
	dropped(&w, "git-hook", "app/sub/.git/config");
	dropped(&w, "git-hook", "app/other/.git/hooks");
	CHECK(said(&w, "git-config", "app/.git/config"));
	world_close(&w);
}

static void parts_of_a_repository_run_nothing_either(void)
{
	static const char evil[] = "[core]\n\tfsmonitor = evil\n[user]\n\tname = A\n", kept[] = "[user]\n\tname = A\n";
	struct world w;

	world_open(&w);
	/* a worktree of the image's own, and a new one */
	put(w.image, "app/.git/config", "[extensions]\n\tworktreeConfig = true\n", 0644);
	put(w.image, "app/.git/worktrees/old/HEAD", "ref: refs/heads/x\n", 0644);
	put(w.image, "app/.git/worktrees/old/config.worktree", "[core]\n\tsparseCheckout = true\n", 0644);
	put(w.upper, "app/.git/worktrees/old/config.worktree", evil, 0644);
	put(w.upper, "app/.git/worktrees/old/commondir", "../..\n", 0644);
	put(w.upper, "app/.git/worktrees/w/HEAD", "ref: refs/heads/x\n", 0644);
	put(w.upper, "app/.git/worktrees/w/config.worktree", evil, 0644);
	put(w.upper, "app/.git/worktrees/w/hooks/post-checkout", "evil", 0755);
	link_to(w.upper, "app/.git/worktrees/l/config.worktree", "/app/evil-config");
	/* tests may make the HEAD themselves */
	put(w.upper, "app/.git/worktrees/later/config.worktree", evil, 0644);
	put(w.upper, "srv/elsewhere/config.worktree", evil, 0644);
	put(w.upper, "app/.git/modules/a/b/HEAD", "x", 0644);
	put(w.upper, "app/.git/modules/a/b/config", evil, 0644);
	put(w.upper, "app/.git/modules/a/b/hooks/post-checkout", "evil", 0755);
	put(w.upper, "app/half/HEAD", "x", 0644);
	put(w.upper, "app/half/config", evil, 0644);
	link_to(w.upper, "app/linked/HEAD", "../half/HEAD");
	put(w.upper, "app/linked/config", evil, 0644);
	put(w.upper, "app/.hg/hgrc", "[hooks]\n", 0644);
	put(w.upper, "app/config", "the work's", 0644);
	put(w.upper, "app/hooks/start.sh", "the work's", 0755);
	carry(&w);
	dropped(&w, "git-hook", "app/.git/worktrees/old/config.worktree");
	dropped(&w, "git-hook", "app/.git/worktrees/w/config.worktree");
	dropped(&w, "git-hook", "app/.git/worktrees/w/hooks/post-checkout");
	dropped(&w, "git-hook", "app/.git/worktrees/l/config.worktree");
	dropped(&w, "git-hook", "app/.git/worktrees/later/config.worktree");
	dropped(&w, "git-hook", "srv/elsewhere/config.worktree");
	dropped(&w, "git-hook", "app/.git/modules/a/b/hooks/post-checkout");
	dropped(&w, "startup", "app/.hg/hgrc");
	check_text(w.to, "app/.git/modules/a/b/config", kept);
	check_text(w.to, "app/half/config", kept);
	check_text(w.to, "app/linked/config", kept);
	carried(&w, "app/.git/worktrees/w/HEAD");
	carried(&w, "app/.git/worktrees/old/commondir");
	carried(&w, "app/config");
	carried(&w, "app/hooks/start.sh");
	world_close(&w);
}

static void no_spelling_of_a_git_key_gets_through(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"[core] fsmonitor = evil\n", ""},
		{"[core]\n\tname = a\\\nfsmonitor = evil\n", ""},
		{"[core]fsmonitor=evil\nbare = true\n", ""},
		{"[CORE]\nBARE = true\nFsMonitor = evil\n", "[CORE]\n\tBARE = true\n"},
		{"[core.x]\nfsmonitor = evil\n", ""},
		{"[user]\nname = \"a\\\n\"\n[core]\nbare = false\r\nfsmonitor = x\n", "[core]\n\tbare = false\n"},
		{"[remote \"a]\\nfsmonitor\"]\nurl = x\n", ""},
		{"; c\n# d\n\n[user]\n email=x ; y\n", "[user]\n\temail=x ; y\n"},
		{"name = x\n", ""},
		{"[user]\nname\nemail evil\n", "[user]\n\tname\n"},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF out = {0};
		bool cut;

		buf_init(&out, 4096);
		carry_git_config(sv_of(cases[i].in), &out, &cut);
		CHECK_STR(out.p ? out.p : "", cases[i].out);
	}
}

static void modules_that_python_would_take_for_its_own_are_dropped(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "app/queue.py", "the project's", 0644);
	put(w.upper, "app/queue.py", "changed", 0644);
	put(w.upper, "app/pytest.py", "evil", 0644);
	put(w.upper, "app/argparse.py", "evil", 0644);
	put(w.upper, "app/_pytest/__init__.py", "evil", 0644);
	put(w.upper, "app/json/__init__.py", "evil", 0644);
	put(w.upper, "app/_bisect.cpython-311-x86_64-linux-gnu.so", "evil", 0644);
	link_to(w.upper, "app/pluggy", "/srv/x");
	put(w.upper, "app/logging/notes.txt", "no module", 0644);
	put(w.upper, "app/src/json/__init__.py", "not where anything starts", 0644);
	put(w.upper, "app/__init__.py", "", 0644);
	put(w.upper, "app/utils.py", "", 0644);
	put(w.upper, "unittest.py", "evil", 0644);
	carry(&w);
	carried(&w, "app/queue.py");
	carried(&w, "app/logging/notes.txt");
	carried(&w, "app/src/json/__init__.py");
	carried(&w, "app/__init__.py");
	carried(&w, "app/utils.py");
	dropped(&w, "module", "app/pytest.py");
	dropped(&w, "module", "app/argparse.py");
	dropped(&w, "module", "app/_pytest");
	dropped(&w, "module", "app/json");
	dropped(&w, "module", "app/_bisect.cpython-311-x86_64-linux-gnu.so");
	dropped(&w, "module", "app/pluggy");
	dropped(&w, "module", "unittest.py");
	world_close(&w);
}

static void what_variables_of_the_image_name_is_judged_too(void)
{
	static const char *const env[] = {"PYTHONPATH=/app/src:/srv/py/", "LD_LIBRARY_PATH=/app/lib",
					  "BASH_ENV=/app/.setup", "ENV=/app/.env.sh", NULL};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.upper, "app/src/json.py", "evil", 0644);
	put(w.upper, "app/src/mine.py", "x", 0644);
	put(w.upper, "srv/py/pytest/__init__.py", "evil", 0644);
	put(w.upper, "app/lib/libc.so.6", "evil", 0644);
	put(w.upper, "app/lib/libmine.so", "x", 0644);
	put(w.upper, "app/.setup", "evil", 0644);
	put(w.upper, "app/.env.sh", "evil", 0644);
	carry(&w);
	carried(&w, "app/src/mine.py");
	carried(&w, "app/lib/libmine.so");
	dropped(&w, "module", "app/src/json.py");
	dropped(&w, "module", "srv/py/pytest");
	dropped(&w, "shadows", "app/lib/libc.so.6");
	dropped(&w, "startup", "app/.setup");
	dropped(&w, "startup", "app/.env.sh");
	world_close(&w);
}

static void packages_of_the_image_in_folders_of_variables_stay(void)
{
	static const char *const env[] = {"PYTHONPATH=/opt/site:/app/src:/srv/a/b",
					  "NODE_PATH=/opt/js",
					  "PERL5LIB=/opt/perl",
					  "RUBYLIB=/opt/ruby",
					  "CLASSPATH=/opt/java/*:/srv/junit.jar:/app/classes",
					  NULL};
	struct carry_test_file file = {.name = "test.sh",
				       .text = sv_of("PYTHONPATH=/opt/site:$PYTHONPATH pytest /tests\n")};
	struct carry_test_files files = {0};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.image, "opt/site/bazlib/__init__.py", "", 0644);
	put(w.image, "opt/site/barlib.py", "", 0644);
	put(w.image, "srv/a/b/deep.py", "", 0644);
	put(w.image, "app/src/own/__init__.py", "", 0644);
	put(w.image, "opt/js/chai/index.js", "", 0644);
	put(w.image, "opt/perl/Check.pm", "", 0644);
	put(w.image, "opt/ruby/check.rb", "", 0644);
	put(w.image, "opt/java/check.jar", "", 0644);
	put(w.image, "srv/junit.jar", "", 0644);
	put(w.image, "app/classes/A.class", "", 0644);
	put(w.upper, "opt/site/bazlib/__init__.py", "evil", 0644);
	put(w.upper, "opt/site/bazlib/more.py", "evil", 0644);
	delete(w.upper, "opt/site/barlib.py");
	put(w.upper, "opt/site/barlib/__init__.py", "evil", 0644);
	put(w.upper, "opt/site/json.py", "evil", 0644);
	put(w.upper, "opt/site/fresh/__init__.py", "x", 0644);
	delete(w.upper, "srv/a");
	put(w.upper, "bazlib.py", "evil", 0644);
	put(w.upper, "app/bazlib/__init__.py", "evil", 0644);
	put(w.upper, "app/deep.py", "evil", 0644);
	put(w.upper, "app/src/own/__init__.py", "work", 0644);
	put(w.upper, "app/src/other.py", "work", 0644);
	put(w.upper, "opt/js/chai/index.js", "evil", 0644);
	put(w.upper, "opt/perl/Check.pm", "evil", 0644);
	put(w.upper, "opt/perl/strict.pm", "evil", 0644);
	put(w.upper, "opt/ruby/check.rb", "evil", 0644);
	put(w.upper, "opt/java/check.jar", "evil", 0644);
	put(w.upper, "opt/java/new.jar", "evil", 0644);
	put(w.upper, "srv/junit.jar", "evil", 0644);
	put(w.upper, "app/classes/A.class", "work", 0644);
	put(w.upper, "opt/data/output.csv", "2", 0644);
	carry(&w);
	dropped(&w, "replaces", "opt/site/bazlib/__init__.py");
	dropped(&w, "system", "opt/site/bazlib/more.py");
	dropped(&w, "deletes", "opt/site/barlib.py");
	dropped(&w, "shadows", "opt/site/barlib");
	dropped(&w, "shadows", "opt/site/json.py");
	dropped(&w, "deletes", "srv/a");
	dropped(&w, "module", "bazlib.py");
	dropped(&w, "module", "app/bazlib");
	dropped(&w, "module", "app/deep.py");
	dropped(&w, "replaces", "opt/js/chai/index.js");
	dropped(&w, "replaces", "opt/perl/Check.pm");
	dropped(&w, "system", "opt/perl/strict.pm");
	dropped(&w, "replaces", "opt/ruby/check.rb");
	dropped(&w, "replaces", "opt/java/check.jar");
	dropped(&w, "system", "opt/java/new.jar");
	dropped(&w, "replaces", "srv/junit.jar");
	carried(&w, "opt/site/fresh/__init__.py");
	carried(&w, "app/src/own/__init__.py");
	carried(&w, "app/src/other.py");
	carried(&w, "app/classes/A.class");
	carried(&w, "opt/data/output.csv");
	world_close(&w);
	/* named by the tests alone */
	world_open(&w);
	files.first = &file;
	w.req.tests = &files;
	put(w.image, "opt/site/bazlib/__init__.py", "", 0644);
	put(w.upper, "opt/site/bazlib/__init__.py", "evil", 0644);
	put(w.upper, "app/bazlib.py", "evil", 0644);
	carry(&w);
	dropped(&w, "replaces", "opt/site/bazlib/__init__.py");
	dropped(&w, "module", "app/bazlib.py");
	world_close(&w);
	/* the folder of the work, or above it, or where there is no work folder */
	world_open(&w);
	w.req.env = (const char *const[]){"PYTHONPATH=/srv:/srv/work/src", NULL};
	w.req.workdir = "/srv/work";
	put(w.image, "srv/other/lib.py", "", 0644);
	put(w.upper, "srv/other/lib.py", "work", 0644);
	put(w.upper, "srv/work/src/lib.py", "work", 0644);
	carry(&w);
	carried(&w, "srv/other/lib.py");
	carried(&w, "srv/work/src/lib.py");
	world_close(&w);
	world_open(&w);
	w.req.env = (const char *const[]){"PYTHONPATH=/app", NULL};
	w.req.workdir = "/";
	put(w.upper, "app/main.py", "work", 0644);
	carry(&w);
	carried(&w, "app/main.py");
	world_close(&w);
}

static void pythons_other_ways_in_are_closed(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "home/u/py/bin/python3", "\177ELF", 0755);
	put(w.upper, "usr/bin/pyvenv.cfg", "home = /app\n", 0755);
	put(w.upper, "usr/pyvenv.cfg", "home = /app\n", 0644);
	put(w.upper, "pyvenv.cfg", "home = /app\n", 0644);
	put(w.upper, "home/u/py/pyvenv.cfg", "home = /app\n", 0644);
	put(w.upper, "usr/lib/python311.zip", "evil", 0644);
	put(w.upper, "usr/local/lib/site_perl/strict.pm", "evil", 0644);
	put(w.upper, "usr/local/etc/gitconfig", "[core]\n\tpager = evil\n[user]\n\tname = x\n", 0644);
	put(w.upper, "node_modules/chai/index.js", "evil", 0644);
	put(w.upper, "app/.venv/pyvenv.cfg", "home = /usr/bin\n", 0644);
	carry(&w);
	carried(&w, "app/.venv/pyvenv.cfg");
	dropped(&w, "autorun", "usr/bin/pyvenv.cfg");
	dropped(&w, "autorun", "usr/pyvenv.cfg");
	dropped(&w, "autorun", "pyvenv.cfg");
	dropped(&w, "autorun", "home/u/py/pyvenv.cfg");
	dropped(&w, "autorun", "usr/lib/python311.zip");
	dropped(&w, "system", "usr/local/lib/site_perl");
	dropped(&w, "system", "node_modules");
	check_text(w.to, "usr/local/etc/gitconfig", "[user]\n\tname = x\n");
	world_close(&w);
}

static void every_name_that_python_knows_is_taken_where_it_starts(void)
{
	static const char *const env[] = {"PATH=/app/.venv/bin:/usr/bin:/bin", NULL};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.image, "app/html/index.txt", "a folder of the project's", 0644);
	put(w.image, "app/email", "a file of the project's", 0644);
	put(w.image, "usr/lib/python3/dist-packages/attr/__init__.py", "", 0644);
	put(w.image, "app/.venv/lib/python3.12/site-packages/numpy/__init__.py", "", 0644);
	put(w.image, "usr/lib/python3/dist-packages/tests/__init__.py", "", 0644);
	put(w.upper, "app/calendar.py", "evil", 0644);
	put(w.upper, "app/_compression.py", "evil", 0644);
	put(w.upper, "app/yaml.py", "evil", 0644);
	put(w.upper, "app/attr/__init__.py", "evil", 0644);
	put(w.upper, "app/numpy/__init__.py", "evil", 0644);
	put(w.upper, "app/json/__init__.so", "evil", 0644);
	put(w.upper, "app/logging/__init__.abi3.so", "evil", 0644);
	put(w.upper, "app/html/__init__.py", "evil", 0644);
	put(w.upper, "app/html/page.txt", "x", 0644);
	put(w.upper, "app/email/__init__.py", "evil", 0644);
	put(w.upper, "app/tests/__init__.py", "", 0644);
	put(w.upper, "app/pkg/json/__init__.py", "", 0644);
	carry(&w);
	dropped(&w, "module", "app/calendar.py");
	dropped(&w, "module", "app/_compression.py");
	dropped(&w, "module", "app/yaml.py");
	dropped(&w, "module", "app/attr");
	dropped(&w, "module", "app/numpy");
	dropped(&w, "module", "app/json");
	dropped(&w, "module", "app/logging");
	dropped(&w, "module", "app/html/__init__.py");
	dropped(&w, "module", "app/email");
	carried(&w, "app/html/page.txt");
	carried(&w, "app/tests/__init__.py");
	carried(&w, "app/pkg/json/__init__.py");
	world_close(&w);
}

static void folders_of_variables_may_be_relative(void)
{
	static const char *const env[] = {"PATH=tools:./more/:/usr//bin/:/bin::.", "PYTHONPATH=src", NULL};
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.upper, "app/tools/grep", "evil", 0755);
	put(w.upper, "app/tools/mine", "x", 0755);
	put(w.upper, "app/more/sqlite3", "evil", 0755);
	put(w.upper, "app/main.py", "changed", 0644);
	put(w.upper, "app/src/json.py", "evil", 0644);
	carry(&w);
	dropped(&w, "tool", "app/tools/grep");
	dropped(&w, "shadows", "app/more/sqlite3");
	carried(&w, "app/main.py");
	dropped(&w, "module", "app/src/json.py");
	carried(&w, "app/tools/mine");
	world_close(&w);
}

static void no_end_of_a_line_hides_a_section(void)
{
	static const char *const ends[] = {"\n",   "\r",   "\v",       "\f",           "\x1c",
					   "\x1d", "\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
	char text[128];
	size_t i;

	for (i = 0; i < ARRAY_LEN(ends); i++) {
		snprintf(text, sizeof(text), "# x%s[tool:pytest]%saddopts = -p evil\n", ends[i], ends[i]);
		CHECK(!carry_same_sections(sv_of(text), sv_of("")));
	}
	CHECK(carry_same_sections(sv_of("[metadata]\nname = caf\xc3\xa9\n"), sv_of("")));
}

static void packages_of_a_home_that_is_the_work_folder_shadow_nothing(void)
{
	struct world w;

	world_open(&w);
	w.req.workdir = "/root";
	put(w.upper, "root/.local/lib/python3.11/site-packages/pytest.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/yaml/__init__.py", "evil", 0644);
	put(w.upper, "root/.local/lib/python3.11/site-packages/flask/__init__.py", "x", 0644);
	put(w.upper, "root/own/lib/python3.11/site-packages/yaml/__init__.py", "x", 0644);
	carry(&w);
	dropped(&w, "tool", "root/.local/lib/python3.11/site-packages/pytest.py");
	dropped(&w, "shadows", "root/.local/lib/python3.11/site-packages/yaml");
	carried(&w, "root/.local/lib/python3.11/site-packages/flask/__init__.py");
	carried(&w, "root/own/lib/python3.11/site-packages/yaml/__init__.py");
	world_close(&w);
}

static void headers_of_the_image_are_found_first(void)
{
	struct world w;

	world_open(&w);
	put(w.image, "usr/include/assert.h", "", 0644);
	put(w.image, "usr/include/sys/stat.h", "", 0644);
	put(w.image, "usr/include/c++/12/vector", "", 0644);
	put(w.image, "usr/include/x86_64-linux-gnu/bits/types.h", "", 0644);
	put(w.upper, "usr/local/include/assert.h", "evil", 0644);
	put(w.upper, "usr/local/include/sys/stat.h", "evil", 0644);
	put(w.upper, "usr/include/x86_64-linux-gnu/assert.h", "evil", 0644);
	put(w.upper, "usr/include/c++/12/assert.h", "evil", 0644);
	put(w.upper, "usr/local/include/zlib.h", "new", 0644);
	put(w.upper, "usr/local/include/openssl/ssl.h", "new", 0644);
	carry(&w);
	dropped(&w, "shadows", "usr/local/include/assert.h");
	dropped(&w, "shadows", "usr/local/include/sys");
	dropped(&w, "shadows", "usr/include/x86_64-linux-gnu/assert.h");
	dropped(&w, "shadows", "usr/include/c++/12/assert.h");
	carried(&w, "usr/local/include/zlib.h");
	world_close(&w);
}

static void the_root_is_no_repository_that_runs_anything(void)
{
	struct world w;

	world_open(&w);
	put(w.upper, "HEAD", "ref: refs/heads/x\n", 0644);
	put(w.upper, "config", "[core]\n\tbare = false\n\tfsmonitor = /app/evil\n", 0644);
	put(w.upper, "objects/x", "", 0644);
	put(w.upper, "refs/x", "", 0644);
	put(w.upper, "hooks/post-checkout", "evil", 0755);
	carry(&w);
	check_text(w.to, "config", "[core]\n\tbare = false\n");
	dropped(&w, "git-hook", "hooks/post-checkout");
	world_close(&w);
}

/* More names than are kept in mind, and Pythons that have yet more: then nothing new is trusted, and what is full takes
 * no more. */
static void an_image_with_more_modules_than_are_known(void)
{
	enum { MODULES = 100100, PYTHONS = 3000 };
	char path[96];
	struct world w;
	unsigned i;

	world_open(&w);
	put(w.image, "usr/lib/python3.12/first.py", "", 0644);
	for (i = 0; i < MODULES; i++) {
		snprintf(path, sizeof(path), "usr/lib/python3.12/m%u.py", i);
		CHECK(symlinkat("first.py", w.image, path) == 0);
	}
	put(w.image, "usr/local/lib/python3.0/x", "", 0644);
	for (i = 1; i < PYTHONS; i++) {
		snprintf(path, sizeof(path), "usr/local/lib/python3.%u", i);
		CHECK(mkdirat(w.image, path, 0755) == 0 && strlen(path) + 3 < sizeof(path));
		CHECK(symlinkat("x", w.image, strcat(path, "/x")) == 0);
	}
	put(w.upper, "usr/lib/python3/dist-packages/quite_new/__init__.py", "", 0644);
	carry(&w);
	dropped(&w, "shadows", "usr/lib/python3/dist-packages/quite_new");
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(names_that_run_by_themselves_are_dropped_everywhere),
		CASE(a_pth_file_is_data_where_no_python_of_the_image_looks_for_packages),
		CASE(the_images_conftest_stays_changed_deleted_or_in_a_folder_made_anew),
		CASE(nothing_is_imported_in_the_place_of_a_conftest),
		CASE(sections_for_pytest_are_the_images),
		CASE(settings_of_tools_that_judge_run_nothing),
		CASE(packages_that_are_new_are_carried_and_those_that_shadow_are_not),
		CASE(git_runs_nothing_of_the_agents),
		CASE(parts_of_a_repository_run_nothing_either),
		CASE(no_spelling_of_a_git_key_gets_through),
		CASE(modules_that_python_would_take_for_its_own_are_dropped),
		CASE(what_variables_of_the_image_name_is_judged_too),
		CASE(packages_of_the_image_in_folders_of_variables_stay),
		CASE(pythons_other_ways_in_are_closed),
		CASE(every_name_that_python_knows_is_taken_where_it_starts),
		CASE(folders_of_variables_may_be_relative),
		CASE(no_end_of_a_line_hides_a_section),
		CASE(packages_of_a_home_that_is_the_work_folder_shadow_nothing),
		CASE(headers_of_the_image_are_found_first),
		CASE(the_root_is_no_repository_that_runs_anything),
		CASE(an_image_with_more_modules_than_are_known),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
