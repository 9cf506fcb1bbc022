#!/bin/bash
# Sandboxes that outlive their command: kept for further ones, for an owner, prepared for the next runs.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

stop_all()
{
	timeout 60 "$CORDON" stop -t 0 --all
}
# What ps says of the only run.
seen()
{
	"$CORDON" ps --json | python3 -c 'import json,sys; r=json.load(sys.stdin)[0]; print(*(r[k] for k in sys.argv[1:]))' "$@"
}
kept()
{
	"$CORDON" ps -q | wc -l
}
ready()
{
	[ "$(find "$XDG_STATE_HOME/cordon/warm" -type f ! -name lock 2>/dev/null | wc -l)" -ge "$1" ]
}
takes_no_command()
{
	! "$CORDON" exec "$1" -- true
}
trap stop_all EXIT

# --- --keep ---

out=$("$CORDON" run --keep -- sh -c 'echo first >/tmp/mark; echo out; exit 5' 2>err)
is "--keep passes CMD's output and exit status on" "$?:$out" 5:out
id=$("$CORDON" ps -q)
like "and says how to go on" "$(cat err)" "^cordon: kept as $id: "
is "a further command finds what the first left" "$("$CORDON" exec "$id" -- cat /tmp/mark)" first
is "and its stdin" "$(echo in | "$CORDON" exec "$id" -- cat)" in
is "ps shows it as kept, and the last command" "$(seen command kind owner commands_running last_command)" '(kept for further commands) kept None 0 cat'
like "... and that it is idle" "$("$CORDON" ps)" "$id *idle [0-9]+s .* kept +- +cat"
like "... since when" "$(seen idle_since)" '^[0-9]{13}$'
# What stands ready for the next command is one more process inside, which others there may signal where Landlock does not keep them from it.
"$CORDON_BUILD/tests/enosys" landlock_create_ruleset,landlock_add_rule,landlock_restrict_self -- "$CORDON" run --keep -- true 2>/dev/null
open=$("$CORDON" ps -q | grep -v "$id")
cat >signal_all.py <<'EOF'
import os, signal, sys, time
time.sleep(0.6)
others = [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]
for p in others:
    os.kill(p, signal.Signals[sys.argv[1]])
print(len(others))
time.sleep(1)
EOF
for sig in SIGSTOP SIGKILL; do
	"$CORDON" exec "$open" -- python3 signal_all.py $sig >signalled &
	sleep 0.2
	"$CORDON" exec "$open" -- true
	sleep 0.8
	is "when it was sent $sig, the next command runs all the same" "$(timeout 20 "$CORDON" exec "$open" -- echo runs; echo $?)" "runs
0"
	wait $!
	like "... and it was sent" "$(cat signalled)" '^[1-9]' # a command that is just ending may be one more
done
# what it was made to be is not what the next command is
cat >slow_all.py <<'EOF'
import os, sys, time
time.sleep(0.6)
others = [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]
for p in others:
    {"nice": lambda: os.setpriority(os.PRIO_PROCESS, p, 19), "idle": lambda: os.sched_setscheduler(p, os.SCHED_IDLE, os.sched_param(0)),
     "cpus": lambda: os.sched_setaffinity(p, {max(os.sched_getaffinity(0))})}[sys.argv[1]]()
print(len(others), flush=True)
time.sleep(1)
EOF
scheduled='import os; print(os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0)))'
as_ever=$("$CORDON" exec "$open" -- python3 -c "$scheduled")
for what in nice idle cpus; do
	"$CORDON" exec "$open" -- python3 slow_all.py $what >slowed &
	sleep 0.2
	"$CORDON" exec "$open" -- true
	sleep 0.8
	is "when its scheduling was changed ($what), the next command has the usual" "$(cat slowed) $(timeout 20 "$CORDON" exec "$open" -- python3 -c "$scheduled")" "1 $as_ever"
	wait $!
