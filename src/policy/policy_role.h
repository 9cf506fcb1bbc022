/*
 * policy_role: compiling a policy in a process that may do nothing else.
 *
 * Policy files are hostile input, so whoever parses them holds nothing: policy_role_compile() runs policy_compile() in
 * a child (sys/role.h) that has no file, no network, no variable and no system call but those of memory and its one
 * socket. It asks us for each text by name and answers with the policy's encoding, or with an error. Every message is a
 * type, a length and a body in wire.h's fields; every length, the number of questions and the time are bounded here,
 * not there.
 *
 * What a child that was taken over can do: answer with any policy that decodes, as the author of the files could have
 * written it, save that the operator's ceiling would not hold (policy_load() checks the mandatory protections again);
 * and ask for texts. We decide which: only sources of the request, the ceiling, and files that an `extends` of a text
 * it already has may name. Such a file must be a regular one that says "version" somewhere, as every policy does, so
 * that a key or a password file is not handed out; what it does learn it can send nowhere but into the policy that this
 * user then runs. Of a file that it does not get it learns only that; the reason goes to the person, by way of a mark
 * that we replace.
 *
 * A child that dies, hangs or talks nonsense is ERROR_INPUT: "the policy could not be compiled safely". No state stays
 * behind.
 */
#ifndef CORDON_POLICY_ROLE_H
#define CORDON_POLICY_ROLE_H

#include "base/buf.h"
#include "base/error.h"
#include "policy/policy_compile.h"

enum { POLICY_ROLE_MS = 10000, POLICY_ROLE_MEMORY = 1 << 30 };

/*
 * The policy's encoding goes to *out, whose maximum must be POLICY_CODEC_MAX; after a failure it holds nothing of use.
 * fetch is called in this process, with the arena a.
 */
int policy_role_compile(const struct policy_request *req, const struct policy_fetch *fetch, struct arena *a,
			struct buf *out, struct error *err);

/* As policy_compile(). */
typedef int policy_role_work(const struct policy_request *req, const struct policy_fetch *fetch, struct policy **ret,
			     struct error *err);

/* The same with other work and another time: tests let the child misbehave. */
int policy_role_run(policy_role_work *work, unsigned ms, const struct policy_request *req,
		    const struct policy_fetch *fetch, struct arena *a, struct buf *out, struct error *err);

#endif
