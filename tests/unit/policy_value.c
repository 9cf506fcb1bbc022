#include <errno.h>

#include "base/arena.h"
#include "conf/value.h"
#include "conf/value_net.h"
#include "check.h"

static struct arena *arena;

/* The value, or UINT64_MAX where it was refused. */
static uint64_t num(value_num_fn *parse, const char *text)
{
	uint64_t v = 0;

	return parse(sv_of(text), &v) ? UINT64_MAX : v;
}

static const char *str(value_str_fn *parse, const char *text)
{
	const char *s = NULL;

	return parse(arena, sv_of(text), &s) ? "(refused)" : s;
}

static bool all_refused(value_num_fn *parse, const char *const *texts)
{
	bool ok = true;

	for (; *texts; texts++)
		if (num(parse, *texts) != UINT64_MAX) {
			printf("# accepted: %s\n", *texts);
			ok = false;
		}
	return ok;
}

static bool all_refused_str(value_str_fn *parse, const char *const *texts)
{
	bool ok = true;

	for (; *texts; texts++)
		if (strcmp(str(parse, *texts), "(refused)") != 0) {
			printf("# accepted: %s\n", *texts);
			ok = false;
		}
	return ok;
}

static void sizes_are_powers_of_1024(void)
{
	static const char *const bad[] = {"",         "4GB",  "4g",  "-1",    "+1",
					  "1.5G",     "0x10", "010", "1_000", "1e3",
					  ".nan",     "G",    " 1",  "1 G",   "99999999999999999999",
					  "9999999T", NULL};

	CHECK(num(value_size, "0") == 0);
	CHECK(num(value_size, "4096") == 4096);
	CHECK(num(value_size, "512M") == UINT64_C(512) << 20);
	CHECK(num(value_size, "4G") == UINT64_C(4) << 30);
	CHECK(num(value_size, "4GiB") == UINT64_C(4) << 30);
	CHECK(num(value_size, "1T") == UINT64_C(1) << 40);
	CHECK(num(value_size, "3KiB") == 3072);
	CHECK(all_refused(value_size, bad));
	CHECK(num(value_size_positive, "0") == UINT64_MAX);
}

static void durations_are_milliseconds_and_bare_numbers_seconds(void)
{
	static const char *const bad[] = {"", "1y", "-1s", "1.5h", "s", "1 s", "NaN", "3651d", "99999999999999d", NULL};

	CHECK(num(value_duration, "0") == 0);
	CHECK(num(value_duration, "90") == 90000);
	CHECK(num(value_duration, "250ms") == 250);
	CHECK(num(value_duration, "30m") == 1800000);
	CHECK(num(value_duration, "2h") == 7200000);
	CHECK(num(value_duration, "1d") == 86400000);
	CHECK(all_refused(value_duration, bad));
}

static void cpus_are_thousandths(void)
{
	static const char *const bad[] = {"", ".5", "1.", "0.0001", "-1", "1e1", "nan", "inf", "1.5.5", "65537", NULL};

	CHECK(num(value_cpus, "0") == 0);
	CHECK(num(value_cpus, "2") == 2000);
	CHECK(num(value_cpus, "0.5") == 500);
	CHECK(num(value_cpus, "1.125") == 1125);
	CHECK(all_refused(value_cpus, bad));
}

static void counts_ports_uids_and_booleans_have_their_range(void)
{
	static const char *const bad_ports[] = {"0", "65536", "-1", "http", "0443", NULL};
	static const char *const bad_bools[] = {"yes", "no", "on", "True", "1", "", NULL};

	CHECK(num(value_port, "1") == 1);
	CHECK(num(value_port, "65535") == 65535);
	CHECK(all_refused(value_port, bad_ports));
	CHECK(num(value_bool, "true") == 1);
	CHECK(num(value_bool, "false") == 0);
	CHECK(all_refused(value_bool, bad_bools));
	CHECK(num(value_uid, "0") == 0);
	CHECK(num(value_uid, "4294967295") == UINT64_MAX);
	CHECK(num(value_positive, "0") == UINT64_MAX);
	CHECK(num(value_positive, "256") == 256);
}

static void hosts_are_lower_cased_names_or_addresses(void)
{
	static const char *const bad[] = {"",
					  "*",
					  "*.",
					  "a..b",
					  ".a",
					  "a.",
					  "-a.b",
					  "a-.b",
					  "a b",
					  "a/b",
					  "https://a.b",
					  "a.b:443",
					  "a.*.b",
					  "*a.b",
					  "127.1",
					  "0x7f.1",
					  "1.2.3.256",
					  "2130706433",
					  "fe80::1%eth0",
					  "b\xc3\xbc"
					  "cher.de",
					  "a\tb",
					  "[::1",
					  "::ffff:1.2.3.4",
					  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.b",
					  NULL};

	CHECK_STR(str(value_host, "PyPI.org"), "pypi.org");
	CHECK_STR(str(value_host, "*.Example.com"), "*.example.com");
	CHECK_STR(str(value_host, "localhost"), "localhost");
	CHECK_STR(str(value_host, "_dmarc.a.b"), "_dmarc.a.b");
	CHECK_STR(str(value_host, "10.0.0.1"), "10.0.0.1");
	CHECK_STR(str(value_host, "[2001:DB8::0:1]"), "2001:db8::1");
	CHECK(all_refused_str(value_host, bad));
	CHECK_STR(str(value_host_exact, "*.a.b"), "(refused)");
}

