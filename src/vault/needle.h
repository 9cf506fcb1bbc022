/*
 * needle: finding known byte strings in a stream, however they were encoded on the way.
 *
 * A needle_set is built once from a few strings (credentials, or placeholders) and never changes. A needle_scan runs
 * over one stream, in pieces cut anywhere. Both directions of the gateway use it: egress replaces reflected credentials
 * (gate/egress/scrub.h), the relay refuses placeholders where they do not belong (vault/placeholder_set.h).
 *
 * What is found, besides the string itself:
 *  - base64, standard and URL-safe, at all three alignments (so inside a longer text that was encoded as a whole),
 * padded or not. Found are the characters that the string alone decides: up to four bits of its first and last byte
 * stay in the neighbouring characters;
 *  - the string with all its letters small, or all large;
 *  - hexadecimal, in lower or upper case;
 *  - percent-encoding (any case, any subset of the bytes; "+" for a space) and JSON escapes (\u00XX, \xXX, \/, \", \',
 * \\), a backslash before any sign (Markdown, regular expressions, shells; not where a needle has a backslash itself)
 * and references of HTML and XML (&#NN;, &#xXX;, with zeros before it and without the semicolon too, and the names that
 * HTML has for the punctuation of ASCII; &amp, &lt, &gt and &quot without it at the end of a word), mixed at will, once
 * or twice over (a URL in a URL, JSON in JSON), also on top of base64 and hexadecimal;
 *  - with a deep set, any two of base64, hexadecimal and escapes within each other, base64 and hexadecimal in lines
 * too, and hexadecimal in mixed case (needle_runs.h); the string in UTF-16, and in rows of hexadecimal numbers of one
 * case, with a colon, blank or hyphen between them; in these escapes are undone as far as they are no longer than on
 * top of plain hexadecimal.
 *
 * Not found: what is encoded three times over, escapes written otherwise (\163, \u{73}, \U00000073, %u0073,
 * quoted-printable), UTF-32, rows of numbers that are broken into lines or written otherwise (0x73, 115), rows of
 * anything but the string itself (of its base64), backslashes before the signs of URL encoding or HTML (\%73), base32,
 * UTF-16 of what is encoded already, other ciphers and compressions. Decompressing comes before this.
 *
 * How: one Aho-Corasick automaton over the plain, base64 and hexadecimal forms runs over readings of the stream:
 * as it is, decoded once, decoded twice, and the last two again where one escape may be cut short by another
 * (needle_decode.h). The decoded readings cost nothing until a %, \ or & comes, and end when they agree with the first
 * again. Text that no form can start in is passed over without a look at most of its bytes.
 *
 * Limits: NEEDLE_MIN to NEEDLE_MAX bytes each, NEEDLE_COUNT of them. The set and a scan's memory of offsets are all
 * that is allocated; the set's memory is guarded (base/secret_memory.h).
 */
#ifndef CORDON_VAULT_NEEDLE_H
#define CORDON_VAULT_NEEDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

enum { NEEDLE_MIN = 6, NEEDLE_MAX = 8192, NEEDLE_COUNT = 256 };

struct needle_set;
struct needle_scan;

/* 0; -EINVAL: a length or the count is out of bounds; -ENOMEM. The strings are copied. */
int needle_set_new(const struct sv *needles, size_t n, struct needle_set **ret);
/* The same for texts that were put into lower case on the way, as names of header fields are: every form is looked for
 * in lower case. Other texts must not be searched with it. */
int needle_set_new_lower(const struct sv *needles, size_t n, struct needle_set **ret);
/* The same as needle_set_new(), and deep. */
int needle_set_new_deep(const struct sv *needles, size_t n, struct needle_set **ret);
struct needle_set *needle_set_ref(struct needle_set *set);
void needle_set_unref(struct needle_set *set); /* NULL is fine */

/* How many bytes of a stream one hit can cover at most: the longest form, each of its bytes escaped twice over, as far
 * as that is undone (needle_decode.h). */
size_t needle_set_reach(const struct needle_set *set);

/* needle: its position in the array; the bytes from start up to end (offsets in the stream) are one of its forms. Hits
 * may overlap. */
typedef void needle_hit_fn(void *arg, uint32_t needle, uint64_t start, uint64_t end);

struct needle_scan *needle_scan_new(struct needle_set *set, needle_hit_fn *hit,
				    void *arg); /* NULL: no memory. Takes a reference. */
void needle_scan_free(struct needle_scan *s);

/*
 * The next n bytes. A hit is told while its last byte is looked at; its bytes may be overwritten from there on. 0, or
 * -ENOMEM: the stream was not looked at to its end, and must not go on.
 */
int needle_scan_feed(struct needle_scan *s, const char *p, size_t n);

/* No more bytes: an escape that was cut short counts as it stands. As needle_scan_feed(). */
int needle_scan_end(struct needle_scan *s);

/* After the end: the next bytes are another stream's. */
void needle_scan_restart(struct needle_scan *s);

/* No later hit starts before this offset; not for deep sets. The rest of the stream so far is a prefix of some form, or
 * an unfinished escape. */
uint64_t needle_scan_safe(const struct needle_scan *s);

#endif
