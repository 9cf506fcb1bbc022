#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "conf/gateway_file.h"
#include "vault/credentials_file.h"
#include "vault/source.h"
#include "vault/source_value.h"

static const char *error_of(const char *text)
{
	static struct error err;
	struct credentials *c = NULL;

	err.text[0] = '\0';
	if (credentials_parse("f", sv_of(text), &c, &err) == 0)
		credentials_free(c);
	return err.text;
}

#define HEAD   "version: 1\ncredentials:\n  a:\n"
#define FROM   "    from: {env: KEY}\n"
#define HOSTS  "    hosts: [h.test]\n"
#define INJECT "    inject: {bearer: true}\n"

static void every_form_of_the_file_is_read(void)
{
	static const char text[] =
		"version: 1\n"
		"credentials:\n"
		"  anthropic:\n"
		"    from: {env: ANTHROPIC_API_KEY}\n"
		"    hosts: [API.anthropic.com]\n"
		"    inject: {header: X-Api-Key, format: \"{}\"}\n"
		"  token:\n"
		"    from: {file: ~/.token}\n"
		"    hosts: [a.test, \"*.b.test\"]\n"
		"    inject: {header: authorization, format: \"token {};\"}\n"
		"    env: TOKEN\n"
		"    verifier_env: JUDGE_KEY\n"
		"  pass: {from: {command: [pass, show, x]}, hosts: [c.test], inject: {basic: {user: me}}}\n"
		"  q: {from: {env: Q}, hosts: [d.test], inject: {query: key}, env: OTHER}\n"
		"  aws: {from: {env: [A, B, C]}, hosts: [\"*.amazonaws.com\"], inject: {sigv4: {region: eu-west-1, "
		"service: s3}}}\n";
	struct credentials *c = NULL;
	struct error err = {0};

	CHECK(credentials_parse("f", sv_of(text), &c, &err) == 0);
	CHECK_STR(err.text, "");
	if (!c)
		return;
	CHECK(c->n == 5);
	CHECK_STR(c->v[0].hosts[0], "api.anthropic.com");
	CHECK_STR(c->v[0].inject.name, "x-api-key");
	CHECK_STR(c->v[0].env, "ANTHROPIC_API_KEY");
	CHECK_STR(c->v[1].inject.before, "token ");
	CHECK_STR(c->v[1].inject.after, ";");
	CHECK_STR(c->v[1].verifier_env, "JUDGE_KEY");
	CHECK(c->v[2].from.n == 3 && !c->v[2].from.words[3] && !c->v[2].env);
	CHECK_STR(c->v[2].inject.user, "me");
	CHECK(c->v[3].inject.kind == INJECT_QUERY);
	CHECK_STR(c->v[3].env, "OTHER");
	CHECK(c->v[4].inject.kind == INJECT_SIGV4 && c->v[4].from.n == 3 && !c->v[4].env);
	CHECK(credentials_find(c, sv_of("q")) == &c->v[3] && !credentials_find(c, sv_of("Q")));
	credentials_free(c);
}

