#!/bin/bash
# Cordon is killed at any step of each lifecycle, on every runtime, and the next `cordon ps` leaves nothing of it: no process, mount, socket, cgroup, container, folder or half a state. tools/kill_at.c does the killing,
# before the Nth system call of Cordon's own processes. There are some thousands of such steps; each run of this suite tries others.
#
#   STEPS       how many of each lifecycle (default: a few; the quicker the runtime, the more); all: every one
#   STEPS_SEED  to try the same ones again
#   STEPS_ONLY  words: runtimes and lifecycles; others are left out
#
# As root, in mount, pid and network namespaces and cgroups of its own: whatever is left in them is what Cordon left.
if [ -z "${STEPS_SPACE:-}" ] && [ "$(id -u)" = 0 ]; then
	STEPS_SPACE=1 exec unshare --mount --net --pid --fork --kill-child --mount-proc -- bash "$0" "$@"
fi
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../docker_lib.sh"
. "$(dirname "$0")/../run_lib.sh"
. "$tests_dir/task_lib.sh"
if [ "$(id -u)" != 0 ]; then
	skip "Cordon is killed at any step" "needs root, for namespaces in which everything can be seen"
	finish
fi
if is_sanitized; then
	skip "Cordon is killed at any step" "with sanitizers most steps are theirs; other jobs try it"
	finish
fi
kill_at=$CORDON_BUILD/tests/kill-at
RANDOM=${STEPS_SEED:=$RANDOM}
echo "# STEPS_SEED=$STEPS_SEED"
mkdir -p /run/cordon && mount -t tmpfs -o mode=711 tmpfs /run/cordon || exit 99
ip link set lo up

# Cgroups of our own in the hierarchies that limits need.
cgroups=()
enter_cgroups()
{
	local id names path dir
	while IFS=: read -r id names path; do
		dir=/sys/fs/cgroup/$names$path
		case $names in memory | pids | cpu | cpu,cpuacct) ;; *) continue ;; esac
		mkdir "$dir/kill-steps-$$-$STEPS_SEED" 2>/dev/null && echo $$ >"$dir/kill-steps-$$-$STEPS_SEED/cgroup.procs" && cgroups+=("$dir/kill-steps-$$-$STEPS_SEED")
	done </proc/self/cgroup
}
leave_cgroups()
{
	local c
	for c in "${cgroups[@]}"; do
		echo $$ >"$c/../cgroup.procs"
		find "$c" -depth -type d -exec rmdir {} \; 2>/dev/null
	done
}
steps_done()
{
	stop_engine
	leave_cgroups
	tap_cleanup
}
trap steps_done EXIT

wanted() { [ -z "${STEPS_ONLY:-}" ] || [[ " $STEPS_ONLY " == *" $1 "* ]]; }

# --- what is left ---

