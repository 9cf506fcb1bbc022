/*
 * misnamed: what the operator meant to be read, and is not, for its name ends in .yml.
 *
 * Most programs take both endings. Here a ceiling under the other one would bound nothing, without a word: where
 * NAME.yaml is not there and NAME.yml is, that is an error.
 */
#ifndef CORDON_CONF_MISNAMED_H
#define CORDON_CONF_MISNAMED_H

#include "base/error.h"

/* path ends in .yaml, and is not there: 0 where the other name is not there either, else misnamed_fail(). */
int misnamed_refuse(const char *path, struct error *err);

/* Always -1. */
int misnamed_fail(const char *path, struct error *err);

#endif
