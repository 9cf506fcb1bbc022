#!/bin/bash
# cordon task up and down: a task's services at a Docker Engine of the suite's own, by docker compose or docker-compose: what they get of this machine, what services see of the task, and that nothing stays.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
start_engine "task up"
command -v busybox >/dev/null || { skip "task up" "there is no busybox here"; finish; }
tool=$(command -v docker-compose) || { skip "task up" "there is no docker-compose here"; finish; }
docker=$(command -v docker)
export HOME=$tmp/home
unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_HOME
mkdir -p "$HOME/.config/cordon"
state=$HOME/.local/state/cordon/compose
me=cordon-$(id -u)

mkdir -p "$tmp/root/bin" "$tmp/root/tmp"
cp "$(command -v busybox)" "$tmp/root/bin/busybox"
for name in sh sleep cat echo id ls env nc httpd wget true false touch mkdir ln grep ip test; do ln -s busybox "$tmp/root/bin/$name"; done
chmod 1777 "$tmp/root/tmp"
tar -C "$tmp/root" -c . | curl -s --unix-socket "$engine/s" -X POST -H 'Content-Type: application/x-tar' --data-binary @- "http://docker/v1.41/images/create?fromSrc=-&repo=agent&tag=latest" >/dev/null
ask POST '/images/agent/tag?repo=side&tag=latest' >/dev/null

# harbor NAME: a task with a build; its compose file is standard input.
harbor()
{
	local d=$tmp/tasks/$1
	rm -rf "$d"
	mkdir -p "$d/environment/data" "$d/tests" "$d/solution"
	printf 'schema_version = "1.3"\n[task]\nname = "org/%s"\n[environment]\ncpus = 1\nmemory_mb = 256\nworkdir = "/work"\n[environment.env]\nGREETING = "hello from the table"\n' "$1" >"$d/task.toml"
	echo "Look." >"$d/instruction.md"
	# shellcheck disable=SC2016
	printf 'FROM agent\nWORKDIR /work\nCOPY data/file /copied\nCOPY data/own /own\nRUN ip -o link | grep -vc " lo:" >/links; env >/seen\n' >"$d/environment/Dockerfile"
	echo from-the-task >"$d/environment/data/file"
	echo mine >"$d/environment/data/own"
	chmod 600 "$d/environment/data/own"
	echo 'echo 1 >/logs/verifier/reward.txt # the-tests' >"$d/tests/test.sh"
	echo 'echo the-solution' >"$d/solution/solve.sh"
	echo 'AWS_SECRET_ACCESS_KEY=canary-dotenv' >"$d/environment/.env"
	cat >"$d/environment/docker-compose.yaml"
}

# With secrets in our own environment, and what would turn the tools' heads.
with_secrets()
{
	AWS_SECRET_ACCESS_KEY=canary-env COMPOSE_FILE=/etc/passwd COMPOSE_PROJECT_NAME=evil COMPOSE_PROFILES=x COMPOSE_ENV_FILES=/etc/passwd DOCKER_BUILDKIT=1 BUILDKIT_HOST=tcp://1.2.3.4 timeout 120 "$@"
}
up() { with_secrets "$CORDON" task up "$@" </dev/null; }
down() { with_secrets "$CORDON" task down "$@" </dev/null; }

