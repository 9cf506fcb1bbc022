#include "policy/policy_fields.h"

#include "policy/policy_merge.h"
#include "policy/runtime_choice.h"

#define AT(member) offsetof(struct policy, member)
#define MB         (UINT64_C(1) << 20)
#define GB         (UINT64_C(1) << 30)
#define ANY        UINT64_MAX

#define NUM(name, member, ceiling, value, max)                                                                         \
	{                                                                                                              \
		name, AT(member), FIELD_NUM, ceiling, false, true, value, max                                          \
	}
#define NUM_UNSET(name, member, ceiling)                                                                               \
	{                                                                                                              \
		name, AT(member), FIELD_NUM, ceiling, false, false, 0, ANY                                             \
	}
#define LIST(name, member, ceiling, paths)                                                                             \
	{                                                                                                              \
		name, AT(member), FIELD_LIST, ceiling, paths, false, 0, ANY                                            \
	}
#define PAIRS(name, member, ceiling)                                                                                   \
	{                                                                                                              \
		name, AT(member), FIELD_PAIRS, ceiling, false, false, 0, ANY                                           \
	}
#define RULES(name, member, ceiling)                                                                                   \
	{                                                                                                              \
		name, AT(member), FIELD_RULES, ceiling, false, false, 0, ANY                                           \
	}

/* The order is that of the encoding: a change here is a new version in the magic of policy_codec.c. */
const struct policy_field policy_fields[] = {
	NUM("filesystem.workdir", fs.workdir, CEILING_WORKDIR, WORKDIR_READ_WRITE, WORKDIR_COPY),
	LIST("filesystem.read", fs.read, CEILING_ELSEWHERE, true),
	LIST("filesystem.write", fs.write, CEILING_ELSEWHERE, true),
	LIST("filesystem.deny", fs.deny, CEILING_UNION, true),
	NUM("filesystem.tmp_size", fs.tmp_size, CEILING_MIN, 512 * MB, ANY),
	NUM("network.mode", net.mode, CEILING_MIN, NET_NONE, NET_PUBLIC),
	RULES("network.allow", net.allow, CEILING_ELSEWHERE),
	RULES("network.deny", net.deny, CEILING_UNION),
	NUM("network.dns", net.dns, CEILING_MIN, DNS_POLICY, DNS_POLICY),
	NUM("network.loopback", net.loopback, CEILING_MIN, true, true),
	NUM("network.ask", net.ask, CEILING_MIN, false, true),
	NUM_UNSET("network.max_bytes_out", net.max_bytes_out, CEILING_MIN),
	NUM("process.runtime", process.runtime, CEILING_ELSEWHERE, RUNTIME_AUTO, RUNTIME_DOCKER),
	LIST("process.fallback", process.fallback, CEILING_ELSEWHERE, false),
	PAIRS("process.categories", process.categories, CEILING_WINS),
	LIST("process.allow_exec", process.allow_exec, CEILING_PATTERNS, true),
	LIST("process.deny_exec", process.deny_exec, CEILING_UNION, true),
	NUM("process.user", process.user, CEILING_WINS, 1000, UINT32_MAX - 1),
	NUM("process.max_processes", process.max_processes, CEILING_MIN, 512, INT32_MAX),
	NUM("process.memory", process.memory, CEILING_MIN, 4 * GB, ANY),
	NUM("process.cpus", process.cpus, CEILING_MIN_OR_ALL, 0, ANY),
	NUM("process.timeout", process.timeout, CEILING_MIN_OR_ALL, 0, ANY),
	NUM("process.max_file_size", process.max_file_size, CEILING_MIN, 4 * GB, ANY),
	PAIRS("process.env.set", process.env_set, CEILING_FREE),
	LIST("process.env.pass", process.env_pass, CEILING_COMMON, false),
	PAIRS("check", check, CEILING_STRICTEST),
	{.name = NULL},
};

static int preset_categories(struct policy *p)
{
	struct pol_pairs all = {.set = true};
	size_t i, n;

	for (n = 0; category_names[n]; n++)
		;
	all.v = arena_array(p->arena, n, sizeof(*all.v));
	if (!all.v)
		return -1;
	for (i = 0; i < n; i++)
		if (runtime_of_category(NULL, category_names[i]) != RUNTIME_NATIVE)
			all.v[all.n++] =
				(struct pol_pair){.key = category_names[i],
						  .value = runtime_names[runtime_of_category(NULL, category_names[i])]};
	if (merge_pairs(p->arena, &all, &p->process.categories) < 0)
		return -1;
	p->process.categories = all;
	return 0;
}

int policy_fields_preset(struct policy *p)
{
	const struct policy_field *f;

	for (f = policy_fields; f->name; f++) {
		struct pol_num *num = policy_field_of(p, f);

		if (f->kind == FIELD_NUM && f->preset && !num->set)
			*num = (struct pol_num){.v = f->value, .set = true};
	}
	p->process.fallback.set = true;
	if (preset_categories(p) < 0)
		return -1;
	if (!p->process.allow_exec.set) {
		struct pol_str *all = arena_array(p->arena, 1, sizeof(*all));

		if (!all)
			return -1;
		all->s = "**";
		p->process.allow_exec = (struct pol_list){.v = all, .n = 1, .set = true};
	}
	return 0;
}
