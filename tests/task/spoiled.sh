#!/bin/bash
# An agent that spoils its own container gets the score of its work, and nothing that runners try again or leave out of a mean: no refusal of the task, no error of the infrastructure.
# shellcheck disable=SC2154 # lib.sh's
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../task_lib.sh"
runtime=(${CORDON_RUNTIME:+--runtime "$CORDON_RUNTIME"})
export HOME=$tmp/home XDG_DATA_HOME=$tmp/data XDG_STATE_HOME=$tmp/state XDG_CACHE_HOME=$tmp/cache XDG_CONFIG_HOME=$tmp/config
mkdir -p "$HOME"
# folders that agents closed
trap 'chmod -R u+rwX "$tmp" 2>/dev/null; tap_cleanup' EXIT
task_images base || { echo "Bail out! the image cannot be made"; exit 99; }

# task NAME WORKDIR LINE...: passes when WORKDIR/done is there; the lines go into task.toml
task()
{
	task=$tmp/$1
	local workdir=$2
	shift 2
	mkdir -p "$task/environment" "$task/tests"
	printf 'version = "1.0"\n[environment]\nallow_internet = false\n' >"$task/task.toml"
	printf '%s\n' "$@" >>"$task/task.toml"
	echo "Make $workdir/done." >"$task/instruction.md"
	printf 'FROM cordon-test/base\nRUN mkdir -p %s && touch %s/given\nWORKDIR %s\n' "$workdir" "$workdir" "$workdir" >"$task/environment/Dockerfile"
	printf '#!/bin/sh\nif [ -f %s/done ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' "$workdir" >"$task/tests/test.sh"
}

# steps NAME LINE...: two steps, each with its file to make
steps()
{
	task=$tmp/$1
	local step
	shift
	mkdir -p "$task/environment"
	printf 'version = "1.0"\n[environment]\nallow_internet = false\n' >"$task/task.toml"
	for step in first second; do
		mkdir -p "$task/steps/$step/tests"
		printf '[[steps]]\nname = "%s"\n' $step >>"$task/task.toml"
		echo "Make /app/$step." >"$task/steps/$step/instruction.md"
		printf '#!/bin/sh\nif [ -f /app/%s ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' $step >"$task/steps/$step/tests/test.sh"
	done
	printf '%s\n' "$@" >>"$task/task.toml"
	printf 'FROM cordon-test/base\nRUN mkdir /app && touch /app/given\nWORKDIR /app\n' >"$task/environment/Dockerfile"
}

# gets NAME WANT COMMAND: what the agent gets for that
gets()
{
	rm -rf "$tmp/out"
	timeout 120 "$CORDON" task run "$task" "${runtime[@]}" --out "$tmp/out" --json -- sh -c "$3" >"$tmp/result.json" 2>"$tmp/said" </dev/null
	is "$1" "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["status"], r["reward"], r.get("reason") or "")' "$tmp/result.json" 2>&1 || tail -n 2 "$tmp/said")" "scored $2 "
}

# found NAME RULE PATH
found()
{
	ok "$1" python3 -c 'import json, sys; sys.exit([sys.argv[2], sys.argv[3]] not in [[f["rule"], f["path"]] for f in json.load(open(sys.argv[1]))["findings"]])' "$tmp/result.json" "$2" "$3"
}

task plain /app
gets "who does nothing gets 0" 0 true
gets "who does the work gets 1" 1 'touch done'
gets "a folder in the place of /etc/passwd is no refusal" 0 'rm /etc/passwd; mkdir /etc/passwd'
found "... and does not reach the verifier" carry.accounts /etc/passwd
gets "... nor one in the place of /etc/group, with the work done" 1 'rm /etc/group; mkdir /etc/group; touch done'
gets "a list of users that is too long to be read is none" 0 'i=0; while [ $i -lt 17 ]; do i=$((i + 1)); echo "u$i:x:1:1:$(head -c 60000 /dev/zero | tr "\0" x):/:/bin/sh"; done >>/etc/passwd'
gets "a work folder that nobody may enter is none" 0 'chmod 0 /app'
for mode in 0 111 444 500; do
	gets "nor is a root of mode $mode" 0 "chmod $mode /"
done
gets "... nor one of another user" 0 'chown 1000:1000 /; chmod 700 /'
gets "... and the work in it is judged" 1 'touch done; chown 1000:1000 /; chmod 0 /'

