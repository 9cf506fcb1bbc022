#!/bin/bash
# Every limit of the process domain is real: something that goes over it ends in bounded time and leaves nothing, and the same program does go over it without Cordon.
#
#   CORDON_RUNTIME  the runtime that enforces them (default: native)
#   CORDON_DOCKER   the engine's socket, for CORDON_RUNTIME=docker (default: one of the suite's own)
#   CORDON_TEST_SLOW  how many times slower than others this machine is (default: 1; emulated ones are: tests/kernel/vm.sh)
# shellcheck source=tests/runtime_lib.sh
. "$(dirname "$0")/../runtime_lib.sh"
need_runtime "the limits" "$0" "$@"
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
runtime=${CORDON_RUNTIME:-native} slow=${CORDON_TEST_SLOW:-1}
[ -z "${CORDON_DOCKER:-}" ] || export DOCKER_HOST=unix://$CORDON_DOCKER
bin=${LIMITS_BIN:-$CORDON_BUILD/tests/limits}
work=$tmp/work
mkdir -p "$work" "$tmp/home" "$tmp/t" "$tmp/run" && chmod 700 "$tmp/run" && cp "$bin/burden" "$bin/hoard" "$work/" || exit 99
export HOME=$tmp/home XDG_CONFIG_HOME=$tmp/config XDG_CACHE_HOME=$tmp/cache XDG_STATE_HOME=$tmp/state XDG_RUNTIME_DIR=$tmp/run TMPDIR=$tmp/t
cd "$work" || exit 99

