/* Programs and events in the kernel: bpf, perf. */
#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "attack.h"

static int make_map(const struct scene *s, const struct attack *a)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

	return judge(s, syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)), a->name);
}

static int load_program(const struct scene *s, const struct attack *a)
{
	/* r0 = 0; exit */
	const struct bpf_insn code[] = {{.code = 0xb7}, {.code = 0x95}};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uint64_t)(uintptr_t)code,
		.insn_cnt = 2,
		.license = (uint64_t)(uintptr_t) "GPL",
	};

	return judge(s, syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)), a->name);
}

static int open_event(const struct scene *s, const struct attack *a)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long pid = a->num ? fact_num(s, "victim") : 0;

	return judge(s, syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0), a->name);
}

static const struct attack rows[] = {
	{"bpf-map", "cannot make a BPF map", make_map, CONTROL_ROOT},
	{"bpf-program", "cannot load a BPF program", load_program, CONTROL_ROOT},
	{"perf-self", "cannot open a perf event on itself", open_event},
	{"perf-victim", "cannot open a perf event on a host process", open_event, .num = 1},
};
ATTACKS("kernel", rows);
