#!/bin/bash
# cordon task compose: the file that Docker's tools would get, printed. No Docker is needed. runtimes/compose_up.sh starts such files.
. "$(dirname "$0")/../lib.sh"
export HOME=$tmp/home DOCKER_HOST=unix://$tmp/nowhere AWS_SECRET_ACCESS_KEY=canary-env
unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_STATE_HOME
mkdir -p "$HOME/.config/cordon"
state=$HOME/.local/state/cordon/compose
me=cordon-$(id -u)

# task NAME: its path; its Compose file is standard input, none where that is empty.
task()
{
	local d=$tmp/$1
	mkdir -p "$d/environment/data" "$d/tests" "$d/solution"
	printf 'schema_version = "1.3"\n[task]\nname = "org/%s"\n[environment]\ncpus = 1\nmemory_mb = 128\n[environment.env]\nA = "table"\nPRICE = "$5 ${HOME}"\n' "$1" >"$d/task.toml"
	echo "Look." >"$d/instruction.md"
	echo "FROM debian:12" >"$d/environment/Dockerfile"
	echo 'echo 1 >/logs/verifier/reward.txt' >"$d/tests/test.sh"
	echo 'true' >"$d/solution/solve.sh"
	cat >"$d/environment/docker-compose.yaml"
	[ -s "$d/environment/docker-compose.yaml" ] || rm "$d/environment/docker-compose.yaml"
	printf '%s\n' "$d"
}

# print DIR [OPTION...]: sets out, told and status.
print()
{
	out=$("$CORDON" task compose "$@" 2>"$tmp/told")
	status=$?
	told=$(cat "$tmp/told")
}

# says EXPRESSION: of the document d that was printed.
says() { python3 -c 'import json, sys; d = json.loads(sys.argv[1]); s = d["services"]; print(eval(sys.argv[2]))' "$out" "$1"; }

d=$(task plain </dev/null)
print "$d"
is "a task without a Compose file has one service" "$status: $told: $(says 'list(s)')" "0: : ['main']"
is "... that waits, as its runners have it" "$(says 's["main"]["command"]')" "['sh', '-c', 'sleep infinity']"
is "... with the image that would be built of its Dockerfile, which is never pulled" "$(says '[s["main"]["image"], s["main"]["pull_policy"], "build" in s["main"]]')" "['$me-plain:cordon-main', 'never', False]"
is "... and no network" "$(says 's["main"]["network_mode"]')" none
is "... with the limits of its table" "$(says '[s["main"]["mem_limit"], s["main"]["cpus"]]')" "['134217728b', 1.0]"
is "... few capabilities and no new privileges" "$(says '[s["main"]["cap_drop"], len(s["main"]["cap_add"]), s["main"]["security_opt"]]')" "[['ALL'], 7, ['no-new-privileges:true']]"
is "variables are the task's; a dollar is written so that it means itself" "$(says 's["main"]["environment"]')" "{'A': 'table', 'PRICE': '\$\$5 \$\${HOME}'}"
is "nothing is left of what was looked at, and nothing is made" "$(ls -A "$HOME/.cache/cordon/tasks"; ls -A "$state" 2>/dev/null)" ""

d=$(task ready </dev/null)
sed -i 's/^cpus.*/docker_image = "debian:12"\nworkdir = "\/srv"/' "$d/task.toml"
printf '[agent]\nuser = "nobody"\n' >>"$d/task.toml"
print "$d"
is "a ready image, work folder and user are the task's" "$(says '[s["main"][k] for k in ("image", "working_dir", "user")]')" "['debian:12', '/srv', 'nobody']"

