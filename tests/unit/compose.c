/* task/compose.h: what a Compose file may say, and what not. */
#include "check.h"

#include "base/cleanup.h"
#include "compose_input.h"
#include "task/compose_vars.h"

/* The first refusal: at this line, of this key, with these words. */
static bool refuses(const char *text, uint32_t line, const char *key, const char *words)
{
	struct parsed p = parse(text);
	bool found = false;
	uint32_t i;

	for (i = 0; i < p.problems.n && !found; i++)
		found = !p.problems.v[i].warning && p.problems.v[i].line == line &&
			strcmp(p.problems.v[i].key, key) == 0 && strstr(p.problems.v[i].what, words);
	if (!found || p.compose) {
		printf("# not refused as it should be (line %u, %s, \"%s\"):\n", line, key, words);
		for (i = 0; i < p.problems.n; i++)
			printf("#   %s:%u: %s: %s\n", p.problems.v[i].file, p.problems.v[i].line, p.problems.v[i].key,
			       p.problems.v[i].what);
	}
	found = found && !p.compose && p.problems.refused > 0;
	parsed_done(&p);
	return found;
}

static bool accepts(const char *text)
{
	struct parsed p = parse(text);
	bool fine = p.compose != NULL;

	if (!fine)
		printf("# refused: %s\n#   in: %.300s\n", p.err.text, text);
	parsed_done(&p);
	return fine;
}

static bool rejects(const char *text)
{
	struct parsed p = parse(text);
	bool refused = !p.compose && p.problems.refused > 0;

	if (!refused)
		printf("# not refused: %.300s\n", text);
	parsed_done(&p);
	return refused;
}

#define CLIENT "services:\n  client:\n    image: alpine\n"

static const struct {
	const char *key, *yaml, *words;
} refused_keys[] = {
	{"privileged", "privileged: true", "power over the host"},
	{"privileged", "privileged: \"true\"", "power over the host"},
	{"cap_add", "cap_add: [SYS_ADMIN]", "power over the host"},
	{"cap_add", "cap_add: []", "power over the host"},
	{"devices", "devices: [\"/dev/kvm:/dev/kvm\"]", "device"},
	{"device_cgroup_rules", "device_cgroup_rules: [\"c 1:3 mr\"]", "device"},
	{"gpus", "gpus: all", "device"},
	{"pid", "pid: host", "namespace"},
	{"pid", "pid: \"service:client\"", "namespace"},
	{"ipc", "ipc: host", "cannot be had"},
	{"ipc", "ipc: shareable", "cannot be had"},
	{"uts", "uts: host", "namespace"},
	{"userns_mode", "userns_mode: host", "namespace"},
	{"cgroup", "cgroup: host", "cannot be had"},
	{"cgroup_parent", "cgroup_parent: /system.slice", "host"},
	{"network_mode", "network_mode: host", "host"},
	{"network_mode", "network_mode: \"container:portainer\"", "host"},
	{"network_mode", "network_mode: my-vpn", "host"},
	{"network_mode", "network_mode: \"service:nobody\"", "no service"},
	{"network_mode", "network_mode: \"service:client\"", "own name"},
	{"security_opt", "security_opt: [\"seccomp:unconfined\"]", "loosens"},
	{"security_opt", "security_opt: [\"apparmor=unconfined\"]", "loosens"},
	{"security_opt", "security_opt: [\"label:disable\"]", "loosens"},
	{"security_opt", "security_opt: [\"no-new-privileges:false\"]", "loosens"},
	{"security_opt", "security_opt: [\"systempaths=unconfined\"]", "loosens"},
	{"env_file", "env_file: .env", ".env"},
	{"env_file", "env_file: [{path: ./x.env}]", ".env"},
	{"secrets", "secrets: [key]", "host"},
	{"configs", "configs: [c]", "host"},
	{"extends", "extends: {file: other.yaml, service: web}", "another file"},
	{"volumes_from", "volumes_from: [\"container:x\"]", "other containers"},
	{"volume_driver", "volume_driver: nfs", "host"},
	{"sysctls", "sysctls: {kernel.core_pattern: x}", "kernel"},
	{"runtime", "runtime: runc", "operator's"},
	{"credential_spec", "credential_spec: {file: x}", "host"},
	{"post_start", "post_start: [{command: x}]", "hook"},
	{"pre_stop", "pre_stop: [{command: x}]", "hook"},
	{"develop", "develop: {watch: []}", "host"},
	{"provider", "provider: {type: awesome}", "program on the host"},
	{"models", "models: [m]", "host"},
	{"label_file", "label_file: ./l", "host"},
	{"logging", "logging: {driver: syslog, options: {syslog-address: \"tcp://1.2.3.4:5\"}}", "logs"},
	{"external_links", "external_links: [redis]", "not this task's"},
	{"use_api_socket", "use_api_socket: true", "socket"},
	{"oom_kill_disable", "oom_kill_disable: true", "power"},
	{"oom_score_adj", "oom_score_adj: -1000", "power"},
	{"group_add", "group_add: [docker]", "groups"},
	{"dns", "dns: 8.8.8.8", "Cordon"},
	{"dns_search", "dns_search: corp.example", "Cordon"},
	{"cpuset", "cpuset: \"0\"", "cpus"},
	{"cpu_rt_runtime", "cpu_rt_runtime: 400ms", "power"},
	{"blkio_config", "blkio_config: {weight: 10}", "honoured"},
	{"storage_opt", "storage_opt: {size: 1G}", "honoured"},
	{"isolation", "isolation: hyperv", "honoured"},
	{"mac_address", "mac_address: 02:42:ac:11:65:43", "honoured"},
	{"profiles", "profiles: [debug]", "all services"},
	{"scale", "scale: 2", "cannot be had"},
	{"shm_size", "shm_size: 900g", "between"},
	{"pids_limit", "pids_limit: -1", "not a number"},
	{"mem_limit", "mem_limit: 1", "between"},
	{"memswap_limit", "memswap_limit: -1", "mem_limit"},
	{"user", "user: \"0;id\"", "not a user"},
	{"image", "image: \"../x\"", "not the name"},
	{"image", "image: -v", "not the name"},
	{"image", "image: \"a b\"", "not the name"},
	{"hostname", "hostname: \"a b\"", "not a host"},
	{"stop_signal", "stop_signal: SIGBOOM", "not a signal"},
	{"platform", "platform: windows/amd64", "not a platform"},
	{"working_dir", "working_dir: app", "absolute"},
	{"restart", "restart: sometimes", "not no"},
	{"pull_policy", "pull_policy: evil", "cannot be had"},
	{"read_only", "read_only: yes", "neither true nor false"},
	{"imagee", "imagee: x", "did you mean \"image\""},
	{"Privileged", "Privileged: true", "unknown key"},
	{"privileg\\xc4\\x97d", "privilegėd: true", "unknown key"},
	{"pr\\xd1\\x96vileged", "prіvileged: true", "unknown key"},
	{"1", "1: x", "unknown key"},
};

