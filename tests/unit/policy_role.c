#include "policy/policy_role.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "policy/policy_codec.h"
#include "policy/policy_load.h"
#include "policy/policy_profile.h"
#include "policy_memory.h"
#include "sys/role.h"

/* What the texts of a test are, whoever asks for them. */
struct texts {
	const struct memory_text *v;
	size_t n;
	unsigned asked;
};

static int get(void *ctx, const struct policy_want *want, struct arena *a, struct policy_text *ret, struct error *err)
{
	struct texts *t = ctx;
	struct memory m = {t->v, t->n};
	const struct policy_profile *p;

	t->asked++;
	for (p = policy_profiles; want->kind == POLICY_WANT_PROFILE && p->name; p++)
		if (strcmp(p->name, want->name) == 0) {
			ret->name = ret->id = arena_printf(a, "profile:%s", p->name);
			return buf_sv(&ret->bytes, p->text) < 0 ? -1 : 0;
		}
	return memory_get(&m, want, a, ret, err);
}

struct outcome {
	struct buf encoding;
	struct error err;
	unsigned asked;
	int r;
};

static struct policy_request request_for(const struct policy_source *s)
{
	return (struct policy_request){.sources = s, .n_sources = 1, .home = "/home/u", .workdir = "/home/u/w"};
}

static void run(policy_role_work *work, unsigned ms, const struct policy_source *s, const struct memory_text *v,
		size_t n, struct outcome *o)
{
	struct texts t = {v, n, 0};
	struct policy_fetch fetch = {get, &t};
	struct policy_request req = request_for(s);
	struct arena *a = arena_new();

	*o = (struct outcome){0};
	buf_init(&o->encoding, POLICY_CODEC_MAX);
	o->r = policy_role_run(work, ms, &req, &fetch, a, &o->encoding, &o->err);
	o->asked = t.asked;
	if (o->r < 0)
		buf_done(&o->encoding);
	arena_free(a);
}

static void run_here(const struct policy_source *s, const struct memory_text *v, size_t n, struct outcome *o)
{
	struct texts t = {v, n, 0};
	struct policy_fetch fetch = {get, &t};
	struct policy_request req = request_for(s);
	struct policy *p = NULL;

	*o = (struct outcome){0};
	buf_init(&o->encoding, POLICY_CODEC_MAX);
	o->r = policy_compile(&req, &fetch, &p, &o->err);
	if (o->r == 0)
		CHECK(policy_encode(p, &o->encoding) == 0);
	else
		buf_done(&o->encoding);
	policy_free(p);
}

static void same(const struct policy_source *s, const struct memory_text *v, size_t n)
{
	struct outcome here, there;

	run_here(s, v, n, &here);
	run(policy_compile, POLICY_ROLE_MS, s, v, n, &there);
	CHECK(here.r == there.r && here.err.kind == there.err.kind && here.err.code == there.err.code);
	CHECK_STR(there.err.text, here.err.text);
	CHECK(sv_eq(buf_view(&here.encoding), buf_view(&there.encoding)));
	buf_done(&here.encoding);
	buf_done(&there.encoding);
}

static void shipped_profiles_come_out_the_same(void)
{
	const char *const *name;

	for (name = policy_profile_names; *name; name++) {
		struct policy_source s = {.name = *name, .is_profile = true};

		same(&s, NULL, 0);
	}
}

static void errors_come_out_the_same_with_their_positions(void)
{
	static const char *const texts[] = {
		"",
		"version: 1\nproces: {}\n",
		"version: 1\nnetwork:\n  mode: \"\x1b[31m\"\n",
		"version: 1\nextends: [./other.yaml]\n",
		"version: 1\nextends: [p.yaml]\n",
		"version: 1\nextends: [nowhere]\n",
		"version: 1\nextends: [/x/\xc3\xa9.yaml]\n",
		"version: 1\nprocess: {memory: -5}\n",
		"\xff\xfe",
		"[[[[[[[[[[[[",
	};
	struct policy_source s = {.name = "p.yaml", .is_profile = false};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct memory_text v[] = {{"p.yaml", texts[i]}, {"./other.yaml", "version: 1\nfoo: 1\n"}};

		same(&s, v, 2);
	}
}

