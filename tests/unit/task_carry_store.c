/* task/carry: folders where build tools keep packages, and what they read when they start. */
#include "carry_world.h"

static const char *const env[] = {"HOME=/root",
				  "GOMODCACHE=/srv/mods",
				  "CARGO_HOME=/cargo/",
				  "GEM_HOME=/gems",
				  "UV_CACHE_DIR=/uvc",
				  "XDG_CACHE_HOME=/caches",
				  "XDG_DATA_HOME=/shares",
				  "JULIA_DEPOT_PATH=/tmp:/depot:",
				  NULL};

static void packages_of_the_image_stay_in_every_store(void)
{
	static const char *const mine[] = {"go/pkg/mod/example.com/assert@v1.0.0/assert.go",
					   "root/go/pkg/mod/cache/download/example.com/assert/@v/v1.0.0.zip",
					   "srv/mods/a@v1/a.go",
					   "root/.cargo/registry/src/idx/assert-1.0/src/lib.rs",
					   "root/.cargo/registry/cache/idx/assert-1.0.crate",
					   "cargo/registry/src/idx/assert-1.0/src/lib.rs",
					   "root/.m2/repository/junit/junit/4/junit-4.jar",
					   "root/.gradle/caches/modules-2/metadata-2.106/module-artifact.bin",
					   "root/.gradle/wrapper/dists/gradle-8/h/gradle-8/lib/core.jar",
					   "root/.ivy2/cache/a/a.jar",
					   "root/.julia/packages/Assert/abcd/src/Assert.jl",
					   "depot/packages/Assert/abcd/src/Assert.jl",
					   "root/.nuget/packages/xunit/2.0/lib/xunit.dll",
					   "root/.opam/config",
					   "root/.opam/repo/default.tar.gz",
					   "root/.cabal/store/ghc-9/p-1/lib/P.hi",
					   "root/.stack/snapshots/x/p.hi",
					   "root/.cache/coursier/v1/a.jar",
					   "root/.cache/deno/npm/chai/index.js",
					   "root/quicklisp/setup.lisp",
					   "gems/gems/rspec-3/lib/rspec.rb",
					   "uvc/wheels/x.whl",
					   "nix/store/abc-bash/share/rc",
					   "home/u/.m2/repository/a/a.pom",
					   "srv/x/.m2/repository/a/a.jar"};
	struct world w;
	size_t i, from;

	/* changed, and deleted */
	for (from = 0; from < 2; from++) {
		world_open(&w);
		w.req.env = env;
		for (i = 0; i < ARRAY_LEN(mine); i++) {
			put(w.image, mine[i], "the image's", 0644);
			if (from == 0)
				put(w.upper, mine[i], "evil", 0644);
			else
				delete(w.upper, mine[i]);
		}
		carry(&w);
		for (i = 0; i < ARRAY_LEN(mine); i++)
			dropped(&w, from == 0 ? "replaces" : "deletes", mine[i]);
		world_close(&w);
	}
}

static void nothing_is_added_to_a_package_of_the_image(void)
{
	static const struct {
		const char *image, *evil;
	} cases[] = {
		{"go/pkg/mod/example.com/assert@v1.0.0/assert.go", "go/pkg/mod/example.com/assert@v1.0.0/evil.go"},
		{"root/.cargo/registry/src/idx/assert-1.0/src/lib.rs",
		 "root/.cargo/registry/src/idx/assert-1.0/build.rs"},
		{"root/.julia/packages/Assert/abcd/src/Assert.jl", "root/.julia/packages/Assert/abcd/ext/E.jl"},
		{"root/.nuget/packages/xunit/2.0/lib/xunit.dll", "root/.nuget/packages/xunit/2.0/build"},
		{"root/.gradle/wrapper/dists/gradle-8/h/gradle-8/init.d/readme.txt",
		 "root/.gradle/wrapper/dists/gradle-8/h/gradle-8/init.d/evil.gradle"},
		{"gems/gems/rspec-3/lib/rspec.rb", "gems/gems/rspec-3/lib/set.rb"},
		{"root/.m2/repository/a/p/1/p-1.pom", "root/.m2/repository/a/p/maven-metadata-local.xml"},
		/* which would be unpacked from the image's archive */
		{"root/.cargo/registry/cache/idx/fresh-1.0.crate", "root/.cargo/registry/src/idx/fresh-1.0"},
		{"go/pkg/mod/cache/download/example.com/fresh/@v/v1.2.3.zip", "go/pkg/mod/example.com/fresh@v1.2.3"},
	};
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = env;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		put(w.image, cases[i].image, "the image's", 0644);
		put(w.upper, cases[i].evil, "evil", 0644);
	}
	carry(&w);
	for (i = 0; i < ARRAY_LEN(cases); i++)
		if (strstr(cases[i].evil, "/ext/"))
			CHECK(said(&w, "system", "root/.julia/packages/Assert/abcd/ext") &&
			      !there(w.to, "root/.julia/packages/Assert/abcd/ext"));
		else
			dropped(&w, "system", cases[i].evil);
	world_close(&w);
}

