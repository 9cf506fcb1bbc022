/*
 * compose_read: from a YAML tree to model/compose.h, by tables, without stopping at the first problem. Inside of
 * compose.h only.
 *
 * A mapping is a table of rows. A row either says how its value is read and where it goes, or why the key is refused.
 * Readers note what is wrong with compose_refuse() and go on; what they could not read stays as it is. The path of keys
 * that leads to the value at hand is kept for messages.
 */
#ifndef CORDON_TASK_COMPOSE_READ_H
#define CORDON_TASK_COMPOSE_READ_H

#include "conf/yaml.h"
#include "model/compose_text.h"
#include "task/compose.h"

struct compose_reader {
	const struct compose_input *in;
	struct arena *arena;
	struct task_problems *problems;
	struct compose *compose;	 /* all services are there by name before the first is read */
	const struct ynode *networks, *volumes; /* the file's own, or NULL */
	struct compose_strings aliases[COMPOSE_SERVICES_MAX]; /* of the services, on all of their networks */
	unsigned depth;
	struct sv path[YAML_TREE_NESTING + 2];
};

typedef void compose_read_fn(struct compose_reader *r, const struct ynode *n, void *to, const void *arg);

struct compose_row {
	const char *name; /* NULL ends the table */
	compose_read_fn *read; /* NULL: refused */
	size_t offset;
	const void *arg;
	const char *why; /* of a refusal; where read is there: a warning */
};

void compose_refuse(struct compose_reader *r, const struct ynode *n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void compose_warn(struct compose_reader *r, const struct ynode *n, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void compose_no_memory(struct compose_reader *r, const struct ynode *n);

void compose_enter(struct compose_reader *r, struct sv key);
void compose_enter_item(struct compose_reader *r, uint32_t index);
void compose_leave(struct compose_reader *r);

/* No value, ~ or null. */
bool compose_is_null(const struct ynode *n);
/* Is it of this kind? Else a refusal was noted. */
bool compose_want(struct compose_reader *r, const struct ynode *n, enum ynode_kind kind);
/* Is it a mapping or a list? null is neither; of another scalar a refusal was noted, which asks for this kind. */
bool compose_has_items(struct compose_reader *r, const struct ynode *n, enum ynode_kind kind);

/* The scalar's text with its variables filled in; NULL: a refusal was noted. It is clean (compose_is_text), or "". */
const char *compose_scalar(struct compose_reader *r, const struct ynode *n);

/* Every key of a mapping by its row. */
void compose_keys(struct compose_reader *r, const struct ynode *n, void *to, const struct compose_row *rows);
/* The file's own networks or volumes (what: "network"): their names, which go to names where that is not NULL, and the
 * keys of each, of which nothing is kept. */
void compose_named(struct compose_reader *r, const struct ynode *n, const char *what, struct compose_strings *names,
		   const struct compose_row *rows);
const struct ynode *compose_key(const struct ynode *map, const char *name);

/* The service of this name, or NULL, noted. */
struct compose_service *compose_other(struct compose_reader *r, const struct ynode *n, const char *name);

/* A further item of a list whose struct is {v, n}, zeroed; NULL: no memory or too many, noted. All lists have room for
 * COMPOSE_LIST_MAX items. */
void *compose_add(struct compose_reader *r, const struct ynode *n, void *list, size_t size);
void compose_add_text(struct compose_reader *r, const struct ynode *n, struct compose_strings *to, const char *text);
bool compose_has_text(const struct compose_strings *s, const char *text);

/* Readers for rows; arg, and what `to` is: */
compose_read_fn compose_read_keys;    /* rows; any struct */
compose_read_fn compose_read_text;    /* struct compose_want_text; const char * */
compose_read_fn compose_read_texts;   /* struct compose_want_text; struct compose_strings: a list, or one value */
compose_read_fn compose_read_flag;    /* nothing; bool */
compose_read_fn compose_read_count;   /* struct compose_want_number; uint64_t */
compose_read_fn compose_read_size;    /* the same; bytes */
compose_read_fn compose_read_time;    /* the same; ms */
compose_read_fn compose_read_cpus;    /* the same; thousandths */
compose_read_fn compose_read_pass;    /* nothing; nothing: passed over */
compose_read_fn compose_read_never;   /* why not (const char *); nothing: false, and no more than that */
compose_read_fn
	compose_read_command; /* nothing; struct compose_strings: a list, or a text that is split as a shell would */
compose_read_fn compose_read_variables; /* nothing; struct compose_pairs: a mapping, or a list of NAME=VALUE */

struct compose_want_text {
	compose_text_fn *is;
	const char *what; /* "a host name" */
};

struct compose_want_number {
	uint64_t min, max;
	const char *what; /* "between 1M and 1T" */
};

/* compose_value.c. NULL, or what is wrong. */
const char *compose_value_size(const char *s, uint64_t *ret);
const char *compose_value_time(const char *s, uint64_t *ret);
const char *compose_value_cpus(const char *s, uint64_t *ret);
const char *compose_value_count(const char *s, uint64_t *ret);

/* Splits as Compose does: blanks, quotes, backslashes; no variable, no pattern. NULL; or what is wrong. */
const char *compose_words(struct arena *a, const char *text, struct compose_strings *ret);

/* A path of the file's, in canonical form below its folder; NULL: it leaves it, and *ret_why says how. Accepts the
 * stand-in of the task's folder. */
const char *compose_inside(struct arena *a, const char *path, const char **ret_why);

/* Returns -1: the first problem that is no warning. */
int compose_refused(const struct task_problems *problems, struct error *err);

/* The tables of the parts. */
extern const struct compose_row compose_service_rows[];
compose_read_fn compose_read_build;
compose_read_fn compose_read_health;
compose_read_fn compose_read_needs;
compose_read_fn compose_read_links;
compose_read_fn compose_read_container_name;
compose_read_fn compose_read_mounts;
compose_read_fn compose_read_tmpfs;
compose_read_fn compose_read_networks;
compose_read_fn compose_read_network_mode;
compose_read_fn compose_read_hosts;
compose_read_fn compose_read_ports;
compose_read_fn compose_read_expose;
compose_read_fn compose_read_cap_drop;
compose_read_fn compose_read_security;
compose_read_fn compose_read_limits;
compose_read_fn compose_read_restart;
compose_read_fn compose_read_word; /* names; nothing: one of them, and no more than that */
compose_read_fn compose_read_top_networks;
/* Which of the networks that services use lead to nothing outside; of a file without problems so far. */
void compose_internal(struct compose_reader *r, const struct ynode *root);
compose_read_fn compose_read_top_volumes;

#endif
