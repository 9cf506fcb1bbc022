#!/bin/bash
# Runs that are going on and runs that have ended: signals, ps, exec, stop, logs, and what is left when the supervisor is killed.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

# --- signals, without a terminal ---

loop='trap "echo got $0 >>got; exit 9" HUP INT TERM USR1 USR2; echo ready >ready; while :; do sleep 0.05; done'
for sig in HUP INT TERM USR1 USR2; do
	rm -f got ready
	in_background sh -c "${loop//\$0/SIG$sig}"
	until_true test -s ready
	kill -s "$sig" "$pid"
	ended "$pid"
	is "SIG$sig to cordon goes to the command" "$status:$(cat got)" "9:got SIG$sig"
done
for sig in INT:2 TERM:15 HUP:1 QUIT:3 USR1:10 ALRM:14; do
	rm -f ready
	in_background python3 -c 'import signal,time
[signal.signal(s,signal.SIG_DFL) for s in (2,3)]
open("ready","w").write("x"); time.sleep(30)'
	until_true test -s ready
	kill -s "${sig%:*}" "$pid"
	ended "$pid"
	is "a command ended by SIG${sig%:*} gives 128 + ${sig#*:}" "$status" $((128 + ${sig#*:}))
done
rm -f ready beat
in_background sh -c '(setsid sh -c "while :; do echo x >>beat; sleep 0.02; done" &); echo x >ready; while :; do sleep 0.02; done'
until_true test -s ready -a -s beat
stopped()
{
	local a b
	a=$(stat -c %s beat) || return 1
	sleep 0.3
	b=$(stat -c %s beat)
	echo "$a then $b"
	[ "$a" = "$b" ]
}
goes_on()
{
	! stopped
}
kill -TSTP "$pid"
ok "SIGTSTP stops the command, and all it started" until_true stopped
is "but not cordon, which watches over it" "$(ps -o stat= -p "$pid" | cut -c1 | sed 's,[DR],S,')" S
kill -CONT "$pid"
ok "SIGCONT lets them go on" until_true goes_on
kill -TSTP "$pid"
until_true stopped
kill -CONT "$pid"
ok "and a second time" until_true goes_on
kill -TERM "$pid"
ended "$pid"
is "then SIGTERM ends it" "$status" 143

# --- ps ---

is "ps: nothing runs now" "$("$CORDON" ps --quiet)" ""
in_background sleep 30
like "ps: an id of eight hexadecimal digits" "$id" '^[0-9a-f]{8}$'
like "ps: a run is listed with its command" "$("$CORDON" ps)" "$id +running .* sleep 30"
is "ps --json is one document" "$("$CORDON" ps --json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(len(d), d[0]["status"], d[0]["exit"], d[0]["workdir_mode"], d[0]["command"], d[0]["pid"])')" "1 running None read-write sleep 30 $pid"
is "state: only its owner can look at it" "$(stat -c %a "$state" "$state/$id" "$state/$id/audit.jsonl" | sort -u | tr '\n' ' ')" "600 700 "
like "logs: of a run that goes on" "$("$CORDON" logs "$id")" 'process +allow +start: sleep 30; policy '
outside "$CORDON" rm "$id"
ok "rm: never a run that goes on" refused 125 'is going on'
outside "$CORDON" rm --finished
is "rm --finished: nor that way" "$status:$("$CORDON" ps --quiet)" "0:$id"
outside "$CORDON" diff "$id"
ok "diff: refused for a run that changes its folder itself" refused 125 'was not a copy'

# --- exec ---

outside "$CORDON" exec "$id" -- sh -c 'pwd; id -u; exit 7'
is "exec: folder and exit status" "$status:$(head -n 1 "$tmp/out")" "7:$work"
is "exec: the run's environment and nothing of the caller's" "$(FOO=bar "$CORDON" exec "$id" -- env </dev/null | sort)" "HOME=$tmp/home
LANG=C.UTF-8
LOGNAME=cordon
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
PWD=$work
SHELL=/bin/sh
TMPDIR=/tmp
USER=cordon"
is "exec: stdin, stdout, stderr" "$(echo in | "$CORDON" exec "$id" -- sh -c 'cat; echo err >&2' 2>&1 | tr '\n' ' ')" "in err "
is "exec: it is in the same sandbox" "$("$CORDON" exec "$id" -- sh -c 'cat /proc/[0-9]*/comm' | grep -c sleep)" 1
is "exec: only fds 0 to 2" "$("$CORDON" exec "$id" -- sh -c 'for f in /proc/self/fd/*; do [ -e "$f" ] && echo "${f##*/}"; done' 3</etc/passwd 8</ </dev/null | tr '\n' ' ')" "0 1 2 "
is "exec: no capability, no new privileges, a filter" "$("$CORDON" exec "$id" -- grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | cut -f2 | tr '\n' ' ')" "0000000000000000 0000000000000000 1 2 "
is "exec: what it makes is on the host" "$("$CORDON" exec "$id" -- sh -c 'echo x >made-by-exec'; cat made-by-exec)" x
is "exec: the umask of the run, whatever was made in between" "$("$CORDON" exec "$id" -- sh -c 'umask 077; >x1; mkdir x2'; "$CORDON" exec "$id" -- sh -c umask)" "$(printf '%04o' "$(umask)")"
outside "$CORDON" exec "$id" -- nonesuch
ok "exec: not found is 127" refused 127 'nonesuch: not found'
outside "$CORDON" exec "$id" -- /etc/passwd
ok "exec: not executable is 126" refused 126 '/etc/passwd'
outside "$CORDON" exec "$id" -- sh -c 'kill -9 $$'
is "exec: killed by a signal" "$status" 137
outside "$CORDON" exec "$id"
ok "exec: a missing command" refused 125 'no command given'
outside "$CORDON" exec zzz -- true
ok "exec: not an id" refused 125 'not the id of a run'
outside "$CORDON" exec ../../etc -- true
ok "exec: a path is not an id" refused 125 'not the id of a run'
outside "$CORDON" exec 00000000 -- true
ok "exec: no such run" refused 125 'no such run'
ten()
{
	local i p=() bad=
	for i in 0 1 2 3 4 5 6 7 8 9; do
		"$CORDON" exec "$id" -- sh -c "sleep 0.3; echo $i >ten-$i; exit $i" </dev/null &
		p+=($!)
	done
	for i in 0 1 2 3 4 5 6 7 8 9; do
		wait "${p[i]}"
		[ "$?" = "$i" ] && [ "$(cat "ten-$i")" = "$i" ] || bad+=" $i"
	done
	echo "wrong:$bad"
	[ -z "$bad" ]
}
ok "exec: ten at once" ten
"$CORDON" exec "$id" -- sh -c 'echo $$ >client; exec sleep 40' </dev/null >/dev/null 2>&1 &
client=$!
until_true test -s client
kill -9 "$client"
wait "$client" 2>/dev/null

gone()
{
	[ -z "$("$CORDON" exec "$id" -- sh -c "cat /proc/$(cat client)/cmdline 2>/dev/null" </dev/null)" ]
}
ok "exec: the client killed, its command hangs up" until_true gone
"$CORDON" exec "$id" -- sh -c 'echo $$ >client; trap "echo yes >termed; exit 5" TERM; while :; do sleep 0.05; done' </dev/null >/dev/null 2>&1 &
client=$!
rm -f client
until_true test -s client
kill -TERM "$client"
wait "$client"
is "exec: signals are passed on" "$?:$(cat termed)" "5:yes"
"$CORDON" exec "$id" -- sh -c '(sleep 0.6; echo late >late) >/dev/null 2>&1 &' </dev/null
for i in 1 2 3; do "$CORDON" exec "$id" -- true </dev/null; done
ok "exec: what a finished command left running can still make files" until_true test -s late
like "exec: it is in the log" "$(events "$id" exec | head -n 1)" '"command":\["sh","-c"'
"$CORDON" exec "$id" -- sleep 40 </dev/null >/dev/null 2>"$tmp/client.err" &
client=$!
until_true sh -c "'$CORDON' exec $id -- sh -c 'cat /proc/[0-9]*/cmdline' </dev/null | grep -qa 'sleep.40'"

# --- stop ---

began=$(date +%s%N)
outside "$CORDON" stop "$id"
is "stop: it ends, and stop waits for that" "$status:$("$CORDON" ps -q)" "0:"
ended "$pid"
is "stop: the run's exit status is SIGTERM's" "$status" 143
wait "$client"
is "stop: a command started by exec ends with it" "$?" 125
like "stop: and its client says why" "$(cat "$tmp/client.err")" '^cordon: .*ended'
like "stop: it is in the log" "$(events "$id" signal)" 'stopped by its owner'
like "stop: an exit event with usage ends the log" "$("$CORDON" logs --json "$id" | tail -n 1)" '"event":"exit".*"exit":143.*"user_us"'
outside "$CORDON" stop "$id"
ok "stop: a run that has ended" refused 125 'has ended'
outside "$CORDON" exec "$id" -- true
ok "exec: a run that has ended" refused 125 'has ended'
mkdir -p "$tmp/a long name of a folder"
cp "$tmp/policy.yaml" "$tmp/a long name of a folder/mine.yaml"
"$CORDON" run -p "$tmp/a long name of a folder/mine.yaml" -- true
like "ps --all: of a policy's path it shows the last part" "$("$CORDON" ps -a)" ' mine\.yaml +run +- +true'
like "ps --all: it shows the status" "$("$CORDON" ps -a)" "$id +exited 143"
rm -f ready
in_background sh -c 'trap "" TERM HUP INT; echo x >ready; while :; do sleep 0.1; done'
until_true test -s ready
kill -TERM "$pid"
sleep 0.3
is "SIGTERM that the command ignores changes nothing" "$("$CORDON" ps -q)" "$id"
began=$(date +%s%N)
"$CORDON" stop --time 1 "$id"
took=$((($(date +%s%N) - began) / 1000000))
ended "$pid"
ok "stop: what ignores SIGTERM is killed after the time given ($took ms)" test "$took" -ge 900 -a "$took" -lt 4000
is "stop: with the status of SIGKILL" "$status" 137
outside "$CORDON" stop --time never 00000000
ok "stop: --time takes a number" refused 125 'time'
rm -f ready
in_background sh -c 'trap "" TERM HUP INT; echo x >ready; while :; do sleep 0.1; done'
until_true test -s ready
timeout 30 "$CORDON" stop --time 600 "$id" &
patient=$!
asked()
{
	events "$id" signal | grep -q 'stopped by its owner'
}
until_true asked
timeout 20 "$CORDON" stop --time 0 "$id"
is "stop: who gives it less time is heard while another waits" "$?:$("$CORDON" ps -q)" "0:"
wait "$patient"
ended "$pid"

# --- another user's run ---

if is_root && id nobody >/dev/null 2>&1; then
	in_background sleep 20
	mkdir -p "$tmp/nobody"
	cp "$CORDON" "$tmp/nobody/cordon"
	[ ! -x "${CORDON%/*}/cordon-init" ] || cp "${CORDON%/*}/cordon-init" "$tmp/nobody/"
	chown -R nobody "$tmp/nobody"
	chmod 711 "$tmp"
	as_nobody()
	{
		setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups env XDG_STATE_HOME="$tmp/nobody/state" HOME="$tmp/nobody" "$tmp/nobody/cordon" "$@"
	}
	outside as_nobody exec "$id" -- true
	ok "another user's run: exec does not find it" refused 125 'no such run'
	mkdir -p "$tmp/nobody/state/cordon/runs/$id" && cp "$state/$id/audit.jsonl" "$tmp/nobody/state/cordon/runs/$id/"
	chown -R nobody "$tmp/nobody"
	# not locked, so it seems to have ended: a lock of theirs makes it seem to run
	setpriv --reuid=nobody flock "$tmp/nobody/state/cordon/runs/$id/audit.jsonl" sleep 5 &
	holder=$!
	sleep 0.2
	outside as_nobody stop "$id"
	is "another user's run: not even with a state folder that names it" "$status:$("$CORDON" ps -q)" "125:$id"
	kill "$holder"
	wait "$holder" 2>/dev/null
	"$CORDON" stop --time 0 "$id"
	ended "$pid"
	chmod 700 "$tmp"
else
	skip "another user's run" "needs root, to be another user"
fi

# --- kill -9 of the supervisor ---

rm -f ready beat
in_background sh -c '(setsid sh -c "while :; do echo x >>beat; sleep 0.02; done" &) ; echo x >ready; exec sleep 77.25'
until_true test -s ready
until_true test -s beat
inner=$(pgrep -fx 'sleep 77.25' | head -n 1)
pidns=$(readlink "/proc/$inner/ns/pid")
sandboxed()
{
	[ -n "$(find /proc -mindepth 3 -maxdepth 3 -path '/proc/[0-9]*/ns/pid' -lname "$pidns" -print -quit 2>/dev/null)" ]
}
all_gone()
{
	! sandboxed
}
ok "before kill -9: the sandbox is there" test -n "$inner"
kill -9 "$pid"
began=$(date +%s%N)
wait "$pid" 2>/dev/null
until_true all_gone
took=$((($(date +%s%N) - began) / 1000000))
ok "kill -9 of the supervisor takes everything down within a second ($took ms)" test "$took" -lt 1000
ok "its daemon beats no more" stopped
is "no mount is left" "$(grep -c -F "$tmp" /proc/self/mounts)" 0
is "no temporary file is left" "$(find "$tmp/t" "$tmp/run" -mindepth 1)" ""
like "the next ps shows it as killed" "$("$CORDON" ps -a)" "$id +killed"
is "and no longer as running" "$("$CORDON" ps -q)" ""
is "ps --json says so too" "$("$CORDON" ps -a --json | python3 -c 'import json,sys; print([(r["status"], r["exit"]) for r in json.load(sys.stdin) if r["id"] == sys.argv[1]])' "$id")" "[('killed', None)]"
outside "$CORDON" exec "$id" -- true
ok "exec on it is refused" refused 125 'has ended'
like "its log is called unfinished, not changed" "$("$CORDON" audit verify "$state/$id/audit.jsonl" 2>&1)" 'unfinished'

# --- the run's end ---

inside sh -c 'setsid sh -c "sleep 0.4; echo late >after" >/dev/null 2>&1 </dev/null & exit 3'
sleep 0.7
is "what the command leaves behind ends with it" "$status:$(ls after 2>/dev/null)" "3:"
inside_says "zombies are reaped" "0" sh -c '(true &); (true &); sleep 0.2; grep -l "^State:.Z" /proc/[0-9]*/status 2>/dev/null | wc -l'

# --- limits that are about more than one command ---

policy <<'END'
filesystem: {workdir: read-write}
process: {timeout: 500ms}
END
inside sh -c 'trap "echo asked >asked; exit 0" TERM; while :; do sleep 0.05; done'
is "timeout: the command is asked first, and 124 whatever it answers" "$status:$(cat asked)" "124:asked"
outside timeout -s KILL 20 "$CORDON" run --policy "$tmp/policy.yaml" -- sh -c 'kill -STOP $$'
is "timeout: holds for a command that stopped itself" "$status" 124
policy <<'END'
filesystem: {workdir: read-write}
process: {timeout: 4s}
END
rm -f ready
in_background sh -c 'trap "" TERM HUP INT; echo x >ready; while :; do sleep 0.1; done'
until_true test -s ready
timeout 30 "$CORDON" stop --time 600 "$id"
is "timeout: holds while a stop gives the command more time" "$?" 0
"$CORDON" stop --time 0 "$id" 2>/dev/null
ended "$pid"
is "... with its own status" "$status" 124
policy <<'END'
filesystem: {workdir: read-write}
process: {max_processes: 24}
END
in_background sleep 30
"$CORDON" exec "$id" -- sh -c 'for i in $(seq 60); do sleep 5 & done 2>/dev/null; ls -d /proc/[0-9]* | wc -l >count; sleep 1' </dev/null >/dev/null 2>&1
ok "max_processes: what exec starts counts with the rest ($(cat count 2>/dev/null))" test "$(cat count 2>/dev/null || echo 0)" -le 26
"$CORDON" stop --time 0 "$id"
ended "$pid"
policy <<'END'
filesystem: {workdir: read-write}
END
inside_says "no core is dumped, files are not without bound" "0 4096" bash -c 'echo $(ulimit -c) $(ulimit -n)'

# --- audit ---

inside sh -c 'exit 4'
id=$(runs | head -n 1)
ok "audit: the run's log verifies" "$CORDON" audit verify "$state/$id/audit.jsonl"
start=$(events "$id" start)
for field in '"policy_digest":"[0-9a-f]{64}"' '"plan_digest":"[0-9a-f]{64}"' '"isolation":\{"runtime":"native"' '"landlock":' '"seccomp":"' '"workdir":"' '"command":\["sh","-c","exit 4"\]' '"seq":1' '"class_uid":' '"run":"'"$id"; do
	like "audit: the start event has ${field%%[:\[]*}" "$start" "$field"
done
like "audit: the exit event has the status" "$(events "$id" exit)" '"exit":4'
digest=$(grep -o '"policy_digest":"[0-9a-f]*"' <<<"$start")
inside true
is "audit: the same policy has the same digest" "$(events "$(runs | head -n 1)" start | grep -o '"policy_digest":"[0-9a-f]*"')" "$digest"
policy <<'END'
filesystem: {workdir: read-write, deny: ["**/never"]}
process: {timeout: 20s}
END
inside sh -c 'mkdir d; echo x >d/never; mkdir never; unshare -U true; mount -t tmpfs none /tmp; python3 -c "import ctypes; ctypes.CDLL(None).ptrace(16,1,0,0)"'
id=$(runs | head -n 1)
isnt_same()
{
	[ "$1" != "$2" ]
}
ok "audit: another policy has another digest" isnt_same "$(events "$id" start | grep -o '"policy_digest":"[0-9a-f]*"')" "$digest"
denials=$(events "$id" denial)
like "audit: a denied name, with its rule and place in the policy" "$denials" '"domain":"filesystem","verdict":"deny","rule":"filesystem.deny \*\*/never \([^"]*policy.yaml:2\)"'
like "audit: and the path" "$denials" "\"target\":\"$work/d/never\""
for call in unshare mount ptrace; do
	like "audit: a denied $call" "$denials" "\"domain\":\"process\",\"verdict\":\"deny\",\"rule\":\"[^\"]+\"[^}]*\"target\":\"$call by"
done
ok "audit: the log with denials verifies" "$CORDON" audit verify "$state/$id/audit.jsonl"
like "audit: the exit event counts them" "$(events "$id" exit)" '"denials":[1-9]'
inside sh -c 'i=0; while [ $i -lt 400 ]; do mkdir never 2>/dev/null; i=$((i+1)); done'
id=$(runs | head -n 1)
few()
{
	local n
	n=$(events "$id" denial | wc -l)
	echo "$n events"
	[ "$n" -ge 10 ] && [ "$n" -le 390 ]
}
ok "audit: denials in a loop do not fill the log" few
policy <<'END'
filesystem: {workdir: read-write}
process: {timeout: 200ms}
END
inside sleep 9
like "audit: a limit that was hit" "$(events "$(runs | head -n 1)" limit)" '"rule":"process.timeout"'
policy <<'END'
filesystem: {workdir: read-write}
END
outside "$CORDON" run --json-events "$tmp/events.jsonl" -- true
is "--json-events has the same lines" "$(cmp "$tmp/events.jsonl" "$state/$(runs | head -n 1)/audit.jsonl" && echo same)" same
outside "$CORDON" run --json-events "$tmp/events.jsonl" -- true
like "a second run's events behind them: audit verify takes both" "$("$CORDON" audit verify "$tmp/events.jsonl"; echo $?)" ' lines of 2 runs, of each run every line follows the one before, up to its exit event.0$'
is "... audit show too" "$("$CORDON" audit show "$tmp/events.jsonl" | grep -c ' start: true')" 2
outside "$CORDON" run --json-events "$state/$(runs | head -n 1)/audit.jsonl" -- true # a run's own log has that run alone
like "... but not where the log is a run's own" "$("$CORDON" audit verify "$(runs | sed -n 2p)"; echo $?)" ': added: .*1$'
sed -i 2d "$tmp/events.jsonl"
is "... and a line that is missing is found" "$("$CORDON" audit verify "$tmp/events.jsonl" >/dev/null; echo $?)" 1
mkfifo "$tmp/held"
"$CORDON" run --json-events "$tmp/both.jsonl" -- cat <"$tmp/held" &
first=$!
exec 7>"$tmp/held"
for _ in $(seq 200); do [ -s "$tmp/both.jsonl" ] && break; sleep 0.05; done
outside "$CORDON" run --json-events "$tmp/both.jsonl" -- touch started
ok "--json-events where another run is writing refuses the run" refused 125 'both\.jsonl: another run is writing its events there'
is "... and nothing was started" "$(ls started 2>/dev/null)" ""
exec 7>&-
wait "$first"
ok "... whose events are whole" "$CORDON" audit verify "$tmp/both.jsonl"
outside "$CORDON" run --json-events "$tmp/both.jsonl" -- true
ok "... and afterwards the next may" "$CORDON" audit verify "$tmp/both.jsonl"
mkfifo "$tmp/events.fifo"
(timeout 20 cat "$tmp/events.fifo" >"$tmp/events.seen") &
reader=$!
sleep 0.2
outside "$CORDON" run --json-events "$tmp/events.fifo" -- true
wait "$reader"
is "--json-events can be looked on through a FIFO" "$(cmp "$tmp/events.seen" "$state/$(runs | head -n 1)/audit.jsonl" && echo same)" same
outside "$CORDON" run --json-events "$tmp/no/such/folder" -- touch started
ok "--json-events that cannot be written refuses the run" refused 125 'json-events'
is "and nothing was started" "$(ls started 2>/dev/null)" ""

# --- --dry-run: the plan as a person reads it ---

policy <<'END'
filesystem: {workdir: copy, tmp_size: 1536M, deny: ["**/*.dry-key"]}
process: {memory: 4G, cpus: 2.5, timeout: 30m, max_file_size: 1G, max_processes: 99}
END
echo x >a.dry-key
outside "$CORDON" run --policy "$tmp/policy.yaml" --dry-run -- sh -c 'echo hi'
is "dry run: it exits 0 and says nothing else" "$status:$told" "0:"
for line in 'run            sh -c echo hi' "start in       $work" 'memory         4G' 'processes      99' 'cpus           2.5' 'time           30m' 'file size      1G' 'scratch space  1536M'; do
	ok "dry run: a line \"  $line\"" grep -qxF "  $line" "$tmp/out"
done
like "dry run: the work folder as a copy" "$said" "as a copy \(changes stay in the sandbox\): filesystem.workdir
    $work
"
like "dry run: what is hidden now, with its rule and line" "$said" "hidden: filesystem.deny \*\*/\*.dry-key \($tmp/policy.yaml:2\)
    $work/a.dry-key
"
ok "dry run: no empty brackets, no raw bytes" sh -c '! grep -qE "\(\)|\(,|[0-9]{8,}" "$1"' - <(sed 's/\/[^ ]*//g' "$tmp/out")
is "dry run: no path or pattern is named twice in a group" "$(awk 'NF && !/^ /{delete seen} /^    /{gsub(/^ +/,""); n=split($0,w,", "); for(i=1;i<=n;i++){sub(/,$/,"",w[i]); if (w[i] != "" && seen[w[i]]++) print w[i]}}' "$tmp/out")" ""
ok "dry run: what is said in words is whole" grep -q 'what an interrupted apply left' "$tmp/out"
ok "dry run: within 100 columns where paths allow" awk 'length > 100 && !/\/tmp|cordon-test/ {print; bad = 1} END {exit bad}' "$tmp/out"
MARK_VALUE=hunter2 outside "$CORDON" run --env MARK_VALUE --dry-run -- true
like "dry run: variables by name" "$said" 'variables .*MARK_VALUE'
ok "dry run: never a value" sh -c '! grep -q hunter2 "$1"' - "$tmp/out"
outside "$CORDON" run --policy "$tmp/policy.yaml" --dry-run --json -- sh -c 'echo hi'
is "dry run --json is one document" "$(python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["version"], d["command"], d["limits"]["memory_bytes"], d["limits"]["cpu_thousandths"], d["limits"]["timeout_ms"], [s["target"] for s in d["steps"] if s["step"]=="copy"])' "$tmp/out")" "1 ['sh', '-c', 'echo hi'] 4294967296 2500 1800000 ['$work']"
is "dry run --json: no guard stands twice" "$(python3 -c 'import json,sys
rules = [json.dumps(g, sort_keys=True) for g in json.load(open(sys.argv[1]))["guards"]]
print(len(rules) - len(set(rules)))' "$tmp/out")" 0
outside "$CORDON" run --json -- true
ok "run --json alone is refused, not ignored" refused 125 'goes with --dry-run'
rm -f a.dry-key
outside env -C "$HOME" "$CORDON" run -- true
like "a run in the home folder itself says that it is one" "$told" 'current folder is your home folder'

# --- a command that cannot be started: what is said must be true ---

policy <<'END'
filesystem: {workdir: read-write, deny: ["**/hidden"]}
process: {deny_exec: [/usr/bin/env]}
END
# advises NAME STATUS REGEX CMD
advises()
{
	inside "$4"
	ok "$1" refused "$2" "$3"
}
mkdir -p hidden "$tmp/elsewhere"
printf '#!/bin/sh\necho x\n' | tee tool hidden/tool "$tmp/elsewhere/far-tool" >/dev/null
printf '#!/no/such/interpreter\n' >script
echo x >plain
chmod 755 tool hidden/tool script "$tmp/elsewhere/far-tool"
advises "not found: a path that is nowhere is not blamed on the policy" 127 "./nosuch: not found: there is no such file in $work" ./nosuch
case $tmp in /tmp/*) advises "not found: a program in the host's /tmp" 127 "far-tool: not found in the sandbox, which has a /tmp of its own: .*/far-tool is this machine's; add its folder" "$tmp/elsewhere/far-tool" ;; esac
advises "not found: an absolute path that is nowhere" 127 '/no/such: not found .*not on this machine either' /no/such
advises "not found: a word that is nowhere" 127 'nosuch-word: not found, neither in the PATH of the sandbox nor in yours' nosuch-word
advises "not found: a file of the work folder without ./" 127 'write ./tool' tool
advises "not executable: a denied path names its rule" 126 'denied by filesystem.deny \*\*/hidden' hidden/tool
advises "not found: a script without its interpreter" 127 './script: its interpreter is not found .*#!/no/such/interpreter' ./script
advises "not found: an empty name" 127 'name of the command is empty' ''
PATH=$PATH:/var/lib/cordon-no-such:$tmp/elsewhere advises "not found: below /tmp of the host is not shown" 127 'far-tool: not found' far-tool
advises "not executable: a plain file" 126 './plain: cannot be executed: it lacks the permission; .chmod' ./plain
advises "not executable: a folder" 126 '/usr: cannot be executed: it is a folder' /usr
advises "not executable: deny_exec names its rule and line" 126 "denied by process.deny_exec /usr/bin/env \($tmp/policy.yaml:3\)" env
advises "not executable: the same by path" 126 "denied by process.deny_exec /usr/bin/env" /usr/bin/env

# --- rm ---

policy <<'END'
filesystem: {workdir: read-write}
END
inside true
first=$(runs | head -n 1)
inside true
second=$(runs | head -n 1)
inside true
third=$(runs | head -n 1)
outside "$CORDON" rm "$first" 00000000 "$second"
ok "rm: one that is not there is an error" refused 125 '00000000: no such run'
is "rm: and does not keep the others" "$(find "$state" -mindepth 1 -maxdepth 1 \( -name "$first" -o -name "$second" \) | wc -l)" 0
outside "$CORDON" rm ../../../etc
ok "rm: a path is not an id" refused 125 'not the id of a run'
outside "$CORDON" rm
ok "rm: without a name nothing is removed" refused 125 'name the runs, or give --finished'
outside "$CORDON" rm --finished "$third"
ok "rm: --finished takes no names" refused 125 'give --finished alone'
is "rm: and nothing was" "$(ls -d "$state/$third")" "$state/$third"
mkdir -p "$state/0badc0de" && : >"$state/0badc0de/audit.jsonl"
exec 8<"$state/0badc0de" # who starts holds the folder
flock 8
outside "$CORDON" rm 0badc0de
ok "rm: a run that is just being started stays" refused 125 'just being started'
ln -s "$work" "$state/deadbeef"
outside "$CORDON" rm deadbeef
ok "rm: a link in the place of a run is not followed" refused 125 'no such run'
outside "$CORDON" run --profile strict -- sh -c 'echo x >kept'
kept=$(runs | head -n 1)
in_background sleep 30
outside "$CORDON" rm --finished
is "rm --finished: what ended goes, what runs, starts or holds changes stays" "$status:$(find "$state" -mindepth 1 -maxdepth 1 ! -name '.*' -printf '%f\n' | sort | tr '\n' ' ')" "0:$(printf '%s\n' 0badc0de deadbeef "$kept" "$id" | sort | tr '\n' ' ')"
like "rm --finished: says how many were kept and why" "$told" '1 kept, with changes that were not applied'
exec 9<"$state/$kept/audit.jsonl"
flock -s 9
outside "$CORDON" rm "$kept"
ok "rm: not while another command works with the run" refused 125 'another command works with this run'
exec 9<&-
outside "$CORDON" rm "$kept"
is "rm: named, a run goes with its changes" "$status:$(ls -d "$state/$kept" 2>/dev/null)" "0:"
is "rm: the work folder is as it was" "$(ls kept 2>/dev/null)" ""
outside "$CORDON" run --profile strict -- sh -c 'echo x >kept'
kept=$(runs | head -n 1)
echo damaged >"$state/$kept/apply.journal"
mkdir .cordon-apply-0123 && echo aside >.cordon-apply-0123/0
outside "$CORDON" rm "$kept"
ok "rm: an apply that cannot be undone keeps its run, and the way out is named" refused 125 "rm --force $kept"
outside "$CORDON" rm --finished --force
ok "rm: --force is for runs that are named" refused 125 'give --finished alone'
outside "$CORDON" rm --force "$kept"
is "rm --force: a run whose journal is damaged goes, and what was put aside stays" "$status:$(ls -d "$state/$kept" 2>/dev/null):$(cat .cordon-apply-0123/0)" "0::aside"
like "rm --force: says where that is" "$told" 'stays in the work folder, as \.cordon-apply-'
rm -r .cordon-apply-0123
"$CORDON" stop --time 0 "$id"
ended "$pid"
rm "$state/deadbeef"
mkdir "$state/0badc0df"
"$CORDON" ps >/dev/null
is "a run that is just being started outlives ps; what was killed at that does not" "$(ls "$state" | grep 0bad)" 0badc0de
exec 8<&-
"$CORDON" ps >/dev/null
is "... whenever it was killed" "$(ls "$state" | grep 0bad)" ""

finish
