/*
 * lru: a bounded map from names to objects; past its maximum the one that was not used for longest goes. Of no use
 * outside tls/.
 */
#ifndef CORDON_TLS_LRU_H
#define CORDON_TLS_LRU_H

#include <stddef.h>

#include "base/sv.h"

struct lru;
typedef void lru_free_fn(void *object);

struct lru *lru_new(size_t max, lru_free_fn *free_object); /* NULL: no memory */
void lru_free(struct lru *lru);				   /* and its objects. NULL is fine */

/* The object of that name, now the last to go; or NULL. */
void *lru_find(struct lru *lru, struct sv name);

/* Takes object, and frees an older one of that name. 0 or -ENOMEM (then object is freed). */
int lru_take(struct lru *lru, struct sv name, void *object);
void lru_remove(struct lru *lru, struct sv name);

#endif
