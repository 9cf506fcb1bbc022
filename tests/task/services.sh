#!/bin/bash
# Services of a task, by attack, on every runtime (CORDON_RUNTIME): one network, with names, that only the door leads out of; of one group and nobody else's; and nothing of an agent in it when the verifier runs.
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../runtime_lib.sh"
need_runtime "services" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
runtime=(${CORDON_RUNTIME:+--runtime "$CORDON_RUNTIME"})
task_images base python || { echo "Bail out! the image cannot be made"; exit 99; }

# A page of the host's, on its loopback: whoever reads it leaves a line with the path.
cat >"$tmp/host.py" <<'END'
import http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"fake-page-of-the-host\n")
    def log_message(self, form, *args):
        open(sys.argv[1], "a").write(args[0] + "\n")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
print(server.server_port, flush=True)
server.serve_forever()
END
: >"$tmp/host.log"
exec 3< <(exec python3 "$tmp/host.py" "$tmp/host.log")
host=$!
# folders of overlays' own, of runs that were killed, are closed to their owner
trap 'kill "$host" 2>/dev/null; chmod -R u+rwX "$XDG_DATA_HOME"; tap_cleanup' EXIT
read -r port <&3

# task NAME LINE...: one that passes when /app/done is there; the lines go into task.toml
task()
{
	task=$tmp/$1
	shift
	rm -rf "$task"
	mkdir -p "$task/environment" "$task/tests" "$task/solution"
	printf '%s\n' 'version = "1.0"' "$@" >"$task/task.toml"
	echo "Make /app/done." >"$task/instruction.md"
	printf 'FROM cordon-test/base\nWORKDIR /app\n' >"$task/environment/Dockerfile"
	printf '#!/bin/sh\nif [ -f /app/done ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
	printf '#!/bin/sh\ntouch /app/done\n' >"$task/solution/solve.sh"
}

# services LEADER [MEMBER]: commands of the shell; both are healthy as soon as /ready is there
services()
{
	cat >"$task/environment/docker-compose.yaml" <<END
services:
  main:
    depends_on:
      leader: {condition: service_healthy}
${2:+      member: {condition: service_healthy\}}
  leader:
    image: cordon-test/base
    command: ["sh", "-c", "$1"]
    healthcheck: &ready {test: ["CMD", "test", "-e", "/ready"], interval: 1s, timeout: 5s, retries: 30}
END
	[ -z "${2:-}" ] || cat >>"$task/environment/docker-compose.yaml" <<END
  member:
    image: cordon-test/base
    depends_on: {leader: {condition: service_healthy}}
    command: ["sh", "-c", "$2"]
    healthcheck: {test: ["CMD", "test", "-e", "/ready"], interval: 1s, timeout: 5s, retries: 30}
END
	sed -i 's/ &ready//' "$task/environment/docker-compose.yaml"
}

