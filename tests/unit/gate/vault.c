#include "vault/vault.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "check.h"
#include "sys/role_confine.h"
#include "sys/role.h"
#include "vault/credentials_file.h"
#include "vault/grant.h"
#include "vault/likeness.h"
#include "vault/runner.h"
#include "vault/source.h"
#include "wire/wire.h"

static const char file[] =
	"version: 1\n"
	"credentials:\n"
	"  one: {from: {env: VAULT_TEST_KEY}, hosts: [h.test], inject: {bearer: true}}\n"
	"  two: {from: {command: [echo, two-from-command]}, hosts: [\"*.two.test\"], inject: {query: key}}\n"
	"  slow: {from: {command: [sh, -c, \"sleep 0.3; echo slow-from-command\"]}, hosts: [\"slow.test\"], inject: "
	"{query: key}}\n"
	"  failing: {from: {command: [sh, -c, \"sleep 0.3; exit 3\"]}, hosts: [\"slow.test\"], inject: {query: key}}\n"
	"  unset: {from: {env: VAULT_TEST_NONE}, hosts: [h.test], inject: {bearer: true}}\n"
	"  twin: {from: {command: [echo, other-value]}, hosts: [h.test], inject: {bearer: true}, env: VAULT_TEST_KEY}\n"
	"  bad: {from: {command: [printf, 'bad-value\\nX: y']}, hosts: [h.test], inject: {bearer: true}}\n"
	"  brief: {from: {command: [sh, -c, 'echo \"{\\\"token\\\":\\\"token-$$\\\",\\\"ttl\\\":1}\"']}, hosts: "
	"[h.test], inject: {bearer: true}}\n"
	"  aws: {from: {command: [printf, 'AKIAREALREAL\\nreal-secret']}, hosts: [a.test], inject: {sigv4: {region: r, "
	"service: s}}}\n"
	"  aws-twin: {from: {command: [echo, other-value]}, hosts: [h.test], inject: {bearer: true}, env: "
	"AWS_ACCESS_KEY_ID}\n";

/* The vault as its program runs it, with our ends of its sockets. */
struct bench {
	pid_t pid;
	int supervisor, egress, relay;
};

static int be_vault(int supervisor)
{
	struct likeness_base base = {0};
	struct credentials *c = NULL;
	struct mint *mint = NULL;
	struct error err;
	struct vault *v;
	int runner;

	likeness_here(&base);
	if (credentials_parse("f", sv_of(file), &c, &err) < 0 || runner_start(c, &runner) < 0)
		return 1;
	json_object_seed(0);
	if (mint_new(&mint, &err) < 0 ||
	    role_confine(&(struct role_needs){
		    .may = ROLE_POLL, .first_closed = 64, .descriptors = 64, .memory = 512 << 20}) < 0)
		return 2;
	v = vault_new(c, mint, &base, supervisor, runner);
	return v && vault_serve(v, &err) == 0 ? 0 : 3;
}

static void give_peer(const struct bench *b, enum vault_peer which, int *ret)
{
	AUTO_BUF body = {0};
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	buf_init(&body, 16);
	wire_put_u32(&body, which);
	CHECK(wire_send(b->supervisor, VAULT_PEER, buf_view(&body), &pair[1], 1) == 0);
	(void)close(pair[1]);
	*ret = pair[0];
}

static struct wire_message next(int sock)
{
	struct wire_message m = {0};

	if (wire_receive(sock, &m) <= 0)
		m.type = 0;
	return m;
}

static struct bench start(void)
{
	struct bench b = {0};
	struct wire_message m;
	int pair[2];

	CHECK(setenv("VAULT_TEST_KEY", "value-of-one", 1) == 0 && unsetenv("VAULT_TEST_NONE") == 0);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	(void)fflush(stdout);
	b.pid = fork();
	if (b.pid == 0) {
		(void)close(pair[0]);
		_exit(be_vault(pair[1]));
	}
	(void)close(pair[1]);
	b.supervisor = pair[0];
	give_peer(&b, VAULT_EGRESS, &b.egress);
	give_peer(&b, VAULT_RELAY, &b.relay);
	m = next(b.egress); /* none yet */
	CHECK(m.type == VAULT_GRANTS);
	wire_message_done(&m);
	return b;
}

