/*
 * policy_query: what an effective policy says about one thing. Pure: never looks at the host's files.
 *
 * The same answers serve `cordon why`, `policy test`, the plan and (later) the gateway, so that what is explained is what is enforced.
 */
#ifndef CORDON_POLICY_QUERY_H
#define CORDON_POLICY_QUERY_H

#include "base/buf.h"
#include "model/policy.h"

enum answer { ANSWER_DENY, ANSWER_ALLOW };

struct reason {
	enum answer answer;
	const char *rule; /* the pattern or key that decided, e.g. "filesystem.deny ~/.ssh"; lives in the policy's arena or is static */
	struct origin at;
	char text[256]; /* one sentence for a person */
};

enum fs_access { FS_READ, FS_WRITE };

/* path: absolute, canonical. workdir: absolute, canonical, or NULL. */
void policy_query_path(const struct policy *p, const char *workdir, const char *path, enum fs_access access, struct reason *ret);
void policy_query_exec(const struct policy *p, const char *workdir, const char *path, struct reason *ret);
/* port 0: any of 443 and 80; method and url_path may be NULL. */
void policy_query_host(const struct policy *p, const char *host, uint16_t port, const char *method, const char *url_path, struct reason *ret);
void policy_query_model(const struct policy *p, const char *model, struct reason *ret);

#endif