static void every_mistake_is_named_with_its_place(void)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"credentials: {}\n", "f:1:1: version: is missing; write \"version: 1\" as the first line"},
		{"version: 2\n", "f:1:10: version: \"2\" is not a version this Cordon knows; write version: 1"},
		{"version: 1\ncredential: {}\n", "f:2:1: credential: unknown key; did you mean \"credentials\"?"},
		{HEAD FROM HOSTS INJECT "    hots: [x]\n",
		 "f:7:5: credentials.a.hots: unknown key; did you mean \"hosts\"?"},
		{HEAD FROM INJECT,
		 "f:3:3: credentials.a: has no hosts; list those that may see it, such as hosts: [api.example.com]"},
		{HEAD FROM INJECT "    hosts: []\n", "f:6:12: credentials.a.hosts: is empty, which would allow "
						     "nothing; list what is allowed, or remove the key"},
		{HEAD FROM INJECT "    hosts: [\"*\"]\n", NULL},
		{HEAD FROM INJECT "    hosts: [h.test.]\n", NULL},
		{HEAD FROM INJECT "    hosts: [\"https://h.test\"]\n", NULL},
		{HEAD HOSTS INJECT, "f:3:3: credentials.a: says not where its value is; write from: {env: NAME}"},
		{HEAD FROM HOSTS,
		 "f:3:3: credentials.a: says not how it is sent; write inject: {bearer: true} or another form"},
		{HEAD HOSTS INJECT "    from: {env: A, file: /b}\n",
		 "f:6:11: credentials.a.from: has 2 keys; write one of env, file or command"},
		{HEAD HOSTS INJECT "    from: {env: [A, B]}\n", NULL},
		{HEAD HOSTS INJECT "    from: {env: \"A=B\"}\n", NULL},
		{HEAD HOSTS INJECT "    from: {file: key.txt}\n", NULL},
		{HEAD HOSTS INJECT "    from: {command: pass show x}\n", NULL},
		{HEAD HOSTS INJECT "    from: {command: []}\n", NULL},
		{HEAD FROM HOSTS "    inject: {bearer: false}\n", NULL},
		{HEAD FROM HOSTS "    inject: {}\n", NULL},
		{HEAD FROM HOSTS "    inject: {bearer: true, query: k}\n",
		 "f:6:13: credentials.a.inject: names several forms; write one of header, bearer, basic, query or "
		 "sigv4"},
		{HEAD FROM HOSTS "    inject: {header: Host}\n",
		 "f:6:22: credentials.a.inject.header: \"Host\" frames or routes a message and cannot carry a "
		 "credential; use another header"},
		{HEAD FROM HOSTS "    inject: {header: Transfer-Encoding}\n", NULL},
		{HEAD FROM HOSTS "    inject: {header: Proxy-Authorization}\n", NULL},
		{HEAD FROM HOSTS "    inject: {header: \"x y\"}\n", NULL},
		{HEAD FROM HOSTS "    inject: {header: x, format: \"{}{}\"}\n", NULL},
		{HEAD FROM HOSTS "    inject: {header: x, format: \"none\"}\n", NULL},
		{HEAD FROM HOSTS "    inject: {header: x, format: \"a\\nb: {}\"}\n", NULL},
		{HEAD FROM HOSTS "    inject: {format: \"{}\", query: k}\n", NULL},
		{HEAD FROM HOSTS "    inject: {basic: {user: \"a:b\"}}\n", NULL},
		{HEAD FROM HOSTS "    inject: {basic: {}}\n", NULL},
		{HEAD FROM HOSTS "    inject: {query: \"a&b\"}\n", NULL},
		{HEAD FROM HOSTS "    inject: {sigv4: {region: eu/west, service: s3}}\n", NULL},
		{HEAD FROM HOSTS "    inject: {sigv4: {region: eu-west-1}}\n", NULL},
		{HEAD FROM HOSTS "    env: X\n    inject: {sigv4: {region: eu, service: s3}}\n", NULL},
		{HEAD FROM HOSTS INJECT FROM, NULL},
		{HEAD FROM HOSTS INJECT "    env: 1X\n", NULL},
		{"version: 1\ncredentials: {\"a b\": {}}\n", NULL},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = error_of(cases[i].text);

		if (!got[0])
			printf("# accepted: %s\n", cases[i].text);
		CHECK(strncmp(got, "f:", 2) == 0);
		if (cases[i].error)
			CHECK_STR(got, cases[i].error);
	}
}

static void more_hosts_than_a_grant_holds_are_refused_with_their_place(void)
{
	AUTO_BUF b = {0};
	unsigned n, i;

	for (n = CREDENTIAL_HOSTS_MAX; n <= CREDENTIAL_HOSTS_MAX + 1; n++) {
		buf_init(&b, 1 << 20);
		(void)buf_str(&b, HEAD FROM "    hosts: [h0.test");
		for (i = 1; i < n; i++)
			(void)buf_printf(&b, ", h%u.test", i);
		(void)buf_str(&b, "]\n" INJECT);
		CHECK_STR(error_of(b.p), n <= CREDENTIAL_HOSTS_MAX
						 ? ""
						 : "f:5:12: credentials.a.hosts: has more than 256 hosts; write *.name "
						   "for many, or make two credentials of it");
		buf_done(&b);
	}
}

