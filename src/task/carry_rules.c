#include "task/carry_rules.h"

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/path.h"

const struct carry_text carry_texts[CARRY_RULES] = {
	[CARRY_KEEP] = {"carry.keep", "carried"},
	[CARRY_SPECIAL] = {"carry.special", "a device, socket or FIFO; not carried to the verifier"},
	[CARRY_RUNNER] = {"carry.runner", "a place of the runner's or the kernel's; not carried to the verifier"},
	[CARRY_AUTORUN] = {"carry.autorun",
			   "would run in the verifier because of its name; the image's version, or none, is there"},
	[CARRY_STARTUP] =
		{"carry.startup",
		 "read by shells, the loader or tools when they start; the image's version, or none, is there"},
	[CARRY_PYTEST] = {"carry.pytest-section",
			  "changes what pytest or another tool that judges is told, or where packages are installed "
			  "from; the image's version, or none, is there"},
	[CARRY_PLUGIN] = {"carry.pytest-plugin", "would be loaded by pytest as a plugin; not carried to the verifier"},
	[CARRY_GIT] = {"carry.git-hook", "would be run or obeyed by git; the image's version, or none, is there"},
	[CARRY_GIT_CUT] = {"carry.git-config", "carried without the keys that can make git run something"},
	[CARRY_ACCOUNTS] = {"carry.accounts", "changes the image's users or groups; the image's version is there"},
	[CARRY_INSTALLER] = {"carry.installer", "a database or cache of an installer, or of a tool that would use it "
						"unasked; the image's version, or none, is there"},
	[CARRY_MODULE] =
		{"carry.module",
		 "takes the place of a module of Python's or of a test tool where the verifier starts; not carried"},
	[CARRY_REPLACES] = {"carry.replaces",
			    "replaces a program or library of the image; the image's version is there"},
	[CARRY_DELETES] = {"carry.deletes", "deletes a program or library of the image; it is there"},
	[CARRY_SHADOWS] = {"carry.shadows",
			   "takes the place of a command, library or package of the image; not carried"},
	[CARRY_TOOL] = {"carry.tool",
			"a shell, installer or test tool that the image does not have; not carried to the verifier"},
	[CARRY_TESTS] = {"carry.tests",
			 "the tests install or make it themselves; not carried, so that they use their own"},
	[CARRY_TESTS_CUT] = {"carry.tests-unread",
			     "more scripts than are read: what the rest of them names or installs is not known"},
	[CARRY_BROUGHT] = {"carry.tests-own",
			   "the tests have one of that name themselves, and would find this in its place; not carried"},
	[CARRY_UNNAMED] = {"carry.unnamed", "a new command that neither the tests nor the task's solution name; what "
					    "else runs in the verifier is the image's"},
	[CARRY_ASKED] = {"carry.asked", "a package of the image imports it where there is one, and neither the tests "
					"nor the task's solution name it; not carried"},
	[CARRY_SYSTEM] = {"carry.system", "new where programs of the image load from; not carried"},
	[CARRY_LINK] = {"carry.link", "a link in the place of a folder; the image's version, or none, is there"},
	[CARRY_LINK_RUNNER] = {"carry.link-runner",
			       "a link to a place of the runner's or the kernel's, or to a device; not carried"},
	[CARRY_LINK_NOWHERE] =
		{"carry.link-nowhere",
		 "a link to what the verifier does not have, or to where its tests keep their own files; not carried"},
	[CARRY_LINK_TESTS] = {"carry.link-tests", "a link that the tests could write through, by a name that they use "
						  "and the task's instruction does not; not carried"},
	[CARRY_LINK_COPIED] =
		{"carry.link-copied",
		 "a link that the tests could write through; carried as a copy of the file that it leads to"},
	[CARRY_SCRATCH] =
		{"carry.scratch",
		 "left in a place for scratch files, and the task's instruction does not name it; not carried"},
	[CARRY_WRITTEN] = {"carry.written", "in the place of what the tests write or bring themselves, and the task's "
					    "instruction does not name it; not carried"},
	[CARRY_SETUID] = {"carry.setuid", "carried without its setuid or setgid bit"},
	[CARRY_SAME] = {"carry.same", "as the image has it"},
	[CARRY_DEEP] = {"carry.deep", "too deep in folders; not carried"},
};

/* parent: how the folder's path ends, at a slash; NULL: any. */
struct name_rule {
	const char *parent, *name;
	enum carry_name is;
};

