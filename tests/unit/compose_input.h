/*
 * compose_input: Compose files for tests, as a runner would give them to the parser.
 */
#ifndef CORDON_TESTS_COMPOSE_INPUT_H
#define CORDON_TESTS_COMPOSE_INPUT_H

#include "base/arena.h"
#include "task/compose.h"

struct parsed {
	struct arena *arena;
	struct task_problems problems;
	const struct compose *compose; /* NULL: refused */
	struct error err;
};

static const struct compose_pair declared[] = {{"GREETING", "hello"}, {"EMPTY", ""},   {"DOLLAR", "a$b${HOME}"},
					       {"CPUS", "99"},        {"UP", "../up"}, {"LINES", "a\xe2\x80\xa8\x62"},
					       {"ETC", "/etc"}};

static inline struct compose_input input_of(const char *text, bool harbor)
{
	return (struct compose_input){
		.file = "docker-compose.yaml",
		.text = sv_of(text),
		.runner = {.project = "cordon-t1",
			   .image = "cordon/task",
			   .prebuilt = "",
			   .cpus = 1500,
			   .memory = UINT64_C(2048) << 20},
		.variables = declared,
		.n_variables = sizeof(declared) / sizeof(declared[0]),
		.harbor = harbor,
	};
}

static inline struct parsed parse_input(const struct compose_input *in)
{
	struct parsed p = {.arena = arena_new()};

	p.problems.arena = p.arena;
	(void)compose_parse(in, p.arena, &p.problems, &p.compose, &p.err);
	return p;
}

static inline struct parsed parse(const char *text)
{
	struct compose_input in = input_of(text, false);

	return parse_input(&in);
}

static inline void parsed_done(struct parsed *p)
{
	arena_free(p->arena);
}

#endif
