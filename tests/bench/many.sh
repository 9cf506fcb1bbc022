#!/bin/bash
# many.sh: sandboxes of `sleep` at once (BENCH_MANY, 1000 unless told), and the private memory of each. Run by run.sh.
#
# Private memory is Private_Clean + Private_Dirty of smaps_rollup, over the supervisor and everything below it. Processes that are not dumpable hide
# it from their own user: run as root with BENCH_MANY_AS=USER to start the sandboxes as somebody else.
set -u
. "$(dirname "$0")/lib.sh"
many=${BENCH_MANY:-1000}
as=()
if [ -n "${BENCH_MANY_AS:-}" ]; then
	who=$BENCH_MANY_AS
	as=(setpriv --reuid "$(id -u "$who")" --regid "$(id -g "$who")" --init-groups --)
	chown -R "$who" "$BENCH_TMP"
fi
mkdir -p "$BENCH_TMP/work" && chmod 777 "$BENCH_TMP/work" && cd "$BENCH_TMP/work" || exit 2
seconds=$((100000 + RANDOM)) # a number to know our sleeps by
pids=()

stop_all()
{
	local p
	for p in "${pids[@]}"; do
		kill "$p" 2>/dev/null
	done
	wait 2>/dev/null
}
trap stop_all EXIT

sleeping()
{
	pgrep -fxc "sleep $seconds"
}

available()
{
	awk '/^MemAvailable:/ { print $2 }' /proc/meminfo
}

wait_for()
{
	local until=$((SECONDS + $2))
	while [ "$(sleeping)" != "$1" ] && [ $SECONDS -lt $until ]; do
		sleep 0.2
	done
	[ "$(sleeping)" = "$1" ]
}

before=$(available)
began=$(date +%s%N)
for ((i = 0; i < many; i++)); do
	# setpriv execs, so that $! is the supervisor itself.
	"${as[@]}" "$CORDON" run --profile strict -- sleep "$seconds" </dev/null >/dev/null 2>>"$BENCH_TMP/many.err" &
	pids+=($!)
done
wait_for "$many" 120
started=$(sleeping)
took=$((($(date +%s%N) - began) / 1000000))
after=$(available)

# One line per sandbox: its number of processes, KiB, and how many of its processes could not be read.
ps -eo pid=,ppid= | awk -v roots="${pids[*]}" '
	{ parent[$1] = $2 }
	END {
		n = split(roots, r, " ")
		for (i = 1; i <= n; i++) is_root[r[i]] = 1
		for (p in parent) {
			for (at = p; at in parent && !(at in is_root) && at > 1; at = parent[at]);
			if (!(at in is_root)) continue
			count[at]++
			file = "/proc/" p "/smaps_rollup"
			got = 0
			while ((getline line < file) > 0)
				if (line ~ /^Private_(Clean|Dirty):/) { split(line, f, " "); kb[at] += f[2]; got = 1 }
			close(file)
			hidden[at] += !got
		}
		for (at in count) print count[at], kb[at] + 0, hidden[at] + 0
	}' | sort -n -k2 >"$BENCH_TMP/many.txt"

hidden=$(awk '{ n += $3 } END { print n + 0 }' "$BENCH_TMP/many.txt")
read -r median p90 max procs < <(awk '{ v[NR] = $2; p += $1 } END { if (NR) print v[int((NR + 1) / 2)], v[int((NR * 9 + 9) / 10)], v[NR], p / NR }' "$BENCH_TMP/many.txt")
[ "$hidden" = 0 ] || median=
trap - EXIT
stop_all
wait_for 0 30

echo "#### $many sandboxes of \`sleep\` at once, as $who"
echo
echo '| running | all started after, s | processes each | private memory each, KiB: median | 90 % | most | free memory taken, KiB each |'
echo '|--:|--:|--:|--:|--:|--:|--:|'
printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$started" "$(awk -v t=$took 'BEGIN { printf "%.1f", t / 1000 }')" "${procs:-0}" "${median:-hidden}" \
	"${p90:-}" "${max:-}" $(((before - after) / many))
echo
row many "sleep" running "$started" wanted "$many" ms "$took" private_kib "${median:-none}" free_delta_kib $(((before - after) / many))
if [ "$started" != "$many" ]; then
	printf '%s\n' "- only $started of $many are running: $(sort "$BENCH_TMP/many.err" | uniq -c | sort -rn | head -n 1 | cut -c1-160)"
	bench_missed=1
fi
[ "$hidden" = 0 ] || echo "- $hidden processes hide their memory from $who"
left=$(sleeping)
[ "$left" = 0 ] || { echo "- $left are still there after their supervisors were stopped"; bench_missed=1; }
bar many "private memory of a sandbox" "$median" 1024 KiB
bench_end
