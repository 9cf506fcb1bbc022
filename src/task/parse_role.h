/*
 * The parsers of tasks use conf/parse_role.h.
 */
#ifndef CORDON_TASK_PARSE_ROLE_H
#define CORDON_TASK_PARSE_ROLE_H

#include "conf/parse_role.h"

#endif
