#!/bin/bash
# Tasks in all formats, as their authors wrote them: the oracle gets its reward on every runtime (CORDON_RUNTIME), and whoever does nothing does not.
. "$(dirname "$0")/../runtime_lib.sh"
need_runtime "tasks" "$0" "$@"
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"

export XDG_DATA_HOME=$tmp/data
tasks=$tests_dir/tasks/benign
runtime=(${CORDON_RUNTIME:+--runtime "$CORDON_RUNTIME"})
task_images base python || { echo "Bail out! the images cannot be made"; exit 99; }

# result TASK AGENT: status and reward
result()
{
	rm -rf "$tmp/out-$1-$2"
	timeout 300 "$CORDON" task run "$tasks/$1" --agent "$2" "${runtime[@]}" --out "$tmp/out-$1-$2" --json >"$tmp/result.json" 2>"$tmp/result.err"
	python3 - "$tmp/result.json" <<'END' 2>/dev/null || tail -n 3 "$tmp/result.err"
import json, sys
r = json.load(open(sys.argv[1]))
print(r["status"], "-" if r["reward"] is None else f'{r["reward"]:g}', *([r["reason"]] if "reason" in r else []))
END
}

for name in $(ls "$tasks"); do
	ok "$name is accepted" "$CORDON" task check "$tasks/$name"
	case $name in
	no-solution)
		like "$name: the oracle has nothing to run" "$(result "$name" oracle)" '^agent_error - '
		is "$name: it can be judged all the same" "$(result "$name" none)" "scored 1"
		continue
		;;
	rewards) is "$name: the oracle gets the mean of its rewards" "$(result "$name" oracle)" "scored 0.75" ;;
	*) is "$name: the oracle gets its reward" "$(result "$name" oracle)" "scored 1" ;;
	esac
	is "$name: nothing done, nothing earned" "$(result "$name" none)" "scored 0"
done

out=$tmp/out-hello-oracle
is "the result is also a file" "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["reward"])' "$out/result.json")" 1
ok "what the verifier printed is kept" test -e "$out/output/verify.txt"
ok "what the verifier left is kept" grep -qx 1 "$out/verifier/reward.txt"
ok "the audit logs of agent and verifier are whole" sh -c "'$CORDON' audit verify '$out/audit/agent.jsonl' && '$CORDON' audit verify '$out/audit/verify.jsonl'"
ok "there is a page for a browser" grep -q '<title>Cordon ' "$out/report.html"
is "nothing of the runs is left" "$(find "$XDG_STATE_HOME/cordon/tasks/tmp" "$XDG_DATA_HOME/cordon/images/tmp" -mindepth 1 | wc -l)" 0
finish