static void every_key_that_reaches_the_host_is_refused_with_its_line(void)
{
	char text[1024], key[256];
	size_t i;

	for (i = 0; i < ARRAY_LEN(refused_keys); i++) {
		/* image has its own line in what follows */
		(void)snprintf(text, sizeof(text), "services:\n  client:\n    build: .\n\n    %s\n",
			       refused_keys[i].yaml);
		(void)snprintf(key, sizeof(key), "services.client.%s", refused_keys[i].key);
		if (strcmp(refused_keys[i].key, "privileg\\xc4\\x97d") == 0 ||
		    strcmp(refused_keys[i].key, "pr\\xd1\\x96vileged") == 0) {
			struct parsed p = parse(text);

			CHECK(!p.compose && p.problems.n == 1 && strstr(p.problems.v[0].what, "unknown key"));
			parsed_done(&p);
			continue;
		}
		CHECK(refuses(text, 5, key, refused_keys[i].words));
	}
}

static void keys_of_builds_that_reach_further_are_refused(void)
{
	static const char *const keys[] = {"additional_contexts: {x: /etc}",
					   "cache_from: [x]",
					   "cache_to: [x]",
					   "dockerfile_inline: FROM x",
					   "entitlements: [network.host]",
					   "extra_hosts: [\"a:1.2.3.4\"]",
					   "isolation: x",
					   "network: host",
					   "platforms: [linux/amd64]",
					   "privileged: true",
					   "secrets: [x]",
					   "ssh: [default]",
					   "tags: [a]",
					   "ulimits: {nofile: 1}",
					   "shm_size: 1g",
					   "unknown: 1"};
	static const char *const contexts[] = {"..",
					       "./..",
					       "a/../..",
					       "/",
					       "/etc",
					       "'~'",
					       "~root/x",
					       "https://github.com/x/y.git",
					       "git@github.com:x/y",
					       "C:\\x",
					       "c:/x",
					       "\\\\host\\share",
					       "\"\"",
					       "${UP}",
					       "${ETC}",
					       "./../x",
					       "x/..",
					       "docker-image://alpine",
					       "/.cordon/verifier",
					       "/.cordon/tasks"};
	char text[512], key[64];
	size_t i;

	for (i = 0; i < ARRAY_LEN(keys); i++) {
		(void)snprintf(text, sizeof(text), "services:\n  client:\n    build:\n      context: .\n      %s\n",
			       keys[i]);
		(void)snprintf(key, sizeof(key), "services.client.build.%.*s", (int)strcspn(keys[i], ":"), keys[i]);
		CHECK(refuses(text, 5, key, ""));
	}
	for (i = 0; i < ARRAY_LEN(contexts); i++) {
		(void)snprintf(text, sizeof(text), "services:\n  client:\n    build: %s\n", contexts[i]);
		CHECK(refuses(text, 3, "services.client.build", ""));
		(void)snprintf(text, sizeof(text),
			       "services:\n  client:\n    build:\n      context: .\n      dockerfile: %s\n",
			       contexts[i]);
		CHECK(refuses(text, 5, "services.client.build.dockerfile", ""));
	}
}

