/*
 * format_read: reading functions for the tables of task formats, and how they tell of problems. As conf/reader.h, which
 * they go with; nobody but format_*.c includes it.
 */
#ifndef CORDON_TASK_FORMAT_READ_H
#define CORDON_TASK_FORMAT_READ_H

#include "conf/reader.h"
#include "model/task.h"

/* Rows of the roots. `to` is a struct task. */
extern const struct reader_key format_harbor_rows[];
extern const struct reader_key format_document_rows[];
extern const struct reader_key format_terminal_rows[];

/* arg is a value_str_fn in a struct reader_text. In TOML a string is wanted. */
reader_fn format_str;
reader_fn format_list;
reader_fn format_user; /* nothing; a number is fine */
reader_fn format_pairs; /* nothing; struct pol_pairs: an env table */

/* arg: struct reader_number. */
reader_fn format_num;

/* What is kept as it is, and by nobody here. */
reader_fn format_keep;
/* Not empty: arg (text) says why it cannot be honoured. */
reader_fn format_only_empty;
/* The same whatever it is. */
reader_fn format_never;
/* Taken, and arg (text) is said as a warning. */
reader_fn format_note;

/* A list of structs: arg is a struct format_items; `to` points at a pointer, a uint32_t being next to it. */
struct format_items {
	size_t size;
	uint32_t max;
	reader_fn *read; /* of one item */
	const void *arg;
};
reader_fn format_items;

/* For a reader's problem and problem_arg: every problem goes to the list, with the file's name. */
struct format_telling {
	struct task_problems *problems;
	const char *file;
};
void format_tell(struct reader *r, const struct reader_problem *p);

/* As reader_fail() at a value's origin, below the key that is being read. */
int format_fail_at(struct reader *r, struct origin at, const char *key, const char *what);

/* What a role says of the network: folds and checks. allow is `allow_internet`, or unset. */
int format_check_network(struct reader *r, struct task_network *net, const struct pol_num *allow);

/* Two names of one thing: -1 where the map has both. */
int format_check_names(struct reader *r, const struct ynode *map, const char *one, const char *other);

/* The keys of the map (NULL-terminated) that are there, as one JSON object; NULL: told. */
const char *format_metadata(struct reader *r, const struct ynode *map, const char *const *keys);

/* The text types that tables need. */
extern const struct reader_text format_type_text, format_type_some, format_type_long, format_type_command,
	format_type_line, format_type_pattern, format_type_service, format_type_inside, format_type_source,
	format_type_below, format_type_step, format_type_host, format_type_schema, format_type_image;
extern const struct reader_number format_type_seconds, format_type_seconds0, format_type_bool;

reader_fn format_environment; /* struct task_environment */
reader_fn format_agent;	      /* struct task_agent */
reader_fn format_verifier;    /* struct task_verifier */
reader_fn format_healthcheck; /* struct task_healthcheck */
extern const struct format_items format_artifact_items;

#endif
