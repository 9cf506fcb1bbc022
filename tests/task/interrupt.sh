#!/bin/bash
# SIGINT and SIGTERM to `cordon task run`, in each of its phases: it ends soon, says so, and leaves nothing behind.
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
task_images base || { echo "Bail out! the image cannot be made"; exit 99; }
mark=$((RANDOM + 100000))

# task NAME [LINE...]: a small task; the lines go into task.toml
task()
{
	task=$tmp/$1
	shift
	mkdir -p "$task/environment" "$task/tests" "$task/solution"
	printf 'version = "1.0"\n[environment]\nallow_internet = false\n' >"$task/task.toml"
	[ $# = 0 ] || printf '%s\n' "$@" >>"$task/task.toml"
	echo "Make /app/done." >"$task/instruction.md"
	printf 'FROM cordon-test/base\nWORKDIR /app\n' >"$task/environment/Dockerfile"
	printf '#!/bin/sh\nif [ -f /app/done ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
	printf '#!/bin/sh\ntouch /app/done\n' >"$task/solution/solve.sh"
}

# until COMMAND...: at most ten seconds
until_true() { for _ in $(seq 200); do "$@" && return; sleep 0.05; done; return 1; }
runs() { pgrep -f "$1" >/dev/null; }
gone() { ! pgrep -f "^sleep $mark" >/dev/null; }
nothing_left()
{
	local left
	left=$("$CORDON" ps --quiet; find "$XDG_STATE_HOME/cordon/tasks/tmp" "$XDG_DATA_HOME"/cordon/*/tmp -mindepth 1 2>/dev/null | head -n 5; grep -F "$tmp" /proc/self/mounts)
	[ -z "$left" ] || { echo "$left"; return 1; }
}

# stopped NAME SIGNAL STATUS REASON -- CONDITION... -- ARG...: a run that gets the signal when the condition holds
stopped()
{
	local name=$1 sig=$2 want=$3 when=() began
	shift 4
	while [ "$1" != -- ]; do when+=("$1"); shift; done
	shift
	out=$tmp/results/$((++n))
	"$CORDON" task run "$task" --out "$out" "$@" >"$tmp/said" 2>"$tmp/noted" </dev/null &
	local pid=$!
	until_true "${when[@]}" || echo "# $name: it never came to that"
	began=$(date +%s%N)
	kill "-$sig" "$pid"
	{ wait "$pid"; } 2>/dev/null
	status=$?
	took=$((($(date +%s%N) - began) / 1000000))
	is "$name, SIG$sig: the exit status" "$status" "$want"
	is "... the result" "$(python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(r["status"], r["reward"], r["reason"])' "$out/result.json" 2>&1)" "infrastructure_error None stopped by SIG$sig"
	ok "... which is told, also where that is no terminal" grep -q "stopped by SIG$sig" "$tmp/said"
	ok "... no process is left" until_true gone
	ok "... nor anything else" nothing_left
	ok "... and it took no long time ($took ms)" test "$took" -lt 8000
}

task agent
for sig in INT:130 TERM:143; do
	stopped "while the agent works" ${sig%:*} ${sig#*:} -- runs "^sleep $mark" -- -- sleep $mark
	stopped "while an agent works that does not want to end" ${sig%:*} ${sig#*:} -- runs "^sleep $mark" -- -- sh -c "trap '' INT TERM HUP; (trap '' INT TERM HUP; while true; do sleep $mark; done) & while true; do sleep $mark; done"
done
stopped "while the agent works" HUP 129 -- runs "^sleep $mark" -- -- sleep $mark

task stage
head -c 600000000 /dev/zero >"$task/environment/large"
is_there() { [ -d "$out" ]; }
stopped "while the task is copied" TERM 143 -- is_there -- --agent oracle
rm "$task/environment/large"

task build
printf 'FROM cordon-test/base\nRUN sleep %s\nWORKDIR /app\n' "$mark" >"$task/environment/Dockerfile"
stopped "while the image is made" INT 130 -- runs "^sleep $mark" -- --agent oracle
stopped "while the image is made" TERM 143 -- runs "^sleep $mark" -- --agent oracle

task setup "[[environment.setup_commands]]" "command = 'sleep $mark'"
stopped "while it is set up" INT 130 -- runs "^sleep $mark" -- --agent oracle

task services
cat >"$task/environment/docker-compose.yaml" <<END
services:
  main:
    depends_on: {a: {condition: service_healthy}, b: {condition: service_started}}
    volumes: ["v:/v"]
  a:
    image: cordon-test/base
    command: ["sh", "-c", "trap '' TERM; while true; do sleep $mark; done"]
    healthcheck: {test: ["CMD", "false"], interval: 5s, timeout: 5s, retries: 100}
    volumes: ["v:/v"]
  b:
    image: cordon-test/base
    command: ["sleep", "$mark"]
volumes: {v: }
END
stopped "while a service is waited for" TERM 143 -- runs "^sleep $mark" -- --agent oracle
sed -i 's/"false"/"true"/' "$task/environment/docker-compose.yaml"
stopped "while the agent works beside services" INT 130 -- runs "^sleep $mark[1]" -- -- sh -c "trap '' TERM; sleep ${mark}1"

task freeze "[[verifier.collect]]" "command = 'sleep $mark'"
stopped "before what the agent left is looked through" TERM 143 -- runs "^sleep $mark" -- --agent oracle

task many
out=$tmp/results/many
"$CORDON" task run "$task" --out "$out" -- sh -c "touch done; i=0; while [ \$i -lt 30000 ]; do : >f\$i; i=\$((i + 1)); done; : $mark" >"$tmp/said" 2>"$tmp/noted" </dev/null &
pid=$!
until_true runs "^sh -c touch done"
until_true bash -c '! pgrep -f "^sh -c touch done.* $1" >/dev/null' _ "$mark"
sleep 0.2
began=$(date +%s%N)
kill -TERM "$pid"
{ wait "$pid"; } 2>/dev/null
is "while what the agent left is looked through: the exit status" "$?" 143
took=$((($(date +%s%N) - began) / 1000000))
like "... the result" "$(python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(r["status"], r["phases"][-2]["name"])' "$out/result.json" 2>&1)" '^infrastructure_error (agent|freeze|verify)$'
ok "... nothing is left" nothing_left
ok "... and it took no long time ($took ms)" test "$took" -lt 8000

task verify
printf '#!/bin/sh\necho 1 >/logs/verifier/reward.txt\ntrap "" TERM INT\nsleep %s\n' "$mark" >"$task/tests/test.sh"
stopped "while the tests run, which have left a reward" INT 130 -- runs "^sleep $mark" -- --agent oracle
stopped "while the tests run, which have left a reward" TERM 143 -- runs "^sleep $mark" -- --agent oracle

# A part of the gateway that is killed while the agent works: nobody's score, also where the agent ends well without it.
task gateway
printf 'version: 1\nextends: [default]\nnetwork: {mode: allowlist, allow: [{host: nowhere.test}]}\n' >"$tmp/network.yaml"
sed -i 's/allow_internet = false/allow_internet = true/' "$task/task.toml"
# role NAME: of the gateway of the run whose runner is $pid
role()
{
	local one
	for one in $(pgrep -x "cordon-$1"); do
		[ "$(ps -o ppid= -p "$(ps -o ppid= -p "$one" | tr -d ' ')" | tr -d ' ')" = "$pid" ] && echo "$one"
	done
}
for part in relay egress vault; do
	out=$tmp/results/gateway-$part
	"$CORDON" task run "$task" --policy "$tmp/network.yaml" --out "$out" -- sh -c "trap 'exit 0' TERM; touch done; sleep $mark & wait" >"$tmp/said" 2>"$tmp/noted" </dev/null &
	pid=$!
	until_true runs "^sleep $mark"
	kill -9 "$(role $part)"
	{ wait "$pid"; } 2>/dev/null
	is "cordon-$part killed while the agent works: the exit status" "$?" 125
	is "... an error of the infrastructure, and no reward" "$(python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(r["status"], r["reward"], r["reason"])' "$out/result.json" 2>&1)" \
		"infrastructure_error None agent: the gateway's $part role ended (signal 9); the run was ended"
	ok "... no process is left" until_true gone
	ok "... nor anything else" nothing_left
done

task steady
out=$tmp/results/nohup
(trap '' HUP; exec "$CORDON" task run "$task" --out "$out" -- sh -c "touch done; sleep 1") >"$tmp/said" 2>"$tmp/noted" </dev/null &
pid=$!
until_true test -e "$out/output/agent.txt"
kill -HUP "$pid"
wait "$pid"
is "a run that nohup started goes on" "$? $(cat "$tmp/said")" "0 steady: reward 1"
# An image's build ends as a task does.
mkdir -p "$tmp/image" && printf 'FROM cordon-test/base\nRUN sleep %s\n' "$mark" >"$tmp/image/Dockerfile"
for sig in INT:130 TERM:143; do
	"$CORDON" image build built "$tmp/image" >"$tmp/said" 2>"$tmp/noted" </dev/null &
	pid=$!
	until_true runs "sleep $mark" || echo "# it never came to that"
	kill "-${sig%:*}" "$pid"
	{ wait "$pid"; } 2>/dev/null
	is "image build, SIG${sig%:*}: the exit status" "$?" "${sig#*:}"
	like "... which is told" "$(cat "$tmp/noted")" interrupted
	ok "... no process is left" until_true gone
	ok "... nor anything else" nothing_left
done
finish