static void binds_of_the_host_are_refused_in_every_form(void)
{
	static const char *const sources[] = {"/",
					      "/etc",
					      "/var/run/docker.sock",
					      "..",
					      "../",
					      "./..",
					      "./../",
					      "./a/../../b",
					      "a/../..",
					      "~",
					      "~/",
					      "~/.ssh",
					      "~root",
					      "${UP}",
					      "${ETC}",
					      "${NOPE:-/etc}",
					      "${NOPE:-..}",
					      "${EMPTY:-/root}",
					      "//etc",
					      "/.cordon",
					      "/.cordon/",
					      "/.cordon/task/..",
					      "/.cordon/task/../../etc",
					      "/.cordon/agent/..",
					      "/.cordon/agent/link",
					      "${T_BENCH_TASK_LOGS_PATH}/link",
					      "/.cordon/agent/../../x",
					      "/.cordon/agentx",
					      "/./etc",
					      "\\\\.\\pipe\\docker_engine",
					      "/proc/self/root"};
	static const char *const windows[] = {"C:\\Users:/x", "c:/Users:/x", "C:\\:/x:ro"};
	char text[512];
	size_t i;

	for (i = 0; i < ARRAY_LEN(sources); i++) {
		(void)snprintf(text, sizeof(text), CLIENT "    volumes:\n      - './ok:/ok'\n      - '%s:/data'\n",
			       sources[i]);
		CHECK(refuses(text, 6, "services.client.volumes[1]", ""));
		(void)snprintf(text, sizeof(text),
			       CLIENT "    volumes:\n      - type: bind\n        source: '%s'\n        target: /data\n",
			       sources[i]);
		CHECK(refuses(text, 5, "services.client.volumes[0]", ""));
	}
	for (i = 0; i < ARRAY_LEN(windows); i++) {
		(void)snprintf(text, sizeof(text), CLIENT "    volumes: ['%s']\n", windows[i]);
		CHECK(refuses(text, 4, "services.client.volumes[0]", ""));
	}
}

static void places_and_modes_of_mounts_are_checked(void)
{
	static const char *const bad[] = {"./a:/",
					  "./a:/..",
					  "./a:b",
					  "./a:/proc",
					  "./a:/proc/sys",
					  "./a:/sys/fs",
					  "./a:/dev",
					  "./a:/dev/mem",
					  "./a:/run/cordon",
					  "./a:/run/cordon/door",
					  "./a:/etc/hosts",
					  "./a:/x/../y",
					  "./a:/x:rshared",
					  "./a:/x:ro,shared",
					  "./a:/x:ro:rw",
					  ":/x",
					  "./a:",
					  "x",
					  "nosuch:/x",
					  "./a:/x:nocopy",
					  "a/b:/x"};
	static const char *const types[] = {"npipe", "cluster", "image", "", "BIND"};
	char text[512];
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		(void)snprintf(text, sizeof(text), CLIENT "    volumes: ['%s']\n", bad[i]);
		CHECK(refuses(text, 4, "services.client.volumes[0]", ""));
	}
	for (i = 0; i < ARRAY_LEN(types); i++) {
		(void)snprintf(text, sizeof(text),
			       CLIENT "    volumes:\n      - {type: '%s', source: ./a, target: /x}\n", types[i]);
		CHECK(rejects(text));
	}
	CHECK(refuses(CLIENT "    volumes: ['./a:/x', './b:/x/']\n", 4, "services.client.volumes[1]", "twice"));
	CHECK(refuses(CLIENT "    volumes: ['./a:/x']\n    tmpfs: /x\n", 5, "services.client.tmpfs", "twice"));
	CHECK(refuses(CLIENT
		      "    volumes:\n      - {type: bind, source: ./a, target: /x, bind: {propagation: rshared}}\n",
		      5, "services.client.volumes[0].bind.propagation", "rprivate"));
	CHECK(refuses(CLIENT "    volumes:\n      - {type: volume, source: v, target: /x, volume: {subpath: "
			     "../y}}\nvolumes: {v: }\n",
		      5, "services.client.volumes[0].volume.subpath", ""));
	CHECK(refuses(CLIENT "    tmpfs: '/x:size=9999g'\n", 4, "services.client.tmpfs", ""));
	CHECK(refuses(CLIENT "    tmpfs: '/x:uid=0'\n", 4, "services.client.tmpfs", "option"));
}

static void volumes_and_networks_of_the_host_are_refused(void)
{
	CHECK(refuses(CLIENT "volumes:\n  v:\n    driver_opts: {type: none, o: bind, device: /}\n", 6,
		      "volumes.v.driver_opts", "mount"));
	CHECK(refuses(CLIENT "volumes:\n  v:\n    driver: nfs\n", 6, "volumes.v.driver", ""));
	CHECK(refuses(CLIENT "volumes:\n  v:\n    external: true\n", 6, "volumes.v.external", "not this task's"));
	CHECK(refuses(CLIENT "volumes:\n  v:\n    external: {name: x}\n", 6, "volumes.v.external", ""));
	CHECK(refuses(CLIENT "networks:\n  n:\n    external: true\n", 6, "networks.n.external", "not this task's"));
	CHECK(refuses(CLIENT "networks:\n  n:\n    driver: host\n", 6, "networks.n.driver", ""));
	CHECK(refuses(CLIENT "networks:\n  n:\n    driver: macvlan\n", 6, "networks.n.driver", ""));
	CHECK(refuses(CLIENT "networks:\n  n:\n    driver_opts: {parent: eth0}\n", 6, "networks.n.driver_opts", ""));
	CHECK(refuses(CLIENT "networks:\n  n:\n    attachable: true\n", 6, "networks.n.attachable", ""));
	CHECK(refuses(CLIENT "networks:\n  n:\n    ipam: {}\n", 6, "networks.n.ipam", ""));
	CHECK(refuses(CLIENT "    networks: [bridge]\n", 4, "services.client.networks[0]", "no network"));
	CHECK(refuses(CLIENT "    networks: {default: {ipv4_address: 172.17.0.1}}\n", 4,
		      "services.client.networks.default.ipv4_address", ""));
	CHECK(refuses(CLIENT "secrets: {s: {environment: AWS_SECRET}}\n", 4, "secrets", "host"));
	CHECK(refuses(CLIENT "configs: {c: {file: /etc/shadow}}\n", 4, "configs", "host"));
	CHECK(refuses(CLIENT "include: [other.yaml]\n", 4, "include", "another file"));
	CHECK(refuses(CLIENT "models: {m: {model: x}}\n", 4, "models", "host"));
	CHECK(refuses(CLIENT "service: {}\n", 4, "service", "did you mean \"services\""));
	CHECK(accepts(CLIENT "volumes: {v: {external: false, driver: local}}\nnetworks: {n: {external: false, driver: "
			     "bridge, internal: true}}\n"));
}

