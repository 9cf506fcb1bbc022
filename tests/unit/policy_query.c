#include "check.h"
#include "policy/net_match.h"
#include "policy/policy_mandatory.h"
#include "policy/policy_query.h"

#define WORK "/home/ann/work"

static struct policy *fresh(void)
{
	struct policy *p = policy_new();

	if (!p)
		abort();
	p->fs.workdir = (struct pol_num){WORKDIR_READ_WRITE, true, {0}};
	return p;
}

static void add(struct policy *p, struct pol_list *l, const char *s)
{
	struct pol_str *v = arena_array(p->arena, l->n + 1, sizeof(*v));

	if (!v)
		abort();
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	v[l->n] = (struct pol_str){s, {1, l->n + 1, 1}};
	*l = (struct pol_list){v, l->n + 1, true};
}

static struct net_rule *rule(struct policy *p, struct net_rules *l, const char *host, const char *cidr)
{
	struct net_rule *v = arena_array(p->arena, l->n + 1, sizeof(*v));

	if (!v)
		abort();
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	v[l->n] = (struct net_rule){.host = host, .cidr = cidr, .at = {1, l->n + 1, 1}};
	*l = (struct net_rules){v, l->n + 1, true};
	return &v[l->n - 1];
}

static void ports(struct policy *p, struct net_rule *r, uint16_t port)
{
	r->ports = arena_array(p->arena, 1, sizeof(*r->ports));
	r->ports[0] = port;
	r->n_ports = 1;
}

static bool reads(const struct policy *p, const char *path)
{
	struct reason r;

	policy_query_path(p, WORK, path, FS_READ, &r);
	return r.answer == ANSWER_ALLOW;
}

static bool writes(const struct policy *p, const char *path)
{
	struct reason r;

	policy_query_path(p, WORK, path, FS_WRITE, &r);
	return r.answer == ANSWER_ALLOW;
}

static bool execs(const struct policy *p, const char *path)
{
	struct reason r;

	policy_query_exec(p, WORK, path, &r);
	return r.answer == ANSWER_ALLOW;
}

static bool reaches(const struct policy *p, const char *host, uint16_t port, const char *method, const char *path)
{
	struct reason r;

	policy_query_host(p, host, port, method, path, &r);
	return r.answer == ANSWER_ALLOW;
}

static bool takes(const struct policy *p, const char *model)
{
	struct reason r;

	policy_query_model(p, model, &r);
	return r.answer == ANSWER_ALLOW;
}

static void the_base_system_is_readable_and_nothing_of_it_writable(void)
{
	struct policy *p = fresh();

	CHECK(reads(p, "/usr/bin/python3") && !writes(p, "/usr/bin/python3"));
	CHECK(reads(p, "/lib64/ld-linux-x86-64.so.2") && reads(p, "/bin") && reads(p, "/etc/passwd"));
	CHECK(!writes(p, "/etc/passwd"));
	CHECK(!reads(p, "/etc/shadow") && !reads(p, "/etc/shadow-") && !reads(p, "/etc/gshadow"));
	CHECK(!reads(p, "/etc/sudoers.d/x") && !reads(p, "/etc/ssh/ssh_host_rsa_key") &&
	      !reads(p, "/etc/ssl/private/k"));
	CHECK(reads(p, "/etc/ssl/certs/ca-certificates.crt") && reads(p, "/etc") && !reads(p, "/etc/ssh/ssh_config"));
	/* the built-in rule about .env is about folders of the host */
	CHECK(mandatory_add(p) == 0);
	CHECK(reads(p, "/usr/share/app/.env") && !writes(p, "/usr/share/app/.env") && !reads(p, WORK "/.env"));
	policy_free(p);
}

static void scratch_space_is_private_and_writable(void)
{
	struct policy *p = fresh();

	CHECK(writes(p, "/tmp/x") && writes(p, "/var/tmp/x") && writes(p, "/dev/shm/x"));
	CHECK(writes(p, "/dev/null") && reads(p, "/dev/urandom") && !reads(p, "/dev/mem") && !reads(p, "/dev/kvm"));
	CHECK(reads(p, "/proc/self/maps") && !writes(p, "/proc/sys/kernel/core_pattern") && !reads(p, "/proc/kcore"));
	CHECK(writes(p, "/proc/self/comm"));
	policy_free(p);
}

