#include "gate/inference/rpc_parts.h"

#include "base/glob.h"

bool rpc_listed(const struct pol_list *l, struct sv name)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (glob_component(sv_of(l->v[i].s), name))
			return true;
	return !l->set && l->n == 0;
}
