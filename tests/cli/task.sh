#!/bin/bash
# cordon task check: what is accepted, what is refused and how it is said.
. "$(dirname "$0")/../lib.sh"
export HOME=$tmp/home
unset XDG_CONFIG_HOME XDG_CACHE_HOME
mkdir -p "$HOME/.config/cordon"

# task NAME: a task that is as it should be; its path.
task()
{
	local d=$tmp/$1
	mkdir -p "$d/environment" "$d/tests" "$d/solution"
	printf 'schema_version = "1.3"\n[task]\nname = "org/%s"\n[agent]\ntimeout_sec = 60\n[environment]\ncpus = 1\n' "$1" >"$d/task.toml"
	echo "Write hello to /app/out." >"$d/instruction.md"
	echo "FROM debian:12" >"$d/environment/Dockerfile"
	printf '#!/bin/sh\necho 1 >/logs/verifier/reward.txt\n' >"$d/tests/test.sh"
	printf '#!/bin/sh\necho hello >/app/out\n' >"$d/solution/solve.sh"
	printf '%s\n' "$d"
}

# check DIR [OPTION...]: sets out (both streams) and status.
check()
{
	out=$("$CORDON" task check "$@" 2>&1)
	status=$?
}

# refused NAME DIR REGEX
refused()
{
	check "$2"
	is "$1: exit 1" "$status" 1
	like "$1: what and where" "$out" "$3"
}

d=$(task plain)
check "$d"
is "a task as it should be is accepted" "$status: $out" "0: $d: ok (harbor)"
is "... as JSON" "$("$CORDON" task check --json "$d")" "{\"version\":1,\"folder\":\"$d\",\"accepted\":true,\"format\":\"harbor\",\"name\":\"org/plain\",\"problems\":[],\"left_out\":0}"
rm -r "$d/solution"
check "$d"
is "a task without a solution is accepted" "$status" 0
is "nothing is left of the copy that was looked at" "$(ls -A "$HOME/.cache/cordon/tasks")" ""
mkdir -p "$HOME/.cache/cordon/tasks/task.killed/below" "$HOME/.cache/cordon/tasks/task.locked" "$HOME/.cache/cordon/tasks/task.young"
touch -d "-2 minutes" "$HOME/.cache/cordon/tasks/task.killed" "$HOME/.cache/cordon/tasks/task.locked"
exec 9<"$HOME/.cache/cordon/tasks/task.locked"
flock 9
check "$d"
is "what a killed check left is removed, and nothing of one that goes on" "$(cd "$HOME/.cache/cordon/tasks" && echo *)" "task.locked task.young"
exec 9<&-

d=$(task document)
rm "$d/task.toml" "$d/instruction.md"
mv "$d/tests" "$d/verifier"
mv "$d/solution" "$d/oracle"
printf -- '---\nschema_version: "1.3"\nsandbox:\n  cpus: 1\n---\n\n## prompt\n\nDo it.\n' >"$d/task.md"
check "$d"
is "BenchFlow's task.md is accepted" "$status: $out" "0: $d: ok (benchflow)"
strategy()
{
	printf -- '---\ndocument_version: "0.3"\nverifier:\n  default_strategy: %s\n  strategies:\n    plain: {type: script, command: ./test.sh}\n    other: {type: script, command: python judge.py}\n    judge: {type: llm-judge, rubric: r.md}\n  outputs:\n    reward_text: %s\n---\n' "$1" "$2" >"$d/verifier/verifier.md"
	check "$d"
}
strategy plain /logs/verifier/reward.txt
is "... with a verifier.md that chooses test.sh" "$status: $out" "0: $d: ok (benchflow)"
strategy judge /logs/verifier/reward.txt
like "... not with one that chooses a model" "$status: $out" '^1: verifier/verifier\.md:8:.*verifier\.judge\.type'
strategy other /logs/verifier/reward.txt
like "... or another command" "$status: $out" '^1: verifier/verifier\.md:7:.*python judge\.py'
strategy missing /logs/verifier/reward.txt
like "... or nothing" "$status: $out" '^1: verifier/verifier\.md:4:.*no strategy'
strategy plain /app/reward.txt
like "... or another place for the reward" "$status: $out" '^1: verifier/verifier\.md:10:.*outputs\.reward_text'

