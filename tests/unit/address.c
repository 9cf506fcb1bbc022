#include <arpa/inet.h>

#include "check.h"
#include "model/address.h"

static struct address of(const char *text)
{
	struct address a = {0};

	if (!address_parse(sv_of(text), &a)) {
		printf("# %s is no address\n", text);
		CHECK(false);
	}
	return a;
}

static enum address_floor floor_of(const char *text)
{
	struct address a = of(text);

	return address_floor(&a);
}

static void only_the_strict_forms_are_addresses(void)
{
	static const char *const bad[] = {
		"",        "1",         "127.1",     "0x7f.1",   "0177.0.0.1", "01.2.3.4",   "1.2.3.4.",
		"1.2.3",   "1.2.3.4.5", "256.1.1.1", " 1.2.3.4", "1.2.3.4 ",   "1.2.3.4/32", "[1.2.3.4]",
		"::1%lo",  "[::1",      "::1]",      ":::",      "1::2::3",    "[]",         "::ffff:1.2.3",
		"12345::", "-1.2.3.4",  "1.2.3.4\n", "::1/128",  "+1.2.3.4",   "a.b.c.d"};
	struct address a = {.is4 = true};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (address_parse(sv_of(bad[i]), &a)) {
			printf("# %s\n", bad[i]);
			CHECK(false);
		}
	CHECK(!address_parse(sv_n("1.2.3.4\0x", 9), &a) && !address_parse(sv_n("::1\0", 4), &a));
	/* A failure leaves what was there. */
	CHECK(a.is4 && a.b[15] == 0);
}

static void mapped_addresses_are_the_addresses_they_map(void)
{
	struct address a = of("::ffff:10.1.2.3"), b = of("10.1.2.3"), c = of("[::FFFF:0a01:0203]");
	char text[ADDRESS_TEXT];

	CHECK(address_same(&a, &b) && address_same(&a, &c) && a.is4 && c.is4);
	CHECK_STR(address_text(&c, text), "10.1.2.3");
	a = of("2001:DB8:0:0::0001");
	CHECK_STR(address_text(&a, text), "2001:db8::1");
	CHECK(!a.is4);
	a = address_of6(b.b);
	CHECK(a.is4 && address_same(&a, &b));
}

static void each_part_of_the_floor_has_its_reason(void)
{
	static const struct {
		const char *text;
		enum address_floor floor;
	} v[] = {
		{"0.1.2.3", FLOOR_THIS_NETWORK},
		{"127.9.9.9", FLOOR_LOOPBACK},
		{"10.0.0.1", FLOOR_PRIVATE},
		{"100.64.0.1", FLOOR_SHARED},
		{"169.254.1.1", FLOOR_LINK_LOCAL},
		{"169.254.169.254", FLOOR_METADATA},
		{"169.254.170.2", FLOOR_METADATA},
		{"100.100.100.200", FLOOR_METADATA},
		{"168.63.129.16", FLOOR_METADATA},
		{"192.0.0.192", FLOOR_METADATA},
		{"fd00:ec2::254", FLOOR_METADATA},
		{"fd20:ce::254", FLOOR_METADATA},
		{"224.0.0.251", FLOOR_MULTICAST},
		{"ff02::fb", FLOOR_MULTICAST},
		{"255.255.255.255", FLOOR_RESERVED},
		{"198.18.0.1", FLOOR_RESERVED},
		{"203.0.113.5", FLOOR_RESERVED},
		{"::1", FLOOR_LOOPBACK},
		{"::", FLOOR_THIS_NETWORK},
		{"fe80::1", FLOOR_LINK_LOCAL},
		{"fec0::1", FLOOR_PRIVATE},
		{"fdab::1", FLOOR_PRIVATE},
		{"64:ff9b::169.254.169.254", FLOOR_METADATA},
		{"2002:a9fe:a9fe::1", FLOOR_METADATA},
		{"2606:4700::5efe:7f00:1", FLOOR_LOOPBACK},
		{"2002:0808:0808:0:0:5efe:a00:1", FLOOR_PRIVATE},
		{"8.8.8.8", FLOOR_NONE},
		{"2606:4700::1111", FLOOR_NONE},
		{"64:ff9b::8.8.8.8", FLOOR_NONE},
	};
	size_t i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		if (floor_of(v[i].text) != v[i].floor) {
			printf("# %s: %d\n", v[i].text, floor_of(v[i].text));
			CHECK(false);
		}
	CHECK(address_floor_text(FLOOR_NONE) == NULL);
	for (i = FLOOR_THIS_NETWORK; i <= FLOOR_RESERVED; i++)
		CHECK(address_floor_text((enum address_floor)i) != NULL);
}

/* Each row of the tables of private networks ends where its neighbours begin. */
static void the_floor_ends_where_it_should(void)
{
	static const char *const just_outside[] = {
		"1.0.0.0",         "9.255.255.255",   "11.0.0.0",        "100.63.255.255", "100.128.0.0",
		"126.255.255.255", "128.0.0.0",       "169.253.255.255", "169.255.0.0",    "172.15.255.255",
		"172.32.0.0",      "191.255.255.255", "192.0.1.0",       "192.0.3.0",      "192.88.98.255",
		"192.88.100.0",    "192.167.255.255", "192.169.0.0",     "198.17.255.255", "198.20.0.0",
		"198.51.99.255",   "198.51.101.0",    "203.0.112.255",   "203.0.114.0",    "223.255.255.255",
		"168.63.129.15",   "168.63.129.17",   "2000::",          "2001:200::",     "2001:db7:ffff::",
		"2001:db9::",      "2003::",          "3ffe:ffff:ffff::"};
	size_t i;

	for (i = 0; i < sizeof(just_outside) / sizeof(just_outside[0]); i++)
		if (floor_of(just_outside[i]) != FLOOR_NONE) {
			printf("# %s\n", just_outside[i]);
			CHECK(false);
		}
}