static void a_ceiling_and_extends_hold(void)
{
	struct memory_text v[] = {{"p.yaml", "version: 1\nextends: [strict, ./b.yaml]\nprocess: {user: 7}\n"},
				  {"./b.yaml", "version: 1\nprocess: {memory: 2G}\n"},
				  {"ceiling", "version: 1\nprocess: {memory: 1G, user: 7}\n"}};
	struct policy_source s = {.name = "p.yaml", .is_profile = false};
	struct outcome o;
	struct policy *p = NULL;

	same(&s, v, 3);
	run(policy_compile, POLICY_ROLE_MS, &s, v, 3, &o);
	CHECK(o.r == 0 && o.asked == 4 && policy_decode(buf_view(&o.encoding), &p) == 0);
	CHECK(p && p->process.memory.v <= 1 << 30 && p->process.user.v == 7);
	policy_free(p);
	buf_done(&o.encoding);
}

/* ---- children that were taken over ---- */

#define WORK(name)                                                                                                     \
	static int name(const struct policy_request *req, const struct policy_fetch *fetch, struct policy **ret,       \
			struct error *err)
#define UNUSED (void)req, (void)fetch, (void)ret

WORK(opens)
{
	UNUSED;
	return error_set(err, ERROR_INPUT, "opened %d", open("/etc/passwd", O_RDONLY | O_CLOEXEC));
}

