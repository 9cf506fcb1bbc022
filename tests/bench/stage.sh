#!/bin/bash
# stage.sh: how long a task folder takes to be checked and copied, from page cache. Run by run.sh.
set -u
. "$(dirname "$0")/lib.sh"
cd "$BENCH_TMP" || exit 2
mkdir -p large small/files stage || exit 2
head -c 268435456 /dev/urandom >large/data
for ((i = 0; i < 2000; i++)); do
	printf '%4096d' "$i" >"small/files/$i"
done

echo "#### Staging a task folder, as $who"
echo
echo '| folder | files | MB | median, ms | MB/s |'
echo '|---|--:|--:|--:|--:|'
for name in large small; do
	IFS=$'\t' read -r files bytes seconds < <("$BENCH_BIN/bench-stage" $name stage $((BENCH_ROUNDS / 20 + 3))) || exit 2
	ms=$(awk -v s="$seconds" 'BEGIN { printf "%.1f", s * 1000 }')
	rate=$(awk -v s="$seconds" -v b="$bytes" 'BEGIN { printf "%.0f", b / s / 1e6 }')
	echo "| $name | $files | $((bytes / 1000000)) | $ms | $rate |"
	row stage $name files "$files" bytes "$bytes" ms "$ms" mb_per_s "$rate"
	[ $name = small ] || took=$(awk -v s="$seconds" -v b="$bytes" 'BEGIN { printf "%.2f", s * 1e9 / b }')
done
echo
bar stage "one byte of a large file" "$took" 1 ns
bench_end
