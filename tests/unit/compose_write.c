/* task/compose_write.h, compose_plan.h, compose_role.h, compose_paths.h and the codec: what becomes of a model. */
#include "check.h"

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "compose_input.h"
#include "model/compose_codec.h"
#include "task/compose_fit.h"
#include "task/compose_paths.h"
#include "task/compose_role.h"
#include "task/compose_write.h"

static const struct compose_place stand_ins = {
	.task = COMPOSE_STAND_IN_TASK,
	.folders = {"/.cordon/verifier", "/.cordon/agent", "/.cordon/artifacts", "/.cordon/task-logs",
		    "/.cordon/agent-logs"},
};

/* CANARY marks text that no field of the model holds. */
static const char everything[] =
	"# CANARY comment\n"
	"version: 'CANARY'\n"
	"name: canary-CANARY\n"
	"x-CANARY: {CANARY: [CANARY]}\n"
	"services:\n"
	"  client:\n"
	"    build: {context: ./client, dockerfile: Dockerfile.agent, target: run, args: {A: 1, B: '${GREETING}$$'}, "
	"labels: {CANARY: 1}}\n"
	"    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}\n"
	"    container_name: agent-box\n"
	"    command: sh -c 'echo \"a b\" $$HOME $${X} && sleep infinity'\n"
	"    entrypoint: []\n"
	"    environment: ['A=1', 'PRICE=$$5 \"quoted\" \\ back', \"TAB=a\\tb\\nc\", 'U=\xc3\xa4\xe2\x82\xac', 'E=']\n"
	"    volumes:\n"
	"      - ${T_BENCH_TASK_LOGS_PATH}:/deep\n"
	"      - {type: tmpfs, target: /scratch, tmpfs: {size: 64m, mode: 0755}}\n"
	"      - ./:/app/\n"
	"      - ./tests:/app/tests:ro\n"
	"      - ./data:/d:ro\n"
	"      - data:/data\n"
	"      - /anonymous\n"
	"      - ${HOST_VERIFIER_LOGS_PATH}:/logs/verifier\n"
	"    tmpfs: ['/t:size=1m,mode=1777', /u, '/v:ro']\n"
	"    depends_on: {db: {condition: service_healthy}, setup: {condition: service_completed_successfully}}\n"
	"    networks: {back: {aliases: [me]}, default: }\n"
	"    labels: {traefik.enable: CANARY}\n"
	"    deploy: {resources: {limits: {cpus: '0.5', memory: 4.0G}, reservations: {memory: 1g}}}\n"
	"    stdin_open: true\n"
	"    tty: true\n"
	"    init: true\n"
	"    read_only: true\n"
	"    working_dir: /app\n"
	"    user: 1000:1000\n"
	"    hostname: box\n"
	"    cap_drop: [CHOWN]\n"
	"    restart: on-failure:3\n"
	"    stop_signal: SIGINT\n"
	"    stop_grace_period: 59m59s\n"
	"    ulimits: {nofile: {soft: 1024, hard: 2048}, nproc: 64}\n"
	"    shm_size: 2gb\n"
	"    extra_hosts: ['home.local:127.0.0.1', 'six:::1']\n"
	"    ports: ['443', '8080:80']\n"
	"    links: ['db:database']\n"
	"    pull_policy: never\n"
	"    platform: linux/amd64\n"
	"    x-more: CANARY\n"
	"  db:\n"
	"    image: postgres:16-alpine\n"
	"    healthcheck: {test: 'pg_isready -U \"$$USER\"', interval: 5s, timeout: 500ms, retries: 10, start_period: "
	"23h59m, start_interval: 1s}\n"
	"    environment: {POSTGRES_PASSWORD: secret}\n"
	"    networks: [back]\n"
	"    restart: unless-stopped\n"
	"  setup:\n"
	"    image: alpine\n"
	"    command: [\"true\", \"\", \"$$x\"]\n"
	"    healthcheck: {disable: true, test: x}\n"
	"    network_mode: 'service:db'\n"
	"  lonely:\n"
	"    image: alpine\n"
	"    network_mode: none\n"
	"    healthcheck: {test: [CMD, a, b]}\n"
	"networks: {back: {driver: bridge, internal: true, name: CANARY, labels: [CANARY]}, unused: }\n"
	"volumes: {data: {name: CANARY}}\n";

