#!/bin/bash
# Volumes of a task's compose file, on every runtime (CORDON_RUNTIME): what an agent leaves in one meets the verifier as its other files do; what services keep there is there for the verifier; and nobody fills the disk through one.
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
# shellcheck disable=SC2206 # words, or none
runtime=(${CORDON_RUNTIME:+--runtime "$CORDON_RUNTIME"})
task_images base python || { echo "Bail out! the images cannot be made"; exit 99; }

# task NAME: a task whose compose file is the standard input; its verifier runs the tests of /app with pytest
task()
{
	task=$tmp/$1
	mkdir -p "$task/environment" "$task/tests" "$task/solution"
	printf 'version = "1.0"\n[environment]\nallow_internet = false\n' >"$task/task.toml"
	echo "Make /app/answer." >"$task/instruction.md"
	printf 'FROM cordon-test/python\nWORKDIR /app\n' >"$task/environment/Dockerfile"
	printf 'def test_answer():\n    assert open("/app/answer").read().strip() == "42"\n' >"$task/tests/test_answer.py"
	cat >"$task/tests/test.sh" <<'END'
#!/bin/bash
cd /app || exit 1
ls -aR /app /data 2>/dev/null
mkdir -p work && cp /tests/test_answer.py work/
if python3 -m pytest -p no:cacheprovider work/test_answer.py >&2; then echo 1; else echo 0; fi >/logs/verifier/reward.txt
END
	printf '#!/bin/sh\necho 42 >/app/answer\n' >"$task/solution/solve.sh"
	cat >"$task/environment/docker-compose.yaml"
}