done
"$CORDON" stop "$open"
is "the workload goes first when memory runs out" "$("$CORDON" exec "$id" -- cat /proc/self/oom_score_adj) $("$CORDON" run -- cat /proc/self/oom_score_adj)" "500 500"
is "... and keeps a place further ahead that whoever started it has" "$(echo 700 >/proc/self/oom_score_adj; "$CORDON" run -- cat /proc/self/oom_score_adj)" 700
"$CORDON" stop "$id"
is "stop ends it" "$?:$(kept)" 0:0
is "at once, for nothing runs in it" "$("$CORDON" run --keep -- true 2>/dev/null; s=$(date +%s); "$CORDON" stop -t 60 "$("$CORDON" ps -q)"; [ $(($(date +%s) - s)) -lt 20 ] && echo quick)" quick
"$CORDON" run --keep --idle 300ms -- true 2>/dev/null
nothing_kept()
{
	[ "$(kept)" = 0 ]
}
ok "it ends by itself when nothing ran in it for --idle" until_true nothing_kept
is "what it ran is in its log" "$("$CORDON" logs "$("$CORDON" ps -aq | head -1)" --json | grep -c '"command":\["true"\]')" 1
is "a command that does not exist gives 127, with the advice that it gives without --keep" "$("$CORDON" run --keep -- nosuch 2>&1; echo $?)" "$("$CORDON" run -- nosuch 2>&1; echo $?)"
is "... and nothing is kept for it" "$(kept)" 0
"$CORDON" run --keep --idle 2s -- true 2>/dev/null
looked=0
while [ "$(kept)" != 0 ] && [ $looked -lt 80 ]; do "$CORDON" ps >/dev/null; looked=$((looked + 1)); sleep 0.1; done
is "looking at it does not keep it" "$(kept)" 0
stop_all
printf 'version: 1\nextends: [strict]\nprocess: {timeout: 300ms}\n' >short.yaml
"$CORDON" run --keep --policy short.yaml -- true 2>/dev/null
id=$("$CORDON" ps -q)
sleep 0.5
is "process.timeout is each command's, not the sandbox's" "$("$CORDON" exec "$id" -- echo on)" on
# as much as a client can say, to which the sandbox's environment comes
word=$(head -c 40900 /dev/zero | tr '\0' x)
for ((i = 0; i < 33; i++)); do "$CORDON" exec "$id" -- true $word $word $word $word$i 2>err; done
like "a command that is too long is refused, with the reason" "$?:$(cat err)" '^125:cordon: the command is too long: '
is "... and nothing counts as running" "$(seen commands_running last_command)" "0 echo on"
is "... nor as run" "$("$CORDON" logs "$id" | grep -c xxxx)" 0
is "... and others run as before" "$("$CORDON" exec "$id" -- echo on)" on
is "and ends it with 124" "$("$CORDON" exec "$id" -- sleep 30 2>err; echo $?)" 124
like "... saying which limit it was" "$(cat err)" "^cordon: process.timeout was reached and ended the command; \`cordon logs $id"
like "... as the log does" "$("$CORDON" logs "$id")" 'process.timeout'
is "even where it ignores SIGTERM" "$("$CORDON" exec "$id" -- sh -c 'trap "" TERM; sleep 30 & wait; sleep 30' 2>/dev/null; echo $?)" 124
stop_all
for option in "--report r.html" "--learn l.yaml" --dry-run; do
	like "--keep does not go with ${option%% *}" "$("$CORDON" run --keep $option -- true 2>&1; echo $?)" '125$'
done

# --- --owner ---

