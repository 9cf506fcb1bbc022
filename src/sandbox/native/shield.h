/*
 * shield: a file given as standard input, without what else its owner could do with it.
 *
 * The workload of an ordinary user is that user: through an open file it could change the file's mode, times and
 * attributes, or open it again for writing, although it was given to be read. So it gets the same file opened anew
 * through a read-only mount. The offset is carried over, and back when the command ends, for those who read on behind
 * it.
 *
 * A file of another owner, or one that was deleted (as shells do with here-documents), is passed on as it is: there is
 * nothing to change, or nobody who would see it. (As root the workload is another user and owns nothing.) One that is
 * ours and cannot be shielded is refused.
 */
#ifndef CORDON_NATIVE_SHIELD_H
#define CORDON_NATIVE_SHIELD_H

struct shield {
	int given;  /* as it came; -1: nothing is shielded */
	int opened; /* ours, in its place */
};

/* Before the root is entered, in PID 1's mount namespace. fd is replaced. 0, or -EPERM: it needs a shield and cannot
 * have one. */
int shield_input(struct shield *s, int fd);
/* Tells the one who gave it how far it was read. */
void shield_return(const struct shield *s);

#endif
