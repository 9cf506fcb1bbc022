/* task/bounds: what a task asks for is a policy that the compiler reads, and opens nothing that only an operator may.
 */
#include <string.h>

#include "check.h"
#include "task/bounds.h"

static struct pol_str hosts[4];

static struct task_network network(enum net_mode mode, uint32_t n)
{
	return (struct task_network){.mode = {.v = mode, .set = true}, .hosts = {.v = hosts, .n = n, .set = n > 0}};
}

static int written(const struct bounds *b, char *text, size_t size)
{
	struct buf out;
	struct error err;
	int r;

	buf_init(&out, 1 << 16);
	r = bounds_write(b, &out, &err);
	text[0] = '\0';
	if (r == 0 && out.n < size)
		memcpy(text, out.p, out.n + 1);
	buf_done(&out);
	return r;
}

static void no_network_is_none_and_answers_no_names(void)
{
	struct task_network n = network(NET_NONE, 0);
	struct bounds b = {.network = &n};
	char text[512];

	CHECK(written(&b, text, sizeof(text)) == 0);
	CHECK(strcmp(text, "{\"version\":1,\"network\":{\"mode\":\"none\",\"dns\":\"none\"},\"process\":{}}\n") == 0);
}

static void offline_wins(void)
{
	struct task_network n = network(NET_PUBLIC, 0);
	struct bounds b = {.network = &n, .offline = true};
	char text[512];

	CHECK(written(&b, text, sizeof(text)) == 0);
	CHECK(strstr(text, "\"mode\":\"none\"") != NULL);
}

static void limits_are_written_as_policies_have_them(void)
{
	struct task_environment e = {.cpus = {.v = 1500, .set = true}, .memory = {.v = 1 << 30, .set = true}};
	struct bounds b = {.timeout_ms = 90000, .environment = &e};
	char text[512];

	CHECK(written(&b, text, sizeof(text)) == 0);
	CHECK(strcmp(text,
		     "{\"version\":1,\"process\":{\"timeout\":\"90000ms\",\"cpus\":1.500,\"memory\":1073741824}}\n") ==
	      0);
}

static void only_public_hosts_can_be_asked_for(void)
{
	static const char *const fine[] = {"pypi.org", "*.pythonhosted.org", "8.8.8.8", "2001:4860:4860::8888"};
	static const char *const not [] = {"127.0.0.1",       "10.0.0.0/8", "0.0.0.0/0",     "169.254.169.254",
					   "192.168.1.1",     "::1",        "0x7f.1",        "2130706433",
					   "::ffff:10.0.0.1", "fd00::1",    "64:ff9b::a00:1"};
	struct bounds b = {.network = NULL};
	struct task_network n;
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		CHECK(bounds_host_is_fine(fine[i]));
	for (i = 0; i < sizeof(not) / sizeof(not[0]); i++) {
		CHECK(!bounds_host_is_fine(not[i]));
		hosts[0].s = not[i];
		n = network(NET_ALLOWLIST, 1);
		b.network = &n;
		CHECK(written(&b, text, sizeof(text)) < 0);
	}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(no_network_is_none_and_answers_no_names),
		CASE(offline_wins),
		CASE(limits_are_written_as_policies_have_them),
		CASE(only_public_hosts_can_be_asked_for),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
