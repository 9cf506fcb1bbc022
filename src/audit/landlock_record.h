/*
 * landlock_record: one line of the kernel's audit about Landlock, taken apart.
 *
 *   audit(1729738800.268:30): domain=195ba459b blockers=fs.make_reg path="/usr/bin" dev="vda2" ino=351
 *   audit(1729738800.268:31): domain=195ba459b status=allocated mode=enforcing pid=300 uid=0 exe="/usr/bin/x" comm="x"
 *   audit(1729738800.268:32): domain=195ba459b status=deallocated denials=3
 *
 * The kernel wrote it, but names of files and programs in it are whatever somebody called them: it puts them in quotes,
 * or in hexadecimal digits where they have a quote, a space, a control character or a byte above 126. So a value ends
 * at the first space, whatever it holds; and of two of the same name the first counts, since what the kernel says
 * itself stands before what it was told. What is not of this form is no record.
 *
 * Pure: nothing is allocated, and views are into the text or the caller's room.
 */
#ifndef CORDON_AUDIT_LANDLOCK_RECORD_H
#define CORDON_AUDIT_LANDLOCK_RECORD_H

#include <stdint.h>

#include "base/sv.h"
#include "model/event.h"

enum { LANDLOCK_TARGET_MAX = 4200, LANDLOCK_NAME_MAX = 16 };

struct landlock_access {
	uint64_t domain;
	struct sv blockers; /* "fs.make_reg,fs.refer": what was asked for and is not granted. In the text. */
	enum event_domain of; /* by the first of them */
	const char *rule;     /* what of a policy decides about it */
	size_t n_target;
	char target[LANDLOCK_TARGET_MAX]; /* the path, the address, or the process that a signal was for; cut where it
					     is longer. No NUL at its end; there may be some in it. */
};

enum landlock_status { LANDLOCK_MADE, LANDLOCK_ENDED };

struct landlock_domain {
	uint64_t domain;
	enum landlock_status status;
	/* made: by whom */
	uint32_t uid; /* the host's number */
	char name[LANDLOCK_NAME_MAX]; /* of the process, at that time */
	/* ended */
	uint64_t denials; /* all there were, recorded or not */
};

/* 0, or -EBADMSG. */
int landlock_access_parse(struct sv text, struct landlock_access *ret);
int landlock_domain_parse(struct sv text, struct landlock_domain *ret);

#endif