# run ARG...: result (status and reward, or why not) and out (the folder of results)
run()
{
	out=$tmp/out-${task##*/}
	rm -rf "$out"
	timeout 180 "$CORDON" task run "$task" "${runtime[@]}" --out "$out" --json "$@" >"$task.json" 2>"$task.err"
	result=$(told)
}
told()
{
	python3 - "$task.json" <<'END' 2>/dev/null || tail -n 3 "$task.err"
import json, sys
r = json.load(open(sys.argv[1]))
print(r["status"], "-" if r["reward"] is None else f'{r["reward"]:g}', *([r["reason"]] if "reason" in r else []))
END
}
says() { cat "$out/output/$1.txt" 2>&1; }

# --- a task without a network ---

probe="grep -v -e '|' -e ' lo:' /proc/net/dev | sed 's/^/interface /'; for a in 127.0.0.1:$port 192.0.2.1:$port up.test:$port; do timeout 3 wget -q -O - http://\$\$a/probe && echo reached \$\$a; done; env | grep -i proxy; nslookup up.test 127.0.0.1 2>&1 | grep -A1 Name"
task offline '[environment]' 'allow_internet = false'
services "$probe; mkdir /www; echo plum >/www/word; httpd -p 8080 -h /www; touch /ready; sleep 600" "$probe; echo word: \$\$(timeout 3 wget -q -O - http://leader:8080/word); httpd -p 127.0.0.1:8081 -h /bin; touch /ready; sleep 600"
run -- sh -c "${probe//\$\$/\$}; echo word: \$(timeout 3 wget -q -O - http://leader:8080/word); timeout 3 wget -q -O /dev/null http://member:8081/busybox && echo member; touch /app/done"
is "it is scored" "$result" "scored 1"
is "names lead from a service to another" "$(says service-member | grep -v -e '^cordon' -e "can't" -e 'bad address')" "word: plum"
is "and from the agent to all, and to nothing else" "$(says agent | grep -v -e '^cordon' -e "can't" -e 'bad address')" $'word: plum'
is "the first service reaches nothing" "$(says service-leader | grep -e '^interface' -e '^reached' -e fake-page)" ""
is "nobody came to the host's loopback" "$(cat "$tmp/host.log")" ""

# --- one door for all, and nobody takes its place ---

mkdir -p "$XDG_CONFIG_HOME/cordon"
printf 'version: 1\nresolve: {"up.test": ["127.0.0.1"]}\n' >"$XDG_CONFIG_HOME/cordon/gateway.yaml"
printf 'version: 1\nextends: [task]\nnetwork: {mode: allowlist, allow: [{host: up.test, ports: [%s]}]}\n' "$port" >"$tmp/net.yaml"
ask="timeout 5 wget -q -O - http://up.test:$port/"
task online '[environment]' 'network_mode = "public"' '[verifier]' 'network_mode = "no-network"'
services "${ask}leader; touch /ready; while :; do ${ask}poll >/dev/null 2>&1 && echo polled \$\$(date +%s); sleep 0.2; done" "${ask}member; python3 /take.py; timeout 5 wget -q -O - http://other.test:$port/ || echo other: no; touch /ready; sleep 600"
sed -i '/member:$/,$ { s,cordon-test/base,cordon-test/python,; s,^    command,    volumes: ["./take.py:/take.py:ro"]\n&, }' "$task/environment/docker-compose.yaml"
cat >"$task/environment/take.py" <<'END'
import errno, socket
taken = 0
for port, kind in (3128, socket.SOCK_STREAM), (53, socket.SOCK_STREAM), (53, socket.SOCK_DGRAM):
    for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"):
        for option in 0, socket.SO_REUSEADDR, socket.SO_REUSEPORT:
            s = socket.socket(family, kind)
            if option:
                s.setsockopt(socket.SOL_SOCKET, option, 1)
            try:
                s.bind((address, port))
                if kind == socket.SOCK_STREAM:
                    s.listen()
                print("took", address, port, kind, option)
            except OSError as e:
                taken += e.errno == errno.EADDRINUSE
            s.close()
print("taken:", taken)
END
printf '#!/bin/sh\ndate +%%s >/logs/verifier/began\nsleep 3\n%sverifier && exit 1\necho 1 >/logs/verifier/reward.txt\n' "$ask" >"$task/tests/test.sh"
run --policy "$tmp/net.yaml" -- sh -c "${ask}agent"
is "it is scored" "$result" "scored 1"
like "what the policy opens is open to the first service" "$(says service-leader)" '^fake-page-of-the-host'
like "and to the others" "$(says service-member)" 'fake-page-of-the-host'
like "and to the agent" "$(says agent)" 'fake-page-of-the-host'
like "what it does not open is closed to them" "$(says service-member)" 'other: no'
is "nobody else can listen at the door's ports" "$(says service-member | grep -e ^took -e ^taken)" "taken: 18"
like "the services went on to ask" "$(says service-leader)" 'polled [0-9]+'
began=$(cat "$out/verifier/began")
is "but for the verifier the group is closed, to all of it" "$(says service-leader | awk -v began="${began:-0}" '$1 == "polled" && $2 > began + 1' | head -3)" ""
is "whoever came was let in" "$(grep -v -e leader -e member -e agent -e poll "$tmp/host.log")" ""

# --- a service that ends ends nobody else ---

task ends '[environment]' 'allow_internet = false'
services "mkdir /www; echo plum >/www/word; httpd -p 8080 -h /www; touch /ready; until nc -l -p 7000 | grep -q end; do sleep 0.1; done" "httpd -p 8081 -h /bin; touch /ready; sleep 600"
printf '#!/bin/sh\nif [ -f /app/done ] && timeout 5 wget -q -O /dev/null http://member:8081/busybox; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
run -- sh -c 'while timeout 3 wget -q -O - http://leader:8080/word; do echo end | timeout 2 nc leader 7000; sleep 0.2; done; timeout 5 wget -q -O /dev/null http://member:8081/busybox && touch /app/done'
is "an agent that makes the first service end goes on, and so do the others" "$result" "scored 1"
like "... which had been there" "$(says agent)" '^plum'
task ended '[environment]' 'allow_internet = false'
services "touch /ready; sleep 2"
run -- sh -c 'sleep 3'
is "one whose only service ends by itself is judged" "$result" "scored 0"
run -- sh -c 'touch /app/done; kill -9 1; tail /dev/zero & tail /dev/zero & tail /dev/zero & sleep 2'
is "... and so is what one left that took its sandbox with it" "$result" "scored 1"

# --- what an agent leaves is gone before the verifier comes ---

task left '[environment]' 'allow_internet = false'
services "touch /ready; sleep 600"
printf '#!/bin/sh\nif timeout 2 wget -q -O - http://127.0.0.1:9999/done; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
run -- sh -c 'echo here >/app/done; httpd -p 9999 -h /app; (trap "" TERM HUP INT; while :; do httpd -f -p 9998 -h /app; done) >/dev/null 2>&1 & timeout 3 wget -q -O - http://127.0.0.1:9999/done'
is "a daemon of the agent's does not answer the verifier" "$result $(says agent)" "scored 0 here"
task slow '[environment]' 'allow_internet = false' '[agent]' 'timeout_sec = 4'
services "touch /ready; sleep 600"
printf '#!/bin/sh\nif timeout 2 wget -q -O - http://127.0.0.1:9999/done; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
run -- sh -c 'echo here >/app/done; trap "" TERM; httpd -p 9999 -h /app; while :; do sleep 1; done'
like "nor one of an agent that was ended" "$result" '^(scored 0|timeout)'

# --- no more than the network is shared, and limits hold ---

task own '[environment]' 'allow_internet = false' 'memory_mb = 512'
services "python3 /own.py; sleep 600"
sed -i 's,cordon-test/base,cordon-test/python,; s,^    command,    mem_limit: 96m\n    volumes: ["./own.py:/own.py:ro"]\n&,' "$task/environment/docker-compose.yaml"
cat >"$task/environment/own.py" <<'END'
import ctypes
c = ctypes.CDLL(None)
print("made", c.shmget(4242, 4096, 0o1666) >= 0 or c.msgget(77, 0o1666) >= 0, flush=True)
open("/ready", "w")
END
cat >"$task/environment/find.py" <<'END'
import ctypes, time
c = ctypes.CDLL(None)
c.shmat.restype = ctypes.c_long
print("found:", [c.shmget(4242, 4096, 0), c.msgget(77, 0)], [i for i in range(64) if c.shmat(i, None, 0) != -1 or c.msgsnd(i, b"\1" * 16, 1, 0o4000) != -1], flush=True)
b = bytearray(900 << 20)
time.sleep(2)
print("took 900 MB")
END
printf 'FROM cordon-test/python\nCOPY find.py /find.py\nWORKDIR /app\n' >"$task/environment/Dockerfile"
run -- python3 /find.py
is "queues and memory of a service's are its own" "$(says agent | grep -e found)" "found: [-1, -1] []"
ok "an agent has no more memory than its task" bash -c '! grep "took" "$1"' _ "$out/output/agent.txt"
like "a service has what its compose file says" "$(cat "$out/policy/service-leader.yaml")" '"memory":100663296'

# --- groups ---

for word in pear fig; do
	task "$word" '[environment]' 'allow_internet = false'
	services "mkdir /www; echo $word >/www/word; httpd -p 8080 -h /www; touch /ready; sleep 600"
	run -- sh -c 'sleep 2; timeout 3 wget -q -O - http://leader:8080/word; timeout 3 wget -q -O - http://127.0.0.1:8080/word' &
	pids[${#pids[@]}]=$!
done
wait "${pids[@]}"
is "two groups at a time have two networks" "$(cat "$tmp"/out-{pear,fig}/output/agent.txt | grep -v ^cordon | tr '\n' ' ')" "pear pear fig fig "

# --- Cordon is killed ---

forever=$((86000000 + $$))
boxes=$([ "$(id -u)" = 0 ] && echo /run/cordon || echo "$XDG_RUNTIME_DIR/cordon")
# what is left of runs of ours: boxes, processes that know their names, containers
left()
{
	local id ids
	"$CORDON" ps -q
	ids=$(ls "$state")
	for id in $ids; do
		[ ! -e "$boxes/$id" ] || echo "box $id"
		[ -z "${DOCKER_HOST:-}" ] || ! curl -s --max-time 20 --unix-socket "${DOCKER_HOST#unix://}" "http://docker/v1.41/containers/cordon-$id/json" | grep -q '"Id"' || echo "container $id"
	done
	# shellcheck disable=SC2086
	grep -las -F -f <(printf 'cordon-%s\n' $ids) /proc/[0-9]*/cmdline | sed 's/^/process /'
	pgrep -f "^sleep $forever" | sed 's/^/process /'
}
nothing_left()
{
	local i
	for ((i = 0; i < 100; i++)); do
		left >"$tmp/left.txt" 2>&1
		[ -s "$tmp/left.txt" ] || return 0
		sleep 0.2
	done
	cat "$tmp/left.txt"
	return 1
}
# reached WHEN: has the run come that far?
reached()
{
	case $1 in
	start) test -d "$tmp/out-killed" ;;
	agent) grep -qs began "$tmp/out-killed/output/agent.txt" ;;
	*) test -e "$tmp/out-killed/output/service-$1.txt" ;;
	esac
}
task killed '[environment]' 'allow_internet = false'
services "touch /ready; sleep $forever" "touch /ready; sleep $forever"
for when in start leader member agent; do
	rm -rf "$tmp/out-killed"
	"$CORDON" task run "$task" "${runtime[@]}" --out "$tmp/out-killed" -- sh -c "echo began; sleep $forever" >/dev/null 2>&1 &
	killed=$!
	for ((i = 0; i < 600; i++)); do
		! reached "$when" || break
		sleep 0.05
	done
	kill -9 "$killed"
	wait "$killed" 2>/dev/null
	ok "killed at the $when, it came so far, and leaves nothing" eval 'reached "$when" && nothing_left'