# The tests read the answer: of a device they would do so until their time is over, and that is an error of the infrastructure.
task read /app '[verifier]' 'timeout_sec = 10.0'
printf '#!/bin/sh\nif [ "$(cat /app/done)" = yes ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
gets "an answer that is read gets 1" 1 'echo yes >done'
for device in zero urandom full stdout tty; do
	gets "a link to /dev/$device in its place gets 0" 0 "ln -s /dev/$device done"
done
gets "... and so does one by a detour" 0 'ln -s ../dev/../dev/zero done'
found "... which the result tells" carry.link-runner /app/done
gets "... or by another link" 0 'ln -s /dev d; ln -s d/zero done'

# Tests that ran, and left no reward for what they found: the image alone is judged, and the score is that of who did nothing.
task no-reward /app 'memory_mb = 256' 'storage_mb = 256'
printf '#!/bin/sh\nset -e\nfind /app -name "*.txt" -exec cat {} + >/tmp/all\nif grep -q yes /tmp/all; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
gets "an answer among what is read gets 1" 1 'echo yes >done.txt'
gets "what is larger than the verifier's room gets 0" 0 'truncate -s 3G a.txt; echo yes >done.txt'
found "... which the result tells" carry.unusable /
printf '#!/bin/sh\nset -e\ncp /tests/test.sh /app/sub/copy\nif [ -f /app/done ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
sed -i 's:^WORKDIR.*:RUN mkdir /app/sub\nWORKDIR /app:' "$task/environment/Dockerfile"
gets "tests that stumble over a folder in their way do not" 1 'touch done; mkdir -p sub/copy/test.sh'
found "... for it is not there" carry.written /app/sub/copy/test.sh
gets "... but where their own folder is gone, they judge the image alone" 0 'touch done; rm -rf sub'
found "... which the result tells" carry.unusable /
printf '#!/bin/sh\ncat /app/given /app/done >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
sed -i 's:touch /app/given:echo 0.25 >/app/given:' "$task/environment/Dockerfile"
gets "who has no reward that can be read has what nothing is worth" 0.25 'echo much >done'
is "... and what each run of the tests left and printed is kept" "$(cd "$tmp/out" && tr '\n' ' ' <verifier/reward.txt; cat "$tmp/out/verifier-without/reward.txt"; cd "$tmp/out" && echo output/verify*)" "0.25 much 0.25
output/verify-without.txt output/verify.txt"
printf '#!/bin/sh\nls /app >/logs/verifier/saw\nexit 1\n' >"$task/tests/test.sh"
rm -rf "$tmp/out"
timeout 120 "$CORDON" task run "$task" "${runtime[@]}" --out "$tmp/out" --json -- touch done >"$tmp/result.json" 2>"$tmp/said" </dev/null
is "tests that leave no reward for the image either stay an error" "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["status"], r["reward"], len(r["findings"]))' "$tmp/result.json")" "verifier_error None 0"
is "... and both are kept" "$(cd "$tmp/out" && tr '\n' ' ' <verifier/saw; cat verifier-without/saw)" "done given sub given
sub"

# But a reward that is there, and cannot be the score, is one that the task's author has to know of.
# errs NAME WANT ARG...: no score, and why
errs()
{
	local name=$1 want=$2
	shift 2
	rm -rf "$tmp/out"
	timeout 120 "$CORDON" task run "$task" "${runtime[@]}" --out "$tmp/out" --json "$@" >"$tmp/result.json" 2>"$tmp/said" </dev/null
	like "$name" "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["status"], r["reward"], [f["rule"] for f in r["findings"]], r.get("reason"))' "$tmp/result.json" 2>&1 || tail -n 2 "$tmp/said")" "^verifier_error None \\[\\] $want"
}

task no-score /app
printf '#!/bin/sh\nif [ -e /app/done ]; then cat /app/done; else echo 0; fi >/logs/verifier/reward.txt\n[ ! -e /app/json ] || cp /app/json /logs/verifier/reward.json\n' >"$task/tests/test.sh"
gets "a reward in its range is the score" 0.5 'echo 0.5 >done'
errs "one that is out of range is an error of the verifier, and not what nothing is worth" "reward.txt: 3.2.* is not between 0 and 1" -- sh -c 'echo 3.2 >done'
errs "... and so are two that differ" "reward.txt says 1, reward.json 0.5" -- sh -c "echo 1 >done; echo '{\"reward\": 0.5}' >json"
gets "one that is no number is what nothing is worth" 0 'echo none >done'
mkdir "$task/solution"
printf '#!/bin/sh\necho none >/app/done\n' >"$task/solution/solve.sh"
errs "... but not where the task's own solution gets it" "reward.txt: not one decimal number" --agent oracle