static const struct name_rule anywhere[] = {
	{NULL, "conftest.py", NAME_CONFTEST}, {NULL, "conftest", NAME_CONFTEST}, {NULL, "conftest.so", NAME_CONFTEST},
	{NULL, "conftest.*.so", NAME_CONFTEST}, {NULL, "sitecustomize*", NAME_AUTORUN},
	{NULL, "usercustomize*", NAME_AUTORUN}, {NULL, "*.pth", NAME_SITE}, {NULL, "*.egg-link", NAME_AUTORUN},
	{NULL, "__pycache__", NAME_AUTORUN}, {NULL, "*.py[co]", NAME_AUTORUN}, {NULL, "pytest.ini", NAME_AUTORUN},
	{NULL, ".pytest.ini", NAME_AUTORUN}, {NULL, "pytest.toml", NAME_AUTORUN}, {NULL, ".pytest.toml", NAME_AUTORUN},
	{NULL, ".coveragerc*", NAME_AUTORUN}, {NULL, ".pdbrc", NAME_AUTORUN}, {NULL, "setup.cfg", NAME_SECTIONS},
	{NULL, "tox.ini", NAME_SECTIONS}, {NULL, "pyproject.toml", NAME_PYPROJECT},
	{NULL, "entry_points.txt", NAME_PLUGINS}, {NULL, "pyvenv.cfg", NAME_VENV},
	{NULL, ".node_modules", NAME_AUTORUN}, {NULL, ".node_libraries", NAME_AUTORUN},
	{NULL, "mypy.ini", NAME_CHECKER}, {NULL, ".mypy.ini", NAME_CHECKER}, {NULL, "pylintrc", NAME_CHECKER},
	{NULL, ".pylintrc", NAME_CHECKER}, {NULL, "pylintrc.toml", NAME_CHECKER},
	{NULL, ".pylintrc.toml", NAME_CHECKER}, {NULL, ".flake8", NAME_CHECKER},
	{NULL, ".python-version*", NAME_VERSION}, {NULL, ".tool-versions", NAME_PINNED_KEPT},
	{NULL, "rust-toolchain", NAME_PINNED}, {NULL, "rust-toolchain.toml", NAME_PINNED},
	{NULL, "mise.toml", NAME_STARTUP}, {NULL, "mise.*.toml", NAME_STARTUP}, {NULL, ".mise*.toml", NAME_STARTUP},
	{NULL, ".mise", NAME_STARTUP}, {".config", "mise*", NAME_STARTUP}, {"mise", "config*.toml", NAME_STARTUP},
	{NULL, "*._pth", NAME_AUTORUN}, {"lib", "python[0-9]*.zip", NAME_AUTORUN},
	{"lib64", "python[0-9]*.zip", NAME_AUTORUN}, {NULL, "pybuilddir.txt", NAME_AUTORUN},
	/* shells and their like */
	{NULL, ".bash_profile", NAME_STARTUP}, {NULL, ".bash_login", NAME_STARTUP},
	{NULL, ".bash_logout", NAME_STARTUP}, {NULL, ".bash_aliases", NAME_STARTUP}, {NULL, ".bashrc", NAME_STARTUP},
	{NULL, ".profile", NAME_STARTUP}, {NULL, ".z[sp]h*", NAME_STARTUP}, {NULL, ".zprofile", NAME_STARTUP},
	{NULL, ".zlog*", NAME_STARTUP}, {NULL, ".cshrc", NAME_STARTUP}, {NULL, ".tcshrc", NAME_STARTUP},
	{NULL, ".login", NAME_STARTUP}, {NULL, ".logout", NAME_STARTUP}, {NULL, ".kshrc", NAME_STARTUP},
	{NULL, ".mkshrc", NAME_STARTUP}, {NULL, ".ashrc", NAME_STARTUP}, {NULL, ".shrc", NAME_STARTUP},
	{NULL, ".inputrc", NAME_STARTUP}, {NULL, ".pam_environment", NAME_STARTUP}, {NULL, ".xprofile", NAME_STARTUP},
	{NULL, ".xsessionrc", NAME_STARTUP},
	/* tools that can be told to run something */
	{NULL, ".pip", NAME_STARTUP}, {NULL, "pip.conf", NAME_STARTUP}, {NULL, "uv.toml", NAME_STARTUP},
	{NULL, ".pydistutils.cfg", NAME_STARTUP}, {NULL, ".pypirc", NAME_STARTUP}, {NULL, ".pythonrc*", NAME_STARTUP},
	{NULL, ".condarc", NAME_STARTUP}, {NULL, ".mambarc", NAME_STARTUP}, {NULL, ".npmrc", NAME_STARTUP},
	{NULL, ".yarnrc*", NAME_STARTUP}, {NULL, ".gemrc", NAME_STARTUP}, {NULL, ".curlrc", NAME_STARTUP},
	{NULL, "_curlrc", NAME_STARTUP}, {NULL, ".wgetrc", NAME_STARTUP}, {NULL, ".gdbinit", NAME_STARTUP},
	{NULL, ".lldbinit", NAME_STARTUP}, {NULL, ".Rprofile", NAME_STARTUP}, {NULL, ".Renviron", NAME_STARTUP},
	{NULL, ".irbrc", NAME_STARTUP}, {NULL, ".pryrc", NAME_STARTUP}, {NULL, ".ghci", NAME_STARTUP},
	{NULL, ".proverc", NAME_STARTUP}, {NULL, ".perldb", NAME_STARTUP}, {NULL, ".vimrc", NAME_STARTUP},
	{NULL, ".exrc", NAME_STARTUP}, {NULL, ".screenrc", NAME_STARTUP}, {NULL, ".tmux.conf", NAME_STARTUP},
	{NULL, ".octaverc", NAME_STARTUP}, {NULL, ".mailrc", NAME_STARTUP}, {NULL, ".hgrc", NAME_STARTUP},
	{NULL, "hgrc", NAME_STARTUP}, {NULL, "hgrc-not-shared", NAME_STARTUP}, {NULL, ".rpmmacros", NAME_STARTUP},
	{NULL, ".gitconfig", NAME_GIT_CONFIG}, {".config/git", "config", NAME_GIT_CONFIG},
	{".config/git", "*", NAME_STARTUP}, {".config", "pip", NAME_STARTUP}, {".config", "uv", NAME_STARTUP},
	{".config", "pypoetry", NAME_STARTUP}, {".config", "fish", NAME_STARTUP}, {".config", "systemd", NAME_STARTUP},
	{".config", "autostart", NAME_STARTUP}, {".config", "environment.d", NAME_STARTUP},
	{".config", "npm", NAME_STARTUP}, {".config", "pnpm", NAME_STARTUP}, {".config", "yarn", NAME_STARTUP},
	{".config", "conda", NAME_STARTUP}, {".config", "direnv", NAME_STARTUP}, {".config", "gdb", NAME_STARTUP},
	{".config", "zsh", NAME_STARTUP}, {".config", "nvim", NAME_STARTUP}, {".gnupg", "*.conf", NAME_STARTUP},
	{".ssh", "config", NAME_STARTUP}, {".ssh", "rc", NAME_STARTUP}, {".ssh", "environment", NAME_STARTUP},
	{".cargo", "config*", NAME_STARTUP}, {".cargo", "env*", NAME_STARTUP}, {".m2", "settings*.xml", NAME_STARTUP},
	{".bundle", "config", NAME_STARTUP}, {".gradle", "init*", NAME_STARTUP},
	{".gradle", "gradle.properties", NAME_STARTUP}, {NULL, ".ipython", NAME_STARTUP},
	{NULL, ".jupyter", NAME_STARTUP}, {".local/bin", "env*", NAME_STARTUP},
	{".local/share", "bash-completion", NAME_STARTUP}, {".local/share", "jupyter", NAME_STARTUP},
	{".local/share", "fish", NAME_STARTUP}, {".local/share", "nvim", NAME_STARTUP},
	{".local/share", "zsh", NAME_STARTUP}, {".local/share", "emacs", NAME_STARTUP},
	{".local/share", "powershell", NAME_STARTUP}, {".local/share", "systemd", NAME_STARTUP},
	{".local/share", "dbus-1", NAME_STARTUP}, {".local/share", "gem", NAME_INSTALLER},
	{"/var/lib", "gems", NAME_INSTALLER},
	/* installers */
	{".cache", "pip", NAME_INSTALLER}, {".cache", "uv", NAME_INSTALLER}, {".cache", "pypoetry", NAME_INSTALLER},
	{".cache", "pre-commit", NAME_INSTALLER}, {".cache", "yarn", NAME_INSTALLER},
	{".cache", "pipx", NAME_INSTALLER}, {".cache", "go-build", NAME_INSTALLER}, {".cache", "zig", NAME_INSTALLER},
	{".cache", "node", NAME_INSTALLER}, {".cache", "ccache", NAME_INSTALLER}, {".cache", "sccache", NAME_INSTALLER},
	{".cache", "dune", NAME_INSTALLER}, {".cache", "nim", NAME_INSTALLER}, {".cache", "crystal", NAME_INSTALLER},
	{".cache", "bazelisk", NAME_INSTALLER}, {".cache", "rebar3", NAME_INSTALLER},
	{".cache", "ms-playwright*", NAME_INSTALLER}, {".cache", "Cypress", NAME_INSTALLER},
	{".cache", "selenium", NAME_INSTALLER}, {".local/share", "NuGet", NAME_INSTALLER},
	{".local/share", "mise", NAME_INSTALLER}, {".local/share", "rtx", NAME_INSTALLER},
	{".local/share", "fnm", NAME_INSTALLER}, {".local/state", "nix", NAME_INSTALLER},
	{NULL, ".mypy_cache", NAME_INSTALLER}, {NULL, ".ruff_cache", NAME_INSTALLER},
	{"node_modules", ".cache", NAME_INSTALLER}, {"node_modules", ".vite*", NAME_INSTALLER},
	{"/tmp", "jest_*", NAME_INSTALLER}, {"/tmp", "node-compile-cache", NAME_INSTALLER},
	{"/tmp", "v8-compile-cache*", NAME_INSTALLER}, {"/tmp", "tsx-*", NAME_INSTALLER},
	{"/tmp", "ts-node-*", NAME_INSTALLER}, {".local/share", "uv", NAME_INSTALLER},
	{".local/share", "pipx", NAME_INSTALLER}, {".local/share", "virtualenv", NAME_INSTALLER},
	{".npm", "_cacache", NAME_INSTALLER}, {".npm", "_npx", NAME_INSTALLER}, {"/var/lib", "dpkg", NAME_INSTALLER},
	{"/var/lib", "apt", NAME_INSTALLER}, {"/var/lib", "rpm", NAME_INSTALLER},
	{"/var/lib", "pacman", NAME_INSTALLER}, {"/lib/apk", "db", NAME_INSTALLER},
	{"/var/cache", "apt", NAME_INSTALLER}, {"/var/cache", "apk", NAME_INSTALLER},
	{"/var/cache", "debconf", NAME_INSTALLER}, {"/var/cache", "ldconfig", NAME_INSTALLER},
	{"/var/spool", "cron*", NAME_STARTUP}, {"/var/spool", "at*", NAME_STARTUP},
	{"/var/lib", "systemd", NAME_STARTUP}, {"/var/lib", "pam", NAME_STARTUP},
	{"/var/lib", "alternatives", NAME_STARTUP},
};

