# shellcheck shell=bash
# A Docker Engine of the suite's own: source it behind lib.sh. Its data, its socket and all that it keeps are below $engine; it is stopped when the suite ends, before $tmp is removed.
# start_engine makes it, or skips the suite with the reason. $DOCKER_HOST leads to it.

# shellcheck disable=SC2154 # tmp is lib.sh's
engine=$tmp/engine
engine_pid=

# The daemon, and what it started beside itself: containerd and its shims have their folders below $engine, and nobody else's.
engine_processes()
{
	local p
	for p in /proc/[0-9]*; do
		# shellcheck disable=SC2154 # tmp is lib.sh's
		{ tr '\0' ' ' <"$p/cmdline"; } 2>/dev/null | grep -qE "^[^ ]*(dockerd|containerd|containerd-shim[^ ]*) .*$engine/" && echo "${p#/proc/}"
	done
}

stop_engine()
{
	local p i
	[ -n "$engine_pid" ] || return 0
	kill "$engine_pid" 2>/dev/null
	for ((i = 0; i < 200; i++)); do
		kill -0 "$engine_pid" 2>/dev/null || break
		sleep 0.05
	done
	wait "$engine_pid" 2>/dev/null
	for p in $(engine_processes); do kill -9 "$p" 2>/dev/null; done
	engine_pid=
	while read -r p; do umount -l "$p" 2>/dev/null; done < <(awk -v d="$engine/" 'index($5, d) == 1 { print $5 }' /proc/self/mountinfo | sort -r)
}

engine_done()
{
	stop_engine
	tap_cleanup
}

engine_answers()
{
	curl -sf --max-time 5 --unix-socket "$engine/s" http://docker/_ping >/dev/null
}

# Of the group with that number, which ordinary users of the suite are in.
engine_group=$((RANDOM + 100000))

run_engine()
{
	dockerd --config-file "$engine/config.json" --data-root "$engine/data" --exec-root "$engine/exec" -H "unix://$engine/s" --pidfile "$engine/pid" -G "$engine_group" >>"$engine/log" 2>&1 &
	engine_pid=$!
	local i
	for ((i = 0; i < 400; i++)); do
		engine_answers && return 0
		kill -0 "$engine_pid" 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

start_engine()
{
	if [ "$(id -u)" != 0 ] || ! command -v dockerd >/dev/null; then
		skip "$1" "$([ "$(id -u)" = 0 ] && echo "there is no dockerd here" || echo "only root can start a Docker Engine")"
		finish
	fi
	trap engine_done EXIT
	mkdir -p "$engine" && chmod 711 "$tmp" "$engine"
	echo '{"iptables": false, "ip6tables": false, "bridge": "none", "ip-forward": false, "ip-masq": false}' >"$engine/config.json"
	export DOCKER_HOST=unix://$engine/s
	unset DOCKER_CONTEXT DOCKER_CONFIG
	run_engine && return
	tail -5 "$engine/log" | sed 's/^/# /'
	skip "$1" "a Docker Engine cannot be started here"
	finish
}

# ask METHOD PATH: what the engine answers.
ask()
{
	curl -s --max-time 20 -X "$1" --unix-socket "$engine/s" "http://docker/v1.41$2"
}

# containers: the names of all, one a line.
containers()
{
	ask GET '/containers/json?all=1' | python3 -c 'import json,sys
for c in json.load(sys.stdin): print(c["Names"][0])'
}

# boxes: the folders of runs with this engine; others may run meanwhile.
boxes()
{
	grep -ls "^$engine/s\$" /run/cordon/*/docker
}

no_containers()
{
	local left
	left=$(containers)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
}
