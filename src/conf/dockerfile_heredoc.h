/*
 * dockerfile_heredoc: the heredocs that an instruction's line announces.
 */
#ifndef CORDON_CONF_DOCKERFILE_HEREDOC_H
#define CORDON_CONF_DOCKERFILE_HEREDOC_H

#include "conf/dockerfile.h"

/* In their order; content is not read yet. *ret is NULL where there are none. */
int heredoc_find(struct arena *a, const char *text, struct dockerfile_heredoc **ret, size_t *ret_n, struct error *err);

#endif
