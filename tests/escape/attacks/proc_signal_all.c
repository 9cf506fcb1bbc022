/* kill(-1): everybody whom the caller may signal, itself and PID 1 apart. Signal 0 only asks whether there is anybody.
 */
#include <signal.h>

#include "attack.h"

static int signal_all(const struct scene *s, const struct attack *a)
{
	pid_t parent = getppid();

	/* The harness waits for this attack in a process of its own: it must not count. */
	if (!s->control) {
		long others = 0;
		for (pid_t pid = 2; pid < 4096; pid++)
			others += pid != getpid() && pid != parent && kill(pid, 0) == 0;
		return others > 0 ? won("%ld other processes can be signalled", others)
				  : refused("nobody else is there");
	}
	return judge(s, kill(-1, 0), a->name);
}

static const struct attack rows[] = {
	{"signal-all", "cannot reach any process but its own with kill(-1)", signal_all},
};
ATTACKS("process", rows);