"$CORDON" run --owner ann -- sh -c 'echo hers >/tmp/mark'
is "an owner's commands share a sandbox" "$("$CORDON" run --owner ann -- cat /tmp/mark):$(kept)" hers:1
is "ps says whose it is" "$(seen kind owner)" "owned ann"
id=$("$CORDON" ps -q)
is "the one who uses it again reads nothing about it" "$("$CORDON" run --owner ann -- true 2>&1)" ""
like "... but at a terminal, which it is" "$(script -qec "'$CORDON' run --owner ann -- true" /dev/null </dev/null)" "sandbox $id of ann is used"
is "another owner has another" "$("$CORDON" run --owner bob -- cat /tmp/mark 2>/dev/null; kept)" 2
is "the same owner under another policy too" "$("$CORDON" run --owner ann --profile strict -- cat /tmp/mark 2>/dev/null; kept)" 3
is "and with another variable" "$("$CORDON" run --owner ann --env A=1 -- cat /tmp/mark 2>err; kept)" 4
like "... which is said, with the one that is there" "$(cat err)" "was started for ann beside [0-9a-f]{8}, which has another (set of variables|policy)"
ids=$("$CORDON" ps -q | head -2)
is "stop takes several ids" "$("$CORDON" stop -t 0 $ids; echo $?; kept)" "0
2"
like "... and one that is not there does not keep the others" "$("$CORDON" stop -t 0 00000000 $("$CORDON" ps -q) 2>&1; echo $?; kept)" '00000000: no such run.*125.*0$'
like "stop wants ids or --all" "$("$CORDON" stop 2>&1)" 'name the runs, or give --all'
"$CORDON" run --owner ann -- true
"$CORDON" run --owner bob -- true
is "stop --all stops them all" "$("$CORDON" stop --all; echo $?; kept)" "0
0"
stop_all
is "after its end the owner gets a new one" "$("$CORDON" run --owner ann -- cat /tmp/mark 2>/dev/null; echo $?)" 1
stop_all
for i in 1 2 3 4; do "$CORDON" run --owner crowd -- sh -c 'echo x >>/tmp/mark' & done
wait
is "commands that start at the same time share one" "$("$CORDON" run --owner crowd -- wc -l /tmp/mark):$(kept)" "4 /tmp/mark:1"
stop_all
is "--lifecycle call: each command its own" "$("$CORDON" run --owner ann --lifecycle call -- true; kept)" 0
like "--lifecycle task wants an owner" "$("$CORDON" run --lifecycle task -- true 2>&1)" '--owner NAME'

# --- --warm ---

is "--warm runs without any prepared" "$("$CORDON" run --warm 2 -- echo cold)" cold
ok "and prepares for the next" until_true ready 2
is "a prepared one does the same" "$(echo in | "$CORDON" run --warm 2 -- sh -c 'cat; exit 6'; echo $?)" "in
6"
ok "and is replaced" until_true ready 2
like "ps says that they stand ready" "$("$CORDON" ps)" ' ready .* warm '
for id in $("$CORDON" ps -q); do
	"$CORDON" exec "$id" -- sh -c 'echo planted >/tmp/mark' 2>/dev/null
done
is "nobody gets into a prepared one before it is taken" "$("$CORDON" run --warm 2 -- cat /tmp/mark 2>/dev/null)" ""
ok "and it stays ready" until_true ready 2
"$CORDON" run --warm 2 -- sh -c 'echo secret >/tmp/mark'
until_true ready 2
is "what it was used for is never seen again" "$(for i in 1 2 3; do "$CORDON" run --warm 2 -- cat /tmp/mark 2>/dev/null; until_true ready 2; done)" ""
"$CORDON" run --warm 2 -- sh -c 'sleep 30; echo late >late' &
pid=$!
sleep 0.3
kill -9 "$pid"
gone()
{
	! pgrep -f 'sleep 30; echo late' >/dev/null
}
ok "kill -9 of the one who took it takes it down" until_true gone
is "another policy takes none of them" "$("$CORDON" run --warm 1 --profile strict -- sh -c 'test -e /tmp/mark || echo new')" new
like "no container is prepared with a copy of a folder that goes on changing" "$("$CORDON" run --warm 1 --runtime runc --policy "$tmp/policy.yaml" -- true 2>&1)" 'would be old|cannot be used here'
mkdir fresh && cd fresh
"$CORDON" run --warm 1 -- true
until_true ready 1
echo fake-7e >.env
is "a name that is denied is covered where the sandbox was prepared before it was made" "$("$CORDON" run --warm 1 -- cat .env 2>/dev/null)" ""
is "... in an owner's sandbox, too" "$("$CORDON" run --owner fresh -- true 2>/dev/null; mkdir sub; echo fake-7e >sub/.env; "$CORDON" run --owner fresh -- cat sub/.env 2>/dev/null)" ""
until_true ready 2
cd .. && mv fresh stale && mkdir fresh && cd fresh
"$CORDON" run --warm 1 -- sh -c 'echo here >out'
is "a sandbox whose work folder was replaced is not used" "$(cat out; ls ../stale/out 2>/dev/null)" here
cd ..
"$CORDON" run --warm 3 -- true
stop_all
sleep 1
is "stop --all leaves none that is being prepared" "$(kept)" 0
like "--warm does not go with --keep" "$("$CORDON" run --warm 1 --keep -- true 2>&1; echo $?)" '125$'
stop_all
until_true ready 0
stop_all