static bool has(const char *cidr, const char *address)
{
	struct address a = of(address);
	struct cidr c;

	CHECK(cidr_parse(sv_of(cidr), &c));
	return cidr_has(&c, &a);
}

static void an_address_of_this_machine_is_under_the_floor(void)
{
	struct address a = of("93.184.216.34"), b = a;

	b.own = true;
	CHECK(address_floor(&a) == FLOOR_NONE && address_floor(&b) == FLOOR_OWN && address_same(&a, &b));
	CHECK_STR(address_floor_text(FLOOR_OWN), "an address of this machine");
	/* what it is otherwise counts first: nobody serves models from there */
	b = of("169.254.169.254");
	b.own = true;
	CHECK(address_floor(&b) == FLOOR_METADATA);
}

static void ranges_hold_their_addresses_and_no_others(void)
{
	CHECK(has("10.1.2.0/24", "10.1.2.255") && !has("10.1.2.0/24", "10.1.3.0"));
	CHECK(has("10.1.2.77/24", "10.1.2.1") && has("10.1.2.3", "10.1.2.3") && !has("10.1.2.3", "10.1.2.2"));
	CHECK(has("0.0.0.0/0", "255.255.255.255") && !has("0.0.0.0/0", "2606::1"));
	CHECK(has("::/0", "2606::1") && !has("::/0", "10.0.0.1") && !has("::/0", "::ffff:10.0.0.1"));
	CHECK(has("fd00::/9", "fd7f::1") && !has("fd00::/9", "fd80::1") && has("2606::1/128", "2606::1"));
	CHECK(has("10.0.0.0/31", "10.0.0.1") && !has("10.0.0.0/31", "10.0.0.2"));
	CHECK(has("::ffff:10.0.0.0/104", "10.9.9.9"));
}

static void malformed_ranges_are_refused(void)
{
	static const char *const bad[] = {"",
					  "/",
					  "10.0.0.0/",
					  "10.0.0.0/33",
					  "10.0.0.0/-1",
					  "10.0.0.0/08",
					  "10.0.0.0/ 8",
					  "10.0.0.0/8x",
					  "::/129",
					  "::/1000",
					  "::/4294967296",
					  "10/8",
					  "/8",
					  "10.0.0.0//8",
					  "10.0.0.0/8/8",
					  "::ffff:10.0.0.0/90",
					  "10.0.0.0/+8"};
	struct cidr c;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (cidr_parse(sv_of(bad[i]), &c)) {
			printf("# %s\n", bad[i]);
			CHECK(false);
		}
}

static void a_range_covers_what_lies_in_it(void)
{
	struct cidr a, b, c;

	CHECK(cidr_parse(sv_of("10.0.0.0/8"), &a) && cidr_parse(sv_of("10.1.0.0/16"), &b) &&
	      cidr_parse(sv_of("::/0"), &c));
	CHECK(cidr_covers(&a, &b) && !cidr_covers(&b, &a) && cidr_covers(&a, &a) && !cidr_covers(&c, &a) &&
	      !cidr_covers(&a, &c));
}

static void only_this_machine_is_loopback(void)
{
	static const char *const yes[] = {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"};
	static const char *const no[] = {"128.0.0.1", "126.255.255.255", "10.0.0.1",       "0.0.0.0",     "::",
					 "::2",       "64:ff9b::7f00:1", "2002:7f00:1::1", "::127.0.0.1", "fe80::1"};
	struct address a;
	size_t i;

	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK(address_parse(sv_of(yes[i]), &a) && address_is_loopback(&a));
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK(address_parse(sv_of(no[i]), &a) && !address_is_loopback(&a));
}

static void only_the_known_prefix_of_nat64_translates(void)
{
	static const char *const no[] = {"8.8.8.8",         "64:ff9b:1::8.8.8.8", "64:ff9b::1:808:808",
					 "2002:808:808::1", "fd00::5efe:808:808", "::8.8.8.8",
					 "2001::808:808"};
	struct address a, b, of;
	size_t i;

	CHECK(address_parse(sv_of("64:ff9b::8.8.4.4"), &a) && address_parse(sv_of("8.8.4.4"), &b) &&
	      address_translates(&a, &of) && address_same(&of, &b));
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK(address_parse(sv_of(no[i]), &a) && !address_translates(&a, &of));
}

static void every_number_of_an_address_is_written_as_the_library_does(void)
{
	char ours[ADDRESS_TEXT], theirs[INET_ADDRSTRLEN];
	struct address a;
	unsigned i, k;

	for (k = 0; k < 4; k++)
		for (i = 0; i < 256; i++) {
			uint8_t b[4] = {9, 99, 100, 255};

			b[k] = (uint8_t)i;
			a = address_of4(b);
			CHECK(inet_ntop(AF_INET, b, theirs, sizeof(theirs)) &&
			      strcmp(address_text(&a, ours), theirs) == 0);
		}
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(only_the_strict_forms_are_addresses),
		CASE(every_number_of_an_address_is_written_as_the_library_does),
		CASE(mapped_addresses_are_the_addresses_they_map),
		CASE(each_part_of_the_floor_has_its_reason),
		CASE(the_floor_ends_where_it_should),
		CASE(an_address_of_this_machine_is_under_the_floor),
		CASE(ranges_hold_their_addresses_and_no_others),
		CASE(only_this_machine_is_loopback),
		CASE(only_the_known_prefix_of_nat64_translates),
		CASE(malformed_ranges_are_refused),
		CASE(a_range_covers_what_lies_in_it),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