static void the_new_file_says_what_the_model_says(void)
{
	struct parsed p = parse(everything), again;
	AUTO_BUF out = {0};

	buf_init(&out, 1 << 20);
	CHECK(p.compose);
	if (!p.compose) {
		printf("# %s\n", p.err.text);
		parsed_done(&p);
		return;
	}
	CHECK(compose_write(p.compose, &stand_ins, NULL, &out) == 0);
	again = parse(out.p);
	CHECK(again.compose && compose_equal(p.compose, again.compose));
	if (!again.compose)
		printf("# %s\n# %s\n", again.err.text, out.p);
	CHECK(again.problems.n == 0);
	CHECK(!strstr(out.p, "CANARY"));
	parsed_done(&again);
	parsed_done(&p);
}

struct written {
	struct parsed parsed;
	struct compose_plan plan;
	struct buf text;
	json_t *json;
};

static const char *const hidden[] = {"tests", "solution.sh", NULL};
static const struct image_mount door = {.source = "/run/user/0/cordon/x/door", .target = "/run/cordon"};
static const struct compose_pair gateway[] = {{"HTTP_PROXY", "http://127.0.0.1:3128"}, {"A", "policy"}};

static const char *const images[] = {"cordon/built", NULL, NULL, NULL};

static struct written write_with_policy(const char *text)
{
	struct written w = {.parsed = parse(text)};
	struct compose_place place = stand_ins;
	struct compose_policy policy = {.memory = UINT64_C(1) << 30,
					.cpus = 2000,
					.pids = 256,
					.mounts = &door,
					.n_mounts = 1,
					.environment = gateway,
					.n_environment = 2,
					.images = images};

	buf_init(&w.text, 1 << 20);
	place.task = "/stage";
	place.copies = "/copies";
	place.hidden = hidden;
	if (!w.parsed.compose || compose_plan(w.parsed.compose, "docker-compose.yaml", "amd64", w.parsed.arena, &w.plan,
					      &w.parsed.err) < 0) {
		printf("# %s\n", w.parsed.err.text);
		return w;
	}
	policy.plan = &w.plan;
	if (compose_write(w.parsed.compose, &place, &policy, &w.text) == 0)
		w.json = json_loads(w.text.p, JSON_REJECT_DUPLICATES, NULL);
	return w;
}

static void written_done(struct written *w)
{
	json_decref(w->json);
	buf_done(&w->text);
	parsed_done(&w->parsed);
}