static void names_lead_to_loopback_only(void)
{
	static const char *const bad[] = {"a:host-gateway",     "a:1.2.3.4",  "a=169.254.169.254", "a:10.0.0.1",
					  "a:[::ffff:1.2.3.4]", "a:::",       "a:0.0.0.0",         "a:127.1",
					  "a:0x7f000001",       "a",          "a b:127.0.0.1",     "a:2130706433",
					  "a:fe80::1",          "a:localhost"};
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		(void)snprintf(text, sizeof(text), CLIENT "    extra_hosts:\n      - '%s'\n", bad[i]);
		CHECK(refuses(text, 5, "services.client.extra_hosts", ""));
	}
	CHECK(refuses(CLIENT "    extra_hosts:\n      host.docker.internal: host-gateway\n", 5,
		      "services.client.extra_hosts.host.docker.internal", "leads out"));
	CHECK(accepts(CLIENT "    extra_hosts: ['a:127.0.0.1', 'b=127.0.0.2', 'c:::1', 'd:[::1]']\n"));
}

static void ports_on_addresses_of_the_host_are_refused(void)
{
	static const char *const bad[] = {"0.0.0.0:80:80", "192.168.1.1:80:80", "[::]:80:80", ":::80:80",
					  "0.0.0.0::80",   "::80:80",           "8000:99999", "0",
					  "80/sctp",       "80-9000",           "x",          "80:",
					  ":80",           "eth0:80:80"};
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		(void)snprintf(text, sizeof(text), CLIENT "    ports:\n      - '%s'\n", bad[i]);
		CHECK(refuses(text, 5, "services.client.ports[0]", ""));
	}
	CHECK(refuses(CLIENT "    ports:\n      - {target: 80, published: 80, host_ip: 0.0.0.0}\n", 5,
		      "services.client.ports[0]", "publishes"));
	CHECK(accepts(CLIENT
		      "    ports: [80, '81', '8082:82', '127.0.0.1:8083:83/udp', '127.0.0.1::84', '[::1]:85:85', "
		      "'9000-9001:90-91', {target: 95, published: '8095'}]\n    expose: ['96', 97/udp]\n"));
}

static void tricks_of_yaml_do_not_pass(void)
{
	CHECK(rejects(CLIENT "    image: busybox\n"));
	CHECK(rejects("services: {client: {image: a}}\nservices: {client: {image: b}}\n"));
	CHECK(rejects("services: {client: {image: a, \"image\": b}}\n"));
	CHECK(rejects(CLIENT "    privileged: !reset true\n"));
	CHECK(rejects(CLIENT "    volumes: !override ['./a:/a']\n"));
	CHECK(rejects(CLIENT "    privileged: !!bool true\n"));
	CHECK(rejects("x-a: &a {privileged: true}\n" CLIENT "    <<: *a\n"));
	CHECK(rejects("x-a: &a {image: x}\nservices: {client: *a}\n"));
	CHECK(rejects(CLIENT "---\nservices: {client: {image: x, privileged: true}}\n"));
	CHECK(rejects("%YAML 1.1\n---\n" CLIENT));
	CHECK(rejects("? [a]\n: b\n" CLIENT));
	CHECK(rejects(CLIENT "    command: \"a\\0b\"\n"));
	CHECK(rejects(CLIENT "    command: \"a\\x1b[2Jb\"\n"));
	CHECK(rejects("services: [client]\n"));
	CHECK(rejects("services: {client: [a]}\n"));
	CHECK(rejects("services: x\n"));
	CHECK(rejects("- services\n"));
	CHECK(rejects("services: {}\n"));
	CHECK(rejects("services: {client: {}}\n"));
	CHECK(rejects("services: {client: }\n"));
	CHECK(rejects(""));
	CHECK(rejects("services: {\"client\\nx\": {image: a}}\n"));
	CHECK(rejects("services: {client: {image: a}, \"cordon-net\": {image: a}}\n"));
	/* quoted keys are the same keys */
	CHECK(refuses("\"services\":\n  'client':\n    image: a\n    \"privileged\": true\n", 4,
		      "services.client.privileged", "power"));
	CHECK(refuses("\"services\":\n  'client':\n    image: a\n    \"\\x70rivileged\": true\n", 4,
		      "services.client.privileged", "power"));
}

static void text_of_the_file_is_escaped_in_messages(void)
{
	struct parsed p =
		parse("services:\n  client:\n    image: a\n    \"k\xe2\x80\xae\": x\n    user: \"\xe2\x80\xaey\"\n");
	uint32_t i;

	CHECK(!p.compose && p.problems.n == 2);
	for (i = 0; i < p.problems.n; i++)
		CHECK(!strstr(p.problems.v[i].what, "\xe2\x80\xae") && !strstr(p.problems.v[i].key, "\xe2\x80\xae"));
	parsed_done(&p);
}

