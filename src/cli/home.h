/*
 * home: is a folder somebody's home?
 *
 * $HOME says whose files a policy means by ~, and need not say whose files are about to be shown: root's programs often
 * have root's, or keep the one of whoever called sudo. A home is the folder that /etc/passwd gives to an account that
 * one can log in to (its shell is none that says no), of those whose files we may read because they are ours: our own,
 * and for root all; and that of who called sudo, wherever accounts are kept. What lies in a home is a project, and no
 * home.
 */
#ifndef CORDON_CLI_HOME_H
#define CORDON_CLI_HOME_H

enum home_of { HOME_NO, HOME_IS, HOME_HOLDS };

/* folder: absolute and canonical. Of $HOME nothing is known here. Reads /etc/passwd, so it is not asked where the
 * answer is clear. */
enum home_of home_of(const char *folder);

#endif
