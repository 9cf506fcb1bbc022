/*
 * shield: a file given as standard input, without what else its owner could do with it.
 *
 * The workload of an ordinary user is that user: through an open file it could change the file's mode, times and attributes, or open it again for writing, although
 * it was given to be read. So it gets the same file opened anew through a read-only mount. The offset is carried over, and back when the command ends, for those
 * who read on behind it.
 *
 * Best effort: a file that was deleted, moved, or that we may not open ourselves is passed on as it is. (As root the workload is another user and owns nothing.)
 */
#ifndef CORDON_NATIVE_SHIELD_H
#define CORDON_NATIVE_SHIELD_H

struct shield {
	int given;  /* as it came; -1: nothing is shielded */
	int opened; /* ours, in its place */
};

/* Before the root is entered, in PID 1's mount namespace. Where the file can be shielded, fd is replaced. */
void shield_input(struct shield *s, int fd);
/* Tells the one who gave it how far it was read. */
void shield_return(const struct shield *s);

#endif
