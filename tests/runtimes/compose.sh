#!/bin/bash
# Services of a task by docker compose and docker-compose: what these tools get to see, what services can reach, and that nothing stays. With a Docker Engine of the suite's own.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
start_engine "services by Compose"
drive=$CORDON_BUILD/tests/compose-drive
busybox=$(command -v busybox) || { skip "services by Compose" "there is no busybox here"; finish; }
tool=$(command -v docker-compose) || { skip "services by Compose" "there is no docker-compose here"; finish; }

# An image with a shell and little else, under two names.
mkdir -p "$tmp/root/bin" "$tmp/root/tmp"
cp "$busybox" "$tmp/root/bin/busybox"
for name in sh sleep cat echo id hostname ls env nc httpd wget ping nslookup true false touch mkdir chown su grep ip; do ln -s busybox "$tmp/root/bin/$name"; done
tar -C "$tmp/root" -c . | curl -s --unix-socket "$engine/s" -X POST -H 'Content-Type: application/x-tar' --data-binary @- "http://docker/v1.41/images/create?fromSrc=-&repo=agent&tag=latest" >/dev/null
ask POST '/images/agent/tag?repo=side&tag=latest' >/dev/null

project()
{
	rm -rf "$tmp/p" "$tmp/p.task" "$tmp/p.copies" "$tmp/p.logs"
	mkdir -m 700 "$tmp/p"
	mkdir -p "$tmp/p.task/data" "$tmp/p.copies" "$tmp/p.logs"
	echo from-the-task >"$tmp/p.task/data/file"
	# Where a tool would look for variables and secrets of the host.
	echo 'STOLEN=dotenv' >"$tmp/p.task/.env"
	cat >"$tmp/p.task/docker-compose.yaml"
}

# run_it COMMAND...: in the agent's service, with secrets in our own environment.
run_it()
{
	AWS_SECRET_ACCESS_KEY=canary-env COMPOSE_FILE=/etc/passwd COMPOSE_PROJECT_NAME=evil COMPOSE_PROFILES=x COMPOSE_ENV_FILES=/etc/passwd DOCKER_BUILDKIT=1 BUILDKIT_HOST=tcp://1.2.3.4 LD_PRELOAD_CANARY=canary-env \
		"$drive" "$tmp/p" cordontest "$tmp/p.task/docker-compose.yaml" agent "$@" </dev/null
}

left()
{
	containers
	ask GET '/networks' | python3 -c 'import json,sys
for n in json.load(sys.stdin):
    if n["Name"] not in ("none", "host", "bridge"): print(n["Name"])'
	ask GET '/volumes' | python3 -c 'import json,sys
for v in json.load(sys.stdin)["Volumes"] or []: print(v["Name"])'
}

nothing_left()
{
	local l
	l=$(left)
	[ -z "$l" ] || { echo "left: $l"; return 1; }
}

one='services: {client: {build: ., command: [sleep, "1000"]}}'
group='
services:
  client:
    build: .
    container_name: the-client
    command: [sh, -c, "sleep 1000"]
    environment: {PRICE: "$$5 $${HOME}"}
    depends_on: {web: {condition: service_healthy}, setup: {condition: service_completed_successfully}}
    volumes: ["shared:/shared", "./data:/data:ro", "${T_BENCH_TASK_LOGS_PATH}:/logs"]
    tmpfs: ["/scratch:size=1m,mode=1777"]
  web:
    image: side
    command: [sh, -c, "echo hello-from-web >/tmp/index.html; httpd -f -p 8000 -h /tmp"]
    healthcheck: {test: [CMD, wget, -q, -O, /dev/null, "http://127.0.0.1:8000/"], interval: 1s, timeout: 2s, retries: 20, start_interval: 1s}
    ports: ["8000:8000"]
    container_name: the-web
    labels: {canary: label}
    restart: always
  setup:
    image: side
    command: [sh, -c, "echo made >/shared/made"]
    volumes: ["shared:/shared"]
volumes: {shared: }
'

