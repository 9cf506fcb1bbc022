/* The tables of a service's keys: what is honoured, and what is refused and why. */
#include "base/cleanup.h"
#include "task/compose_read.h"

#define HOST_NAMESPACE "shares a namespace of the host or of others; a service has its own"
#define ON_HOST "names a file or a value of the host; a task has none there"
#define NO_POWER "gives the service more power over the host than a task may have"
#define NO_DEVICE "gives the service a device of the host; a task has none"
#define NOT_HONOURED "cannot be honoured on every runtime"
#define NOT_PASSED_ON "not passed on: nothing inside can see it"

#define AT(member) .offset = offsetof(struct compose_service, member)

static const struct compose_want_text image = {compose_is_image, "the name of an image"};
static const struct compose_want_text platform = {compose_is_platform, "a platform such as linux/amd64"};
static const struct compose_want_text folder = {compose_is_folder, "an absolute path in its shortest form"};
static const struct compose_want_text user = {compose_is_user, "a user, or user:group"};
static const struct compose_want_text host = {compose_is_host, "a host name"};
static const struct compose_want_text signal_name = {compose_is_signal, "a signal"};
static const struct compose_want_text stage = {compose_is_name, "the name of a stage"};

static const struct compose_want_number memory = {UINT64_C(4) << 20, UINT64_C(4) << 40, "between 4m and 4096g"};
static const struct compose_want_number shm = {UINT64_C(4) << 10, UINT64_C(64) << 30, "between 4k and 64g"};
static const struct compose_want_number cpus = {1, 4096 * 1000, "between 0.001 and 4096"};
static const struct compose_want_number pids = {2, 1 << 22, "between 2 and 4194304"};
static const struct compose_want_number grace = {0, 3600 * 1000, "at most an hour"};
static const struct compose_want_number health_time = {1, 24 * 3600 * 1000, "between 1ms and a day"};
static const struct compose_want_number health_period = {0, 24 * 3600 * 1000, "at most a day"};
static const struct compose_want_number health_retries = {1, 10000, "between 1 and 10000"};

static const char *const one[] = {"1", NULL};
static const char *const private_word[] = {"private", NULL};
static const char *const pull_words[] = {"build",  "missing", "if_not_present", "never",
					 "always", "daily",   "weekly",         NULL};

static void read_context(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	const char *text = compose_scalar(r, n), *why = NULL;
	const char *path = text ? compose_inside(r->arena, text, &why) : NULL;

	(void)arg;
	if (path)
		*(const char **)to = path;
	else if (text)
		compose_refuse(r, n, "%s", why);
}

static const struct compose_row build_rows[] = {
	{"context", read_context, offsetof(struct compose_build, context), NULL, NULL},
	{"dockerfile", read_context, offsetof(struct compose_build, dockerfile), NULL, NULL},
	{"args", compose_read_variables, offsetof(struct compose_build, args), NULL, NULL},
	{"target", compose_read_text, offsetof(struct compose_build, target), &stage, NULL},
	{"labels", compose_read_pass, 0, NULL, NOT_PASSED_ON},
	{"pull", compose_read_pass, 0, NULL, "images come from Cordon's store or the operator's engine"},
	{"no_cache", compose_read_pass, 0, NULL, "what was built of the same files is used again"},
	{"additional_contexts", NULL, 0, NULL,
	 "brings further folders or images into the build; COPY them from the context"},
	{"cache_from", NULL, 0, NULL, "takes layers from elsewhere"},
	{"cache_to", NULL, 0, NULL, "sends layers elsewhere"},
	{"dockerfile_inline", NULL, 0, NULL, "a Dockerfile inside this file; write it as a file of its own"},
	{"entitlements", NULL, 0, NULL, NO_POWER},
	{"extra_hosts", NULL, 0, NULL, "names addresses for the build; the build's network is the operator's"},
	{"isolation", NULL, 0, NULL, NOT_HONOURED},
	{"network", NULL, 0, NULL, "chooses the build's network, which is the operator's"},
	{"platforms", NULL, 0, NULL, NOT_HONOURED},
	{"privileged", NULL, 0, NULL, NO_POWER},
	{"provenance", NULL, 0, NULL, NOT_HONOURED},
	{"sbom", NULL, 0, NULL, NOT_HONOURED},
	{"secrets", NULL, 0, NULL, ON_HOST},
	{"shm_size", NULL, 0, NULL, NOT_HONOURED},
	{"ssh", NULL, 0, NULL, "lends the build the operator's SSH keys"},
	{"tags", NULL, 0, NULL, "gives names to images on the host"},
	{"ulimits", NULL, 0, NULL, NOT_HONOURED},
	{0},
};