# policy LINE...: lines of the process domain; $fs is the filesystem domain, $time the wall clock.
fs='{workdir: read-write}'
time=60s
policy()
{
	printf 'version: 1\nfilesystem: %s\nprocess:\n  timeout: %s\n' "$fs" "$time" >"$tmp/policy.yaml"
	[ $# = 0 ] || printf '  %s\n' "$@" >>"$tmp/policy.yaml"
}

# inside SECONDS CMD...: sets status, ms, left, names and said (`ok` has an out of its own).
inside()
{
	guarded "$1" "$CORDON" run --policy "$tmp/policy.yaml" --runtime "$runtime" -- "${@:2}"
}

guarded()
{
	: >"$tmp/report"
	"$bin/guard" "$tmp/report" "$1" "${@:2}" >"$tmp/out" 2>"$tmp/err" </dev/null
	read -r status ms left names <"$tmp/report"
	said=$(cat "$tmp/out")
}

# Only our own runs count, which the state folder knows by their names: others may be at work on this machine.
is_ours()
{
	[ -n "$(find "$tmp/state" "$tmp/disk" -name "$1" -print -quit 2>/dev/null)" ]
}

# What a run could leave on the host, other than processes (guard sees those, and with them namespaces): mounts, cgroups without a process, temporary files, boxes and an engine's containers.
leftovers()
{
	local d
	awk -v ours="$tmp" 'index($0, ours) || (/cordon-/ && !/cordon-(test|escape|matrix)\./)' /proc/self/mounts # those are other suites'
	while IFS= read -r d; do
		is_ours "${d##*/cordon-}" || continue
		[ -n "$(cat "$d/cgroup.procs" 2>/dev/null)" ] || [ ! -d "$d" ] || echo "cgroup $d"
	done < <(find /sys/fs/cgroup -type d -name 'cordon-*' 2>/dev/null)
	while IFS= read -r d; do
		! is_ours "${d##*/}" || echo "box $d"
	done < <(find /run/cordon "$tmp/run/cordon" -mindepth 1 -maxdepth 1 2>/dev/null)
	[ "$runtime" != docker ] || docker ps -a --format '{{.Names}}' | while IFS= read -r d; do
		! is_ours "${d#cordon-}" || echo "container $d"
	done
	find "$tmp/t" "$tmp/run" -mindepth 1 ! -path "$tmp/run/cordon" ! -path "$tmp/run/cordon/*" 2>/dev/null
}
touch "$tmp/stamp"
before=$(leftovers)

clean()
{
	local now
	read -r _ _ left names <"$tmp/report" # also where the run was in a subshell
	[ "$left" = 0 ] || { echo "processes left: $names"; return 1; }
	for _ in 1 2 3 4 5 6; do
		now=$(leftovers)
		[ "$now" != "$before" ] || return 0
		sleep 0.5
	done
	diff <(printf '%s\n' "$before") <(printf '%s\n' "$now")
	return 1
}

shown()
{
	printf 'status %s after %s ms; out: %s\n' "$status" "$ms" "$said"
	head -n 5 "$tmp/err"
}

# Cordon must work at all, or each limit would seem to hold.
policy 'max_processes: 64'
inside 20 ./burden anon 1
if [ "$status" != 0 ]; then
	shown | sed 's/^/# /'
	ok "a small program runs inside" false
	finish
fi
ok "a small program runs inside" test "$said" = "held 1"
ok "a plain run leaves nothing" clean

# --- memory ---

# Not held, not late; and who was killed for it is told which limit it was.
ended()
{
	shown
	[ "$status" != 0 ] && [ "$status" != late ] && [ "${said#held}" = "$said" ] && { [ "$status" != 137 ] || grep -q 'process\.memory' "$tmp/err"; }
}

control_holds()
{
	control_of ./burden "$@"
}

control_of()
{
	guarded 30 "$@"
	shown
	[ "$status" = 0 ] && [ "${said#held}" != "$said" ]
}

policy 'memory: 64M'
inside 20 ./burden anon 24
is "memory: what is below the limit works" "$said" "held 24"
for what in "anonymous memory|anon 512" "a shared mapping|shared 512" "a memfd that is not mapped|memfd 512" "detached System V segments|sysv 512" \
	"shared memory that is resident nowhere|unseen 512" "shared memory that is no longer mapped but for a page here and there|trimmed 512" "page tables|tables 512" \
	"memory of a process whose first thread has ended|leaderless 512" \
	"mappings of single pages|maps 512" \
	"many processes together|many 16 32"; do
	read -ra args <<<"${what#*|}"
	ok "memory: without Cordon, ${what%|*} of 512 MiB is had" control_holds "${args[@]}"
	inside 30 ./burden "${args[@]}"
	ok "memory: ${what%|*} ends at 64 MiB" ended
	ok "memory: ... and leaves nothing" clean
done

ok "memory: without Cordon, locks of files take 128 MiB of the kernel's memory" control_holds locks 128
inside 30 ./burden locks 128
ok "memory: locks of files end at 64 MiB" ended
ok "memory: ... and leaves nothing" clean

# The kernel gives buffers of TCP and UDP a part of the machine's memory, for all programs together: half of it can be had. In MiB, at most 384.
room_for()
{
	local pages mb=384 of=${1/nameless/udp}
	if [ -r "${2:-/proc/sys/net/ipv4}/${of}_mem" ]; then
		read -r _ _ pages <"${2:-/proc/sys/net/ipv4}/${of}_mem"
		mb=$((pages * $(getconf PAGESIZE) / 2097152))
	fi
	echo $((mb < 384 ? mb : 384))
}

mkdir "$tmp/net" && echo 46000 61000 92000 >"$tmp/net/tcp_mem" && echo 92000 122000 184000 >"$tmp/net/udp_mem"
is "what is asked for is what a machine has for it" "$(for what in tcp udp nameless unix; do room_for $what "$tmp/net"; done | tr '\n' ' ')" "$((92000 * $(getconf PAGESIZE) / 2097152)) $(room_for udp "$tmp/net") $(room_for udp "$tmp/net") 384 "

# Others on this machine may have the rest for a moment.
control_holds_in_the_end()
{
	local try
	for try in 1 2 3; do
		control_holds "$@" && return
		sleep "$try"
	done
	return 1
}

# In a cgroup of version 1 the kernel gives each connection something although they are full, which adds up. Datagrams that
# are not sent yet no limit of the kernel's counts, and without a cgroup no buffers. Of Docker's only its cgroup is asked.
for what in "data in connections|tcp" "datagrams that nobody reads|udp" "those of sockets without an address|nameless" \
	"datagrams that are not sent yet|corked" "data in UNIX sockets|unix" "data whose senders are closed|orphans" "data in pipes|pipes"; do
	if [ "$runtime" = docker ]; then
		skip "memory: ${what%|*} ends at 64 MiB" "nobody looks at an engine's sockets"
		continue
	fi
	room=$(room_for "${what#*|}")
	if [ "$room" -lt 128 ]; then
		skip "memory: ${what%|*} ends at 64 MiB" "this machine has $room MiB for them"
		continue
	fi
	ok "memory: without Cordon, $room MiB of ${what%|*} are had" control_holds_in_the_end "${what#*|}" "$room"
	# what the host's memory had, or gives back, of those just before hides as much
	for try in 1 2 3; do
		sleep "$try"
		inside 30 ./burden "${what#*|}" "$room"
		ended >/dev/null && break
	done
	ok "memory: ${what%|*} ends at 64 MiB" ended
	ok "memory: ... and leaves nothing" clean
done

guarded 30 ./burden rules 256
if [ "$said" = "held 256" ]; then
	inside 30 ./burden rules 256
	ok "memory: rules of Landlock's end at 64 MiB, if there are any" ended
	ok "memory: ... and leaves nothing" clean
else
	skip "memory: rules of Landlock's end at 64 MiB" "this kernel's Landlock has none for ports"
fi

# Names that a file system keeps for who has a folder open. An overlay's are made of the host's folder, which has to have them before.
ok "memory: without Cordon, names of open folders are had" control_of ./hoard folders many 4 2000
for dir in read-write copy; do
	if [ "$runtime" = gvisor ] || [ "$runtime" = docker ]; then
		skip "memory: names of open folders end at 64 MiB, workdir: $dir" "nobody looks at $runtime's files"
		continue
	fi
	fs="{workdir: $dir}"
	policy 'memory: 64M'
	# what the host gives back of that memory meanwhile hides as much
	for try in 1 2 3; do
		sleep "$try"
		inside 60 ./hoard folders many 4 2000
		ended >/dev/null && break
	done
	if [ "$dir" = read-write ] && [ "$said" = "held 8000" ] && [ "$(stat -f -c %T .)" != ext2/ext3 ]; then
		skip "memory: names of open folders end at 64 MiB, workdir: $dir" "this file system keeps none"
		continue
	fi
	ok "memory: names of open folders end at 64 MiB, workdir: $dir" ended
	ok "memory: ... and leaves nothing" clean
done

fs='{workdir: read-write, tmp_size: 1G}'
for what in attributes names; do
	policy 'memory: 1G'
	inside 30 ./hoard "$what" /tmp 128
	if [ "$said" != "held 128" ]; then
		skip "memory: $what in /tmp end at 64 MiB" "they cannot be made: $said"
		continue
	fi
	policy 'memory: 64M'
	inside 30 ./hoard "$what" /tmp 128
	ok "memory: $what in /tmp end at 64 MiB" ended
	ok "memory: ... and leaves nothing" clean
done
fs='{workdir: read-write}'

# Far below the limit.
policy 'memory: 256M'
for what in tcp udp nameless corked unix orphans pipes; do
	[ "$runtime" != gvisor ] || [ "$what" = unix ] || continue
	inside 30 ./burden "$what" 4
	is "memory: below the limit, there are buffers ($what)" "$said" "held 4"
done
policy 'memory: 64M'

ok "memory: without Cordon, processes that fork and end all the time have 256 MiB" control_holds hop 32 8
inside 30 ./burden hop 32 8
ok "memory: processes that fork and end all the time end at 64 MiB" ended
ok "memory: ... and leaves nothing" clean

# A file that may be executed and not be read, of a group that the sandbox has no number for: only root may look at who executes it.
other=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
if [ -n "$other" ] && cp burden hidden && chgrp "$other" hidden && chmod 0111 hidden; then
	inside 30 ./hidden many 3 8
	is "memory: below the limit, programs that may not be read work" "$said" "held 24"
	for what in "processes|many 16 32" "shared memory|shared 512" "shared memory that is resident nowhere|unseen 512"; do
		read -ra args <<<"${what#*|}"
		inside 30 ./hidden "${args[@]}"
		ok "memory: ${what%|*} of a program that may not be read ends at 64 MiB" ended
		ok "memory: ... and leaves nothing" clean
	done
else
	skip "memory: programs that may not be read end at 64 MiB" "this user has one group only"
fi

fs='{workdir: read-write, tmp_size: 1G}'
policy 'memory: 64M'
ok "memory: without Cordon, 512 MiB in /tmp are had" control_holds scratch "$tmp/t" 512
inside 30 ./burden scratch /tmp 512
ok "memory: what is in the sandbox's own /tmp ends at 64 MiB" ended
ok "memory: ... and leaves nothing" clean
fs='{workdir: read-write}'

# --- cpus ---

at_most()
{
	shown
	[ "$status" = 0 ] && [ "${said#cpu }" -le "$1" ]
}

# Ticks that a process and its descendants have used so far.
ticks()
{
	local p stat n=0
	for p; do
		stat=$(cat "/proc/$p/stat" 2>/dev/null) || continue
		read -ra stat <<<"${stat##*) }"
		# shellcheck disable=SC2046 # numbers
		n=$((n + stat[11] + stat[12] + $(ticks $(pgrep -P "$p"))))
	done
	echo "$n"
}

# As the host counts: gVisor's own clock takes threads that wait for a CPU for running ones.
host_counts()
{
	local run p before used
	inside 20 ./burden burn 2 4000 &
	sleep 2.5
	# shellcheck disable=SC2012 # names of ours
	run=$(ls -t "$XDG_STATE_HOME/cordon/runs" | head -n 1)
	p=$(pgrep -f "^runsc-sandbox .*/$run/")
	before=$(ticks "$p")
	sleep 1
	used=$((($(ticks "$p") - before) * 100 / $(getconf CLK_TCK)))
	wait
	echo "process ${p:-none}: $used %"
	[ -n "$p" ] && [ "$used" -gt 0 ] && [ "$used" -le 130 ]
}

policy 'cpus: 1'
guarded 20 ./burden burn 2 2000
if [ "$(nproc)" -lt 2 ] || [ "${said#cpu }" -lt 140 ]; then
	skip "cpus: two threads get one CPU" "there are no two idle CPUs to take (${said:-none})"
elif [ "$runtime" = gvisor ]; then
	ok "cpus: two threads get one CPU (without Cordon ${said#cpu } %)" host_counts
	ok "cpus: ... and leaves nothing" clean
else
	without=${said#cpu }
	inside 20 ./burden burn 2 2000
	ok "cpus: two threads get one CPU (without Cordon $without %)" at_most 120
	ok "cpus: ... and leaves nothing" clean
fi

# --- processes ---

between()
{
	shown
	[ "$status" = 0 ] && [ "${said#alive }" -ge "$1" ] && [ "${said#alive }" -le "$2" ]
}

guarded 20 ./burden forks 200
is "processes: without Cordon, 200 children are had" "$said" "alive 200"
policy 'max_processes: 32'
inside 20 ./burden forks 200
ok "processes: 32 are the most" between 16 32
case $runtime in
native | runc | crun)
	ok "processes: ... and next to nothing of them is lost to the runtime" between 27 32
	ok "processes: ... and leaves nothing" clean
	policy 'max_processes: 8'
	inside 20 ./burden forks 200
	ok "processes: 8 are enough to start with" between 4 8
	;;
esac
ok "processes: ... and leaves nothing" clean

bomb()
{
	local worst=0 began took
	time=3s policy 'max_processes: 32'
	inside $((15 * slow)) ./burden bomb 1500 &
	# A host that is still there answers at once.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.2
		began=$(date +%s%N)
		/bin/true
		took=$((($(date +%s%N) - began) / 1000000))
		[ "$took" -le "$worst" ] || worst=$took
	done
	wait
	read -r status ms left names <"$tmp/report"
	echo "slowest spawn beside it: $worst ms"
	shown
	[ "$ms" -le $((6000 * slow)) ] && [ "$worst" -le $((1000 * slow)) ] || return 1
	[ "$status" = 124 ] && return
	# gVisor's own kernel may find no thread to go on with: then the sandbox ends there, and says why.
	[ "$runtime" = gvisor ] && [ "$status" = 137 ] && grep -q 'process\.max_processes' "$tmp/err"
}
ok "processes: a fork bomb is held, the host answers, the timeout ends it" bomb
ok "processes: ... and leaves nothing" clean

# --- files ---

file_is_at_most()
{
	local size
	shown
	size=$(stat -c %s "$1" 2>/dev/null || echo none)
	echo "size $size"
	[ "$status" != late ] && [ "$size" != none ] && [ "$size" -le "$2" ]
}

guarded 20 ./burden write control 8
is "max_file_size: without Cordon, 8 MiB are written" "$said" "wrote 8"
policy 'max_file_size: 2M'
inside 20 ./burden write big 8
ok "max_file_size: a file stays at 2 MiB" file_is_at_most "$work/big" 2097152
ok "max_file_size: ... and the program is told" test "$status" != 0
ok "max_file_size: ... and leaves nothing" clean
rm -f "$work/big" "$work/control"

mkdir -p "$tmp/outside"
guarded 20 ./burden fill "$tmp/outside" 64
is "tmp_size: without Cordon, 64 MiB are written" "$said" "wrote 64"
rm -rf "$tmp/outside"
fs='{workdir: read-write, tmp_size: 16M}'
policy 'memory: 256M'
inside 20 ./burden fill /tmp 64
wrote_at_most()
{
	shown
	[ "$status" != late ] && [[ $said == "wrote "* ]] && [ "${said#wrote }" -gt 0 ] && [ "${said#wrote }" -le "$1" ]
}
ok "tmp_size: /tmp ends at 16 MiB" wrote_at_most 16
ok "tmp_size: ... and leaves nothing" clean
fs='{workdir: read-write}'

# --- time ---

timed_out()
{
	shown
	[ "$status" = 124 ] && [ "$ms" -ge 900 ] && [ "$ms" -le 4000 ]
}

time=1s policy
guarded 20 ./burden stay 5
is "timeout: without Cordon, it stays for 5 s" "$said" "stayed"
inside 20 sleep 30
ok "timeout: a sleeper ends with 124 within 3 s" timed_out
ok "timeout: ... and leaves nothing" clean
inside 20 ./burden stay 30
ok "timeout: so does what ignores every signal" timed_out
ok "timeout: ... and leaves nothing" clean

# In the work folder or in the copy of it that a container writes to.
beats()
{
	find "$tmp" -name beat -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

has_stopped()
{
	local a b
	shown
	a=$(beats)
	sleep 0.4
	b=$(beats)
	echo "beats: $a, then $b"
	[ "$a" -gt 0 ] && [ "$a" = "$b" ]
}
inside 20 ./burden daemon beat 30 stay
ok "timeout: so does a double-forked daemon beside its maker" timed_out
ok "timeout: ... and it beats no more" has_stopped
ok "timeout: ... and leaves nothing" clean
rm -f beat
time=20s policy
inside 10 ./burden daemon beat 30
ok "a double-forked daemon ends with its maker" test "$status" = 0
ok "... and leaves nothing" clean
rm -f beat

# kill -9 of the supervisor takes all of it down.
killed()
{
	time=30s policy
	guarded 10 bash -c '"$0" run --policy "$1" --runtime "$2" -- ./burden daemon beat 30 stay & p=$!; sleep 1; kill -9 $p; wait $p 2>/dev/null; exit 0' "$CORDON" "$tmp/policy.yaml" "$runtime"
	shown
	[ "$status" = 0 ] && [ "$left" = 0 ]
}
ok "kill -9 of the supervisor ends the sandbox" killed
ok "... whose daemon beats no more" has_stopped
rm -f beat
# Its cgroup can only be removed by the next run, which leaves alone what is just being made: make it seem old.
find /sys/fs/cgroup -type d -name 'cordon-*' -newer "$tmp/stamp" -exec touch -d '1 minute ago' {} + 2>/dev/null
tidied()
{
	policy
	inside 10 true
	shown
	[ "$status" = 0 ] && clean
}
ok "... and the next run tidies up" tidied

# --- disk ---

# A small disk for the state, where the copy-on-write data goes.
filler()
{
	local disk=$1 free
	fs='{workdir: copy}'
	policy 'max_file_size: 1G'
	XDG_STATE_HOME=$disk/state TMPDIR=$disk inside 50 ./burden fill . 2048
	shown
	free=$(df --output=avail -m "$disk" | tail -n 1)
	echo "$free MiB are left of the disk"
	[ "$status" != 0 ] && [ "$status" != late ] && [ "$status" != 124 ] && [ "${said#wrote 2048}" = "$said" ] && [ "$free" -ge 32 ]
}

if [ "$(id -u)" = 0 ] && mkdir "$tmp/disk" && mount -t tmpfs -o size=700m cordon-test-disk "$tmp/disk" 2>/dev/null; then
	trap 'umount -l "$tmp/disk"; tap_cleanup' EXIT
	ok "disk: without Cordon, it fills the disk" bash -c './burden fill "$1" 2048 | grep -q "wrote 6"; rm -f "$1"/fill-*' - "$tmp/disk"
	before=$(leftovers)
	ok "disk: a filler ends before the disk is full" filler "$tmp/disk"
	ok "disk: ... and leaves no process, mount or cgroup" clean
	ok "disk: the work folder is as it was" test ! -e "$work/fill-0"
else
	skip "disk: a filler ends before the disk is full" "needs root, to make a small disk"
fi
finish