WORK(connects)
{
	UNUSED;
	return error_set(err, ERROR_INPUT, "socket %d", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

WORK(forks)
{
	UNUSED;
	return error_set(err, ERROR_INPUT, "child %d", (int)fork());
}

WORK(signals)
{
	UNUSED;
	return error_set(err, ERROR_INPUT, "signalled %d", kill(getppid(), 0));
}

WORK(makes_code)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	UNUSED;
	return error_set(err, ERROR_INPUT, "mapped %d", p != MAP_FAILED);
}

WORK(writes_elsewhere)
{
	UNUSED;
	return error_set(err, ERROR_INPUT, "wrote %zd", write(1, "x", 1));
}

static void what_a_parser_has_no_need_for_kills_it(void)
{
	static policy_role_work *const works[] = {opens, connects, forks, signals, makes_code, writes_elsewhere};
	struct policy_source s = {.name = "strict", .is_profile = true};
	struct outcome o;
	size_t i;

	for (i = 0; role_is_filtered() && i < sizeof(works) / sizeof(works[0]); i++) {
		run(works[i], POLICY_ROLE_MS, &s, NULL, 0, &o);
		CHECK(o.r == -1 && o.err.kind == ERROR_INPUT);
		CHECK_STR(
			o.err.text,
			"the policy could not be compiled safely: its parser was ended by signal 31 (Bad system call)");
		buf_done(&o.encoding);
	}
}

WORK(crashes)
{
	UNUSED;
	(void)err;
	__builtin_trap();
}

WORK(leaves)
{
	UNUSED;
	(void)err;
	_exit(3);
}

WORK(spins)
{
	volatile unsigned n = 1;

	UNUSED;
	while (n)
		n |= 1;
	return error_set(err, ERROR_INPUT, "never");
}

WORK(shows_the_environment)
{
	const char *value = getenv("CORDON_TEST_KEY");

	UNUSED;
	return error_set(err, ERROR_INPUT, "key %s", value ? value : "gone");
}

static void one_that_dies_or_hangs_is_an_error(void)
{
	struct policy_source s = {.name = "strict", .is_profile = true};
	struct outcome o;

	run(crashes, POLICY_ROLE_MS, &s, NULL, 0, &o);
	CHECK(o.r == -1 && o.err.kind == ERROR_INPUT);
	CHECK_HAS(o.err.text, "the policy could not be compiled safely: ");
	run(leaves, POLICY_ROLE_MS, &s, NULL, 0, &o);
	CHECK_STR(o.err.text, "the policy could not be compiled safely: its parser ended without an answer");
	run(spins, 100, &s, NULL, 0, &o);
	CHECK(o.r == -1);
	CHECK_STR(o.err.text, "the policy could not be compiled safely: it took too long; make it smaller");
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void it_does_not_know_our_variables(void)
{
	struct policy_source s = {.name = "strict", .is_profile = true};
	struct outcome o;

	CHECK(setenv("CORDON_TEST_KEY", "sk-not-a-key", 1) == 0);
	run(shows_the_environment, POLICY_ROLE_MS, &s, NULL, 0, &o);
	CHECK_STR(o.err.text, "key gone");
	CHECK_STR(getenv("CORDON_TEST_KEY"), "sk-not-a-key");
	CHECK(unsetenv("CORDON_TEST_KEY") == 0);
}

static int ask(const struct policy_fetch *fetch, enum policy_want_kind kind, const char *name, const char *from)
{
	struct policy_want want = {kind, name, from};
	struct arena *a = arena_new();
	struct policy_text text = {0};
	struct error err;
	int r;

	buf_init(&text.bytes, POLICY_MAX_BYTES);
	r = fetch->get(fetch->ctx, &want, a, &text, &err);
	buf_done(&text.bytes);
	arena_free(a);
	return r;
}

WORK(asks_forever)
{
	UNUSED;
	for (;;)
		if (ask(fetch, POLICY_WANT_PROFILE, "strict", NULL) < 0)
			return error_set(err, ERROR_INPUT, "refused");
}

WORK(asks_for_what_nobody_named)
{
	UNUSED;
	return error_set(err, ERROR_INPUT, "got %d", ask(fetch, POLICY_WANT_FILE, "/etc/shadow", NULL));
}

WORK(asks_in_anothers_name)
{
	UNUSED;
	return error_set(err, ERROR_INPUT, "got %d", ask(fetch, POLICY_WANT_FILE, "p.yaml", "/etc/passwd"));
}

WORK(asks_for_no_policy)
{
	UNUSED;
	if (ask(fetch, POLICY_WANT_FILE, "p.yaml", NULL) != 0)
		return error_set(err, ERROR_INPUT, "no text");
	return error_set(err, ERROR_INPUT, "got %d", ask(fetch, POLICY_WANT_FILE, "/id_rsa", "p.yaml"));
}

static void it_gets_only_what_the_request_leads_to(void)
{
	struct memory_text v[] = {
		{"p.yaml", "version: 1\n"}, {"/id_rsa", "-----BEGIN"}, {"/etc/shadow", "root:version"}};
	struct policy_source file = {.name = "p.yaml", .is_profile = false},
			     profile = {.name = "strict", .is_profile = true};
	struct outcome o;

	run(asks_for_what_nobody_named, POLICY_ROLE_MS, &file, v, 3, &o);
	CHECK_HAS(o.err.text, "said nothing that makes sense");
	CHECK(o.asked == 0);
	run(asks_in_anothers_name, POLICY_ROLE_MS, &file, v, 3, &o);
	CHECK_HAS(o.err.text, "said nothing that makes sense");
	CHECK(o.asked == 0);
	run(asks_for_no_policy, POLICY_ROLE_MS, &file, v, 3, &o);
	CHECK_STR(o.err.text, "got -1");
	run(asks_forever, POLICY_ROLE_MS, &profile, NULL, 0, &o);
	CHECK_HAS(o.err.text, "said nothing that makes sense");
	CHECK(o.asked == POLICY_MAX_FILES);
}

/* One whose answers are not messages. */
WORK(floods)
{
	static char bytes[65536];

	UNUSED;
	(void)err;
	memset(bytes, 0xff, sizeof(bytes));
	while (write(0, bytes, sizeof(bytes)) > 0)
		;
	_exit(0);
}

WORK(fakes_an_error)
{
	static const char text[] = "\003\0\0\0\027\0\0\0\002\0\0\0\0\0\0\0\013\0\0\0\033[2Jowned\nyou";

	UNUSED;
	(void)err;
	(void)!write(0, text, sizeof(text) - 1);
	_exit(0);
}

static void what_it_says_is_not_believed(void)
{
	struct policy_source s = {.name = "strict", .is_profile = true};
	struct outcome o;

	run(floods, POLICY_ROLE_MS, &s, NULL, 0, &o);
	CHECK_HAS(o.err.text, "said nothing that makes sense");
	run(fakes_an_error, POLICY_ROLE_MS, &s, NULL, 0, &o);
	CHECK_STR(o.err.text, "\\x1b[2Jowned\\x0ay");
}

WORK(eats_memory)
{
	void *volatile piece; /* or a compiler sees that nobody uses it */
	size_t n;

	UNUSED;
	for (n = 0; n < 4096; n++)
		if (!(piece = malloc(1 << 20)))
			return error_set(err, ERROR_SYSTEM, "out of memory");
	return error_set(err, ERROR_INPUT, "all of it");
}

static void its_memory_is_bounded(void)
{
	struct policy_source s = {.name = "strict", .is_profile = true};
	struct outcome o;

	if (!role_is_filtered())
		return;
	run(eats_memory, POLICY_ROLE_MS, &s, NULL, 0, &o);
	CHECK_STR(o.err.text, "out of memory");
}

static void huge_texts_end_in_bounded_time(void)
{
	struct policy_source s = {.name = "p.yaml", .is_profile = false};
	struct memory_text v = {"p.yaml", NULL};
	struct outcome o;
	AUTO_BUF b = {0};
	int i;

	buf_init(&b, POLICY_MAX_BYTES + 64);
	(void)buf_str(&b, "version: 1\nfilesystem:\n  read:\n");
	for (i = 0; b.n < POLICY_MAX_BYTES - 64; i++)
		(void)buf_printf(&b, "    - /opt/tools/%d\n", i);
	v.text = b.p;
	run(policy_compile, POLICY_ROLE_MS, &s, &v, 1, &o);
	printf("# %d entries, %zu bytes: %s\n", i, b.n, o.r == 0 ? "loaded" : o.err.text);
	CHECK(o.r == 0 || o.err.text[0]);
	buf_done(&o.encoding);
	buf_clear(&b);
	while (b.n < POLICY_MAX_BYTES - 64)
		(void)buf_str(&b, "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[");
	v.text = b.p;
	run(policy_compile, POLICY_ROLE_MS, &s, &v, 1, &o);
	CHECK(o.r == -1 && o.err.text[0]);
}

/* ---- through policy_load() ---- */

static char top[] = "/tmp/cordon-role-XXXXXX";

static const char *load_error(const char *text)
{
	static struct error err;
	char path[600], digest[65];
	struct policy_source s = {.name = path};
	struct policy_request req = request_for(&s);
	struct policy *p = NULL;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/p.yaml", top);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write_all(fd, text, strlen(text)) == 0 && close(fd) == 0);
	err.text[0] = '\0';
	(void)policy_load(&req, &p, digest, &err);
	policy_free(p);
	return err.text;
}

static void the_person_learns_why_a_file_was_not_read(void)
{
	char fifo[600];

	CHECK_HAS(load_error("version: 1\nextends: [./gone.yaml]\n"),
		  "p.yaml:2:11: extends: ./gone.yaml: there is no such file");
	CHECK_HAS(load_error("version: 1\nextends: [/etc]\n"), ":2:11: extends: /etc: is a folder");
	CHECK_HAS(load_error("version: 1\nextends: [/dev/zero]\n"), ":2:11: extends: /dev/zero: is not a regular file");
	CHECK_HAS(load_error("version: 1\nextends: [/etc/passwd]\n"), ":2:11: extends: /etc/passwd: is no policy file");
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", top);
	CHECK(mkfifo(fifo, 0600) == 0);
	CHECK_HAS(load_error("version: 1\nextends: [./fifo]\n"), "is not a regular file");
	CHECK(unlink(fifo) == 0);
	CHECK_STR(load_error("version: 1\nextends: [strict]\n"), "");
}

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void its_cost_is_small(void)
{
	struct policy_source s = {.name = "claude", .is_profile = true};
	double here = 1e9, there = 1e9, t;
	struct outcome o;
	int i;

	for (i = 0; i < 50; i++) {
		t = now_ms();
		run_here(&s, NULL, 0, &o);
		here = now_ms() - t < here ? now_ms() - t : here;
		buf_done(&o.encoding);
		t = now_ms();
		run(policy_compile, POLICY_ROLE_MS, &s, NULL, 0, &o);
		there = now_ms() - t < there ? now_ms() - t : there;
		buf_done(&o.encoding);
	}
	printf("# profile claude: %.3f ms in this process, %.3f ms in the role\n", here, there);
	CHECK(there < here + 1000);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(shipped_profiles_come_out_the_same),
		CASE(errors_come_out_the_same_with_their_positions),
		CASE(a_ceiling_and_extends_hold),
		CASE(what_a_parser_has_no_need_for_kills_it),
		CASE(one_that_dies_or_hangs_is_an_error),
		CASE(it_does_not_know_our_variables),
		CASE(it_gets_only_what_the_request_leads_to),
		CASE(what_it_says_is_not_believed),
		CASE(its_memory_is_bounded),
		CASE(huge_texts_end_in_bounded_time),
		CASE(the_person_learns_why_a_file_was_not_read),
		CASE(its_cost_is_small),
	};
	char path[600];
	int r;

	if (!mkdtemp(top))
		return 1;
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	(void)snprintf(path, sizeof(path), "%s/p.yaml", top);
	(void)unlink(path);
	if (rmdir(top) < 0)
		printf("# left behind: %s\n", top);
	return r;
}