# Of Terminal-Bench the output is the reward: of each run its own.
task=$tmp/terminal
mkdir -p "$task/tests"
printf 'instruction: Make /app/done.\nparser_name: pytest\nmax_test_timeout_sec: 60.0\n' >"$task/task.yaml"
printf 'FROM cordon-test/base\nRUN mkdir /app && touch /app/given\nWORKDIR /app\n' >"$task/Dockerfile"
printf 'services:\n  client:\n    build:\n      dockerfile: Dockerfile\n    command: [ "sh", "-c", "sleep infinity" ]\n' >"$task/docker-compose.yaml"
cat >"$task/run-tests.sh" <<'END'
#!/bin/sh
[ ! -e /app/out ] || cat /app/out
echo "=== short test summary info ==="
if [ -e /app/done ]; then
	printf 'PASSED test_a.py::test_a\n=== 1 passed in 0.01s ===\n'
elif [ -e /app/out ]; then
	echo Killed
	exit 1
else
	printf 'SKIPPED [1] test_a.py:1: nothing to test\n=== 1 skipped in 0.01s ===\n'
fi
END
gets "the work gets 1 of Terminal-Bench's tests, too" 1 'touch done'
gets "an agent whose tests print too much has what nothing is worth" 0 'head -c 40000000 /dev/zero | tr "\0" x >out'
found "... which the result tells" carry.unusable /
gets "... and so has one whose tests print a summary of its own, and no other" 0 'printf "=== short test summary info ===\nPASSED test_a.py::test_a\n=== 1 passed in 0.01s ===\n" >out'
found "... which the result tells" carry.unusable /

task plain /app
gets "who ends PID 1 is judged" 1 'touch done; kill -9 1; sleep 2'

task deep /work/app
gets "a file in the place of the work folder is no refusal" 0 'cd /; rm -rf /work/app; touch /work/app'
found "... and does not reach the verifier" carry.replaces /work/app
gets "... nor is one above it" 0 'cd /; rm -rf /work; touch /work'
gets "... nor a link to nowhere" 0 'cd /; rm -rf /work/app; ln -s /work/app /work/app'
gets "... nor one to the kernel's" 0 'cd /; rm -rf /work/app; ln -s /proc /work/app'
gets "a work folder that is gone is none" 0 'cd /; rm -rf /work'
gets "one that was made anew is judged by what is in it" 1 'cd /; rm -rf /work; mkdir -p /work/app; touch /work/app/done'

task linked /srv/real 'workdir = "/app"'
sed -i 's:^WORKDIR.*:RUN ln -s /srv/real /app:' "$task/environment/Dockerfile"
gets "a file where the image's link to the work folder leads is no refusal" 0 'cd /; rm -rf /srv/real; touch /srv/real'
gets "... and neither is one that hides that link" 0 'cd /; rm /app; touch /app'

task unmade /app 'workdir = "/made/by/runner"'
gets "a file in the place of a work folder that the image lacks is no refusal" 0 'cd /; rm -rf /made/by; touch /made/by'
gets "... nor is a link" 0 'cd /; rm -rf /made; ln -s /made /made'

task other-user /app '[verifier]' 'user = "65534"'
sed -i 's:>/logs:>/logs:; 1a chmod 777 /logs/verifier 2>/dev/null' "$task/tests/test.sh"
gets "the tests of another user cannot enter a closed work folder, which is no error" 0 'chmod 700 /app'
if [ "$(id -u)" = 0 ]; then
	found "... they judge the image without the agent's changes" carry.unusable /
fi

task collects /app '[[verifier.collect]]' 'command = "touch /app/done"'
gets "a command that collects is run" 1 true
gets "... and cannot be made an error of the infrastructure" 0 'rm /bin/sh /bin/touch /bin/busybox'
found "... but the result tells" collect-failed "touch /app/done"
gets "... by closing the root either" 1 'touch done; chmod 0 /run /'
gets "... or giving it to another user" 1 'touch done; chown 1000:1000 /; chmod 6777 /'
gets "... or by a pipe where runtimes look for users" 1 'touch done; rm /etc/passwd; mkfifo /etc/passwd'
gets "... or by ending the sandbox" 0 'cd /tmp; printf "#!/bin/busybox sh\nkill -9 1\nsleep 2\nexit 1\n" >sh; chmod 755 sh; rm /bin/sh; mv sh /bin/sh'
gets "... nor a refusal" 0 'cd /; rm -rf /app; ln -s /proc /app'
gets "... and what it should collect is judged without it" 1 'touch done; rm /bin/sh'