static void stop(struct bench *b)
{
	int status = -1;

	(void)close(b->supervisor);
	CHECK(waitpid(b->pid, &status, 0) == b->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	(void)close(b->egress);
	(void)close(b->relay);
}

static void load(const struct bench *b, const char *one, const char *two)
{
	char *names[] = {(char *)(uintptr_t)one, (char *)(uintptr_t)two, NULL};
	AUTO_BUF body = {0};

	buf_init(&body, 1024);
	wire_put_strings(&body, names);
	CHECK(wire_send(b->supervisor, VAULT_LOAD, buf_view(&body), NULL, 0) == 0);
}

static struct grant *next_grant(const struct bench *b)
{
	struct wire_message m = next(b->egress);
	struct grant *g = NULL;

	CHECK(m.type == VAULT_GRANT && grant_decode(buf_view(&m.body), &g) == 0);
	wire_message_done(&m);
	return g;
}

static void egress_gets_values_and_the_supervisor_placeholders(void)
{
	struct bench b = start();
	struct wire_message m;
	struct grant *one, *two;
	struct wire_in in;
	struct sv name, variable, placeholder;

	load(&b, "two", "one");
	one = next_grant(&b);
	two = next_grant(&b);
	CHECK(one && secret_equal(one->parts[PART_VALUE], sv_of("value-of-one")) && grant_covers(one, sv_of("h.test")));
	CHECK(two && secret_equal(two->parts[PART_VALUE], sv_of("two-from-command")) &&
	      grant_covers(two, sv_of("a.two.test")));
	m = next(b.egress);
	CHECK(m.type == VAULT_GRANTS);
	wire_message_done(&m);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED);
	CHECK(!memmem(m.body.p, m.body.n, "value-of-one", 12) && !memmem(m.body.p, m.body.n, "two-from", 8));
	wire_in_init(&in, buf_view(&m.body));
	CHECK(sv_starts(wire_get_sv(&in), "-----BEGIN CERTIFICATE-----"));
	CHECK(wire_get_u32(&in) == 2);
	name = wire_get_sv(&in);
	variable = wire_get_sv(&in);
	placeholder = wire_get_sv(&in);
	CHECK(sv_is(name, "one") && sv_is(variable, "VAULT_TEST_KEY") && one &&
	      sv_is(placeholder, one->placeholders[PART_VALUE]));
	CHECK(sv_is(wire_get_sv(&in), "two") && sv_is(wire_get_sv(&in), ""));
	(void)wire_get_sv(&in);
	CHECK(wire_ok(&in));
	wire_message_done(&m);
	grant_free(one);
	grant_free(two);
	stop(&b);
}

static void aws_keys_get_two_variables(void)
{
	struct bench b = start();
	struct wire_message m;
	struct grant *g;

	load(&b, "aws", NULL);
	g = next_grant(&b);
	CHECK(g && secret_equal(g->parts[PART_KEY_ID], sv_of("AKIAREALREAL")) && !g->parts[PART_TOKEN]);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED && memmem(m.body.p, m.body.n, "AWS_ACCESS_KEY_ID", 17) &&
	      memmem(m.body.p, m.body.n, "AWS_SECRET_ACCESS_KEY", 21));
	wire_message_done(&m);
	grant_free(g);
	stop(&b);
}

static void a_failed_load_says_why_without_the_value(void)
{
	static const struct {
		const char *one, *two, *text;
	} cases[] = {
		{"none-such", NULL, "is not in credentials.yaml"},
		{"unset", NULL, "VAULT_TEST_NONE is not set"},
		{"bad", NULL, "control character"},
		{"one", "twin", "same variable"},
		{"aws", "aws-twin", "same variable"},
	};
	struct bench b = start();
	struct wire_message m;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		load(&b, cases[i].one, cases[i].two);
		m = next(b.supervisor);
		CHECK(m.type == VAULT_FAILED && memmem(m.body.p, m.body.n, cases[i].text, strlen(cases[i].text)));
		CHECK(!memmem(m.body.p, m.body.n, "bad-value", 9));
		wire_message_done(&m);
	}
	/* and a good one works after it */
	load(&b, "one", NULL);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED);
	wire_message_done(&m);
	stop(&b);
}

