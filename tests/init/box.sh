#!/bin/bash
# cordon-init as PID 1 of a container, under a supervisor's orders (tests/tools/box_drive.c plays it): in bare namespaces, and in runc and gVisor where they are here.
. "$(dirname "$0")/../lib.sh"
init=$CORDON_BUILD/cordon-init
drive=$CORDON_BUILD/tests/box-drive
mkdir "$tmp/run"
chmod 711 "$tmp" "$tmp/run"
control=$tmp/run/control

# in_plain USER SCRIPT [OPTION...]: in a pid namespace of its own; an ordinary user has a user namespace with one id.
in_plain()
{
	local user=$1 script=$2
	shift 2
	if [ "$(id -u)" = 0 ] && [ "$user" != nested ]; then
		set -- "$@" "$control" "$script" -- unshare -mpf --mount-proc
	else
		set -- "$@" "$control" "$script" -- unshare -Urmpf --mount-proc
	fi
	# terminals of its own, as a container has
	timeout 60 "$drive" "user=$user" write=/tmp "$@" sh -c 'mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts; exec "$@"' sh "$init" --control "$control" 2>&1 </dev/null | cat
}

# Root of the container where a bundle is needed: busybox and nothing else.
make_bundle()
{
	local b=$tmp/bundle
	mkdir -p "$b/rootfs/"{bin,proc,dev,tmp,run/cordon}
	cp "$(command -v busybox)" "$b/rootfs/bin/busybox"
	ln -sf busybox "$b/rootfs/bin/sh"
	: >"$tmp/run/init"
	cp "$init" "$tmp/run/init"
	chmod 755 "$tmp/run/init"
	cat >"$b/config.json" <<JSON
{"ociVersion": "1.0.2", "hostname": "cordon", "root": {"path": "rootfs", "readonly": true},
 "process": {"user": {"uid": 0, "gid": 0}, "args": ["/run/cordon/init", "--control", "/run/cordon/control"], "env": [], "cwd": "/", "noNewPrivileges": true,
  "capabilities": {"bounding": [$caps], "effective": [$caps], "permitted": [$caps]}},
 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
  {"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666"]},
  {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=1777"]},
  {"destination": "/run/cordon", "type": "bind", "source": "$tmp/run", "options": ["bind", "ro"]}],
 "linux": {$1 "namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}$2]}}
JSON
}
caps='"CAP_NET_ADMIN", "CAP_NET_BIND_SERVICE", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETFCAP", "CAP_KILL"'
mapped='"uidMappings": [{"containerID": 0, "hostID": 1900000077, "size": 1}, {"containerID": 1000, "hostID": 1904194381, "size": 1}],
 "gidMappings": [{"containerID": 0, "hostID": 1900000077, "size": 1}, {"containerID": 1000, "hostID": 1904194381, "size": 1}],'

in_runc()
{
	local user=$1 script=$2
	shift 2
	timeout 60 "$drive" "user=$user" write=/tmp "$@" "$control" "$script" -- runc run --bundle "$tmp/bundle" "cordon-test-$BASHPID-$RANDOM" 2>&1 </dev/null | cat
}

in_gvisor()
{
	local user=$1 script=$2
	shift 2
	timeout 60 "$drive" "user=$user" write=/tmp "$@" "$control" "$script" -- \
		runsc --root "$tmp/runsc" --platform=ptrace --network=none --host-uds=open --ignore-cgroups run --bundle "$tmp/bundle" "cordon-test-$BASHPID-$RANDOM" 2>&1 </dev/null | cat
}

lines()
{
	printf '%s\n' "$@"
}

# Of a transcript what the commands wrote, and what the driver was told.
wrote()
{
	grep -v '^= '
}

told()
{
	grep '^= '
}

# What holds in every container: promises WHERE HOW USER UID
promises()
{
	local where=$1 in=$2 user=$3 uid=$4 got
	got=$($in "$user" "$(lines 'run 0 echo out; echo err >&2; exit 7' 'wait 0')")
	is "$where: the command's output comes out" "$(wrote <<<"$got")" "$(lines out err)"
	is "$where: and its status" "$(told <<<"$got")" "$(lines '= 0 started' '= 0 exited 7' '= launcher 0')"
	is "$where: it has the user id of the plan" "$($in "$user" "$(lines 'run 0 busybox id -u; busybox id -g; busybox id -G' 'wait 0')" uid="$uid" | wrote)" "$(lines "$uid" "$uid" "$uid")"
	got=$($in "$user" "$(lines 'run 0 busybox grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status' 'wait 0')")
	ok "$where: no capability in any set" not_any "$got" 'Cap[A-Za-z]*:.*[1-9a-f]'
	like "$where: there were sets to look at" "$got" 'CapBnd:'
	like "$where: a filter of system calls" "$got" 'Seccomp:.2'
	is "$where: and no descriptor but its three" "$($in "$user" "$(lines 'run 0 for i in 0 1 2 3 4 5 6 7 8 9 10 11 12; do [ -e /proc/self/fd/$i ] && echo $i; done; exit 0' 'wait 0')" | wrote)" "$(lines 0 1 2)"
	like "$where: a command that is not there is told as such" "$($in "$user" "$(lines 'exec 0 nothing-of-the-kind' 'wait 0')")" '= 0 failed 7 nothing-of-the-kind: not found'
	like "$where: and one that cannot be executed" "$($in "$user" "$(lines 'exec 0 /proc/version' 'wait 0')")" '= 0 failed 6 /proc/version: cannot be executed'
	is "$where: several run at once, and the first one's end is theirs" "$($in "$user" "$(lines 'run 0 busybox sleep 2' 'run 1 exit 3' 'run 2 busybox sleep 1000' 'wait 1' 'wait 0')" | told | grep -v started)" "$(lines '= 1 exited 3' '= 0 exited 0' '= launcher 0')"
	is "$where: a failure of a further one ends nothing" "$($in "$user" "$(lines 'run 0 busybox sleep 1' 'exec 5 nothing' 'wait 5' 'wait 0')" | grep -c -E '^= (5 failed 7|0 exited 0)')" 2
	like "$where: signals arrive" "$($in "$user" "$(lines 'run 0 trap "echo got; exit 4" TERM; while :; do busybox sleep 0.1; done' 'sleep 600' 'signal 0 15' 'wait 0')" | told)" '= 0 exited 4'
	like "$where: also those that kill" "$($in "$user" "$(lines 'run 0 busybox sleep 100' 'sleep 300' 'signal 0 9' 'wait 0')")" '= 0 killed 9'
	like "$where: and those that are for all" "$($in "$user" "$(lines 'run 0 trap "exit 8" USR1; (trap "exit 3" USR1; while :; do busybox sleep 0.1; done) & wait $!; wait $!; exit $?' 'sleep 600' 'signal all 10' 'wait 0')")" '= 0 exited 8'
	like "$where: a stop is told, and what stopped goes on" "$($in "$user" "$(lines 'run 0 kill -STOP $$; exit 9' 'sleep 600' 'signal 0 18' 'wait 0')")" '= 0 stopped 19.*= 0 exited 9'
	is "$where: it cannot be stopped or killed from inside" "$($in "$user" "$(lines 'run 0 for s in STOP KILL TERM INT HUP USR1 CHLD; do kill -$s 1; done; busybox sleep 0.5; exit 5' 'run 1 exit 6' 'wait 1' 'wait 0')" | grep -c -E '^= (1 exited 6|0 exited 5)')" 2
	is "$where: what is left of a command is reaped" "$($in "$user" "$(lines 'run 0 for i in 1 2 3 4 5 6 7 8; do (busybox sleep 0.1 &); done; busybox sleep 1; busybox ps -o stat | busybox grep -c Z; exit 0' 'wait 0')" | wrote)" 0
	is "$where: the end of the connection is the end of everything" "$($in "$user" "$(lines 'run 0 busybox sleep 1000' 'run 1 (trap "" HUP TERM; busybox sleep 1000)' 'sleep 300' 'hangup')" | told | tail -1)" '= launcher 1'
	like "$where: a bomb of processes does not stop it" "$($in "$user" "$(lines 'run 0 (bomb() { bomb | bomb & }; busybox sleep 0.2; bomb) 2>/dev/null & exec busybox sleep 100' 'sleep 1500' 'signal all 9' 'wait 0')" processes=40 2>&1 | told)" '= 0 killed 9.*= launcher'
	got=$($in "$user" "$(lines 'carry 0 busybox stty size; read x; echo "got $x"; busybox stty size; exit 3' 'sleep 800' 'size 0 33 44' 'type 0 hello' 'wait 0')" | busybox tr -d '\r')
	is "$where: a terminal that is carried has a size, takes keys and is emptied at the end" "$(wrote <<<"$got")" "$(lines '11 22' hello 'got hello' '33 44')"
	like "$where: and its command's status" "$got" '= 0 exited 3'
	is "$where: a terminal with much to say says all of it" "$($in "$user" "$(lines 'carry 0 busybox stty -opost; busybox yes 0123456789abcde | busybox head -c 200000' 'wait 0')" | wrote | wc -c)" 200000
	like "$where: ^Z stops what has it" "$($in "$user" "$(lines 'carry 0 busybox sleep 100' 'sleep 400' 'key 0 26' 'sleep 400' 'signal 0 9' 'wait 0')")" '= 0 stopped 19.*= 0 killed 9'
	like "$where: and ^C interrupts it" "$($in "$user" "$(lines 'carry 0 busybox sleep 100' 'sleep 400' 'key 0 3' 'wait 0')")" '= 0 killed 2'
	is "$where: who connects after it hears nothing" "$($in "$user" "$(lines 'run 0 busybox sleep 1' 'second' 'wait 0')" | grep second)" "= second heard nothing"
}

not_any()
{
	! grep -E -- "$2" <<<"$1"
}

if ! command -v busybox >/dev/null; then
	skip "cordon-init in containers" "busybox is missing"
	finish
fi

# Nothing but itself is there to run it in a container.
dynamic()
{
	ldd "$init" 2>/dev/null | grep -q "=>"
}

is "alone it says that nobody is there" "$(unshare -Urpf --mount-proc "$init" --control "$tmp/nothing" 2>&1; echo $?)" "$(lines 'cordon-init: cannot reach the supervisor: No such file or directory' 125)"
is "it is PID 1 or nothing" "$("$init" --control "$tmp/nothing" 2>&1; echo $?)" "$(lines 'cordon-init: --control is for PID 1 of a container' 125)"
: >"$tmp/file"
is "a file is no supervisor" "$(unshare -Urpf --mount-proc "$init" --control "$tmp/file" 2>&1; echo $?)" "$(lines 'cordon-init: cannot reach the supervisor: Connection refused' 125)"

if [ "$(id -u)" = 0 ]; then
	promises "changed ids" in_plain become 1000
else
	skip "changed ids" "only root has ids to change to"
fi
promises "nested ids" in_plain nested 1234
is "as it is: its own user" "$(in_plain is "$(lines 'run 0 id -u' 'wait 0')" | wrote)" 0
is "what it holds cannot be read" "$(in_plain nested "$(lines 'run 0 readlink /proc/1/fd/3 || echo no; cat /proc/1/environ 2>/dev/null || echo no; cat /proc/1/mem 2>/dev/null || echo no' 'wait 0')" | wrote)" "$(lines no no no)"
like "refused system calls are told" "$(in_plain nested "$(lines 'run 0 unshare -n true 2>/dev/null; exit 0' 'wait 0')")" '= denied unshare by process'

if ! command -v runc >/dev/null || [ "$(id -u)" != 0 ] || dynamic; then
	skip "in runc" "runc is missing, we are not root, or cordon-init is not static (sanitizers)"
else
	make_bundle "$mapped" ', {"type": "user"}'
	promises runc in_runc become 1000
fi
if ! command -v runsc >/dev/null || [ "$(id -u)" != 0 ] || dynamic; then
	skip "in gVisor" "runsc is missing, we are not root, or cordon-init is not static (sanitizers)"
else
	make_bundle '' ''
	promises gVisor in_gvisor become 1000
fi
finish
