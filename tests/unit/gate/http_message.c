#include "check.h"
#include "http/message.h"

static void a_field_is_found_by_its_name(void)
{
	struct http_field v[] = {{sv_of("accept"), sv_of("a")}, {sv_of("accept"), sv_of("b")}};
	struct http_fields f = {v, 2};

	CHECK(http_field(&f, "accept") == &v[0].value);
	CHECK(http_field(&f, "host") == NULL);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(a_field_is_found_by_its_name),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