static void an_address_is_covered_however_it_is_written(void)
{
	static const char *const same[] = {"93.184.216.34", "::ffff:93.184.216.34", "::FFFF:5db8:d822",
					   "0:0:0:0:0:ffff:5db8:d822"};
	unsigned i, k;

	for (i = 0; i < ARRAY_LEN(same); i++)
		for (k = 0; k < ARRAY_LEN(same); k++)
			CHECK(credential_host_covers(same[i], sv_of(same[k])));
	CHECK(credential_host_covers("2001:db8::1", sv_of("2001:DB8:0:0::1")) &&
	      !credential_host_covers("2001:db8::1", sv_of("2001:db8::2")));
	CHECK(!credential_host_covers("93.184.216.34", sv_of("93.184.216.3")) &&
	      !credential_host_covers("93.184.216.34", sv_of("a.test")));
	CHECK(credential_host_covers("*.a.test", sv_of("b.a.test")) &&
	      !credential_host_covers("*.a.test", sv_of("a.test")));
}

static void gateway_settings_are_read_strictly(void)
{
	static const char *const wrong[] = {
		"resolve: {}\n",
		"version: 1\nresolve: {a.test: []}\n",
		"version: 1\nresolve: {a.test: [b.test]}\n",
		"version: 1\nresolve: {\"*.a.test\": [\"::1\"]}\n",
		"version: 1\nresolve: {a.test: [127.0.0.1], A.test: [127.0.0.2]}\n",
		"version: 1\nca_file: ca.pem\n",
		"version: 1\nupstream_proxy: socks://x\n",
		"version: 1\nupstream_proxy: http://p.test/path\n",
		"version: 1\nproxy: http://p.test\n",
		"version: 1\nupstream_proxy: http://u:p@p.test\n",
		"version: 1\nupstream_proxy: http://p.test\n",
		"version: 1\nupstream_proxy: https://p.test:3128\n",
	};
	static const char *const logins[] = {
		"version: 1\nupstream_proxy: http://me:fakeword@p.test:3128\n",
		"version: 1\nupstream_proxy: http://fakeword@p.test:3128\n",
		"version: 1\nupstream_proxy: http://me:fake/wo@rd@p.test:3128\n",
		"version: 1\nupstream_proxy: https://me:fakeword@p.test:3128\n",
		"version: 1\nupstream_proxy: me:fakeword@p.test:3128\n",
		"version: 1\nupstream_proxy: me:fake/word@p.test:3128\n",
		"version: 1\nupstream_proxy: me:fakeword@http://p.test:3128\n",
		"version: 1\nupstream_proxy: http//me:fakeword@p.test:3128\n",
	};
	struct gateway_conf *c = NULL;
	struct error err = {0};
	size_t i;

	CHECK(gateway_parse("g",
			    sv_of("version: 1\nresolve: {\"API.example.test\": [\"127.0.0.1\", \"::0001\"]}\nca_file: "
				  "/etc/ca.pem\n"
				  "upstream_proxy: http://proxy.corp:3128\n"),
			    &c, &err) == 0);
	CHECK_STR(err.text, "");
	if (c) {
		const struct gateway_answer *a = gateway_answer_for(c, sv_of("api.example.test"));

		CHECK(a && a->n == 2);
		CHECK_STR(a ? a->addresses[1] : NULL, "::1");
		CHECK(!gateway_answer_for(c, sv_of("example.test")));
		CHECK_STR(c->ca_file, "/etc/ca.pem");
		CHECK_STR(c->upstream_proxy, "http://proxy.corp:3128");
	}
	gateway_conf_free(c);
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		c = NULL;
		CHECK(gateway_parse("g", sv_of(wrong[i]), &c, &err) < 0 && strncmp(err.text, "g:", 2) == 0);
		gateway_conf_free(c);
	}
	/* a password is not shown, and what to do is */
	for (i = 0; i < ARRAY_LEN(logins); i++) {
		c = NULL;
		CHECK(gateway_parse("g", sv_of(logins[i]), &c, &err) < 0 && strchr(err.text, '@') &&
		      strstr(err.text, "p.test:3128") && strstr(err.text, "write http://HOST:PORT"));
		CHECK(!strstr(err.text, "fake") && !strstr(err.text, "rd@"));
		gateway_conf_free(c);
	}
}

