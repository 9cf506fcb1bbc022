# shellcheck shell=bash disable=SC2034
# Shared by the benchmark scripts. They print Markdown on stdout, and a JSON object per row into $BENCH_JSON where that is set.
#
# From run.sh: BENCH_BIN (cordon, cordon-init and bench-spawn side by side), BENCH_TMP (a fresh folder of ours), BENCH_RUNTIME (the same in memory, where that can be), BENCH_ROUNDS.

bench_missed=0
CORDON=$BENCH_BIN/cordon
SPAWN=$BENCH_BIN/bench-spawn
who=$(id -un)

# A home of its own, so that neither the caller's policy nor its caches take part.
export HOME=$BENCH_TMP/home XDG_CONFIG_HOME=$BENCH_TMP/config XDG_CACHE_HOME=$BENCH_TMP/cache XDG_STATE_HOME=$BENCH_TMP/state
export XDG_RUNTIME_DIR=$BENCH_RUNTIME
mkdir -p "$HOME" "$XDG_CONFIG_HOME" "$XDG_CACHE_HOME" "$XDG_STATE_HOME"

# row TABLE NAME KEY VALUE...: values that are numbers stay numbers.
row()
{
	[ -n "${BENCH_JSON:-}" ] || return 0
	local out
	out=$(printf '{"table":"%s","user":"%s","name":"%s"' "$1" "$who" "$2")
	shift 2
	while [ $# -gt 1 ]; do
		if [[ $2 =~ ^-?[0-9]+(\.[0-9]+)?$ ]]; then
			out+=$(printf ',"%s":%s' "$1" "$2")
		else
			out+=$(printf ',"%s":"%s"' "$1" "$2")
		fi
		shift 2
	done
	printf '%s}\n' "$out" >>"$BENCH_JSON"
}

# bar TABLE WHAT VALUE MAX UNIT: prints pass or miss; the script ends with 1 after a miss.
bar()
{
	local verdict=pass
	if [ -z "$3" ] || ! awk -v a="$3" -v b="$4" 'BEGIN { exit !(a <= b) }'; then
		verdict=miss
		bench_missed=1
	fi
	printf '%s\n' "- $2: **${3:-not measured}**${5:+ $5}, bar $4${5:+ $5}: **$verdict**"
	row "$1" "bar: $2" value "${3:-none}" bar "$4" verdict "$verdict"
}

bench_end()
{
	echo
	exit "$bench_missed"
}

# field FILE NAME COLUMN: from the lines of bench-spawn; nothing for a row that failed.
field()
{
	awk -F '\t' -v n="$2" -v c="$3" '$1 == n && $2 != "failed" { print $c }' "$1"
}

ratio()
{
	[ -z "$1" ] || [ -z "$2" ] || awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}

# An engine of our own; DOCKER_HOST leads to it.
start_docker()
{
	[ "$(id -u)" = 0 ] && command -v dockerd >/dev/null && command -v docker >/dev/null || return
	printf '{"iptables":false,"ip6tables":false,"bridge":"none","ip-forward":false,"ip-masq":false}' >"$BENCH_TMP/docker.json"
	export DOCKER_HOST=unix://$BENCH_TMP/docker.sock
	dockerd --config-file "$BENCH_TMP/docker.json" --data-root "$BENCH_TMP/docker" --exec-root "$BENCH_TMP/docker-exec" -H "$DOCKER_HOST" --pidfile "$BENCH_TMP/docker.pid" >"$BENCH_TMP/why" 2>&1 &
	dockerd=$!
	local i
	for ((i = 0; i < 100; i++)); do
		docker version >/dev/null 2>&1 && return
		sleep 0.1
	done
	return 1
}

stop_docker()
{
	[ -z "${dockerd:-}" ] || { kill "$dockerd" && wait "$dockerd"; } 2>/dev/null
}
