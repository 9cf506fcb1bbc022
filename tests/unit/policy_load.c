#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"
#include "policy/policy_load.h"
#include "policy/policy_mandatory.h"
#include "policy/policy_profile.h"
#include "policy_memory.h"

static char top[] = "/tmp/cordon-policy-XXXXXX";

static const char *in_top(const char *name)
{
	static char paths[8][512];
	static unsigned next;
	char *path = paths[next++ % 8];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void put(const char *name, struct sv text)
{
	int fd = open(in_top(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write_all(fd, text.p, text.n) == 0);
	(void)close(fd);
}

static struct policy *load_with(const char *source, const char *cache, char digest[65], struct error *err)
{
	static char config[512], cache_dir[512];
	struct policy_source s = {.name = source, .is_profile = !strchr(source, '/')};
	struct policy_request req = {.sources = &s, .n_sources = 1, .home = "/home/u", .workdir = "/home/u/w"};
	struct policy *p = NULL;

	(void)snprintf(config, sizeof(config), "%s/config", top);
	(void)snprintf(cache_dir, sizeof(cache_dir), "%s/%s", top, cache ? cache : "");
	req.config_dir = config;
	req.cache_dir = cache ? cache_dir : NULL;
	req.state_dir = "/state/cordon";
	err->text[0] = '\0';
	return policy_load(&req, &p, digest, err) < 0 ? NULL : p;
}

static const char *load_error(const char *source)
{
	static struct error err;
	char digest[65];
	struct policy *p = load_with(source, NULL, digest, &err);

	policy_free(p);
	return p ? "" : err.text;
}

static bool has(const struct pol_list *list, const char *s)
{
	uint32_t i;

	for (i = 0; i < list->n; i++)
		if (strcmp(list->v[i].s, s) == 0)
			return true;
	return false;
}

static void defaults_are_built_in(void)
{
	struct error err;
	struct policy *p = memory_policy("", NULL, &err);

	CHECK(p != NULL);
	if (!p)
		return;
	CHECK(p->fs.workdir.v == WORKDIR_READ_WRITE && p->fs.tmp_size.v == 512 << 20);
	CHECK(p->net.mode.v == NET_NONE && p->net.dns.v == DNS_POLICY && p->net.loopback.v == 1 &&
	      !p->net.max_bytes_out.set);
	CHECK(p->process.runtime.v == RUNTIME_AUTO && p->process.fallback.set && p->process.fallback.n == 0);
	CHECK(p->process.user.v == 1000 && p->process.max_processes.v == 512 &&
	      p->process.memory.v == UINT64_C(4) << 30);
	CHECK(p->process.cpus.v == 0 && p->process.timeout.v == 0 && p->process.max_file_size.v == UINT64_C(4) << 30);
	CHECK(p->process.allow_exec.n == 1 && has(&p->process.allow_exec, "**"));
	CHECK_STR(policy_where(p, p->process.memory.at), "built in");
	policy_free(p);
}

static void mandatory_protections_cannot_be_left_out(void)
{
	struct error err;
	struct policy *p = memory_policy("filesystem: {deny: []}", NULL, &err);

	CHECK(p && has(&p->fs.deny, "**/.env") && has(&p->fs.protect, "**/.git/hooks/**") &&
	      has(&p->fs.protect, "**/.bashrc"));
	CHECK(p && has(&p->fs.protect, "**/.claude/settings.json") && has(&p->fs.protect, "**/.vscode/**"));
	CHECK(p && has(&p->fs.deny, "/home/u/.config/cordon") && has(&p->fs.deny, "/home/u/.cache/cordon"));
	CHECK(p && has(&p->fs.deny, "/home/u/.local/state/cordon"));
	CHECK(p && has(&p->fs.deny, "/home/u/.local/share/cordon"));
	policy_free(p);
	CHECK(mandatory_reason("**/.env") && mandatory_reason("**/.envrc") && !mandatory_reason("**/x"));
}

static void paths_are_resolved(void)
{
	struct error err;
	struct policy *p = memory_policy("filesystem:\n  read: [/opt/, \"~\", ~/x, sub/y, ./z, ., \"**/k/\"]\n"
					 "tests: [{deny: {read: ~/.ssh}}, {allow: {write: a}}]",
					 NULL, &err);

	CHECK_STR(err.text, "");
	CHECK(p && p->fs.read.n == 7);
	if (!p)
		return;
	CHECK_STR(p->fs.read.v[0].s, "/opt");
	CHECK_STR(p->fs.read.v[1].s, "/home/u");
	CHECK_STR(p->fs.read.v[2].s, "/home/u/x");
	CHECK_STR(p->fs.read.v[3].s, "/home/u/w/sub/y");
	CHECK_STR(p->fs.read.v[4].s, "/home/u/w/z");
	CHECK_STR(p->fs.read.v[5].s, "/home/u/w");
	CHECK_STR(p->fs.read.v[6].s, "**/k");
	CHECK_STR(p->tests[0].target, "/home/u/.ssh");
	CHECK_STR(p->tests[1].target, "/home/u/w/a");
	policy_free(p);
}

static void a_home_with_wildcards_in_its_name_is_taken_literally(void)
{
	struct memory_text text = {"p", "version: 1\nfilesystem: {deny: [~/.ssh]}\n"};
	struct memory m = {&text, 1};
	struct policy_fetch fetch = {memory_get, &m};
	struct policy_source source = {.name = "p", .is_profile = false};
	struct policy_request req = {
		.sources = &source, .n_sources = 1, .home = "/home/[a]*", .workdir = "/", .config_dir = "/c?"};
	struct policy *p = NULL;
	struct error err;

	CHECK(policy_compile(&req, &fetch, &p, &err) == 0);
	CHECK(p && has(&p->fs.deny, "/home/\\[a]\\*/.ssh") && has(&p->fs.deny, "/c\\?"));
	policy_free(p);
}

static void files_are_laid_over_what_they_extend(void)
{
	static const struct memory_text texts[] = {
		{"top", "version: 1\nextends: [a, b]\nfilesystem: {read: [/x, /t]}\nprocess: {memory: 1G, env: {set: "
			"{A: top, T: t}}}\n"
			"inference: {providers: {openai: {max_requests: 7}}}\nphases: {build: {process: {cpus: 1}}}\n"},
		{"a", "version: 1\nfilesystem: {read: [/a, /x], workdir: copy}\nprocess: {memory: 2G, cpus: 3, env: "
		      "{set: {A: a, B: a}}}\n"
		      "inference: {providers: {openai: {models: [m1], max_requests: 1}}}\n"},
		{"b", "version: 1\nextends: [c]\nfilesystem: {read: [/b], workdir: read-only}\nphases: {build: "
		      "{network: {mode: public}}}\n"},
		{"c", "version: 1\nprocess: {cpus: 4, user: 7, env: {pass: [TERM]}}\n"},
	};
	struct error err;
	struct policy *p = memory_compile(texts, 4, &err);
	uint32_t i;

	CHECK_STR(err.text, "");
	CHECK(p && p->fs.read.n == 4);
	if (!p)
		return;
	CHECK_STR(p->fs.read.v[0].s, "/a");
	CHECK_STR(p->fs.read.v[1].s, "/x");
	CHECK_STR(p->fs.read.v[2].s, "/b");
	CHECK_STR(p->fs.read.v[3].s, "/t");
	CHECK(p->fs.workdir.v == WORKDIR_READ_ONLY && p->process.memory.v == 1 << 30 && p->process.cpus.v == 4000);
	CHECK(p->process.user.v == 7 && has(&p->process.env_pass, "TERM"));
	CHECK(p->process.env_set.n == 3);
	for (i = 0; i < p->process.env_set.n; i++)
		if (strcmp(p->process.env_set.v[i].key, "A") == 0)
			CHECK_STR(p->process.env_set.v[i].value, "top");
	CHECK(p->inference.n_providers == 1 && p->inference.providers[0].max_requests.v == 7);
	CHECK(has(&p->inference.providers[0].models, "m1"));
	CHECK_STR(p->inference.providers[0].url.s, "https://api.openai.com");
	CHECK(p->n_phases == 1 && p->phases[0].policy->process.cpus.v == 1000 &&
	      p->phases[0].policy->net.mode.v == NET_PUBLIC);
	CHECK_STR(policy_where(p, p->fs.workdir.at), "b:3");
	CHECK_STR(policy_where(p, p->process.memory.at), "top:4");
	policy_free(p);
}

static void a_phase_is_laid_over_the_rest(void)
{
	struct memory_text text = {
		"p",
		"version: 1\nprocess: {cpus: 2}\nphases: {build: {process: {cpus: 4}}, agent: {process: {cpus: 1}}}\n"};
	struct memory m = {&text, 1};
	struct policy_fetch fetch = {memory_get, &m};
	struct policy_source source = {.name = "p", .is_profile = false};
	struct policy_request req = {
		.sources = &source, .n_sources = 1, .home = "/h", .workdir = "/w", .phase = "build"};
	struct policy *p = NULL;
	struct error err;

	CHECK(policy_compile(&req, &fetch, &p, &err) == 0 && p->process.cpus.v == 4000);
	policy_free(p);
	req.phase = "lunch";
	CHECK(policy_compile(&req, &fetch, &p, &err) < 0);
}

static void cycles_and_long_chains_are_named(void)
{
	static const struct memory_text cycle[] = {
		{"a.yaml", "version: 1\nextends: [./b.yaml]\n"},
		{"./b.yaml", "version: 1\nextends:\n  - a.yaml\n"},
	};
	struct memory_text chain[20];
	char names[20][16], bodies[20][64];
	struct error err;
	int i;

	CHECK(memory_compile(cycle, 2, &err) == NULL);
	CHECK_STR(err.text, "./b.yaml:3:5: extends: cycle: a.yaml -> ./b.yaml -> a.yaml; remove one of them");
	for (i = 0; i < 20; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "p%d", i);
		(void)snprintf(bodies[i], sizeof(bodies[i]), "version: 1\nextends: [p%d]\n", i + 1);
		chain[i] = (struct memory_text){names[i], bodies[i]};
	}
	CHECK(memory_compile(chain, 20, &err) == NULL);
	CHECK_STR(err.text, "p15:2:11: extends: nested deeper than 16 files; flatten the chain");
}

static void a_wide_tree_of_extends_is_bounded(void)
{
	static const struct memory_text texts[] = {
		{"a", "version: 1\nextends: [b, b, b, b, b, b, b, b]\n"},
		{"b", "version: 1\nextends: [c, c, c, c, c, c, c, c]\n"},
		{"c", "version: 1\nextends: [d, d, d, d, d, d, d, d]\n"},
		{"d", "version: 1\n"},
	};
	struct error err;

	CHECK(memory_compile(texts, 4, &err) == NULL);
	CHECK_HAS(err.text, "more than 256 files");
}

static void rules_without_a_mode_are_a_mistake(void)
{
	CHECK_HAS(memory_error("network: {allow: [{host: a.b}]}", NULL),
		  "p.yaml:2:19: network.allow: there are rules but no mode");
	CHECK_STR(memory_error("network: {mode: allowlist, allow: []}", NULL), "");
	CHECK_STR(memory_error("network: {mode: none, allow: [{host: a.b}]}", NULL), "");
}

static void providers_are_made_whole_or_refused(void)
{
	CHECK_HAS(memory_error("inference: {providers: {vllm: {}}}", NULL), "vllm has no kind");
	CHECK_HAS(memory_error("inference: {providers: {vllm: {kind: openai}}}", NULL), "vllm has no url");
	CHECK_HAS(memory_error("inference: {providers: {openai: {kind: anthropic}}}", NULL), "openai has no url");
	CHECK_HAS(memory_error("inference: {providers: {openai: {kind: anthropic, credential: x}}}", NULL),
		  "openai has no url");
	CHECK_STR(memory_error("inference: {providers: {claude: {kind: anthropic, credential: x}}}", NULL), "");
	CHECK_STR(memory_error("inference: {providers: {vllm: {kind: openai, url: \"http://127.0.0.1:8000\"}}}", NULL),
		  "");
	CHECK_HAS(memory_error("inference: {providers: {openai: {}}, routes: [{model: x, provider: opnai}]}", NULL),
		  "there is no provider \"opnai\"; did you mean openai");
	CHECK_STR(memory_error("inference: {providers: {openai: {}}, routes: [{model: x, provider: elsewhere}]}", NULL),
		  "");
	CHECK_HAS(
		memory_error("inference: {providers: {openai: {base_url_env: X}, anthropic: {base_url_env: X}}}", NULL),
		"openai and anthropic both set X");
}

static void bad_files_give_one_clear_line(void)
{
	AUTO_BUF big = {0};
	char chunk[4096];
	int i, fd;

	buf_init(&big, 16 << 20);
	CHECK_HAS(load_error(in_top("missing.yaml")), "there is no such file");
	CHECK_HAS(load_error(top), "is a folder; name a policy file");
	put("empty.yaml", sv_of(""));
	CHECK_HAS(load_error(in_top("empty.yaml")), "empty.yaml:1:1: the file is empty");
	CHECK_HAS(load_error("strct"), "there is no profile \"strct\"; did you mean \"strict\"?");
	put("ext.yaml", sv_of("version: 1\nextends: [./nowhere.yaml]\n"));
	CHECK_HAS(load_error(in_top("ext.yaml")), "ext.yaml:2:11: extends: ./nowhere.yaml: there is no such file");
	memset(chunk, '#', sizeof(chunk));
	fd = open(in_top("huge.yaml"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	for (i = 0; i < 100 * 256 && fd >= 0; i++)
		CHECK(write_all(fd, chunk, sizeof(chunk)) == 0);
	(void)close(fd);
	CHECK_HAS(load_error(in_top("huge.yaml")), "larger than 8 MiB");
	(void)unlink(in_top("huge.yaml"));
	if (geteuid() != 0) {
		put("secret.yaml", sv_of("version: 1\n"));
		CHECK(chmod(in_top("secret.yaml"), 0) == 0);
		CHECK_HAS(load_error(in_top("secret.yaml")), "cannot be read: Permission denied");
	}
}

static void shipped_profiles_load(void)
{
	const char *const *name;
	char digest[65];
	struct error err;
	struct policy *p;
	bool strict = false, standard = false;

	for (name = policy_profile_names; *name; name++) {
		p = load_with(*name, NULL, digest, &err);
		if (!p)
			printf("# %s: %s\n", *name, err.text);
		CHECK(p != NULL);
		policy_free(p);
		strict = strict || strcmp(*name, "strict") == 0;
		standard = standard || strcmp(*name, "default") == 0;
	}
	CHECK(strict && standard);
}

static void an_operators_profile_hides_the_shipped_one_and_may_extend_it(void)
{
	char digest[65];
	struct error err;
	struct policy *p;

	CHECK(mkdir(in_top("config"), 0700) == 0 && mkdir(in_top("config/profiles"), 0700) == 0);
	put("config/profiles/strict.yaml", sv_of("version: 1\nextends: [strict]\nprocess: {user: 4242}\n"));
	p = load_with("strict", NULL, digest, &err);
	CHECK(p && p->process.user.v == 4242 && p->fs.workdir.v == WORKDIR_COPY);
	policy_free(p);
	put("config/policy.yaml", sv_of("version: 1\nprocess: {user: 5}\n"));
	p = load_with("strict", NULL, digest, &err);
	CHECK(p && p->process.user.v == 5);
	policy_free(p);
	(void)unlink(in_top("config/policy.yaml"));
	(void)unlink(in_top("config/profiles/strict.yaml"));
	(void)rmdir(in_top("config/profiles"));
	(void)rmdir(in_top("config"));
}

static void the_cache_gives_the_same_policy_until_a_file_changes(void)
{
	char a[65] = "", b[65] = "", c[65] = "", d[65] = "";
	struct error err;
	struct stat st;

	put("c.yaml", sv_of("version: 1\nextends: [./base.yaml]\nprocess: {user: 1}\n"));
	put("base.yaml", sv_of("version: 1\nprocess: {cpus: 1}\n"));
	policy_free(load_with(in_top("c.yaml"), "cache", a, &err));
	policy_free(load_with(in_top("c.yaml"), "cache", b, &err));
	CHECK(strlen(a) == 64);
	CHECK_STR(b, a);
	CHECK(stat(in_top("cache"), &st) == 0 && (st.st_mode & 0777) == 0700);
	put("base.yaml", sv_of("version: 1\nprocess: {cpus: 2}\n"));
	policy_free(load_with(in_top("c.yaml"), "cache", c, &err));
	CHECK(strcmp(c, a) != 0);
	/* A ceiling that was not there before. */
	CHECK(mkdir(in_top("config"), 0700) == 0);
	put("config/policy.yaml", sv_of("version: 1\nprocess: {memory: 1M}\n"));
	policy_free(load_with(in_top("c.yaml"), "cache", d, &err));
	CHECK(strcmp(d, c) != 0);
	(void)unlink(in_top("config/policy.yaml"));
	(void)rmdir(in_top("config"));
	policy_free(load_with(in_top("c.yaml"), "cache", d, &err));
	CHECK_STR(d, c);
}

/* The ceiling is a link to one of two releases, whose texts differ only in what they extend. */
static void the_cache_knows_where_a_link_led(void)
{
	char a[65] = "", b[65] = "", c[65] = "";
	struct error err;
	struct policy *p;

	CHECK(mkdir(in_top("config"), 0700) == 0 && mkdir(in_top("v1"), 0700) == 0 && mkdir(in_top("v2"), 0700) == 0);
	put("c.yaml", sv_of("version: 1\n"));
	put("v1/policy.yaml", sv_of("version: 1\nextends: [./limits.yaml]\n"));
	put("v2/policy.yaml", sv_of("version: 1\nextends: [./limits.yaml]\n"));
	put("v1/limits.yaml", sv_of("version: 1\nprocess: {memory: 2G}\n"));
	put("v2/limits.yaml", sv_of("version: 1\nprocess: {memory: 1M}\n"));
	CHECK(symlink("../now/policy.yaml", in_top("config/policy.yaml")) == 0 && symlink("v1", in_top("now")) == 0);
	policy_free(load_with(in_top("c.yaml"), "cache", a, &err));
	policy_free(load_with(in_top("c.yaml"), "cache", b, &err));
	CHECK_STR(b, a);
	CHECK(unlink(in_top("now")) == 0 && symlink("v2", in_top("now")) == 0);
	p = load_with(in_top("c.yaml"), "cache", c, &err);
	CHECK(p && p->process.memory.v == 1 << 20 && strcmp(c, a) != 0);
	policy_free(p);
	/* and that it leads nowhere any more */
	CHECK(unlink(in_top("now")) == 0);
	p = load_with(in_top("c.yaml"), "cache", c, &err);
	CHECK(!p);
	policy_free(p);
	CHECK_HAS(err.text, "config/policy.yaml: a symbolic link leads nowhere");
	CHECK(unlink(in_top("config/policy.yaml")) == 0 && rmdir(in_top("config")) == 0);
	CHECK(unlink(in_top("v1/policy.yaml")) == 0 && unlink(in_top("v2/policy.yaml")) == 0 &&
	      unlink(in_top("v1/limits.yaml")) == 0 && unlink(in_top("v2/limits.yaml")) == 0);
	CHECK(rmdir(in_top("v1")) == 0 && rmdir(in_top("v2")) == 0);
}

static void only_a_ceiling_that_is_not_there_is_none(void)
{
	char digest[65] = "";
	struct error err;

	put("c.yaml", sv_of("version: 1\n"));
	/* no folder, then a link to none, then a file in its place, each after the answer before was kept */
	CHECK_STR(load_error(in_top("c.yaml")), "");
	policy_free(load_with(in_top("c.yaml"), "cache", digest, &err));
	CHECK(symlink("nowhere", in_top("config")) == 0);
	CHECK(!load_with(in_top("c.yaml"), "cache", digest, &err));
	CHECK_HAS(err.text, "leads nowhere");
	CHECK(unlink(in_top("config")) == 0);
	put("config", sv_of("version: 1\n"));
	CHECK(!load_with(in_top("c.yaml"), "cache", digest, &err));
	CHECK_HAS(err.text, "config/policy.yaml: cannot be read");
	CHECK(unlink(in_top("config")) == 0);
	/* a link to itself, and a link to a folder that has no ceiling */
	CHECK(symlink("config", in_top("config")) == 0);
	CHECK(!load_with(in_top("c.yaml"), "cache", digest, &err));
	CHECK(unlink(in_top("config")) == 0 && symlink(".", in_top("config")) == 0);
	CHECK_STR(load_error(in_top("c.yaml")), "");
	/* a profile of the operator's own is not the shipped one instead */
	CHECK(mkdir(in_top("profiles"), 0700) == 0 && symlink("nowhere", in_top("profiles/strict.yaml")) == 0);
	CHECK_HAS(load_error("strict"), "leads nowhere");
	CHECK(unlink(in_top("profiles/strict.yaml")) == 0 && rmdir(in_top("profiles")) == 0 &&
	      unlink(in_top("config")) == 0);
}

/* Calls f for every entry of the cache folder. */
static unsigned each_entry(void (*f)(const char *path))
{
	char path[600];
	unsigned i, n = 0;

	for (i = 0; i < 0x1000; i++) {
		(void)snprintf(path, sizeof(path), "%s/cache/policy-%03x", top, i);
		if (access(path, F_OK) == 0) {
			f(path);
			n++;
		}
	}
	return n;
}

static long flip_at;

static void flip(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	unsigned char byte = 0;

	CHECK(fd >= 0 && pread(fd, &byte, 1, flip_at % size) == 1);
	byte ^= 0x40;
	CHECK(pwrite(fd, &byte, 1, flip_at % size) == 1);
	(void)close(fd);
}

static void cut(const char *path)
{
	CHECK(truncate(path, 50) == 0);
}

static void open_up(const char *path)
{
	CHECK(chmod(path, 0666) == 0);
}

static void a_cache_that_cannot_be_trusted_is_passed_over(void)
{
	char want[65] = "", got[65];
	struct error err;
	unsigned n = 0;

	put("c.yaml", sv_of("version: 1\nprocess: {user: 1}\n"));
	policy_free(load_with(in_top("c.yaml"), "cache", want, &err));
	for (flip_at = 0; flip_at < 400; flip_at += 7) {
		n += each_entry(flip);
		got[0] = '\0';
		policy_free(load_with(in_top("c.yaml"), "cache", got, &err));
		CHECK_STR(got, want);
	}
	n += each_entry(cut);
	policy_free(load_with(in_top("c.yaml"), "cache", got, &err));
	CHECK_STR(got, want);
	n += each_entry(open_up);
	policy_free(load_with(in_top("c.yaml"), "cache", got, &err));
	CHECK_STR(got, want);
	CHECK(n > 0);
	/* A folder that cannot be made: no cache, no complaint. */
	policy_free(load_with(in_top("c.yaml"), "c.yaml/x/y", got, &err));
	CHECK_STR(err.text, "");
}

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void ten_thousand_rules_load_fast(void)
{
	AUTO_BUF b = {0};
	char digest[65];
	struct error err;
	struct policy *p;
	double start, spent, hit = 1e9;
	int i;

	buf_init(&b, 8 << 20);
	(void)buf_str(&b, "version: 1\nnetwork:\n  mode: allowlist\n  allow:\n");
	for (i = 0; i < 10000; i++)
		(void)buf_printf(&b, "    - host: h%d.example.com\n      ports: [443]\n", i);
	put("many.yaml", buf_view(&b));
	start = now_ms();
	p = load_with(in_top("many.yaml"), NULL, digest, &err);
	spent = now_ms() - start;
	CHECK(p && p->net.allow.n == 10000);
	policy_free(p);
	printf("# 10,000 rules: %.1f ms\n", spent);
	CHECK(spent < 5000);
	policy_free(load_with("strict", "cache", digest, &err));
	for (i = 0; i < 100; i++) {
		start = now_ms();
		policy_free(load_with("strict", "cache", digest, &err));
		spent = now_ms() - start;
		hit = spent < hit ? spent : hit;
	}
	printf("# strict from the cache: %.3f ms\n", hit);
}

static void remove_entry(const char *path)
{
	(void)unlink(path);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(defaults_are_built_in),
		CASE(mandatory_protections_cannot_be_left_out),
		CASE(paths_are_resolved),
		CASE(a_home_with_wildcards_in_its_name_is_taken_literally),
		CASE(files_are_laid_over_what_they_extend),
		CASE(a_phase_is_laid_over_the_rest),
		CASE(cycles_and_long_chains_are_named),
		CASE(a_wide_tree_of_extends_is_bounded),
		CASE(rules_without_a_mode_are_a_mistake),
		CASE(providers_are_made_whole_or_refused),
		CASE(bad_files_give_one_clear_line),
		CASE(shipped_profiles_load),
		CASE(an_operators_profile_hides_the_shipped_one_and_may_extend_it),
		CASE(the_cache_gives_the_same_policy_until_a_file_changes),
		CASE(the_cache_knows_where_a_link_led),
		CASE(only_a_ceiling_that_is_not_there_is_none),
		CASE(a_cache_that_cannot_be_trusted_is_passed_over),
		CASE(ten_thousand_rules_load_fast),
	};
	static const char *const files[] = {"empty.yaml", "ext.yaml",  "secret.yaml",
					    "c.yaml",     "base.yaml", "many.yaml"};
	size_t i;
	int r;

	if (!mkdtemp(top))
		return 1;
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)unlink(in_top(files[i]));
	(void)each_entry(remove_entry);
	(void)rmdir(in_top("cache"));
	if (rmdir(top) < 0)
		printf("# left behind: %s\n", top);
	return r;
}