static void all_problems_are_told_at_once(void)
{
	struct parsed p = parse(CLIENT "    privileged: true\n    pid: host\n    volumes: ['/:/host', '/etc:/e']\n    "
				       "ports: ['0.0.0.0:1:1']\nconfigs: {}\n");

	CHECK(!p.compose && p.problems.refused == 6);
	CHECK_STR(p.err.text, "docker-compose.yaml:4: services.client.privileged: gives the service more power over "
			      "the host than a task may have");
	parsed_done(&p);
}

static void lenient_lets_unknown_keys_go_and_nothing_else(void)
{
	struct compose_input in = input_of(CLIENT "    shiny: {a: [b]}\n", false);
	struct parsed p;

	in.lenient = true;
	p = parse_input(&in);
	CHECK(p.compose && p.problems.n == 1 && p.problems.v[0].warning);
	parsed_done(&p);
	in.text = sv_of(CLIENT "    shiny: 1\n    privileged: true\n");
	p = parse_input(&in);
	CHECK(!p.compose && p.problems.refused == 1);
	parsed_done(&p);
}

static const struct {
	const char *text, *want; /* NULL: refused */
} expansions[] = {
	{"plain", "plain"},
	{"$$", "$"},
	{"$$HOME", "$HOME"},
	{"$$$$", "$$"},
	{"${GREETING}", "hello"},
	{"$GREETING", "hello"},
	{"$GREETING.x", "hello.x"},
	{"$GREETINGx", NULL},
	{"${HOME}", NULL},
	{"$HOME", NULL},
	{"${PATH}", NULL},
	{"${COMPOSE_PROJECT_NAME}", "cordon-t1"},
	{"${X:-d}", "d"},
	{"${X-d}", "d"},
	{"${X:-}", ""},
	{"${EMPTY:-d}", "d"},
	{"${EMPTY-d}", ""},
	{"${GREETING:-d}", "hello"},
	{"${X:?no}", NULL},
	{"${X?no}", NULL},
	{"${EMPTY:?no}", NULL},
	{"${EMPTY?no}", ""},
	{"${GREETING:?no}", "hello"},
	{"${X:+a}", ""},
	{"${X+a}", ""},
	{"${EMPTY:+a}", ""},
	{"${EMPTY+a}", "a"},
	{"${GREETING:+a}", "a"},
	{"${X:-${Y:-${GREETING}}}", "hello"},
	{"${X:-a${GREETING}b}c", "ahellobc"},
	{"${X:-$$}", "$"},
	{"${X:-$HOME}", NULL},
	{"${GREETING:-$HOME}", "hello"},
	{"${GREETING:+$HOME}", NULL},
	{"${X:-a:b}", "a:b"},
	{"${X:-{a}}", "{a}"},
	{"${DOLLAR}", "a$b${HOME}"},
	{"${X:-${DOLLAR}}", "a$b${HOME}"},
	{"${", NULL},
	{"${}", NULL},
	{"${X", NULL},
	{"${GREETING", NULL},
	{"${GREETING:}", NULL},
	{"${GREETING:x}", NULL},
	{"${GREETING!x}", NULL},
	{"${1}", NULL},
	{"$1", NULL},
	{"$", NULL},
	{"a$", NULL},
	{"$(id)", NULL},
	{"${X Y}", NULL},
	{"${GREETING }", NULL},
	{"${!GREETING}", NULL},
	{"${CPUS}", "1.500"},
	{"${MEMORY}", "2048M"},
	{"${PREBUILT_IMAGE_NAME}", NULL},
	{"${PREBUILT_IMAGE_NAME:-x}", "x"},
	{"${HOST_VERIFIER_LOGS_PATH}", "/.cordon/verifier"},
	{"${T_BENCH_TASK_LOGS_PATH}", "/.cordon/task-logs"},
	{"${T_BENCH_TEST_DIR}", "/tests"},
	{"${X:-${Y:-${Z:-${A:-${B:-${C:-${D:-${E:-${F:-${G:-${H:-${I:-${J:-${K:-${L:-${M:-${N:-${O:-x}}}}}}}}}}}}}}}}}"
	 "}",
	 NULL},
};

static void variables_are_the_runners_or_declared_and_never_the_hosts(void)
{
	struct compose_input in = input_of("", false);
	struct arena *a = arena_new();
	size_t i;

	CHECK(setenv("X", "from-the-host", 1) == 0);
	for (i = 0; i < ARRAY_LEN(expansions); i++) {
		const char *got = NULL, *wrong = compose_expand(&in, a, sv_of(expansions[i].text), &got);

		if (expansions[i].want ? wrong || strcmp(got, expansions[i].want) != 0 : !wrong) {
			printf("# %s: %s\n", expansions[i].text, wrong ? wrong : got);
			CHECK(false);
		}
	}
	arena_free(a);
	CHECK(refuses(CLIENT "    environment: ['A=${SECRET}']\n", 4, "services.client.environment[0]", "${SECRET}"));
	CHECK(refuses(CLIENT "    environment: [AWS_SECRET_ACCESS_KEY]\n", 4, "services.client.environment[0]",
		      "AWS_SECRET_ACCESS_KEY"));
	CHECK(refuses(CLIENT "    environment: {AWS_KEY: }\n", 4, "services.client.environment.AWS_KEY", "AWS_KEY"));
	CHECK(refuses(CLIENT "    environment: {AWS_KEY: null}\n", 4, "services.client.environment.AWS_KEY",
		      "AWS_KEY"));
	CHECK(refuses("services:\n  client:\n    build:\n      args: [HOME]\n", 4, "services.client.build.args[0]",
		      "HOME"));
	CHECK(accepts(CLIENT "    environment: [GREETING]\n"));
	CHECK(refuses(CLIENT "    environment: ['A=${LINES}']\n", 4, "services.client.environment[0]", "control"));
}