/*
 * What test runners and those who start them load, or run programs for, unasked. What a project is built by is not
 * among them: package.json, Makefile, CMakeLists.txt, vite.config, babel.config, tsconfig.json and their like are the
 * agent's work. Packages in node_modules bring such files for their own tests, which nobody looks for there.
 */
static const struct name_rule runners[] = {
	/* node */
	{NULL, ".mocharc*", NAME_AUTORUN}, {"test", "mocha.opts", NAME_AUTORUN}, {NULL, "jest.config.*", NAME_AUTORUN},
	{NULL, "jest-preset.*", NAME_AUTORUN}, {NULL, "jest.setup.*", NAME_KEPT}, {"src", "setupTests.*", NAME_AUTORUN},
	{NULL, "vitest.config.*", NAME_AUTORUN}, {NULL, "vitest.workspace.*", NAME_AUTORUN},
	{NULL, "vitest.projects.*", NAME_AUTORUN}, {NULL, "vitest.setup.*", NAME_KEPT},
	{NULL, "ava.config.*", NAME_AUTORUN}, {NULL, "karma.conf.*", NAME_AUTORUN},
	{NULL, "playwright.config.*", NAME_AUTORUN}, {NULL, "playwright-ct.config.*", NAME_AUTORUN},
	{NULL, "cypress.config.*", NAME_AUTORUN}, {NULL, "cypress.json", NAME_AUTORUN},
	{"cypress/support", "*", NAME_AUTORUN}, {"cypress/plugins", "*", NAME_AUTORUN}, {NULL, ".nycrc*", NAME_AUTORUN},
	{NULL, "nyc.config.*", NAME_AUTORUN}, {NULL, ".c8rc*", NAME_AUTORUN}, {NULL, ".taprc*", NAME_AUTORUN},
	{NULL, "wdio.conf.*", NAME_AUTORUN}, {NULL, "testem.js", NAME_AUTORUN}, {NULL, "testem.[cm]js", NAME_AUTORUN},
	{NULL, "testem.json", NAME_AUTORUN}, {NULL, "testem.y*ml", NAME_AUTORUN}, {NULL, ".testem.*", NAME_AUTORUN},
	{"spec/support", "jasmine*", NAME_AUTORUN}, {NULL, "nightwatch.conf.*", NAME_AUTORUN},
	{NULL, "nightwatch.json", NAME_AUTORUN}, {NULL, "protractor.conf.*", NAME_AUTORUN},
	{NULL, "web-test-runner.config.*", NAME_AUTORUN}, {NULL, ".labrc*", NAME_AUTORUN},
	{NULL, "codecept.conf.*", NAME_AUTORUN}, {NULL, "codecept.json", NAME_AUTORUN},
	{NULL, "cucumber.*js*", NAME_AUTORUN}, {NULL, "cucumber.y*ml", NAME_AUTORUN},
	{"features/support", "env.*", NAME_AUTORUN}, {NULL, ".pnp.cjs", NAME_AUTORUN}, {NULL, ".pnp.js", NAME_AUTORUN},
	{NULL, ".pnp.loader.mjs", NAME_AUTORUN}, {NULL, ".pnpmfile.*", NAME_AUTORUN},
	{NULL, "pnpmfile.*js", NAME_AUTORUN}, {NULL, "bunfig.toml", NAME_AUTORUN}, {NULL, ".bunfig.toml", NAME_AUTORUN},
	{NULL, "rstest.config.*", NAME_AUTORUN}, {NULL, "deno.json", NAME_KEPT}, {NULL, "deno.jsonc", NAME_KEPT},
	/* Python, Ruby, PHP, Perl, Lua, R, Dart, shells */
	{NULL, "tox.toml", NAME_AUTORUN}, {NULL, "behave.ini", NAME_AUTORUN}, {NULL, ".behaverc", NAME_AUTORUN},
	{"features", "environment.py", NAME_AUTORUN}, {NULL, "unittest.cfg", NAME_AUTORUN},
	{NULL, "nose2.cfg", NAME_AUTORUN}, {NULL, ".noserc", NAME_AUTORUN}, {NULL, "nose.cfg", NAME_AUTORUN},
	{NULL, "__init__.robot", NAME_AUTORUN}, {NULL, ".rspec*", NAME_AUTORUN}, {NULL, ".simplecov", NAME_AUTORUN},
	{NULL, "phpunit.xml*", NAME_AUTORUN}, {NULL, "phpunit.dist.xml", NAME_AUTORUN},
	{"tests", "Pest.php", NAME_AUTORUN}, {NULL, "codeception*.y*ml", NAME_AUTORUN},
	{NULL, "behat.y*ml*", NAME_AUTORUN}, {NULL, "phpspec.y*ml*", NAME_AUTORUN},
	{NULL, ".phpspec.y*ml*", NAME_AUTORUN}, {NULL, ".user.ini", NAME_STARTUP}, {NULL, ".yath*.rc", NAME_AUTORUN},
	{NULL, ".busted", NAME_AUTORUN}, {NULL, ".luacov", NAME_AUTORUN}, {"testthat", "setup*.[rR]", NAME_AUTORUN},
	{"testthat", "helper*.[rR]", NAME_AUTORUN}, {"testthat", "teardown*.[rR]", NAME_AUTORUN},
	{"renv", "activate.R", NAME_KEPT}, {NULL, "dart_test.yaml", NAME_AUTORUN}, {NULL, ".shellspec*", NAME_AUTORUN},
	/* options of what builds and tests at once */
	{NULL, "CTestCustom.*", NAME_AUTORUN}, {NULL, ".bazelrc", NAME_AUTORUN}, {"tools", "bazel", NAME_AUTORUN},
	{".mvn", "jvm.config", NAME_AUTORUN}, {".mvn", "maven.config", NAME_AUTORUN},
	{".mvn", "extensions.xml", NAME_AUTORUN}, {NULL, ".jvmopts", NAME_AUTORUN}, {NULL, ".sbtopts", NAME_AUTORUN},
	{NULL, "Directory.Build.rsp", NAME_AUTORUN}, {".config", "nextest.toml", NAME_AUTORUN},
	{"test", "test_helper.exs", NAME_KEPT}, {NULL, "gradle.properties", NAME_KEPT},
	{NULL, "foundry.toml", NAME_KEPT}, {NULL, "global.json", NAME_PINNED_KEPT},
};