static const char *text_at(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void every_service_has_what_the_policy_demands(void)
{
	struct written w = write_with_policy(everything);
	json_t *services = json_object_get(w.json, "services"), *s;
	const char *name;

	CHECK(w.json && json_object_size(services) == 5);
	json_object_foreach(services, name, s) {
		const char *mode = text_at(s, "network_mode");

		CHECK(strcmp(mode, strcmp(name, "cordon-net") == 0 || strcmp(name, "lonely") == 0
					   ? "none"
					   : "service:cordon-net") == 0);
		CHECK(!json_object_get(s, "networks") && !json_object_get(s, "ports") &&
		      !json_object_get(s, "labels") && !json_object_get(s, "container_name"));
		CHECK_STR(json_string_value(json_array_get(json_object_get(s, "cap_drop"), 0)), "ALL");
		CHECK_STR(json_string_value(json_array_get(json_object_get(s, "security_opt"), 0)),
			  "no-new-privileges:true");
		CHECK(json_array_size(json_object_get(s, "security_opt")) == 1);
		CHECK(json_object_get(s, "mem_limit") && json_object_get(s, "pids_limit"));
		CHECK(!json_object_get(s, "build"));
		CHECK_STR(text_at(s, "pull_policy"), "never");
	}
	CHECK(!json_object_get(w.json, "networks"));
	CHECK_STR(text_at(json_object_get(services, "client"), "mem_limit"), "1073741824b");
	CHECK(json_real_value(json_object_get(json_object_get(services, "client"), "cpus")) == 0.5);
	CHECK(!strstr(w.text.p, "CANARY") && !strstr(w.text.p, "NET_RAW") && !strstr(w.text.p, "SYS_ADMIN"));
	CHECK(json_array_size(json_object_get(json_object_get(services, "cordon-net"), "cap_add")) == 0);
	CHECK(json_array_size(json_object_get(json_object_get(services, "client"), "cap_add")) ==
	      6); /* it drops CHOWN */
	written_done(&w);
}

static void a_single_service_has_no_network_and_no_holder(void)
{
	struct written w = write_with_policy("services: {client: {image: a, hostname: box}}\n");
	json_t *services = json_object_get(w.json, "services");

	CHECK(json_object_size(services) == 1);
	CHECK_STR(text_at(json_object_get(services, "client"), "network_mode"), "none");
	CHECK_STR(text_at(json_object_get(services, "client"), "hostname"), "box");
	written_done(&w);
}

static json_t *mount_at(json_t *service, const char *target)
{
	json_t *list = json_object_get(service, "volumes"), *m;
	size_t i;

	json_array_foreach(list, i, m)
		if (strcmp(text_at(m, "target"), target) == 0)
			return m;
	return NULL;
}

static void binds_are_copies_where_something_writes_or_is_hidden(void)
{
	struct written w = write_with_policy(everything);
	json_t *client = json_object_get(json_object_get(w.json, "services"), "client");

	CHECK_STR(text_at(mount_at(client, "/app"), "source"), "/copies/0.1");
	CHECK(mount_at(client, "/app/tests") == NULL);
	CHECK_STR(text_at(mount_at(client, "/d"), "source"), "/stage/data");
	CHECK(json_is_true(json_object_get(mount_at(client, "/d"), "read_only")));
	CHECK_STR(text_at(mount_at(client, "/run/cordon"), "source"), door.source);
	CHECK(json_is_true(json_object_get(mount_at(client, "/run/cordon"), "read_only")));
	CHECK_STR(text_at(mount_at(client, "/deep"), "source"), "/.cordon/task-logs");
	written_done(&w);
}

static void what_is_hidden_is_found_from_above_and_below(void)
{
	static const struct {
		const char *source;
		bool read_only;
		enum compose_bind want;
	} rows[] = {{".", true, COMPOSE_BIND_COPY},
		    {".", false, COMPOSE_BIND_COPY},
		    {"tests", true, COMPOSE_BIND_LEAVE},
		    {"tests/a", true, COMPOSE_BIND_LEAVE},
		    {"tests2", true, COMPOSE_BIND_SHOW},
		    {"test", true, COMPOSE_BIND_SHOW},
		    {"solution.sh", false, COMPOSE_BIND_LEAVE},
		    {"data", false, COMPOSE_BIND_COPY}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		const struct compose_mount m = {.source = rows[i].source, .read_only = rows[i].read_only};

		CHECK(compose_bind(&m, hidden) == rows[i].want);
	}
}

static void the_policys_variables_win_and_dollars_mean_themselves(void)
{
	struct written w = write_with_policy(everything);
	json_t *client = json_object_get(json_object_get(w.json, "services"), "client");
	json_t *env = json_object_get(client, "environment");

	CHECK_STR(text_at(env, "A"), "policy");
	CHECK_STR(text_at(env, "HTTP_PROXY"), "http://127.0.0.1:3128");
	CHECK_STR(text_at(env, "PRICE"), "$$5 \"quoted\" \\ back");
	CHECK_STR(json_string_value(json_array_get(json_object_get(client, "command"), 2)),
		  "echo \"a b\" $$HOME $${X} && sleep infinity");
	written_done(&w);
}

static void services_start_in_the_order_of_their_needs(void)
{
	struct parsed p = parse("services:\n"
				"  client: {image: a, depends_on: {api: {condition: service_healthy}}}\n"
				"  extra: {image: x}\n"
				"  api: {image: b, depends_on: [db], healthcheck: {test: curl, retries: 7}, hostname: "
				"api-host, container_name: box}\n"
				"  db: {image: c, depends_on: {init: {condition: service_completed_successfully}}}\n"
				"  init: {image: d, network_mode: 'service:extra'}\n");
	struct compose_plan plan = {0};
	static const char *const want[] = {"extra", "init", "db", "api", "client"};
	uint32_t i;

	CHECK(p.compose && compose_plan(p.compose, "f", "amd64", p.arena, &plan, &p.err) == 0);
	CHECK(plan.n == 5 && plan.main == 4);
	for (i = 0; i < plan.n; i++)
		CHECK_STR(plan.steps[i].service->name, want[i]);
	if (plan.n == 5) {
		CHECK(plan.steps[2].n_waits == 1 && plan.steps[2].waits[0].step == 1 &&
		      plan.steps[2].waits[0].condition == COMPOSE_COMPLETED);
		CHECK(plan.steps[4].waits[0].step == 3 && plan.steps[4].waits[0].condition == COMPOSE_HEALTHY);
		CHECK_STR(plan.steps[3].check.argv[2], "curl");
		CHECK(plan.steps[3].check.retries == 7 && plan.steps[3].check.interval == 30000 &&
		      !plan.steps[2].check.argv);
		CHECK_STR(plan.steps[1].address, plan.steps[0].address);
		CHECK(strstr(plan.steps[0].hosts, "127.77.0.4 api\n") &&
		      strstr(plan.steps[0].hosts, "127.77.0.4 api-host\n") &&
		      strstr(plan.steps[0].hosts, "127.77.0.4 box\n"));
	}
	parsed_done(&p);
}

static void nobody_takes_the_name_of_another_service(void)
{
	struct parsed p = parse("services:\n  client: {image: a, networks: {default: {aliases: [db, localhost2]}}, "
				"hostname: db}\n  db: {image: b}\n");
	struct compose_plan plan = {0};
	uint32_t i, n = 0;

	CHECK(p.compose && compose_plan(p.compose, "f", "amd64", p.arena, &plan, &p.err) == 0);
	for (i = 0; i < plan.names.n; i++)
		if (strcmp(plan.names.v[i].name, "db") == 0) {
			n++;
			CHECK_STR(plan.names.v[i].value, "127.77.0.2");
		}
	CHECK(n == 1);
	parsed_done(&p);
}

static bool plan_refuses(const char *text, const char *words)
{
	struct parsed p = parse(text);
	struct compose_plan plan;
	bool refused = p.compose && compose_plan(p.compose, "f", "amd64", p.arena, &plan, &p.err) < 0 &&
		       strstr(p.err.text, words);

	if (!refused)
		printf("# %s\n", p.err.text);
	parsed_done(&p);
	return refused;
}

static void what_a_group_cannot_do_is_refused(void)
{
	CHECK(plan_refuses("services:\n  client: {image: a, networks: [x]}\n  b: {image: b, networks: [y]}\nnetworks: "
			   "{x: , y: }\n",
			   "keep services apart"));
	CHECK(!plan_refuses("services:\n  client: {image: a}\n  b: {image: b, networks: [y]}\nnetworks: {y: }\n", ""));
	CHECK(plan_refuses("services:\n  client: {image: a, expose: [80]}\n  b: {image: b, ports: ['8080:80']}\n",
			   "same port"));
	CHECK(plan_refuses("services:\n  client: {image: a, platform: linux/arm64}\n", "not this machine"));
	CHECK(plan_refuses("services:\n  client: {image: a, platform: linux/amd645}\n", "not this machine"));
	CHECK(plan_refuses(
		"services:\n  client: {image: a, depends_on: {b: {condition: service_healthy}}}\n  b: {image: b}\n",
		"no healthcheck"));
	CHECK(plan_refuses("services:\n  client: {image: a, depends_on: {b: {condition: service_healthy}}}\n  b: "
			   "{image: b, healthcheck: {disable: true}}\n",
			   "no healthcheck"));
	CHECK(plan_refuses("services:\n  client: {image: a, healthcheck: {test: x}}\n  b: {image: b, depends_on: "
			   "{client: {condition: service_healthy}}}\n",
			   "agent's own"));
	CHECK(plan_refuses("services:\n  client: {image: a}\n  b: {image: b, depends_on: {client: {condition: "
			   "service_completed_successfully}}}\n",
			   "agent's own"));
}

static void who_has_no_network_is_in_no_group(void)
{
	struct parsed p = parse("services:\n"
				"  client: {image: a, depends_on: [beside]}\n"
				"  vault: {image: b, network_mode: none, extra_hosts: ['own:127.0.0.1']}\n"
				"  beside: {image: c, network_mode: 'service:vault'}\n"
				"  open: {image: d}\n");
	struct compose_plan plan = {0};
	const struct compose_step *vault = NULL, *beside = NULL, *open = NULL;
	uint32_t i;

	CHECK(p.compose && compose_plan(p.compose, "f", "amd64", p.arena, &plan, &p.err) == 0);
	for (i = 0; i < plan.n; i++) {
		vault = strcmp(plan.steps[i].service->name, "vault") == 0 ? &plan.steps[i] : vault;
		beside = strcmp(plan.steps[i].service->name, "beside") == 0 ? &plan.steps[i] : beside;
		open = strcmp(plan.steps[i].service->name, "open") == 0 ? &plan.steps[i] : open;
	}
	CHECK(vault && beside && open && vault < beside && vault->net && beside->net == vault->net && open->net == 0 &&
	      plan.steps[plan.main].net == 0);
	if (vault && beside && open) {
		CHECK(strstr(vault->hosts, " own\n") && strstr(vault->hosts, " beside\n") &&
		      !strstr(vault->hosts, " open\n"));
		CHECK(strstr(open->hosts, " client\n") && !strstr(open->hosts, " vault\n") &&
		      !strstr(open->hosts, " own\n"));
	}
	CHECK(!plan.closed);
	parsed_done(&p);
}

static bool plan_is_closed(const char *text)
{
	struct parsed p = parse(text);
	struct compose_plan plan = {0};
	bool closed = p.compose && compose_plan(p.compose, "f", "amd64", p.arena, &plan, &p.err) == 0 && plan.closed;

	parsed_done(&p);
	return closed;
}

static void internal_networks_close_the_group(void)
{
	CHECK(plan_is_closed("services:\n  client: {image: a, networks: [x]}\nnetworks: {x: {internal: true}}\n"));
	CHECK(plan_is_closed("services:\n  client: {image: a}\n  b: {image: b, network_mode: "
			     "'service:client'}\nnetworks: {default: {internal: true}}\n"));
	CHECK(!plan_is_closed("services:\n  client: {image: a, networks: [x]}\nnetworks: {x: {internal: false}}\n"));
	CHECK(!plan_is_closed(
		"services:\n  client: {image: a, networks: [x, y]}\nnetworks: {x: {internal: true}, y: }\n"));
	CHECK(!plan_is_closed(
		"services:\n  client: {image: a, networks: [x]}\n  b: {image: b}\nnetworks: {x: {internal: true}}\n"));
}

static void only_some_commands_do_no_more_than_wait(void)
{
	static const char *const wait[] = {"sleep infinity",
					   "sleep 2147483647",
					   "tail -f /dev/null",
					   "while :; do sleep 1h; done",
					   "exec sleep inf",
					   "/bin/bash -l",
					   "cat",
					   ""};
	static const char *const work[] = {"sleep infinity; server",
					   "/start.sh",
					   "tail -f /var/log/x",
					   "sh -c 'service x start; sleep 1'",
					   "sleep infinity`server`",
					   "sleep $(server)",
					   "sleep infinity\nserver",
					   ". x",
					   "bash x",
					   "cat>x"};
	const struct compose_strings none = {0};
	size_t i;

	for (i = 0; i < ARRAY_LEN(wait); i++)
		CHECK(compose_only_waits(&none,
					 &(struct compose_strings){.v = (const char **)(uintptr_t)&wait[i], .n = 1}));
	for (i = 0; i < ARRAY_LEN(work); i++) {
		const struct compose_strings one = {.v = (const char **)(uintptr_t)&work[i], .n = 1};

		CHECK(!compose_only_waits(&none, &one) && !compose_only_waits(&one, &none));
	}
}

static void an_answer_decodes_to_what_was_asked(void)
{
	struct compose_input in = input_of(everything, false);
	struct parsed p = parse(everything), got = {.arena = arena_new()};
	AUTO_BUF question = {0};
	AUTO_BUF answer = {0};
	struct error err = {0};

	buf_init(&question, COMPOSE_QUESTION_MAX);
	buf_init(&answer, COMPOSE_CODEC_MAX);
	got.problems.arena = got.arena;
	CHECK(compose_question(&in, &question) == 0 && compose_answer(buf_view(&question), &answer, &err) == 0);
	CHECK(compose_answer_decode(buf_view(&answer), got.arena, &got.problems, &got.compose) == 0);
	CHECK(p.compose && got.compose && compose_equal(p.compose, got.compose));
	CHECK(got.problems.n == p.problems.n && got.problems.refused == 0);
	CHECK(compose_load(&in, got.arena, &got.problems, &got.compose, &err) == 0 &&
	      compose_equal(p.compose, got.compose));
	in.text = sv_of("services:\n  client:\n    image: a\n    privileged: true\n");
	CHECK(compose_load(&in, got.arena, &got.problems, &got.compose, &err) < 0);
	CHECK_STR(err.text, "docker-compose.yaml:4: services.client.privileged: gives the service more power over the "
			    "host than a task may have");
	parsed_done(&p);
	parsed_done(&got);
}

/* A parser that was taken over answers with whatever it likes. */
static void no_changed_answer_gives_a_model_that_reaches_further(void)
{
	struct compose_input in = input_of(everything, false);
	AUTO_BUF question = {0};
	AUTO_BUF answer = {0};
	struct error err = {0};
	unsigned seed = 12345;
	int round;

	buf_init(&question, COMPOSE_QUESTION_MAX);
	buf_init(&answer, COMPOSE_CODEC_MAX);
	CHECK(compose_question(&in, &question) == 0 && compose_answer(buf_view(&question), &answer, &err) == 0);
	for (round = 0; round < 20000; round++) {
		struct arena *a = arena_new();
		struct task_problems problems = {.arena = a};
		const struct compose *c = NULL;
		size_t at = (size_t)(rand_r(&seed) % (int)answer.n);
		char was = answer.p[at];
		size_t n = round % 7 ? answer.n : at;

		answer.p[at] = (char)rand_r(&seed);
		if (compose_answer_decode(sv_n(answer.p, n), a, &problems, &c) == 0 && c)
			CHECK(compose_wrong(c) == NULL);
		answer.p[at] = was;
		arena_free(a);
	}
}

static struct compose *model_of(struct parsed *p)
{
	struct compose *c = arena_alloc(p->arena, sizeof(*c));

	*c = *p->compose;
	return c;
}

static void models_that_reach_further_are_wrong(void)
{
	static const char *const bad_sources[] = {"..", "/etc", "a/../..", "", "a//b", "./a", "a/", "~", "a\\b"};
	struct parsed p = parse("services:\n  client: {image: a, volumes: ['./x:/x'], build: {context: c}, depends_on: "
				"[b]}\n  b: {image: x}\n");
	struct compose *c = model_of(&p);
	struct compose_service *s = c->services;
	size_t i;

	CHECK(!compose_wrong(c));
	for (i = 0; i < ARRAY_LEN(bad_sources); i++) {
		s->mounts.v[0].source = bad_sources[i];
		CHECK(compose_wrong(c));
		s->mounts.v[0].source = "x";
		s->build.context = bad_sources[i];
		CHECK(compose_wrong(c));
		s->build.context = "c";
		s->build.dockerfile = bad_sources[i];
		CHECK(compose_wrong(c));
		s->build.dockerfile = "Dockerfile";
	}
	CHECK(!compose_wrong(c));
	s->mounts.v[0].kind = COMPOSE_MOUNT_VOLUME; /* "x" is no volume of the file */
	CHECK(compose_wrong(c));
	s->mounts.v[0].kind = COMPOSE_MOUNT_TASK;
	s->mounts.v[0].kind = COMPOSE_MOUNT_RUNNER; /* a part of it */
	CHECK(compose_wrong(c));
	s->mounts.v[0].kind = COMPOSE_MOUNT_TASK;
	s->mounts.v[0].target = "/proc";
	CHECK(compose_wrong(c));
	s->mounts.v[0].target = "/x";
	s->needs.v[0].service = "nobody";
	CHECK(compose_wrong(c));
	s->needs.v[0].service = "b";
	s->networks.v[0].network = "host";
	CHECK(compose_wrong(c));
	s->networks.v[0].network = "default";
	s->name = "cordon-net";
	CHECK(compose_wrong(c));
	s->name = "b";
	CHECK(compose_wrong(c));
	s->name = "client";
	c->main = 2;
	CHECK(compose_wrong(c));
	parsed_done(&p);
}

static uint32_t paths_refused(const char *text, int folder)
{
	struct parsed p = parse(text);
	int n = p.compose ? compose_paths_check(p.compose, folder, "docker-compose.yaml", &p.problems) : -1;

	parsed_done(&p);
	return (uint32_t)n;
}

static void paths_are_looked_at_without_following_links(void)
{
	char dir[] = "/tmp/cordon-compose-XXXXXX", command[64];
	AUTO_FD folder = -1;

	CHECK(mkdtemp(dir) != NULL);
	folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(folder >= 0);
	CHECK(mkdirat(folder, "c", 0755) == 0);
	close(openat(folder, "c/Dockerfile", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	CHECK(symlinkat("/etc", folder, "etc") == 0 && symlinkat("c", folder, "link") == 0 &&
	      symlinkat("/etc/passwd", folder, "c/Dockerfile.l") == 0);
	CHECK(mkfifoat(folder, "fifo", 0600) == 0);
	CHECK(paths_refused("services: {client: {build: c, volumes: ['./:/app', './c:/c:ro', './c/Dockerfile:/f:ro', "
			    "'./new:/n']}}\n",
			    folder) == 0);
	CHECK(paths_refused("services: {client: {image: a, volumes: ['./etc:/e']}}\n", folder) == 1);
	CHECK(paths_refused("services: {client: {image: a, volumes: ['./etc/shadow:/e']}}\n", folder) == 1);
	CHECK(paths_refused("services: {client: {image: a, volumes: ['./link:/e:ro']}}\n", folder) == 1);
	CHECK(paths_refused("services: {client: {image: a, volumes: ['./fifo:/e']}}\n", folder) == 1);
	CHECK(paths_refused("services: {client: {image: a, volumes: ['./nothing:/e:ro']}}\n", folder) == 1);
	CHECK(paths_refused("services: {client: {build: link}}\n", folder) == 2);
	CHECK(paths_refused("services: {client: {build: {context: c, dockerfile: Dockerfile.l}}}\n", folder) == 1);
	CHECK(paths_refused("services: {client: {build: .}}\n", folder) == 1);
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK(system(command) == 0);
}

static const struct check_case cases[] = {
	CASE(the_new_file_says_what_the_model_says),
	CASE(every_service_has_what_the_policy_demands),
	CASE(a_single_service_has_no_network_and_no_holder),
	CASE(binds_are_copies_where_something_writes_or_is_hidden),
	CASE(what_is_hidden_is_found_from_above_and_below),
	CASE(the_policys_variables_win_and_dollars_mean_themselves),
	CASE(services_start_in_the_order_of_their_needs),
	CASE(nobody_takes_the_name_of_another_service),
	CASE(what_a_group_cannot_do_is_refused),
	CASE(who_has_no_network_is_in_no_group),
	CASE(internal_networks_close_the_group),
	CASE(only_some_commands_do_no_more_than_wait),
	CASE(an_answer_decodes_to_what_was_asked),
	CASE(no_changed_answer_gives_a_model_that_reaches_further),
	CASE(models_that_reach_further_are_wrong),
	CASE(paths_are_looked_at_without_following_links),
};

int main(void)
{
	return check_main(cases, ARRAY_LEN(cases));
}
