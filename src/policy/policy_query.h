/*
 * policy_query: what an effective policy says about one thing. Pure: never looks at the host's files.
 *
 * The same answers serve `policy test`, `policy diff`, and `cordon why`, which adds what a run on this machine makes of
 * them (cli/why_sandbox.h).
 *
 * Filesystem. The first of these that applies decides:
 *  1. filesystem.deny: no access. (Its mandatory part, origin "built in", does not hold in the sandbox's own places.)
 *  2. Among the work folder and the patterns of filesystem.read and .write the one that matches deepest: it is the
 *     more specific word. At equal depth the wider access holds, so that a policy can widen what it extends (write
 *     over read) and a work folder is what its mode says. A pattern that floats ("**" + "/x") counts only inside the
 *     work folder or a folder that another pattern shows.
 *  3. The base system (model/base_system.h); its hidden rows beat patterns of 2 that match less deep. The user's home
 * is no part of it, be it below /tmp: nothing of it is there but what 2 names.
 *  4. Else it is absent.
 * Writing is then refused for filesystem.protect, but in the sandbox's own places.
 *
 * Network. Deny wins. A rule without ports means 443 and 80, in a deny rule every port. Private and metadata addresses
 * open by a cidr rule only.
 */
#ifndef CORDON_POLICY_QUERY_H
#define CORDON_POLICY_QUERY_H

#include "base/buf.h"
#include "model/policy.h"

enum answer { ANSWER_DENY, ANSWER_ALLOW };

struct reason {
	enum answer answer;
	char rule[192]; /* key and pattern that decided: "filesystem.deny /home/a/.ssh"; "" where no rule spoke */
	struct origin at;
	char text[320]; /* one sentence for a person */
	char hint[320]; /* what to change for the other answer; "" where nothing can */
};

enum fs_access { FS_READ, FS_WRITE };

/* path: absolute, canonical. workdir: absolute, canonical, or NULL. */
void policy_query_path(const struct policy *p, const char *workdir, const char *path, enum fs_access access,
		       struct reason *ret);
void policy_query_exec(const struct policy *p, const char *workdir, const char *path, struct reason *ret);
/* port 0: any of 443 and 80; method and url_path NULL: is there any that passes. A path is judged in the form in which
 * the gateway sends it (http/target.h). */
void policy_query_host(const struct policy *p, const char *host, uint16_t port, const char *method,
		       const char *url_path, struct reason *ret);
/*
 * Denied by its method or path: does it pass all the same, in a connection that nobody looks into? (A rule with only a
 * host: TLS on 443, whatever is spoken on other ports; on 80 HTTP is judged.) Port 0: 443. Only where that is so *ret
 * changes.
 */
void policy_query_unseen(const struct policy *p, const char *host, uint16_t port, struct reason *ret);
/* Is it the host of a provider, which has a door of its own? */
bool policy_query_serves(const struct policy *p, const char *host);

/* network.ask: a person's yes may open the host, where no denial is for it. */
bool policy_query_may_approve(const struct policy *p, const char *host);
void policy_query_model(const struct policy *p, const char *model, struct reason *ret);

/* Does a pattern of filesystem.read or .write show all that is in the folder, names that nobody thought of too? */
bool policy_query_shows_all(const char *pattern, const char *folder);

/* For those who answer: sets answer, rule ("key value", escaped; value may be NULL) and origin. */
void reason_set(struct reason *r, enum answer answer, const char *key, const char *value, struct origin at);
void reason_text(struct reason *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void reason_hint(struct reason *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
