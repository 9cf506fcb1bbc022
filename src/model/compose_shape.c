#include "model/compose_shape.h"

#include "base/cleanup.h"

#define SHAPE(type, rows) {.size = sizeof(type), .fields = (rows), .n = ARRAY_LEN(rows)}

enum { MS_MAX = 24 * 3600 * 1000 };
#define BYTES_MAX (UINT64_C(1) << 46)

_Static_assert(offsetof(struct compose_pairs, n) == sizeof(void *) &&
		       offsetof(struct compose, n_services) == sizeof(void *),
	       "lists are a pointer and a number");

static const struct compose_field pair_variable[] = {
	{.name = "name",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_pair, name),
	 .is = compose_is_variable,
	 .needed = true},
	{.name = "value", .kind = FIELD_TEXT, .offset = offsetof(struct compose_pair, value), .is = compose_is_text},
};
static const struct compose_shape variable_shape = SHAPE(struct compose_pair, pair_variable);

static const struct compose_field pair_host[] = {
	{.name = "host",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_pair, name),
	 .is = compose_is_host,
	 .needed = true},
	{.name = "address",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_pair, value),
	 .is = compose_is_loopback,
	 .needed = true},
};
static const struct compose_shape host_shape = SHAPE(struct compose_pair, pair_host);

static const struct compose_field build_fields[] = {
	{.name = "set", .kind = FIELD_FLAG, .offset = offsetof(struct compose_build, set)},
	{.name = "context",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_build, context),
	 .is = compose_is_inside},
	{.name = "dockerfile",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_build, dockerfile),
	 .is = compose_is_inside},
	{.name = "target", .kind = FIELD_TEXT, .offset = offsetof(struct compose_build, target), .is = compose_is_name},
	{.name = "args", .kind = FIELD_LIST, .offset = offsetof(struct compose_build, args), .shape = &variable_shape},
};
static const struct compose_shape build_shape = SHAPE(struct compose_build, build_fields);

static const struct compose_field mount_fields[] = {
	{.name = "kind",
	 .kind = FIELD_NUM,
	 .offset = offsetof(struct compose_mount, kind),
	 .max = COMPOSE_MOUNT_KINDS - 1},
	{.name = "folder",
	 .kind = FIELD_NUM,
	 .offset = offsetof(struct compose_mount, folder),
	 .max = COMPOSE_FOLDERS - 1},
	{.name = "source",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_mount, source),
	 .is = compose_is_inside},
	{.name = "target",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_mount, target),
	 .is = compose_is_target,
	 .needed = true},
	{.name = "read_only", .kind = FIELD_FLAG, .offset = offsetof(struct compose_mount, read_only)},
	{.name = "size", .kind = FIELD_NUM, .offset = offsetof(struct compose_mount, size), .max = BYTES_MAX},
	{.name = "mode", .kind = FIELD_NUM, .offset = offsetof(struct compose_mount, mode), .max = 01777},
	{.name = "line",
	 .kind = FIELD_NUM,
	 .offset = offsetof(struct compose_mount, line),
	 .max = UINT32_MAX,
	 .apart = true},
};
static const struct compose_shape mount_shape = SHAPE(struct compose_mount, mount_fields);

static const struct compose_field need_fields[] = {
	{.name = "service",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_need, service),
	 .is = compose_is_name,
	 .needed = true},
	{.name = "condition",
	 .kind = FIELD_NUM,
	 .offset = offsetof(struct compose_need, condition),
	 .max = COMPOSE_CONDITIONS - 1},
};
static const struct compose_shape need_shape = SHAPE(struct compose_need, need_fields);

static const struct compose_field health_fields[] = {
	{.name = "set", .kind = FIELD_FLAG, .offset = offsetof(struct compose_health, set)},
	{.name = "disabled", .kind = FIELD_FLAG, .offset = offsetof(struct compose_health, disabled)},
	{.name = "shell", .kind = FIELD_FLAG, .offset = offsetof(struct compose_health, shell)},
	{.name = "test", .kind = FIELD_TEXTS, .offset = offsetof(struct compose_health, test)},
	{.name = "interval", .kind = FIELD_NUM, .offset = offsetof(struct compose_health, interval), .max = MS_MAX},
	{.name = "timeout", .kind = FIELD_NUM, .offset = offsetof(struct compose_health, timeout), .max = MS_MAX},
	{.name = "start_period",
	 .kind = FIELD_NUM,
	 .offset = offsetof(struct compose_health, start_period),
	 .max = MS_MAX},
	{.name = "start_interval",
	 .kind = FIELD_NUM,
	 .offset = offsetof(struct compose_health, start_interval),
	 .max = MS_MAX},
	{.name = "retries", .kind = FIELD_NUM, .offset = offsetof(struct compose_health, retries), .max = 10000},
};
static const struct compose_shape health_shape = SHAPE(struct compose_health, health_fields);

static const struct compose_field use_fields[] = {
	{.name = "network",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_network_use, network),
	 .is = compose_is_name,
	 .needed = true},
	{.name = "aliases",
	 .kind = FIELD_TEXTS,
	 .offset = offsetof(struct compose_network_use, aliases),
	 .is = compose_is_host},
};
static const struct compose_shape use_shape = SHAPE(struct compose_network_use, use_fields);