/* The first name below /etc. */
static const struct name_rule below_etc[] = {
	{NULL, "passwd", NAME_PASSWD}, {NULL, "shadow", NAME_ACCOUNTS}, {NULL, "group", NAME_ACCOUNTS},
	{NULL, "gshadow", NAME_ACCOUNTS}, {NULL, "subuid", NAME_ACCOUNTS}, {NULL, "subgid", NAME_ACCOUNTS},
	{NULL, "gitconfig", NAME_GIT_CONFIG}, {NULL, "init.d", NAME_KEPT}, {NULL, "default", NAME_KEPT},
	{NULL, "logrotate.d", NAME_KEPT}, {NULL, "shells", NAME_KEPT}, {NULL, "services", NAME_KEPT},
	{NULL, "protocols", NAME_KEPT}, {NULL, "ld.so*", NAME_STARTUP}, {NULL, "ld-musl*", NAME_STARTUP},
	{NULL, "profile*", NAME_STARTUP}, {NULL, "environment*", NAME_STARTUP}, {NULL, "bash*", NAME_STARTUP},
	{NULL, "zsh*", NAME_STARTUP}, {NULL, "zprofile", NAME_STARTUP}, {NULL, "zlog*", NAME_STARTUP},
	{NULL, "csh*", NAME_STARTUP}, {NULL, "ksh*", NAME_STARTUP}, {NULL, "mkshrc", NAME_STARTUP},
	{NULL, "fish", NAME_STARTUP}, {NULL, "inputrc", NAME_STARTUP}, {NULL, "host*", NAME_STARTUP},
	{NULL, "resolv*", NAME_STARTUP}, {NULL, "nsswitch*", NAME_STARTUP}, {NULL, "gai.conf", NAME_STARTUP},
	{NULL, "netconfig", NAME_STARTUP}, {NULL, "pam*", NAME_STARTUP}, {NULL, "security", NAME_STARTUP},
	{NULL, "sudo*", NAME_STARTUP}, {NULL, "doas*", NAME_STARTUP}, {NULL, "cron*", NAME_STARTUP},
	{NULL, "anacrontab", NAME_STARTUP}, {NULL, "at.*", NAME_STARTUP}, {NULL, "systemd", NAME_STARTUP},
	{NULL, "init", NAME_STARTUP}, {NULL, "inittab*", NAME_STARTUP}, {NULL, "inetd*", NAME_STARTUP},
	{NULL, "xinetd*", NAME_STARTUP}, {NULL, "rc*", NAME_STARTUP}, {NULL, "runlevels", NAME_STARTUP},
	{NULL, "mod*", NAME_STARTUP}, {NULL, "sysctl*", NAME_STARTUP}, {NULL, "udev", NAME_STARTUP},
	{NULL, "apt", NAME_STARTUP}, {NULL, "dpkg", NAME_STARTUP}, {NULL, "apk", NAME_STARTUP},
	{NULL, "yum*", NAME_STARTUP}, {NULL, "dnf", NAME_STARTUP}, {NULL, "rpm", NAME_STARTUP},
	{NULL, "pacman*", NAME_STARTUP}, {NULL, "zypp", NAME_STARTUP}, {NULL, "alternatives", NAME_STARTUP},
	{NULL, "ssl", NAME_STARTUP}, {NULL, "ca-certificates*", NAME_STARTUP}, {NULL, "pki", NAME_STARTUP},
	{NULL, "crypto-policies", NAME_STARTUP}, {NULL, "gnutls", NAME_STARTUP}, {NULL, "perl", NAME_STARTUP},
	{NULL, "python*", NAME_STARTUP}, {NULL, "ipython", NAME_STARTUP}, {NULL, "jupyter", NAME_STARTUP},
	{NULL, "xdg", NAME_STARTUP}, {NULL, "pip*", NAME_STARTUP}, {NULL, "uv", NAME_STARTUP},
	{NULL, "conda*", NAME_STARTUP}, {NULL, "php*", NAME_STARTUP}, {NULL, "R", NAME_STARTUP},
	{NULL, "ruby*", NAME_STARTUP}, {NULL, "node*", NAME_STARTUP}, {NULL, "npm*", NAME_STARTUP},
	{NULL, "java*", NAME_STARTUP}, {NULL, "maven*", NAME_STARTUP}, {NULL, "gradle*", NAME_STARTUP},
	{NULL, "gdb", NAME_STARTUP}, {NULL, "krb5*", NAME_STARTUP}, {NULL, "sasl*", NAME_STARTUP},
	{NULL, "gss", NAME_STARTUP}, {NULL, "ldap", NAME_STARTUP}, {NULL, "skel", NAME_STARTUP},
	{NULL, "login.defs", NAME_STARTUP}, {NULL, "securetty", NAME_STARTUP}, {NULL, "locale*", NAME_STARTUP},
	{NULL, "vim", NAME_STARTUP}, {NULL, "emacs", NAME_STARTUP}, {NULL, "screenrc", NAME_STARTUP},
	{NULL, "tmux.conf", NAME_STARTUP}, {NULL, "wgetrc", NAME_STARTUP}, {NULL, "curlrc", NAME_STARTUP},
	{NULL, "X11", NAME_STARTUP}, {NULL, "dbus-1", NAME_STARTUP}, {NULL, "polkit-1", NAME_STARTUP},
	{NULL, "update-motd.d", NAME_STARTUP}, {NULL, "mtab", NAME_STARTUP}, {NULL, "fstab", NAME_STARTUP},
	{NULL, "mercurial", NAME_STARTUP}, {NULL, "subversion", NAME_STARTUP}, {NULL, "containers", NAME_STARTUP},
	{NULL, "docker", NAME_STARTUP}, {NULL, "OpenCL", NAME_STARTUP}, {NULL, "vulkan", NAME_STARTUP},
	{NULL, "gtk*", NAME_STARTUP}, {NULL, "*rc", NAME_STARTUP}, {NULL, "*init", NAME_STARTUP},
	{NULL, "my.cnf*", NAME_STARTUP}, {NULL, "ImageMagick*", NAME_STARTUP}, {NULL, "odbc*", NAME_STARTUP},
	{NULL, "gnupg", NAME_STARTUP}, {NULL, "mailcap*", NAME_STARTUP}, {NULL, "postgresql-common", NAME_STARTUP},
	{NULL, "julia", NAME_STARTUP}, {NULL, "lua*", NAME_STARTUP}, {NULL, "tcl*", NAME_STARTUP},
	{NULL, "texmf*", NAME_STARTUP}, {NULL, "busybox.conf", NAME_STARTUP}, {NULL, "ant*", NAME_STARTUP},
	{NULL, "dotnet", NAME_STARTUP}, {NULL, "[Ll]atex[Mm]k*", NAME_STARTUP}, {NULL, "sbt*", NAME_STARTUP},
	{NULL, "opam*", NAME_STARTUP}, {NULL, "octave*", NAME_STARTUP}, {NULL, "magic*", NAME_STARTUP},
	/* scripts read it as one of theirs: ". /etc/os-release" */
	{NULL, "os-release", NAME_STARTUP}, {NULL, "lsb-release*", NAME_STARTUP},
};

