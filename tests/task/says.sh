#!/bin/bash
# What `cordon task run` says and keeps when things go well, and when they do not: whose fault it is, where to look, and nothing that looks like a score but a score.
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
task_images base || { echo "Bail out! the image cannot be made"; exit 99; }

# task NAME: a small task that passes when /app/done is there
task()
{
	task=$tmp/$1
	mkdir -p "$task/environment" "$task/tests" "$task/solution"
	printf 'version = "1.0"\n[environment]\nallow_internet = false\n' >"$task/task.toml"
	echo "Make /app/done." >"$task/instruction.md"
	printf 'FROM cordon-test/base\nWORKDIR /app\n' >"$task/environment/Dockerfile"
	printf '#!/bin/sh\nif [ -f /app/done ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
	printf '#!/bin/sh\ntouch /app/done\n' >"$task/solution/solve.sh"
}

# run ARG...: status, said (standard output), noted (standard error) and out (the folder of results)
run()
{
	out=$tmp/results/$((++runs))
	said=$(timeout 120 "$CORDON" task run "$task" --out "$out" "$@" 2>"$tmp/noted")
	status=$?
	noted=$(cat "$tmp/noted")
}

# of KEY: what result.json has there
of()
{
	python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$out/result.json" "$1"
}

task plain
run --agent oracle
is "a score is one line, in a folder whose parents were made" "$status $said" "0 plain: reward 1"
is "the result says who worked, without a model" "$(of agent) $(of model)" "oracle None"
links=$(grep -o 'href="[^"]*"' "$out/report.html" | cut -d'"' -f2)
is "the page links what was printed, and what was seen, where it is" "$(for link in $links; do [ -f "$out/$link" ] || echo "no $link"; done; grep -cx './output/agent.txt\|./output/verify.txt\|./audit/agent.jsonl\|./workspace.diff\|./result.json' <<<"$links")" 5
like "... when, and with which Cordon" "$(of started) $(of cordon)" '^20[0-9-]+T[0-9:]+Z [0-9]+\.'
run --json -- sh -c 'touch done; exit 7'
is "a command is named by its words" "$(of agent)" "sh -c touch done; exit 7"
like "with --json the folder of results is told, too" "$noted" "results: $out\$"
run -- sh -c 'touch done; exit 7'
is "an agent that fails is judged by its work" "$status $said" "0 plain: reward 1"
like "... and its exit status is told" "$noted" 'the agent ended with exit status 7; output/agent\.txt has'

said=$(umask 022; timeout 60 "$CORDON" task run "$task" --agent none 2>"$tmp/noted")
is "results below the state folder are their owner's alone" "$said $(stat -c %a "$XDG_STATE_HOME/cordon/tasks")" "plain: reward 0 700"

# a model on loopback, whose key is not taken
python3 "$tests_dir/agent/model.py" 18092 "$tmp/script.json" "$tmp/model.log" &
model=$!
trap 'kill "$model" 2>/dev/null; tap_cleanup' EXIT
echo '[{"status": 401, "body": {"error": {"message": "no such key"}}}]' >"$tmp/script.json"
mkdir -p "$XDG_CONFIG_HOME/cordon"
cat >"$XDG_CONFIG_HOME/cordon/credentials.yaml" <<'END'
version: 1
credentials:
  model: {from: {env: FAKE_KEY}, hosts: [127.0.0.1], inject: {header: authorization, format: "Bearer {}"}}
END
cat >"$tmp/models.yaml" <<'END'
version: 1
extends: [task]
phases:
  agent:
    inference: {providers: {openai: {kind: openai, url: "http://127.0.0.1:18092", credential: model, models: ["m-*"]}}}
END
export FAKE_KEY=fake-key-0000000000000001
for _ in $(seq 50); do (exec 3<>/dev/tcp/127.0.0.1/18092) 2>/dev/null && break; sleep 0.1; done

