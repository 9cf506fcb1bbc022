#include "check.h"
#include "supervise/denial_log.h"

struct seen {
	unsigned listed, several;
	char last_rule[32], last_count[24];
};

static void see(void *arg, const struct event *e)
{
	struct seen *s = arg;

	if (strcmp(e->rule, "several") == 0) {
		s->several++;
		(void)snprintf(s->last_count, sizeof(s->last_count), "%.*s", (int)e->fields[0].value.n,
			       e->fields[0].value.p);
	} else {
		s->listed++;
		(void)snprintf(s->last_rule, sizeof(s->last_rule), "%s", e->rule);
	}
}

static void deny(struct denial_log *d, enum event_domain domain, const char *rule, uint64_t now)
{
	struct event e = {.kind = EVENT_DENIAL, .domain = domain, .verdict = "deny", .rule = rule};

	denial_log_add(d, &e, now);
}

static void the_first_of_each_domain_are_listed(void)
{
	struct seen s = {0};
	struct denial_log d = {.log = see, .arg = &s};
	unsigned i;

	for (i = 0; i < DENIAL_LOG_LINES; i++)
		deny(&d, DOMAIN_PROCESS, "noise", 5);
	deny(&d, DOMAIN_FILESYSTEM, "hidden?", 5);
	CHECK(s.listed == DENIAL_LOG_LINES + 1 && s.several == 0);
	CHECK_STR(s.last_rule, "hidden?");
}

static void then_one_a_second_and_the_rest_is_counted(void)
{
	struct seen s = {0};
	struct denial_log d = {.log = see, .arg = &s};
	unsigned i;

	for (i = 0; i < DENIAL_LOG_LINES + 501; i++)
		deny(&d, DOMAIN_PROCESS, "noise", 5);
	CHECK(s.listed == DENIAL_LOG_LINES + 1 && s.several == 0);
	deny(&d, DOMAIN_PROCESS, "later", 5 + DENIAL_LOG_MS);
	CHECK(s.listed == DENIAL_LOG_LINES + 2 && s.several == 1);
	CHECK_STR(s.last_rule, "later");
	CHECK_STR(s.last_count, "500");
	deny(&d, DOMAIN_PROCESS, "soon", 6 + DENIAL_LOG_MS);
	denial_log_end(&d);
	denial_log_end(&d);
	CHECK(s.several == 2 && d.total == DENIAL_LOG_LINES + 503);
	CHECK_STR(s.last_count, "1");
}

static void what_was_only_counted_uses_up_no_lines(void)
{
	struct seen s = {0};
	struct denial_log d = {.log = see, .arg = &s};

	denial_log_untold(&d, 1000000);
	CHECK(s.several == 1 && d.total == 1000000);
	deny(&d, DOMAIN_PROCESS, "after", 5);
	CHECK_STR(s.last_rule, "after");
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(the_first_of_each_domain_are_listed),
		CASE(then_one_a_second_and_the_rest_is_counted),
		CASE(what_was_only_counted_uses_up_no_lines),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
