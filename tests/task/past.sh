#!/bin/bash
# Results of tasks that are kept: task ls, task show and task rm.
# shellcheck disable=SC2154 # lib.sh's and run_lib.sh's
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
task_images base || { echo "Bail out! the image cannot be made"; exit 99; }
kept=$XDG_STATE_HOME/cordon/tasks
task=$tmp/small
mkdir -p "$task/environment" "$task/tests" "$task/solution"
printf 'version = "1.0"\n[environment]\nallow_internet = false\n' >"$task/task.toml"
echo "Make /app/done." >"$task/instruction.md"
printf 'FROM cordon-test/base\nWORKDIR /app\n' >"$task/environment/Dockerfile"
printf '#!/bin/sh\nif [ -f /app/done ]; then echo 1; else echo 0; fi >/logs/verifier/reward.txt\n' >"$task/tests/test.sh"
printf '#!/bin/sh\ntouch /app/done\n' >"$task/solution/solve.sh"

# of EXPRESSION FILE: of a JSON document v
of() { python3 -c 'import json, sys; v = json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$1" "${2:-$tmp/out}"; }

outside "$CORDON" task ls
is "where nothing was run, nothing is listed" "$status ${said%% *} $(wc -l <"$tmp/out")" "0 ID 1"
outside "$CORDON" task ls --json
is "... as JSON, too" "$said" "[]"
outside "$CORDON" task rm --finished
is "... and nothing removed" "$status $told" "0 cordon: 0 results removed"

timeout 120 "$CORDON" task run "$task" --agent oracle >/dev/null 2>&1
sleep 0.01
timeout 120 "$CORDON" task run "$task" -- sh -c 'printf "\033[31m"; exit 3' >/dev/null 2>&1
timeout 120 "$CORDON" task run "$task" --agent none --out "$tmp/elsewhere" >/dev/null 2>&1
outside "$CORDON" task ls --quiet
is "results are listed, but for those that were sent elsewhere" "$(wc -l <"$tmp/out")" 2
read -r second first <<<"$(tr '\n' ' ' <"$tmp/out")"
ok "the newest first" test "${second/-/}" -gt "${first/-/}"
outside "$CORDON" task ls
like "a line has status, reward, agent, task and folder" "$said" "$first +[0-9]+s +scored +1 +oracle +small +$kept/$first"
like "... and a command's words, cut to the column" "$said" "$second +[0-9]+s +scored +0 +sh -c printf.* small +$kept/$second"
is "no control character reaches the terminal" "${said//[^$'\033']/}" ""
outside "$CORDON" task ls --json
is "as JSON" "$(of '[(r["id"], r["status"], r["task"], r["agent"], r["reward"], r["folder"]) for r in v][1]')" "('$first', 'scored', 'small', 'oracle', 1, '$kept/$first')"

outside "$CORDON" task show "$first"
is "show ends well" "$status" 0
like "show says task, status and reward" "$(tr -s ' \n' ' ' <<<"$said")" "^result $first task small status scored reward 1 agent oracle started 20"
like "... phases and where the rest is" "$(tr -s ' \n' ' ' <<<"$said")" "agent 0\.[0-9]+ s .*verify 0\.[0-9]+ s .*folder $kept/$first"
outside "$CORDON" task show --json "$first"
is "with --json it is the document that the run wrote" "$said" "$(cat "$kept/$first/result.json")"
outside "$CORDON" task show "$second"
like "an agent's exit status is shown" "$said" 'agent +0\.[0-9]+ s, exit 3'

for id in nothing ../tasks tmp . '' "$first/" "../tasks/$first" 99999999999-000; do
	outside "$CORDON" task show "$id"
	is "show: there is no result '$id'" "$status" 125
	outside "$CORDON" task rm "$id"
	is "rm: nor one to remove" "$status $(ls "$kept" | wc -l)" "125 3"
done
outside "$CORDON" task rm
is "rm wants to know which" "$status" 125
outside "$CORDON" task rm "$first" --finished
is "rm: ids or --finished, not both" "$status $(ls "$kept" | wc -l)" "125 3"
outside "$CORDON" task rm --older-than soon
like "rm: what is no time is refused" "$status $told" '^125 .*--older-than soon is not a duration'

# While one runs
timeout 120 "$CORDON" task run "$task" -- sh -c 'sleep 60' >/dev/null 2>&1 &
runner=$!
until_listed() { for _ in $(seq 200); do "$CORDON" task ls | grep -q ' running ' && return; sleep 0.05; done; return 1; }
ok "one that goes on is listed as running" until_listed
third=$("$CORDON" task ls --quiet | head -n 1)
like "... with the names of its task and agent" "$("$CORDON" task ls | grep "$third" | tr -s ' ')" " running - sh -c sleep 60 ${task##*/} "
outside "$CORDON" task rm "$third"
like "... and is not removed" "$status $told" "^125 .*$third: the task is running"
outside "$CORDON" task show "$third"
like "... but shown" "$(tr -s ' \n' ' ' <<<"$said")" "status running .*folder $kept/$third"
outside "$CORDON" task show --json "$third"
like "... though it has no result yet" "$status $told" "^125 .*$third has no result: it is going on"
outside "$CORDON" task run "$task" --agent none --out "$kept/$third"
like "nobody else writes to its folder" "$status $told" '^125 .*is in use by another run'
outside "$CORDON" task rm --finished
is "rm --finished removes the others only" "$told $("$CORDON" task ls --quiet)" "cordon: 2 results removed $third"
# the program itself: timeout passes SIGTERM on, which would end it well
kill -9 "$(pgrep -P "$runner" | head -n 1)"
{ wait "$runner"; } 2>/dev/null
chmod -R u+rwx "$XDG_DATA_HOME" 2>/dev/null # an overlay's own folder is left, for the next sweep of the store
until_free() { for _ in $(seq 100); do "$CORDON" task ls | grep -q ' killed ' && return; sleep 0.05; done; return 1; }
ok "one that was killed is told from one that runs" until_free
outside "$CORDON" task show --json "$third"
like "... and has no result" "$status $told" "^125 .*$third has no result: it was killed"

# What a task left may mean harm
mkdir -p "$tmp/victim" && echo precious >"$tmp/victim/file" && chmod 755 "$tmp/victim" && chmod 640 "$tmp/victim/file"
mkdir -p "$kept/$third/agent/shut"
ln -s "$tmp/victim" "$kept/$third/agent/folder"
ln -s "$tmp/victim/file" "$kept/$third/agent/shut/file"
ln -s "$tmp/victim/file" "$kept/$third/result.json"
mkfifo "$kept/$third/agent/fifo"
chmod 500 "$kept/$third/agent/shut" "$kept/$third/agent"
chmod 500 "$kept/$third"
outside "$CORDON" task show "$third"
unlike_victim() { ! grep -q precious <<<"$1"; }
ok "a link in the place of the result is not read" unlike_victim "$said$told"
outside "$CORDON" task rm "$third"
is "links in it are removed and not followed" "$status $(cat "$tmp/victim/file") $(stat -c %a "$tmp/victim" "$tmp/victim/file" | tr '\n' ' ')" "0 precious 755 640 "
ok "and nothing of it is left" test ! -e "$kept/$third"
mkdir -p "$tmp/victim/1700000000-000" && ln -s "$tmp/victim/1700000000-000" "$kept/1700000000-000"
outside "$CORDON" task rm --finished
ok "a link in the place of a whole result leads nowhere" test -d "$tmp/victim/1700000000-000"
rm "$kept/1700000000-000"

mkdir "$kept/1700000000-123" "$kept/$(date +%s)-000"
mkfifo "$kept/1700000000-123/result.json"
outside timeout 10 "$CORDON" task ls
like "a FIFO in the place of a result stops nobody" "$status $said" '^0 .*1700000000-123 +[0-9]+d +unreadable'
outside "$CORDON" task rm --older-than 1d
is "--older-than spares what is younger" "$told $(ls "$kept" | grep -c -)" "cordon: 1 result removed 1"
if is_root; then
	mkdir -p "$kept/1700000000-124/held" "$kept/1700000000-125"
	outside unshare -m -- sh -c 'mount -t tmpfs x "$1" && shift && exec "$@"' sh "$kept/1700000000-124/held" "$CORDON" task rm --older-than 1d
	is "what cannot be removed is named, the rest goes, and that is no success" "$status $(grep -c '1700000000-124: not all of' <<<"$told") $(ls "$kept" | grep -c ^1700000000)" "125 1 1"
	rm -rf "$kept/1700000000-124"
fi
outside "$CORDON" task rm --finished
is "and then nothing is left" "$told $(ls "$kept")" "cordon: 1 result removed tmp"
finish
