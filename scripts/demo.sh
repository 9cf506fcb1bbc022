#!/bin/bash
# demo.sh BUILD_DIR: a short tour. Attacks fail, ordinary work succeeds; exits 0 only if every step behaved.
#
# It works in a folder of its own with a made-up home; no real file, secret or network is touched.

set -u
repo=$(cd "$(dirname "$0")/.." && pwd)
cordon=$(cd "${1:-build}" && pwd)/cordon || exit 2
demo=$(mktemp -d /tmp/cordon-demo.XXXXXX) || exit 2
bold='' red='' green='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
	bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
fi
steps=0 wrong=0 started=()

cleanup()
{
	local pid
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -rf "$demo"
}
trap cleanup EXIT

[ -x "$cordon" ] || { echo "demo.sh: $cordon is not there; run make first" >&2; exit 2; }
export HOME=$demo/home
unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME
work=$HOME/project
mkdir -p "$HOME/.ssh" "$work" "$demo/elsewhere"
echo "-----BEGIN FAKE KEY----- this is no real key" >"$HOME/.ssh/id_ed25519"
printf '#include <stdio.h>\nint main(void)\n{\n\tputs("hello from the sandbox");\n\treturn 0;\n}\n' >"$work/hello.c"
cd "$work" || exit 2

title()
{
	printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

# report GOOD? TEXT
report()
{
	steps=$((steps + 1))
	if [ "$1" = 0 ]; then
		printf '  %sas it should be%s: %s\n' "$green" "$plain" "$2"
	else
		wrong=$((wrong + 1))
		printf '  %sWRONG%s: %s\n' "$red" "$plain" "$2"
	fi
}

# words ARGS...: each behind a space, in quotes where a shell would need them.
words()
{
	local word
	for word in "$@"; do
		case $word in
		'' | *[!A-Za-z0-9_./:=@%+,-]*) printf " '%s'" "${word//\'/\'\\\'\'}" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
}

# inside ARGS...: runs cordon with them, shows the command and what it said, keeps its status in $status.
inside()
{
	printf '  $ cordon run%s\n' "$(words "$@")" | sed "s|$demo|/tmp/demo|g"
	out=$(timeout 60 "$cordon" run "$@" 2>&1 </dev/null)
	status=$?
	[ -z "$out" ] || printf '%s\n' "$out" | sed "s|$demo|/tmp/demo|g" | tail -n 6 | cut -c1-150 | sed 's/^/    /'
}

# The attack itself failed; 124 and above would be Cordon's own words, and no proof of anything.
refused()
{
	[ "$status" -gt 0 ] && [ "$status" -lt 124 ]
	report $? "$1"
}

worked()
{
	[ "$status" = 0 ]
	report $? "$1"
}

title "1. It tries to read an SSH key"
inside -- cat "$HOME/.ssh/id_ed25519"
refused "the home folder inside is an empty one"

title "2. It looks for credentials in the environment"
export DEMO_API_KEY=fake-key-123
inside -- sh -c 'env | grep -i key'
refused "only the variables that the policy names go in"

title "3. It tries the network"
python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    s.accept()[0].close()' >"$demo/port" &
started+=($!)
for _ in $(seq 50); do [ -s "$demo/port" ] && break; sleep 0.1; done
port=$(cat "$demo/port")
bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" 2>/dev/null
report $? "outside, a server of the host answers on port $port"
inside -- bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
refused "inside, the same port is another machine's"

title "4. It tries to kill a process of the host"
sleep 300 &
victim=$!
started+=("$victim")
inside -- bash -c "kill -9 $victim"
refused "inside there is no such process"
kill -0 "$victim" 2>/dev/null
report $? "process $victim is alive"

title "5. It tries to write outside of its work folder"
inside -- touch "$demo/elsewhere/planted"
refused "the folder is not there"
inside -- sh -c 'echo x >/usr/bin/planted'
refused "the base system is read-only"

title "6. It plants a git hook, to be run by you later"
if command -v git >/dev/null; then
	git -c init.defaultBranch=main init -q . && rm -rf .git/hooks
fi
mkdir -p .git
inside -- sh -c 'mkdir -p .git/hooks && echo "#!/bin/sh" >.git/hooks/pre-commit'
refused "such files cannot be made, not even where there are none yet"
[ ! -e .git/hooks/pre-commit ]
report $? "nothing was left behind"

title "7. It starts a fork bomb"
cat >"$demo/bomb.yaml" <<'EOF'
version: 1
extends: [strict]
process: {max_processes: 64, timeout: 3s}
EOF
before=$SECONDS
inside --policy "$demo/bomb.yaml" -- bash -c 'bomb() { bomb | bomb & }; bomb; sleep 60' "cordon-demo-$$" >/dev/null
[ $((SECONDS - before)) -lt 30 ] && [ "$status" != 125 ]
report $? "64 processes and three seconds were all it got (status $status)"
! pgrep -f "[c]ordon-demo-$$" >/dev/null
report $? "none of its processes is left"

title "8. Ordinary work goes on as ever"
if command -v gcc >/dev/null; then
	inside -- sh -c 'gcc -o hello hello.c && ./hello'
	worked "it compiles and runs"
