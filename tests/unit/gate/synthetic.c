#include "gate/relay/synthetic.h"

#include <errno.h>

#include "check.h"

static struct address of(const char *text)
{
	struct address a = {0};

	CHECK(address_parse(sv_of(text), &a));
	return a;
}

static void a_name_keeps_its_addresses(void)
{
	struct synthetic *s = synthetic_new();
	struct address a4, a6, b4, b6;
	char text[ADDRESS_TEXT];
	struct sv name;

	CHECK(s && synthetic_address(s, sv_of("a.example"), &a4, &a6) == 0 &&
	      synthetic_address(s, sv_of("b.example"), &b4, &b6) == 0);
	CHECK_STR(address_text(&a4, text), "198.18.1.0");
	CHECK_STR(address_text(&b6, text), "100::101");
	CHECK(synthetic_name(s, &a4, &name) && sv_is(name, "a.example") && synthetic_name(s, &b6, &name) &&
	      sv_is(name, "b.example"));
	CHECK(synthetic_address(s, sv_of("a.example"), &b4, &b6) == 0 && address_same(&a4, &b4) &&
	      address_same(&a6, &b6));
	synthetic_free(s);
}

static void what_was_not_handed_out_has_no_name(void)
{
	static const char *const not_given[] = {"198.18.0.0",   "198.18.0.255",   "198.18.1.1", "198.19.1.0",
						"198.20.1.0",   "198.17.1.0",     "100::",      "100::101",
						"100::1:0:100", "100:0:0:1::100", "101::100",   "::100",
						"100::2:100",   "1.2.3.4",        "127.0.0.1"};
	struct synthetic *s = synthetic_new();
	struct address a4, a6, a;
	struct sv name;
	size_t i;

	CHECK(s && synthetic_address(s, sv_of("a"), &a4, &a6) == 0);
	for (i = 0; i < sizeof(not_given) / sizeof(not_given[0]); i++) {
		a = of(not_given[i]);
		if (synthetic_name(s, &a, &name)) {
			printf("# %s\n", not_given[i]);
			CHECK(false);
		}
	}
	synthetic_free(s);
}

static void synthetic_addresses_are_told_from_real_ones(void)
{
	struct address in4 = of("198.19.255.255"), in6 = of("100::ffff:0:1"), out4 = of("198.20.0.0"),
		       out6 = of("100:0:0:1::");

	CHECK(synthetic_is(&in4) && synthetic_is(&in6) && !synthetic_is(&out4) && !synthetic_is(&out6));
	/* One that is taken for a real address outside is refused there. */
	CHECK(address_floor(&in4) != FLOOR_NONE && address_floor(&in6) != FLOOR_NONE);
}

static void names_are_bounded_and_never_change_hands(void)
{
	struct synthetic *s = synthetic_new();
	struct address a4, a6;
	char text[64];
	struct sv name;
	uint32_t i;

	for (i = 0; s && i < SYNTHETIC_NAMES; i++) {
		(void)snprintf(text, sizeof(text), "h%u.example", i);
		if (synthetic_address(s, sv_of(text), &a4, &a6) < 0 || !synthetic_is(&a4) || !synthetic_is(&a6) ||
		    !synthetic_name(s, &a4, &name) || !sv_is(name, text) || !synthetic_name(s, &a6, &name) ||
		    !sv_is(name, text)) {
			CHECK(false);
			break;
		}
	}
	CHECK(synthetic_address(s, sv_of("one.more"), &a4, &a6) == -ENOSPC);
	CHECK(synthetic_address(s, sv_of("h7.example"), &a4, &a6) == 0 && synthetic_name(s, &a6, &name) &&
	      sv_is(name, "h7.example"));
	CHECK(synthetic_address(s, sv_of(""), &a4, &a6) == -EINVAL);
	synthetic_free(s);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_name_keeps_its_addresses),
		CASE(what_was_not_handed_out_has_no_name),
		CASE(synthetic_addresses_are_told_from_real_ones),
		CASE(names_are_bounded_and_never_change_hands),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