/* Does the path of a folder end with that, at a slash? */
static bool folder_ends(struct sv folder, const char *end)
{
	size_t n = strlen(end);

	return sv_ends(folder, end) && (folder.n == n || end[0] == '/' || folder.p[folder.n - n - 1] == '/');
}

static enum carry_name find(const struct name_rule *v, size_t n, struct sv folder, struct sv name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (glob_component(sv_of(v[i].name), name) &&
		    (!v[i].parent ||
		     (v[i].parent[0] == '/' ? sv_is(folder, v[i].parent) : folder_ends(folder, v[i].parent))))
			return v[i].is;
	return NAME_PLAIN;
}

/* Rules for a folder below /etc hold for all in it. */
static struct sv first_below(const char *path, const char *folder)
{
	const char *s = path + strlen(folder), *end = strchr(s, '/');

	return sv_n(s, end ? (size_t)(end - s) : strlen(s));
}

enum carry_name carry_name_of(const char *path)
{
	static const char *const etc[] = {"/etc/", "/usr/etc/", "/usr/local/etc/"};
	const char *slash = strrchr(path, '/');
	struct sv folder = sv_n(path, (size_t)(slash - path)), name = sv_of(slash + 1);
	enum carry_name r = find(anywhere, ARRAY_LEN(anywhere), folder, name);
	size_t i;

