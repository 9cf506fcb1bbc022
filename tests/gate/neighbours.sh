#!/bin/bash
# Two sandboxes with one folder: what one may write is not what the other's policy is read from.
. "$(dirname "$0")/../gate_lib.sh"

start_upstream first.test second.test || finish
write_policy()
{
	printf 'version: 1\nextends: [default]\nnetwork: {mode: allowlist, allow: [%s]}\n' "$1"
}
opened=$(write_policy "{host: first.test}, {host: second.test}")
mkdir "$work/conf"
write_policy "{host: first.test}" >"$work/conf/policy.yaml"
cp "$work/conf/policy.yaml" "$tmp/before.yaml"
mkfifo "$tmp/orders"

# begin ARGS...: a run that does what it is told by lines to fd 5.
begin()
{
	: >"$tmp/told"
	"$CORDON" run "$@" --workdir "$work" -- sh -c 'echo ready; while read -r line; do eval "$line"; echo done; done' <"$tmp/orders" >"$tmp/told" 2>"$tmp/err" &
	begun=$!
	exec 5>"$tmp/orders"
	until_true grep -q ready "$tmp/told"
}
end()
{
	exec 5>&-
	wait "$begun"
}
# The file is written by whoever is `$@`; the log of the run that follows it says whether it was read again.
rewrite='printf "%s\n" "$NEW" >conf/policy.yaml; mv conf conf2; mkdir conf; printf "%s\n" "$NEW" >conf/policy.yaml; cp conf/policy.yaml p2; mv p2 conf/policy.yaml; true'
reloaded() { grep -l 'a new policy is in force' "$tmp"/state/cordon/runs/*/audit.jsonl | wc -l; }
is_reloaded() { [ "$(reloaded)" = 1 ]; }

begin -p "$work/conf/policy.yaml"
NEW=$opened "$CORDON" run --env NEW --workdir "$work" -- sh -c "$rewrite" >/dev/null 2>&1
ok "a sandbox without network does not write the policy of its neighbour's" cmp -s "$work/conf/policy.yaml" "$tmp/before.yaml"
sleep 0.5
is "... which stays in force" "$(reloaded)" "0"
is "... and has its folder otherwise" "$("$CORDON" run --workdir "$work" -- sh -c 'echo x >conf/other && cat conf/other')" "x"
write_policy "{host: second.test}" >"$work/conf/policy.yaml"
until_true is_reloaded
is "what the host writes is read again" "$(reloaded)" "1"
end
NEW=$opened "$CORDON" run --env NEW --workdir "$work" -- sh -c 'printf "%s\n" "$NEW" >conf/policy.yaml'
is "when that run is over the file is one like others" "$(cat "$work/conf/policy.yaml")" "$opened"
is "... and nothing is left of it" "$(find "$tmp/state/cordon/runs/.live" -type f | wc -l)" "0"

# The other way round: one that may write is there first.
cp "$tmp/before.yaml" "$work/conf/policy.yaml"
export NEW=$opened
begin --env NEW
"$CORDON" run -p "$work/conf/policy.yaml" --workdir "$work" -- sleep 60 2>"$tmp/late.err" 5>&- &
late=$!
until_true grep -q 'another sandbox may write' "$tmp/late.err"
like "a run says that it does not follow a file that another sandbox may write" "$(cat "$tmp/late.err")" 'policy\.yaml: changes of it take effect by .cordon policy push. only'
before=$(reloaded)
echo 'printf "%s\n" "$NEW" >conf/policy.yaml' >&5
until_true grep -q done "$tmp/told"
sleep 0.5
is "... nor does it" "$(kill -0 "$late" && reloaded)" "$before"
end
kill "$late"
wait "$late"

# One that is just writing down what it may write: it looks at others when it has.
cp "$tmp/before.yaml" "$work/conf/policy.yaml"
mkdir "$tmp/elsewhere"
# says_of RECORD: what a run says that begins beside one with this record.
says_of()
{
	python3 -c 'import fcntl,subprocess,sys
f = open(sys.argv[1], "wb")
fcntl.flock(f, fcntl.LOCK_EX)
f.write(sys.argv[2].encode().decode("unicode_escape").encode())
f.flush()
subprocess.run(sys.argv[3:])' "$tmp/state/cordon/runs/.live/other" "$1" "$CORDON" run -p "$work/conf/policy.yaml" --workdir "$tmp/elsewhere" -- true 2>&1
	rm -f "$tmp/state/cordon/runs/.live/other"
}
like "one that may write is told of when its record is complete" "$(says_of "w$work\0-\0")" 'another sandbox may write'
is "... and is not taken to have said all before" "$(says_of "w$work\0")$(says_of "w$work-\0")" ""

# One that was killed holds nothing up.
begin -p "$work/conf/policy.yaml"
kill -KILL "$begun"
end 2>/dev/null
"$CORDON" run --workdir "$work" -- sh -c 'echo again >conf/policy.yaml'
is "the file of a run that was killed can be written" "$(cat "$work/conf/policy.yaml")" "again"
# Two that begin at the same moment: the one that could change what the other follows plans once more.
refused=0
for ((i = 0; i < 20; i++)); do
	new=$(mktemp -d "$tmp/both.XXXXXX") && cp "$tmp/before.yaml" "$new/policy.yaml" && cd "$new" || exit 1
	"$CORDON" run -p policy.yaml -- sleep 0.1 >/dev/null 2>&1 &
	"$CORDON" run -- true >/dev/null 2>"$tmp/both.err" || refused=$((refused + 1))
	wait $!
done
is "none of those that begin beside one that follows a file is refused for that" "$refused" 0
finish
