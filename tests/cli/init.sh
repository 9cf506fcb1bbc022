#!/bin/bash
# cordon-init: a PID 1 that reaps, passes signals on and ends as its command ends.
. "$(dirname "$0")/../lib.sh"
init=$CORDON_BUILD/cordon-init

# As PID 1 of a fresh pid namespace (with a user namespace where we are not root).
as_pid1=(unshare --pid --fork --kill-child --mount-proc)
[ "$(id -u)" = 0 ] || as_pid1=(unshare --user --map-root-user --pid --fork --kill-child --mount-proc)

status_of()
{
	"$@" >"$tmp/out" 2>"$tmp/err"
	echo $?
}

is "the exit status is the command's" "$(status_of "$init" -- sh -c 'exit 37')" 37
is "a signal's number is added to 128" "$(status_of "$init" -- sh -c 'kill -9 $$')" 137
is "a command that is not found ends in 127" "$(status_of "$init" -- /nonexistent/x)" 127
like "and says so in one line" "$(cat "$tmp/err")" '^cordon-init: cannot execute the command: No such file or directory$'
is "a command that cannot be executed ends in 126" "$(status_of "$init" -- /etc/passwd)" 126
is "-- may be left out" "$(status_of "$init" true)" 0
is "without a command it fails on its own" "$(status_of "$init")" 125
is "an option it does not know is refused" "$(status_of "$init" --nonsense true)" 125
is "the command keeps the signal mask" "$("$init" grep SigBlk /proc/self/status)" "$(grep SigBlk /proc/self/status)"
is "arguments arrive unchanged" "$("$init" -- printf '%s|' a 'b c' '')" 'a|b c||'

passes_term_on()
{
	"$init" -- bash -c "trap 'echo got; exit 5' TERM; echo ready; while :; do sleep 0.05; done" >"$tmp/sig" &
	local pid=$! i
	for ((i = 0; i < 100; i++)); do grep -q ready "$tmp/sig" && break; sleep 0.05; done
	kill -TERM "$pid"
	wait "$pid"
	[ $? = 5 ] && grep -q got "$tmp/sig"
}
ok "a signal reaches the command" passes_term_on

# 32 to 34 are some libc's own; the last is SIGRTMIN to most programs. As PID 1 it would never hear of them, otherwise it would end of them. What started this suite may have left some ignored (glibc's
# posix_spawn does it to 32 and 33, and make uses it); a command that ignores them shows nothing.
passes_real_time_on()
{
	local pid i signal ignored
	ignored=$(sed -n 's/^SigIgn:\s*/0x/p' "/proc/$BASHPID/status")
	for signal in 32 33 34 40 64; do
		! ((ignored >> (signal - 1) & 1)) || continue
		"$init" -- sleep 30 &
		pid=$!
		for ((i = 0; i < 100; i++)); do [ -n "$(pgrep -P "$pid" -x sleep)" ] && break; sleep 0.05; done
		[ "$(sed -n 's/^SigBlk:\s*//p' "/proc/$pid/status")" = fffffffffffbfeff ] || { grep SigBlk "/proc/$pid/status"; kill "$pid"; return 1; }
		/usr/bin/env kill -"$signal" "$pid"
		wait "$pid"
		[ $? = $((128 + signal)) ] || { echo "$signal"; return 1; }
	done
}
ok "the signals that a libc keeps to itself reach it too" passes_real_time_on
printf 'echo "$0:$*"; exit 4\n' >"$tmp/plain-text" && chmod +x "$tmp/plain-text"
is "a text without an interpreter line is a script of /bin/sh" "$(status_of "$init" -- "$tmp/plain-text" a b):$(cat "$tmp/out")" "4:$tmp/plain-text:a b"

reaches_the_group()
{
	"$init" -- bash -c "trap : USR1; bash -c 'trap \"echo child got; exit\" USR1; echo ready; while :; do sleep 0.05; done' & wait; wait" >"$tmp/grp" &
	local pid=$! i
	for ((i = 0; i < 100; i++)); do grep -q ready "$tmp/grp" && break; sleep 0.05; done
	kill -USR1 "$pid"
	wait "$pid"
	grep -q 'child got' "$tmp/grp"
}
ok "a signal reaches the whole process group" reaches_the_group

# What has its user, and no more, can neither trace it nor read its memory. A shell in its place is there for comparison.
is_closed_to_its_command()
{
	local as=()
	[ "$(id -u)" = 0 ] && as=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all)
	chmod 755 "$tmp"
	cp "$init" "$tmp/cordon-init"
	"${as[@]}" sh -c 'sh -c "cat /proc/\$PPID/environ" >/dev/null; exit $?' || return 1
	! "${as[@]}" "$tmp/cordon-init" -- sh -c 'cat /proc/$PPID/environ' 2>/dev/null
}
ok "its memory is closed to its command" is_closed_to_its_command

if ! "${as_pid1[@]}" true 2>/dev/null; then
	skip "orphans are reaped as PID 1" "no pid namespace can be made here"
	skip "signals reach it as PID 1" "no pid namespace can be made here"
	skip "its end is the end of all as PID 1" "no pid namespace can be made here"
	finish
fi

# Five orphans die at once; had they stayed, ps would show zombies.
reaps_orphans()
{
	local left
	left=$("${as_pid1[@]}" "$init" -- sh -c 'for i in 1 2 3 4 5; do (sleep 0.1 &) ; done; sleep 0.6; grep -l "^State:.Z" /proc/[0-9]*/status 2>/dev/null; true')
	[ -z "$left" ] || { echo "$left"; return 1; }
}
ok "orphans are reaped as PID 1" reaps_orphans

# No command substitution behind the signal: it may come amid it, and the shell would find the list empty and be through before its trap.
pid1_is_signalled()
{
	"${as_pid1[@]}" "$init" -- bash -c 'trap "exit 6" INT; kill -INT 1; for ((i = 0; i < 50; i++)); do sleep 0.1; done; exit 1'
	[ $? = 6 ]
}
ok "signals reach it as PID 1" pid1_is_signalled

ends_all()
{
	local mark="cordon-init-test-$$"
	"${as_pid1[@]}" "$init" -- bash -c "(exec -a $mark sleep 300) & sleep 0.2"
	! pgrep -f "^$mark" >/dev/null
}
ok "its end is the end of all as PID 1" ends_all
finish
