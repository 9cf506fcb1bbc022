/*
 * format_value: typed scalars of tasks; the contract of conf/value.h holds here. Numbers may be written as floating
 * point ("600.0", "1e3"), as task files do.
 */
#ifndef CORDON_TASK_FORMAT_VALUE_H
#define CORDON_TASK_FORMAT_VALUE_H

#include "conf/value.h"

value_num_fn task_value_seconds;  /* ms; more than 0, at most a year */
value_num_fn task_value_seconds0; /* the same, and 0 */
value_num_fn task_value_cpus;	  /* thousandths; more than 0, at most 1024 */
value_num_fn task_value_megabytes; /* bytes; at least 1 MiB, at most 1 PiB */
value_num_fn task_value_size;	   /* "4G", "512M", "1.5g": bytes, the same bounds */
value_num_fn task_value_bool;	   /* as YAML 1.1 writes them: true, True, yes, on, ... */
value_num_fn task_value_retries;   /* 0 to 10000 */

/* A number, finite. False: it is none. */
bool task_value_double(struct sv s, double *ret);

value_str_fn task_value_text;	 /* any text of at most 64 KiB; of controls only tab and newline */
value_str_fn task_value_some;	 /* the same, not empty */
value_str_fn task_value_long;	 /* the same as text, of at most 4 MiB: prompts */
value_str_fn task_value_command; /* as some: for a shell */
value_str_fn task_value_line;	 /* not empty, one line of at most 4095 bytes */
value_str_fn task_value_user;	 /* a name or number, also "user:group" */
value_str_fn task_value_pattern; /* of a name, not of a path */
value_str_fn task_value_service; /* of a compose file: "main" and no other */
value_str_fn task_value_inside;	 /* an absolute path, made canonical; no ".." */
value_str_fn task_value_source;	 /* of an artifact: a path without "..", made canonical */
value_str_fn task_value_below;	 /* of an artifact: a relative path without "..", made canonical */
value_str_fn task_value_step;	 /* a file name of letters, digits, '-', '_' and '.', at most 64 */
value_str_fn task_value_host;	 /* as conf/value_net.h's, and networks; what ends in "." loses it */
value_str_fn task_value_schema;	 /* MAJOR.MINOR, the major being 1 */
value_str_fn task_value_image;	 /* of Docker: no blanks, at most 512 bytes */

#endif
