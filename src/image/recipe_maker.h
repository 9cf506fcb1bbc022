/*
 * recipe_maker: what the files of the recipe share while one is being made. Private to recipe*.c.
 */
#ifndef CORDON_IMAGE_RECIPE_MAKER_H
#define CORDON_IMAGE_RECIPE_MAKER_H

#include "conf/dockerfile.h"
#include "conf/dockerfile_words.h"
#include "conf/expand.h"
#include "image/recipe.h"

enum { RECIPE_VARS = 2048, RECIPE_SHOWN = 200 };

/* Variables in the order in which they were first set; at most RECIPE_VARS. */
struct recipe_vars {
	struct arena *arena;
	const char **names, **values;
	size_t n, cap;
	bool full; /* one more was set */
};

void recipe_vars_set(struct recipe_vars *v, const char *name, const char *value);
void recipe_vars_unset(struct recipe_vars *v, const char *name);
struct recipe_vars recipe_vars_copy(const struct recipe_vars *v);
const char *recipe_vars_get(const struct recipe_vars *v, struct sv name);
/* "NAME=VALUE", NULL-terminated. */
const char **recipe_vars_list(const struct recipe_vars *v);

/* A stage as it stands in the file. */
struct recipe_part {
	const struct dockerfile_instruction *from;
	size_t first, end; /* its instructions in the file */
	const char *name;
	const char *base; /* FROM's argument, expanded */
	struct recipe_from origin; /* stage: an index of parts. RECIPE_CONTEXT: there is a problem with it */
	bool needed;
	uint32_t index; /* in the recipe */
	struct recipe_vars env, image, args; /* at its end: a stage that stands on it begins with them */
};

struct recipe_maker {
	struct arena *arena;
	const struct recipe_request *req;
	const struct dockerfile *file;
	struct recipe *out;
	struct recipe_part *parts;
	size_t n_parts;
	struct recipe_vars global; /* of ARG before the first FROM */
	struct words images, unknown, problems;
	size_t more_problems;
	const char **none; /* an empty list */
	size_t budget;

	/* of the stage that is being made */
	struct recipe_part *part;
	struct recipe_stage *stage;
	const char *origin; /* of the instruction: the file, or the image whose trigger it is */
	char escape;
	size_t steps_cap;
	struct recipe_vars env;	  /* ENV and ARG, as RUN sees them */
	struct recipe_vars image; /* ENV alone */
	struct recipe_vars args;  /* ARG alone */
	const char **env_list, **args_list; /* of env and args; NULL: they changed */
	struct words further;
	bool command_set; /* CMD in this stage: ENTRYPOINT leaves it */
};

/* Adds a problem with the instruction's line. what is shown as it is, word escaped behind it. */
void recipe_problem(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *what, const char *word);
void recipe_problem_text(struct recipe_maker *m, const char *text);

/* A word with the stage's variables. NULL: a problem was added. */
const char *recipe_expand(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *word);
/* The same with other variables. */
const char *recipe_expand_with(struct recipe_maker *m, const struct dockerfile_instruction *i,
			       const struct recipe_vars *v, const char *word);

/* For struct expand; arg is a struct recipe_vars. */
const char *recipe_get(void *arg, struct sv name);

/* A canonical name; it is listed among the images that are needed. NULL: a problem was added. */
const char *recipe_need_image(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *name);

/* What "--from=WORD" means in this stage. -1: a problem was added. */
int recipe_from_word(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *word,
		     struct recipe_from *ret);

/* Absolute and clean, relative to the stage's work folder; a slash at the end stays where keep_slash. NULL: a problem
 * was added. */
const char *recipe_path(struct recipe_maker *m, const struct dockerfile_instruction *i, const char *path,
			bool keep_slash);

/* A new step with all that every step has. NULL: no memory. */
struct recipe_step *recipe_step_new(struct recipe_maker *m, const struct dockerfile_instruction *i,
				    enum recipe_kind kind);

/* One instruction of the stage, behind its FROM. */
void recipe_instruction(struct recipe_maker *m, const struct dockerfile_instruction *i);

/* ADD and COPY. */
void recipe_copy(struct recipe_maker *m, const struct dockerfile_instruction *i);

/* RUN's flags, into the step. False: a problem was added. */
bool recipe_run_flags(struct recipe_maker *m, const struct dockerfile_instruction *i, struct recipe_step *s);

/* Text in double quotes that is expanded to exactly this. NULL: no memory. */
const char *recipe_quoted(struct arena *a, const char *s);

/* A JSON array of the strings. NULL: no memory. */
const char *recipe_json(struct arena *a, const char *const *v);

/* What the file consists of: its stages, what they stand on, which of them are needed. */
void recipe_stages(struct recipe_maker *m);

/* The stage's name or number, among those before `before`; -1: there is none. */
int recipe_find_stage(const struct recipe_maker *m, const char *word, size_t before);

#endif
