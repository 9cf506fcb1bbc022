#include "task/build_parts.h"

int build_base_fetch(const struct build_request *req, const char *name, struct error *err)
{
	(void)req;
	(void)name;
	(void)err;
	return 1;
}
