/*
 * plan_base: what every sandbox holds: the base system, its own /proc, /dev, /tmp and home, and a few made files.
 */
#ifndef CORDON_PLAN_BASE_H
#define CORDON_PLAN_BASE_H

#include "plan/plan_draft.h"

int plan_base_add(struct draft *d);

#endif