/* Which the tool itself would be replaced by, or of which the newest is taken. */
static void neither_a_tool_nor_another_version_of_a_package_of_the_image_is_carried(void)
{
	static const struct {
		const char *evil, *where, *rule;
	} cases[] = {
		{"go/pkg/mod/golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/bin/go",
		 "go/pkg/mod/golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64", "installer"},
		{"srv/mods/cache/download/golang.org/toolchain/@v/v0.0.1-go1.99.0.linux-amd64.zip",
		 "srv/mods/cache/download/golang.org/toolchain", "installer"},
		{"gems/gems/rspec-core-99.0/lib/rspec.rb", "gems/gems/rspec-core-99.0", "shadows"},
		{"gems/specifications/rspec-core-99.0.gemspec", "gems/specifications/rspec-core-99.0.gemspec",
		 "shadows"},
		{"gems/ruby/3.1.0/gems/rspec-core-99.0/lib/rspec.rb", "gems/ruby/3.1.0/gems/rspec-core-99.0",
		 "shadows"},
	};
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = env;
	put(w.image, "go/pkg/mod/cache/lock", "", 0644);
	put(w.image, "srv/mods/cache/lock", "", 0644);
	put(w.image, "gems/gems/rspec-core-3.12.0/lib/rspec.rb", "the image's", 0644);
	put(w.image, "gems/specifications/rspec-core-3.12.0.gemspec", "the image's", 0644);
	put(w.image, "gems/ruby/3.1.0/gems/rspec-core-3.12.0/lib/rspec.rb", "the image's", 0644);
	for (i = 0; i < ARRAY_LEN(cases); i++)
		put(w.upper, cases[i].evil, "evil", 0755);
	put(w.upper, "gems/gems/rspec-1.0/lib/x.rb", "another gem", 0644);
	put(w.upper, "go/pkg/mod/golang.org/x/text@v0.1.0/x.go", "another module", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(cases); i++)
		dropped(&w, cases[i].rule, cases[i].where);
	carried(&w, "gems/gems/rspec-1.0/lib/x.rb");
	carried(&w, "go/pkg/mod/golang.org/x/text@v0.1.0/x.go");
	world_close(&w);
}

static void new_packages_are_carried(void)
{
	static const char *const new[] = {"go/pkg/mod/example.com/other@v1.0.0/a.go",
					  "go/pkg/mod/cache/download/example.com/assert/@v/v1.1.0.zip",
					  "root/go/pkg/mod/a@v1/sub/a.go",
					  "root/.cargo/registry/src/idx/other-1.0/src/lib.rs",
					  "root/.cargo/registry/index/idx/.cache/x",
					  "root/.cargo/bin/mytool",
					  "root/.m2/repository/a/b/2/b-2.jar",
					  "root/.m2/repository/a/b/1/b-1.jar",
					  "root/.gradle/caches/modules-2/files-2.1/a/b.jar",
					  "root/.julia/packages/Other/abcd/src/Other.jl",
					  "root/.julia/environments/v1.9/Manifest.toml",
					  "root/.nuget/packages/other/1.0/lib/other.dll",
					  "root/.opam/own/lib/x.cmxa",
					  "home/u/.opam/config",
					  "gems/gems/other-1/lib/other.rb",
					  "gems/specifications/other-1.gemspec",
					  "root/.cache/huggingface/x",
					  "root/.local/share/app/data.db"};
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = env;
	put(w.image, "go/pkg/mod/example.com/assert@v1.0.0/assert.go", "the image's", 0644);
	put(w.image, "go/pkg/mod/cache/download/example.com/assert/@v/v1.0.0.zip", "the image's", 0644);
	put(w.image, "root/.cargo/registry/src/idx/assert-1.0/src/lib.rs", "the image's", 0644);
	put(w.image, "root/.m2/repository/a/b/1/b-1.pom", "the image's", 0644);
	put(w.image, "root/.julia/environments/v1.9/Manifest.toml", "the image's", 0644);
	put(w.image, "root/.opam/config", "the image's", 0644);
	put(w.image, "gems/gems/rspec-3/lib/rspec.rb", "the image's", 0644);
	put(w.image, "gems/specifications/rspec-3.gemspec", "the image's", 0644);
	for (i = 0; i < ARRAY_LEN(new); i++)
		put(w.upper, new[i], "the agent's", 0644);
	carry(&w);
	for (i = 0; i < ARRAY_LEN(new); i++)
		carried(&w, new[i]);
	check_text(w.to, "root/.julia/environments/v1.9/Manifest.toml", "the agent's");
	world_close(&w);
}

