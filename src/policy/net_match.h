/*
 * net_match: does a name, an address or a method fall under a network rule? (Its path: net_path.h.)
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
#include "model/address.h"
#include "model/policy.h"
#include "policy/net_path.h"

enum host_class {
	HOST_NAME,    /* a DNS name */
	HOST_PUBLIC,  /* an address of the internet */
	HOST_PRIVATE, /* an address, or a name that always means one, that only a cidr rule can open */
	HOST_BAD,     /* no host at all: nothing opens it */
};

/* A host ready for comparing: lower case, no trailing dot, an address in its one form and without brackets. */
struct net_host {
	enum host_class class;
	bool is_address;
	struct address address; /* where it is one */
	size_t n;
	char text[256]; /* empty where class is HOST_BAD */
};

void net_host_read(struct sv host, struct net_host *ret);
void net_host_of_address(const struct address *a, struct net_host *ret); /* as if its text was read */
/* The i-th of the IPv4 addresses that the host carries in itself, for denials (address.h). False: there is none. */
bool net_host_carried(const struct net_host *h, unsigned i, struct net_host *ret);
enum host_class net_host_class(struct sv host);

/* pattern: an exact name, or "*.name": one or more labels below it, never the name itself. */
bool net_host_matches(const char *pattern, struct sv host);

/* Everything that inner matches is matched by outer. */
bool net_host_covers(const char *outer, const char *inner);

/* The address (text) lies in the network. False for names and for malformed text. */
bool net_cidr_has(const char *cidr, struct sv address);
bool net_cidr_covers(const char *outer, const char *inner);

/*
 * A field (lower case), or a parameter of the query behind "?", that makes some servers take the request for one with
 * another method, or with another path; in whatever spelling (http/fields.h, net_parameter.h).
 */
bool net_field_overrides(struct sv name);
bool net_field_rewrites(struct sv name);
/* The same for another host: some servers choose a virtual host by it, or build links out of it. Of Forwarded the value
 * counts. */
bool net_field_rehosts(struct sv name, struct sv value);
bool net_query_overrides(struct sv target);
bool net_parameter_overrides(struct sv name); /* as it stands in a query or a form, percent-encoding and all */

/* Port 0: 443 or 80. In a deny rule no ports means every port. */
bool net_port_allowed(const struct net_rule *r, uint16_t port);
bool net_port_denied(const struct net_rule *r, uint16_t port);

/* The list is unset or has the method; methods are case-sensitive. What an unset one means is the rule's to say
 * (net_cover.h). */
bool net_method_in(const struct pol_list *methods, struct sv method);
/* The list has the method, whatever its case: some servers do not care. */
bool net_method_denied(const struct pol_list *methods, struct sv method);

#endif