static void the_rest_of_the_host_is_absent(void)
{
	struct policy *p = fresh();

	CHECK(!reads(p, "/home/ann/.ssh/id_rsa") && !reads(p, "/root") && !reads(p, "/opt/tool") &&
	      !reads(p, "/var/log"));
	CHECK(!reads(p, "/home/ann/workshop") && reads(p, WORK "/a"));
	CHECK(reads(p, "/") && reads(p, "/home") && reads(p, "/home/ann") && !writes(p, "/home/ann"));
	policy_free(p);
}

static void the_work_folder_follows_its_mode(void)
{
	struct policy *p = fresh();

	CHECK(reads(p, WORK) && writes(p, WORK "/a/b"));
	p->fs.workdir.v = WORKDIR_COPY;
	CHECK(writes(p, WORK "/a/b"));
	p->fs.workdir.v = WORKDIR_READ_ONLY;
	CHECK(reads(p, WORK "/a") && !writes(p, WORK "/a"));
	p->fs.workdir.v = WORKDIR_NONE;
	CHECK(!reads(p, WORK "/a"));
	policy_free(p);
}

static void deny_wins_over_all(void)
{
	struct policy *p = fresh();
	struct reason r;

	add(p, &p->fs.write, "/srv/data");
	add(p, &p->fs.deny, "**/.env");
	add(p, &p->fs.deny, "/usr/bin/curl");
	add(p, &p->fs.deny, "/srv/data/secret");
	CHECK(!reads(p, WORK "/a/.env") && !reads(p, "/srv/data/secret/x") && !reads(p, "/usr/bin/curl"));
	CHECK(writes(p, "/srv/data/other") && reads(p, WORK "/.envrc"));
	policy_query_path(p, WORK, "/srv/data/secret", FS_READ, &r);
	CHECK_STR(r.rule, "filesystem.deny /srv/data/secret");
	CHECK(r.at.file == 1 && r.at.line == 3);
	policy_free(p);
}

static void protected_paths_are_readable_but_never_written(void)
{
	struct policy *p = fresh();

	add(p, &p->fs.protect, "**/.git/hooks/**");
	CHECK(reads(p, WORK "/.git/hooks/pre-commit") && !writes(p, WORK "/.git/hooks/pre-commit"));
	CHECK(!writes(p, WORK "/.git/hooks") && writes(p, WORK "/.git/index"));
	CHECK(writes(p, "/tmp/.git/hooks/pre-commit"));
	add(p, &p->fs.deny, "**/.env");
	CHECK(!reads(p, "/tmp/.env"));
	p->fs.deny.v[0].at = (struct origin){0};
	CHECK(reads(p, "/tmp/.env") && !reads(p, WORK "/.env"));
	policy_free(p);
}

static void the_deeper_of_read_and_write_decides(void)
{
	struct policy *p = fresh();

	add(p, &p->fs.write, "/srv");
	add(p, &p->fs.read, "/srv/keep");
	add(p, &p->fs.write, "/srv/keep/cache");
	add(p, &p->fs.read, WORK "/vendor");
	CHECK(writes(p, "/srv/x") && !writes(p, "/srv/keep/x") && reads(p, "/srv/keep/x") &&
	      writes(p, "/srv/keep/cache/x"));
	CHECK(!writes(p, WORK "/vendor/x") && writes(p, WORK "/src/x"));
	add(p, &p->fs.read, "/both");
	add(p, &p->fs.write, "/both");
	CHECK(writes(p, "/both/x"));
	add(p, &p->fs.read, WORK);
	CHECK(writes(p, WORK "/src/x"));
	policy_free(p);
}

static void a_floating_read_pattern_counts_only_where_something_is_visible(void)
{
	struct policy *p = fresh();

	add(p, &p->fs.read, "**/golden");
	CHECK(!reads(p, "/opt/golden") && reads(p, WORK "/golden") && !writes(p, WORK "/golden/x"));
	add(p, &p->fs.write, "**/build");
	CHECK(!writes(p, "/usr/share/build/x") && writes(p, WORK "/golden/build/x"));
	policy_free(p);
}

