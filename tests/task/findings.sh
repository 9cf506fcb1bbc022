#!/bin/bash
# The four findings of the audit of a benchmark runner, and what stood beside them: each attack is shown to work the old way, where that can be done on one machine, and to fail here.
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
task_images base || { echo "Bail out! the image cannot be made"; exit 99; }
export HOST_SECRET=fake-host-secret-7381 REAL_KEY=sk-fake-real-key-000000000000000000000001 JUDGE_KEY=fake-judge-key-55512345
mkdir -p "$HOME/.ssh" "$XDG_CONFIG_HOME/cordon"
echo fake-private-key-9911 >"$HOME/.ssh/id_ed25519"

# task NAME: a small task that passes when /app/done is there
task()
{
	rm -rf "$tmp/$1"
	mkdir -p "$tmp/$1/environment" "$tmp/$1/tests" "$tmp/$1/solution"
	printf 'version = "1.0"\n[environment]\nallow_internet = false\n' >"$tmp/$1/task.toml"
	echo "Make /app/done." >"$tmp/$1/instruction.md"
	printf 'FROM cordon-test/base\nWORKDIR /app\n' >"$tmp/$1/environment/Dockerfile"
	printf '#!/bin/sh\nif [ -f /app/done ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$tmp/$1/tests/test.sh"
	printf '#!/bin/sh\ntouch /app/done\n' >"$tmp/$1/solution/solve.sh"
	task=$tmp/$1
}