d=$tmp/terminal
mkdir -p "$d/tests"
printf 'instruction: Do it.\nparser_name: pytest\n' >"$d/task.yaml"
echo "FROM debian:12" >"$d/Dockerfile"
printf 'services:\n  client:\n    build:\n      dockerfile: Dockerfile\n' >"$d/docker-compose.yaml"
echo "pytest" >"$d/run-tests.sh"
check "$d"
is "Terminal-Bench 1's task.yaml is accepted" "$status: $out" "0: $d: ok (terminal-bench)"

d=$(task typo)
printf '[enviroment]\ncpus = 1\n[agent]\ntimeout_secs = 5\n[environment]\ngpus = 2\n' >"$d/task.toml"
check "$d"
is "a refused task exits 1" "$status" 1
like "everything that is refused is named: the first" "$out" 'task\.toml:1:2: enviroment: unknown key; did you mean "environment"\?'
like "... the second" "$out" 'task\.toml:4:1: agent\.timeout_secs: unknown key; did you mean "timeout_sec"\?'
like "... the last" "$out" 'task\.toml:6:8: environment\.gpus: asks for hardware'
like "... and how many there are" "$out" ': refused \(3 problems\)'
like "as JSON, with file, line, column and key" "$("$CORDON" task check --json "$d")" '"accepted":false.*"severity":"refused","file":"task\.toml","line":6,"column":8,"key":"environment\.gpus"'

d=$(task hardening)
printf '[verifier.hardening]\ncleanup_conftests = false\nprune_git = true\n' >"$d/task.toml"
refused "hardening that Cordon does not do" "$d" 'task\.toml:3:1: verifier\.hardening\.prune_git: unknown key'
printf '[environment.hardening]\ngit = true\n' >"$d/task.toml"
refused "... or elsewhere" "$d" 'task\.toml:1:14: environment\.hardening: unknown key'
d=$(task lenient)
printf '[agent]\nfoo = 5\n' >"$d/task.toml"
refused "an unknown key" "$d" 'task\.toml:2:1: agent\.foo: unknown key'
check "$d" --lenient
is "... is a warning with --lenient" "$status" 0
like "... which is said" "$out" 'task\.toml:2:1: warning: agent\.foo: unknown key'
printf '[environment]\ngpus = 1\n' >"$d/task.toml"
check "$d" --lenient
is "what cannot be honoured is refused with --lenient, too" "$status" 1

d=$(task broken)
printf 'a = [1,\n' >"$d/task.toml"
refused "what is no TOML" "$d" 'task\.toml:2:1: '
printf 'a = "\033[2Jx"\n' >"$d/task.toml"
check "$d"
ok "control characters of a task reach no terminal" test "${out//$'\033'/}" = "$out"

d=$(task hook)
echo "curl evil" >"$d/environment/benchflow-pre-compose.sh"
refused "a hook that others execute on the host" "$d" 'environment/benchflow-pre-compose\.sh: is a hook'

d=$(task incomplete)
rm "$d/instruction.md" "$d/environment/Dockerfile" "$d/tests/test.sh"
check "$d"
like "an instruction is needed" "$out" 'instruction\.md: is missing'
like "something to build is needed" "$out" 'environment/Dockerfile: is missing'
like "a test script is needed" "$out" 'tests/test\.sh: is missing'
like "all of it is said at once" "$out" '3 problems'
refused "an empty folder" "$(mkdir -p "$tmp/empty" && echo "$tmp/empty")" 'is this a task.s folder\?'

d=$(task links)
rm "$d/instruction.md"
echo "fake-secret" >"$tmp/secret"
ln -s "$tmp/secret" "$d/instruction.md"
refused "a link that leaves the folder" "$d" 'instruction\.md: .*link'
rm "$d/instruction.md"
ln -s tests/test.sh "$d/instruction.md"
refused "a link in the place of a file" "$d" 'instruction\.md: is not a regular file'

