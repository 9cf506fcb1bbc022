/*
 * value_net: typed scalars about hosts, addresses and URLs; the contract of value.h holds here.
 */
#ifndef CORDON_CONF_VALUE_NET_H
#define CORDON_CONF_VALUE_NET_H

#include "conf/value.h"

value_str_fn value_host;       /* exact or "*.name"; lower-cased; IP literals in canonical form, without brackets */
value_str_fn value_host_exact; /* the same without "*." */
value_str_fn value_cidr;       /* canonical: no bits behind the prefix */
value_str_fn value_url_glob;   /* a pattern over a URL's path: `*` within a part, "**" for whole parts; or "**" alone */
value_str_fn value_url_path;   /* a URL's path, without wildcards */
value_str_fn value_url;        /* http or https, host, port, path; no user, query or fragment; no trailing slash */
value_num_fn value_rate;       /* requests per hour: 10/s, 100/m or 1000/h */
value_str_fn value_call;       /* a tool, a method of JSON-RPC or a field of GraphQL; * and ? are the only wildcards */

/* "host", "host:port" or "[v6]:port" cut in two; port is empty where there is none. False: a colon with nothing behind
 * it. */
bool value_split_port(struct sv s, struct sv *name, struct sv *port);

#endif