	if (r == NAME_PLAIN && !strstr(path, "/node_modules/"))
		r = find(runners, ARRAY_LEN(runners), folder, name);
	for (i = 0; r == NAME_PLAIN && i < ARRAY_LEN(etc); i++)
		if (strncmp(path, etc[i], strlen(etc[i])) == 0)
			r = find(below_etc, ARRAY_LEN(below_etc), folder, first_below(path, etc[i]));
	if (r == NAME_PLAIN &&
	    (strcmp(path, "/etc/ssh/ssh_config") == 0 || strncmp(path, "/etc/ssh/ssh_config.d", 21) == 0))
		r = NAME_STARTUP;
	return r;
}

static bool listed(const char *const *v, size_t n, struct sv name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (glob_component(sv_of(v[i]), name))
			return true;
	return false;
}

/* What Python, pip or pytest try to import though hardly an image has it: of other systems, of older Pythons, of a
 * distribution's hooks. */
static const char *const absent_modules[] = {
	"org", "nt", "msvcrt", "winreg", "winsound", "_winapi", "_winreg", "_wmi", "_overlapped", "_msi", "msilib",
	"_scproxy", "vms_lib", "win32*", "apport_python_hook", "_manylinux", "urllib3_secure_extra", "brotli",
	"brotlicffi", "_brotli*", "truststore", "ctags", "jnius", "apipkg", "railroad", "cPickle", "StringIO",
	"cStringIO", "Queue", "ConfigParser", "HTMLParser", "__builtin__", "__pypy__", "_abcoll", "dummy_thread*",
	"httplib", "urllib2", "urlparse", "xmlrpclib", "htmlentitydefs",
};