# A command where `task up` said that a shell would be.
inside()
{
	local line
	line=$(grep -o 'docker exec -it [a-z0-9_.-]* sh' "$tmp/said")
	# shellcheck disable=SC2086
	set -- ${line#docker exec -it } "$@"
	timeout 20 "$docker" exec "$1" sh -c "$3" 2>&1
}

built() { ask GET '/images/json' | grep -o "\"$me-[^\"]*\"" | sort; }

left()
{
	containers
	ask GET '/networks' | python3 -c 'import json,sys
for n in json.load(sys.stdin):
    if n["Name"] not in ("none", "host", "bridge"): print(n["Name"])'
	ask GET '/volumes' | python3 -c 'import json,sys
for v in json.load(sys.stdin)["Volumes"] or []: print(v["Name"])'
	built
	ls -A "$state" 2>/dev/null
}
nothing_left()
{
	local l
	l=$(left)
	[ -z "$l" ] || { echo "left: $l"; return 1; }
}

# The tool notes what it gets; docker-compose does the work for version 2, which is not packaged here.
mkdir "$tmp/bin"
shim()
{
	cat >"$tmp/bin/docker" <<END
#!/bin/sh
[ "\$1" = compose ] || exec $docker "\$@"
shift
[ "\$1" = version ] && exit 0
{ tr '\\0' '\\n' </proc/\$\$/environ; echo "cwd=\$(pwd)"; echo "args=\$*"; } >>$tmp/noted
$1
exec $tool "\$@"
END
	chmod 755 "$tmp/bin/docker"
}
shim :
PATH=$tmp/bin:relative::$PATH

harbor group <<'END'
services:
  main:
    environment: {OWN: "$$5 $${AWS_SECRET_ACCESS_KEY}", GREETING: "of the file"}
    depends_on: {web: {condition: service_healthy}}
    volumes: ["./data:/data", "./data:/shown:ro", "vol:/vol", "${HOST_AGENT_LOGS_PATH}:/logs/agent"]
  web:
    image: side
    command: [sh, -c, "echo hello-from-web >/tmp/index.html; httpd -f -p 8000 -h /tmp"]
    healthcheck: {test: [CMD, wget, -q, -O, /dev/null, "http://127.0.0.1:8000/"], interval: 1s, timeout: 2s, retries: 20}
    ports: ["8000:8000"]
    volumes: ["vol:/vol"]
  like-main:
    image: ${MAIN_IMAGE_NAME}
    command: [sh, -c, "sleep 1000"]
volumes: {vol: }
END
with_secrets "$CORDON" task compose "$tmp/tasks/group" --name one >"$tmp/printed" 2>"$tmp/warned"
up "$tmp/tasks/group" --name one >"$tmp/said" 2>"$tmp/errors"
is "a task's services are started" "$?: $(tail -1 "$tmp/errors" | grep -v '^cordon: start$')" "0: "
like "it is said how to get a shell and how to end it" "$(cat "$tmp/said")" $'^one: 3 services, without a network\na shell:  docker exec -it cordon-.*one.main.1 sh\nto end:   cordon task down one$'
ok "the tool gets the file that task compose prints, byte for byte" cmp "$tmp/printed" <(cat "$state/one/tool/compose.json"; echo)
is "the folder is its owner's alone" "$(stat -c %a "$state/one" "$state/one/tool" | tr '\n' ' ')" "700 700 "
like "files are in the image with the modes that they have in the task's folder" "$(inside 'ls -l /own /copied' | cut -c1-10 | tr '\n' ' ')" '^-rw-r--r-- -rw------- $'
out=$(inside 'env; pwd; wget -q -O - http://web:8000/; cat /copied /data/file; cat /links; touch /shown/x; echo changed >/data/file; echo log >/logs/agent/l; ls -d /tests /solution; cat /proc/net/route; ip -o link | grep -vc " lo:"; grep CapBnd /proc/self/status; grep NoNewPrivs /proc/self/status')
like "variables are the task's, the table's before the file's" "$out" 'GREETING=hello from the table'
like "dollars of the task are itself" "$out" $'OWN=\\$5 \\$\{AWS_SECRET_ACCESS_KEY\}\n'
like "the work folder is the task's" "$out" $'\n/work\n'
like "services reach each other by name" "$out" hello-from-web
is "a build copies what the Dockerfile says, binds show it" "$(grep -c from-the-task <<<"$out")" 2
like "RUN has no network" "$out" $'from-the-task\n0\n'
like "a read-only bind is" "$out" 'touch: /shown/x: Read-only file system'
is "what is written to a bind stays out of the stage" "$(cat "$state/one/stage/environment/data/file" "$state/one/copies/0.0/file" "$tmp/tasks/group/environment/data/file")" $'from-the-task\nchanged\nfrom-the-task'
is "the runner's folder is there" "$(cat "$state/one/logs/agent/l")" log
is "tests and solution are not there" "$(grep -c 'No such file' <<<"$out")" 2
like "there is no way out, few capabilities and no new privileges" "$out" $'\n0\nCapBnd:\t00000000000004eb\nNoNewPrivs:\t1(\n|$)'
is "no file, image, container or variable of it holds what our environment holds" "$(grep -rlE 'canary-(env|dotenv)' "$state/one/tool" "$state/one/copies" "$state/one/logs"; for c in $(containers); do "$docker" inspect "${c#/}"; done | grep -c canary; inside 'cat /seen; env' | grep -c canary)" $'0\n0'
is "the tool's environment is exactly PATH, HOME and DOCKER_HOST" "$(grep -vE '^(cwd|args)=' "$tmp/noted" | cut -d= -f1 | sort -u)" $'DOCKER_HOST\nHOME\nPATH'
is "its home and folder hold only Cordon's file" "$(grep -E '^(HOME|cwd)=' "$tmp/noted" | cut -d= -f2 | sort -u)" "$state/one/tool"
is "no argument or path of it is relative" "$(grep -E '^PATH=' "$tmp/noted" | sort -u | tr : '\n' | sed 's/^PATH=//' | grep -vc '^/')" 0
is "task down lists what is up" "$(down)" one
like "a second one of that name is refused" "$(up "$tmp/tasks/group" --name one 2>&1)" 'there is a one already; `cordon task down one` ends it'
is "... and the first goes on" "$(inside 'echo here')" here
mkdir "$tmp/precious"
echo kept >"$tmp/precious/file"
inside "ln -s $tmp/precious /data/link; ln -s $tmp/precious /logs/agent/link; mkdir -p /data/deep/er; chmod 0 /data/deep" >/dev/null
is "task down ends it" "$(down one 2>&1; echo $?)" 0
ok "nothing is left after it: container, network, volume, image, folder" nothing_left
is "links that services made are not followed" "$(cat "$tmp/precious/file")" kept
like "one that is not there is told" "$(down one 2>&1; echo $?)" $'there is no one; .*\n125$'

# ---- hostile ones ----
# shellcheck disable=SC2016
harbor leak <<<'services: {main: {environment: {LEAK: "${AWS_SECRET_ACCESS_KEY}"}}}'
is "a variable of the host's is a refusal: exit 1" "$(up "$tmp/tasks/leak" >"$tmp/said" 2>&1; echo $?)" 1
like "... that names it, and not its value" "$(cat "$tmp/said")" 'docker-compose.yaml:1:.*services.main.environment.LEAK: .*AWS_SECRET_ACCESS_KEY'
is "... nowhere" "$(grep -c canary-env "$tmp/said")" 0
ok "nothing is left of one that is refused" nothing_left
harbor pull <<<'services: {side: {image: nowhere.invalid/not-here}}'
like "an image that the engine has not is not pulled" "$(up "$tmp/tasks/pull" 2>&1; echo $?)" $'Docker Engine has no image nowhere.invalid/not-here, which the service side wants; .*\n125$'
ok "nothing is left after that" nothing_left
harbor sick <<<'services: {side: {image: side, command: [sleep, "1000"], healthcheck: {test: [CMD, "false"], interval: 1s, retries: 1}}}'
like "a service that does not get healthy is a failure that names it" "$(up "$tmp/tasks/sick" 2>&1; echo $?)" $'service side is not healthy: its health check fails\n125$'
ok "nothing is left after a failure" nothing_left
harbor broken <<<'services: {main: {}}'
echo 'RUN false' >>"$tmp/tasks/broken/environment/Dockerfile"
like "a build that fails says so, and that it had no network" "$(up "$tmp/tasks/broken" 2>&1; echo $?)" $'cordon: build, without a network \(--build-network gives one\)\n.*environment/Dockerfile: Docker Engine: .*\n125$'
is "with --build-network it has the engine's" "$(up "$tmp/tasks/broken" --build-network 2>&1 | grep -c '^cordon: build$')" 1
ok "nothing is left after a failed build" nothing_left

# Terminal-Bench: the compose file stands beside tests and solution.
mkdir -p "$tmp/tasks/terminal/tests" "$tmp/tasks/terminal/data"
printf 'instruction: look\nparser_name: pytest\n' >"$tmp/tasks/terminal/task.yaml"
echo 'FROM agent' >"$tmp/tasks/terminal/Dockerfile"
for name in run-tests.sh solution.sh solution.yaml tests/test_outputs.py; do echo the-secret-part >"$tmp/tasks/terminal/$name"; done
echo shown >"$tmp/tasks/terminal/data/file"
cat >"$tmp/tasks/terminal/docker-compose.yaml" <<'END'
services:
  client:
    build: .
    command: [sh, -c, "sleep infinity"]
    volumes: [".:/here:ro", "./:/there", "./tests:/t:ro", "./solution.sh:/s:ro", "./tests/test_outputs.py:/o:ro", "./data/file:/f", "./none:/empty"]
END
is "a Terminal-Bench task, by the name of its folder" "$(up "$tmp/tasks/terminal" >"$tmp/said" 2>"$tmp/errors"; echo "$?: $(cd "$state" && echo *)")" "0: terminal"
out=$(inside 'ls /here /there; ls -d /t /s /o; cat /f; echo more >>/f; ls /empty; grep -r the-secret-part /here /there /f /empty')
is "binds hold neither tests nor solution, whichever way they name them" "$(grep -cE 'the-secret|run-tests|solution|tests' <<<"$out"; grep -cE '^(Dockerfile|task.yaml|data)$' <<<"$out")" $'0\n6'
is "a file can be bound, and stays what it was in the task" "$(grep -c shown <<<"$out"; cat "$tmp/tasks/terminal/data/file")" $'1\nshown'

# ---- ends ----
stop_engine
out=$(down terminal 2>&1; echo $?)
like "without an engine it is said what is left" "$out" "terminal: containers, volumes and images of the project $me-terminal may be left at Docker Engine, and the folder $state/terminal"
like "... and it is a failure" "$out" $'\n125$'
is "... that keeps what is needed to go on" "$(ls "$state")" terminal
run_engine || echo "# the engine did not come back"
with_secrets env DOCKER_HOST="unix://$tmp/elsewhere" PATH="$tmp/root/bin" "$CORDON" task down terminal >"$tmp/said" 2>&1
is "later it ends all the same, without the tool, at the engine where it was started" "$?: $(cat "$tmp/said")" "0: "
ok "nothing is left of it" nothing_left

harbor killed <<<'services: {main: {volumes: ["vol:/vol"]}, side: {image: side, command: [sleep, "1000"]}}
volumes: {vol: }'
shim 'case "$*" in *" up "*) '"$tool"' "$@"; echo started >>'"$tmp/started"'; sleep 100;; esac'
# shellcheck disable=SC2031
"$CORDON" task up "$tmp/tasks/killed" >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 600; i++)); do [ -e "$tmp/started" ] && break; sleep 0.1; done
like "while it starts, down leaves it alone" "$(down killed 2>&1)" 'killed is in use by another'
kill -9 "$pid"
wait "$pid" 2>/dev/null
shim :
is "one that was killed while it started has left something" "$(left | grep -c .)" 6
is "... which down removes" "$(down killed 2>&1; echo $?)" 0
ok "... all of it" nothing_left