static void a_value_that_expires_is_fetched_again_and_keeps_its_placeholder(void)
{
	struct bench b = start();
	struct grant *first, *second;
	struct wire_message m;

	load(&b, "brief", NULL);
	first = next_grant(&b);
	m = next(b.egress);
	CHECK(m.type == VAULT_GRANTS);
	wire_message_done(&m);
	second = next_grant(&b);
	CHECK(first && second && strcmp(first->placeholders[0], second->placeholders[0]) == 0);
	CHECK(second && sv_starts(sv_of(second->name), "brief"));
	grant_free(first);
	grant_free(second);
	stop(&b);
}

static struct wire_message mint(const struct bench *b, const char *host)
{
	AUTO_BUF body = {0};

	buf_init(&body, 1024);
	wire_put_u32(&body, 7);
	wire_put_sv(&body, sv_of(host));
	CHECK(wire_send(b->relay, VAULT_MINT, buf_view(&body), NULL, 0) == 0);
	return next(b->relay);
}

static void the_relay_gets_leaves_and_nothing_else(void)
{
	struct bench b = start();
	struct wire_message m = mint(&b, "pypi.org");
	struct wire_in in;

	wire_in_init(&in, buf_view(&m.body));
	CHECK(m.type == VAULT_MINTED && wire_get_u32(&in) == 7);
	CHECK(wire_get_sv(&in).n > 100 && wire_get_sv(&in).n > 50 && wire_ok(&in));
	wire_message_done(&m);
	m = mint(&b, "not a host");
	wire_in_init(&in, buf_view(&m.body));
	CHECK(m.type == VAULT_MINTED && wire_get_u32(&in) == 7 && wire_get_sv(&in).n == 0 && wire_get_sv(&in).n == 0 &&
	      wire_ok(&in));
	wire_message_done(&m);
	/* A relay that asks for credentials loses its socket; the others go on. */
	CHECK(wire_send(b.relay, VAULT_LOAD, sv_n("\0\0\0\0", 4), NULL, 0) == 0);
	m = next(b.relay);
	CHECK(m.type == 0);
	load(&b, "one", NULL);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED);
	wire_message_done(&m);
	stop(&b);
}

static void a_new_egress_gets_the_grants_again(void)
{
	struct bench b = start();
	struct wire_message m;
	struct grant *g;

	load(&b, "one", NULL);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED);
	wire_message_done(&m);
	(void)close(b.egress);
	give_peer(&b, VAULT_EGRESS, &b.egress);
	g = next_grant(&b);
	CHECK(g && secret_equal(g->parts[PART_VALUE], sv_of("value-of-one")));
	grant_free(g);
	stop(&b);
}

static void a_refused_load_changes_nothing(void)
{
	static const struct {
		const char *one, *two;
	} refused[] = {{"none-such", NULL}, {"two", "none-such"}, {"two", "unset"}, {"one", "twin"}};
	struct bench b = start();
	struct wire_message m;
	struct grant *g;
	size_t i;

	load(&b, "one", NULL);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED);
	wire_message_done(&m);
	for (i = 0; i < ARRAY_LEN(refused); i++) {
		load(&b, refused[i].one, refused[i].two);
		m = next(b.supervisor);
		CHECK(m.type == VAULT_FAILED);
		wire_message_done(&m);
		(void)close(b.egress);
		give_peer(&b, VAULT_EGRESS, &b.egress);
		g = next_grant(&b);
		CHECK(g && strcmp(g->name, "one") == 0);
		grant_free(g);
		m = next(b.egress);
		CHECK(m.type == VAULT_GRANTS);
		wire_message_done(&m);
	}
	stop(&b);
}

/* A reload does not wait for a slow command: what it denies is denied at once. */
static void what_is_committed_is_in_force_and_its_values_follow(void)
{
	struct bench b = start();
	struct wire_message m;
	struct grant *g;

	load(&b, "one", NULL);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED);
	wire_message_done(&m);
	g = next_grant(&b);
	grant_free(g);
	m = next(b.egress);
	CHECK(m.type == VAULT_GRANTS);
	wire_message_done(&m);
	load(&b, "slow", NULL);
	CHECK(wire_send(b.supervisor, VAULT_COMMIT, sv_n("", 0), NULL, 0) == 0);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED);
	wire_message_done(&m);
	/* none of the new ones, and the old one no more */
	m = next(b.egress);
	CHECK(m.type == VAULT_GRANTS && m.body.n == 4 && m.body.p[0] == 0);
	wire_message_done(&m);
	g = next_grant(&b);
	CHECK(g && strcmp(g->name, "slow") == 0 && secret_equal(g->parts[PART_VALUE], sv_of("slow-from-command")));
	grant_free(g);
	stop(&b);
}

