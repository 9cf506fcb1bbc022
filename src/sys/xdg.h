/*
 * xdg: where a user's files of a kind go.
 */
#ifndef CORDON_SYS_XDG_H
#define CORDON_SYS_XDG_H

/* "$variable/rest", or "$HOME/otherwise/rest" where the variable names no absolute path; the caller frees it. 0,
 * -ENOENT: HOME names none either, or -ENOMEM. */
int sys_xdg_path(const char *variable, const char *otherwise, const char *rest, char **ret);

#endif