static void a_variable_cannot_grow_without_bound(void)
{
	char *text = malloc(200000);
	struct compose_input in = input_of("", false);
	struct arena *a = arena_new();
	const char *got;
	size_t n = 0;

	while (n < 150000)
		n += (size_t)sprintf(text + n, "${GREETING}");
	CHECK(compose_expand(&in, a, sv_n(text, n), &got) != NULL);
	memset(text, '{', 199999);
	memcpy(text, "${X:-", 5);
	CHECK(compose_expand(&in, a, sv_n(text, 199999), &got) != NULL);
	for (n = 0; n + 5 < 199999; n += 5)
		memcpy(text + n, "${X:-", 5);
	CHECK(compose_expand(&in, a, sv_n(text, n), &got) != NULL);
	free(text);
	arena_free(a);
}

static const char whole[] =
	"version: '3.8'\n"
	"x-anything: {a: [b, '${HOME}']}\n"
	"name: mine\n"
	"services:\n"
	"  client:\n"
	"    build: {context: ./client, dockerfile: Dockerfile.agent, target: run, args: {A: 1, B: '${GREETING}'}}\n"
	"    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}\n"
	"    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}\n"
	"    command: sh -c 'echo \"a b\" && sleep infinity'\n"
	"    entrypoint: []\n"
	"    environment:\n"
	"      - TEST_DIR=${T_BENCH_TEST_DIR}\n"
	"      - A=1\n"
	"      - A=2\n"
	"      - PRICE=$$5\n"
	"    volumes:\n"
	"      - ${T_BENCH_TASK_LOGS_PATH}:${T_BENCH_CONTAINER_LOGS_PATH}\n"
	"      - type: tmpfs\n"
	"        target: /scratch\n"
	"        tmpfs: {size: 64m, mode: 0755}\n"
	"      - ./:/app/\n"
	"      - ./tests:/app/tests:ro\n"
	"      - data:/data\n"
	"      - /anonymous\n"
	"    tmpfs: ['/t:size=1m,mode=1777', /u]\n"
	"    depends_on:\n"
	"      db: {condition: service_healthy}\n"
	"      setup: {condition: service_completed_successfully, required: true}\n"
	"    networks: {back: {aliases: [me]}, default: }\n"
	"    labels: {a: b}\n"
	"    deploy: {resources: {limits: {cpus: '0.5', memory: 4.0G, pids: 100}, reservations: {memory: 1g}}}\n"
	"    stdin_open: true\n"
	"    tty: true\n"
	"    init: true\n"
	"    working_dir: /app\n"
	"    user: 1000:1000\n"
	"    hostname: box\n"
	"    privileged: false\n"
	"    security_opt: [no-new-privileges:true]\n"
	"    cap_drop: [cap_chown, NET_RAW]\n"
	"    restart: on-failure:3\n"
	"    stop_signal: SIGINT\n"
	"    stop_grace_period: 1m30s\n"
	"    ulimits: {nofile: {soft: 1024, hard: 2048}, nproc: 64}\n"
	"    shm_size: 2gb\n"
	"    extra_hosts: ['home.local:127.0.0.1']\n"
	"    ports: ['443', '8080:80']\n"
	"    links: ['db:database']\n"
	"    x-more: 1\n"
	"  db:\n"
	"    image: postgres:16-alpine\n"
	"    healthcheck: {test: 'pg_isready -U \"$$USER\"', interval: 5s, timeout: 500ms, retries: 10, start_period: "
	"1m, start_interval: 1s}\n"
	"    environment: {POSTGRES_PASSWORD: secret, N: 5, F: 1.0, T: true, E: ''}\n"
	"    networks: [back]\n"
	"    expose: [5432]\n"
	"  setup:\n"
	"    image: ghcr.io:443/a/b_c@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
	"    command: [\"true\", \"\", \"a b\", \"$$x\"]\n"
	"    network_mode: none\n"
	"    healthcheck: {disable: true}\n"
	"networks: {back: {driver: bridge, labels: [x]}, unused: }\n"
	"volumes: {data: }\n";