static const char *fetch(enum source_kind kind, const char *a, const char *b, const char *c, unsigned ms)
{
	static char result[600];
	const char *words[] = {a, b, c, NULL};
	const struct credential_source from = {kind, words, c ? 3 : b ? 2 : 1};
	struct error err = {0};
	AUTO_BUF out = {0};

	buf_init(&out, 0);
	if (source_fetch_within(&from, ms, &out, &err) < 0)
		(void)snprintf(result, sizeof(result), "error: %s", err.text);
	else
		(void)snprintf(result, sizeof(result), "%s", out.p);
	source_wipe(&out);
	return result;
}

static void variables_are_read_and_missing_ones_named(void)
{
	CHECK(setenv("TEST_KEY", "value-one", 1) == 0 && setenv("TEST_EMPTY", "", 1) == 0 &&
	      unsetenv("TEST_NONE") == 0);
	CHECK_STR(fetch(SOURCE_ENV, "TEST_KEY", NULL, NULL, 0), "value-one");
	CHECK_STR(fetch(SOURCE_ENV, "TEST_KEY", "TEST_KEY", NULL, 0), "value-one\nvalue-one");
	CHECK_STR(fetch(SOURCE_ENV, "TEST_KEY", "TEST_KEY", "TEST_NONE", 0), "value-one\nvalue-one");
	CHECK(strstr(fetch(SOURCE_ENV, "TEST_NONE", NULL, NULL, 0), "TEST_NONE is not set"));
	CHECK(strstr(fetch(SOURCE_ENV, "TEST_EMPTY", NULL, NULL, 0), "TEST_EMPTY is not set"));
}

static void a_file_must_be_private_and_no_link(void)
{
	char folder[] = "/tmp/cordon-test-XXXXXX", path[64], link[64], fifo[64];
	int fd;

	CHECK(mkdtemp(folder) != NULL);
	(void)snprintf(path, sizeof(path), "%s/key", folder);
	(void)snprintf(link, sizeof(link), "%s/link", folder);
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, "file-value\n", 11) == 11);
	(void)close(fd);
	CHECK(symlink(path, link) == 0 && mkfifo(fifo, 0600) == 0);
	CHECK_STR(fetch(SOURCE_FILE, path, NULL, NULL, 0), "file-value");
	CHECK(strstr(fetch(SOURCE_FILE, link, NULL, NULL, 0), "is a link"));
	CHECK(strstr(fetch(SOURCE_FILE, fifo, NULL, NULL, 0), "not a regular file"));
	CHECK(strstr(fetch(SOURCE_FILE, folder, NULL, NULL, 0), "not a regular file"));
	CHECK(chmod(path, 0640) == 0 && strstr(fetch(SOURCE_FILE, path, NULL, NULL, 0), "mode 0640"));
	CHECK(chmod(path, 0602) == 0 && strstr(fetch(SOURCE_FILE, path, NULL, NULL, 0), "mode 0602"));
	CHECK(chmod(path, 0400) == 0);
	CHECK_STR(fetch(SOURCE_FILE, path, NULL, NULL, 0), "file-value");
	if (geteuid() == 0) {
		CHECK(chown(path, 12345, 12345) == 0);
		CHECK(strstr(fetch(SOURCE_FILE, path, NULL, NULL, 0), "belongs to another user (12345)"));
		CHECK(chown(path, 0, 0) == 0);
	}
	CHECK(chmod(path, 0600) == 0 && truncate(path, SOURCE_MAX + 1) == 0);
	CHECK(strstr(fetch(SOURCE_FILE, path, NULL, NULL, 0), "larger than"));
	CHECK(unlink(path) == 0 && unlink(link) == 0 && unlink(fifo) == 0 && rmdir(folder) == 0);
	CHECK(strstr(fetch(SOURCE_FILE, path, NULL, NULL, 0), "No such file"));
}