static void one_that_fails_after_it_was_committed_is_told_and_one_that_is_unknown_is_not_committed(void)
{
	struct bench b = start();
	struct wire_message m;

	load(&b, "one", NULL);
	m = next(b.supervisor);
	wire_message_done(&m);
	load(&b, "failing", NULL);
	CHECK(wire_send(b.supervisor, VAULT_COMMIT, sv_n("", 0), NULL, 0) == 0);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_LOADED);
	wire_message_done(&m);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_STALE && memmem(m.body.p, m.body.n, "failing", 7));
	wire_message_done(&m);
	load(&b, "one", "none-such");
	CHECK(wire_send(b.supervisor, VAULT_COMMIT, sv_n("", 0), NULL, 0) == 0);
	m = next(b.supervisor);
	CHECK(m.type == VAULT_FAILED);
	wire_message_done(&m);
	(void)close(b.egress);
	give_peer(&b, VAULT_EGRESS, &b.egress);
	m = next(b.egress);
	CHECK(m.type == VAULT_GRANTS && m.body.n == 4 && m.body.p[0] == 0); /* still only what has no value */
	wire_message_done(&m);
	stop(&b);
}

static void it_runs_behind_a_filter_with_no_variables(void)
{
	struct bench b = start();
	char path[64], text[8192];
	struct wire_message m;
	FILE *f;
	size_t n;

	load(&b, "one", NULL);
	m = next(b.supervisor);
	wire_message_done(&m);
	(void)snprintf(path, sizeof(path), "/proc/%d/status", b.pid);
	f = fopen(path, "re");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[n] = '\0';
	if (f)
		(void)fclose(f);
	CHECK(strstr(text, "NoNewPrivs:\t1"));
	CHECK(!role_is_filtered() || strstr(text, "Seccomp:\t2"));
	/* Only root can look at all. */
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", b.pid);
	f = fopen(path, "re");
	n = f ? fread(text, 1, sizeof(text), f) : 0;
	CHECK(!memmem(text, n, "value-of-one", 12));
	if (f)
		(void)fclose(f);
	stop(&b);
}

/* Of a command, whose value nobody compares. */
static void the_variables_that_a_command_finds_things_by_count(void)
{
	struct likeness_base before = {0}, now = {0};
	const struct source_variable *v;
	char *had;

	for (v = source_variables; v < source_variables + SOURCE_VARIABLES; v++) {
		had = getenv(v->name) ? strdup(getenv(v->name)) : NULL;
		CHECK(unsetenv(v->name) == 0);
		likeness_here(&before);
		CHECK(setenv(v->name, "/another", 1) == 0);
		likeness_here(&now);
		if ((memcmp(before.here, now.here, sizeof(now.here)) != 0) != v->decides)
			printf("# %s\n", v->name);
		CHECK((memcmp(before.here, now.here, sizeof(now.here)) != 0) == v->decides);
		CHECK((had ? setenv(v->name, had, 1) : unsetenv(v->name)) == 0);
		free(had);
	}
	/* another session's keyring may be another one */
	CHECK(setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/one", 1) == 0);
	likeness_here(&before);
	CHECK(setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/two", 1) == 0);
	likeness_here(&now);
	CHECK(memcmp(before.here, now.here, sizeof(now.here)) != 0);
	CHECK(unsetenv("DBUS_SESSION_BUS_ADDRESS") == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(egress_gets_values_and_the_supervisor_placeholders),
		CASE(aws_keys_get_two_variables),
		CASE(a_failed_load_says_why_without_the_value),
		CASE(a_value_that_expires_is_fetched_again_and_keeps_its_placeholder),
		CASE(the_relay_gets_leaves_and_nothing_else),
		CASE(a_new_egress_gets_the_grants_again),
		CASE(a_refused_load_changes_nothing),
		CASE(what_is_committed_is_in_force_and_its_values_follow),
		CASE(one_that_fails_after_it_was_committed_is_told_and_one_that_is_unknown_is_not_committed),
		CASE(it_runs_behind_a_filter_with_no_variables),
		CASE(the_variables_that_a_command_finds_things_by_count),
	};
	return check_main(cases, ARRAY_LEN(cases));
}