list_processes() { ps -eo pid=,stat=,comm=,args= | awk -v known=" $known " '!index(known, " " $1 " ") && $2 !~ /Z/ && $3 !~ /^(bash|ps|awk|sort|kill-at)$/ { print "process: " $0 }'; }
list_mounts() { awk '{ print "mount: " $5 }' /proc/self/mountinfo | sort; }
list_sockets() { awk 'NR > 1 && NF > 7 { print "socket: " $8 }' /proc/net/unix | sort -u; }
list_state()
{
	local d
	for d in "$state"/*; do
		[ ! -d "$d" ] || [ -s "$d/audit.jsonl" ] || echo "half a state: $d $(ls -A "$d")"
	done
	find "$TMPDIR" -mindepth 1 -printf 'temporary: %p\n'
	# the roots that boxes share stay, whole ones
	find /run/cordon -mindepth 1 -maxdepth 1 ! -name .roots -printf 'box: %p\n'
	find /run/cordon -mindepth 2 -maxdepth 2 -path '*/.roots/half*' -printf 'half a root: %p\n'
}
list_containers() { [ -z "$engine_pid" ] || containers | sed 's/^/container: /'; }
list_cgroups() { [ ${#cgroups[@]} = 0 ] || find "${cgroups[@]}" -mindepth 1 -type d -printf 'cgroup: %p\n'; }

remember()
{
	local pids
	pids=$(ps -eo pid=,comm= | awk '$2 ~ /^(unshare|bash|dockerd|containerd)$/ { print $1 }')
	known=${pids//$'\n'/ }
	list_mounts >"$tmp/mounts"
	list_sockets >"$tmp/sockets"
}

left()
{
	# an engine may still finish what it had begun: a box stays for as long as that is possible
	[ -z "$engine_pid" ] || find /run/cordon -mindepth 2 -maxdepth 2 -name docker -exec touch -d '5 minutes ago' {} +
	timeout 20 "$CORDON" ps -q 2>&1 | sed 's/^/ps: /'
	list_processes
	list_mounts | comm -13 "$tmp/mounts" -
	list_sockets | comm -13 "$tmp/sockets" -
	list_state
	list_containers
}

# nothing_left: soon; what ends by itself needs a moment.
nothing_left()
{
	local i
	for ((i = 0; i < 60; i++)); do
		stop_all # what survived
		left >"$tmp/left"
		[ -s "$tmp/left" ] || return 0
		sleep 0.1
	done
	cat "$tmp/left" "$tmp/stop.err"
	return 1
}

# --- lifecycles: each is begun, killed at step $1 (0: never), and what survives is ended as its user would ---

run_options() { options=(--runtime "$runtime" --policy "$tmp/net.yaml"); }
stop_all()
{
	local id
	for id in $(timeout 20 "$CORDON" ps -q); do
		timeout 20 "$CORDON" stop -t 0 "$id" >"$tmp/stop.err" 2>&1
	done
}
keep_one() { timeout 60 "$CORDON" run --keep "${options[@]}" -- true 2>/dev/null </dev/null; id=$("$CORDON" ps -q); [ -n "$id" ]; }
# at N CMD...: whatever it prints or returns, its count is in $tmp/count
at() { timeout 60 "$kill_at" "${follow[@]}" "$1" "$tmp/count" "${@:2}" >/dev/null 2>&1 </dev/null || true; }
# beside N CMD...: the supervisor of sandbox $id is killed while that runs
beside()
{
	local supervisor tracer
	supervisor=$("$CORDON" ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["pid"])')
	rm -f "$tmp/count"
	timeout 60 "$kill_at" -p "$supervisor" "$1" "$tmp/count" &
	tracer=$!
	until_true test -e "$tmp/count"
	timeout 30 "${@:2}" >/dev/null 2>&1 </dev/null
	wait "$tracer" || true
}

step_run()
{
	follow=(-f)
	at "$1" "$CORDON" run "${options[@]}" -- true
}
step_keep()
{
	follow=(-f)
	at "$1" "$CORDON" run --keep "${options[@]}" -- true
}
step_warm()
{
	follow=(-f)
	at "$1" "$CORDON" run --warm 1 "${options[@]}" -- true
}
step_exec()
{
	follow=()
	[ -n "$kept" ] && id=$kept || { keep_one && kept=$id; } || { echo "no sandbox could be kept"; return 1; }
	at "$1" "$CORDON" exec "$kept" -- true
	[ "$(timeout 20 "$CORDON" exec "$kept" -- echo on 2>&1)" = on ] || { echo "the sandbox is of no more use"; return 1; }
}
step_stop()
{
	follow=()
	keep_one || { echo "no sandbox could be kept"; return 1; }
	at "$1" "$CORDON" stop -t 0 "$id"
}
step_supervisor() # of a sandbox in which something is executed, and which is stopped then
{
	keep_one || { echo "no sandbox could be kept"; return 1; }
	beside "$1" sh -c "'$CORDON' exec $id -- true; '$CORDON' stop -t 0 $id"
}

step_task() # with a service: a group of sandboxes, three supervisors
{
	follow=(-f)
	at "$1" "$CORDON" task run "$tests_dir/tasks/benign/service" --agent oracle --runtime "$runtime" --out "$(mktemp -u "$tmp/out.XXXXXX")"
}

# try LIFECYCLE N: killed there, nothing is left.
try()
{
	echo "killed before step $2 of $1"
	"step_$1" "$2" && { [ -n "$kept" ] || nothing_left; }
}

lifecycle()
{
	local name=$1 many=$2 total i n tried=0 bad=
	wanted "$name" || [ -z "${STEPS_ONLY:-}" ] || [[ ! " $STEPS_ONLY " =~ \ (run|keep|warm|exec|stop|supervisor|task)\  ]] || return
	kept=
	if ! try "$name" 0 >"$tmp/tried" 2>&1; then
		ok "$runtime, $name: it works when nobody is killed" cat_fail "$tmp/tried"
		return
	fi
	total=$(cat "$tmp/count")
	[ "${STEPS:-}" = all ] && many=$total || many=${STEPS:-$many}
	[ "$many" -le "$total" ] || many=$total
	for ((i = 0; i < many; i++)); do
		# one of each of as many parts
		n=$((1 + (i * total + RANDOM % total) / many))
		tried=$((tried + 1))
		try "$name" "$n" >"$tmp/tried" 2>&1 && continue
		bad=$tmp/bad
		cat "$tmp/tried" >>"$bad"
		pkill -9 -x 'sleep|runc|crun|runsc|exe' 2>/dev/null # in our own pid namespace
	done
	if [ -n "$kept" ]; then
		{ timeout 20 "$CORDON" stop -t 0 "$kept" && kept= && nothing_left; } >>"$tmp/bad" 2>&1 || bad=$tmp/bad
	fi
	ok "$runtime, $name: killed at any step, nothing is left ($tried of $total steps tried)" cat_fail "$bad"
	rm -f "$tmp/bad"
}
cat_fail() { [ -z "$1" ] || { cat "$1"; return 1; }; }

# --- on each runtime ---

mkdir -p "$tmp/config/cordon"
printf 'version: 1\nextends: [default]\nnetwork: {mode: allowlist, allow: [{host: up.test}]}\n' >"$tmp/net.yaml"
printf 'version: 1\nresolve: {"up.test": ["127.0.0.1"]}\n' >"$tmp/config/cordon/gateway.yaml"
export XDG_DATA_HOME=$tmp/data
task_images base || { echo "Bail out! the image cannot be made"; exit 99; }
enter_cgroups

runtime()
{
	runtime=$1
	wanted "$runtime" || [[ ! " ${STEPS_ONLY:-} " =~ \ (native|runc|crun|gvisor|docker)\  ]] || return
	run_options
	if ! "$CORDON" run "${options[@]}" -- true >"$tmp/out" 2>&1 </dev/null; then
		skip "$runtime: killed at any step" "$(tail -1 "$tmp/out")"
		return
	fi
	remember
	lifecycle run "$2"
	lifecycle keep "$3"
	lifecycle warm "$3"
	lifecycle exec "$2"
	lifecycle stop "$3"
	lifecycle supervisor "$3"
	lifecycle task "$3"
}
runtime native 30 12
runtime crun 16 5
runtime runc 16 5
runtime gvisor 8 3
if wanted docker || [[ ! " ${STEPS_ONLY:-} " =~ \ (native|runc|crun|gvisor|docker)\  ]]; then
	if command -v dockerd >/dev/null; then
		mkdir -p "$engine"
		echo '{"iptables": false, "ip6tables": false, "bridge": "none", "ip-forward": false, "ip-masq": false}' >"$engine/config.json"
		export DOCKER_HOST=unix://$engine/s
		if run_engine; then
			runtime docker 8 3
		else
			skip "docker: killed at any step" "a Docker Engine cannot be started here"
		fi
	else
		skip "docker: killed at any step" "there is no dockerd here"
	fi
fi
stop_engine

# A cgroup could be one that is about to be joined until it is ten seconds old.
sleep 12
"$CORDON" ps >/dev/null
is "no cgroup is left" "$(list_cgroups)" ""
finish