static void a_command_gets_little_time_and_few_variables(void)
{
	CHECK_STR(fetch(SOURCE_COMMAND, "sh", "-c", "echo from-command", 5000), "from-command");
	CHECK_STR(fetch(SOURCE_COMMAND, "sh", "-c", "printf 'two\\n\\n'", 5000), "two\n");
	CHECK_STR(fetch(SOURCE_COMMAND, "sh", "-c", "echo \"key:$TEST_KEY home:${HOME:+set}\"", 5000),
		  getenv("HOME") ? "key: home:set" : "key: home:");
	CHECK_STR(fetch(SOURCE_COMMAND, "sh", "-c", "cat; echo end", 5000), "end");
	CHECK(strstr(fetch(SOURCE_COMMAND, "sh", "-c", "echo leaked-value; exit 3", 5000), "sh: ended with status 3"));
	CHECK(!strstr(fetch(SOURCE_COMMAND, "sh", "-c", "echo leaked-value; exit 3", 5000), "leaked"));
	CHECK(strstr(fetch(SOURCE_COMMAND, "sh", "-c", "kill -9 $$", 5000), "signal 9"));
	CHECK(strstr(fetch(SOURCE_COMMAND, "/nonexistent/program", NULL, NULL, 5000), "was not found"));
	CHECK(strstr(fetch(SOURCE_COMMAND, "sh", "-c", "sleep 60", 50), "was not done after 50 ms"));
	CHECK(strstr(fetch(SOURCE_COMMAND, "sh", "-c", "exec >&-; sleep 60", 50), "was not done after 50 ms"));
	CHECK(strstr(fetch(SOURCE_COMMAND, "sh", "-c", "yes | head -c 100000", 5000), "printed more than"));
}

static const char *parse(enum source_kind from, enum inject_kind kind, struct sv bytes, struct source_value *v)
{
	static struct error err;
	const struct credential c = {.from.kind = from, .inject.kind = kind};

	err.text[0] = '\0';
	*v = (struct source_value){0};
	(void)source_value_parse(&c, bytes, 1000000000, v, &err);
	return err.text;
}

static void values_that_could_split_a_header_are_refused_and_not_quoted(void)
{
	static const char *const wrong[] = {"",
					    "short",
					    " leading-blank",
					    "trailing-blank ",
					    "line\r\nX-Evil: 1",
					    "tab\tinside",
					    "\x7f-delete",
					    "umlaut-\xc3\xa4"};
	struct source_value v;
	size_t i;

	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		const char *error = parse(SOURCE_ENV, INJECT_HEADER, sv_of(wrong[i]), &v);

		CHECK(error[0] && !v.parts[PART_VALUE]);
		CHECK(!strstr(error, "Evil") && !strstr(error, "inside") && !strstr(error, "blank-") &&
		      !strstr(error, "delete"));
	}
	CHECK(parse(SOURCE_ENV, INJECT_HEADER, sv_n("null\0byte-inside", 16), &v)[0]);
	CHECK_STR(parse(SOURCE_ENV, INJECT_HEADER, sv_of("{\"token\":\"as it is\"}"), &v), "");
	CHECK(secret_equal(v.parts[PART_VALUE], sv_of("{\"token\":\"as it is\"}")));
	source_value_done(&v);
}