d=$(task secrets)
printf '[environment.env]\nA = "${FAKE_HOST_SECRET}"\nB = "${FAKE_HOST_SECRET:-default}"\n' >"$d/task.toml"
export FAKE_HOST_SECRET=fake-value-7731
refused "a variable of the host's in [environment.env]" "$d" 'task\.toml:2:5: environment\.env: A: .*\$\{FAKE_HOST_SECRET\}'
ok "... whose value is nowhere" test "${out/fake-value-7731/}" = "$out"
printf '[verifier.env]\nKEY = "${JUDGE_KEY}"\nOTHER = "${JUDGE_KEY:-}"\n' >"$d/task.toml"
refused "a secret for the verifier that nobody granted" "$d" 'task\.toml:2:7: verifier\.env: KEY: .*verifier_env'
cat >"$HOME/.config/cordon/credentials.yaml" <<'END'
version: 1
credentials:
  judge:
    from: {env: FAKE_HOST_SECRET}
    hosts: [api.example.com]
    inject: {header: x-api-key, format: "{}"}
    verifier_env: JUDGE_KEY
END
check "$d"
is "... and one that the operator granted" "$status: $out" "0: $d: ok (harbor)"

d=$(task dockerfile)
printf 'FROM debian:12\nCOPY ../secret /s\nRUN --mount=type=secret,id=x true\nADD https://example.com/x /x\n' >"$d/environment/Dockerfile"
check "$d"
is "a Dockerfile that reaches out is refused" "$status" 1
like "... a source outside" "$out" 'environment/Dockerfile:2:1: COPY: '
like "... a secret" "$out" 'environment/Dockerfile:3:1: RUN: '
like "... a file from the network" "$out" 'environment/Dockerfile:4:1: ADD: '
printf '# syntax=evil/frontend\nFROM debian:12\n' >"$d/environment/Dockerfile"
refused "a frontend" "$d" 'environment/Dockerfile:1:1: # syntax=evil/frontend'
printf 'docker_image = "debian:12"\n' >>"$d/task.toml"
check "$d"
is "a Dockerfile that docker_image takes the place of is not read" "$status: $out" "0: $d: ok (harbor)"

# --- services: what a run does not do is said ---

d=$(task services)
# compose TEXT: services of the task
compose() { printf '%s\n' "$1" >"$d/environment/docker-compose.yaml"; }
# told NAME KEYS REGEX: a service with these keys is accepted with a warning that says so
told()
{
	compose "services: {main: {depends_on: [db]}, db: {image: x, $2}}"
	check "$d"
	is "$1 of a service: accepted" "$status" 0
	like "$1 of a service: said" "$out" "environment/docker-compose\.yaml:1:1: warning: services\.db\.$1: $3"
}
# told_main NAME KEYS REGEX, refused_main NAME KEYS REGEX: the agent's own
told_main()
{
	compose "services: {main: {$2}}"
	check "$d"
	is "$1 of the agent's service: accepted" "$status" 0
	like "$1 of the agent's service: said" "$out" "environment/docker-compose\.yaml:1:1: warning: services\.main\.$1: $3"
}
refused_main()
{
	compose "services: {main: {$2}}"
	refused "$1 of the agent's service" "$d" "environment/docker-compose\.yaml:1:1: services\.main\.$1: $3"
}
told read_only 'read_only: true' 'is not done'
told hostname 'hostname: h' '.*called cordon'
told tty 'tty: true' 'has no terminal'
told tmpfs 'tmpfs: ["/x:size=64k"]' 'its size'
told volumes 'volumes: ["./data:/data"]' '.*read-only'
told cap_drop 'cap_drop: [ALL]' 'is not done'
told mem_reservation 'mem_reservation: 64m' '.*not enforced'
told shm_size 'shm_size: 64m' '.*tmp_size'
told ulimits 'ulimits: {nofile: 64}' 'are not set'
told stop_signal 'stop_signal: SIGINT' 'is not sent'
told stop_grace_period 'stop_grace_period: 10s' 'is not held'
told restart 'restart: always' '.*not started again'
told_main hostname 'hostname: h' '.*called cordon'
told_main tmpfs 'tmpfs: [/x]' 'is not a file system'
told_main volumes 'volumes: ["./data:/data"]' '.*read-only'
told_main cap_drop 'cap_drop: [ALL]' 'is not done'
told_main ulimits 'ulimits: {nofile: 64}' 'are not set'
told_main shm_size 'shm_size: 64m' '.*tmp_size'
refused_main read_only 'read_only: true' '.*read-only root'
refused_main command 'command: ["sh", "-c", "server & sleep infinity"]' 'does more than wait'
refused_main command 'entrypoint: /start.sh, command: sleep infinity' 'does more than wait'
refused_main volumes 'volumes: ["./data:/dev/shm/x"]' '.*/dev'
refused_main depends_on 'depends_on: {db: {condition: service_healthy}}}, db: {image: x' '.*no healthcheck'
compose 'services: {main: {healthcheck: {test: "true"}}, db: {image: x, depends_on: {main: {condition: service_healthy}}}}'
refused "who waits for the agent's own service" "$d" "environment/docker-compose\.yaml:1:1: services\.db\.depends_on: waits until the agent's own"
compose 'services: {main: {}, db: {image: x, depends_on: {main: {condition: service_completed_successfully}}}}'
refused "... or for its end" "$d" "services\.db\.depends_on: waits until the agent's own"
compose 'services: {main: {}, db: {image: x, depends_on: [main]}}'
check "$d"
is "... and who only comes after it is not" "$status: $out" "0: $d: ok (harbor)"
for keys in 'command: sleep infinity' 'command: ["sh", "-c", "sleep infinity"]' 'command: tail -f /dev/null' 'command: ["/bin/bash"], tty: true, stdin_open: true, init: true, restart: always, stop_signal: SIGKILL' \
	'entrypoint: ["/bin/sh", "-c"], command: ["while true; do sleep 30; done"]' 'command: ["bash", "-lc", "trap exit TERM; sleep 1d & wait"]' 'user: "1000", working_dir: /x, pids_limit: 9, mem_limit: 1g, cpus: 1, container_name: c, network_mode: none, tmpfs: /dev/shm'; do
	compose "services: {main: {$keys}}"
	check "$d"
	case $keys in
	*tmpfs*) like "what is honoured of the agent's service is accepted" "$status" 0 ;;
	*) is "a command that waits is nothing to talk about: $keys" "$status: $out" "0: $d: ok (harbor)" ;;
	esac