static void start_up_files_beside_packages_are_not_carried(void)
{
	static const struct {
		const char *put, *where, *rule;
	} cases[] = {
		{"root/.julia/config/startup.jl", "root/.julia/config", "startup"},
		{"depot/config/startup.jl", "depot/config", "startup"},
		{"root/.julia/compiled/v1.11/Test/x.ji", "root/.julia/compiled", "startup"},
		{"root/.opam/opam-init/init.sh", "root/.opam/opam-init", "startup"},
		{"home/u/.opam/config", "home/u/.opam/config", "startup"},
		{"root/.cabal/config", "root/.cabal/config", "startup"},
		{"root/.stack/config.yaml", "root/.stack/config.yaml", "startup"},
		{"root/.stack/hooks/ghc-install.sh", "root/.stack/hooks", "startup"},
		{"root/.nuget/NuGet/NuGet.Config", "root/.nuget/NuGet", "startup"},
		{"root/.m2/extensions.xml", "root/.m2/extensions.xml", "startup"},
		{"root/.m2/toolchains.xml", "root/.m2/toolchains.xml", "startup"},
		{"root/.gradle/caches/build-cache-1/x", "root/.gradle/caches/build-cache-1", "startup"},
		{"cargo/config.toml", "cargo/config.toml", "startup"},
		{"root/.cargo/any", "root/.cargo/any", "startup"},
		{"gems/plugins/x_plugin.rb", "gems/plugins", "startup"},
		{"root/.local/share/fish/vendor_conf.d/x.fish", "root/.local/share/fish", "startup"},
		{"root/.local/share/nvim/site/plugin/x.lua", "root/.local/share/nvim", "startup"},
		{"shares/fish/x", "shares/fish", "startup"},
		{"root/.cache/node/corepack/v1/x", "root/.cache/node", "installer"},
		{"root/.cache/go-build/00/a", "root/.cache/go-build", "installer"},
		{"root/.cache/zig/x", "root/.cache/zig", "installer"},
		{"root/.cache/deno/gen/x.js", "root/.cache/deno/gen", "startup"},
		{"caches/pip/x", "caches/pip", "installer"},
		{"uvc/wheels/x.whl", "uvc/wheels", "installer"},
		{"app/.mypy_cache/3.11/x.json", "app/.mypy_cache", "installer"},
		{"app/node_modules/.cache/x", "app/node_modules/.cache", "installer"},
		{"tmp/jest_rs/x", "tmp/jest_rs", "installer"},
		{"etc/ant.conf", "etc/ant.conf", "startup"},
		{"etc/LatexMk", "etc/LatexMk", "startup"},
		{"etc/os-release", "etc/os-release", "startup"},
	};
	static const char *const works[] = {"/app", "/root"};
	struct world w;
	size_t i, k;

	for (k = 0; k < ARRAY_LEN(works); k++) {
		world_open(&w);
		w.req.env = env;
		w.req.workdir = works[k];
		put(w.image, "home/u/.opam/lock", "", 0644);
		for (i = 0; i < ARRAY_LEN(cases); i++)
			put(w.upper, cases[i].put, "evil", 0644);
		put(w.upper, "tmp/out.txt", "x", 0644);
		carry(&w);
		for (i = 0; i < ARRAY_LEN(cases); i++)
			dropped(&w, cases[i].rule, cases[i].where);
		carried(&w, "tmp/out.txt");
		world_close(&w);
	}
}