void compose_read_build(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct compose_build *build = to;

	(void)arg;
	if (compose_is_null(n))
		return;
	*build = (struct compose_build){.set = true, .context = ".", .dockerfile = "Dockerfile", .target = ""};
	if (n->kind == YNODE_SCALAR)
		read_context(r, n, &build->context, NULL);
	else
		compose_keys(r, n, build, build_rows);
}

static void read_test(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct compose_health *health = to;
	const char *text;

	(void)arg;
	if (compose_is_null(n))
		return;
	if (n->kind == YNODE_SCALAR) {
		text = compose_scalar(r, n);
		health->shell = health->test.set = true;
		if (text)
			compose_add_text(r, n, &health->test, text);
		return;
	}
	compose_read_command(r, n, &health->test, NULL);
	text = health->test.n ? health->test.v[0] : "";
	if (strcmp(text, "NONE") == 0 && health->test.n == 1) {
		health->disabled = true;
	} else if (strcmp(text, "CMD") != 0 && strcmp(text, "CMD-SHELL") != 0) {
		compose_refuse(r, n, "a list must begin with CMD, CMD-SHELL or NONE");
		return;
	}
	health->shell = strcmp(text, "CMD-SHELL") == 0;
	health->test.v++; /* the word alone */
	health->test.n--;
	if (!health->disabled && (health->test.n == 0 || (health->shell && health->test.n != 1)))
		compose_refuse(r, n, "%s takes %s", text, health->shell ? "one command" : "a command");
}

#define HEALTH(member) .offset = offsetof(struct compose_health, member)
static const struct compose_row health_rows[] = {
	{"test", read_test, 0, NULL, NULL},
	{"interval", compose_read_time, HEALTH(interval), .arg = &health_time},
	{"timeout", compose_read_time, HEALTH(timeout), .arg = &health_time},
	{"start_period", compose_read_time, HEALTH(start_period), .arg = &health_period},
	{"start_interval", compose_read_time, HEALTH(start_interval), .arg = &health_time},
	{"retries", compose_read_count, HEALTH(retries), .arg = &health_retries},
	{"disable", compose_read_flag, HEALTH(disabled), .arg = NULL},
	{0},
};

void compose_read_health(struct compose_reader *r, const struct ynode *n, void *to, const void *arg)
{
	struct compose_health *health = to;

	(void)arg;
	if (compose_is_null(n))
		return;
	health->set = true;
	compose_keys(r, n, health, health_rows);
	if (health->disabled) {
		health->test = (struct compose_strings){0};
		health->shell = false;
	}
}

static const struct compose_row limit_rows[] = {
	{"cpus", compose_read_cpus, AT(cpus), .arg = &cpus},
	{"memory", compose_read_size, AT(memory), .arg = &memory},
	{"pids", compose_read_count, AT(pids), .arg = &pids},
	{0},
};

static const struct compose_row reservation_rows[] = {
	{"cpus", compose_read_pass, 0, NULL, "a reservation is not enforced; limits are"},
	{"memory", compose_read_size, AT(memory_reserved), .arg = &memory},
	{"devices", NULL, 0, NULL, NO_DEVICE},
	{"generic_resources", NULL, 0, NULL, NO_DEVICE},
	{0},
};

static const struct compose_row resource_rows[] = {
	{"limits", compose_read_keys, 0, limit_rows, NULL},
	{"reservations", compose_read_keys, 0, reservation_rows, NULL},
	{0},
};