/* Of the standard library. Not among them: what newer Pythons have no more, and which is installed from elsewhere. */
static const char *const standard_modules[] = {
	"__future__", "_abc", "_aix_support", "_android_support", "_apple_support", "_asyncio", "_bisect", "_blake2",
	"_bootsubprocess", "_bz2", "_codecs_*", "_collections_abc", "_colorize", "_compat*", "_compression",
	"_contextvars", "_crypt", "_csv", "_ctypes", "_curses*", "_datetime", "_dbm", "_decimal", "_elementtree",
	"_frozen_importlib*", "_gdbm", "_hashlib", "_heapq", "_hmac", "_interp*", "_ios_support", "_json", "_lsprof",
	"_lzma", "_markupbase", "_md5", "_multibytecodec", "_multiprocessing", "_opcode", "_opcode_metadata",
	"_osx_support", "_pickle", "_posix*", "_posixshmem", "_py_abc", "_pydatetime", "_pydecimal", "_pyio", "_pylong",
	"_pyrepl", "_queue", "_random", "_remote_debugging", "_sha*", "_sitebuiltins", "_socket", "_sqlite3", "_ssl",
	"_statistics", "_strptime", "_struct", "_suggestions", "_sysconfig", "_sysconfigdata*", "_testcapi",
	"_testinternalcapi", "_threading_local", "_tkinter", "_typing", "_uuid", "_weakrefset", "_zoneinfo", "_zstd",
	"abc", "annotationlib", "argparse", "array", "ast", "asyncio", "atexit", "base64", "bdb", "binascii", "bisect",
	"builtins", "bz2", "cProfile", "calendar", "cmath", "cmd", "code", "codecs", "codeop", "collections",
	"compileall", "concurrent", "configparser", "contextlib", "contextvars", "copy", "copyreg", "csv", "ctypes",
	"curses", "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis", "doctest", "email", "encodings",
	"ensurepip", "enum", "errno", "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib",
	"functools", "gc", "genericpath", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib",
	"heapq", "hmac", "html", "http", "idlelib", "imaplib", "importlib", "inspect", "io", "ipaddress", "itertools",
	"json", "keyword", "lib2to3", "linecache", "locale", "logging", "lzma", "mailbox", "marshal", "math",
	"mimetypes", "mmap", "modulefinder", "multiprocessing", "netrc", "ntpath", "nturl2path", "numbers", "opcode",
	"operator", "optparse", "os", "ossaudiodev", "pathlib", "pdb", "pickle", "pickletools", "pkgutil", "platform",
	"plistlib", "poplib", "posix", "posixpath", "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr",
	"pydoc", "pydoc_data", "pyexpat", "queue", "quopri", "random", "re", "readline", "reprlib", "resource",
	"rlcompleter", "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal",
	"site", "smtplib", "socket", "socketserver", "sqlite3", "sre_*", "ssl", "stat", "statistics", "string",
	"stringprep", "struct", "subprocess", "symtable", "sys", "sysconfig", "syslog", "tabnanny", "tarfile",
	"tempfile", "termios", "textwrap", "threading", "time", "timeit", "tkinter", "token", "tokenize", "tomllib",
	"trace", "traceback", "tracemalloc", "tty", "types", "typing", "unicodedata", "unittest", "urllib", "uuid",
	"venv", "warnings", "weakref", "webbrowser", "wsgiref", "xml", "xmlrpc", "xxlimited*", "zipapp", "zipfile",
	"zipimport", "zlib", "zoneinfo",
};

static const char *const other_modules[] = {
	"aifc", "asynchat", "asyncore", "attr", "attrs", "audioop", "certifi", "cgi", "cgitb", "crypt", "imghdr", "imp",
	"importlib_metadata", "mailcap", "nis", "nntplib", "pipes", "sndhdr", "spwd", "telnetlib", "typing_extensions",
	"uu", "xdrlib", "zipp",
};

bool carry_absent_module(struct sv name)
{
	return listed(absent_modules, ARRAY_LEN(absent_modules), name);
}

bool carry_standard_module(struct sv name)
{
	return carry_absent_module(name) || listed(standard_modules, ARRAY_LEN(standard_modules), name);
}

bool carry_module_taken(struct sv name)
{
	return carry_standard_module(name) || listed(other_modules, ARRAY_LEN(other_modules), name) ||
	       carry_tool_package(name);
}

bool carry_tool_command(struct sv name)
{
	static const char *const commands[] = {
		"pytest*", "py.test", "python*", "pypy*", "pip", "pip[23]*", "uv", "uvx", "pipx", "poetry", "tox",
		"nox", "nose*", "conda", "mamba", "micromamba", "virtualenv", "coverage*", "ctrf*", "sh", "bash",
		"dash", "zsh", "ash", "ksh", "mksh", "fish", "busybox", "toybox", "env", "sudo", "su", "doas", "curl",
		"wget", "git", "git-*", "apt", "apt-*", "aptitude", "dpkg", "dpkg-*", "apk", "yum", "dnf", "microdnf",
		"rpm", "pacman", "snap", "node", "nodejs", "npm", "npx", "yarn", "pnpm", "bun", "bunx", "deno", "tsx",
		"ts-node", "corepack", "jest", "mocha", "vitest", "ava", "tap", "jasmine", "playwright", "perl*",
		"ruby*", "gem", "bundle", "rspec", "prove", "bats", "timeout", "tee", "diff", "cmp", "test", "[[]",
		"true", "false", "cat", "echo", "grep", "sed", "awk", "bc", "jq", "expect", "script", "sha*sum",
		"md5sum",
	};

	return listed(commands, ARRAY_LEN(commands), name);
}