static void no_store_is_taken_away_or_led_elsewhere(void)
{
	static const char *const works[] = {"/app", "/root"};
	struct world w;
	size_t k;

	for (k = 0; k < ARRAY_LEN(works); k++) {
		world_open(&w);
		w.req.workdir = works[k];
		put(w.image, "root/go/pkg/mod/cache/download/a/@v/v1.mod", "", 0644);
		put(w.image, "root/go/pkg/mod/a@v1/a.go", "the image's", 0644);
		put(w.image, "root/.cargo/registry/src/i/a-1/lib.rs", "the image's", 0644);
		link_to(w.upper, "root/go", "go2");
		put(w.upper, "root/go2/pkg/mod/a@v1/a.go", "evil", 0644);
		link_to(w.upper, "root/.cargo", "cargo2");
		carry(&w);
		dropped(&w, "link", "root/go");
		dropped(&w, "link", "root/.cargo");
		world_close(&w);
		/* mv go go2; mkdir -p go/pkg/mod/a@v1 */
		world_open(&w);
		w.req.workdir = works[k];
		put(w.image, "root/go/pkg/mod/cache/download/a/@v/v1.mod", "", 0644);
		put(w.image, "root/go/pkg/mod/a@v1/a.go", "the image's", 0644);
		put(w.image, "root/go/pkg/mod/a@v1/b.go", "the image's", 0644);
		put(w.upper, "root/go/pkg/mod/a@v1/a.go", "evil", 0644);
		put(w.upper, "root/go/pkg/mod/a@v1/evil.go", "evil", 0644);
		opaque(w.upper, "root/go");
		carry(&w);
		check_text(w.to, "root/go/pkg/mod/a@v1/a.go", "the image's");
		check_text(w.to, "root/go/pkg/mod/a@v1/b.go", "the image's");
		dropped(&w, "system", "root/go/pkg/mod/a@v1/evil.go");
		world_close(&w);
	}
}

/* Behind one nothing would be judged: what go and cargo would unpack from the image's archives, or another go. */
static void no_link_leads_to_packages(void)
{
	static const char *const links[] = {
		"go/pkg/mod/example.com",   "go/pkg/mod/golang.org", "go/pkg/mod/cache/download/golang.org",
		"root/.cargo/registry/src", "root/.julia/packages",  "gems/specifications"};
	struct world w;
	size_t i;

	world_open(&w);
	w.req.env = env;
	put(w.image, "go/pkg/mod/cache/download/example.com/fresh/@v/v1.2.3.zip", "the image's", 0644);
	put(w.image, "root/.cargo/registry/cache/idx/fresh-1.0.crate", "the image's", 0644);
	put(w.image, "gems/gems/rspec-3/lib/rspec.rb", "the image's", 0644);
	put(w.upper, "srv/evil/fresh@v1.2.3/fresh.go", "evil", 0644);
	put(w.upper, "srv/evil/toolchain@v0.0.1-go1.99.0.linux-amd64/bin/go", "evil", 0755);
	for (i = 0; i < ARRAY_LEN(links); i++)
		link_to(w.upper, links[i], "/srv/evil");
	/* a package by itself, and what lies in one, may be a link */
	put(w.upper, "srv/own/lib.rs", "the agent's", 0644);
	link_to(w.upper, "root/.julia/artifacts/0a", "/srv/own");
	put(w.upper, "go/pkg/mod/other.org/a@v1.0.0/b.go", "the agent's", 0644);
	link_to(w.upper, "go/pkg/mod/other.org/a@v1.0.0/c.go", "b.go");
	carry(&w);
	for (i = 0; i < ARRAY_LEN(links); i++)
		dropped(&w, "link", links[i]);
	carried(&w, "root/.julia/artifacts/0a");
	carried(&w, "go/pkg/mod/other.org/a@v1.0.0/c.go");
	world_close(&w);
}

/* ... nor to a store that the image does not have. */
static void no_link_stands_where_a_tool_would_make_its_store(void)
{
	static const char *const links[] = {
		"go",   "root/go", "home/u/go/pkg", "home/v/go/pkg/mod", "srv/mods",         "cargo",
		"gems", "uvc",     "depot",         "root/.m2",          "root/.cache/deno", "root/quicklisp"};
	static const char *const works[] = {"/app", "/root"};
	struct world w;
	size_t i, k;

	for (k = 0; k < ARRAY_LEN(works); k++) {
		world_open(&w);
		w.req.env = env;
		w.req.workdir = works[k];
		put(w.upper, "opt/own/golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/bin/go", "evil", 0755);
		for (i = 0; i < ARRAY_LEN(links); i++)
			link_to(w.upper, links[i], "/opt/own");
		link_to(w.upper, "app/go", "/opt/own");
		link_to(w.upper, "app/go2", "/opt/own");
		link_to(w.upper, "root/mods", "/opt/own");
		carry(&w);
		for (i = 0; i < ARRAY_LEN(links); i++)
			dropped(&w, "link", links[i]);
		carried(&w, "app/go");
		carried(&w, "app/go2");
		carried(&w, "root/mods");
		world_close(&w);
	}
}