static void what_honest_files_say_is_understood(void)
{
	struct parsed p = parse(whole);
	const struct compose_service *s, *db, *setup;

	CHECK(p.compose);
	if (!p.compose) {
		printf("# %s\n", p.err.text);
		parsed_done(&p);
		return;
	}
	CHECK(p.compose->n_services == 3 && p.compose->main == 0);
	s = &p.compose->services[0];
	db = &p.compose->services[1];
	setup = &p.compose->services[2];
	CHECK_STR(s->build.context, "client");
	CHECK_STR(s->build.dockerfile, "Dockerfile.agent");
	CHECK_STR(s->image, "cordon/task");
	CHECK(s->command.n == 3 && strcmp(s->command.v[2], "echo \"a b\" && sleep infinity") == 0);
	CHECK(s->entrypoint.set && s->entrypoint.n == 0);
	CHECK(s->environment.n == 3 && strcmp(s->environment.v[1].value, "2") == 0 &&
	      strcmp(s->environment.v[2].value, "$5") == 0);
	CHECK(s->mounts.n == 8);
	CHECK(s->mounts.v[0].kind == COMPOSE_MOUNT_RUNNER && s->mounts.v[0].folder == COMPOSE_FOLDER_TASK_LOGS &&
	      strcmp(s->mounts.v[0].source, ".") == 0);
	CHECK(s->mounts.v[1].kind == COMPOSE_MOUNT_TASK && strcmp(s->mounts.v[1].source, ".") == 0 &&
	      strcmp(s->mounts.v[1].target, "/app") == 0);
	CHECK(s->mounts.v[2].read_only && strcmp(s->mounts.v[2].source, "tests") == 0);
	CHECK(s->mounts.v[3].kind == COMPOSE_MOUNT_VOLUME && s->mounts.v[4].kind == COMPOSE_MOUNT_VOLUME &&
	      !s->mounts.v[4].source[0]);
	CHECK(s->mounts.v[5].kind == COMPOSE_MOUNT_TMPFS && s->mounts.v[5].size == 64 << 20 &&
	      s->mounts.v[5].mode == 0755);
	CHECK(s->mounts.v[6].mode == 01777);
	CHECK(s->needs.n == 2 && s->needs.v[0].condition == COMPOSE_HEALTHY &&
	      s->needs.v[1].condition == COMPOSE_COMPLETED);
	CHECK(s->networks.n == 2 && s->networks.v[0].aliases.n == 2 &&
	      strcmp(s->networks.v[0].aliases.v[1], "cordon-t1-client") == 0);
	CHECK(s->cpus == 500 && s->memory == UINT64_C(4) << 30 && s->pids == 100 &&
	      s->memory_reserved == UINT64_C(1) << 30);
	CHECK(s->restart == COMPOSE_RESTART_FAILURE && s->restart_max == 3 && s->stop_grace == 90000 &&
	      s->shm_size == UINT64_C(2) << 30);
	CHECK(s->limits.n == 2 && s->limits.v[0].hard == 2048 && s->limits.v[1].soft == 64);
	CHECK(s->ports.n == 2 && strcmp(s->ports.v[1], "80/tcp") == 0);
	CHECK(s->cap_drop.n == 2 && strcmp(s->cap_drop.v[0], "CHOWN") == 0);
	CHECK(db->health.shell && db->health.test.n == 1 &&
	      strcmp(db->health.test.v[0], "pg_isready -U \"$USER\"") == 0);
	CHECK(db->health.timeout == 500 && db->health.start_period == 60000 && db->health.retries == 10);
	CHECK(db->environment.n == 5 && strcmp(db->environment.v[2].value, "1.0") == 0 &&
	      strcmp(db->environment.v[4].value, "") == 0);
	CHECK(db->networks.v[0].aliases.n == 1 && strcmp(db->networks.v[0].aliases.v[0], "database") == 0);
	CHECK(setup->network_mode == COMPOSE_NET_NONE && setup->health.disabled && setup->command.n == 4 &&
	      strcmp(setup->command.v[3], "$x") == 0);
	CHECK(p.compose->networks.n == 2);
	parsed_done(&p);
}

static void the_agents_service_is_found(void)
{
	struct compose_input in = input_of("services: {side: {image: redis}}\n", true);
	struct parsed p = parse_input(&in);

	CHECK(p.compose && p.compose->n_services == 2 && p.compose->main == 1);
	CHECK(p.compose && p.compose->services[1].build.set && p.compose->services[1].command.n == 3);
	parsed_done(&p);
	in.runner.prebuilt = "ubuntu:24.04";
	p = parse_input(&in);
	CHECK(p.compose && strcmp(p.compose->services[1].image, "ubuntu:24.04") == 0 &&
	      !p.compose->services[1].build.set);
	parsed_done(&p);
	p = parse("services: {a: {image: x}, b: {image: y, container_name: "
		  "'${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}'}}\n");
	CHECK(p.compose && p.compose->main == 1);
	parsed_done(&p);
	CHECK(accepts("services: {only: {image: x}}\n"));
	CHECK(rejects("services: {a: {image: x}, b: {image: y}}\n"));
}

static void needs_are_of_this_file_and_do_not_go_in_circles(void)
{
	CHECK(refuses(CLIENT "    depends_on: [nobody]\n", 4, "services.client.depends_on", "no service"));
	CHECK(refuses(CLIENT "    links: [nobody]\n", 4, "services.client.links", "no service"));
	CHECK(rejects(CLIENT "    depends_on: [client]\n"));
	CHECK(rejects(CLIENT
		      "    depends_on: [b]\n  b: {image: x, depends_on: [c]}\n  c: {image: x, links: [client]}\n"));
	CHECK(rejects(CLIENT "    network_mode: 'service:b'\n  b: {image: x, depends_on: [client]}\n"));
	CHECK(refuses(CLIENT "    depends_on: {b: {condition: maybe}}\n  b: {image: x}\n", 4,
		      "services.client.depends_on.b.condition", "service_healthy"));
	CHECK(refuses(CLIENT "    network_mode: none\n    networks: [default]\n", 2, "services.client", "keep one"));
	CHECK(refuses(CLIENT "    healthcheck: {test: [echo, x]}\n", 4, "services.client.healthcheck.test", "CMD"));
	CHECK(rejects(CLIENT "    healthcheck: {test: [CMD]}\n"));
	CHECK(refuses(CLIENT "    mem_limit: 1g\n    mem_reservation: 2g\n", 2, "services.client", "reserves more"));
	CHECK(rejects(CLIENT "    healthcheck: {test: [CMD-SHELL, a, b]}\n"));
	CHECK(rejects(CLIENT "    healthcheck: {test: []}\n"));
}

