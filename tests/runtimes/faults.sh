#!/bin/bash
# What can be wrong with a runtime, its engine or the machine: one clear line, 125, and nothing is left. In mount and pid namespaces of the suite's own, in which programs are replaced and folders are full.
if [ -z "${FAULTS_SPACE:-}" ] && [ "$(id -u)" = 0 ]; then
	FAULTS_SPACE=1 exec unshare --mount --pid --fork --kill-child --mount-proc -- bash "$0" "$@"
fi
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../run_lib.sh"
if [ "$(id -u)" != 0 ] || is_sanitized; then
	skip "faults of runtimes" "needs root, and a cordon-init without libraries"
	finish
fi
mkdir -p /run/cordon && mount -t tmpfs -o mode=711 tmpfs /run/cordon || exit 99
cordon=$CORDON

# on RUNTIME CMD...: as `inside`.
on() { outside timeout 120 "$cordon" run --runtime "$1" --policy "$tmp/policy.yaml" -- "${@:2}" </dev/null; }
left()
{
	"$cordon" ps -q
	find /run/cordon -mindepth 1 -maxdepth 1 ! -name .roots
	ps -eo pid=,stat=,comm= | awk '$2 !~ /Z/ && $3 !~ /^(bash|ps|awk|find|unshare)$/'
	awk '$5 ~ /^\/run\/cordon\// { print $5 }' /proc/self/mountinfo
}
nothing_left()
{
	local i
	for ((i = 0; i < 50; i++)); do
		[ -n "$(left)" ] || return 0
		sleep 0.1
	done
	left
	return 1
}
# fails NAME REGEX: the last run was refused by Cordon with such a line, and left nothing.
fails()
{
	ok "$1: one line, 125" refused 125 "$2"
	ok "... and nothing is left" nothing_left
}
# replace PROGRAM LINE...: by a script, until restore.
replace()
{
	printf '%s\n' '#!/bin/bash' "${@:2}" >"$tmp/fake"
	chmod 755 "$tmp/fake"
	mount --bind "$tmp/fake" "$1"
	replaced=$1
}
restore() { umount "$replaced"; }

for runtime in runc crun gvisor; do
	name=$runtime
	[ "$runtime" != gvisor ] || name=runsc
	program=$(PATH=$PATH:/usr/sbin command -v $name)
	on $runtime true
	if [ "$status" != 0 ]; then
		skip "faults of $runtime" "${told##*$'\n'}"
		continue
	fi
	replace "$program" 'exit 1'
	on $runtime true
	fails "$runtime ends at once" "$runtime"
	restore
	replace "$program" 'echo "{{{ garbage" >&2; head -c 200000 /dev/urandom; head -c 200000 /dev/urandom >&2; exit 3'
	on $runtime true
	fails "$runtime says garbage" "$runtime"
	ok "... which is not passed on" bash -c "! grep -q '[[:cntrl:]]' '$tmp/err'"
	restore
	replace "$program" 'kill -SEGV $$'
	on $runtime true
	fails "$runtime crashes" "$runtime"
	restore
	replace "$program" 'exec sleep 1000'
	"$cordon" run --runtime $runtime --policy "$tmp/policy.yaml" -- true >"$tmp/out" 2>"$tmp/err" </dev/null &
	pid=$!
	sleep 1
	kill "$pid"
	wait "$pid"
	status=$? said="" told=$(cat "$tmp/err")
	ok "$runtime hangs, and somebody is tired of it: it ends" eval '[ $status = 143 ] || refused 125 .'
	ok "... and nothing is left" nothing_left
	restore
	on $runtime true
	is "$runtime as it should be works again" "$status" 0
	# runsc's helpers die before runsc does, and are whoever's then that waits for orphans
	[ $runtime = gvisor ] || is "... and the dead of it were waited for where nobody else would do that" "$(unshare --pid --fork --kill-child --mount-proc python3 -c "
import os, subprocess, sys
subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL)
print(sum(open(f'/proc/{p}/stat').read().rsplit(')', 1)[1].split()[0] == 'Z' for p in os.listdir('/proc') if p.isdigit()))
" "$cordon" run --runtime $runtime --policy "$tmp/policy.yaml" -- true 2>/dev/null)" 0

	in_it=$(mktemp -d "$tmp/alone.XXXXXX")
	cp "$cordon" "$in_it/"
	outside "$in_it/cordon" run --runtime $runtime -- true
	fails "$runtime without cordon-init beside cordon" 'cordon-init'

	# while it runs
	rm -f "$tmp/out"
	"$cordon" run --runtime $runtime --policy "$tmp/policy.yaml" -- sh -c 'echo begun; exec sleep 100' >"$tmp/out" 2>"$tmp/err" </dev/null &
	pid=$!
	until_true grep -q begun "$tmp/out"
	pkill -9 -P "$pid" -x "$name|exe"
	wait "$pid"
	status=$? told=$(cat "$tmp/err")
	ok "$runtime is killed: the run ends with a line, or as if its command was killed" eval '[ $status = 137 ] || refused 125 .'
	ok "... and nothing is left" nothing_left

	# the machine
	mount -t tmpfs -o mode=711,size=64k tmpfs /run/cordon
	head -c 100000 /dev/zero >/run/cordon/full 2>/dev/null
	on $runtime true
	ok "$runtime, no room for boxes: one line, 125" refused 125 'No space left'
	umount /run/cordon
	ok "... and nothing is left" nothing_left
	mount -t tmpfs -o mode=700,size=64k tmpfs "$tmp/t" && (umask 077 && mkdir -p "$tmp/t/cordon/runs")
	head -c 100000 /dev/zero >"$tmp/t/full" 2>/dev/null
	outside env XDG_STATE_HOME="$tmp/t" "$cordon" run --runtime $runtime -- true
	ok "$runtime, no room for the state: one line, 125" refused 125 'No space left'
	is "... and no half of one" "$(ls "$tmp/t/cordon/runs")" ""
	umount "$tmp/t"
	ok "... and nothing is left" nothing_left
	mount -t tmpfs -o mode=777 tmpfs /run/cordon
	on $runtime true
	ok "$runtime, others can write where boxes are: one line, 125" refused 125 'nobody else can write'
	umount /run/cordon
	mount -t tmpfs -o mode=711,uid=12345 tmpfs /run/cordon
	on $runtime true
	ok "$runtime, boxes in somebody else's folder: one line, 125" refused 125 'must be a folder of yours'
	umount /run/cordon
	mount -t tmpfs -o mode=711,ro tmpfs /run/cordon
	on $runtime true
	ok "$runtime, boxes cannot be written: one line, 125" refused 125 'Read-only file system'
	umount /run/cordon
	mkdir -p /run/cordon/0badc0de/{run,root,state}
	echo $runtime >/run/cordon/0badc0de/lock
	on $runtime true
	is "$runtime, a stale box beside it: it works" "$status" 0
	ok "... and the stale one is gone" nothing_left
done
finish