harbor other <<<'services: {main: {}}'
"$docker" volume create --label com.docker.compose.project="$me-other" theirs >/dev/null
like "what has the project's name already is not taken over" "$(up "$tmp/tasks/other" 2>&1)" "has containers, networks or volumes of a project $me-other already"
is "... nor removed" "$("$docker" volume ls -q)" theirs
"$docker" volume rm theirs >/dev/null
printf 'version: 1\nprocess: {runtime: native}\n' >"$HOME/.config/cordon/policy.yaml"
like "the operator's ceiling is asked for the runtime" "$(up "$tmp/tasks/other" 2>&1; echo $?)" $'runtime.*native.*\n125$'
printf 'version: 1\nprocess: {max_processes: 99, memory: 64M}\nphases: {build: {network: {mode: none}}}\n' >"$HOME/.config/cordon/policy.yaml"
like "... and for a build's network" "$(up "$tmp/tasks/other" --build-network 2>&1; echo $?)" $'--build-network: the operator.s policy gives builds the network `none`.*\n125$'
up "$tmp/tasks/other" >"$tmp/said" 2>&1
is "... and for limits" "$("$docker" inspect -f '{{.HostConfig.PidsLimit}} {{.HostConfig.Memory}}' "$(containers)")" "99 67108864"
rm "$HOME/.config/cordon/policy.yaml"
is "several names, one of which is not there: the other ends" "$(down none-such other 2>/dev/null; echo $?)" 125
ok "nothing is left in the end" nothing_left

