/*
 * cover_watch: keeps denied names covered in a container although the host changes the folders that it is shown.
 *
 * A mask is a mount over a file. When somebody on the host replaces that file (an editor that saves by renaming), the
 * mask goes with the old one, and the new one would stand open; so would a denied name that the host makes later. What
 * a container may write to is a copy, in which the host changes nothing: this is about folders that it sees as they
 * are, and cannot write to.
 *
 * A child of the supervisor watches the folders of all masks, and the top of each folder that is shown, and covers a
 * name again as soon as it is replaced or comes back; a child of that one searches all of those folders (plan/scan.h,
 * with its memory), a quarter of a second after the start and then every two seconds, less often where they are so
 * large that it would take more than a fiftieth of the time. Both stay in the host's namespaces: nothing that the
 * workload does is in their way. Sockets and FIFOs that the host makes there, and other names that it gives to denied
 * files, are covered as those that it had.
 *
 * Where a name cannot be covered (the container is another user's, as an ordinary user's of Docker is), or the child
 * ends, the sandbox must end: the supervisor hears of both through a SOCK_SEQPACKET socket, by INSIDE_DENIED for a name
 * that was covered again, INSIDE_FAILED for one that could not be, and its end.
 */
#ifndef CORDON_SANDBOX_COVER_WATCH_H
#define CORDON_SANDBOX_COVER_WATCH_H

#include "base/error.h"
#include "model/plan.h"
#include "sandbox/common/cover_again.h"

struct cover_watch;

/*
 * Notes what stands where masks will be; to be called before the runtime lays them. cache_dir: for scan_memory.h, may
 * be NULL. All are borrowed. *ret is NULL where there is nothing to watch.
 */
int cover_watch_new(const struct plan *plan, const char *cache_dir, struct cover_watch **ret, struct error *err);

/* When the masks are laid. The place is copied, its fds stay the caller's. */
int cover_watch_start(struct cover_watch *w, const struct cover_place *place, struct error *err);

/* For poll() and wire_receive(), until cover_watch_free(). */
int cover_watch_socket(const struct cover_watch *w);

/* Ends the child; the second waits for that too, and is called last. NULL is fine. */
void cover_watch_end(struct cover_watch *w);
void cover_watch_free(struct cover_watch *w);

#endif