# run ARG...: status, result (status and reward) and out (the folder of results)
run()
{
	out=$tmp/results
	rm -rf "$out"
	timeout 120 "$CORDON" task run "$task" --out "$out" --json "$@" >"$tmp/result.json" 2>"$tmp/result.err"
	status=$?
	result=$(python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(r["status"], r["reward"])' "$tmp/result.json" 2>&1)
}

# leaks WORD: is it anywhere in what left the run, in any dress?
leaks()
{
	python3 - "$1" "$out" "$tmp/result.json" "$tmp/result.err" <<'END'
import base64, os, sys, urllib.parse
secret = sys.argv[1].encode()
forms = {secret, secret.hex().encode(), secret.hex().upper().encode(), secret[::-1], urllib.parse.quote(secret, safe="").encode()}
for cut in range(3):
    coded = base64.b64encode(b"x" * cut + secret)
    forms.add(coded[4 if cut else 0:-4])
for top in sys.argv[2:]:
    files = [top] if os.path.isfile(top) else [os.path.join(d, f) for d, _, n in os.walk(top) for f in n]
    for f in files:
        data = open(f, "rb").read()
        for form in forms:
            if form in data:
                print(f, form)
                sys.exit(0)
sys.exit(1)
END
}
no_leak() { ! leaks "$1"; }

# --- 1. allow_internet = false, with a model ---

python3 "$tests_dir/agent/model.py" 18091 "$tmp/script.json" "$tmp/model.log" &
model=$!
trap 'kill "$model" 2>/dev/null; tap_cleanup' EXIT
cat >"$tmp/script.json" <<'END'
[{"run": ["touch /app/done; (timeout 3 wget -q -O - http://127.0.0.1:18091/ || timeout 3 wget -q -O - http://192.0.2.1/) >/app/reached 2>&1; nslookup example.com >/app/names 2>&1; env >/app/env; ip route >/app/route 2>&1; true"]}, {"say": "Done."}]
END
cat >"$XDG_CONFIG_HOME/cordon/credentials.yaml" <<'END'
version: 1
credentials:
  model:
    from: {env: REAL_KEY}
    hosts: [127.0.0.1]
    inject: {header: authorization, format: "Bearer {}"}
    env: OPENAI_API_KEY
  judge:
    from: {env: JUDGE_KEY}
    hosts: [judge.example.test]
    inject: {header: x-api-key, format: "{}"}
    verifier_env: JUDGE_KEY
END
chmod 600 "$XDG_CONFIG_HOME/cordon/credentials.yaml"
cat >"$tmp/models.yaml" <<'END'
version: 1
extends: [task]
phases:
  agent:
    inference:
      providers:
        openai: {kind: openai, url: "http://127.0.0.1:18091", credential: model, models: ["m-*"]}
END
task llm
if ldd "${CORDON%/*}/cordon-agent" 2>/dev/null | grep -q '=>'; then
	skip "a model works on a task that allows no internet" "with sanitizers the agent needs libraries that the image lacks"
else
	for _ in $(seq 50); do (exec 3<>/dev/tcp/127.0.0.1/18091) 2>/dev/null && break; sleep 0.1; done
	run --agent cordon --model m-1 --policy "$tmp/models.yaml"
	is "a model works on a task that allows no internet" "$result" "scored 1"
	ok "its requests arrived with the real key" grep -qF "Bearer $REAL_KEY" "$tmp/model.log"
	ok "and nothing that left the run has that key" no_leak "$REAL_KEY"
	like "the shell got no further: no address, no name" "$(cat "$out/workspace.diff")" '(refused|bad address|unreachable|can.t connect)'
	ok "what it reached is nothing" bash -c '! grep -q "^+.*HTTP/" "$1"' _ "$out/workspace.diff"
	ok "the trajectory is kept" grep -q '"role"' "$out/trajectory.jsonl"
	is "the model's use is in the result" "$(python3 -c 'import json,sys; print("m-1" in json.dumps(json.load(open(sys.argv[1]))["usage"]))' "$tmp/result.json")" True
fi
run -- sh -c 'touch /app/done; timeout 3 wget -q -O - "$OPENAI_BASE_URL/models"'
is "without the operator's word there is no model either" "$result" "scored 1"
ok "and no variable that names one" bash -c '! grep -q OPENAI "$1"' _ "$out/output/agent.txt"

# A judge that asks a model: by the door of the verifier's phase, with a key that is none.
cat >"$tmp/judge.yaml" <<'END'
version: 1
extends: [task]
phases:
  verify:
    inference:
      providers:
        openai: {kind: openai, url: "http://127.0.0.1:18091", credential: model, models: ["m-*"]}
END
task judged
cat >"$task/tests/test.sh" <<'END'
#!/bin/sh
wget -q -O - --header "Content-Type: application/json" --header "Authorization: Bearer $OPENAI_API_KEY" --post-data '{"model":"m-1","messages":[{"role":"user","content":"good?"}]}' "$OPENAI_BASE_URL/chat/completions" >/tmp/answer
grep -q completion /tmp/answer && ! timeout 3 wget -q -O - http://127.0.0.1:18091/ && echo 1 >/logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt
END
: >"$tmp/model.log"
run --agent none --policy "$tmp/judge.yaml"
is "a judge gets the door, and no network" "$result" "scored 1"
ok "its request arrived with the real key" grep -qF "Bearer $REAL_KEY" "$tmp/model.log"
ok "which is in nothing that left the run" no_leak "$REAL_KEY"

# --- 2. the compose file and the host's environment ---

task compose
cat >"$task/environment/docker-compose.yaml" <<'END'
services:
  main:
    environment:
      - SEEN=${HOST_SECRET}
END
if command -v docker-compose >/dev/null; then
	is "the old way: docker-compose fills in the host's value" "$(sed 's/main:/&\n    image: x/' "$task/environment/docker-compose.yaml" | docker-compose -f - config 2>/dev/null | grep -o "$HOST_SECRET")" "$HOST_SECRET"
else
	skip "the old way: docker-compose fills in the host's value" "docker-compose is not installed"
fi
run --agent oracle
is "a value of the host's is refused" "$status $result" "1 refused None"
like "with file, line and name" "$(cat "$tmp/result.json")" 'docker-compose.yaml:4.*HOST_SECRET'
ok "and never shown" no_leak "$HOST_SECRET"
printf 'services:\n  main:\n    environment:\n      - SEEN=${HOST_SECRET:-nothing}\n' >"$task/environment/docker-compose.yaml"
run -- sh -c 'echo "$SEEN" >/app/seen; touch /app/done'
is "its default is what a task gets" "$result $(grep '^+nothing' "$out/workspace.diff")" "scored 1 +nothing"
task template
printf '\n[environment.env]\nX = "${HOST_SECRET}"\n' >>"$task/task.toml"
run --agent oracle
is "nor does task.toml reach the host's variables" "$status $result" "1 refused None"
ok "nothing of them is shown" no_leak "$HOST_SECRET"

# --- 3. COPY out of the context ---

echo fake-beside-secret-2202 >"$tmp/beside"
for source in ../../beside ../beside ./../../beside '..//../beside' '$UP/../beside' /../beside; do
	task copy
	printf 'FROM cordon-test/base\nENV UP=..\nWORKDIR /app\nCOPY %s stolen\n' "$source" >"$task/environment/Dockerfile"
	run -- sh -c 'cat /app/stolen; touch /app/done'
	is "COPY $source gets nothing of the host" "$status" 1
	ok "COPY $source: nothing of it is shown" no_leak fake-beside-secret-2202
done
task link
ln -s ../../beside "$task/environment/link"
printf 'FROM cordon-test/base\nWORKDIR /app\nCOPY link stolen\n' >"$task/environment/Dockerfile"
run --agent oracle
is "nor through a link" "$status $result" "1 refused None"

# --- 4. secrets of verifiers ---

task judge
printf '\n[verifier.env]\nJUDGE_KEY = "${JUDGE_KEY}"\n' >>"$task/task.toml"
cat >"$task/tests/test.sh" <<'END'
#!/bin/sh
cat /proc/*/cmdline >/logs/verifier/inside.txt 2>/dev/null
sleep 1
[ -f /app/done ] && [ "$(printf %s "$JUDGE_KEY" | sha256sum | cut -c1-8)" = "$(cat /tests/expected)" ] && echo 1 >/logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt
END
printf %s "$JUDGE_KEY" | sha256sum | cut -c1-8 >"$task/tests/expected"
(
	for _ in $(seq 200); do
		cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n'
		sleep 0.01
	done >"$tmp/argvs"
) &
watcher=$!
run -- sh -c 'touch /app/done; env; cat /proc/*/environ 2>/dev/null | tr "\0" "\n"; true'
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
is "a verifier gets what the operator granted" "$result" "scored 1"
ok "the agent never had it, nor is it in anything that left" no_leak "$JUDGE_KEY"
out=$tmp/argvs
ok "no argument list on the host ever had it, plain, base64 or hex" no_leak "$JUDGE_KEY"
sed -i '/verifier_env/d' "$XDG_CONFIG_HOME/cordon/credentials.yaml"
run --agent oracle
is "without the operator's grant it is refused" "$status $result" "1 refused None"

# --- and beside them ---

task hook
printf '#!/bin/sh\ntouch %s/hook-ran\n' "$tmp" >"$task/environment/benchflow-pre-compose.sh"
chmod +x "$task/environment/benchflow-pre-compose.sh"
run --agent oracle
is "a hook for the host is refused, and not run" "$status $(ls "$tmp/hook-ran" 2>/dev/null)" "1 "
task logs
run -- sh -c 'rm -rf /logs; mkdir -p /logs; ln -s "$1" /logs/agent; echo 1 >/logs/verifier; touch /app/done' sh "$tmp/target"
mkdir -p "$tmp/target"
is "a link in the place of the logs leads nowhere" "$result $(ls "$tmp/target")" "scored 1 "
task forge
run -- sh -c 'mkdir -p /logs/verifier; echo 1 >/logs/verifier/reward.txt; (while true; do echo 1 >/logs/verifier/reward.txt; sleep 0.1; done) & true'
is "an agent cannot leave a reward" "$result" "scored 0"

# What one task builds, another one with the same instructions finds again: nothing but what is in them may have made it.
task poison
cat >"$task/environment/Dockerfile" <<'END'
FROM cordon-test/base AS first
RUN --mount=type=cache,target=/var/tmp echo poison >/var/tmp/x
FROM cordon-test/base
RUN --mount=type=cache,target=/var/tmp cp /var/tmp/x /x 2>/dev/null || echo good >/x
RUN head -c 200000000 /dev/zero | tail -c 190000000 >/dev/null && echo good >/y || echo poison >/y
COPY --from=first /etc/passwd /z
WORKDIR /app
END
echo 'memory_mb = 64' >>"$task/task.toml"
run -- sh -c 'cat /x /y'
is "a task can spoil its own image" "$(cat "$out/output/agent.txt")" "poison
poison"
task honest
cat >"$task/environment/Dockerfile" <<'END'
FROM cordon-test/base
RUN --mount=type=cache,target=/var/tmp cp /var/tmp/x /x 2>/dev/null || echo good >/x
WORKDIR /app
END
run -- cat /x
is "not what another one finds, by a cache that it filled" "$(cat "$out/output/agent.txt")" "good"
cat >"$task/environment/Dockerfile" <<'END'
FROM cordon-test/base
RUN head -c 200000000 /dev/zero | tail -c 190000000 >/dev/null && echo good >/y || echo poison >/y
WORKDIR /app
END
run -- cat /y
is "nor by memory that was short" "$(cat "$out/output/agent.txt")" "good"

# --- services share one network, and what they are told is known ---

# services LINE...: a task with one service beside its own; the lines go into task.toml
services()
{
	task "$1"
	shift
	printf 'version = "1.0"\n' >"$task/task.toml"
	printf '%s\n' "$@" >>"$task/task.toml"
	cat >"$task/environment/docker-compose.yaml" <<'END'
services:
  main:
    environment: {PATH: "/app/bin:/bin"}
  other:
    image: cordon-test/base
    command: ["sleep", "600"]
END
}
services shim '[environment]' 'allow_internet = false'
printf 'FROM cordon-test/base\nRUN printf "#!/bin/sh\\necho 0\\n" >/bin/judge && chmod 755 /bin/judge\nWORKDIR /app\n' >"$task/environment/Dockerfile"
printf '#!/bin/sh\njudge >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
run -- sh -c 'mkdir -p bin; printf "#!/bin/sh\necho 1\n" >bin/judge; chmod 755 bin/judge'
is "a PATH of the compose file's carries no command of the agent's" "$result" "scored 0"
services closed '[verifier]' 'network_mode = "no-network"'
run --agent oracle
is "a verifier that declares no network has none beside services either" "$result $(grep -o '"mode":"none"' "$out/policy/closed.yaml")" 'scored 1 "mode":"none"'
services wider '[agent]' 'network_mode = "no-network"' '[environment]' 'network_mode = "public"'
run --agent oracle
is "the group has the agent's network, not a wider one" "$(grep -o '"mode":"[a-z]*"' "$out/policy/service-other.yaml")" '"mode":"none"'
like "and a verifier that wants another than its services is refused" "$status $(cat "$tmp/result.json")" '^1 .*the network of the verifier is another'

task again
run --agent oracle
rm "$out/result.json"
"$CORDON" task run "$task" --agent oracle --out "$out" >"$tmp/result.json" 2>"$tmp/result.err"
is "results of another run are never mixed with new ones" "$? $(grep -c 'is not empty' "$tmp/result.err")" "125 1"
finish
