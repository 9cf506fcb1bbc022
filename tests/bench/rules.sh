#!/bin/bash
# rules.sh: how long the gateway takes for one decision among 10,000 rules. Run by run.sh.
set -u
. "$(dirname "$0")/lib.sh"
cd "$BENCH_TMP" || exit 2
rules=10000
out=rules.tsv
"$BENCH_BIN/bench-rules" -r $((BENCH_ROUNDS / 4 + 5)) $rules >"$out" || exit 2
echo "#### One decision among $rules rules, as $who"
echo
echo '| question | median, ns | slowest round |'
echo '|---|--:|--:|'
while IFS=$'\t' read -r name n median slowest; do
	case $name in
	compile) row rules compile rules "$n" us "$median" ;;
	*)
		echo "| a request that is $name | $median | $slowest |"
		row rules "$name" questions "$n" median_ns "$median" slowest_ns "$slowest"
		;;
	esac
done <"$out"
echo
worst=$(awk -F '\t' '$1 != "compile" && $3 > m { m = $3 } END { if (m) printf "%.3f", m / 1000 }' "$out")
bar rules "a decision among $rules rules" "$worst" 2 µs
bench_end