static void a_wide_pattern_does_not_open_what_is_hidden(void)
{
	struct policy *p = fresh();

	add(p, &p->fs.read, "/");
	CHECK(!reads(p, "/dev/mem") && reads(p, "/dev/null"));
	CHECK(reads(p, "/opt/x") && !reads(p, "/sys/kernel") && !reads(p, "/proc/kcore"));
	add(p, &p->fs.read, "/etc/ssl/private");
	CHECK(reads(p, "/etc/ssl/private/test.key"));
	/* nor does one of its own: the plan covers all of it */
	add(p, &p->fs.read, "/sys/kernel/mm");
	CHECK(!reads(p, "/sys/kernel/mm") && !reads(p, "/sys/kernel/mm/ksm"));
	policy_free(p);
}

static void exec_needs_to_be_visible_allowed_and_not_denied(void)
{
	struct policy *p = fresh();

	CHECK(execs(p, "/usr/bin/git") && !execs(p, "/opt/x/bin/tool") && execs(p, WORK "/a.out"));
	add(p, &p->process.deny_exec, "/usr/bin/nc*");
	CHECK(!execs(p, "/usr/bin/nc.openbsd"));
	add(p, &p->process.allow_exec, "/usr/bin/*");
	CHECK(execs(p, "/usr/bin/git") && !execs(p, WORK "/a.out") && !execs(p, "/usr/bin/ncat"));
	policy_free(p);
}

static void host_rules_match_names_as_documented(void)
{
	CHECK(net_host_matches("pypi.org", sv_of("PyPI.org.")) && !net_host_matches("pypi.org", sv_of("a.pypi.org")));
	CHECK(net_host_matches("*.a.b", sv_of("x.a.b")) && net_host_matches("*.a.b", sv_of("y.x.a.b")));
	CHECK(!net_host_matches("*.a.b", sv_of("a.b")) && !net_host_matches("*.a.b", sv_of("xa.b")));
	CHECK(!net_host_matches("*.a.b", sv_of(".a.b")));
	CHECK(net_host_covers("*.b", "*.a.b") && !net_host_covers("*.a.b", "*.b") && net_host_covers("*.b", "a.b"));
	CHECK(net_host_covers("*.a.b", "*.a.b") && !net_host_covers("a.b", "*.a.b"));
}

static void a_trailing_double_star_needs_the_slash(void)
{
	CHECK(net_path_matches("/simple/**", sv_of("/simple/")) &&
	      net_path_matches("/simple/**", sv_of("/simple/a/b")));
	CHECK(!net_path_matches("/simple/**", sv_of("/simple")) &&
	      !net_path_matches("/simple/**", sv_of("/simplex/a")));
	CHECK(net_path_denied("/admin/**", sv_of("/admin")) && net_path_denied("/admin/**", sv_of("/ADMIN/")) &&
	      net_path_denied("/a/*/**", sv_of("/a/b?x")) && !net_path_denied("/admin/**", sv_of("/administer")) &&
	      !net_path_denied("/admin/*", sv_of("/admin")));
	CHECK(net_path_is_odd(sv_of("/a/..%20/b")) && net_path_is_odd(sv_of("/a/.%20%20")) &&
	      !net_path_is_odd(sv_of("/a/.../b")) && net_path_is_odd(sv_of("/a/..%20./b")) &&
	      !net_path_is_odd(sv_of("/a/..x%20/b")) && !net_path_is_odd(sv_of("/a/b%20/")));
	CHECK(net_path_matches("/a/*/c", sv_of("/a/b/c")) && !net_path_matches("/a/*/c", sv_of("/a/b/b/c")));
	CHECK(net_path_matches("/a/**/c", sv_of("/a/c")) && net_path_matches("/a/**/c", sv_of("/a/x/y/c")));
	CHECK(net_path_matches("/**", sv_of("/")) && net_path_matches("**", sv_of("/x?y=/z")));
	CHECK(net_path_matches("/x", sv_of("/x?q=1")) && !net_path_matches("/x", sv_of("/x/")));
	CHECK(net_path_matches("/**/a/**/b", sv_of("/q/a/a/z/b")) && !net_path_matches("/**/a/**/b", sv_of("/q/b/a")));
	CHECK(net_path_covers("/a/**", "/a/b/**") && net_path_covers("/a/**", "/a/*.x") &&
	      !net_path_covers("/a/**", "/a"));
	CHECK(!net_path_covers("/a/b/**", "/a/**"));
}