bool carry_tool_package(struct sv stem)
{
	static const char *const packages[] = {
		"pytest", "pytest_*", "_pytest*", "py", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli",
		"pygments", "colorama", "argcomplete", "xdist", "execnet", "pip", "setuptools", "pkg_resources",
		"_distutils*", "distutils*", "wheel", "uv", "pipx", "virtualenv", "coverage", "hypothesis",
		"_hypothesis*", "tox", "nox", "nose*", "unittest2", "testfixtures", "ctrf*", "jest", "jest-*", "@jest",
		"mocha", "vitest", "@vitest", "ava", "tap", "jasmine*", "playwright*", "@playwright", "npm", "npx",
		"corepack", "yarn", "pnpm", "tsx", "ts-node",
	};

	return listed(packages, ARRAY_LEN(packages), stem);
}

enum carry_home carry_home_name(struct sv name)
{
	static const char *const data[] = {
		".ssh", ".gnupg", ".cache", ".config", ".local", ".npm", ".git", ".gitignore*", ".gitattributes",
		".env", ".env.*", ".cargo", ".m2", ".gradle", ".ivy2", ".opam", ".cabal", ".stack", ".julia", ".nuget",
		".virtualenvs", ".venv", ".venvs", ".keras", ".torch", ".ollama", ".EasyOCR", ".insightface", ".u2net",
		".paddleocr", ".kaggle", ".wine", ".*_history", ".lesshst", ".viminfo", ".wget-hsts", ".pgpass",
		".netrc", ".hushlogin", ".Xauthority", ".sudo_as_admin_successful",
	};
	static const char *const tools[] = {".rustup", ".nvm",    ".pyenv", ".rbenv",   ".nodenv",
					    ".jenv",   ".sdkman", ".volta", ".asdf",    ".bun",
					    ".deno",   ".elan",   ".ghcup", ".juliaup", ".dotnet"};

	if (listed(tools, ARRAY_LEN(tools), name))
		return HOME_TOOL;
	return name.n == 0 || name.p[0] != '.' || listed(data, ARRAY_LEN(data), name) ? HOME_DATA : HOME_STARTUP;
}

bool carry_startup_looks(struct sv name)
{
	static const char *const looks[] = {".*rc",   ".*rc.*",     ".*.cnf", ".*.conf",
					    ".*init", ".*profile*", ".jq",    ".psqlrc*"};
	static const char *const projects[] = {".eslintrc*", ".prettierrc*", ".babelrc*",      ".stylelintrc*",
					       ".swcrc",     ".nvmrc",       ".browserslistrc"};

	return listed(looks, ARRAY_LEN(looks), name) && !listed(projects, ARRAY_LEN(projects), name);
}

bool carry_loaded_folder(struct sv name)
{
	static const char *const folders[] = {
		"gconv*", "glibc-hwcaps", "tls", "x86_64", "haswell", "avx*", "security", "perl*", "site_perl",
		"site_ruby", "python*", "pypy*", "ruby*", "gems", "php*", "lua*", "tcl*", "tk*", "guile*", "R",
		"engines*", "ossl-modules", "sasl2", "locale", "systemd", "environment.d", "sysusers.d", "tmpfiles.d",
		"binfmt.d", "modprobe.d", "modules*", "udev", "init", "apt", "dpkg", "rpm", "apk", "git-core", "git",
		"bash*", "zsh", "fish", "gdb", "vim", "emacs", "pam*", "polkit-1", "dbus-1", "audit", "krb5*", "gss",
		"gtk*", "gio", "p11-kit", "pkcs11", "nss", "ca-certificates*", "mime", "nodejs", "node", "java", "sudo",
		"getconf", "locale-archive", "terminfo", "readline", "ssl*", "openssl*", "bfd-plugins", "compat-ld",
		"gold-ld", "gcc*", "cmake*", "coreutils", "file", "valgrind", "libfakeroot", "sysctl.d", "kernel",
		"girepository*", "gdk-pixbuf*",
	};

	return listed(folders, ARRAY_LEN(folders), name);
}

bool carry_seen_from_tests(struct sv name)
{
	static const char *const names[] = {
		"node_modules", "package.json", "*.config.*", "*.conf.js", ".*rc*", "tsconfig*.json", "jsconfig.json",
		"deno.json*", "bunfig.toml", "lerna.json", "nx.json", "pnpm-*.yaml", "go.work*", "go.mod", "Cargo.*",
		"pom.xml", "*.gradle*", "gradle.properties", "Gemfile*", "Rakefile*", "rakefile*", "phpunit.xml*",
		"composer.json", "Pipfile*", "poetry.toml", "mise.toml", "mypy.ini", "ruff.toml", "noxfile.py",
		"CMakePresets.json", "WORKSPACE*", "MODULE.bazel*", "Directory.*.props", "Directory.*.targets",
		"nuget.config", "global.json", "build.sbt", "mix.exs", "dune-*", "stack.yaml", "cabal.project*",
	};

	return listed(names, ARRAY_LEN(names), name);
}

bool carry_runner_place(const char *path)
{
	static const char *const places[] = {
		"/proc",     "/sys",    "/dev",      "/run",        "/var/run",         "/tests",  "/logs",
		"/solution", "/oracle", "/verifier", "/agent-logs", "/installed-agent", "/.cordon"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(places); i++)
		if (path_is_in(path, places[i]))
			return true;
	return false;
}

/* The others never end, or wait for what never comes: who reads one in the place of an answer is not done in time, and
 * a test that ran out of time is no score. */
bool carry_plain_device(const char *path)
{
	return strcmp(path, "/dev/null") == 0;
}
