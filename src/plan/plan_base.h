/*
 * plan_base: what every sandbox holds: the base system, its own /proc, /dev, /tmp and home, and a few made files.
 */
#ifndef CORDON_PLAN_BASE_H
#define CORDON_PLAN_BASE_H

#include "plan/plan_draft.h"

int plan_base_add(struct draft *d);

/* Parts of it, for sandboxes with another root: /proc and /dev; what is hidden below a folder; the text of
 * /etc/resolv.conf. */
int plan_base_add_devices(struct draft *d);
int plan_base_add_masks(struct draft *d, const char *below);
const char *plan_base_resolv_conf(const struct draft *d);

#endif