static const struct compose_field limit_fields[] = {
	{.name = "name",
	 .kind = FIELD_TEXT,
	 .offset = offsetof(struct compose_limit, name),
	 .is = compose_is_limit,
	 .needed = true},
	{.name = "soft", .kind = FIELD_NUM, .offset = offsetof(struct compose_limit, soft), .max = BYTES_MAX},
	{.name = "hard", .kind = FIELD_NUM, .offset = offsetof(struct compose_limit, hard), .max = BYTES_MAX},
};
static const struct compose_shape limit_shape = SHAPE(struct compose_limit, limit_fields);

#define SERVICE(member) .name = #member, .offset = offsetof(struct compose_service, member)

static const struct compose_field service_fields[] = {
	{SERVICE(name), .kind = FIELD_TEXT, .is = compose_is_name, .needed = true},
	{SERVICE(line), .kind = FIELD_NUM, .max = UINT32_MAX, .apart = true},
	{SERVICE(image), .kind = FIELD_TEXT, .is = compose_is_image},
	{SERVICE(platform), .kind = FIELD_TEXT, .is = compose_is_platform},
	{SERVICE(build), .kind = FIELD_PART, .shape = &build_shape},
	{SERVICE(entrypoint), .kind = FIELD_TEXTS},
	{SERVICE(command), .kind = FIELD_TEXTS},
	{SERVICE(environment), .kind = FIELD_LIST, .shape = &variable_shape},
	{SERVICE(working_dir), .kind = FIELD_TEXT, .is = compose_is_folder},
	{SERVICE(user), .kind = FIELD_TEXT, .is = compose_is_user},
	{SERVICE(hostname), .kind = FIELD_TEXT, .is = compose_is_host},
	{SERVICE(init), .kind = FIELD_FLAG},
	{SERVICE(read_only), .kind = FIELD_FLAG},
	{SERVICE(stdin_open), .kind = FIELD_FLAG},
	{SERVICE(tty), .kind = FIELD_FLAG},
	{SERVICE(mounts), .kind = FIELD_LIST, .shape = &mount_shape},
	{SERVICE(needs), .kind = FIELD_LIST, .shape = &need_shape},
	{SERVICE(health), .kind = FIELD_PART, .shape = &health_shape},
	{SERVICE(network_mode), .kind = FIELD_NUM, .max = COMPOSE_NET_MODES - 1},
	{SERVICE(network_service), .kind = FIELD_TEXT, .is = compose_is_name},
	{SERVICE(networks), .kind = FIELD_LIST, .shape = &use_shape},
	{SERVICE(hosts), .kind = FIELD_LIST, .shape = &host_shape},
	{SERVICE(ports), .kind = FIELD_TEXTS, .is = compose_is_port},
	{SERVICE(cap_drop), .kind = FIELD_TEXTS, .is = compose_is_capability},
	{SERVICE(memory), .kind = FIELD_NUM, .max = BYTES_MAX},
	{SERVICE(memory_reserved), .kind = FIELD_NUM, .max = BYTES_MAX},
	{SERVICE(cpus), .kind = FIELD_NUM, .max = 4096 * 1000},
	{SERVICE(pids), .kind = FIELD_NUM, .max = 1 << 22},
	{SERVICE(shm_size), .kind = FIELD_NUM, .max = BYTES_MAX},
	{SERVICE(limits), .kind = FIELD_LIST, .shape = &limit_shape},
	{SERVICE(stop_signal), .kind = FIELD_TEXT, .is = compose_is_signal},
	{SERVICE(stop_grace), .kind = FIELD_NUM, .max = MS_MAX},
	{SERVICE(restart), .kind = FIELD_NUM, .max = COMPOSE_RESTARTS - 1},
	{SERVICE(restart_max), .kind = FIELD_NUM, .max = 10000},
};
const struct compose_shape compose_service_shape = SHAPE(struct compose_service, service_fields);

static const struct compose_field compose_fields[] = {
	{.name = "services",
	 .kind = FIELD_LIST,
	 .offset = offsetof(struct compose, services),
	 .shape = &compose_service_shape,
	 .max = COMPOSE_SERVICES_MAX},
	{.name = "main", .kind = FIELD_NUM, .offset = offsetof(struct compose, main), .max = COMPOSE_SERVICES_MAX - 1},
	{.name = "networks", .kind = FIELD_TEXTS, .offset = offsetof(struct compose, networks), .is = compose_is_name},
	{.name = "internal", .kind = FIELD_TEXTS, .offset = offsetof(struct compose, internal), .is = compose_is_name},
	{.name = "volumes", .kind = FIELD_TEXTS, .offset = offsetof(struct compose, volumes), .is = compose_is_name},
};
const struct compose_shape compose_shape = SHAPE(struct compose, compose_fields);

static void fill_field(const struct compose_field *f, char *at)
{
	static const char *none[1];
	struct compose_strings *texts;
	struct compose_items items;
	const char *text;
	uint32_t i;

	switch (f->kind) {
	case FIELD_TEXT:
		text = compose_text_at(at);
		text = text ? text : "";
		memcpy(at, &text, sizeof(text));
		break;
	case FIELD_TEXTS:
		texts = (struct compose_strings *)(void *)at;
		if (texts->n == 0)
			texts->v = none;
		break;
	case FIELD_LIST:
		items = compose_items(at);
		for (i = 0; i < items.n; i++)
			compose_fill(f->shape, items.v + i * f->shape->size);
		break;
	case FIELD_PART:
		compose_fill(f->shape, at);
		break;
	case FIELD_NUM:
	case FIELD_FLAG:
		break;
	}
}

void compose_fill(const struct compose_shape *shape, void *to)
{
	size_t i;

	for (i = 0; i < shape->n; i++)
		fill_field(&shape->fields[i], (char *)to + shape->fields[i].offset);
}