# ---- an ordinary user, of the engine's group ----
user=$((RANDOM + 200000))
me=cordon-$user
HOME=$tmp/theirs
state=$HOME/.local/state/cordon/compose
mkdir "$HOME" "$tmp/programs"
cp "${CORDON%/*}"/cordon "${CORDON%/*}"/cordon-* "$tmp/programs/" 2>/dev/null
chmod 755 "$tmp/programs" "$tmp/bin"
rm -f "$tmp/noted" && touch "$tmp/noted" && chmod 666 "$tmp/noted"
harbor theirs <<<'services: {main: {volumes: ["./data:/data"]}}'
rm "$tmp/tasks/theirs/environment/.env"
mv "$tmp/tasks/theirs" "$HOME/"
chown -R "$user:$user" "$HOME"
as_user()
{
	(cd "$HOME" && timeout 120 env -i PATH="$PATH" HOME="$HOME" DOCKER_HOST="$DOCKER_HOST" setpriv --reuid "$user" --regid "$user" --groups "$engine_group" -- "$tmp/programs/cordon" task "$@" </dev/null)
}
is "an ordinary user, too" "$(as_user up theirs >"$tmp/said" 2>"$tmp/errors"; echo "$?: $(grep -vE '^cordon: (images|build.*|start)$' "$tmp/errors")")" "0: "
is "... has services" "$(inside 'echo made >/data/made; cat /data/file')" from-the-task
is "... and ends them" "$(as_user down theirs 2>&1; echo $?)" 0
ok "... with nothing left" nothing_left
as_user up theirs >"$tmp/said" 2>/dev/null
inside 'mkdir -p /data/deep/er' >/dev/null
like "what only root can remove is told" "$(as_user down theirs 2>&1; echo $?)" $'theirs has ended; in .*/compose/theirs are files that its containers made, as another user, and which only root can remove\n125$'
rm -rf "$state/theirs"
ok "... and is all that is left" nothing_left
finish
