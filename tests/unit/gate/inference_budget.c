#include "gate/inference/budget.h"

#include "base/buf.h"
#include "check.h"

static const struct provider limited = {.name = "p",
					.max_requests = {3, true, {0}},
					.max_output_tokens = {100, true, {0}}},
			     unlimited = {.name = "q"};

static int ask(struct budget *b, const struct provider *p, const char *model, uint64_t output)
{
	struct usage_tokens now = {.input = 1, .output = output};
	struct budget_ticket t;
	struct ruling no = {0};

	if (budget_admit(b, p, model, 0, &t, &no) < 0) {
		CHECK(no.status == RULING_BUDGET);
		return -1;
	}
	budget_count(b, &t, &now);
	budget_over(b, &t);
	return 0;
}

static void print_row(void *ctx, const struct budget_row *r)
{
	(void)buf_printf(ctx, "%s/%s %llu %llu %llu+%llu\n", r->provider, r->model ? r->model : "*",
			 (unsigned long long)r->requests, (unsigned long long)r->tokens.input,
			 (unsigned long long)r->tokens.output, (unsigned long long)r->tokens.cut);
}

static void requests_are_counted_from_their_start(void)
{
	struct budget *b = budget_new();

	CHECK(ask(b, &limited, "m", 0) == 0 && ask(b, &limited, "m", 0) == 0 && ask(b, &limited, "n", 0) == 0);
	CHECK(ask(b, &limited, "m", 0) < 0);
	CHECK(ask(b, &unlimited, "m", 0) == 0);
	budget_free(b);
}

static void the_request_that_crosses_may_finish_and_the_next_is_refused(void)
{
	struct budget *b = budget_new();

	CHECK(ask(b, &limited, "m", 99) == 0);
	CHECK(ask(b, &limited, "m", 5000) == 0);
	CHECK(ask(b, &limited, "m", 0) < 0);
	budget_free(b);
	b = budget_new();
	CHECK(ask(b, &limited, "m", 100) == 0); /* used up to the last token */
	CHECK(ask(b, &limited, "m", 0) < 0);
	budget_free(b);
}

static void a_budget_of_nothing_is_nothing(void)
{
	const struct provider none = {.name = "p", .max_requests = {0, true, {0}}};
	struct budget *b = budget_new();

	CHECK(ask(b, &none, "m", 0) < 0);
	budget_free(b);
}

static void what_a_cut_answer_is_charged_uses_the_budget_and_is_reported_apart(void)
{
	struct usage_tokens now = {.output = 30, .cut = 70};
	struct budget *b = budget_new();
	struct budget_ticket t, u;
	AUTO_BUF out = {0};
	struct ruling no;

	buf_init(&out, 4096);
	CHECK(budget_admit(b, &limited, "m", 100, &t, &no) == 0);
	CHECK(budget_admit(b, &limited, "m", 1, &u, &no) < 0); /* reserved */
	budget_count(b, &t, &now);
	CHECK(t.reserved == 0);
	budget_over(b, &t);
	CHECK(ask(b, &limited, "m", 0) < 0);
	budget_report(b, print_row, &out);
	CHECK_STR(out.p, "p/* 1 0 30+70\np/m 1 0 30+70\n");
	budget_free(b);
}

static void repeated_and_shrinking_counts_count_once(void)
{
	struct budget *b = budget_new();
	struct usage_tokens now = {.output = 60};
	struct budget_ticket t;
	struct ruling no;

	CHECK(budget_admit(b, &limited, "m", 0, &t, &no) == 0);
	budget_count(b, &t, &now);
	budget_count(b, &t, &now);
	now.output = 10;
	budget_count(b, &t, &now);
	now.output = 61;
	budget_count(b, &t, &now);
	CHECK(ask(b, &limited, "m", 0) == 0); /* 61, not 121 */
	budget_free(b);
}

static void a_reload_keeps_what_was_used(void)
{
	struct provider p = limited;
	struct budget *b = budget_new();

	CHECK(ask(b, &p, "m", 100) == 0 && ask(b, &p, "m", 0) < 0);
	p.max_output_tokens.v = 150;
	CHECK(ask(b, &p, "m", 10) == 0);
	p.max_output_tokens.v = 50;
	CHECK(ask(b, &p, "m", 0) < 0);
	p.max_output_tokens.set = false;
	p.max_requests.v = 2;
	CHECK(ask(b, &p, "m", 0) < 0);
	budget_free(b);
}