static void addresses_that_are_not_the_internet_are_known_in_every_spelling(void)
{
	static const char *const bad[] = {"127.0.0.1",
					  "10.1.2.3",
					  "169.254.169.254",
					  "192.168.0.1",
					  "172.31.0.1",
					  "100.64.0.1",
					  "::1",
					  "[fd00::1]",
					  "fe80::1",
					  "::ffff:127.0.0.1",
					  "64:ff9b::7f00:1",
					  "2002:7f00:1::",
					  "2130706433",
					  "0x7f.1",
					  "127.1",
					  "localhost",
					  "a.localhost",
					  "0.0.0.0",
					  "metadata.google.internal"};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (net_host_class(sv_of(bad[i])) != HOST_PRIVATE) {
			printf("# %s\n", bad[i]);
			CHECK(false);
		}
	CHECK(net_host_class(sv_of("8.8.8.8")) == HOST_PUBLIC && net_host_class(sv_of("2606:4700::1")) == HOST_PUBLIC);
	CHECK(net_host_class(sv_of("pypi.org")) == HOST_NAME && net_host_class(sv_of("172.32.0.1")) == HOST_PUBLIC);
	CHECK(net_cidr_has("10.1.2.0/24", sv_of("10.1.2.77")) && !net_cidr_has("10.1.2.0/24", sv_of("10.1.3.1")));
	CHECK(net_cidr_has("10.1.2.3", sv_of("10.1.2.3")) && !net_cidr_has("::/0", sv_of("10.1.2.3")));
	CHECK(net_cidr_covers("10.0.0.0/8", "10.1.0.0/16") && !net_cidr_covers("10.1.0.0/16", "10.0.0.0/8"));
}

static void network_modes_hold(void)
{
	struct policy *p = fresh();
	struct reason r;

	CHECK(!reaches(p, "pypi.org", 443, NULL, NULL));
	p->net.mode = (struct pol_num){NET_PUBLIC, true, {0}};
	CHECK(reaches(p, "pypi.org", 22, NULL, NULL) && reaches(p, "8.8.8.8", 53, NULL, NULL));
	CHECK(!reaches(p, "10.0.0.1", 80, NULL, NULL) && !reaches(p, "169.254.169.254", 80, NULL, NULL));
	rule(p, &p->net.deny, "*.pastebin.com", NULL);
	CHECK(!reaches(p, "x.pastebin.com", 8443, NULL, NULL) && reaches(p, "pastebin.com", 443, NULL, NULL));
	p->net.mode.v = NET_ALLOWLIST;
	CHECK(!reaches(p, "pypi.org", 443, NULL, NULL));
	policy_query_host(p, "pypi.org", 0, NULL, NULL, &r);
	CHECK_STR(r.rule, "network.mode allowlist");
	policy_free(p);
}

static void an_allow_rule_narrows_port_method_and_path(void)
{
	struct policy *p = fresh();
	struct net_rule *r;
	struct reason why;

	p->net.mode = (struct pol_num){NET_ALLOWLIST, true, {0}};
	r = rule(p, &p->net.allow, "pypi.org", NULL);
	CHECK(reaches(p, "pypi.org", 0, NULL, NULL) && reaches(p, "pypi.org", 80, NULL, NULL));
	CHECK(!reaches(p, "pypi.org", 8080, NULL, NULL));
	add(p, &r->methods, "GET");
	add(p, &r->paths, "/simple/**");
	CHECK(reaches(p, "pypi.org", 443, "GET", "/simple/x") && !reaches(p, "pypi.org", 443, "POST", "/simple/x"));
	CHECK(!reaches(p, "pypi.org", 443, "GET", "/simple") && reaches(p, "pypi.org", 443, NULL, NULL));
	policy_query_host(p, "pypi.org", 443, "POST", NULL, &why);
	CHECK_STR(why.text, "pypi.org is allowed with GET only, not with POST.");
	add(p, &r->paths, "/*.txt");
	policy_query_host(p, "pypi.org", 443, "GET", "/x%3F.txt", &why);
	CHECK_STR(why.text, "pypi.org is allowed for the paths /simple/**, /*.txt only, and to a server that decodes "
			    "it first /x%3F.txt is another one.");
	add(p, &r->paths, "/x%3F.txt"); /* which is what the hint says */
	CHECK(reaches(p, "pypi.org", 443, "GET", "/x%3F.txt"));
	policy_query_host(p, "pypi.org", 443, "GET", "/x", &why);
	CHECK(strstr(why.text, "only, not for /x."));
	/* judged as it is sent, not as it was written */
	CHECK(reaches(p, "pypi.org", 443, "GET", "/simple/%c3%a9") &&
	      reaches(p, "pypi.org", 443, "GET", "/simple/%2a") && reaches(p, "pypi.org", 443, "GET", "/%73imple/x"));
	CHECK(!reaches(p, "pypi.org", 443, "GET", "/simple/%2e%2e/y") &&
	      !reaches(p, "pypi.org", 443, "GET", "/simple/%252e%252e/y") &&
	      !reaches(p, "pypi.org", 443, "GET", "/simple%2fx"));
	rule(p, &p->net.allow, "open.test", NULL);
	CHECK(reaches(p, "open.test", 443, "GET", "/a%2fb") && reaches(p, "open.test", 443, "OPTIONS", "*"));
	policy_query_host(p, "open.test", 443, "GET", "/a/../b", &why);
	CHECK(why.answer == ANSWER_DENY);
	CHECK_STR(why.text, "The gateway refuses every request with such a path: path has a dot segment.");
	r = rule(p, &p->net.allow, NULL, "10.1.2.0/24");
	ports(p, r, 5432);
	CHECK(reaches(p, "10.1.2.3", 5432, NULL, NULL) && !reaches(p, "10.1.2.3", 80, NULL, NULL));
	rule(p, &p->net.allow, "10.9.9.9", NULL);
	CHECK(!reaches(p, "10.9.9.9", 443, NULL, NULL));
	r = rule(p, &p->net.deny, "pypi.org", NULL);
	add(p, &r->methods, "DELETE");
	CHECK(reaches(p, "pypi.org", 443, "GET", "/simple/x") && !reaches(p, "pypi.org", 443, "DELETE", "/simple/x"));
	policy_free(p);
}