# --- what a container's copies are when it ends ---

if ! command -v runc >/dev/null || [ "$(id -u)" != 0 ]; then
	skip "what a kept container changed" "no runc here, or not root"
	finish
fi
mkdir copies && cd copies && echo start >log
runc() { timeout 60 "$CORDON" run --runtime runc "$@"; }
runc --owner next -- sh -c 'mkdir d; for i in $(seq 3000); do echo $i >d/f$i; done; echo first >>log' 2>/dev/null
id=$("$CORDON" ps -q)
"$CORDON" stop "$id" &
ok "(it is to end)" until_true takes_no_command "$id"
is "the next call of an owner waits for what its sandbox brings back" "$(runc --owner next -- sh -c 'ls d | wc -l; cat log; echo second >>log' 2>/dev/null)" "3000
start
first"
wait
is "... and stop, too" "$("$CORDON" stop --all; echo $?; tr '\n' ' ' <log)" "0
start first second "
runc --owner next -- sh -c 'echo third >>log' 2>/dev/null
echo host >log
id=$("$CORDON" ps -q)
like "who stops a sandbox that cannot bring all back is told" "$("$CORDON" stop "$id" 2>&1; echo $?)" "sandbox $id failed at its end.*125\$"
like "... its log has an end" "$("$CORDON" ps -a | grep "^$id"; "$CORDON" audit verify "$id")" "exited 125.*up to the exit event"
runc --owner idle --idle 300ms -- sh -c 'echo agent >log' 2>/dev/null
id=$("$CORDON" ps -q)
echo again >log
ok "(it ends by itself)" until_true nothing_kept
like "... as is the next call of its owner, where nobody stopped it" "$(runc --owner idle --idle 300ms -- true 2>&1)" "sandbox $id, which was used before, failed at its end"
is "... once" "$(runc --owner idle --idle 300ms -- true 2>&1 | grep -c failed)" 0
runc --owner racer -- true 2>/dev/null
id=$("$CORDON" ps -q | head -1)
mkfifo "$tmp/hold"
"$CORDON" exec "$id" -- sh -c 'trap "" TERM; echo trapped; read -r line' <"$tmp/hold" >"$tmp/trapped" &
exec 9>"$tmp/hold"
ok "(it ignores SIGTERM)" until_true grep -qx trapped "$tmp/trapped"
"$CORDON" stop -t 60 "$id" &
ok "(it is to end)" until_true takes_no_command "$id"
like "what is to end takes no further command" "$("$CORDON" exec "$id" -- true 2>&1; echo $?)" '^cordon: the sandbox is ending.*125$'
{ runc --owner racer -- echo ran 2>/dev/null; echo $?; } >"$tmp/ran" &
echo >&9
exec 9>&-
wait
is "... and a call of its owner has a new one" "$(cat "$tmp/ran")" "ran
0"
stop_all
finish
