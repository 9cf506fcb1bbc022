#include "policy/policy_image.h"

#include "base/cleanup.h"
#include "policy/policy_load.h"
#include "policy/policy_where.h"

/* Of a file that somebody wrote for this machine: neither built in nor a shipped profile's. */
static bool is_asked(const struct policy *p, struct origin at)
{
	return at.file != 0 && at.file < p->n_files && !policy_shipped(p->files[at.file]);
}

static int refuse(const struct policy *p, struct origin at, const char *key, const char *why, struct error *err)
{
	return error_set(err, ERROR_DENIED, "%.200s: %s: a sandbox with an image cannot enforce it: %s",
			 policy_where(p, at), key, why);
}

int policy_image_refused(const struct policy *p, struct error *err)
{
	static const char hosts[] = "it speaks of this machine's files, and none of them is there; leave it out of the "
				    "policies of such runs";
	const struct {
		const char *key;
		const struct pol_list *list;
	} lists[] = {
		{"filesystem.read", &p->fs.read}, {"filesystem.write", &p->fs.write}, {"filesystem.deny", &p->fs.deny}};
	size_t i;
	uint32_t k;

	for (i = 0; i < ARRAY_LEN(lists); i++)
		for (k = 0; k < lists[i].list->n; k++)
			if (is_asked(p, lists[i].list->v[k].at))
				return refuse(p, lists[i].list->v[k].at, lists[i].key, hosts, err);
	if (p->process.user.set && is_asked(p, p->process.user.at))
		return refuse(
			p, p->process.user.at, "process.user",
			"its user is the one that the image names (USER); leave it out of the policies of such runs",
			err);
	return 0;
}

/* A limit of 0 is none, a size of 0 is no room. */
static uint64_t lesser(uint64_t limit, const struct pol_num *size)
{
	uint64_t room = size->v ? size->v : 1;

	return size->set && (!limit || room < limit) ? room : limit;
}

uint64_t policy_image_storage(const struct policy *p, uint64_t storage)
{
	if (is_asked(p, p->fs.tmp_size.at))
		storage = lesser(storage, &p->fs.tmp_size);
	return lesser(storage, &p->fs.tmp_bound);
}
