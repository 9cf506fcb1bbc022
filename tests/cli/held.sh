#!/bin/bash
# Commands that do not let go: they stop what starts beside them, leave their session, become other processes, or lose whoever waits for them. The clock of each command holds all the same, and nobody waits for a
# first process that does not answer. On every runtime that there is; where Landlock would keep commands from each other, without it.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"

no_landlock=("$CORDON_BUILD/tests/enosys" landlock_create_ruleset,landlock_add_rule,landlock_restrict_self --)
printf 'version: 1\nextends: [default]\nfilesystem: {workdir: read-only}\nprocess: {timeout: 4s}\n' >"$tmp/short.yaml"
trap 'timeout 60 "$CORDON" stop -t 0 --all; tap_cleanup' EXIT

# start RUNTIME CMD...: in a sandbox that stays; sets id.
start()
{
	timeout 120 "${no_landlock[@]}" "$CORDON" run --keep --grace 300ms --policy "$tmp/short.yaml" --runtime "$1" -- "${@:2}" >"$tmp/out" 2>"$tmp/err" </dev/null || return
	id=$(sed -n 's/^cordon: kept as \([0-9a-f]*\):.*/\1/p' "$tmp/err")
}
inside()
{
	timeout 60 "$CORDON" exec "$id" -- "$@" 2>"$tmp/err" </dev/null
}
# as_it_was FILE: of the sandbox, after half a second.
as_it_was()
{
	local before after
	before=$(inside cat "$1") && sleep 0.5 && after=$(inside cat "$1") && [ "$before" = "$after" ] && return
	echo "$before, $after"
	cat "$tmp/err"
	return 1
}
soon()
{
	local i
	for ((i = 0; i < 40; i++)); do
		! "$@" || return 0
		sleep 0.25
	done
	return 1
}

cat >stop_all.py <<'EOF2'
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
end = time.time() + 30
while time.time() < end:
    for i in range(1000):
        try:
            os.kill(-1, signal.SIGSTOP)
        except ProcessLookupError:
            pass
print("to its end")
EOF2
cat >leave.py <<'EOF2'
import os, signal, sys, threading, time
def mark(name): # never half of it
    fd = os.open("/tmp/" + name, os.O_WRONLY | os.O_CREAT, 0o600)
    os.pwrite(fd, b"%020f\n" % time.time(), 0)
    os.close(fd)
def stay(name):
    while True:
        mark(name)
        time.sleep(0.05)
def hop():
    n = 0
    while True:
        if n % 16 == 0:
            mark("hop")
        n += 1
        if os.fork():
            os._exit(0)
        os.setsid()
for s in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(s, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        hop()
    if os.fork() == 0:
        stay("orphan")
    os._exit(0)
if os.fork() == 0:
    os.setsid()
    stay("child")
if sys.argv[1] == "ends":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
stay("itself")
EOF2
cat >beside.py <<'EOF2'
import os, time
if os.fork():
    os._exit(0)
os.setsid()
for fd in range(3):
    os.close(fd)
while True:
    fd = os.open("/tmp/beside", os.O_WRONLY | os.O_CREAT, 0o600)
    os.pwrite(fd, b"%020f\n" % time.time(), 0)
    os.close(fd)
    time.sleep(0.05)
EOF2

# PID 1 of the sandbox on the host, by a command that runs in it.
first_process()
{
	local child
	child=$(pgrep -f "^sleep $1$") && awk '/^PPid/ { print $2 }' "/proc/$child/status"
}
# stopped COMMAND...: while PID 1 stands still, and a command runs (client).
stopped()
{
	local mark=3$RANDOM.$RANDOM r
	"$CORDON" exec "$id" -- sleep $mark >/dev/null 2>&1 </dev/null &
	client=$!
	soon first_process $mark >/dev/null
	first=$(first_process $mark)
	kill -STOP "$first"
	"$@"
	r=$?
	kill -CONT "$first" 2>/dev/null
	return $r
}
flood_and_stop()
{
	local i
	# more than its socket holds
	python3 -c 'import os, sys, time
for i in range(1500):
    os.kill(int(sys.argv[1]), 10)
    time.sleep(0.0005)' "$client"
	timeout 30 "$CORDON" stop -t 0 "$id"
}
status_of_client()
{
	local i
	for ((i = 0; i < 400; i++)); do
		kill -0 "$client" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$client" 2>/dev/null
	wait "$client"
}

for runtime in native runc crun gvisor; do
	if ! start $runtime true; then
		skip "commands that do not let go, on $runtime" "$(tail -n 1 "$tmp/err")"
		continue
	fi
	# --- stops all others, also those that are about to be executed ---
	(inside python3 stop_all.py >"$tmp/stopper"; echo $? >>"$tmp/stopper") &
	sleep 0.7
	for i in 1 2 3 4 5 6; do
		timeout 20 "$CORDON" exec "$id" -- true >/dev/null 2>&1 </dev/null
		[ $? != 124 ] || break # it was stopped once it ran
	done
	wait $!
	is "$runtime: one that stops whatever starts beside it ends when its time is over" "$(cat "$tmp/stopper")" 124
	is "$runtime: ... and the sandbox takes commands as before" "$(inside echo on)" on

	# --- leaves its session ---
	inside python3 beside.py
	for how in ends stays; do
		inside python3 leave.py $how
		is "$runtime: one that $how at SIGTERM is ended by process.timeout" $? 124
		for what in itself child orphan hop; do
			ok "$runtime: ... and all that comes of it: $what" as_it_was /tmp/$what
		done
	done
	ok "$runtime: what an earlier command left running is none of it" soon eval '! as_it_was /tmp/beside'

	# --- nobody waits for it any more ---
	"$CORDON" exec "$id" -- python3 leave.py stays </dev/null >/dev/null 2>&1 &
	client=$!
	sleep 0.7
	kill -KILL $client
	wait $client 2>/dev/null
	ok "$runtime: one whose client was killed has no more time than others" soon as_it_was /tmp/child

	# --- the first process does not answer ---
	if [ $runtime != gvisor ]; then
		ok "$runtime: a first process that stands still, and many signals to a command, keep nobody from \`stop\`" stopped flood_and_stop
		status_of_client
	fi
	timeout 60 "$CORDON" stop -t 0 --all
done
if start native true; then
	stopped status_of_client
	is "a command that a sandbox does not end when its time is over takes the sandbox with it" $? 124
	ok "... and nothing is left" soon eval '[ -z "$("$CORDON" ps -q)" ]'
fi
finish