done

# --- binds: Terminal-Bench's compose file stands beside tests and solution ---

task=$tmp/binds
mkdir -p "$task/tests" "$task/data/below"
printf 'instruction: look\nparser_name: pytest\n' >"$task/task.yaml"
printf 'FROM cordon-test/python\nWORKDIR /app\n' >"$task/Dockerfile"
printf 'import os\n\n\ndef test_it():  # the-tests\n    assert os.path.exists("/app/done")\n' >"$task/tests/test_outputs.py"
printf '#!/bin/bash\npython3 -m pytest "$TEST_DIR/test_outputs.py" -rA # the-tests\n' >"$task/run-tests.sh"
printf '#!/bin/bash\ntouch /app/done # the-solution\n' >"$task/solution.sh"
echo 'the-solution' >"$task/solution.yaml"
echo shown >"$task/data/below/file"
ln -s ../tests "$task/data/link"
look='ls /all /data/below; cat /data/below/file; cat /all/*.sh /all/tests/* /a/* /b /c /d /e /data/link/* /all/data/link/*; grep -rs the-[t]ests /all /data && echo found'
binds='[".:/all:ro", "./data:/data:ro", "./tests:/a:ro", "./tests/test_outputs.py:/b:ro", "./solution.sh:/c", "./run-tests.sh:/d:ro", "./solution.yaml:/e:ro"]'
cat >"$task/docker-compose.yaml" <<END
services:
  client:
    build: .
    command: ["sh", "-c", "sleep infinity"]
    environment: ["TEST_DIR=/tests"]
    volumes: $binds
    depends_on: {side: {condition: service_healthy}}
  side:
    image: cordon-test/base
    command: ["sh", "-c", "($look) >/said 2>&1; cat /said; touch /ready; sleep 600"]
    healthcheck: {test: ["CMD", "test", "-e", "/ready"], interval: 1s, timeout: 5s, retries: 30}
    volumes: $binds
END
run -- sh -c "$look; touch /app/done"
is "with binds of its folder a task is scored" "$result" "scored 1"
is "its agent sees the rest of the folder" "$(says agent | grep -cxE 'Dockerfile|task.yaml|file|shown')" 4
is "its services, too" "$(says service-side | grep -cxE 'Dockerfile|task.yaml|file|shown')" 4
is "neither sees tests or solution, by whatever name" "$(says agent | grep -cE 'the-tests|the-solution|found'; says service-side | grep -cE 'the-tests|the-solution|found')" $'0\n0'
is "what they do not get is listed" "$(python3 -c 'import json, sys
print(sorted({f["path"] for f in json.load(open(sys.argv[1]))["findings"] if f["rule"] == "services.bind"}))' "$task.json")" "['/a', '/all', '/b', '/c', '/d', '/e']"
run --agent oracle
is "its own solution still passes" "$result" "scored 1"
finish