done
compose 'services: {main: {networks: [in]}, db: {image: x, networks: [in, out]}}
networks: {in: {internal: true}, out: }'
refused "a way out for an agent that is to have none" "$d" 'docker-compose\.yaml:1:1: services\.db\.networks: has a way out'
printf 'allow_internet = false\n' >>"$d/task.toml"
check "$d"
is "... where it has none anyway" "$status: $out" "0: $d: ok (harbor)"
sed -i '/allow_internet/d' "$d/task.toml"
compose 'services: {main: {networks: [in, out]}, db: {image: x, networks: [in]}}
networks: {in: {internal: true}, out: }'
check "$d"
like "a service on an internal network is told of" "$status: $out" '^0: .*warning: services\.db\.networks: an internal network'
compose 'services: {main: {build: {context: ., target: no-such}}, db: {build: ./db}}'
mkdir "$d/environment/db"
printf '# syntax=evil/frontend\nFROM debian:12\nADD https://example.com/x /x\n' >"$d/environment/db/Dockerfile"
check "$d"
is "Dockerfiles of services are judged" "$status" 1
like "... by file and line" "$out" 'environment/db/Dockerfile:1:1: # syntax'
like "... and a stage that is not there is no stage" "$out" 'environment/Dockerfile:1:1: there is no stage'
compose 'services: {main: {build: ./db}}'
refused "the agent's own is what is built" "$d" 'environment/db/Dockerfile:1:1: # syntax'
compose 'services: {main: {image: "${MAIN_IMAGE_NAME}"}}'
rm "$d/environment/Dockerfile"
refused "an image that nothing is there to build of" "$d" 'services\.main\.image: .*no Dockerfile'
# by_page KEY...: those that cordon-compose(5) has nothing about
by_page()
{
	local key page=$tests_dir/../man/cordon-compose.5
	for key; do
		grep -q -E "(^|[^a-z_])$key([^a-z_]|\$)" "$page" || echo "$key"
	done
}
# shellcheck disable=SC2046
is "cordon-compose(5) has every key that is read" "$(by_page $(sed -n '/^static const struct compose_row \|^const struct compose_row /,/^};/s/^\t{"\([a-z_]*\)", [a-z].*/\1/p' "$tests_dir"/../src/task/compose*.c))" ""

