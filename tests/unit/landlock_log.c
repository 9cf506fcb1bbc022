#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "check.h"
#include "supervise/landlock_log.h"

#define AT "audit(1729738800.268:30): "

static struct landlock_access access_of(const char *text)
{
	struct landlock_access a = {0};

	CHECK(landlock_access_parse(sv_of(text), &a) == 0);
	return a;
}

static void check_target(const char *text, enum event_domain of, const char *rule, struct sv target)
{
	struct landlock_access a = access_of(text);

	CHECK(a.of == of && a.domain == 0x195ba459b && sv_eq(sv_n(a.target, a.n_target), target));
	CHECK_STR(a.rule, rule);
}

static void records_say_what_was_denied(void)
{
	check_target(AT "domain=195ba459b blockers=fs.make_reg path=\"/usr/bin\" dev=\"vda2\" ino=351",
		     DOMAIN_FILESYSTEM, "filesystem.write", sv_of("/usr/bin"));
	check_target(AT "domain=195ba459b blockers=fs.read_file path=\"/a\" dev=\"vda2\" ino=351", DOMAIN_FILESYSTEM,
		     "filesystem.read", sv_of("/a"));
	check_target(AT "domain=195ba459b blockers=fs.execute path=\"/a\" dev=\"vda2\" ino=351", DOMAIN_PROCESS,
		     "process.allow_exec", sv_of("/a"));
	check_target(AT "domain=195ba459b blockers=fs.change_topology name=\"/\" dev=\"tmpfs\" ino=1",
		     DOMAIN_FILESYSTEM, "mounts", sv_of("/"));
	check_target(AT "domain=195ba459b blockers=net.connect_tcp daddr=127.0.0.1 dest=80", DOMAIN_NETWORK,
		     "network.mode", sv_of("127.0.0.1:80"));
	check_target(AT "domain=195ba459b blockers=net.bind_tcp saddr=::1 src=8080", DOMAIN_NETWORK, "network.mode",
		     sv_of("::1:8080"));
	check_target(AT "domain=195ba459b blockers=scope.signal opid=1 ocomm=\"systemd\"", DOMAIN_PROCESS,
		     "signals to others", sv_of("process 1 systemd"));
	check_target(AT "domain=195ba459b blockers=scope.abstract_unix_socket path=0061", DOMAIN_PROCESS,
		     "sockets of others", sv_of("@a"));
	check_target(AT "domain=195ba459b blockers=later.thing", DOMAIN_NONE, "landlock", sv_of(""));
}

static void names_of_strangers_are_bytes_and_nothing_else(void)
{
	/* x" domain=1 path="y, then a newline: the kernel writes digits */
	check_target(
		AT
		"domain=195ba459b blockers=fs.read_file path=782220646F6D61696E3D3120706174683D22790A dev=\"a\" ino=1",
		DOMAIN_FILESYSTEM, "filesystem.read", sv_of("x\" domain=1 path=\"y\n"));
	/* a process called 4141 has its name in quotes, one with a space in digits */
	check_target(AT "domain=195ba459b blockers=ptrace opid=7 ocomm=\"4141\"", DOMAIN_PROCESS, "memory of others",
		     sv_of("process 7 4141"));
	check_target(AT "domain=195ba459b blockers=ptrace opid=7 ocomm=612062", DOMAIN_PROCESS, "memory of others",
		     sv_of("process 7 a b"));
	/* what stands first is the kernel's */
	check_target(AT "domain=195ba459b blockers=fs.read_file path=\"/a\" path=\"/b\" domain=1 blockers=fs.execute",
		     DOMAIN_FILESYSTEM, "filesystem.read", sv_of("/a"));
	check_target(AT "domain=195ba459b blockers=fs.read_file path=\"<too_long>\"", DOMAIN_FILESYSTEM,
		     "filesystem.read", sv_of("<too_long>"));
	check_target(AT "domain=195ba459b blockers=fs.read_file path=(null)", DOMAIN_FILESYSTEM, "filesystem.read",
		     sv_of("(null)"));
	/* neither digits nor in quotes: as it stands */
	check_target(AT "domain=195ba459b blockers=fs.read_file path=\"/half", DOMAIN_FILESYSTEM, "filesystem.read",
		     sv_of("\"/half"));
	check_target(AT "domain=195ba459b blockers=fs.read_file path=414", DOMAIN_FILESYSTEM, "filesystem.read",
		     sv_of("414"));
	check_target(AT "domain=195ba459b blockers=fs.read_file path=", DOMAIN_FILESYSTEM, "filesystem.read",
		     sv_of(""));
}

static void a_name_that_is_too_long_is_cut(void)
{
	char text[3 * LANDLOCK_TARGET_MAX] = AT "domain=1 blockers=fs.read_file path=", *p = text + strlen(text);
	struct landlock_access a;

	memset(p, '4', 2 * (LANDLOCK_TARGET_MAX + 10));
	a = access_of(text);
	CHECK(a.n_target == LANDLOCK_TARGET_MAX && a.target[LANDLOCK_TARGET_MAX - 1] == 'D');
	p[0] = '/';
	a = access_of(text);
	CHECK(a.n_target == LANDLOCK_TARGET_MAX && a.target[1] == '4');
}

