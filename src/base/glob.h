/*
 * glob: patterns over absolute paths, matched component by component.
 *
 * A pattern is absolute ("/usr/bin/g*"), or floats ("**" + "/.env": at any depth). In a component `*`, `?` and
 * `[a-z]` match within that component only (a leading dot is nothing special), and `\*`, `\?`, `\[` and `\\` are these
 * characters themselves; a component `**` stands for zero or
 * more components. A pattern that ends in "/" + "**" covers the folder before it too, and a match covers everything
 * below it: what is denied is denied as a subtree.
 *
 * Matching is on canonical paths: absolute, no "." or "..", no double or trailing slash ("/" itself apart). Callers
 * make them so.
 *
 * glob_states() exposes the automaton: bit i says that the first i components of the pattern have been consumed by the
 * whole path. It lets a caller decide whether moving a folder from one path to another can make anything below it match
 * that did not match before: it cannot if states(new) is a subset of states(old).
 *
 * Owns one allocation, or has it from an arena. At most GLOB_MAX components.
 */
#ifndef CORDON_BASE_GLOB_H
#define CORDON_BASE_GLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sv.h"

enum { GLOB_MAX = 60 };

struct glob_part {
	uint16_t start, len; /* in the pattern's text */
};

struct glob {
	char *text;
	struct glob_part *parts; /* its components; the text lies behind them */
	uint8_t n;
	uint64_t stars;	  /* bit i: component i is "**" */
	uint64_t literal; /* bit i: component i has no wildcard */
};

/*
 * 0; -EINVAL: not absolute or floating, "." or "..", empty component, "**" mixed with text, unclosed "["; -EILSEQ: a
 * backslash before anything else; -E2BIG; -ENOMEM.
 */
int glob_init(struct glob *g, struct sv pattern);
void glob_done(struct glob *g);
/* The same in memory of the arena's, with which it ends: no glob_done(). */
int glob_init_in(struct glob *g, struct sv pattern, struct arena *arena);

/* A component as the pattern has it; and from one component on, to the end of another. */
struct sv glob_at(const struct glob *g, unsigned i);
struct sv glob_between(const struct glob *g, unsigned from, unsigned last);
/* All of it, without a last "**", which says nothing. */
struct sv glob_whole(const struct glob *g);

uint64_t glob_states(const struct glob *g, struct sv path);

/* The path, or a folder it is in, matches. */
bool glob_hit(const struct glob *g, struct sv path);

/*
 * The path is a proper prefix of something that would match, and getting here took a named component: ".git" for "**" +
 * "/.git/config". Only a real folder may stand there, else a link would give the matching path another name.
 */
bool glob_on_way(const struct glob *g, struct sv path);

/* Of such a path: what is left of the pattern behind it, one view for each way to get here; they borrow the pattern's
 * text. Returns how many. */
unsigned glob_rests(const struct glob *g, struct sv path, struct sv ret[GLOB_MAX]);

/* The same for any path, also where only a "**" got here that does not begin the pattern: all that it says below the
 * path, if the path were called otherwise. */
unsigned glob_leaves(const struct glob *g, struct sv path, struct sv ret[GLOB_MAX]);

/* The path lies at or below the place where a "**" in the middle of the pattern begins: anything deeper may match. */
bool glob_below_star(const struct glob *g, struct sv path);

/* The folder that every match is below, as long as it has no wildcard ("/" for floating patterns). A prefix of the
 * pattern's text. */
struct sv glob_base(const struct glob *g);

/* The name without which nothing is met by a pattern that floats, "a" of "**" + "/a/b": it neither matches a path that
 * has no such component, nor is such a path on its way. Empty: there is none, or the pattern is anchored. */
struct sv glob_first_name(const struct glob *g);

/* True where the pattern has no wildcard, apart from a last "**". */
bool glob_is_plain(const struct glob *g);

/* One component against one pattern component, as above. */
bool glob_component(struct sv pattern, struct sv name);

#endif