d=$(task separate)
printf '[verifier]\nenvironment_mode = "separate"\n' >"$d/task.toml"
printf 'FROM debian:12\nADD https://example.com/x /x\n' >"$d/tests/Dockerfile"
refused "the Dockerfile of a separate verifier" "$d" 'tests/Dockerfile:2:1: ADD: '
echo "FROM debian:12" >"$d/tests/Dockerfile"
check "$d"
is "... is fine as it should be" "$status" 0
printf 'services:\n  main:\n    volumes:\n      - {type: bind, source: ./test.sh, target: /tests/test.sh, read_only: true}\n' >"$d/tests/docker-compose.yaml"
check "$d"
is "a separate verifier's Compose file may name its own files" "$status: $out" "0: $d: ok (harbor)"
printf '      - {type: bind, source: ./test.sh, target: /bin/sh}\n' >>"$d/tests/docker-compose.yaml"
refused "... and not put them elsewhere" "$d" 'tests/docker-compose\.yaml: services: gives the verifier more'
printf 'services:\n  main: {}\n  judge: {image: "judge:1"}\n' >"$d/tests/docker-compose.yaml"
refused "... and not start services" "$d" 'tests/docker-compose\.yaml: services: gives the verifier more'
printf 'services:\n  main: {environment: {LD_PRELOAD: /x}}\n' >"$d/tests/docker-compose.yaml"
refused "... and not set variables" "$d" 'tests/docker-compose\.yaml: services: gives the verifier more'
printf 'services:\n  main: {privileged: true}\n' >"$d/tests/docker-compose.yaml"
refused "... and not reach the host" "$d" 'tests/docker-compose\.yaml:2:[0-9]+: services\.main\.privileged'

d=$(task steps)
printf '[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n' >"$d/task.toml"
mkdir -p "$d/steps/one/tests" "$d/steps/two"
echo "First." >"$d/steps/one/instruction.md"
echo "Second." >"$d/steps/two/instruction.md"
rm "$d/instruction.md"
check "$d"
is "a task of steps is accepted" "$status: $out" "0: $d: ok (harbor)"
rm "$d/tests/test.sh" "$d/steps/two/instruction.md"
check "$d"
like "a step needs an instruction" "$out" 'steps/two: has no instruction\.md'
like "... and a test script, its own or the task's" "$out" 'steps/one/tests/test\.sh: is missing'

d=$(task compose)
printf 'services:\n  main:\n    environment:\n      A: ${FAKE_HOST_SECRET}\n    volumes:\n      - /etc:/host\n      - /var/run/docker.sock:/var/run/docker.sock\n    privileged: true\n' >"$d/environment/docker-compose.yaml"
check "$d"
is "a Compose file that reaches the host is refused" "$status" 1
like "... a folder of the host" "$out" 'environment/docker-compose\.yaml:6:[0-9]+: services\.main\.volumes'
like "... privileges" "$out" 'environment/docker-compose\.yaml:8:[0-9]+: services\.main\.privileged'
like "... a variable of the host" "$out" 'environment/docker-compose\.yaml:4:[0-9]+: services\.main\.environment.*FAKE_HOST_SECRET'
printf 'services:\n  main:\n    environment:\n      A: ${DECLARED}\n  db:\n    image: postgres:16\n' >"$d/environment/docker-compose.yaml"
printf '[environment.env]\nDECLARED = "x"\n' >"$d/task.toml"
echo "A=b" >"$d/environment/.env"
echo "not yaml: [" >"$d/environment/docker-compose.yml"
check "$d"
is "services and declared variables are fine, and other files are data" "$status" 0
like "... and .env is said not to be read" "$out" 'environment/\.env: warning: is not read'

check "$tmp/nowhere"
is "a folder that is not there is a failure, not a refusal" "$status" 125
like "... which names it" "$out" '^cordon: .*nowhere'

d=$(task both)
printf -- '---\nagent: {}\n---\nOther.\n' >"$d/task.md"
check "$d"
is "task.toml with an instruction.md counts" "$status" 0
like "... and the other file is said not to be read" "$out" 'task\.md: warning: is not read'
finish
