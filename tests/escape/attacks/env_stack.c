/* Strings left in memory: above the environment on the initial stack, and wherever else the start of the process put
 * them. */
#include <sys/auxv.h>

#include "attack.h"

static bool range_has(int mem, unsigned long from, unsigned long to)
{
	char page[4096 + sizeof(MARKER)];
	/* The executable itself holds the marker it looks for: only the stack is searched, and only above this frame.
	 */
	for (; from < to; from += 4096) {
		ssize_t n = pread(mem, page, sizeof(page), (off_t)from);
		if (n > 0 && has_marker(page, (size_t)n))
			return true;
	}
	return false;
}

static int search_stack(const struct scene *s, const struct attack *a)
{
	unsigned long from = 0, to = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	(void)a;
	while (maps && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			break;
	}
	if (maps)
		(void)fclose(maps);
	if (mem < 0 || to == 0)
		return lost(s, errno, "/proc/self/mem");
	/* AT_RANDOM lies on the initial stack, below the strings of argv and the environment. */
	bool hit = range_has(mem, getauxval(AT_RANDOM), to);
	close(mem);
	return hit ? won("the initial stack has a secret") : refused("the initial stack is clean");
}

static const struct attack rows[] = {
	{"env-stack", "finds no secret on its initial stack", search_stack},
};
ATTACKS("env", rows);
