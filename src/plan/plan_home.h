/*
 * plan_home: links and hard links in places of the host that are not shown, by which a name that is denied or
 * protected there leads to what is.
 *
 * A home's settings are often kept in a folder of their own (dotfiles), and the home has links to it: ~/.bashrc,
 * ~/.config, Cordon's own settings. Whoever works in that folder changes what they lead to. So where such a link leads
 * is denied or protected as the link's own name is. Looked at are the links in the home, in the folders of it that
 * programs start from, and in Cordon's own folders; links on the way to these are plan_follow.h's.
 *
 * A file of such a folder, or of one in it that is protected as a whole, can have another name in what is shown (hard
 * link): where it has more than one, it is noted, to be looked for there (plan_linked.h). Nearly no file has, and only
 * names that a
 * pattern may mean are looked at.
 */
#ifndef CORDON_PLAN_HOME_H
#define CORDON_PLAN_HOME_H

#include "plan/plan_draft.h"

/* Adds guards, and notes files. 0 or -1. Before the first search. */
int plan_home_look(struct draft *d);

#endif