models()
{
	run --agent cordon --model m-1
	like "an agent that has no model is no score of 0" "$status $said" '^125 plain: agent_error: no model answered the agent; output/agent\.txt'
	ok "... and why is there" grep -q 'inference.providers' "$out/output/agent.txt"
	is "... and which model it was to be" "$(of model)" "m-1"

	# the model is there, and says nothing
	run --agent cordon --model m-1 --policy "$tmp/models.yaml"
	like "nor is one whose model takes no key" "$status $said" '^125 plain: agent_error: no model answered the agent'
	# its time is over before it has tried often enough to give up
	task hasty
	printf 'version = "1.0"\n[agent]\ntimeout_sec = 4.0\n[environment]\nallow_internet = false\n' >"$task/task.toml"
	sed 's/18092/18093/' "$tmp/models.yaml" >"$tmp/nobody.yaml"
	run --agent cordon --model m-1 --policy "$tmp/nobody.yaml"
	like "nor is one whose time was over while nobody answered" "$status $said" '^125 hasty: agent_error: no model answered the agent before its time was over; output/agent\.txt'
	is "... and the result says both" "$(of status) $(of reward) $(of agent_timed_out)" "agent_error None True"
	ok "... and why is there" grep -q 'again in' "$out/output/agent.txt"
	run --policy "$tmp/nobody.yaml" -- sh -c 'touch /app/done; sleep 60'
	is "a command that asked no model is judged when its time is over" "$status $said" "0 hasty: reward 1"
	echo '[{"run": ["touch /app/done; sleep 60"]}]' >"$tmp/script.json"
	rm -f "$tmp/model.log"
	run --agent cordon --model m-1 --policy "$tmp/models.yaml"
	is "so is an agent whose model had answered" "$status $said $(of agent_timed_out)" "0 hasty: reward 1 True"
	task=$tmp/plain
	echo '[{"run": ["touch /app/done"]}, {"status": 401, "body": {"error": {"message": "no such key"}}}]' >"$tmp/script.json"
	rm -f "$tmp/model.log"
	run --agent cordon --model m-1 --policy "$tmp/models.yaml"
	is "one whose model fell silent later is judged by its work" "$status $said" "0 plain: reward 1"
	like "... and its exit status is told" "$noted" 'the agent ended with exit status 3'

	is "what the runner itself put there is no finding" "$(of findings)" "[]"
}
if ldd "${CORDON%/*}/cordon-agent" 2>/dev/null | grep -q '=>'; then
	skip "agents without a model" "with sanitizers the agent needs libraries that the image lacks"
else
	models
fi

run --model m-1 -- true
like "a model for a command is refused, not forgotten" "$status $noted" '^125 cordon: task run: --model is for --agent'
ok "... before there are results" test ! -e "$out"
run --agent oracle --runtime bogus
like "so is a runtime that nobody knows" "$status $noted" '^125 cordon: --runtime: "bogus" is none of'
ok "... before there are results" test ! -e "$out"
printf 'version: 1\nnetwrk: {}\n' >"$tmp/bad.yaml"
run --agent oracle --policy "$tmp/bad.yaml"
like "so is a policy that is wrong: the task is not to blame" "$status $noted" '^125 cordon: .*bad\.yaml:2:1: netwrk: unknown key'
ok "... before there are results" test ! -e "$out"
run --json --agent oracle --policy "$tmp/bad.yaml"
is "... with --json there is a document for it" "$status $(python3 -c 'import json,sys; r=json.loads(sys.argv[1]); print(r["version"], r["status"], r["reward"], "netwrk" in r["reason"])' "$said" 2>&1)" "125 1 infrastructure_error None True"
run --json --agent nobody
like "... and for an agent that is not there" "$status $said" '^125 .*"status":"infrastructure_error","reason":"there is no agent nobody'
run --json --model m-1 -- true
is "... but none for a command line that is wrong" "$status:$said" "125:"
unset FAKE_KEY
run --agent cordon --model m-1 --policy "$tmp/models.yaml"
like "nor is it for a key that the operator did not set" "$status $said" '^125 plain: infrastructure_error: agent: credential model: the variable FAKE_KEY is not set'
run -- sh -c 'touch done; mkdir -p /logs/verifier; echo 1 >/logs/verifier/reward.txt'
like "but a reward that an agent wrote is a finding" "$(of findings)" "'/logs'"
mkdir -p "$XDG_CONFIG_HOME/cordon/agents"
printf '%s\n' 'version: 1' 'command: [sh, -c, "touch done; mkdir -p /logs/agent; ln -s /etc/passwd /logs/agent/words", sh, "{instruction}"]' 'trajectory: /logs/agent/words' >"$XDG_CONFIG_HOME/cordon/agents/linking.yaml"
run --agent linking
like "a trajectory that is not collected is a finding" "$status $(of findings)" "^0 .*'not-collected'.*trajectory is no file"