with_tool()
{
	local how=$1 out
	project <<<"$one"
	out=$(run_it env | sort)
	is "$how: a service's environment holds nothing of the host's" "$(grep -cE 'canary|STOLEN|COMPOSE|AWS' <<<"$out")" 0
	project <<<"$one"
	is "$how: a command's exit status comes back" "$(run_it sh -c 'exit 7'; echo $?)" 7
	ok "$how: nothing is left after it" nothing_left
	project <<<"$one"
	is "$how: a single service has no network" "$(run_it sh -c 'ip -o link | grep -vc " lo:"; cat /proc/net/route | grep -c eth')" $'0\n0'
	project <<<"$one"
	like "$how: capabilities are the few that images need" "$(run_it grep CapBnd /proc/self/status)" '00000000000004eb$'
	project <<<"$one"
	like "$how: no new privileges" "$(run_it grep NoNewPrivs /proc/self/status)" '1$'

	project <<<"$group"
	out=$(run_it sh -c 'wget -q -O - http://web:8000/; wget -q -O - http://the-web:8000/; cat /shared/made /data/file; echo "$PRICE"; touch /data/x 2>&1; ip -o link | grep -vc " lo:"; grep -c . /proc/net/route; nc -w 2 192.0.2.1 80 2>&1; echo log >/logs/l; grep scratch /proc/mounts')
	is "$how: services reach each other by name" "$(grep -c hello-from-web <<<"$out")" 2
	like "$how: one that others wait for has ended before them" "$out" $'made\nfrom-the-task'
	like "$how: dollars are the task's own" "$out" '\$5 \$\{HOME\}'
	like "$how: a read-only bind is" "$out" 'Read-only file system'
	like "$how: a group has no way out" "$out" $'\n0\n1\nnc: .*nreachable'
	is "$how: what is written to the runner's folder is there" "$(cat "$tmp/p.logs/l")" log
	like "$how: a tmpfs has its size" "$out" 'size=1024k'
	ok "$how: nothing is left of a group" nothing_left

	project <<<'services: {client: {build: ., depends_on: {bad: {condition: service_healthy}}}, bad: {image: side, command: [sleep, "1000"], healthcheck: {test: [CMD, "false"], interval: 1s, retries: 1}}}'
	is "$how: a service that does not get healthy is a failure" "$(run_it true 2>/dev/null; echo $?)" 125
	ok "$how: nothing is left after a failure" nothing_left
	project <<<'services: {client: {image: nowhere.invalid/not-here}}'
	is "$how: an image that is not there is not pulled" "$(run_it true 2>/dev/null; echo $?)" 125
	ok "$how: nothing is left after that" nothing_left
}

# The tool's own environment, arguments and folder, as the kernel has them, while a command runs.
seen()
{
	local p i
	project <<<"$one"
	run_it sleep 3 &
	for ((i = 0; i < 200; i++)); do
		for p in /proc/[0-9]*; do
			{ tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null | grep -q 'compose.* exec -T client' || continue
			[ "$(readlink "$p/cwd")" = "$tmp/p" ] || continue
			tr '\0' '\n' <"$p/environ" | cut -d= -f1 | sort
			readlink "$p/fd/0"
			wait
			return
		done
		sleep 0.05
	done
	wait
}

with_tool docker-compose
is "docker-compose: its environment is exactly PATH, HOME and DOCKER_HOST" "$(seen)" $'DOCKER_HOST\nHOME\nPATH\n/dev/null'

docker=$(command -v docker)
# Version 2 is not packaged here: a docker that notes what it gets and has docker-compose do the work.
mkdir "$tmp/bin"
cat >"$tmp/bin/docker" <<EOF
#!/bin/sh
[ "\$1" = compose ] || exec $docker "\$@" # docker-compose itself asks it to execute commands
shift
[ "\$1" = version ] && exit 0
{ tr '\\0' '\\n' </proc/\$\$/environ; echo "cwd=\$(pwd)"; echo "args=\$*"; } >>$tmp/noted
exec $tool "\$@"
EOF
chmod 755 "$tmp/bin/docker"
PATH=$tmp/bin:relative::.:$PATH
with_tool "docker compose"
noted=$(grep -vE '^(cwd|args)=' "$tmp/noted" | cut -d= -f1 | sort -u)
is "docker compose: its environment is exactly PATH, HOME and DOCKER_HOST" "$noted" $'DOCKER_HOST\nHOME\nPATH'
is "docker compose: PATH has no relative part" "$(grep -E '^PATH=' "$tmp/noted" | sort -u | tr : '\n' | sed 's/^PATH=//' | grep -vc '^/')" 0
is "docker compose: HOME is the project's folder" "$(grep -E '^HOME=' "$tmp/noted" | sort -u)" "HOME=$tmp/p"
is "docker compose: it runs in the project's folder" "$(grep -E '^cwd=' "$tmp/noted" | sort -u)" "cwd=$tmp/p"
like "docker compose: only Cordon's file is given" "$(grep -E '^args=.* up ' "$tmp/noted" | head -1)" "^args=--ansi never --project-name cordontest --project-directory $tmp/p --env-file $tmp/p/none.env --file $tmp/p/compose.json up --detach"

project <<<"$one"
printf '#!/bin/sh\n[ "$2" = version ] && exit 0\nsleep 100\n' >"$tmp/bin/docker"
ok "a tool that cannot be had is an error" test "$(PATH=$tmp/root run_it true 2>&1 | grep -c 'neither .docker compose. nor .docker-compose.')" = 1
project <<<"$one"
chmod 755 "$tmp/p"
like "a folder that others can enter is refused" "$(run_it true 2>&1)" 'can be entered by others'
project <<<'services: {client: {image: agent, privileged: true}}'
like "what reaches the host is refused before anything starts" "$(run_it true 2>&1)" 'docker-compose.yaml:1: services.client.privileged'
finish
