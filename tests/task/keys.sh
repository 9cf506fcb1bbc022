#!/bin/bash
# Keys of a task's compose file: a run does what each says, or `task check` names it. On every runtime (CORDON_RUNTIME).
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../runtime_lib.sh"
need_runtime "keys of compose files" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
runtime=(${CORDON_RUNTIME:+--runtime "$CORDON_RUNTIME"})
task_images base || { echo "Bail out! the image cannot be made"; exit 99; }

# A page of the host's, which a policy opens.
cat >"$tmp/host.py" <<'END'
import http.server
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"page-outside\n")
    def log_message(self, form, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
print(server.server_port, flush=True)
server.serve_forever()
END
exec 3< <(exec python3 "$tmp/host.py")
host=$!
trap 'kill "$host" 2>/dev/null; chmod -R u+rwX "$XDG_DATA_HOME"; tap_cleanup' EXIT
read -r port <&3
mkdir -p "$XDG_CONFIG_HOME/cordon"
printf 'version: 1\nresolve: {"up.test": ["127.0.0.1"]}\n' >"$XDG_CONFIG_HOME/cordon/gateway.yaml"
printf 'version: 1\nextends: [task]\nnetwork: {mode: allowlist, allow: [{host: up.test, ports: [%s]}]}\n' "$port" >"$tmp/net.yaml"

# task NAME LINE... <compose file: one that passes when /app/done is there; the lines go into task.toml
task()
{
	task=$tmp/$1
	shift
	rm -rf "$task"
	mkdir -p "$task/environment" "$task/tests"
	printf '%s\n' 'version = "1.0"' "$@" >"$task/task.toml"
	echo "Make /app/done." >"$task/instruction.md"
	printf 'FROM cordon-test/base\nWORKDIR /app\n' >"$task/environment/Dockerfile"
	printf '#!/bin/sh\nif [ -f /app/done ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
	cat >"$task/environment/docker-compose.yaml"
}
# run ARG...: result (status and reward, or why not) and out (the folder of results)
run()
{
	out=$tmp/out-${task##*/}
	rm -rf "$out"
	timeout 180 "$CORDON" task run "$task" "${runtime[@]}" --out "$out" --json "$@" >"$task.json" 2>"$task.err"
	result=$(python3 - "$task.json" <<'END' 2>/dev/null || tail -n 3 "$task.err"
import json, sys
r = json.load(open(sys.argv[1]))
print(r["status"], "-" if r["reward"] is None else f'{r["reward"]:g}', *([r["reason"]] if "reason" in r else []))
END
)
}
says() { grep -v '^cordon' "$out/output/$1.txt" 2>&1; }
# what a run writes for a service: a health check that waits for /ready
ready='healthcheck: {test: ["CMD", "test", "-e", "/ready"], interval: 1s, timeout: 5s, retries: 60}'
page="timeout 5 wget -q -O - http://up.test:$port/"

# --- networks ---

ask='timeout 5 wget -Y off -q -O - http://127.0.0.1:9000/word; timeout 5 wget -Y off -q -O - http://vault:9000/word'
task none '[environment]' 'network_mode = "public"' <<END
services:
  main:
    depends_on: {beside: {condition: service_healthy}, open: {condition: service_healthy}, vault: {condition: service_healthy}}
  vault:
    image: cordon-test/base
    network_mode: none
    command: ["sh", "-c", "mkdir /www; echo of-the-vault >/www/word; httpd -p 9000 -h /www; $page; grep -c -e open -e main /etc/hosts; touch /ready; sleep 600"]
    $ready
  beside:
    image: cordon-test/base
    network_mode: service:vault
    depends_on: {vault: {condition: service_healthy}}
    command: ["sh", "-c", "$ask; $page; touch /ready; sleep 600"]
    $ready
  open:
    image: cordon-test/base
    command: ["sh", "-c", "mkdir /www; echo open-word >/www/word; httpd -p 8080 -h /www; $page; $ask; touch /ready; sleep 600"]
    $ready
END
run --policy "$tmp/net.yaml" -- sh -c "$page; timeout 5 wget -Y off -q -O - http://open:8080/word; $ask; grep -c -e vault -e beside /etc/hosts; touch /app/done"
is "services without a network are scored with" "$result" "scored 1"
is "the agent has its network and the others', and nothing of such a service" "$(says agent | grep -v -e "can't" -e 'bad address' -e 'timed out')" $'page-outside\nopen-word\n0'
is "nor has another service" "$(says service-open | grep -v -e "can't" -e 'bad address')" page-outside
is "it has no way out, and knows nobody" "$(says service-vault | grep -v -e "can't" -e 'bad address')" 0
is "who asks for its network is in it, and no further" "$(says service-beside | grep -v -e "can't" -e 'bad address')" $'of-the-vault\nof-the-vault'

task none-main '[environment]' 'network_mode = "public"' <<END
services:
  main: {network_mode: none, depends_on: {open: {condition: service_healthy}}}
  open:
    image: cordon-test/base
    command: ["sh", "-c", "mkdir /www; echo open-word >/www/word; httpd -p 8080 -h /www; $page; touch /ready; sleep 600"]
    $ready
END
printf '#!/bin/sh\n{ timeout 5 wget -Y off -q -O - http://127.0.0.1:8080/word; %s; } && exit 1\n[ -f /app/done ] && echo 1 >/logs/verifier/reward.txt\n' "$page" >"$task/tests/test.sh"
run --policy "$tmp/net.yaml" -- sh -c "$page; timeout 5 wget -Y off -q -O - http://127.0.0.1:8080/word; timeout 5 wget -Y off -q -O - http://127.77.0.1:8080/word; env | grep -i proxy; touch /app/done"
is "network_mode: none of the agent's own service holds for agent and verifier" "$result: $(says agent | grep -v -e "can't" -e 'bad address')" "scored 1: "
is "and for nobody else" "$(says service-open)" page-outside

task shared-main '[environment]' 'network_mode = "public"' <<END
services:
  main: {network_mode: none}
  beside:
    image: cordon-test/base
    network_mode: service:main
    command: ["sh", "-c", "mkdir /www; echo beside-word >/www/word; httpd -p 8080 -h /www; $page; touch /ready; sleep 600"]
END
run --policy "$tmp/net.yaml" -- sh -c "i=0; until timeout 5 wget -Y off -q -O - http://127.0.0.1:8080/word || [ \$i = 60 ]; do i=\$((i + 1)); sleep 0.5; done; $page; touch /app/done"
is "a service in its network is with it, and as closed" "$result: $(says agent | grep -v -e "can't" -e 'bad address') $(says service-beside | grep -v -e "can't" -e 'bad address')" "scored 1: beside-word "

task internal '[environment]' 'network_mode = "public"' <<END
services:
  main: {networks: [inner], depends_on: {open: {condition: service_healthy}}}
  open:
    image: cordon-test/base
    networks: [inner]
    command: ["sh", "-c", "mkdir /www; echo open-word >/www/word; httpd -p 8080 -h /www; $page; touch /ready; sleep 600"]
    $ready
networks: {inner: {internal: true}}
END
run --policy "$tmp/net.yaml" -- sh -c "$page; timeout 5 wget -Y off -q -O - http://open:8080/word; touch /app/done"
is "internal networks lead to the others, and nowhere else" "$result: $(says agent | grep -v -e "can't" -e 'bad address') $(says service-open | grep -v -e "can't" -e 'bad address')" "scored 1: open-word "

# --- what is built, and how it runs ---

task built '[environment]' 'allow_internet = false' 'memory_mb = 512' <<END
services:
  main:
    build: {context: ./sub, dockerfile: Other, args: {WHO: of-the-file}}
    user: "0:0"
    working_dir: /srv/own
    pids_limit: 40
    mem_limit: 300m
    cpus: 1
    depends_on: {db: {condition: service_healthy}, like-db: {condition: service_completed_successfully}, like-main: {condition: service_completed_successfully}}
  like-db: {image: made-here, command: [cat, /which]}
  like-main: {image: "\${MAIN_IMAGE_NAME}", user: "0", command: [cat, /which]}
  db:
    build: {context: ./svc, target: good, args: {WHO: of-the-file}}
    image: made-here
    pids_limit: 25
    stdin_open: true
    tmpfs: ["/scratch:mode=700", /dev/shm]
    command: ["sh", "-c", "cat /which; ls -A /scratch; stat -c %a /scratch; touch /scratch/own; (for i in \$\$(seq 40); do sleep 3 & done); : >/ready; read -r line; echo input ended"]
    $ready
END
mkdir "$task/environment/sub" "$task/environment/svc"
printf 'FROM cordon-test/base\nARG WHO=nobody\nRUN echo "sub $WHO" >/which\nWORKDIR /app\nUSER 1000\n' >"$task/environment/sub/Other"
printf 'FROM cordon-test/base AS good\nARG WHO=nobody\nRUN echo "good $WHO" >/which; mkdir /scratch; touch /scratch/of-the-image\nFROM cordon-test/base\nRUN echo wrong stage >/which\n' >"$task/environment/svc/Dockerfile"
run -- sh -c 'cat /which; id -u; pwd; touch /app/done'
is "the agent's own image is what its service builds, and runs as it says" "$result: $(says agent)" $'scored 1: sub of-the-file\n0\n/srv/own'
is "a service is what its build says, and a tmpfs hides what the image has there" "$(says service-db | head -2)" $'good of-the-file\n700'
is "what one service builds under a name is an image to others" "$(says service-like-db) $(says service-like-main)" "good of-the-file sub of-the-file"
like "a service has no more processes than its file says" "$(says service-db)" "can't fork|Resource temporarily|Cannot fork"
is "and an input that stays open" "$(says service-db | grep -c 'input ended')" 0
like "the limits of the agent's own service are those of its sandboxes" "$(cat "$out/policy/agent.yaml")" '"cpus":1.000,"memory":314572800,"max_processes":41'
like "... and of the verifier's" "$(cat "$out/policy/verify.yaml")" '"cpus":1.000,"memory":314572800,"max_processes":41'

task image-alone '[environment]' 'allow_internet = false' <<<'services: {main: {image: cordon-test/base, working_dir: /app}}'
rm "$task/environment/Dockerfile"
run -- sh -c 'touch done'
is "without a Dockerfile it is the image that the service names" "$result" "scored 1"

task=$tmp/client-context
mkdir -p "$task/tests" "$task/client"
printf 'instruction: look\nparser_name: pytest\n' >"$task/task.yaml"
printf 'FROM cordon-test/base\nRUN mkdir /app\nRUN echo of-the-client >/which\nWORKDIR /app\n' >"$task/client/Dockerfile"
printf '#!/bin/sh\necho "=== short test summary info ==="; [ -f /app/done ] && echo "PASSED t.py::t"; echo "=== 1 passed in 0.01s ==="\n' >"$task/run-tests.sh"
cat >"$task/docker-compose.yaml" <<'END'
services:
  client:
    build: {context: client, dockerfile: Dockerfile}
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    container_name: ${T_BENCH_TASK_DOCKER_CLIENT_CONTAINER_NAME}
    command: ["sh", "-c", "sleep infinity"]
    stdin_open: true
    tty: true
END
run -- sh -c 'cat /which; touch /app/done'
is "Terminal-Bench's client is built where it says" "$result: $(says agent)" "scored 1: of-the-client"

task well '[environment]' 'allow_internet = false' <<END
services:
  main: {healthcheck: {test: ["CMD", "wget", "-q", "-O", "/dev/null", "http://open:8080/word"], interval: 1s, retries: 60}}
  open: {image: cordon-test/base, command: ["sh", "-c", "sleep 2; mkdir /www; touch /www/word; exec httpd -f -p 8080 -h /www"]}
END
run -- sh -c 'timeout 5 wget -Y off -q -O /dev/null http://open:8080/word && touch /app/done'
is "the agent comes when its own service is healthy" "$result" "scored 1"
task ill '[environment]' 'allow_internet = false' <<<'services: {main: {healthcheck: {test: ["CMD", "test", "-e", "/never"], interval: 1s, retries: 2}}}'
run -- touch /app/done
like "... and not where it is not" "$result" '^infrastructure_error - .*not healthy'

# --- keys of task.toml ---

own=('artifacts = [{source = "out", exclude = ["secret*"]}]' '[environment]' 'allow_internet = true' 'memory_mb = 512' '[verifier.environment]' 'docker_image = "cordon-test/base"' 'allow_internet = false' 'memory_mb = 64' 'workdir = "/var"' 'env = {VENV = "own"}')
task own "${own[@]}" <<<'services: {main: {}}'
rm "$task/environment/docker-compose.yaml"
printf '#!/bin/sh\necho "at $PWD $VENV" $(ls /app/out /app/out/sub)\necho 1 >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
run -- sh -c 'mkdir -p out/sub; touch out/a out/secret.txt out/sub/b out/sub/secrets'
is "a verifier has the work folder and variables of its own machine, and no artifact that is excluded" "$result $(grep ^at "$out/output/verify.txt")" "scored 1 at /var own /app/out: a sub /app/out/sub: b"
like "... and its memory" "$(cat "$out/policy/verify.yaml")" '"memory":67108864'
like "... and no network where it has none" "$(cat "$out/policy/verify.yaml")" '"mode":"none"'
ok "what is excluded is not in the results either" test -e "$out/artifacts/app/out/sub/b" -a ! -e "$out/artifacts/app/out/secret.txt" -a ! -e "$out/artifacts/app/out/sub/secrets"
task excludes 'artifacts = [{source = "out", destination = "x"}, {source = "more", destination = "x/more", exclude = ["*"]}]' '[environment]' 'allow_internet = false' <<<'services: {main: {}}'
run -- sh -c 'mkdir -p more /logs/agent; touch out more/a done /logs/agent/log'
ok "... and of another nothing is left out for it, wherever it could not be put" test -e "$out/artifacts/x" -a -e "$out/agent/log"
for key in 'setup_commands = [{command = "true"}]' 'healthcheck = {command = "true"}'; do
	task own-more "${own[@]}" "$key" <<<'services: {main: {}}'
	like "${key%% *} of a verifier's own machine is refused" "$("$CORDON" task check "$task" 2>&1)" "verifier.environment.${key%% *}: is not supported"
done
task starts '[environment.healthcheck]' 'command = "test -e /app/up || { touch /app/up; false; }"' 'retries = 1' 'interval_sec = 0.5' 'start_period_sec = 60' <<<'services: {main: {}}'
run -- touch done
is "a health check that fails while its environment starts does not count" "$result" "scored 1"
task copies 'artifacts = [{source = "/data/x", destination = "a"}, {source = "/data/x", destination = "b"}, {source = "/data/x", destination = "c"}, {source = "/data/x", destination = "d"}]' '[environment]' 'storage_mb = 64' <<<'services: {main: {}}'
run -- sh -c 'mkdir /data; truncate -s 100M /data/x; touch done'
is "an artifact that is a hole takes no room in the results, however often it is named" "$result $(stat -c %s "$out/artifacts/d") $(($(du -sk "$out/artifacts" | cut -f1) < 1024))" "scored 1 104857600 1"
run -- sh -c 'mkdir /data; head -c 20M /dev/zero >/data/x; touch done'
is "... and all of them together no more than the task may store" "$result $(($(du -sk "$out/artifacts" | cut -f1) <= 66000))" "scored 1 1"
finish
