/*
 * compose_text: what the strings of model/compose.h may be. Pure; "" is never fine.
 *
 * The parser says by these what is wrong with a file, and compose_wrong() by the same ones whether a model can be
 * trusted.
 */
#ifndef CORDON_MODEL_COMPOSE_TEXT_H
#define CORDON_MODEL_COMPOSE_TEXT_H

#include <stdbool.h>

typedef bool compose_text_fn(const char *s);

compose_text_fn compose_is_text;     /* UTF-8, no controls (line and paragraph separators are some) but tab and newline,
					COMPOSE_TEXT_MAX */
compose_text_fn compose_is_line;     /* the same without tab and newline */
compose_text_fn compose_is_name;     /* [A-Za-z0-9][A-Za-z0-9._-]*, at most 63: services, networks, volumes, stages */
compose_text_fn compose_is_host;     /* a host name: labels of letters, digits, - and _ */
compose_text_fn compose_is_variable; /* [A-Za-z_][A-Za-z0-9_]*, at most 256 */
compose_text_fn compose_is_image;    /* [HOST[:PORT]/]NAME[:TAG][@sha256:HEX] */
compose_text_fn compose_is_inside;   /* a relative path in canonical form: no "..", no "//", no link forms; "." alone */
compose_text_fn compose_is_target;   /* an absolute path in canonical form, not "/", not below /proc, /sys, /dev or
					/run/cordon; /dev/shm is fine */
compose_text_fn compose_is_folder;   /* an absolute path in canonical form; "/" is fine */
compose_text_fn compose_is_loopback; /* 127.x.y.z or ::1 */
compose_text_fn compose_is_port;     /* "8080/tcp", "53/udp" */
compose_text_fn compose_is_user;     /* name or number, with :group or without */
compose_text_fn compose_is_platform; /* linux/ARCH[/VARIANT] */
compose_text_fn compose_is_capability; /* as CAP_ names it, without CAP_; or ALL */
compose_text_fn compose_is_limit;    /* the name of a ulimit that a sandbox may have */
compose_text_fn compose_is_signal;   /* SIGTERM, TERM, 15 */

#endif