# run ARG...: result (status and reward) and out (the folder of results)
run()
{
	out=$tmp/results/$((++runs))
	timeout 300 "$CORDON" task run "${runtime[@]}" "$task" --out "$out" --json "$@" >"$tmp/result.json" 2>"$tmp/result.err" </dev/null
	result=$(python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(r["status"], r["reward"])' "$tmp/result.json" 2>&1)
}

# dropped: rules and paths of what did not reach the verifier
dropped()
{
	python3 -c 'import json,sys
for f in json.load(open(sys.argv[1]))["findings"]: print(f["rule"], f["path"])' "$tmp/result.json"
}

# --- what is in a volume at first ---

task first <<'END'
services:
  main:
    volumes: ["modules:/app/node_modules", "both:/opt/both", "ro:/opt/kept:ro", /one, /two]
  other:
    image: cordon-test/base
    command: ["sh", "-c", "echo theirs >/other/of-the-service; sleep 600"]
    volumes: ["both:/other"]
    healthcheck: {test: ["CMD", "test", "-f", "/other/of-the-service"], interval: 1s}
volumes: {modules: , both: , ro: }
END
cat >"$task/environment/Dockerfile" <<'END'
FROM cordon-test/python
RUN mkdir -p /app/node_modules/a /opt/both /opt/kept && echo dep >/app/node_modules/a/index.js && ln /app/node_modules/a/index.js /app/node_modules/a/same && ln -s a /app/node_modules/link && chmod 750 /app/node_modules && echo image >/opt/both/of-the-image && echo k >/opt/kept/k
WORKDIR /app
END
sed -i 's/other:/&/; s/^  main:/&\n    depends_on: {other: {condition: service_healthy}}/' "$task/environment/docker-compose.yaml"
run -- sh -c 'echo 42 >/app/answer; cat node_modules/a/index.js node_modules/link/same /opt/kept/k; stat -c "%a %h" node_modules node_modules/a/index.js; ls /opt/both; rm -r node_modules/a; echo x 2>/dev/null >/opt/kept/y || echo read-only; touch /one/1; ls /two'
is "a volume has what the image has in its place, with modes, links and names" "$result $(head -c 60 "$out/output/agent.txt" | tr '\n' ' ')" "scored 1 dep dep k 750 3 644 2 of-the-service read-only "
ok "... unless a service has put something there" grep -qx of-the-service "$out/output/agent.txt"

# --- the work folder, or a part of it, is a volume ---

cheat='printf "import os\nos._exit(0)\n"'
for target in /app /app/work; do
	task "at${target//\//-}" <<END
services:
  main:
    volumes: ["work:$target"]
  other:
    image: cordon-test/base
    command: ["sleep", "600"]
    volumes: ["work:/shared"]
volumes: {work: }
END
	run --agent oracle
	is "a volume at $target: the oracle's work is judged" "$result" "scored 1"
	run -- sh -c "$cheat >$target/conftest.py"
	is "... a conftest.py of the agent's earns nothing" "$result" "scored 0"
	like "... and is listed" "$(dropped)" "carry.autorun $target/conftest.py"
	run -- sh -c "$cheat >$target/sitecustomize.py; cp $target/sitecustomize.py $target/usercustomize.py; cp $target/sitecustomize.py $target/pytest.py; echo 'import os; os._exit(0)' >$target/a.pyc; mkdir -p $target/__pycache__; touch $target/__pycache__/x.pyc; mkfifo $target/pipe; printf '[pytest]\naddopts = --version\n' >$target/pytest.ini; ln -s /tests $target/link; mkdir $target/.git $target/.git/hooks; echo x >$target/.git/hooks/post-checkout"
	is "... nor does anything else that runs by its name" "$result" "scored 0"
	for name in sitecustomize.py a.pyc __pycache__ pytest.ini pipe link .git/hooks/post-checkout; do
		if [ "$name:${CORDON_RUNTIME:-}" = pipe:gvisor ]; then
			skip "... and $name is listed" "gVisor keeps FIFOs to itself: there is none to carry"
			continue
		fi
		like "... and $name is listed" "$(dropped)" "carry[^ ]* $target/$name"
		ok "... and not there for the verifier" bash -c '! grep -qx "${2##*/}" "$1"' _ "$out/output/verify.txt" "$name"
	done
done

# --- a PATH shim, a volume over the tests, one in the place of another ---

task shim <<'END'
services:
  main:
    environment: {PATH: "/app/bin:/bin:/usr/bin"}
    volumes: ["tools:/app/bin", "tests:/tests"]
volumes: {tools: , tests: }
END
run --agent oracle
is "a volume on the PATH, and one over the tests: the oracle's work is judged" "$result" "scored 1"
run -- sh -c 'printf "#!/bin/sh\nexit 0\n" >/app/bin/python3; chmod 755 /app/bin/python3; printf "#!/bin/sh\necho 1 >/logs/verifier/reward.txt\n" >/tests/test.sh; cp /app/bin/python3 /tests/'
is "... a program that takes the place of another, and tests of the agent's, earn nothing" "$result" "scored 0"
like "... and are listed" "$(dropped)" 'carry[^ ]* /app/bin/python3'

task moved <<'END'
services:
  main:
    volumes: ["data:/app/a/work"]
volumes: {data: }
END
run -- sh -c "$cheat >/app/a/work/conftest.py; mv /app/a /app/b; mkdir -p /app/work; ln -s /app/b/work /app/a; ls -l /app; true"
is "a volume whose place was moved away earns nothing" "$result" "scored 0"
like "... and is listed" "$(dropped)" 'carry.volume /app/a/work'

task shut <<'END'
services:
  main:
    volumes: ["data:/data"]
  other:
    image: cordon-test/base
    command: ["sleep", "600"]
    volumes: ["data:/data"]
volumes: {data: }
END
run -- sh -c 'chmod 0 /data'
is "a volume that the agent shut is no error" "$result" "scored 0"
run -- sh -c 'echo 42 >/app/answer; touch /data/inside; chown 1000:1000 /data; chmod 700 /data'
is "... nor is one that it gave away" "$result" "scored 1"
ok "... and what is in it is there for the verifier" grep -qx inside "$out/output/verify.txt"

# --- a service that works for the agent ---

task puppet <<'END'
services:
  main:
    volumes: ["work:/app/work", "log:/app/log:ro"]
  other:
    image: cordon-test/base
    command: ["sh", "-c", "while true; do sh /shared/orders 2>/dev/null; sleep 0.05; done"]
    volumes: ["work:/shared", "log:/log"]
volumes: {work: , log: }
END
run -- sh -c "$cheat >/app/work/c; echo 'cp /shared/c /shared/conftest.py; cp /shared/c /log/conftest.py; echo a >/shared/x; rm -rf /shared/x /shared/y; mkdir /shared/y; ln -s /tests /shared/x' >/app/work/orders; sleep 1"
is "a service that does an agent's bidding while the verifier runs earns it nothing" "$result" "scored 0"

# --- what services keep ---

task store <<'END'
services:
  main:
    volumes: ["data:/data:ro", "both:/both"]
    depends_on: {store: {condition: service_healthy}}
  store:
    image: cordon-test/base
    command: ["sh", "-c", "mkdir -p /www/cgi-bin && printf '#!/bin/sh\\necho; echo late >/data/late; echo ok\\n' >/www/cgi-bin/write && chmod 755 /www/cgi-bin/write && echo plum >/data/word && chmod 600 /data/word && echo pear >/both/word && exec httpd -f -p 8080 -h /www"]
    healthcheck: {test: ["CMD", "test", "-f", "/both/word"], interval: 1s, timeout: 5s, retries: 10}
    volumes: ["data:/data", "both:/both"]
volumes: {data: , both: }
END
printf '#!/bin/sh\necho fig >>/both/word\necho ours >/both/own\nmkdir -p /app\necho 42 >/app/answer\n' >"$task/solution/solve.sh"
cat >"$task/tests/test.sh" <<'END'
#!/bin/sh
busybox wget -q -O /dev/null http://store:8080/cgi-bin/write
[ "$(cat /data/word) $(cat /data/late) $(cat /both/own) $(tr '\n' ' ' </both/word)" = "plum late ours pear fig " ] && ! touch /data/x && touch /both/x && echo 1 >/logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt
END
printf 'artifacts = ["/both/own"]\n' | cat - "$task/task.toml" >"$task/t" && mv "$task/t" "$task/task.toml"
run --agent oracle
is "the verifier sees what services keep, as it changes; and what the agent shared with them" "$result" "scored 1"
is "... which artifacts are taken from, too" "$(cat "$out/artifacts/both/own" 2>&1)" ours

# --- what only services write to, where programs of the verifier would load it, or would be led to it ---

# keeper SETTING TARGET: the agent has the volume read-only at the target; a service keeps there whatever it is sent
keeper()
{
	task "keeper$((++keepers))" <<END
services:
  main:
    depends_on: {up: {condition: service_healthy}}
    environment: {$1}
    volumes: ["v:$2:ro"]
  up:
    image: cordon-test/base
    volumes: ["v:/up"]
    command: ["sh", "-c", "touch /ready; while :; do nc -l -p 9000 >/tmp/in; sh /tmp/in; done"]
    healthcheck: {test: ["CMD", "test", "-e", "/ready"], interval: 1s, timeout: 5s, retries: 30}
volumes: {v: }
END
}
# send TEXT: as a command of the agent; the service runs it in its own sandbox
send()
{
	printf '%s\n' "cat >/tmp/order <<'ORDER'" "$1" ORDER "busybox nc 127.0.0.1 9000 </tmp/order; sleep 1"
}
evil=$(send 'printf "import os\nos._exit(0)\n" >/up/__init__.py; mkdir -p /up/lib/python3.11/site-packages; cp /up/__init__.py /up/lib/python3.11/site-packages/usercustomize.py; cp /up/__init__.py /up/lib/python3.11/site-packages/sitecustomize.py')
for row in 'PYTHONPATH: /data|/data/json' 'PYTHONPATH: "/a:/b/../data/."|/data/json' 'PYTHONPATH: /data/json/lib/python3.11/site-packages|/data/json' 'HOME: /srv|/srv/.local' 'PYTHONUSERBASE: /srv/base|/srv/base'; do
	keeper "${row%|*}" "${row#*|}"
	run -- sh -c "$evil"
	is "${row%|*}, and a volume of a service's at ${row#*|}: what an agent had stored there earns nothing" "$result" "scored 0"
	like "... it passes the filter, and no other way" "$(dropped)" "carry.volume ${row#*|}"
done
run --agent oracle
is "... and the oracle's work is judged" "$result" "scored 1"

keeper 'A: b' /new/json
run --agent oracle
is "a volume of a service's elsewhere is mounted for the verifier" "$result $(dropped | grep -c 'carry.volume')" "scored 1 0"
is "... and that place is nothing that was dropped" "$(dropped)" ""
run -- sh -c "$evil; mv /new /old; ln -s /usr/lib/python3.11 /new; true"
is "... where a link of the agent's cannot lead it to a package's place" "$result" "scored 0"
run -- sh -c "$(send 'ln -s /tests/answer /up/answer'); ln -s /new/json/answer /app/answer"
like "... nor through it to the tests" "$result $(dropped)" '^scored 0.*carry.link-runner /app/answer'

task hard <<'END'
services:
  main:
    volumes: ["data:/data"]
volumes: {data: }
END
run -- sh -c 'echo 42 >answer; cd /data; head -c 30000000 /dev/urandom >a; for i in $(seq 400); do ln a b$i; done; truncate -s 1000G hole; chmod 000 a; mkdir -p d; chmod 000 d; python3 -c "
import os
for i in range(400):
    os.mkdir(\"deep\"); os.chdir(\"deep\")"'
is "names of one file, holes, folders closed and deep take no more room than they took" "$result" "scored 1"
like "... and what is too deep is listed" "$(dropped)" 'carry[^ ]* /data/deep/deep'

task steps <<'END'
services:
  main:
    volumes: ["data:/app/work"]
volumes: {data: }
END
rm -rf "$task/solution" "$task/tests" "$task/instruction.md"
cat >"$task/task.toml" <<'END'
version = "1.0"
[environment]
allow_internet = false
[[steps]]
name = "one"
[[steps]]
name = "two"
END
for step in one two; do
	mkdir -p "$task/steps/$step/tests" "$task/steps/$step/solution"
	echo "Go on." >"$task/steps/$step/instruction.md"
	printf '#!/bin/sh\necho %s >>/app/work/done; echo bad >/app/work/conftest.py\n' $step >"$task/steps/$step/solution/solve.sh"
	printf '#!/bin/sh\n[ ! -e /app/work/conftest.py ] && grep -qx %s /app/work/done && echo 1 >/logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt\n' $step >"$task/steps/$step/tests/test.sh"
done
run --agent oracle
is "a volume goes on from step to step, and is filtered in each" "$result" "scored 1"

# --- storage ---

# fill FOLDER: writes a hundred times as much as the task may store, and slowly enough to be seen
fill() { echo "dd if=/dev/zero of=$1/fill bs=1M count=20 2>/dev/null; for i in \$(seq 100); do dd if=/dev/zero of=$1/\$i bs=1M count=64 2>/dev/null; sleep 0.1; done; touch $1/filled"; }

# phase NAME: how it ended
phase()
{
	python3 -c 'import json,sys
print(*[p["exit"] for p in json.load(open(sys.argv[1]))["phases"] if p["name"] == sys.argv[2]])' "$tmp/result.json" "$1"
}

task full <<'END'
services:
  main:
    volumes: ["data:/data"]
volumes: {data: }
END
echo 'storage_mb = 64' >>"$task/task.toml"
run -- sh -c "$(fill /data); sleep 10"
is "an agent that fills a volume is ended" "$result $(phase agent)" "scored 0 137"
like "... and it is told why" "$(cat "$out/audit/agent.jsonl")" '"rule":"storage"'
run -- sh -c 'dd if=/dev/zero of=/data/a bs=1M count=40; dd if=/dev/zero of=/app/a bs=1M count=40; sleep 10'
is "... also where half of it is elsewhere" "$result $(phase agent)" "scored 0 137"
run -- sh -c 'exec 5>/data/f; rm /data/f; dd if=/dev/zero bs=1M count=100 >&5; sleep 10'
is "... or has no name any more" "$result $(phase agent)" "scored 0 137"
run -- sh -c 'echo 42 >/app/answer; dd if=/dev/zero of=/data/a bs=1M count=20; sleep 1'
is "... less is fine" "$result $(phase agent)" "scored 1 0"

task service <<END
services:
  main:
    depends_on: {other: {condition: service_completed_successfully}}
  other:
    image: cordon-test/base
    command: ["sh", "-c", "$(fill /data | sed 's/\$/$$/g')"]
    volumes: ["data:/data"]
volumes: {data: }
END
echo 'storage_mb = 64' >>"$task/task.toml"
run --agent oracle
is "a service that fills a volume is ended" "$result" "infrastructure_error None"
like "... and it is told why" "$(cat "$out/audit/service-other.jsonl")" '"rule":"storage"'

task shared <<'END'
services:
  main:
    volumes: ["data:/data"]
  other:
    image: cordon-test/base
    command: ["sleep", "600"]
    volumes: ["data:/data"]
volumes: {data: }
END
echo 'storage_mb = 64' >>"$task/task.toml"
run -- sh -c 'for i in $(seq 10); do dd if=/dev/zero of=/data/$i bs=1M count=10 2>/dev/null; sleep 0.2; done; echo 42 >/app/answer; sleep 600'
is "an agent that fills a volume which it shares is ended, not its services, and judged" "$result" "scored 0"

task cache <<'END'
services:
  main:
    environment: {A: b}
END
echo 'storage_mb = 64' >>"$task/task.toml"
for kind in cache tmpfs; do
	printf 'FROM cordon-test/base\nRUN --mount=type=%s,target=/c %s\nWORKDIR /app\n' $kind "$(fill /c)" >"$task/environment/Dockerfile"
	run --agent oracle
	is "a build that fills a mount of type $kind is ended" "$result" "infrastructure_error None"
	like "... and it is told why" "$(cat "$out/audit/build.jsonl")" '"rule":"storage"'
done

# --- what a build copies ---

task copies <<'END'
services:
  main:
    environment: {A: b}
END
# building LIMIT LINE...: with that limit, a build of these instructions
building()
{
	printf 'version = "1.0"\n[environment]\nallow_internet = false\n%s\n' "$1" >"$task/task.toml"
	shift
	printf '%s\n' "$@" >"$task/environment/Dockerfile"
	run --agent oracle
}
head -c 80M /dev/urandom >"$task/environment/data"
tar -C "$task/environment" -czf "$task/environment/data.tgz" data
for step in 'COPY data /app/' 'ADD data.tgz /app/'; do
	building 'storage_mb = 64' 'FROM cordon-test/python' "$step" 'WORKDIR /app'
	is "a build that copies more than the task may store is refused: $step" "$result" "refused None"
	like "... and it is told why" "$(cat "$tmp/result.json")" 'more than the 64 MiB that may be stored'
done
building 'storage_mb = 128' 'FROM cordon-test/python' 'COPY data /app/' 'WORKDIR /app'
is "... less is fine" "$result" "scored 1"
rm "$task/environment/data" "$task/environment/data.tgz"
building 'build_timeout_sec = 4.0' 'FROM cordon-test/python AS b' 'RUN truncate -s 15G /hole' 'FROM cordon-test/python' 'COPY --from=b /hole /app/' 'WORKDIR /app'
is "a build whose time is over while its files are read has no more of it" "$result" "timeout None"
finish
