/*
 * net_path: does the path of a URL fall under a pattern of a network rule?
 *
 * Pure, no heap. A path comes as it is sent (http/target.h), and a server may still read it in several ways: whether
 * "%40" is "@" to it, and "%2540" too, is its own choice, and what is sent is left as it is, since "%2B" and "+" are
 * two names to some. So an allowed path must match in every reading, and a denied one in any; the pattern is read in
 * the same way.
 */
#ifndef CORDON_POLICY_NET_PATH_H
#define CORDON_POLICY_NET_PATH_H

#include <stdbool.h>

#include "base/sv.h"

/*
 * URL paths: `*` and `?` stay within a segment, a segment `**` stands for any number of them; as the last one it needs
 * at least one, so that "/simple/" + "**" matches
 * "/simple/" and all below it, but not "/simple". A query behind "?" is not looked at.
 */
bool net_path_matches(const char *pattern, struct sv path);

enum { NET_PATH_FOLDED = 16 * 1024 };

/*
 * For a rule that allows: the path as it stands matches, and so it does however a server decodes it: once, twice, or
 * before it looks for the "?" that ends a path. One of more than NET_PATH_FOLDED bytes that has anything encoded is not
 * allowed.
 */
bool net_path_allowed(const char *pattern, struct sv path);

/*
 * For a denial, which holds if any of these matches, and also for what servers may take for the same path: in other
 * case, with "+" for a blank, with a slash at its end, with dots and blanks behind a segment; "/x/" + "**" holds for
 * "/x", too. One of more than NET_PATH_FOLDED bytes is denied.
 */
bool net_path_denied(const char *pattern, struct sv path);

/* Everything that inner matches is matched by outer, as far as that can be told from the patterns: false where in
 * doubt. */
bool net_path_covers(const char *outer, const char *inner);

/*
 * A path that a server may read as another one: dot segments (blanks behind the dots or not) or empty ones, parameters
 * (";", which some cut off before they look), an encoded slash, backslash or NUL, percent-encoding of letters, digits
 * and "-._~", or of a percent sign before such a one. Where paths are restricted it matches no list that allows and
 * every one that denies.
 */
bool net_path_is_odd(struct sv path);
/*
 * Has it parts that servers on Windows take for others or leave out: short names (ADMINI~1), streams (x:$DATA), and
 * what ASP.NET keeps of sessions ("(S(x))")? Ordinary elsewhere ("a~1.deb"), so that it matters only to denials.
 */
bool net_path_is_folded(struct sv path);

#endif
