#include "sandbox/common/profile.h"

#include <errno.h>

#include "base/cleanup.h"

static const char *const names[] = {
#define ROW(name, what) #name,
#include "sandbox/common/syscalls.h"
#undef ROW
};

#if defined(__x86_64__)
#define ARCHITECTURE "SCMP_ARCH_X86_64"
#elif defined(__aarch64__)
#define ARCHITECTURE "SCMP_ARCH_AARCH64"
#else
#error "seccomp's name of this architecture?"
#endif

void profile_write(struct json *j)
{
	size_t i;

	json_open(j);
	json_kstr(j, "defaultAction", "SCMP_ACT_ERRNO");
	json_kint(j, "defaultErrnoRet", ENOSYS);
	json_key(j, "architectures");
	json_list(j);
	json_str(j, ARCHITECTURE);
	json_end(j);
	json_key(j, "syscalls");
	json_list(j);
	json_open(j);
	json_key(j, "names");
	json_list(j);
	for (i = 0; i < ARRAY_LEN(names); i++)
		json_str(j, names[i]);
	json_end(j);
	json_kstr(j, "action", "SCMP_ACT_ALLOW");
	json_close(j);
	json_end(j);
	json_close(j);
}