static void what_is_no_record_is_refused(void)
{
	static const char *const bad[] = {
		"",
		"audit",
		"audit(1.1:1)",
		"audit(1.1:1): ",
		"audit(1.1): domain=1 blockers=fs.refer",
		"audit(a.1:1): domain=1 blockers=fs.refer",
		" " AT "domain=1 blockers=fs.refer",
		AT "blockers=fs.refer",
		AT "domain= blockers=fs.refer",
		AT "domain=0 blockers=fs.refer",
		AT "domain=-1 blockers=fs.refer",
		AT "domain=12345678901234567 blockers=fs.refer",
		AT "domain=1",
		AT "domain=1 blockers=",
		AT "domain=1 blockers=\"fs.refer\"",
		AT "domain=1 blockers=fs.refer\n",
		AT "Domain=1 blockers=fs.refer",
		AT "xdomain=1 blockers=fs.refer",
	};
	struct landlock_access a;
	struct landlock_domain d;
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		CHECK(landlock_access_parse(sv_of(bad[i]), &a) == -EBADMSG);
		CHECK(landlock_domain_parse(sv_of(bad[i]), &d) == -EBADMSG);
	}
	CHECK(landlock_domain_parse(sv_of(AT "domain=1 status=allocated pid=1 comm=\"x\""), &d) == -EBADMSG);
	CHECK(landlock_domain_parse(sv_of(AT "domain=1 status=allocated uid=4294967296 comm=\"x\""), &d) == -EBADMSG);
	CHECK(landlock_domain_parse(sv_of(AT "domain=1 status=deallocated"), &d) == -EBADMSG);
	CHECK(landlock_domain_parse(sv_of(AT "domain=1 status=deallocated denials=18446744073709551616"), &d) ==
	      -EBADMSG);
}

/* --- whose they are, and how many --- */

struct seen {
	unsigned denied, lost;
	uint64_t untold;
	char last[64];
};

static void on_denied(void *arg, const struct landlock_access *a)
{
	struct seen *s = arg;

	s->denied++;
	(void)snprintf(s->last, sizeof(s->last), "%.*s %.*s", (int)a->blockers.n, a->blockers.p, (int)a->n_target,
		       a->target);
}

static void on_untold(void *arg, uint64_t n)
{
	((struct seen *)arg)->untold += n;
}

static void on_lost(void *arg)
{
	((struct seen *)arg)->lost++;
}

static struct landlock_log_sink sink_of(struct seen *s)
{
	return (struct landlock_log_sink){on_denied, on_untold, on_lost, s};
}

/* far: where records are written to, as datagrams. None is the kernel's, so what is read there is passed over. */
static struct landlock_log *make(int *far)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		abort();
	*far = pair[1];
	return landlock_log_of(pair[0], 0, (struct landlock_log_ids){1000, 2});
}

static void denial(struct landlock_log *l, unsigned domain, uint64_t now, struct seen *s)
{
	char text[128];
	struct landlock_log_sink sink = sink_of(s);

	(void)snprintf(text, sizeof(text), AT "domain=%x blockers=fs.read_file path=\"/d%u\"", domain, domain);
	landlock_log_take(l, KAUDIT_ACCESS, sv_of(text), now, &sink);
	memset(text, '?', sizeof(text)); /* nothing is kept of it */
}

static void domain_made(struct landlock_log *l, unsigned domain, unsigned uid, const char *name, struct seen *s)
{
	char text[256];
	struct landlock_log_sink sink = sink_of(s);

	(void)snprintf(text, sizeof(text),
		       AT "domain=%x status=allocated mode=enforcing pid=300 uid=%u exe=\"/x\" comm=\"%s\"", domain,
		       uid, name);
	landlock_log_take(l, KAUDIT_DOMAIN, sv_of(text), 1000, &sink);
}

static void domain_ended(struct landlock_log *l, unsigned domain, unsigned denials, struct seen *s)
{
	char text[128];
	struct landlock_log_sink sink = sink_of(s);

	(void)snprintf(text, sizeof(text), AT "domain=%x status=deallocated denials=%u", domain, denials);
	landlock_log_take(l, KAUDIT_DOMAIN, sv_of(text), 1000, &sink);
}

