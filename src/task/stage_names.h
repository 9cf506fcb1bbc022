/*
 * stage_names: what a name or a link may say, and where links lead. Nothing here is remembered.
 */
#ifndef CORDON_TASK_STAGE_NAMES_H
#define CORDON_TASK_STAGE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sv.h"

/* It is shown as it is: UTF-8 without control, invisible or direction-changing characters. */
bool stage_name_plain(struct sv name);

enum stage_link { LINK_STAYS, LINK_LEAVES, LINK_CIRCLE, LINK_TOO_LONG };

/* For all links of a folder together: a link through 40 others of a thousand names each takes 40,000 looks, and there
 * may be as many such links as files. This is a second or two of it, and some thirty names for each of 50,000 links. */
enum { STAGE_LINK_WORK = 1 << 25 };

/* Where a link at `path` (relative to the top, canonical) with this text leads, read as text only: folders on the way
 * that are links themselves are not known. *work is counted down by what it takes; LINK_TOO_LONG: that was not enough.
 */
enum stage_link stage_link_text(struct sv path, struct sv target, uint64_t *work);

/* The same, name by name in the folder root, which nobody changes meanwhile. Names that are missing count as folders.
 */
enum stage_link stage_link_follow(int root, struct sv path, struct sv target, uint64_t *work);

#endif