# asks a model that is not there, and ends with the status that its file says
cat >"$tmp/ask.sh" <<'END'
touch /app/done
url=${OPENAI_BASE_URL#http://}
host=${url%%/*}
body='{"model": "m-1", "messages": [{"role": "user", "content": "x"}], "max_tokens": 9}'
printf 'POST /%s/chat/completions HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s' "${url#*/}" "$host" "${#body}" "$body" | nc -w 5 "${host%:*}" "${host#*:}"
END
for end in 1 0; do
	printf '%s\n' 'version: 1' "command: [sh, -c, '$(sed "s/'/''/g" "$tmp/ask.sh" | tr '\n' ';') exit $end', sh, '{instruction}']" >"$XDG_CONFIG_HOME/cordon/agents/asks-$end.yaml"
done
sed 's/18092/18093/' "$tmp/models.yaml" >"$tmp/nobody.yaml"
export FAKE_KEY=fake-key-0000000000000001
run --agent asks-1 --policy "$tmp/nobody.yaml"
like "an agent of the operator's that fails where no model answered is no score" "$status $said" '^125 plain: agent_error: no model answered the agent; '
run --agent asks-0 --policy "$tmp/nobody.yaml"
is "one that ends well is judged" "$status $said" "0 plain: reward 1"
run --policy "$tmp/nobody.yaml" -- sh -c "$(cat "$tmp/ask.sh"); exit 1"
is "so is a command, which may need no model" "$status $said" "0 plain: reward 1"
unset FAKE_KEY
task=$tmp/nowhere
run --agent oracle
like "a folder that is not there is no task that is refused" "$status $noted" '^125 cordon: .*/nowhere: No such file'

task failing-build
echo 'RUN echo no mirror answers; exit 9' >>"$task/environment/Dockerfile"
run --agent oracle
like "a build that fails is not a task that is refused" "$status $said" '^125 failing-build: infrastructure_error: environment/Dockerfile:3: RUN: the command ended with exit status 9; output/build\.txt'
ok "... and what it said is there" grep -qx 'no mirror answers' "$out/output/build.txt"

task failing-tests
echo 'echo oops; exit 4' >"$task/tests/test.sh"
run --agent oracle
like "tests that leave no reward: how they ended, and where to look" "$status $said" '^125 failing-tests: verifier_error: .*exit status 4, and output/verify\.txt'

task wrong
printf 'gpus = 1\nflavour = "\\u001b[31m"\n' >>"$task/task.toml"
run --agent oracle
like "of a task that is refused all problems are told" "$status $said" '^1 wrong: refused: task\.toml:4:[0-9]+: environment\.gpus.*
  task\.toml:5: environment\.flavour: unknown key'

# as root a small file system can be had; it goes with the namespace that has it
mkdir "$tmp/small"
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs -o size=128k none "$tmp/small" 2>/dev/null; then
	task plain
	# shellcheck disable=SC2016 # for the inner shell
	said=$(unshare -m sh -c 'mount -t tmpfs -o size=128k none "$1" && timeout 60 "$2" task run "$3" --out "$1/out" -- sh -c "touch done; head -c 1000000 /dev/zero"
		echo "status $?"; find "$1" -name result.json -o -name report.html' _ "$tmp/small" "$CORDON" "$task" 2>&1)
	like "where results do not fit, that is told, and no half of one is left" "$said" 'No space left on device
status 125$'
else
	skip "where results do not fit, that is told, and no half of one is left" "no file system can be mounted here"
fi

# --- an agent whose time is over ---

task slow
printf '[agent]\ntimeout_sec = 2\n' >>"$task/task.toml"
run -- sh -c 'touch done; trap "" TERM; (trap "" TERM; while true; do touch /app/again; sleep 0.1; done) & sleep 60'
is "an agent whose time is over is ended, and judged by what it left" "$status $said" "0 slow: reward 1"
is "... and the result says so" "$(of agent_timed_out) $(of status) $(python3 -c 'import json,sys; print([p["exit"] for p in json.load(open(sys.argv[1]))["phases"] if p["name"] == "agent"])' "$out/result.json")" "True scored [124]"
like "... and so is the person told" "$noted" 'the agent was ended when its time was over'
run -- sleep 60
is "... where it left nothing, that is what it gets" "$status $said" "0 slow: reward 0"
run -- sh -c 'touch done; exit 124'
is "an agent that ends with the same status was not timed out" "$status $said $(of agent_timed_out)" "0 slow: reward 1 False"
printf '#!/bin/sh\nexit 3\n' >"$task/tests/test.sh"
run -- sleep 60
is "tests that leave no reward stay an error, whatever the agent did" "$status $(of status) $(of reward) $(of agent_timed_out)" "125 verifier_error None True"
printf '#!/bin/sh\necho 1 >/logs/verifier/reward.txt\nexit 124\n' >"$task/tests/test.sh"
run --agent none
is "tests that end with that status were not timed out" "$status $said" "0 slow: reward 1"
task ready
printf '[[environment.setup_commands]]\ncommand = "sleep 60"\ntimeout_sec = 1\n' >>"$task/task.toml"
run --agent none
is "time that is over before the agent began leaves nothing to be judged" "$status $(of status) $(of agent_timed_out)" "125 timeout False"

# --- runtimes ---

printf 'version: 1\nphases: {verify: {process: {runtime: gvisor}}}\n' >"$XDG_CONFIG_HOME/cordon/policy.yaml"
task plain
run --runtime native -- sh -c 'touch done'
like "a ceiling's runtime for the verifier is known before the agent starts" "$status $said" '^1 plain: refused: verify: --runtime: native is not the ceiling.s gvisor'
ok "... which left nothing" test ! -e "$out/output/agent.txt"
rm "$XDG_CONFIG_HOME/cordon/policy.yaml"
runtimes() { python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(r["runtime"], *(p["name"] + "=" + p["runtime"] for p in r["phases"] if "runtime" in p))' "$out/result.json"; }
task several
echo "RUN echo $$ >/built" >>"$task/environment/Dockerfile"
printf 'version: 1\nextends: [task]\nphases: {agent: {process: {runtime: runc}}}\n' >"$tmp/several.yaml"
run --agent oracle
is "a result has the runtime of each phase" "$(runtimes)" "native build=native agent=native verify=native"
if "$CORDON" run --runtime runc -- true >/dev/null 2>&1; then
	echo "RUN echo $$ >/built2" >>"$task/environment/Dockerfile"
	run --agent oracle --policy "$tmp/several.yaml"
	is "where they differ, that of the result is the agent's" "$said $(runtimes)" "several: reward 1 runc build=native agent=runc verify=native"
else
	skip "where they differ, that of the result is the agent's" "there is no runc that works here"
fi
finish