static void only_domains_of_the_run_are_its_own(void)
{
	struct seen s = {0};
	int far;
	struct landlock_log *l = make(&far);
	const char *name = landlock_log_name(l);

	CHECK(strlen(name) == LANDLOCK_NAME_MAX - 1);
	denial(l, 1, 1000, &s);
	denial(l, 1, 1000, &s);
	CHECK(s.denied == 0); /* nobody said whose they are */
	domain_made(l, 1, 1000, name, &s);
	CHECK(s.denied == 2);
	CHECK_STR(s.last, "fs.read_file /d1");
	denial(l, 1, 1000, &s);
	CHECK(s.denied == 3);
	denial(l, 2, 1000, &s);
	domain_made(l, 2, 1001, name, &s);
	CHECK(s.denied == 4);
	denial(l, 3, 1000, &s);
	domain_made(l, 3, 1002, name, &s); /* who read the name in /proc */
	domain_made(l, 3, 999, name, &s);
	denial(l, 4, 1000, &s);
	domain_made(l, 4, 1000, "cordon-AAAAAAAA", &s); /* another run */
	denial(l, 5, 1000, &s);
	domain_made(l, 5, 1000, "", &s);
	CHECK(s.denied == 4);
	domain_ended(l, 1, 3, &s);
	denial(l, 1, 1000, &s); /* it is nobody's now */
	CHECK(s.denied == 4 && s.lost == 0 && s.untold == 0);
	landlock_log_free(l);
	(void)close(far);
}

static void names_differ_from_run_to_run(void)
{
	int far[2];
	struct landlock_log *a = make(&far[0]), *b = make(&far[1]);

	CHECK(strcmp(landlock_log_name(a), landlock_log_name(b)) != 0);
	landlock_log_free(a);
	landlock_log_free(b);
	(void)close(far[0]);
	(void)close(far[1]);
}

static int64_t at_ten(void)
{
	return 10000;
}

static void floods_are_counted_and_not_listed(void)
{
	struct seen s = {0};
	int far, i;
	struct landlock_log *l = make(&far);
	struct landlock_log_sink sink = sink_of(&s);

	domain_made(l, 1, 1000, landlock_log_name(l), &s);
	for (i = 0; i < 5000; i++)
		denial(l, 1, 1500, &s);
	CHECK(s.denied == LANDLOCK_LOG_PER_SECOND && s.untold == 0);
	CHECK(landlock_log_until(l) == 2000);
	landlock_log_serve(l, 2000, &sink);
	CHECK(s.untold == 5000 - LANDLOCK_LOG_PER_SECOND && landlock_log_until(l) == UINT64_MAX);
	denial(l, 1, 2000, &s);
	CHECK(s.denied == LANDLOCK_LOG_PER_SECOND + 1);
	/* the kernel counted more than arrived */
	domain_ended(l, 1, 6001, &s);
	landlock_log_finish(l, at_ten, &sink);
	CHECK(s.denied + s.untold == 6001);
	landlock_log_free(l);
	(void)close(far);
}

static void strangers_cannot_push_out_more_than_they_make(void)
{
	struct seen s = {0};
	unsigned i;
	int far;
	struct landlock_log *l = make(&far);

	for (i = 0; i < 10000; i++)
		denial(l, 100 + i, 1000, &s); /* never said whose */
	denial(l, 1, 1000, &s);
	domain_made(l, 1, 1000, landlock_log_name(l), &s);
	CHECK(s.denied == 1);
	landlock_log_free(l);
	(void)close(far);
}

static void reading_rests_after_a_flood(void)
{
	struct seen s = {0};
	struct landlock_log_sink sink = sink_of(&s);
	int far, i;
	struct landlock_log *l = make(&far);

	for (i = 0; i < LANDLOCK_LOG_READS + 100 && send(far, "noise", 5, MSG_DONTWAIT) == 5; i++)
		if (i % 8 == 7)
			landlock_log_serve(l, 5000, &sink);
	CHECK(i >= LANDLOCK_LOG_READS);
	CHECK(landlock_log_poll(l, 5000).fd == -1 && landlock_log_until(l) == 5000 + LANDLOCK_LOG_REST_MS);
	landlock_log_serve(l, 5000 + LANDLOCK_LOG_REST_MS, &sink);
	CHECK(landlock_log_poll(l, 5000 + LANDLOCK_LOG_REST_MS).fd >= 0);
	CHECK(s.denied == 0); /* not from the kernel */
	landlock_log_free(l);
	(void)close(far);
}

static void without_records_nothing_is_done(void)
{
	CHECK(landlock_log_poll(NULL, 0).fd == -1 && landlock_log_until(NULL) == UINT64_MAX);
	landlock_log_serve(NULL, 0, NULL);
	landlock_log_free(NULL);
	CHECK(landlock_log_new(6, (struct landlock_log_ids){0, 1}) == NULL);
	CHECK(landlock_log_new(-ENOSYS, (struct landlock_log_ids){0, 1}) == NULL);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(records_say_what_was_denied),
		CASE(names_of_strangers_are_bytes_and_nothing_else),
		CASE(a_name_that_is_too_long_is_cut),
		CASE(what_is_no_record_is_refused),
		CASE(only_domains_of_the_run_are_its_own),
		CASE(names_differ_from_run_to_run),
		CASE(floods_are_counted_and_not_listed),
		CASE(strangers_cannot_push_out_more_than_they_make),
		CASE(reading_rests_after_a_flood),
		CASE(without_records_nothing_is_done),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