static const struct compose_row deploy_rows[] = {
	{"resources", compose_read_keys, 0, resource_rows, NULL},
	{"replicas", compose_read_word, 0, one, NULL},
	{"labels", compose_read_pass, 0, NULL, NOT_PASSED_ON},
	{"endpoint_mode", NULL, 0, NULL, "is for a swarm"},
	{"mode", NULL, 0, NULL, "is for a swarm"},
	{"placement", NULL, 0, NULL, "is for a swarm"},
	{"restart_policy", NULL, 0, NULL, "is for a swarm; write restart"},
	{"rollback_config", NULL, 0, NULL, "is for a swarm"},
	{"update_config", NULL, 0, NULL, "is for a swarm"},
	{0},
};

const struct compose_row compose_service_rows[] = {
	{"image", compose_read_text, AT(image), .arg = &image},
	{"build", compose_read_build, AT(build), .arg = NULL},
	{"platform", compose_read_text, AT(platform), .arg = &platform},
	{"entrypoint", compose_read_command, AT(entrypoint), .arg = NULL},
	{"command", compose_read_command, AT(command), .arg = NULL},
	{"environment", compose_read_variables, AT(environment), .arg = NULL},
	{"working_dir", compose_read_text, AT(working_dir), .arg = &folder},
	{"user", compose_read_text, AT(user), .arg = &user},
	{"hostname", compose_read_text, AT(hostname), .arg = &host},
	{"container_name", compose_read_container_name, 0, NULL, NULL},
	{"init", compose_read_flag, AT(init), .arg = NULL},
	{"read_only", compose_read_flag, AT(read_only), .arg = NULL},
	{"stdin_open", compose_read_flag, AT(stdin_open), .arg = NULL},
	{"tty", compose_read_flag, AT(tty), .arg = NULL},
	{"volumes", compose_read_mounts, AT(mounts), .arg = NULL},
	{"tmpfs", compose_read_tmpfs, AT(mounts), .arg = NULL},
	{"depends_on", compose_read_needs, AT(needs), .arg = NULL},
	{"links", compose_read_links, 0, NULL, NULL},
	{"healthcheck", compose_read_health, AT(health), .arg = NULL},
	{"network_mode", compose_read_network_mode, 0, NULL, NULL},
	{"networks", compose_read_networks, AT(networks), .arg = NULL},
	{"extra_hosts", compose_read_hosts, AT(hosts), .arg = NULL},
	{"ports", compose_read_ports, AT(ports), .arg = NULL},
	{"expose", compose_read_expose, AT(ports), .arg = NULL},
	{"cap_drop", compose_read_cap_drop, AT(cap_drop), .arg = NULL},
	{"security_opt", compose_read_security, 0, NULL, NULL},
	{"mem_limit", compose_read_size, AT(memory), .arg = &memory},
	{"mem_reservation", compose_read_size, AT(memory_reserved), .arg = &memory},
	{"cpus", compose_read_cpus, AT(cpus), .arg = &cpus},
	{"pids_limit", compose_read_count, AT(pids), .arg = &pids},
	{"shm_size", compose_read_size, AT(shm_size), .arg = &shm},
	{"ulimits", compose_read_limits, AT(limits), .arg = NULL},
	{"deploy", compose_read_keys, 0, deploy_rows, NULL},
	{"stop_signal", compose_read_text, AT(stop_signal), .arg = &signal_name},
	{"stop_grace_period", compose_read_time, AT(stop_grace), .arg = &grace},
	{"restart", compose_read_restart, 0, NULL, NULL},
	{"scale", compose_read_word, 0, one, NULL},
	{"ipc", compose_read_word, 0, private_word, NULL},
	{"cgroup", compose_read_word, 0, private_word, NULL},
	{"labels", compose_read_pass, 0, NULL, NOT_PASSED_ON},
	{"annotations", compose_read_pass, 0, NULL, NOT_PASSED_ON},
	{"pull_policy", compose_read_word, 0, pull_words, "images come from Cordon's store or the operator's engine"},

	{"attach", NULL, 0, NULL, NOT_HONOURED},
	{"blkio_config", NULL, 0, NULL, NOT_HONOURED},
	{"cap_add", NULL, 0, NULL, NO_POWER},
	{"cgroup_parent", NULL, 0, NULL, "puts the service into a group of the host's"},
	{"configs", NULL, 0, NULL, ON_HOST},
	{"cpu_count", NULL, 0, NULL, NOT_HONOURED "; write cpus"},
	{"cpu_percent", NULL, 0, NULL, NOT_HONOURED "; write cpus"},
	{"cpu_period", NULL, 0, NULL, NOT_HONOURED "; write cpus"},
	{"cpu_quota", NULL, 0, NULL, NOT_HONOURED "; write cpus"},
	{"cpu_rt_period", NULL, 0, NULL, NO_POWER},
	{"cpu_rt_runtime", NULL, 0, NULL, NO_POWER},
	{"cpu_shares", NULL, 0, NULL, NOT_HONOURED "; write cpus"},
	{"cpuset", NULL, 0, NULL, NOT_HONOURED "; write cpus"},
	{"credential_spec", NULL, 0, NULL, ON_HOST},
	{"develop", NULL, 0, NULL, "watches files of the host"},
	{"device_cgroup_rules", NULL, 0, NULL, NO_DEVICE},
	{"devices", NULL, 0, NULL, NO_DEVICE},
	{"dns", NULL, 0, NULL, "names are answered by Cordon, by the policy"},
	{"dns_opt", NULL, 0, NULL, "names are answered by Cordon, by the policy"},
	{"dns_search", NULL, 0, NULL, "names are answered by Cordon, by the policy"},
	{"domainname", NULL, 0, NULL, NOT_HONOURED "; write hostname"},
	{"env_file", NULL, 0, NULL, "reads variables from a file, which may be the host's .env; write environment"},
	{"extends", NULL, 0, NULL, "takes in another file; write the service out"},
	{"external_links", NULL, 0, NULL, "reaches containers that are not this task's"},
	{"gpus", NULL, 0, NULL, NO_DEVICE},
	{"group_add", NULL, 0, NULL, "gives the service groups, which may be the host's; set them in the image"},
	{"isolation", NULL, 0, NULL, NOT_HONOURED},
	{"label_file", NULL, 0, NULL, ON_HOST},
	{"logging", NULL, 0, NULL, "makes the engine on the host send logs elsewhere; they are Cordon's to keep"},
	{"mac_address", NULL, 0, NULL, NOT_HONOURED},
	{"mem_swappiness", NULL, 0, NULL, NOT_HONOURED},
	{"memswap_limit", NULL, 0, NULL, NOT_HONOURED "; write mem_limit"},
	{"models", NULL, 0, NULL, "starts models on the host"},
	{"oom_kill_disable", compose_read_never, 0, NO_POWER, NULL},
	{"oom_score_adj", NULL, 0, NULL, NO_POWER},
	{"pid", NULL, 0, NULL, HOST_NAMESPACE},
	{"post_start", NULL, 0, NULL, "a hook; write it into the service's command"},
	{"pre_stop", NULL, 0, NULL, "a hook; write it into the service's command"},
	{"privileged", compose_read_never, 0, NO_POWER, NULL},
	{"profiles", NULL, 0, NULL, "leaves the service out unless somebody asks for it; all services of a task start"},
	{"provider", NULL, 0, NULL, "runs a program on the host"},
	{"runtime", NULL, 0, NULL, "chooses the runtime, which is the operator's"},
	{"secrets", NULL, 0, NULL, ON_HOST},
	{"storage_opt", NULL, 0, NULL, NOT_HONOURED},
	{"sysctls", NULL, 0, NULL, "changes settings of the kernel"},
	{"use_api_socket", compose_read_never, 0, "hands the engine's socket to the service", NULL},
	{"userns_mode", NULL, 0, NULL, HOST_NAMESPACE},
	{"uts", NULL, 0, NULL, HOST_NAMESPACE},
	{"volume_driver", NULL, 0, NULL, "a driver works on the host"},
	{"volumes_from", NULL, 0, NULL, "takes the folders of other containers; name the volume in both services"},
	{0},
};