static void huge_counts_stop_at_the_top(void)
{
	const struct provider p = {.name = "p", .max_output_tokens = {UINT64_MAX, true, {0}}};
	struct budget *b = budget_new();

	CHECK(ask(b, &p, "m", UINT64_MAX) == 0);
	CHECK(ask(b, &p, "m", UINT64_MAX) < 0);
	budget_free(b);
}

static void the_report_has_each_model_and_adds_up_the_rest(void)
{
	struct budget *b = budget_new();
	AUTO_BUF out = {0};
	char name[16];
	int i;

	buf_init(&out, 1 << 16);
	CHECK(ask(b, &limited, "m", 5) == 0 && ask(b, &limited, "n", 6) == 0 && ask(b, &limited, "m", 7) == 0);
	budget_report(b, print_row, &out);
	CHECK_STR(out.p, "p/* 3 3 18+0\np/m 2 2 12+0\np/n 1 1 6+0\n");
	for (i = 0; i < BUDGET_MODELS + 10; i++) {
		(void)snprintf(name, sizeof(name), "m%d", i);
		CHECK(ask(b, &unlimited, name, 1) == 0);
	}
	buf_clear(&out);
	budget_report(b, print_row, &out);
	CHECK(strstr(out.p, "q/* 42 42 42+0\n") && strstr(out.p, "q/(other) 10 10 10+0\n"));
	budget_free(b);
}

static void requests_side_by_side_do_not_cross_it_together(void)
{
	const struct provider p = {.name = "p", .max_output_tokens = {10, true, {0}}};
	struct usage_tokens used = {.output = 3};
	struct budget *b = budget_new();
	struct budget_ticket t[3];
	struct ruling no;

	/* one alone may ask for more than there is */
	CHECK(budget_admit(b, &p, "m", 4096, &t[0], &no) == 0);
	CHECK(budget_admit(b, &p, "m", 1, &t[1], &no) < 0 && no.status == RULING_BUDGET && strstr(no.hint, "wait"));
	budget_count(b, &t[0], &used);
	CHECK(budget_admit(b, &p, "m", 1, &t[1], &no) < 0);
	budget_over(b, &t[0]);
	budget_over(b, &t[0]);
	CHECK(budget_admit(b, &p, "m", 3, &t[0], &no) == 0 && budget_admit(b, &p, "m", 3, &t[1], &no) == 0);
	CHECK(budget_admit(b, &p, "m", 3, &t[2], &no) == 0 && budget_admit(b, &p, "m", 0, &t[0], &no) < 0);
	/* what is counted is reserved no more: the sum stays */
	used.output = 2;
	budget_count(b, &t[1], &used);
	CHECK(budget_admit(b, &p, "m", 0, &t[0], &no) < 0);
	budget_over(b, &t[1]); /* 5 used, 6 reserved by the other two: one of them goes */
	budget_over(b, &t[2]);
	CHECK(budget_admit(b, &p, "m", 1, &t[1], &no) == 0);
	budget_free(b);
}

static void reservations_do_not_wrap(void)
{
	const struct provider p = {.name = "p", .max_output_tokens = {100, true, {0}}}, q = {.name = "p"};
	struct budget *b = budget_new();
	struct budget_ticket t[2], u;
	struct ruling no;

	CHECK(budget_admit(b, &q, "m", UINT64_MAX - 1, &t[0], &no) == 0 &&
	      budget_admit(b, &q, "m", UINT64_MAX, &t[1], &no) == 0);
	CHECK(budget_admit(b, &p, "m", 1, &u, &no) < 0);
	budget_over(b, &t[0]);
	budget_over(b, &t[1]);
	CHECK(budget_admit(b, &p, "m", 1, &u, &no) == 0);
	budget_free(b);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(requests_are_counted_from_their_start),
		CASE(the_request_that_crosses_may_finish_and_the_next_is_refused),
		CASE(a_budget_of_nothing_is_nothing),
		CASE(what_a_cut_answer_is_charged_uses_the_budget_and_is_reported_apart),
		CASE(repeated_and_shrinking_counts_count_once),
		CASE(a_reload_keeps_what_was_used),
		CASE(huge_counts_stop_at_the_top),
		CASE(requests_side_by_side_do_not_cross_it_together),
		CASE(reservations_do_not_wrap),
		CASE(the_report_has_each_model_and_adds_up_the_rest),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