d=$(task group <<'END'
services:
  main:
    environment: {A: file, B: "${A} $${AWS_SECRET_ACCESS_KEY} ${UNSET:-default}"}
    volumes: ["./data:/data", "./data:/shown:ro", "vol:/vol"]
    labels: {canary: label}
    privileged: false
  side:
    image: redis:7
    ports: ["6379:6379"]
    container_name: the-side
    mem_limit: 64m
  built: {build: {context: data, args: {X: "1"}}}
  same: {image: "${MAIN_IMAGE_NAME}"}
volumes: {vol: }
END
)
echo 'FROM debian:12' >"$d/environment/data/Dockerfile"
print "$d" --name other-name
is "services are the file's, and one that holds their network" "$status: $(says 'list(s)')" "0: ['main', 'side', 'built', 'same', 'cordon-net']"
is "each has its image by name, and is never built by who reads the file" "$(says '[s[k]["image"] for k in ("main", "side", "built", "same", "cordon-net")]')" \
	"['$me-other-name:cordon-main', 'redis:7', '$me-other-name:built', '$me-other-name:cordon-main', '$me-other-name:cordon-main']"
is "none has a network of its own" "$(says '{v["network_mode"] for k, v in s.items() if k != "cordon-net"}, s["cordon-net"]["network_mode"]')" "({'service:cordon-net'}, 'none')"
is "the table's variables come before the file's" "$(says 's["main"]["environment"]')" "{'A': 'table', 'B': 'table \$\${AWS_SECRET_ACCESS_KEY} default', 'PRICE': '\$\$5 \$\${HOME}'}"
is "a writable bind is a copy, one that is not shows the staged task" "$(says '[m["source"] for m in s["main"]["volumes"][:2]]')" "['$state/other-name/copies/0.0', '$state/other-name/stage/environment/data']"
is "no label, port or container's name is passed on" "$(says '[k for v in s.values() for k in v if k in ("labels", "ports", "container_name", "privileged", "build")]')" "[]"
is "a service's own limit stays" "$(says 's["side"]["mem_limit"]')" 67108864b
is "nothing of this machine's environment is in it" "$(grep -c canary <<<"$out")" 0
like "warnings go to standard error" "$told" 'services.side.ports.0.: not published'
printf 'version: 1\nprocess: {max_processes: 99, memory: 32M}\n' >"$HOME/.config/cordon/policy.yaml"
print "$d"
is "the operator's bounds are below the task's" "$(says '{(v["mem_limit"], v["pids_limit"]) for k, v in s.items() if k != "cordon-net"}')" "{('33554432b', 99)}"
rm "$HOME/.config/cordon/policy.yaml"

mkdir -p "$tmp/Terminal_Bench.1/tests"
d=$tmp/Terminal_Bench.1
printf 'instruction: look\nparser_name: pytest\n' >"$d/task.yaml"
echo 'FROM debian:12' >"$d/Dockerfile"
touch "$d/run-tests.sh" "$d/solution.sh" "$d/solution.yaml" "$d/tests/test_outputs.py"
cat >"$d/docker-compose.yaml" <<'END'
services:
  client:
    build: .
    image: ${T_BENCH_TASK_DOCKER_CLIENT_IMAGE_NAME}
    command: [sh, -c, "sleep infinity"]
    volumes: ["./tests:/a:ro", "./tests/test_outputs.py:/b:ro", "./solution.sh:/c", "./run-tests.sh:/d:ro", "./solution.yaml:/e:ro", ".:/f:ro", "${T_BENCH_TASK_LOGS_PATH}:/logs"]
END
print "$d"
is "binds of tests and solution are left out, what is above them is a copy" "$status: $(says '[(m["source"], m["target"]) for m in s["client"]["volumes"]]')" \
	"0: [('$state/terminal-bench-1/copies/0.5', '/f'), ('$state/terminal-bench-1/logs/task-logs', '/logs')]"
is "the image has the name of the folder, made plain" "$(says 's["client"]["image"]')" "$me-terminal-bench-1:cordon-main"

# shellcheck disable=SC2016
d=$(task leak <<<'services: {main: {environment: {LEAK: "${AWS_SECRET_ACCESS_KEY}"}, privileged: true}}')
print "$d"
is "a task that is refused has its problems printed, as check prints them: exit 1" "$status: $out" "1: $("$CORDON" task check "$d")"
is "... each of them" "$(grep -cE 'AWS_SECRET_ACCESS_KEY|privileged' <<<"$out")" 2
is "... and no value" "$(grep -c canary-env <<<"$out$told")" 0
print "$tmp/none"
like "a folder that is not there" "$status: $told" '^125: cordon: .*none: No such file'
for name in "" -x x- a--b A a_b a/b .. "$(printf 'a%.0s' {1..41})"; do
	print "$d" --name "$name"
	like "no name: '${name:0:5}'" "$status: $told" '^125: .*(is no name for it|--name)'
