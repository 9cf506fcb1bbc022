/*
 * net_match: does a name, an address, a method or a URL path fall under a network rule?
 *
 * Pure, no heap, no resolver: a host is judged by its text alone. Host names compare without regard to case and to one
 * trailing dot. What looks like a number but is no plain address (0x7f.1, 2130706433) counts as private: some resolvers
 * would take it for one.
 */
#ifndef CORDON_POLICY_NET_MATCH_H
#define CORDON_POLICY_NET_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"
#include "model/policy.h"

enum host_class {
	HOST_NAME,    /* a DNS name */
	HOST_PUBLIC,  /* an address of the internet */
	HOST_PRIVATE, /* an address, or a name that always means one, that only a cidr rule can open */
};

enum host_class net_host_class(struct sv host);

/* pattern: an exact name, or "*.name": one or more labels below it, never the name itself. */
bool net_host_matches(const char *pattern, struct sv host);

/* Everything that inner matches is matched by outer. */
bool net_host_covers(const char *outer, const char *inner);

/* The address (text) lies in the network. False for names and for malformed text. */
bool net_cidr_has(const char *cidr, struct sv address);
bool net_cidr_covers(const char *outer, const char *inner);

/*
 * URL paths: `*` and `?` stay within a segment, a segment `**` stands for any number of them; as the last one it needs
 * at least one, so that "/simple/" + "**" matches
 * "/simple/" and all below it, but not "/simple". A query behind "?" is not looked at.
 */
bool net_path_matches(const char *pattern, struct sv path);

/* Everything that inner matches is matched by outer, as far as that can be told from the patterns: false where in
 * doubt. */
bool net_path_covers(const char *outer, const char *inner);

/* Port 0: 443 or 80. In a deny rule no ports means every port. */
bool net_port_allowed(const struct net_rule *r, uint16_t port);
bool net_port_denied(const struct net_rule *r, uint16_t port);

/* The list is unset (any) or has the method. */
bool net_method_in(const struct pol_list *methods, const char *method);

#endif