task collects-slowly /app '[[verifier.collect]]' 'command = "test ! -e /app/slow || sleep 60"' 'timeout_sec = 1.0'
gets "a command that collects for too long is left alone" 1 'touch done slow'
found "... which the result tells" collect-failed "test ! -e /app/slow || sleep 60"

steps plain-steps
gets "a step done is half of the score" 0.5 'touch first'
gets "both are all of it" 1 'touch first second'
gets "a step that cannot start in a file is worth nothing" 0 'cd /; rm -rf /app; touch /app'
found "... which the result tells" step-spoiled second
gets "... nor in a link to itself" 0 'cd /; rm -rf /app; ln -s /app /app'
gets "... nor in the kernel's folders" 0 'cd /; rm -rf /app; ln -s /proc /app'
gets "an agent that removed its own program is worth what it did before" 0.5 'touch first; rm /bin/sh'
for list in passwd group; do
	gets "... and so is one that made a pipe of /etc/$list" 0.5 "touch first; rm -f /etc/$list; mkfifo /etc/$list"
	gets "... a folder" 0.5 "touch first; rm -f /etc/$list; mkdir /etc/$list"
	gets "... a link to what is never there, or never ends" 0.5 "touch first; rm -f /etc/$list; ln -s /dev/zero /etc/$list"
	gets "... or one line without an end" 0.5 "touch first; head -c 100000 /dev/zero >/etc/$list"
done
gets "... or gave its root to another user" 0.5 'touch first; chown 1000:1000 /'
gets "a work folder that was moved away is made again" 0 'cd /; mv /app /app2'

steps step-files
mkdir -p "$task/steps/second/workdir/sub"
echo given >"$task/steps/second/workdir/f.txt"
echo given >"$task/steps/second/workdir/sub/f.txt"
gets "files of a step are there" 0.5 'test ! -e sub/f.txt || touch second'
gets "... also where the work folder became a link" 0.5 'cd /; test ! -e /app/sub/f.txt || exec touch /app/second; rm -rf /app; ln -s /tmp /app'
ok "... which they are not put behind" test -z "$(find "$tmp" -path "$task" -prune -o -path '*/tmp/f.txt' -print)"
gets "... or a file" 0.5 'cd /; test ! -e /app/sub/f.txt || exec touch /app/second; rm -rf /app; touch /app'
gets "... or was moved away, and nothing comes back that was deleted" 0.5 'cd /; if test -e /app/sub/f.txt; then test -e /app/given || touch /app/second; exit; fi; mv /app /app2'
gets "... or has folders in their place" 0.5 'test ! -f sub/f.txt || exec touch second; rm -rf sub f.txt; mkdir -p f.txt/x/y; touch sub'
gets "folders that are nested as deep as can be are no error" 0.5 'test ! -f sub/f.txt || exec touch second; i=0; while [ $i -lt 400 ]; do mkdir d && cd d || exit; i=$((i + 1)); done'
gets "a closed work folder is none" 0 'chmod 0 /app'
gets "... and a closed root keeps nothing from its place" 0.5 'test ! -e sub/f.txt || exec touch second; chown 1000:1000 /; chmod 0 /'
gets "... nor does a closed way to what a runtime starts" 0.5 'test ! -e sub/f.txt || exec touch second; mkdir -p /run; chown 1000:1000 /run; chmod 0 /run'
gets "... wherever it leads" 0.5 'test ! -e sub/f.txt || exec touch second; rm -rf /run; mkdir -p /srv/shut/run; ln -s /srv/shut/run /run; chmod 0 /srv/shut'

steps step-health '[steps.healthcheck]' 'command = "test ! -e /app/ill"' 'retries = 1'
gets "a health check of a later step passes" 0.5 'touch first'
gets "... and costs the step where the agent left it ill, no more" 0.5 'touch first ill'
found "... which the result tells" step-spoiled second
gets "... or without a shell" 0.5 'touch first; rm /bin/sh'
finish
