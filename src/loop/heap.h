/*
 * heap: the loop's timers, ordered by key. A pairing heap whose links are in the timers, so that nothing is allocated
 * and nothing fails: adding costs one comparison, removing O(log n) over time. Of no use outside loop/.
 */
#ifndef CORDON_LOOP_HEAP_H
#define CORDON_LOOP_HEAP_H

#include "loop/loop.h"

/* *root is the timer with the smallest key, or NULL. */
void heap_add(struct loop_timer **root, struct loop_timer *timer);
void heap_remove(struct loop_timer **root, struct loop_timer *timer);

#endif