/* Homes of the system's users are folders of programs, and no build tool's. */
static void a_program_may_be_a_link_called_as_a_store(void)
{
	struct world w;

	world_open(&w);
	w.req.env = env;
	put(w.image, "etc/passwd",
	    "root:x:0:0:root:/root:/bin/sh\nbin:x:2:2:bin:/bin:/bin/false\ngames:x:5:60::/usr/games:/bin/false\n",
	    0644);
	put(w.upper, "usr/lib/go-1.19/bin/go", "\177ELF", 0755);
	link_to(w.upper, "usr/bin/go", "../lib/go-1.19/bin/go");
	link_to(w.upper, "usr/games/quicklisp", "../lib/go-1.19/bin/go");
	carry(&w);
	carried(&w, "usr/lib/go-1.19/bin/go");
	carried(&w, "usr/bin/go");
	carried(&w, "usr/games/quicklisp");
	world_close(&w);
}

/* A go that finds no modules makes the folder, and looks there for another one of itself. */
static void no_other_go_comes_with_modules_that_the_image_lacks(void)
{
	static const char *const paths[] = {"HOME=/root", "GOPATH=/app/gopath:/srv/second", NULL};
	static const char *const mods[] = {"go/pkg/mod", "root/go/pkg/mod", "home/u/go/pkg/mod", "app/gopath/pkg/mod",
					   "srv/second/pkg/mod"};
	static const char *const works[] = {"/app", "/root"};
	char go[256], packed[256], module[256];
	struct world w;
	size_t i, k;

	for (k = 0; k < ARRAY_LEN(works); k++) {
		world_open(&w);
		w.req.env = paths;
		w.req.workdir = works[k];
		for (i = 0; i < ARRAY_LEN(mods); i++) {
			(void)snprintf(go, sizeof(go), "%s/golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/bin/go",
				       mods[i]);
			(void)snprintf(packed, sizeof(packed),
				       "%s/cache/download/golang.org/toolchain/@v/v0.0.1-go1.99.0.linux-amd64.zip",
				       mods[i]);
			(void)snprintf(module, sizeof(module), "%s/golang.org/x/text@v0.1.0/x.go", mods[i]);
			put(w.upper, go, "evil", 0755);
			put(w.upper, packed, "evil", 0644);
			put(w.upper, module, "another module", 0644);
		}
		carry(&w);
		for (i = 0; i < ARRAY_LEN(mods); i++) {
			(void)snprintf(go, sizeof(go), "%s/golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64", mods[i]);
			(void)snprintf(packed, sizeof(packed), "%s/cache/download/golang.org/toolchain", mods[i]);
			(void)snprintf(module, sizeof(module), "%s/golang.org/x/text@v0.1.0/x.go", mods[i]);
			dropped(&w, "installer", go);
			dropped(&w, "installer", packed);
			carried(&w, module);
		}
		world_close(&w);
	}
}

static void folders_of_the_work_are_no_store(void)
{
	static const char *const here[] = {"HOME=/root",         "CARGO_HOME=/app", "GOMODCACHE=/",
					   "UV_CACHE_DIR=/root", "GEM_HOME=/tmp",   NULL};
	struct world w;

	world_open(&w);
	w.req.env = here;
	put(w.image, "app/pkg/mod/mod.go", "1", 0644);
	put(w.upper, "app/pkg/mod/mod.go", "work", 0644);
	put(w.upper, "app/pkg/mod/more.go", "work", 0644);
	put(w.upper, "app/any", "work", 0644);
	put(w.upper, "app/.gradle/x", "work", 0644);
	put(w.upper, "root/answer", "work", 0644);
	put(w.upper, "tmp/answer", "work", 0644);
	put(w.upper, "srv/answer", "work", 0644);
	carry(&w);
	CHECK_STR(w.said, "");
	check_text(w.to, "app/pkg/mod/mod.go", "work");
	carried(&w, "app/pkg/mod/more.go");
	carried(&w, "app/any");
	carried(&w, "app/.gradle/x");
	carried(&w, "root/answer");
	carried(&w, "tmp/answer");
	carried(&w, "srv/answer");
	world_close(&w);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(packages_of_the_image_stay_in_every_store),
		CASE(nothing_is_added_to_a_package_of_the_image),
		CASE(neither_a_tool_nor_another_version_of_a_package_of_the_image_is_carried),
		CASE(new_packages_are_carried),
		CASE(start_up_files_beside_packages_are_not_carried),
		CASE(no_store_is_taken_away_or_led_elsewhere),
		CASE(no_link_leads_to_packages),
		CASE(no_link_stands_where_a_tool_would_make_its_store),
		CASE(a_program_may_be_a_link_called_as_a_store),
		CASE(no_other_go_comes_with_modules_that_the_image_lacks),
		CASE(folders_of_the_work_are_no_store),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