static void words_are_split_as_a_shell_would(void)
{
	static const struct {
		const char *text;
		unsigned n;
		const char *last;
	} rows[] = {{"a b  c", 3, "c"},
		    {" 'a b' \"c d\"", 2, "c d"},
		    {"a\\ b", 1, "a b"},
		    {"\"a\\\"b\\n\"", 1, "a\"b\\n"},
		    {"a'b'\"c\"d", 1, "abcd"},
		    {"''", 1, ""},
		    {"", 0, NULL},
		    {"a\nb", 2, "b"},
		    {"$(x) `y`", 2, "`y`"}};
	struct parsed p;
	size_t i;
	char text[256];

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		size_t k, n = (size_t)sprintf(text, CLIENT "    command: |-\n      ");

		for (k = 0; rows[i].text[k]; k++)
			n += (size_t)sprintf(text + n,
					     rows[i].text[k] == '\n'  ? "\n      "
					     : rows[i].text[k] == '$' ? "$$"
								      : "%c",
					     rows[i].text[k]);
		(void)sprintf(text + n, "\n");
		p = parse(text);
		CHECK(p.compose && p.compose->services[0].command.n == rows[i].n);
		if (p.compose && rows[i].last && p.compose->services[0].command.n == rows[i].n)
			CHECK_STR(p.compose->services[0].command.v[rows[i].n - 1], rows[i].last);
		parsed_done(&p);
	}
	CHECK(rejects(CLIENT "    command: \"a 'b\"\n"));
	CHECK(rejects(CLIENT "    command: 'a \\'\n"));
}

static void numbers_are_read_strictly(void)
{
	static const char *const bad[] = {"mem_limit: -1",
					  "mem_limit: 1.5.2g",
					  "mem_limit: 5p",
					  "mem_limit: 99999999999999999999g",
					  "mem_limit: 0x10000000",
					  "mem_limit: 1e9",
					  "cpus: -1",
					  "cpus: 0",
					  "cpus: 1e3",
					  "cpus: .5",
					  "cpus: 0.0001",
					  "cpus: NaN",
					  "pids_limit: 0",
					  "pids_limit: 010",
					  "stop_grace_period: 5",
					  "stop_grace_period: 5x",
					  "stop_grace_period: 99999h",
					  "stop_grace_period: ''",
					  "shm_size: 1 g",
					  "ulimits: {nofile: -1}",
					  "ulimits: {nofile: {soft: 5, hard: 1}}",
					  "ulimits: {rtprio: 99}",
					  "ulimits: {memlock: 99999999999999999999}"};
	static const char *const good[] = {"mem_limit: 1073741824",
					   "mem_limit: 1.5g",
					   "mem_limit: 512M",
					   "mem_limit: 512MiB",
					   "cpus: 0.25",
					   "cpus: '2'",
					   "stop_grace_period: 2m3s4ms",
					   "stop_grace_period: 0s",
					   "shm_size: 64mb"};
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_LEN(bad); i++) {
		(void)snprintf(text, sizeof(text), CLIENT "    %s\n", bad[i]);
		CHECK(rejects(text));
	}
	for (i = 0; i < ARRAY_LEN(good); i++) {
		(void)snprintf(text, sizeof(text), CLIENT "    %s\n", good[i]);
		CHECK(accepts(text));
	}
}

static void lists_and_names_have_bounds(void)
{
	char *text = malloc(1 << 20);
	size_t n = (size_t)sprintf(text, CLIENT "    environment:\n");
	int i;

	for (i = 0; i < 257; i++)
		n += (size_t)sprintf(text + n, "      - V%d=x\n", i);
	CHECK(rejects(text));
	n = (size_t)sprintf(text, "services:\n  client: {image: x}\n");
	for (i = 0; i < 32; i++)
		n += (size_t)sprintf(text + n, "  s%d: {image: x}\n", i);
	CHECK(rejects(text));
	n = (size_t)sprintf(text, CLIENT "    command: '");
	memset(text + n, 'a', 70000);
	(void)sprintf(text + n + 70000, "'\n");
	CHECK(rejects(text));
	free(text);
}

static const struct check_case cases[] = {
	CASE(every_key_that_reaches_the_host_is_refused_with_its_line),
	CASE(keys_of_builds_that_reach_further_are_refused),
	CASE(binds_of_the_host_are_refused_in_every_form),
	CASE(places_and_modes_of_mounts_are_checked),
	CASE(volumes_and_networks_of_the_host_are_refused),
	CASE(names_lead_to_loopback_only),
	CASE(ports_on_addresses_of_the_host_are_refused),
	CASE(tricks_of_yaml_do_not_pass),
	CASE(text_of_the_file_is_escaped_in_messages),
	CASE(all_problems_are_told_at_once),
	CASE(lenient_lets_unknown_keys_go_and_nothing_else),
	CASE(variables_are_the_runners_or_declared_and_never_the_hosts),
	CASE(a_variable_cannot_grow_without_bound),
	CASE(what_honest_files_say_is_understood),
	CASE(the_agents_service_is_found),
	CASE(needs_are_of_this_file_and_do_not_go_in_circles),
	CASE(words_are_split_as_a_shell_would),
	CASE(numbers_are_read_strictly),
	CASE(lists_and_names_have_bounds),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