static void ranges_are_canonical(void)
{
	static const char *const bad[] = {"",
					  "10.1.2.3",
					  "10.1.2.3/24",
					  "10.0.0.0/33",
					  "10.0.0.0/-1",
					  "10.0.0.0/",
					  "10.0/16",
					  "fd00::1/8",
					  "fd00::/129",
					  "a.b/8",
					  "10.0.0.0/08",
					  "::ffff:10.0.0.0/104",
					  "10.0.0.0/8 ",
					  NULL};

	CHECK_STR(str(value_cidr, "10.1.2.0/24"), "10.1.2.0/24");
	CHECK_STR(str(value_cidr, "0.0.0.0/0"), "0.0.0.0/0");
	CHECK_STR(str(value_cidr, "10.1.2.3/32"), "10.1.2.3/32");
	CHECK_STR(str(value_cidr, "FD00:0::/8"), "fd00::/8");
	CHECK(all_refused_str(value_cidr, bad));
}

static void url_parts_are_canonical(void)
{
	static const char *const bad_globs[] = {"",     "simple", "/a/../b",   "/a//b", "/a/./b", "/a?x",
						"/a#x", "/a b",   "/a/**b",    "/%2e",  "/%zz",   "/%2f",
						"/a%",  "/[a]",   "/\xc3\xbc", NULL};
	static const char *const bad_urls[] = {"",
					       "api.x.com",
					       "ftp://x.com",
					       "https://",
					       "https://u@x.com",
					       "https://x.com?q",
					       "https://x.com:0",
					       "https://x.com:",
					       "https://x.com/a/../b",
					       "https://*.x.com",
					       NULL};

	CHECK_STR(str(value_url_glob, "/simple/**"), "/simple/**");
	CHECK_STR(str(value_url_glob, "**"), "**");
	CHECK_STR(str(value_url_glob, "/a/*.json"), "/a/*.json");
	CHECK_STR(str(value_url_glob, "/a%20b/"), "/a%20b/");
	CHECK(all_refused_str(value_url_glob, bad_globs));
	CHECK_STR(str(value_url_path, "/a/*"), "(refused)");
	CHECK_STR(str(value_url, "https://API.x.com/v1/"), "https://api.x.com/v1");
	CHECK_STR(str(value_url, "http://[::1]:8080"), "http://[::1]:8080");
	CHECK_STR(str(value_url, "http://127.0.0.1:8000/v1"), "http://127.0.0.1:8000/v1");
	CHECK(all_refused_str(value_url, bad_urls));
}

static void names_methods_and_models_are_plain(void)
{
	static const char *const bad_methods[] = {"get", "", "GE T", "CONNECT", "TRACE", "-A", NULL};
	static const char *const bad_env[] = {"", "1A", "A-B", "A=B", "A B", "\xc3\xbc", NULL};
	static const char *const bad_names[] = {"", "-a", "a/b", "a b", ".", NULL};
	static const char *const bad_models[] = {"", "a b", "a[b]", "a\\b", NULL};

	CHECK_STR(str(value_method, "GET"), "GET");
	CHECK_STR(str(value_method, "M-SEARCH"), "M-SEARCH");
	CHECK(all_refused_str(value_method, bad_methods));
	CHECK_STR(str(value_env_name, "_A1"), "_A1");
	CHECK(all_refused_str(value_env_name, bad_env));
	CHECK_STR(str(value_name, "my.key-1"), "my.key-1");
	CHECK(all_refused_str(value_name, bad_names));
	CHECK_STR(str(value_model, "meta-llama/Llama-3:70b*"), "meta-llama/Llama-3:70b*");
	CHECK(all_refused_str(value_model, bad_models));
}

static void path_patterns_are_absolute_home_floating_or_relative(void)
{
	static const char *const bad[] = {"",       "/a/../b", "../a",   "a//b",  "/a/**b", "/a/[x",
					  "~bob/x", "/a\nb",   "~/../x", "a/./b", NULL};

	CHECK_STR(str(value_path_glob, "/usr"), "/usr");
	CHECK_STR(str(value_path_glob, "~"), "~");
	CHECK_STR(str(value_path_glob, "~/.ssh"), "~/.ssh");
	CHECK_STR(str(value_path_glob, "**/.env"), "**/.env");
	CHECK_STR(str(value_path_glob, "src/*.c"), "src/*.c");
	CHECK_STR(str(value_path_glob, "./src"), "./src");
	CHECK(all_refused_str(value_path_glob, bad));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(sizes_are_powers_of_1024),
		CASE(durations_are_milliseconds_and_bare_numbers_seconds),
		CASE(cpus_are_thousandths),
		CASE(counts_ports_uids_and_booleans_have_their_range),
		CASE(hosts_are_lower_cased_names_or_addresses),
		CASE(ranges_are_canonical),
		CASE(url_parts_are_canonical),
		CASE(names_methods_and_models_are_plain),
		CASE(path_patterns_are_absolute_home_floating_or_relative),
	};
	int r;

	arena = arena_new();
	r = check_main(cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return r;
}