fi
inside -- sh -c 'echo "a note" >notes.txt'
worked "it writes to its work folder"
[ "$(cat notes.txt 2>/dev/null)" = "a note" ]
report $? "and the file is here"

title "9. Under the strict profile, changes wait for you"
inside --profile strict -- sh -c 'echo "int x;" >>hello.c; echo new >new.txt'
worked "it changes files in a copy-on-write view"
[ ! -e new.txt ]
report $? "here nothing has changed yet"
id=$("$cordon" ps --all --quiet | head -n 1)
printf '  $ cordon diff %s\n' "$id"
"$cordon" diff "$id" 2>&1 | sed 's/^/    /'
[ "${PIPESTATUS[0]}" = 0 ]
report $? "this is what it changed"
printf '  $ cordon apply %s\n' "$id"
"$cordon" apply "$id" 2>&1 | sed "s|$demo|/tmp/demo|g; s/^/    /"
[ -e new.txt ] && grep -q 'int x;' hello.c
report $? "and now it is here"

title "10. It asks a model, with a key that it never has"
mkdir -p "$HOME/.config/cordon"
cp "$repo/examples/anthropic/credentials.yaml" "$HOME/.config/cordon/"
export DEMO_KEY=fake-key-that-stays-outside
python3 "$repo/examples/mock.py" 18081 "a mock of the provider" 2>"$demo/mock.log" &
started+=($!)
for _ in $(seq 50); do bash -c 'exec 3<>/dev/tcp/127.0.0.1/18081' 2>/dev/null && break; sleep 0.1; done
cat >"$demo/ask.py" <<'EOF'
import json, os, urllib.request
asked = {"model": "claude-demo", "max_tokens": 20, "messages": [{"role": "user", "content": "Hello?"}]}
headers = {"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(asked).encode(), headers)
print(json.load(urllib.request.urlopen(request, timeout=20))["content"][0]["text"])
EOF
cp "$demo/ask.py" ask.py
inside --policy "$repo/examples/anthropic/policy.yaml" -- python3 ask.py
worked "the model answers, though the network mode is none"
grep -q fake-key-that-stays-outside "$demo/mock.log"
report $? "the provider got the key"
inside --policy "$repo/examples/anthropic/policy.yaml" -- sh -c 'env | grep fake-key'
refused "the sandbox has a placeholder for it"

# task ARGS...: as `inside`, for `cordon task`
task()
{
	printf '  $ cordon task%s\n' "$(words "$@")" | sed "s|$demo|/tmp/demo|g; s|$repo/||g"
	out=$(timeout 60 "$cordon" task "$@" 2>"$demo/err" </dev/null)
	status=$?
	printf '%s\n' "$out" "$(grep -v '^cordon: [a-z]*$' "$demo/err")" | grep . | sed "s|$demo|/tmp/demo|g; s|$repo/||g" | head -n 14 | cut -c1-150 | sed 's/^/    /'
}

title "11. A benchmark task, as its author wrote it, without Docker"
if busybox=$(command -v busybox) && ! ldd "$busybox" >/dev/null 2>&1; then
	mkdir -p "$demo/root"/{bin,etc,tmp}
	cp "$busybox" "$demo/root/bin/busybox"
	for name in $("$busybox" --list); do [ "$name" = busybox ] || ln -s busybox "$demo/root/bin/$name"; done
	echo 'root:x:0:0:root:/:/bin/sh' >"$demo/root/etc/passwd"
	"$cordon" image import busybox "$demo/root" >/dev/null
	report $? "a base image from a folder"
	task run "$repo/examples/tasks/hello" --agent oracle --out "$demo/oracle"
	[ "$out" = "hello: reward 1" ]
	report $? "the task's own solution earns its reward"
	task run "$repo/examples/tasks/hello" --out "$demo/cheat" -- sh -c 'mkdir -p /logs/verifier; echo 1 >/logs/verifier/reward.txt; rm /bin/sh; printf "#!/bin/busybox sh\necho 1 >/logs/verifier/reward.txt\n" >/bin/sh'
	[ "$out" = "hello: reward 0" ]
	report $? "an agent that forges its reward and replaces the shell earns nothing"
	grep -q '"path":"/bin/sh"' "$demo/cheat/result.json"
	report $? "and the result says what it tried"
else
	printf '  left out: there is no static busybox here (Debian: busybox-static)\n'
fi

title "12. A task that reaches for this machine"
task check "$repo/examples/tasks/hostile"
[ "$status" = 1 ]
report $? "everything that it tries is refused, with its place"

title "13. All of it is on record"
good=0 logs=0
while IFS= read -r log; do
	logs=$((logs + 1))
	"$cordon" audit verify "$log" >/dev/null 2>&1 || good=1
done < <(find "$HOME/.local/state/cordon" -name 'audit*.jsonl' 2>/dev/null)
[ "$good" = 0 ] && [ "$logs" -gt 0 ]
report $? "$logs audit logs, each with an unbroken chain of hashes"

printf '\n%d steps, %d went wrong\n' "$steps" "$wrong"
[ "$wrong" = 0 ]
