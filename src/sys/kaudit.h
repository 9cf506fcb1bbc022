/*
 * kaudit: the kernel's own audit stream, as far as Landlock writes to it.
 *
 * The kernel makes records of Landlock's denials from ABI 7 on, where its audit is switched on. Who may read the stream
 * gets everybody's: which are whose is for the caller to find out. Nothing is ever switched on or off here.
 *
 * Records cost the host something: they stand in its own log, too. So a workload must not be able to do harm by making
 * many, and the answer is no where it could: where a lost record is a panic, and where a daemon writes down as many as
 * there are.
 */
#ifndef CORDON_SYS_KAUDIT_H
#define CORDON_SYS_KAUDIT_H

#include <stddef.h>
#include <stdint.h>

enum kaudit_answer {
	KAUDIT_READS,       /* Landlock's records arrive here */
	KAUDIT_NO_RECORDS,  /* Landlock of this kernel makes none */
	KAUDIT_NOT_ALLOWED, /* not for us: it takes CAP_AUDIT_READ, CAP_AUDIT_WRITE and CAP_AUDIT_CONTROL over the host,
			       in its first pid namespace */
	KAUDIT_OFF,         /* the kernel's audit is off */
	KAUDIT_ELSEWHERE,   /* the stream is in the host's first network namespace, and we are in another */
	KAUDIT_PANICS,      /* the host ends where a record is lost (auditctl -f 2) */
	KAUDIT_UNBOUNDED,   /* a daemon writes all records down, and nothing bounds their rate (auditctl -r) */
	KAUDIT_ANSWERS
};

enum kaudit_record { KAUDIT_ACCESS, KAUDIT_DOMAIN };

enum { KAUDIT_TEXT_MAX = 8970 };

/* landlock_abi: as landlock_abi() says. *ret_fd (O_CLOEXEC, O_NONBLOCK), and *ret_lost as kaudit_look() has it, only
 * with KAUDIT_READS. Where audit is off it takes a few microseconds, and none for who has no such capabilities. */
enum kaudit_answer kaudit_open(int landlock_abi, int *ret_fd, uint32_t *ret_lost);

/* Records of anybody's: how many the kernel had no room for since it was started, and how many it has made and not sent
 * yet. 0, or -errno. The kernel makes a thread to answer. */
struct kaudit_queue {
	uint32_t lost, waiting;
};
int kaudit_look(struct kaudit_queue *ret);

/*
 * The next record's text, with a NUL behind it: its length; -EAGAIN: there is none now; -ENOBUFS: some were lost before
 * this one; -EBADMSG: what came was none, and is gone. The kernel sent it, and nobody else; but words in it are what
 * programs named their files and themselves.
 */
int kaudit_receive(int fd, char text[KAUDIT_TEXT_MAX + 1], enum kaudit_record *ret_type);

#endif
