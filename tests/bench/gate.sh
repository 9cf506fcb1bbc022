#!/bin/bash
# gate.sh: the gateway beside haproxy, nginx and mitmproxy, in turns; gate.py measures and says what is compared. Run by run.sh.
#
# BENCH_GATE_ROUNDS (5) and BENCH_GATE_SECONDS (2) of each round make it shorter or longer; BENCH_GATE_CASES are some of tunnel, requests, latency, events, memory.
set -u
# The servers listen where they do in life, in a network namespace with nothing but loopback; an ordinary user gets it by a user namespace, and keeps their id.
if [ -z "${BENCH_NAMESPACE:-}" ]; then
	own=(-n)
	[ "$(id -u)" = 0 ] || own=(--map-current-user --keep-caps -n)
	BENCH_NAMESPACE=1 exec unshare "${own[@]}" -- "$0" "$@"
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cd "$BENCH_TMP" && mkdir -p up && ip link set lo up || exit 2
out=gate.tsv
python3 "$here/gate.py" >"$out" || { cat stderr >&2; exit 2; }

# value CASE WHO METRIC, proportion CASE OTHER METRIC: medians; nothing where it was not measured.
value()
{
	awk -F '\t' -v c="$1" -v w="$2" -v m="$3" '$1 == "value" && $2 == c && $3 == w && $4 == m { print $5 }' "$out"
}

proportion()
{
	awk -F '\t' -v c="$1" -v o="$2" -v m="$3" '$1 == "ratio" && $2 == c && $4 == o && $5 == m { print $6 }' "$out"
}

to_haproxy()
{
	{ proportion "$1" haproxy mib_s; proportion "$1" haproxy-splice mib_s; } | sort -n | head -n 1
}

# added CASE METRIC: Cordon's less direct's.
added()
{
	local a b
	a=$(value "$1" cordon "$2")
	b=$(value "$1" direct "$2")
	[ -z "$a" ] || [ -z "$b" ] || awk -v a="$a" -v b="$b" 'BEGIN { printf "%.0f", a - b }'
}

# floor TABLE WHAT VALUE LEAST: as bar, for what should be large.
floor()
{
	local verdict=pass
	if [ -z "$3" ] || ! awk -v a="$3" -v b="$4" 'BEGIN { exit !(a >= b) }'; then
		verdict=miss
		bench_missed=1
	fi
	printf '%s\n' "- $2: **${3:-not measured}**, bar at least $4: **$verdict**"
	row "$1" "bar: $2" value "${3:-none}" bar "$4" verdict "$verdict"
}

declare -A title=(
	[direct]='no proxy'
	[cordon]='**cordon**'
	[haproxy]='haproxy, TCP mode, as it comes'
	[haproxy-splice]='haproxy, TCP mode, told to splice'
	[nginx]='nginx, reverse proxy, TLS on both sides'
	[nginx-apart]='two of it, one with the credential'
	[mitmproxy]='mitmproxy'
)

# table CASE METRICS WHO...: a line for each who was measured, with its medians.
table()
{
	local case=$1 metrics=$2 who metric line numbers
	shift 2
	for who; do
		line='' numbers=()
		for metric in $metrics; do
			line+=" $(value "$case" "$who" "$metric" | awk 'NF { printf $1 < 10 ? "%.2f" : "%.0f", $1 }') |"
			numbers+=("$metric" "$(value "$case" "$who" "$metric")")
		done
		[ -n "${numbers[1]}" ] || continue
		echo "| ${title[$who]} |$line"
		row gate "$case: $who" "${numbers[@]}"
	done
	echo
}

wanted()
{
	[[ " ${BENCH_GATE_CASES:-tunnel requests latency events memory} " == *" $1 "* ]]
}

echo "#### The gateway beside other proxies, as $who"
echo
if wanted tunnel; then
	for case in tunnel raw; do
		echo "| tunnel of one connection, $([ $case = tunnel ] && echo 'TLS from end to end' || echo 'plain bytes') | MiB/s | MiB per second of the proxy's CPU | CPUs in use |"
		echo '|---|--:|--:|--:|'
		table $case "mib_s mib_core cpu" direct cordon haproxy haproxy-splice
	done
	floor gate "tunnelled throughput, TLS, ratio to the quicker haproxy" "$(to_haproxy tunnel)" 0.9
	floor gate "tunnelled throughput, plain bytes, ratio to the quicker haproxy" "$(to_haproxy raw)" 0.9
	echo
fi
if wanted requests; then
	echo '| small HTTPS requests, looked into, credential added, 32 connections | requests a second and core | requests a second | p50, µs | p99, µs | CPUs in use |'
	echo '|---|--:|--:|--:|--:|--:|'
	table requests "rps_core rps p50 p99 cpu" cordon nginx nginx-apart mitmproxy
	floor gate "requests a second and core, ratio to nginx" "$(proportion requests nginx rps_core)" 1
	floor gate "requests a second and core, ratio to two nginx, one with the credential" "$(proportion requests nginx-apart rps_core)" 1
	floor gate "requests a second and core, ratio to mitmproxy" "$(proportion requests mitmproxy rps_core)" 20
	echo
fi
if wanted latency; then
	echo '| one small HTTPS request every 2 ms, looked into, credential added | p50, µs | p99, µs |'
	echo '|---|--:|--:|'
	table latency "p50 p99" direct cordon nginx nginx-apart
	bar gate "added latency, p50" "$(added latency p50)" 150 µs
	bar gate "added latency, p99" "$(added latency p99)" 1000 µs
	echo
fi
if wanted events; then
	echo '| from the server sending one event to the client having it | p50, µs | p99, µs | slowest, µs |'
	echo '|---|--:|--:|--:|'
	table events "p50 p99 most" direct cordon nginx
	bar gate "the first event, p99" "$(value events cordon p99)" 1000 µs
	echo
fi
if wanted memory; then
	echo '| private memory of a gateway, KiB, ten at once | relay | egress | vault | together |'
	echo '|---|--:|--:|--:|--:|'
	title[idle]='before the first request' title[used]='after 32 connections, closed again'
	table memory "cordon-relay cordon-egress cordon-vault all" idle used
	bar gate "memory of an idle gateway" "$(value memory idle all)" 3072 KiB
	echo
fi
while IFS=$'\t' read -r kind who why; do
	[ "$kind" = skipped ] || continue
	printf '%s\n' "- not measured: $who: $why"
	row gate "$who" skipped "$(printf '%s' "$why" | tr -dc 'a-zA-Z0-9 :,./_-')"
done <"$out"
bench_end