static void json_of_a_command_has_a_token_and_a_life(void)
{
	static const struct {
		const char *json;
		int64_t good_for; /* -1: refused */
	} cases[] = {
		{"{\"access_token\":\"token-1\",\"expires_in\":3600}", 3600},
		{"{\"token\":\"token-1\",\"ttl\":10,\"other\":[1]}", 10},
		{"{\"value\":\"token-1\"}", 0},
		{"{\"token\":\"token-1\",\"refresh_after\":5}", 5},
		{"{\"token\":\"token-1\",\"expires_at\":1000000100}", 100},
		{"{\"token\":\"token-1\",\"expiry\":\"2001-09-09T01:46:50Z\"}", 10},
		{"{\"token\":\"token-1\",\"expiry\":\"2001-09-09T03:46:50.123+02:00\"}", 10},
		{"{\"token\":\"token-1\",\"expiry\":\"2001-09-09T01:46:40Z\"}", -1},
		{"{\"token\":\"token-1\",\"expiry\":\"tomorrow\"}", -1},
		{"{\"token\":\"token-1\",\"ttl\":-5}", -1},
		{"{\"token\":\"token-1\",\"ttl\":\"5\"}", -1},
		{"{\"token\":\"token-1\",\"token\":\"token-2\"}", -1},
		{"{\"token\":1234567}", -1},
		{"{\"token\":\"line\\nbreak\"}", -1},
		{"{\"tokens\":\"token-1\"}", -1},
		{"{token-1", -1},
	};
	struct source_value v;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *error = parse(SOURCE_COMMAND, INJECT_HEADER, sv_of(cases[i].json), &v);

		if ((cases[i].good_for < 0) != (error[0] != '\0') ||
		    (cases[i].good_for >= 0 && v.good_for != cases[i].good_for))
			printf("# %s: %s\n", cases[i].json, error);
		CHECK((cases[i].good_for < 0) == (error[0] != '\0'));
		CHECK(cases[i].good_for < 0 || v.good_for == cases[i].good_for);
		CHECK(!strstr(error, "token-1"));
		CHECK(cases[i].good_for < 0 || secret_equal(v.parts[PART_VALUE], sv_of("token-1")));
		source_value_done(&v);
	}
	CHECK(source_value_refresh(3600) == 3540 && source_value_refresh(10) == 8 && source_value_refresh(1) == 1);
}

static void aws_keys_come_in_lines_or_as_the_cli_prints_them(void)
{
	struct source_value v;

	CHECK_STR(parse(SOURCE_FILE, INJECT_SIGV4, sv_of("AKIAEXAMPLE\nsecret-key"), &v), "");
	CHECK(secret_equal(v.parts[PART_KEY_ID], sv_of("AKIAEXAMPLE")) &&
	      secret_equal(v.parts[PART_VALUE], sv_of("secret-key")) && !v.parts[PART_TOKEN]);
	source_value_done(&v);
	CHECK_STR(parse(SOURCE_COMMAND, INJECT_SIGV4,
			sv_of("{\"Version\":1,\"AccessKeyId\":\"AKIAEXAMPLE\",\"SecretAccessKey\":\"secret-key\","
			      "\"SessionToken\":\"session\","
			      "\"Expiration\":\"2001-09-09T02:46:40+00:00\"}"),
			&v),
		  "");
	CHECK(secret_equal(v.parts[PART_TOKEN], sv_of("session")) && v.good_for == 3600);
	source_value_done(&v);
	CHECK(parse(SOURCE_FILE, INJECT_SIGV4, sv_of("only-one-line"), &v)[0]);
	CHECK(parse(SOURCE_FILE, INJECT_SIGV4, sv_of("line-1\nline-2\nline-3\nline-4"), &v)[0]);
	CHECK(parse(SOURCE_FILE, INJECT_SIGV4, sv_of("{\"AccessKeyId\":\"AKIAEXAMPLE\"}"), &v)[0]);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(every_form_of_the_file_is_read),
		CASE(every_mistake_is_named_with_its_place),
		CASE(more_hosts_than_a_grant_holds_are_refused_with_their_place),
		CASE(an_address_is_covered_however_it_is_written),
		CASE(gateway_settings_are_read_strictly),
		CASE(variables_are_read_and_missing_ones_named),
		CASE(a_file_must_be_private_and_no_link),
		CASE(a_command_gets_little_time_and_few_variables),
		CASE(values_that_could_split_a_header_are_refused_and_not_quoted),
		CASE(json_of_a_command_has_a_token_and_a_life),
		CASE(aws_keys_come_in_lines_or_as_the_cli_prints_them),
	};
	return check_main(cases, ARRAY_LEN(cases));
}