done
is "down without a name lists what is up: nothing" "$("$CORDON" task down; echo $?)" 0
like "down of what is not there" "$("$CORDON" task down none 2>&1; echo $?)" $'there is no none; .*\n125$'
like "down takes no path" "$("$CORDON" task down ../../x 2>&1; echo $?)" $'is no name for it.*\n125$'
mkdir -p "$state/real" "$tmp/precious"
ln -s "$tmp/precious" "$state/link"
touch "$tmp/precious/file" "$state/real/x"
"$CORDON" task down link >/dev/null 2>&1
is "down does not go through a link" "$(ls "$tmp/precious")" file
is "down removes what never came to an engine, without one" "$("$CORDON" task down real 2>&1; echo $?; ls "$state")" $'0\nlink'
like "up without an engine leaves nothing" "$("$CORDON" task up "$tmp/plain" 2>&1; echo "$?"; ls "$state")" $'\n125\nlink$'

# An engine that has nothing and builds nothing: it writes down what it is asked, with the size of what comes along, and the room that the sender's open files take (0 where that cannot be seen).
cat >"$tmp/engine.py" <<'END'
import os, socket, stat, struct, sys


def room(c):
    pid = struct.unpack("3i", c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    try:
        files = [os.stat(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return 0
    return sum(f.st_blocks for f in files if stat.S_ISREG(f.st_mode)) * 512 >> 20


listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen(8)
open(sys.argv[1] + ".ready", "w").close()
while True:
    c, _ = listening.accept()
    head = b""
    while b"\r\n\r\n" not in head:
        piece = c.recv(65536)
        if not piece:
            break
        head += piece
    lines = head.split(b"\r\n\r\n")[0].decode().split("\r\n")
    with open(sys.argv[2], "a") as log:
        print(lines[0], *(x for x in lines if x.lower().startswith("content-length")), "MiB:", room(c), file=log)
    if "/build" not in lines[0]:
        answer = b"OK" if "ping" in lines[0] else b'{"Volumes":[]}' if "volumes" in lines[0] else b"[]"
        c.sendall(b"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
    c.close()
END
mkdir -p "$tmp/bin"
printf '#!/bin/sh\nexit 0\n' | tee "$tmp/bin/docker-compose" >"$tmp/bin/docker"
chmod 755 "$tmp/bin/docker-compose" "$tmp/bin/docker"
timeout 300 python3 "$tmp/engine.py" "$tmp/engine" "$tmp/asked" &
engine=$!
for _ in $(seq 600); do [ -e "$tmp/engine.ready" ] && break; sleep 0.1; done
holes=$(task holes </dev/null)
truncate -s 16M "$holes/environment/big"
{ echo "FROM scratch"; for i in 1 2 3 4 5 6 7 8; do echo "COPY big /b$i"; done; } >"$holes/environment/Dockerfile"
sed -i 's/^memory_mb.*/&\nstorage_mb = 64/' "$holes/task.toml"
like "up builds of no more than the task's storage, holes too" "$(PATH=$tmp/bin:$PATH DOCKER_HOST=unix://$tmp/engine "$CORDON" task up "$holes" 2>&1; echo "$?")" $'more than the 64 MiB that may be stored.*\n[0-9]+$'
is "... and asks no engine for it" "$(grep -c '/build' "$tmp/asked")" 0
sed -i 's/^storage_mb.*/storage_mb = 256/' "$holes/task.toml"
PATH=$tmp/bin:$PATH DOCKER_HOST=unix://$tmp/engine "$CORDON" task up "$holes" >/dev/null 2>&1
like "holes are not written out for the engine" "$(grep '/build' "$tmp/asked")" 'ength: 1342[0-9]{5} MiB: [0-9]$'
kill "$engine"
finish