static void models_match_whole_names_and_routes(void)
{
	struct policy *p = fresh();
	struct provider *v = arena_array(p->arena, 2, sizeof(*v));
	struct route *route = arena_array(p->arena, 1, sizeof(*route));

	CHECK(!takes(p, "claude-x"));
	v[0] = (struct provider){.name = "anthropic"};
	v[1] = (struct provider){.name = "vllm"};
	add(p, &v[0].models, "claude-*");
	add(p, &v[1].models, "local-*");
	*route = (struct route){"local-*", "vllm", {0}};
	p->inference.providers = v;
	p->inference.n_providers = 2;
	p->inference.routes = route;
	p->inference.n_routes = 1;
	CHECK(takes(p, "claude-opus-4") && takes(p, "local-a/b") && !takes(p, "Claude-opus") &&
	      !takes(p, "my-claude-x"));
	v[1].models.v[0].s = "other";
	CHECK(!takes(p, "local-x"));
	policy_free(p);
}

static void an_address_is_the_host_that_its_text_is(void)
{
	static const char *const texts[] = {"127.0.0.1", "8.8.8.8",         "10.200.30.4",     "169.254.169.254",
					    "::1",       "2606:4700::1111", "::ffff:10.0.0.1", "fe80::1"};
	struct net_host direct, read;
	struct address a;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK(address_parse(sv_of(texts[i]), &a));
		net_host_of_address(&a, &direct);
		net_host_read(sv_of(texts[i]), &read);
		CHECK(direct.class == read.class && direct.is_address && read.is_address &&
		      address_same(&direct.address, &read.address));
		CHECK(direct.n == read.n && strcmp(direct.text, read.text) == 0);
	}
}

static const struct check_case cases[] = {
		CASE(an_address_is_the_host_that_its_text_is),
	CASE(the_base_system_is_readable_and_nothing_of_it_writable),
	CASE(scratch_space_is_private_and_writable),
	CASE(the_rest_of_the_host_is_absent),
	CASE(the_work_folder_follows_its_mode),
	CASE(deny_wins_over_all),
	CASE(protected_paths_are_readable_but_never_written),
	CASE(the_deeper_of_read_and_write_decides),
	CASE(a_floating_read_pattern_counts_only_where_something_is_visible),
	CASE(a_wide_pattern_does_not_open_what_is_hidden),
	CASE(exec_needs_to_be_visible_allowed_and_not_denied),
	CASE(host_rules_match_names_as_documented),
	CASE(a_trailing_double_star_needs_the_slash),
	CASE(addresses_that_are_not_the_internet_are_known_in_every_spelling),
	CASE(network_modes_hold),
	CASE(an_allow_rule_narrows_port_method_and_path),
	CASE(models_match_whole_names_and_routes),
};

int main(void)
{
	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
