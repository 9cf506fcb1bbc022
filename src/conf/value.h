/*
 * value: the typed scalars of configuration files. Pure functions over text.
 *
 * Each returns NULL and fills *ret, or returns what is wrong and what to do about it, to be put behind the value
 * itself: `"4GB" is not a size; write 4G`. A returned message is static. *ret is untouched on failure. Results that are
 * text live in the arena; NULL in *ret never happens on success, out of memory has its own message.
 *
 * Numbers are decimal digits without sign, leading zero, underscore or exponent: what YAML 1.1 and 1.2 read differently
 * is refused.
 */
#ifndef CORDON_CONF_VALUE_H
#define CORDON_CONF_VALUE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"

typedef const char *value_num_fn(struct sv s, uint64_t *ret);
typedef const char *value_str_fn(struct arena *a, struct sv s, const char **ret);

value_num_fn value_count;    /* 0 .. 2^53 */
value_num_fn value_positive; /* 1 .. 2^31 - 1 */
value_num_fn value_uid;      /* 0 .. 2^32 - 2 */
value_num_fn value_port;     /* 1 .. 65535 */
value_num_fn value_bool;     /* true, false */
value_num_fn value_size;     /* bytes; K M G T and KiB MiB GiB TiB are powers of 1024; below 2^62 */
value_num_fn value_size_positive;
value_num_fn value_memory;    /* a size that something can start in: 1M or more */
value_num_fn value_processes; /* 2 or more: the sandbox's own first process counts */
value_num_fn value_duration; /* milliseconds; ms s m h d; a bare number is seconds; at most 3650d */
value_num_fn value_cpus;     /* thousandths; at most three decimals */

value_str_fn value_text;      /* any text but the empty plain scalar; no controls */
value_str_fn value_env_value; /* at most 32 KiB; tab and newline are fine */
value_str_fn value_env_name;  /* [A-Za-z_][A-Za-z0-9_]* */
value_str_fn value_name;      /* [A-Za-z0-9][A-Za-z0-9._-]*, at most 64: credentials, providers */
value_str_fn value_method;
value_str_fn value_model;     /* `*` and `?` are the only wildcards */
value_str_fn value_path_glob; /* absolute, "~", "~/...", "**" + "/..." or relative; checked, not resolved */
value_str_fn value_path;      /* the same without meaning for wildcards */

/* The text as it is, in the arena. */
value_str_fn value_keep;

#endif
